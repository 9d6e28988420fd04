/*
 * thr_cancel.c - cancellation in every model: states and types, what happens in which order, waits,
 * threads that do not run, pthread_once.  (Which functions are points: thr_points.c; at any moment:
 * thr_cancel_race.c.)
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <thread.h>
#include <time.h>
#include <unistd.h>
#include "cancel.h"

/* --- states and types --------------------------------------------------------------- */

static int state_before = -1;
static volatile int enabled;

static void *states(void *arg)
{
	int old = -1;

	is("setcancelstate: unknown", pthread_setcancelstate(7, &old), EINVAL);
	is("setcanceltype: unknown", pthread_setcanceltype(7, &old), EINVAL);
	is("setcancelstate", pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old), 0);
	is("enabled at first", old, PTHREAD_CANCEL_ENABLE);
	is("setcancelstate, old not wanted", pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL),
	   0);
	is("setcanceltype", pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old), 0);
	is("deferred at first", old, PTHREAD_CANCEL_DEFERRED);
	is("setcanceltype, old not wanted", pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, NULL),
	   0);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
	is("the type before", old, PTHREAD_CANCEL_DEFERRED);
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &old);
	is("and before that", old, PTHREAD_CANCEL_ASYNCHRONOUS);

	is("oneself, while disabled", pthread_cancel(pthread_self()), 0);
	pthread_testcancel();
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, NULL);
	is("twice is once", pthread_cancel(pthread_self()), 0);
	/* A report is a point: they are the first thread's to make. */
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state_before);
	enabled = 1;
	pthread_testcancel();
	enabled = 2;
	return NULL;
}

static void *async_at_once(void *how)
{
	pthread_cancel(pthread_self());
	if (how)
		pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	return NULL;
}

static void *async_self(void *arg)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	pthread_cancel(pthread_self());
	return NULL;
}

static void *async_enabled(void *arg)
{
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	pthread_cancel(pthread_self());
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	return NULL;
}

static void *nothing(void *arg)
{
	return arg;
}

static void test_states(void)
{
	char name[16];
	pthread_t t;

	ok("cancelled", result_of(start(states, NULL)) == PTHREAD_CANCELED);
	is("disabled so far", state_before, PTHREAD_CANCEL_DISABLE);
	is("deferred: enabling it is no point, testcancel is one", enabled, 1);
	ok("no point, not cancelled", result_of(start(async_at_once, NULL)) == NULL);
	ok("setcanceltype with one pending",
	   result_of(start(async_at_once, "")) == PTHREAD_CANCELED);
	ok("oneself, asynchronously", result_of(start(async_self, NULL)) == PTHREAD_CANCELED);
	ok("setcancelstate with one pending",
	   result_of(start(async_enabled, NULL)) == PTHREAD_CANCELED);
	is("no such thread", pthread_cancel(99999), ESRCH);
	t = start(nothing, "x");
	while (pthread_getname_np(t, name, sizeof(name)) == 0)
		sched_yield();
	is("one that has exited", pthread_cancel(t), 0);
	ok("is not cancelled any more", strcmp(result_of(t), "x") == 0);
	is("and when it is joined, unknown", pthread_cancel(t), ESRCH);
}

/* --- the order of things ---------------------------------------------------------------- */

static char log[40];
static pthread_key_t key;

static void note(void *what)
{
	strcat(log, what);
	/* None of this counts any more. */
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	pthread_cancel(pthread_self());
	pthread_testcancel();
	close(-1);
}

static void *pushes(void *how)
{
	pthread_setspecific(key, "D");
	pthread_cleanup_push(note, "1");
	pthread_cleanup_push(note, "2");
	pthread_cleanup_push(note, "x");
	pthread_cleanup_pop(0);
	pthread_cleanup_push(note, "3");
	if (how)
		pthread_exit(how);
	pthread_cancel(pthread_self());
	pthread_testcancel();
	pthread_cleanup_pop(1);
	pthread_cleanup_pop(1);
	pthread_cleanup_pop(1);
	return NULL;
}

static void append(void *what)
{
	strcat(log, what);
}

static void *pops(void *arg)
{
	pthread_cleanup_push(append, "no");
	pthread_cleanup_pop(0);
	return NULL;
}

static void *returns(void *arg)
{
	pthread_cleanup_push(append, "1");
	pthread_cleanup_push(append, "2");
	pthread_cleanup_pop(1);
	strcat(log, "-");
	pthread_cleanup_pop(1);
	return "end";
}

