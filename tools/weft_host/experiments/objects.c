/*
 * objects - active objects: each has a thread, which sleeps until a message comes.
 *
 * objects OBJECTS MESSAGES
 *
 * A message lies in its object's mailbox, which a mutex and a condition variable guard.  The object's thread takes
 * the message, computes a little, and sends a message to another object.  As many messages are under way as there
 * are CPUs.  No thread makes a system call by itself.  One line of results: the time of a message, of all CPUs
 * together, after MESSAGES of them.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include "sample.h"

#define MAX_OBJECTS 1000
#define WORK 100 /* instructions for a message */
#define STEP 7   /* from an object to the next one that gets its message; prime to OBJECTS */

static struct object {
	pthread_mutex_t lock;
	pthread_cond_t arrived;
	long messages; /* lock */
} all[MAX_OBJECTS];
static long objects, limit;
static long sent; /* atomic */
static int64_t ended;
static sem_t over;

static void send_to(struct object *o)
{
	pthread_mutex_lock(&o->lock);
	o->messages++;
	pthread_cond_signal(&o->arrived);
	pthread_mutex_unlock(&o->lock);
}

static void *live(void *arg)
{
	struct object *self = arg, *next = &all[(self - all + STEP) % objects];

	for (;;) {
		pthread_mutex_lock(&self->lock);
		while (self->messages == 0)
			pthread_cond_wait(&self->arrived, &self->lock);
		self->messages--;
		pthread_mutex_unlock(&self->lock);
		compute(WORK);
		if (__atomic_add_fetch(&sent, 1, __ATOMIC_RELAXED) == limit) {
			ended = gethrtime();
			sem_post(&over);
		}
		send_to(next);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int64_t began;

	objects = argc == 3 ? atol(argv[1]) : 0;
	limit = argc == 3 ? atol(argv[2]) : 0;
	if (objects < 1 || objects > MAX_OBJECTS || objects % STEP == 0 || limit < 1) {
		fprintf(stderr, "usage: objects OBJECTS MESSAGES (not a multiple of %d objects)\n",
			STEP);
		return 2;
	}
	must(pthread_setconcurrency(__ncpu), "pthread_setconcurrency");
	sem_init(&over, 0, 0);
	for (long i = 0; i < objects; i++) {
		must(pthread_mutex_init(&all[i].lock, NULL), "pthread_mutex_init");
		must(pthread_cond_init(&all[i].arrived, NULL), "pthread_cond_init");
	}
	for (long i = 0; i < objects; i++)
		must(pthread_create(&thread, NULL, live, &all[i]), "pthread_create");
	began = gethrtime();
	for (unsigned i = 0; i < __ncpu; i++)
		send_to(&all[i * objects / __ncpu]);
	sem_wait(&over);
	printf("result message_ns=%.1f\n", (double)(ended - began) * __ncpu / limit);
	fflush(stdout);
	_Exit(0);
}
