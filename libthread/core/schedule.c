/*
 * schedule.c - policies, priorities, CPUs and CPU time of threads.
 *
 * A bound thread has the policy and priority of its LWP, and the kernel schedules it
 * (PTHREAD_SCOPE_SYSTEM).  An unbound thread has a policy and a priority among the unbound threads
 * of its process (PTHREAD_SCOPE_PROCESS; POSIX.1-2008, XSH 2.9.4), which the model orders.  What
 * would need an LWP of its own is ENOTSUP.
 *
 * Priorities of both kinds count in the library's queues, where the ranges of the policies follow
 * each other.  SCHED_OTHER's begin at 0, and those of SCHED_FIFO and SCHED_RR follow (tcb.h,
 * PRI_REALTIME).  thr_setprio sets, and thr_getprio returns, the number of such a queue.
 * thr_setprio keeps the policy.
 *
 * A thread that pthread_setschedparam sets to SCHED_FIFO or SCHED_RR goes behind its equals, also
 * if nothing changes.  A thread that pthread_setschedprio raises also goes behind its equals.  A
 * thread that it lowers goes before them.  A thread with unchanged priority keeps its place (XSH
 * 2.8.4).
 *
 * All functions: ESRCH: no such thread, or it has exited.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/processor.h>
#include "core.h"
#include "model.h"

bool __sched_policy_known(int policy)
{
	return policy == SCHED_OTHER || policy == SCHED_FIFO || policy == SCHED_RR ||
	       policy == SCHED_NT;
}

bool __sched_priority_known(int policy, int priority)
{
	return __sched_policy_known(policy) && priority >= sched_get_priority_min(policy) &&
	       priority <= sched_get_priority_max(policy);
}

/* The argument and the result of an operation on a thread. */
struct sched {
	int policy, priority;
	bool prepared; /* the model is ready for an unbound thread with this policy */
};

static int priority_in_queues(int policy, int priority)
{
	if (policy == SCHED_FIFO || policy == SCHED_RR)
		return PRI_REALTIME + priority;
	return priority > 0 ? priority : 0;
}

static bool is_realtime(int policy)
{
	return policy == SCHED_FIFO || policy == SCHED_RR;
}

/*
 * The caller has checked that the policy has this priority.  to_tail: t goes behind its equals, if
 * it has SCHED_FIFO or SCHED_RR.  ENOTSUP: not possible for an unbound thread; EAGAIN: t's LWP has
 * not begun.  The caller holds the lock of its id.
 */
int __sched_set(struct thread *t, int policy, int priority, bool to_tail)
{
	int error = 0;

	if (!t->bound)
		error = is_realtime(policy) || (policy == SCHED_OTHER && priority >= 0) ? 0
											: ENOTSUP;
	else if (t->lwp->id == 0)
		error = EAGAIN;
	else
		error = __lwp_setsched(t->lwp->id, policy, priority);
	if (error == 0)
		__thread_set_sched(t, policy, priority_in_queues(policy, priority), to_tail);
	return error;
}

/*
 * The policy and priority of an unbound thread.  thr_setprio may have set a priority that its
 * policy does not have.  It may have inherited a policy that it cannot have from a bound creator.
 */
static struct sched of_unbound(const struct thread *t)
{
	int policy = is_realtime(t->policy) ? t->policy : SCHED_OTHER;
	int priority = t->base_pri - (is_realtime(policy) ? PRI_REALTIME : 0);
	int max = sched_get_priority_max(policy);

	priority = priority < 0 ? 0 : priority > max ? max : priority;
	return (struct sched){.policy = policy, .priority = priority};
}

static int schedule_get(struct thread *t, void *arg)
{
	struct sched *s = arg;

	if (t->bound)
		return t->lwp->id != 0 ? __lwp_getsched(t->lwp->id, &s->policy, &s->priority)
				       : EAGAIN;
	*s = of_unbound(t);
	return 0;
}

#define UNPREPARED (-1) /* first the model must prepare, without __threads_lock */

static int schedule_set(struct thread *t, void *arg)
{
	struct sched *s = arg;

	if (!t->bound && is_realtime(s->policy) && !s->prepared)
		return UNPREPARED;
	return __sched_set(t, s->policy, s->priority, true);
}

