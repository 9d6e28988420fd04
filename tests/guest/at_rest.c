/*
 * at_rest.c - three threads that block for ever, each in a way and in functions of its
 * own, for test_gdb.py, which stops the guest in look_here.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, news_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static sem_t tokens;
static volatile int depth_reached;

__attribute__((noinline)) static void wants_lock(int depth)
{
	if (depth > 0)
		wants_lock(depth - 1);
	else
		pthread_mutex_lock(&lock);
	depth_reached = depth; /* not a tail call: each level has its frame */
}

static void *lock_taker(void *arg)
{
	wants_lock(2);
	return arg;
}

static void *news_reader(void *arg)
{
	pthread_setname_np(pthread_self(), "reads news");
	pthread_mutex_lock(&news_lock);
	for (;;)
		pthread_cond_wait(&news, &news_lock);
	return arg;
}

static void *token_taker(void *arg)
{
	sem_wait(&tokens);
	return arg;
}

__attribute__((noinline)) static void look_here(int round)
{
	__asm__ volatile("" : : "r"(round) : "memory");
}

int main(void)
{
	static void *(*const start[])(void *) = {lock_taker, news_reader, token_taker};
	pthread_t thread;

	sem_init(&tokens, 0, 0);
	pthread_mutex_lock(&lock);
	for (int i = 0; i < 3; i++)
		if (pthread_create(&thread, NULL, start[i], NULL) != 0)
			abort();
	for (int round = 0;; round++) {
		struct timespec ms = {.tv_nsec = 1000000};

		look_here(round);
		sched_yield(); /* with one LWP for all, a sleep in the kernel lets nobody in */
		nanosleep(&ms, NULL);
	}
}
