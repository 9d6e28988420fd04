/*
 * thr_cancel_race.c - cancellation at any moment, in every model: asynchronous, and against a
 * signal of a condition variable and a post.  Argument: rounds of the races.
 */
#include <semaphore.h>
#include <stdlib.h>
#include "cancel.h"

static unsigned rounds = 50;

static int one_lwp; /* model n1: a thread that does not yield keeps the LWP */

/* With an LWP of its own where the model has that: it may keep it busy. */
static pthread_t start_bound(void *(*fn)(void *), void *arg)
{
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	pthread_attr_setscope(&attr, PTHREAD_SCOPE_SYSTEM);
	if (pthread_create(&t, &attr, fn, arg) != 0)
		bail("pthread_create");
	return t;
}

/* --- asynchronous ---------------------------------------------------------------------- */

static int handlers;

static void count(void *arg)
{
	handlers++;
}

static void *computes(void *arg)
{
	volatile unsigned long n = 0;

	pthread_cleanup_push(count, NULL);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	waiting = 1;
	for (;;) {
		n = n * 5 + 1;
		if (one_lwp)
			sched_yield();
	}
	pthread_cleanup_pop(0);
	return NULL;
}

/* May be cancelled at any instruction between the two, and else not at all. */
static void *sometimes(void *arg)
{
	volatile int n = 0;
	char *inside = arg;

	waiting = 1;
	for (;;) {
		*inside = 1;
		pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
		for (int i = 0; i < 20; i++)
			n++;
		pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, NULL);
		*inside = 0;
		for (int i = 0; i < 20; i++)
			n++;
		sched_yield();
	}
	return NULL;
}

/* The same for the state. */
static void *enables(void *arg)
{
	volatile int n = 0;
	char *inside = arg;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	waiting = 1;
	for (;;) {
		*inside = 1;
		pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
		for (int i = 0; i < 20; i++)
			n++;
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
		*inside = 0;
		for (int i = 0; i < 20; i++)
			n++;
		sched_yield();
	}
	return NULL;
}

static void test_async(void)
{
	pthread_t t;
	char inside;
	unsigned wrong = 0;

	waiting = 0;
	t = start_bound(computes, NULL);
	wait_for(&waiting);
	pthread_cancel(t);
	ok("in the middle of a computation", result_of(t) == PTHREAD_CANCELED);
	is("with its handlers", handlers, 1);
	for (unsigned i = 0; i < 2 * rounds; i++) {
		void *r;

		waiting = 0;
		t = start_bound(i & 1 ? sometimes : enables, &inside);
		wait_for(&waiting);
		for (int j = rand() % 8; j > 0; j--)
			sched_yield();
		pthread_cancel(t);
		pthread_join(t, &r);
		wrong += r != PTHREAD_CANCELED || !inside;
	}
	is("only where it is allowed", wrong, 0);
}

/* --- races ---------------------------------------------------------------------------------- */

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static sem_t sem;
static int tickets;

static void unlock(void *arg)
{
	pthread_mutex_unlock(&m);
}

static void *ticket_waiter(void *arg)
{
	pthread_mutex_lock(&m);
	pthread_cleanup_push(unlock, NULL);
	waiting++;
	while (tickets == 0)
		pthread_cond_wait(&c, &m);
	tickets--;
	pthread_cleanup_pop(1);
	return NULL;
}

/* Two threads wait; one is cancelled while one signal is sent: the other must get the signal,
 * unless the first has got it. */
static void race_with_signal(int with_mutex)
{
	pthread_t t[2];
	void *r;

	waiting = 0;
	tickets = 0;
	for (int i = 0; i < 2; i++)
		t[i] = start(ticket_waiter, NULL);
	for (int all = 0; !all; sched_yield()) {
		pthread_mutex_lock(&m);
		all = waiting == 2;
		pthread_mutex_unlock(&m);
	}
	pthread_mutex_lock(&m);
	tickets = 1;
	if (with_mutex) {
		pthread_cond_signal(&c); /* moves it to the mutex */
		pthread_cancel(t[rand() & 1]);
		pthread_mutex_unlock(&m);
	} else {
		pthread_mutex_unlock(&m);
		if (rand() & 1) {
			pthread_cancel(t[0]);
			pthread_cond_signal(&c);
		} else {
			pthread_cond_signal(&c);
			pthread_cancel(t[0]);
		}
	}
	/* One of them takes the ticket. */
	for (int left = 1; left; sched_yield()) {
		pthread_mutex_lock(&m);
		left = tickets;
		pthread_mutex_unlock(&m);
	}
	for (int i = 0; i < 2; i++)
		pthread_cancel(t[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], &r);
}

static volatile int taken;

static void *takes(void *arg)
{
	waiting++;
	sem_wait(&sem);
	__atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED);
	return NULL;
}

static long race_with_post(void)
{
	pthread_t t[2];
	int value;

	waiting = taken = 0;
	sem_init(&sem, 0, 0);
	for (int i = 0; i < 2; i++)
		t[i] = start(takes, NULL);
	for (int i = rand() % 6; i > 0; i--)
		sched_yield();
	pthread_cancel(t[0]);
	sem_post(&sem);
	pthread_cancel(t[1]);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	sem_getvalue(&sem, &value);
	return taken + value;
}

static void test_races(void)
{
	unsigned right = 0;

	for (unsigned i = 0; i < rounds; i++) {
		race_with_signal(i & 1);
		right += race_with_post() == 1;
	}
	ok("no signal is lost", 1); /* else a round does not end */
	is("no unit is lost", right, rounds);
}

int main(int argc, char **argv)
{
	const char *model = getenv("LIBTHREAD");

	one_lwp = model && strcmp(model, "n1") == 0;
	if (argc > 1)
		rounds = atoi(argv[1]);
	test_async();
	test_races();
	return tap_done();
}
