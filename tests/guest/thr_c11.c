/* thr_c11.c - threads.h in every model: what each function does, and each result it can have. */
#include "tap.h"
#include <limits.h>
#include <signal.h>
#include <sys/time.h>
#include <threads.h>

static mtx_t m;
static cnd_t c;
static int stage;
static thread_local int local = 3;

static int returns(void *arg)
{
	local++;
	return *(int *)arg + local;
}

static int exits(void *arg)
{
	thrd_exit(-5);
}

static int same(void *arg)
{
	return thrd_equal(thrd_current(), *(thrd_t *)arg);
}

static void handler(int sig)
{
}

/* A handler ends a sleep, which tells how much of it was left. */
static void interrupted(void)
{
	struct timespec hour = {.tv_sec = 3600}, left = {.tv_sec = -1};
	struct itimerval on = {{0, 1000}, {0, 1000}}, off = {{0, 0}, {0, 0}};
	struct sigaction act = {.sa_handler = handler};

	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &on, NULL);
	is("sleep: a handler", thrd_sleep(&hour, &left), -1);
	setitimer(ITIMER_REAL, &off, NULL);
	ok("sleep: what was left", left.tv_sec >= 3000 && left.tv_sec < 3600);
}

static void test_threads(void)
{
	thrd_t t, self = thrd_current();
	int n = 10, r = 0;
	struct timespec ms = {.tv_nsec = 1000000}, bad = {.tv_nsec = -1}, now, after;

	is("create", thrd_create(&t, returns, &n), thrd_success);
	is("join", thrd_join(t, &r), thrd_success);
	is("the result", r, 14);
	is("thread_local: one's own", local, 3);
	is("join: no such thread", thrd_join(t, NULL), thrd_error);
	is("join: oneself", thrd_join(self, NULL), thrd_error);
	thrd_create(&t, exits, NULL);
	thrd_join(t, &r);
	is("exit", r, -5);
	thrd_create(&t, same, &self);
	thrd_join(t, &r);
	is("two threads are not equal", r, 0);
	ok("one is", thrd_equal(self, thrd_current()));
	thrd_create(&t, returns, &n);
	is("detach", thrd_detach(t), thrd_success);
	is("detach: not twice", thrd_detach(t), thrd_error);
	thrd_yield();
	is("timespec_get", timespec_get(&now, TIME_UTC), TIME_UTC);
	is("timespec_get: unknown", timespec_get(&now, 77), 0);
	is("sleep", thrd_sleep(&ms, NULL), 0);
	timespec_get(&after, TIME_UTC);
	ok("for that long",
	   (after.tv_sec - now.tv_sec) * 1000000000l + after.tv_nsec - now.tv_nsec >= 1000000);
	ok("sleep: no length", thrd_sleep(&bad, NULL) < -1);
	interrupted();
}

static int tries(void *arg)
{
	struct timespec past = {0};

	return mtx_trylock(arg) * 10 + mtx_timedlock(arg, &past);
}

static int can_have(void *arg)
{
	int r = mtx_trylock(arg);

	if (r == thrd_success)
		mtx_unlock(arg);
	return r;
}

static int unlocks(void *arg)
{
	return mtx_unlock(arg);
}

static int run(thrd_start_t fn, void *arg)
{
	thrd_t t;
	int r = -1;

	if (thrd_create(&t, fn, arg) != thrd_success)
		bail("thrd_create");
	thrd_join(t, &r);
	return r;
}

static void test_mutexes(void)
{
	const int types[] = {mtx_plain, mtx_timed, mtx_plain | mtx_recursive,
			     mtx_timed | mtx_recursive};
	struct timespec bad = {.tv_nsec = -1}, past = {0};
	mtx_t x;

	for (int i = 0; i < 4; i++) {
		is("mtx_init", mtx_init(&x, types[i]), thrd_success);
		is("mtx_init: free", run(can_have, &x), thrd_success);
		is("lock", mtx_lock(&x), thrd_success);
		is("trylock and timedlock by another", run(tries, &x),
		   thrd_busy * 10 + thrd_timedout);
		if (types[i] & mtx_recursive) {
			is("lock again", mtx_lock(&x), thrd_success);
			is("trylock again", mtx_trylock(&x), thrd_success);
			is("timedlock again", mtx_timedlock(&x, &past), thrd_success);
			is("unlock by another", run(unlocks, &x), thrd_error);
			for (int n = 0; n < 3; n++)
				mtx_unlock(&x);
			is("as many unlocks as locks", run(can_have, &x), thrd_busy);
		} else {
			is("timedlock: no time", mtx_timedlock(&x, &bad), thrd_error);
			is("trylock", mtx_trylock(&x), thrd_busy);
		}
		is("unlock", mtx_unlock(&x), thrd_success);
		is("unlock: another can have it", run(can_have, &x), thrd_success);
		is("trylock", mtx_trylock(&x), thrd_success);
		mtx_unlock(&x);
		is("unlock: not locked", mtx_unlock(&x), thrd_error);
		mtx_destroy(&x);
		memset(&x, 0xff, sizeof(x));
	}
	is("mtx_init: unknown", mtx_init(&x, 8), thrd_error);
}

static int waits(void *arg)
{
	mtx_lock(&m);
	stage++;
	while (stage < 10)
		cnd_wait(&c, &m);
	mtx_unlock(&m);
	return 0;
}

