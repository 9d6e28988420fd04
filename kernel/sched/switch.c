/*
 * switch.c - from one LWP to another on this CPU.
 *
 * switch.h has the steps, and says which lock crosses a switch.  This file puts the steps in order:
 * sched_switch for an LWP that sleeps, stops or exits, sched_put_back for an LWP that could go on.
 * Two shortcuts do less for the two commonest switches: yield.c and park.c.
 *
 * Interrupts are off.  Lock order: l->lock, then the queue's.
 */
#include "switch.h"
#include <kern/cache.h>
#include <kern/kstack.h>

/*
 * What is left to do for an LWP that is off its CPU, besides the release of its lock.  The waiter
 * for a dead LWP may free it as soon as the lock is free.
 */
void switch_finish_then(struct lwp *prev, struct spinlock *lock)
{
	uint8_t then = prev->then;
	void *kstack = prev->kstack;

	prev->then = THEN_NOTHING;
	spin_release(lock);
	if (then == THEN_PLACE) {
		sched_place(prev);
		return;
	}
	kstack_free(kstack);
	if (then == THEN_FREE)
		kcache_free(lwp_cache, prev);
}

/*
 * `lock` crosses the switch.  Returns when a CPU switches to prev again.  This may be another CPU
 * than before: cpu_here has changed then.
 */
static inline void switch_lwps(struct lwp *prev, struct lwp *next, struct spinlock *lock)
{
	switch_in_user(next);
	if (next != prev)
		prev = swtch(prev, next, &lock);
	switch_finish(prev, lock);
}

void sched_switch(uint32_t ms)
{
	struct lwp *l = curlwp();

	assert(spin_held(&l->lock) && l->state != LWP_ST_ONPROC && l->state != LWP_ST_RUN);
	switch_lwps(l, pick_next(l, ms), &l->lock);
}

void sched_put_back(bool at_front)
{
	struct lwp *l = curlwp();
	struct dispq *q = cpu_here->dispq;

	debug_assert(!irq_enabled());
	switch_out_user(l, MS_WAITCPU);
	spin_acquire(&q->lock);
	assert(cpu_here->nlocks == 1);
	hrtime_t now = time_now();
	switch_out(q, l, MS_WAITCPU, now);
	/* Release: a CPU that reads it may read the saved registers. */
	__atomic_store_n(&l->state, LWP_ST_RUN, __ATOMIC_RELEASE);
	l->enqueued = now;
	if (__builtin_expect(cpu_may_run(this_cpu(), l), 1))
		dispq_insert(q, l, at_front);
	else
		l->then = THEN_PLACE;
	switch_lwps(l, switch_in_or_idle(q, dispq_pop(q), now), &q->lock);
}

void sched_lwp_first(struct lwp *prev, struct spinlock *lock)
{
	switch_finish(prev, lock);
	struct lwp *l = curlwp();
	if (l->proc != NULL) {
		lwp_mstate_at(l, MS_USER, time_now());
		return; /* to user mode, through the frame */
	}
	irq_restore(0x200);
	l->kfn(l->karg);
	panic("a kernel LWP returned");
}