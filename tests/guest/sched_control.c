/*
 * sched_control.c - preemption control and the dispatcher as user space sees them, in each
 * class.
 *
 *	sched_control [MILLISECONDS]
 */
#include "rawlwp.h"
#include "tap.h"
#include <weft/priocntl.h>
#include <weft/start.h>

static int64_t run_ns = 600000000;

/* The classes: that of the LWPs, and that of the main one, which must have a CPU to end it. */
static const struct {
	const char *name;
	struct pcparms lwps, main;
} classes[] = {
	{"TS", {WEFT_CLASS_TS, {.ts = {0, 0}}}, {WEFT_CLASS_TS, {.ts = {0, 0}}}},
	{"RT",
	 {WEFT_CLASS_RT, {.rt = {1, 0, 40000000}}},
	 {WEFT_CLASS_RT, {.rt = {2, 0, RT_TQINF}}}},
	{"NT", {WEFT_CLASS_NT, {.nt = {8, 0, 0}}}, {WEFT_CLASS_NT, {.nt = {13, 0, 0}}}},
};
static unsigned class;
static volatile uint32_t go;

/* Two LWPs a CPU, so that each CPU has to be shared. */
#define MAXLWP 32
static struct raw lwp[MAXLWP];
static volatile uint64_t work[MAXLWP], yields[MAXLWP];

static uint64_t cpu_time(uint32_t id)
{
	struct lwp_info i;
	if (__sys_lwp_info(0, id, &i) != (long)id)
		bail("lwp_info of %u", id);
	return i.utime + i.stime;
}

/* Works; the even ones never let go of "do not preempt". */
static void greedy(struct raw *r)
{
	if (r->arg % 2 == 0)
		r->sc->nopreempt = 1;
	while (!__atomic_load_n(&go, __ATOMIC_ACQUIRE))
		work[r->arg]++;
	r->sc->nopreempt = 0;
}

/* Works in sections of preemption control, and pays when asked to. */
static void honest(struct raw *r)
{
	while (!__atomic_load_n(&go, __ATOMIC_ACQUIRE)) {
		r->sc->nopreempt = 1;
		for (int i = 0; i < 2000; i++)
			work[r->arg]++;
		r->sc->nopreempt = 0;
		if (r->sc->yield) {
			yields[r->arg]++;
			__sys_lwp_yield();
			if (r->sc->yield) /* paid: the mark is gone */
				work[r->arg] = 0;
		}
	}
}

static void sleep_ns(int64_t ns)
{
	struct weft_timespec ts = {ns / 1000000000, ns % 1000000000};
	__sys_lwp_sleep(WEFT_CLOCK_MONOTONIC, 0, &ts);
}

static void enter(uint32_t id, struct pcparms p)
{
	long r = __sys_priocntl(WEFT_P_LWPID, id, PC_SETPARMS, &p);
	if (r != 0)
		bail("priocntl: %ld", r);
}

static void run(int n, void (*fn)(struct raw *), uint64_t cpu[])
{
	go = 0;
	for (int i = 0; i < n; i++) {
		work[i] = yields[i] = 0;
		if (raw_start(&lwp[i], fn, i, LWP_SUSPENDED) != 0)
			bail("lwp_create failed");
		enter(lwp[i].id, classes[class].lwps);
	}
	enter(__sys_lwp_self(), classes[class].main);
	for (int i = 0; i < n; i++)
		__sys_lwp_continue(lwp[i].id);
	sleep_ns(run_ns * (n > 8 ? 4 : 2));
	for (int i = 0; i < n; i++)
		cpu[i] = cpu_time(lwp[i].id);
	__atomic_store_n(&go, 1, __ATOMIC_RELEASE);
	for (int i = 0; i < n; i++)
		__sys_lwp_wait(lwp[i].id, NULL);
}

static void check(const char *what, int passed, uint64_t hog, uint64_t neighbour)
{
	char name[80];

	snprintf(name, sizeof(name), "%s: %s", classes[class].name, what);
	tap_report(passed, name, "%llu us against %llu us", (unsigned long long)hog / 1000,
		   (unsigned long long)neighbour / 1000);
}

static void test_class(int n)
{
	uint64_t cpu[MAXLWP];

	run(n, greedy, cpu);
	uint64_t hog = 0, neighbour = 0;
	for (int i = 0; i < n; i++)
		*(i % 2 ? &neighbour : &hog) += cpu[i];
	/* A grace of 2 ticks, once, beside slices of 2 to 20 ticks. */
	check("for ever in preemption control: no more CPU", hog < neighbour + neighbour / 2, hog,
	      neighbour);
	check("for ever in preemption control: no less CPU", neighbour < hog + hog / 2, hog,
	      neighbour);

	run(n, honest, cpu);
	uint64_t asked = 0;
	int starved = 0, unpaid = 0;
	for (int i = 0; i < n; i++) {
		asked += yields[i];
		starved += cpu[i] == 0;
		unpaid += work[i] == 0;
	}
	ok("sections of preemption control: asked to yield", asked > 0);
	is("sections of preemption control: nobody starves", starved, 0);
	is("sections of preemption control: the yield clears the mark", unpaid, 0);
}

int main(int argc, char **argv)
{
	int n = 2 * __ncpu;

	if (argc > 1)
		run_ns = atoll(argv[1]) * 1000000;
	if (n > MAXLWP)
		n = MAXLWP;
	for (class = 0; class < sizeof(classes) / sizeof(classes[0]); class ++)
		test_class(n);
	return tap_done();
}
