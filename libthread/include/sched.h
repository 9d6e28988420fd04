/* sched.h - the part of POSIX scheduling that threads use. */
#ifndef _SCHED_H
#define _SCHED_H

#include <sys/sched.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

int sched_yield(void);

#ifdef __cplusplus
}
#endif
#endif
