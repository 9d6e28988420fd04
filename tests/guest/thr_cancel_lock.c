/*
 * thr_cancel_lock.c - asynchronous cancellation of threads that wait for a lock or at a barrier, in every
 * model: the wait ends, the lock can be had by others, and pthread_cond_wait keeps its promise.
 */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include "cancel.h"

static int one_lwp; /* model n1: a thread that waits in the kernel stops all */

/* --- locks of every kind -------------------------------------------------------------------- */

struct how {
	const char *name;
	int type, protocol, robust, shared;
	int timed;
};

static const struct how hows[] = {
	{.name = "mutex"},
	{.name = "timed mutex", .timed = 1},
	{.name = "recursive mutex", .type = PTHREAD_MUTEX_RECURSIVE},
	{.name = "error-checking mutex", .type = PTHREAD_MUTEX_ERRORCHECK},
	{.name = "inheriting mutex", .protocol = PTHREAD_PRIO_INHERIT},
	{.name = "mutex with a ceiling", .protocol = PTHREAD_PRIO_PROTECT},
	{.name = "robust mutex", .robust = PTHREAD_MUTEX_ROBUST},
	{.name = "shared mutex", .shared = PTHREAD_PROCESS_SHARED},
};

static pthread_mutex_t m;
static int timed, cleaned;
static const struct timespec far_away = {.tv_sec = 4000000000};

static void clean(void *arg)
{
	cleaned++;
}

static void init_mutex(const struct how *how)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, how->type);
	pthread_mutexattr_setprotocol(&attr, how->protocol);
	pthread_mutexattr_setrobust(&attr, how->robust);
	pthread_mutexattr_setpshared(&attr, how->shared);
	if (pthread_mutex_init(&m, &attr) != 0)
		bail("pthread_mutex_init");
	timed = how->timed;
}

static void *locks(void *arg)
{
	pthread_cleanup_push(clean, NULL);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	waiting = 1;
	if (timed)
		pthread_mutex_timedlock(&m, &far_away);
	else
		pthread_mutex_lock(&m);
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, NULL);
	pthread_mutex_unlock(&m);
	pthread_cleanup_pop(0);
	return "has had it";
}

/* Time for others to come to their waits: they may need this LWP, or this CPU.  No check counts on it. */
static void let_run_on(void)
{
	const struct timespec ms = {.tv_nsec = 1000000};

	nanosleep(&ms, NULL);
	for (int i = 0; i < 5; i++)
		sched_yield();
}

/* By sleeps, because with a ceiling the caller may be above the thread that it waits for. */
static void let_run(void)
{
	while (!waiting)
		let_run_on();
	waiting = 0;
	let_run_on();
}

static void test_mutex(const struct how *how)
{
	char name[100];
	pthread_t t, after;

	init_mutex(how);
	pthread_mutex_lock(&m);
	cleaned = 0;
	t = start(locks, NULL);
	let_run();
	pthread_cancel(t);
	snprintf(name, sizeof(name), "%s: the wait ends", how->name);
	ok(name, result_of(t) == PTHREAD_CANCELED);
	snprintf(name, sizeof(name), "%s: ... with its cleanup handlers", how->name);
	is(name, cleaned, 1);

	/* One of two waits on, and gets it. */
	t = start(locks, NULL);
	let_run();
	after = start(locks, NULL);
	let_run();
	pthread_cancel(t);
	result_of(t);
	pthread_mutex_unlock(&m);
	snprintf(name, sizeof(name), "%s: another waiter gets it", how->name);
	ok(name, result_of(after) != PTHREAD_CANCELED);
	snprintf(name, sizeof(name), "%s: and it is free", how->name);
	is(name, pthread_mutex_trylock(&m), 0);
	pthread_mutex_unlock(&m);
	is("destroy", pthread_mutex_destroy(&m), 0);
}

/* --- reader-writer locks, barriers -------------------------------------------------------------- */

static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;

static void *reads(void *arg)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	waiting = 1;
	pthread_rwlock_rdlock(&rw);
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, NULL);
	pthread_rwlock_unlock(&rw);
	return "has read";
}

static void *writes(void *arg)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	waiting = 1;
	pthread_rwlock_wrlock(&rw);
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, NULL);
	pthread_rwlock_unlock(&rw);
	return "has written";
}

