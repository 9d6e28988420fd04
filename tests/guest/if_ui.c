/* if_ui.c - what the functions of thread.h and synch.h (UNIX International) return. */
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <synch.h>
#include <sys/time.h>
#include <weft/ksync.h>
#include "interface.h"

static void *nothing(void *arg)
{
	return arg;
}

static void *leaves(void *arg)
{
	thr_exit(arg);
	return NULL;
}

static volatile int runs;

static void *counts(void *arg)
{
	for (;;) {
		runs++;
		thr_yield();
		pthread_testcancel();
	}
	return NULL;
}

static void threads(void)
{
	static char stack[64];
	thread_t t, gone;
	void *status;
	int pri;

	DOES(thr_self, thr_self() != 0 && thr_self() == pthread_self());
	DOES(thr_main, thr_main() == 1);
	DOES(thr_min_stack, thr_min_stack() == PTHREAD_STACK_MIN);
	WORKS(thr_create(NULL, 0, leaves, &t, 0, &t));
	WORKS(thr_join(t, &gone, &status));
	ok("thr_join", gone == t && status == &t);
	DOES(thr_exit, status == &t);
	GIVES(ESRCH, thr_join(t, NULL, NULL), "it has been joined");
	GIVES(EDEADLK, thr_join(thr_self(), NULL, NULL), "the caller");
	GIVES(EDEADLK, thr_join(0, NULL, NULL), "any, and there is none");
	GIVES(EINVAL, thr_create(stack, sizeof(stack), nothing, NULL, 0, &t), "a small stack");
	GIVES(EINVAL, thr_create(NULL, 1, nothing, NULL, 0, &t), "a small size");
	GIVES(EINVAL, thr_create(NULL, 0, nothing, NULL, 0x1000, &t), "an unknown flag");
	GIVES(EINVAL, thr_create(NULL, 0, NULL, NULL, 0, &t), "no function");
	GIVES(EAGAIN, thr_create(NULL, PTRDIFF_MAX / 4, nothing, NULL, 0, &t), "no memory");

	WORKS(thr_create(NULL, 0, nothing, NULL, THR_SUSPENDED, &t));
	WORKS(thr_continue(t));
	thr_join(t, NULL, NULL);
	GIVES(ESRCH, thr_continue(t), "it has been joined");
	GIVES(ESRCH, thr_suspend(t), "it has been joined");
	GIVES(ESRCH, thr_getprio(t, &pri), "it has been joined");
	GIVES(ESRCH, thr_setprio(t, 1), "it has been joined");
	GIVES(ESRCH, thr_kill(t, 0), "it has been joined");
	thr_create(NULL, 0, counts, NULL, THR_BOUND, &t);
	UNTIL(runs > 0);
	WORKS(thr_suspend(t));
	DOES(thr_yield, runs > 0);
	thr_continue(t);
	pthread_cancel(t);
	thr_join(t, NULL, NULL);

	WORKS(thr_setprio(thr_self(), 5));
	WORKS(thr_getprio(thr_self(), &pri));
	is("thr_getprio", pri, 5);
	GIVES(EINVAL, thr_setprio(thr_self(), 128), "beyond 127");
	GIVES(EINVAL, thr_setprio(thr_self(), -1), "below 0");
	thr_setprio(thr_self(), 0);
	WORKS(thr_setconcurrency(2));
	DOES(thr_getconcurrency, thr_getconcurrency() == 2);
	GIVES(EINVAL, thr_setconcurrency(-1), "negative");
}

