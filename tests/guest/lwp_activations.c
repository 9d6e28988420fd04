/*
 * lwp_activations.c [ROUNDS] - scheduler activations: upcall_activate, upcall_idle, and the upcall of an
 * activation that has unblocked.
 *
 * All LWPs except the first are raw.  Each part is a child, because a process asks for activations once.
 */
#include <stdbool.h>
#include <sys/time.h>
#include <weft/signal.h>
#include <weft/start.h>
#include <weft/time.h>
#include "child.h"
#include "rawlwp.h"

static unsigned rounds = 40;

static void wait_us(long us)
{
	struct weft_timespec ts = {us / 1000000, us % 1000000 * 1000};

	__sys_lwp_sleep(WEFT_CLOCK_MONOTONIC, 0, &ts);
}

static struct schedctl *own_record(void)
{
	return (struct schedctl *)__sys_lwp_schedctl();
}

/* --- the upcall ------------------------------------------------------------------------------ */

static volatile unsigned upcalls, strangers;

/* The thread waits in its handler for a CPU, and goes on where it was. */
static void unblocked(int sig, struct weft_siginfo *info, struct weft_ucontext *uc, void *handler,
		      uint64_t mask)
{
	if (info->code != WEFT_SI_PREEMPT)
		__atomic_add_fetch(&strangers, 1, __ATOMIC_SEQ_CST);
	if (!own_record()->surplus) /* a tick has reminded it, just as it got a CPU */
		__sys_sigreturn(uc);
	__atomic_add_fetch(&upcalls, 1, __ATOMIC_SEQ_CST);
	while (__sys_upcall_idle(UPCALL_SPARE) < 0)
		;
	__sys_sigreturn(uc);
}

typedef void (*handler_t)(int sig, struct weft_siginfo *info, struct weft_ucontext *uc,
			  void *handler, uint64_t mask);

static void activate_with(unsigned cpus, handler_t handler)
{
	const struct weft_sigaction act = {
		.handler = (uint64_t)handler,
		.entry = (uint64_t)handler,
		.mask = ~0ul,
		.flags = WEFT_SA_RESTART,
	};

	__sys_sigaction(WEFT_SIGLWP, &act, NULL);
	if (__sys_upcall_activate(cpus) != 0)
		_exit(99);
}

static void activate(unsigned cpus)
{
	activate_with(cpus, unblocked);
}

static int report_of(int status)
{
	return strangers != 0 ? 98 : status;
}

/* --- a block hands the CPU over ---------------------------------------------------------------- */

static struct raw spare, other;
static volatile unsigned ngot;
static volatile bool got_first, got_other; /* the LWP that had blocked */

static void take_over(struct raw *r)
{
	for (;;) {
		long got = __sys_upcall_idle(UPCALL_SPARE);
		if (got == (long)other.id)
			got_other = true;
		else if (got == 1)
			got_first = true;
		__atomic_add_fetch(&ngot, 1, __ATOMIC_SEQ_CST);
		for (volatile int i = 0; i < 20000; i++)
			;
	}
}

/* The spare runs while the first LWP sleeps. The first LWP runs on when the spare has no work left. */
static int block_with(unsigned cpus)
{
	activate(cpus);
	raw_start(&spare, take_over, 0, LWP_DETACHED);
	raw_wait_asleep(spare.id, "idle");
	if (ngot != 0)
		return 1; /* it had no CPU to take over */
	for (unsigned i = 0; i < rounds; i++) {
		unsigned before = ngot;

		do
			wait_us(100);
		while (ngot == before); /* it may still be on its way into its wait */
	}
	if (!got_first)
		return 4;
	return 0;
}

static int block(void)
{
	int status = block_with(1);

	if (status != 0)
		return status;
	/* The spare computes while this LWP wakes up.  With one CPU it may do so to the end. */
	return report_of(upcalls == 0 && __ncpu > 1 ? 3 : 0);
}

/* The LWP that unblocks is not told: it shares the CPUs with the spare. */
static int block_and_stay(void)
{
	int status = block_with(1 | UPCALL_STAY);

	return status != 0 ? status : report_of(upcalls != 0 ? 3 : 0);
}

