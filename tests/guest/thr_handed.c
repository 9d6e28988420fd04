/*
 * thr_handed.c - threads that are woken while LWPs are idle (in model sa: model/mxn/claim.h).
 *
 * In a child of fork: a woken thread goes first to the LWP that it was handed to last.  The memory of a thread is reused in the
 * child, where the idle LWPs of the parent do not exist.
 *
 * After signals: an idle LWP looks for a thread that takes a signal, and is idle again.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "tap.h"

#define THREADS 6

static sem_t go[2], here, done;

static void compute_us(long us)
{
	struct timespec t;
	long long end;

	clock_gettime(CLOCK_MONOTONIC, &t);
	end = t.tv_sec * 1000000000ll + t.tv_nsec + us * 1000;
	do
		clock_gettime(CLOCK_MONOTONIC, &t);
	while (t.tv_sec * 1000000000ll + t.tv_nsec < end);
}

static void *waits_twice(void *unused)
{
	for (int i = 0; i < 2; i++) {
		sem_post(&here);
		sem_wait(&go[i]);
	}
	sem_post(&done);
	return NULL;
}

static void all(sem_t *s)
{
	for (int i = 0; i < THREADS; i++)
		while (sem_wait(s) != 0)
			;
}

/* Threads block, are woken when LWPs are idle, and exit.  sig: such a signal comes before each wake-up, and is blocked. */
static void threads_run(int sig)
{
	pthread_t t[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, waits_twice, NULL) != 0)
			bail("pthread_create");
	for (int i = 0; i < 2; i++) {
		all(&here);
		compute_us(2000);
		for (int k = 0; k < THREADS; k++) {
			if (sig != 0)
				kill(getpid(), sig);
			compute_us(50);
			sem_post(&go[i]);
			compute_us(50);
		}
	}
	all(&done);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
}

int main(void)
{
	sigset_t set;
	int status;
	pid_t child;

	sem_init(&go[0], 0, 0);
	sem_init(&go[1], 0, 0);
	sem_init(&here, 0, 0);
	sem_init(&done, 0, 0);
	threads_run(0);
	compute_us(2000); /* the other LWPs are idle */
	child = fork();
	if (child == 0) {
		threads_run(0);
		_exit(7);
	}
	ok("fork", child > 0);
	ok("the child's threads end",
	   waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
	threads_run(0);
	ok("the parent's threads end", true);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	threads_run(SIGUSR1);
	ok("threads end after signals that none takes", true);
	return tap_done();
}
