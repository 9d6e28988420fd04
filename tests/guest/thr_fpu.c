/*
 * thr_fpu.c - each thread's floating-point state is its own.
 *
 *	thr_fpu [ROUNDS]
 *
 * Two threads a CPU compute at once: one with SSE, the next with the x87 unit.  Each keeps its
 * values in registers between yields, has a rounding mode of its own, and must get what the main
 * thread got alone.  A switch that loses or mixes a register, MXCSR or the control word of x87 changes
 * the sum.  A handler finds an empty x87 stack, and so does a thread that goes on at the end of another
 * thread's time slice.
 */
#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "tap.h"

#define THREADS 8
#define STEPS 400

static unsigned rounds = 40;

struct work {
	unsigned number;
	int alone; /* no other thread computes: do not yield */
	double sse;
	long double x87;
	int wrong_mode;
};

static const int modes[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};

static double sse_steps(double x)
{
	double a = x, b = 1 / x, c = x / 3;

	for (int i = 0; i < STEPS; i++) {
		a = a * 0.7 + 1 / (1 + b);
		b = b / 1.9 + c / 7;
		c = (a + c) / 11;
	}
	return a + b + c;
}

static long double x87_steps(long double x)
{
	long double a = x, b = 1 / x, c = x / 3;

	for (int i = 0; i < STEPS; i++) {
		a = a * 0.7L + 1 / (1 + b);
		b = b / 1.9L + c / 7;
		c = (a + c) / 11;
	}
	return a + b + c;
}

static void *compute(void *arg)
{
	struct work *w = arg;
	int mode = modes[w->number / 2 % 4];

	fesetround(mode);
	w->sse = w->x87 = 1.5;
	for (unsigned i = 0; i < rounds; i++) {
		if (w->number % 2 == 0)
			w->sse = sse_steps(w->sse);
		else
			w->x87 = x87_steps(w->x87);
		if (!w->alone)
			sched_yield();
		w->wrong_mode += fegetround() != mode;
	}
	return NULL;
}

/* --- the x87 stack of a handler, and of the thread that goes on after a time slice ------------- */

struct environment {
	uint16_t control, pad0, status, pad1, tag, pad2;
	uint32_t rest[4];
};

#define TAG_EMPTY 0xffff
#define PENDING 0x80 /* in status: an exception that is not masked */

static volatile uint16_t tag_in_handler;

static void handler(int sig)
{
	struct environment e;

	__asm__ volatile("fnstenv %0" : "=m"(e));
	tag_in_handler = e.tag;
}

static void test_handler(void)
{
	double sum;

	signal(SIGUSR1, handler);
	__asm__ volatile("fld1; fld1; fld1; fld1; fld1; fld1; fld1; fld1");
	raise(SIGUSR1);
	__asm__ volatile("faddp; faddp; faddp; faddp; faddp; faddp; faddp; fstpl %0" : "=m"(sum));
	is("the handler's x87 stack is empty", tag_in_handler, TAG_EMPTY);
	ok("the stack that it has interrupted is whole", sum == 8);
}

static volatile bool over;
static volatile unsigned found_full, found_pending, looks;

/* Is in user mode all the time, with a full stack or with an exception that its next x87 instruction would raise. */
static void *keeps(void *pending)
{
	static const uint16_t unmasked = 0x37b; /* division by zero */

	while (!over) {
		long turns = 100000;

		if (pending != NULL)
			__asm__ volatile("fninit; fldcw %1; fld1; fldz; fdivrp\n"
					 "1:\tdec %0; jnz 1b\n\tfnclex; fninit"
					 : "+r"(turns)
					 : "m"(unmasked));
		else
			__asm__ volatile("fld1; fld1; fld1; fld1; fld1; fld1; fld1; fld1\n"
					 "1:\tdec %0; jnz 1b\n\tfninit"
					 : "+r"(turns));
	}
	return NULL;
}

static void *looks_and_yields(void *arg)
{
	while (!over) {
		struct environment e;

		__asm__ volatile("fnstenv %0; fnclex; fninit" : "=m"(e));
		found_full += e.tag != TAG_EMPTY;
		found_pending += (e.status & PENDING) != 0;
		looks++;
		for (volatile int i = 0; i < 1000; i++)
			;
		sched_yield();
	}
	return NULL;
}

static void test_slices(void)
{
	const struct timespec nap = {.tv_nsec = 700000000};
	pthread_t t[4];

	for (intptr_t i = 0; i < 4; i++)
		if (pthread_create(&t[i], NULL, i < 2 ? keeps : looks_and_yields,
				   (void *)(i % 2)) != 0)
			bail("pthread_create failed");
	nanosleep(&nap, NULL);
	over = true;
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	ok("a thread has looked", looks > 0);
	is("another thread's registers on the x87 stack", found_full, 0);
	is("another thread's pending exception", found_pending, 0);
}

int main(int argc, char **argv)
{
	static struct work alone[THREADS], together[THREADS];
	pthread_t t[THREADS];
	const char *model = getenv("LIBTHREAD");
	int wrong = 0, modes_wrong = 0;

	if (argc > 1)
		rounds = atoi(argv[1]);
	for (unsigned i = 0; i < THREADS; i++) {
		alone[i] = (struct work){.number = i, .alone = 1};
		compute(&alone[i]);
		together[i] = (struct work){.number = i};
	}
	fesetround(FE_TONEAREST);
	for (unsigned i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, compute, &together[i]) != 0)
			bail("pthread_create failed");
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(t[i], NULL);
		wrong += alone[i].sse != together[i].sse || alone[i].x87 != together[i].x87;
		modes_wrong += together[i].wrong_mode;
		printf("# thread %u: %.17g %.20Lg\n", i, together[i].sse, together[i].x87);
	}
	fflush(stdout);
	is("threads with another result than alone", wrong, 0);
	is("rounding modes that are another thread's", modes_wrong, 0);
	is("this thread's rounding mode", fegetround(), FE_TONEAREST);
	ok("the modes give different results",
	   alone[0].sse != alone[2].sse && alone[1].x87 != alone[3].x87);
	test_handler();
	if (model == NULL || strcmp(model, "lwp") == 0 || strcmp(model, "sa") == 0)
		test_slices(); /* in the other models a thread that computes leaves its LWP to none */
	return tap_done();
}
