/*
 * thr_sleep.c - calls with a deadline: in no model does a thread that makes one again and again until
 * another thread has run keep that thread from running.  And sleeping: how long, handlers,
 * cancellation, suspension, fork, and which LWPs it keeps.
 */
#include "start.h"
#include <fcntl.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <synch.h>
#include <thread.h>
#include <threads.h>
#include <unistd.h>
#include <weft/lwp.h>
#include <weft/sys.h>

#define MS 1000000

static const char *model;

static struct timespec ms(long n)
{
	return (struct timespec){n / 1000, n % 1000 * MS};
}

/* --- all calls with a deadline ---------------------------------------------------------------- */

static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t own_cond = PTHREAD_COND_INITIALIZER;
static sem_t own_sem;
/* Objects whose queues are the kernel's, taken or at 0: nobody lets go. */
static pthread_mutex_t shared_mutex, shared_taken;
static pthread_cond_t shared_cond;
static pthread_rwlock_t shared_rwlock, own_rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t shared_sem, *named;
static int nothing[2]; /* a pipe */

static void by_sleep(void)
{
	sleep(1);
}

static void by_usleep(void)
{
	usleep(1000);
}

static void by_nanosleep(void)
{
	struct timespec t = ms(1);
	nanosleep(&t, NULL);
}

static void by_clock_nanosleep(void)
{
	struct timespec t = later(CLOCK_REALTIME, 1000);
	clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &t, NULL);
}

static void by_thrd_sleep(void)
{
	struct timespec t = ms(1);
	thrd_sleep(&t, NULL);
}

static void by_cond(void)
{
	struct timespec t = later(CLOCK_REALTIME, 1000);
	pthread_mutex_lock(&own);
	pthread_cond_timedwait(&own_cond, &own, &t);
	pthread_mutex_unlock(&own);
}

static void by_sem(void)
{
	struct timespec t = later(CLOCK_REALTIME, 1000);
	sem_timedwait(&own_sem, &t);
}

static void by_rwlock(void)
{
	struct timespec t = later(CLOCK_REALTIME, 1000);
	pthread_rwlock_timedwrlock(&own_rwlock, &t);
}

static void by_sigtimedwait(void)
{
	struct timespec t = ms(1);
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigtimedwait(&set, NULL, &t);
}

static void by_poll(void)
{
	struct pollfd p = {.fd = nothing[0], .events = POLLIN};
	poll(&p, 1, 1);
}

static void by_poll_of_nothing(void)
{
	poll(NULL, 0, 1);
}

static void by_select(void)
{
	struct timeval t = {0, 1000};
	fd_set set;
	FD_ZERO(&set);
	FD_SET(nothing[0], &set);
	select(nothing[0] + 1, &set, NULL, NULL, &t);
}

static void by_shared_mutex(void)
{
	struct timespec t = later(CLOCK_REALTIME, 1000);
	pthread_mutex_timedlock(&shared_taken, &t);
}

static void by_shared_cond(void)
{
	struct timespec t = later(CLOCK_REALTIME, 1000);
	pthread_mutex_lock(&shared_mutex);
	pthread_cond_timedwait(&shared_cond, &shared_mutex, &t);
	pthread_mutex_unlock(&shared_mutex);
}

static void by_shared_rwlock(void)
{
	struct timespec t = later(CLOCK_REALTIME, 1000);
	pthread_rwlock_timedwrlock(&shared_rwlock, &t);
}

static void by_shared_sem(void)
{
	struct timespec t = later(CLOCK_REALTIME, 1000);
	sem_timedwait(&shared_sem, &t);
}

static void by_named_sem(void)
{
	struct timespec t = later(CLOCK_REALTIME, 1000);
	sem_timedwait(named, &t);
}

static const struct {
	const char *name;
	void (*call)(void);
	bool in_kernel; /* n1 has no LWP to spare */
} calls[] = {
	{"sleep", by_sleep, false},
	{"usleep", by_usleep, false},
	{"nanosleep", by_nanosleep, false},
	{"clock_nanosleep", by_clock_nanosleep, false},
	{"thrd_sleep", by_thrd_sleep, false},
	{"pthread_cond_timedwait", by_cond, false},
	{"sem_timedwait", by_sem, false},
	{"pthread_rwlock_timedwrlock", by_rwlock, false},
	{"sigtimedwait", by_sigtimedwait, false},
	{"poll", by_poll, true},
	{"poll of nothing", by_poll_of_nothing, true},
	{"select", by_select, true},
	{"a shared mutex", by_shared_mutex, true},
	{"a shared condition variable", by_shared_cond, true},
	{"a shared reader-writer lock", by_shared_rwlock, true},
	{"a shared semaphore", by_shared_sem, true},
	{"a named semaphore", by_named_sem, true},
};

