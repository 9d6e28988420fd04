/*
 * signal.c - signals of unbound threads, and the LWP that finds a thread for a signal of the
 * process.
 *
 * While a thread is on an LWP, its mask, alternate stack and pending signals are those of the LWP.
 * So the kernel delivers its signals, and sigpending and its relatives are the kernel's.  When the
 * thread leaves the LWP, it takes along what differs from what all threads have (struct thread,
 * carries and kept).  The LWP gets that of the thread that comes: __masks_move, part of the switch.
 * In model sa it gets the mask by a store to its record (core/signal.c).
 *
 * A signal for a thread (pthread_kill) is sent under _schedlock.  If the thread is on an LWP, the
 * signal goes to the LWP.  The thread cannot leave the LWP meanwhile.  When it leaves, it takes
 * back the signals that it has not handled (no handler is called in a critical section), so no
 * other thread gets them.  If the thread is on no LWP, the signal goes into sigkept.  If this
 * thread sleeps and does not block the signal, it is made to run (lwp_interrupt).  The handlers are
 * called as it comes onto an LWP, before wait_interrupted(), which lets it sleep again unless it
 * has been woken meanwhile.  All that time it keeps its place in its sleep queue.  A thread that is
 * about to sleep looks under the lock (__signals_due).
 *
 * For a signal of the process, the kernel chooses an LWP with a mask that lets the signal through,
 * that is, a thread that is on an LWP.  There may be no such LWP, and a thread on no LWP that would
 * take the signal.  Then the kernel unparks the ASLWP, the asynchronous-signal LWP of the Solaris
 * paper (p. 13).  The ASLWP looks through the threads.  It "asks the kernel to redirect the pending
 * signal" to an LWP if the chosen thread is on one by now, or it makes the thread come and look.
 * The signal stays pending for the process all the time, and any thread may take it.  The chosen
 * thread may block the signal at the last moment, or leave its LWP.  Then the kernel chooses again
 * (sig_hand_on in kernel/proc/signal.c) and may tell the ASLWP again.  If no thread takes the
 * signal, it waits for a thread that unblocks it.  Unlike the ASLWP of Solaris, this ASLWP is no
 * bottleneck for signals that a running thread can take.
 *
 * Model sa has no ASLWP: the kernel makes an LWP of the pool look (look.c).
 *
 * An LWP without a thread takes no signals (pool.c).
 *
 * Locks: __threads_lock, then _schedlock and the run_locks.
 */
#include <errno.h>
#include <signal.h>
#include "mxn.h"

/* --- the switch; with _schedlock, in a critical section -------------------------------------- */

/* Sets the mask of l, the calling LWP, without a system call if it can.  True: it could not. */
static inline bool mask_needs_call(struct ulwp *l, uint64_t mask)
{
	return !masks_published() || mask_publish(l->sc, mask) != 0;
}

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
	if (((carries & CARRIES_MASK) && mask_needs_call(l, t->sigmask)) || t->kept)
		__sys_sigprocmask(SIG_SETMASK, &t->sigmask, NULL);
	for (t->sigkept = 0; kept != 0; kept &= kept - 1)
		__sys_lwp_kill(l->id, __builtin_ctzl(kept) + 1);
}

/* Moves what is pending for self alone from its LWP to sigkept. */
static void take_back(struct thread *self)
{
	self->sigkept |= __sys_lwp_sigtake();
	self->kept = self->sigkept != 0;
}

