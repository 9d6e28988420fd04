/*
 * waiting.c - model sa: what the kernel learns of the run queue (`waiting`, weft/schedctl.h).
 *
 * The kernel ends time slices only while threads wait for an LWP.  At the end of a slice it makes every
 * LWP of the pool that runs a thread look at the run queue (activation_upcall).  The thread becomes the
 * tail of its list if a thread of its priority or of a higher one waits.  A thread that another takes the LWP from within its slice
 * is kept: it is the first of its priority until slices end (__slice_keep).  Threads of SCHED_FIFO have no slices, those of SCHED_RR
 * have their own (realtime.c).
 *
 * The bound: the run queue is first in, first out within a priority, and each CPU takes a thread from it
 * at the end of each slice at the latest.  So a thread waits at most (threads of its priority in the
 * queue / CPUs) slices, rounded up, while no thread of a higher priority can run and the kernel leaves the
 * process its CPUs.
 *
 * No switch between threads pays for this.  A thread that is pushed into the run queue passes a look at
 * the idle LWPs, and as long as the kernel has not been told, WAITING_UNTOLD stands at the end of their
 * list.  So the first thread that has to wait is noticed there, and the following threads find the list
 * empty.  The number is only right at the end of a slice, when the threads are counted.
 *
 * The first thread that enters a list of yielded threads (local.c) is noticed, too.  At the end of a slice
 * all of these lists enter the run queue, before the threads are counted.
 *
 * Invariant: if threads are in the run queue or in a list of yielded ones, and no LWP is idle, the number is
 * not 0; except that a bound thread may have created them while the pool has no LWP.
 *
 * All static variables are under _schedlock.
 */
#include "mxn.h"

#define COUNT_MOST 255 /* threads that are counted */

static struct schedctl *told; /* the record with the number, or NULL: the number is 0 */
static deadline_t counted;    /* when the number was right */

static void waiting_untold(void)
{
	struct thread **end = &__pool_idle;

	while (*end != NULL)
		end = &(*end)->idle_next;
	*end = WAITING_UNTOLD;
	told = NULL;
}

void __waiting_tell(void)
{
	struct thread **end = &__pool_idle;

	if (__pool_contexts == NULL)
		return;
	while (*end != WAITING_UNTOLD)
		end = &(*end)->idle_next;
	*end = NULL;
	told = __pool_contexts->own_lwp.sc;
	told->waiting = 1;
	counted = 0;
}

static unsigned waiting_count(void)
{
	unsigned n = __runq.above;

	for (struct thread *t = __runq.zero.first; t != run_end(&__runq.zero) && n < COUNT_MOST;
	     t = t->run_next)
		n++;
	return n;
}

void __waiting_look(void)
{
	deadline_t now = gethrtime();

	if (told == NULL || now < counted + WEFT_TICK_NS)
		return;
	counted = now;
	if (__runq_local)
		__local_leave_all();
	told->waiting = waiting_count();
	if (told->waiting == 0)
		waiting_untold();
}

void __waiting_yielded(void)
{
	if (__options.slices && told == NULL)
		__waiting_tell();
}

void __waiting_begin(void)
{
	if (__options.slices && told == NULL && __runq_top() >= 0)
		__waiting_tell();
}

void __waiting_leave(struct thread *context)
{
	unsigned n;

	if (told == NULL || told != context->own_lwp.sc)
		return;
	n = told->waiting;
	told->waiting = 0;
	told = (__pool_contexts != context ? __pool_contexts : context->list_next)->own_lwp.sc;
	told->waiting = n;
}

/*
 * A real-time thread, and any thread without slices, becomes the head of its list.  All others are kept: they stand in lists of their
 * own, which come first.  At the head of its list, t could not be told from a thread that has waited there.
 */
void __slice_keep(struct thread *t)
{
	struct run_list *l = &__runq.kept_of[t->pri];
	uint64_t bit = 1ul << t->pri % 64;

	if (t->pri >= PRI_REALTIME || __options.waiting != WAITING_ACTIVATION ||
	    !__options.slices) {
		__runq_push_head(t);
		return;
	}
	if (!(__runq.kept & bit))
		l->first = l->last = run_end(l);
	run_list_prepend(l, t);
	__runq.kept |= bit;
	__runq.above++;
	t->slice = SLICE_KEPT;
}

void __slice_keep_none(void)
{
	while (__runq.kept != 0) {
		struct thread *t = __runq.kept_of[__builtin_ctzl(__runq.kept)].last;

		__runq_remove(t);
		runq_push(t);
	}
}

void __waiting_init(void)
{
	__pool_idle = NULL;
	if (__options.slices)
		waiting_untold();
}
