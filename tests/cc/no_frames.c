/* Code that uses RBP for something else, and then blocks: no walk over frames may harm it. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static unsigned turn;

static void turn_wait(unsigned number)
{
	pthread_mutex_lock(&mutex);
	while (turn % 2 != number)
		pthread_cond_wait(&cond, &mutex);
	turn++;
	pthread_cond_signal(&cond);
	pthread_mutex_unlock(&mutex);
}

static void __attribute__((noinline)) without_frame(unsigned number, uint64_t rbp)
{
	__asm__ volatile("pushq %%rbp\n\tmovq %1, %%rbp\n\tcallq *%2\n\tpopq %%rbp"
			 : "+D"(number)
			 : "r"(rbp), "r"(turn_wait)
			 : "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
}

static void *player(void *arg)
{
	/* A page that is missing, one of the kernel, no address, an odd one, the highest, and itself. */
	uint64_t loop[2] = {(uint64_t)loop, 0};
	const uint64_t rbp[] = {0x7f0000001000,
				0xffffffff80100000,
				0x8000000000000000,
				0x401001,
				0x00007fffffffeff8,
				(uint64_t)loop,
				0,
				8};

	for (unsigned i = 0; i < 8; i++)
		without_frame((uintptr_t)arg, rbp[i]);
	return arg;
}

int main(void)
{
	pthread_t thread[2];
	struct timespec t;

	for (uintptr_t i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, player, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	clock_gettime(CLOCK_MONOTONIC, &t);
	printf("%u turns at %ld.%09ld\n", turn, (long)t.tv_sec, t.tv_nsec);
	return 0;
}
