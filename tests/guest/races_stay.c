/*
 * races_stay.c RACE [ROUNDS] - the races that the sleep of an idle activation claims to close (kernel/sched/stay.c):
 * it keeps its CPU, and is woken while another LWP comes to this CPU, or while it goes to sleep.
 *
 * It needs three CPUs.  The main LWP runs on CPU 0, and the idle activation has last run on CPU 1.
 */
#include <weft/lwp.h>
#include <weft/mman.h>
#include <weft/processor.h>
#include <weft/procset.h>
#include "race.h"
#include "rawlwp.h"

#define SOON 200000 /* ns: many times what a wake-up takes, and little of a time slice */

static struct raw one, two;
static volatile unsigned moved, ran, other_ran;
static volatile uint32_t ran_on;

static void bind_lwp(uint32_t id, int cpu)
{
	MUST(__sys_processor_bind(WEFT_P_LWPID, id, cpu, NULL) == 0);
}

static void activate(void)
{
	MUST(__sys_upcall_activate(3) == 0);
	bind_lwp(WEFT_P_MYID, 0);
}

/* A new LWP is bound as its creator is. */
static void move_to_cpu(int cpu)
{
	bind_lwp(WEFT_P_MYID, cpu);
	bind_lwp(WEFT_P_MYID, PBIND_NONE);
	moved = started;
}

static void idles(struct raw *r)
{
	move_to_cpu(1);
	turns(r->arg);
	MUST(__sys_upcall_idle(UPCALL_IDLE) == 0);
	ran_on = cpu_now();
	ran = started;
}

/* Keeps the CPU until the other LWP has run. */
static void idles_and_keeps(struct raw *r)
{
	idles(r);
	while (other_ran != started)
		;
}

static void parks(struct raw *r)
{
	move_to_cpu(r->arg);
	__sys_lwp_park(NULL, 0);
	other_ran = started;
	while (ran != started)
		;
}

static void new_lwp(struct raw *r, void (*fn)(struct raw *), unsigned late)
{
	MUST(raw_start(r, fn, late, 0) == 0);
}

static void gone(struct raw *r)
{
	MUST(__sys_lwp_wait(r->id, NULL) >= 0);
}

static void must_run(volatile unsigned *word, unsigned round)
{
	hrtime_t end = gethrtime() + SOON;

	while (*word != round)
		MUST(gethrtime() < end);
}

/* --- another LWP comes to the CPU ------------------------------------------------------------- */

static void both_wake(unsigned round)
{
	new_lwp(&two, parks, 1);
	raw_wait_asleep(two.id, "park");
	new_lwp(&one, idles_and_keeps, 0);
	raw_wait_asleep(one.id, "idle");
	MUST(__sys_lwp_unpark(two.id) == 0);
	turns(draw(40));
	MUST(__sys_upcall_unpark(one.id) == 0);
	must_run(&other_ran, round);
	must_run(&ran, round);
	gone(&one);
	gone(&two);
}

/* --- the CPU is claimed for the queue of another ---------------------------------------------------- */

/* The main LWP does not sleep after all, so the other LWP, which waits for CPU 0, is offered to an idle CPU. */
static void claim(unsigned round)
{
	new_lwp(&two, parks, 0);
	raw_wait_asleep(two.id, "park");
	new_lwp(&one, idles_and_keeps, 0);
	raw_wait_asleep(one.id, "idle");
	MUST(__sys_lwp_unpark(__sys_lwp_self()) == 0);
	MUST(__sys_lwp_park(NULL, two.id) == 0);
	turns(draw(20));
	MUST(__sys_upcall_unpark(one.id) == 0);
	must_run(&other_ran, round);
	must_run(&ran, round);
	gone(&one);
	gone(&two);
}

/* --- it goes to sleep ------------------------------------------------------------------------- */

static void wake_early(unsigned round)
{
	new_lwp(&one, idles, draw(100));
	while (moved != round)
		__sys_lwp_yield();
	turns(draw(300));
	MUST(__sys_upcall_unpark(one.id) == 0);
	must_run(&ran, round);
	gone(&one);
}

/* --- it is bound to another CPU ---------------------------------------------------------------- */

static void bind_away(unsigned round)
{
	new_lwp(&one, idles, 0);
	raw_wait_asleep(one.id, "idle");
	bind_lwp(one.id, 2);
	MUST(__sys_upcall_unpark(one.id) == 0);
	must_run(&ran, round);
	MUST(ran_on == 2);
	gone(&one);
}

/* --- a page of its process is unmapped meanwhile ------------------------------------------------- */

#define PAGE 4096

static void unmap(unsigned round)
{
	char *page = (char *)__sys_mmap(NULL, PAGE, WEFT_PROT_READ | WEFT_PROT_WRITE,
					WEFT_MAP_PRIVATE | WEFT_MAP_ANON, -1, 0);

	MUST((long)page > 0);
	*page = 1;
	new_lwp(&one, idles, 0);
	raw_wait_asleep(one.id, "idle");
	MUST(__sys_munmap(page, PAGE) == 0);
	turns(draw(300));
	MUST(__sys_upcall_unpark(one.id) == 0);
	must_run(&ran, round);
	gone(&one);
}

/* --- another CPU computes with floating-point numbers --------------------------------------------- */

static volatile double kept;

static void idles_with_numbers(struct raw *r)
{
	double number = r->arg;

	move_to_cpu(1);
	__asm__ volatile("movsd %0, %%xmm9; fldl %0" ::"m"(number) : "xmm9");
	__sys_upcall_idle(UPCALL_IDLE);
	__asm__ volatile("fstpl %0; movsd %%xmm9, %1" : "=m"(kept), "=m"(number)::"xmm9");
	kept += number;
	ran = started;
}

static void compute(unsigned round)
{
	double other = 1 << 20;

	new_lwp(&one, idles_with_numbers, round);
	raw_wait_asleep(one.id, "idle");
	__asm__ volatile("movsd %0, %%xmm9; fldl %0; fldl %0" ::"m"(other) : "xmm9");
	turns(300);
	MUST(__sys_upcall_unpark(one.id) == 0);
	must_run(&ran, round);
	__asm__ volatile("fstp %%st(0); fstp %%st(0)" ::: "st");
	MUST(kept == 2 * round);
	gone(&one);
}

static const struct race races[] = {
	{.name = "both", .begin = activate, .act = {both_wake}},
	{.name = "claimed", .begin = activate, .act = {claim}},
	{.name = "sleep", .begin = activate, .act = {wake_early}},
	{.name = "bound", .begin = activate, .act = {bind_away}},
	{.name = "unmapped", .begin = activate, .act = {unmap}},
	{.name = "numbers", .begin = activate, .act = {compute}},
};

int main(int argc, char **argv)
{
	return run_races(races, sizeof(races) / sizeof(races[0]), argc, argv);
}
