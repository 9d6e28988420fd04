/*
 * labthread.c PART ROUNDS CHANCE - the threads of the small M:N model: each runs on one LWP at a time and on a
 * stack of its own, from its birth to its end.
 */
#include "labsched.h"
#include <sys/resource.h>

/* --- once: a thread runs on one LWP at a time, on its own stack ---------------------------------- */

static volatile uint32_t on_lwp[THREADS];

static void *has_a_stack(void *arg)
{
	unsigned me = (uintptr_t)arg;
	uint32_t state = chance + 55 * (me + 1);
	volatile unsigned pattern[8];

	for (unsigned r = 0; r < rounds; r++) {
		EXPECT(__atomic_exchange_n(&on_lwp[me], 1, __ATOMIC_ACQ_REL) == 0,
		       "thread %ld runs on two LWPs", me);
		for (unsigned i = 0; i < 8; i++)
			pattern[i] = me * 1000 + r + i;
		turns(draw(&state, 20));
		__atomic_store_n(&on_lwp[me], 0, __ATOMIC_RELEASE);
		if (draw(&state, 3) == 0) {
			sched_yield();
		} else { /* the partner gives the turn back, as soon as it can */
			sem_post(&turn[me ^ 1]);
			sem_wait(&turn[me]);
		}
		EXPECT(__atomic_exchange_n(&on_lwp[me], 1, __ATOMIC_ACQ_REL) == 0,
		       "thread %ld runs on two LWPs", me);
		for (unsigned i = 0; i < 8; i++)
			EXPECT3(pattern[i] == me * 1000 + r + i,
				"the stack of thread %ld was overwritten while the thread was off "
				"its "
				"LWP",
				me, 0, 0);
		__atomic_store_n(&on_lwp[me], 0, __ATOMIC_RELEASE);
	}
	for (unsigned i = 0; i < rounds; i++) /* the partner waits for no more turns */
		sem_post(&turn[me ^ 1]);
	add_one(&ended);
	return NULL;
}

static void part_once(void)
{
	unsigned n = lwps / 2 * 2 + 2 * draw(&chance, 2); /* LWPs go idle, or few do */

	for (unsigned i = 0; i < n; i++)
		make(has_a_stack, i);
	while (now_in(&ended) < n)
		sched_yield();
	join_all();
}

/* --- exit: threads come and go ----------------------------------------------------------------------- */

static void *does_nothing(void *arg)
{
	volatile unsigned pattern[200];

	for (unsigned i = 0; i < 200; i++)
		pattern[i] = (uintptr_t)arg + i;
	if ((uintptr_t)arg % 3 == 0)
		sched_yield();
	for (unsigned i = 0; i < 200; i++)
		EXPECT(pattern[i] == (uintptr_t)arg + i,
		       "thread %ld has a stack that another thread uses", (uintptr_t)arg);
	add_one(&ended);
	return NULL;
}

static void *creates(void *arg)
{
	thread_t t;
	unsigned me = (uintptr_t)arg;

	for (unsigned r = 0; r < rounds; r++) {
		bool detached = r % 2;
		int error = thr_create(NULL, 0, does_nothing, (void *)(uintptr_t)(1000 * me + r),
				       detached ? THR_DETACHED : 0, &t);

		EXPECT3(error == 0,
			"thread %ld of a creator cannot be created (error %ld): are the stacks of "
			"threads "
			"that have exited released?",
			r, error, 0);
		if (!detached)
			thr_join(t, NULL, NULL);
		else if (r % 4 == 3)
			sched_yield();
	}
	return NULL;
}

/* There is memory for the threads that live, and not for all that have lived. */
static void part_exit(void)
{
	struct rlimit limit;
	unsigned creators = lwps;

	getrlimit(RLIMIT_AS, &limit);
	limit.rlim_cur = 48ul << 20;
	setrlimit(RLIMIT_AS, &limit);
	for (unsigned i = 0; i < creators; i++)
		make(creates, i);
	join_all();
	until(&ended, creators * rounds);
}

/* --- storm: chance ------------------------------------------------------------------------------------ */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER; /* a signal finds an empty sleep queue */
static unsigned generation;
static volatile unsigned played;

static void *by_chance(void *arg)
{
	unsigned me = (uintptr_t)arg;
	uint32_t state = chance + 77 * (me + 1);
	thread_t t;

	for (unsigned i = 0; i < rounds; i++) {
		switch (draw(&state, 7)) {
		case 0:
			nap(draw(&state, 30000));
			break;
		case 1:
			sem_post(&turn[draw(&state, 4)]);
			sem_wait(&turn[draw(&state, 4)]);
			break;
		case 2:
			if (thr_create(NULL, 0, does_nothing, (void *)3, 0, &t) == 0)
				thr_join(t, NULL, NULL);
			break;
		case 3:
			pthread_mutex_lock(&mutex);
			generation++;
			turns(draw(&state, 50));
			pthread_mutex_unlock(&mutex);
			pthread_cond_broadcast(&changed);
			break;
		case 4:
			pthread_mutex_lock(&mutex);
			if (generation % 2)
				pthread_cond_signal(&changed);
			pthread_mutex_unlock(&mutex);
			break;
		case 5:
			sched_yield();
			break;
		default:
			turns(draw(&state, 300));
		}
	}
	add_one(&played);
	return NULL;
}

/* Posts to all until all have ended: a post may have been taken by a thread that needed none. */
static void part_storm(void)
{
	unsigned n = 3 * lwps;

	for (unsigned i = 0; i < n; i++)
		make_with(by_chance, i, i % 7 == 6 ? THR_BOUND : 0);
	while (now_in(&played) < n) {
		for (unsigned i = 0; i < 4; i++)
			sem_post(&turn[i]);
		nap(20000);
	}
	join_all();
}

/* --- main ---------------------------------------------------------------------------------------------- */

static const struct part parts[] = {
	{"once", part_once, 15},
	{"exit", part_exit, 30},
	{"storm", part_storm, 30},
};

int main(int argc, char **argv)
{
	const struct part *part = part_choose(parts, sizeof(parts) / sizeof(parts[0]), argc, argv);

	return part_play(part, argc, argv, 0);
}
