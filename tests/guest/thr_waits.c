/*
 * thr_waits.c - what may happen to a thread that waits for an object, of each kind and by each
 * interface: a handler interrupts it; it is cancelled, before or meanwhile.  And that the other
 * functions on these objects are no cancellation points.  (Cancellation at any moment: thr_points.c.)
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <synch.h>
#include <threads.h>
#include <time.h>
#include <weft/ksync.h>
#include "tap.h"

#define PRIVATE_WAITERS 1 /* in the word of a mutex that processes do not share */

static pthread_mutex_t m;
static pthread_cond_t c;
static pthread_rwlock_t rw;
static pthread_barrier_t barrier;
static pthread_spinlock_t spin;
static sem_t s;
static bool shared;
static volatile bool began, given; /* it is about to wait; what it waits for is there */
static volatile bool early, held;  /* it had it before that; it had the mutex */

static const struct timespec never = {.tv_sec = 4000000000}, long_time = {.tv_sec = 1000000000};

/* --- objects ---------------------------------------------------------------------------- */

static int pshared(void)
{
	return shared ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE;
}

static void make_mutex(void)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, pshared());
	pthread_mutex_init(&m, &attr);
}

static void make_protecting(void)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_PROTECT);
	pthread_mutex_init(&m, &attr);
}

static void hold_mutex(void)
{
	pthread_mutex_lock(&m);
}

static void give_mutex(void)
{
	pthread_mutex_unlock(&m);
}

static bool mutex_waited(void)
{
	return m.__owner & (shared ? LWP_MUTEX_WAITERS : PRIVATE_WAITERS);
}

static void make_rwlock(void)
{
	pthread_rwlockattr_t attr;

	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setpshared(&attr, pshared());
	pthread_rwlock_init(&rw, &attr);
}

static void hold_rwlock(void)
{
	pthread_rwlock_wrlock(&rw);
}

static void give_rwlock(void)
{
	pthread_rwlock_unlock(&rw);
}

static bool rwlock_waited(void)
{
	return rw.__word & LWP_RWLOCK_WAITING;
}

/* Held by others: a barrier for two; free: for one. */
static void make_barrier(void)
{
	pthread_barrierattr_t attr;

	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, pshared());
	pthread_barrier_init(&barrier, &attr, 1);
}

static void hold_barrier(void)
{
	barrier.__count = 2;
}

static void give_barrier(void)
{
	pthread_barrier_wait(&barrier);
}

static bool barrier_waited(void)
{
	return (unsigned)barrier.__word == 1;
}

static void make_spin(void)
{
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
}

static void hold_spin(void)
{
	pthread_spin_lock(&spin);
}

static void give_spin(void)
{
	pthread_spin_unlock(&spin);
}

static bool has_begun(void)
{
	return began;
}

static void make_cond(void)
{
	pthread_condattr_t attr;

	make_mutex();
	pthread_condattr_init(&attr);
	pthread_condattr_setpshared(&attr, pshared());
	pthread_cond_init(&c, &attr);
}

static void nothing(void)
{
}

static void give_cond(void)
{
	pthread_mutex_lock(&m);
	given = true;
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&m);
}

static bool cond_waited(void)
{
	return c.__waiters & (shared ? LWP_COND_WAITERS : 1);
}

/* Free: with a unit. */
static void make_sem(void)
{
	sem_init(&s, shared, 1);
}

static void hold_sem(void)
{
	sem_wait(&s);
}

static void give_sem(void)
{
	sem_post(&s);
}

static bool sem_waited(void)
{
	return s.__word == LWP_SEMA_WAITING;
}

static const struct object {
	void (*make)(void), (*hold)(void), (*give)(void);
	bool (*waited)(void);
	bool points, can_share;
} mutexes = {make_mutex, hold_mutex, give_mutex, mutex_waited, false, true},
  protecting = {make_protecting, hold_mutex, give_mutex, mutex_waited, false, false},
  rwlocks = {make_rwlock, hold_rwlock, give_rwlock, rwlock_waited, false, true},
  barriers = {make_barrier, hold_barrier, give_barrier, barrier_waited, false, true},
  spins = {make_spin, hold_spin, give_spin, has_begun, false, false},
  conds = {make_cond, nothing, give_cond, cond_waited, true, true},
  sems = {make_sem, hold_sem, give_sem, sem_waited, true, true};

