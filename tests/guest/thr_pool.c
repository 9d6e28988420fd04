/*
 * thr_pool.c - model mxn: the pool grows when all of its LWPs are blocked, and only then, by what
 * waiting= says; LWPs that it grew by leave when they have been idle for long.
 * With an argument, of itself: what the test watches.
 */
#include "tap.h"
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread.h>
#include <time.h>
#include <unistd.h>
#include <weft/lwp.h>
#include <weft/proc.h>
#include <weft/sys.h>

/* --- the program that is watched --------------------------------------------------------- */

#define READERS 3
#define DIGITS(before, grown, then) (((before) % 6 * 6 + (grown) % 6) * 6 + (then) % 6)

static int in[2], out[2];

/* Those that every program has, the ASLWP and the reaper, left out; and that of deadlines. */
static unsigned lwps(void)
{
	struct lwp_info l;
	unsigned n = 0;
	long id;

	for (id = 1; (id = __sys_lwp_info(0, id, &l)) > 0; id++)
		n += strcmp(l.name, "aslwp") != 0 && strcmp(l.name, "reaper") != 0 &&
		     strcmp(l.name, "callout") != 0;
	return n;
}

/* Keeps its LWP in the kernel until there is something for it. */
static void *reader(void *arg)
{
	char c;

	if (read(in[0], &c, 1) != 1)
		_exit(90);
	return NULL;
}

static void *writer(void *arg)
{
	char c[READERS + 1] = {0};

	if (write(in[1], c, READERS) != READERS || write(out[1], c, 1) != 1)
		_exit(91);
	return NULL;
}

/*
 * Status: LWPs at first, after the pool has grown, and when those that have nothing to do have had
 * `idle` seconds, as digits of base 6 (6 is 0).  Three readers and the first thread block an
 * LWP each; the writer needs a fifth.  One more is the LWP that waits for the kernel.
 */
static int work(unsigned idle)
{
	const struct timespec long_time = {.tv_sec = idle};
	pthread_t t[READERS + 1];
	unsigned before, grown;
	char c;

	if (pipe(in) != 0 || pipe(out) != 0)
		return 92;
	for (int i = 0; i < READERS; i++)
		pthread_create(&t[i], NULL, reader, NULL);
	before = lwps();
	pthread_create(&t[READERS], NULL, writer, NULL);
	if (read(out[0], &c, 1) != 1)
		return 93;
	grown = lwps();
	for (int i = 0; i <= READERS; i++)
		pthread_join(t[i], NULL);
	nanosleep(&long_time, NULL);
	return DIGITS(before, grown, lwps());
}

#define WAITERS 3

static pthread_mutex_t mutex;
static sem_t others_came;

static void *locker(void *arg)
{
	if (pthread_mutex_lock(&mutex) != 0 || pthread_mutex_unlock(&mutex) != 0)
		_exit(90);
	return NULL;
}

static void *poster(void *arg)
{
	sem_post(&others_came);
	return NULL;
}

/*
 * The same with threads that wait for a mutex: of a shared one the kernel has the queue, and each
 * keeps an LWP there; of another it does not.  The first thread waits for its semaphore without
 * an LWP, and can go on when the last one has had one.
 */
static int lock(bool shared)
{
	pthread_t t[WAITERS + 1];
	pthread_mutexattr_t attr;
	unsigned before, grown;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr,
				     shared ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE);
	pthread_mutex_init(&mutex, &attr);
	sem_init(&others_came, 0, 0);
	pthread_mutex_lock(&mutex);
	for (int i = 0; i < WAITERS; i++)
		pthread_create(&t[i], NULL, locker, NULL);
	before = lwps();
	pthread_create(&t[WAITERS], NULL, poster, NULL);
	sem_wait(&others_came);
	grown = lwps();
	pthread_mutex_unlock(&mutex);
	for (int i = 0; i <= WAITERS; i++)
		pthread_join(t[i], NULL);
	return DIGITS(before, grown, lwps());
}

