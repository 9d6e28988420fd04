/*
 * thr_life.c [ROUNDS] - the life of threads: attributes, create, join, detach, exit, ids,
 * once, and the same through the UNIX International functions.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <thread.h>
#include "tap.h"

static long rounds = 500;

static void *identity(void *arg)
{
	return arg;
}

/* --- attributes ------------------------------------------------------------------------ */

static void test_attributes(void)
{
	pthread_attr_t a;
	pthread_t t;
	size_t size;
	void *addr;
	int v;

	is("attr_init", pthread_attr_init(&a), 0);
	is("joinable", (pthread_attr_getdetachstate(&a, &v), v), PTHREAD_CREATE_JOINABLE);
	is("setdetachstate", pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED), 0);
	is("getdetachstate", (pthread_attr_getdetachstate(&a, &v), v), PTHREAD_CREATE_DETACHED);
	is("setdetachstate, unknown", pthread_attr_setdetachstate(&a, 44), EINVAL);
	is("process scope", (pthread_attr_getscope(&a, &v), v), PTHREAD_SCOPE_PROCESS);
	is("setscope", pthread_attr_setscope(&a, PTHREAD_SCOPE_SYSTEM), 0);
	is("getscope", (pthread_attr_getscope(&a, &v), v), PTHREAD_SCOPE_SYSTEM);
	is("setscope, unknown", pthread_attr_setscope(&a, -1), EINVAL);
	is("setstacksize, too small", pthread_attr_setstacksize(&a, PTHREAD_STACK_MIN - 1), EINVAL);
	is("setstacksize, too large", pthread_attr_setstacksize(&a, SIZE_MAX), EINVAL);
	is("setstacksize", pthread_attr_setstacksize(&a, PTHREAD_STACK_MIN), 0);
	is("getstacksize", (pthread_attr_getstacksize(&a, &size), size), PTHREAD_STACK_MIN);
	is("setguardsize, too large", pthread_attr_setguardsize(&a, SIZE_MAX), EINVAL);
	is("setguardsize", pthread_attr_setguardsize(&a, 12345), 0);
	is("getguardsize", (pthread_attr_getguardsize(&a, &size), size), 12345);
	is("setstack, none", pthread_attr_setstack(&a, NULL, 65536), EINVAL);
	is("setstack, too small", pthread_attr_setstack(&a, &a, 100), EINVAL);
	is("setstack, odd", pthread_attr_setstack(&a, (void *)0x1234567, 65536), EINVAL);
	is("setstack", pthread_attr_setstack(&a, (void *)0x1234560, 65536), 0);
	is("getstack", pthread_attr_getstack(&a, &addr, &size), 0);
	ok("getstack's values", addr == (void *)0x1234560 && size == 65536);
	is("attr_destroy", pthread_attr_destroy(&a), 0);
	is("attr_destroy twice", pthread_attr_destroy(&a), EINVAL);
	is("get from a destroyed one", pthread_attr_getscope(&a, &v), EINVAL);
	is("set in a destroyed one", pthread_attr_setscope(&a, PTHREAD_SCOPE_PROCESS), EINVAL);
	is("create with a destroyed one", pthread_create(&t, &a, identity, NULL), EINVAL);
	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, PTRDIFF_MAX / 8);
	is("create with an impossible stack", pthread_create(&t, &a, identity, NULL), EAGAIN);
}

/* --- stacks ---------------------------------------------------------------------------- */

static void *where(void *arg)
{
	char here[64];

	memset(here, 1, sizeof(here));
	*(char **)arg = here;
	return (void *)((uintptr_t)__builtin_frame_address(0) % 16);
}

static void test_stacks(void)
{
	size_t size = 65536;
	char *mem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t a;
	pthread_t t;
	void *status;
	char *at;

	pthread_attr_init(&a);
	pthread_attr_setstack(&a, mem, size);
	for (int scope = 0; scope < 2; scope++) {
		pthread_attr_setscope(&a, scope);
		is("create on our stack", pthread_create(&t, &a, where, &at), 0);
		is("join", pthread_join(t, &status), 0);
		ok("it ran on it", at > mem && at < mem + size);
		is("frames are aligned", (uintptr_t)status, 0);
	}
	is("the stack is ours again", munmap(mem, size), 0);

	pthread_attr_init(&a);
	pthread_attr_setguardsize(&a, 0);
	is("create without a guard", pthread_create(&t, &a, where, &at), 0);
	is("join it", pthread_join(t, &status), 0);
}

static void *control_word(void *arg)
{
	uint32_t mxcsr;

	__asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
	return (void *)(long)(mxcsr & 0x6000);
}

static void test_floating_point(void)
{
	uint32_t mxcsr, down;
	pthread_attr_t a;
	pthread_t t;
	void *status;

	pthread_attr_init(&a);
	for (int scope = 0; scope < 2; scope++) {
		pthread_attr_setscope(&a, scope);
		__asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
		down = mxcsr | 0x2000; /* rounds down */
		__asm__ volatile("ldmxcsr %0" : : "m"(down));
		pthread_create(&t, &a, control_word, NULL);
		__asm__ volatile("ldmxcsr %0" : : "m"(mxcsr));
		pthread_join(t, &status);
		is("a thread inherits the rounding of its creator", (long)status, 0x2000);
		is("and keeps it to itself", (long)control_word(NULL), 0);
	}
}

