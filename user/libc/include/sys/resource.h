/* sys/resource.h - what a process used.  Takes the place of newlib's, which has only times. */
#pragma once
#include <sys/time.h>

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

#ifdef __cplusplus
}
#endif
