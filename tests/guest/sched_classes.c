/*
 * sched_classes.c - what the scheduling classes do, in figures: slices, falls, boosts, which
 * LWP goes first.  For one CPU in exact timing, slow enough that a tick is not many instructions.
 *
 * LWPs compute, and log whenever they find that another LWP had the CPU before.  The log is
 * the order in which they ran, with the times.  The main LWP sleeps meanwhile, and gets the
 * CPU at once when it wakes, because it is in real-time, above all others.
 */
#include <stdbool.h>
#include <sys/priocntl.h>
#include <sys/time.h>
#include <weft/proc.h>
#include "rawlwp.h"
#include "tap.h"

#define MS 1000000ll
#define TOP 59 /* the main LWP's real-time priority */

static struct raw lwp[4];
static volatile bool stop;
static volatile int runner;
static struct turn {
	int who;
	hrtime_t from;
} turns[1000];
static volatile unsigned nturns;

static void sleep_ms(int64_t ms)
{
	struct weft_timespec ts = {ms / 1000, ms % 1000 * MS};
	__sys_lwp_sleep(4, 0, &ts);
}

static void set(uint32_t id, struct pcparms p)
{
	long r = __sys_priocntl(P_LWPID, id, PC_SETPARMS, &p);
	if (r != 0)
		bail("priocntl: %ld", r);
}

#define TS(upri) ((struct pcparms){.pc_cid = WEFT_CLASS_TS, .ts = {60, upri}})
#define RR(pri, ms) ((struct pcparms){.pc_cid = WEFT_CLASS_RT, .rt = {pri, 0, (ms)*MS}})
#define FIFO(pri) ((struct pcparms){.pc_cid = WEFT_CLASS_RT, .rt = {pri, 0, RT_TQINF}})
#define NT(base, rel) ((struct pcparms){.pc_cid = WEFT_CLASS_NT, .nt = {base, rel, 0}})

static void log_turn(int who)
{
	if (runner == who)
		return;
	runner = who;
	if (nturns < sizeof(turns) / sizeof(turns[0]))
		turns[nturns++] = (struct turn){who, gethrtime()};
}

static void compute(struct raw *r)
{
	while (!stop)
		log_turn(r->arg);
}

/* Starts n LWPs suspended, in a class each. */
static void prepare(int n, void (*fn)(struct raw *), const struct pcparms *p)
{
	stop = false;
	nturns = 0;
	runner = -1;
	for (int i = 0; i < n; i++) {
		if (raw_start(&lwp[i], fn, i, LWP_SUSPENDED) != 0)
			bail("lwp_create failed");
		set(lwp[i].id, p[i]);
	}
}

static void go(int n)
{
	for (int i = 0; i < n; i++)
		__sys_lwp_continue(lwp[i].id);
}

static void finish(int n)
{
	stop = true;
	for (int i = 0; i < n; i++)
		__sys_lwp_wait(lwp[i].id, NULL);
}

/*
 * The n-th turn was not cut off by the end of the run, and lasted so long, within some thousand
 * instructions of 100 ns each: a first touch of a stack may be among them.
 */
static bool lasted(unsigned n, int64_t ms)
{
	int64_t ns = turns[n + 1].from - turns[n].from;
	return n + 1 < nturns && ns > ms * MS - MS && ns < ms * MS + MS;
}

/* Do the first n turns change between LWPs 0 and 1, each so long? */
static bool alternate(unsigned n, int64_t ms)
{
	for (unsigned i = 0; i < n; i++)
		if (turns[i].who != (int)(i % 2) || !lasted(i, ms))
			return false;
	return true;
}

static uint64_t cpu_ms(int i)
{
	struct lwp_info info;
	__sys_lwp_info(0, lwp[i].id, &info);
	return (info.utime + info.stime) / MS;
}

/* --- time-share ------------------------------------------------------------------------- */

static struct level {
	int pri;
	hrtime_t since;
} levels[20];
static volatile unsigned nlevels;

/* Logs each change of its own priority. */
static void watch_self(struct raw *r)
{
	struct lwp_info info;

	while (!stop) {
		__sys_lwp_info(0, r->id, &info);
		if ((nlevels == 0 || levels[nlevels - 1].pri != info.pri) && nlevels < 20)
			levels[nlevels++] = (struct level){info.pri, gethrtime()};
	}
}

