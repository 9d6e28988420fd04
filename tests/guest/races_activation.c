/*
 * races_activation.c RACE [ROUNDS] - the races that scheduler activations claim to close (race.h): an LWP
 * becomes a spare, leaves its idle wait or unblocks, while another LWP blocks or unblocks.
 *
 * The main LWP is an activation.  Two raw LWPs of each round are the others.
 */
#include <weft/lwp.h>
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

/* --- two LWPs unblock, and one CPU is free ---------------------------------------------------- */

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

	MUST(__sys_sigaction(WEFT_SIGLWP, &act, NULL) == 0);
	activate(2);
}

static void unblocks(struct raw *r)
{
	while (__sys_upcall_idle(UPCALL_SPARE) < 0)
		;
	__sys_lwp_park(NULL, 0);
	__atomic_add_fetch(&ran, 1, __ATOMIC_SEQ_CST);
	while (go != started)
		;
}

static void unblock_both(unsigned round)
{
	ran = left = 0;
	new_lwp(&one, unblocks, 0);
	raw_wait_asleep(one.id, "park");
	new_lwp(&two, unblocks, 0);
	raw_wait_asleep(two.id, "park");
	__sys_lwp_unpark(one.id);
	turns(draw(100));
	__sys_lwp_unpark(two.id);
	while (ran + left < 2)
		MUST(gethrtime() - since < TOO_LONG);
	MUST(left == 1);
	go = round;
	gone(&one);
	gone(&two);
}

static const struct race races[] = {
	{.name = "spare", .begin = activate_1, .act = {blocks}},
	{.name = "idle", .begin = activate_2, .act = {wakes_and_blocks}},
	{.name = "surplus", .begin = catch_and_activate, .act = {unblock_both}},
};

int main(int argc, char **argv)
{
	return run_races(races, sizeof(races) / sizeof(races[0]), argc, argv);
}
