/*
 * labmutex.c PART [ROUNDS [CHANCE]] - the contract of the mutex: what a thread does that finds it
 * held, and what its release does.  labmutexes.c has the games of chance.
 */
#include "players.h"
#include "../../../libthread/sync/mutex.h"
#include <signal.h>
#include <sys/mman.h>
#include <weft/priocntl.h>
#include <weft/processor.h>

#define SOON 60000       /* ns, until a thread must sleep whose mutex's owner is off its CPU */
#define SPINS_FOR 150000 /* ns: no thread spins for so long */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned held, released, got;
static bool gives_way; /* an owner yields its CPU while it owns the mutex */

static const char in_lock[] = "pthread_mutex_lock";

static void mutex_take(unsigned me)
{
	player[me].doing = in_lock;
	pthread_mutex_lock(&mutex);
	player[me].doing = "the game";
}

static void on_cpu(int cpu)
{
	int old;

	__sys_processor_bind(WEFT_P_LWPID, WEFT_P_MYID, cpu, &old);
}

static void in_realtime(int pri)
{
	struct pcparms p = {.pc_cid = WEFT_CLASS_RT, .rt = {.rt_pri = pri, .rt_tqnsecs = RT_TQINF}};

	__sys_priocntl(WEFT_P_LWPID, WEFT_P_MYID, PC_SETPARMS, &p);
}

/* Of a thread that has waited: the owner must have released the mutex, and no other thread have it. */
static void had_in_turn(unsigned me)
{
	static volatile unsigned inside;

	EXPECT(released,
	       "pthread_mutex_lock returns to thread %ld, and the owner still holds the mutex", me);
	EXPECT(++inside == 1, "two threads own the mutex at one time (thread %ld is the second)",
	       me);
	EXPECT3(mutex_owner(&mutex) == thread_self(),
		"pthread_mutex_lock returns to thread %ld, and the mutex's word does not say that "
		"it is the "
		"owner",
		me, 0, 0);
	turns(20);
	if (gives_way)
		__sys_lwp_yield();
	inside--;
	__atomic_add_fetch(&got, 1, __ATOMIC_SEQ_CST);
	player[me].doing = "pthread_mutex_unlock";
	pthread_mutex_unlock(&mutex);
}

/* --- sleeps: a waiter sleeps if its owner is off its CPU, and after a while at the latest ------- */

/* A thread looks the less often the farther its turn is, so that those that wait do not fill the CPUs. */
static void turn_await(unsigned me)
{
	for (unsigned now; (now = held) != me && !game_over;)
		nap(10000 * (int64_t)(me - now));
}

/* It is the turn of this thread.  Is it asleep soon after it has called pthread_mutex_lock? */
static bool turn_gives(unsigned who)
{
	held = who;
	UNTIL(__atomic_load_n(&player[who].doing, __ATOMIC_RELAXED) == in_lock);
	return asleep_within(who, SOON);
}

/* 0 owns the mutex and sleeps; the others come one after the other. */
static void owner_asleep(unsigned me)
{
	if (me != 0) {
		turn_await(me);
		mutex_take(me);
		had_in_turn(me);
		return;
	}
	mutex_take(me);
	for (unsigned i = 1; i < players && !game_over; i++)
		EXPECT(turn_gives(i),
		       "the owner sleeps, and thread %ld that calls pthread_mutex_lock is not "
		       "asleep 60 us "
		       "later",
		       i);
	nap(50000);
	EXPECT(got == 0, "%ld threads have acquired a mutex whose owner sleeps", got);
	released = 1;
	pthread_mutex_unlock(&mutex);
}

/* 0 owns the mutex, and 2 takes its CPU from it; 1 wants the mutex on another CPU, where 3 looks. */
static void owner_preempted(unsigned me)
{
	static volatile bool taken_away;

	on_cpu(me % 2);
	if (me == 0) {
		mutex_take(me);
		held = 1;
		UNTIL(released);
		pthread_mutex_unlock(&mutex);
	} else if (me == 1) {
		UNTIL(taken_away);
		mutex_take(me);
		had_in_turn(me);
	} else if (me == 2) {
		in_realtime(10);
		while (!held && !game_over)
			nap(3000);
		taken_away = true;
		compute_until(gethrtime() + 300000);
		released = 1;
	} else {
		in_realtime(10);
		while (!taken_away && !game_over)
			nap(3000);
		EXPECT(asleep_within(1, SOON),
		       "the owner waits for a CPU, and a thread that calls pthread_mutex_lock is "
		       "not asleep "
		       "60 us later",
		       0);
	}
}