static bool level_is(unsigned i, int pri, int64_t ms)
{
	int64_t ns = levels[i + 1].since - levels[i].since;
	return i < nlevels && levels[i].pri == pri &&
	       (ms == 0 || (i + 1 < nlevels && ns > (ms - 1) * MS && ns < (ms + 1) * MS));
}

static void test_ts(void)
{
	struct pcparms one = TS(0);

	nlevels = 0;
	prepare(1, watch_self, &one);
	go(1);
	sleep_ms(600);
	finish(1);
	ok("ts: begins at 29, for 120 ms", level_is(0, 29, 120));
	ok("ts: falls to 19, for 160 ms", level_is(1, 19, 160));
	ok("ts: falls to 9, for 200 ms", level_is(2, 9, 200));
	ok("ts: falls to 0", level_is(3, 0, 0));

	static struct tsdpent table[TS_LEVELS], quick[TS_LEVELS];
	struct pcadmin a = {WEFT_CLASS_TS, PC_GETTABLE, (uint64_t)table, sizeof(table)};
	__sys_priocntl(0, 0, PC_ADMIN, &a);
	for (int i = 0; i < TS_LEVELS; i++)
		quick[i] = (struct tsdpent){5000, i > 1 ? i - 1 : 0, 50, 0, 50};
	a = (struct pcadmin){WEFT_CLASS_TS, PC_SETTABLE, (uint64_t)quick, sizeof(quick)};
	is("ts: another table", __sys_priocntl(0, 0, PC_ADMIN, &a), 0);
	nlevels = 0;
	prepare(1, watch_self, &one);
	go(1);
	sleep_ms(60);
	finish(1);
	ok("ts: is in force", level_is(1, 28, 5) && level_is(2, 27, 5) && level_is(3, 26, 5));
	a.pc_table = (uint64_t)table;
	__sys_priocntl(0, 0, PC_ADMIN, &a);

	struct pcparms unequal[] = {TS(20), TS(-20)};
	prepare(2, compute, unequal);
	go(2);
	sleep_ms(800);
	uint64_t x = cpu_ms(0), y = cpu_ms(1);
	finish(2);
	tap_report(x >= 790 && y <= 5, "ts: the user's priority", "%llu and %llu ms of 800",
		   (unsigned long long)x, (unsigned long long)y);

	struct pcparms equal[] = {TS(0), TS(0)};
	prepare(2, compute, equal);
	go(2);
	sleep_ms(4000);
	x = cpu_ms(0), y = cpu_ms(1);
	finish(2);
	tap_report(x > 1700 && y > 1700, "ts: equals share", "%llu and %llu ms of 4000",
		   (unsigned long long)x, (unsigned long long)y);
}

/* --- tricks by which an LWP would have more than its share ------------------------------ */

/* Computes for 10 ms, and sleeps for a moment that is long enough for another to get the CPU. */
static void sleeper(struct raw *r)
{
	struct weft_timespec ts = {0, MS / 2};

	while (!stop) {
		hrtime_t end = gethrtime() + 10 * MS;
		while (gethrtime() < end)
			;
		__sys_lwp_sleep(4, 0, &ts);
	}
}

/* Sets its own parameters every 10 ms, to what they are. */
static void setter(struct raw *r)
{
	struct pcparms p = {.pc_cid = PC_CLNULL};

	__sys_priocntl(P_LWPID, r->id, PC_GETPARMS, &p);
	while (!stop) {
		hrtime_t end = gethrtime() + 10 * MS;
		while (gethrtime() < end)
			;
		__sys_priocntl(P_LWPID, r->id, PC_SETPARMS, &p);
	}
}

/* LWP 1, which computes, has so much in a second beside LWP 0, which does so. */
static void test_trick(const char *name, void (*fn)(struct raw *), struct pcparms p, int64_t ms,
		       unsigned least)
{
	struct pcparms equal[] = {p, p};

	prepare(2, fn, equal);
	lwp[1].fn = compute;
	go(2);
	sleep_ms(ms);
	uint64_t y = cpu_ms(1);
	finish(2);
	tap_report(y >= least, name, "%llu of %llu ms", (unsigned long long)y,
		   (unsigned long long)ms);
}

/* Starts asleep, in a class where no slice ends; is moved to another meanwhile. */
static void moved(struct raw *r)
{
	__sys_lwp_park(NULL, 0);
	compute(r);
}

