/*
 * pairs.c - threads that take turns, or compete.
 *
 * In a round trip the turn goes from the first thread to the second and back.
 */
#include <err.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>
#include "micro.h"

#define WARM_UP 20
#define MAX_THREADS 8

void lwps_for(unsigned threads)
{
	must(pthread_setconcurrency(threads < __ncpu ? threads : __ncpu), "pthread_setconcurrency");
}

void bound(pthread_attr_t *attr)
{
	must(pthread_attr_init(attr), "pthread_attr_init");
	must(pthread_attr_setscope(attr, PTHREAD_SCOPE_SYSTEM), "pthread_attr_setscope");
}

struct turns {
	void (*fn)(long);
	long n;
};

static void *make_turns(void *arg)
{
	struct turns *turns = arg;

	turns->fn(turns->n);
	return NULL;
}

int64_t pair(void (*ours)(long), void (*theirs)(long), const pthread_attr_t *attr, long n)
{
	struct turns turns = {theirs, WARM_UP + n};
	pthread_t other;
	int64_t start, end;

	lwps_for(2);
	must(pthread_create(&other, attr, make_turns, &turns), "pthread_create");
	ours(WARM_UP);
	start = gethrtime();
	ours(n);
	end = gethrtime();
	must(pthread_join(other, NULL), "pthread_join");
	return end - start;
}

/* --- yielding ------------------------------------------------------------------------ */

static volatile long first_yields, second_yields;

static void yield_first(long n)
{
	for (; n > 0; n--) {
		first_yields++;
		sched_yield();
	}
}

static void yield_second(long n)
{
	for (; n > 0; n--) {
		second_yields++;
		sched_yield();
	}
}

static int64_t yields(void (*second)(long), long n)
{
	int64_t ns;

	first_yields = second_yields = 0;
	ns = pair(yield_first, second, NULL, n);
	if (first_yields != second_yields)
		errx(1, "yields: %ld and %ld", first_yields, second_yields);
	return ns;
}

int64_t yield_pair(long n)
{
	return yields(yield_second, n);
}

/* The second thread alone blocks a signal. */
static void yield_second_masked(long n)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	must(pthread_sigmask(SIG_BLOCK, &mask, NULL), "pthread_sigmask");
	yield_second(n);
}

int64_t yield_masked(long n)
{
	return yields(yield_second_masked, n);
}

/* --- semaphores ---------------------------------------------------------------------- */

static sem_t there, back;

static void sema_first(long n)
{
	for (; n > 0; n--) {
		sem_post(&there);
		sem_wait(&back);
	}
}

static void sema_second(long n)
{
	for (; n > 0; n--) {
		sem_wait(&there);
		sem_post(&back);
	}
}

int64_t sema_turns(int pshared, const pthread_attr_t *attr, long n)
{
	sem_init(&there, pshared, 0);
	sem_init(&back, pshared, 0);
	return pair(sema_first, sema_second, attr, n);
}

int64_t sema_round_trip(long n)
{
	return sema_turns(0, NULL, n);
}

/* --- waits with a deadline ------------------------------------------------------------- */

static struct timespec in_an_hour;

static void timed_first(long n)
{
	for (; n > 0; n--) {
		sem_post(&there);
		must(sem_timedwait(&back, &in_an_hour), "sem_timedwait");
	}
}

static void timed_second(long n)
{
	for (; n > 0; n--) {
		must(sem_timedwait(&there, &in_an_hour), "sem_timedwait");
		sem_post(&back);
	}
}

/* As sema_round_trip, except that each wait has a deadline.  The other thread's post comes before
 * it. */
int64_t timed_sema_round_trip(long n)
{
	must(clock_gettime(CLOCK_REALTIME, &in_an_hour), "clock_gettime");
	in_an_hour.tv_sec += 3600;
	sem_init(&there, 0, 0);
	sem_init(&back, 0, 0);
	return pair(timed_first, timed_second, NULL, n);
}

/* --- condition variables --------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed[2] = {PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER};
static int turn; /* the thread that has the turn: 0 or 1; lock */

static void cond_turns(int self, long n)
{
	pthread_mutex_lock(&lock);
	for (; n > 0; n--) {
		while (turn != self)
			pthread_cond_wait(&changed[self], &lock);
		turn = !self;
		pthread_cond_signal(&changed[!self]);
	}
	pthread_mutex_unlock(&lock);
}

