/*
 * thr_attr.c - attributes of threads, with each set and get and its errors; names, scheduling,
 * CPUs and CPU time; joins that do not wait; fork handlers; the small functions of thread.h.
 */
#include "tap.h"
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>
#include <thread.h>
#include <time.h>
#include <unistd.h>

static int many; /* models mxn and sa: bound and unbound threads */
static int one;  /* model n1 */

/* --- attributes ---------------------------------------------------------------------- */

static void test_attributes(void)
{
	pthread_attr_t a, bad = {0};
	struct sched_param p = {.sched_priority = 5}, no = {.sched_priority = 1000};
	static char stack[65536] __attribute__((aligned(16)));
	void *addr;
	size_t size;
	int v;

	is("init", pthread_attr_init(&a), 0);
#define GETS(what, get, want)                                                                      \
	do {                                                                                       \
		v = -1;                                                                            \
		is(what ": get", get(&a, &v), 0);                                                  \
		is(what, v, want);                                                                 \
		is(what ": get, not initialised", get(&bad, &v), EINVAL);                          \
	} while (0)
#define SETS(what, set, get, good, wrong)                                                          \
	do {                                                                                       \
		is(what ": set", set(&a, good), 0);                                                \
		is(what ": set, wrong", set(&a, wrong), EINVAL);                                   \
		is(what ": set, not initialised", set(&bad, good), EINVAL);                        \
		GETS(what, get, good);                                                             \
	} while (0)
	GETS("detachstate", pthread_attr_getdetachstate, PTHREAD_CREATE_JOINABLE);
	SETS("detachstate", pthread_attr_setdetachstate, pthread_attr_getdetachstate,
	     PTHREAD_CREATE_DETACHED, 7);
	GETS("scope", pthread_attr_getscope, PTHREAD_SCOPE_PROCESS);
	SETS("scope", pthread_attr_setscope, pthread_attr_getscope, PTHREAD_SCOPE_SYSTEM, 7);
	GETS("inheritsched", pthread_attr_getinheritsched, PTHREAD_INHERIT_SCHED);
	SETS("inheritsched", pthread_attr_setinheritsched, pthread_attr_getinheritsched,
	     PTHREAD_EXPLICIT_SCHED, 7);
	GETS("schedpolicy", pthread_attr_getschedpolicy, SCHED_OTHER);
	SETS("schedpolicy", pthread_attr_setschedpolicy, pthread_attr_getschedpolicy, SCHED_RR, 7);
	is("schedparam: set", pthread_attr_setschedparam(&a, &p), 0);
	is("schedparam: set, wrong", pthread_attr_setschedparam(&a, &no), EINVAL);
	is("schedparam: set, not initialised", pthread_attr_setschedparam(&bad, &p), EINVAL);
	p.sched_priority = 0;
	is("schedparam: get", pthread_attr_getschedparam(&a, &p), 0);
	is("schedparam", p.sched_priority, 5);
	is("schedparam: get, not initialised", pthread_attr_getschedparam(&bad, &p), EINVAL);

	is("guardsize: set", pthread_attr_setguardsize(&a, 8192), 0);
	is("guardsize: set, absurd", pthread_attr_setguardsize(&a, SIZE_MAX), EINVAL);
	is("guardsize: set, not initialised", pthread_attr_setguardsize(&bad, 0), EINVAL);
	is("guardsize: get", pthread_attr_getguardsize(&a, &size), 0);
	is("guardsize", size, 8192);
	is("guardsize: get, not initialised", pthread_attr_getguardsize(&bad, &size), EINVAL);
	is("stacksize: set", pthread_attr_setstacksize(&a, PTHREAD_STACK_MIN), 0);
	is("stacksize: set, small", pthread_attr_setstacksize(&a, PTHREAD_STACK_MIN - 1), EINVAL);
	is("stacksize: set, not initialised", pthread_attr_setstacksize(&bad, 65536), EINVAL);
	is("stacksize: get", pthread_attr_getstacksize(&a, &size), 0);
	is("stacksize", size, PTHREAD_STACK_MIN);
	is("stacksize: get, not initialised", pthread_attr_getstacksize(&bad, &size), EINVAL);
	is("stack: set", pthread_attr_setstack(&a, stack, sizeof(stack)), 0);
	is("stack: set, small", pthread_attr_setstack(&a, stack, 1024), EINVAL);
	is("stack: set, unaligned", pthread_attr_setstack(&a, stack + 1, 32768), EINVAL);
	is("stack: set, not initialised", pthread_attr_setstack(&bad, stack, 32768), EINVAL);
	is("stack: get", pthread_attr_getstack(&a, &addr, &size), 0);
	ok("stack", addr == stack && size == sizeof(stack));
	is("stack: get, not initialised", pthread_attr_getstack(&bad, &addr, &size), EINVAL);
	is("destroy", pthread_attr_destroy(&a), 0);
	is("destroy: twice", pthread_attr_destroy(&a), EINVAL);
	is("create: not initialised", pthread_create(NULL, &a, NULL, NULL), EINVAL);
}

