/*
 * thr_no_memory.c PAGES - another process takes all memory except so many pages for a while.  Meanwhile threads, which have run before,
 * block in the kernel.  The library wants LWPs then, which the program has not asked for.  The process must not end for it.
 */
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/wait.h>
#include "mmtest.h"

#define CHUNK (1ul << 20)
#define LAZY (ANON | WEFT_MAP_NORESERVE)
#define READERS 10

static int input[2], memory_taken[2];
static volatile int got;
static sem_t go;

/* Takes all memory, and gives so many pages back. */
static void take_memory(size_t back)
{
	size_t taken = 0;
	long chunk;

	while ((chunk = map(NULL, CHUNK, RW, LAZY)) > 0) {
		for (taken = 0; taken < CHUNK && writable((char *)chunk + taken); taken += PAGE)
			;
		if (taken < CHUNK)
			break;
	}
	if (chunk > 0 && back > 0 && taken > back * PAGE)
		__sys_munmap((char *)chunk + taken - back * PAGE, back * PAGE);
}

static void taker(size_t back)
{
	poll(NULL, 0, 100);
	take_memory(back);
	write(memory_taken[1], "", 1);
	poll(NULL, 0, 400);
	_exit(0);
}

static void *reads(void *arg)
{
	char c;

	for (int i = 0; i < 2; i++) {
		sem_wait(&go);
		if (read(input[0], &c, 1) == 1)
			__atomic_fetch_add(&got, 1, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

/* At first one thread reads at a time, so the pool has few LWPs.  Without memory all read at once. */
static void readers(size_t back)
{
	static const char bytes[READERS];
	pthread_t t[READERS];
	char c;

	if (fork() == 0)
		taker(back);
	for (int i = 0; i < READERS; i++)
		pthread_create(&t[i], NULL, reads, NULL);
	for (int i = 0; i < READERS; i++) {
		sem_post(&go);
		write(input[1], bytes, 1);
		poll(NULL, 0, 2);
	}
	read(memory_taken[0], &c, 1);
	for (int i = 0; i < READERS; i++)
		sem_post(&go);
	poll(NULL, 0, 50);
	write(input[1], bytes, READERS);
	for (int i = 0; i < READERS; i++)
		pthread_join(t[i], NULL);
	_exit(got != 2 * READERS);
}

int main(int argc, char **argv)
{
	int status = -1;

	if (argc != 2 || pipe(input) != 0 || pipe(memory_taken) != 0)
		bail("usage: thr_no_memory PAGES");
	sem_init(&go, 0, 0);
	if (fork() == 0)
		readers(atoi(argv[1]));
	wait(&status);
	is("all threads go on", status, 0);
	poll(NULL, 0, 600); /* until the other process has ended */
	return tap_done();
}
