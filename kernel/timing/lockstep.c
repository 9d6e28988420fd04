/*
 * lockstep.c - exact timing: N virtual CPUs that each execute one instruction a
 * virtual nanosecond, to the instruction, on any host.
 *
 * QEMU runs all CPUs in turn on one host thread, and every clock of the machine
 * counts executed instructions (-accel tcg,thread=single -icount shift=0,sleep=off).
 * This alone is no SMP: slices are uneven, and idle time passes for all CPUs.  So the
 * kernel passes a token: only its holder runs.  The holder runs for a window.  Its LAPIC
 * timer ends the window by an NMI after an exact number of instructions.  The NMI handler
 * gives the token to the CPU with the smallest clock (lockstep.S).  How the token is given
 * is the engine's matter: from processor to processor (processors.c), or on one processor
 * from one virtual CPU to the next (one.c).  Which CPU runs when is decided here alone.
 *
 * All CPUs have the same memory.  A window begins without translations of an address space whose
 * page tables are being changed, so that no run depends on what a TLB happens to hold.
 *
 * Clocks.  Each CPU's clock counts the instructions that it has executed in its
 * windows, and jumps over the time in which it is idle.  Time advances in rounds of
 * Q: each active CPU's clock is brought to the end of the round before the next round
 * begins.  So CPUs see each other's stores up to Q early or late: Q is the latency
 * of the model's communication.
 *
 * The kernel's spin locks correct this error where it matters to the kernel itself.  A
 * CPU that acquires a lock advances its clock to the time of the release.  The clock of
 * a CPU that finds the lock held stands still until the lock is free.  So the CPU has
 * waited for as long as the lock was held, and not for a multiple of Q.
 *
 * With a seed, each round draws its length from Q/2 to 3Q/2 and another first CPU.
 *
 * An idle CPU takes no part and costs nothing.  A wake-up sets its clock to the
 * waker's.  Timers are compared with the clocks, and end windows exactly.  When all CPUs
 * are idle, time jumps to the next timer.  When there is no timer, nothing can ever
 * happen again, and the kernel says so (lockstep_standstill).
 *
 * The code here runs on the token's holder, outside of windows.  So it needs no lock
 * and costs no virtual time.  An access to another CPU's record is ordered by the
 * single host thread; volatile keeps the compiler from caching it.
 *
 * Words of the kernel's command line: engine=one|processors, cpus=N (of engine one), quantum=,
 * mips=, seed=, selftest=N (thousands of instructions), until=MS (a time limit, in virtual milliseconds),
 * stale-tlb=1 (of engine processors: a CPU may go on with old translations until the shoot-down, as on
 * hardware).
 *
 * Not modelled: caches, buses, TLBs, pipelines.  Every instruction costs the same.
 */
#include <kern/boot.h>
#include <kern/cpu.h>
#include <kern/file.h>
#include <kern/printk.h>
#include <kern/proc.h>
#include <kern/serial.h>
#include <kern/timing.h>
#include <kern/tlb.h>
#include "../cpu/machine.h"
#include "lockstep.h"

/* Why a window ends.  LS_END_IDLE has a CPU's number above it. */
enum { LS_EXPIRE, LS_IDLE, LS_RESCHED, LS_JOIN, LS_ADVANCE, LS_WOKE, LS_HAND_OVER, LS_END_IDLE };
#define LS_CPU_SHIFT 8

#define NEVER UINT64_MAX
#define NOBODY (~0u)
/* A window of the only active CPU: long, but short of QEMU's 32-bit timer. */
#define SOLE_WINDOW 1000000

/* lockstep.S */
extern char lockstep_nmi_to_rdtsc[];
void lockstep_nmi(void);
void lockstep_op(int why);
uint32_t lockstep_switch(struct cpu *c, int why, uint64_t tsc);

/* Read by lockstep.S. */
volatile uint32_t lockstep_token, lockstep_stopped;
volatile uint32_t *lockstep_icr;
/*
 * How far the clock has jumped in this window while a debugger held the machine, in instructions.
 * When a breakpoint stops the only processor that is not idle, QEMU lets its clock run to the next
 * timer: the end of the window.  The debugger writes the number here (tools/weft_debug/standstill.py).
 * The end of the window takes it off, and the window goes on if the timer has come too early.
 */
volatile uint64_t lockstep_jumped;

struct lsclock ls[WEFT_MAXCPU];
static const struct engine *engine;
static bool stale_tlb; /* a CPU may go on with old translations, as on hardware */

