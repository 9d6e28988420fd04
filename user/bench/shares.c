/*
 * shares.c - how much of the CPUs threads that compute get, beside threads that sleep.
 *
 * shares CLASS NEIGHBOUR LOOPS MILLISECONDS
 *
 * LOOPS threads compute.  Beside them one or two neighbours want a CPU all the time, too, except
 * that they sleep for a moment after each TURN:
 *
 * sleep		one, which sleeps for a tenth of a millisecond
 * nopreempt	the same; it asks not to be preempted meanwhile, and pays with the sleep
 * alarm		one, which waits for a signal of a timer, so that it is asleep at each tick
 * pipe		two, which wake each other through pipes, each after a turn
 * lock		the same with unpark and park, as threads that share a lock
 * pingpong	two that unpark each other without a turn between
 *
 * CLASS is that of all these threads: TS, NT or RT (slices of 20 ms).  The main thread sleeps until
 * the time is over.  Then it prints, for each kind of thread, the least CPU time of a thread of
 * that kind, in thousandths of the fair share.  The fair share is the CPUs' time divided by the
 * number of all threads, at most one CPU's.
 */
#include "common/bench.h"
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/priocntl.h>
#include <sys/time.h>
#include <unistd.h>
#include <weft/abi.h>
#include <weft/lwp.h>
#include <weft/schedctl.h>
#include <weft/start.h>
#include <weft/time.h>

#define MS 1000000ll
#define TURN (10 * MS)
#define NAP (MS / 10) /* some thousand instructions: a switch out, a switch in */
#define BEFORE_TICK NAP
#define MAX_LOOPS 64
#define MAIN_PRI 50

const char bench_name[] = "shares";

static struct one {
	pthread_t thread;
	void (*run)(struct one *);
	struct one *partner;
	uint32_t lwp; /* atomic: 0 until it is known */
	bool turn;    /* atomic: it has its turn */
	int pipe[2];  /* the thread reads what its partner writes */
} ones[MAX_LOOPS + 2];
static pthread_barrier_t all_here;

static void nap(int64_t ns)
{
	struct weft_timespec ts = {ns / (1000 * MS), ns % (1000 * MS)};

	__sys_lwp_sleep(CLOCK_MONOTONIC, 0, &ts);
}

static void one_turn(void)
{
	hrtime_t end = gethrtime() + TURN;

	while (gethrtime() < end)
		;
}

static void loops(struct one *o)
{
	for (;;)
		;
}

static void sleeps(struct one *o)
{
	for (;;) {
		one_turn();
		nap(NAP);
	}
}

static void holds_off(struct one *o)
{
	struct schedctl *sc = (struct schedctl *)__sys_lwp_schedctl();

	for (;;) {
		sc->nopreempt = 1;
		one_turn();
		sc->nopreempt = 0;
		nap(NAP);
	}
}

static void rings(int sig)
{
}

static void awaits_signal(struct one *o)
{
	struct itimerval it = {.it_value.tv_usec = 10000, .it_interval.tv_usec = 10000};
	sigset_t none;

	sigemptyset(&none);
	/* The timer expires just after a tick. */
	nap(WEFT_TICK_NS - gethrtime() % WEFT_TICK_NS);
	setitimer(ITIMER_REAL, &it, NULL);
	for (;;) {
		sigsuspend(&none);
		hrtime_t tick = gethrtime() / WEFT_TICK_NS * WEFT_TICK_NS + WEFT_TICK_NS;
		while (gethrtime() < tick - BEFORE_TICK)
			;
	}
}

static void await_turn(struct one *o)
{
	while (!__atomic_load_n(&o->turn, __ATOMIC_ACQUIRE))
		__sys_lwp_park(NULL, 0);
	o->turn = false;
}

static void give_turn(struct one *o)
{
	__atomic_store_n(&o->partner->turn, true, __ATOMIC_RELEASE);
	__sys_lwp_unpark(o->partner->lwp);
}

static void pipes(struct one *o)
{
	char c = 0;

	for (bool waits = !o->turn;; waits = true) {
		if (waits && read(o->pipe[0], &c, 1) != 1)
			fail("read");
		one_turn();
		if (write(o->partner->pipe[1], &c, 1) != 1)
			fail("write");
	}
}

static void locks(struct one *o)
{
	for (;;) {
		await_turn(o);
		one_turn();
		give_turn(o);
	}
}

static void hands_over(struct one *o)
{
	for (;;) {
		await_turn(o);
		give_turn(o);
	}
}

