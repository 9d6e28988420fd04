/*
 * thr_inversion.c - priorities of threads that wait for each other, on one CPU, where the order in
 * which they end follows from their priorities alone.
 *
 * Tests priority inversion without a protocol and with PTHREAD_PRIO_INHERIT and
 * PTHREAD_PRIO_PROTECT: along a chain, after a time-out, with a condition variable, after an
 * owner's death.  Also tests which of several waiters is next, for each kind of object.
 */
#include <errno.h>
#include <semaphore.h>
#include <sys/processor.h>
#include <sys/procset.h>
#include <time.h>
#include "protocol.h"

/* --- actors --------------------------------------------------------------------------------- */

static char order[16];
static sem_t ready;

struct actor;

struct role {
	char name;
	int pri;
	void (*play)(struct actor *);
};

static struct actor {
	struct role role;
	sem_t go;
	pthread_t thread;
	int result;
} actors[4];

static void record(char c)
{
	order[strlen(order)] = c;
}

static void *act(void *arg)
{
	struct actor *a = arg;

	set_priority(a->role.pri);
	sem_post(&ready);
	sem_wait(&a->go);
	a->role.play(a);
	record(a->role.name);
	return NULL;
}

/* Each actor except the first waits for its cue, which the first actor gives. */
static void perform(const struct role *cast, int n)
{
	memset(order, 0, sizeof(order));
	sem_init(&ready, 0, 0);
	for (int i = 0; i < n; i++) {
		actors[i] = (struct actor){.role = cast[i]};
		sem_init(&actors[i].go, 0, 0);
		if (pthread_create(&actors[i].thread, NULL, act, &actors[i]) != 0)
			bail("pthread_create");
		sem_wait(&ready);
	}
	sem_post(&actors[0].go);
	for (int i = 0; i < n; i++)
		pthread_join(actors[i].thread, NULL);
}

static pthread_mutex_t m1, m2;

static void cue(int i)
{
	sem_post(&actors[i].go);
}

/* Low has the mutex that high wants, when middle comes. */
static void low(struct actor *a)
{
	a->result = pthread_mutex_lock(&m1);
	cue(1);
	cue(2);
	pthread_mutex_unlock(&m1);
}

static void high(struct actor *a)
{
	a->result = pthread_mutex_lock(&m1);
	pthread_mutex_unlock(&m1);
}

static void middle(struct actor *a)
{
}

static const char *inversion(int protocol, int robust)
{
	static const struct role cast[] = {{'L', 10, low}, {'H', 30, high}, {'M', 20, middle}};

	init(&m1, protocol, 30, PTHREAD_MUTEX_NORMAL, robust);
	perform(cast, 3);
	is("all locked it", actors[0].result | actors[1].result, 0);
	return order;
}

static void same(const char *what, const char *got, const char *want)
{
	tap_report(strcmp(got, want) == 0, what, "the order is %s, not %s", got, want);
}

static void test_inversion(void)
{
	same("no protocol: the middle one goes before the high one",
	     inversion(PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED), "MHL");
	same("inheritance: it does not", inversion(PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED),
	     "HML");
	same("a ceiling: it does not", inversion(PTHREAD_PRIO_PROTECT, PTHREAD_MUTEX_STALLED),
	     "HML");
	if (kernel_schedules) { /* in the others a robust mutex belongs to LWPs */
		same("inheritance, robust", inversion(PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_ROBUST),
		     "HML");
		same("a ceiling, robust", inversion(PTHREAD_PRIO_PROTECT, PTHREAD_MUTEX_ROBUST),
		     "HML");
	}
}

/* The waiter's priority becomes higher than the middle one's while it waits. */
static void low_and_repricing(struct actor *a)
{
	pthread_mutex_lock(&m1);
	cue(1);
	reprice(actors[1].thread, 30);
	cue(2);
	pthread_mutex_unlock(&m1);
}

static void test_repriced(void)
{
	static const struct role cast[] = {
		{'L', 10, low_and_repricing}, {'H', 15, high}, {'M', 20, middle}};

	init(&m1, PTHREAD_PRIO_INHERIT, 0, 0, 0);
	perform(cast, 3);
	same("what a waiter's new priority is, is inherited", order, "HML");
	init(&m1, PTHREAD_PRIO_NONE, 0, 0, 0);
	perform(cast, 3);
	same("... and else is not", order, "MHL");
}

