/*
 * libc.h - inside the C library's port: from a raw result to errno.
 */
#pragma once
#include <errno.h>
#include <weft/point.h>

/* Hands on a result of 0 or more; else sets errno and returns -1. */
static inline long result(long r)
{
	if (r < 0) {
		errno = -r;
		return -1;
	}
	return r;
}

/* The same of a call that is a cancellation point.  The caller holds nothing. */
static inline long point_result(long r)
{
	if (r == -EINTR)
		pthread_testcancel();
	return result(r);
}

/* path.c */
const char *__program_path(const char *file, char *path);

/* sched.c: the class and parameters of a policy and priority; an error number. */
struct pcparms;
struct sched_param;
int __sched_parms(int policy, const struct sched_param *param, struct pcparms *p);

/* What a call that does not exist here does. */
static inline int fails(int error)
{
	errno = error;
	return -1;
}
