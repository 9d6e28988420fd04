/* sys/procset.h - the processes and LWPs that a call applies to (Solaris: procset(4)). */
#pragma once
#include <sys/types.h>
#include <weft/procset.h>

typedef enum {
	P_PID = WEFT_P_PID,
	P_PPID = WEFT_P_PPID,
	P_PGID = WEFT_P_PGID,
	P_SID = WEFT_P_SID,
	P_CID = WEFT_P_CID,
	P_UID = WEFT_P_UID,
	P_GID = WEFT_P_GID,
	P_ALL = WEFT_P_ALL,
	P_LWPID = WEFT_P_LWPID,
} idtype_t;

#define P_MYID WEFT_P_MYID
