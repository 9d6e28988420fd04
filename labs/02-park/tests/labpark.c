/*
 * labpark.c PART [ROUNDS [CHANCE]] - the contract of park and unpark, sentence by sentence: what
 * ends a park (permit, deadline, signal).  Each game has one order of events, on any number of CPUs;
 * labraces.c has the games of chance, and labparked.c what becomes of an LWP that is parked.
 */
#include "crew.h"
#include <sys/wait.h>
#include <weft/priocntl.h>
#include <weft/processor.h>
#include <weft/signal.h>

#define SHORT 20000 /* ns: a park that should time out */
#define LATE 30000  /* ns after the event that ends a park, at most, until it has ended */

/* --- permit ------------------------------------------------------------------------------------ */

static void unpark_self(void)
{
	__sys_lwp_unpark(__sys_lwp_self());
}

static void expect_no_permit(const char *text)
{
	long r = park_for(SHORT);

	EXPECT(r == -ETIMEDOUT, text, r);
}

static void kept(unsigned me)
{
	unpark_self();
	long r = park_for(100000);
	EXPECT(r == 0,
	       "an LWP is unparked while it runs, and then parks with a deadline: the park returns "
	       "%ld, not 0; the permit must be kept",
	       r);
	expect_no_permit("a second park after one unpark returns %ld, not ETIMEDOUT (-116): the "
			 "first park must consume the permit");
	unpark_self();
	r = park();
	EXPECT(r == 0, "an LWP is unparked while it runs, and then parks: the park returns %ld", r);
	expect_no_permit("a park without a deadline has taken the permit; the next park returns "
			 "%ld, not ETIMEDOUT (-116)");
}

static void only_one(unsigned me)
{
	for (int i = 0; i < 3; i++)
		unpark_self();
	long r = park();
	EXPECT(r == 0, "three unparks, then a park, which returns %ld", r);
	expect_no_permit("three unparks before a park are one permit; the second park returns %ld, "
			 "not ETIMEDOUT (-116)");
}

static void permit_and_past(unsigned me)
{
	unpark_self();
	long r = park_until(gethrtime() - 1000);
	EXPECT(r == 0, "a park with a permit and a deadline in the past returns %ld, not 0", r);
	r = park_until(gethrtime() - 1000);
	EXPECT(r == -ETIMEDOUT,
	       "the next park with a deadline in the past returns %ld, not ETIMEDOUT (-116): the "
	       "permit was not consumed",
	       r);
}

/* 0 parks, 1 wakes it: nothing is left over. */
static void woken_once(unsigned me)
{
	if (me == 1) {
		if (until_asleep(0))
			__sys_lwp_unpark(crew[0].id);
		return;
	}
	long r = park();
	EXPECT(r == 0, "an unpark has ended a park, which returns %ld, not 0", r);
	expect_no_permit("an unpark has ended a park, and the next park returns %ld, not ETIMEDOUT "
			 "(-116): an unpark wakes or leaves a permit, never both");
}

/* Two unparks in one system call: 0 has not run in between on this CPU. */
static void woken_twice(unsigned me)
{
	if (me == 1) {
		uint32_t twice[] = {crew[0].id, crew[0].id};
		if (until_asleep(0))
			__sys_lwp_unpark_all(twice, 2);
		return;
	}
	long r = park();
	EXPECT(r == 0, "two unparks at once have ended a park, which returns %ld, not 0", r);
	r = park_for(1000000);
	EXPECT(r == 0,
	       "an unpark of an LWP that is woken and has not run yet is lost: its next park "
	       "returns %ld, not 0",
	       r);
}

