/*
 * grow.c - LWPs of the library's own, and the one that sees to it that the pool grows.
 *
 * "When the kernel realizes that all of a process's LWPs are blocked at the kernel-level, it drops
 * a SIGWAITING on the process" (the ThreadMon paper, 3.2.2), and the library adds an LWP if there
 * is a thread to run on it.  From Solaris 2.6 on the kernel calls into the library instead: one LWP
 * waits for that call, in upcall_wait (waiting=upcall); before, one waited for the signal
 * (waiting=signal).  With waiting=none there is no such LWP, and the pool grows only if asked to.
 *
 * The LWP is started with the first unbound thread that is created: before, there is nothing to run
 * on another one.  It adds one LWP at a time; if that one blocks too, the kernel says so again.
 * Nothing is lost if a thread becomes runnable when all others are blocked already: whoever made
 * it so was not blocked, and is reported when he is.
 */
#include <errno.h>
#include <signal.h>
#include <weft/signal.h>
#include "mxn.h"

#define SERVICE_STACK 16384

static struct ilock grow_lock; /* while the LWP is started */

/*
 * Starts an LWP at entry(context).  It is no thread of the program, so it blocks all signals, from
 * its first instruction on (its creator's mask): no handler may run on it.  0, EAGAIN, ENOMEM.
 */
int __service_start(void (*entry)(struct thread *), struct thread **context)
{
	const uint64_t all = ~0ul;
	struct thread *t = __thread_get(SERVICE_STACK, WEFT_PAGE_SIZE, NULL);
	uint64_t before;
	int error;

	if (t == NULL)
		return ENOMEM;
	t->self = t;
	t->reent = NULL;
	t->lwp = &t->own_lwp;
	t->state = TS_ONLWP;
	t->special = 0;
	t->bound = true;
	t->exited = false;
	t->cancel_all = 0;
	t->on_stack = 1;
	save_fp_control(&t->fp_control);
	__sys_sigprocmask(SIG_SETMASK, &all, &before);
	error = __lwp_start(t, entry, false);
	__sys_sigprocmask(SIG_SETMASK, &before, NULL);
	if (error == 0) {
		*context = t;
		return 0;
	}
	ilock_lock(&__threads_lock);
	t->on_stack = 0;
	__thread_put(t);
	ilock_unlock(&__threads_lock);
	return error;
}

static void __attribute__((noreturn)) grow_main(struct thread *self)
{
	const uint64_t waiting = WEFT_SIGBIT(WEFT_SIGWAITING);
	long r;

	do {
		if (__options.waiting == WAITING_UPCALL)
			r = __sys_upcall_wait(UPCALL_BLOCKED);
		else
			r = __sys_sigtimedwait(&waiting, NULL, NULL);
		if (r > 0)
			__pool_grow();
	} while (r > 0 || r == -EINTR);
	/* The program has an LWP of its own for this. */
	critical_enter();
	ilock_lock(&__threads_lock);
	__thread_put(self);
	ilock_unlock(&__threads_lock);
	__lwp_leave(self);
}

/* Without an LWP for it the pool does not grow; the next that creates a thread tries again. */
void __grow_start(void)
{
	struct thread *context;

	ilock_lock(&grow_lock);
	if (!__pool_ready)
		__pool_ready = __options.waiting == WAITING_NONE ||
			       __service_start(grow_main, &context) == 0;
	ilock_unlock(&grow_lock);
}

/* The child has no such LWP until it needs one. */
void __grow_forked(void)
{
	grow_lock.held = 0;
	__pool_ready = false;
}
