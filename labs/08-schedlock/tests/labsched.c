/*
 * labsched.c PART ROUNDS CHANCE - the scheduler of the small M:N model, with finer locks.
 *
 * Each part first asks whether there is one lock for all sleep queues, since with one lock the
 * rest is right as it was given.  The first thread of the program is unbound, and plays the part.  The
 * pool has an LWP for each CPU, and two at least, unless the part says otherwise.
 */
#include "watchdog.h"
#include "../../libthread/core/sleepq.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <weft/lwp.h>

#define THREADS 96
#define MS 1000000l
#define SOON 100000l /* ns in which an idle LWP has begun a thread */

static unsigned rounds, lwps;
static uint32_t chance = 1;
static sem_t turn[THREADS], told;
static volatile unsigned ended;
static volatile bool stop;
static thread_t made[THREADS];
static unsigned made_count;

static unsigned now_in(volatile unsigned *count)
{
	return __atomic_load_n(count, __ATOMIC_ACQUIRE);
}

static void add_to(volatile unsigned *count)
{
	__atomic_add_fetch(count, 1, __ATOMIC_ACQ_REL);
}

static void compute(unsigned n)
{
	for (volatile unsigned i = 0; i < n; i++)
		;
}

static void make_as(void *(*fn)(void *), unsigned me, long flags)
{
	if (thr_create(NULL, 0, fn, (void *)(uintptr_t)me, flags, &made[made_count]) != 0)
		test_fails("thr_create fails for thread %ld", me, 0, 0);
	made_count++;
}

static void make(void *(*fn)(void *), unsigned me)
{
	make_as(fn, me, 0);
}

static void join_all(void)
{
	while (made_count > 0)
		thr_join(made[--made_count], NULL, NULL);
}

/* Waits on the LWP until the count is n.  The bound watchdog ends what takes too long. */
static void until(volatile unsigned *count, unsigned n)
{
	while (now_in(count) < n)
		nap(20000);
}

/*
 * *The one lock*: with the lock of one sleep queue held, is the lock of another one free?
 */
static void locks_are_apart(void)
{
	struct sleepq *a = &__sleepq_point[1], *b = &__sleepq_point[2];
	bool apart;

	__ops->lock(a);
	apart = !(sleepq_guard(b)->held & ILOCK_HELD);
	__ops->unlock(a);
	EXPECT(apart,
	       "one lock guards all sleep queues: while a thread holds it for one object, no "
	       "thread can block on another, nor wake (LWPs: %ld)",
	       lwps);
}

/* --- apart: a locked queue ------------------------------------------------------------------- */

static struct sleepq *volatile held;
static volatile unsigned turns_taken, turns_wanted;

/*
 * A bound thread: holds the lock of a sleep queue for which no other thread waits.  It computes until
 * the others have taken their turns.
 */
static void *holds(void *unused)
{
	int64_t limit = gethrtime() + 3 * MS;

	__ops->lock(held);
	while (now_in(&turns_taken) < turns_wanted && gethrtime() < limit)
		;
	unsigned taken = now_in(&turns_taken);
	__ops->unlock(held);
	EXPECT3(taken >= turns_wanted,
		"one sleep queue was locked for 3 ms, and threads that wait for other objects have "
		"taken %ld of %ld turns",
		taken, turns_wanted, 0);
	return NULL;
}

static void *takes_turns(void *arg)
{
	unsigned me = (uintptr_t)arg, other = me ^ 1;

	for (unsigned i = 0; i < rounds; i++) {
		sem_wait(&turn[me]);
		add_to(&turns_taken);
		if (i % 4 == 3)
			sched_yield();
		sem_post(&turn[other]);
	}
	sem_post(&told);
	return NULL;
}

/* A sleep queue that none of the objects of the test is in. */
static struct sleepq *queue_of_none(unsigned n)
{
	for (struct sleepq *q = &__sleepq_point[7];; q++) {
		bool used = q == sleepq_of_point(&told);

		for (unsigned i = 0; i < n; i++)
			used |= q == sleepq_of_point(&turn[i]);
		for (struct thread *t = thread_self()->list_next; t != thread_self();
		     t = t->list_next)
			used |= q == sleepq_of_point(t);
		if (!used)
			return q;
	}
}

