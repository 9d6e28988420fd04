/*
 * labmutexes.c GAME [ROUNDS [CHANCE]] - the mutex under chance, and its price.  What differs from
 * seed to seed is the order of the CPUs; what differs with CHANCE is how late each thread comes.
 */
#include "players.h"
#include "../../../libthread/sync/mutex.h"
#include <signal.h>
#include <sys/mman.h>

#define GAME_MS 40

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile uint32_t arrived;

/* All players begin a round together.  They spin first, because a system call would spread them. */
static void round_begin(unsigned me, unsigned round)
{
	__atomic_add_fetch(&arrived, 1, __ATOMIC_SEQ_CST);
	player[me].doing = "its wait for the others";
	for (int i = 0; i < 200 && arrived < round * players; i++)
		;
	UNTIL(__atomic_load_n(&arrived, __ATOMIC_ACQUIRE) >= round * players);
	player[me].doing = "the game";
}

static void mutex_take(unsigned me, pthread_mutex_t *m)
{
	player[me].doing = "pthread_mutex_lock";
	pthread_mutex_lock(m);
	player[me].doing = "the game";
}

static void mutex_give(unsigned me, pthread_mutex_t *m)
{
	player[me].doing = "pthread_mutex_unlock";
	pthread_mutex_unlock(m);
	player[me].doing = "the game";
}

/* --- exclusion ----------------------------------------------------------------------------------- */

static volatile unsigned inside; /* 0, or the owner's number + 1 */
static volatile uint64_t counted;
static volatile uint64_t price; /* ns of a game, which are instructions */

/* What only the owner may do. */
static void own(unsigned me, unsigned most)
{
	uint64_t before = counted;

	EXPECT3(inside == 0, "threads %ld and %ld own the mutex at one time", inside - 1, me, 0);
	inside = me + 1;
	turns(draw(me, most));
	EXPECT3(inside == me + 1, "threads %ld and %ld own the mutex at one time", inside - 1, me,
		0);
	inside = 0;
	counted = before + 1;
}

/* Now and then the owner gives its CPU away, so that others find it off its CPU. */
static void exclusion(unsigned me)
{
	for (unsigned i = 0; i < rounds && !game_over; i++) {
		mutex_take(me, &mutex);
		own(me, 60);
		if (draw(me, 16) == 0)
			nap(2000);
		mutex_give(me, &mutex);
		come_late(me, 100);
		if (draw(me, 16) == 0)
			__sys_lwp_yield();
	}
}

static void part_exclusion(void)
{
	counted = 0;
	play("exclusion", 5, GAME_MS, exclusion);
	lab_check(counted == 5ull * rounds, "exclusion",
		  "the owners have counted %llu times to 1, and the sum is %llu", 5ull * rounds,
		  (unsigned long long)counted);
	lab_check(mutex_owner(&mutex) == NULL, "exclusion",
		  "all threads have released the mutex, and its word is %#lx", mutex.__owner);
}

/* --- once: in each round each thread wants the mutex once ------------------------------------------ */

/* So a wake-up that is lost has no later release that could make up for it. */
static void once(unsigned me)
{
	for (unsigned i = 1; i <= rounds && !game_over; i++) {
		round_begin(me, i);
		come_late(me, 150);
		mutex_take(me, &mutex);
		own(me, 40);
		mutex_give(me, &mutex);
	}
}

static void part_once(void)
{
	arrived = 0;
	play("once", 3, GAME_MS, once);
}

/* The release of 0 and the lock of 1 come within some 50 instructions of each other. */
static void aimed(unsigned me)
{
	for (unsigned i = 1; i <= rounds && !game_over; i++) {
		round_begin(me, 2 * i - 1);
		if (me == 0)
			mutex_take(me, &mutex);
		round_begin(me, 2 * i);
		turns(draw(me, 16));
		if (me == 1)
			mutex_take(me, &mutex);
		own(me, 1);
		mutex_give(me, &mutex);
	}
}

static void part_aimed(void)
{
	play("aimed", 2, GAME_MS, aimed);
}

/* The same; each thread comes several times, so that a release meets spinners and sleepers at once. */
static void bursts(unsigned me)
{
	for (unsigned i = 1; i <= rounds && !game_over; i++) {
		round_begin(me, i);
		come_late(me, 100);
		for (unsigned k = 0; k < 4 && !game_over; k++) {
			mutex_take(me, &mutex);
			own(me, 30);
			if (draw(me, 8) == 0)
				nap(1000);
			mutex_give(me, &mutex);
			come_late(me, 30);
		}
	}
}

static void part_bursts(void)
{
	arrived = 0;
	play("bursts", 4, GAME_MS, bursts);
}

/* --- deadlines: a waiter's time is up at the moment of a release ------------------------------------ */

static volatile int64_t release_at;

static void deadlines(unsigned me)
{
	for (unsigned i = 1; i <= rounds && !game_over; i++) {
		if (me == 0)
			release_at = gethrtime() + 20000;
		round_begin(me, i);
		if (me == 0) {
			mutex_take(me, &mutex);
			while (gethrtime() < release_at - 1000)
				;
			own(me, 300);
			mutex_give(me, &mutex);
		} else if (me == 3) {
			come_late(me, 300);
			mutex_take(me, &mutex);
			own(me, 30);
			mutex_give(me, &mutex);
		} else {
			struct timespec at = time_of(release_at + draw(me, 1000));
			player[me].doing = "pthread_mutex_clocklock";
			if (pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &at) == 0) {
				own(me, 30);
				mutex_give(me, &mutex);
			}
		}
	}
}

