/*
 * cpu_places.c - keeps CPUs busy in different places, for test_gdb.py, which stops the guest in
 * look_here: main and another thread in user mode, a third thread in a system call that takes
 * long, and a child in an address space of its own.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define SIZE (4ul << 20)

static struct shared {
	volatile unsigned turns, calls, childs_turns;
	volatile bool end; /* never */
} * shared;

__attribute__((noinline)) static void thread_turns(void)
{
	while (!shared->end)
		shared->turns++;
}

static void *turner(void *arg)
{
	thread_turns();
	return arg;
}

__attribute__((noinline)) static void child_turns(int depth)
{
	if (depth > 0)
		child_turns(depth - 1);
	while (!shared->end)
		shared->childs_turns++;
}

/* Nearly all of the time goes into the kernel, which changes each page's entry. */
static void *caller(void *memory)
{
	for (; !shared->end; shared->calls++) {
		int prot = shared->calls & 1 ? PROT_READ : PROT_READ | PROT_WRITE;

		if (mprotect(memory, SIZE, prot) != 0)
			abort();
	}
	return NULL;
}

__attribute__((noinline)) static void look_here(int round)
{
	__asm__ volatile("" : : "r"(round) : "memory");
}

static void *mapping(size_t size, int flags)
{
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		abort();
	for (size_t i = 0; i < size; i += 4096)
		p[i] = 0;
	return p;
}

int main(void)
{
	pthread_t thread;

	shared = mapping(sizeof(*shared), MAP_SHARED);
	pid_t pid = fork();
	if (pid == 0)
		child_turns(2);
	if (pid < 0 || pthread_create(&thread, NULL, turner, NULL) != 0 ||
	    pthread_create(&thread, NULL, caller, mapping(SIZE, MAP_PRIVATE)) != 0)
		abort();
	while (shared->turns == 0 || shared->calls == 0 || shared->childs_turns == 0)
		;
	for (int round = 0;; round++) {
		look_here(round);
		for (unsigned before = shared->turns; shared->turns - before < 1000;)
			;
	}
}