static void lockstep_standstill(struct cpu *c) NORETURN;

static uint64_t quantum, round_end, seed, mips, until;
static uint32_t rng, first;           /* first: the CPU that comes first in this round */
static uint64_t reached[WEFT_MAXCPU]; /* the clock of each CPU at the end of its last window */
static volatile bool sole;
static volatile bool testing; /* the self-test runs: no window is longer than a round */
static uint64_t short_windows, long_windows; /* windows not of exactly their length */

static uint64_t to_ns(uint64_t instructions)
{
	return mips == 1000 ? instructions : instructions * 1000 / mips; /* QEMU divides slowly */
}

static uint64_t to_instructions(hrtime_t ns)
{
	return ns < NEVER / mips - 1000 ? (ns * mips + 999) / 1000 : NEVER;
}

/* --- rounds -------------------------------------------------------------------- */

static uint32_t seed_draw(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 17;
	rng ^= rng << 5;
	return rng;
}

/* The next round is the first.  So what has been before leaves no trace. */
static void rounds_begin(void)
{
	rng = seed * 2654435761u + 1;
	if (rng == 0)
		rng = 1;
	first = 0;
	round_end = 0;
}

static void new_round(uint64_t now)
{
	if (now - round_end > quantum) /* an idle gap: start where a CPU wakes up */
		round_end = now;
	do {
		uint64_t len = quantum;
		if (seed != 0) {
			uint32_t x = seed_draw();
			len = quantum / 2 + x % (quantum + 1);
			first = (x >> 16) % ncpu;
		}
		round_end += len;
	} while (round_end <= now);
}

/* Returns to the grid of rounds after a window of the only active CPU, so that the length of this
 * window leaves no trace. */
static void end_sole(uint64_t now)
{
	if (!sole)
		return;
	sole = false;
	round_end = seed != 0 ? now : now - now % quantum;
	do
		new_round(now < round_end ? round_end : now);
	while (round_end <= now);
}

/*
 * When this CPU has to run next.  NEVER: it is idle without a timer, or waits for a lock that is
 * still held.
 *
 * *Race:* a CPU finds that another one is idle, and is about to set its clock (lsclock_wake); its window ends, and
 * the timer of the idle CPU lets this CPU run for a window; *without this:* its clock goes back; *closed by:* `reached`.
 */
static uint64_t lsclock_wants(const struct lsclock *c)
{
	uint64_t now = c->now > reached[c - ls] ? c->now : reached[c - ls];

	if (c->lock != NULL && c->lock->holder != 0)
		return NEVER;
	return c->active || c->timer < now ? now : c->timer;
}

/*
 * The CPU with the smallest clock; among equals, the first from `first` upward.  NOBODY: all CPUs
 * are idle for ever, or wait for each other's locks.
 */
static uint32_t quantum_choose_next(void)
{
	uint32_t best = NOBODY;
	uint64_t earliest = NEVER;
	for (uint32_t n = 0, i = first; n < ncpu; n++, i = i + 1 == ncpu ? 0 : i + 1) {
		uint64_t t = lsclock_wants(&ls[i]);
		if (t < earliest) {
			earliest = t;
			best = i;
		}
	}
	if (best == NOBODY)
		return NOBODY;
	if (earliest >= round_end)
		new_round(earliest);
	ls[best].now = earliest;
	ls[best].active = 1;
	return best;
}

/*
 * Of the CPUs that wait for the lock which `c` has just released, the CPU that has waited for the
 * longest; NOBODY: none.
 */
static uint32_t token_heir(const struct lsclock *c)
{
	uint32_t best = NOBODY;
	uint64_t earliest = round_end;
	for (uint32_t i = 0; i < ncpu; i++)
		if (ls[i].lock == c->given_up && ls[i].now < earliest) {
			earliest = ls[i].now;
			best = i;
		}
	return best;
}

/* The time until which the chosen CPU may go on alone: the next timer of another CPU, or
 * SOLE_WINDOW.  0: another CPU is active, or the self-test runs. */
static uint64_t sole_until(uint32_t id)
{
	uint64_t limit = ls[id].now + SOLE_WINDOW;
	if (testing)
		return 0;
	for (uint32_t i = 0; i < ncpu; i++) {
		if (i == id)
			continue;
		if (ls[i].active)
			return 0;
		uint64_t t = lsclock_wants(&ls[i]);
		if (t < limit)
			limit = t;
	}
	return limit;
}

/* --- windows ---------------------------------------------------------------------- */