/* High waits for second, which waits for first. */
static void chain_first(struct actor *a)
{
	pthread_mutex_lock(&m1);
	cue(1);
	cue(2);
	cue(3);
	pthread_mutex_unlock(&m1);
}

static void chain_second(struct actor *a)
{
	pthread_mutex_lock(&m2);
	pthread_mutex_lock(&m1);
	pthread_mutex_unlock(&m1);
	pthread_mutex_unlock(&m2);
}

static void chain_high(struct actor *a)
{
	pthread_mutex_lock(&m2);
	pthread_mutex_unlock(&m2);
}

static void test_chain(void)
{
	static const struct role cast[] = {{'1', 10, chain_first},
					   {'2', 20, chain_second},
					   {'H', 40, chain_high},
					   {'M', 30, middle}};

	init(&m1, PTHREAD_PRIO_NONE, 0, 0, 0);
	init(&m2, PTHREAD_PRIO_NONE, 0, 0, 0);
	perform(cast, 4);
	same("a chain without inheritance", order, "MH21");
	init(&m1, PTHREAD_PRIO_INHERIT, 0, 0, 0);
	init(&m2, PTHREAD_PRIO_INHERIT, 0, 0, 0);
	perform(cast, 4);
	same("a chain with inheritance", order, "HM21");
}

/* High gives up: low is low again. */
static volatile bool gave_up;

static void impatient(struct actor *a)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_nsec += 1000000;
	if (t.tv_nsec >= 1000000000) {
		t.tv_nsec -= 1000000000;
		t.tv_sec++;
	}
	a->result = pthread_mutex_clocklock(&m1, CLOCK_MONOTONIC, &t);
	gave_up = true;
}

static void outlasts(struct actor *a)
{
	pthread_mutex_lock(&m1);
	cue(1);
	while (!gave_up)
		sched_yield();
	cue(2);
	record('u');
	pthread_mutex_unlock(&m1);
}

static void test_timeout(void)
{
	static const struct role cast[] = {
		{'L', 10, outlasts}, {'H', 30, impatient}, {'M', 20, middle}};

	gave_up = false;
	init(&m1, PTHREAD_PRIO_INHERIT, 0, 0, 0);
	perform(cast, 3);
	is("time is up", actors[1].result, ETIMEDOUT);
	same("what was inherited from a waiter that gave up is gone", order, "HMuL");
}

/* The waiter with the highest priority is next; of equals, the first to arrive. */
static void holds(struct actor *a)
{
	pthread_mutex_lock(&m1);
	cue(1);
	cue(2);
	cue(3);
	pthread_mutex_unlock(&m1);
}

static void test_order(void)
{
	static const struct role cast[] = {
		{'L', 10, holds}, {'a', 20, high}, {'b', 40, high}, {'c', 30, high}};

	init(&m1, PTHREAD_PRIO_INHERIT, 0, 0, 0);
	perform(cast, 4);
	same("the highest first", order, "bcaL");
}

/* The owner ends without giving it up. */
static void dies(struct actor *a)
{
	pthread_mutex_lock(&m1);
	cue(1);
	cue(2);
	record('d');
}

static void inherits_data(struct actor *a)
{
	a->result = pthread_mutex_lock(&m1);
	pthread_mutex_consistent(&m1);
	pthread_mutex_unlock(&m1);
}

static void test_death(void)
{
	static const struct role cast[] = {
		{'L', 10, dies}, {'H', 30, inherits_data}, {'M', 20, middle}};

	init(&m1, PTHREAD_PRIO_INHERIT, 0, 0, PTHREAD_MUTEX_ROBUST);
	perform(cast, 3);
	is("the owner died", actors[1].result, EOWNERDEAD);
	same("... at the priority that it inherited", order, "dLHM");
	is("as new", pthread_mutex_lock(&m1) | pthread_mutex_unlock(&m1), 0);
}

/* --- with a condition variable -------------------------------------------------------------- */

static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static volatile int stage;

