/*
 * thr_sema.c [ROUNDS] - semaphores: every function with good and bad arguments, round
 * trips in which a lost wake-up hangs, units that must neither vanish nor appear, and
 * the destruction of a semaphore by the one that it woke.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <synch.h>
#include <time.h>
#include "start.h"
#include "tap.h"

static long rounds = 3000;

static void *waits(void *arg)
{
	sem_wait(arg);
	return NULL;
}

static void test_arguments(void)
{
	struct timespec t = {.tv_nsec = 1000000000};
	sem_t s;
	sema_t u;
	pthread_t thread;
	int v = -1;

	fails("init, too high", sem_init(&s, 0, SEM_VALUE_MAX + 1u), EINVAL);
	is("init, highest", sem_init(&s, 0, SEM_VALUE_MAX), 0);
	fails("post, highest", sem_post(&s), EOVERFLOW);
	is("getvalue, highest", (sem_getvalue(&s, &v), v), SEM_VALUE_MAX);
	is("destroy", sem_destroy(&s), 0);
	is("init", sem_init(&s, 0, 2), 0);
	is("wait", sem_wait(&s), 0);
	is("trywait", sem_trywait(&s), 0);
	fails("trywait, 0", sem_trywait(&s), EAGAIN);
	is("getvalue", (sem_getvalue(&s, &v), v), 0);
	fails("timedwait, out of range", sem_timedwait(&s, &t), EINVAL);
	t = later(CLOCK_REALTIME, 2000);
	fails("timedwait, in vain", sem_timedwait(&s, &t), ETIMEDOUT);
	is("getvalue, after a time-out", (sem_getvalue(&s, &v), v), 0);
	is("getvalue changes nothing", (sem_getvalue(&s, &v), sem_getvalue(&s, &v), v), 0);
	is("post", sem_post(&s), 0);
	is("getvalue, 1", (sem_getvalue(&s, &v), v), 1);
	t.tv_nsec = -1;
	is("timedwait, free, bad time", sem_timedwait(&s, &t), 0);

	thread = start(waits, &s, PTHREAD_SCOPE_PROCESS);
	while (s.__word == 0) /* until it waits */
		sched_yield();
	fails("destroy, in use", sem_destroy(&s), EBUSY);
	is("getvalue, waited for", (v = -1, sem_getvalue(&s, &v), v), 0);
	sem_post(&s);
	pthread_join(thread, NULL);
	is("a unit for a waiter is no value", (sem_getvalue(&s, &v), v), 0);
	is("destroy, unused", sem_destroy(&s), 0);
	memset(&s, 0xff, sizeof(s));
	is("init, destroyed", sem_init(&s, 0, 7), 0);
	is("as new: its value", (sem_getvalue(&s, &v), v), 7);

	is("sema_init, no such type", sema_init(&u, 1, 0x40, NULL), EINVAL);
	is("sema_init, too high", sema_init(&u, 0x80000000u, USYNC_THREAD, NULL), EINVAL);
	is("sema_init", sema_init(&u, 2, USYNC_THREAD, NULL), 0);
	is("sema_wait", sema_wait(&u), 0);
	ok("SEMA_HELD: a unit is left", !SEMA_HELD(&u));
	is("sema_trywait, free", sema_trywait(&u), 0);
	ok("SEMA_HELD: none is left", SEMA_HELD(&u));
	is("sema_trywait", sema_trywait(&u), EBUSY);
	is("sema_post", sema_post(&u), 0);
	ok("SEMA_HELD: one more", !SEMA_HELD(&u));
	is("a sema_t is a sem_t", sem_trywait(&u), 0);
	is("sema_destroy", sema_destroy(&u), 0);
	memset(&u, 0, sizeof(u));
	is("all zero is a sema_t", sema_trywait(&u), EBUSY);
	is("... of 0 units", sema_post(&u) | sema_wait(&u), 0);
}

/* One post, one waiter; the others wait on. */
static sem_t gate;
static int passed;

