/*
 * thr_rwlock.c [ROUNDS] - reader-writer locks, barriers and spin locks: every function
 * with good and bad arguments, exclusion, and that nobody starves or is forgotten.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <synch.h>
#include <time.h>
#include <weft/ksync.h>
#include "start.h"
#include "tap.h"

#define THREADS 8

static long rounds = 2000;
static const char *model;

static void all(void *(*fn)(void *), int scope)
{
	pthread_t t[THREADS];

	for (long i = 0; i < THREADS; i++)
		t[i] = start(fn, (void *)i, scope >= 0 ? scope : i % 2);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
}

/* What `call` gives in another thread. */
struct question {
	int (*call)(pthread_rwlock_t *);
	pthread_rwlock_t *l;
};

static void *asks(void *arg)
{
	struct question *q = arg;

	return (void *)(long)q->call(q->l);
}

static long elsewhere(int (*call)(pthread_rwlock_t *), pthread_rwlock_t *l)
{
	struct question q = {call, l};
	void *answer;

	pthread_join(start(asks, &q, PTHREAD_SCOPE_PROCESS), &answer);
	return (long)answer;
}

static int timed_read(pthread_rwlock_t *l)
{
	struct timespec t = later(CLOCK_REALTIME, 2000);

	return pthread_rwlock_timedrdlock(l, &t);
}

static int timed_write(pthread_rwlock_t *l)
{
	struct timespec t = later(CLOCK_REALTIME, 2000);

	return pthread_rwlock_timedwrlock(l, &t);
}

static int timed_wrongly(pthread_rwlock_t *l)
{
	struct timespec t = {.tv_nsec = 1000000000};

	return pthread_rwlock_timedwrlock(l, &t);
}

static int written(pthread_rwlock_t *l)
{
	int error = pthread_rwlock_trywrlock(l);

	return error != 0 ? error : pthread_rwlock_unlock(l);
}

static int read_too(pthread_rwlock_t *l)
{
	int error = pthread_rwlock_tryrdlock(l);

	return error != 0 ? error : pthread_rwlock_unlock(l);
}

static int writer_of(rwlock_t *l)
{
	return RW_WRITE_HELD(l);
}

