/*
 * style_pool.c - a pool of threads as such libraries are written.
 *
 * The creator polls until its threads are alive.  Jobs are in a list.  A signal pauses the threads,
 * and its handler sleeps.  The destroyer polls until the threads are gone.  The polling is a loop
 * that spins for a while, then a loop that sleeps.  In `mxn` with one LWP in the pool, these sleeps
 * let the pool's threads run.
 *
 * Two things need an LWP of their own, which `n1` does not have.  The first is a loop that only
 * looks (`mxn` gets the LWP by pthread_setconcurrency).  The second is a sleep in a handler that
 * has interrupted a wait (there the pool of `mxn` grows by itself).
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/time.h>
#include <string.h>
#include <thread.h>
#include <time.h>
#include <unistd.h>
#include "tap.h"

#define THREADS 4
#define SPIN 2000000 /* ns that the destroyer looks on before it sleeps */

struct job {
	struct job *next;
	void (*run)(void *);
	void *arg;
};

/* The lock guards the list and `working`; `alive` and `keep` are looked at without it. */
struct pool {
	pthread_mutex_t lock;
	pthread_cond_t has_job, idle;
	struct job *first, **last;
	int working;
	atomic_int alive, keep;
	pthread_t thread[THREADS];
};

/* --- pausing ---------------------------------------------------------------------------------- */

static atomic_int on_hold, held;

static void pool_hold(int sig)
{
	int error = errno;

	atomic_fetch_add(&held, 1);
	while (atomic_load(&on_hold))
		usleep(1000);
	atomic_fetch_sub(&held, 1);
	errno = error;
}

static void pool_pause(struct pool *p)
{
	atomic_store(&on_hold, 1);
	for (int i = 0; i < THREADS; i++)
		pthread_kill(p->thread[i], SIGUSR1);
}

static void pool_resume(void)
{
	atomic_store(&on_hold, 0);
}

/* --- the pool --------------------------------------------------------------------------------- */

/* NULL: the pool is to end.  The caller holds the lock. */
static struct job *pool_next(struct pool *p)
{
	struct job *j;

	while (p->first == NULL && atomic_load(&p->keep))
		pthread_cond_wait(&p->has_job, &p->lock);
	j = p->first;
	if (j == NULL || !atomic_load(&p->keep))
		return NULL;
	p->first = j->next;
	if (p->first == NULL)
		p->last = &p->first;
	return j;
}

static void *pool_thread(void *arg)
{
	struct pool *p = arg;
	struct job *j;

	atomic_fetch_add(&p->alive, 1);
	pthread_mutex_lock(&p->lock);
	while ((j = pool_next(p)) != NULL) {
		p->working++;
		pthread_mutex_unlock(&p->lock);
		j->run(j->arg);
		free(j);
		pthread_mutex_lock(&p->lock);
		if (--p->working == 0 && p->first == NULL)
			pthread_cond_broadcast(&p->idle);
	}
	pthread_mutex_unlock(&p->lock);
	atomic_fetch_sub(&p->alive, 1);
	return NULL;
}

/* Does not return before all threads are alive: `look` is what the creator does between two looks. */
static struct pool *pool_create(void (*look)(void))
{
	struct pool *p = calloc(1, sizeof(*p));

	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->has_job, NULL);
	pthread_cond_init(&p->idle, NULL);
	p->last = &p->first;
	atomic_store(&p->keep, 1);
	for (int i = 0; i < THREADS; i++) {
		if (pthread_create(&p->thread[i], NULL, pool_thread, p) != 0)
			bail("pthread_create");
		pthread_detach(p->thread[i]);
	}
	while (atomic_load(&p->alive) != THREADS)
		look();
	return p;
}

static void pool_add(struct pool *p, void (*run)(void *), void *arg)
{
	struct job *j = malloc(sizeof(*j));

	*j = (struct job){.run = run, .arg = arg};
	pthread_mutex_lock(&p->lock);
	*p->last = j;
	p->last = &j->next;
	pthread_cond_signal(&p->has_job);
	pthread_mutex_unlock(&p->lock);
}

/* Until there is no job, and none runs. */
static void pool_wait(struct pool *p)
{
	pthread_mutex_lock(&p->lock);
	while (p->first != NULL || p->working != 0)
		pthread_cond_wait(&p->idle, &p->lock);
	pthread_mutex_unlock(&p->lock);
}

static void pool_tell_all(struct pool *p)
{
	pthread_mutex_lock(&p->lock);
	pthread_cond_broadcast(&p->has_job);
	pthread_mutex_unlock(&p->lock);
}

