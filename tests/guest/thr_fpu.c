/*
 * thr_fpu.c - each thread's floating-point state is its own.
 *
 *	thr_fpu [ROUNDS]
 *
 * Two threads a CPU compute at once: one with SSE, the next with the x87 unit.  Each keeps its
 * values in registers between yields, has a rounding mode of its own, and must get what the main
 * thread got alone.  A switch that loses or mixes a register, MXCSR or the control word of x87 changes
 * the sum.
 */
#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
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

int main(int argc, char **argv)
{
	static struct work alone[THREADS], together[THREADS];
	pthread_t t[THREADS];
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
	return tap_done();
}