static void test_arguments(int pshared)
{
	pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
	pthread_rwlockattr_t attr;
	rwlock_t u = DEFAULTRWLOCK;
	int v;

	is("rwlockattr_init", pthread_rwlockattr_init(&attr), 0);
	is("getpshared", (pthread_rwlockattr_getpshared(&attr, &v), v), PTHREAD_PROCESS_PRIVATE);
	is("setpshared", pthread_rwlockattr_setpshared(&attr, pshared), 0);
	is("setpshared, unknown", pthread_rwlockattr_setpshared(&attr, 3), EINVAL);
	is("getpshared again", (pthread_rwlockattr_getpshared(&attr, &v), v), pshared);
	is("init", pthread_rwlock_init(&l, &attr), 0);
	pthread_rwlockattr_setpshared(&attr, !pshared);
	is("rwlockattr_destroy", pthread_rwlockattr_destroy(&attr), 0);
	is("the attributes changed: no matter to the lock", (l.__word & LWP_RWLOCK_SHARED) != 0,
	   pshared == PTHREAD_PROCESS_SHARED);
	is("rwlockattr_init, destroyed", pthread_rwlockattr_init(&attr), 0);
	is("the default again", (pthread_rwlockattr_getpshared(&attr, &v), v),
	   PTHREAD_PROCESS_PRIVATE);

	is("unlock, free", pthread_rwlock_unlock(&l), EPERM);
	is("rdlock", pthread_rwlock_rdlock(&l), 0);
	is("rdlock again", pthread_rwlock_rdlock(&l), 0);
	is("tryrdlock too", pthread_rwlock_tryrdlock(&l), 0);
	is("another reads", elsewhere(read_too, &l), 0);
	is("trywrlock", pthread_rwlock_trywrlock(&l), EBUSY);
	is("destroy, held", pthread_rwlock_destroy(&l), EBUSY);
	is("timedwrlock", elsewhere(timed_write, &l), ETIMEDOUT);
	is("timedwrlock, out of range", elsewhere(timed_wrongly, &l), EINVAL);
	is("it left no trace", pthread_rwlock_tryrdlock(&l), 0);
	for (int i = 0; i < 3; i++)
		pthread_rwlock_unlock(&l);
	is("read until as many unlocks", elsewhere(pthread_rwlock_trywrlock, &l), EBUSY);
	is("the last unlock", pthread_rwlock_unlock(&l), 0);
	is("one unlock too many", pthread_rwlock_unlock(&l), EPERM);
	is("free, for a writer", elsewhere(written, &l), 0);

	is("wrlock", pthread_rwlock_wrlock(&l), 0);
	is("rdlock by the writer", pthread_rwlock_rdlock(&l), EDEADLK);
	is("wrlock by the writer", pthread_rwlock_wrlock(&l), EDEADLK);
	is("tryrdlock, written", elsewhere(pthread_rwlock_tryrdlock, &l), EBUSY);
	is("trywrlock, written", elsewhere(pthread_rwlock_trywrlock, &l), EBUSY);
	is("timedrdlock, written", elsewhere(timed_read, &l), ETIMEDOUT);
	is("unlock, another's", elsewhere(pthread_rwlock_unlock, &l), EPERM);
	is("unlock by the writer", pthread_rwlock_unlock(&l), 0);
	is("trywrlock, free", pthread_rwlock_trywrlock(&l), 0);
	is("unlock", pthread_rwlock_unlock(&l), 0);
	is("destroy, free", pthread_rwlock_destroy(&l), 0);
	memset(&l, 0xff, sizeof(l));
	is("init, destroyed", pthread_rwlock_init(&l, NULL), 0);
	is("as new: free", elsewhere(written, &l), 0);
	l = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER;
	is("PTHREAD_RWLOCK_INITIALIZER: free", elsewhere(written, &l), 0);

	is("rwlock_init, unknown", rwlock_init(&u, LOCK_ROBUST, NULL), EINVAL);
	is("rwlock_init", rwlock_init(&u, pshared ? USYNC_PROCESS : USYNC_THREAD, NULL), 0);
	is("rw_rdlock", rw_rdlock(&u), 0);
	is("rw_tryrdlock", rw_tryrdlock(&u), 0);
	is("rw_trywrlock", rw_trywrlock(&u), EBUSY);
	ok("RW_READ_HELD: the caller reads", RW_READ_HELD(&u) && !RW_WRITE_HELD(&u));
	is("rw_unlock", rw_unlock(&u), 0);
	is("rw_unlock: reads on", elsewhere(pthread_rwlock_trywrlock, &u), EBUSY);
	is("rw_unlock: as often as locked", rw_unlock(&u), 0);
	ok("RW_READ_HELD: nobody reads", !RW_READ_HELD(&u));
	is("rw_wrlock", rw_wrlock(&u), 0);
	ok("RW_WRITE_HELD: the caller writes", RW_WRITE_HELD(&u) && !RW_READ_HELD(&u));
	is("RW_WRITE_HELD: another writes", elsewhere(writer_of, &u), 0);
	is("rw_tryrdlock, rw_trywrlock: another writes",
	   elsewhere(rw_tryrdlock, &u) == EBUSY && elsewhere(rw_trywrlock, &u) == EBUSY, 1);
	is("a rwlock_t is a pthread_rwlock_t", pthread_rwlock_unlock(&u), 0);
	ok("RW_WRITE_HELD: nobody writes", !RW_WRITE_HELD(&u));
	is("rw_trywrlock, free", rw_trywrlock(&u) | rw_unlock(&u), 0);
	is("rwlock_destroy", rwlock_destroy(&u), 0);
	memset(&u, 0, sizeof(u));
	is("all zero is a rwlock_t", elsewhere(written, &u), 0);
}

/* --- exclusion ----------------------------------------------------------------------------- */

static pthread_rwlock_t lock;
static volatile long a, b;
static int readers, writers, wrong;
static long writes;