/* --- ways to wait: 0 or an error ---------------------------------------------------------- */

static int had(int error, int (*give)(void))
{
	early |= !given;
	return error != 0 ? error : give();
}

static int unlock(void)
{
	return pthread_mutex_unlock(&m);
}

static int rw_give(void)
{
	return pthread_rwlock_unlock(&rw);
}

static int spin_give(void)
{
	return pthread_spin_unlock(&spin);
}

static int none(void)
{
	return 0;
}

static int changed(void)
{
	int now;

	return pthread_mutex_getprioceiling(&m, &now) != 0 || now != 1;
}

/* Either -1 and errno or an error; a handler ends a wait for a semaphore that processes share. */
static int taken(int (*wait)(void))
{
	int r;

	do {
		r = wait();
		if (r < 0)
			r = errno;
	} while (shared && r == EINTR);
	return had(r, none);
}

static void leave(void *arg)
{
	held = MUTEX_HELD(&m);
	pthread_mutex_unlock(&m);
}

static int until_given(int (*wait)(void))
{
	int error = 0;

	pthread_mutex_lock(&m);
	pthread_cleanup_push(leave, NULL);
	while (error == 0 && !given)
		error = wait();
	pthread_cleanup_pop(1);
	return error;
}

#define WAY(name, what, wait)                                                                      \
	static int name##_call(void)                                                               \
	{                                                                                          \
		return wait;                                                                       \
	}                                                                                          \
	static int name##_way(void)                                                                \
	{                                                                                          \
		return what;                                                                       \
	}
#define LOCK(name, ...) WAY(name, had(name##_call(), unlock), name(&m, ##__VA_ARGS__))
#define RWLOCK(name, ...) WAY(name, had(name##_call(), rw_give), name(&rw, ##__VA_ARGS__))
#define COND(name, ...) WAY(name, until_given(name##_call), name(&c, &m, ##__VA_ARGS__))
#define SEM(name, ...) WAY(name, taken(name##_call), name(&s, ##__VA_ARGS__))

LOCK(pthread_mutex_lock)
LOCK(pthread_mutex_timedlock, &never)
LOCK(pthread_mutex_clocklock, CLOCK_MONOTONIC, &never)
LOCK(mutex_lock)
LOCK(mtx_lock)
LOCK(mtx_timedlock, &never)
WAY(pthread_mutex_setprioceiling, had(pthread_mutex_setprioceiling_call(), changed),
    pthread_mutex_setprioceiling(&m, 1, NULL))
RWLOCK(pthread_rwlock_rdlock)
RWLOCK(pthread_rwlock_timedrdlock, &never)
RWLOCK(pthread_rwlock_clockrdlock, CLOCK_MONOTONIC, &never)
RWLOCK(pthread_rwlock_wrlock)
RWLOCK(pthread_rwlock_timedwrlock, &never)
RWLOCK(pthread_rwlock_clockwrlock, CLOCK_MONOTONIC, &never)
RWLOCK(rw_rdlock)
RWLOCK(rw_wrlock)
WAY(pthread_barrier_wait, had(pthread_barrier_wait_call(), none),
    pthread_barrier_wait(&barrier) > 0)
WAY(pthread_spin_lock, had(pthread_spin_lock_call(), spin_give), pthread_spin_lock(&spin))
COND(pthread_cond_wait)
COND(pthread_cond_timedwait, &never)
COND(pthread_cond_clockwait, CLOCK_MONOTONIC, &never)
COND(cond_wait)
COND(cond_timedwait, (timestruc_t *)&never)
COND(cond_reltimedwait, (timestruc_t *)&long_time)
COND(cnd_wait)
COND(cnd_timedwait, &never)
SEM(sem_wait)
SEM(sem_timedwait, &never)
SEM(sem_clockwait, CLOCK_MONOTONIC, &never)
SEM(sema_wait)