/* --- join, detach, exit ------------------------------------------------------------------ */

static sem_t go, gone;

static void *waits(void *arg)
{
	sem_wait(&go);
	if (arg != NULL)
		sem_post(&gone);
	return arg;
}

static void *deep(int n)
{
	if (n == 0)
		pthread_exit((void *)77);
	return n < 0 ? NULL : deep(n - 1);
}

static void *exits(void *arg)
{
	return deep(10);
}

static void *joins(void *arg)
{
	return (void *)(long)pthread_join((pthread_t)arg, NULL);
}

static void test_join(void)
{
	pthread_attr_t a;
	pthread_t t, u;
	void *status;

	is("create", pthread_create(&t, NULL, identity, (void *)5), 0);
	is("join", pthread_join(t, &status), 0);
	is("status", (long)status, 5);
	is("join it again", pthread_join(t, NULL), ESRCH);
	is("detach it", pthread_detach(t), ESRCH);
	is("join 0", pthread_join(0, NULL), ESRCH);
	is("join nobody", pthread_join(123456, NULL), ESRCH);
	is("join oneself", pthread_join(pthread_self(), NULL), EDEADLK);

	pthread_create(&t, NULL, exits, NULL);
	is("join one that calls pthread_exit", pthread_join(t, &status), 0);
	is("its status", (long)status, 77);

	pthread_attr_init(&a);
	pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
	is("create detached", pthread_create(&t, &a, waits, &t), 0);
	is("join it", pthread_join(t, NULL), EINVAL);
	is("detach it again", pthread_detach(t), EINVAL);
	sem_post(&go);
	sem_wait(&gone);

	pthread_create(&t, NULL, waits, &t);
	is("detach a living one", pthread_detach(t), 0);
	is("and join it", pthread_join(t, NULL), EINVAL);
	sem_post(&go);
	sem_wait(&gone);
	for (int i = 0; i < 100000 && pthread_join(t, NULL) != ESRCH; i++)
		sched_yield();
	is("it is gone in the end", pthread_join(t, NULL), ESRCH);

	pthread_create(&t, NULL, identity, NULL);
	for (int i = 0; i < 100; i++)
		sched_yield();
	is("detach one that has perhaps exited", pthread_detach(t), 0);

	pthread_create(&t, NULL, waits, NULL);
	pthread_create(&u, NULL, joins, (void *)t);
	for (int i = 0; i < 100; i++)
		sched_yield();
	sem_post(&go);
	pthread_join(u, &status);
	is("another thread joins it", (long)status, 0);

	/* Two threads join each other.  The second join is refused. */
	pthread_create(&t, NULL, joins, (void *)pthread_self());
	if (pthread_join(t, &status) == EDEADLK) {
		pthread_detach(t); /* it waits for the end of the process */
		status = (void *)EDEADLK;
	}
	is("two threads join each other", (long)status, EDEADLK);
}

/* What a thread holds it holds still when it has exited: only the process's end gives it up. */
static pthread_mutex_t kept = PTHREAD_MUTEX_INITIALIZER;

static void *keeps(void *arg)
{
	pthread_mutex_lock(&kept);
	pthread_exit(arg);
}

static void test_exit(void)
{
	pthread_t t;

	pthread_create(&t, NULL, keeps, NULL);
	pthread_join(t, NULL);
	is("pthread_exit gives up no mutex", pthread_mutex_trylock(&kept), EBUSY);
}

static void *is_main(void *arg)
{
	return (void *)(long)thr_main();
}

static void test_ids(void)
{
	pthread_t t, u;
	void *status;

	ok("self", pthread_self() != 0 && pthread_equal(pthread_self(), pthread_self()));
	pthread_create(&t, NULL, identity, NULL);
	pthread_create(&u, NULL, identity, NULL);
	ok("ids differ", !pthread_equal(t, u) && !pthread_equal(t, pthread_self()));
	pthread_join(t, NULL);
	pthread_join(u, NULL);
	is("a pthread_t is a thread_t", thr_self(), pthread_self());
	is("thr_main", thr_main(), 1);
	pthread_create(&t, NULL, is_main, NULL);
	pthread_join(t, &status);
	is("thr_main of another", (long)status, 0);
}

/* --- churn: creating, joining, detaching, all at once -------------------------------------- */

static long born, died;

static void *child(void *arg)
{
	__atomic_add_fetch(&died, 1, __ATOMIC_RELAXED);
	return arg;
}

