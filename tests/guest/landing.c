/*
 * landing.c - a thread that waits for ever, unless a debugger changes where it goes on.  Then it prints a
 * register that the debugger has changed, too.  For test_debug_motion.py.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static sem_t never_posted;
static volatile int posts; /* the debugger sets it */

/* Without the library: its state is that of a thread that waits. */
__attribute__((used, noreturn)) static void landed(long number)
{
	char text[32];
	int length = snprintf(text, sizeof(text), "landed with %ld\n", number);

	_exit(write(STDOUT_FILENO, text, length) == length ? 0 : 1);
}

__attribute__((naked)) static void land(void)
{
	__asm__("movq %rbx, %rdi\n\tandq $-16, %rsp\n\tcall landed");
}

static void *wait_for_ever(void *arg)
{
	while (sem_wait(&never_posted) != 0 || posts < 1000)
		;
	return arg;
}

__attribute__((noinline)) static void look_here(void)
{
	__asm__ volatile("" : : : "memory");
}

int main(void)
{
	pthread_t thread;

	if (posts < 0)
		land();
	sem_init(&never_posted, 0, 0);
	if (pthread_create(&thread, NULL, wait_for_ever, NULL) != 0)
		return 1;
	for (;;) {
		struct timespec ms = {.tv_nsec = 1000000};

		sched_yield();
		nanosleep(&ms, NULL);
		look_here();
		if (posts > 0)
			sem_post(&never_posted);
	}
}
