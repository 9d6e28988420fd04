/*
 * if_thread.c - what the functions of pthread.h on threads, and those of sched.h, return.  What
 * depends on whether a thread has an LWP of its own is asked of one that has (bound), and of one
 * that has not, if the model has such.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include "interface.h"

static void attributes(void)
{
	static char stack[PTHREAD_STACK_MIN] __attribute__((aligned(16)));
	struct sched_param param = {.sched_priority = 0}, wrong = {.sched_priority = 1000};
	pthread_attr_t a;
	size_t size;
	void *addr;
	int n;

	WORKS(pthread_attr_init(&a));
#define SET_AND_GET(name, first, value, bad)                                                       \
	WORKS(pthread_attr_get##name(&a, &n));                                                     \
	is("pthread_attr_get" #name, n, first);                                                    \
	WORKS(pthread_attr_set##name(&a, value));                                                  \
	pthread_attr_get##name(&a, &n);                                                            \
	is("pthread_attr_set" #name, n, value);                                                    \
	GIVES(EINVAL, pthread_attr_set##name(&a, bad), "no such value")
	SET_AND_GET(detachstate, PTHREAD_CREATE_JOINABLE, PTHREAD_CREATE_DETACHED, 2);
	SET_AND_GET(scope, PTHREAD_SCOPE_PROCESS, PTHREAD_SCOPE_SYSTEM, 2);
	SET_AND_GET(inheritsched, PTHREAD_INHERIT_SCHED, PTHREAD_EXPLICIT_SCHED, 2);
	SET_AND_GET(schedpolicy, SCHED_OTHER, SCHED_RR, 77);
	WORKS(pthread_attr_setschedparam(&a, &param));
	GIVES(EINVAL, pthread_attr_setschedparam(&a, &wrong), "out of range");
	WORKS(pthread_attr_getschedparam(&a, &wrong));
	is("pthread_attr_getschedparam", wrong.sched_priority, 0);
	WORKS(pthread_attr_setguardsize(&a, 12345));
	WORKS(pthread_attr_getguardsize(&a, &size));
	is("pthread_attr_getguardsize", size, 12345);
	GIVES(EINVAL, pthread_attr_setguardsize(&a, SIZE_MAX), "beyond any address space");
	WORKS(pthread_attr_setstacksize(&a, PTHREAD_STACK_MIN));
	WORKS(pthread_attr_getstacksize(&a, &size));
	is("pthread_attr_getstacksize", size, PTHREAD_STACK_MIN);
	GIVES(EINVAL, pthread_attr_setstacksize(&a, PTHREAD_STACK_MIN - 1), "too small");
	WORKS(pthread_attr_setstack(&a, stack, sizeof(stack)));
	GIVES(EINVAL, pthread_attr_setstack(&a, stack, PTHREAD_STACK_MIN - 16), "too small");
	GIVES(EINVAL, pthread_attr_setstack(&a, stack + 1, sizeof(stack)), "not on 16 bytes");
	WORKS(pthread_attr_getstack(&a, &addr, &size));
	ok("pthread_attr_getstack", addr == stack && size == sizeof(stack));

	WORKS(pthread_attr_destroy(&a));
	GIVES(EINVAL, pthread_attr_destroy(&a), "it has been destroyed");
	GIVES(EINVAL, pthread_attr_getdetachstate(&a, &n), "destroyed");
	GIVES(EINVAL, pthread_attr_setdetachstate(&a, PTHREAD_CREATE_JOINABLE), "destroyed");
	GIVES(EINVAL, pthread_attr_getscope(&a, &n), "destroyed");
	GIVES(EINVAL, pthread_attr_getinheritsched(&a, &n), "destroyed");
	GIVES(EINVAL, pthread_attr_getschedpolicy(&a, &n), "destroyed");
	GIVES(EINVAL, pthread_attr_getschedparam(&a, &param), "destroyed");
	GIVES(EINVAL, pthread_attr_getguardsize(&a, &size), "destroyed");
	GIVES(EINVAL, pthread_attr_getstacksize(&a, &size), "destroyed");
	GIVES(EINVAL, pthread_attr_getstack(&a, &addr, &size), "destroyed");
}

static void *nothing(void *arg)
{
	return arg;
}

static void *leaves(void *arg)
{
	pthread_exit(arg);
}

static void *joins(void *who)
{
	return (void *)(intptr_t)pthread_join(*(pthread_t *)who, NULL);
}

/* One that waits until it is let go, and what it and the caller could do to each other. */
static int wait_here(void *sem)
{
	return 0;
}

