/*
 * signal.c - signals of unbound threads, and the LWP that finds a thread for those of the process.
 *
 * A thread's mask, alternate stack and pending signals are its LWP's while it is on one, so that
 * the kernel delivers what is for it, and sigpending and the rest are the kernel's.
 * When it leaves the LWP it takes along what differs from what all have (struct thread, carries
 * and kept), and the LWP gets that of the thread that comes: __masks_move, part of the switch.
 *
 * For a thread (pthread_kill).  Sent under _schedlock: to the LWP, if the thread is on one; it
 * cannot leave that meanwhile, and when it does, it takes back what it has not come to see (in a
 * critical section no handler is called), so no other thread gets it.  Otherwise into sigkept; if
 * it is asleep and does not block the signal, it is made to run (interrupt): the handlers
 * are called as it comes onto an LWP, before wait_interrupted(), which puts it to sleep again unless it
 * has been woken meanwhile.  All that time it stands in its sleep queue, in its place.  A thread
 * that is about to sleep looks under the lock (__signals_due).
 *
 * For the process.  The kernel chooses an LWP whose mask lets the signal through, which is
 * to say a thread that is on one.  When there is none, but maybe a thread that is on no LWP, it
 * unparks the ASLWP, the asynchronous-signal LWP of the Solaris paper (p. 13): that looks through
 * the threads, and either "asks the kernel to redirect the pending signal" to an LWP that has one
 * by now, or makes the thread come and look.  The signal stays pending for the process all the
 * time, and it does not matter who takes it.  If the chosen thread blocks it in the last moment or
 * leaves its LWP, the kernel chooses anew (sig_hand_on in kernel/proc/signal.c) and may tell the
 * ASLWP again; if no thread takes it, it waits for one that unblocks it.  Unlike Solaris's, this
 * ASLWP is no bottleneck for signals that a running thread can take.
 *
 * An LWP without a thread takes no signals (pool.c).
 *
 * Locks: __threads_lock, then _schedlock.
 */
#include <errno.h>
#include <signal.h>
#include "mxn.h"

/* --- the switch; with _schedlock, in a critical section ------------------------------------ */

/* t's mask, stack and signals become those of l, the calling LWP. */
static void mask_arrive(struct thread *t, struct ulwp *l, uint8_t carries)
{
	uint64_t kept = t->sigkept;

	if (carries & CARRIES_STACK) {
		struct weft_stack s = {.flags = WEFT_SS_DISABLE};

		if (t->carries & CARRIES_STACK)
			s = t->altstack;
		s.flags |= WEFT_SS_LEAVING;
		__sys_sigaltstack(&s, NULL);
	}
	if ((carries & CARRIES_MASK) || t->kept)
		__sys_sigprocmask(SIG_SETMASK, &t->sigmask, NULL);
	for (t->sigkept = 0; kept != 0; kept &= kept - 1)
		__sys_lwp_kill(l->id, __builtin_ctzl(kept) + 1);
}

/* What is pending for self alone comes from its LWP to sigkept. */
static void take_back(struct thread *self)
{
	self->sigkept |= __sys_lwp_sigtake();
	self->kept = self->sigkept != 0;
}

void __masks_move(struct thread *from, struct thread *to)
{
	struct ulwp *l = from->lwp;

	if (from->kept)
		take_back(from);
	if (to == context_of(from)) { /* mask and stack stay, for nobody */
		to->sigmask = from->sigmask;
		to->carries = from->carries;
		l->sc->idle = 1;
		return;
	}
	if (from == context_of(from)) {
		/* What the thread blocks must not find the LWP first: it could end the process. */
		if ((from->carries | to->carries) & CARRIES_MASK)
			__sys_sigprocmask(SIG_SETMASK, &to->sigmask, NULL);
		l->sc->idle = 0;
	}
	if (from->carries | to->carries | to->kept)
		mask_arrive(to, l, from->carries | to->carries);
}

/* --- a thread that sleeps, or is about to ---------------------------------------------------- */

/* The caller stands in its queue, or has been woken, and has taken its signals. */
static const void *sleep_on(deadline_t deadline)
{
	struct thread *self = thread_self();
	const void *obj;

	schedlock();
	obj = __block_special(self, deadline, NULL);
	if (obj != NULL && ends_in_sleep(self)) /* whose caller would take it for a wake-up */
		__cancelled();
	return obj;
}

/* Signals that t waits for, asleep or about to be: those of await_signal. */
static uint64_t signals_awaited(const struct thread *t)
{
	return t->wchan == &t->sigmask ? *(const uint64_t *)t->wait_arg : 0;
}

static const void *wait_interrupted(void)
{
	return sleep_on(thread_self()->deadline);
}

bool __signals_due(struct thread *self)
{
	take_back(self);
	return (self->sigkept & ~self->sigmask) != 0;
}

const void *__signals_first(deadline_t deadline)
{
	struct thread *self = thread_self();
	bool ends = self->wchan == &self->sigmask;

	if (ends) {
		__sleepq_remove(self->q, self);
		self->wchan = NULL;
	}
	mask_arrive(self, self->lwp, 0);
	schedunlock(); /* here the handlers are called */
	return ends ? NULL : sleep_on(deadline);
}

