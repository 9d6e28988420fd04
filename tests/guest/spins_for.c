/*
 * spins_for.c - waits in a loop for threads that may get no LWP (`pool`), or has them wait for an
 * object in the kernel while the one that would help may get no LWP (`sem`, `mutex`): what the end
 * of a run that stands still, or has no time left, says of it.
 */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int alive;
static sem_t *sem;
static pthread_mutex_t m;

static void *lives(void *arg)
{
	__atomic_fetch_add(&alive, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void *posts(void *arg)
{
	sem_post(sem);
	return NULL;
}

static void *wants_mutex(void *arg)
{
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	return NULL;
}

static pthread_t start(void *(*fn)(void *))
{
	pthread_t t;

	if (pthread_create(&t, NULL, fn, NULL) != 0)
		exit(3);
	return t;
}

static void share_mutex(void)
{
	pthread_mutexattr_t attr;
	pthread_t t;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&m, &attr);
	pthread_mutex_lock(&m);
	t = start(wants_mutex);
	sched_yield(); /* never returns in n1: the other thread waits and keeps the LWP */
	pthread_mutex_unlock(&m);
	pthread_join(t, NULL);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "pool";

	if (strcmp(what, "pool") == 0) {
		start(lives);
		start(lives);
		while (alive != 2)
			;
	} else if (strcmp(what, "sem") == 0) {
		sem = sem_open("/spins_for", O_CREAT, 0600, 0);
		start(posts);
		sem_wait(sem);
		sem_unlink("/spins_for");
	} else {
		share_mutex();
	}
	write(1, "through\n", 8);
	return 0;
}
