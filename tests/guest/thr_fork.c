/*
 * thr_fork.c - fork in a process with threads: the child has the calling thread alone, and
 * a library that works; pthread_atfork.  argv[1]: rounds.
 */
#include "start.h"
#include "tap.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <time.h>

static int rounds = 20;
static volatile int stop;
static sem_t sem;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_key_t key;

static int status_of(pid_t pid)
{
	int status = -1;

	return pid > 0 && waitpid(pid, &status, 0) == pid ? status : -1;
}

/* --- the library in the child -------------------------------------------------- */

static void *return_arg(void *arg)
{
	free(malloc(1000));
	return arg;
}

static void *wait_for_sem(void *arg)
{
	while (sem_wait(&sem) != 0)
		;
	return arg;
}

/* A semaphore with a name, opened and closed. */
static bool use_name(const char *name)
{
	sem_t *s = sem_open(name, O_CREAT, 0600, 0);

	return s != SEM_FAILED && sem_close(s) == 0;
}

/* All that a program does: memory, output, threads, locks, time-outs. */
static int use_everything(void)
{
	/* Its own: others may have held those of the program when the child was made. */
	pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t never = PTHREAD_COND_INITIALIZER;
	pthread_t t[3];
	struct timespec ts;
	void *r;
	char *p = malloc(100000);
	FILE *f = fopen("/bin/true", "r");

	if (p == NULL || f == NULL || fgetc(f) != 0x7f)
		return 1;
	fclose(f);
	sem_init(&sem, 0, 0); /* the parent's waiter is not here */
	for (int i = 0; i < 3; i++)
		if (pthread_create(&t[i], NULL, i == 0 ? wait_for_sem : return_arg, p + i) != 0)
			return 2;
	sem_post(&sem);
	for (int i = 0; i < 3; i++)
		if (pthread_join(t[i], &r) != 0 || r != p + i)
			return 3;
	free(p);
	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_nsec += 1000000;
	if (ts.tv_nsec >= 1000000000) {
		ts.tv_nsec -= 1000000000;
		ts.tv_sec++;
	}
	pthread_mutex_lock(&own);
	int error = pthread_cond_timedwait(&never, &own, &ts);
	pthread_mutex_unlock(&own);
	if (error != ETIMEDOUT)
		return 4;
	if (pthread_getspecific(key) != &key)
		return 5;
	return use_name("/child") ? 0 : 6;
}

/* Locks of the library are always in somebody's hands. */
static void *make_noise(void *arg)
{
	pthread_t t;
	FILE *null = fopen("/dev/null", "w");

	while (!stop) {
		free(malloc(200));
		if (pthread_create(&t, NULL, return_arg, NULL) == 0)
			pthread_join(t, NULL);
		pthread_mutex_lock(&mutex);
		pthread_cond_signal(&cond);
		pthread_mutex_unlock(&mutex);
		if (!use_name("/noise"))
			bail("sem_open: %d", errno);
		fputc('x', null);
		fflush(null);
	}
	fclose(null);
	return NULL;
}

static void in_noise(void)
{
	enum { N = 4 };
	pthread_t t[N];
	int bad = 0;

	/* A child among them gets a slice now and then: seconds of a host. */
	if (sysconf(_SC_NPROCESSORS_ONLN) == 1 && rounds > 2)
		rounds = 2;
	for (int i = 0; i < N; i++)
		pthread_create(&t[i], NULL, i == 0 ? wait_for_sem : make_noise, NULL);
	for (int i = 0; i < rounds; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(use_everything());
		int status = status_of(pid);
		if (status != 0 && bad++ == 0)
			printf("# status %#x\n", status);
	}
	is("children of a busy process", bad, 0);
	stop = 1;
	sem_post(&sem);
	for (int i = 0; i < N; i++)
		pthread_join(t[i], NULL);
}

/* --- which thread remains -------------------------------------------------------- */

static void *fork_and_exit(void *bound)
{
	pid_t pid = fork();

	if (pid == 0) {
		/* The last thread's exit is the process's, with status 0. */
		pthread_setspecific(key, &key);
		int r = use_everything();
		if (r != 0)
			_exit(r);
		pthread_exit(NULL);
	}
	return (void *)(intptr_t)status_of(pid);
}

static void only_thread(void)
{
	pthread_t t;
	void *status;

	pthread_create(&t, NULL, fork_and_exit, NULL);
	pthread_join(t, &status);
	is("the child of a thread", (intptr_t)status, 0);
	t = start(fork_and_exit, NULL, PTHREAD_SCOPE_SYSTEM);
	pthread_join(t, &status);
	is("the child of a bound thread", (intptr_t)status, 0);
}