/* 0 sleeps, and does not park. */
static void other_sleep(unsigned me)
{
	int64_t began = gethrtime();

	if (me == 1) {
		if (until_asleep(0))
			__sys_lwp_unpark(crew[0].id);
		return;
	}
	nap(100000);
	int64_t slept = gethrtime() - began;
	EXPECT(slept >= 100000, "an unpark has ended lwp_sleep after %ld of 100000 ns", slept);
	long r = park_for(SHORT);
	EXPECT(r == 0,
	       "an unpark of an LWP that sleeps in lwp_sleep: its next park returns %ld, not 0; "
	       "the permit must be kept",
	       r);
}

/* 0 and 1 park, 2 unparks 1 alone. */
static void the_right_one(unsigned me)
{
	if (me == 2) {
		if (until_asleep(0) && until_asleep(1))
			__sys_lwp_unpark(crew[1].id);
		return;
	}
	long r = park_for(1000000);
	EXPECT3(r == (me == 1 ? 0 : -ETIMEDOUT),
		"two LWPs park, the second is unparked: the park of LWP %ld (the second is %ld) "
		"returns %ld",
		crew[me].id, crew[1].id, r);
}

/* 0 to 3 park on one CPU, and 4 wakes one after the other. */
static volatile unsigned woken;

static void in_order(unsigned me)
{
	int old;

	__sys_processor_bind(WEFT_P_LWPID, WEFT_P_MYID, 0, &old);
	if (me < 4) {
		long r = park();
		EXPECT(r == 0, "an unpark has ended a park, which returns %ld, not 0", r);
		woken = me + 1;
		return;
	}
	for (unsigned i = 0; i < 4; i++)
		if (!until_asleep(i))
			return;
	for (unsigned i = 0; i < 4 && !crew_over; i++) {
		__sys_lwp_unpark(crew[i].id);
		nap(100000);
		EXPECT3(woken == i + 1,
			"four LWPs are parked, and unparked one after the other: %ld have run "
			"after %ld unparks",
			woken, i + 1, 0);
	}
}

/* 0 parks and unparks 1 by one call; 1 unparks 0. */
static void by_one_call(unsigned me)
{
	long r;

	if (me == 0) {
		if (!until_asleep(1))
			return;
		struct weft_timespec at = time_of(gethrtime() + 1000000);
		r = __sys_lwp_park(&at, crew[1].id);
		EXPECT(r == 0, "lwp_park(deadline, id) returns %ld, not 0, though id unparks it",
		       r);
	} else {
		r = park();
		EXPECT(r == 0, "lwp_park(NULL, id) unparks id, whose park returns %ld", r);
		__sys_lwp_unpark(crew[0].id);
	}
}

static void not_begun(unsigned me)
{
	long r = park_for(SHORT);

	EXPECT(r == 0, "an unpark before the LWP has run: its first park returns %ld, not 0", r);
}