/* What is asked for comes at once, and one more with each thread that brings its own. */
static int asks(void)
{
	unsigned before = lwps(), grown;
	thread_t t;

	if (pthread_setconcurrency(3) != 0)
		return 92;
	grown = lwps();
	if (pthread_setconcurrency(2) != 0 || lwps() != grown)
		return 93;
	if (thr_create(NULL, 0, poster, NULL, THR_NEW_LWP, &t) != 0 || thr_join(t, NULL, NULL) != 0)
		return 94;
	return DIGITS(before, grown, lwps());
}

/* Status: LWPs in a child of fork that has made a thread, and the concurrency that it tells. */
static int inherits(void)
{
	int status;
	thread_t t;

	if (pthread_setconcurrency(3) != 0)
		return 92;
	pid_t pid = fork();
	if (pid != 0)
		return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status)
									    : 93;
	if (thr_create(NULL, 0, poster, NULL, 0, &t) != 0 || thr_join(t, NULL, NULL) != 0)
		_exit(94);
	_exit(DIGITS(0, lwps(), pthread_getconcurrency()));
}

static const struct timespec far_off = {.tv_sec = 1000000000};
static sem_t asleep, never;

static void *sleeps(void *arg)
{
	sem_post(&asleep);
	nanosleep(&far_off, NULL);
	return NULL;
}

static void *waits_timed(void *arg)
{
	sem_post(&asleep);
	sem_clockwait(&never, CLOCK_MONOTONIC, &far_off);
	return NULL;
}

static void *writes_one(void *arg)
{
	return write(out[1], "x", 1) == 1 ? NULL : arg;
}

/*
 * A bound thread sleeps, and an unbound one waits, for a deadline that is far off, each for as
 * long as this lasts.  The only LWP of the pool blocks; nevertheless another thread gets one.
 */
static int sleepers(void)
{
	pthread_attr_t bound;
	pthread_t t;
	char c;

	pthread_attr_init(&bound);
	pthread_attr_setscope(&bound, PTHREAD_SCOPE_SYSTEM);
	if (pipe(out) != 0 || pthread_create(&t, &bound, sleeps, NULL) != 0 ||
	    pthread_create(&t, NULL, waits_timed, NULL) != 0)
		return 92;
	sem_wait(&asleep);
	sem_wait(&asleep);
	if (pthread_create(&t, NULL, writes_one, NULL) != 0 || read(out[0], &c, 1) != 1)
		return 93;
	exit(0);
}

static struct rlimit no_limit;

static void *raises_limit(void *arg)
{
	const struct timespec second = {.tv_sec = 1};

	nanosleep(&second, NULL);
	return setrlimit(RLIMIT_AS, &no_limit) == 0 ? NULL : arg;
}

/* When the only LWP of the pool blocks there is no memory for another, but a second later. */
static int limited(void)
{
	struct rlimit limit;
	pthread_attr_t bound;
	pthread_t t;
	char c;

	pthread_attr_init(&bound);
	pthread_attr_setscope(&bound, PTHREAD_SCOPE_SYSTEM);
	getrlimit(RLIMIT_AS, &no_limit);
	limit = (struct rlimit){.rlim_cur = 0, .rlim_max = no_limit.rlim_max};
	if (pipe(out) != 0 || pthread_create(&t, NULL, writes_one, NULL) != 0 ||
	    pthread_create(&t, &bound, raises_limit, NULL) != 0 ||
	    setrlimit(RLIMIT_AS, &limit) != 0)
		return 92;
	exit(read(out[0], &c, 1) != 1);
}

/* --- the test ------------------------------------------------------------------------------ */