static void part_apart(void)
{
	unsigned pairs = lwps;

	turns_wanted = 2 * pairs * rounds;
	for (unsigned i = 0; i < 2 * pairs; i++)
		make(takes_turns, i);
	held = queue_of_none(2 * pairs);
	make_as(holds, 0, THR_BOUND);
	for (unsigned i = 0; i < 2 * pairs; i += 2)
		sem_post(&turn[i]);
	for (unsigned i = 0; i < 2 * pairs; i++)
		sem_wait(&told);
	join_all();
}

/* --- wake: no wake-up is lost ---------------------------------------------------------------- */

static void *comes_and_goes(void *arg)
{
	unsigned me = (uintptr_t)arg, other = me ^ 1;
	uint32_t state = chance + 77 * (me / 2 + 1);

	for (unsigned i = 0; i < rounds; i++) {
		unsigned first = draw(&state, 500), second = draw(&state, 500);

		compute(me % 2 ? first : second);
		sem_post(&turn[other]);
		compute(me % 2 ? second / 4 : first / 4);
		sem_wait(&turn[me]);
	}
	sem_post(&told);
	return NULL;
}

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
		compute(draw(&chance, 120));
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

/* --- cond: the queue that is held is not the one in which the thread stands ------------------------ */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER, not_full = PTHREAD_COND_INITIALIZER;
static unsigned in_buffer, put, taken;

static void *puts_items(void *arg)
{
	uint32_t state = chance + 99 * (uintptr_t)arg;

	for (unsigned i = 0; i < rounds; i++) {
		pthread_mutex_lock(&mutex);
		while (in_buffer == 2)
			pthread_cond_wait(&not_full, &mutex);
		in_buffer++;
		put++;
		compute(draw(&state, 60));
		if (i % 2) {
			pthread_cond_signal(&not_empty);
			pthread_mutex_unlock(&mutex);
		} else {
			pthread_mutex_unlock(&mutex);
			pthread_cond_signal(&not_empty);
		}
		compute(draw(&state, 200));
	}
	return NULL;
}

static void *takes_items(void *arg)
{
	uint32_t state = chance + 33 * (uintptr_t)arg;

	for (unsigned i = 0; i < rounds; i++) {
		pthread_mutex_lock(&mutex);
		while (in_buffer == 0)
			pthread_cond_wait(&not_empty, &mutex);
		in_buffer--;
		taken++;
		if (i % 2)
			pthread_cond_broadcast(&not_full);
		pthread_mutex_unlock(&mutex);
		pthread_cond_signal(&not_full);
		compute(draw(&state, 200));
	}
	return NULL;
}

static pthread_cond_t signalled = PTHREAD_COND_INITIALIZER;
static volatile unsigned waits;

static void *waits_for_signal(void *unused)
{
	for (unsigned i = 0; i < 10 * rounds; i++) {
		pthread_mutex_lock(&mutex);
		pthread_cond_wait(&signalled, &mutex);
		pthread_mutex_unlock(&mutex);
		add_to(&waits);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	return NULL;
}

/* Without the mutex, so that the waiter is woken while it releases the mutex. */
static void *signals(void *unused)
{
	while (!stop)
		pthread_cond_signal(&signalled);
	return NULL;
}

/* Waits for the mutex most of the time, so that the waiter for the signal has a thread to wake. */
static void *wants_the_mutex(void *arg)
{
	uint32_t state = chance + 11 * (uintptr_t)arg;

	while (!stop) {
		pthread_mutex_lock(&mutex);
		compute(5);
		pthread_mutex_unlock(&mutex);
		compute(draw(&state, 60));
	}
	return NULL;
}

static void part_cond(void)
{
	unsigned n = lwps + 1;

	make(waits_for_signal, 0);
	make(wants_the_mutex, 1);
	make(signals, 0);
	if (lwps > 3)
		make(wants_the_mutex, 2);
	join_all();

	for (unsigned i = 0; i < n; i++) {
		make(puts_items, 2 * i + 1);
		make(takes_items, 2 * i + 2);
	}
	join_all();
	EXPECT3(put == n * rounds && taken == put,
		"%ld items were put into a buffer, and %ld taken, of %ld: two threads were in one "
		"mutex",
		put, taken, n * rounds);
}

/* --- spread: no LWP is idle while a thread waits for one ---------------------------------------- */

static volatile unsigned computing;

static void *computes(void *unused)
{
	add_to(&computing);
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE))
		;
	add_to(&ended);
	return NULL;
}