static int set_priority(struct thread *t, void *arg)
{
	struct sched now;
	int error = schedule_get(t, &now), priority = *(int *)arg;

	if (error == 0 && !__sched_priority_known(now.policy, priority))
		error = EINVAL;
	return error != 0 ? error : __sched_set(t, now.policy, priority, false);
}

int pthread_getschedparam(pthread_t thread, int *policy, struct sched_param *param)
{
	struct sched s;
	int error = __thread_with(thread, schedule_get, &s);

	if (error == 0) {
		*policy = s.policy;
		*param = (struct sched_param){.sched_priority = s.priority};
	}
	return error;
}

/*
 * EINVAL: no such policy, or the policy does not have this priority.  ENOTSUP: not possible for an
 * unbound thread: a priority below 0, SCHED_NT.  EAGAIN, ENOMEM: the model could not prepare for
 * the first unbound thread of SCHED_FIFO or SCHED_RR.
 */
int pthread_setschedparam(pthread_t thread, int policy, const struct sched_param *param)
{
	struct sched s = {.policy = policy, .priority = param->sched_priority};
	int error;

	if (!__sched_priority_known(policy, s.priority))
		return EINVAL;
	error = __thread_with(thread, schedule_set, &s);
	if (error != UNPREPARED)
		return error;
	error = __ops->prepare_realtime();
	s.prepared = true;
	return error != 0 ? error : __thread_with(thread, schedule_set, &s);
}

/*
 * Keeps the policy.  EINVAL: the policy does not have this priority.  ENOTSUP: not possible for an
 * unbound thread: a priority below 0.
 */
int pthread_setschedprio(pthread_t thread, int priority)
{
	return __thread_with(thread, set_priority, &priority);
}

/*
 * For sched_rr_get_interval (user/libc/sched.c): *slice becomes the slice of the calling thread, 0
 * for SCHED_FIFO.  False: the process's slice counts, because the thread is bound or of
 * SCHED_OTHER.
 */
bool __thread_slice(struct timespec *slice)
{
	const struct thread *self = thread_self();

	if (self->bound || !is_realtime(self->policy))
		return false;
	*slice = (struct timespec){.tv_nsec = self->policy == SCHED_RR ? RR_SLICE_NS : 0};
	return true;
}

static int own_lwp(struct thread *t, void *id)
{
	if (!t->bound)
		return ENOTSUP;
	*(uint32_t *)id = t->lwp->id;
	return t->lwp->id != 0 ? 0 : EAGAIN;
}

/* For clock_gettime.  ENOENT: the thread is unbound, so its time is not known. */
int pthread_getcpuclockid(pthread_t thread, clockid_t *clock)
{
	uint32_t id;
	int error = __thread_with(thread, own_lwp, &id);

	if (error == 0)
		*clock = WEFT_CLOCK_LWP(id);
	return error == ENOTSUP ? ENOENT : error;
}

static unsigned long cpus_all(void)
{
	return __ncpu < 64 ? (1ul << __ncpu) - 1 : ~0ul;
}

/*
 * Lets the thread run on these CPUs only: one CPU, or all.  EINVAL: size is not that of a
 * cpu_set_t, or the set has no CPU that exists.  ENOTSUP: several CPUs, and not all (processor sets
 * can do that), or the thread is unbound.
 */
int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *cpus)
{
	unsigned long set;
	int error, cpu;
	uint32_t id;

	if (size != sizeof(cpu_set_t))
		return EINVAL;
	set = cpus->__bits & cpus_all();
	if (set == 0)
		return EINVAL;
	if (set != cpus_all() && (set & (set - 1)) != 0)
		return ENOTSUP;
	cpu = set == cpus_all() ? PBIND_NONE : __builtin_ctzl(set);
	error = __thread_with(thread, own_lwp, &id);
	return error != 0 ? error : -__sys_processor_bind(P_LWPID, id, cpu, NULL);
}

/* EINVAL: size is not that of a cpu_set_t; ENOTSUP: the thread is unbound. */
int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *cpus)
{
	int error, cpu = PBIND_NONE;
	uint32_t id;

	if (size != sizeof(cpu_set_t))
		return EINVAL;
	error = __thread_with(thread, own_lwp, &id);
	if (error == 0)
		error = -__sys_processor_bind(P_LWPID, id, PBIND_QUERY, &cpu);
	if (error == 0)
		cpus->__bits = cpu == PBIND_NONE ? cpus_all() : 1ul << cpu;
	return error;
}
