/*
 * procset.h - how a call selects processes or LWPs: by a type and an id (Solaris:
 * procset(4)).  The type is the kind of the id.
 */
#pragma once

enum {
	WEFT_P_PID,   /* a process */
	WEFT_P_PPID,  /* the children of a process */
	WEFT_P_PGID,  /* the processes of a group */
	WEFT_P_SID,   /* the processes of a session */
	WEFT_P_CID,   /* the LWPs of a scheduling class */
	WEFT_P_UID,   /* there is one user, 0: all of them */
	WEFT_P_GID,   /* there is one group, 0: all of them */
	WEFT_P_ALL,   /* all; the id is ignored */
	WEFT_P_LWPID, /* an LWP of the caller's process */
};
#define WEFT_P_MYID (-1) /* the caller's own id of that type */