static void lives(void)
{
	pthread_t self = pthread_self(), t;
	pthread_attr_t a;
	struct other o;
	void *status;

	DOES(pthread_self, self != 0);
	DOES(pthread_equal, pthread_equal(self, pthread_self()) && !pthread_equal(self, self + 1));
	WORKS(pthread_create(&t, NULL, leaves, &o));
	WORKS(pthread_join(t, &status));
	DOES(pthread_exit, status == &o);
	GIVES(ESRCH, pthread_join(t, NULL), "it has been joined");
	GIVES(ESRCH, pthread_tryjoin_np(t, NULL), "it has been joined");
	GIVES(ESRCH, pthread_timedjoin_np(t, NULL, PAST), "it has been joined");
	GIVES(ESRCH, pthread_detach(t), "it has been joined");
	GIVES(ESRCH, pthread_cancel(t), "it has been joined");
	GIVES(EDEADLK, pthread_join(self, NULL), "the caller");
	GIVES(EDEADLK, pthread_tryjoin_np(self, NULL), "the caller");
	GIVES(EDEADLK, pthread_timedjoin_np(self, NULL, PAST), "the caller");

	HOLD(&o, wait_here, wait_here, NULL);
	GIVES(EBUSY, pthread_tryjoin_np(o.id, NULL), "it has not exited");
	GIVES(ETIMEDOUT, pthread_timedjoin_np(o.id, NULL, PAST), "it has not exited");
	GIVES(EINVAL, pthread_timedjoin_np(o.id, NULL, WRONG), "1,000,000,000 nanoseconds");
	WORKS(pthread_detach(o.id));
	GIVES(EINVAL, pthread_detach(o.id), "detached already");
	GIVES(EINVAL, pthread_join(o.id, NULL), "it is detached");
	GIVES(EINVAL, pthread_tryjoin_np(o.id, NULL), "it is detached");
	sem_post(&o.go);
	UNTIL(pthread_cancel(o.id) == ESRCH);

	pthread_create(&t, NULL, nothing, NULL);
	UNTIL(pthread_tryjoin_np(t, NULL) == 0);
	DOES(pthread_tryjoin_np, 1);
	pthread_create(&t, NULL, nothing, NULL);
	WORKS(pthread_timedjoin_np(t, NULL, &(const struct timespec){4000000000, 0}));

	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, PTRDIFF_MAX / 4);
	GIVES(EAGAIN, pthread_create(&t, &a, nothing, NULL), "no memory for its stack");
	pthread_attr_destroy(&a);
	GIVES(EINVAL, pthread_create(&t, &a, nothing, NULL), "attributes that are none");
	pthread_attr_init(&a);
	pthread_attr_setinheritsched(&a, PTHREAD_EXPLICIT_SCHED);
	a.__priority = 1000;
	GIVES(EINVAL, pthread_create(&t, &a, nothing, NULL), "a priority that there is not");

	WORKS(pthread_setname_np(self, "fifteen letters"));
	char name[16];
	WORKS(pthread_getname_np(self, name, sizeof(name)));
	ok("pthread_getname_np", strcmp(name, "fifteen letters") == 0);
	GIVES(ERANGE, pthread_getname_np(self, name, 15), "it does not fit");
	GIVES(ERANGE, pthread_setname_np(self, "sixteen letters."), "sixteen letters");
	GIVES(ESRCH, pthread_setname_np(NO_THREAD, "x"), "no such thread");
	GIVES(ESRCH, pthread_getname_np(NO_THREAD, name, sizeof(name)), "no such thread");
	WORKS(pthread_getattr_np(self, &a));
	GIVES(ESRCH, pthread_getattr_np(NO_THREAD, &a), "no such thread");
	WORKS(pthread_attr_get_np(self, &a));
	GIVES(ESRCH, pthread_attr_get_np(NO_THREAD, &a), "no such thread");
	GIVES(EINVAL, pthread_attr_get_np(self, &(pthread_attr_t){0}), "not initialised");
	is("pthread_yield", pthread_yield(), 0);
	is("sched_yield", sched_yield(), 0);
}

