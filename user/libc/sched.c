/*
 * sched.c - scheduling: priocntl, CPUs and processor sets as in Solaris; nice values
 * and POSIX's sched_*(), which are built on priocntl.
 *
 * POSIX's policies are classes.  SCHED_OTHER is time-share, and its priority is the user priority
 * (-60 to 60).  SCHED_FIFO and SCHED_RR are real-time: SCHED_FIFO with an endless slice, SCHED_RR
 * with the slice of the level.  A call that sets something sets it for all LWPs of the process.  A
 * call that gets something returns the values of the LWP with the highest priority.
 */
#include <sched.h>
#include <sys/priocntl.h>
#include <sys/processor.h>
#include <sys/pset.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <weft/start.h>
#include "libc.h"

/* --- nice values --------------------------------------------------------------------- */

static int sched_donice(int which, id_t who, struct pcnice *n)
{
	static const idtype_t type[] = {
		[PRIO_PROCESS] = P_PID, [PRIO_PGRP] = P_PGID, [PRIO_USER] = P_UID};

	if (which < PRIO_PROCESS || which > PRIO_USER)
		return fails(EINVAL);
	if (who == 0 && which != PRIO_USER)
		who = P_MYID;
	return priocntl(type[which], who, PC_DONICE, n);
}

/*
 * Returns the lowest nice value, -20 to 19.  -1 is a valid value, so set errno to 0 first.  EINVAL:
 * `which` is invalid, or the class has no nice values; ESRCH.
 */
int getpriority(int which, id_t who)
{
	struct pcnice n = {.pc_op = PC_GETNICE};

	return sched_donice(which, who, &n) < 0 ? -1 : n.pc_val;
}

/* Values outside the range are set to its nearest end.  EINVAL, ESRCH. */
int setpriority(int which, id_t who, int value)
{
	struct pcnice n = {.pc_op = PC_SETNICE, .pc_val = value};

	return sched_donice(which, who, &n);
}

/* Returns the new value, as in POSIX: with errno as for getpriority. */
int nice(int more)
{
	struct pcnice n = {.pc_op = PC_GETNICE};

	if (sched_donice(PRIO_PROCESS, 0, &n) < 0)
		return -1;
	if (more < -40 || more > 40)
		more = more < 0 ? -40 : 40;
	n = (struct pcnice){.pc_op = PC_SETNICE, .pc_val = n.pc_val + more};
	return sched_donice(PRIO_PROCESS, 0, &n) < 0 ? -1 : n.pc_val;
}

/* --- POSIX ------------------------------------------------------------------------------ */

#define TS_MAXUPRI 60

static int sched_get(pid_t pid, struct pcparms *p)
{
	if (pid < 0)
		return fails(EINVAL);
	p->pc_cid = PC_CLNULL;
	return priocntl(P_PID, pid ? pid : P_MYID, PC_GETPARMS, p) < 0 ? -1 : 0;
}

static int priority_of(const struct pcparms *p)
{
	return p->pc_cid == WEFT_CLASS_RT   ? p->rt.rt_pri
	       : p->pc_cid == WEFT_CLASS_TS ? p->ts.ts_upri
					    : p->nt.nt_class;
}

static int policy_of(const struct pcparms *p)
{
	if (p->pc_cid == WEFT_CLASS_RT)
		return p->rt.rt_tqnsecs == RT_TQINF ? SCHED_FIFO : SCHED_RR;
	return p->pc_cid == WEFT_CLASS_TS ? SCHED_OTHER : SCHED_NT;
}

/*
 * SCHED_OTHER, SCHED_FIFO, SCHED_RR; SCHED_NT for the NT class.  EINVAL: pid is negative; ESRCH:
 * no such process.
 */
int sched_getscheduler(pid_t pid)
{
	struct pcparms p;

	return sched_get(pid, &p) < 0 ? -1 : policy_of(&p);
}

/* The priority in its policy: for SCHED_NT, the base level.  Errors of sched_getscheduler. */
int sched_getparam(pid_t pid, struct sched_param *param)
{
	struct pcparms p;

	if (sched_get(pid, &p) < 0)
		return -1;
	param->sched_priority = priority_of(&p);
	return 0;
}

/* Policy and priority of an LWP of the caller's process, for libthread.  Returns 0 or an error
 * number. */
