/*
 * signals - what an asynchronous signal of a process costs until a thread has taken it.
 *
 * signals handler|sigwait|send bound|unbound OTHERS COUNT
 *
 * One thread sends COUNT signals to the process (kill), one after the other: it waits on a semaphore until
 * the last one has been taken.  The taker is a thread of the contention scope that is asked for.
 *
 * handler  a handler takes the signal, and interrupts the taker in sigsuspend(); all others block it
 * sigwait  the taker waits for the signal in sigwait(); all threads block it
 * send     the signal is ignored: what the call alone costs
 *
 * OTHERS threads wait at a condition variable meanwhile, and block the signal, as in a process with many
 * threads.
 *
 * One line of results; signal_ns is the time of one signal.  If a signal is lost the program never ends.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_OTHERS 1000

static sem_t taken, here;
static bool waits; /* the taker calls sigwait() */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static void must(int error, const char *call)
{
	if (error == 0)
		return;
	fprintf(stderr, "signals: %s: %s\n", call, strerror(error));
	exit(1);
}

static void handle(int signal)
{
	sem_post(&taken);
}

static void *take(void *unused)
{
	sigset_t usr1, none;
	int signal;

	sigemptyset(&none);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sem_post(&here);
	for (;;) {
		if (!waits) {
			sigsuspend(&none);
			continue;
		}
		must(sigwait(&usr1, &signal), "sigwait");
		sem_post(&taken);
	}
	return NULL;
}

static void *wait_for_ever(void *unused)
{
	must(pthread_mutex_lock(&lock), "pthread_mutex_lock");
	sem_post(&here);
	for (;;)
		pthread_cond_wait(&never, &lock);
	return NULL;
}

static void await(sem_t *semaphore)
{
	while (sem_wait(semaphore) != 0)
		must(errno == EINTR ? 0 : errno, "sem_wait");
}

static void make(void *(*run)(void *), int scope)
{
	pthread_attr_t attr;
	pthread_t thread;

	must(pthread_attr_init(&attr), "pthread_attr_init");
	must(pthread_attr_setscope(&attr, scope), "pthread_attr_setscope");
	must(pthread_create(&thread, &attr, run, NULL), "pthread_create");
	must(pthread_attr_destroy(&attr), "pthread_attr_destroy");
	await(&here);
}

static long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

static long send(long count, bool answered)
{
	long start = now();

	for (long i = 0; i < count; i++) {
		must(kill(getpid(), SIGUSR1) == 0 ? 0 : errno, "kill");
		if (answered)
			await(&taken);
	}
	return (now() - start) / count;
}

int main(int argc, char **argv)
{
	sigset_t usr1;

	if (argc != 5) {
		fputs("usage: signals handler|sigwait|send bound|unbound OTHERS COUNT\n", stderr);
		return 2;
	}
	bool answered = strcmp(argv[1], "send") != 0;
	long others = atol(argv[3]), count = atol(argv[4]);
	if (others < 0 || others > MAX_OTHERS || count < 1)
		return 2;
	waits = strcmp(argv[1], "sigwait") == 0;
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigprocmask(SIG_BLOCK, &usr1, NULL);
	signal(SIGUSR1, answered ? handle : SIG_IGN);
	sem_init(&taken, 0, 0);
	sem_init(&here, 0, 0);
	for (long i = 0; i < others; i++)
		make(wait_for_ever, PTHREAD_SCOPE_PROCESS);
	make(take, strcmp(argv[2], "bound") == 0 ? PTHREAD_SCOPE_SYSTEM : PTHREAD_SCOPE_PROCESS);
	long each = send(count, answered);
	printf("result kind=%s others=%ld signal_ns=%ld\n", argv[1], others, each);
	fflush(stdout);
	_exit(0);
}