static void the_rest(void)
{
	static thread_key_t key[PTHREAD_KEYS_MAX];
	struct thr_schedlock_stats stats;
	unsigned n = 0;
	sigset_t set;
	stack_t stack;
	void *value;

	WORKS(thr_kill(thr_self(), 0));
	GIVES(EINVAL, thr_kill(thr_self(), 1000), "no such signal");
	WORKS(thr_sigsetmask(SIG_BLOCK, NULL, &set));
	GIVES(EINVAL, thr_sigsetmask(77, &set, NULL), "no such way");
	WORKS(thr_stksegment(&stack));
	ok("thr_stksegment", (uintptr_t)stack.ss_sp - (uintptr_t)&stack < stack.ss_size);
	while (n < PTHREAD_KEYS_MAX && thr_keycreate(&key[n], NULL) == 0)
		n++;
	DOES(thr_keycreate, n > 0);
	GIVES(EAGAIN, thr_keycreate(&key[0], NULL), "there are PTHREAD_KEYS_MAX");
	WORKS(thr_setspecific(key[0], &n));
	WORKS(thr_getspecific(key[0], &value));
	ok("thr_getspecific", value == &n);
	pthread_key_delete(key[0]);
	GIVES(EINVAL, thr_getspecific(key[0], &value), "deleted");
	GIVES(EINVAL, thr_getspecific(PTHREAD_KEYS_MAX, &value), "no such key");
	GIVES(EINVAL, thr_setspecific(key[0], &n), "deleted");
	if (strcmp(getenv("LIBTHREAD"), "lwp") == 0)
		GIVES(ENOTSUP, thr_schedlock_stats(&stats), "this model has none");
	else
		WORKS(thr_schedlock_stats(&stats));
}

static mutex_t m, checked, recursive, robust;

static void owner_dies(void)
{
	struct other o;

	HOLD(&o, mutex_lock, NULL, &robust);
	if_let_go(&o);
}

static void mutexes(void)
{
	struct other o;

	WORKS(mutex_init(&m, USYNC_THREAD, NULL));
	GIVES(EINVAL, mutex_init(&checked, 0x100, NULL), "an unknown bit");
	int ceiling = 1000;
	GIVES(EINVAL, mutex_init(&checked, LOCK_PRIO_INHERIT | LOCK_PRIO_PROTECT, &ceiling), "two");
	GIVES(EINVAL, mutex_init(&checked, LOCK_PRIO_PROTECT, &ceiling), "no such ceiling");
	GIVES(EINVAL, mutex_init(&checked, LOCK_PRIO_PROTECT, NULL), "no ceiling");
	mutex_init(&checked, USYNC_THREAD | LOCK_ERRORCHECK, NULL);
	mutex_init(&recursive, USYNC_THREAD | LOCK_RECURSIVE, NULL);
	mutex_init(&robust, USYNC_PROCESS_ROBUST, NULL);
	WORKS(mutex_lock(&m));
	DOES(_mutex_held, MUTEX_HELD(&m) && !MUTEX_HELD(&checked));
	GIVES(EBUSY, mutex_trylock(&m), "the caller has it");
	GIVES(EBUSY, mutex_destroy(&m), "the caller has it");
	WORKS(mutex_unlock(&m));
	GIVES(EPERM, mutex_unlock(&m), "nobody has it");
	WORKS(mutex_trylock(&m));
	mutex_unlock(&m);
	GIVES(EINVAL, mutex_consistent(&m), "it is not robust");
	WORKS(mutex_destroy(&m));
	mutex_lock(&checked);
	GIVES(EDEADLK, mutex_lock(&checked), "the caller has it");
	mutex_unlock(&checked);
	HOLD(&o, mutex_lock, mutex_unlock, &checked);
	GIVES(EPERM, mutex_unlock(&checked), "another thread has it");
	if_let_go(&o);
	mutex_lock(&recursive);
	recursive.__count = UINT_MAX; /* as after so many calls */
	GIVES(EAGAIN, mutex_lock(&recursive), "locked too often");
	GIVES(EAGAIN, mutex_trylock(&recursive), "locked too often");
	recursive.__count = 0;
	mutex_unlock(&recursive);
	owner_dies();
	GIVES(EOWNERDEAD, mutex_lock(&robust), "its owner is gone");
	WORKS(mutex_consistent(&robust));
	mutex_unlock(&robust);
	owner_dies();
	GIVES(EOWNERDEAD, mutex_trylock(&robust), "its owner is gone");
	mutex_unlock(&robust);
	GIVES(ENOTRECOVERABLE, mutex_lock(&robust), "given up inconsistent");
	GIVES(ENOTRECOVERABLE, mutex_trylock(&robust), "given up inconsistent");
}