static void *waits_and_computes(void *arg)
{
	add_to(&ended);
	sem_wait(&turn[(uintptr_t)arg]);
	return computes(arg);
}

/* The caller computes too, so the other threads are for the other LWPs. */
static void all_compute(const char *text)
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
		all_compute(
			"threads were created on one LWP, and %ld of %ld LWPs run one: the others "
			"are idle");
		for (unsigned i = 1; i < lwps; i++)
			make(waits_and_computes, i);
		until(&ended, lwps - 1);
		nap(50000 + draw(&chance, 50000));
		ended = 0;
		for (unsigned i = 1; i < lwps; i++) {
			sem_post(&turn[i]);
			compute(draw(&chance, 200));
		}
		all_compute("threads were woken on one LWP, and %ld of %ld LWPs run one: the "
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
		compute(draw(&state, 20));
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
	add_to(&ended);
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

/* --- behind: the queue of an LWP that is blocked in the kernel ------------------------------------- */

static volatile unsigned steps[THREADS];

static void *yields(void *arg)
{
	while (!stop) {
		add_to(&steps[(uintptr_t)arg]);
		sched_yield();
	}
	return NULL;
}

static void *turns_over(void *arg)
{
	unsigned me = (uintptr_t)arg;

	while (!stop) {
		add_to(&steps[me]);
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

static uint64_t cpu_of_process(void)
{
	struct lwp_info info;
	uint64_t ns = 0;

	for (uint32_t id = 1; __sys_lwp_info(__sys_getpid(), id, &info) >= 0 && info.id >= id;
	     id = info.id + 1)
		ns += info.utime + info.stime;
	return ns;
}

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
	add_to(&ended);
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

/* --- bound threads, and deadlines ------------------------------------------------------------------- */

static void *sleeps_until(void *arg)
{
	int64_t when = gethrtime() + 300000, late;
	struct timespec at = {when / 1000000000, when % 1000000000};

	if (sem_clockwait(&turn[(uintptr_t)arg], CLOCK_MONOTONIC, &at) == 0)
		test_fails("a wait with a deadline has ended although no thread has posted", 0, 0,
			   0);
	late = gethrtime() - when;
	EXPECT(errno == ETIMEDOUT && late > -20000 && late < 400000,
	       "a wait of 300,000 ns ended %ld ns late", late);
	sem_post(&turn[(uintptr_t)arg]);
	EXPECT(sem_trywait(&turn[(uintptr_t)arg]) == 0,
	       "thread %ld: its wait has ended at the deadline, and it still stands in the sleep "
	       "queue",
	       (uintptr_t)arg);
	add_to(&ended);
	return NULL;
}

/* Waits with a deadline that comes about when the partner posts. */
static void *meets_by_chance(void *arg)
{
	unsigned me = (uintptr_t)arg, other = me ^ 1;
	uint32_t state = chance + 77 * (me + 1);

	for (unsigned i = 0; i < rounds; i++) {
		int64_t when = gethrtime() + 2000 + draw(&state, 12000);
		struct timespec at = {when / 1000000000, when % 1000000000};

		sem_post(&turn[other]);
		compute(draw(&state, 100));
		if (sem_clockwait(&turn[me], CLOCK_MONOTONIC, &at) != 0)
			sem_wait(&turn[me]);
	}
	add_to(&ended);
	return NULL;
}

static void part_bound(void)
{
	for (unsigned i = 0; i < 8; i++)
		make_as(comes_and_goes, i, i % 4 < 2 && i % 2 == 0 ? THR_BOUND : 0);
	for (unsigned i = 0; i < 8; i++)
		sem_wait(&told);
	join_all();
	for (unsigned i = 0; i < 4; i++)
		make_as(sleeps_until, 10 + i, i % 2 ? THR_BOUND : 0);
	until(&ended, 4);
	join_all();
	ended = 0;
	for (unsigned i = 0; i < 4; i++)
		make_as(meets_by_chance, 20 + i, i % 2 ? THR_BOUND : 0);
	until(&ended, 4);
	join_all();
}

/* --- many: a list of threads ------------------------------------------------------------------------- */

static unsigned generation;

static void *waits_for_all(void *arg)
{
	for (unsigned r = 1; r <= rounds; r++) {
		pthread_mutex_lock(&mutex);
		add_to(&ended);
		while (generation < r)
			pthread_cond_wait(&not_empty, &mutex);
		pthread_mutex_unlock(&mutex);
		if ((uintptr_t)arg % 8 == 0)
			sched_yield();
	}
	sem_post(&told);
	return NULL;
}

static void part_many(void)
{
	unsigned n = 60;

	for (unsigned i = 0; i < n; i++)
		make_as(waits_for_all, i, i % 12 == 5 ? THR_BOUND : 0);
	for (unsigned r = 1; r <= rounds; r++) {
		while (now_in(&ended) < n * r)
			sched_yield();
		pthread_mutex_lock(&mutex);
		generation = r;
		pthread_mutex_unlock(&mutex);
		pthread_cond_broadcast(&not_empty);
	}
	for (unsigned i = 0; i < n; i++)
		sem_wait(&told);
	join_all();
}

/* --- storm: chance ------------------------------------------------------------------------------------ */

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
			compute(draw(&state, 50));
			pthread_mutex_unlock(&mutex);
			pthread_cond_broadcast(&not_full);
			break;
		case 4:
			pthread_mutex_lock(&mutex);
			if (generation % 2)
				pthread_cond_signal(&not_full);
			pthread_mutex_unlock(&mutex);
			break;
		case 5:
			sched_yield();
			break;
		default:
			compute(draw(&state, 300));
		}
	}
	add_to(&computing);
	return NULL;
}