/* t, which is Blocked, is to take signals.  Returns an LWP to unpark, or 0. */
static uint32_t lwp_interrupt(struct thread *t)
{
	if (t->wchan == &t->sigmask) {
		__sleepq_remove(t->q, t);
		return __release(t);
	}
	if (t->to_armed)
		__timeout_cancel(t);
	else
		t->deadline = NEVER;
	__mxn_call_first(t, wait_interrupted);
	if (t->suspended) {
		t->state = TS_STOPPED;
		return 0;
	}
	return __make_runnable(t);
}

/* t, which is on no LWP, is to look for signals when it is on one; soon, if one is open to it. */
static uint32_t make_look(struct thread *t, bool open)
{
	t->kept = true;
	return open && t->state == TS_BLOCKED ? lwp_interrupt(t) : 0;
}

/* 0; EAGAIN: the thread's LWP has not begun. */
int __mxn_kill(struct thread *t, int sig)
{
	uint64_t bit = sig != 0 ? WEFT_SIGBIT(sig) : 0;
	uint32_t unpark = 0;
	int error = 0;

	if (t->bound)
		return t->lwp->id != 0 ? -__sys_lwp_kill(t->lwp->id, sig) : EAGAIN;
	schedlock();
	if (t->lwp != &__nowhere) {
		t->kept = true;
		error = -__sys_lwp_kill(t->lwp->id, sig);
	} else if (sig != 0) {
		t->sigkept |= bit;
		unpark = make_look(t, !(t->sigmask & bit) || (signals_awaited(t) & bit));
	}
	schedunlock();
	if (unpark != 0)
		__sys_lwp_unpark(unpark);
	return error;
}

/* --- waiting for signals ----------------------------------------------------------------------- */

/*
 * A thread that waits for signals stands in the queue of its own mask; wait_arg points to those
 * that it waits for.  Whoever has one for it takes it out of there (interrupt), and it looks.
 *
 * None is slept on: the kernel first has a signal of the process pending, then tells the ASLWP,
 * which looks at the threads under the lock.  If that is before this one has the lock, this one
 * finds the signal pending; else the ASLWP finds this one asleep.
 */
bool __mxn_await_signal(uint64_t set, deadline_t deadline)
{
	struct thread *self = thread_self();
	struct sleepq *q = sleepq_of_point(&self->sigmask);
	const void *in_vain = NULL;
	uint64_t pending;

	schedlock();
	__sys_sigpending(&pending);
	if (self->caught || (pending & set)) {
		schedunlock();
	} else {
		sleepq_enter(q, &self->sigmask, self, ORDER_FIFO);
		self->wait_arg = &set;
		in_vain = __mxn_block(q, deadline, NULL);
	}
	return in_vain == NULL || cancel_due();
}

/*
 * The ASLWP may have woken the caller for one of them, and looked no further: but the caller was
 * sent another one itself, and takes that.
 */
void __mxn_leave_signals(uint64_t set)
{
	uint64_t pending;

	__sys_sigpending(&pending);
	if (pending & set)
		__aslwp_poke();
}

/* --- the ASLWP --------------------------------------------------------------------------------- */

/*
 * Is t one to take sig, which is pending for the process?  If it is on no LWP it is made to look,
 * and *unpark may get an LWP.
 */
static bool thread_takes_signal(struct thread *t, int sig, uint32_t *unpark)
{
	if ((t->sigmask & WEFT_SIGBIT(sig)) || t->exited || t->suspended)
		return false;
	if (t->lwp != &__nowhere)
		return t->lwp->id != 0 && __sys_sig_redirect(t->lwp->id, sig) >= 0;
	if (t->bound)
		return false;
	if (__sys_sig_redirect(0, sig) == 0) /* else the default action was all */
		*unpark = make_look(t, true);
	return true;
}

/* All that wait for it are to look, since it may be queued several times.  Is there one? */
static bool wake_waiters(uint64_t bit)
{
	struct thread *t = __thread_list;
	bool found = false;
	uint32_t unpark;

	do {
		if (t->state == TS_BLOCKED && (signals_awaited(t) & bit)) {
			found |= !t->suspended;
			unpark = lwp_interrupt(t);
			if (unpark != 0)
				__sys_lwp_unpark(unpark);
		}
		t = t->list_next;
	} while (t != __thread_list);
	return found;
}

/* Nobody may take it: then it stays where it is. */
static void find_taker(int sig)
{
	uint32_t unpark = 0;
	struct thread *t;

	ilock_lock(&__threads_lock);
	schedlock();
	t = __thread_list;
	if (!wake_waiters(WEFT_SIGBIT(sig)))
		while (!thread_takes_signal(t, sig, &unpark) && t->list_next != __thread_list)
			t = t->list_next;
	schedunlock();
	ilock_unlock(&__threads_lock);
	if (unpark != 0)
		__sys_lwp_unpark(unpark);
}

/* Its own mask is full, so that what the kernel calls pending is all there is. */
void __aslwp_main(struct thread *self)
{
	uint64_t pending;

	__sys_sig_aslwp();
	for (;;) {
		__lwp_park(NEVER, 0);
		__sys_sigpending(&pending);
		for (pending &= ~WEFT_SIGBIT(WEFT_SIGWAITING); pending != 0; pending &= pending - 1)
			find_taker(__builtin_ctzl(pending) + 1);
	}
}
