/*
 * thr_clockset.c - clock_settime while threads wait: to an absolute time of CLOCK_REALTIME by the clock as it is
 * now, whatever the call and the kind of thread; to others, and for a length, as if nothing had happened.  In
 * exact timing, so that a wait that keeps the old time is seen at once.
 */
#include "start.h"
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <thread.h>
#include <time.h>
#include <unistd.h>
#include <weft/sys.h>

#define MS 1000000ll
#define SOON 5     /* ms after which the clock is set */
#define SLACK 2    /* ms */
#define AHEAD 1000 /* ms of the deadline */

static pthread_mutex_t taken = PTHREAD_MUTEX_INITIALIZER, own = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER, mono_cond;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t sem, end;

static void nap(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * MS};

	while (nanosleep(&t, &t) != 0)
		;
}

/* CLOCK_REALTIME goes on from now and ms. */
static void step(long ms)
{
	struct timespec t;
	int64_t ns;

	clock_gettime(CLOCK_REALTIME, &t);
	ns = t.tv_sec * 1000 * MS + t.tv_nsec + ms * MS;
	t = (struct timespec){ns / (1000 * MS), ns % (1000 * MS)};
	if (clock_settime(CLOCK_REALTIME, &t) != 0)
		bail("clock_settime");
}

/* --- waits until *at: an error number ---------------------------------------------------------- */

static int by_sleep(const struct timespec *at)
{
	return clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, at, NULL);
}

static int by_sem(const struct timespec *at)
{
	return sem_timedwait(&sem, at) == 0 ? -1 : errno;
}

static int by_cond(const struct timespec *at)
{
	int error;

	pthread_mutex_lock(&own);
	error = pthread_cond_timedwait(&cond, &own, at);
	pthread_mutex_unlock(&own);
	return error;
}

static int by_mutex(const struct timespec *at)
{
	return pthread_mutex_timedlock(&taken, at);
}

static int by_reader(const struct timespec *at)
{
	return pthread_rwlock_timedrdlock(&rwlock, at);
}

static int by_writer(const struct timespec *at)
{
	return pthread_rwlock_timedwrlock(&rwlock, at);
}

static void *stays(void *arg)
{
	sem_wait(&end);
	return NULL;
}

static int by_join(const struct timespec *at)
{
	pthread_t t = start(stays, NULL, PTHREAD_SCOPE_PROCESS);
	int error = pthread_timedjoin_np(t, NULL, at);

	sem_post(&end);
	pthread_join(t, NULL);
	return error;
}

static int by_monotonic(const struct timespec *at)
{
	return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, at, NULL);
}

static int by_monotonic_cond(const struct timespec *at)
{
	int error;

	pthread_mutex_lock(&own);
	error = pthread_cond_timedwait(&mono_cond, &own, at);
	pthread_mutex_unlock(&own);
	return error;
}

static int by_length(const struct timespec *at)
{
	struct timespec t = {AHEAD / 1000, AHEAD % 1000 * MS};

	return clock_nanosleep(CLOCK_REALTIME, 0, &t, NULL);
}

static const struct wait {
	const char *name;
	int (*call)(const struct timespec *at);
	int error;
	clockid_t clock;
} waits[] = {
	{"clock_nanosleep", by_sleep, 0, CLOCK_REALTIME},
	{"sem_timedwait", by_sem, ETIMEDOUT, CLOCK_REALTIME},
	{"pthread_cond_timedwait", by_cond, ETIMEDOUT, CLOCK_REALTIME},
	{"pthread_mutex_timedlock", by_mutex, ETIMEDOUT, CLOCK_REALTIME},
	{"pthread_rwlock_timedrdlock", by_reader, ETIMEDOUT, CLOCK_REALTIME},
	{"pthread_rwlock_timedwrlock", by_writer, ETIMEDOUT, CLOCK_REALTIME},
	{"pthread_timedjoin_np", by_join, ETIMEDOUT, CLOCK_REALTIME},
	{"clock_nanosleep by CLOCK_MONOTONIC", by_monotonic, 0, CLOCK_MONOTONIC},
	{"a condition variable by CLOCK_MONOTONIC", by_monotonic_cond, ETIMEDOUT, CLOCK_MONOTONIC},
	{"a length", by_length, 0, CLOCK_MONOTONIC},
};
#define NWAITS ((int)(sizeof(waits) / sizeof(waits[0])))

struct waiter {
	const struct wait *wait;
	struct timespec at;
	int64_t began, took;
	int error;
	pthread_t t;
};

static void *waits_until(void *arg)
{
	struct waiter *w = arg;

	w->error = w->wait->call(&w->at);
	w->took = gethrtime() - w->began;
	return NULL;
}

