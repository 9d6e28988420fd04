/* sys/resource.h - what a process used, and nice values.  Takes the place of newlib's, which
 * has only times. */
#pragma once
#include <sys/time.h>
#include <sys/types.h>

#define PRIO_PROCESS 0
#define PRIO_PGRP 1
#define PRIO_USER 2
#define PRIO_MIN (-20)
#define PRIO_MAX 20

#define RUSAGE_SELF 0
#define RUSAGE_CHILDREN (-1) /* those that were waited for */

struct rusage {
	struct timeval ru_utime, ru_stime;
	long ru_minflt;  /* page faults */
	long ru_nvcsw;   /* switches because an LWP blocked */
	long ru_nivcsw;  /* switches because it was preempted */
	long __spare[4]; /* 0 */
};

#ifdef __cplusplus
extern "C" {
#endif

int getrusage(int who, struct rusage *ru);
int getpriority(int which, id_t who);
int setpriority(int which, id_t who, int value);

#ifdef __cplusplus
}
#endif