static void *mixed(void *arg)
{
	unsigned long seed = (long)arg + 1;

	for (long i = 0; i < rounds; i++) {
		seed = seed * 6364136223846793005ul + 1442695040888963407ul;
		if (seed >> 61 == 0) {
			if ((seed >> 50 & 3) != 0 ? pthread_rwlock_wrlock(&lock)
						  : timed_write(&lock))
				continue;
			if (__atomic_add_fetch(&writers, 1, __ATOMIC_SEQ_CST) != 1 || readers != 0)
				wrong |= 1;
			a++;
			if (seed >> 40 & 1)
				sched_yield();
			b++;
			writes++;
			__atomic_sub_fetch(&writers, 1, __ATOMIC_SEQ_CST);
		} else {
			if ((seed >> 50 & 3) != 0 ? pthread_rwlock_rdlock(&lock)
						  : pthread_rwlock_tryrdlock(&lock))
				continue;
			__atomic_add_fetch(&readers, 1, __ATOMIC_SEQ_CST);
			if (a != b || writers != 0)
				wrong |= 2;
			if (seed >> 40 & 1) /* a recursing reader waits for no writer */
				pthread_rwlock_rdlock(&lock);
			if ((seed >> 42 & 15) == 0)
				sched_yield();
			if (seed >> 40 & 1)
				pthread_rwlock_unlock(&lock);
			__atomic_sub_fetch(&readers, 1, __ATOMIC_SEQ_CST);
		}
		if (pthread_rwlock_unlock(&lock) != 0)
			wrong |= 4;
	}
	return NULL;
}

static void test_exclusion(int scope)
{
	a = b = writes = 0;
	pthread_rwlock_init(&lock, NULL);
	all(mixed, scope);
	is("readers and writers keep apart", wrong, 0);
	ok("no write was lost", a == writes && b == writes);
	is("nobody holds it in the end", pthread_rwlock_destroy(&lock), 0);
}

/* --- nobody starves -------------------------------------------------------------------------- */

static volatile bool stop;

static void *reads_on(void *arg)
{
	while (!stop) {
		pthread_rwlock_rdlock(&lock);
		sched_yield();
		pthread_rwlock_unlock(&lock);
	}
	return NULL;
}

static void test_starvation(void)
{
	pthread_t t[4];

	pthread_rwlock_init(&lock, NULL);
	stop = false;
	for (int i = 0; i < 4; i++)
		t[i] = start(reads_on, NULL, i % 2);
	for (long i = 0; i < rounds / 10; i++) {
		pthread_rwlock_wrlock(&lock);
		pthread_rwlock_unlock(&lock);
		sched_yield();
	}
	stop = true;
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	ok("writers get in among readers that never rest", true);
}

/* A writer gives up; the readers behind it must not wait for it any longer. */
static sem_t may_finish;
static volatile bool gave_up;

static void *writer_in_a_hurry(void *arg)
{
	long r = timed_write(&lock);

	gave_up = true;
	return (void *)r;
}

static void *patient_reader(void *arg)
{
	pthread_rwlock_rdlock(&lock);
	pthread_rwlock_unlock(&lock);
	sem_post(&may_finish);
	return NULL;
}

static void test_writer_gives_up(void)
{
	pthread_t w, r;
	void *status;

	pthread_rwlock_init(&lock, NULL);
	sem_init(&may_finish, 0, 0);
	gave_up = false;
	pthread_rwlock_rdlock(&lock);
	w = start(writer_in_a_hurry, NULL, PTHREAD_SCOPE_SYSTEM);
	while (!(lock.__word & LWP_RWLOCK_WAITING) &&
	       !gave_up) /* it waits, or had no patience for us */
		sched_yield();
	r = start(patient_reader, NULL, PTHREAD_SCOPE_PROCESS);
	sem_wait(&may_finish); /* hangs if the reader still waits */
	pthread_rwlock_unlock(&lock);
	pthread_join(w, &status);
	pthread_join(r, NULL);
	is("the writer gave up", (long)status, ETIMEDOUT);
}