/* Two threads join each other: the second that comes is told. */
static pthread_t first;

static void joined_by_another(void)
{
	struct other o;
	pthread_t t;
	void *status;
	int error;

	first = pthread_self();
	pthread_create(&t, NULL, joins, &first);
	error = pthread_join(t, &status);
	if (error == 0) {
		error = (intptr_t)status;
	} else {
		pthread_cancel(t);
		pthread_join(t, NULL);
	}
	is("pthread_join EDEADLK: each other", error, EDEADLK);

	HOLD(&o, wait_here, wait_here, NULL);
	pthread_create(&t, NULL, joins, &o.id);
	UNTIL(pthread_tryjoin_np(o.id, NULL) == EINVAL);
	GIVES(EINVAL, pthread_join(o.id, NULL), "another thread joins it");
	GIVES(EINVAL, pthread_detach(o.id), "another thread joins it");
	sem_post(&o.go);
	pthread_join(t, &status);
	is("pthread_join", (intptr_t)status, 0);
}

static int ran; /* handlers */

static void handler(void *arg)
{
	ran++;
}

static void *is_cancelled(void *arg)
{
	pthread_cleanup_push(handler, NULL);
	for (;;) {
		pthread_testcancel();
		thr_yield();
	}
	pthread_cleanup_pop(0);
	return NULL;
}

static void *disables(void *arg)
{
	int old = -1;

	WORKS(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old));
	is("pthread_setcancelstate", old, PTHREAD_CANCEL_ENABLE);
	GIVES(EINVAL, pthread_setcancelstate(2, NULL), "neither");
	WORKS(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old));
	is("pthread_setcanceltype", old, PTHREAD_CANCEL_DEFERRED);
	GIVES(EINVAL, pthread_setcanceltype(2, NULL), "neither");
	WORKS(pthread_cancel(pthread_self()));
	pthread_testcancel();
	DOES(pthread_testcancel, 1); /* disabled */
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	bail("a thread that allows it is not cancelled");
}

static void cancellation(void)
{
	pthread_t t;
	void *status;

	pthread_create(&t, NULL, is_cancelled, NULL);
	WORKS(pthread_cancel(t));
	pthread_join(t, &status);
	ok("pthread_cancel", status == PTHREAD_CANCELED && ran == 1);
	pthread_create(&t, NULL, disables, NULL);
	pthread_join(t, &status);
	ok("pthread_setcancelstate", status == PTHREAD_CANCELED);
	GIVES(ESRCH, pthread_cancel(NO_THREAD), "no such thread");
}

static void keys(void)
{
	static pthread_key_t key[PTHREAD_KEYS_MAX];
	unsigned n = 1;

	WORKS(pthread_key_create(&key[0], NULL));
	DOES(pthread_getspecific, pthread_getspecific(key[0]) == NULL);
	WORKS(pthread_setspecific(key[0], key));
	DOES(pthread_getspecific, pthread_getspecific(key[0]) == key);
	while (n < PTHREAD_KEYS_MAX && pthread_key_create(&key[n], NULL) == 0)
		n++;
	GIVES(EAGAIN, pthread_key_create(&key[0], NULL), "there are PTHREAD_KEYS_MAX");
	WORKS(pthread_setspecific(key[n - 1], key));
	while (n > 1)
		pthread_key_delete(key[--n]);
	WORKS(pthread_key_delete(key[0]));
	GIVES(EINVAL, pthread_key_delete(key[0]), "deleted already");
	GIVES(EINVAL, pthread_setspecific(key[0], key), "deleted");
	GIVES(EINVAL, pthread_setspecific(PTHREAD_KEYS_MAX, key), "no such key");
}