/* The status of a run with these options; -1: it had not ended after a while. */
static int run_this(const char *what, const char *options, const char *idle)
{
	char *args[] = {"thr_pool", (char *)what, (char *)idle, NULL};
	char *env[] = {"LIBTHREAD=mxn", (char *)options, NULL};
	const struct timespec a_while = {.tv_sec = 1000};
	int status;
	pid_t pid;

	if (posix_spawn(&pid, "/bin/thr_pool", NULL, NULL, args, env) != 0)
		bail("spawn");
	if (idle == NULL) {
		nanosleep(&a_while, NULL);
		if (waitpid(pid, &status, WNOHANG) == 0) {
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			return -1;
		}
	} else if (waitpid(pid, &status, 0) != pid) {
		bail("waitpid");
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -2;
}

static int run(const char *options, const char *idle)
{
	return run_this("read", options, idle);
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "sleepers") == 0)
		return sleepers();
	if (argc > 1 && strcmp(argv[1], "limited") == 0)
		return limited();
	if (argc > 1 && strcmp(argv[1], "inherits") == 0)
		return inherits();
	if (argc > 1 && strcmp(argv[1], "asks") == 0)
		return asks();
	if (argc > 1 && strcmp(argv[1], "read") == 0)
		return work(argc > 2 ? atoi(argv[2]) : 0);
	if (argc > 1)
		return lock(strcmp(argv[1], "shared") == 0);

	is("upcall: grows to what blocks, and stays",
	   run("LIBTHREAD_OPTIONS=waiting=upcall", "299"), DIGITS(2, 6, 6));
	is("signal: the same", run("LIBTHREAD_OPTIONS=waiting=signal", "299"), DIGITS(2, 6, 6));
	is("none: stands still", run("LIBTHREAD_OPTIONS=waiting=none", NULL), -1);
	is("none, with LWPs enough", run("LIBTHREAD_OPTIONS=waiting=none,concurrency=5", "0"),
	   DIGITS(5, 5, 5));
	is("LWPs leave after five minutes", run("LIBTHREAD_OPTIONS=", "301"), DIGITS(2, 6, 2));
	is("aging=2", run("LIBTHREAD_OPTIONS=aging=2", "3"), DIGITS(2, 6, 2));
	is("aging=2: not before", run("LIBTHREAD_OPTIONS=aging=2", "1"), DIGITS(2, 6, 6));
	is("those that were asked for stay", run("LIBTHREAD_OPTIONS=aging=2,concurrency=3", "3"),
	   DIGITS(4, 6, 4));
	is("aging=0", run("LIBTHREAD_OPTIONS=aging=0", "0"), 2);
	is("waiting=never", run("LIBTHREAD_OPTIONS=waiting=never", "0"), 2);
	is("upcall: a shared mutex keeps the LWPs of those who wait",
	   run_this("shared", "LIBTHREAD_OPTIONS=waiting=upcall", ""), DIGITS(2, 5, 5));
	is("signal: the same", run_this("shared", "LIBTHREAD_OPTIONS=waiting=signal", ""),
	   DIGITS(2, 5, 5));
	is("none: stands still", run_this("shared", "LIBTHREAD_OPTIONS=waiting=none", NULL), -1);
	is("a private one does not", run_this("private", "LIBTHREAD_OPTIONS=waiting=upcall", ""),
	   DIGITS(2, 2, 2));
	is("setconcurrency and THR_NEW_LWP: the pool grows",
	   run_this("asks", "LIBTHREAD_OPTIONS=waiting=none", ""), DIGITS(1, 3, 4));
	is("a child of fork has the concurrency that its parent asked for",
	   run_this("inherits", "LIBTHREAD_OPTIONS=waiting=none", ""), DIGITS(0, 3, 3));
	is("deadlines of others do not keep it from growing",
	   run_this("sleepers", "LIBTHREAD_OPTIONS=", NULL), 0);
	is("the same with SIGWAITING",
	   run_this("sleepers", "LIBTHREAD_OPTIONS=waiting=signal", NULL), 0);
	is("an LWP that it could not have at first it gets later",
	   run_this("limited", "LIBTHREAD_OPTIONS=", NULL), 0);
	is("the same with SIGWAITING",
	   run_this("limited", "LIBTHREAD_OPTIONS=waiting=signal", NULL), 0);
	return tap_done();
}