/* --- what a thread has ------------------------------------------------------------------ */

static sem_t go;

static void *waits(void *arg)
{
	sem_wait(&go);
	return arg;
}

static void *reports_stack(void *arg)
{
	pthread_attr_t a;
	char *lowest, here;
	size_t size;
	stack_t segment;

	if (pthread_getattr_np(pthread_self(), &a) != 0 || thr_stksegment(&segment) != 0)
		return NULL;
	pthread_attr_getstack(&a, (void **)&lowest, &size);
	if (&here < lowest || &here >= lowest + size)
		return NULL;
	if ((char *)segment.ss_sp != lowest + size || segment.ss_size != size)
		return NULL;
	*lowest = 1; /* all of it is there */
	return "good";
}

static void test_getattr(void)
{
	pthread_attr_t a, now;
	pthread_t t;
	size_t size, guard;
	void *r, *addr;
	int state;

	ok("getattr_np: the first thread's stack", reports_stack(NULL) != NULL);
	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, 100000);
	pthread_attr_setguardsize(&a, 8192);
	pthread_create(&t, &a, waits, "x");
	is("getattr_np", pthread_getattr_np(t, &now), 0);
	pthread_attr_getstack(&now, &addr, &size);
	pthread_attr_getguardsize(&now, &guard);
	ok("of at least the size that it was asked for", size >= 100000 && size < 110000);
	is("with its guard", guard, 8192);
	pthread_detach(t);
	pthread_getattr_np(t, &now);
	pthread_attr_getdetachstate(&now, &state);
	is("detached by now", state, PTHREAD_CREATE_DETACHED);
	sem_post(&go);
	pthread_create(&t, NULL, reports_stack, NULL);
	pthread_join(t, &r);
	ok("any thread's", r != NULL);
	is("getattr_np: no such thread", pthread_getattr_np(t, &now), ESRCH);
}

/* --- threads that run, asked by another ------------------------------------------------- */

static char *volatile local;
static volatile int asked, spins;
static sem_t stop;

/* Works, on the CPU or off it, while the other thread asks. */
static void *works(void *arg)
{
	local = __builtin_frame_address(0);
	while (!asked)
		if (spins)
			sched_yield();
		else
			sem_wait(&stop);
	return NULL;
}

