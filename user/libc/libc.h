/*
 * libc.h - inside the C library's port: from a raw result to errno.
 */
#pragma once
#include <errno.h>
#include <weft/point.h>

/* syscalls.c: sets errno to -r and returns -1. */
long __syscall_error(long r);

/* Returns a result of 0 or more unchanged; otherwise sets errno and returns -1. */
static inline long result(long r)
{
	return r < 0 ? __syscall_error(r) : r;
}

/* The same for a call that is a cancellation point.  The caller holds nothing. */
static inline long point_result(long r)
{
	if (r == -EINTR)
		pthread_testcancel();
	return result(r);
}

/* open's third argument, in a function whose last named parameter is `flags`. */
#define OPEN_MODE(flags)                                                                           \
	({                                                                                         \
		unsigned open_mode = 0;                                                            \
		va_list open_args;                                                                 \
		if ((flags)&O_CREAT) {                                                             \
			va_start(open_args, flags);                                                \
			open_mode = va_arg(open_args, unsigned);                                   \
			va_end(open_args);                                                         \
		}                                                                                  \
		open_mode;                                                                         \
	})

/* path.c */
const char *__program_path(const char *file, char *path);

/* sched.c: the class and parameters of a policy and priority.  Returns an error number, or 0. */
struct pcparms;
struct sched_param;
int __sched_parms(int policy, const struct sched_param *param, struct pcparms *p);

/* Sets errno to error and returns -1. */
static inline int fails(int error)
{
	errno = error;
	return -1;
}
