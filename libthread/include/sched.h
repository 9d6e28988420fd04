/* sched.h - POSIX scheduling of processes, and sched_yield. */
#ifndef _SCHED_H
#define _SCHED_H

#include <sys/sched.h>
#include <sys/types.h>

#define SCHED_NT 16 /* the NT class; its priorities are levels, 1 to 31 */

#ifdef __cplusplus
extern "C" {
#endif

struct timespec;

/* Sets of CPUs, as in GNU libc.  Here a set is one CPU or all CPUs (pthread_setaffinity_np). */
#define CPU_SETSIZE 64
typedef struct {
	unsigned long __bits;
} cpu_set_t;
#define CPU_ZERO(set) ((void)((set)->__bits = 0))
#define CPU_SET(cpu, set) ((void)((set)->__bits |= 1ul << (cpu)))
#define CPU_CLR(cpu, set) ((void)((set)->__bits &= ~(1ul << (cpu))))
#define CPU_ISSET(cpu, set) ((int)((set)->__bits >> (cpu)&1))
#define CPU_COUNT(set) __builtin_popcountl((set)->__bits)
#define CPU_EQUAL(a, b) ((a)->__bits == (b)->__bits)

int sched_yield(void);
/* For all LWPs of process pid; 0: the caller's process (user/libc/sched.c). */
int sched_setscheduler(pid_t pid, int policy, const struct sched_param *param);
int sched_getscheduler(pid_t pid);
int sched_setparam(pid_t pid, const struct sched_param *param);
int sched_getparam(pid_t pid, struct sched_param *param);
int sched_get_priority_min(int policy);
int sched_get_priority_max(int policy);
int sched_rr_get_interval(pid_t pid, struct timespec *slice);

#ifdef __cplusplus
}
#endif
#endif
