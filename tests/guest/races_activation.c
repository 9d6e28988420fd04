/*
 * races_activation.c RACE [ROUNDS] - the races that scheduler activations claim to close (race.h): an LWP
 * becomes a spare, leaves its idle wait or unblocks, while another LWP blocks or unblocks, while slices end, or
 * while the process is stopped.
 *
 * The main LWP is an activation.  Raw LWPs of each round are the others.
 */
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>
#include <weft/lwp.h>
#include <weft/priocntl.h>
#include <weft/processor.h>
#include <weft/procset.h>
#include <weft/signal.h>
#include <weft/start.h>
#include "race.h"
#include "rawlwp.h"

#define SLEEP 3000000 /* ns: many times what a wake-up takes */

static struct raw one, two;
static volatile unsigned go, got, ran, left;

static void activate(unsigned cpus)
{
	MUST(__sys_upcall_activate(cpus) == 0);
}

static void activate_1(void)
{
	activate(1);
}

static void new_lwp(struct raw *r, void (*fn)(struct raw *), unsigned late)
{
	MUST(raw_start(r, fn, late, 0) == 0);
}

static void gone(struct raw *r)
{
	MUST(__sys_lwp_wait(r->id, NULL) >= 0);
}

static void sleep_long(void)
{
	const struct weft_timespec ts = {.nsec = SLEEP};

	__sys_lwp_sleep(WEFT_CLOCK_MONOTONIC, 0, &ts);
}

static void takes_a_cpu(struct raw *r)
{
	while (go != started)
		;
	turns(r->arg);
	while (__sys_upcall_idle(UPCALL_SPARE) < 0)
		;
	got = started;
}

/* --- an LWP becomes a spare while the only LWP that runs blocks ------------------------------- */

static void blocks(unsigned round)
{
	new_lwp(&one, takes_a_cpu, draw(600));
	turns(3000); /* it is in its loop now */
	go = round;
	turns(draw(600));
	sleep_long();
	MUST(got == round);
	gone(&one);
}

/* --- the only LWP that runs blocks while the process is stopped --------------------------------- */

static volatile unsigned *stop_round; /* shared with the child */

static void stop_parent(pid_t parent)
{
	for (unsigned round = 1; getppid() == parent; round++) {
		while (*stop_round != round && getppid() == parent)
			;
		turns(draw(600));
		kill(parent, SIGSTOP);
		turns(draw(600));
		kill(parent, SIGCONT);
	}
	_exit(0);
}

static void activate_stopped(void)
{
	pid_t parent = getpid();

	stop_round = mmap(NULL, sizeof(*stop_round), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANON,
			  -1, 0);
	MUST(stop_round != MAP_FAILED);
	pid_t child = fork();
	MUST(child >= 0);
	if (child == 0)
		stop_parent(parent);
	activate(1);
}

static void blocks_stopped(unsigned round)
{
	go = round;
	new_lwp(&one, takes_a_cpu, 0);
	raw_wait_asleep(one.id, "idle");
	*stop_round = round;
	turns(draw(1000));
	sleep_long();
	MUST(got == round);
	gone(&one);
}

/* --- an idle LWP wakes up while another LWP blocks -------------------------------------------- */

static void activate_2(void)
{
	activate(2);
}

static void wakes_up(struct raw *r)
{
	__sys_upcall_idle(UPCALL_IDLE);
	while (ran != started)
		;
}

static void wakes_and_blocks(unsigned round)
{
	go = round;
	new_lwp(&one, wakes_up, 0);
	raw_wait_asleep(one.id, "idle");
	new_lwp(&two, takes_a_cpu, 0);
	raw_wait_asleep(two.id, "idle");
	__sys_lwp_unpark(one.id);
	turns(draw(200));
	sleep_long();
	MUST(got == round); /* the idle LWP runs on, on one of the two CPUs */
	ran = round;
	gone(&one);
	gone(&two);
}

static void lwp_bind(int id, int cpu)
{
	MUST(__sys_processor_bind(WEFT_P_LWPID, id, cpu, NULL) == 0);
}

static void bind_to(int cpu)
{
	lwp_bind(WEFT_P_MYID, cpu);
}

/*
 * --- two LWPs unblock, and one CPU is free ----------------------------------------------------
 *
 * With the main LWP and a third, which keeps its CPU, they are two too many.  Then the main LWP blocks,
 * before the first can look, which is bound to its CPU.  So one of the two has to leave, not both.
 */

static struct raw three;

static void leaves(int sig, struct weft_siginfo *info, struct weft_ucontext *uc, void *handler,
		   uint64_t mask)
{
	__atomic_add_fetch(&left, 1, __ATOMIC_SEQ_CST);
	__sys_lwp_exit();
}