static void test_tricks(void)
{
	test_trick("ts: a sleep does not renew a slice", sleeper, TS(0), 4000, 1000);
	test_trick("ts: nor does a change of parameters", setter, TS(0), 2000, 500);
	test_trick("rt: nor does that", setter, RR(5, 20), 500, 125);
	test_trick("nt: nor that", setter, NT(8, 0), 1000, 250);

	struct pcparms fifo[] = {FIFO(5), FIFO(5)};
	prepare(2, moved, fifo);
	go(2);
	sleep_ms(5);
	for (int i = 0; i < 2; i++) {
		set(lwp[i].id, NT(8, 0));
		__sys_lwp_unpark(lwp[i].id);
	}
	sleep_ms(500);
	uint64_t x = cpu_ms(0), y = cpu_ms(1);
	finish(2);
	tap_report(x > 100 && y > 100, "a slice without end does not go along to another class",
		   "%llu and %llu ms of 500", (unsigned long long)x, (unsigned long long)y);
}

/* The waits of an LWP count in sum: one that has the CPU where others sleep is found, too. */
static void test_sum(void)
{
	struct pcparms unequal[] = {NT(13, 0), NT(8, 0)};
	struct ntadmin t = {20000, 3, 1, 500, 1};
	struct pcadmin a = {WEFT_CLASS_NT, PC_SETTABLE, (uint64_t)&t, sizeof(t)};
	uint64_t base;

	__sys_priocntl(0, 0, PC_ADMIN, &a);
	prepare(2, sleeper, unequal);
	lwp[1].fn = compute;
	go(2);
	sleep_ms(400);
	base = cpu_ms(1);
	sleep_ms(2000);
	uint64_t y = cpu_ms(1) - base;
	finish(2);
	t.nt_maxwait = 3000;
	__sys_priocntl(0, 0, PC_ADMIN, &a);
	/* In 200 sleeps it has less than a tenth of a second.  A lift is 40 ms. */
	tap_report(y > 110, "nt: waiting counts in sum", "%llu of 2000 ms", (unsigned long long)y);
}

/* --- short slices ------------------------------------------------------------------------- */

static void test_short(void)
{
	struct pcparms p = {.pc_cid = WEFT_CLASS_RT, .rt = {5, 0, 1}}, two[] = {p, p};
	static struct tsdpent table[TS_LEVELS], least[TS_LEVELS];
	struct pcadmin a = {WEFT_CLASS_TS, PC_GETTABLE, (uint64_t)table, sizeof(table)};

	prepare(2, compute, two);
	__sys_priocntl(P_LWPID, lwp[0].id, PC_GETPARMS, &p);
	is("rt: a slice of 1 ns is rounded up", p.rt.rt_tqnsecs, WEFT_SLICE_MIN);
	go(2);
	sleep_ms(20);
	finish(2);
	ok("rt: and the LWPs run", alternate(10, 1));

	__sys_priocntl(0, 0, PC_ADMIN, &a);
	for (int i = 0; i < TS_LEVELS; i++)
		least[i] = (struct tsdpent){1, 0, 0, 0, 0};
	a = (struct pcadmin){WEFT_CLASS_TS, PC_SETTABLE, (uint64_t)least, sizeof(least)};
	is("ts: a table of microseconds", __sys_priocntl(0, 0, PC_ADMIN, &a), 0);
	struct pcparms ts[] = {TS(0), TS(0)};
	prepare(2, compute, ts);
	go(2);
	sleep_ms(20);
	finish(2);
	ok("ts: its slices are rounded up", nturns > 10);
	a.pc_table = (uint64_t)table;
	__sys_priocntl(0, 0, PC_ADMIN, &a);
}

/* --- real-time ----------------------------------------------------------------------------- */

