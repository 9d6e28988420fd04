/*
 * labdisp.c PART [ROUNDS [CHANCE]] - the dispatcher, rule by rule, as programs see it: when a woken LWP
 * runs, on which CPU, and what that costs.
 */
#include "labdisp.h"

#define MAXCPU 8

static int64_t told[CREW];  /* when LWP i was woken */
static int64_t began[CREW]; /* when it ran then; 0: not yet */
static uint32_t seen[CREW]; /* on which CPU, or its place in the order */
static uint32_t turn;       /* how many have run */

static void wake(unsigned who)
{
	told[who] = gethrtime();
	__sys_lwp_unpark(crew[who].id);
}

static void run_begins(unsigned me)
{
	began[me] = gethrtime();
	seen[me] = cpu_now();
}

/* --- order: by priority, and first come, first served within one -------------------------------- */

#define SLEEPERS 10

static int order_pri[SLEEPERS];
static unsigned order_woken[SLEEPERS]; /* the place in which it was woken */

static void order_game(unsigned me)
{
	uint32_t state = chance;
	int cpu = draw(&state, ncpu);

	bind(cpu);
	if (me < SLEEPERS) {
		set_priority(order_pri[me], RT_TQINF);
		get_ready();
		park();
		seen[me] = __atomic_fetch_add(&turn, 1, __ATOMIC_RELAXED);
		return;
	}
	set_priority(50, RT_TQINF);
	until_ready(SLEEPERS);
	unsigned first = draw(&state, SLEEPERS);
	for (unsigned i = 0; i < SLEEPERS; i++) {
		unsigned who = (first + i * 3) % SLEEPERS;
		order_woken[who] = i;
		__sys_lwp_unpark(crew[who].id);
	}
	EXPECT(turn == 0, "%ld LWPs of lower priorities run while an LWP computes on their CPU",
	       turn);
}

static void order(void)
{
	for (unsigned r = 0; r < rounds; r++) {
		for (unsigned i = 0; i < SLEEPERS; i++)
			order_pri[i] = 10 + draw(&chance, 4);
		turn = ready = 0;
		play("order", SLEEPERS + 1, 20, order_game);
		for (unsigned a = 0; a < SLEEPERS; a++)
			for (unsigned b = 0; b < SLEEPERS; b++) {
				if (order_pri[a] > order_pri[b])
					lab_check(seen[a] < seen[b], "order",
						  "two LWPs wait on one queue, and that of "
						  "priority %d runs "
						  "before that of priority %d",
						  100 + order_pri[b], 100 + order_pri[a]);
				else if (order_pri[a] == order_pri[b] &&
					 order_woken[a] < order_woken[b])
					lab_check(seen[a] < seen[b], "order",
						  "two LWPs of priority %d wait on one queue, and "
						  "the one that "
						  "came later runs first: first come, first served",
						  100 + order_pri[a]);
			}
	}
}

/* --- preempt, equal: LWPs compute on all CPUs, and another LWP wakes up -------------------------- */

#define COMPUTES 400000 /* ns: how long an LWP computes on each CPU */
/*
 * ns: longer than a round takes.  The main LWP has the highest priority.  If it ran on the CPU of the lowest
 * priority at the moment of the wake-up, no CPU would be one that the woken LWP may replace.
 */
#define ROUND (COMPUTES * 5)

static int busy_pri[MAXCPU];
static int64_t busy_end[MAXCPU];
static int64_t busy_for[MAXCPU];
static unsigned waker;

/* LWP `me` keeps CPU `me` busy; the waker wakes the LWPs from ncpu on. */
static void keep_busy(unsigned me, unsigned sleepers)
{
	bind_and_look(me);
	set_priority(busy_pri[me], RT_TQINF);
	get_ready();
	while (__atomic_load_n(&ready, __ATOMIC_ACQUIRE) < ncpu + sleepers && !crew_over)
		nap(3000);
	nap(30000);
	int64_t end = gethrtime() + busy_for[me];
	if (me == waker) {
		compute_until(gethrtime() + 40000);
		for (unsigned i = ncpu; i < ncpu + sleepers; i++)
			wake(i);
	}
	compute_until(end);
	busy_end[me] = gethrtime();
}

static int woken_pri, woken_to;

