/*
 * libc_context.c - getcontext, setcontext, makecontext and swapcontext: what goes with a context
 * (registers, floating-point control, signal mask) and what stays with the thread.
 */
#define _GNU_SOURCE
#include <fenv.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <ucontext.h>
#include "tap.h"

#define STACK 32768

static ucontext_t mainly, other, third;
static char stack[STACK], stack_of_third[STACK], handlers_stack[STACK];
static _Thread_local int local;
static volatile int count;

static void prepare(ucontext_t *context, char *its_stack, ucontext_t *link)
{
	getcontext(context);
	context->uc_stack = (stack_t){.ss_sp = its_stack, .ss_size = STACK};
	context->uc_link = link;
}

static int blocked(int sig)
{
	sigset_t now;

	pthread_sigmask(SIG_BLOCK, NULL, &now);
	return sigismember(&now, sig);
}

static void mask(int how, int sig)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sig);
	pthread_sigmask(how, &set, NULL);
}

static void again(void)
{
	volatile int times = 0;

	is("getcontext", getcontext(&mainly), 0);
	if (++times < 5)
		setcontext(&mainly);
	is("setcontext: getcontext returns again", times, 5);
}

/* --- arguments and successors ------------------------------------------------------------- */

static char *given[9];
static int right, aligned;

static void nine(char *a, char *b, char *c, char *d, char *e, char *f, char *g, char *h, char *i)
{
	char *const got[9] = {a, b, c, d, e, f, g, h, i};
	_Alignas(16) volatile char here[16];

	here[0] = 0;
	aligned += ((uintptr_t)here & 15) == 0 && (uintptr_t)__builtin_frame_address(0) % 16 == 0;
	for (int n = 0; n < 9; n++)
		right += got[n] == given[n];
}

static void numbers(int a, int b)
{
	right += a == -7 && b == 8;
	aligned += (uintptr_t)__builtin_frame_address(0) % 16 == 0;
}

static void arguments(void)
{
	for (int n = 0; n < 9; n++)
		given[n] = stack + STACK - n;
	prepare(&other, stack, &third);
	prepare(&third, stack_of_third, &mainly);
	makecontext(&other, (void (*)(void))nine, 9, given[0], given[1], given[2], given[3],
		    given[4], given[5], given[6], given[7], given[8]);
	makecontext(&third, (void (*)(void))numbers, 2, -7, 8);
	is("swapcontext", swapcontext(&mainly, &other), 0);
	is("makecontext: the arguments, also on the stack; uc_link is next", right, 10);
	is("makecontext: the stack's alignment", aligned, 2);

	prepare(&other, stack, &mainly);
	other.uc_stack.ss_size = 100;
	makecontext(&other, (void (*)(void))numbers, 2, 1, 2);
	fails("swapcontext: a stack that is too small", swapcontext(&mainly, &other), ENOMEM);
	fails("setcontext: a stack that is too small", setcontext(&other), ENOMEM);
}

/* --- what goes with a context ---------------------------------------------------------------- */

static int wrong;
static pthread_t thread;
static int *errno_at;

static void rounds(void)
{
	int before = count;

	wrong += !blocked(SIGUSR1) || blocked(SIGUSR2) || blocked(SIGLWP);
	fesetround(FE_UPWARD);
	for (int i = 1; i <= 100; i++) {
		double sum = i + 0.5;

		mask(SIG_UNBLOCK, SIGUSR1);
		local++;
		swapcontext(&other, &mainly);
		wrong += blocked(SIGUSR1) || blocked(SIGUSR2) || fegetround() != FE_UPWARD;
		wrong += count != before + i || sum != i + 0.5;
		wrong += pthread_self() != thread || &errno != errno_at || local != i;
	}
}

static void *parts(void *unused)
{
	thread = pthread_self();
	errno_at = &errno;
	local = count = wrong = 0;
	fesetround(FE_TOWARDZERO);
	mask(SIG_BLOCK, SIGUSR2);
	prepare(&other, stack, &mainly);
	sigfillset(&other.uc_sigmask);
	sigdelset(&other.uc_sigmask, SIGUSR2);
	makecontext(&other, rounds, 0);
	for (int i = 1; i <= 101; i++) {
		swapcontext(&mainly, &other);
		wrong += blocked(SIGUSR1) || !blocked(SIGUSR2) || fegetround() != FE_TOWARDZERO;
		count++;
	}
	is("swapcontext: masks and rounding go with the context, the thread's data stays", wrong,
	   0);
	is("swapcontext: the rounds", local, 100);
	ok("swapcontext: uc_stack and uc_link stay",
	   other.uc_stack.ss_sp == stack && other.uc_link == &mainly);
	mask(SIG_UNBLOCK, SIGUSR2);
	fesetround(FE_TONEAREST);
	return unused;
}