/*
 * Makes VEC_TIMER pending on this CPU if its timer has expired.
 *
 * *Race:* the CPU goes idle with interrupts off, its timer expires; *without this:* the timer
 * interrupt waits until another interrupt wakes the CPU; *closed by:* `wakeup`, which keeps the CPU
 * active.
 */
static void timer_due(struct cpu *c, struct lsclock *me)
{
	if (me->timer <= me->now) {
		me->timer = NEVER;
		me->wakeup = 1;
		c->irr_sent = true;
		lapic_ipi(c, VEC_TIMER);
	}
}

/* A wrong count makes a window too short by a few instructions, and the self-test finds that.  If
 * it is shorter by more than this, the NMI is the host's and not the timer's. */
#define LIMIT_EARLY 16

/* What the CPU has executed in its window, which ended for this reason and at this time. */
static uint64_t window_ran(const struct cpu *c, int why, uint64_t tsc)
{
	uint64_t ran = tsc - c->timerec->ws - lockstep_jumped;

	lockstep_jumped = 0;
	return why == LS_EXPIRE ? ran - (uint64_t)lockstep_nmi_to_rdtsc : ran;
}

/* The timer came too early, after so many instructions of c's window: the length of what is left of it.  The time
 * at which the window began stays. */
static uint32_t window_rest(struct cpu *c, struct lsclock *me, uint64_t ran)
{
	me->now += ran;
	me->len -= ran;
	c->timerec->vbase = to_ns(me->now);
	return me->len;
}

/* An idle CPU becomes active at the time `now`.  A CPU that is about to idle finds `wakeup`. */
static void lsclock_activate(struct lsclock *it, uint64_t now)
{
	it->wakeup = 1;
	if (it->active)
		return;
	if (it->now < now)
		it->now = now;
	it->active = 1;
}

/* Advances the clock to the end of the window that is over. */
static void lsclock_account(struct lsclock *me, int why, uint64_t ran)
{
	if (why != LS_EXPIRE) {
		me->now += ran;
		return;
	}
	if (ran + LIMIT_EARLY < me->len && !testing)
		time_limit(NULL); /* not the timer's NMI */
	/* The clock counts the length that the window was to have.  A deviation is a fault of the
	 * counts in lockstep.S, and the self-test finds it. */
	short_windows += ran < me->len;
	long_windows += ran > me->len;
	me->now += me->len;
}

/*
 * A window of `c` is over: chooses the next CPU, and returns the length of c's next
 * window when c has the token again.  On c, outside of windows, interrupts off.
 */
uint32_t lockstep_switch(struct cpu *c, int why, uint64_t tsc)
{
	struct lsclock *me = &ls[c->id];
	unsigned about = (unsigned)why >> LS_CPU_SHIFT;

	why &= (1 << LS_CPU_SHIFT) - 1;
	if (why == LS_JOIN) {
		engine->join(c);
	} else {
		bool jumped = lockstep_jumped != 0;
		uint64_t ran = window_ran(c, why, tsc);
		if (jumped && why == LS_EXPIRE && ran != me->len)
			return window_rest(c, me, ran);
		engine->end(c);
		lsclock_account(me, why, ran);
		if (me->now >= until)
			time_limit(NULL);
		end_sole(me->now);
		if (why == LS_IDLE) {
			if (!me->wakeup)
				me->active = 0;
			me->wakeup = 0;
		} else if (why == LS_ADVANCE && me->now < me->advance_to) {
			me->now = me->advance_to;
		} else if (why == LS_END_IDLE) {
			lsclock_activate(&ls[about], me->now);
		}
		reached[c->id] = me->now;
		if (me->active)
			timer_due(c, me);
		bool goes_on = why == LS_WOKE || (why == LS_END_IDLE && me->now < round_end);
		uint32_t next = goes_on ? c->id : why == LS_HAND_OVER ? token_heir(me) : NOBODY;
		if (next == NOBODY)
			next = quantum_choose_next();
		if (next == NOBODY)
			lockstep_standstill(c);
		if (next != c->id)
			engine->give(c, cpus[next], why == LS_IDLE);
	}
	engine->begin(c);
	if (!stale_tlb)
		tlb_refresh();

	me->active = 1;
	if (me->now >= round_end)
		new_round(me->now);
	timer_due(c, me);
	uint64_t end = round_end, alone = sole_until(c->id);
	if (alone > end) {
		end = round_end = alone;
		sole = true;
	}
	if (me->timer < end)
		end = me->timer;
	me->len = end - me->now;
	if (testing)
		lockstep_selftest_look(c);

	c->timerec->vbase = c->timerec->begin = to_ns(me->now); /* window_begin writes ws */
	return me->len;
}