static void preempt_game(unsigned me)
{
	if (me < ncpu) {
		keep_busy(me, 1);
		return;
	}
	bind(woken_to >= 0 ? woken_to : (int)(chance % ncpu));
	if (woken_to < 0)
		bind(PBIND_NONE);
	set_priority(woken_pri, RT_TQINF);
	get_ready();
	park();
	run_begins(me);
}

static void busy_reset(int pri)
{
	ready = turn = 0;
	crew_pause = ROUND;
	memset(began, 0, sizeof(began));
	memset(busy_end, 0, sizeof(busy_end));
	for (unsigned i = 0; i < ncpu; i++) {
		busy_pri[i] = pri;
		busy_for[i] = COMPUTES;
	}
	waker = draw(&chance, ncpu);
}

static void preempt(void)
{
	for (unsigned r = 0; r < rounds; r++) {
		unsigned lowest = draw(&chance, ncpu);
		busy_reset(20);
		busy_pri[lowest] = 10;
		/* Bound to a CPU in every other round.  Otherwise of a priority that beats one CPU. */
		woken_to = r % 2 ? (int)draw(&chance, ncpu) : -1;
		woken_pri = r % 2 ? 30 : 15;
		play("preempt", ncpu + 1, 20, preempt_game);
		long late = began[ncpu] - told[ncpu];
		lab_check(late < SOON, "preempt",
			  "an LWP of priority %d wakes up while CPU %d runs one of priority %d, "
			  "and runs "
			  "%ld ns later: that CPU must change to it at once",
			  100 + woken_pri, woken_to >= 0 ? woken_to : (int)lowest,
			  100 + busy_pri[woken_to >= 0 ? woken_to : (int)lowest], late);
		unsigned to = woken_to >= 0 ? (unsigned)woken_to : lowest;
		lab_check(seen[ncpu] == to, "preempt",
			  "an LWP of priority %d runs on CPU %u, not on CPU %u, which runs the "
			  "lowest "
			  "priority that it may replace",
			  100 + woken_pri, seen[ncpu], to);
	}
}

static void equal(void)
{
	for (unsigned r = 0; r < rounds; r++) {
		int64_t first = INT64_MAX;
		busy_reset(20);
		woken_to = -1;
		woken_pri = r % 2 ? 12 : 20;
		play("equal", ncpu + 1, 20, preempt_game);
		for (unsigned i = 0; i < ncpu; i++)
			first = busy_end[i] < first ? busy_end[i] : first;
		lab_check(began[ncpu] >= first, "equal",
			  "an LWP of priority %d takes a CPU from one of priority 120, %ld ns "
			  "before the "
			  "latter ends: only a higher priority does so",
			  100 + woken_pri, (long)(first - began[ncpu]));
		lab_check(began[ncpu] < first + SOON, "equal",
			  "an LWP waits for a CPU, and runs %ld ns after a CPU has nothing else to "
			  "do",
			  (long)(began[ncpu] - first));
		bool fresh = true;
		for (unsigned i = 0; i < ncpu; i++)
			fresh &= busy_end[i] != 0;
		lab_check(fresh, "equal", "an LWP that computes has not come to its end");
	}
}

/* --- steal, bound: one CPU becomes idle, and LWPs wait for others ---------------------------------- */

static int tied_to[CREW];

static void steal_game(unsigned me)
{
	if (me < ncpu) {
		keep_busy(me, ncpu);
		return;
	}
	bind(tied_to[me] >= 0 ? tied_to[me] : (int)(chance % ncpu));
	if (tied_to[me] < 0)
		bind(PBIND_NONE);
	set_priority(10, RT_TQINF);
	get_ready();
	park();
	run_begins(me);
	compute_until(gethrtime() + 20000);
	unsigned cpu = cpu_now();
	EXPECT3(tied_to[me] < 0 || (cpu == (unsigned)tied_to[me] && cpu == seen[me]),
		"an LWP that is bound to CPU %ld runs on CPU %ld: a bound LWP is not stolen",
		tied_to[me], cpu == (unsigned)tied_to[me] ? seen[me] : cpu, 0);
}

