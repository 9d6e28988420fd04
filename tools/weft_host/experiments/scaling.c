/*
 * scaling - how operations of threads that have nothing in common spread over the CPUs.
 *
 * scaling MICROSECONDS
 *
 * create  a thread a CPU creates a thread and joins it
 * yield   two threads a CPU yield
 * wake    a pair of threads a CPU: each wakes its partner by a semaphore and blocks, twice an operation
 * apart   the same with a pair for each two CPUs, so that half of the CPUs have no thread; from two CPUs on
 *
 * All threads of a kind are unbound.  They make operations until the time is over, and look at the clock
 * after each BATCH.  A BATCH counts if it ends in the time that is measured.  That time begins BEFORE_NS after the
 * first BATCH, because the barrier wakes the threads one after the other.
 *
 * One line of results for each kind.  locks is how many times the library's one lock is acquired in an operation, also by
 * what the library does beside the operations; 0 if the model has no such lock.  cpu_ns is the time of all CPUs by the operations of all threads: it
 * stays the same if twice as many CPUs make twice as many operations.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <thread.h>
#include <weft/abi.h>
#include "sample.h"

#define MAX_THREADS (2 * WEFT_MAXCPU)
#define BATCH 4             /* operations from one look at the clock to the next */
#define BEFORE_NS 1000000ll /* 64 threads need half of it */

static struct worker {
	_Alignas(64) pthread_t thread;
	sem_t turn;
	struct worker *partner; /* the thread that it wakes */
	long operations;
	bool over; /* of a pair: written by the thread that counts, before it wakes its partner */
} workers[MAX_THREADS];

static pthread_barrier_t all_here;
static int64_t length, begins; /* begins: 0 until a thread has made a BATCH; atomic */
static void (*operation)(struct worker *w);
static unsigned long long locks_before, locks_after; /* of the first worker */

static void *nothing(void *unused)
{
	return NULL;
}

static void create(struct worker *w)
{
	pthread_t thread;

	must(pthread_create(&thread, NULL, nothing, NULL), "pthread_create");
	must(pthread_join(thread, NULL), "pthread_join");
}

static void yield(struct worker *w)
{
	sched_yield();
}

static void wake(struct worker *w)
{
	sem_post(&w->partner->turn);
	sem_wait(&w->turn);
}

/* The first thread that has made a BATCH sets the time. */
static void begin_at(int64_t time)
{
	int64_t unset = 0;

	__atomic_compare_exchange_n(&begins, &unset, time, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
}

static unsigned long long locks(void)
{
	struct thr_schedlock_stats stats;

	return thr_schedlock_stats(&stats) == 0 ? stats.acquisitions : 0;
}

static void *measured(void *arg)
{
	struct worker *w = arg;
	int64_t now;

	pthread_barrier_wait(&all_here);
	for (;;) {
		for (int i = 0; i < BATCH; i++)
			operation(w);
		now = gethrtime();
		if (begins == 0)
			begin_at(now + BEFORE_NS);
		if (now > begins + length)
			break;
		if (now < begins)
			continue;
		if (w == workers && w->operations == 0)
			locks_before = locks();
		w->operations += BATCH;
	}
	if (w == workers)
		locks_after = locks();
	if (w->partner != NULL) {
		w->over = true;
		sem_post(&w->partner->turn);
	}
	return NULL;
}

static void *answers(void *arg)
{
	struct worker *w = arg;

	pthread_barrier_wait(&all_here);
	for (;;) {
		sem_wait(&w->turn);
		if (w->partner->over)
			return NULL;
		sem_post(&w->partner->turn);
	}
}

static void run(const char *kind, void (*what)(struct worker *w), unsigned each, bool pairs)
{
	unsigned threads = each * __ncpu, measure = pairs ? threads / 2 : threads;
	long operations = 0;

	operation = what;
	begins = 0;
	locks_before = locks();
	memset(workers, 0, sizeof(workers));
	must(pthread_barrier_init(&all_here, NULL, threads), "pthread_barrier_init");
	for (unsigned i = 0; i < threads; i++) {
		struct worker *w = &workers[i];

		sem_init(&w->turn, 0, 0);
		if (pairs)
			w->partner = &workers[(i + measure) % threads];
	}
	for (unsigned i = 0; i < threads; i++)
		must(pthread_create(&workers[i].thread, NULL, i < measure ? measured : answers,
				    &workers[i]),
		     "pthread_create");
	for (unsigned i = 0; i < threads; i++)
		must(pthread_join(workers[i].thread, NULL), "pthread_join");
	for (unsigned i = 0; i < measure; i++)
		operations += workers[i].operations;
	if (operations == 0) {
		fprintf(stderr, "scaling: no %s in %lld ns\n", kind, (long long)length);
		exit(1);
	}
	printf("result kind=%s cpu_ns=%.1f locks=%.4f\n", kind,
	       (double)length * __ncpu / operations,
	       (double)(locks_after - locks_before) / operations);
}

int main(int argc, char **argv)
{
	length = argc == 2 ? atol(argv[1]) * 1000 : 0;
	if (length < 1) {
		fputs("usage: scaling MICROSECONDS\n", stderr);
		return 2;
	}
	must(pthread_setconcurrency(__ncpu), "pthread_setconcurrency");
	run("create", create, 1, false);
	run("yield", yield, 2, false);
	run("wake", wake, 2, true);
	if (__ncpu > 1)
		run("apart", wake, 1, true);
	return 0;
}