static int times;

static void once(void)
{
	times++;
}

static void in_fork(void)
{
	times++;
}

static void once_and_fork(void)
{
	pthread_once_t o = PTHREAD_ONCE_INIT;
	int status;
	pid_t pid;

	WORKS(pthread_once(&o, once));
	pthread_once(&o, once);
	is("pthread_once", times, 1);
	WORKS(pthread_atfork(in_fork, in_fork, in_fork));
	pid = fork();
	if (pid == 0)
		_exit(times);
	waitpid(pid, &status, 0);
	ok("pthread_atfork", WEXITSTATUS(status) == 3 && times == 3);
	WORKS(pthread_setconcurrency(2));
	DOES(pthread_getconcurrency, pthread_getconcurrency() == 2);
	GIVES(EINVAL, pthread_setconcurrency(-1), "negative");
}

/* --- scheduling -------------------------------------------------------------------------- */

static void of_a_thread(pthread_t t, int bound)
{
	struct sched_param param = {.sched_priority = 1000};
	cpu_set_t cpus;
	clockid_t clock;
	int policy;

	GIVES(EINVAL, pthread_setschedparam(t, SCHED_OTHER, &param), "a priority out of range");
	GIVES(EINVAL, pthread_setschedparam(t, 77, &param), "no such policy");
	GIVES(EINVAL, pthread_setschedprio(t, 1000), "out of range");
	WORKS(pthread_getschedparam(t, &policy, &param));
	WORKS(pthread_setschedprio(t, 1));
	param.sched_priority = 0;
	WORKS(pthread_setschedparam(t, SCHED_OTHER, &param));
	CPU_ZERO(&cpus);
	GIVES(EINVAL, pthread_setaffinity_np(t, sizeof(cpus), &cpus), "no CPU");
	GIVES(EINVAL, pthread_setaffinity_np(t, 1, &cpus), "a set of one byte");
	GIVES(EINVAL, pthread_getaffinity_np(t, 1, &cpus), "a set of one byte");
	CPU_SET(0, &cpus);
	CPU_SET(1, &cpus);
	GIVES(ENOTSUP, pthread_setaffinity_np(t, sizeof(cpus), &cpus), "two CPUs of four");
	if (bound) {
		WORKS(pthread_getcpuclockid(t, &clock));
		WORKS(pthread_getaffinity_np(t, sizeof(cpus), &cpus));
		WORKS(pthread_setaffinity_np(t, sizeof(cpus), &cpus));
		return;
	}
	GIVES(ENOENT, pthread_getcpuclockid(t, &clock), "it has no LWP");
	GIVES(ENOTSUP, pthread_getaffinity_np(t, sizeof(cpus), &cpus), "it has no LWP");
	param.sched_priority = 1;
	GIVES(ENOTSUP, pthread_setschedparam(t, SCHED_NT, &param), "it has no LWP");
	GIVES(ENOTSUP, pthread_setschedprio(t, -1), "it has no LWP");
}

static void *waits(void *sem)
{
	sem_wait(sem);
	return NULL;
}

static void signals(void)
{
	sigset_t set;

	WORKS(pthread_sigmask(SIG_BLOCK, NULL, &set));
	WORKS(pthread_sigmask(SIG_SETMASK, &set, NULL));
	GIVES(EINVAL, pthread_sigmask(77, &set, NULL), "no such way");
	WORKS(pthread_kill(pthread_self(), 0));
	GIVES(EINVAL, pthread_kill(pthread_self(), 1000), "no such signal");
	GIVES(ESRCH, pthread_kill(NO_THREAD, 0), "no such thread");
}

