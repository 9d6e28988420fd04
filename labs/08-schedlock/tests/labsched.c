/*
 * labsched.c PART ROUNDS CHANCE - the run queues and the LWPs of the small M:N model: which LWP runs a
 * thread, and when.
 */
#include "labsched.h"

#define SOON 100000l /* ns in which an idle LWP has begun a thread */

/* --- wake: no wake-up is lost ---------------------------------------------------------------- */

/* Pairs meet again and again; so few that LWPs go idle all the time. */
static void part_wake(void)
{
	unsigned n = 2 * (1 + chance % lwps);

	for (unsigned i = 0; i < n; i++)
		make(comes_and_goes, i);
	for (unsigned i = 0; i < n; i++)
		sem_wait(&told);
	join_all();
}

/* --- idle: an LWP that goes idle misses no thread ------------------------------------------------ */

static volatile unsigned asked, answered;

/* Its LWP goes idle each time. */
static void *answers(void *unused)
{
	for (unsigned i = 1; i <= rounds; i++) {
		__atomic_store_n(&asked, i, __ATOMIC_RELEASE);
		sem_wait(&turn[0]);
		__atomic_store_n(&answered, i, __ATOMIC_RELEASE);
	}
	return NULL;
}

/*
 * The waker keeps its LWP for as long as the woken thread may need for another one.  It posts after a
 * time by chance, at which the LWP of the other thread may be anywhere on its way to the park.
 */
static void part_idle(void)
{
	make(answers, 0);
	for (unsigned i = 1; i <= rounds; i++) {
		while (now_in(&asked) < i)
			;
		turns(draw(&chance, 120));
		sem_post(&turn[0]);
		int64_t limit = gethrtime() + SOON;
		while (now_in(&answered) < i && gethrtime() < limit)
			;
		EXPECT(now_in(&answered) == i,
		       "wake-up %ld: the thread waits in a run queue, and an LWP is idle: it "
		       "looked before "
		       "the thread was there, or was not told",
		       i);
	}
	join_all();
}

/* --- spread: no LWP is idle while a thread waits for one ---------------------------------------- */

static volatile unsigned computing;

static void *computes(void *unused)
{
	add_one(&computing);
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE))
		;
	add_one(&ended);
	return NULL;
}

static void *waits_and_computes(void *arg)
{
	add_one(&ended);
	sem_wait(&turn[(uintptr_t)arg]);
	return computes(arg);
}

/* The caller computes too, so the other threads are for the other LWPs. */
static void all_turns(const char *text)
{
	int64_t limit = gethrtime() + (int64_t)__ncpu * SOON;

	while (now_in(&computing) + 1 < lwps && gethrtime() < limit)
		;
	unsigned n = now_in(&computing) + 1;
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	EXPECT3(n == lwps, text, n, lwps, 0);
	join_all();
	computing = ended = 0;
	stop = false;
}

static void part_spread(void)
{
	for (unsigned r = 0; r < rounds; r++) {
		nap(50000 + draw(&chance, 50000)); /* the LWPs are idle */
		for (unsigned i = 1; i < lwps; i++)
			make(computes, i);
		all_turns(
			"threads were created on one LWP, and %ld of %ld LWPs run one: the others "
			"are idle");
		for (unsigned i = 1; i < lwps; i++)
			make(waits_and_computes, i);
		until(&ended, lwps - 1);
		nap(50000 + draw(&chance, 50000));
		ended = 0;
		for (unsigned i = 1; i < lwps; i++) {
			sem_post(&turn[i]);
			turns(draw(&chance, 200));
		}
		all_turns("threads were woken on one LWP, and %ld of %ld LWPs run one: the "
			  "others are "
			  "idle");
	}
}

/* --- order: first in, first out ------------------------------------------------------------------ */

static unsigned came[THREADS];
static unsigned came_count;

static void *tells_order(void *arg)
{
	unsigned me = (uintptr_t)arg;

	for (unsigned r = 0; r < rounds; r++) {
		sem_wait(&turn[me]);
		came[came_count++] = me;
		sched_yield();
		came[came_count++] = me;
	}
	return NULL;
}

/* On one LWP. */
static void part_order(void)
{
	unsigned n = 8, order[8];

	for (unsigned i = 0; i < n; i++)
		make(tells_order, i);
	sched_yield();
	for (unsigned r = 0; r < rounds; r++) {
		for (unsigned i = 0; i < n; i++)
			order[i] = i;
		for (unsigned i = n - 1; i > 0; i--) {
			unsigned other = draw(&chance, i + 1), was = order[i];
			order[i] = order[other];
			order[other] = was;
		}
		came_count = 0;
		for (unsigned i = 0; i < n; i++)
			sem_post(&turn[order[i]]);
		while (came_count < 2 * n)
			sched_yield();
		for (unsigned i = 0; i < 2 * n; i++)
			EXPECT3(came[i] == order[i % n],
				"place %ld in the run queue: thread %ld runs, and thread %ld was "
				"there first",
				i + 1, came[i], order[i % n]);
	}
	join_all();
}

/* --- behind: the queue of an LWP that is blocked in the kernel ------------------------------------- */

static volatile unsigned steps[THREADS];

static void *yields(void *arg)
{
	while (!stop) {
		add_one(&steps[(uintptr_t)arg]);
		sched_yield();
	}
	return NULL;
}

static void *turns_over(void *arg)
{
	unsigned me = (uintptr_t)arg;

	while (!stop) {
		add_one(&steps[me]);
		sem_post(&turn[me ^ 1]);
		sem_wait(&turn[me]);
	}
	sem_post(&turn[me ^ 1]);
	return NULL;
}

/* The other LWPs always have a thread in their queues while this LWP sleeps in the kernel. */
static void part_behind(void)
{
	unsigned n = 4 * lwps, before[THREADS];

	for (unsigned i = 0; i < n; i++)
		make(i < 2 * lwps ? yields : turns_over, i);
	for (unsigned r = 0; r < rounds; r++) {
		for (unsigned i = 0; i < 10; i++)
			sched_yield();
		make(yields, n + r);
		for (unsigned i = 0; i <= n + r; i++)
			before[i] = steps[i];
		nap(2 * MS);
		for (unsigned i = 0; i <= n + r; i++)
			EXPECT3(steps[i] != before[i],
				"thread %ld of %ld could run for 2 ms, and has not: it waits in "
				"the queue "
				"of an LWP that is blocked in the kernel",
				i, n + r, 0);
	}
	stop = true;
	join_all();
}

/* --- quiet: idle LWPs use no CPU -------------------------------------------------------------------- */

static void part_quiet(void)
{
	uint64_t before, used;

	part_wake(); /* leaves permits behind */
	nap(100000);
	before = cpu_of_process();
	nap(10 * MS);
	used = cpu_of_process() - before;
	EXPECT(used < 20000,
	       "no thread can run for 10 ms, and the process uses %ld ns of CPU time: does an idle "
	       "LWP "
	       "look again and again?",
	       used);
	made_count = 0;
	part_wake();
}

/* --- main ---------------------------------------------------------------------------------------------- */

static const struct part parts[] = {
	{"wake", part_wake, 15},   {"idle", part_idle, 60},     {"spread", part_spread, 20},
	{"order", part_order, 10}, {"behind", part_behind, 30}, {"quiet", part_quiet, 40},
};

int main(int argc, char **argv)
{
	const struct part *part = part_choose(parts, sizeof(parts) / sizeof(parts[0]), argc, argv);

	return part_play(part, argc, argv, part != NULL && part->play == part_order ? 1 : 0);
}
