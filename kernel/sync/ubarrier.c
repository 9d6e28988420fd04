/*
 * ubarrier.c - barriers in user memory (weft/ksync.h), from the kernel's side.
 *
 * The count of LWPs that have arrived and the number of the cycle are one word, which changes under
 * the bucket's lock.  The last LWP to arrive resets the count and increments the cycle in one step.
 * If a signal has ended the sleep of an LWP, it calls again.  It then learns from the number of the
 * cycle whether it still has to wait.  No LWP is counted in another cycle than it meant.  The
 * barrier is not touched after the first wake-up, because a woken LWP may unmap it.
 */
#include <kern/cpu.h>
#include <kern/sched.h>
#include <kern/usercopy.h>
#include <weft/errno.h>
#include "urwlock.h"

/*
 * The caller arrives in cycle number `cycle`.  1: it is the last to arrive; 0: others are to come;
 * -EAGAIN: the barrier is not in this cycle; -EFAULT: the page is missing.  arrived: the caller has
 * arrived before, and only looks.
 */
static int ubarrier_arrive(const struct uobject *b, uint32_t count, uint32_t cycle, bool arrived)
{
	uint64_t seen;

	int err = user_load64(&seen, b->addr);
	while (err >= 0) {
		if (seen >> 32 != cycle)
			return -EAGAIN;
		if (arrived)
			return 0;
		bool last = (uint32_t)seen + 1 >= count;
		err = user_cas64(b->addr, &seen, last ? (uint64_t)(cycle + 1) << 32 : seen + 1);
		if (err == 0)
			return last;
	}
	return err;
}

static void wake_all(struct uobject *b, irqstate_t *s)
{
	struct uwaiter *list[UWAIT_SOME];
	uint64_t last = b->bucket->arrivals;
	unsigned n;

	while (true) {
		bool rest = uwait_choose_some(b, last, list, &n);
		for (unsigned i = 0; i < n; i++)
			uwait_wake(list[i]);
		if (!rest)
			break;
		spin_unlock(&b->bucket->lock, *s);
		preempt_point();
		*s = spin_lock(&b->bucket->lock);
	}
}

int ubarrier_wait(vaddr_t addr, uint32_t cycle, bool arrived)
{
	struct lwp_barrier barrier;
	struct uobject b;
	struct uwaiter w;

	if (addr % sizeof(barrier.word) != 0)
		return -EINVAL;
	if (copyin(&barrier, addr, sizeof(barrier)) != 0)
		return -EFAULT;
	if (barrier.count == 0 || (barrier.flags & ~LWP_BARRIER_SHARED))
		return -EINVAL;
	int err = uobject_get(&b, addr, barrier.flags & LWP_BARRIER_SHARED);
	if (err != 0)
		return err;
	irqstate_t s = spin_lock(&b.bucket->lock);
	while ((err = ubarrier_arrive(&b, barrier.count, cycle, arrived)) == -EFAULT) {
		err = uobject_fault(&b, &s);
		if (err != 0)
			break;
	}
	if (err == 1) {
		wake_all(&b, &s);
	} else if (err == 0) {
		uwait_enter(&b, &w);
		err = uwait_sleep(&b, &w, "lwp_barrier", HRTIME_NEVER);
	} else if (err == -EAGAIN && arrived) {
		err = 0;
	}
	spin_unlock(&b.bucket->lock, s);
	uobject_put(&b);
	return err;
}