static void test_rwlock(void)
{
	pthread_t t, after;

	pthread_rwlock_wrlock(&rw);
	t = start(reads, NULL);
	let_run();
	pthread_cancel(t);
	ok("rwlock: a reader's wait ends", result_of(t) == PTHREAD_CANCELED);
	pthread_rwlock_unlock(&rw);

	pthread_rwlock_rdlock(&rw);
	t = start(writes, NULL);
	let_run();
	after = start(reads, NULL); /* behind the writer */
	let_run();
	pthread_cancel(t);
	ok("rwlock: a writer's wait ends", result_of(t) == PTHREAD_CANCELED);
	ok("rwlock: and readers behind it go on", result_of(after) != PTHREAD_CANCELED);
	pthread_rwlock_unlock(&rw);
	is("rwlock: it is free", pthread_rwlock_trywrlock(&rw), 0);
	pthread_rwlock_unlock(&rw);
}

static pthread_barrier_t barrier;

static void *arrives(void *arg)
{
	pthread_setcanceltype(arg ? PTHREAD_CANCEL_ASYNCHRONOUS : PTHREAD_CANCEL_DEFERRED, NULL);
	waiting = 1;
	pthread_barrier_wait(&barrier);
	return "is past it";
}

static void test_barrier(void)
{
	pthread_t t, other;

	pthread_barrier_init(&barrier, NULL, 3);
	t = start(arrives, "");
	let_run();
	other = start(arrives, NULL);
	let_run();
	pthread_cancel(t);
	ok("barrier: the wait ends", result_of(t) == PTHREAD_CANCELED);
	is("barrier: it had arrived", pthread_barrier_wait(&barrier),
	   PTHREAD_BARRIER_SERIAL_THREAD);
	ok("barrier: the others go on", result_of(other) != PTHREAD_CANCELED);
	is("barrier: destroy", pthread_barrier_destroy(&barrier), 0);
}

/* --- condition variables ------------------------------------------------------------------------- */

static pthread_mutex_t cm = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int owned;

static void gives_up(void *arg)
{
	owned = pthread_mutex_unlock(&cm) == 0;
}

static void *waits(void *arg)
{
	pthread_mutex_lock(&cm);
	pthread_cleanup_push(gives_up, NULL);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	waiting = 1;
	for (;;)
		pthread_cond_wait(&c, &cm);
	pthread_cleanup_pop(0);
	return NULL;
}

/* It is cancelled while it waits to have the mutex again: moved there, woken for it, or cancelled before. */
static void test_cond(void)
{
	static const char *const names[] = {"cond_wait: cancelled with the mutex in another's hand",
					    "cond_wait: signalled with it, then cancelled",
					    "cond_wait: signalled without it, then cancelled"};

	for (int way = 0; way < 3; way++) {
		pthread_t t = start(waits, NULL);

		let_run();
		owned = 0;
		if (way == 2)
			pthread_cond_signal(&c);
		pthread_mutex_lock(&cm);
		if (way == 1)
			pthread_cond_signal(&c);
		pthread_cancel(t);
		let_run_on();
		is("cond_wait: it waits for the mutex first", owned, 0);
		pthread_mutex_unlock(&cm);
		ok(names[way], result_of(t) == PTHREAD_CANCELED);
		is("cond_wait: its handler has the mutex", owned, 1);
	}
}

/* --- permission ---------------------------------------------------------------------------------- */

static void *not_now(void *arg)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	waiting = 1;
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	return "has had it";
}

static void *deferred(void *arg)
{
	waiting = 1;
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	return "has had it";
}

static void *pending_before(void *arg)
{
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	waiting = 1;
	while (!*(volatile int *)arg)
		sched_yield();
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	pthread_mutex_lock(&m);
	return "has it";
}

static void test_permission(void)
{
	volatile int go = 0;
	pthread_t t;

	init_mutex(&hows[0]);
	pthread_mutex_lock(&m);
	t = start(not_now, NULL);
	let_run();
	pthread_cancel(t);
	let_run_on();
	pthread_mutex_unlock(&m);
	ok("disabled: it waits on", result_of(t) != PTHREAD_CANCELED);
	pthread_mutex_lock(&m);
	t = start(deferred, NULL);
	let_run();
	pthread_cancel(t);
	let_run_on();
	pthread_mutex_unlock(&m);
	ok("deferred: it waits on", result_of(t) != PTHREAD_CANCELED);
	pthread_mutex_lock(&m);
	t = start(pending_before, (void *)&go);
	wait_for(&waiting);
	waiting = 0;
	pthread_cancel(t);
	go = 1;
	ok("pending before: it does not wait", result_of(t) == PTHREAD_CANCELED);
	pthread_mutex_unlock(&m);
}

int main(void)
{
	const char *model = getenv("LIBTHREAD");

	one_lwp = model && strcmp(model, "n1") == 0;
	for (unsigned i = 0; i < sizeof(hows) / sizeof(hows[0]); i++)
		if (!one_lwp || (!hows[i].robust && !hows[i].shared))
			test_mutex(&hows[i]);
	test_rwlock();
	test_barrier();
	test_cond();
	test_permission();
	return tap_done();
}
