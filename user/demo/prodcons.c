/*
 * prodcons.c - producers and consumers around a bounded buffer: the textbook program for a mutex
 * and two condition variables, in plain POSIX threads.
 *
 * prodcons [producers [consumers [items [slots]]]]	(2 2 10000 8)
 *
 * Every producer puts the numbers 1 to items into the buffer; the consumers take them out and add
 * them up.  The sum is known in advance, so a lost or doubled number is detected (status 1).  The
 * second line of the output is the number of waits of all threads.  It differs between the thread
 * models.
 *
 * One lock, buffer.lock, guards everything in buffer.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
	pthread_mutex_t lock;
	pthread_cond_t not_full, not_empty;
	long *slot;
	long slots, used, in, out; /* in and out: the next slot to fill and to empty */
	long producers;            /* producers that have not finished */
	long full_waits, empty_waits;
} buffer = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.not_full = PTHREAD_COND_INITIALIZER,
	.not_empty = PTHREAD_COND_INITIALIZER,
};

static long items;

static void put(long number)
{
	pthread_mutex_lock(&buffer.lock);
	while (buffer.used == buffer.slots) {
		buffer.full_waits++;
		pthread_cond_wait(&buffer.not_full, &buffer.lock);
	}
	buffer.slot[buffer.in] = number;
	buffer.in = (buffer.in + 1) % buffer.slots;
	buffer.used++;
	pthread_cond_signal(&buffer.not_empty);
	pthread_mutex_unlock(&buffer.lock);
}

/* The next number, or 0 when the buffer is empty and there will be no more. */
static long take(void)
{
	long number = 0;

	pthread_mutex_lock(&buffer.lock);
	while (buffer.used == 0 && buffer.producers > 0) {
		buffer.empty_waits++;
		pthread_cond_wait(&buffer.not_empty, &buffer.lock);
	}
	if (buffer.used > 0) {
		number = buffer.slot[buffer.out];
		buffer.out = (buffer.out + 1) % buffer.slots;
		buffer.used--;
		pthread_cond_signal(&buffer.not_full);
	}
	pthread_mutex_unlock(&buffer.lock);
	return number;
}

static void *produce(void *unused)
{
	(void)unused;
	for (long number = 1; number <= items; number++)
		put(number);

	pthread_mutex_lock(&buffer.lock);
	if (--buffer.producers == 0) /* wake up the waiting consumers: no more numbers will come */
		pthread_cond_broadcast(&buffer.not_empty);
	pthread_mutex_unlock(&buffer.lock);
	return NULL;
}

/* Adds up the numbers that it takes, in *sum.  main reads *sum after it has joined this thread. */
static void *consume(void *sum)
{
	long number;

	while ((number = take()) != 0)
		*(long *)sum += number;
	return NULL;
}

static void start(pthread_t *thread, void *(*run)(void *), void *arg)
{
	if (pthread_create(thread, NULL, run, arg) != 0) {
		fprintf(stderr, "prodcons: cannot create a thread\n");
		exit(1);
	}
}

static long argument(int argc, char **argv, int index, long preset)
{
	long value = index < argc ? strtol(argv[index], NULL, 10) : preset;

	if (value < 1 || value > 1000000) {
		fprintf(stderr, "usage: prodcons [producers [consumers [items [slots]]]]\n");
		exit(2);
	}
	return value;
}

int main(int argc, char **argv)
{
	long producers = argument(argc, argv, 1, 2);
	long consumers = argument(argc, argv, 2, 2);
	pthread_t *thread = calloc((size_t)(producers + consumers), sizeof(*thread));
	long *sum = calloc((size_t)consumers, sizeof(*sum));
	long total = 0, expected;

	items = argument(argc, argv, 3, 10000);
	buffer.slots = argument(argc, argv, 4, 8);
	buffer.producers = producers;
	buffer.slot = calloc((size_t)buffer.slots, sizeof(*buffer.slot));
	if (thread == NULL || sum == NULL || buffer.slot == NULL) {
		fprintf(stderr, "prodcons: out of memory\n");
		return 1;
	}

	for (long i = 0; i < consumers; i++)
		start(&thread[i], consume, &sum[i]);
	for (long i = 0; i < producers; i++)
		start(&thread[consumers + i], produce, NULL);
	for (long i = 0; i < consumers + producers; i++)
		pthread_join(thread[i], NULL);
	for (long i = 0; i < consumers; i++)
		total += sum[i];

	expected = producers * (items * (items + 1) / 2);
	printf("%ld producers, %ld consumers, %ld slots: sum %ld, expected %ld\n", producers,
	       consumers, buffer.slots, total, expected);
	printf("waited %ld times for a free slot, %ld times for a number\n", buffer.full_waits,
	       buffer.empty_waits);
	return total == expected ? 0 : 1;
}