/* Preemption control: the upcall waits for the end of the section. */
static int in_section(void)
{
	struct schedctl *sc = own_record();
	unsigned before;

	activate(1);
	raw_start(&spare, take_over, 0, LWP_DETACHED);
	raw_wait_asleep(spare.id, "idle");
	for (unsigned i = 0; upcalls == 0 && i < 200; i++) {
		sc->nopreempt = 1;
		wait_us(20);
		before = upcalls;
		bool late = sc->surplus;
		for (volatile int j = 0; j < 100; j++)
			;
		if (upcalls != before)
			return 1;
		sc->nopreempt = 0;
		__sys_lwp_yield();
		if (late && upcalls == before)
			return 2;
	}
	return report_of(upcalls == 0 && __ncpu > 1 ? 3 : 0);
}

/* A stop is a block: the second spare takes over from the first. */
static void stopped_main(struct raw *r)
{
	while (__sys_upcall_idle(UPCALL_SPARE) < 0)
		;
	__sys_lwp_suspend(__sys_lwp_self());
	__sys_lwp_exit();
}

static int stops(void)
{
	activate(1);
	raw_start(&spare, take_over, 0, LWP_DETACHED);
	raw_wait_asleep(spare.id, "idle");
	raw_start(&other, stopped_main, 0, LWP_DETACHED); /* the first, because it is the latest */
	raw_wait_asleep(other.id, "idle");
	while (!got_other)
		wait_us(100);
	__sys_lwp_continue(other.id);
	return report_of(0);
}

/* --- idle LWPs --------------------------------------------------------------------------------- */

static volatile long idle_got = 1;

static void idle_main(struct raw *r)
{
	idle_got = __sys_upcall_idle(UPCALL_IDLE);
	for (;;)
		wait_us(1000000);
}

/* An idle LWP keeps the CPU: a block hands nothing over, and the LWP that blocked goes on silently. */
static int idle_keeps(void)
{
	activate(1);
	raw_start(&other, idle_main, 0, LWP_DETACHED);
	raw_wait_asleep(other.id, "idle");
	raw_start(&spare, take_over, 0, LWP_DETACHED);
	raw_wait_asleep(spare.id, "idle");
	for (unsigned i = 0; i < rounds; i++)
		wait_us(50);
	return report_of(ngot != 0 ? 1 : upcalls != 0 ? 2 : 0);
}

static int idle_runs(void)
{
	activate(2);
	raw_start(&other, idle_main, 0, LWP_DETACHED);
	raw_wait_asleep(other.id, "idle");
	__sys_lwp_unpark(other.id);
	while (idle_got == 1)
		__sys_lwp_yield();
	return idle_got == 0 && !other.sc->surplus ? 0 : 1;
}

/* An idle LWP that is unparked while all CPUs are in use gets none. */
static int idle_gets_none(void)
{
	activate(1);
	raw_start(&other, idle_main, 0, LWP_DETACHED);
	raw_wait_asleep(other.id, "idle");
	__sys_lwp_unpark(other.id);
	while (idle_got == 1)
		__sys_lwp_yield();
	if (idle_got != -EAGAIN || !other.sc->surplus)
		return 1;
	__sys_lwp_unpark(__sys_lwp_self());
	return __sys_upcall_idle(UPCALL_IDLE) == 0 ? 0 : 2; /* its permit */
}

/* --- never more than the CPUs, and none lost ----------------------------------------------------- */

#define MANY 12

static struct raw many[MANY];
static volatile int running, most, ended;
static int cpus;

static void now_running(int change)
{
	int n = __atomic_add_fetch(&running, change, __ATOMIC_SEQ_CST);

	if (n > most)
		most = n;
	if (n > cpus)
		__atomic_add_fetch(&strangers, 1, __ATOMIC_SEQ_CST);
}

static void work(struct raw *r)
{
	uint32_t x = r->arg * 2654435761u + 12345;

	while (__sys_upcall_idle(UPCALL_SPARE) < 0)
		;
	now_running(1);
	for (unsigned i = 0; i < rounds * 4; i++) {
		x = x * 1664525 + 1013904223;
		for (volatile unsigned j = 0; j < x >> 22; j++)
			;
		now_running(-1);
		if (x & 0x10000)
			wait_us(x >> 26);
		else if (x & 0x20000)
			__sys_lwp_unpark(many[x % MANY].id); /* for nothing */
		else
			__sys_lwp_yield();
		now_running(1);
	}
	now_running(-1);
	__atomic_add_fetch(&ended, 1, __ATOMIC_SEQ_CST);
}

static int never_more(int n)
{
	cpus = n;
	activate(n);
	for (unsigned i = 0; i < MANY; i++)
		if (raw_start(&many[i], work, i + 1, LWP_DETACHED) != 0)
			return 1;
	while (ended < MANY) /* this LWP takes no CPU meanwhile */
		wait_us(1000);
	return report_of(most > n ? 2 : 0);
}