static const struct way {
	const char *name;
	int (*wait)(void);
	const struct object *object;
} ways[] = {
#define ROW(name, object)                                                                          \
	{                                                                                          \
#name, name##_way, &object                                                         \
	}
	ROW(pthread_mutex_lock, mutexes),
	ROW(pthread_mutex_timedlock, mutexes),
	ROW(pthread_mutex_clocklock, mutexes),
	ROW(mutex_lock, mutexes),
	ROW(mtx_lock, mutexes),
	ROW(mtx_timedlock, mutexes),
	ROW(pthread_mutex_setprioceiling, protecting),
	ROW(pthread_rwlock_rdlock, rwlocks),
	ROW(pthread_rwlock_timedrdlock, rwlocks),
	ROW(pthread_rwlock_clockrdlock, rwlocks),
	ROW(pthread_rwlock_wrlock, rwlocks),
	ROW(pthread_rwlock_timedwrlock, rwlocks),
	ROW(pthread_rwlock_clockwrlock, rwlocks),
	ROW(rw_rdlock, rwlocks),
	ROW(rw_wrlock, rwlocks),
	ROW(pthread_barrier_wait, barriers),
	ROW(pthread_spin_lock, spins),
	ROW(pthread_cond_wait, conds),
	ROW(pthread_cond_timedwait, conds),
	ROW(pthread_cond_clockwait, conds),
	ROW(cond_wait, conds),
	ROW(cond_timedwait, conds),
	ROW(cond_reltimedwait, conds),
	ROW(cnd_wait, conds),
	ROW(cnd_timedwait, conds),
	ROW(sem_wait, sems),
	ROW(sem_timedwait, sems),
	ROW(sem_clockwait, sems),
	ROW(sema_wait, sems),
};

/* --- handlers ------------------------------------------------------------------------------- */

static bool one_lwp, kernel_schedules;
static volatile sig_atomic_t handled;

static void handler(int sig)
{
	handled++;
}

static void *waits(void *arg)
{
	const struct way *w = arg;

	began = true;
	return (void *)(long)w->wait();
}

/* Comes back when it waits. */
static pthread_t start_waiting(const struct way *w, bool bound)
{
	pthread_attr_t attr;
	pthread_t t;

	began = given = early = held = false;
	pthread_attr_init(&attr);
	pthread_attr_setscope(&attr, bound ? PTHREAD_SCOPE_SYSTEM : PTHREAD_SCOPE_PROCESS);
	if (pthread_create(&t, &attr, waits, (void *)w) != 0)
		bail("pthread_create");
	while (!w->object->waited())
		sched_yield();
	return t;
}

static void *let_go(const struct way *w, pthread_t t)
{
	void *r;

	if (w->object != &conds) /* that does it under the mutex */
		given = true;
	w->object->give();
	pthread_join(t, &r);
	return r;
}

static const char *label(const struct way *w, const char *what)
{
	static char text[120];

	snprintf(text, sizeof(text), "%s%s: %s", w->name, shared ? ", shared" : "", what);
	return text;
}

/* An unbound thread's handler may have to wait until it runs again. */
static void test_handler(const struct way *w)
{
	bool good = true;

	for (int bound = 0; bound < 2; bound++) {
		pthread_t t;
		void *r;

		handled = 0;
		w->object->make();
		w->object->hold();
		t = start_waiting(w, bound);
		pthread_kill(t, SIGUSR1);
		if (kernel_schedules || (bound && !one_lwp))
			while (!handled)
				sched_yield();
		r = let_go(w, t);
		good &= r == NULL && handled == 1 && !early;
	}
	ok(label(w, "waits on after a handler"), good);
	if (w->object == &conds)
		ok(label(w, "has the mutex when it returns"), held);
}

