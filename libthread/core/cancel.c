/*
 * cancel.c - cancellation (POSIX, 2.9.5): pthread_cancel, what a thread allows, cleanup handlers.
 *
 * A thread is cancelled by its own hand: pthread_cancel sets `pending`, and sees to it that the
 * thread looks.  It does not return from where it looks, but exits, once
 *
 *	pending is set, it has not disabled cancellation, and holds none of newlib's locks,
 *
 * which is one comparison (cancel == CANCEL_DUE).  It looks in pthread_testcancel; before a
 * system call that is a point, and after it (point.S); and in waits of the library that are
 * points, before it sleeps and when it is woken (model.h: block).  These are the ones in the
 * sleep queues of the first table (sleepq.h), those of condition variables, semaphores and
 * pthread_join.  stdio is no point, as its streams would stay locked.
 *
 * No moment is left in which a thread goes to sleep and neither sees `pending` nor is woken.
 * pthread_cancel first sets it, then
 *
 *  - lets the model end the wait (ops->cancel).  It looks at the sleep queue with its lock, and
 *    the thread looks at `pending` with that lock, after it has entered the queue; or it gives
 *    the thread's LWP a permit, so that its next park returns, and it looks before it parks.
 *  - lets the kernel end the system call on the thread's LWP, the present one or the next: the
 *    thread looks before it makes the call, and the kernel before the LWP sleeps.  If a handler
 *    comes between the two and yields, an unbound thread may go on on another LWP, of which the
 *    kernel has not been told: so it is told when the handler returns (__sig_entry).
 *
 * A thread that is woken by a signal of a condition variable or a post in the same moment has
 * got it, and does not exit in that wait, so none of them is lost.
 *
 * Asynchronous: SIGLWP makes the thread look wherever it is.  Its handler does nothing while the
 * thread stands in a sleep queue, or is about to wake others: then the next point counts.  A wait
 * for a lock or at a barrier ends as if it were a point (cancel.h).  (Of the library's functions
 * POSIX lets a thread that allows that use only three.)  Whoever
 * takes the permission back looks once more; so no SIGLWP comes for a thread that does
 * not expect it and interrupts its system call.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <weft/signal.h>
#include "core.h"
#include "model.h"

extern const char __cancel_point_made[]; /* point.S */

/* --- acting -------------------------------------------------------------------------- */

/* From here on no point acts (held), whatever the handlers and destructors do. */
void pthread_exit(void *status)
{
	struct thread *self = thread_self();

	self->held++;
	while (self->cleanup != NULL) {
		struct __pthread_cleanup *c = self->cleanup;

		self->cleanup = c->__next;
		c->__routine(c->__arg);
	}
	__thread_exit(status);
}

/* It is due.  Does not return; declared so that a leaf can end in it, and needs no frame. */
int __cancelled(void)
{
	pthread_exit(PTHREAD_CANCELED);
}

/* Exits if a cancellation is due. */
void pthread_testcancel(void)
{
	if (cancel_due())
		pthread_exit(PTHREAD_CANCELED);
}

void __pthread_cleanup_push(struct __pthread_cleanup *c)
{
	struct thread *self = thread_self();

	c->__next = self->cleanup;
	self->cleanup = c;
}

void __pthread_cleanup_pop(struct __pthread_cleanup *c, int execute)
{
	thread_self()->cleanup = c->__next;
	if (execute)
		c->__routine(c->__arg);
}

/* --- asking -------------------------------------------------------------------------- */

void __cancel_call(uint32_t lwp, const struct thread *t)
{
	__sys_lwp_cancel(lwp, t->id, __cancel_point_made);
}

/*
 * The thread exits as soon as it allows that; at once if it is the caller, and allows that at
 * any time.  Nothing happens if it has exited already.  ESRCH: no such thread.
 */
