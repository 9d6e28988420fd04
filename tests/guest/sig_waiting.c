/*
 * sig_waiting.c - SIGWAITING and upcall_wait: when they come, when they must not, and the
 * races.  Argument: rounds of the races.
 *
 * Every LWP but the first is raw.  A watcher is an LWP in upcall_wait; it counts what it is
 * told.  As it is told only when nothing else runs, a test of what does *not* happen ends
 * by a sleep with a deadline, which is no unbounded wait.
 */
#include "rawlwp.h"
#include "tap.h"
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <weft/start.h>

#define STACKS 8

static struct raw watcher, raw[STACKS];
static volatile uint32_t reports, mistakes, wanted;
static volatile uint32_t runnable; /* LWPs of the race that have a permit or run */
static volatile int stop;

static void wait_ms(int ms)
{
	struct weft_timespec ts = {.nsec = ms * 1000000};
	__sys_lwp_sleep(WEFT_CLOCK_MONOTONIC, 0, &ts);
}

/* Until cond holds.  Time-bound sleeps, which are not counted as blocked. */
#define until(cond)                                                                                \
	do {                                                                                       \
		for (int tries_ = 0; !(cond) && tries_ < 5000; tries_++)                           \
			wait_ms(1);                                                                \
	} while (0)

/* What happens after each report. */
static void (*on_report)(long events);

static void watch(struct raw *r)
{
	while (!stop) {
		long e = __sys_upcall_wait(wanted);
		if (e == -EINTR)
			continue;
		if (e <= 0)
			__atomic_add_fetch(&mistakes, 1, __ATOMIC_SEQ_CST);
		if (on_report)
			on_report(e);
		__atomic_add_fetch(&reports, 1, __ATOMIC_SEQ_CST);
	}
}

static void start_watcher(uint32_t events, void (*fn)(long))
{
	stop = 0;
	wanted = events;
	on_report = fn;
	reports = mistakes = 0;
	raw_start(&watcher, watch, 0, 0);
	raw_wait_asleep(watcher.id, "upcall");
}

/* The last report, which lets it go, is not for the test. */
static void stop_watcher(void)
{
	int gone;

	on_report = NULL;
	stop = 1;
	while (__sys_lwp_wait(watcher.id, &gone) == -EINTR)
		;
}

static void unpark_first(long events)
{
	__sys_lwp_unpark(1);
}

static void park_once(struct raw *r)
{
	__sys_lwp_park(NULL, 0);
}

static void park_till_doomsday(struct raw *r)
{
	struct weft_timespec ts = {.sec = 1000000000};
	__sys_lwp_park(&ts, 0);
}

static void sleep_long(struct raw *r)
{
	struct weft_timespec ts = {.nsec = 30000000};
	__sys_lwp_sleep(WEFT_CLOCK_MONOTONIC, 0, &ts);
}

static void calls(void)
{
	is("upcall_wait: nothing", __sys_upcall_wait(0), -EINVAL);
	is("upcall_wait: unknown", __sys_upcall_wait(0x80), -EINVAL);

	start_watcher(UPCALL_BLOCKED, unpark_first);
	is("upcall_wait: one at a time", __sys_upcall_wait(UPCALL_BLOCKED), -EBUSY);
	is("no report while one runs", reports, 0);
	__sys_lwp_park(NULL, 0);
	until(reports == 1);
	is("all blocked: reported", reports, 1);
	wait_ms(3);
	is("a timed sleep is not blocked", reports, 1);
	__sys_lwp_park(NULL, 0);
	until(reports == 2);
	is("and again at the next block", reports, 2);

	/* Another one that waits for a while only. */
	int gone;
	int64_t t = gethrtime();
	raw_start(&raw[0], sleep_long, 0, 0);
	is("lwp_wait", __sys_lwp_wait(raw[0].id, &gone), 0);
	ok("a timed sleep holds the report off", gethrtime() - t > 20000000);
	is("no report meanwhile", reports, 2);

	/* One that serves others does not hold it off: the report comes, and lets us go. */
	raw_start(&raw[0], park_till_doomsday, 0, LWP_NOPOOL);
	__sys_lwp_park(NULL, 0);
	until(reports == 3);
	is("LWP_NOPOOL: a timed sleep is blocked", reports, 3);
	__sys_lwp_unpark(raw[0].id);
	__sys_lwp_wait(raw[0].id, &gone);

	/* An LWP that is suspended cannot run either. */
	raw_start(&raw[0], park_once, 0, LWP_SUSPENDED);
	__sys_lwp_park(NULL, 0);
	until(reports == 4);
	is("a suspended one is blocked", reports, 4);
	__sys_lwp_unpark(raw[0].id);
	__sys_lwp_continue(raw[0].id);
	__sys_lwp_wait(raw[0].id, &gone);
	is("no report of an LWP that exits with others running", reports, 4);
	is("no mistakes", mistakes, 0);
	stop_watcher();
}

/* The report comes once, and not again before something has changed. */
static volatile int64_t released;

static void do_nothing(long events)
{
}

static void alarm_unpark(struct raw *r)
{
	wait_ms(20);
	__sys_lwp_unpark(1);
}

