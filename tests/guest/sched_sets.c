/*
 * sched_sets.c - nothing runs outside of its set, while CPUs go offline and come back and
 * change sets, LWPs are bound and set free, sleep, wake each other and exit.
 *
 *	sched_sets [ROUNDS]
 *
 * Half of the workers are in a set, the others in the default one.  Each worker looks again
 * and again on which CPU it is; the main LWP says in `allowed` where each half may be.  It
 * takes a CPU away only after the call that took it away has returned, and gives one before
 * it makes the call that gives it: a worker outside of what stood there before and
 * after it looked is outside of its set.
 */
#include <stdbool.h>
#include <weft/priocntl.h>
#include <weft/processor.h>
#include <weft/start.h>
#include "rawlwp.h"
#include "tap.h"

#define WORKERS 12

static struct raw lwp[WORKERS];
static volatile bool stop;
static volatile uint64_t allowed[2]; /* by half: CPUs, bit by bit */
static volatile uint64_t looks[WORKERS], strangers;
static int set, cpus;
static uint32_t rng = 12345;

static unsigned draw(unsigned n)
{
	rng ^= rng << 13;
	rng ^= rng >> 17;
	rng ^= rng << 5;
	return rng % n;
}

static void worker(struct raw *r)
{
	int half = r->arg % 2;
	uint32_t neighbour = lwp[(r->arg + 2) % WORKERS].id;

	for (uint64_t n = 1; !stop; n++) {
		uint64_t before = __atomic_load_n(&allowed[half], __ATOMIC_SEQ_CST);
		uint64_t here = 1ull << cpu_now();
		uint64_t after = __atomic_load_n(&allowed[half], __ATOMIC_SEQ_CST);
		if (!((before | after) & here))
			__atomic_fetch_add(&strangers, 1, __ATOMIC_SEQ_CST);
		looks[r->arg]++;
		if (n % 512 == r->arg) {
			struct weft_timespec ts = {.nsec = 20000};
			__sys_lwp_sleep(4, 0, &ts);
		} else if (n % 64 == 0) {
			__sys_lwp_unpark(neighbour);
		} else if (n % 100 == 0) {
			__sys_lwp_yield();
		}
	}
}

static void allow(int half, int cpu, bool yes)
{
	if (yes)
		__atomic_fetch_or(&allowed[half], 1ull << cpu, __ATOMIC_SEQ_CST);
	else
		__atomic_fetch_and(&allowed[half], ~(1ull << cpu), __ATOMIC_SEQ_CST);
}

static unsigned busy, done;

static void count(long r)
{
	if (r == -EBUSY)
		busy++;
	else if (r < 0)
		bail("a call failed: %ld", r);
	else
		done++;
}

/* A CPU goes to the other set, or is refused. */
static void move(int cpu)
{
	int old;

	if (__sys_pset_assign(PS_QUERY, cpu, &old) != 0)
		bail("pset_assign");
	int from = old == set, to = !from;
	bool on = __sys_p_online(cpu, P_STATUS) == P_ONLINE;
	if (on)
		allow(to, cpu, true);
	long r = __sys_pset_assign(to ? set : PS_NONE, cpu, NULL);
	count(r);
	if (on)
		allow(r == 0 ? from : to, cpu, false);
}

static void flap(int cpu)
{
	int in;

	__sys_pset_assign(PS_QUERY, cpu, &in);
	int half = in == set;
	if (__sys_p_online(cpu, P_STATUS) == P_ONLINE) {
		long r = __sys_p_online(cpu, P_OFFLINE);
		count(r);
		if (r >= 0)
			allow(half, cpu, false);
	} else {
		allow(half, cpu, true);
		count(__sys_p_online(cpu, P_ONLINE));
	}
}

/* Binds a worker where it may be, or sets it free. */
static void tie(int i)
{
	int in, cpu = draw(cpus);

	__sys_pset_assign(PS_QUERY, cpu, &in);
	bool may = (in == set) == i % 2 && __sys_p_online(cpu, P_STATUS) == P_ONLINE;
	count(__sys_processor_bind(WEFT_P_LWPID, lwp[i].id, may ? cpu : PBIND_NONE, NULL));
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 2000;

	cpus = __ncpu;
	if (cpus < 2)
		bail("wants two CPUs or more");
	if (__sys_pset_create(&set) != 0 || __sys_pset_assign(set, cpus - 1, NULL) != 0)
		bail("no set");
	allowed[0] = (1ull << (cpus - 1)) - 1;
	allowed[1] = 1ull << (cpus - 1);
	for (int i = 0; i < WORKERS; i++) {
		if (raw_start(&lwp[i], worker, i, LWP_SUSPENDED) != 0)
			bail("lwp_create failed");
		if (i % 2 && __sys_pset_bind(set, WEFT_P_LWPID, lwp[i].id, NULL) != 0)
			bail("pset_bind");
	}
	/* So that it need not wait for its turn. */
	struct pcparms p = {WEFT_CLASS_RT, {.rt = {1, 0, RT_TQINF}}};
	if (__sys_priocntl(WEFT_P_LWPID, WEFT_P_MYID, PC_SETPARMS, &p) != 0)
		bail("priocntl");
	for (int i = 0; i < WORKERS; i++)
		__sys_lwp_continue(lwp[i].id);

	for (int n = 0; n < rounds; n++) {
		switch (draw(4)) {
		case 0:
			flap(draw(cpus));
			break;
		case 1:
			move(draw(cpus));
			break;
		default:
			tie(draw(WORKERS));
			/* Bound for a while only, so that CPUs can be moved. */
			if (draw(2))
				for (int i = 0; i < WORKERS; i++)
					__sys_processor_bind(WEFT_P_LWPID, lwp[i].id, PBIND_NONE,
							     NULL);
		}
		struct weft_timespec ts = {.nsec = 50000};
		__sys_lwp_sleep(4, 0, &ts);
	}

	/* All CPUs back: everybody must get on. */
	for (int i = 0; i < WORKERS; i++)
		__sys_processor_bind(WEFT_P_LWPID, lwp[i].id, PBIND_NONE, NULL);
	allowed[0] = allowed[1] = (1ull << cpus) - 1;
	for (int i = 0; i < cpus; i++)
		__sys_p_online(i, P_ONLINE);
	is("destroy the set", __sys_pset_destroy(set), 0);
	uint64_t old[WORKERS];
	for (int i = 0; i < WORKERS; i++)
		old[i] = looks[i];
	int stuck = WORKERS;
	for (int tries = 0; stuck != 0 && tries < 1000; tries++) {
		struct weft_timespec ts = {.nsec = 10000000};
		__sys_lwp_sleep(4, 0, &ts);
		stuck = 0;
		for (int i = 0; i < WORKERS; i++)
			stuck += looks[i] == old[i];
	}
	is("nobody was left on a queue", stuck, 0);
	stop = true;
	for (int i = 0; i < WORKERS; i++)
		__sys_lwp_wait(lwp[i].id, NULL);
	is("nobody ran outside of its set", strangers, 0);
	tap_report(done > (unsigned)rounds / 4 && (cpus > 2 ? busy > 0 : 1), "changes were made",
		   "%u made, %u refused", done, busy);
	return tap_done();
}
