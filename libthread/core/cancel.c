/*
 * cancel.c - cancellation (POSIX, 2.9.5): pthread_cancel, what a thread allows, cleanup handlers.
 *
 * A cancelled thread exits by itself.  pthread_cancel sets `pending`, and makes sure that the
 * thread looks.  The look does not return: the thread exits there, if
 *
 *	pending is set, it has not disabled cancellation, and it holds none of newlib's locks,
 *
 * which is one comparison (cancel == CANCEL_DUE).  A thread looks
 *
 *  - in pthread_testcancel;
 *  - before and after a system call that is a cancellation point (point.S);
 *  - in waits of the library that are cancellation points, before it sleeps and when it is woken
 *    (model.h: block).  These are the waits in the sleep queues of the first table (sleepq.h):
 *    those of condition variables, semaphores and pthread_join.
 *
 * stdio has no cancellation points, because its streams would stay locked.
 *
 * *Race:* the thread looks at `pending`, pthread_cancel sets it, and then the thread sleeps;
 * *without this:* the thread sleeps on and is never cancelled; *closed by:* pthread_cancel, which
 * first sets `pending` and then
 *
 *  - lets the model end the wait (ops->cancel).  The model may look at the sleep queue under its
 *    lock; the thread looks at `pending` under that lock, after it has entered the queue.  Or the
 *    model gives the thread's LWP a permit, so that its next park returns; the thread looks before
 *    it parks.
 *  - lets the kernel end the system call on the thread's LWP, the present call or the next.  The
 *    thread looks before it makes the call, and the kernel looks before the LWP sleeps.  If a
 *    handler comes between the two and yields, an unbound thread may go on on another LWP, which
 *    the kernel was not told about.  So the kernel is told when the handler returns (__sig_entry).
 *
 * A thread may be woken by a signal of a condition variable, or by a post, at the same moment.
 * Then it has received the wake-up and does not exit in that wait, so no wake-up is lost.
 *
 * Asynchronous cancellation: SIGLWP makes the thread look wherever it is.  The handler of SIGLWP
 * does nothing while the thread stands in a sleep queue, or is about to wake others: then the
 * thread looks at its next cancellation point.  A wait for a lock or at a barrier ends as if it
 * were a cancellation point (cancel.h).  (POSIX lets a thread that allows asynchronous cancellation
 * use only three of the library's functions.)  A thread that no longer allows it looks once more.
 * So no SIGLWP comes to a thread that does not expect it, and interrupts its system call.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <weft/signal.h>
#include "ids.h"
#include "model.h"

extern const char __cancel_point_made[]; /* point.S */

/* --- acting -------------------------------------------------------------------------- */

/* From here on no cancellation point acts (held), whatever the handlers and destructors do. */
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

/*
 * A cancellation is due.  Does not return.  It is declared to return, so that a leaf function can
 * end in it and needs no frame.
 */
int __cancelled(void)
{
	pthread_exit(PTHREAD_CANCELED);
}

/*
 * Exits if a cancellation is due.
 *
 * *Race:* the caller has waited for signals, and has been woken for a signal of the process; an asynchronous cancellation
 * comes before it takes the signal; *without this:* the signal stays pending, although another thread would take it; *closed
 * by:* leave_signals, by which another thread is made to look.
 */
void pthread_testcancel(void)
{
	if (!cancel_due())
		return;
	if (waits_here(thread_self()))
		__ops->leave_signals(~0ul);
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
 * Cancels the thread.  The thread exits as soon as it allows that.  It exits at once if it is the
 * caller, and allows asynchronous cancellation.  Nothing happens if it has exited already.  ESRCH:
 * no such thread.
 */
int pthread_cancel(pthread_t thread)
{
	struct thread *self = thread_self(), *t;
	struct ilock *lock = id_lock(thread);
	int error = 0;

	ilock_lock(lock);
	t = id_find(thread);
	if (t == NULL) {
		error = ESRCH;
	} else if (!t->exited && !__atomic_exchange_n(&t->pending, true, __ATOMIC_SEQ_CST)) {
		__ops->cancel(t);
		if (t != self && __atomic_load_n(&t->cancel_async, __ATOMIC_SEQ_CST) &&
		    !__atomic_load_n(&t->disabled, __ATOMIC_RELAXED))
			__ops->kill(t, SIGLWP);
	}
	ilock_unlock(lock);
	if (t == self && self->cancel_async)
		pthread_testcancel();
	return error;
}

/* --- what a thread allows ------------------------------------------------------------ */

/* Cancellation is asynchronous and enabled, or was a moment ago: a SIGLWP may be on its way. */
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
		/*
		 * As if the interrupted code had called it, beyond its red zone: direction up, x87
		 * stack empty.
		 */
		uc->rip = (uint64_t)pthread_testcancel;
		uc->rsp = ((uc->rsp - 128) & -16ul) - 8;
		uc->rflags &= ~0x400ul;
		uc->fpu[4] = 0;
	}
	__sys_sigreturn(uc);
}

/* The handler does not yield, so the record of the mask (signal.c) does not change. */
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
