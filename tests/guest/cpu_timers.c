/*
 * cpu_timers.c - timers of CPU time leave a neighbour its CPU, however many a process sets and
 * however many LWPs it has; and they miss no CPU time, whichever LWP uses it.  In exact timing.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <weft/time.h>
#include "rawlwp.h"
#include "tap.h"

#define MS 1000000ll
#define WINDOW (100 * MS)

static struct raw *lwps;

static void sleeps(struct raw *r)
{
	for (;;)
		__sys_lwp_park(NULL, 0);
}

/* With all signals blocked: a handler of the C library is for threads. */
static void start(struct raw *r, void (*fn)(struct raw *), uint64_t arg)
{
	sigset_t all, was;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &was);
	if (raw_start(r, fn, arg, 0) != 0)
		bail("lwp_create failed");
	sigprocmask(SIG_SETMASK, &was, NULL);
}

static void none(int sig)
{
}

static void set(timer_t id, int64_t value, int64_t interval)
{
	struct itimerspec its = {.it_value = {value / (1000 * MS), value % (1000 * MS)},
				 .it_interval = {0, interval}};
	if (timer_settime(id, 0, &its, NULL) != 0)
		bail("timer_settime");
}

/* The child: tells that it is ready, and sleeps until it is killed. */
static void attack(int timers, int nlwps, clockid_t clock, int ready)
{
	signal(SIGALRM, none);
	lwps = calloc(nlwps, sizeof(*lwps));
	for (int i = 0; i < nlwps; i++)
		start(&lwps[i], sleeps, 0);
	for (int i = 0; i < timers; i++) {
		timer_t id;
		if (timer_create(clock, NULL, &id) != 0)
			bail("timer_create");
		set(id, 1, 1);
	}
	write(ready, "", 1);
	for (;;)
		pause();
}

/* The thousandths of WINDOW that this process has. */
static int share(void)
{
	struct timespec from, to;
	hrtime_t end = gethrtime() + WINDOW;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	while (gethrtime() < end)
		;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	return ((to.tv_sec - from.tv_sec) * 1000 * MS + to.tv_nsec - from.tv_nsec) * 1000 / WINDOW;
}

static void test_neighbour(const char *name, int timers, int nlwps, clockid_t clock)
{
	int ready[2], status;
	char c;

	pipe(ready);
	pid_t child = fork();
	if (child == 0)
		attack(timers, nlwps, clock, ready[1]);
	read(ready[0], &c, 1);
	int had = share();
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	close(ready[0]);
	close(ready[1]);
	tap_report(had >= 900, name, "the neighbour has %d of 1000", had);
}

/* --- the sums -------------------------------------------------------------------------- */

#define USERS 5
#define BITS 40
#define BIT (MS / 4)

static volatile int64_t expired;

static void counts(int sig, siginfo_t *info, void *uc)
{
	expired += 1 + info->si_overrun;
}

static int64_t cpu_time(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000 * MS + ts.tv_nsec;
}

static const struct weft_timespec ms = {0, MS};

static void use_bit(void)
{
	hrtime_t end = gethrtime() + BIT;
	while (gethrtime() < end)
		;
}

/* Uses its CPU time in bits, between which it sleeps or yields. */
static void uses(struct raw *r)
{
	for (int i = 0; i < BITS; i++) {
		use_bit();
		if (r->arg % 2)
			__sys_lwp_sleep(WEFT_CLOCK_MONOTONIC, 0, &ms);
		else
			__sys_lwp_yield();
	}
}

static volatile uint32_t parked;
static volatile bool released;

/* Uses its CPU time in one piece, and parks. */
static void uses_and_parks(struct raw *r)
{
	for (int i = 0; i < BITS; i++)
		use_bit();
	__atomic_add_fetch(&parked, 1, __ATOMIC_SEQ_CST);
	while (!released)
		__sys_lwp_park(NULL, 0);
}

static void wait_for(struct raw *user)
{
	for (int i = 0; i < USERS; i++)
		while (__sys_lwp_wait(user[i].id, NULL) == -EINTR)
			;
}

/* A timer that expires each millisecond of CPU time has done so as often as there were any. */
static void test_sums(void)
{
	static struct raw user[USERS], parker[USERS];
	struct sigaction act = {.sa_sigaction = counts, .sa_flags = SA_SIGINFO};
	timer_t id;

	sigaction(SIGALRM, &act, NULL);
	timer_create(CLOCK_PROCESS_CPUTIME_ID, NULL, &id);
	int64_t from = cpu_time();
	set(id, MS, MS);
	/* Twice: LWPs that are gone, and others in their place. */
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < USERS; i++)
			start(&user[i], uses, i);
		wait_for(user);
	}
	for (int i = 0; i < USERS; i++)
		start(&parker[i], uses_and_parks, 0);
	while (parked < USERS)
		__sys_lwp_sleep(WEFT_CLOCK_MONOTONIC, 0, &ms);
	int64_t until = expired, to = cpu_time();
	tap_report(until <= (to - from) / MS, "never early", "%lld expiries in %lld us",
		   (long long)until, (long long)(to - from) / 1000);
	/* A look may still be to come, and count what has gone by. */
	hrtime_t end = gethrtime() + 10 * MS;
	while (gethrtime() < end)
		;
	tap_report(expired >= (to - from) / MS, "none is lost", "%lld expiries in %lld us",
		   (long long)expired, (long long)(to - from) / 1000);
	timer_delete(id);
	released = true;
	for (int i = 0; i < USERS; i++)
		__sys_lwp_unpark(parker[i].id);
	wait_for(parker);
}

/* --- LWPs that come when the timer is set ------------------------------------------------ */

#define SPINNERS 3

static volatile bool over;

static void spins(struct raw *r)
{
	while (!over)
		__sys_lwp_yield();
}

/* On several CPUs the time goes by faster with them than it did without. */
static void test_new_lwps(void)
{
	static struct raw spinner[SPINNERS];
	timer_t id;

	timer_create(CLOCK_PROCESS_CPUTIME_ID, NULL, &id);
	expired = 0;
	int64_t from = cpu_time();
	set(id, 40 * MS, 0);
	for (int i = 0; i < SPINNERS; i++)
		start(&spinner[i], spins, 0);
	while (expired == 0)
		__sys_lwp_yield();
	int64_t took = cpu_time() - from;
	over = true;
	for (int i = 0; i < SPINNERS; i++)
		while (__sys_lwp_wait(spinner[i].id, NULL) == -EINTR)
			;
	tap_report(took >= 40 * MS && took <= 46 * MS, "in time for LWPs that come later",
		   "%lld us of 40000", (long long)took / 1000);
	timer_delete(id);
}

int main(void)
{
	test_sums();
	test_new_lwps();
	test_neighbour("60 timers of the process", 60, 100, CLOCK_PROCESS_CPUTIME_ID);
	test_neighbour("60 timers of the process, 400 LWPs", 60, 400, CLOCK_PROCESS_CPUTIME_ID);
	test_neighbour("60 timers of an LWP", 60, 100, CLOCK_THREAD_CPUTIME_ID);
	return tap_done();
}