static void waits(struct actor *a)
{
	a->result = pthread_mutex_lock(&m1) | pthread_mutex_lock(&m1);
	while (stage == 0)
		a->result |= pthread_cond_wait(&cond, &m1);
	a->result |= pthread_mutex_unlock(&m1) | pthread_mutex_unlock(&m1);
}

static void signals(struct actor *a)
{
	cue(1);
	cue(2);
	a->result = pthread_mutex_lock(&m1);
	stage = 1;
	a->result |= pthread_cond_broadcast(&cond);
	record('s');
	a->result |= pthread_mutex_unlock(&m1);
}

static void test_condition(int protocol)
{
	static const struct role cast[] = {{'L', 10, signals}, {'a', 20, waits}, {'b', 30, waits}};

	stage = 0;
	init(&m1, protocol, 40, PTHREAD_MUTEX_RECURSIVE, 0);
	perform(cast, 3);
	is("no errors", actors[0].result | actors[1].result | actors[2].result, 0);
	same("waiters go on by priority", order, "sbaL");
	is("free at the end", pthread_mutex_destroy(&m1), 0);
}

/* --- which waiter is next, without a protocol ------------------------------------------------- */

/* Something to wait for: L has it, or nobody; three of one priority come, and go on in their order. */
static struct object {
	const char *name;
	void (*take)(void);
	void (*give)(void);
	bool by_unit; /* L gives three times, and has nothing itself */
} const *object;

static sem_t units;
static pthread_rwlock_t rw;
static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t line;

static void lock_m1(void)
{
	pthread_mutex_lock(&m1);
}
static void unlock_m1(void)
{
	pthread_mutex_unlock(&m1);
}
static void take_unit(void)
{
	sem_wait(&units);
}
static void give_unit(void)
{
	sem_post(&units);
}
static void start_writing(void)
{
	pthread_rwlock_wrlock(&rw);
}
static void stop_writing(void)
{
	pthread_rwlock_unlock(&rw);
}
static void wait_in_line(void)
{
	pthread_mutex_lock(&plain);
	pthread_cond_wait(&line, &plain);
	pthread_mutex_unlock(&plain);
}
static void call_one(void)
{
	pthread_cond_signal(&line);
}
static void call_one_locked(void)
{
	pthread_mutex_lock(&plain);
	pthread_cond_signal(&line);
	pthread_mutex_unlock(&plain);
}

static const struct object objects[] = {
	{"mutex: by priority, then as they came", lock_m1, unlock_m1, false},
	{"semaphore: by priority, then as they came", take_unit, give_unit, true},
	{"write lock: by priority, then as they came", start_writing, stop_writing, false},
	{"signal: by priority, then as they came", wait_in_line, call_one, true},
	{"signal, with the mutex: by priority, then as they came", wait_in_line, call_one_locked,
	 true},
};

static void has_it(struct actor *a)
{
	if (!object->by_unit)
		object->take();
	for (int i = 1; i <= 3; i++)
		cue(i);
	object->give();
	if (object->by_unit) {
		object->give();
		object->give();
	}
}

static void wants_it(struct actor *a)
{
	object->take();
	if (!object->by_unit)
		object->give();
}

/* In the library, or in the kernel as objects that processes share are. */
static void make_objects(bool shared)
{
	int how = shared ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE;
	pthread_rwlockattr_t ra;
	pthread_condattr_t ca;

	init(&m1, PTHREAD_PRIO_NONE, 0, 0, shared ? SHARED : 0);
	init(&plain, PTHREAD_PRIO_NONE, 0, 0, shared ? SHARED : 0);
	pthread_rwlockattr_init(&ra);
	pthread_rwlockattr_setpshared(&ra, how);
	pthread_rwlock_init(&rw, &ra);
	pthread_condattr_init(&ca);
	pthread_condattr_setpshared(&ca, how);
	pthread_cond_init(&line, &ca);
	sem_init(&units, shared, 0);
}

