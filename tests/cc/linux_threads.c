/*
 * linux_threads.c - an ordinary POSIX-threads program as one writes it on Linux, without
 * any header of weft's.  It uses a bit of everything; its output is the same on every
 * system, whatever the order in which the threads run.
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WORKERS 8
#define ITEMS 2000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t begin;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static sem_t slots;

struct item {
	struct item *next;
	long number;
};

static struct item *queue;
static int closed;
static long sum, table[64], once_count, destroyed;

static void destroy(void *value)
{
	__atomic_fetch_add(&destroyed, *(long *)value, __ATOMIC_RELAXED);
	free(value);
}

static void set_up(void)
{
	once_count++;
	if (pthread_key_create(&key, destroy) != 0)
		abort();
}

static struct item *take(void)
{
	pthread_mutex_lock(&lock);
	while (queue == NULL && !closed)
		pthread_cond_wait(&not_empty, &lock);
	struct item *i = queue;
	if (i != NULL)
		queue = i->next;
	pthread_mutex_unlock(&lock);
	return i;
}

static void *work(void *arg)
{
	long taken = 0, local = 0;
	struct item *i;

	pthread_once(&once, set_up);
	pthread_setspecific(key, calloc(1, sizeof(long)));
	pthread_barrier_wait(&begin);
	while ((i = take()) != NULL) {
		char text[32];

		snprintf(text, sizeof(text), "%ld", i->number);
		local += strtol(text, NULL, 10);
		pthread_rwlock_wrlock(&table_lock);
		table[i->number % 64]++;
		pthread_rwlock_unlock(&table_lock);
		++*(long *)pthread_getspecific(key);
		taken++;
		free(i);
		sem_post(&slots);
	}
	pthread_mutex_lock(&lock);
	sum += local;
	pthread_mutex_unlock(&lock);
	return (void *)taken;
}

static void timed_wait(void)
{
	struct timespec soon;

	clock_gettime(CLOCK_REALTIME, &soon);
	soon.tv_nsec += 20000000;
	if (soon.tv_nsec >= 1000000000) {
		soon.tv_nsec -= 1000000000;
		soon.tv_sec++;
	}
	pthread_mutex_lock(&lock);
	int error;
	do
		error = pthread_cond_timedwait(&not_empty, &lock, &soon);
	while (error == 0);
	pthread_mutex_unlock(&lock);
	printf("timed wait: %s\n", error == ETIMEDOUT ? "timed out" : strerror(error));
}

int main(int argc, char **argv)
{
	pthread_t thread[WORKERS];
	pthread_attr_t attr;
	long total = 0, most = 0;

	assert(argc == 2 && strcmp(argv[1], "an argument") == 0);
	timed_wait();
	sem_init(&slots, 0, 50);
	pthread_barrier_init(&begin, NULL, WORKERS + 1);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (long i = 0; i < WORKERS; i++)
		if (pthread_create(&thread[i], &attr, work, (void *)i) != 0) {
			perror("pthread_create");
			return 1;
		}
	pthread_barrier_wait(&begin);
	for (long n = 1; n <= ITEMS; n++) {
		struct item *i = malloc(sizeof(*i));

		sem_wait(&slots);
		i->number = n;
		pthread_mutex_lock(&lock);
		i->next = queue;
		queue = i;
		pthread_cond_signal(&not_empty);
		pthread_mutex_unlock(&lock);
	}
	pthread_mutex_lock(&lock);
	closed = 1;
	pthread_cond_broadcast(&not_empty);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < WORKERS; i++) {
		void *taken;

		pthread_join(thread[i], &taken);
		total += (long)taken;
	}
	for (int i = 0; i < 64; i++)
		most = table[i] > most ? table[i] : most;
	printf("items %ld, sum %ld, fullest %ld, once %ld, destroyed %ld\n", total, sum, most,
	       once_count, destroyed);
	fprintf(stderr, "done\n");
	return 42;
}
