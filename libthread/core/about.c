/*
 * about.c - the name of a thread, and its attributes.  All functions: ESRCH: no such thread, or it
 * has exited.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include "attr.h"
#include "core.h"
#include "model.h"

static int set_name(struct thread *t, void *name)
{
	strcpy(t->name, name);
	PROBE(thread_name, "thread name name", t, *(const uint64_t *)t->name,
	      *(const uint64_t *)(t->name + 8));
	t->named = true;
	return 0;
}

static int get_name(struct thread *t, void *name)
{
	strcpy(name, t->named ? t->name : "");
	return 0;
}

/* ERANGE: more than 15 characters. */
int pthread_setname_np(pthread_t thread, const char *name)
{
	return strlen(name) < THREAD_NAME ? __thread_with(thread, set_name, (char *)name) : ERANGE;
}

/* "" if the thread has no name.  ERANGE: the name does not fit. */
int pthread_getname_np(pthread_t thread, char *name, size_t size)
{
	char now[THREAD_NAME];
	int error = __thread_with(thread, get_name, now);

	if (error == 0 && strlen(now) >= size)
		error = ERANGE;
	if (error == 0)
		strcpy(name, now);
	return error;
}

/* The first thread's stack is the process's. */
static int get_attr(struct thread *t, void *arg)
{
	pthread_attr_t *attr = arg;
	uintptr_t lowest = __auxval(AT_WEFT_STACK);
	bool first = t == __main_thread;

	pthread_attr_init(attr);
	attr->__stackaddr = first ? (void *)lowest : t->stack;
	attr->__stacksize = first ? __auxval(AT_WEFT_STACK_END) - lowest : t->stack_size;
	attr->__guardsize = t->guard_size;
	attr->__detachstate =
		t->detached & DETACHED ? PTHREAD_CREATE_DETACHED : PTHREAD_CREATE_JOINABLE;
	attr->__scope = t->bound ? PTHREAD_SCOPE_SYSTEM : PTHREAD_SCOPE_PROCESS;
	return 0;
}

/*
 * The attributes that the thread has now.  The caller destroys them like any others (as in glibc
 * and musl).
 */
int pthread_getattr_np(pthread_t thread, pthread_attr_t *attr)
{
	struct sched_param param;
	int policy, error = __thread_with(thread, get_attr, attr);

	if (error == 0)
		error = pthread_getschedparam(thread, &policy, &param);
	if (error == 0) {
		attr->__policy = policy;
		attr->__priority = param.sched_priority;
	}
	return error;
}

/*
 * pthread_getattr_np into attributes that have been initialised (as in FreeBSD and NetBSD).
 * EINVAL: they have not.  They are not changed on an error.
 */
int pthread_attr_get_np(pthread_t thread, pthread_attr_t *attr)
{
	pthread_attr_t now;
	int error;

	if (attr->__valid != ATTR_VALID)
		return EINVAL;
	error = pthread_getattr_np(thread, &now);
	if (error == 0)
		*attr = now;
	return error;
}