/* POSIX, for SCHED_FIFO: the highest priority is next; of equals, the longest waiter. */
static void test_next(bool shared)
{
	static const struct role equals[] = {
		{'L', 10, has_it}, {'a', 20, wants_it}, {'b', 20, wants_it}, {'c', 20, wants_it}};
	static const struct role rising[] = {
		{'L', 10, has_it}, {'a', 20, wants_it}, {'b', 40, wants_it}, {'c', 30, wants_it}};

	make_objects(shared);
	for (object = objects; object < objects + sizeof(objects) / sizeof(*objects); object++) {
		perform(equals, 4);
		same(object->name, order, "abcL");
		perform(rising, 4);
		same(object->name, order, "bcaL");
	}
}

static void reads(struct actor *a)
{
	a->result = pthread_rwlock_rdlock(&rw);
	pthread_rwlock_unlock(&rw);
}

static void tries_to_read(struct actor *a)
{
	a->result = pthread_rwlock_tryrdlock(&rw);
	if (a->result == 0)
		pthread_rwlock_unlock(&rw);
}

static void writes(struct actor *a)
{
	pthread_rwlock_wrlock(&rw);
	pthread_rwlock_unlock(&rw);
}

static void reads_first(struct actor *a)
{
	pthread_rwlock_rdlock(&rw);
	for (int i = 1; i <= 3; i++)
		cue(i);
	record('u');
	pthread_rwlock_unlock(&rw);
}

/* POSIX: a reader waits for a waiting writer, unless the writer has a lower priority. */
static void test_readers(bool shared)
{
	static const struct role cast[] = {
		{'L', 10, reads_first}, {'W', 30, writes}, {'r', 20, reads}, {'R', 40, reads}};
	static const struct role equal[] = {{'L', 10, reads_first},
					    {'W', 30, writes},
					    {'r', 30, reads},
					    {'t', 30, tries_to_read}};
	static const struct role higher[] = {{'L', 10, reads_first},
					     {'W', 30, writes},
					     {'r', 30, reads},
					     {'T', 40, tries_to_read}};

	make_objects(shared);
	perform(cast, 4);
	same("only a reader of a higher priority goes before a writer", order, "RuWrL");
	perform(equal, 4);
	same("... not one of the same", order, "tuWrL");
	is("... nor by tryrdlock", actors[3].result, EBUSY);
	perform(higher, 4);
	same("tryrdlock of a higher one", order, "TuWrL");
	is("... has it", actors[3].result, 0);
}

static void writes_first(struct actor *a)
{
	pthread_rwlock_wrlock(&rw);
	for (int i = 1; i <= 3; i++)
		cue(i);
	record('u');
	pthread_rwlock_unlock(&rw);
}

/* POSIX, for SCHED_FIFO: of the same priority, writers before readers.  Else: in order of
 * arrival. */
static void test_writers(bool shared)
{
	static const struct role cast[] = {
		{'L', 10, writes_first}, {'r', 20, reads}, {'W', 20, writes}, {'V', 20, writes}};
	static const struct role falling[] = {
		{'L', 10, writes_first}, {'R', 30, reads}, {'r', 20, reads}, {'W', 20, writes}};

	make_objects(shared);
	perform(cast, 4);
	same("writers go before readers of their priority, if that is SCHED_FIFO's", order,
	     "uWVrL");
	perform(falling, 4);
	same("... and not before one of a higher", order, "uRWrL");
	if (kernel_schedules)
		return;
	policy = SCHED_OTHER;
	perform(cast, 4);
	same("of SCHED_OTHER, who came first", order, "urWVL");
	perform(falling, 4);
	same("... of one priority", order, "uRrWL");
	policy = SCHED_FIFO;
}

int main(void)
{
	find_model();
	if (processor_bind(P_PID, P_MYID, 0, NULL) < 0)
		bail("processor_bind: %d", errno);
	test_inversion();
	by_ui = true;
	test_inversion();
	test_chain();
	by_ui = false;
	test_repriced();
	test_chain();
	test_timeout();
	test_order();
	if (kernel_schedules)
		test_death();
	test_condition(PTHREAD_PRIO_INHERIT);
	test_condition(PTHREAD_PRIO_PROTECT);
	test_next(false);
	test_readers(false);
	test_writers(false);
	if (kernel_schedules) { /* in the others, shared objects are waited for by LWPs */
		test_next(true);
		test_readers(true);
		test_writers(true);
	}
	return tap_done();
}