static void steal(void)
{
	for (unsigned r = 0; r < rounds; r++) {
		unsigned idle = draw(&chance, ncpu);
		busy_reset(30);
		for (unsigned i = 0; i < ncpu; i++) {
			tied_to[ncpu + i] = -1;
			busy_for[i] = i == idle ? COMPUTES / 2 : COMPUTES * 2;
		}
		play("steal", 2 * ncpu, 20, steal_game);
		for (unsigned i = ncpu; i < 2 * ncpu; i++) {
			long late = began[i] - busy_end[idle];
			lab_check(late < (long)ncpu * 30000 + SOON, "steal",
				  "CPU %u has nothing to do, and an LWP that waits elsewhere runs "
				  "%ld ns "
				  "later: an idle CPU must take work from the queues of others",
				  idle, late);
		}
	}
}

static void bound(void)
{
	for (unsigned r = 0; r < rounds; r++) {
		unsigned idle = draw(&chance, ncpu);
		busy_reset(30);
		for (unsigned i = 0; i < ncpu; i++) {
			/* Most of them to CPUs that are busy for longer. */
			tied_to[ncpu + i] = draw(&chance, ncpu);
			busy_for[i] = i == idle ? COMPUTES / 2 : COMPUTES;
		}
		play("bound", 2 * ncpu, 20, steal_game);
		for (unsigned i = ncpu; i < 2 * ncpu; i++) {
			unsigned cpu = tied_to[i];
			long late = began[i] - busy_end[cpu];
			lab_check(late >= 0, "bound",
				  "an LWP of a lower priority, bound to CPU %u, runs %ld ns too "
				  "early",
				  cpu, -late);
			lab_check(late < (long)ncpu * 30000 + SOON, "bound",
				  "an LWP is bound to CPU %u, which has nothing else to do, and "
				  "runs %ld ns "
				  "later",
				  cpu, late);
		}
	}
}

/* --- halt: an idle CPU, and a wake-up at the same moment -------------------------------------------- */

static unsigned hops;

static void halt_game(unsigned me)
{
	unsigned with = me ^ 1;
	uint32_t state = chance + 77 * me + 1;

	/* In every other round each LWP has a CPU of its own, so that this CPU goes idle each time. */
	if (tied_to[0])
		bind_and_look(me);
	set_priority(20, RT_TQINF);
	get_ready();
	while (__atomic_load_n(&ready, __ATOMIC_ACQUIRE) < 2 && !crew_over)
		nap(3000);
	for (unsigned i = 0; i < hops && !crew_over; i++) {
		if (i % 2 == me) {
			/* The other LWP is on its way to sleep: from just before to just after. */
			turns(draw(&state, 200));
			wake(with);
		} else {
			park();
			long late = gethrtime() - told[me];
			EXPECT(late < SOON,
			       "an LWP is woken while its CPU goes idle, and runs %ld ns later: "
			       "the CPU "
			       "halts, although there is an LWP for it",
			       late);
		}
	}
}

static void halt(void)
{
	hops = 300;
	for (unsigned r = 0; r < rounds; r++) {
		ready = 0;
		tied_to[0] = r % 2;
		chance++;
		play("halt", 2, 20, halt_game);
	}
}

/* --- closing: a CPU goes offline while LWPs are woken ------------------------------------------------ */

static uint32_t closing_done;

static void closing_game(unsigned me)
{
	unsigned with = me ^ 1;
	uint32_t state = chance + 91 * me + 1;

	set_priority(20, RT_TQINF);
	if (me == 2) {
		bind_and_look(0);
		set_priority(40, RT_TQINF);
		until_ready(2);
		for (unsigned i = 0; i < rounds && !crew_over; i++) {
			int cpu = 1 + draw(&state, ncpu - 1);
			turns(draw(&state, 300));
			long r = __sys_p_online(cpu, P_OFFLINE);
			EXPECT(r >= 0, "p_online says %ld to a CPU that may go offline", r);
			nap(2 * SOON);
			__sys_p_online(cpu, P_ONLINE);
			nap(draw(&state, 8000));
		}
		__atomic_store_n(&closing_done, 1, __ATOMIC_RELEASE);
		__sys_lwp_unpark(crew[0].id);
		__sys_lwp_unpark(crew[1].id);
		return;
	}
	bind_and_look(1);
	bind(PBIND_NONE);
	get_ready();
	while (__atomic_load_n(&ready, __ATOMIC_ACQUIRE) < 2 && !crew_over)
		nap(3000);
	for (unsigned i = 0; !__atomic_load_n(&closing_done, __ATOMIC_ACQUIRE) && !crew_over; i++) {
		if (i % 2 == me) {
			turns(draw(&state, 30));
			wake(with);
		} else {
			park();
			long late = gethrtime() - told[me];
			EXPECT(late < SOON || closing_done,
			       "an LWP is woken while a CPU goes offline, and runs %ld ns later: "
			       "it waits "
			       "for a CPU that takes no LWP",
			       late);
		}
	}
}