/* Posts to all until all have ended: a post may have been taken by a thread that needed none. */
static void part_storm(void)
{
	unsigned n = 3 * lwps;

	for (unsigned i = 0; i < n; i++)
		make_as(by_chance, i, i % 7 == 6 ? THR_BOUND : 0);
	while (now_in(&computing) < n) {
		for (unsigned i = 0; i < 4; i++)
			sem_post(&turn[i]);
		nap(20000);
	}
	join_all();
}

/* --- main ---------------------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	void (*play)(void);
	int64_t ms;
} parts[] = {
	{"apart", part_apart, 10}, {"wake", part_wake, 15},     {"idle", part_idle, 60},
	{"cond", part_cond, 30},   {"spread", part_spread, 20}, {"order", part_order, 10},
	{"once", part_once, 15},   {"behind", part_behind, 30}, {"quiet", part_quiet, 40},
	{"exit", part_exit, 30},   {"bound", part_bound, 30},   {"many", part_many, 30},
	{"storm", part_storm, 30},
};

int main(int argc, char **argv)
{
	for (unsigned i = 0; argc == 4 && i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (strcmp(parts[i].name, argv[1]) != 0)
			continue;
		rounds = atoi(argv[2]);
		chance += 7919 * atoi(argv[3]);
		lwps = parts[i].play == part_order ? 1 : __ncpu > 1 ? __ncpu : 2;
		watchdog_start(argv[1], parts[i].ms, "Is a wake-up lost, a thread, or a lock?");
		locks_are_apart();
		if (thr_setconcurrency(lwps) != 0)
			return 2;
		parts[i].play();
		return test_passes();
	}
	fprintf(stderr, "usage: %s PART ROUNDS CHANCE\n", argv[0]);
	return 2;
}
