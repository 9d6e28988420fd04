/*
 * look.c - model sa: a thread for the signals of the process that no LWP takes.
 *
 * The kernel knows the mask of each thread that is on an LWP, and chooses an LWP for a signal by these masks.  If each
 * of them blocks the signal, a thread on no LWP may take it.  mxn has the ASLWP to look for this thread (signal.c).  sa
 * has no such LWP: the kernel tells an LWP of the pool, in the LWP's record (weft/schedctl.h: look), and wakes it.  The
 * LWP looks when it runs no thread (activation.c), so it holds no lock, and no thread has to wait in a handler.
 *
 * The signals stay pending for the process, as in mxn, and any thread may take them.  If the thread that is found
 * blocks its signal in the last moment, the kernel chooses again, and may tell the library again.
 *
 * Unlike the ASLWP, an LWP looks for all signals in one walk through the threads.  The walk begins with the thread that took the
 * last signal, and ends as soon as each signal has its taker.  So a signal costs the same, if the same thread takes it each time,
 * in a process with few threads and with many, unless another signal is pending that no thread takes.
 *
 * Locks: __threads_lock, then _schedlock, then all run_locks (local_freeze).  The list of threads stays the same under the
 * first, and no thread changes its LWP or its state under the others.  So the locks of ids (core/ids.h) are not needed.
 * A thread that has exited, or has no id yet, says so (exited).  A thread that exits meanwhile is on an LWP, and the
 * kernel chooses again if this LWP does not take the signal.
 */
#include "mxn.h"

static void unpark(uint32_t lwp)
{
	if (lwp != 0)
		__sys_lwp_unpark(lwp);
}

/*
 * Makes all threads that wait for signals of set look, because a signal may be queued several times.  Returns the
 * signals for which there is such a thread.
 */
static uint64_t waiters_wake(uint64_t set)
{
	struct thread *first = __last_taker, *t = first;
	unsigned left = __atomic_load_n(&__signal_waiters, __ATOMIC_RELAXED);
	uint64_t found = 0;

	for (; left > 0; t = t->list_next) {
		uint64_t waits_for = t->state == TS_BLOCKED ? signals_awaited(t) : 0;

		left -= waits_for != 0;
		if (waits_for & set) {
			if (!t->suspended) {
				found |= waits_for & set;
				__last_taker = t;
			}
			unpark(__signals_interrupt(t));
		}
		if (t->list_next == first)
			break;
	}
	return found;
}

/* Can t, which does not block sig, take it?  If t is on no LWP it is made to look. */
static bool thread_takes(struct thread *t, int sig)
{
	if (t->lwp != &__nowhere)
		return t->lwp->id != 0 && __sys_sig_redirect(t->lwp->id, sig) >= 0;
	if (t->bound)
		return false;
	if (__sys_sig_redirect(0, sig) == 0) /* otherwise the default action was enough */
		unpark(__signals_make_look(t));
	return true;
}

/* Finds threads for these signals.  A signal that no thread may take stays pending. */
static void find_takers(uint64_t set)
{
	struct thread *first, *t;
	uint64_t of_suspended = 0;

	ilock_lock(&__threads_lock);
	schedlock();
	local_freeze();
	set &= ~waiters_wake(set);
	t = first = __last_taker;
	do {
		uint64_t open = t->exited ? 0 : set & ~t->sigmask;

		if (t->suspended) {
			of_suspended |= open;
			open = 0;
		}
		for (; open != 0; open &= open - 1) {
			if (thread_takes(t, __builtin_ctzl(open) + 1)) {
				set &= ~(open & -open);
				__last_taker = t;
			}
		}
		t = t->list_next;
	} while (set != 0 && t != first);
	signals_left(set & of_suspended);
	local_thaw();
	schedunlock();
	ilock_unlock(&__threads_lock);
}

/*
 * *Race:* the LWP has taken the signals that the kernel has found, and the kernel finds another; *without this:* the
 * LWP looks for the first signals only, and the last one stays pending; *closed by:* `look` is cleared before the
 * signals are taken, and the kernel sets it after them.
 */
void __signals_look(struct schedctl *sc)
{
	uint64_t set;

	sc->look = 0;
	set = __atomic_exchange_n(&sc->signals, 0, __ATOMIC_SEQ_CST);
	if (set != 0)
		find_takers(set);
}

/* As __mxn_leave_signals.  The caller looks itself. */
void __signals_leave(uint64_t set)
{
	uint64_t pending;

	__sys_sigpending(&pending);
	if (pending & set)
		find_takers(pending & set);
}