static const struct {
	const char *name;
	void (*run)(struct one *);
	unsigned threads;
} neighbours[] = {
	{"sleep", sleeps, 1}, {"nopreempt", holds_off, 1}, {"alarm", awaits_signal, 1},
	{"pipe", pipes, 2},   {"lock", locks, 2},          {"pingpong", hands_over, 2},
};

static const struct {
	const char *name;
	struct pcparms parms;
} classes[] = {
	{"TS", {.pc_cid = WEFT_CLASS_TS, .ts = {0, 0}}},
	{"NT", {.pc_cid = WEFT_CLASS_NT, .nt = {NT_NORMAL_CLASS, 0, 0}}},
	{"RT", {.pc_cid = WEFT_CLASS_RT, .rt = {1, 0, 20 * MS}}},
};

static void *start(void *arg)
{
	struct one *o = arg;

	__atomic_store_n(&o->lwp, __sys_lwp_self(), __ATOMIC_RELEASE);
	pthread_barrier_wait(&all_here);
	o->run(o);
	return NULL;
}

static void set_class(uint32_t lwp, const struct pcparms *parms)
{
	struct pcparms p = *parms;

	must(-__sys_priocntl(P_LWPID, lwp, PC_SETPARMS, &p), "priocntl");
}

static int64_t cpu_time(const struct one *o)
{
	struct lwp_info info;

	if (__sys_lwp_info(0, o->lwp, &info) != (long)o->lwp)
		fail("lwp_info");
	return info.utime + info.stime;
}

/* The least CPU time of n threads. */
static int64_t least(const struct one *o, unsigned n)
{
	int64_t t = cpu_time(o);

	while (--n > 0) {
		int64_t other = cpu_time(++o);
		if (other < t)
			t = other;
	}
	return t;
}

static unsigned find(const char *what, const char *name, const void *table, size_t size, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (strcmp(*(const char *const *)((const char *)table + i * size), name) == 0)
			return i;
	fprintf(stderr, "%s: %s %s: unknown\n", bench_name, what, name);
	exit(2);
}
#define FIND(what, name, table)                                                                    \
	find(what, name, table, sizeof(table[0]), sizeof(table) / sizeof(table[0]))

int main(int argc, char **argv)
{
	const struct pcparms above = {.pc_cid = WEFT_CLASS_RT, .rt = {MAIN_PRI, 0, RT_TQINF}};

	if (argc != 5) {
		fprintf(stderr, "usage: shares CLASS NEIGHBOUR LOOPS MILLISECONDS\n");
		return 2;
	}
	unsigned class = FIND("class", argv[1], classes),
		 kind = FIND("neighbour", argv[2], neighbours);
	unsigned nloops = number("loops", argv[3], 1, MAX_LOOPS);
	int64_t time = number("time", argv[4], 10, 1000000) * MS;
	unsigned beside = neighbours[kind].threads, n = nloops + beside;
	struct one *last = &ones[nloops];

	/* All threads block the signal, except in the wait for it. */
	sigset_t alarm;
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigprocmask(SIG_BLOCK, &alarm, NULL);
	signal(SIGALRM, rings);
	must(pthread_barrier_init(&all_here, NULL, n + 1), "pthread_barrier_init");
	set_class(__sys_lwp_self(), &above);
	for (unsigned i = 0; i < n; i++) {
		struct one *o = &ones[i];
		o->run = i < nloops ? loops : neighbours[kind].run;
		o->partner = &ones[nloops + beside - 1 - (i - nloops)];
		o->turn = o == last;
		if (pipe(o->pipe) != 0)
			fail("pipe");
		must(pthread_create(&o->thread, NULL, start, o), "pthread_create");
	}
	/* All threads wait in the barrier after this loop, so that they begin together. */
	for (unsigned i = 0; i < n; i++) {
		while (__atomic_load_n(&ones[i].lwp, __ATOMIC_ACQUIRE) == 0)
			nap(MS);
		set_class(ones[i].lwp, &classes[class].parms);
	}
	pthread_barrier_wait(&all_here);
	int64_t loop = least(ones, nloops), neighbour = least(last, beside);
	hrtime_t from = gethrtime();
	nap(time);
	loop = least(ones, nloops) - loop;
	neighbour = least(last, beside) - neighbour;
	int64_t passed = gethrtime() - from;
	int64_t fair = passed * sysconf(_SC_NPROCESSORS_ONLN) / n;
	if (fair > passed)
		fair = passed;
	printf("result least=%lld loop=%lld neighbour_least=%lld\n",
	       (long long)((loop < neighbour ? loop : neighbour) * 1000 / fair),
	       (long long)(loop * 1000 / fair), (long long)(neighbour * 1000 / fair));
	fflush(stdout);
	_Exit(0);
}
