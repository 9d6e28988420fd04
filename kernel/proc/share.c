/*
 * share.c - the CPU time of a process by its threads that can run, not by its LWPs.
 *
 * In time-share LWPs of one level take turns, a slice each.  A process with activations has at most as many LWPs
 * that run as CPUs, whatever the number of its threads (activation.c).  So an LWP of it gets T/n slices in
 * a turn, before the next LWP of its level has one: n is the number of LWPs that run, and T the number of threads
 * that can run: these n, and those that wait for an LWP, as the library says (slices.c).  The fraction is
 * carried over to the next turn.
 *
 * The bound: while T and n stay the same, an LWP has in any k turns k T/n slices, to within one.  An LWP
 * of a single thread then has one slice in n/T of the turns of such an LWP on its CPU, as it would have
 * among T/n LWPs.  What remains is that LWPs are whole: with more CPUs than one, a CPU may have an LWP
 * more than another.
 *
 * T is some slices old: the library counts at the end of a slice, and the kernel reads at the next.  Whenever
 * an LWP is idle, no thread waits, and each LWP has a slice a turn.
 *
 * A program that writes a number of its own gets a larger share, as it does with more LWPs: at most
 * SHARE_MOST times the slices of another LWP, as with so many LWPs on each CPU.
 */
#include <kern/lwp.h>
#include <kern/proc.h>
#include <kern/sched.h>
#include <kern/timing.h>
#include <kern/upcall.h>

#define SHARE_ONE 256 /* l->owed for a slice */
#define SHARE_MOST 64
#define SHARE_LASTS 2000000000ull /* ns: longer than an LWP waits for its turn */

hrtime_t share_until;

/* The slices of a turn of an LWP of p, less one. */
static int share_more(const struct proc_upcalls *up)
{
	int running = __atomic_load_n(&up->active, __ATOMIC_RELAXED);
	int waiting = __atomic_load_n(&up->waiting, __ATOMIC_RELAXED);

	if (up->cpus == 0 || running <= 0 || __atomic_load_n(&up->idle, __ATOMIC_RELAXED) != 0)
		return 0;
	return MIN(waiting * SHARE_ONE / running, (SHARE_MOST - 1) * SHARE_ONE);
}

bool share_goes_on(struct lwp *l)
{
	int more = l->sclass->another != NULL ? share_more(&l->proc->up) : 0;

	l->others = (more + SHARE_ONE / 2) / SHARE_ONE;
	if (more != 0)
		__atomic_store_n(&share_until, time_now() + SHARE_LASTS, __ATOMIC_RELAXED);

	if (more == 0) {
		l->owed = 0;
	} else if (!l->in_turn) {
		l->owed += more;
		l->shared = l->owed >= SHARE_ONE;
	}
	l->in_turn = l->owed >= SHARE_ONE;
	if (!l->in_turn) {
		l->shared &= more != 0;
		return false;
	}
	l->owed -= SHARE_ONE;
	l->sclass->another(l, sched_slice(l));
	return true;
}