static void test_conditions(void)
{
	struct timespec past = {0}, bad = {.tv_nsec = -1};
	thrd_t t[2];

	mtx_init(&m, mtx_plain);
	is("cnd_init", cnd_init(&c), thrd_success);
	is("wait without the mutex", cnd_wait(&c, &m), thrd_error);
	for (int i = 0; i < 2; i++)
		thrd_create(&t[i], waits, NULL);
	mtx_lock(&m);
	while (stage < 2) {
		mtx_unlock(&m);
		thrd_yield();
		mtx_lock(&m);
	}
	is("signal", cnd_signal(&c), thrd_success);
	stage = 10;
	is("broadcast", cnd_broadcast(&c), thrd_success);
	is("timedwait", cnd_timedwait(&c, &m, &past), thrd_timedout);
	is("timedwait: no time", cnd_timedwait(&c, &m, &bad), thrd_error);
	is("has the mutex still", mtx_unlock(&m), thrd_success);
	for (int i = 0; i < 2; i++)
		thrd_join(t[i], NULL);
	cnd_signal(&c);
	cnd_broadcast(&c);
	mtx_lock(&m);
	is("signals to nobody are not kept", cnd_timedwait(&c, &m, &past), thrd_timedout);
	mtx_unlock(&m);
	cnd_destroy(&c);
	memset(&c, 0xff, sizeof(c));
	is("cnd_init, destroyed", cnd_init(&c), thrd_success);
	cnd_destroy(&c);
	mtx_destroy(&m);
}

/* Four wait; one signal lets one of them go, a broadcast the others. */
static int passed, wrong;

static int waits_once(void *arg)
{
	mtx_lock(&m);
	stage++;
	wrong += cnd_wait(&c, &m) != thrd_success;
	passed++;
	mtx_unlock(&m);
	return 0;
}

static void until(const int *count, int n)
{
	for (int seen = -1; seen < n; thrd_yield()) {
		mtx_lock(&m);
		seen = *count;
		mtx_unlock(&m);
	}
}

static void test_one_and_all(void)
{
	thrd_t t[4];

	mtx_init(&m, mtx_plain);
	cnd_init(&c);
	stage = 0;
	for (int i = 0; i < 4; i++)
		thrd_create(&t[i], waits_once, NULL);
	until(&stage, 4);
	cnd_signal(&c);
	until(&passed, 1);
	for (int i = 0; i < 50; i++)
		thrd_yield();
	mtx_lock(&m);
	is("a signal lets one go", passed, 1);
	cnd_broadcast(&c);
	mtx_unlock(&m);
	for (int i = 0; i < 4; i++)
		thrd_join(t[i], NULL);
	is("a broadcast lets all go", passed, 4);
	is("each with success", wrong, 0);
	cnd_destroy(&c);
	mtx_destroy(&m);
}

/* What mutexes are for. */
static int counter;

static int counts(void *arg)
{
	for (int i = 0; i < 500; i++) {
		int seen;

		while (i % 3 == 0 ? mtx_trylock(&m) != thrd_success : mtx_lock(&m) != thrd_success)
			thrd_yield();
		seen = counter;
		if (i % 32 == 0)
			thrd_yield();
		counter = seen + 1;
		mtx_unlock(&m);
	}
	return 0;
}

static void test_exclusion(void)
{
	thrd_t t[4];

	mtx_init(&m, mtx_plain);
	for (int i = 0; i < 4; i++)
		thrd_create(&t[i], counts, NULL);
	for (int i = 0; i < 4; i++)
		thrd_join(t[i], NULL);
	is("one at a time", counter, 2000);
	mtx_destroy(&m);
}

static tss_t key;
static int destroyed, inits;

static void destroy(void *value)
{
	destroyed += *(int *)value;
	if (destroyed < 100)
		tss_set(key, value);
}

static int sets(void *arg)
{
	return tss_get(key) == NULL && tss_set(key, arg) == thrd_success && tss_get(key) == arg;
}

static int deletes(void *arg)
{
	tss_set(key, arg);
	tss_delete(key);
	return 0;
}

static void init(void)
{
	inits++;
}

static void test_rest(void)
{
	static once_flag flag = ONCE_FLAG_INIT;
	tss_t keys[PTHREAD_KEYS_MAX];
	int one = 1, n = 0;

	is("tss_create", tss_create(&key, destroy), thrd_success);
	is("set and get", run(sets, &one), 1);
	is("the destructor, as often as is said", destroyed, TSS_DTOR_ITERATIONS);
	ok("not the first thread's", tss_get(key) == NULL);
	tss_delete(key);
	int before = destroyed;
	tss_create(&key, destroy);
	run(deletes, &one);
	is("tss_delete calls no destructor", destroyed, before);
	is("tss_set: no such key", tss_set(key, &one), thrd_error);
	while (n < PTHREAD_KEYS_MAX && tss_create(&keys[n], NULL) == thrd_success)
		n++;
	is("tss_create: too many", tss_create(&key, NULL), thrd_error);
	while (n > 0)
		tss_delete(keys[--n]);
	call_once(&flag, init);
	call_once(&flag, init);
	is("call_once", inits, 1);
}

int main(void)
{
	test_threads();
	test_mutexes();
	test_conditions();
	test_one_and_all();
	test_exclusion();
	test_rest();
	return tap_done();
}