/* All that is told of t, whose variable `here` it has: base and size, which can be written; guard, and more. */
static void tells(const char *what, pthread_t t, char *here, size_t guard, int detached, int scope)
{
	char name[80], *lowest = NULL;
	struct sched_param p = {.sched_priority = -1}, has;
	int state = -1, of = -1, policy = -1, policy_now;
	size_t size = 0, below = 1, alone = 0;
	pthread_attr_t a;

	pthread_attr_init(&a);
	snprintf(name, sizeof(name), "attr_get_np: %s", what);
	is(name, pthread_attr_get_np(t, &a), 0);
	pthread_attr_getstack(&a, (void **)&lowest, &size);
	pthread_attr_getstacksize(&a, &alone);
	pthread_attr_getguardsize(&a, &below);
	pthread_attr_getdetachstate(&a, &state);
	pthread_attr_getscope(&a, &of);
	pthread_attr_getschedpolicy(&a, &policy);
	pthread_attr_getschedparam(&a, &p);
	pthread_getschedparam(t, &policy_now, &has);
	snprintf(name, sizeof(name), "... the stack that it is on: %s", what);
	ok(name, here > lowest && here < lowest + size && alone == size);
	snprintf(name, sizeof(name), "... all of it there: %s", what);
	for (size_t i = 0; i < size; i += 4096)
		(void)*(volatile char *)(lowest + i);
	ok(name, size >= PTHREAD_STACK_MIN);
	snprintf(name, sizeof(name), "... guard: %s", what);
	is(name, below, guard);
	snprintf(name, sizeof(name), "... detach state: %s", what);
	is(name, state, detached);
	snprintf(name, sizeof(name), "... scope: %s", what);
	is(name, of, scope);
	snprintf(name, sizeof(name), "... policy and priority: %s", what);
	ok(name, policy == policy_now && p.sched_priority == has.sched_priority);
	pthread_attr_destroy(&a);
}

static pthread_t main_thread;
static char *main_local;

static void *asks_for_main(void *arg)
{
	tells("the first thread, by another", main_thread, main_local, 0, PTHREAD_CREATE_JOINABLE,
	      many || one ? PTHREAD_SCOPE_PROCESS : PTHREAD_SCOPE_SYSTEM);
	return NULL;
}

static void asks_for(const char *what, pthread_attr_t *a, size_t guard, int detached, int scope)
{
	pthread_t t;

	local = NULL;
	asked = 0;
	if (pthread_create(&t, a, works, NULL) != 0)
		bail("pthread_create");
	while (local == NULL)
		sched_yield();
	tells(what, t, local, guard, detached, scope);
	asked = 1;
	sem_post(&stop);
	if (detached == PTHREAD_CREATE_JOINABLE)
		pthread_join(t, NULL);
	pthread_attr_destroy(a);
	pthread_attr_init(a);
}

static void test_running(void)
{
	static char stack[65536] __attribute__((aligned(16)));
	const int all = one ? PTHREAD_SCOPE_PROCESS : PTHREAD_SCOPE_SYSTEM;
	const int plain = many ? PTHREAD_SCOPE_PROCESS : all;
	pthread_attr_t a, none = {0};
	char here, *lowest;
	size_t size;
	pthread_t t;

	main_thread = pthread_self();
	main_local = &here;
	pthread_create(&t, NULL, asks_for_main, NULL);
	pthread_join(t, NULL);
	pthread_attr_init(&a);
	for (spins = 0; spins < 2; spins++) {
		asks_for(spins ? "one that runs" : "one that waits", &a, 4096,
			 PTHREAD_CREATE_JOINABLE, plain);
		pthread_attr_setscope(&a, PTHREAD_SCOPE_SYSTEM);
		asks_for(spins ? "a bound one that runs" : "a bound one that waits", &a, 4096,
			 PTHREAD_CREATE_JOINABLE, all);
		pthread_attr_setguardsize(&a, 0);
		pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
		asks_for("a detached one, without a guard", &a, 0, PTHREAD_CREATE_DETACHED, plain);
	}
	pthread_attr_setstack(&a, stack, sizeof(stack));
	asks_for("one on a stack of the program's", &a, 0, PTHREAD_CREATE_JOINABLE, plain);
	pthread_attr_setstack(&a, stack, sizeof(stack));
	local = NULL;
	asked = 0;
	pthread_create(&t, &a, works, NULL);
	pthread_getattr_np(t, &a);
	pthread_attr_getstack(&a, (void **)&lowest, &size);
	ok("the program's stack, as it was given", lowest == stack && size == sizeof(stack));
	asked = 1;
	sem_post(&stop);
	pthread_join(t, NULL);
	is("attr_get_np: not initialised", pthread_attr_get_np(main_thread, &none), EINVAL);
	is("attr_get_np: no such thread", pthread_attr_get_np(t, &a), ESRCH);
}