static void *thr_exits(void *arg)
{
	pthread_cleanup_push(append, "t");
	thr_exit("thr");
	pthread_cleanup_pop(0);
	return NULL;
}

static void test_order(void)
{
	pthread_key_create(&key, note);
	log[0] = '\0';
	ok("cancelled with handlers", result_of(start(pushes, NULL)) == PTHREAD_CANCELED);
	ok("the last pushed first, then destructors", strcmp(log, "321D") == 0);
	log[0] = '\0';
	ok("pthread_exit", strcmp(result_of(start(pushes, "out")), "out") == 0);
	ok("calls them in the same order", strcmp(log, "321D") == 0);
	log[0] = '\0';
	ok("popped", strcmp(result_of(start(returns, NULL)), "end") == 0);
	ok("and called where that was asked for", strcmp(log, "2-1") == 0);
	ok("popped, not called", result_of(start(pops, NULL)) == NULL);
	log[0] = '\0';
	ok("thr_exit", strcmp(result_of(start(thr_exits, NULL)), "thr") == 0);
	ok("calls them too", strcmp(log, "t") == 0);
	pthread_key_delete(key);
}

/* --- waits ---------------------------------------------------------------------------- */

static pthread_mutex_t m = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static volatile int unlocked, go;

static void unlock(void *arg)
{
	unlocked = pthread_mutex_unlock(&m) == 0;
}

static void *cond_waiter(void *deadline)
{
	const struct timespec never = {.tv_sec = 4000000000};

	pthread_mutex_lock(&m);
	pthread_cleanup_push(unlock, NULL);
	waiting = 1;
	if (deadline)
		pthread_cond_timedwait(&c, &m, &never);
	else
		for (;;)
			pthread_cond_wait(&c, &m);
	pthread_cleanup_pop(1);
	return NULL;
}

static void unlock_it(void *mutex)
{
	pthread_mutex_unlock(mutex);
}

static void post_it(void *semaphore)
{
	sem_post(semaphore);
}

static void *recursive_waiter(void *mutex)
{
	pthread_mutex_lock(mutex);
	pthread_mutex_lock(mutex);
	pthread_cleanup_push(unlock_it, mutex);
	pthread_cleanup_push(unlock_it, mutex);
	waiting = 1;
	for (;;)
		pthread_cond_wait(&c, mutex);
	pthread_cleanup_pop(0);
	pthread_cleanup_pop(0);
	return NULL;
}

/* Cancelled while it is disabled: it waits on, and acts when it is enabled again. */
static void *disabled_waiter(void *arg)
{
	struct timespec ms = {.tv_nsec = 1000000};

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_mutex_lock(&m);
	waiting = 1;
	while (!go)
		pthread_cond_wait(&c, &m);
	pthread_mutex_unlock(&m);
	is("disabled: sleeping is not cut short", nanosleep(&ms, NULL), 0);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	pthread_testcancel();
	return NULL;
}

static sem_t sem, pause_here;

static void *joiner(void *t)
{
	waiting = 1;
	pthread_join((pthread_t)t, NULL);
	return NULL;
}

static void *any_joiner(void *arg)
{
	waiting = 1;
	for (;;)
		thr_join(0, NULL, NULL);
	return NULL;
}

static void *sem_waiter(void *arg)
{
	while (sem_wait(&sem) < 0)
		;
	return arg;
}

static pthread_t cancel_waiter(pthread_t t)
{
	wait_for(&waiting);
	waiting = 0;
	pthread_mutex_lock(&m); /* it waits, and no longer has it */
	pthread_mutex_unlock(&m);
	is("cancel", pthread_cancel(t), 0);
	return t;
}