/* 0 owns the mutex, and computes. */
static void owner_computes(unsigned me)
{
	on_cpu(me);
	if (me == 1) {
		while (!held && !game_over)
			;
		mutex_take(me);
		had_in_turn(me);
		return;
	}
	mutex_take(me);
	held = 1;
	compute_until(gethrtime() + SPINS_FOR);
	EXPECT(is_asleep(1),
	       "the owner computes for 150 us, and the thread that wants the mutex still spins", 0);
	released = 1;
	pthread_mutex_unlock(&mutex);
}

static void play_held(const char *name, unsigned n, void (*fn)(unsigned me))
{
	held = released = got = 0;
	play(name, n, 10, fn);
}

static void part_sleeps(void)
{
	play_held("owner-asleep", 5, owner_asleep);
	play_held("owner-preempted", 4, owner_preempted);
	play_held("owner-computes", 2, owner_computes);
}

/* --- chain: each release wakes one sleeper, up to the last ---------------------------------------- */

static void part_chain(void)
{
	for (unsigned i = 0; i < rounds; i++)
		play_held("chain", 4 + draw_from(&chance, 16), owner_asleep);
	lab_check(mutex_owner(&mutex) == NULL, "chain",
		  "all threads have released the mutex, and its word is %#lx", mutex.__owner);
}

/* --- moved: a broadcast of the owner puts the waiters of a condition variable into the queue ----- */

static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static volatile unsigned told;

static void moved(unsigned me)
{
	if (me != 0) {
		pthread_mutex_lock(&mutex);
		player[me].doing = "pthread_cond_wait";
		while (!told)
			pthread_cond_wait(&cond, &mutex);
		had_in_turn(me);
		return;
	}
	for (unsigned i = 1; i < players && !game_over; i++)
		EXPECT(asleep_within(i, 1000000), "pthread_cond_wait of thread %ld does not sleep",
		       i);
	mutex_take(me);
	told = 1;
	pthread_cond_broadcast(&cond);
	nap(30000);
	EXPECT(got == 0, "%ld threads own the mutex, whose owner has called pthread_cond_broadcast",
	       got);
	released = 1;
	player[me].doing = "pthread_mutex_unlock";
	pthread_mutex_unlock(&mutex);
}

static void part_moved(void)
{
	for (unsigned i = 0; i < rounds; i++) {
		told = 0;
		play_held("moved", 3 + draw_from(&chance, 8), moved);
	}
}

/* --- deadline ---------------------------------------------------------------------------------------- */

#define LATE 30000 /* ns after a deadline, until the call has returned */

static int take_until(unsigned me, pthread_mutex_t *m, int64_t when)
{
	struct timespec at = time_of(when);

	player[me].doing = "pthread_mutex_clocklock";
	int error = pthread_mutex_clocklock(m, CLOCK_MONOTONIC, &at);
	player[me].doing = "the game";
	return error;
}

/* 0 owns the mutex until all deadlines are over. */
static void in_vain(unsigned me)
{
	if (me == 0) {
		mutex_take(me);
		held = 1;
		UNTIL(got == players - 1);
		pthread_mutex_unlock(&mutex);
		return;
	}
	UNTIL(held);
	for (unsigned i = 0; i < rounds && !game_over; i++) {
		int64_t when = gethrtime() + 2000 + draw(me, 60000);
		int error = take_until(me, &mutex, when);
		int64_t now = gethrtime();
		EXPECT(error == ETIMEDOUT,
		       "pthread_mutex_clocklock of a mutex that stays held returns %ld, not "
		       "ETIMEDOUT (116)",
		       error);
		EXPECT(now >= when, "ETIMEDOUT comes %ld ns before the deadline", when - now);
		EXPECT(now <= when + LATE, "ETIMEDOUT comes %ld ns after the deadline", now - when);
	}
	__atomic_add_fetch(&got, 1, __ATOMIC_SEQ_CST);
}

/* 0 releases it long before the deadline of 1. */
static void in_time(unsigned me)
{
	if (me == 0) {
		mutex_take(me);
		held = 1;
		EXPECT(asleep_within(1, SOON),
		       "a thread in pthread_mutex_clocklock is not asleep 60 us later", 0);
		released = 1;
		pthread_mutex_unlock(&mutex);
		return;
	}
	UNTIL(held);
	int error = take_until(me, &mutex, gethrtime() + 5000000);
	EXPECT(error == 0,
	       "a mutex is released long before the deadline of pthread_mutex_clocklock, which "
	       "returns %ld, "
	       "not 0",
	       error);
	had_in_turn(me);
}

