/*
 * labmxn.c PART THREADS CHANCE - the scheduler of the M:N library on one LWP, rule by rule: which thread
 * runs next.
 */
#include "labmxn.h"

#define SOON 200000l /* ns: from a deadline to the thread, at most */

static int pri[THREADS];

/* The caller is one of the threads of the only LWP: gives it to the others until they are blocked. */
static void yield_until_blocked(void)
{
	for (unsigned i = 0; i < made_count; i++)
		while (!is_blocked(made[i]))
			thr_yield();
}

/* --- order: the run queue ----------------------------------------------------------------------- */

static void *tells_order(void *arg)
{
	unsigned me = (uintptr_t)arg;

	for (int i = 0; i < 2; i++) {
		ran[me] = ++turn;
		if (turn == count)
			sem_post(&done);
		if (i == 0)
			sem_wait(&gate[me]);
	}
	return NULL;
}

static unsigned entered[THREADS]; /* the order in which they entered the run queue */

static void order_is_right(const char *text)
{
	EXPECT3(turn == count, "%ld of %ld threads have run", turn, count, 0);
	for (unsigned a = 0; a < count; a++)
		for (unsigned b = 0; b < count; b++) {
			EXPECT3(pri[a] <= pri[b] || ran[a] < ran[b],
				"a thread of priority %ld runs before a thread of priority %ld, "
				"and both are in the run queue",
				pri[b], pri[a], 0);
			EXPECT3(pri[a] != pri[b] || entered[a] > entered[b] || ran[a] <= ran[b],
				text, pri[a], entered[a], entered[b]);
		}
}

static unsigned place[THREADS];

static void shuffle(void)
{
	for (unsigned i = 0; i < count; i++) {
		unsigned to = draw(&chance, i + 1);
		place[i] = place[to];
		place[to] = i;
	}
}

static void part_order(void)
{
	shuffle();

	for (unsigned i = 0; i < count; i++) {
		make(tells_order, i);
		entered[i] = i;
	}
	for (unsigned i = 0; i < count; i++) {
		unsigned who = place[i];
		pri[who] = i % 4 < 2 ? (int)(i % 4) * 20 : (int)draw(&chance, 4) * 20;
		if (pri[who] != 0) {
			thr_setprio(made[who], pri[who]);
			entered[who] = count + i;
		}
	}
	EXPECT(turn == 0, "%ld threads have run, and the only LWP has not left its thread", turn);
	sem_wait(&done);
	order_is_right("two threads of priority %ld are in the run queue, and the thread that "
		       "came later (place %ld, not %ld) runs first");
	yield_until_blocked();
	thr_setprio(thr_self(), 60);
	turn = 0;
	shuffle();
	for (unsigned i = 0; i < count; i++) {
		unsigned who = place[i];
		entered[who] = i;
		sem_post(&gate[who]);
	}
	EXPECT(turn == 0,
	       "%ld threads run when a thread of the same or a higher priority has "
	       "woken them, and there is one LWP",
	       turn);
	thr_setprio(thr_self(), 0);
	sem_wait(&done);
	order_is_right("two threads of priority %ld have been woken, and the thread that was "
		       "woken later (place %ld, not %ld) runs first");
	join_all();
}

/* --- yield ------------------------------------------------------------------------------------- */

#define LAPS 20
static uint8_t lap[LAPS * THREADS];

static void *yields(void *arg)
{
	for (unsigned i = 0; i < LAPS; i++) {
		lap[turn++] = (uintptr_t)arg;
		thr_yield();
	}
	return NULL;
}

static void *runs_once(void *arg)
{
	ran[(uintptr_t)arg] = ++turn;
	return NULL;
}

static void part_yield(void)
{
	for (unsigned i = 0; i < count; i++)
		make(yields, i);
	join_all();
	for (unsigned i = 0; i < turn; i++)
		EXPECT3(lap[i] == i % count,
			"%ld threads yield to each other, and thread %ld runs where it is the turn "
			"of thread %ld: a thread that yields goes to the tail",
			count, lap[i], i % count);
	turn = 0;
	thr_setprio(thr_self(), 5);
	make(runs_once, 0);
	thr_setprio(made[0], 0);
	thr_yield();
	EXPECT(turn == 0, "a thread of priority 5 yields to a thread of priority 0", 0);
	make(runs_once, 1);
	thr_setprio(made[1], 5);
	make(runs_once, 2);
	thr_setprio(made[2], 9);
	thr_yield();
	EXPECT(turn == 2,
	       "a thread of priority 5 yields, threads of the priorities 5 and 9 are in "
	       "the run queue, and %ld threads have run when it goes on, not 2",
	       turn);
	EXPECT(ran[2] == 1, "a thread of priority 5 runs before a thread of priority 9", 0);
	join_all();
}

/* --- priority: a woken thread takes the LWP of its waker ------------------------------------------ */

static pthread_barrier_t barrier;