/* local_context (local.h) does this for a plain thread and its context, with the run_lock. */
void __masks_move(struct thread *from, struct thread *to)
{
	struct ulwp *l = from->lwp;

	if (from->kept)
		take_back(from);
	if (to == context_of(from)) { /* mask and stack stay; no thread uses them */
		to->sigmask = from->sigmask;
		to->carries = from->carries;
		l->sc->idle = 1;
		return;
	}
	if (from == context_of(from)) {
		/*
		 * *Race:* the LWP gets a thread that blocks a signal, and a sender looks at the LWP; *without
		 * this:* the sender finds the mask of an earlier thread and an LWP that is not idle, and the
		 * default action ends the process; *closed by:* the mask is stored before `idle`.
		 */
		if ((from->carries | to->carries) & CARRIES_MASK) {
			if (masks_published())
				__atomic_store_n(&l->sc->mask, to->sigmask, __ATOMIC_RELEASE);
			else
				__sys_sigprocmask(SIG_SETMASK, &to->sigmask, NULL);
		}
		__atomic_store_n(&l->sc->idle, 0, __ATOMIC_RELEASE);
	}
	if (from->carries | to->carries | to->kept)
		mask_arrive(to, l, from->carries | to->carries);
}

/* --- a thread that sleeps, or is about to ---------------------------------------------------- */

