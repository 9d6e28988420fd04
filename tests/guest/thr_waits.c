/*
 * thr_waits.c - what may happen to a thread that waits for an object, of each kind and by each
 * interface: a handler interrupts it; it is cancelled, before or meanwhile.  And that the other
 * functions on these objects are no cancellation points.  (Cancellation at any moment:
 * thr_points.c.)
 */
#include <fcntl.h>
#include <signal.h>
#include "start.h"
#include "tap.h"
#include "waits.h"

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

static void *waits_with_pending(void *arg)
{
	pthread_cancel(pthread_self());
	return waits(arg);
}

/* A sleep, because with a ceiling the caller is above the threads to which sched_yield gives way. */
static void others_run(void)
{
	const struct timespec t = {0, 50000};

	nanosleep(&t, NULL);
}

/* Comes back when it waits. */
static pthread_t start_waiting(const struct way *w, bool bound, bool cancelled)
{
	pthread_t t;

	began = given = early = held = false;
	t = start(cancelled ? waits_with_pending : waits, (void *)w,
		  bound ? PTHREAD_SCOPE_SYSTEM : PTHREAD_SCOPE_PROCESS);
	while (!w->object->waited())
		others_run();
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
		t = start_waiting(w, bound, false);
		pthread_kill(t, SIGUSR1);
		if (kernel_schedules || (bound && !one_lwp))
			while (!handled)
				others_run();
		r = let_go(w, t);
		good &= r == NULL && handled == 1 && !early;
	}
	ok(label(w, "waits on after a handler"), good);
	if (w->object == &conds)
		ok(label(w, "has the mutex when it returns"), held);
}

/* --- cancellation --------------------------------------------------------------------------- */

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
	t = start_waiting(w, false, false);
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

/* Neither if it need not wait, nor if it must, nor while it does. */
static void test_no_point(const struct way *w)
{
	bool good = !cancelled_before(w);

	for (int pending = 0; pending < 2; pending++) {
		pthread_t t;

		w->object->make();
		w->object->hold();
		t = start_waiting(w, false, pending);
		if (!pending)
			pthread_cancel(t);
		for (int i = 0; i < 20; i++)
			others_run();
		good &= let_go(w, t) == NULL && !early;
	}
	ok(label(w, "is no cancellation point"), good);
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
	if (!one_lwp) /* a thread that waits for a shared one keeps the only LWP */
		test_ways(true);
	test_others();
	return tap_done();
}