static void begin(struct waiter *w, const struct wait *wait, int scope)
{
	w->wait = wait;
	w->at = later(wait->clock, AHEAD * 1000);
	w->began = gethrtime();
	w->t = start(waits_until, w, scope);
}

static bool ended_after(const struct waiter *w, long ms)
{
	return w->error == w->wait->error && w->took >= ms * MS && w->took < (ms + SLACK) * MS;
}

/* All at once, so that each finds the others' deadlines beside its own; by ms, when SOON is over. */
static void each(int scope, const char *whose, long ms)
{
	static struct waiter w[NWAITS];
	long want;
	char name[120];

	for (int i = 0; i < NWAITS; i++)
		begin(&w[i], &waits[i], scope);
	nap(SOON);
	step(ms);
	for (int i = 0; i < NWAITS; i++) {
		pthread_join(w[i].t, NULL);
		want = AHEAD - ms < SOON ? SOON : AHEAD - ms;
		if (waits[i].clock == CLOCK_MONOTONIC)
			want = AHEAD;
		snprintf(name, sizeof(name), "%s, clock %s: %s", whose, ms > 0 ? "forward" : "back",
			 waits[i].name);
		if (!ok(name, ended_after(&w[i], want)))
			printf("# %d after %lld us, not %ld ms\n", w[i].error,
			       (long long)w[i].took / 1000, want);
	}
	step(-ms);
}

/* --- together with what else happens to a wait --------------------------------------------------- */

static volatile int handled;

static void note(int sig)
{
	handled++;
}

static void after_a_handler(void)
{
	struct waiter w;

	begin(&w, &waits[2], PTHREAD_SCOPE_PROCESS);
	nap(SOON);
	pthread_kill(w.t, SIGUSR1);
	nap(SOON);
	step(2 * AHEAD);
	pthread_join(w.t, NULL);
	ok("a wait that a handler has interrupted goes by the new time", ended_after(&w, 2 * SOON));
	is("... the handler has been called", handled, 1);
	step(-2 * AHEAD);
}

static void while_suspended(void)
{
	struct waiter w;

	begin(&w, &waits[1], PTHREAD_SCOPE_PROCESS);
	nap(SOON);
	is("thr_suspend", thr_suspend(w.t), 0);
	step(2 * AHEAD);
	nap(SOON);
	thr_continue(w.t);
	pthread_join(w.t, NULL);
	ok("a thread that is suspended meanwhile returns when it goes on",
	   ended_after(&w, 2 * SOON));
	step(-2 * AHEAD);
}

/* Parent and child each have a waiter of their own; the child sets the clock for both. */
static void over_fork(void)
{
	struct waiter w;
	int status = 0;
	pid_t pid;

	begin(&w, &waits[2], PTHREAD_SCOPE_PROCESS);
	nap(SOON);
	pid = fork();
	if (pid == 0) {
		begin(&w, &waits[1], PTHREAD_SCOPE_PROCESS);
		nap(SOON);
		step(2 * AHEAD);
		pthread_join(w.t, NULL);
		_exit(ended_after(&w, SOON) ? 7 : 1);
	}
	waitpid(pid, &status, 0);
	is("a child's threads go by the clock that it sets", WEXITSTATUS(status), 7);
	pthread_join(w.t, NULL);
	ok("... as do its parent's", ended_after(&w, 2 * SOON));
	step(-2 * AHEAD);
}

/* The first and later steps count: the LWP that waits for all of them looks each time. */
static void several_steps(void)
{
	struct waiter w;

	begin(&w, &waits[1], PTHREAD_SCOPE_PROCESS);
	for (int i = 0; i < 4; i++) {
		nap(SOON);
		step(100);
	}
	pthread_join(w.t, NULL);
	ok("steps add up", ended_after(&w, AHEAD - 400));
	step(-400);
}

int main(void)
{
	struct sigaction sa = {.sa_handler = note};
	pthread_condattr_t ca;

	sigaction(SIGUSR1, &sa, NULL);
	pthread_condattr_init(&ca);
	pthread_condattr_setclock(&ca, CLOCK_MONOTONIC);
	pthread_cond_init(&mono_cond, &ca);
	sem_init(&sem, 0, 0);
	sem_init(&end, 0, 0);
	pthread_mutex_lock(&taken);
	pthread_rwlock_wrlock(&rwlock);
	nap(1);
	each(PTHREAD_SCOPE_PROCESS, "unbound", 2 * AHEAD);
	each(PTHREAD_SCOPE_PROCESS, "unbound", -300);
	each(PTHREAD_SCOPE_SYSTEM, "bound", 2 * AHEAD);
	each(PTHREAD_SCOPE_SYSTEM, "bound", -300);
	after_a_handler();
	while_suspended();
	over_fork();
	several_steps();
	return tap_done();
}