static void once(void)
{
	int gone;

	start_watcher(UPCALL_BLOCKED, do_nothing);
	raw_start(&raw[0], alarm_unpark, 0, 0); /* sleeps with a deadline: no report */
	__sys_lwp_park(NULL, 0);
	is("none while a sleep ends by itself", reports, 0);
	__sys_lwp_wait(raw[0].id, &gone);
	__sys_lwp_unpark(1);
	__sys_lwp_park(NULL, 0);
	is("a permit: no block", reports, 0);
	on_report = unpark_first;
	__sys_lwp_park(NULL, 0);
	until(reports == 1);
	for (int i = 0; i < 5; i++)
		wait_ms(1);
	is("one block, one report", reports, 1);
	stop_watcher();
}

/* The watcher is away when the last LWP blocks. */
static volatile int busy, late;

static void slow_report(long events)
{
	if (!busy)
		return;
	busy = 0;
	__sys_lwp_unpark(1); /* it blocks again while we are here */
	struct weft_timespec ts = {.nsec = 5000000};
	__sys_lwp_sleep(WEFT_CLOCK_MONOTONIC, 0, &ts);
	late = 1;
	on_report = unpark_first;
}

static void away(void)
{
	start_watcher(UPCALL_BLOCKED, slow_report);
	busy = 1;
	__sys_lwp_park(NULL, 0);
	__sys_lwp_park(NULL, 0); /* the watcher sleeps for a while */
	until(reports == 2);
	ok("a block while the watcher is away is reported", late && reports == 2);
	stop_watcher();
}

/* --- concurrency, bound LWPs ------------------------------------------------------------ */

static volatile long seen;

static void note(long events)
{
	seen |= events;
	__sys_lwp_unpark(1);
}

static void exit_at_once(struct raw *r)
{
}

static void other_events(void)
{
	int gone;

	seen = 0;
	start_watcher(UPCALL_EXIT, note);
	raw_start(&raw[0], exit_at_once, 0, 0);
	__sys_lwp_wait(raw[0].id, &gone);
	wait_ms(2);
	is("an unbound LWP exits", seen, 0);
	raw_start(&raw[0], exit_at_once, 0, LWP_BOUND);
	__sys_lwp_wait(raw[0].id, &gone);
	until(reports >= 1);
	is("a bound LWP exits", seen, UPCALL_EXIT);
	wanted = UPCALL_GROW;
	raw_start(&raw[0], exit_at_once, 0, LWP_BOUND); /* it comes back with the old wish */
	__sys_lwp_wait(raw[0].id, &gone);
	until(reports >= 2);
	raw_wait_asleep(watcher.id, "upcall");
	seen = 0;
	raw_start(&raw[0], park_once, 0, 0); /* blocks; we are left, with CPUs to spare */
	until(seen != 0);
	is("concurrency may grow", seen, __ncpu > 1 ? UPCALL_GROW : seen);
	/* We do not sleep now, because this would be a block. */
	raw_wait_asleep(watcher.id, "upcall");
	reports = 0;
	for (int64_t end = gethrtime() + 2000000; gethrtime() < end;)
		;
	ok("... and one block is not told again and again", reports <= 1);
	__sys_lwp_unpark(raw[0].id);
	__sys_lwp_wait(raw[0].id, &gone);
	on_report = NULL;
	stop = 1;
	raw_start(&raw[0], park_once, 0, 0);
	__sys_lwp_wait(watcher.id, &gone);
	__sys_lwp_unpark(raw[0].id);
	__sys_lwp_wait(raw[0].id, &gone);
	is("no mistakes", mistakes, 0);
}

/* --- the signal ---------------------------------------------------------------------------- */

static volatile int signals;

static void on_signal(int sig)
{
	signals++;
}

static void the_signal(void)
{
	struct sigaction act = {.sa_handler = on_signal};

	/* Ignored by default: nothing happens, however long. */
	raw_start(&raw[0], alarm_unpark, 0, 0);
	__sys_lwp_park(NULL, 0);
	int gone;
	__sys_lwp_wait(raw[0].id, &gone);

	sigaction(SIGWAITING, &act, NULL);
	__sys_lwp_park(&(struct weft_timespec){0}, 0); /* takes a permit that may be left */
	is("park: interrupted", __sys_lwp_park(NULL, 0), -EINTR);
	is("SIGWAITING", signals, 1);
	wait_ms(3);
	is("SIGWAITING: not for a timed sleep", signals, 1);
	is("park: again", __sys_lwp_park(NULL, 0), -EINTR);
	is("SIGWAITING: again", signals, 2);

	start_watcher(UPCALL_BLOCKED, unpark_first);
	int before = signals;
	while (reports == 0)
		__sys_lwp_park(NULL, 0);
	is("the upcall is preferred", signals, before);
	stop_watcher();

	sigset_t s = 0, old;
	int sig = 0;
	signal(SIGWAITING, SIG_DFL);
	sigaddset(&s, SIGWAITING);
	sigprocmask(SIG_BLOCK, &s, &old);
	is("sigwait for SIGWAITING", sigwait(&s, &sig), 0);
	is("sigwait: it comes when we wait", sig, SIGWAITING);
	sigprocmask(SIG_SETMASK, &old, NULL);
}