/*
 * 0 owns the mutex and keeps CPU 0; 1 waits on it with a deadline, 2 without one.  The deadline of
 * 1 passes after 1 is woken for the free mutex and before it runs.
 */
static volatile int64_t ends;

static void woken_late(unsigned me)
{
	if (me != 2)
		on_cpu(0);
	if (me == 2) {
		UNTIL(held == 2);
		mutex_take(me);
		had_in_turn(me);
		return;
	}
	if (me == 1) {
		UNTIL(held == 1);
		ends = gethrtime() + 300000;
		int error = take_until(me, &mutex, ends);
		EXPECT(error == 0,
		       "a thread is woken for a free mutex before its deadline and runs after it; "
		       "pthread_mutex_clocklock returns %ld, not 0: the wake-up is lost for the "
		       "others",
		       error);
		had_in_turn(me);
		return;
	}
	in_realtime(10);
	mutex_take(me);
	for (unsigned i = 2; i > 0 && !game_over; i--) { /* near-LIFO: 1 will be the first */
		held = i;
		EXPECT(asleep_within(i, SOON),
		       "thread %ld waits for a held mutex, and is not asleep 60 us later", i);
	}
	compute_until(ends - 60000);
	released = 1;
	pthread_mutex_unlock(&mutex);
	compute_until(ends + 20000);
}

static void part_deadline(void)
{
	play_held("in-vain", 4, in_vain);
	play_held("in-time", 2, in_time);
	play_held("woken-late", 3, woken_late);
}

/* --- gone: a woken thread gives the mutex's memory back before its waker has returned ------------- */

static pthread_mutex_t *lent;

static void touched(int sig)
{
	blame("a releaser touches a mutex that the woken thread has acquired, released and "
	      "unmapped: the "
	      "store that frees a mutex must be the last access to it",
	      0, 0, 0);
	for (;;)
		nap(1000000000);
}

/* On one CPU: 1 has a higher priority, so it runs as soon as it is woken. */
static void gone(unsigned me)
{
	on_cpu(0);
	if (me == 0) {
		player[me].doing = "pthread_mutex_unlock";
		pthread_mutex_lock(lent);
		held = 1;
		EXPECT(asleep_within(1, 1000000),
		       "a thread wants a mutex whose owner sleeps, and does not sleep", 0);
		released = 1;
		pthread_mutex_unlock(lent);
		return;
	}
	in_realtime(10);
	while (!held && !game_over)
		nap(3000);
	player[me].doing = "pthread_mutex_lock";
	pthread_mutex_lock(lent);
	EXPECT(released, "pthread_mutex_lock returns, and the owner still holds the mutex", 0);
	pthread_mutex_unlock(lent);
	munmap(lent, 4096);
}

static void part_gone(void)
{
	struct sigaction act = {.sa_handler = touched};

	sigaction(SIGSEGV, &act, NULL);
	for (unsigned i = 0; i < rounds; i++) {
		lent = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (lent == MAP_FAILED) {
			fprintf(stderr, "mmap fails\n");
			_exit(2);
		}
		pthread_mutex_init(lent, NULL);
		play_held("gone", 2, gone);
	}
}

/* --- neighbours: two mutexes with the same queue --------------------------------------------------- */

#define MANY 20000
static pthread_mutex_t many[MANY];
static pthread_mutex_t *one, *other;
static volatile bool take_other, other_taken;

static volatile uint32_t *spinners(void)
{
	return &sleepq_of(one)->spinners;
}

/*
 * 1 sleeps for `one`, and 2 spins for `other`, whose owner 3 computes.  0 releases `one`: 1 must be
 * woken, although a thread spins at that queue.  Before, 2 has acquired `one` as a spinner.
 */
static void neighbours(unsigned me)
{
	on_cpu(me % 4);
	if (me == 0) {
		pthread_mutex_lock(one);
		held = 1;
		for (int64_t limit = gethrtime() + 300000; *spinners() == 0 && gethrtime() < limit;)
			;
		pthread_mutex_unlock(one);
		UNTIL(held == 2);
		pthread_mutex_lock(one);
		held = 3;
		EXPECT(asleep_within(1, 1000000),
		       "the owner sleeps, and a thread that wants its mutex does not", 0);
		take_other = true;
		for (int64_t limit = gethrtime() + 300000; *spinners() == 0 && gethrtime() < limit;)
			;
		released = 1;
		player[me].doing = "pthread_mutex_unlock";
		pthread_mutex_unlock(one);
	} else if (me == 1) {
		UNTIL(held == 3);
		player[me].doing = "pthread_mutex_lock";
		pthread_mutex_lock(one);
		EXPECT(released, "pthread_mutex_lock returns, and the owner still holds the mutex",
		       0);
		got = 1;
		pthread_mutex_unlock(one);
	} else if (me == 2) {
		while (held != 1 && !game_over)
			;
		pthread_mutex_lock(one);
		pthread_mutex_unlock(one);
		held = 2;
		while (!other_taken && !game_over)
			;
		player[me].doing = "pthread_mutex_lock of another mutex";
		pthread_mutex_lock(other);
		pthread_mutex_unlock(other);
	} else {
		UNTIL(take_other);
		pthread_mutex_lock(other);
		other_taken = true;
		compute_until(gethrtime() + 40000);
		pthread_mutex_unlock(other);
	}
}