static void part_deadlines(void)
{
	arrived = 0;
	play("deadlines", 4, GAME_MS, deadlines);
}

/* --- gone: the last user of a mutex gives its memory back ------------------------------------------- */

static pthread_mutex_t *gone;
static volatile unsigned users;

static void touched(int sig)
{
	blame("a thread touches a mutex that another thread has acquired, released and unmapped "
	      "since: a releaser may not touch the mutex after the store that frees it",
	      0, 0, 0);
	for (;;)
		nap(1000000000);
}

static void going(unsigned me)
{
	for (unsigned i = 1; i <= rounds && !game_over; i++) {
		round_begin(me, 2 * i - 1);
		if (me == 0) {
			gone = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				    -1, 0);
			EXPECT(gone != MAP_FAILED, "mmap fails", 0);
			pthread_mutex_init(gone, NULL);
			users = players;
		}
		round_begin(me, 2 * i);
		come_late(me, 150);
		mutex_take(me, gone);
		own(me, 40);
		if (draw(me, 4) == 0)
			nap(2000);
		unsigned left = --users;
		mutex_give(me, gone);
		if (left == 0)
			munmap(gone, 4096);
	}
}

static void part_gone(void)
{
	struct sigaction act = {.sa_handler = touched};

	sigaction(SIGSEGV, &act, NULL);
	arrived = 0;
	play("gone", 3, GAME_MS, going);
}

/* --- flags: what the word says besides, and mutexes with a protocol ---------------------------------- */

static pthread_mutex_t special;

static void with_ceiling(unsigned me)
{
	for (unsigned i = 1; i <= rounds && !game_over; i++) {
		round_begin(me, i);
		come_late(me, 60);
		mutex_take(me, &special);
		own(me, 40);
		EXPECT(special.__owner & M_PROTOCOL,
		       "a mutex with a priority ceiling is held, and its word %#lx has lost its "
		       "flag "
		       "M_PROTOCOL: other flags than M_WAITERS must stay",
		       special.__owner);
		if (draw(me, 4) == 0)
			nap(3000);
		mutex_give(me, &special);
	}
}

static void part_flags(void)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_PROTECT);
	pthread_mutexattr_setprioceiling(&attr, 10);
	pthread_mutex_init(&special, &attr);
	arrived = 0;
	play("flags", 3, GAME_MS, with_ceiling);
	lab_check((special.__owner & ~M_WAITERS) == M_PROTOCOL, "flags",
		  "all threads have released a mutex with a priority ceiling, and its word is "
		  "%#lx, not "
		  "M_PROTOCOL",
		  special.__owner);
}

/* --- handover: two threads in lock step over four mutexes, as pp of the paper has it ---------------- */

/*
 * Move m waits for mutex m (numbers of mutexes are modulo 4), blocks the move after next, and lets
 * the next one begin.  user/bench/pp.c says why that is lock step.
 */
static struct {
	_Alignas(64) pthread_mutex_t mutex;
} turn_of[4];
static volatile uint64_t moves;

static void handover(unsigned me)
{
	mutex_take(me, &turn_of[me + 1].mutex);
	round_begin(me, 1);
	int64_t began = gethrtime();
	for (uint64_t m = me; m < 2ull * rounds && !game_over; m += 2) {
		mutex_take(me, &turn_of[m % 4].mutex);
		EXPECT3(moves == m, "two threads in lock step: move %ld is made after %ld moves", m,
			moves, 0);
		moves = m + 1;
		mutex_take(me, &turn_of[(m + 3) % 4].mutex);
		mutex_give(me, &turn_of[m % 4].mutex);
		mutex_give(me, &turn_of[(m + 1) % 4].mutex);
	}
	price = gethrtime() - began;
}

static void part_handover(void)
{
	play("handover", 2, GAME_MS, handover);
	lab_figure("handover", price / rounds);
}

/* --- crowded: more threads than can have it, for a short time each -------------------------------- */

static volatile int64_t crowded_end;

static void crowded(unsigned me)
{
	round_begin(me, 1);
	int64_t began = gethrtime();
	for (unsigned i = 0; i < rounds && !game_over; i++) {
		mutex_take(me, &mutex);
		own(me, 20);
		mutex_give(me, &mutex);
		turns(30);
	}
	price = gethrtime() - began; /* the last to end writes it last */
}

static void part_crowded(void)
{
	arrived = 0;
	play("crowded", 4, GAME_MS, crowded);
	lab_figure("crowded", price / rounds / 4);
}

static const struct part parts[] = {
	{"exclusion", part_exclusion}, {"once", part_once},           {"aimed", part_aimed},
	{"bursts", part_bursts},       {"deadlines", part_deadlines}, {"gone", part_gone},
	{"flags", part_flags},         {"handover", part_handover},   {"crowded", part_crowded},
};

int main(int argc, char **argv)
{
	return play_part(parts, sizeof(parts) / sizeof(parts[0]), argc, argv);
}
