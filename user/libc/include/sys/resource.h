/* sys/resource.h - resource usage of a process, limits, and nice values.  Replaces newlib's, which
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
#define RUSAGE_CHILDREN (-1) /* children that were waited for */

struct rusage {
	struct timeval ru_utime, ru_stime;
	long ru_maxrss;   /* most KiB ever resident; for children, the largest child's */
	long ru_minflt;   /* page faults */
	long ru_nvcsw;    /* switches because an LWP blocked */
	long ru_nivcsw;   /* switches because an LWP was preempted */
	long ru_nsignals; /* handlers called */
	/* 0: there are no disks, and messages are not counted. */
	long ru_ixrss, ru_idrss, ru_isrss, ru_majflt, ru_nswap;
	long ru_inblock, ru_oublock, ru_msgsnd, ru_msgrcv;
};

#define RLIMIT_AS 0
#define RLIMIT_DATA 1
#define RLIMIT_STACK 2
#define RLIMIT_NPROC 3
#define RLIMIT_NOFILE 4
#define RLIMIT_CORE 5 /* 0: there are no core files */
#define RLIMIT_CPU 6  /* this and the rest cannot be limited */
#define RLIMIT_FSIZE 7
#define RLIM_INFINITY (~0ull)

typedef unsigned long long rlim_t;
struct rlimit {
	rlim_t rlim_cur, rlim_max;
};

#ifdef __cplusplus
extern "C" {
#endif

int getrlimit(int which, struct rlimit *limit);
int setrlimit(int which, const struct rlimit *limit);
int getrusage(int who, struct rusage *ru);
int getpriority(int which, id_t who);
int setpriority(int which, id_t who, int value);

#ifdef __cplusplus
}
#endif