/* The attributes are the program's again when the thread has been made. */
static void test_copied(void)
{
	pthread_attr_t a, now;
	pthread_t t;
	size_t guard;
	int state;

	pthread_attr_init(&a);
	pthread_attr_setguardsize(&a, 8192);
	pthread_create(&t, &a, waits, NULL);
	pthread_attr_setguardsize(&a, 16384);
	pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
	pthread_getattr_np(t, &now);
	pthread_attr_getguardsize(&now, &guard);
	pthread_attr_getdetachstate(&now, &state);
	ok("attributes that change leave their threads", guard == 8192);
	is("... joinable", state, PTHREAD_CREATE_JOINABLE);
	pthread_attr_destroy(&a);
	sem_post(&go);
	is("... as do attributes that are destroyed", pthread_join(t, NULL), 0);
	is("which may be made again", pthread_attr_init(&a), 0);
	pthread_attr_getdetachstate(&a, &state);
	is("... as new", state, PTHREAD_CREATE_JOINABLE);
}

static void test_names(void)
{
	pthread_t t;
	char name[16];

	is("getname: none", pthread_getname_np(pthread_self(), name, 16), 0);
	is("is empty", name[0], 0);
	is("setname", pthread_setname_np(pthread_self(), "fifteen letters"), 0);
	is("setname: too long", pthread_setname_np(pthread_self(), "sixteen letters."), ERANGE);
	is("getname", pthread_getname_np(pthread_self(), name, 16), 0);
	is("the name", strcmp(name, "fifteen letters"), 0);
	is("getname: no room", pthread_getname_np(pthread_self(), name, 15), ERANGE);
	pthread_create(&t, NULL, waits, NULL);
	pthread_getname_np(t, name, 16);
	is("a new thread has none", name[0], 0);
	is("setname of another", pthread_setname_np(t, "other"), 0);
	sem_post(&go);
	pthread_join(t, NULL);
	is("setname: no such thread", pthread_setname_np(t, "x"), ESRCH);
	is("getname: no such thread", pthread_getname_np(t, name, 16), ESRCH);
	pthread_create(&t, NULL, waits, NULL);
	pthread_getname_np(t, name, 16);
	is("nor one that comes after", name[0], 0);
	sem_post(&go);
	pthread_join(t, NULL);
}

/* --- scheduling ---------------------------------------------------------------------------- */

static pthread_t start(int scope, int explicit, int policy, int priority, int want)
{
	struct sched_param p = {.sched_priority = priority};
	pthread_attr_t a;
	pthread_t t = 0;

	pthread_attr_init(&a);
	pthread_attr_setscope(&a, scope);
	if (explicit) {
		pthread_attr_setinheritsched(&a, PTHREAD_EXPLICIT_SCHED);
		pthread_attr_setschedpolicy(&a, policy);
		pthread_attr_setschedparam(&a, &p);
	}
	is("create", pthread_create(&t, &a, waits, NULL), want);
	return t;
}

static void has(const char *what, pthread_t t, int policy, int priority)
{
	struct sched_param p = {0};
	int now = -1;

	is("getschedparam", pthread_getschedparam(t, &now, &p), 0);
	ok(what, now == policy && p.sched_priority == priority);
}

static void end(pthread_t t)
{
	sem_post(&go);
	pthread_join(t, NULL);
}

