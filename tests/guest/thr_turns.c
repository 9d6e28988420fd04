/*
 * thr_turns.c MODE [N] - do threads of equal priority take turns, although other threads run between them?
 *
 * Two threads compute beside a visitor, which begins at N ms:
 *
 * higher     a thread of a higher priority, which is not real-time, runs for 1 ms of each 50 ms
 * fifo       a thread of SCHED_FIFO runs for 20 ms of each 100 ms.  Slices have the same period
 * both       a thread of SCHED_FIFO runs for 1 ms, and around it one of a higher priority for 40 ms, of each 100 ms
 * post       one of the two threads wakes a thread of SCHED_FIFO, which runs for 30 ms, each 100 ms
 * inherits   one of the two threads owns a mutex for 60 ms of each 100 ms, and a thread of SCHED_FIFO wants it
 *
 * Three threads compute on two CPUs, and a process on each CPU beside them:
 *
 * processes  they are threads of SCHED_OTHER, and the processes compute for N ms of each 10 ms
 * rr-processes  they are threads of SCHED_RR, and the processes compute and sleep for N ms in turns
 *
 * rr         N threads of SCHED_RR compute.  The library's ticker takes a CPU from them at each tick
 * fork       a thread of SCHED_FIFO forks.  Threads of the child, in the memory of threads that it does not have, take turns
 *
 * A thread waits at most for a slice of each thread before it, and for the visitor.  It gets half of its share at least: a visitor
 * that the thread itself wakes runs in the slice of this thread.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/processor.h>
#include <sys/procset.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <thread.h>
#include <time.h>
#include <unistd.h>
#include <weft/start.h>
#include "tap.h"

#define MS 1000000ll
#define SLICE (100 * MS)
#define TICK (10 * MS)
#define MOST 20
#define FOR (4000 * MS)
#define NAME "threads take turns, and wait no longer than the bound"

static struct worker {
	pthread_t thread;
	hrtime_t longest, used, last;
} workers[MOST];
static hrtime_t begun;

/* w runs until `end`, and notes the times when it has not run. */
static void computes_until(struct worker *w, hrtime_t end)
{
	hrtime_t now;

	do {
		now = gethrtime();
		if (now - w->last > w->longest)
			w->longest = now - w->last;
		if (now - w->last < MS)
			w->used += now - w->last;
		w->last = now;
	} while (now < end);
}

static void *computes(void *arg)
{
	computes_until(arg, begun + FOR);
	return NULL;
}

static void waits_until(hrtime_t at)
{
	hrtime_t now = gethrtime();

	if (at > now)
		nanosleep(&(struct timespec){.tv_nsec = at - now}, NULL);
}

static void spins_for(hrtime_t ns)
{
	for (hrtime_t end = gethrtime() + ns; gethrtime() < end;)
		;
}

struct visitor {
	hrtime_t first, period, runs;
};

static void *visits(void *arg)
{
	const struct visitor *v = arg;

	for (hrtime_t at = begun + v->first; at < begun + FOR; at += v->period) {
		waits_until(at);
		spins_for(v->runs);
	}
	return NULL;
}

static pthread_t start(void *(*fn)(void *), void *arg, int policy, int pri)
{
	const struct sched_param param = {.sched_priority = pri};
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, policy);
	pthread_attr_setschedparam(&attr, &param);
	if (pthread_create(&t, &attr, fn, arg) != 0)
		bail("pthread_create");
	return t;
}

static sem_t wanted;
static pthread_mutex_t mutex;

static void *posts(void *arg)
{
	const struct visitor *v = arg;

	for (hrtime_t at = begun + v->first; at < begun + FOR; at += v->period) {
		computes_until(&workers[0], at);
		sem_post(&wanted);
	}
	return NULL;
}

static void *serves(void *arg)
{
	const struct visitor *v = arg;

	for (hrtime_t at = begun + v->first; at < begun + FOR; at += v->period) {
		sem_wait(&wanted);
		spins_for(v->runs);
	}
	return NULL;
}