static int never_more_1(void)
{
	return never_more(1);
}
static int never_more_2(void)
{
	return never_more(2);
}
static int never_more_4(void)
{
	return never_more(4);
}

/* --- time slices ------------------------------------------------------------------------------- */

#define TICKS(n) ((n) * (hrtime_t)WEFT_TICK_NS)

static volatile unsigned nslices;
static volatile hrtime_t slice_at, surplus_at;

static void slice_over(int sig, struct weft_siginfo *info, struct weft_ucontext *uc, void *handler,
		       uint64_t mask)
{
	if (info->code != WEFT_SI_PREEMPT)
		__atomic_add_fetch(&strangers, 1, __ATOMIC_SEQ_CST);
	if (own_record()->surplus) {
		surplus_at = gethrtime();
		for (;;)
			__sys_upcall_idle(UPCALL_SPARE);
	}
	slice_at = gethrtime();
	nslices++;
	__sys_sigreturn(uc);
}

static void compute_for(hrtime_t ns)
{
	for (hrtime_t began = gethrtime(); gethrtime() - began < ns;)
		;
}

/* Slices end only while a thread waits, and in no critical section. */
static int slices(void)
{
	struct schedctl *sc = own_record();
	hrtime_t before;

	activate_with(1, slice_over);
	compute_for(TICKS(12));
	if (nslices != 0)
		return 1;
	sc->waiting = 1;
	for (unsigned n = 0; n < 2; n++) {
		before = slice_at;
		while (nslices == n)
			;
		if (n > 0 && (slice_at - before < TICKS(9) || slice_at - before > TICKS(11)))
			return 2;
	}
	sc->nopreempt = 1;
	compute_for(TICKS(12));
	if (nslices != 2)
		return 3;
	sc->nopreempt = 0;
	__sys_lwp_yield();
	return report_of(nslices != 3 ? 4 : 0);
}

static void blocks_once(struct raw *r)
{
	while (__sys_upcall_idle(UPCALL_SPARE) < 0)
		;
	wait_us(TICKS(2) / 1000);
	_exit(96); /* it unblocks without a CPU, and enters slice_over */
}

/* The slice of an LWP ends soon after another LWP has unblocked. */
static int slice_cut(void)
{
	activate_with(1, slice_over);
	raw_start(&other, blocks_once, 0, LWP_DETACHED);
	raw_wait_asleep(other.id, "idle");
	wait_us(TICKS(1) / 1000);
	own_record()->waiting = 1;
	while (nslices == 0)
		;
	if (surplus_at == 0)
		return __ncpu == 1 ? 0 : 1; /* it has no CPU to wake up on, or it is late */
	return report_of(slice_at - surplus_at > TICKS(2) ? 2 : 0);
}

/* --- exec --------------------------------------------------------------------------------------- */

static const char *program;

static int forgets(void)
{
	activate(1);
	raw_start(&spare, take_over, 0, LWP_DETACHED);
	raw_wait_asleep(spare.id, "idle");
	execlp(program, program, "again", NULL);
	return 97;
}

static int again(void)
{
	return __sys_upcall_idle(UPCALL_IDLE) == -EINVAL && __sys_upcall_activate(1) == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "again") == 0)
		return again();
	program = argv[0];
	if (argc > 1)
		rounds = atoi(argv[1]);
	is("a block hands the CPU over", status_of(child(block)), 0);
	is("an LWP that unblocks may stay", status_of(child(block_and_stay)), 0);
	is("the upcall waits for the end of a section", status_of(child(in_section)), 0);
	is("a stop hands the CPU over", status_of(child(stops)), 0);
	is("an idle LWP keeps its CPU", status_of(child(idle_keeps)), 0);
	is("an idle LWP runs", status_of(child(idle_runs)), 0);
	is("an idle LWP without a CPU", status_of(child(idle_gets_none)), 0);
	is("never more than 1", status_of(child(never_more_1)), 0);
	is("never more than 2", status_of(child(never_more_2)), 0);
	is("never more than 4", status_of(child(never_more_4)), 0);
	is("slices end while a thread waits", status_of(child(slices)), 0);
	is("a slice ends soon after an LWP has unblocked", status_of(child(slice_cut)), 0);
	is("exec forgets", status_of(child(forgets)), 0);
	return tap_done();
}