static void catch_and_activate(void)
{
	const struct weft_sigaction act = {
		.handler = (uint64_t)leaves,
		.entry = (uint64_t)leaves,
		.mask = ~0ul,
		.flags = WEFT_SA_RESTART,
	};

	const struct pcparms rt = {.pc_cid = WEFT_CLASS_RT, .rt = {.rt_tqnsecs = RT_TQINF}};

	MUST(__sys_sigaction(WEFT_SIGLWP, &act, NULL) == 0);
	/* All LWPs inherit this, so none goes before the main LWP as it wakes up. */
	MUST(__sys_priocntl(WEFT_P_LWPID, WEFT_P_MYID, PC_SETPARMS, (void *)&rt) == 0);
	activate(2);
}

static void unblocks(struct raw *r)
{
	while (__sys_upcall_idle(UPCALL_SPARE) < 0)
		;
	__sys_lwp_park(NULL, 0);
	__atomic_add_fetch(&ran, 1, __ATOMIC_SEQ_CST);
}

static void keeps_its_cpu(struct raw *r)
{
	while (__sys_upcall_idle(UPCALL_SPARE) < 0)
		;
	got = started;
	while (ran + left < 2)
		;
}

static void unblock_both(unsigned round)
{
	ran = left = 0;
	new_lwp(&one, unblocks, 0);
	raw_wait_asleep(one.id, "park");
	new_lwp(&two, unblocks, 0);
	raw_wait_asleep(two.id, "park");
	new_lwp(&three, keeps_its_cpu, 0);
	while (got != round)
		;
	lwp_bind(three.id, 2);
	lwp_bind(two.id, 1);
	lwp_bind(one.id, 0);
	bind_to(0);
	__sys_lwp_unpark(one.id);
	__sys_lwp_unpark(two.id);
	turns(draw(100));
	sleep_long();
	MUST(ran == 1 && left == 1);
	bind_to(PBIND_NONE);
	gone(&one);
	gone(&two);
	gone(&three);
}

/* --- an LWP goes on while the timer of slices finds that it is idle, or blocked ----------------- */

#define SLICE (10 * (hrtime_t)WEFT_TICK_NS)
#define BEFORE 1000000 /* ns: enough to go to sleep */

static volatile hrtime_t wake_at;
static bool blocks_for_it;

static void slice_over(int sig, struct weft_siginfo *info, struct weft_ucontext *uc, void *handler,
		       uint64_t mask)
{
	got = started;
	__sys_sigreturn(uc);
}

static void activate_slices(void)
{
	const struct weft_sigaction act = {
		.handler = (uint64_t)slice_over,
		.entry = (uint64_t)slice_over,
		.flags = WEFT_SA_RESTART,
	};

	MUST(__sys_sigaction(WEFT_SIGLWP, &act, NULL) == 0);
	activate(1);
}

static void activate_slices_blocked(void)
{
	activate_slices();
	blocks_for_it = true;
}

static void wakes_the_first(struct raw *r)
{
	while (gethrtime() < wake_at)
		;
	turns(r->arg);
	__sys_lwp_unpark(1);
}

/* Runs no thread, or blocks.  The LWP r ends it at this time. */
static void wait_until(struct raw *r, hrtime_t at, unsigned late)
{
	wake_at = at;
	new_lwp(r, wakes_the_first, late);
	if (blocks_for_it)
		__sys_lwp_park(NULL, 0);
	else
		__sys_upcall_idle(UPCALL_IDLE);
}

static void slice_ends(unsigned round)
{
	struct schedctl *sc = (struct schedctl *)__sys_lwp_schedctl();
	hrtime_t end;

	bind_to(0);
	/* Meanwhile the timer ends.  Afterwards it is armed again, on this CPU. */
	wait_until(&one, gethrtime() + 2 * SLICE, 0);
	end = gethrtime() + SLICE;
	gone(&one);
	bind_to(1);
	while (gethrtime() < end - BEFORE)
		;
	wait_until(&two, end, draw(200));
	sc->waiting = 1;
	for (end = gethrtime() + 2 * SLICE; got != round;)
		MUST(gethrtime() < end);
	sc->waiting = 0;
	gone(&two);
}

static const struct race races[] = {
	{.name = "spare", .begin = activate_1, .act = {blocks}},
	{.name = "stopped", .begin = activate_stopped, .act = {blocks_stopped}},
	{.name = "idle", .begin = activate_2, .act = {wakes_and_blocks}},
	{.name = "surplus", .begin = catch_and_activate, .act = {unblock_both}},
	{.name = "slices", .begin = activate_slices, .act = {slice_ends}},
	{.name = "slices-blocked", .begin = activate_slices_blocked, .act = {slice_ends}},
};

int main(int argc, char **argv)
{
	return run_races(races, sizeof(races) / sizeof(races[0]), argc, argv);
}