/* The readers that wait for a writer then read together: each waits for the others. */
static pthread_barrier_t together;
static int waiting;

static void *reads_together(void *arg)
{
	long error;

	__atomic_add_fetch(&waiting, 1, __ATOMIC_RELAXED);
	error = pthread_rwlock_rdlock(&lock);
	pthread_barrier_wait(&together); /* hangs if one is missing */
	return (void *)(error | pthread_rwlock_unlock(&lock));
}

static void test_readers_together(void)
{
	pthread_t t[3];
	void *error;
	long errors = 0;

	pthread_rwlock_init(&lock, NULL);
	pthread_barrier_init(&together, NULL, 3);
	waiting = 0;
	pthread_rwlock_wrlock(&lock);
	for (int i = 0; i < 3; i++)
		t[i] = start(reads_together, NULL, i % 2);
	while (waiting < 3 || !(lock.__word & LWP_RWLOCK_WAITING))
		sched_yield();
	pthread_rwlock_unlock(&lock);
	for (int i = 0; i < 3; i++) {
		pthread_join(t[i], &error);
		errors |= (long)error;
	}
	is("waiting readers read together", errors, 0);
}

/* --- barriers --------------------------------------------------------------------------------- */

static pthread_barrier_t barrier;
static long serial, step[THREADS], out_of_step;

