/*
 * labparked.c PART [ROUNDS [CHANCE]] - what becomes of an LWP that is parked: it can be suspended, can
 * be cancelled and can exit (exit), it uses no CPU and a tracer sees its calls (idle), and this is what
 * a hand-over costs (cost).
 */
#include "crew.h"
#include <sys/wait.h>
#include <weft/msacct.h>
#include <weft/processor.h>
#include <weft/signal.h>
#include <weft/trace.h>

/* --- exit --------------------------------------------------------------------------------------------- */

static void park_for_ever(unsigned me)
{
	park();
}

/* A child with LWPs that park for ever; it ends by itself, or (killed) by a signal. */
static void child_of_parked(const char *name, bool killed)
{
	int status = 0, left = 400;
	int pid = fork();

	if (pid == 0) {
		crew_game = park_for_ever;
		for (unsigned i = 0; i < 3; i++) {
			crew_add(i);
			__sys_lwp_continue(crew[i].id);
		}
		nap(100000);
		if (killed)
			park_for_ever(0);
		_exit(7);
	}
	nap(200000);
	if (killed)
		__sys_kill(pid, WEFT_SIGKILL);
	while (waitpid(pid, &status, WNOHANG) == 0 && left-- > 0)
		nap(20000);
	lab_check(left > 0, name,
		  "a process with parked LWPs %s, and has not ended 8 ms later: a park must return "
		  "EINTR when its LWP is to exit",
		  killed ? "is killed" : "exits");
	if (left <= 0)
		_exit(lab_end());
	lab_check(killed || WEXITSTATUS(status) == 7, name, "its status is %d", status);
}

/* While 0 is suspended, its unpark does not let it run. */
static volatile bool resumed;
static volatile bool has_run;

static void suspended(unsigned me)
{
	if (me == 0) {
		long r = park();
		has_run = true;
		EXPECT(resumed, "a suspended LWP is unparked, and goes on before lwp_continue", 0);
		EXPECT(r == 0, "a park of an LWP that was suspended meanwhile returns %ld, not 0",
		       r);
		return;
	}
	if (!until_asleep(0))
		return;
	__sys_lwp_suspend(crew[0].id);
	__sys_lwp_unpark(crew[0].id);
	nap(50000);
	resumed = true;
	__sys_lwp_continue(crew[0].id);
}

/* Parks for thread CANCELLED, and tells the address behind the call first: lwp_cancel wants both. */
#define CANCELLED 5
static const void *volatile park_pc;

static __attribute__((noinline)) long park_as_thread(const struct weft_timespec *deadline)
{
	register uint64_t thread __asm__("r9") = CANCELLED;
	long result;

	__asm__ volatile("leaq 1f(%%rip), %%rdx; movq %%rdx, %[pc]\n\t"
			 "xorl %%edx, %%edx; syscall\n"
			 "1:"
			 : "=a"(result), [pc] "=m"(park_pc)
			 : "0"(SYS_lwp_park), "D"(deadline), "S"(0), "r"(thread)
			 : "rcx", "rdx", "r11", "memory");
	return result;
}

static volatile bool cancel_timed; /* the parks have a deadline, which does not come */

/* LWP 0 parks four times: it is cancelled meanwhile, then at once, then with a permit, then no more. */
static void cancelled(unsigned me)
{
	struct weft_timespec late = time_of(gethrtime() + 1000000000);
	const struct weft_timespec *deadline = cancel_timed ? &late : NULL;

	if (me == 1) {
		if (!until_asleep(0))
			return;
		__sys_lwp_cancel(crew[0].id, CANCELLED, park_pc);
		return;
	}
	long r = park_as_thread(deadline);
	EXPECT(r == -EINTR, "an LWP is cancelled in its park, which returns %ld, not EINTR (-4)",
	       r);
	r = park_as_thread(deadline);
	EXPECT(r == -EINTR, "a cancelled LWP parks, and the park returns %ld, not EINTR (-4)", r);
	__sys_lwp_unpark(crew[0].id);
	r = park_as_thread(deadline);
	EXPECT(r == 0, "a cancelled LWP parks after its unpark, and the park returns %ld, not 0",
	       r);
	__sys_lwp_unpark(crew[0].id);
	r = park();
	EXPECT(r == 0, "a park that the cancellation does not concern returns %ld, not 0", r);
}

static void part_exit(void)
{
	play("suspended", 2, 10, suspended);
	crew_hint = "does a park end, or not begin, if its LWP is cancelled (lwp_cancel)?";
	cancel_timed = false;
	play("cancelled", 2, 10, cancelled);
	cancel_timed = true;
	play("cancelled-with-deadline", 2, 10, cancelled);
	child_of_parked("exit-of-parked", false);
	child_of_parked("kill-of-parked", true);
}