static void test_waits(void)
{
	static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
	pthread_t t, target;
	void *r;

	ok("cond_wait", result_of(cancel_waiter(start(cond_waiter, NULL))) == PTHREAD_CANCELED);
	ok("its handler has the mutex", unlocked);
	unlocked = 0;
	ok("cond_timedwait", result_of(cancel_waiter(start(cond_waiter, ""))) == PTHREAD_CANCELED);
	ok("its handler has the mutex", unlocked);
	ok("cond_wait, recursive mutex",
	   result_of(cancel_waiter(start(recursive_waiter, &recursive))) == PTHREAD_CANCELED);
	is("which its handlers gave up", pthread_mutex_trylock(&recursive), 0);
	pthread_mutex_unlock(&recursive);

	t = cancel_waiter(start(disabled_waiter, NULL));
	for (int i = 0; i < 20; i++)
		sched_yield();
	pthread_mutex_lock(&m);
	go = 1;
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&m);
	ok("disabled, then enabled", result_of(t) == PTHREAD_CANCELED);

	sem_init(&sem, 0, 0);
	target = start(sem_waiter, "target");
	t = cancel_waiter(start(joiner, (void *)target));
	ok("join", result_of(t) == PTHREAD_CANCELED);
	is("leaves the other to be joined", pthread_tryjoin_np(target, &r), EBUSY);
	t = cancel_waiter(start(joiner, (void *)target));
	sem_post(&sem);
	r = result_of(t);
	if (r == PTHREAD_CANCELED)
		ok("who can be joined still", strcmp(result_of(target), "target") == 0);
	else
		ok("who has been joined", pthread_join(target, NULL) == ESRCH);

	target = start(sem_waiter, NULL);
	t = cancel_waiter(start(any_joiner, NULL));
	ok("thr_join of any", result_of(t) == PTHREAD_CANCELED);
	sem_post(&sem);
	is("can be joined by another", thr_join(0, NULL, NULL), 0);
}

/* --- threads that do not run ---------------------------------------------------------------- */

static volatile int began;

static void *begins(void *arg)
{
	began = 1;
	pthread_testcancel();
	return NULL;
}

static void *yields(void *arg)
{
	waiting = 1;
	for (;;) {
		sched_yield();
		pthread_testcancel();
	}
	return NULL;
}

static void *detached(void *arg)
{
	pthread_detach(pthread_self());
	pthread_cleanup_push(post_it, &sem);
	waiting = 1;
	for (;;)
		sem_wait(&pause_here);
	pthread_cleanup_pop(0);
	return NULL;
}

static void test_others(void)
{
	thread_t t;

	if (thr_create(NULL, 0, begins, NULL, THR_SUSPENDED, &t) != 0)
		bail("thr_create");
	is("cancel of one that has not begun", pthread_cancel(t), 0);
	is("it has not", began, 0);
	thr_continue(t);
	ok("it is cancelled", result_of(t) == PTHREAD_CANCELED);
	is("at its first point", began, 1);

	waiting = 0;
	t = start(yields, NULL);
	wait_for(&waiting);
	is("suspend", thr_suspend(t), 0);
	is("cancel of a suspended one", pthread_cancel(t), 0);
	thr_continue(t);
	ok("is cancelled when it goes on", result_of(t) == PTHREAD_CANCELED);

	waiting = 0;
	t = start(sem_waiter, NULL);
	for (int i = 0; i < 20; i++)
		sched_yield();
	is("suspend, in a wait", thr_suspend(t), 0);
	pthread_cancel(t);
	thr_continue(t);
	ok("cancelled in the wait", result_of(t) == PTHREAD_CANCELED);

	sem_init(&pause_here, 0, 0);
	t = start(detached, NULL);
	wait_for(&waiting);
	is("cancel of a detached one", pthread_cancel(t), 0);
	ok("calls its handlers", sem_wait(&sem) == 0);
}

/* --- pthread_once ------------------------------------------------------------------------ */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static volatile int inits, init_blocks;

static void init(void)
{
	inits++;
	waiting = 1;
	while (init_blocks)
		sem_wait(&pause_here);
}

static void *calls_once(void *arg)
{
	pthread_once(&once, init);
	return NULL;
}

static void *pending_once(void *arg)
{
	pthread_cancel(pthread_self());
	pthread_once(&once, init);
	return "not a point";
}

static void test_once(void)
{
	pthread_t first, second;

	waiting = 0;
	init_blocks = 1;
	first = start(calls_once, NULL);
	wait_for(&waiting);
	second = start(calls_once, NULL);
	for (int i = 0; i < 20; i++)
		sched_yield();
	init_blocks = 0;
	pthread_cancel(first);
	ok("once: cancelled in the function", result_of(first) == PTHREAD_CANCELED);
	ok("another thread calls it", result_of(second) == NULL && inits == 2);
	calls_once(NULL);
	is("and that was the last time", inits, 2);
	once = (pthread_once_t)PTHREAD_ONCE_INIT;
	ok("once is no point", result_of(start(pending_once, NULL)) != PTHREAD_CANCELED);
}

int main(void)
{
	test_states();
	test_order();
	test_waits();
	test_others();
	test_once();
	return tap_done();
}
