/*
 * timeout.c - deadlines of unbound threads.
 *
 * An LWP of the pool that runs a thread cannot wait for a deadline of another thread, and all of
 * them may run for long.  So one LWP does only this, like the callout LWP of the old library.  It
 * is created at the first timed wait, and parks until the earliest deadline.  Then it takes the
 * threads whose deadline has passed out of their sleep queues and makes them runnable.  A thread
 * that arms an earlier deadline than the LWP parks for unparks the LWP.  While all LWPs of the pool
 * are blocked, this LWP may be parked for a far deadline, or for a deadline that has been
 * cancelled.  So it must not count as an LWP that could run (LWP_NOPOOL).  (Bound threads park with
 * their deadline in the kernel.)
 *
 * The deadlines are a pairing heap that is linked through struct thread.  Insertion and a look at
 * the earliest deadline are O(1), removal is O(log n) amortised, and nothing is allocated.  to_prev
 * of a first child is its parent; to_prev of any other child is its left sibling.  All of it is
 * under _schedlock.
 *
 * There are two heaps.  Deadlines of CLOCK_REALTIME move against those of CLOCK_MONOTONIC when the
 * clock is set, and do not move against each other.  While there are deadlines of CLOCK_REALTIME,
 * the LWP parks so that clock_settime ends the park (core/deadline.c), whichever deadline is the
 * earliest.
 */
#include <errno.h>
#include "mxn.h"

enum { BY_MONOTONIC, BY_REAL, CLOCKS };
static struct thread *heap[CLOCKS];
static struct thread *volatile timer;        /* the LWP's context, once it is created */
static struct ilock timer_lock;              /* held while it is created; before __threads_lock */
static deadline_t timer_parks_until = NEVER; /* CLOCK_MONOTONIC; _schedlock */
static bool timer_watches;                   /* clock_settime ends its park; _schedlock */

static inline struct thread **heap_of(deadline_t deadline)
{
	return &heap[is_real_time(deadline) ? BY_REAL : BY_MONOTONIC];
}

/* Melds two heaps, neither of which has siblings, into one. */
static struct thread *timeouts_meld(struct thread *a, struct thread *b)
{
	if (a == NULL)
		return b;
	if (b == NULL)
		return a;
	if (b->deadline < a->deadline) {
		struct thread *t = a;

		a = b;
		b = t;
	}
	b->to_next = a->to_child;
	if (b->to_next != NULL)
		b->to_next->to_prev = b;
	b->to_prev = a;
	a->to_child = b;
	a->to_next = NULL;
	return a;
}

/* Melds siblings into one heap: first in pairs from the left, then all pairs from the right. */
static struct thread *meld_siblings(struct thread *t)
{
	struct thread *pairs = NULL, *all = NULL;

	while (t != NULL) {
		struct thread *a = t, *b = t->to_next, *pair;

		t = b != NULL ? b->to_next : NULL;
		a->to_next = NULL;
		if (b != NULL)
			b->to_next = NULL;
		pair = timeouts_meld(a, b);
		pair->to_next = pairs;
		pairs = pair;
	}
	while (pairs != NULL) {
		struct thread *rest = pairs->to_next;

		pairs->to_next = NULL;
		all = timeouts_meld(all, pairs);
		pairs = rest;
	}
	return all;
}

void __timeout_arm(struct thread *t, deadline_t deadline)
{
	struct thread **h = heap_of(deadline);
	deadline_t at = deadline_by(deadline, clock_offset());

	t->deadline = deadline;
	t->to_armed = true;
	t->to_child = t->to_next = t->to_prev = NULL;
	*h = timeouts_meld(*h, t);
	if (at < timer_parks_until || (h == &heap[BY_REAL] && !timer_watches)) {
		if (at < timer_parks_until)
			timer_parks_until = at;
		timer_watches |= h == &heap[BY_REAL];
		__sys_lwp_unpark(timer->own_lwp.id);
	}
}

void __timeout_cancel(struct thread *t)
{
	struct thread *children = meld_siblings(t->to_child), **h = heap_of(t->deadline);

	t->to_armed = false;
	if (t == *h) {
		*h = children;
		return;
	}
	if (t->to_prev->to_child == t)
		t->to_prev->to_child = t->to_next;
	else
		t->to_prev->to_next = t->to_next;
	if (t->to_next != NULL)
		t->to_next->to_prev = t->to_prev;
	*h = timeouts_meld(*h, children);
}

#define UNPARK_BATCH 64

/*
 * Wakes the threads of a heap whose deadline has passed.  *n LWPs are then in ids, to be unparked.
 * Returns the earliest deadline that is left.
 */
static deadline_t wake_due(struct thread **h, deadline_t now, uint64_t offset, uint32_t *ids,
			   unsigned *n)
{
	while (*h != NULL && deadline_by((*h)->deadline, offset) <= now && *n < UNPARK_BATCH) {
		ids[*n] = __give_up(*h);
		*n += ids[*n] != 0;
	}
	return *h != NULL ? deadline_by((*h)->deadline, offset) : NEVER;
}

static void __attribute__((noreturn)) timer_main(struct thread *self)
{
	uint32_t ids[UNPARK_BATCH];

	for (;;) {
		uint64_t offset = clock_offset();
		deadline_t now = gethrtime(), next = NEVER, at;
		unsigned n = 0;
		bool watches;

		schedlock();
		for (int i = 0; i < CLOCKS; i++) {
			at = wake_due(&heap[i], now, offset, ids, &n);
			if (at < next)
				next = at;
		}
		timer_parks_until = next;
		timer_watches = watches = heap[BY_REAL] != NULL;
		schedunlock();
		if (n > 0)
			__sys_lwp_unpark_all(ids, n);
		if (next > now && watches)
			__lwp_park_watching(next, 0, offset);
		else if (next > now)
			__lwp_park(next, 0);
	}
}

/* Creates the LWP if there is none.  0, EAGAIN, ENOMEM. */
int __timeout_prepare(void)
{
	struct thread *t = NULL;
	int error = 0;

	if (__atomic_load_n(&timer, __ATOMIC_ACQUIRE) != NULL || thread_self()->bound)
		return 0;
	ilock_lock(&timer_lock);
	if (timer == NULL) {
		error = __service_start(timer_main, "callout", &t);
		if (error == 0)
			__atomic_store_n(&timer, t, __ATOMIC_RELEASE);
	}
	ilock_unlock(&timer_lock);
	if (t != NULL)
		__sys_lwp_yield(); /* else its first deadline waits until it gets a CPU */
	return error;
}

/*
 * The child has no such LWP until it needs one.  fork does not acquire timer_lock, so another
 * thread may have held it to create the LWP.
 */
void __timeout_forked(void)
{
	heap[BY_MONOTONIC] = heap[BY_REAL] = NULL;
	__service_forgotten(timer);
	__timed_forgotten = timer != NULL;
	timer = NULL;
	timer_parks_until = NEVER;
	timer_watches = false;
	timer_lock.held = 0;
}
