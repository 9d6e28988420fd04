/*
 * thr_cond.c [ROUNDS] - condition variables: every function with good and bad arguments,
 * storms of signals and broadcasts in which a lost wake-up hangs, and time-outs.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <synch.h>
#include <time.h>
#include "start.h"
#include "tap.h"

static long rounds = 2000;

static long us_since(const struct timespec *start)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (t.tv_sec - start->tv_sec) * 1000000 + (t.tv_nsec - start->tv_nsec) / 1000;
}

/* --- arguments ---------------------------------------------------------------------- */

static void test_arguments(void)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t c = PTHREAD_COND_INITIALIZER;
	pthread_condattr_t attr;
	struct timespec t = {.tv_nsec = -1}, began;
	clockid_t clock;
	int v;

	is("condattr_init", pthread_condattr_init(&attr), 0);
	is("default clock", (pthread_condattr_getclock(&attr, &clock), clock), CLOCK_REALTIME);
	is("setclock, CPU time", pthread_condattr_setclock(&attr, CLOCK_PROCESS_CPUTIME_ID),
	   EINVAL);
	is("setclock, monotonic", pthread_condattr_setclock(&attr, CLOCK_MONOTONIC), 0);
	is("getclock", (pthread_condattr_getclock(&attr, &clock), clock), CLOCK_MONOTONIC);
	is("condattr_setpshared: gives", pthread_condattr_setpshared(&attr, PTHREAD_PROCESS_SHARED),
	   0);
	is("condattr_getpshared: what was set", (pthread_condattr_getpshared(&attr, &v), v),
	   PTHREAD_PROCESS_SHARED);
	is("condattr_init, once more", pthread_condattr_init(&attr), 0);
	is("the default clock again", (pthread_condattr_getclock(&attr, &clock), clock),
	   CLOCK_REALTIME);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	is("setpshared", pthread_condattr_setpshared(&attr, 2), EINVAL);
	is("setpshared, unknown", pthread_condattr_setpshared(&attr, 5), EINVAL);
	is("getpshared", (pthread_condattr_getpshared(&attr, &v), v), PTHREAD_PROCESS_PRIVATE);

	is("wait without the mutex", pthread_cond_wait(&c, &m), EPERM);
	is("signal to nobody", pthread_cond_signal(&c), 0);
	is("broadcast to nobody", pthread_cond_broadcast(&c), 0);
	pthread_mutex_lock(&m);
	is("timedwait, negative nanoseconds", pthread_cond_timedwait(&c, &m, &t), EINVAL);
	t = (struct timespec){.tv_sec = -5};
	is("timedwait, before 1970", pthread_cond_timedwait(&c, &m, &t), ETIMEDOUT);
	t = later(CLOCK_REALTIME, 0);
	is("signals to nobody are not kept", pthread_cond_timedwait(&c, &m, &t), ETIMEDOUT);
	is("the mutex is ours again", pthread_mutex_unlock(&m), 0);
	is("destroy", pthread_cond_destroy(&c), 0);
	memset(&c, 0xff, sizeof(c));
	is("init, destroyed, monotonic", pthread_cond_init(&c, &attr), 0);
	pthread_condattr_setclock(&attr, CLOCK_REALTIME); /* no effect on c, like the destroy */
	pthread_condattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_condattr_destroy(&attr);
	memset(&attr, 0xff, sizeof(attr));

	for (long us = 1000; us <= 20000; us *= 20) {
		long took;

		clock_gettime(CLOCK_MONOTONIC, &began);
		t = later(CLOCK_MONOTONIC, us);
		pthread_mutex_lock(&m);
		is("timedwait, by the clock that it was made with",
		   pthread_cond_timedwait(&c, &m, &t), ETIMEDOUT);
		pthread_mutex_unlock(&m);
		took = us_since(&began);
		ok("not too early", took >= us);
	}

	is("cond_init, no such type", cond_init(&c, 0x40, NULL), EINVAL);
	is("cond_init, unknown", cond_init(&c, 64, NULL), EINVAL);
	is("cond_init", cond_init(&c, USYNC_THREAD, NULL), 0);
	memset(&c, 0, sizeof(c));
	cond_signal(&c);
	mutex_lock(&m);
	t = later(CLOCK_REALTIME, 1000);
	is("cond_timedwait, all zero, signalled before", cond_timedwait(&c, &m, &t), ETIME);
	clock_gettime(CLOCK_MONOTONIC, &began);
	t = (struct timespec){.tv_nsec = 1000000};
	is("cond_reltimedwait", cond_reltimedwait(&c, &m, &t), ETIME);
	ok("cond_reltimedwait: for that long", us_since(&began) >= 1000);
	t.tv_nsec = 1000000000;
	is("cond_reltimedwait, out of range", cond_reltimedwait(&c, &m, &t), EINVAL);
	mutex_unlock(&m);
	is("cond_signal", cond_signal(&c), 0);
	is("cond_broadcast", cond_broadcast(&c), 0);
	is("cond_destroy", cond_destroy(&c), 0);
}

