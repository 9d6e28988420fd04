/* pthread.c - POSIX threads: thin functions over core/thread.c and the model. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include "attr.h"
#include "impl.h"
#include "model.h"

/* EAGAIN: no memory or no LWP for it; EINVAL: attr is not initialised. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
	struct create_args args = {.stack_size = DEFAULT_STACK, .guard_size = DEFAULT_GUARD};
	int error;

	if (attr != NULL) {
		if (attr->__valid != ATTR_VALID)
			return EINVAL;
		args.stack = attr->__stackaddr;
		args.stack_size = attr->__stacksize;
		args.guard_size = attr->__guardsize;
		args.detached = attr->__detachstate == PTHREAD_CREATE_DETACHED;
		args.bound = attr->__scope == PTHREAD_SCOPE_SYSTEM;
	}
	error = __thread_create(&args, start, arg, thread);
	return error == ENOMEM ? EAGAIN : error;
}

/* Errors and blocking: see __thread_join. */
int pthread_join(pthread_t thread, void **status)
{
	return thread == 0 ? ESRCH : __thread_join(thread, NEVER, NULL, status);
}

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

int sched_yield(void)
{
	return __ops->yield();
}

int pthread_yield(void)
{
	return __ops->yield();
}
