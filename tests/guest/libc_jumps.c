/*
 * libc_jumps.c - setjmp and longjmp, sigsetjmp and siglongjmp: what the first returns, what a jump
 * brings back, and what it leaves alone.
 */
#include <fenv.h>
#include <setjmp.h>
#include <signal.h>
#include "tap.h"

static jmp_buf env;
static sigjmp_buf sigenv;

static void values(void)
{
	static const struct {
		int given, returned;
	} table[] = {{0, 1}, {1, 1}, {2, 2}, {-1, -1}, {-0x7fffffff - 1, -0x7fffffff - 1}};
	char name[60];

	for (volatile unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		volatile int jumps = 0;
		int got = setjmp(env);

		if (jumps++ == 0)
			longjmp(env, table[i].given);
		snprintf(name, sizeof(name), "longjmp: %d", table[i].given);
		is(name, got, table[i].returned);
		jumps = 0;
		got = _setjmp(env);
		if (jumps++ == 0)
			_longjmp(env, table[i].given);
		snprintf(name, sizeof(name), "_longjmp: %d", table[i].given);
		is(name, got, table[i].returned);
		jumps = 0;
		got = sigsetjmp(sigenv, 1);
		if (jumps++ == 0)
			siglongjmp(sigenv, table[i].given);
		snprintf(name, sizeof(name), "siglongjmp: %d", table[i].given);
		is(name, got, table[i].returned);
	}
}

static void jump_from_below(int depth);
static void (*volatile go_down)(int depth) = jump_from_below;

static void jump_from_below(int depth)
{
	volatile char used[500];

	used[depth] = 1;
	if (depth > 0)
		go_down(depth - 1);
	else
		longjmp(env, used[depth] + 6);
}

static void masks(void)
{
	sigset_t usr1, now;

	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	if (sigsetjmp(sigenv, 1) == 0) {
		sigprocmask(SIG_BLOCK, &usr1, NULL);
		siglongjmp(sigenv, 1);
	}
	sigprocmask(SIG_BLOCK, NULL, &now);
	ok("siglongjmp: the mask is as it was", !sigismember(&now, SIGUSR1));
	if (sigsetjmp(sigenv, 0) == 0) {
		sigprocmask(SIG_BLOCK, &usr1, NULL);
		siglongjmp(sigenv, 1);
	}
	sigprocmask(SIG_BLOCK, NULL, &now);
	ok("siglongjmp: not saved, it stays", sigismember(&now, SIGUSR1));
}

int main(void)
{
	volatile int rounding = FE_UPWARD;
	int got;

	values();
	got = setjmp(env);
	if (got == 0)
		jump_from_below(20);
	is("longjmp: out of calls", got, 7);
	masks();
	fesetround(FE_TONEAREST);
	if (setjmp(env) == 0) {
		fesetround(rounding);
		longjmp(env, 1);
	}
	is("longjmp: leaves the floating-point environment", fegetround(), FE_UPWARD);
	return tap_done();
}