static cond_t c;
static mutex_t cm;
static int signalled; /* cm */

static void *waiter(void *arg)
{
	mutex_lock(&cm);
	while (!signalled)
		WORKS(cond_wait(&c, &cm));
	mutex_unlock(&cm);
	return NULL;
}

/* Takes the mutex of a thread that waits for the condition, signals, and dies with the mutex. */
static void *dies_with_it(void *arg)
{
	UNTIL(c.__waiters != 0);
	mutex_lock(&robust);
	cond_signal(&c);
	return NULL;
}

#define FAR (&(timestruc_t){4000000000, 0})

static void wait_robust(int (*wait)(cond_t *, mutex_t *), const char *what)
{
	thread_t t;

	mutex_init(&robust, USYNC_PROCESS_ROBUST, NULL);
	mutex_lock(&robust);
	thr_create(NULL, 0, dies_with_it, NULL, 0, &t);
	is(what, wait(&c, &robust), EOWNERDEAD);
	thr_join(t, NULL, NULL);
	mutex_unlock(&robust);
}

static int timed_wait(cond_t *cond, mutex_t *mutex)
{
	return cond_timedwait(cond, mutex, FAR);
}

static int relative_wait(cond_t *cond, mutex_t *mutex)
{
	return cond_reltimedwait(cond, mutex, FAR);
}

static void conditions(void)
{
	timestruc_t past = {0, 0}, wrong = {0, 1000000000}, negative = {-1, 0};
	cond_t shared;
	thread_t t;

	WORKS(cond_init(&c, USYNC_THREAD, NULL));
	GIVES(EINVAL, cond_init(&shared, 0x100, NULL), "an unknown bit");
	WORKS(cond_signal(&c));
	WORKS(cond_broadcast(&c));
	GIVES(EPERM, cond_wait(&c, &cm), "the caller does not have the mutex");
	GIVES(EPERM, cond_timedwait(&c, &cm, &past), "it does not have the mutex");
	GIVES(EPERM, cond_reltimedwait(&c, &cm, &past), "it does not have the mutex");
	cond_init(&shared, USYNC_PROCESS, NULL);
	mutex_lock(&cm);
	GIVES(EINVAL, cond_wait(&shared, &cm), "it is shared, the mutex is not");
	GIVES(ETIME, cond_timedwait(&c, &cm, &past), "no signal");
	GIVES(ETIME, cond_reltimedwait(&c, &cm, &past), "no signal");
	GIVES(EINVAL, cond_timedwait(&c, &cm, &wrong), "1,000,000,000 nanoseconds");
	GIVES(EINVAL, cond_reltimedwait(&c, &cm, &wrong), "1,000,000,000 nanoseconds");
	GIVES(EINVAL, cond_reltimedwait(&c, &cm, &negative), "a negative time");
	mutex_unlock(&cm);
	cond_init(&c, USYNC_THREAD, NULL); /* __waiters is 0 now */
	thr_create(NULL, 0, waiter, NULL, 0, &t);
	UNTIL(c.__waiters != 0);
	GIVES(EBUSY, cond_destroy(&c), "a thread waits");
	mutex_lock(&cm);
	signalled = 1;
	cond_signal(&c);
	mutex_unlock(&cm);
	thr_join(t, NULL, NULL);
	wait_robust(cond_wait, "cond_wait EOWNERDEAD: of the mutex");
	wait_robust(timed_wait, "cond_timedwait EOWNERDEAD: of the mutex");
	wait_robust(relative_wait, "cond_reltimedwait EOWNERDEAD: of the mutex");
	DOES(cond_timedwait, 1);
	DOES(cond_reltimedwait, 1);
	WORKS(cond_destroy(&c));
}