/* Lets the jobs end that run, and drops the others; tells how many these were. */
static int pool_destroy(struct pool *p)
{
	hrtime_t began = gethrtime();
	int dropped = 0;

	atomic_store(&p->keep, 0);
	while (atomic_load(&p->alive) != 0 && gethrtime() - began < SPIN)
		pool_tell_all(p);
	while (atomic_load(&p->alive) != 0) {
		pool_tell_all(p);
		usleep(1000);
	}
	/* The last thread has given the lock up before it took itself out of `alive`. */
	for (struct job *j = p->first, *next; j != NULL; j = next, dropped++) {
		next = j->next;
		free(j);
	}
	free(p);
	return dropped;
}

/* --- what it is used for ---------------------------------------------------------------------- */

static atomic_long sum, done;
static struct pool *shared;

static void by_usleep(void)
{
	usleep(100);
}

static void by_yield(void)
{
	sched_yield();
}

static void by_looking(void)
{
}

static void add_square(void *arg)
{
	long n = (long)arg;

	atomic_fetch_add(&sum, n * n);
}

static void add_after_sleep(void *arg)
{
	usleep(300);
	atomic_fetch_add(&sum, (long)arg);
	atomic_fetch_add(&done, 1);
}

/* A tree of jobs: each adds two, until the depth is 0. */
static void add_tree(void *arg)
{
	long depth = (long)arg;

	atomic_fetch_add(&done, 1);
	if (depth == 0)
		return;
	pool_add(shared, add_tree, (void *)(depth - 1));
	pool_add(shared, add_tree, (void *)(depth - 1));
}

static void squares(struct pool *p, const char *name)
{
	atomic_store(&sum, 0);
	for (long i = 1; i <= 200; i++)
		pool_add(p, add_square, (void *)i);
	pool_wait(p);
	is(name, atomic_load(&sum), 200L * 201 * 401 / 6);
}

static void jobs(struct pool *p)
{
	squares(p, "jobs that compute");
	pool_wait(p);
	ok("waiting for an idle pool ends at once", true);

	atomic_store(&sum, 0);
	atomic_store(&done, 0);
	for (long i = 1; i <= 40; i++)
		pool_add(p, add_after_sleep, (void *)i);
	while (atomic_load(&done) != 40) /* as a program without pool_wait */
		usleep(200);
	is("jobs that sleep, and a creator that polls for their end", atomic_load(&sum), 820);

	atomic_store(&done, 0);
	shared = p;
	pool_add(p, add_tree, (void *)7L);
	pool_wait(p);
	is("jobs that add jobs", atomic_load(&done), 255);
}

/* The threads wait for jobs, or for the end of a sleep, or for the lock, when the signal comes. */
static void paused(struct pool *p)
{
	long before;

	atomic_store(&sum, 0);
	atomic_store(&done, 0);
	for (long i = 1; i <= 40; i++)
		pool_add(p, add_after_sleep, (void *)i);
	usleep(1000);
	pool_pause(p);
	while (atomic_load(&held) != THREADS)
		usleep(100);
	before = atomic_load(&done);
	usleep(20000);
	is("paused threads do nothing", atomic_load(&done), before);
	ok("... before all is done", before < 40);
	pool_resume();
	pool_wait(p);
	is("... and all of it when they go on", atomic_load(&sum), 820);
	while (atomic_load(&held) != 0)
		usleep(100);
}

/* The threads wait for the condition variable, each in its handler's sleep too. */
static void paused_idle(struct pool *p)
{
	atomic_store(&done, 0);
	pool_pause(p);
	while (atomic_load(&held) != THREADS)
		usleep(100);
	for (long i = 1; i <= 10; i++)
		pool_add(p, add_after_sleep, (void *)i);
	usleep(5000);
	is("idle threads are paused as well", atomic_load(&done), 0);
	pool_resume();
	pool_wait(p);
	is("... and then find what has come", atomic_load(&done), 10);
}

static void destroyed(struct pool *p)
{
	int dropped;

	atomic_store(&done, 0);
	for (long i = 1; i <= 40; i++)
		pool_add(p, add_after_sleep, (void *)i);
	usleep(1000);
	dropped = pool_destroy(p);
	ok("a pool that is destroyed drops jobs", dropped > 0);
	is("... and has done the others", dropped + atomic_load(&done), 40);
}

int main(void)
{
	struct sigaction sa = {.sa_handler = pool_hold};
	const char *model = getenv("LIBTHREAD");
	bool one_lwp = model != NULL && strcmp(model, "n1") == 0;
	struct pool *p, *q;

	sigaction(SIGUSR1, &sa, NULL);
	p = pool_create(by_usleep);
	jobs(p);
	paused(p);
	paused_idle(p);
	q = pool_create(by_yield);
	squares(q, "a second pool");
	destroyed(p);
	squares(q, "the second pool, when the first is gone");
	destroyed(q);

	if (!one_lwp) {
		pthread_setconcurrency(THREADS + 1);
		p = pool_create(by_looking);
		squares(p, "a pool whose creator has spun for its threads");
		pool_destroy(p);
	}
	return tap_done();
}