/* --- races ------------------------------------------------------------------------------------ */

/*
 * Runners park, and each wakes another before it parks.  So one can always run, until all have done
 * their rounds and the last runner parks for good.  The watcher must be told of this event and of
 * no event before.
 */
static volatile uint32_t left;

static void runner(struct raw *r)
{
	for (uint64_t i = 0; i < r->arg; i++) {
		struct raw *next = &raw[(r - raw + 1) % STACKS];
		__atomic_add_fetch(&runnable, 1, __ATOMIC_SEQ_CST);
		__sys_lwp_unpark(next->id);
		__sys_lwp_park(NULL, 0);
		__atomic_sub_fetch(&runnable, 1, __ATOMIC_SEQ_CST);
	}
	if (__atomic_sub_fetch(&left, 1, __ATOMIC_SEQ_CST) == 0)
		return;
	__sys_lwp_unpark(raw[(r - raw + 1) % STACKS].id);
}

static void rescue(long events)
{
	/* All are blocked: let them all go on. */
	for (int i = 0; i < STACKS; i++)
		__sys_lwp_unpark(raw[i].id);
	__sys_lwp_unpark(1);
}

/*
 * The ring loses a permit now and then (an unpark of one that has its permit), until all
 * are parked: then only the watcher can get it going, so that the test ends shows that no
 * report was missed.
 */
static void ring(unsigned rounds)
{
	int gone;

	start_watcher(UPCALL_BLOCKED, rescue);
	left = STACKS;
	for (int i = 0; i < STACKS; i++)
		raw_start(&raw[i], runner, rounds, LWP_SUSPENDED);
	for (int i = 0; i < STACKS; i++)
		__sys_lwp_continue(raw[i].id);
	for (int i = 0; i < STACKS; i++)
		while (__sys_lwp_wait(raw[i].id, &gone) == -EINTR)
			;
	is("a ring of LWPs ends: no report is missed", mistakes, 0);
	on_report = NULL;
	stop = 1;
	raw_start(&raw[0], exit_at_once, 0, 0);
	__sys_lwp_wait(raw[0].id, &gone);
	__sys_lwp_wait(watcher.id, &gone);
}

/*
 * One LWP never sleeps unboundedly, while others block and are woken as fast as they can:
 * a report would be false.
 */
static void sleeper(struct raw *r)
{
	while (!r->arg)
		__sys_lwp_park(NULL, 0);
}

static void awake(unsigned rounds)
{
	int gone;

	start_watcher(UPCALL_BLOCKED, do_nothing);
	for (int i = 0; i < 3; i++)
		raw_start(&raw[i], sleeper, 0, 0);
	for (unsigned i = 0; i < rounds * 10; i++)
		__sys_lwp_unpark(raw[i % 3].id);
	is("no false report while one is awake", reports, 0);
	for (int i = 0; i < 3; i++) {
		((volatile struct raw *)&raw[i])->arg = 1;
		__sys_lwp_unpark(raw[i].id);
	}
	for (int i = 0; i < 3; i++)
		__sys_lwp_wait(raw[i].id, &gone);
	stop_watcher();
}

/* --- told once ---------------------------------------------------------------------------- */

static volatile unsigned taken;

static void takes_sigwaiting(struct raw *r)
{
	const uint64_t set = WEFT_SIGBIT(WEFT_SIGWAITING);

	while (!stop)
		if (__sys_sigtimedwait(&set, NULL, NULL) == WEFT_SIGWAITING)
			taken++;
	__sys_lwp_unpark(1);
}

static void alarmed(int sig)
{
	__sys_lwp_unpark(1); /* it may come before the park */
}

/* The LWP that has taken SIGWAITING blocks again, and that is no news. */
static void told_once(void)
{
	const struct itimerval a_while = {.it_value.tv_usec = 20000};
	const sigset_t waiting = WEFT_SIGBIT(WEFT_SIGWAITING);
	sigset_t old;
	int gone;

	stop = 0;
	taken = 0;
	signal(SIGALRM, alarmed);
	sigprocmask(SIG_BLOCK, &waiting, &old); /* and the LWP's */
	raw_start(&raw[0], takes_sigwaiting, 0, 0);
	raw_wait_asleep(raw[0].id, "sigwait");
	unsigned blocks = 0;
	for (; taken == 0; blocks++) {
		setitimer(ITIMER_REAL, &a_while, NULL);
		__sys_lwp_park(NULL, 0);
	}
	ok("sigtimedwait: one block, one SIGWAITING", taken <= blocks);
	stop = 1;
	__sys_lwp_park(NULL, 0);
	while (__sys_lwp_wait(raw[0].id, &gone) == -EINTR)
		;
	sigprocmask(SIG_SETMASK, &old, NULL);
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? atoi(argv[1]) : 100;

	calls();
	once();
	away();
	other_events();
	the_signal();
	told_once();
	ring(rounds);
	awake(rounds);
	return tap_done();
}