static volatile bool ran;

static void *runs(void *arg)
{
	ran = true;
	return NULL;
}

static void make_objects(void)
{
	pthread_mutexattr_t ma;
	pthread_condattr_t ca;
	pthread_rwlockattr_t ra;

	pthread_mutexattr_init(&ma);
	pthread_mutexattr_setpshared(&ma, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&shared_mutex, &ma);
	pthread_mutex_init(&shared_taken, &ma);
	pthread_mutex_lock(&shared_taken);
	pthread_condattr_init(&ca);
	pthread_condattr_setpshared(&ca, PTHREAD_PROCESS_SHARED);
	pthread_cond_init(&shared_cond, &ca);
	pthread_rwlockattr_init(&ra);
	pthread_rwlockattr_setpshared(&ra, PTHREAD_PROCESS_SHARED);
	pthread_rwlock_init(&shared_rwlock, &ra);
	pthread_rwlock_rdlock(&shared_rwlock);
	pthread_rwlock_rdlock(&own_rwlock);
	sem_init(&own_sem, 0, 0);
	sem_init(&shared_sem, 1, 0);
	named = sem_open("/thr_sleep", O_CREAT, 0600, 0);
	pipe(nothing);
}

/* The waits are a second long at most, and a thousand of them take virtual time alone. */
static void each_call(void)
{
	pthread_t t;
	char name[80];

	for (unsigned i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (calls[i].in_kernel && strcmp(model, "n1") == 0)
			continue;
		ran = false;
		t = start(runs, NULL, PTHREAD_SCOPE_PROCESS);
		int left = 1000;
		while (!ran && left-- > 0)
			calls[i].call();
		snprintf(name, sizeof(name), "others run while one waits again and again: %s",
			 calls[i].name);
		ok(name, ran);
		pthread_join(t, NULL);
	}
}

/* --- sleeping --------------------------------------------------------------------------------- */

static void lengths(void)
{
	struct timespec t = ms(20), at = later(CLOCK_MONOTONIC, 20 * 1000), past = {1, 0};
	int64_t before = gethrtime(), took;

	is("nanosleep", nanosleep(&t, NULL), 0);
	took = gethrtime() - before;
	ok("... takes its time, and little more", took >= 20 * MS && took < 21 * MS);
	is("clock_nanosleep until a time",
	   clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL), 0);
	before = gethrtime();
	is("... that is past", clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &past, NULL), 0);
	ok("... returns at once", gethrtime() - before < MS);
	t = (struct timespec){0, 0};
	is("nanosleep of nothing", nanosleep(&t, NULL), 0);
	t.tv_nsec = 1000 * MS;
	fails("nanosleep: no time", nanosleep(&t, NULL), EINVAL);
	t = ms(1);
	is("clock_nanosleep: no clock", clock_nanosleep(99, 0, &t, NULL), EINVAL);
	is("clock_nanosleep: flags", clock_nanosleep(CLOCK_MONOTONIC, 8, &t, NULL), EINVAL);
}

static void *sleeps(void *arg)
{
	struct timespec t = ms((long)arg);
	return (void *)(long)nanosleep(&t, NULL);
}

#define CROWD 20

static void keeps_no_lwp(void)
{
	pthread_t t[CROWD];
	struct timespec a_while = ms(5);
	int before, during;

	nanosleep(&a_while, NULL); /* the LWP of deadlines is there by now */
	before = lwps();
	for (long i = 0; i < CROWD; i++)
		t[i] = start(sleeps, (void *)(20 + i), PTHREAD_SCOPE_PROCESS);
	nanosleep(&a_while, NULL);
	during = lwps();
	for (int i = 0; i < CROWD; i++)
		pthread_join(t[i], NULL);
	if (strcmp(model, "lwp") != 0)
		is("unbound threads that sleep keep no LWP", during, before);
}

static volatile int handled;

static void note(int sig)
{
	handled++;
}

static struct timespec rest;

static void *interrupted(void *seconds)
{
	struct timespec t = {(long)seconds, 0};
	return (void *)(long)(nanosleep(&t, &rest) == -1 && errno == EINTR);
}

