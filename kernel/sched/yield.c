/*
 * yield.c - lwp_yield, by a shorter switch: 426 instructions for two LWPs that yield to each other
 * in turn, in place of 618 by sched_put_back.
 *
 * The shortcut is for two LWPs of one process and one priority (yield_to_equal).  An LWP that is in
 * lwp_yield has nothing on its kernel stack that is worth keeping.  So it goes on at the end of the
 * call, already in the microstate of its user mode, and a switch costs only the time of the LWP
 * that leaves (after Draves, Bershad, Rashid, Dean: Using Continuations to Implement Thread
 * Management and Communication in Operating Systems, SOSP 1991).  In all other cases lwp_yield is
 * sched_put_back.
 */
#include "switch.h"
#include <kern/syscall.h>
#include <kern/trace.h>

/* Does not return: `from` goes on at the end of its system call, at yield_resumed (cpu/entry.S). */
void swtch_in_yield(struct lwp *from, struct lwp *to, struct spinlock *lock) NORETURN;

/* user_regs_save and user_regs_load, from one LWP to another of its process. */
static inline void user_regs_exchange(struct lwp *from, const struct lwp *to)
{
	__asm__ volatile("wrfsbase %0" ::"r"(to->fsbase));
	__asm__ volatile("swapgs; rdgsbase %0; wrgsbase %1; swapgs"
			 : "=&r"(from->gsbase)
			 : "r"(to->gsbase));
	__asm__ volatile("fxsave64 %0" : "=m"(from->fpu));
	__asm__ volatile("fxrstor64 %0" ::"m"(to->fpu));
}

/* Rare, so in a function of its own: yield_to_equal calls nothing that returns. */
static void __attribute__((noinline)) NORETURN yield_arm_timer(struct lwp *l, struct lwp *next,
							       struct dispq *q)
{
	timerq_arm(q->slice_end);
	swtch_in_yield(l, next, &q->lock);
}

/*
 * Switches to the first LWP that waits with l's priority.  Returns if that is not enough.  q->lock
 * held.
 *
 * *Race:* l yields, another CPU forbids l this CPU; *without this:* l goes back to a queue where it
 * may not be; *closed by:* the test of need_resched, which the other CPU sets under the queue's
 * lock.
 */
static inline __attribute__((always_inline)) void yield_to_equal(struct dispq *q, struct lwp *l)
{
	unsigned pri = l->pri;
	struct list *equals = &q->free.list[pri];
	struct lwp *next = LIST_FIRST(equals, struct lwp, runlink);

	if (q->free.best != (int)pri || q->tied.best != PRI_IDLE || cpu_here->need_resched ||
	    is_bound(l))
		return;
	struct schedctl *sc = next->sc;
	if (next->proc != l->proc || sc == NULL || next->slice_left <= 0)
		return;
	user_fsbase_save(l);
	__atomic_store_n(&l->sc->state, SC_RUNNABLE, __ATOMIC_RELEASE);
	l->nvcsw++;
	l->syscall = ~0u;
	/* Count, bit map and best priority of the queue stay as they are. */
	list_remove_first(equals, &next->runlink);
	list_push_back(equals, &l->runlink);
	PROBE(off_cpu, "lwp mstate wchan", l, MS_WAITCPU, 0);
	switch_in(next);
	user_regs_exchange(l, next);
	hrtime_t now = time_now();
	l->mresume = MS_USER;
	lwp_mstate_move(l, MS_SYSTEM, MS_WAITCPU, now);
	lwp_mstate_move(next, MS_WAITCPU, next->mresume, now);
	l->enqueued = l->order = now;
	l->slice_left = q->slice_end - now;
	hrtime_t end = q->slice_end = now + next->slice_left;
	/* Release: a CPU that reads it may read the saved registers. */
	__atomic_store_n(&l->state, LWP_ST_RUN, __ATOMIC_RELEASE);
	sc->cpu = cpu_here->id;
	__atomic_store_n(&sc->state, SC_ONCPU, __ATOMIC_RELEASE);
	if (__builtin_expect(end < cpu_here->timer, 0))
		yield_arm_timer(l, next, q);
	swtch_in_yield(l, next, &q->lock);
}

/* The LWP that swtch_in_yield has left goes on at the end of its system call. */
void sched_yield_resumed(struct lwp *prev, struct spinlock *lock)
{
	PROBE(syscall_end, "result", 0, 0, 0);
	switch_finish(prev, lock);
}

/* The rest of lwp_yield.  locked: the caller holds q->lock, because yield_to_equal was not enough.
 * Otherwise another CPU held the lock, or l is traced. */
static void __attribute__((noinline)) yield_requeue(struct dispq *q, struct lwp *l, bool locked)
{
	if (!locked) {
		spin_acquire(&q->lock);
		/* A traced call must return, because its end is reported. */
		if (!lwp_traced(l))
			yield_to_equal(q, l);
	}
	spin_release(&q->lock);
	l->nvcsw++;
	sched_put_back(false);
}

/* lwp_yield(): lets an LWP of the same priority run, and ends the grace period of preemption
 * control. */
int64_t sys_lwp_yield(const uint64_t arg[6])
{
	struct lwp *l = curlwp();
	struct dispq *q;

	irq_off();
	if (__builtin_expect(l->leaving != 0, 0)) {
		if (!sched_yields()) {
			irq_on();
			return 0;
		}
		l = curlwp(); /* to save l would cost all calls that do not come here */
	}
	q = cpu_here->dispq;
	/* Without the queue's lock: an LWP of a higher priority that arrives sets need_resched, and
	 * an LWP of the same priority might as well have arrived later. */
	if (q->free.best == l->pri || dispq_best(q) > l->pri || q->tied.best == l->pri) {
		bool locked = !lwp_traced(l) && spin_try_plain(&q->lock);
		if (__builtin_expect(locked, 1))
			yield_to_equal(q, l);
		yield_requeue(q, l, locked);
	}
	irq_on();
	return 0;
}