/* exit, with all that it has to do, in a child. */
static void exits(void)
{
	pid_t pid;

	pid = fork();
	if (pid == 0) {
		printf("# written by the child\n");
		exit(7);
	}
	is("exit in the child", status_of(pid), 7 << 8);
}

/* --- memory of threads that are gone ---------------------------------------------------------- */

static pthread_mutex_t of_gone, of_child;
static sem_t waited_for;

static void *waits_a_while(void *m)
{
	struct timespec soon = later(CLOCK_REALTIME, 1000);

	return (void *)(intptr_t)pthread_mutex_timedlock(m, &soon);
}

/* Another has waited for the mutex, which inherits, while it is held. */
static void *is_waited_for(void *m)
{
	pthread_mutexattr_t attr;
	pthread_t t;
	void *r;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(m, &attr);
	pthread_mutex_lock(m);
	pthread_create(&t, NULL, waits_a_while, m);
	pthread_join(t, &r);
	if (m == &of_gone) {
		sem_post(&waited_for);
		wait_for_sem(NULL);
	}
	pthread_mutex_unlock(m);
	return r;
}

/* A thread in the memory of one that is gone inherits from its own mutexes alone. */
static void inherits_nothing(void)
{
	pthread_t t;
	void *r;
	pid_t pid;

	sem_init(&waited_for, 0, 0);
	pthread_create(&t, NULL, is_waited_for, &of_gone);
	while (sem_wait(&waited_for) != 0)
		;
	pid = fork();
	if (pid == 0) {
		memset(&of_gone, 0xa5, sizeof(of_gone));
		pthread_create(&t, NULL, is_waited_for, &of_child);
		pthread_join(t, &r);
		_exit((intptr_t)r != ETIMEDOUT);
	}
	is("a child's thread inherits nothing from one that is gone", status_of(pid), 0);
	sem_post(&sem);
	pthread_join(t, NULL);
}

/* --- what a child has of the caller, and how a process ends ----------------------------------- */

/* Runs fn in a child; its status. */
static int in_child(void (*fn)(void))
{
	pid_t pid = fork();

	if (pid == 0) {
		fn();
		_exit(1);
	}
	return status_of(pid);
}

static void looks_at_signals(void)
{
	sigset_t mask, pending;

	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	_exit(pending != 0 ? 2 : mask == 1ul << (SIGUSR1 - 1) ? 0 : 3);
}

/* With its own mask, and a signal pending for it and one for the process. */
static void *forks_with_signals(void *arg)
{
	sigset_t usr1 = 1ul << (SIGUSR1 - 1);
	int status, sig;

	pthread_sigmask(SIG_SETMASK, &usr1, NULL);
	pthread_kill(pthread_self(), SIGUSR1);
	sched_yield();
	status = in_child(looks_at_signals);
	sigwait(&usr1, &sig);
	return (void *)(intptr_t)status;
}

static void cancels_itself(void)
{
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_cancel(pthread_self());
	_exit(0);
}

static void waits_in_kernel(void)
{
	struct timespec soon = later(CLOCK_REALTIME, 1000);
	sem_t s;

	sem_init(&s, 1, 0);
	_exit(sem_timedwait(&s, &soon) == 0 ? 2 : errno == ETIMEDOUT ? 0 : errno);
}

/* The thread of one child has the number of that of another, and its LWP may be in the same memory. */
static int waits_after_another(void)
{
	int status = 0;

	for (int i = 0; i < 10 && status == 0; i++) {
		status = in_child(cancels_itself);
		if (status == 0)
			status = in_child(waits_in_kernel);
	}
	return status;
}

static void cancels_itself_and_execs(void)
{
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_cancel(pthread_self());
	execl("/bin/thr_fork", "thr_fork", "wait", NULL);
}

static void at_exit(void)
{
	_exit(7);
}

static void destructor(void *value)
{
	_exit(8);
}

static pthread_t first;

static void *outlives(void *arg)
{
	pthread_join(first, NULL);
	return NULL; /* it is the last one */
}

static void last_one_returns(void)
{
	pthread_t t;

	first = pthread_self();
	atexit(at_exit);
	pthread_create(&t, NULL, outlives, NULL);
	pthread_exit(NULL);
}