static void cond_first(long n)
{
	cond_turns(0, n);
}

static void cond_second(long n)
{
	cond_turns(1, n);
}

int64_t cond_round_trip(long n)
{
	turn = 0;
	return pair(cond_first, cond_second, NULL, n);
}

/* --- ping-pong --------------------------------------------------------------------------- */

/*
 * The game of pp.c, which explains it: move m begins with mutex m mod 4, and the player of move m
 * holds mutex m + 1 when it begins.  An iteration is a move of each player.
 */
static pthread_mutex_t stands[4] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
				    PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static unsigned long moves; /* guarded by the turn */
static sem_t seated;

static void make_move(unsigned long m)
{
	pthread_mutex_lock(&stands[m % 4]);
	pthread_mutex_lock(&stands[(m + 3) % 4]);
	if (moves++ != m)
		errx(1, "ping-pong: move %lu after %lu moves", m, moves - 1);
	pthread_mutex_unlock(&stands[m % 4]);
	pthread_mutex_unlock(&stands[(m + 1) % 4]);
}

static unsigned long first_move; /* the first player's next; it plays in two parts */

static void play_first(long n)
{
	if (first_move == 0)
		sem_wait(&seated); /* no player moves before both have their first mutex */
	for (; n > 0; n--, first_move += 2)
		make_move(first_move);
}

static void play_second(long n)
{
	unsigned long m = 1;

	pthread_mutex_lock(&stands[2]);
	sem_post(&seated);
	for (; n > 0; n--, m += 2)
		make_move(m);
	pthread_mutex_unlock(&stands[(m + 1) % 4]);
}

int64_t pingpong(long n)
{
	int64_t ns;

	moves = first_move = 0;
	sem_init(&seated, 0, 0);
	pthread_mutex_lock(&stands[1]);
	/* The second player's last move waits for no mutex that we hold. */
	ns = pair(play_first, play_second, NULL, n);
	pthread_mutex_unlock(&stands[(first_move + 1) % 4]);
	return ns;
}

/* --- contention --------------------------------------------------------------------------- */

#define HOLD 1000 /* instructions with the mutex: long against the delay of a store */

static pthread_barrier_t ready;
static void (*work)(long);
static long share; /* of each thread */
static int64_t began[MAX_THREADS], ended[MAX_THREADS];

static void *compete(void *arg)
{
	unsigned self = (uintptr_t)arg;

	pthread_barrier_wait(&ready);
	began[self] = gethrtime();
	work(share);
	ended[self] = gethrtime();
	return NULL;
}

int64_t on_all_cpus(void (*fn)(long), long n)
{
	pthread_t others[MAX_THREADS];
	unsigned threads = __ncpu < MAX_THREADS ? __ncpu : MAX_THREADS;
	int64_t start, end;

	work = fn;
	share = n / threads;
	lwps_for(threads);
	must(pthread_barrier_init(&ready, NULL, threads), "pthread_barrier_init");
	for (uintptr_t i = 1; i < threads; i++)
		must(pthread_create(&others[i], NULL, compete, (void *)i), "pthread_create");
	compete(NULL);
	start = began[0];
	end = ended[0];
	for (unsigned i = 1; i < threads; i++) {
		must(pthread_join(others[i], NULL), "pthread_join");
		start = began[i] < start ? began[i] : start;
		end = ended[i] > end ? ended[i] : end;
	}
	must(pthread_barrier_destroy(&ready), "pthread_barrier_destroy");
	return (end - start) * n / (share * threads);
}

static pthread_mutex_t contended = PTHREAD_MUTEX_INITIALIZER;
static volatile long counter; /* contended */

static void hold(void)
{
	long turns = HOLD / 2;

	__asm__ volatile("1: dec %0; jnz 1b" : "+r"(turns));
}

static void lock_and_hold(long n)
{
	for (; n > 0; n--) {
		pthread_mutex_lock(&contended);
		counter++;
		hold();
		pthread_mutex_unlock(&contended);
	}
}

/*
 * As many threads as CPUs, and nothing between unlock and lock.  An operation is a lock by
 * any thread, HOLD instructions, and the unlock: the instructions beyond HOLD are the hand-over.
 */
int64_t mutex_contended(long n)
{
	int64_t ns;

	counter = 0;
	ns = on_all_cpus(lock_and_hold, n);
	if (counter != n / __ncpu * __ncpu)
		errx(1, "%ld instead of %ld", counter, n);
	return ns;
}