/* --- the operations of kern/timing.h ------------------------------------------------ */

/* This CPU's clock, in instructions.  In a window. */
uint64_t lsclock_now(struct cpu *c)
{
	for (;;) { /* as time_now */
		uint64_t tsc = rdtsc(), ran;
		uint64_t now = ls[c->id].now;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		if (!__builtin_sub_overflow(tsc, c->timerec->ws, &ran))
			return now + ran;
	}
}

static void exact_set_timer(hrtime_t when)
{
	struct cpu *c = this_cpu();
	struct lsclock *me = &ls[c->id];

	me->timer = when == HRTIME_NEVER ? NEVER : to_instructions(when);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (me->timer < me->now + me->len)
		lockstep_op(LS_RESCHED); /* the window must end there */
}

static void exact_idle(void)
{
	lockstep_op(LS_IDLE);
	/* An interrupt that arrived meanwhile is taken here, inside of the window. */
	__asm__ volatile("sti; nop; cli" ::: "memory");
}

/* Makes an idle CPU active at this CPU's time. */
static void lsclock_wake(struct cpu *c)
{
	struct lsclock *it = &ls[c->id];

	it->wakeup = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (it->active)
		return; /* it may be about to idle, and then finds wakeup */
	uint64_t now = lsclock_now(this_cpu());
	if (it->now < now)
		it->now = now;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	it->active = 1;
	/* The waker goes on up to the end of a round, as it would have if it had not been alone.
	 * Otherwise the woken CPU would first wait for the locks that the waker holds here. */
	if (sole)
		lockstep_op(LS_WOKE);
}

/*
 * The CPU c sees a store of this CPU, as with MONITOR and MWAIT.  So it costs next to nothing: all is done between two windows.
 * This CPU goes on for the rest of its round.
 */
static void exact_end_idle(struct cpu *c)
{
	lockstep_op(LS_END_IDLE | (int)(c->id << LS_CPU_SHIFT));
}

static void exact_ipi(struct cpu *c, unsigned vec)
{
	lockstep_send(c, vec);
	if (c != this_cpu())
		lsclock_wake(c);
}

static void exact_advance(hrtime_t t)
{
	if (time_now() >= t)
		return;
	struct cpu *c = this_cpu();
	ls[c->id].advance_to = to_instructions(t);
	lockstep_op(LS_ADVANCE);
}

/*
 * Costs no virtual time: the clock stands still until the lock is free, and then advances to the
 * time of the release.  A window would only be wasted here, and on 64 CPUs 63 windows.
 */
static void exact_spin(struct spinlock *l)
{
	struct cpu *c = this_cpu();

	if (!c->inwin) { /* before the windows begin, or after a panic */
		cpu_pause();
		return;
	}
	__atomic_add_fetch(&l->waiters, 1, __ATOMIC_RELAXED);
	ls[c->id].lock = l;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	lockstep_op(LS_RESCHED);
	ls[c->id].lock = NULL;
	__atomic_sub_fetch(&l->waiters, 1, __ATOMIC_RELAXED);
}

/*
 * A waiter of the lock runs next.  Otherwise this CPU might acquire the lock again and again until
 * its window ends, and the waiters would have to wait for the last release.
 */
static void exact_hand_over(struct spinlock *l)
{
	ls[this_cpu()->id].given_up = l;
	lockstep_op(LS_HAND_OVER);
}

/* --- start and end ------------------------------------------------------------------- */

static void begin_windows(struct cpu *c)
{
	lapic_timer_nmi();
	lockstep_icr = lapic_timer_register(); /* the same address on all CPUs */
	/* The clock runs from now on.  The order matters: otherwise it would count the boot. */
	c->timerec->ws = rdtsc();
	c->timerec->mult = (1000ull << 32) / mips;
}

/*
 * Programs begin at a full millisecond, when all other CPUs are idle, and in the same phase of the
 * clock's ticks.  So neither the length of the self-test nor a change of its code moves a figure.
 */
static void leave_selftest(void)
{
	const hrtime_t ms = 1000000, others = ms / 2; /* more than they take to become idle */
	const hrtime_t rest = to_ns(lockstep_selftest_rest());

	exact_advance((time_now() + rest + others) / ms * ms + ms);
	rounds_begin();
	lockstep_op(LS_RESCHED);
}

