/*
 * thr_tls.c - ELF thread-local storage in every model: each thread's variables begin as the
 * program says, are its own wherever it runs, and lie where their alignment wants them.
 */
#include "tap.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>

#define THREADS 40 /* more than a slab of memory holds */

static __thread int initialised = 42;
static __thread char text[6] = "hello";
static __thread long zero;
static _Thread_local _Alignas(64) char line[64] = {7};
static _Thread_local _Alignas(8192) char pages[8192]; /* beyond a page */
__thread int seen_by_constructor = 5;                 /* global: the other kind of symbol */

static int constructor_saw;

__attribute__((constructor)) static void constructor(void)
{
	constructor_saw = seen_by_constructor;
	seen_by_constructor = 6;
}

/* What the program text says, and not what another thread has left. */
static int fresh(void)
{
	int good = initialised == 42 && strcmp(text, "hello") == 0 && zero == 0 && line[0] == 7 &&
		   seen_by_constructor == 5;

	for (int i = 1; i < 64; i++)
		good &= line[i] == 0;
	for (int i = 0; i < 8192; i += 512)
		good &= pages[i] == 0;
	return good;
}

static int aligned(void)
{
	return (uintptr_t)line % 64 == 0 && (uintptr_t)pages % 8192 == 0;
}

static int counted(void)
{
	static __thread int count;

	return ++count;
}

/* Writes its own number everywhere, lets the others do so, and finds its own again. */
static void *worker(void *arg)
{
	long id = (long)arg, good = fresh() && aligned();

	initialised = zero = id;
	text[0] = id;
	memset(line, id, sizeof(line));
	memset(pages, id, sizeof(pages));
	seen_by_constructor = id;
	for (int i = 0; i < 20; i++) {
		sched_yield();
		good &= counted() == i + 1;
		good &= initialised == id && zero == id && text[0] == (char)id &&
			line[63] == (char)id && pages[8191] == (char)id &&
			seen_by_constructor == id;
	}
	return (void *)good;
}

static long run_all(void)
{
	pthread_t t[THREADS];
	long good = 0;
	void *r;

	for (long i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, worker, (void *)(i + 100)) != 0)
			bail("pthread_create");
	for (int i = 0; i < THREADS; i++) {
		pthread_join(t[i], &r);
		good += (long)r;
	}
	return good;
}

static sem_t done;
static volatile int handler_saw;

static void handler(int sig)
{
	handler_saw = zero;
	zero = 78;
	sem_post(&done);
}

/* In a handler, the variables are those of the thread that it interrupts. */
static void *takes_signal(void *arg)
{
	zero = 77;
	pthread_kill(pthread_self(), SIGUSR1);
	return (void *)zero;
}

static void *address(void *arg)
{
	return &zero;
}

/* The child has the variables of the thread that forked. */
static void *forks(void *arg)
{
	int status = -1;
	pid_t pid;

	zero = 1234;
	pid = fork();
	if (pid == 0) {
		pthread_t t;
		void *r;
		int good = zero == 1234 && aligned();

		good &= pthread_create(&t, NULL, worker, (void *)9) == 0;
		good &= pthread_join(t, &r) == 0 && r != NULL && zero == 1234;
		_exit(good ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	return (void *)(long)status;
}

int main(void)
{
	pthread_t t;
	pthread_attr_t attr;
	void *r, *other;

	is("a constructor has the first thread's", constructor_saw, 5);
	is("which keeps what it wrote", seen_by_constructor, 6);
	seen_by_constructor = 5;
	ok("the first thread's are as the program says", fresh());
	ok("and aligned", aligned());
	zero = 99;
	is("each thread has its own", run_all(), THREADS);
	is("also where another one has been", run_all(), THREADS);
	is("and the first thread its own", zero, 99);

	pthread_create(&t, NULL, address, NULL);
	pthread_join(t, &other);
	ok("two threads, two addresses", other != &zero);

	sem_init(&done, 0, 0);
	signal(SIGUSR1, handler);
	pthread_create(&t, NULL, takes_signal, NULL);
	sem_wait(&done);
	pthread_join(t, &r);
	is("a handler has those of its thread", handler_saw, 77);
	is("and changes them", (long)r, 78);
	is("not the first thread's", zero, 99);

	pthread_create(&t, NULL, forks, NULL);
	pthread_join(t, &r);
	is("a child of fork has the caller's", (long)r, 0);

	pthread_attr_init(&attr);
	pthread_attr_setscope(&attr, PTHREAD_SCOPE_SYSTEM);
	pthread_create(&t, &attr, worker, (void *)5);
	pthread_join(t, &r);
	ok("a bound thread has its own", r != NULL);
	static char stack[65536] __attribute__((aligned(16)));
	pthread_attr_setstack(&attr, stack, sizeof(stack));
	pthread_create(&t, &attr, worker, (void *)5);
	pthread_join(t, &r);
	ok("and one on a stack of the program", r != NULL);
	return tap_done();
}
