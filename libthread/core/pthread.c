/* pthread.c - POSIX threads: thin functions over core/thread.c and the model. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include "attr.h"
#include "core.h"
#include "model.h"

static int set_and_resume(struct thread *t, void *arg)
{
	const struct create_args *args = arg;
	int error = __sched_set(t, args->policy, args->priority, true);

	ASSERT(error == 0);
	return __ops->resume(t);
}

/* The thread has its policy and priority before it runs. */
static int create_explicit(struct create_args *args, void *(*start)(void *), void *arg,
			   pthread_t *thread)
{
	bool bound =
		__model->scope == SCOPE_EITHER ? args->bound : __model->scope == SCOPE_ALL_BOUND;
	int error;

	if (!__sched_priority_known(args->policy, args->priority))
		return EINVAL;
	if (!bound && args->policy == SCHED_OTHER && args->priority < 0)
		return ENOTSUP;
	if (!bound && args->policy == SCHED_NT)
		return ENOTSUP;
	if (!bound && args->policy != SCHED_OTHER && (error = __ops->prepare_realtime()) != 0)
		return error;
	args->suspended = true;
	error = __thread_create(args, start, arg, thread);
	return error != 0 ? error : __thread_with(*thread, set_and_resume, args);
}

/*
 * A bound thread inherits SCHED_FIFO or SCHED_RR also from an unbound creator: then its LWP has
 * this policy.
 */
static void inherit(struct create_args *args)
{
	struct thread *self = thread_self();
	struct sched_param param;

	if (!args->bound || self->bound || __model->scope != SCOPE_EITHER ||
	    self->base_pri < PRI_REALTIME)
		return;
	pthread_getschedparam(self->id, &args->policy, &param);
	args->priority = param.sched_priority;
	args->explicit_sched = args->policy != SCHED_OTHER;
}

static int __attribute__((noinline))
create_with(const pthread_attr_t *attr, void *(*start)(void *), void *arg, pthread_t *thread)
{
	struct create_args args;

	if (attr->__valid != ATTR_VALID)
		return EINVAL;
	args = (struct create_args){
		.stack = attr->__stackaddr,
		.stack_size = attr->__stacksize,
		.guard_size = attr->__guardsize,
		.detached = attr->__detachstate == PTHREAD_CREATE_DETACHED,
		.bound = attr->__scope == PTHREAD_SCOPE_SYSTEM,
		.explicit_sched = attr->__inheritsched == PTHREAD_EXPLICIT_SCHED,
		.policy = attr->__policy,
		.priority = attr->__priority,
	};
	if (!args.explicit_sched)
		inherit(&args);
	if (args.explicit_sched)
		return create_explicit(&args, start, arg, thread);
	return __thread_create(&args, start, arg, thread);
}

/*
 * EAGAIN: no memory or no LWP for the thread.  EINVAL: attr is not initialised, or its policy does
 * not have its priority.  ENOTSUP: an unbound thread cannot have its policy or priority.
 */
int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
	static const struct create_args plain = {.stack_size = DEFAULT_STACK,
						 .guard_size = DEFAULT_GUARD};
	int error = likely(attr == NULL) ? __thread_create(&plain, start, arg, thread)
					 : create_with(attr, start, arg, thread);

	return unlikely(error == ENOMEM) ? EAGAIN : error;
}

/*
 * ESRCH: no such thread.  EINVAL: the thread is detached, or another thread joins it.  EDEADLK: the
 * thread is the caller, or it joins the caller.  Blocks.  A cancellation point: after a
 * cancellation the thread is as if the caller had never joined it.
 */
int pthread_join(pthread_t thread, void **status)
{
	return thread == 0 ? ESRCH : __thread_join(thread, NEVER, NULL, status);
}

/* EBUSY: the thread has not exited.  Errors of pthread_join. */
int pthread_tryjoin_np(pthread_t thread, void **status)
{
	return thread == 0 ? ESRCH : __thread_join(thread, 0, NULL, status);
}

/*
 * As pthread_join, until abstime by CLOCK_REALTIME.  ETIMEDOUT: the thread has not exited by then.
 * EINVAL: also nanoseconds of abstime out of range.  ENOMEM: the model could not prepare for
 * deadlines.  Errors of pthread_join.
 */
int pthread_timedjoin_np(pthread_t thread, void **status, const struct timespec *abstime)
{
	deadline_t deadline;
	int error = thread == 0 ? ESRCH : __deadline(CLOCK_REALTIME, abstime, &deadline);

	if (error == 0)
		error = __thread_join(thread, deadline, NULL, status);
	return error == EBUSY ? ETIMEDOUT : error;
}

/*
 * No thread will join it.  ESRCH: no such thread; EINVAL: detached already, or another thread joins
 * it.
 */
int pthread_detach(pthread_t thread)
{
	return __thread_detach(thread);
}

pthread_t pthread_self(void)
{
	return thread_self()->id;
}

int pthread_equal(pthread_t a, pthread_t b)
{
	return a == b;
}

/* Lets another thread run (libthread/README.md says which).  Never fails. */
int sched_yield(void)
{
	return __ops->yield();
}

int pthread_yield(void)
{
	return __ops->yield();
}