static void first_one_has_data(void)
{
	pthread_key_t k;

	pthread_key_create(&k, destructor);
	pthread_setspecific(k, &k);
	pthread_exit(NULL);
}

static void *aborts(void *arg)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	abort();
}

static void another_aborts(void)
{
	pthread_t t;

	pthread_create(&t, NULL, aborts, NULL);
	pthread_join(t, NULL);
}

static void *lives(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void kills_another(void)
{
	pthread_t t;

	pthread_create(&t, NULL, lives, NULL);
	pthread_kill(t, SIGTERM);
	pthread_join(t, NULL);
}

/* The program of exec_mask: is the mask what the thread had that made it? */
static int exec_mask(void)
{
	sigset_t mask;

	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	return mask == 1ul << (SIGUSR1 - 1) ? 0 : 9;
}

static void *execs(void *arg)
{
	sigset_t usr1 = 1ul << (SIGUSR1 - 1);

	pthread_sigmask(SIG_SETMASK, &usr1, NULL);
	sched_yield();
	execl("/bin/thr_fork", "thr_fork", "mask", NULL);
	_exit(1);
}

static void another_execs(void)
{
	pthread_t t;

	pthread_create(&t, NULL, execs, NULL);
	pthread_join(t, NULL);
}

static void processes(void)
{
	pthread_t t;
	void *status;

	pthread_create(&t, NULL, forks_with_signals, NULL);
	pthread_join(t, &status);
	is("a child has its maker's mask, and nothing pending", (intptr_t)status, 0);
	is("what is cancelled in one child ends no wait of another", waits_after_another(), 0);
	is("nor one of the program that it executes", in_child(cancels_itself_and_execs), 0);
	is("the last thread's end is exit(0), atexit and all", in_child(last_one_returns), 7 << 8);
	is("pthread_exit of the first thread calls destructors", in_child(first_one_has_data),
	   8 << 8);
	is("abort in a thread that blocks all", in_child(another_aborts), SIGABRT);
	is("the default action of pthread_kill's signal is the process's", in_child(kills_another),
	   SIGTERM);
	is("exec in another thread: its mask", in_child(another_execs), 0);
}

/* --- pthread_atfork ---------------------------------------------------------------- */

static char order[16];

static void note(char c)
{
	order[strlen(order)] = c;
}
static pthread_t forker; /* the thread that the handlers see */

static void prepare1(void)
{
	forker = pthread_self();
	note('p');
}
static void parent1(void)
{
	note('q');
}
static void child1(void)
{
	note('c');
}
static void prepare2(void)
{
	note('P');
	pthread_mutex_lock(&mutex);
}
static void parent2(void)
{
	note('Q');
	pthread_mutex_unlock(&mutex);
}
static void child2(void)
{
	note('C');
	pthread_mutex_unlock(&mutex);
}

static void *forks_once(void *arg)
{
	pid_t pid;

	memset(order, 0, sizeof(order));
	pid = fork();
	if (pid == 0)
		_exit(strcmp(order, "PpcC") == 0 && forker == pthread_self() ? 0 : 1);
	return (void *)(intptr_t)status_of(pid);
}

static void atfork(void)
{
	is("pthread_atfork", pthread_atfork(prepare1, parent1, child1), 0);
	is("again", pthread_atfork(prepare2, parent2, child2), 0);
	is("with no handlers", pthread_atfork(NULL, NULL, NULL), 0);
	pid_t pid = fork();
	pthread_t t;
	void *status;

	if (pid == 0)
		_exit(strcmp(order, "PpcC") == 0 && pthread_mutex_trylock(&mutex) == 0 ? 0 : 1);
	is("in the child", status_of(pid), 0);
	ok("in the parent", strcmp(order, "PpqQ") == 0);
	is("the mutex is free", pthread_mutex_trylock(&mutex), 0);
	pthread_mutex_unlock(&mutex);
	pthread_create(&t, NULL, forks_once, NULL);
	pthread_join(t, &status);
	is("in a child that another thread makes", (intptr_t)status, 0);
	ok("it calls the handlers itself", forker == t);
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "mask") == 0)
		return exec_mask();
	if (argc > 1 && strcmp(argv[1], "wait") == 0)
		waits_in_kernel();
	if (argc > 1)
		rounds = atoi(argv[1]);
	sem_init(&sem, 0, 0);
	pthread_key_create(&key, NULL);
	pthread_setspecific(key, &key);
	only_thread();
	in_noise();
	exits();
	inherits_nothing();
	processes();
	atfork();
	return tap_done();
}