/* --- idle ------------------------------------------------------------------------------------------- */

#define WATCHED 1000000 /* ns of a park under observation */

static volatile long idle_kind; /* 0: without a deadline, 1: with one */

static void uses_no_time(unsigned me)
{
	struct weft_msacct before, after;
	int pid = __sys_getpid();

	if (me == 0) {
		int64_t began = gethrtime();
		__sys_msacct(pid, crew[0].id, &before);
		if (idle_kind == 0)
			park();
		else
			park_for(20 * WATCHED);
		__sys_msacct(pid, crew[0].id, &after);
		/* As unsigned numbers: a time that goes back is too long as well. */
		uint64_t took = gethrtime() - began;
		uint64_t user = after.ms[MS_USER] - before.ms[MS_USER];
		uint64_t system = after.ms[MS_SYSTEM] - before.ms[MS_SYSTEM];
		EXPECT3(user <= took && system <= took,
			"an LWP parks and goes on, which takes %ld ns; for it %ld ns more count in "
			"user mode, and %ld ns in the kernel: in which microstate does it go on?",
			took, user, system);
		return;
	}
	if (!until_asleep(0))
		return;
	__sys_msacct(pid, crew[0].id, &before);
	for (int i = 0; i < 10; i++) {
		nap(WATCHED / 10 - draw(&chance, 20000));
		uint32_t state = state_of(crew[0].id);
		EXPECT3(state == LWP_ST_SLEEP,
			"a parked LWP is not asleep: its state is %ld (1: waits for a CPU, 2: on a "
			"CPU)",
			state, 0, 0);
	}
	__sys_msacct(pid, crew[0].id, &after);
	long used = 0;
	for (int i = MS_USER; i <= MS_KFAULT; i++)
		used += after.ms[i] - before.ms[i];
	EXPECT3(used == 0 && after.nvcsw == before.nvcsw,
		"in %ld ns of a park its LWP uses a CPU for %ld ns, and leaves it %ld times: a "
		"parked LWP must sleep until it is woken",
		after.now - before.now, used, after.nvcsw - before.nvcsw);
	long lock = after.ms[MS_LOCK] - before.ms[MS_LOCK];
	EXPECT3(lock >= (long)(after.now - before.now) - 1000,
		"in %ld ns of a park %ld ns count as time blocked for a lock (MS_LOCK; the flag is "
		"SLEEP_LOCK)",
		after.now - before.now, lock, 0);
	__sys_lwp_unpark(crew[0].id);
}

/* The last of the crew computes alone, and then with the others parked on its CPU. */
#define PARKED 8
static volatile uint64_t alone;

static int64_t computed(void)
{
	int64_t began = gethrtime();

	turns(30000);
	return gethrtime() - began;
}

static void leaves_the_cpu(unsigned me)
{
	int old;

	__sys_processor_bind(WEFT_P_LWPID, WEFT_P_MYID, 0, &old);
	if (me < PARKED) {
		if (me % 2)
			park();
		else
			park_for(20 * WATCHED);
		return;
	}
	for (unsigned i = 0; i < PARKED; i++)
		if (!until_asleep(i))
			return;
	int64_t with = computed();
	for (unsigned i = 0; i < PARKED; i++)
		__sys_lwp_unpark(crew[i].id);
	nap(200000);
	int64_t without = computed();
	EXPECT3(with <= without + without / 10,
		"a loop takes %ld ns on a CPU where %ld LWPs are parked, and %ld ns without them",
		with, PARKED, without);
}

/* 0 is told when all LWPs of the process are blocked.  A sleep with a deadline, as the main LWP's,
 * counts as blocked here. */
static void counts_as_blocked(unsigned me)
{
	if (me == 1) {
		while (state_of(crew[0].id) != LWP_ST_SLEEP)
			__sys_lwp_yield();
		park();
		return;
	}
	long events = __sys_upcall_wait(UPCALL_BLOCKED | UPCALL_TIMED);
	EXPECT(events == UPCALL_BLOCKED || events == UPCALL_TIMED,
	       "upcall_wait returns %ld, and not that all LWPs are blocked", events);
	EXPECT(state_of(crew[1].id) == LWP_ST_SLEEP,
	       "upcall_wait says that all LWPs are blocked, and LWP %ld is not parked", crew[1].id);
	__sys_lwp_unpark(crew[1].id);
}

/* --- traced: another process watches, as truss does --- */

#define TRACED_PARKS 3

