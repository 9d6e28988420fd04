/*
 * thr_many.c [THREADS [STACK]] - thousands of threads alive at once, each of which waits
 * for its turn; then again, on stacks that the first ones left.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include "tap.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static pthread_cond_t complete = PTHREAD_COND_INITIALIZER;
static long here, open_for, threads = 2000, sum;

struct seat {
	pthread_t thread;
	sem_t turn;
	struct seat *next;
};

static void *sits(void *arg)
{
	struct seat *s = arg;

	pthread_mutex_lock(&lock);
	if (++here == threads)
		pthread_cond_signal(&complete);
	while (open_for != threads)
		pthread_cond_wait(&opened, &lock);
	pthread_mutex_unlock(&lock);
	sem_wait(&s->turn); /* a token goes round all of them */
	sum++;
	sem_post(&s->next->turn);
	return s;
}

static void run(size_t stack)
{
	struct seat *seats = calloc(threads + 1, sizeof(*seats));
	pthread_attr_t attr;
	long joined = 0;

	pthread_attr_init(&attr);
	is("stack size", pthread_attr_setstacksize(&attr, stack), 0);
	here = open_for = sum = 0;
	for (long i = 0; i <= threads; i++) {
		sem_init(&seats[i].turn, 0, 0);
		seats[i].next = &seats[(i + 1) % (threads + 1)];
	}
	for (long i = 0; i < threads; i++) {
		int error = pthread_create(&seats[i].thread, &attr, sits, &seats[i]);

		if (error != 0)
			bail("pthread_create, thread %ld: %s", i, strerror(error));
	}
	pthread_mutex_lock(&lock);
	while (here != threads)
		pthread_cond_wait(&complete, &lock);
	open_for = threads;
	pthread_cond_broadcast(&opened);
	pthread_mutex_unlock(&lock);
	sem_post(&seats[0].turn);
	sem_wait(&seats[threads].turn);
	is("the token came by all", sum, threads);
	for (long i = 0; i < threads; i++) {
		void *status;

		joined += pthread_join(seats[i].thread, &status) == 0 && status == &seats[i];
	}
	is("all joined", joined, threads);
	free(seats);
}

int main(int argc, char **argv)
{
	size_t stack = 32768;

	if (argc > 1)
		threads = atol(argv[1]);
	if (argc > 2)
		stack = atol(argv[2]);
	run(stack);
	run(stack);
	pthread_setconcurrency(4);
	run(stack);
	return tap_done();
}