static void *passes(void *ui)
{
	if (ui != NULL)
		sema_wait(&gate);
	else
		sem_wait(&gate);
	__atomic_add_fetch(&passed, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void test_one(bool ui)
{
	pthread_t t[3];

	passed = 0;
	sem_init(&gate, 0, 0);
	for (int i = 0; i < 3; i++)
		t[i] = start(passes, ui ? "" : NULL, i % 2);
	for (int i = 0; i < 50; i++)
		sched_yield();
	is("nobody passes without a unit", passed, 0);
	for (int n = 1; n <= 3; n++) {
		if (ui)
			sema_post(&gate);
		else
			sem_post(&gate);
		while (__atomic_load_n(&passed, __ATOMIC_RELAXED) < n)
			sched_yield();
		for (int i = 0; i < 20; i++)
			sched_yield();
		is(ui ? "sema_post lets one pass" : "a post lets one pass",
		   __atomic_load_n(&passed, __ATOMIC_RELAXED), n);
	}
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
}

/* --- round trips -------------------------------------------------------------------------- */

static sem_t ping, pong;
static bool timed;

static void take(sem_t *s, long i)
{
	struct timespec t;

	if (!timed) {
		sem_wait(s);
		return;
	}
	do
		t = later(CLOCK_REALTIME, 40 + i % 40 * 10);
	while (sem_timedwait(s, &t) != 0);
}

static void *returns(void *arg)
{
	for (long i = 0; i < rounds; i++) {
		take(&ping, i);
		sem_post(&pong);
	}
	return NULL;
}

static void *serves(void *arg)
{
	for (long i = 0; i < rounds; i++) {
		sem_post(&ping);
		take(&pong, i);
	}
	return NULL;
}

static void test_round_trips(void)
{
	for (int how = 0; how < 6; how++) {
		pthread_t a, b;
		int v;

		timed = how & 1;
		a = start(returns, NULL, how / 2 != 0);
		b = start(serves, NULL, how / 2 == 2);
		pthread_join(a, NULL);
		pthread_join(b, NULL);
		is("nothing is left over", (sem_getvalue(&ping, &v), v), 0);
	}
}

/* --- units --------------------------------------------------------------------------------- */

#define UNITS 3
#define USERS 10

static sem_t units;
static int in_use, too_many;

static void *user(void *arg)
{
	for (long i = 0; i < rounds / 2; i++) {
		struct timespec t = later(CLOCK_REALTIME, 20 + i % 20 * 10);

		if ((long)arg % 3 == 0 ? sem_timedwait(&units, &t) : sem_wait(&units))
			continue;
		if (__atomic_add_fetch(&in_use, 1, __ATOMIC_SEQ_CST) > UNITS)
			too_many = 1;
		if (i % 32 == 0)
			sched_yield();
		__atomic_sub_fetch(&in_use, 1, __ATOMIC_SEQ_CST);
		sem_post(&units);
	}
	return NULL;
}

static void test_units(void)
{
	for (int how = 0; how < 3; how++) {
		pthread_t t[USERS];
		int v;

		sem_init(&units, 0, UNITS);
		for (long i = 0; i < USERS; i++)
			t[i] = start(user, (void *)i, how == 2 ? i % 2 : how);
		for (int i = 0; i < USERS; i++)
			pthread_join(t[i], NULL);
		is("never more users than units", too_many, 0);
		is("as many units as at first", (sem_getvalue(&units, &v), v), UNITS);
	}
}

/* --- the waiter destroys -------------------------------------------------------------------- */

static sem_t *volatile offered;
static sem_t asked;

static void *answers(void *arg)
{
	for (long i = 0; i < rounds; i++) {
		sem_wait(&asked);
		sem_post(offered);
	}
	return NULL;
}

static void test_destroy(int scope)
{
	pthread_t t = start(answers, NULL, scope);

	for (long i = 0; i < rounds; i++) {
		sem_t *s = malloc(sizeof(*s));

		sem_init(s, 0, 0);
		offered = s;
		sem_post(&asked);
		sem_wait(s);
		sem_destroy(s);
		s->__word = 0xdeadbeef;
		free(s);
	}
	pthread_join(t, NULL);
	ok("the one that is woken may destroy the semaphore", true);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		rounds = atol(argv[1]);
	sem_init(&ping, 0, 0);
	sem_init(&pong, 0, 0);
	sem_init(&asked, 0, 0);
	test_arguments();
	test_one(false);
	test_one(true);
	for (int concurrency = 1; concurrency <= 4; concurrency *= 4) {
		pthread_setconcurrency(concurrency);
		test_round_trips();
		test_units();
		test_destroy(PTHREAD_SCOPE_PROCESS);
		test_destroy(PTHREAD_SCOPE_SYSTEM);
	}
	return tap_done();
}