static rwlock_t rw;

static void rwlocks(void)
{
	struct other o;

	WORKS(rwlock_init(&rw, USYNC_THREAD, NULL));
	GIVES(EINVAL, rwlock_init(&rw, 0x100, NULL), "an unknown bit");
	WORKS(rw_rdlock(&rw));
	WORKS(rw_tryrdlock(&rw));
	DOES(_rw_read_held, RW_READ_HELD(&rw) && !RW_WRITE_HELD(&rw) && RW_LOCK_HELD(&rw));
	GIVES(EBUSY, rw_trywrlock(&rw), "readers have it");
	GIVES(EBUSY, rwlock_destroy(&rw), "readers have it");
	WORKS(rw_unlock(&rw));
	rw_unlock(&rw);
	GIVES(EPERM, rw_unlock(&rw), "nobody has it");
	ok("_rw_read_held: nobody reads", !RW_LOCK_HELD(&rw));
	WORKS(rw_wrlock(&rw));
	DOES(_rw_write_held, RW_WRITE_HELD(&rw) && !RW_READ_HELD(&rw));
	GIVES(EDEADLK, rw_wrlock(&rw), "the caller writes");
	GIVES(EDEADLK, rw_rdlock(&rw), "the caller writes");
	rw_unlock(&rw);
	WORKS(rw_trywrlock(&rw));
	rw_unlock(&rw);
	HOLD(&o, rw_wrlock, rw_unlock, &rw);
	GIVES(EBUSY, rw_tryrdlock(&rw), "another thread writes");
	GIVES(EPERM, rw_unlock(&rw), "another thread writes");
	if_let_go(&o);
	rw.__word = LWP_RWLOCK_READERS; /* as after so many calls */
	GIVES(EAGAIN, rw_rdlock(&rw), "too many readers");
	GIVES(EAGAIN, rw_tryrdlock(&rw), "too many readers");
	rw.__word = 0;
	WORKS(rwlock_destroy(&rw));
}

static sema_t s;

static void *takes_unit(void *arg)
{
	sema_wait(&s);
	return NULL;
}

static void semaphores(void)
{
	thread_t t;

	WORKS(sema_init(&s, 2, USYNC_THREAD, NULL));
	GIVES(EINVAL, sema_init(&s, 2, 0x100, NULL), "an unknown bit");
	GIVES(EINVAL, sema_init(&s, SEM_VALUE_MAX + 1u, USYNC_THREAD, NULL), "too large a count");
	WORKS(sema_wait(&s));
	ok("_sema_held: there is a unit", !SEMA_HELD(&s));
	WORKS(sema_trywait(&s));
	GIVES(EBUSY, sema_trywait(&s), "it is 0");
	DOES(_sema_held, SEMA_HELD(&s));
	thr_create(NULL, 0, takes_unit, NULL, 0, &t);
	UNTIL(s.__word != 0);
	GIVES(EBUSY, sema_destroy(&s), "a thread waits");
	WORKS(sema_post(&s));
	thr_join(t, NULL, NULL);
	WORKS(sema_destroy(&s));
	sema_init(&s, SEM_VALUE_MAX, USYNC_THREAD, NULL);
	GIVES(EOVERFLOW, sema_post(&s), "it is SEM_VALUE_MAX");
	sema_init(&s, 0, USYNC_PROCESS, NULL);
	if_interrupts(1);
	GIVES(EINTR, sema_wait(&s), "a handler was called");
	if_interrupts(0);
}

int main(void)
{
	threads();
	the_rest();
	mutexes();
	conditions();
	rwlocks();
	semaphores();
	return tap_done();
}
