/*
 * report.c - the state of every LWP, and of the threads of a library on LWPs.  It is printed when
 * the machine is about to end, because no event can occur any more, or at the host's time limit.
 *
 * All other code is stopped.  No lock is acquired, because its owner may never release it.  So a
 * list may be in the middle of a change, and walks of threads are bounded.  The kernel finds
 * threads by weft/threadinfo.h, and begins with a thread that an LWP runs.  If no LWP of a process
 * runs a thread, only its LWPs are printed.
 */
#include <kern/printk.h>
#include <kern/proc.h>
#include <kern/space.h>
#include <weft/threadinfo.h>
#include "impl.h"

#define THREADS_MOST 100000 /* threads to look at; a longer ring is regarded as damaged */

/* The id of the thread that l runs, and its structure's address in *t; 0: none. */
static uint32_t thread_of(const struct lwp *l, uint64_t *t)
{
	struct address_space *as = l->proc->as;
	uint64_t self;
	uint32_t id;

	*t = l->fsbase;
	if (as == NULL || *t == 0 || !as_peek(as, *t, &self, sizeof(self)) || self != *t ||
	    !as_peek(as, *t + THREADINFO_ID, &id, sizeof(id)))
		return 0;
	return id;
}

/* Counts the threads in each state, in the ring that contains t.  False: it is not such a ring. */
static bool count_threads(struct address_space *as, uint64_t t, unsigned n[THREADINFO_STATES],
			  unsigned *unbound)
{
	uint64_t first = t;

	for (unsigned i = 0; i < THREADS_MOST; i++) {
		uint32_t state, id;
		uint8_t bound;

		if (!as_peek(as, t + THREADINFO_ID, &id, sizeof(id)) ||
		    !as_peek(as, t + THREADINFO_STATE, &state, sizeof(state)) ||
		    !as_peek(as, t + THREADINFO_BOUND, &bound, sizeof(bound)) ||
		    state >= THREADINFO_STATES || !as_peek(as, t + THREADINFO_NEXT, &t, sizeof(t)))
			return false;
		if (id != 0) {
			n[state]++;
			*unbound += !bound;
		}
		if (t == first)
			return true;
	}
	return false;
}

/* Does l sleep for a lock or another object of weft/ksync.h, which processes can share? */
static bool waits_for_shared(const struct lwp *l)
{
	static const char *const names[] = {"lwp_mutex", "lwp_cond", "lwp_sema", "lwp_rwlock",
					    "lwp_barrier"};

	for (unsigned i = 0; l->wchan != NULL && i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(l->wchan, names[i]) == 0)
			return true;
	return false;
}

/*
 * Prints why `runnable` unbound threads of p have no LWP.  Each LWP that runs an unbound thread is
 * in user mode, where the thread may wait in a loop for another thread.  Or the thread waits in the
 * kernel, and keeps the LWP.
 */
static void print_why(struct proc *p, unsigned runnable)
{
	bool loops = false, shared = false;

	LIST_FOREACH (&p->lwps, l, struct lwp, proc_link) {
		uint64_t t;
		uint8_t bound;
		uint32_t id = thread_of(l, &t);

		if (id == 0 || !as_peek(p->as, t + THREADINFO_BOUND, &bound, 1) || bound)
			continue;
		loops |= l->state != LWP_ST_SLEEP;
		shared |= waits_for_shared(l);
	}
	printk("    pid %d (%s): %u thread%s on the run queue, and no LWP to run %s.\n", p->pid,
	       p->name, runnable, runnable == 1 ? "" : "s", runnable == 1 ? "it" : "them");
	if (loops)
		printk("    If a thread on an LWP waits for one of these in a loop, it waits for "
		       "ever. LIBTHREAD_OPTIONS=concurrency=N\n"
		       "    or thr_setconcurrency(N) gives a process of model mxn N LWPs.\n");
	if (shared)
		printk("    A thread that waits for a process-shared object, a named semaphore or "
		       "a robust mutex waits in the kernel,\n"
		       "    and keeps its LWP. Model n1 has one LWP, so all other threads wait "
		       "with it.\n");
}

static void print_threads(struct proc *p)
{
	unsigned n[THREADINFO_STATES] = {0}, unbound = 0;
	uint64_t t;
	bool found = false;

	LIST_FOREACH (&p->lwps, l, struct lwp, proc_link) {
		found = thread_of(l, &t) != 0;
		if (found)
			break;
	}
	if (!found || !count_threads(p->as, t, n, &unbound) || unbound == 0)
		return;
	printk("    pid %d (%s) threads: %u on an LWP, %u on the run queue, %u blocked, %u "
	       "stopped\n",
	       p->pid, p->name, n[THREADINFO_ONLWP], n[THREADINFO_RUNQUEUE], n[THREADINFO_BLOCKED],
	       n[THREADINFO_STOPPED]);
	if (n[THREADINFO_RUNQUEUE] > 0)
		print_why(p, n[THREADINFO_RUNQUEUE]);
}

static bool print_proc(struct proc *p, void *arg)
{
	static const char *const state[] = {"new",    "runnable", "on a CPU",
					    "asleep", "stopped",  "gone"};

	LIST_FOREACH (&p->lwps, l, struct lwp, proc_link) {
		uint64_t t;
		uint32_t id = thread_of(l, &t);

		printk("    pid %d (%s) lwp %u: %s%s%s", p->pid, p->name, l->id, state[l->state],
		       l->wchan ? ": " : "", l->wchan ? l->wchan : "");
		if (id != 0)
			printk(", thread %u", id);
		printk("\n");
	}
	print_threads(p);
	return false;
}

void proc_report(void)
{
	proc_each_unlocked(print_proc, NULL);
}