static void part_neighbours(void)
{
	for (unsigned i = 0; i < rounds; i++) {
		one = &many[draw_from(&chance, 1000)];
		for (other = one + 1; sleepq_of(other) != sleepq_of(one);)
			other++;
		take_other = other_taken = false;
		play_held("neighbours", 4, neighbours);
	}
}

/* --- price ------------------------------------------------------------------------------------------- */

static volatile uint64_t price;

static bool asleep_in_kernel(unsigned who)
{
	int64_t limit = gethrtime() + 1000000;

	while (!lwp_is_asleep(player[who].lwp) && gethrtime() < limit)
		nap(2000);
	nap(20000); /* its CPU is idle by then */
	return lwp_is_asleep(player[who].lwp);
}

/* What a release costs that wakes a thread on another CPU. */
static void release_costs(unsigned me)
{
	on_cpu(me);
	if (me == 1) {
		UNTIL(held);
		mutex_take(me);
		had_in_turn(me);
		return;
	}
	mutex_take(me);
	held = 1;
	EXPECT(asleep_within(1, SOON),
	       "the owner sleeps, and the thread that wants the mutex does not", 0);
	released = 1;
	int64_t began = gethrtime();
	pthread_mutex_unlock(&mutex);
	price += gethrtime() - began;
}

static void part_release(void)
{
	for (unsigned i = 0; i < rounds; i++)
		play_held("release", 2, release_costs);
	lab_figure("release", price / rounds);
}

static volatile int64_t queue_begun, all_had;

/*
 * What it costs that 12 sleepers have the mutex one after the other, on one CPU, and each of them
 * lets the others run meanwhile.
 */
static void queue_costs(unsigned me)
{
	if (me != 0) {
		turn_await(me);
		mutex_take(me);
		had_in_turn(me);
		int64_t now = gethrtime();
		if (now > all_had)
			all_had = now; /* on one CPU: the last to come here is the last of all */
		return;
	}
	mutex_take(me);
	for (unsigned i = 1; i < players && !game_over; i++)
		EXPECT(turn_gives(i),
		       "the owner sleeps, and thread %ld that wants the mutex does not", i);
	released = 1;
	queue_begun = gethrtime();
	pthread_mutex_unlock(&mutex);
}

static void part_queue(void)
{
	gives_way = true;
	for (unsigned i = 0; i < rounds; i++) {
		play_held("queue", 13, queue_costs);
		price += all_had - queue_begun;
	}
	lab_figure("queue", price / rounds / 12);
}

/* What it costs to wait for an owner that is asleep, and that the waiter itself has just woken. */
static void coming(unsigned me)
{
	on_cpu(me);
	if (me == 0) {
		mutex_take(me);
		held = 1;
		while (!released && !game_over)
			__sys_lwp_park(NULL, 0);
		pthread_mutex_unlock(&mutex);
		return;
	}
	UNTIL(held);
	EXPECT(asleep_in_kernel(0), "thread 0 of the test does not sleep", 0);
	released = 1;
	int64_t began = gethrtime();
	__sys_lwp_unpark(player[0].lwp);
	mutex_take(me);
	price += gethrtime() - began;
	had_in_turn(me);
}

static void part_coming(void)
{
	for (unsigned i = 0; i < rounds; i++)
		play_held("coming", 2, coming);
	lab_figure("coming", price / rounds);
}

static const struct part parts[] = {
	{"sleeps", part_sleeps},     {"chain", part_chain}, {"moved", part_moved},
	{"deadline", part_deadline}, {"gone", part_gone},   {"neighbours", part_neighbours},
	{"release", part_release},   {"queue", part_queue}, {"coming", part_coming},
};

int main(int argc, char **argv)
{
	return play_part(parts, sizeof(parts) / sizeof(parts[0]), argc, argv);
}