static void *parent(void *arg)
{
	pthread_attr_t a;

	pthread_attr_init(&a);
	for (long i = 0; i < rounds; i++) {
		pthread_t t;
		void *status;

		pthread_attr_setscope(&a, (i ^ (long)arg) & 1);
		pthread_attr_setdetachstate(&a, i % 3 == 0);
		if (pthread_create(&t, &a, child, (void *)i) != 0)
			bail("pthread_create");
		__atomic_add_fetch(&born, 1, __ATOMIC_RELAXED);
		if (i % 3 == 1)
			pthread_detach(t);
		else if (i % 3 == 2 && (pthread_join(t, &status) != 0 || (long)status != i))
			bail("pthread_join");
	}
	return NULL;
}

static void test_churn(void)
{
	pthread_t t[4];

	for (int concurrency = 1; concurrency <= 4; concurrency *= 4) {
		pthread_setconcurrency(concurrency);
		for (long i = 0; i < 4; i++)
			pthread_create(&t[i], NULL, parent, (void *)i);
		for (int i = 0; i < 4; i++)
			pthread_join(t[i], NULL);
		while (__atomic_load_n(&died, __ATOMIC_RELAXED) < born)
			sched_yield();
	}
	is("all threads ran", died, 8 * rounds);
}

/* --- once ------------------------------------------------------------------------------- */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int once_runs, once_early;

static void init(void)
{
	for (int i = 0; i < 50; i++)
		sched_yield();
	once_runs++;
}

static void *calls_once(void *arg)
{
	pthread_once(&once, init);
	if (once_runs != 1)
		__atomic_add_fetch(&once_early, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void test_once(void)
{
	pthread_t t[8];

	for (int i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, calls_once, NULL);
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
	is("once", once_runs, 1);
	is("nobody went on before it was done", once_early, 0);
}

/* --- UNIX International ------------------------------------------------------------------- */

static void test_ui(void)
{
	thread_t t, departed;
	void *status;
	long sum = 0;
	int pri;

	is("thr_create", thr_create(NULL, 0, identity, (void *)9, 0, &t), 0);
	is("thr_join", thr_join(t, &departed, &status), 0);
	ok("thr_join's results", departed == t && (long)status == 9);
	is("thr_join again", thr_join(t, NULL, NULL), ESRCH);
	is("thr_join oneself", thr_join(thr_self(), NULL, NULL), EDEADLK);
	is("thr_join any, nobody there", thr_join(0, &departed, &status), EDEADLK);
	is("thr_create, small stack", thr_create(NULL, 100, identity, NULL, 0, &t), EINVAL);
	is("thr_create, unknown flag", thr_create(NULL, 0, identity, NULL, 0x8000, &t), EINVAL);
	is("thr_create, no function", thr_create(NULL, 0, NULL, NULL, 0, &t), EINVAL);
	ok("thr_min_stack", thr_min_stack() == PTHREAD_STACK_MIN);
	is("thr_create, detached", thr_create(NULL, 0, waits, &t, THR_DETACHED, &t), 0);
	is("thr_join, detached", thr_join(t, NULL, NULL), ESRCH);
	sem_post(&go);
	sem_wait(&gone);

	for (long i = 1; i <= 20; i++)
		thr_create(NULL, 0, identity, (void *)i,
			   i % 3 == 0   ? THR_BOUND
			   : i % 3 == 1 ? THR_NEW_LWP
					: 0,
			   NULL);
	for (int i = 1; i <= 20; i++) {
		is("thr_join any", thr_join(0, &departed, &status), 0);
		sum += (long)status;
	}
	is("each once", sum, 210);

	is("thr_getprio", thr_getprio(thr_self(), &pri), 0);
	is("priority", pri, 0);
	is("thr_setprio, too high", thr_setprio(thr_self(), 128), EINVAL);
	is("thr_setprio, negative", thr_setprio(thr_self(), -1), EINVAL);
	is("thr_setprio, nobody", thr_setprio(99999, 1), ESRCH);
	is("thr_getprio, nobody", thr_getprio(99999, &pri), ESRCH);
	is("thr_setprio", thr_setprio(thr_self(), 3), 0);
	is("priority now", (thr_getprio(thr_self(), &pri), pri), 3);
	thr_create(NULL, 0, identity, NULL, THR_SUSPENDED, &t);
	is("a new thread's is its creator's", (thr_getprio(t, &pri), pri), 3);
	thr_continue(t);
	thr_join(t, NULL, NULL);
	thr_setprio(thr_self(), 0);
	is("thr_setconcurrency, negative", thr_setconcurrency(-1), EINVAL);
	is("thr_setconcurrency", thr_setconcurrency(3), 0);
	is("thr_getconcurrency", thr_getconcurrency(), 3);
	is("pthread_getconcurrency", pthread_getconcurrency(), 3);
	thr_yield();
}

int main(int argc, char **argv)
{
	if (argc > 1)
		rounds = atol(argv[1]);
	sem_init(&go, 0, 0);
	sem_init(&gone, 0, 0);
	test_attributes();
	test_stacks();
	test_floating_point();
	test_join();
	test_exit();
	test_ids();
	test_once();
	test_ui();
	test_churn();
	return tap_done();
}
