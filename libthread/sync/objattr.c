/*
 * objattr.c - attributes of mutexes, condition variables, reader-writer locks and barriers.  An
 * unknown value is EINVAL.
 */
#include <errno.h>
#include "mutex.h"

static int set_pshared(int *where, int pshared)
{
	if (pshared != PTHREAD_PROCESS_PRIVATE && pshared != PTHREAD_PROCESS_SHARED)
		return EINVAL;
	*where = pshared;
	return 0;
}

/* The four functions that every kind of attributes object has. */
#define OBJECT_ATTRIBUTES(kind)                                                                    \
	int pthread_##kind##attr_init(pthread_##kind##attr_t *attr)                                \
	{                                                                                          \
		*attr = (pthread_##kind##attr_t){0};                                               \
		return 0;                                                                          \
	}                                                                                          \
	int pthread_##kind##attr_destroy(pthread_##kind##attr_t *attr)                             \
	{                                                                                          \
		return 0;                                                                          \
	}                                                                                          \
	int pthread_##kind##attr_getpshared(const pthread_##kind##attr_t *attr, int *pshared)      \
	{                                                                                          \
		*pshared = attr->__pshared;                                                        \
		return 0;                                                                          \
	}                                                                                          \
	/* EINVAL: neither PTHREAD_PROCESS_PRIVATE nor PTHREAD_PROCESS_SHARED. */                  \
	int pthread_##kind##attr_setpshared(pthread_##kind##attr_t *attr, int pshared)             \
	{                                                                                          \
		return set_pshared(&attr->__pshared, pshared);                                     \
	}

_Static_assert(PTHREAD_MUTEX_DEFAULT == 0 && PTHREAD_PROCESS_PRIVATE == 0, "zero is the default");

OBJECT_ATTRIBUTES(mutex)
OBJECT_ATTRIBUTES(cond)
OBJECT_ATTRIBUTES(rwlock)
OBJECT_ATTRIBUTES(barrier)

int pthread_mutexattr_gettype(const pthread_mutexattr_t *attr, int *type)
{
	*type = attr->__type;
	return 0;
}

/* EINVAL: no such type. */
int pthread_mutexattr_settype(pthread_mutexattr_t *attr, int type)
{
	if (type != PTHREAD_MUTEX_NORMAL && type != PTHREAD_MUTEX_RECURSIVE &&
	    type != PTHREAD_MUTEX_ERRORCHECK)
		return EINVAL;
	attr->__type = type;
	return 0;
}

int pthread_mutexattr_getprotocol(const pthread_mutexattr_t *attr, int *protocol)
{
	*protocol = attr->__protocol;
	return 0;
}

/* EINVAL: no such protocol. */
int pthread_mutexattr_setprotocol(pthread_mutexattr_t *attr, int protocol)
{
	if (protocol != PTHREAD_PRIO_NONE && protocol != PTHREAD_PRIO_INHERIT &&
	    protocol != PTHREAD_PRIO_PROTECT)
		return EINVAL;
	attr->__protocol = protocol;
	return 0;
}

int pthread_mutexattr_getprioceiling(const pthread_mutexattr_t *attr, int *ceiling)
{
	*ceiling = attr->__ceiling;
	return 0;
}

/* EINVAL: no priority of SCHED_FIFO. */
int pthread_mutexattr_setprioceiling(pthread_mutexattr_t *attr, int ceiling)
{
	if (ceiling < PRIO_CEILING_MIN || ceiling > PRIO_CEILING_MAX)
		return EINVAL;
	attr->__ceiling = ceiling;
	return 0;
}

int pthread_mutexattr_getrobust(const pthread_mutexattr_t *attr, int *robust)
{
	*robust = attr->__robust;
	return 0;
}

/* EINVAL: neither PTHREAD_MUTEX_STALLED nor PTHREAD_MUTEX_ROBUST. */
int pthread_mutexattr_setrobust(pthread_mutexattr_t *attr, int robust)
{
	if (robust != PTHREAD_MUTEX_STALLED && robust != PTHREAD_MUTEX_ROBUST)
		return EINVAL;
	attr->__robust = robust;
	return 0;
}

int pthread_condattr_getclock(const pthread_condattr_t *attr, clockid_t *clock)
{
	*clock = attr->__clock != 0 ? (clockid_t)attr->__clock : CLOCK_REALTIME;
	return 0;
}

/* EINVAL: neither CLOCK_REALTIME nor CLOCK_MONOTONIC. */
int pthread_condattr_setclock(pthread_condattr_t *attr, clockid_t clock)
{
	if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
		return EINVAL;
	attr->__clock = clock;
	return 0;
}