int __lwp_getsched(uint32_t id, int *policy, int *priority)
{
	struct pcparms p = {.pc_cid = PC_CLNULL};
	long r = __sys_priocntl(P_LWPID, id, PC_GETPARMS, &p);

	if (r < 0)
		return -r;
	*policy = policy_of(&p);
	*priority = priority_of(&p);
	return 0;
}

int __sched_parms(int policy, const struct sched_param *param, struct pcparms *p)
{
	int priority = param->sched_priority;

	if (priority < sched_get_priority_min(policy) || priority > sched_get_priority_max(policy))
		return EINVAL;
	*p = (struct pcparms){.pc_cid = WEFT_CLASS_RT};
	if (policy == SCHED_OTHER) {
		p->pc_cid = WEFT_CLASS_TS;
		p->ts = (struct tsparms){.ts_uprilim = TS_MAXUPRI, .ts_upri = priority};
	} else if (policy == SCHED_NT) {
		p->pc_cid = WEFT_CLASS_NT;
		p->nt = (struct ntparms){.nt_class = priority, .nt_relative = NT_NOCHANGE};
	} else {
		p->rt = (struct rtparms){
			.rt_pri = priority,
			.rt_tqnsecs = policy == SCHED_FIFO ? RT_TQINF : RT_TQDEF,
		};
	}
	return 0;
}

static int sched_set(pid_t pid, int policy, const struct sched_param *param)
{
	struct pcparms p;

	if (pid < 0 || __sched_parms(policy, param, &p) != 0)
		return fails(EINVAL);
	return priocntl(P_PID, pid ? pid : P_MYID, PC_SETPARMS, &p);
}

/* EINVAL: no such policy, or a priority that the policy does not have; ESRCH. */
int __lwp_setsched(uint32_t id, int policy, int priority)
{
	const struct sched_param param = {.sched_priority = priority};
	struct pcparms p;
	int error = __sched_parms(policy, &param, &p);

	return error != 0 ? error : -__sys_priocntl(P_LWPID, id, PC_SETPARMS, &p);
}

/*
 * Returns the previous policy.  EINVAL: also an unknown policy or priority.  Errors of
 * sched_getscheduler.
 */
int sched_setscheduler(pid_t pid, int policy, const struct sched_param *param)
{
	int old = sched_getscheduler(pid);

	if (old < 0)
		return -1;
	return sched_set(pid, policy, param) < 0 ? -1 : old;
}

/*
 * Keeps the policy.  EINVAL: also a priority that the policy does not have.  Errors of
 * sched_getscheduler.
 */
int sched_setparam(pid_t pid, const struct sched_param *param)
{
	int policy = sched_getscheduler(pid);

	return policy < 0 ? -1 : sched_set(pid, policy, param);
}

/* EINVAL: no such policy. */
int sched_get_priority_min(int policy)
{
	switch (policy) {
	case SCHED_OTHER:
		return -TS_MAXUPRI;
	case SCHED_FIFO:
	case SCHED_RR:
		return 0;
	case SCHED_NT:
		return 1;
	default:
		return fails(EINVAL);
	}
}

/* EINVAL: no such policy. */
int sched_get_priority_max(int policy)
{
	switch (policy) {
	case SCHED_OTHER:
		return TS_MAXUPRI;
	case SCHED_FIFO:
	case SCHED_RR:
		return RT_LEVELS - 1;
	case SCHED_NT:
		return 31;
	default:
		return fails(EINVAL);
	}
}

__attribute__((weak)) __typeof__(__thread_slice) __thread_slice;

/*
 * Returns the slice of a SCHED_RR process; 0: the slice is endless.  If an unbound thread of
 * SCHED_RR or SCHED_FIFO asks for its own process, returns that thread's slice.  EINVAL: also
 * another policy, whose slices vary.  Errors of sched_getscheduler.
 */
int sched_rr_get_interval(pid_t pid, struct timespec *ts)
{
	struct pcparms p;

	if (sched_get(pid, &p) < 0)
		return -1;
	if (__thread_slice != NULL && (pid == 0 || pid == getpid()) && __thread_slice(ts))
		return 0;
	if (p.pc_cid != WEFT_CLASS_RT)
		return fails(EINVAL);
	*ts = (struct timespec){0};
	if (p.rt.rt_tqnsecs != RT_TQINF)
		*ts = (struct timespec){p.rt.rt_tqsecs, p.rt.rt_tqnsecs};
	return 0;
}