static void test_rt(void)
{
	struct pcparms fifo[] = {FIFO(5), FIFO(5)};
	prepare(2, compute, fifo);
	go(2);
	sleep_ms(3000);
	is("fifo: no slice ends", nturns, 1);
	finish(2);

	struct pcparms rr[] = {RR(5, 30), RR(5, 30)};
	prepare(2, compute, rr);
	go(2);
	sleep_ms(400);
	finish(2);
	ok("rr: turns of 30 ms", alternate(10, 30));

	struct pcparms unlike[] = {RR(6, 20), RR(5, 20)};
	prepare(2, compute, unlike);
	go(2);
	sleep_ms(500);
	is("rt: the higher one alone", nturns, 1);
	finish(2);

	/* The third preempts the first in the middle of its slice: that goes on before its
	 * equal, with the rest of it. */
	struct pcparms three[] = {RR(5, 40), RR(5, 40), FIFO(9)};
	prepare(3, compute, three);
	go(2);
	sleep_ms(15);
	__sys_lwp_continue(lwp[2].id);
	sleep_ms(10);
	__sys_lwp_suspend(lwp[2].id);
	sleep_ms(100);
	ok("rr: preempted after 15 ms", turns[0].who == 0 && lasted(0, 15));
	ok("rr: ... for 10", turns[1].who == 2 && lasted(1, 10));
	ok("rr: goes on with the rest", turns[2].who == 0 && lasted(2, 25));
	ok("rr: then its equal", turns[3].who == 1 && lasted(3, 40));
	__sys_lwp_continue(lwp[2].id);
	finish(3);

	/* An LWP that is given a priority goes behind its equals. */
	prepare(2, compute, fifo);
	go(2);
	sleep_ms(10);
	set(lwp[0].id, FIFO(5));
	sleep_ms(10);
	ok("fifo: a priority set again", runner == 1);
	set(lwp[1].id, FIFO(6));
	sleep_ms(10);
	ok("fifo: a higher one", runner == 1);
	set(lwp[1].id, FIFO(4));
	sleep_ms(10);
	ok("fifo: a lower one", runner == 0);
	finish(2);
}

/* --- NT --------------------------------------------------------------------------------------- */

static struct ntadmin nt_default = {20000, 3, 1, 3000, 1};

static void nt_table(struct ntadmin t)
{
	struct pcadmin a = {WEFT_CLASS_NT, PC_SETTABLE, (uint64_t)&t, sizeof(t)};
	long r = __sys_priocntl(0, 0, PC_ADMIN, &a);
	if (r != 0)
		bail("NT's table: %ld", r);
}

static int nt_level(uint32_t id)
{
	struct pcparms p = {.pc_cid = WEFT_CLASS_NT};
	if (__sys_priocntl(P_LWPID, id, PC_GETPARMS, &p) < 0)
		bail("LWP %u is not in NT", id);
	return p.nt.nt_level;
}

static void nt_slices(const char *name, uint32_t quantum_us, uint32_t stretch, int64_t ms)
{
	struct pcparms equal[] = {NT(8, 0), NT(8, 0)};
	struct ntadmin t = nt_default;

	t.nt_quantum = quantum_us;
	t.nt_stretch = stretch;
	nt_table(t);
	prepare(2, compute, equal);
	go(2);
	sleep_ms(ms * 7);
	finish(2);
	ok(name, alternate(5, ms));
	nt_table(nt_default);
}

static int parks;

/* Parks so many times; then logs how its level falls. */
static void boosted(struct raw *r)
{
	for (int i = 0; i < parks; i++)
		__sys_lwp_park(NULL, 0);
	while (!stop) {
		int level = nt_level(r->id);
		if ((nlevels == 0 || levels[nlevels - 1].pri != level) && nlevels < 20)
			levels[nlevels++] = (struct level){level, gethrtime()};
	}
}

/* Has an LWP that was lifted by 3 after so many waits; returns how long it stays so. */
static int64_t first_slice(int waits, uint32_t clock)
{
	struct pcparms p = NT(8, 0);
	struct ntadmin t = nt_default;

	t.nt_boost = 3;
	t.nt_stretch = 1;
	t.nt_clock = clock;
	nt_table(t);
	nlevels = 0;
	parks = waits;
	prepare(1, boosted, &p);
	go(1);
	sleep_ms(5);
	is("nt: asleep at its base", nt_level(lwp[0].id), 8);
	/* No wake-up is next to a tick, which may come before it or after it. */
	sleep_ms((WEFT_TICK_NS + 2 * MS - gethrtime() % WEFT_TICK_NS) % WEFT_TICK_NS / MS);
	for (int i = 0; i < waits; i++) {
		__sys_lwp_unpark(lwp[0].id);
		sleep_ms(i + 1 < waits ? 5 : 100);
	}
	finish(1);
	ok("nt: a wake-up lifts by the boost", levels[0].pri == 11);
	ok("nt: a level down with the slice", level_is(1, 10, 20));
	ok("nt: and the next", level_is(2, 9, 20));
	ok("nt: not below the base", level_is(3, 8, 0) && nlevels == 4);
	return levels[1].since - levels[0].since;
}