/* --- which thread continues ----------------------------------------------------------- */

static struct {
	pthread_mutex_t m;
	pthread_cond_t *c;
	int waiting, woken, wrong;
	long may_go;
	bool ui; /* by UNIX International's names */
} line = {.m = PTHREAD_MUTEX_INITIALIZER};

static void *stands_in_line(void *arg)
{
	pthread_mutex_lock(&line.m);
	line.waiting++;
	do { /* all are equal: any thread that returns was woken */
		int error =
			line.ui ? cond_wait(line.c, &line.m) : pthread_cond_wait(line.c, &line.m);

		if (error != 0 || !MUTEX_HELD(&line.m))
			line.wrong++;
		line.woken++;
	} while (line.may_go-- <= 0);
	pthread_mutex_unlock(&line.m);
	return NULL;
}

/* Until so many wait, or have been woken; comes back with the mutex. */
static void until(const int *count, int n)
{
	pthread_mutex_lock(&line.m);
	while (*count < n) {
		pthread_mutex_unlock(&line.m);
		sched_yield();
		pthread_mutex_lock(&line.m);
	}
}

static void form_line(pthread_t *t, int n)
{
	line.waiting = line.woken = line.wrong = line.may_go = 0;
	for (int i = 0; i < n; i++)
		t[i] = start(stands_in_line, NULL, i % 2);
	until(&line.waiting, n);
}

static void signal_one(void)
{
	if (line.ui)
		cond_signal(line.c);
	else
		pthread_cond_signal(line.c);
}

static void signal_all(void)
{
	if (line.ui)
		cond_broadcast(line.c);
	else
		pthread_cond_broadcast(line.c);
}

/* With the mutex or without.  Leaves some time for further threads, which must not continue. */
static void test_one_and_all(bool with_mutex, bool ui)
{
	pthread_cond_t c = PTHREAD_COND_INITIALIZER;
	pthread_t t[4];

	line.c = &c;
	line.ui = ui;
	form_line(t, 4);
	line.may_go = 1;
	if (with_mutex)
		signal_one();
	pthread_mutex_unlock(&line.m);
	if (!with_mutex)
		signal_one();
	until(&line.woken, 1);
	pthread_mutex_unlock(&line.m);
	for (int i = 0; i < 50; i++)
		sched_yield();
	pthread_mutex_lock(&line.m);
	is(ui ? "cond_signal lets one go" : "a signal lets one go", line.woken, 1);
	line.may_go = 3;
	if (with_mutex)
		signal_all();
	pthread_mutex_unlock(&line.m);
	if (!with_mutex)
		signal_all();
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	is(ui ? "cond_broadcast lets all go" : "a broadcast lets all go", line.woken, 4);
	is(ui ? "cond_wait: each with the mutex" : "each with the mutex", line.wrong, 0);
	line.ui = false;
}

/* The broadcasting thread may destroy the variable at once, though the woken threads are on their
 * way. */
static void test_destroy(void)
{
	int errors = 0;

	for (int i = 0; i < 6; i++) {
		pthread_cond_t *c = malloc(sizeof(*c));
		pthread_t t[3];

		pthread_cond_init(c, NULL);
		line.c = c;
		form_line(t, 3);
		line.may_go = 3;
		if (i % 2)
			pthread_mutex_unlock(&line.m);
		errors += pthread_cond_broadcast(c) | pthread_cond_destroy(c);
		memset(c, 0xa5, sizeof(*c));
		free(c);
		if (i % 2 == 0)
			pthread_mutex_unlock(&line.m);
		for (int k = 0; k < 3; k++)
			pthread_join(t[k], NULL);
		errors += line.wrong + (line.woken != 3);
	}
	is("destroyed right after a broadcast", errors, 0);
}

/* The present waiters decide which mutex belongs to the variable. */
static pthread_mutex_t second = PTHREAD_MUTEX_INITIALIZER;
static volatile bool second_waits;

static void *waits_with_second(void *c)
{
	long error;

	pthread_mutex_lock(&second);
	second_waits = true;
	error = pthread_cond_wait(c, &second);
	if (!MUTEX_HELD(&second))
		error = -1;
	pthread_mutex_unlock(&second);
	return (void *)error;
}