static void *waits_twice(void *arg)
{
	unsigned me = (uintptr_t)arg;

	sem_wait(&gate[me]);
	ran[me] = 1;
	pthread_barrier_wait(&barrier);
	ran[me] = 2;
	return NULL;
}

static void higher_have_run(unsigned want, const char *text)
{
	for (unsigned i = 0; i < count; i++)
		EXPECT3(pri[i] == 30 || (ran[i] == want) == (pri[i] > 30), text, pri[i], ran[i],
			want);
}

static void part_priority(void)
{
	pthread_barrier_init(&barrier, NULL, count + 1);
	for (unsigned i = 0; i < count; i++) {
		make(waits_twice, i);
		pri[i] = i == 0 ? 31 : i == 1 ? 30 : i == 2 ? 0 : (int)draw(&chance, 61);
		thr_setprio(made[i], pri[i]);
	}
	yield_until_blocked();
	thr_setprio(thr_self(), 30);
	for (unsigned i = 0; i < count; i++) {
		sem_post(&gate[i]);
		EXPECT3((ran[i] == 1) == (pri[i] > 30),
			"a thread of priority 30 wakes a thread of priority %ld on the only LWP, "
			"and when it goes on, the woken thread has run %ld times",
			pri[i], ran[i], 0);
	}
	thr_setprio(thr_self(), 0);
	yield_until_blocked();
	thr_setprio(thr_self(), 30);
	pthread_barrier_wait(&barrier);
	higher_have_run(2, "a thread of priority 30 wakes many threads in one call, and of these "
			   "the thread of priority %ld has come to point %ld of %ld: threads of "
			   "higher priorities run at once, the others wait");
	thr_setprio(thr_self(), 0);
	join_all();
}

/* --- timed ------------------------------------------------------------------------------------------ */

static volatile int said;
static volatile int64_t ended_at, deadline_at;

static void *waits_until(void *arg)
{
	unsigned me = (uintptr_t)arg;

	said = wait_until(me, deadline_at);
	ended_at = gethrtime();
	sem_post(&done);
	sem_wait(&gate[me]); /* without a deadline */
	ran[me] = 1;
	return NULL;
}

static void part_timed(void)
{
	for (unsigned i = 0; i < count; i++) {
		bool woken = i & 1;
		said = -1;
		deadline_at = gethrtime() + 300000 + draw(&chance, 200000);
		make(waits_until, i);
		thr_yield();
		if (woken)
			sem_post(&gate[i]);
		sem_wait(&done);
		EXPECT(said == (woken ? 0 : ETIMEDOUT),
		       woken ? "a thread is woken before its deadline, and its wait ends with "
			       "error %ld"
			     : "a deadline passes, and the wait ends with result %ld, not "
			       "ETIMEDOUT",
		       said);
		EXPECT(woken || ended_at >= deadline_at, "a wait ends %ld ns before its deadline",
		       deadline_at - ended_at);
		EXPECT(woken || ended_at < deadline_at + SOON,
		       "a wait ends %ld ns after its deadline", ended_at - deadline_at);
		yield_until_blocked();
		nap(600000);
		thr_yield();
		EXPECT(ran[i] == 0 && is_blocked(made[0]),
		       "a wait has ended, and its deadline ends the next wait of the thread", 0);
		sem_post(&gate[i]);
		join_all();
	}
}

/* --- instructions ------------------------------------------------------------------------------------- */

#define TIMES 200

static void *yields_often(void *arg)
{
	while (!stop)
		thr_yield();
	return NULL;
}

static void part_cost_yield(void)
{
	make(yields_often, 0);
	thr_yield();
	int64_t begin = gethrtime();
	for (int i = 0; i < TIMES; i++)
		thr_yield();
	lab_figure("yield-pair", (gethrtime() - begin) / TIMES);
	stop = true;
	join_all();
}

static void *answers(void *arg)
{
	for (int i = 0; i <= TIMES; i++) {
		sem_wait(&gate[0]);
		sem_post(&gate[1]);
	}
	return NULL;
}

static void part_cost_wake(void)
{
	int64_t begin = 0;

	make(answers, 0);
	for (int i = 0; i <= TIMES; i++) {
		if (i == 1)
			begin = gethrtime();
		sem_post(&gate[0]);
		sem_wait(&gate[1]);
	}
	lab_figure("roundtrip", (gethrtime() - begin) / TIMES);
	join_all();
}

/* --- main --------------------------------------------------------------------------------------- */

static const struct part parts[] = {
	{"order", part_order, 20},           {"yield", part_yield, 20},
	{"priority", part_priority, 20},     {"timed", part_timed, 60},
	{"cost-yield", part_cost_yield, 20}, {"cost-wake", part_cost_wake, 20},
};

int main(int argc, char **argv)
{
	return part_play(part_choose(parts, sizeof(parts) / sizeof(parts[0]), argc, argv), argv);
}