/* The slice that it began, of two ticks, goes on, less a third of a tick for each wait. */
static void test_waits(void)
{
	int64_t tick = WEFT_TICK_NS;

	for (int waits = 1; waits <= 3; waits += 2) {
		int64_t first = first_slice(waits, 0);
		tap_report(first > 20 * MS - waits * tick / 3 - MS &&
				   first < 20 * MS - waits * tick / 3 + MS,
			   "nt: a wait costs a third of a tick", "after %d the slice is %lld us",
			   waits, (long long)first / 1000);
		/* The clock sees no thirds: two more ticks may find it, and one after three waits. */
		first = first_slice(waits, 1);
		int64_t end = (waits == 1 ? 2 : 1) * tick - levels[0].since % tick;
		tap_report(first > end - MS && first < end + MS, "nt: a slice ends with a tick",
			   "after %d waits it is %lld us, not %lld", waits, (long long)first / 1000,
			   (long long)end / 1000);
	}
}

static void test_boost(void)
{
	struct pcparms p;
	struct ntadmin t = nt_default;

	test_waits();
	t.nt_boost = 3;
	t.nt_stretch = 1;
	nt_table(t);
	parks = 1;
	nlevels = 0;
	p = NT(14, 0);
	prepare(1, boosted, &p);
	go(1);
	sleep_ms(5);
	__sys_lwp_unpark(lwp[0].id);
	sleep_ms(10);
	finish(1);
	is("nt: no boost leaves the variable range", levels[0].pri, 15);
	nlevels = 0;
	p = NT(20, 0);
	prepare(1, boosted, &p);
	go(1);
	sleep_ms(5);
	__sys_lwp_unpark(lwp[0].id);
	sleep_ms(10);
	finish(1);
	is("nt: the fixed levels know none", levels[0].pri, 20);
	nt_table(nt_default);
}

/* Sleeps for a time; then its level is what it was. */
static void times_out(struct raw *r)
{
	sleep_ms(20);
	levels[0].pri = nt_level(r->id);
	while (!stop)
		log_turn(r->arg);
}

static void creator(struct raw *r)
{
	log_turn(r->arg);
	__sys_lwp_continue(lwp[1].id);
	compute(r);
}

static void test_nt(void)
{
	nt_slices("nt: in the foreground three times 20 ms", 20000, 3, 60);
	nt_slices("nt: twice", 20000, 2, 40);
	nt_slices("nt: not stretched", 20000, 1, 20);
	nt_slices("nt: a server", 120000, 1, 120);

	/* In the background, here the first process's group, nothing is stretched. */
	if (__sys_setpgrp(0, 1) != 0)
		bail("setpgrp");
	nt_slices("nt: in the background", 20000, 3, 20);

	test_boost();

	struct pcparms p = NT(8, 0);
	prepare(1, times_out, &p);
	go(1);
	sleep_ms(40);
	finish(1);
	is("nt: a time-out lifts nobody", levels[0].pri, 8);

	/* The running LWP keeps the CPU: a new LWP, and an LWP that is started, wait for their
	 * turn. */
	struct pcparms equal[] = {NT(8, 0), NT(8, 0)};
	prepare(2, compute, equal);
	lwp[0].fn = creator;
	__sys_lwp_continue(lwp[0].id);
	sleep_ms(70);
	finish(2);
	ok("nt: the running one is favoured over the new one", turns[0].who == 0 && lasted(0, 20));
	ok("nt: whose turn comes then", turns[1].who == 1 && lasted(1, 20));

	struct pcparms unequal[] = {NT(13, 0), NT(8, 0)};
	struct ntadmin t = nt_default;
	t.nt_maxwait = 1000;
	nt_table(t);
	prepare(2, compute, unequal);
	go(2);
	sleep_ms(2500);
	finish(2);
	nt_table(nt_default);
	ok("nt: the lower one waits for the balance",
	   turns[1].who == 1 && turns[1].from - turns[0].from > 1000 * MS);
	ok("nt: has the top level for a double slice", lasted(1, 40));
	ok("nt: and then its own again",
	   turns[2].who == 0 && (nturns == 3 || turns[3].from - turns[2].from > 500 * MS));
}

int main(void)
{
	set(__sys_lwp_self(), FIFO(TOP));
	test_ts();
	test_rt();
	test_tricks();
	test_sum();
	test_short();
	test_nt();
	return tap_done();
}