static void test_other_mutex(void)
{
	pthread_cond_t c = PTHREAD_COND_INITIALIZER;
	struct timespec past = {0};
	pthread_t t;
	void *error;

	pthread_mutex_lock(&line.m);
	pthread_cond_timedwait(&c, &line.m, &past);
	t = start(waits_with_second, &c, PTHREAD_SCOPE_PROCESS);
	while (!second_waits)
		sched_yield();
	pthread_mutex_lock(&second);
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&second);
	pthread_join(t, &error);
	pthread_mutex_unlock(&line.m);
	is("one mutex, and then another", (long)error, 0);
}

/* Time is up before it begins: even so it gives the mutex up in between. */
static volatile bool wants, has_had;

static void *wants_mutex(void *arg)
{
	wants = true;
	pthread_mutex_lock(&line.m);
	has_had = true;
	pthread_mutex_unlock(&line.m);
	return NULL;
}

static void test_past(void)
{
	pthread_cond_t c = PTHREAD_COND_INITIALIZER;
	struct timespec past = {0};
	long wrong = 0;
	pthread_t t;

	pthread_mutex_lock(&line.m);
	wants = has_had = false;
	t = start(wants_mutex, NULL, PTHREAD_SCOPE_PROCESS);
	while (!wants)
		sched_yield();
	while (!has_had) /* for ever, if it keeps it */
		wrong += pthread_cond_timedwait(&c, &line.m, &past) != ETIMEDOUT;
	pthread_mutex_unlock(&line.m);
	pthread_join(t, NULL);
	is("gives the mutex up though time is up", wrong, 0);
}

/* --- round trips: each of two threads waits for the other --------------------------- */

static struct {
	pthread_mutex_t m;
	pthread_cond_t c[2];
	int turn;
	bool signal_outside; /* after the unlock: no move to the mutex's queue */
	bool timed;
	long early; /* time-outs although the turn had come: allowed, but counted */
} table;

static void *player(void *arg)
{
	int me = (long)arg;

	for (long i = 0; i < rounds; i++) {
		pthread_mutex_lock(&table.m);
		while (table.turn != me) {
			struct timespec t = later(CLOCK_REALTIME, 40 + i % 50 * 20);

			if (table.timed)
				pthread_cond_timedwait(&table.c[me], &table.m, &t);
			else
				pthread_cond_wait(&table.c[me], &table.m);
		}
		table.turn = !me;
		if (!table.signal_outside)
			pthread_cond_signal(&table.c[!me]);
		pthread_mutex_unlock(&table.m);
		if (table.signal_outside)
			pthread_cond_signal(&table.c[!me]);
	}
	return NULL;
}

static void test_round_trips(void)
{
	for (int how = 0; how < 12; how++) {
		pthread_t t[2];

		table.signal_outside = how & 1;
		table.timed = how & 2;
		table.turn = 0;
		for (long i = 0; i < 2; i++)
			t[i] = start(player, (void *)i, how / 4 == 2 ? i : how / 4);
		for (int i = 0; i < 2; i++)
			pthread_join(t[i], NULL);
	}
	ok("round trips", true);
}

/* --- a bounded buffer ----------------------------------------------------------------- */

#define SIDES 4
#define SLOTS 3

static struct {
	pthread_mutex_t m;
	pthread_cond_t not_empty, not_full;
	long slot[SLOTS];
	unsigned in, out;
	long sum;
	bool broadcast;
} buffer;

static void tell(pthread_cond_t *c)
{
	if (buffer.broadcast)
		pthread_cond_broadcast(c);
	else
		pthread_cond_signal(c);
}

static void *producer(void *arg)
{
	for (long i = 1; i <= rounds; i++) {
		pthread_mutex_lock(&buffer.m);
		while (buffer.in - buffer.out == SLOTS)
			pthread_cond_wait(&buffer.not_full, &buffer.m);
		buffer.slot[buffer.in++ % SLOTS] = i;
		tell(&buffer.not_empty);
		pthread_mutex_unlock(&buffer.m);
	}
	return NULL;
}

static void *consumer(void *arg)
{
	for (long i = 1; i <= rounds; i++) {
		pthread_mutex_lock(&buffer.m);
		while (buffer.in == buffer.out)
			pthread_cond_wait(&buffer.not_empty, &buffer.m);
		buffer.sum += buffer.slot[buffer.out++ % SLOTS];
		tell(&buffer.not_full);
		pthread_mutex_unlock(&buffer.m);
	}
	return NULL;
}

