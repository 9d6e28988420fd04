/*
 * lwp_handover.c - an activation that is about to be preempted enters the library first, so that its thread
 * can run on another LWP (weft/lwp.h).
 *
 * The first LWP computes on CPU 0 beside another process.
 */
#include <signal.h>
#include <stdbool.h>
#include <sys/time.h>
#include <weft/procset.h>
#include <weft/signal.h>
#include <weft/start.h>
#include "child.h"
#include "rawlwp.h"

#define MS 1000000ll

static volatile unsigned handed;
static volatile bool in_section, over;
static struct raw other;
static struct schedctl *sc;

static void gives_way(int sig, struct weft_siginfo *info, struct weft_ucontext *uc, void *handler,
		      uint64_t mask)
{
	if (info->code != WEFT_SI_PREEMPT || in_section)
		_exit(90);
	if (sc->yield) {
		handed++;
		__sys_lwp_yield();
	}
	__sys_sigreturn(uc);
}

static bool bind_to(int cpu)
{
	return __sys_processor_bind(WEFT_P_LWPID, WEFT_P_MYID, cpu, NULL) == 0;
}

/* The second activation, on CPU 1. */
static void computes(struct raw *r)
{
	if (!bind_to(1))
		_exit(91);
	while (__sys_upcall_idle(UPCALL_SPARE) < 0)
		;
	__atomic_store_n(&r->arg, 1, __ATOMIC_SEQ_CST);
	while (!over)
		;
}

/* False: not within so many milliseconds. */
static bool within(int ms, bool (*what)(unsigned before))
{
	unsigned before = handed;

	for (hrtime_t began = gethrtime(); gethrtime() - began < ms * MS;)
		if (what(before))
			return true;
	return false;
}

static bool has_handed_over(unsigned before)
{
	return handed != before;
}

static bool is_to_yield(unsigned before)
{
	return sc->yield;
}

static int phases(void)
{
	const struct weft_sigaction act = {.handler = (uint64_t)gives_way,
					   .entry = (uint64_t)gives_way};
	unsigned before;

	__sys_sigaction(WEFT_SIGLWP, &act, NULL);
	if (__sys_upcall_activate(2) != 0)
		return 92;
	if (within(1000, has_handed_over))
		return 1; /* the only LWP of its process */
	if (raw_start(&other, computes, 0, 0) != 0)
		return 93;
	while (__atomic_load_n(&other.arg, __ATOMIC_SEQ_CST) == 0)
		;
	for (unsigned i = 0; i < 3; i++)
		if (!within(2000, has_handed_over))
			return 2;

	before = handed;
	in_section = true;
	sc->nopreempt = 1;
	if (!within(2000, is_to_yield) || handed != before)
		return 3;
	in_section = false;
	sc->nopreempt = 0;
	__sys_lwp_yield();
	if (handed != before + 1 || sc->yield)
		return 4;

	over = true;
	__sys_lwp_wait(other.id, NULL);
	return within(1000, has_handed_over) ? 5 : 0;
}

static int process(void)
{
	pid_t pid;
	int r;

	if (!bind_to(0) || (pid = fork()) < 0)
		return 94;
	while (pid == 0)
		;
	sc = (struct schedctl *)__sys_lwp_schedctl();
	r = phases();
	kill(pid, SIGKILL);
	return r;
}

int main(void)
{
	is("an activation hands its thread over before it is preempted", status_of(child(process)),
	   0);
	return tap_done();
}