static void parks_for_tracer(unsigned me)
{
	for (int i = 0; i < TRACED_PARKS; i++)
		park();
}

/* A child: begins when the tracer says so by a byte. */
static void child_of_tracer(int go)
{
	char byte;

	crew_game = parks_for_tracer;
	crew_add(0);
	read(go, &byte, 1);
	__sys_lwp_continue(crew[0].id);
	for (int i = 0; i < TRACED_PARKS; i++) {
		uint32_t state;
		while ((state = state_of(crew[0].id)) != LWP_ST_SLEEP && state != LWP_ST_ZOMB)
			nap(2000);
		__sys_lwp_unpark(crew[0].id);
		nap(20000);
	}
	_exit(0);
}

static void traced_parks(void)
{
	struct trace_event events[8];
	int go[2], returns = 0;
	bool ended = false;

	pipe(go);
	int pid = fork();
	if (pid == 0)
		child_of_tracer(go[0]);
	lab_check(__sys_trace_attach(pid, TRACE_STREAM) == 0, "traced", "trace_attach fails");
	write(go[1], "", 1);
	while (!ended) {
		long n = __sys_trace_wait(events, 8);
		for (long i = 0; i < n; i++) {
			const struct trace_event *e = &events[i];
			if (e->kind == TRACE_RETURN && e->call == SYS_lwp_park && e->arg[0] == 0)
				returns++;
			ended |= e->kind == TRACE_EXIT;
		}
		if (n <= 0)
			break;
	}
	lab_check(
		returns == TRACED_PARKS, "traced",
		"an LWP of a traced process parks and is unparked %d times, and the tracer has %d "
		"returns of lwp_park: does an LWP with lwp_traced go on in call_slowly "
		"(kernel/syscall/syscall.c)?",
		TRACED_PARKS, returns);
	waitpid(pid, NULL, 0);
}

static void part_idle(void)
{
	idle_kind = 0;
	play("uses-no-time", 2, 20, uses_no_time);
	idle_kind = 1;
	play("uses-no-time-with-deadline", 2, 20, uses_no_time);
	play("leaves-the-cpu", PARKED + 1, 30, leaves_the_cpu);
	crew_hint = "if one is in upcall_wait and the others are parked, do parked LWPs count as "
		    "blocked?";
	play("counts-as-blocked", 2, 10, counts_as_blocked);
	traced_parks();
}

/* --- cost ------------------------------------------------------------------------------------------- */

#define HAND_OVERS 20
static volatile int64_t began_at, ended_at;
/* Two LWPs hand over to each other, by one call each time. */
static void hand_over(unsigned me)
{
	uint32_t other = crew[!me].id;

	if (me == 1)
		park();
	else if (!until_asleep(1))
		return;
	else
		began_at = gethrtime();
	for (unsigned i = 0; i < rounds; i++)
		__sys_lwp_park(NULL, other);
	if (me == 0)
		ended_at = gethrtime();
	__sys_lwp_unpark(other);
}

static volatile unsigned elsewhere; /* parks that ended on another CPU than that of the waker */

/* The same; both LWPs have run on CPU 0 last, and may run on any. */
static void hand_over_at_home(unsigned me)
{
	uint32_t other = crew[!me].id;
	int old;

	for (unsigned i = 0; i < HAND_OVERS; i++) {
		__sys_processor_bind(WEFT_P_LWPID, WEFT_P_MYID, 0, &old);
		__sys_processor_bind(WEFT_P_LWPID, WEFT_P_MYID, PBIND_NONE, &old);
		if (i == 0 && me == 1)
			park();
		else if (i == 0 && !until_asleep(1))
			return;
		else
			__sys_lwp_park(NULL, other);
		elsewhere += i > 0 && cpu_now() != 0;
	}
	__sys_lwp_unpark(other);
}

static void part_cost(void)
{
	crew_pause = 2000000; /* the main LWP stays out of the way */
	play("hand-over", 2, 50, hand_over);
	lab_figure("roundtrip", (ended_at - began_at) / rounds);
	play("hand-over-at-home", 2, 20, hand_over_at_home);
	lab_check(elsewhere <= HAND_OVERS / 2, "place",
		  "lwp_park(NULL, id) hands the CPU over: an LWP that ran on the CPU of its waker "
		  "last should run there, and ran on another one after %u of %u parks; what is "
		  "`place` for?",
		  elsewhere, 2 * HAND_OVERS);
}

static const struct part parts[] = {
	{"exit", part_exit},
	{"idle", part_idle},
	{"cost", part_cost},
};

int main(int argc, char **argv)
{
	return play_part(parts, sizeof(parts) / sizeof(parts[0]), argc, argv);
}