/* LWP 1 of this process and LWP 1 of a child have a permit each. */
static void two_processes(void)
{
	int status = 1;
	int pid = fork();

	if (pid == 0) {
		unpark_self();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	long r = park_for(SHORT);
	lab_check(r == -ETIMEDOUT, "two-processes",
		  "LWP 1 of a process was unparked, and the park of LWP 1 of another process "
		  "returns %ld, not ETIMEDOUT (-116)",
		  r);
	pid = fork();
	if (pid == 0) {
		unpark_self();
		nap(100000);
		_exit(park_for(SHORT) != 0);
	}
	while (waitpid(pid, &status, WNOHANG) == 0)
		park_for(5000);
	lab_check(status == 0, "two-processes",
		  "while LWP 1 of a process parks, LWP 1 of another process loses its permit");
}

static void part_permit(void)
{
	play("kept", 1, 10, kept);
	play("only-one", 1, 10, only_one);
	play("permit-and-past", 1, 10, permit_and_past);
	play("woken-once", 2, 10, woken_once);
	play("woken-twice", 2, 10, woken_twice);
	play("other-sleep", 2, 10, other_sleep);
	play("the-right-one", 3, 10, the_right_one);
	play("in-order", 5, 10, in_order);
	play("by-one-call", 2, 10, by_one_call);
	crew_early = true;
	play("not-begun", 1, 10, not_begun);
	crew_early = false;
	two_processes();
}

/* --- deadline ------------------------------------------------------------------------------------ */

static void time_outs(unsigned me)
{
	for (unsigned i = 0; i < rounds; i++) {
		int64_t began = gethrtime();
		int64_t when = began + 3000 + draw(&chance, 100000);
		long r = park_until(when);
		int64_t ended = gethrtime();
		EXPECT(r == -ETIMEDOUT,
		       "a park that nothing ends except its deadline returns %ld, not ETIMEDOUT "
		       "(-116)",
		       r);
		EXPECT(ended >= when, "ETIMEDOUT comes %ld ns before the deadline", when - ended);
		EXPECT3(ended - when <= LATE,
			"ETIMEDOUT comes %ld ns after the deadline, of %ld ns; on an idle CPU %ld "
			"are enough",
			ended - when, when - began, LATE);
	}
}

static void past_deadline(unsigned me)
{
	for (unsigned i = 0; i < rounds; i++) {
		int64_t began = gethrtime();
		long r = park_until(began - draw(&chance, 100000));
		int64_t ended = gethrtime();
		EXPECT(r == -ETIMEDOUT, "a park with a deadline in the past returns %ld", r);
		EXPECT(ended - began <= LATE, "a park with a deadline in the past takes %ld ns",
		       ended - began);
	}
}

static volatile int64_t told_at;
static volatile unsigned told_round;

static void wake_before_deadline(unsigned me)
{
	for (unsigned i = 1; i <= rounds && !crew_over; i++) {
		if (me == 1) {
			nap(5000 + draw(&chance, 30000));
			told_at = gethrtime();
			__atomic_store_n(&told_round, i, __ATOMIC_RELEASE);
			__sys_lwp_unpark(crew[0].id);
			while (__atomic_load_n(&told_round, __ATOMIC_ACQUIRE) != 0 && !crew_over)
				nap(5000);
			continue;
		}
		long r = park_for(3000000);
		int64_t ended = gethrtime();
		EXPECT(r == 0, "a park with a deadline is unparked long before it, and returns %ld",
		       r);
		EXPECT(told_round == i, "park %ld returned 0 before its unpark", i);
		EXPECT(ended - told_at <= LATE + 10000,
		       "a park with a deadline returns %ld ns after its unpark", ended - told_at);
		__atomic_store_n(&told_round, 0, __ATOMIC_RELEASE);
	}
}

/* The deadline of a park that has ended is over. */
static void stale_deadline(unsigned me)
{
	for (unsigned i = 1; i <= 4 && !crew_over; i++) {
		if (me == 1) {
			if (!until_asleep(0))
				return;
			__sys_lwp_unpark(crew[0].id); /* 60 us before its deadline or so */
			nap(150000);
			__atomic_store_n(&told_round, i, __ATOMIC_RELEASE);
			__sys_lwp_unpark(crew[0].id);
			continue;
		}
		long r = park_for(80000);
		EXPECT(r == 0, "a park that is unparked before its deadline returns %ld, not 0", r);
		r = park();
		EXPECT3(r == 0 && __atomic_load_n(&told_round, __ATOMIC_ACQUIRE) == i,
			"a park without a deadline returns %ld before its unpark: does the unpark "
			"of the park before leave a permit, or does its deadline end the next "
			"park?",
			r, 0, 0);
	}
}

static void part_deadline(void)
{
	play("time-outs", 1, 50, time_outs);
	play("past-deadline", 1, 10, past_deadline);
	play("stale-deadline", 2, 50, stale_deadline);
	told_round = 0;
	play("wake-before-deadline", 2, 50, wake_before_deadline);
}

/* --- signal ---------------------------------------------------------------------------------------- */

#define SIGNAL WEFT_SIGUSR1

static volatile unsigned caught;

static void signal_entry(int sig, struct weft_siginfo *info, struct weft_ucontext *uc)
{
	__atomic_add_fetch(&caught, 1, __ATOMIC_RELAXED);
	__sys_sigreturn(uc);
}

static void signal_ends_park(unsigned me)
{
	if (me == 1) {
		if (until_asleep(0))
			__sys_lwp_kill(crew[0].id, SIGNAL);
		return;
	}
	long r = park();
	EXPECT(r == -EINTR,
	       "a signal with a handler ends a park, which returns %ld, not EINTR (-4)", r);
	EXPECT(caught == 1, "a signal has ended a park, and its handler has run %ld times", caught);
	expect_no_permit("after a park that a signal ended, the next returns %ld, not ETIMEDOUT "
			 "(-116)");
}

/* This LWP, 1, keeps CPU 0, on which 0 may not run before 1 sleeps. */
static void be_first_on_cpu_0(unsigned me)
{
	struct pcparms p = {.pc_cid = WEFT_CLASS_RT, .rt = {.rt_pri = 10, .rt_tqnsecs = RT_TQINF}};
	int old;

	__sys_processor_bind(WEFT_P_LWPID, WEFT_P_MYID, 0, &old);
	if (me == 1)
		__sys_priocntl(WEFT_P_LWPID, WEFT_P_MYID, PC_SETPARMS, &p);
}

static void signal_and_unpark(unsigned me)
{
	be_first_on_cpu_0(me);
	if (me == 1) {
		if (!until_asleep(0))
			return;
		__sys_lwp_kill(crew[0].id, SIGNAL);
		__sys_lwp_unpark(crew[0].id);
		return;
	}
	long r = park();
	EXPECT(r == 0,
	       "a signal wakes an LWP, which is unparked before it runs: the unpark is lost, "
	       "because the park returns %ld, not 0",
	       r);
	EXPECT(caught == 1, "a signal and an unpark: the handler has run %ld times, not once",
	       caught);
	expect_no_permit("a signal and an unpark together have ended a park; the next returns %ld, "
			 "not ETIMEDOUT (-116): the permit must be consumed");
}

static volatile int64_t deadline;

static void deadline_and_unpark(unsigned me)
{
	be_first_on_cpu_0(me);
	if (me == 1) {
		if (!until_asleep(0))
			return;
		compute_until(deadline + 10000);
		__sys_lwp_unpark(crew[0].id);
		return;
	}
	deadline = gethrtime() + 200000;
	long r = park_until(deadline);
	EXPECT(r == 0,
	       "a deadline wakes an LWP, which is unparked before it runs: the unpark is lost, "
	       "because the park returns %ld, not 0",
	       r);
	expect_no_permit("a deadline and an unpark together have ended a park; the next returns "
			 "%ld, not ETIMEDOUT (-116): the permit must be consumed");
}

static void deadline_late(unsigned me)
{
	be_first_on_cpu_0(me);
	if (me == 1) {
		if (until_asleep(0))
			compute_until(deadline + 10000);
		return;
	}
	deadline = gethrtime() + 200000;
	long r = park_until(deadline);
	EXPECT(r == -ETIMEDOUT, "a park that its deadline ends returns %ld", r);
}

static void part_signal(void)
{
	struct weft_sigaction act = {.handler = 8, .entry = (uint64_t)signal_entry};

	__sys_sigaction(SIGNAL, &act, NULL);
	play("signal-ends-park", 2, 10, signal_ends_park);
	caught = 0;
	play("signal-and-unpark", 2, 10, signal_and_unpark);
	play("deadline-and-unpark", 2, 10, deadline_and_unpark);
	play("deadline-late", 2, 10, deadline_late);
}

static const struct part parts[] = {
	{"permit", part_permit},
	{"deadline", part_deadline},
	{"signal", part_signal},
};

int main(int argc, char **argv)
{
	return play_part(parts, sizeof(parts) / sizeof(parts[0]), argc, argv);
}