static void test_buffer(void)
{
	for (int how = 0; how < 4; how++) {
		pthread_t t[2 * SIDES];

		buffer.sum = 0;
		buffer.broadcast = how & 1;
		for (int i = 0; i < SIDES; i++) {
			t[i] = start(producer, NULL, how & 2 ? i % 2 : 0);
			t[SIDES + i] = start(consumer, NULL, how & 2 ? i % 2 : 0);
		}
		for (int i = 0; i < 2 * SIDES; i++)
			pthread_join(t[i], NULL);
		is("everything that went in came out", buffer.sum,
		   SIDES * (rounds * (rounds + 1) / 2));
	}
}

/* --- storms of broadcasts: all must pass each generation ---------------------------------- */

#define CROWD 12

static struct {
	pthread_mutex_t m;
	pthread_cond_t next, arrived;
	long generation;
	int here;
} storm;

static void *follower(void *arg)
{
	bool recursive_wait = (long)arg % 2;

	pthread_mutex_lock(&storm.m);
	for (long g = 1; g <= rounds / 4; g++) {
		if (++storm.here == CROWD)
			pthread_cond_signal(&storm.arrived);
		if (recursive_wait)
			pthread_mutex_lock(&storm.m); /* cond_wait gives both up */
		while (storm.generation < g)
			pthread_cond_wait(&storm.next, &storm.m);
		if (recursive_wait)
			pthread_mutex_unlock(&storm.m);
	}
	pthread_mutex_unlock(&storm.m);
	return NULL;
}

static void test_storm(void)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	for (int how = 0; how < 4; how++) {
		pthread_t t[CROWD];

		pthread_mutex_init(&storm.m, &attr);
		storm.generation = storm.here = 0;
		for (long i = 0; i < CROWD; i++)
			t[i] = start(follower, (void *)i, how & 2 ? i % 2 : 0);
		for (long g = 1; g <= rounds / 4; g++) {
			pthread_mutex_lock(&storm.m);
			while (storm.here < CROWD)
				pthread_cond_wait(&storm.arrived, &storm.m);
			storm.here = 0;
			storm.generation = g;
			if (how & 1)
				pthread_cond_broadcast(&storm.next);
			pthread_mutex_unlock(&storm.m);
			if (!(how & 1))
				pthread_cond_broadcast(&storm.next);
		}
		for (int i = 0; i < CROWD; i++)
			pthread_join(t[i], NULL);
	}
	ok("storms of broadcasts", true);
}

/* --- time-outs against signals: each signal is either received or not needed --------------- */

static struct {
	pthread_mutex_t m;
	pthread_cond_t c;
	long tokens, taken, given_up;
	bool done;
} race;

static void *taker(void *arg)
{
	pthread_mutex_lock(&race.m);
	for (long i = 0;; i++) {
		struct timespec t = later(CLOCK_REALTIME, 20 + i % 7 * 30);
		int error = 0;

		while (race.tokens == 0 && !race.done && error == 0)
			error = pthread_cond_timedwait(&race.c, &race.m, &t);
		if (error != 0 && error != ETIMEDOUT)
			bail("cond_timedwait: %d", error);
		if (race.tokens > 0) {
			race.tokens--;
			race.taken++;
		} else if (race.done) {
			break;
		} else {
			race.given_up++;
		}
	}
	pthread_mutex_unlock(&race.m);
	return NULL;
}

static void test_race_with_time(void)
{
	for (int how = 0; how < 2; how++) {
		pthread_t t[4];

		race.tokens = race.taken = race.given_up = race.done = 0;
		for (int i = 0; i < 4; i++)
			t[i] = start(taker, NULL, how ? i % 2 : 0);
		for (long i = 0; i < rounds; i++) {
			pthread_mutex_lock(&race.m);
			race.tokens++;
			pthread_cond_signal(&race.c);
			pthread_mutex_unlock(&race.m);
			if (i % 64 == 0)
				sched_yield();
		}
		pthread_mutex_lock(&race.m);
		race.done = true;
		pthread_cond_broadcast(&race.c);
		pthread_mutex_unlock(&race.m);
		for (int i = 0; i < 4; i++)
			pthread_join(t[i], NULL);
		is("every token was taken", race.taken, rounds);
	}
}

int main(int argc, char **argv)
{
	if (argc > 1)
		rounds = atol(argv[1]);
	test_arguments();
	test_other_mutex();
	test_past();
	for (int how = 0; how < 4; how++)
		test_one_and_all(how & 1, how & 2);
	test_destroy();
	for (int concurrency = 1; concurrency <= 4; concurrency *= 4) {
		pthread_setconcurrency(concurrency);
		test_round_trips();
		test_buffer();
		test_storm();
		test_race_with_time();
	}
	return tap_done();
}