/* --- cancellation --------------------------------------------------------------------------- */

static void *waits_with_pending(void *arg)
{
	pthread_cancel(pthread_self());
	return waits(arg);
}

static bool cancelled_before(const struct way *w)
{
	pthread_t t;
	void *r;

	w->object->make();
	early = held = false;
	given = w->object != &conds;
	if (pthread_create(&t, NULL, waits_with_pending, (void *)w) != 0)
		bail("pthread_create");
	pthread_join(t, &r);
	return r == PTHREAD_CANCELED;
}

static void test_point(const struct way *w)
{
	bool before = cancelled_before(w), had_mutex = held, meanwhile;
	int units = 0, left = 0;
	pthread_t t;
	void *r;

	if (w->object == &sems)
		sem_getvalue(&s, &units);
	w->object->make();
	w->object->hold();
	t = start_waiting(w, false);
	pthread_cancel(t);
	pthread_join(t, &r);
	meanwhile = r == PTHREAD_CANCELED;
	ok(label(w, "is a cancellation point: with a pending one"), before);
	ok(label(w, "is a cancellation point: in its wait"), meanwhile);
	if (w->object == &conds)
		ok(label(w, "has the mutex in a cleanup handler"), had_mutex && held);
	if (w->object == &sems) {
		sem_post(&s);
		sem_getvalue(&s, &left);
		ok(label(w, "takes no unit when cancelled"), units == 1 && left == 1);
	}
}

static void test_no_point(const struct way *w)
{
	bool before = cancelled_before(w);
	pthread_t t;

	w->object->make();
	w->object->hold();
	t = start_waiting(w, false);
	pthread_cancel(t);
	for (int i = 0; i < 20; i++)
		sched_yield();
	ok(label(w, "is no cancellation point"), !before && let_go(w, t) == NULL && !early);
}

static void test_ways(bool of_processes)
{
	shared = of_processes;
	for (const struct way *w = ways; w < ways + sizeof(ways) / sizeof(ways[0]); w++) {
		if (shared && !w->object->can_share)
			continue;
		test_handler(w);
		if (w->object->points)
			test_point(w);
		else
			test_no_point(w);
	}
}

/* --- functions that do not wait -------------------------------------------------------------- */

static const char *call;

/* The call returns, though a cancellation is pending. */
#define NO_POINT(text)                                                                             \
	do {                                                                                       \
		call = #text;                                                                      \
		(void)(text);                                                                      \
		no_point(true);                                                                    \
	} while (0)

static void no_point(bool returned)
{
	int name = strcspn(call, "("), from = strcspn(call, "=");
	char text[80];

	from = from < name ? from + 2 : 0;
	snprintf(text, sizeof(text), "%.*s: is no cancellation point", name - from, call + from);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL); /* the report is a point */
	ok(text, returned);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
}

static void of_attributes(void)
{
	pthread_mutexattr_t ma;
	pthread_condattr_t ca;
	pthread_rwlockattr_t ra;
	pthread_barrierattr_t ba;
	clockid_t clock;
	int n;

	NO_POINT(pthread_mutexattr_init(&ma));
	NO_POINT(pthread_mutexattr_settype(&ma, PTHREAD_MUTEX_NORMAL));
	NO_POINT(pthread_mutexattr_gettype(&ma, &n));
	NO_POINT(pthread_mutexattr_destroy(&ma));
	NO_POINT(pthread_condattr_init(&ca));
	NO_POINT(pthread_condattr_setclock(&ca, CLOCK_MONOTONIC));
	NO_POINT(pthread_condattr_getclock(&ca, &clock));
	NO_POINT(pthread_condattr_destroy(&ca));
	NO_POINT(pthread_rwlockattr_init(&ra));
	NO_POINT(pthread_rwlockattr_destroy(&ra));
	NO_POINT(pthread_barrierattr_init(&ba));
	NO_POINT(pthread_barrierattr_destroy(&ba));
}

