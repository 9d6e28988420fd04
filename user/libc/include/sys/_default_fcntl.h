/*
 * sys/_default_fcntl.h - newlib's, with a struct flock that has room for a process id.
 *
 * flock() is not declared, because weft has none.
 */
#pragma once
#define flock __newlib_flock
#include_next <sys/_default_fcntl.h>
#undef flock

struct flock {
	short l_type;   /* F_RDLCK, F_WRLCK, or F_UNLCK */
	short l_whence; /* the origin of l_start: SEEK_SET, SEEK_CUR, SEEK_END */
	off_t l_start;  /* bytes */
	off_t l_len;    /* bytes; 0: to the end; below 0: the bytes before l_start */
	pid_t l_pid;    /* F_GETLK: the process that has the lock */
};