static void *owns(void *arg)
{
	const struct visitor *v = arg;

	for (hrtime_t at = begun + v->first; at < begun + FOR; at += v->period) {
		computes_until(&workers[0], at);
		pthread_mutex_lock(&mutex);
		computes_until(&workers[0], at + v->runs);
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static void *wants(void *arg)
{
	const struct visitor *v = arg;

	for (hrtime_t at = begun + v->first + MS; at < begun + FOR; at += v->period) {
		waits_until(at);
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

/* The first thread runs `first`, if it is not NULL. */
static void workers_start(int n, int policy, void *(*first)(void *), void *arg)
{
	for (int i = 0; i < n; i++) {
		workers[i].last = gethrtime();
		workers[i].thread = i == 0 && first != NULL ? start(first, arg, SCHED_OTHER, 0)
							    : start(computes, &workers[i], policy,
								    policy == SCHED_OTHER ? 0 : 10);
	}
}

/* slices, and what else runs: the longest wait that is right */
static bool workers_fair(int n, int slices, hrtime_t else_runs)
{
	hrtime_t all = 0, least = FOR, longest = 0;

	for (int i = 0; i < n; i++) {
		pthread_join(workers[i].thread, NULL);
		all += workers[i].used;
		if (workers[i].used < least)
			least = workers[i].used;
		if (workers[i].longest > longest)
			longest = workers[i].longest;
	}
	printf("# longest wait %lld ms, least CPU time %lld ms, mean %lld ms\n",
	       (long long)(longest / MS), (long long)(least / MS), (long long)(all / n / MS));
	return longest <= slices * SLICE + else_runs + 2 * TICK && least >= all / n / 2;
}

/* The visitors are threads. */
static void beside_threads(const char *mode, hrtime_t first)
{
	struct visitor higher = {first, 50 * MS, MS}, fifo = {first, 100 * MS, 20 * MS},
		       between = {first + MS, 100 * MS, MS}, around = {first, 100 * MS, 40 * MS},
		       served = {first, 100 * MS, 30 * MS}, owner = {first, 100 * MS, 60 * MS};
	pthread_t t[2];
	int n = 0;

	if (strcmp(mode, "higher") == 0) {
		t[n++] = start(visits, &higher, SCHED_OTHER, 1);
		workers_start(2, SCHED_OTHER, NULL, NULL);
		ok(NAME, workers_fair(2, 1, higher.runs));
	} else if (strcmp(mode, "fifo") == 0) {
		t[n++] = start(visits, &fifo, SCHED_FIFO, 10);
		workers_start(2, SCHED_OTHER, NULL, NULL);
		ok(NAME, workers_fair(2, 1, fifo.runs));
	} else if (strcmp(mode, "both") == 0) {
		t[n++] = start(visits, &around, SCHED_OTHER, 1);
		t[n++] = start(visits, &between, SCHED_FIFO, 10);
		workers_start(2, SCHED_OTHER, NULL, NULL);
		ok(NAME, workers_fair(2, 2, 2 * around.runs));
	} else if (strcmp(mode, "post") == 0) {
		t[n++] = start(serves, &served, SCHED_FIFO, 10);
		workers_start(2, SCHED_OTHER, posts, &served);
		ok(NAME, workers_fair(2, 1, 2 * served.runs));
	} else if (strcmp(mode, "inherits") == 0) {
		t[n++] = start(wants, &owner, SCHED_FIFO, 10);
		workers_start(2, SCHED_OTHER, owns, &owner);
		ok(NAME, workers_fair(2, 1, owner.runs));
	} else {
		bail("usage: thr_turns MODE N");
	}
	while (n > 0)
		pthread_join(t[--n], NULL);
}

static void beside_processes(int policy, long ms)
{
	struct visitor v = {10 * MS - ms * MS, 10 * MS, ms * MS};

	for (int cpu = 0; cpu < (int)__ncpu; cpu++) {
		if (fork() == 0) {
			processor_bind(P_PID, P_MYID, cpu, NULL);
			if (policy == SCHED_OTHER)
				visits(&v);
			while (gethrtime() < begun + FOR) {
				spins_for(ms * MS);
				waits_until(gethrtime() + ms * MS);
			}
			_exit(0);
		}
	}
	pthread_setschedparam(pthread_self(), SCHED_FIFO,
			      &(struct sched_param){.sched_priority = 50});
	workers_start(3, policy, NULL, NULL);
	/* SCHED_RR: a thread that has left its CPU may wait for it while another runs on, so no bound is stated. */
	ok(NAME, workers_fair(3, policy == SCHED_OTHER ? 1 : 4, 2 * TICK));
	while (waitpid(-1, NULL, 0) > 0)
		;
}

static void real_time(int n)
{
	int cpus = __ncpu;

	pthread_setschedparam(pthread_self(), SCHED_FIFO,
			      &(struct sched_param){.sched_priority = 50});
	workers_start(n, SCHED_RR, NULL, NULL);
	ok(NAME, workers_fair(n, (n - 1) / cpus, 3 * TICK)); /* the first tick is late */
}

static void *forks(void *ms)
{
	int status = -1;
	pid_t child;

	waits_until(begun + (long)ms * MS);
	child = fork();
	if (child == 0) {
		begun = gethrtime();
		memset(workers, 0, sizeof(workers));
		workers_start(2, SCHED_OTHER, NULL, NULL);
		spins_for(350 * MS); /* over the ends of slices */
		_exit(!workers_fair(2, 1, 350 * MS));
	}
	waitpid(child, &status, 0);
	ok("threads of the child take turns", status == 0);
	return NULL;
}

static void beside_fork(long ms)
{
	static struct visitor computes_once = {0, FOR, FOR / 8};
	pthread_t t;

	waits_until(gethrtime() + MS); /* so that the library's LWP for deadlines has begun */
	for (int i = 0; i < 3; i++)
		workers[i].thread = start(visits, &computes_once, SCHED_OTHER, 0);
	t = start(forks, (void *)ms, SCHED_FIFO, 10);
	for (int i = 0; i < 3; i++)
		pthread_join(workers[i].thread, NULL);
	pthread_join(t, NULL);
}

int main(int argc, char **argv)
{
	const char *mode = argc == 3 ? argv[1] : "";
	long n = argc == 3 ? atol(argv[2]) : 0;
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&mutex, &attr);
	sem_init(&wanted, 0, 0);
	begun = gethrtime();
	if (strcmp(mode, "rr") == 0 && n <= MOST)
		real_time(n);
	else if (strcmp(mode, "processes") == 0)
		beside_processes(SCHED_OTHER, n);
	else if (strcmp(mode, "rr-processes") == 0)
		beside_processes(SCHED_RR, n);
	else if (strcmp(mode, "fork") == 0)
		beside_fork(n);
	else if (argc == 3)
		beside_threads(mode, n * MS);
	else
		bail("usage: thr_turns MODE N");
	return tap_done();
}