int pthread_cancel(pthread_t thread)
{
	struct thread *self = thread_self(), *t;
	int error = 0;

	ilock_lock(&__threads_lock);
	t = __thread_find(thread);
	if (t == NULL) {
		error = ESRCH;
	} else if (!t->exited && !__atomic_exchange_n(&t->pending, true, __ATOMIC_SEQ_CST)) {
		__ops->cancel(t);
		if (t != self && __atomic_load_n(&t->cancel_async, __ATOMIC_SEQ_CST) &&
		    !__atomic_load_n(&t->disabled, __ATOMIC_RELAXED))
			__ops->kill(t, SIGLWP);
	}
	ilock_unlock(&__threads_lock);
	if (t == self && self->cancel_async)
		pthread_testcancel();
	return error;
}

/* --- what a thread allows ------------------------------------------------------------ */

/* It is asynchronous, and enabled, or was a moment ago: a SIGLWP may be on its way. */
static void test_async(struct thread *self)
{
	if (self->pending && self->held == 0)
		pthread_exit(PTHREAD_CANCELED);
}

/* EINVAL: neither PTHREAD_CANCEL_ENABLE nor PTHREAD_CANCEL_DISABLE. */
int pthread_setcancelstate(int state, int *old)
{
	struct thread *self = thread_self();
	bool disable = state == PTHREAD_CANCEL_DISABLE, was;

	if (state != PTHREAD_CANCEL_ENABLE && state != PTHREAD_CANCEL_DISABLE)
		return EINVAL;
	was = __atomic_exchange_n(&self->disabled, disable, __ATOMIC_SEQ_CST);
	if (unlikely(self->cancel_async) && !(was && disable))
		test_async(self);
	if (old != NULL)
		*old = was ? PTHREAD_CANCEL_DISABLE : PTHREAD_CANCEL_ENABLE;
	return 0;
}

/* The handler of SIGLWP and of lwp_preempt, entered by the kernel instead of __sig_entry. */
static void cancel_look(int sig, struct weft_siginfo *info, struct weft_ucontext *uc,
			void (*handler)(int, struct weft_siginfo *, void *), uint64_t mask)
{
	struct thread *self = thread_self();

	if (info->code == WEFT_SI_PREEMPT)
		__preempt_entry(uc, mask);
	if (cancel_due() && self->cancel_async && !self->wait_async && self->wchan == NULL &&
	    self->no_suspend == 0) {
		if (self->lwp->owes != 0)
			__lwp_unpark_owed(self->lwp, self->lwp->owes);
		/* As if it had called, beyond its red zone: direction up, x87 stack empty. */
		uc->rip = (uint64_t)pthread_testcancel;
		uc->rsp = ((uc->rsp - 128) & -16ul) - 8;
		uc->rflags &= ~0x400ul;
		uc->fpu[4] = 0;
	}
	__sys_sigreturn(uc);
}

/* It does not yield by itself, so the books of masks (signal.c) need not know. */
void __siglwp_catch(void)
{
	static bool caught;
	const struct weft_sigaction act = {
		.handler = (uint64_t)cancel_look,
		.entry = (uint64_t)cancel_look,
		.mask = ~0ul,
		.flags = WEFT_SA_RESTART,
	};

	if (__atomic_load_n(&caught, __ATOMIC_RELAXED))
		return;
	__sys_sigaction(SIGLWP, &act, NULL);
	__atomic_store_n(&caught, true, __ATOMIC_RELAXED);
}

/* EINVAL: neither PTHREAD_CANCEL_DEFERRED nor PTHREAD_CANCEL_ASYNCHRONOUS. */
int pthread_setcanceltype(int type, int *old)
{
	struct thread *self = thread_self();
	bool async = type == PTHREAD_CANCEL_ASYNCHRONOUS, was;

	if (type != PTHREAD_CANCEL_DEFERRED && type != PTHREAD_CANCEL_ASYNCHRONOUS)
		return EINVAL;
	if (async) {
		__siglwp_catch();
		__atomic_store_n(&__options.sleep_special, true, __ATOMIC_RELAXED);
	}
	was = __atomic_exchange_n(&self->cancel_async, async, __ATOMIC_SEQ_CST);
	if ((was || async) && !self->disabled)
		test_async(self);
	if (old != NULL)
		*old = was ? PTHREAD_CANCEL_ASYNCHRONOUS : PTHREAD_CANCEL_DEFERRED;
	return 0;
}