/* --- handlers ----------------------------------------------------------------------------------- */

static ucontext_t interrupted;
static volatile int handled, on_stack;

static void leave(int sig, siginfo_t *info, void *context)
{
	char here;

	handled++;
	on_stack += (uintptr_t)&here - (uintptr_t)handlers_stack < STACK;
	swapcontext(&interrupted, &mainly);
	on_stack += (uintptr_t)&here - (uintptr_t)handlers_stack < STACK;
}

static void take_up(int sig, siginfo_t *info, void *context)
{
	handled++;
	setcontext(context);
	_exit(3);
}

static void computes(void)
{
	double x = 0;

	for (int i = 0; i < 10; i++) {
		x += 0.25;
		raise(SIGUSR1);
	}
	count = (int)(x * 4);
}

static void *handlers(void *unused)
{
	struct sigaction act = {.sa_sigaction = leave, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	stack_t alternate = {.ss_sp = handlers_stack, .ss_size = STACK}, now;
	int swaps = 0, bad = 0;

	sigaltstack(&alternate, NULL);
	sigaction(SIGUSR1, &act, NULL);
	handled = on_stack = count = 0;
	prepare(&other, stack, &mainly);
	makecontext(&other, computes, 0);
	swapcontext(&mainly, &other);
	while (count == 0 && swaps < 20) {
		swaps++;
		sigaltstack(NULL, &now);
		bad += blocked(SIGUSR1) || (now.ss_flags & SS_ONSTACK);
		swapcontext(&mainly, &interrupted);
	}
	is("a handler swaps away and comes back", count, 10);
	is("... each time", swaps, 10);
	is("... on its alternate stack", on_stack, 20);
	is("... its thread is on it no more meanwhile, and blocks nothing", bad, 0);

	act.sa_sigaction = take_up;
	sigaction(SIGUSR1, &act, NULL);
	handled = count = 0;
	computes();
	ok("setcontext: what a handler was given",
	   handled == 10 && count == 10 && !blocked(SIGUSR1));
	signal(SIGUSR1, SIG_DFL);
	alternate.ss_flags = SS_DISABLE;
	sigaltstack(&alternate, NULL);
	return unused;
}

/* --- threads -------------------------------------------------------------------------------------- */

static sem_t go;
static pthread_key_t key;
static void *destroyed;

static void waits(void)
{
	while (sem_wait(&go) != 0)
		;
	count = pthread_self() == thread;
}

static void *swaps_and_waits(void *unused)
{
	thread = pthread_self();
	prepare(&other, stack, &mainly);
	makecontext(&other, waits, 0);
	swapcontext(&mainly, &other);
	return unused;
}

static void half(void)
{
	local = 1;
	swapcontext(&other, &mainly);
	local += 10;
}

static void *begins(void *unused)
{
	prepare(&other, stack, &mainly);
	makecontext(&other, half, 0);
	swapcontext(&mainly, &other);
	return (void *)(intptr_t)local;
}

static void *ends_it(void *unused)
{
	local = 100;
	swapcontext(&mainly, &other);
	return (void *)(intptr_t)local;
}

static void destroy(void *value)
{
	destroyed = value;
}

static void last(void)
{
	pthread_setspecific(key, &key);
}

static void *without_successor(void *unused)
{
	prepare(&other, stack, NULL);
	makecontext(&other, last, 0);
	setcontext(&other);
	return &other;
}

static void *joined(void *(*start)(void *))
{
	pthread_t id;
	void *status = &id;

	pthread_create(&id, NULL, start, NULL);
	if (start == swaps_and_waits) {
		sched_yield();
		sem_post(&go);
	}
	pthread_join(id, &status);
	return status;
}

int main(void)
{
	sem_init(&go, 0, 0);
	pthread_key_create(&key, destroy);
	again();
	arguments();
	parts(NULL);
	joined(parts);
	handlers(NULL);
	joined(handlers);

	count = 0;
	joined(swaps_and_waits);
	is("a context waits for another thread", count, 1);
	is("a context is begun by one thread", joined(begins), 1);
	/* It ends in the thread that began it: uc_link is where it was last put down. */
	is("... and ended by another thread, with its data", joined(ends_it), 110);
	is("without uc_link the thread ends", joined(without_successor), NULL);
	ok("... and its data is destroyed", destroyed == &key);
	return tap_done();
}