static void closing(void)
{
	play("closing", 3, 60, closing_game);
}

/* --- hand-over, wake, switch -------------------------------------------------------------------------- */

static void hand_over_game(unsigned me)
{
	unsigned moved = 0;

	bind_and_look(ncpu - 1);
	set_priority(20, RT_TQINF);
	get_ready();
	if (me == 1) {
		park();
	} else {
		/* Both have been here last, and no sleep moves them from now on. */
		if (!until_asleep(1))
			return;
		bind_lwp(crew[1].id, PBIND_NONE);
		bind(PBIND_NONE);
		seen[0] = cpu_now();
	}
	for (unsigned i = 0; i < rounds && !crew_over; i++) {
		uint32_t was = __atomic_load_n(&seen[me ^ 1], __ATOMIC_RELAXED);
		if (me == 1 || i > 0)
			moved += cpu_now() != was;
		seen[me] = cpu_now();
		__sys_lwp_park(NULL, crew[me ^ 1].id);
	}
	EXPECT3(moved <= 2 + rounds / 10,
		"an LWP wakes another one and sleeps, in one call, and in %ld of %ld times that "
		"one runs "
		"on another CPU (PLACE_HANDOFF)",
		moved, rounds, 0);
	__sys_lwp_unpark(crew[me ^ 1].id);
}

static void hand_over(void)
{
	ready = 0;
	crew_pause = 5000000; /* the main LWP would take a CPU from one of the two */
	play("hand-over", 2, 40, hand_over_game);
}

static int64_t cost;

static void wake_game(unsigned me)
{
	if (me < SLEEPERS) {
		set_priority(10, RT_TQINF);
		for (unsigned i = 0; i < rounds && !crew_over; i++) {
			park();
			EXPECT3(turn % SLEEPERS == me,
				"LWPs of one priority are woken one after another, and the one "
				"with number "
				"%ld runs as number %ld: first come, first served",
				me, turn % SLEEPERS, 0);
			turn++;
		}
		return;
	}
	set_priority(30, RT_TQINF);
	for (unsigned i = 0; i < rounds && !crew_over; i++) {
		nap(60000);
		int64_t start = gethrtime();
		for (unsigned j = 0; j < SLEEPERS; j++)
			__sys_lwp_unpark(crew[j].id);
		cost += gethrtime() - start;
	}
	nap(60000);
	for (unsigned j = 0; j < SLEEPERS; j++)
		__sys_lwp_unpark(crew[j].id);
}

static void wakes(void)
{
	crew_pause = 5000000;
	play("wake", SLEEPERS + 1, 60, wake_game);
	lab_figure("wake-up", cost / (rounds * SLEEPERS));
}

static void switch_game(unsigned me)
{
	set_priority(me == 0 ? 20 : 30, RT_TQINF);
	if (me == 1) {
		while (!__atomic_load_n(&closing_done, __ATOMIC_ACQUIRE) && !crew_over) {
			park();
			turn++;
		}
		return;
	}
	nap(60000);
	int64_t start = gethrtime();
	for (unsigned i = 0; i < rounds && !crew_over; i++) {
		__sys_lwp_unpark(crew[1].id);
		EXPECT3(turn == i + 1,
			"an LWP of a higher priority is woken %ld times on one CPU, and has run "
			"%ld times: "
			"it must run before the call returns",
			i + 1, turn, 0);
	}
	cost = gethrtime() - start;
	__atomic_store_n(&closing_done, 1, __ATOMIC_RELEASE);
	__sys_lwp_unpark(crew[1].id);
}

static void switches(void)
{
	crew_pause = 5000000;
	play("switch", 2, 60, switch_game);
	lab_figure("switch", cost / rounds);
}

int main(int argc, char **argv)
{
	static const struct part parts[] = {
		{"order", order},     {"preempt", preempt},     {"equal", equal},
		{"steal", steal},     {"bound", bound},         {"halt", halt},
		{"closing", closing}, {"hand-over", hand_over}, {"wake", wakes},
		{"switch", switches},
	};

	return dispatch_part(parts, sizeof(parts) / sizeof(parts[0]), argc, argv);
}