static void scheduling(void)
{
	const char *model = getenv("LIBTHREAD");
	struct sched_param param = {.sched_priority = 0}, wrong = {.sched_priority = 1000};
	struct timespec slice;
	pthread_attr_t a;
	clockid_t clock;
	cpu_set_t cpus;
	pthread_t t;
	sem_t go;
	int policy;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	GIVES(ESRCH, pthread_getschedparam(NO_THREAD, &policy, &param), "no such thread");
	GIVES(ESRCH, pthread_setschedparam(NO_THREAD, SCHED_OTHER, &param), "no such thread");
	GIVES(ESRCH, pthread_setschedprio(NO_THREAD, 0), "no such thread");
	GIVES(ESRCH, pthread_getcpuclockid(NO_THREAD, &clock), "no such thread");
	GIVES(ESRCH, pthread_setaffinity_np(NO_THREAD, sizeof(cpus), &cpus), "no such thread");
	GIVES(ESRCH, pthread_getaffinity_np(NO_THREAD, sizeof(cpus), &cpus), "no such thread");

	of_a_thread(pthread_self(), strcmp(model, "lwp") == 0);
	pthread_attr_init(&a);
	if (strcmp(model, "lwp") != 0) {
		pthread_attr_setinheritsched(&a, PTHREAD_EXPLICIT_SCHED);
		pthread_attr_setschedpolicy(&a, SCHED_NT);
		pthread_attr_setschedparam(&a, &(struct sched_param){.sched_priority = 1});
		GIVES(ENOTSUP, pthread_create(&t, &a, nothing, NULL), "it would have no LWP");
		pthread_attr_init(&a);
	}
	if (strcmp(model, "mxn") == 0 || strcmp(model, "sa") == 0) {
		sem_init(&go, 0, 0);
		pthread_attr_setscope(&a, PTHREAD_SCOPE_SYSTEM);
		pthread_create(&t, &a, waits, &go);
		of_a_thread(t, 1);
		sem_post(&go);
		pthread_join(t, NULL);
	}

	DOES(sched_getscheduler, sched_getscheduler(0) == SCHED_OTHER);
	SETS(EINVAL, sched_getscheduler(-1), "a negative pid");
	SETS(ESRCH, sched_getscheduler(30000), "no such process");
	DOES(sched_setscheduler, sched_setscheduler(0, SCHED_OTHER, &param) == SCHED_OTHER);
	SETS(EINVAL, sched_setscheduler(0, 77, &param), "no such policy");
	SETS(EINVAL, sched_setscheduler(0, SCHED_OTHER, &wrong), "no such priority");
	SETS(ESRCH, sched_setscheduler(30000, SCHED_OTHER, &param), "no such process");
	WORKS(sched_setparam(0, &param));
	SETS(EINVAL, sched_setparam(0, &wrong), "no such priority");
	SETS(ESRCH, sched_setparam(30000, &param), "no such process");
	WORKS(sched_getparam(0, &param));
	SETS(EINVAL, sched_getparam(-1, &param), "a negative pid");
	SETS(ESRCH, sched_getparam(30000, &param), "no such process");
	DOES(sched_get_priority_min, sched_get_priority_min(SCHED_FIFO) == 0);
	DOES(sched_get_priority_max,
	     sched_get_priority_max(SCHED_FIFO) - sched_get_priority_min(SCHED_FIFO) >= 31);
	SETS(EINVAL, sched_get_priority_min(77), "no such policy");
	SETS(EINVAL, sched_get_priority_max(77), "no such policy");
	SETS(EINVAL, sched_rr_get_interval(0, &slice), "not SCHED_RR");
	SETS(ESRCH, sched_rr_get_interval(30000, &slice), "no such process");
	sched_setscheduler(0, SCHED_RR, &param);
	is("sched_rr_get_interval", sched_rr_get_interval(0, &slice), 0);
	sched_setscheduler(0, SCHED_OTHER, &param);
}

int main(void)
{
	attributes();
	lives();
	cancellation();
	keys();
	once_and_fork();
	signals();
	scheduling();
	joined_by_another();
	return tap_done();
}