/* The caller stands in its queue, or has been woken.  It has taken its signals. */
static const void *sleep_on(deadline_t deadline)
{
	struct thread *self = thread_self();
	const void *obj;

	schedlock();
	self->apart = APART_NOT;
	obj = __block_special(self, deadline, NULL);
	if (obj != NULL && ends_in_sleep(self)) /* its caller must not see a wake-up */
		__cancelled();
	return obj;
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

const void *__signals_first(deadline_t deadline, struct thread *wake)
{
	struct thread *self = thread_self();
	uint32_t unpark = wake != NULL ? __release(wake) : 0;
	bool ends = self->wchan == &self->sigmask;

	if (ends) {
		wait_queue_leave(self);
		self->wchan = NULL;
	}
	mask_arrive(self, self->lwp, 0);
	if (unpark != 0)
		__sys_lwp_unpark(unpark);
	schedunlock(); /* here the handlers are called */
	return ends ? NULL : sleep_on(deadline);
}

/* Makes t, which is Blocked, take signals.  Returns an LWP to unpark, or 0. */
static uint32_t lwp_interrupt(struct thread *t)
{
	if (t->wchan == &t->sigmask) {
		wait_queue_leave(t);
		return __release(t);
	}
	if (t->wchan == &__sleepq_taken) /* its waker makes it run */
		return 0;
	if (t->to_armed)
		__timeout_cancel(t);
	else
		t->deadline = NEVER;
	__mxn_call_first(t, wait_interrupted);
	if (t->suspended) {
		t->state = TS_STOPPED;
		PROBE(thread_state, "thread state", t, TS_STOPPED, 0);
		return 0;
	}
	return __make_runnable(t);
}

/*
 * Makes t, which is on no LWP, look for signals when it is on one.  open: t does not block one of
 * them or waits for it, so t is to look soon.  Returns an LWP to unpark, or 0.
 */
static uint32_t make_look(struct thread *t, bool open)
{
	t->kept = true;
	if (__runq_local && t->state == TS_RUNQUEUE && t->pri == 0) {
		/* It leaves a list of plain threads (local.c). */
		__runq_remove(t);
		runq_push(t);
	}
	if (__runq_local)
		__lone_settle(t);
	return open && t->state == TS_BLOCKED ? lwp_interrupt(t) : 0;
}

uint32_t __signals_interrupt(struct thread *t)
{
	return lwp_interrupt(t);
}

uint32_t __signals_make_look(struct thread *t)
{
	return make_look(t, true);
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
	local_freeze();
	if (t->lwp != &__nowhere) {
		t->kept = true;
		error = -__sys_lwp_kill(t->lwp->id, sig);
	} else if (sig != 0) {
		t->sigkept |= bit;
		unpark = make_look(t, !(t->sigmask & bit) || (signals_awaited(t) & bit));
	}
	local_thaw();
	schedunlock();
	if (unpark != 0)
		__sys_lwp_unpark(unpark);
	return error;
}

/* --- waiting for signals --------------------------------------------------------------------- */

unsigned __signal_waiters;

/*
 * A thread that waits for signals stands in the queue of its own mask.  wait_arg points to the set
 * for which it waits.  The sender of such a signal takes the thread out of the queue
 * (lwp_interrupt), and the thread looks.
 *
 * *Race:* the caller is about to sleep, and the kernel sends a signal of `set` to the process;
 * *without this:* the caller sleeps although the signal is pending; *closed by:* the kernel first
 * makes the signal pending and then tells the ASLWP (in sa, an LWP of the pool), which looks at the
 * threads under the lock.  If the ASLWP has the lock first, the caller finds the signal pending.
 * Otherwise the ASLWP finds the caller asleep.
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
		wait_queue_enter(q, &self->sigmask, self);
		self->wait_arg = &set;
		__atomic_fetch_add(&__signal_waiters, 1, __ATOMIC_RELAXED);
		in_vain = __mxn_block(q, deadline, NULL);
		__atomic_fetch_sub(&__signal_waiters, 1, __ATOMIC_RELAXED);
	}
	return in_vain == NULL || cancel_due();
}

/*
 * *Race:* the ASLWP wakes the caller for a signal and looks for no other thread; the caller takes
 * another signal, which was sent to the caller itself.  *Without this:* the first signal stays
 * pending although another thread waits for it; *closed by:* the caller makes the ASLWP look again.
 */
void __mxn_leave_signals(uint64_t set)
{
	uint64_t pending;

	__sys_sigpending(&pending);
	if (pending & set)
		__aslwp_poke();
}

uint64_t __signals_left;

/*
 * A thread has been suspended, or goes on.  Called with no lock held.
 *
 * *Race:* a thread that is on no LWP has been made to look for a signal of the process, and no other thread has; it is
 * suspended before it looks; *without this:* the signal stays pending although another thread would take it; *closed by:*
 * the look for a thread begins again, behind the hold of _schedlock in which the thread became suspended.
 *
 * The caller is not suspended, and runs no handler, between the exchange and the look, because that is a critical section.
 */
void __mxn_signals_again(void)
{
	if (__atomic_load_n(&__signals_left, __ATOMIC_RELAXED) == 0)
		return;
	critical_enter();
	__ops->leave_signals(__atomic_exchange_n(&__signals_left, 0, __ATOMIC_RELAXED));
	critical_exit();
}

/* --- the ASLWP ------------------------------------------------------------------------------- */

/*
 * Can t take sig, which is pending for the process?  If t is on no LWP it is made to look, and
 * *unpark may get an LWP.
 */
static bool thread_takes_signal(struct thread *t, int sig, uint32_t *unpark)
{
	if ((t->sigmask & WEFT_SIGBIT(sig)) || t->exited)
		return false;
	if (t->suspended) {
		signals_left(WEFT_SIGBIT(sig));
		return false;
	}
	if (t->lwp != &__nowhere)
		return t->lwp->id != 0 && __sys_sig_redirect(t->lwp->id, sig) >= 0;
	if (t->bound)
		return false;
	if (__sys_sig_redirect(0, sig) == 0) /* otherwise the default action was enough */
		*unpark = make_look(t, true);
	return true;
}

/*
 * Makes all threads that wait for the signal look, because it may be queued several times.  Returns
 * whether there is such a thread.
 */
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

/* Finds a thread for sig.  If no thread may take the signal, it stays pending. */
static void find_taker(int sig)
{
	uint32_t unpark = 0;
	struct thread *t;

	ilock_lock(&__threads_lock);
	schedlock();
	local_freeze();
	t = __thread_list;
	if (!wake_waiters(WEFT_SIGBIT(sig)))
		while (!thread_takes_signal(t, sig, &unpark) && t->list_next != __thread_list)
			t = t->list_next;
	local_thaw();
	schedunlock();
	ilock_unlock(&__threads_lock);
	if (unpark != 0)
		__sys_lwp_unpark(unpark);
}

/* The ASLWP's own mask is full, so sigpending returns all that is pending. */
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