static void of_objects(void)
{
	sem_t *named;
	int n;

	NO_POINT(pthread_mutex_init(&m, NULL));
	NO_POINT(pthread_mutex_trylock(&m));
	NO_POINT(pthread_mutex_unlock(&m));
	NO_POINT(pthread_mutex_consistent(&m));
	NO_POINT(pthread_mutex_getprioceiling(&m, &n));
	NO_POINT(pthread_mutex_destroy(&m));
	NO_POINT(pthread_cond_init(&c, NULL));
	NO_POINT(pthread_cond_signal(&c));
	NO_POINT(pthread_cond_broadcast(&c));
	NO_POINT(pthread_cond_destroy(&c));
	NO_POINT(pthread_rwlock_init(&rw, NULL));
	NO_POINT(pthread_rwlock_tryrdlock(&rw));
	NO_POINT(pthread_rwlock_unlock(&rw));
	NO_POINT(pthread_rwlock_trywrlock(&rw));
	pthread_rwlock_unlock(&rw);
	NO_POINT(pthread_rwlock_destroy(&rw));
	NO_POINT(pthread_barrier_init(&barrier, NULL, 1));
	NO_POINT(pthread_barrier_destroy(&barrier));
	NO_POINT(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE));
	NO_POINT(pthread_spin_trylock(&spin));
	NO_POINT(pthread_spin_unlock(&spin));
	NO_POINT(pthread_spin_destroy(&spin));
	NO_POINT(sem_init(&s, 0, 1));
	NO_POINT(sem_trywait(&s));
	NO_POINT(sem_post(&s));
	NO_POINT(sem_getvalue(&s, &n));
	NO_POINT(sem_destroy(&s));
	NO_POINT(named = sem_open("/thr_waits", O_CREAT, 0600, 1));
	NO_POINT(sem_close(named));
	NO_POINT(sem_unlink("/thr_waits"));
}

static void of_other_interfaces(void)
{
	NO_POINT(mutex_init(&m, USYNC_THREAD, NULL));
	NO_POINT(mutex_trylock(&m));
	NO_POINT(mutex_unlock(&m));
	NO_POINT(cond_init(&c, USYNC_THREAD, NULL));
	NO_POINT(cond_signal(&c));
	NO_POINT(cond_broadcast(&c));
	NO_POINT(rwlock_init(&rw, USYNC_THREAD, NULL));
	NO_POINT(rw_tryrdlock(&rw));
	NO_POINT(rw_unlock(&rw));
	NO_POINT(rw_trywrlock(&rw));
	rw_unlock(&rw);
	NO_POINT(sema_init(&s, 1, USYNC_THREAD, NULL));
	NO_POINT(sema_trywait(&s));
	NO_POINT(sema_post(&s));
	NO_POINT(mtx_init(&m, mtx_plain));
	NO_POINT(mtx_trylock(&m));
	NO_POINT(mtx_unlock(&m));
	NO_POINT(cnd_init(&c));
	NO_POINT(cnd_signal(&c));
	NO_POINT(cnd_broadcast(&c));
}

static void *calls_all(void *arg)
{
	pthread_cancel(pthread_self());
	of_attributes();
	of_objects();
	of_other_interfaces();
	return NULL;
}

static void test_others(void)
{
	pthread_t t;
	void *r;

	if (pthread_create(&t, NULL, calls_all, NULL) != 0)
		bail("pthread_create");
	pthread_join(t, &r);
	if (r == PTHREAD_CANCELED)
		no_point(false);
}

int main(void)
{
	const struct sigaction act = {.sa_handler = handler};
	const char *model = getenv("LIBTHREAD");

	kernel_schedules = model == NULL || strcmp(model, "lwp") == 0;
	one_lwp = model != NULL && strcmp(model, "n1") == 0;
	sigaction(SIGUSR1, &act, NULL); /* without SA_RESTART */
	test_ways(false);
	if (!one_lwp) /* who waits for a shared one keeps the only LWP */
		test_ways(true);
	test_others();
	return tap_done();
}