static long ns_of(clockid_t clock)
{
	struct timespec ts = {0};

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* Computes for a while; how long the caller's LWP has in all. */
static long burn(void)
{
	long begin = ns_of(CLOCK_THREAD_CPUTIME_ID), now;

	do
		now = ns_of(CLOCK_THREAD_CPUTIME_ID);
	while (now < begin + 3000000);
	return now;
}

static void test_bound(void)
{
	struct sched_param p = {.sched_priority = 7}, high = {.sched_priority = 60};
	pthread_t t = (burn(), start(PTHREAD_SCOPE_SYSTEM, 0, 0, 0, 0));
	clockid_t clock;
	struct timespec ts;
	cpu_set_t set, got;

	has("inherited", t, SCHED_OTHER, 0);
	is("setschedparam", pthread_setschedparam(t, SCHED_RR, &p), 0);
	has("SCHED_RR", t, SCHED_RR, 7);
	is("setschedprio", pthread_setschedprio(t, 9), 0);
	has("another priority", t, SCHED_RR, 9);
	is("setschedprio: out of range", pthread_setschedprio(t, 60), EINVAL);
	is("setschedparam: out of range", pthread_setschedparam(t, SCHED_FIFO, &high), EINVAL);
	is("setschedparam: unknown", pthread_setschedparam(t, 77, &p), EINVAL);
	is("setschedparam", pthread_setschedparam(t, SCHED_FIFO, &p), 0);
	has("SCHED_FIFO", t, SCHED_FIFO, 7);
	p.sched_priority = -3;
	pthread_setschedparam(t, SCHED_OTHER, &p);
	has("SCHED_OTHER", t, SCHED_OTHER, -3);

	is("getcpuclockid", pthread_getcpuclockid(t, &clock), 0);
	is("its time", clock_gettime(clock, &ts), 0);
	long used = burn() + ns_of(clock); /* of the process's, which is looked at after them */
	long all = ns_of(CLOCK_PROCESS_CPUTIME_ID);
	ok("is its own, from its beginning on", used <= all);
	is("its resolution", clock_getres(clock, &ts), 0);

	CPU_ZERO(&set);
	is("setaffinity: none", pthread_setaffinity_np(t, sizeof(set), &set), EINVAL);
	CPU_SET(1, &set);
	is("setaffinity: one", pthread_setaffinity_np(t, sizeof(set), &set), 0);
	is("getaffinity", pthread_getaffinity_np(t, sizeof(got), &got), 0);
	ok("is that", CPU_EQUAL(&got, &set) && CPU_COUNT(&got) == 1 && CPU_ISSET(1, &got));
	CPU_SET(0, &set);
	is("setaffinity: all", pthread_setaffinity_np(t, sizeof(set), &set), 0);
	pthread_getaffinity_np(t, sizeof(got), &got);
	ok("is all", CPU_EQUAL(&got, &set));
	is("setaffinity: size", pthread_setaffinity_np(t, 4, &set), EINVAL);
	is("getaffinity: size", pthread_getaffinity_np(t, 4, &set), EINVAL);
	CPU_ZERO(&set);
	CPU_SET(63, &set);
	is("setaffinity: no such CPU", pthread_setaffinity_np(t, sizeof(set), &set), EINVAL);
	end(t);
	is("getschedparam: no such thread", pthread_getschedparam(t, &(int){0}, &p), ESRCH);
	is("setschedparam: no such thread", pthread_setschedparam(t, SCHED_OTHER, &p), ESRCH);
	is("setschedprio: no such thread", pthread_setschedprio(t, 0), ESRCH);
	is("getcpuclockid: no such thread", pthread_getcpuclockid(t, &clock), ESRCH);
	is("setaffinity: no such thread", pthread_setaffinity_np(t, sizeof(set), &got), ESRCH);
	is("getaffinity: no such thread", pthread_getaffinity_np(t, sizeof(set), &set), ESRCH);

	t = start(PTHREAD_SCOPE_SYSTEM, 1, SCHED_RR, 4, 0);
	has("explicit", t, SCHED_RR, 4);
	end(t);
}

static void test_unbound(void)
{
	struct sched_param p = {.sched_priority = 7};
	pthread_t t = start(PTHREAD_SCOPE_PROCESS, 0, 0, 0, 0);
	clockid_t clock;
	cpu_set_t set;
	int pri;

	has("inherited", t, SCHED_OTHER, 0);
	is("setschedparam", pthread_setschedparam(t, SCHED_OTHER, &p), 0);
	has("SCHED_OTHER", t, SCHED_OTHER, 7);
	thr_getprio(t, &pri);
	is("is the priority of thr_setprio", pri, 7);
	is("setschedprio", pthread_setschedprio(t, 8), 0);
	has("another priority", t, SCHED_OTHER, 8);
	is("setschedprio: out of range", pthread_setschedprio(t, 61), EINVAL);
	is("setschedparam: of LWPs only", pthread_setschedparam(t, SCHED_NT, &p), ENOTSUP);
	is("setschedprio: of LWPs only", pthread_setschedprio(t, -5), ENOTSUP);
	is("getcpuclockid: no LWP", pthread_getcpuclockid(t, &clock), ENOENT);
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	is("setaffinity: no LWP", pthread_setaffinity_np(t, sizeof(set), &set), ENOTSUP);
	is("getaffinity: no LWP", pthread_getaffinity_np(t, sizeof(set), &set), ENOTSUP);
	is("setschedparam, unbound", pthread_setschedparam(t, SCHED_RR, &p), 0);
	has("unbound: SCHED_RR", t, SCHED_RR, 7);
	thr_getprio(t, &pri);
	is("its priority of thr_setprio is above those of SCHED_OTHER", pri, 61 + 7);
	is("setschedprio, unbound", pthread_setschedprio(t, 9), 0);
	has("unbound: another priority", t, SCHED_RR, 9);
	is("setschedprio, unbound: out of range", pthread_setschedprio(t, 60), EINVAL);
	thr_setprio(t, 100);
	has("thr_setprio keeps the policy", t, SCHED_RR, 39);
	thr_setprio(t, 5);
	has("a priority that it does not have", t, SCHED_RR, 0);
	end(t);
	start(PTHREAD_SCOPE_PROCESS, 1, SCHED_NT, 4, ENOTSUP);
	t = start(PTHREAD_SCOPE_PROCESS, 1, SCHED_FIFO, 4, 0);
	has("unbound: explicit", t, SCHED_FIFO, 4);
	end(t);
	t = start(PTHREAD_SCOPE_PROCESS, 1, SCHED_OTHER, 4, 0);
	has("explicit", t, SCHED_OTHER, 4);
	end(t);
}

/* --- joins that do not wait ------------------------------------------------------------------ */

static void test_joins(void)
{
	struct timespec past = {0}, bad = {.tv_nsec = -1}, later = {.tv_sec = 4000000000};
	pthread_t t;
	void *r = NULL;
	int error;

	pthread_create(&t, NULL, waits, "r");
	is("tryjoin: runs", pthread_tryjoin_np(t, &r), EBUSY);
	is("timedjoin: runs", pthread_timedjoin_np(t, &r, &past), ETIMEDOUT);
	is("timedjoin: no time", pthread_timedjoin_np(t, &r, &bad), EINVAL);
	is("tryjoin: oneself", pthread_tryjoin_np(pthread_self(), &r), EDEADLK);
	sem_post(&go);
	while ((error = pthread_tryjoin_np(t, &r)) == EBUSY)
		sched_yield();
	is("tryjoin", error, 0);
	ok("its status", r != NULL && strcmp(r, "r") == 0);
	is("tryjoin: no such thread", pthread_tryjoin_np(t, &r), ESRCH);
	pthread_create(&t, NULL, waits, "s");
	sem_post(&go);
	is("timedjoin", pthread_timedjoin_np(t, &r, &later), 0);
	ok("its status", strcmp(r, "s") == 0);
	is("timedjoin: no such thread", pthread_timedjoin_np(t, &r, &later), ESRCH);
}

/* --- the rest ------------------------------------------------------------------------------ */

static char order[20];

#define NOTE(name, letter)                                                                         \
	static void name(void)                                                                     \
	{                                                                                          \
		strcat(order, letter);                                                             \
	}
NOTE(prepare1, "a")
NOTE(prepare2, "b")
NOTE(parent1, "p")
NOTE(parent2, "q")
NOTE(child1, "c")
NOTE(child2, "d")

static void test_atfork(void)
{
	int status;
	pid_t pid;

	is("atfork", pthread_atfork(prepare1, parent1, child1), 0);
	is("atfork", pthread_atfork(prepare2, parent2, child2), 0);
	is("atfork: none of them", pthread_atfork(NULL, NULL, NULL), 0);
	pid = fork();
	if (pid == 0)
		_exit(strcmp(order, "bacd") == 0 ? 5 : 6);
	waitpid(pid, &status, 0);
	is("the child: prepared from the last, then its own from the first", WEXITSTATUS(status),
	   5);
	is("the parent the same", strcmp(order, "bapq"), 0);
}

static void *naps(void *arg)
{
	for (;;)
		sleep(1000);
	return NULL;
}

/* Exits in the way of `last`; the process has a daemon besides. */
static int process_with_daemon(int last)
{
	int status = -1;
	pid_t pid = fork();
	thread_t t;

	if (pid == 0) {
		if (thr_create(NULL, 0, naps, NULL, THR_DAEMON, &t) != 0 ||
		    thr_create(NULL, 0, naps, NULL, THR_DAEMON | THR_DETACHED, NULL) != 0)
			_exit(1);
		if (last)
			thr_exit(NULL);
		_exit(thr_join(0, NULL, NULL) == EDEADLK ? 0 : 2);
	}
	waitpid(pid, &status, 0);
	return status;
}

static void test_daemons(void)
{
	thread_t t;
	void *r;

	is("thr_create: a daemon", thr_create(NULL, 0, waits, NULL, THR_DAEMON, &t), 0);
	sem_post(&go);
	is("can be joined by its id", thr_join(t, NULL, &r), 0);
	is("is not waited for by thr_join of any", process_with_daemon(0), 0);
	is("nor by the process when the last other thread ends", process_with_daemon(1), 0);
}

static volatile int caught;

static void handler(int sig)
{
	caught++;
}

static void test_ui(void)
{
	sigset_t set, old;
	thread_t t;

	ok("thr_min_stack is enough", thr_create(NULL, thr_min_stack(), waits, NULL, 0, &t) == 0);
	is("and no less", thr_create(NULL, thr_min_stack() - 1, waits, NULL, 0, &t), EINVAL);
	sem_post(&go);
	is("thr_join: any", thr_join(0, NULL, NULL), 0);
	signal(SIGUSR1, handler);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	is("thr_sigsetmask", thr_sigsetmask(SIG_BLOCK, &set, NULL), 0);
	is("thr_kill", thr_kill(thr_self(), SIGUSR1), 0);
	is("blocked", caught, 0);
	is("thr_sigsetmask", thr_sigsetmask(SIG_UNBLOCK, &set, &old), 0);
	ok("the mask before", old == set && caught == 1);
	is("thr_sigsetmask: how", thr_sigsetmask(9, &set, NULL), EINVAL);
	is("thr_kill: no such thread", thr_kill(99999, SIGUSR1), ESRCH);
	is("thr_kill: no such signal", thr_kill(thr_self(), 1000), EINVAL);
	ok("pthread_equal", pthread_equal(pthread_self(), thr_self()));
	ok("not equal", !pthread_equal(pthread_self(), 0));
}

int main(void)
{
	const char *model = getenv("LIBTHREAD");

	many = model && (strcmp(model, "mxn") == 0 || strcmp(model, "sa") == 0);
	one = model && strcmp(model, "n1") == 0;
	sem_init(&go, 0, 0);
	is("no level of concurrency has been asked for", pthread_getconcurrency(), 0);
	test_attributes();
	test_getattr();
	test_running();
	test_copied();
	test_names();
	if (!one)
		test_bound();
	if (many || one)
		test_unbound();
	test_joins();
	test_daemons();
	test_atfork();
	test_ui();
	return tap_done();
}
