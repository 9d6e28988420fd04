/*
 * grow.c - growth of the pool without a request, and its end.
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
 * waiting=early is not of Solaris.  The call also comes when an LWP blocks and fewer LWPs than CPUs
 * are left (UPCALL_GROW).  The growing LWP then adds LWPs until each CPU has an LWP that is not
 * blocked, or no thread is left in the run queue.  A thread that becomes runnable later waits for
 * an LWP until one blocks, as with waiting=upcall.
 *
 * As in Solaris, an LWP that nobody has asked for ages, and exits when it has been idle for five
 * minutes (aging=SECONDS).
 */
#include <errno.h>
#include <weft/lwp.h>
#include <weft/signal.h>
#include "mxn.h"

/*
 * The caller holds _schedlock.  LWPs of the pool that are not blocked in the kernel, or have not
 * begun.  The kernel's records are a hint: an LWP may block or wake up meanwhile.
 */
static int pool_active(void)
{
	int active = __pool_size;

	for (struct thread *c = __pool_contexts; c != NULL; c = c->list_next)
		active -= c->own_lwp.sc->state == SC_SLEEPING;
	return active;
}

/*
 * The caller holds _schedlock.  Shall the pool have one more LWP?  all: every LWP of the process is
 * blocked.
 */
static bool pool_short(bool all)
{
	return __runq_top() >= 0 && __pool_size < __options.max_concurrency &&
	       (all || pool_active() < (int)__ncpu);
}

/*
 * LWPs are blocked: all of them, or so many that a CPU may be free.  Adds an LWP, if there is a
 * thread for it.  *more: it has.  False: the LWP could not be created.
 */
static bool pool_grow(bool all, bool *more)
{
	schedlock();
	*more = pool_short(all);
	__pool_size += *more;
	if (__pool_size > __pool_wanted)
		__pool_wanted = __pool_size;
	PROBE(pool_look, "grows size", *more, __pool_size, 0);
	schedunlock();
	if (!*more || __pool_add_lwp() == 0)
		return true;
	schedlock();
	if (__pool_wanted > __pool_asked)
		__pool_wanted--;
	schedunlock();
	return false;
}

/* Waits until LWPs are blocked.  Returns the events (UPCALL_*), or an error number below 0. */
static long blocked_wait(void)
{
	const uint64_t signal = WEFT_SIGBIT(WEFT_SIGWAITING);
	uint32_t early = __options.waiting == WAITING_EARLY ? UPCALL_GROW : 0;

	if (__options.waiting != WAITING_SIGNAL)
		return __sys_upcall_wait(UPCALL_BLOCKED | UPCALL_TIMED | early);
	long r = __sys_sigtimedwait(&signal, NULL, NULL);
	return r > 0 ? UPCALL_BLOCKED : r;
}

void __grow_main(struct thread *self)
{
	const struct weft_timespec tick = {.nsec = WEFT_TICK_NS};
	long r;

	do {
		bool more, all;

		r = blocked_wait();
		all = r > 0 && (r & UPCALL_BLOCKED);
		do {
			more = false;
			while (r > 0 && !pool_grow(all, &more))
				__sys_lwp_sleep(WEFT_CLOCK_MONOTONIC, 0, &tick);
			all = false; /* the new LWP is not blocked */
		} while (more && __options.waiting == WAITING_EARLY);
	} while (r > 0 || r == -EINTR);
	/* The program has an LWP of its own for this; this LWP is not needed. */
	for (;;)
		__lwp_park(NEVER, 0);
}

deadline_t __pool_aging(void)
{
	return __pool_size > __pool_asked ? gethrtime() + __options.aging * 1000000000ul : NEVER;
}

bool __pool_aged(void)
{
	if (__pool_size <= __pool_asked)
		return false;
	__pool_wanted--;
	return true;
}
