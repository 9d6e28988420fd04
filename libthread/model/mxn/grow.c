/*
 * grow.c - the model's LWPs of its own, one of which makes the pool grow.
 *
 * "When the kernel realizes that all of a process's LWPs are blocked at the kernel-level, it drops
 * a SIGWAITING on the process" (the ThreadMon paper, 3.3), and the library adds an LWP if there
 * is a thread to run on it.  From Solaris 2.6 on the kernel calls into the library instead: one LWP
 * waits for this call in upcall_wait (waiting=upcall).  Before, one LWP waited for the signal
 * (waiting=signal).  The signal is for waits without a deadline only, as in Solaris 2.5.  The call
 * also comes when all LWPs wait in the kernel and some wait with a deadline.  With waiting=none
 * there is no such LWP, and the pool grows only if asked to.
 *
 * The growing LWP adds one LWP at a time.  If the new LWP blocks too, the kernel says so again.  If
 * no LWP can be created, the growing LWP tries again with each tick, because the kernel says no
 * more as long as nothing changes in this process.  Nothing is lost if a thread becomes runnable
 * when all other LWPs are blocked already.  The LWP that made it runnable was not blocked, and the
 * kernel reports when that LWP blocks.
 *
 * The other LWPs are the ASLWP (signal.c) and the reaper of detached threads.  So a program that
 * links the library has four LWPs, with the first thread's, as the Solaris paper lists them (p.
 * 16).  They are started with the process.  In a child of fork, and in n1, which has only the
 * ASLWP, they are started with the first thread that is created, or when an LWP goes idle for the
 * first time.
 */
#include <errno.h>
#include <signal.h>
#include <weft/lwp.h>
#include <weft/signal.h>
#include "mxn.h"

static struct ilock services_lock; /* held while LWPs are started */

static void __attribute__((noreturn)) grow_main(struct thread *self)
{
	const uint64_t waiting = WEFT_SIGBIT(WEFT_SIGWAITING);
	const struct weft_timespec tick = {.nsec = WEFT_TICK_NS};
	bool upcall = __options.waiting == WAITING_UPCALL;
	long r;

	do {
		r = upcall ? __sys_upcall_wait(UPCALL_BLOCKED | UPCALL_TIMED)
			   : __sys_sigtimedwait(&waiting, NULL, NULL);
		while (r > 0 && !__pool_grow())
			__sys_lwp_sleep(WEFT_CLOCK_MONOTONIC, 0, &tick);
	} while (r > 0 || r == -EINTR);
	/* The program has an LWP of its own for this; this LWP is not needed. */
	for (;;)
		__lwp_park(NEVER, 0);
}

/* Frees the stacks of detached threads.  The stacks of other threads are freed by their joiners. */
static void __attribute__((noreturn)) reaper_main(struct thread *self)
{
	for (;;) {
		__stacks_trim();
		__lwp_park(NEVER, 0);
	}
}

static struct thread *grower, *aslwp, *reaper; /* written with services_lock */

static bool grow_started(struct thread **context, void (*entry)(struct thread *), const char *name)
{
	return *context != NULL || __service_start(entry, name, context) == 0;
}

/*
 * If an LWP cannot be started, it is not missed until it is needed.  The next thread that creates a
 * thread, or an LWP that goes idle, tries again.
 */
void __services_start(void)
{
	bool all;

	ilock_lock(&services_lock);
	if (!__pool_ready) {
		all = grow_started(&aslwp, __aslwp_main, "aslwp");
		if (__model->scope == SCOPE_EITHER)
			all &= grow_started(&reaper, reaper_main, "reaper");
		if (__options.waiting != WAITING_NONE)
			all &= grow_started(&grower, grow_main,
					    __options.waiting == WAITING_UPCALL ? "upcall"
										: "sigwaiting");
		__pool_ready = all;
	}
	ilock_unlock(&services_lock);
}

/* Makes the ASLWP look at what is pending. */
void __aslwp_poke(void)
{
	__service_poke(__atomic_load_n(&aslwp, __ATOMIC_ACQUIRE));
}

void __services_forked(void)
{
	services_lock.held = 0;
	__service_forgotten(grower);
	__service_forgotten(aslwp);
	__service_forgotten(reaper);
	grower = aslwp = reaper = NULL;
	__pool_ready = false;
}

void __reap(void)
{
	if (__atomic_load_n(&reaper, __ATOMIC_ACQUIRE) != NULL)
		__service_poke(reaper);
	else
		__stacks_trim();
}
