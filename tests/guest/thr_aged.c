/*
 * thr_aged.c [ROUNDS] - threads that wait alone for semaphores (model sa), after the LWPs that they have left have aged and exited.  To
 * each comes a post, and at the same time a new priority.  Some other wait then looks into each sleep queue.
 *
 * LIBTHREAD_OPTIONS=aging=1.  An LWP that is not needed in two periods exits.
 */
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>
#include <thread.h>
#include <time.h>
#include <unistd.h>
#include "../../libthread/core/sleepq.h"
#include "tap.h"

#define WAITERS 8
#define LWPS 20     /* of the pool, before it ages */
#define PERIOD 1100 /* ms: longer than a period of aging */

extern struct thread *__pool_contexts;

struct waiter {
	struct thread *self;
	pthread_t thread, blocks;
	sem_t sem;
	int pipe[2];
};

static struct waiter waiters[WAITERS];
static int pipe_of[2];
static volatile int blocked, ready, woken;
static volatile bool spinning, go;

static void nap(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

static pthread_t start(void *(*fn)(void *), void *arg)
{
	pthread_t t;

	if (pthread_create(&t, NULL, fn, arg) != 0)
		bail("pthread_create");
	return t;
}

static void *spins(void *arg)
{
	while (spinning)
		;
	return NULL;
}

static void *reads(void *fd)
{
	char c;

	__atomic_fetch_add(&blocked, 1, __ATOMIC_SEQ_CST);
	read(*(int *)fd, &c, 1);
	return NULL;
}

/* Many LWPs, because many threads block in the kernel.  Then LWPs unblock while all CPUs are in use, so they become spares. */
static void pool_grows(void)
{
	pthread_t t[LWPS], spinner[2];

	if (pipe(pipe_of) != 0)
		bail("pipe");
	blocked = 0;
	for (int i = 0; i < LWPS; i++)
		t[i] = start(reads, &pipe_of[0]);
	while (blocked < LWPS)
		nap(1);
	nap(5);
	for (int i = 0; i < LWPS; i++)
		write(pipe_of[1], "", 1);
	for (int i = 0; i < LWPS; i++)
		pthread_join(t[i], NULL);
	close(pipe_of[0]);
	close(pipe_of[1]);
	nap(PERIOD);
	spinning = true;
	for (int i = 0; i < 2; i++)
		spinner[i] = start(spins, NULL);
	poll(NULL, 0, 3);
	poll(NULL, 0, 3);
	spinning = false;
	for (int i = 0; i < 2; i++)
		pthread_join(spinner[i], NULL);
	nap(PERIOD);
}

/* The thread that it creates goes on on its LWP, and blocks in the kernel with this LWP. */
static void *waits_alone(void *arg)
{
	struct waiter *w = arg;

	w->self = thread_self();
	w->blocks = start(reads, &w->pipe[0]);
	__atomic_fetch_add(&ready, 1, __ATOMIC_SEQ_CST);
	sem_wait(&w->sem);
	__atomic_fetch_add(&woken, 1, __ATOMIC_SEQ_CST);
	sem_wait(&w->sem);
	return NULL;
}

/* All LWPs unblock, and those that have no CPU exit. */
static void waiters_begin(void)
{
	pthread_t spinner;

	spinning = true;
	spinner = start(spins, NULL);
	ready = woken = 0;
	for (int i = 0; i < WAITERS; i++) {
		sem_init(&waiters[i].sem, 0, 0);
		if (pipe(waiters[i].pipe) != 0)
			bail("pipe");
		waiters[i].thread = start(waits_alone, &waiters[i]);
	}
	while (ready < WAITERS)
		nap(10);
	nap(10);
	for (int i = 0; i < WAITERS; i++)
		write(waiters[i].pipe[1], "", 1);
	for (int i = 0; i < WAITERS; i++)
		pthread_join(waiters[i].blocks, NULL);
	spinning = false;
	pthread_join(spinner, NULL);
	nap(5);
}

/* Does w wait alone, and is its LWP no longer in the pool? */
static bool is_left(const struct waiter *w)
{
	const struct ulwp *l = w->self->lone;

	for (struct thread *c = __pool_contexts; c != NULL; c = c->list_next)
		if (&c->own_lwp == l)
			return false;
	return l != NULL;
}

static void turns(unsigned n)
{
	for (volatile unsigned i = 0; i < n; i++)
		;
}

static void *changes(void *arg)
{
	struct waiter *w = arg;
	unsigned late = rand() % 30;

	while (!go)
		;
	turns(late);
	thr_setprio(w->thread, 1);
	return NULL;
}

static void post_and_change(struct waiter *w)
{
	unsigned late = rand() % 120;
	thread_t changer;
	int before = woken;

	go = false;
	thr_create(NULL, 0, changes, w, THR_BOUND, &changer);
	nap(1);
	go = true;
	turns(late);
	sem_post(&w->sem);
	thr_join(changer, NULL, NULL);
	for (int ms = 0; woken == before; ms++) {
		if (ms == 500)
			bail("a waiter is not woken");
		nap(1);
	}
}

/* A list that is a ring, in any queue, would never end. */
static bool queues_end(void)
{
	for (int i = 0; i < 1 << SLEEPQ_BITS; i++) {
		unsigned n = 0;

		for (struct thread *t = __sleepq_point[i].first; t != NULL; t = t->q_chain)
			if (++n > 2 * WAITERS)
				return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 3, left = 0;
	bool end = true;

	srand(1);
	for (int i = 0; i < rounds && end; i++) {
		pool_grows();
		waiters_begin();
		for (int k = 0; k < WAITERS; k++) {
			left += is_left(&waiters[k]);
			post_and_change(&waiters[k]);
			end &= queues_end();
		}
		for (int k = 0; k < WAITERS && end; k++) {
			sem_post(&waiters[k].sem);
			pthread_join(waiters[k].thread, NULL);
			close(waiters[k].pipe[0]);
			close(waiters[k].pipe[1]);
		}
	}
	printf("# %d waiters had left LWPs that have exited\n", left);
	ok("there were such waiters", left > 0);
	ok("each stands in its queue once", end);
	return tap_done();
}