static void handlers(int scope, const char *whose)
{
	struct timespec t = ms(5);
	char name[80];
	void *r;
	pthread_t th = start(interrupted, (void *)1L, scope);

	handled = 0;
	nanosleep(&t, NULL);
	pthread_kill(th, SIGUSR1);
	pthread_join(th, &r);
	snprintf(name, sizeof(name), "%s: a handler ends the sleep", whose);
	ok(name, r != NULL && handled == 1);
	long left = rest.tv_sec * 1000 + rest.tv_nsec / MS;
	snprintf(name, sizeof(name), "%s: what was left of it is told", whose);
	ok(name, left >= 980 && left <= 996);

	/* More nanoseconds than 64 bits hold. */
	th = start(interrupted, (void *)10000000000, scope);
	nanosleep(&t, NULL);
	pthread_kill(th, SIGUSR1);
	pthread_join(th, NULL);
	snprintf(name, sizeof(name), "%s: what was left of three centuries is told", whose);
	ok(name, rest.tv_sec == 9999999999 && rest.tv_nsec >= 980 * MS);
}

/* The alarm is the process's, and no other thread lets it through. */
static void handler_of_the_process(void)
{
	sigset_t set;
	void *r;
	pthread_t t = start(interrupted, (void *)1L, PTHREAD_SCOPE_PROCESS);
	struct timespec a_while = ms(5);

	nanosleep(&a_while, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	handled = 0;
	kill(getpid(), SIGUSR1);
	pthread_join(t, &r);
	ok("a handler of the process's signal ends the sleep of a thread that lets it through",
	   r != NULL && handled == 1);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static void *sleeps_on(void *arg)
{
	for (;;)
		sleep(1000);
	return NULL;
}

static void cancelled(int scope, const char *name)
{
	struct timespec t = ms(5);
	pthread_t th = start(sleeps_on, NULL, scope);
	int64_t before;
	void *r;

	nanosleep(&t, NULL);
	before = gethrtime();
	pthread_cancel(th);
	pthread_join(th, &r);
	ok(name, r == PTHREAD_CANCELED && gethrtime() - before < MS);
}

static int64_t woke;

static void *wakes(void *arg)
{
	struct timespec t = ms(20);
	nanosleep(&t, NULL);
	woke = gethrtime();
	return NULL;
}

static void suspended(void)
{
	struct timespec t = ms(5), longer = ms(40);
	pthread_t th = start(wakes, NULL, PTHREAD_SCOPE_PROCESS);
	int64_t resumed;

	nanosleep(&t, NULL);
	is("thr_suspend: a thread that sleeps", thr_suspend(th), 0);
	nanosleep(&longer, NULL);
	resumed = gethrtime();
	thr_continue(th);
	pthread_join(th, NULL);
	ok("... stays where it is when its time is up", woke >= resumed && woke < resumed + MS);
}

static void forked(void)
{
	struct timespec t = ms(5);
	pthread_t th = start(sleeps, (void *)50L, PTHREAD_SCOPE_PROCESS);
	int status;
	void *r;

	nanosleep(&t, NULL);
	pid_t pid = fork();
	if (pid == 0) { /* alone, without the LWP of deadlines */
		int64_t before = gethrtime();
		usleep(2000);
		pthread_t mine = start(sleeps, (void *)3L, PTHREAD_SCOPE_PROCESS);
		pthread_join(mine, &r);
		_exit(r == NULL && gethrtime() - before >= 5 * MS ? 7 : 1);
	}
	waitpid(pid, &status, 0);
	is("a child of fork sleeps", WEXITSTATUS(status), 7);
	pthread_join(th, &r);
	ok("... and the sleep of its parent's thread goes on", r == NULL);
}

int main(void)
{
	struct sigaction sa = {.sa_handler = note};

	model = getenv("LIBTHREAD");
	if (model == NULL)
		model = "lwp";
	sigaction(SIGUSR1, &sa, NULL);
	make_objects();
	each_call();
	lengths();
	keeps_no_lwp();
	handlers(PTHREAD_SCOPE_PROCESS, "unbound");
	handlers(PTHREAD_SCOPE_SYSTEM, "bound");
	handler_of_the_process();
	cancelled(PTHREAD_SCOPE_PROCESS, "a thread that sleeps is cancelled");
	cancelled(PTHREAD_SCOPE_SYSTEM, "a bound thread that sleeps is cancelled");
	suspended();
	forked();
	return tap_done();
}