/* Runs on CPU 0; the other CPUs are in exact_start_cpu, or soon will be. */
static void exact_start(void)
{
	struct cpu *c = this_cpu();

	for (unsigned i = 1; i < ncpu; i++)
		while (!cpus[i]->parked)
			cpu_pause();
	cpu_set_nmi_entry(lockstep_nmi);
	begin_windows(c);
	if (ncpu > 1)
		spin_end_plain(); /* clocks may differ, so the time of a release matters */
	for (unsigned i = 0; i < ncpu; i++) {
		ls[i].now = to_instructions(LOCKSTEP_BEGIN);
		ls[i].timer = NEVER;
		cpus[i]->timerec->vbase = cpus[i]->timerec->begin = LOCKSTEP_BEGIN;
	}
	round_end = ls[0].now + quantum;
	ls[0].active = 1;
	lockstep_token = c->id;
	c->timerec->ws = rdtsc();
	lockstep_op(LS_RESCHED);

	lockstep_selftest_begin();
	testing = true;
	for (unsigned i = 1; i < ncpu; i++)
		lsclock_wake(cpus[i]);
	lockstep_selftest();
	lockstep_selftest_judge(short_windows, long_windows);
	testing = false;
	leave_selftest();
}

static void exact_start_cpu(void)
{
	struct cpu *c = this_cpu();

	begin_windows(c);
	c->timerec->ws = rdtsc();
	lockstep_op(LS_JOIN);
	lockstep_selftest();
}

void lockstep_stop(void)
{
	struct cpu *c = this_cpu();

	if (lockstep_icr == NULL)
		return;
	/* In this order, because an NMI that arrives in between is ignored. */
	c->inwin = 0;
	*lockstep_icr = 0;
	lockstep_stopped = 1;
}

const struct trapframe *lockstep_stopped_at(unsigned id)
{
	static struct trapframe frames[WEFT_MAXCPU];
	const struct lockstep_frame *f = cpus[id]->frame;

	if (f == NULL)
		return NULL;
	frames[id] = (struct trapframe){
		.rip = f->rip,
		.cs = f->cs,
		.rflags = f->rflags,
		.rsp = f->rsp,
		.ss = f->ss,
		.rbp = f->rbp,
	};
	return &frames[id];
}

/*
 * Every CPU is idle and no timer is set.  There is no input from outside, so nothing can change
 * that.  A lost wake-up ends here, at the same instruction on every run.
 */
static void NORETURN lockstep_standstill(struct cpu *c)
{
	lockstep_stop();
	console_panic();
	printk("\033]weft;panic\a\nweft: standstill at %llu ns: every LWP sleeps, and no timer is "
	       "set\n",
	       (unsigned long long)to_ns(ls[c->id].now));
	proc_report();
	machine_exit(QEMU_EXIT_STANDSTILL);
}

static const struct timing exact = {
	.name = "exact",
	.set_timer = exact_set_timer,
	.idle = exact_idle,
	.ipi = exact_ipi,
	.end_idle = exact_end_idle,
	.start = exact_start,
	.start_cpu = exact_start_cpu,
	.advance = exact_advance,
	.spin = exact_spin,
	.hand_over = exact_hand_over,
};

unsigned lockstep_cpus(void)
{
	uint64_t n = boot_option_num("cpus", 1);

	return engine != &engine_one ? 0 : n == 0 ? 1 : MIN(n, WEFT_MAXCPU);
}

void lockstep_init(void)
{
	quantum = boot_option_num("quantum", 1000);
	mips = boot_option_num("mips", 1000);
	seed = boot_option_num("seed", 0);
	lockstep_selftest_init(quantum, seed != 0 ? quantum / 2 + quantum : quantum);
	if (quantum < 50 || quantum > SOLE_WINDOW || mips == 0 || mips > 1000000)
		panic("quantum=%llu mips=%llu: out of range", (unsigned long long)quantum,
		      (unsigned long long)mips);
	until = boot_option_num("until", 0);
	until = until == 0 ? NEVER : to_instructions(LOCKSTEP_BEGIN + until * 1000000);
	stale_tlb = boot_option_num("stale-tlb", 0) != 0;

	char name[16] = "processors";
	boot_option("engine", name, sizeof(name));
	engine = strcmp(name, "one") == 0 ? &engine_one : &engine_processors;
	if (engine != &engine_one && strcmp(name, "processors") != 0)
		panic("engine=%s: there are one and processors", name);
	rounds_begin();
	timing = &exact;
	serial_use_debug_port();
}
