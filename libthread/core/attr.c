/*
 * attr.c - attributes of threads.
 *
 * All functions except pthread_attr_init: EINVAL: the object is not initialised.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include "attr.h"
#include "core.h"

int pthread_attr_init(pthread_attr_t *attr)
{
	*attr = (pthread_attr_t){
		.__stacksize = DEFAULT_STACK,
		.__guardsize = DEFAULT_GUARD,
		.__detachstate = PTHREAD_CREATE_JOINABLE,
		.__scope = PTHREAD_SCOPE_PROCESS,
		.__inheritsched = PTHREAD_INHERIT_SCHED,
		.__policy = SCHED_OTHER,
		.__valid = ATTR_VALID,
	};
	return 0;
}

int pthread_attr_destroy(pthread_attr_t *attr)
{
	if (attr->__valid != ATTR_VALID)
		return EINVAL;
	attr->__valid = 0;
	return 0;
}

int pthread_attr_getdetachstate(const pthread_attr_t *attr, int *state)
{
	if (attr->__valid != ATTR_VALID)
		return EINVAL;
	*state = attr->__detachstate;
	return 0;
}

/* EINVAL: neither PTHREAD_CREATE_JOINABLE nor PTHREAD_CREATE_DETACHED. */
int pthread_attr_setdetachstate(pthread_attr_t *attr, int state)
{
	if (attr->__valid != ATTR_VALID ||
	    (state != PTHREAD_CREATE_JOINABLE && state != PTHREAD_CREATE_DETACHED))
		return EINVAL;
	attr->__detachstate = state;
	return 0;
}

int pthread_attr_getguardsize(const pthread_attr_t *attr, size_t *size)
{
	if (attr->__valid != ATTR_VALID)
		return EINVAL;
	*size = attr->__guardsize;
	return 0;
}

/*
 * Bytes below the stack that fault; rounded up to pages when used, ignored with setstack.
 * EINVAL: beyond any address space.
 */
int pthread_attr_setguardsize(pthread_attr_t *attr, size_t size)
{
	if (attr->__valid != ATTR_VALID || size > PTRDIFF_MAX / 4)
		return EINVAL;
	attr->__guardsize = size;
	return 0;
}

int pthread_attr_getscope(const pthread_attr_t *attr, int *scope)
{
	if (attr->__valid != ATTR_VALID)
		return EINVAL;
	*scope = attr->__scope;
	return 0;
}

/*
 * Bound (PTHREAD_SCOPE_SYSTEM) or unbound (PTHREAD_SCOPE_PROCESS).  A model that has only one kind
 * accepts both and ignores the value.  EINVAL: neither.
 */
int pthread_attr_setscope(pthread_attr_t *attr, int scope)
{
	if (attr->__valid != ATTR_VALID ||
	    (scope != PTHREAD_SCOPE_PROCESS && scope != PTHREAD_SCOPE_SYSTEM))
		return EINVAL;
	attr->__scope = scope;
	return 0;
}

int pthread_attr_getstack(const pthread_attr_t *attr, void **addr, size_t *size)
{
	if (attr->__valid != ATTR_VALID)
		return EINVAL;
	*addr = attr->__stackaddr;
	*size = attr->__stacksize;
	return 0;
}

/* EINVAL: size below PTHREAD_STACK_MIN, or the ends not on 16 bytes. */
int pthread_attr_setstack(pthread_attr_t *attr, void *addr, size_t size)
{
	if (attr->__valid != ATTR_VALID || addr == NULL || size < PTHREAD_STACK_MIN ||
	    ((uintptr_t)addr | size) % 16 != 0)
		return EINVAL;
	attr->__stackaddr = addr;
	attr->__stacksize = size;
	return 0;
}

int pthread_attr_getstacksize(const pthread_attr_t *attr, size_t *size)
{
	if (attr->__valid != ATTR_VALID)
		return EINVAL;
	*size = attr->__stacksize;
	return 0;
}

/* EINVAL: below PTHREAD_STACK_MIN, or beyond any address space. */
int pthread_attr_setstacksize(pthread_attr_t *attr, size_t size)
{
	if (attr->__valid != ATTR_VALID || size < PTHREAD_STACK_MIN || size > PTRDIFF_MAX / 4)
		return EINVAL;
	attr->__stacksize = size;
	return 0;
}

int pthread_attr_getinheritsched(const pthread_attr_t *attr, int *inherit)
{
	if (attr->__valid != ATTR_VALID)
		return EINVAL;
	*inherit = attr->__inheritsched;
	return 0;
}

/*
 * Whether a new thread gets the policy and priority of its creator, or those of the attributes.
 * EINVAL: neither PTHREAD_INHERIT_SCHED nor PTHREAD_EXPLICIT_SCHED.
 */
int pthread_attr_setinheritsched(pthread_attr_t *attr, int inherit)
{
	if (attr->__valid != ATTR_VALID ||
	    (inherit != PTHREAD_INHERIT_SCHED && inherit != PTHREAD_EXPLICIT_SCHED))
		return EINVAL;
	attr->__inheritsched = inherit;
	return 0;
}

int pthread_attr_getschedpolicy(const pthread_attr_t *attr, int *policy)
{
	if (attr->__valid != ATTR_VALID)
		return EINVAL;
	*policy = attr->__policy;
	return 0;
}

/* EINVAL: there is no such policy (sched.h). */
int pthread_attr_setschedpolicy(pthread_attr_t *attr, int policy)
{
	if (attr->__valid != ATTR_VALID || !__sched_policy_known(policy))
		return EINVAL;
	attr->__policy = policy;
	return 0;
}

int pthread_attr_getschedparam(const pthread_attr_t *attr, struct sched_param *param)
{
	if (attr->__valid != ATTR_VALID)
		return EINVAL;
	*param = (struct sched_param){.sched_priority = attr->__priority};
	return 0;
}

/* EINVAL: the policy of attr does not have this priority.  Set the policy first. */
int pthread_attr_setschedparam(pthread_attr_t *attr, const struct sched_param *param)
{
	if (attr->__valid != ATTR_VALID ||
	    !__sched_priority_known(attr->__policy, param->sched_priority))
		return EINVAL;
	attr->__priority = param->sched_priority;
	return 0;
}