static void *marches(void *arg)
{
	long me = (long)arg;

	for (long i = 1; i <= rounds; i++) {
		int r;

		step[me] = i;
		r = pthread_barrier_wait(&barrier);
		if (r == PTHREAD_BARRIER_SERIAL_THREAD)
			__atomic_add_fetch(&serial, 1, __ATOMIC_RELAXED);
		else if (r != 0)
			bail("barrier_wait: %d", r);
		for (int k = 0; k < THREADS; k++)
			if (step[k] < i || step[k] > i + 1)
				__atomic_add_fetch(&out_of_step, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void test_barrier_arguments(int pshared)
{
	pthread_barrierattr_t attr;
	int v;

	is("barrierattr_init", pthread_barrierattr_init(&attr), 0);
	is("barrierattr_getpshared", (pthread_barrierattr_getpshared(&attr, &v), v),
	   PTHREAD_PROCESS_PRIVATE);
	is("barrierattr_setpshared", pthread_barrierattr_setpshared(&attr, pshared), 0);
	is("barrierattr_setpshared, unknown", pthread_barrierattr_setpshared(&attr, 2), EINVAL);
	is("barrierattr_getpshared again", (pthread_barrierattr_getpshared(&attr, &v), v), pshared);
	is("a count of 0 is refused", pthread_barrier_init(&barrier, &attr, 0), EINVAL);
	is("barrier_init, 1", pthread_barrier_init(&barrier, &attr, 1), 0);
	pthread_barrierattr_setpshared(&attr, !pshared);
	is("barrierattr_destroy", pthread_barrierattr_destroy(&attr), 0);
	is("barrier attributes changed: no matter", barrier.__flags & LWP_BARRIER_SHARED, pshared);
	for (int i = 0; i < 3; i++)
		is("barrier for one", pthread_barrier_wait(&barrier),
		   PTHREAD_BARRIER_SERIAL_THREAD);
	is("barrier_destroy", pthread_barrier_destroy(&barrier), 0);
	is("a destroyed one", pthread_barrier_wait(&barrier), EINVAL);
	is("barrierattr_init, destroyed", pthread_barrierattr_init(&attr), 0);
	is("barrierattr_getpshared, as at first", (pthread_barrierattr_getpshared(&attr, &v), v),
	   PTHREAD_PROCESS_PRIVATE);
	is("barrier_init, destroyed", pthread_barrier_init(&barrier, NULL, 1), 0);
	is("a barrier once more", pthread_barrier_wait(&barrier), PTHREAD_BARRIER_SERIAL_THREAD);
	pthread_barrier_destroy(&barrier);
}

static void test_barrier(int scope)
{
	serial = out_of_step = 0;
	pthread_barrier_init(&barrier, NULL, THREADS);
	all(marches, scope);
	is("one serial thread a cycle", serial, rounds);
	is("all keep step", out_of_step, 0);
	is("barrier_destroy at the end", pthread_barrier_destroy(&barrier), 0);
}

/* A handler runs meanwhile; the barrier counts its thread once, and keeps it. */
static volatile sig_atomic_t handled;
static volatile bool passed;

static void handler(int sig)
{
	handled = 1;
}

static void *waits(void *arg)
{
	long r = pthread_barrier_wait(&barrier);

	passed = true;
	return (void *)r;
}

static void test_barrier_signal(int pshared)
{
	pthread_barrierattr_t attr;
	pthread_t t;
	void *r;
	int last;

	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, pshared);
	pthread_barrier_init(&barrier, &attr, 2);
	signal(SIGUSR1, handler);
	handled = passed = false;
	t = start(waits, NULL, PTHREAD_SCOPE_SYSTEM);
	while ((unsigned)*(volatile unsigned long *)&barrier.__word != 1)
		sched_yield();
	is("pthread_kill at a barrier", pthread_kill(t, SIGUSR1), 0);
	if (pshared || strcmp(model, "lwp") == 0) /* elsewhere when it runs again */
		while (!handled)
			sched_yield();
	ok("it waits on", !passed);
	last = pthread_barrier_wait(&barrier);
	pthread_join(t, &r);
	is("its handler ran", handled, 1);
	ok("one of the two is the serial one",
	   last + (long)r == PTHREAD_BARRIER_SERIAL_THREAD && last * (long)r == 0);
	is("barrier_destroy", pthread_barrier_destroy(&barrier), 0);
}

/* --- spin locks ------------------------------------------------------------------------------- */

static pthread_spinlock_t spin;
static volatile long spun;

static void *spins(void *arg)
{
	for (long i = 0; i < rounds; i++) {
		long seen;

		pthread_spin_lock(&spin);
		seen = spun;
		if (i % 64 == 0)
			sched_yield();
		spun = seen + 1;
		pthread_spin_unlock(&spin);
	}
	return NULL;
}

static void test_spin(int scope)
{
	is("spin_init, shared", pthread_spin_init(&spin, PTHREAD_PROCESS_SHARED), 0);
	is("spin_init, unknown", pthread_spin_init(&spin, 8), EINVAL);
	is("spin_init", pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE), 0);
	is("spin_trylock", pthread_spin_trylock(&spin), 0);
	is("spin_trylock, held", pthread_spin_trylock(&spin), EBUSY);
	is("spin_destroy, held", pthread_spin_destroy(&spin), EBUSY);
	is("spin_unlock", pthread_spin_unlock(&spin), 0);
	is("spin_unlock, free", pthread_spin_unlock(&spin), EPERM);
	spun = 0;
	all(spins, scope);
	is("spin lock excludes", spun, THREADS * rounds);
	is("spin_destroy", pthread_spin_destroy(&spin), 0);
	memset(&spin, 0xff, sizeof(spin));
	is("spin_init, destroyed", pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE), 0);
	is("as new: spin_trylock", pthread_spin_trylock(&spin), 0);
	pthread_spin_unlock(&spin);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		rounds = atol(argv[1]);
	model = getenv("LIBTHREAD") != NULL ? getenv("LIBTHREAD") : "lwp";
	for (int pshared = PTHREAD_PROCESS_PRIVATE; pshared <= PTHREAD_PROCESS_SHARED; pshared++) {
		test_arguments(pshared);
		test_barrier_arguments(pshared);
		/* A thread that waits for a shared lock in n1 keeps the only LWP. */
		if (!pshared || strcmp(model, "n1") != 0)
			test_barrier_signal(pshared);
	}
	for (int concurrency = 1; concurrency <= 4; concurrency *= 4) {
		pthread_setconcurrency(concurrency);
		for (int scope = -1; scope < 2; scope++) {
			test_exclusion(scope);
			test_barrier(scope);
			test_spin(scope);
		}
		test_readers_together();
		test_starvation();
		test_writer_gives_up();
	}
	return tap_done();
}
