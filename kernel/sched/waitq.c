/*
 * waitq.c - wait queues (kern/sync.h).
 *
 * A waiter is linked while no wake-up has chosen its sleeper.  It lies on the sleeper's stack.  It
 * stays valid for the waker, because the waker holds the object's lock throughout, and the sleeper
 * leaves waitq_sleep only with this lock.
 */
#include <kern/cpu.h>
#include <kern/proc.h>
#include <kern/sched.h>
#include <kern/sync.h>
#include <weft/errno.h>

void waitq_init(struct waitq *q, const char *name)
{
	list_init(&q->sleepers);
	q->name = name;
}

void waitq_wake_one(struct waitq *q)
{
	if (list_empty(&q->sleepers))
		return;
	struct waiter *w = LIST_FIRST(&q->sleepers, struct waiter, link);
	list_remove(&w->link);
	lwp_wake(w->lwp, WAKE_EVENT);
}

void waitq_wake_all(struct waitq *q)
{
	while (!list_empty(&q->sleepers))
		waitq_wake_one(q);
}

int waitq_sleep(struct waitq *q, struct spinlock *lock, hrtime_t deadline, uint32_t flags)
{
	struct lwp *l = curlwp();
	struct waiter w = {.lwp = l};

	list_push_back(&q->sleepers, &w.link);
	spin_acquire(&l->lock);
	int reason = lwp_sleep_locked(l, lock, q->name, flags, deadline);
	if (reason == WAKE_INTR && !sig_interrupted())
		reason = WAKE_EVENT; /* a spurious wake-up */
	spin_acquire(lock);
	bool chosen = w.link.next == &w.link;
	list_remove(&w.link);
	/* *Race:* waitq_wake_one chooses this sleeper, a signal or a time-out ends its sleep;
	 * *without this:* the wake-up is lost for the other sleepers; *closed by:* a chosen sleeper
	 * reports the wake-up, whatever ended its sleep. */
	if (chosen || reason == WAKE_EVENT)
		return 0;
	return reason == WAKE_TIMEOUT ? -ETIMEDOUT : -EINTR;
}
