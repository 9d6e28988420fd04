/*
 * late_store.c - a race that some interleavings show: two threads add to a counter without a lock,
 * once each.  Status 1: one addition is lost.
 */
#include <pthread.h>
#include <stdio.h>

static volatile long counter;
static int arrived;

static void *add(void *unused)
{
	__atomic_add_fetch(&arrived, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(&arrived, __ATOMIC_ACQUIRE) < 2)
		;
	long seen = counter;
	for (volatile int i = 0; i < 20; i++)
		;
	counter = seen + 1;
	return unused;
}

int main(void)
{
	pthread_t thread[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, add, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	printf("counter = %ld\n", counter);
	return counter != 2;
}
