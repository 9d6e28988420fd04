/*
 * sys/_default_fcntl.h - newlib's, with a struct flock in which a process id has room.  There is no
 * flock() here, and so it is not declared.
 */
#pragma once
#define flock __newlib_flock
#include_next <sys/_default_fcntl.h>
#undef flock

struct flock {
	short l_type;   /* F_RDLCK, F_WRLCK, or F_UNLCK */
	short l_whence; /* what l_start counts from: SEEK_SET, SEEK_CUR, SEEK_END */
	off_t l_start;  /* bytes */
	off_t l_len;    /* bytes; 0: to the end; below 0: those before l_start */
	pid_t l_pid;    /* F_GETLK: the process that has the lock */
};
