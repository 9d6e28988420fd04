/*
 * switch.c - from one LWP to another on this CPU.
 *
 * One lock crosses a switch, the one under which the LWP that is put down is found by others
 * from then on: its own if it sleeps, stops or exits, the queue's if it goes back there.  The
 * LWP that is taken up gives it back (finish_switch), on its own stack, when the registers of
 * the other are saved.
 *
 * Every instruction here is part of each hand-over from thread to thread.
 */
#include "queue.h"
#include <kern/cache.h>
#include <kern/kstack.h>
#include <kern/proc.h>
#include <kern/space.h>
#include <kern/syscall.h>
#include <kern/timing.h>
#include <kern/trace.h>
#include <kern/upcall.h>

/* --- the registers ------------------------------------------------------------------- */

/*
 * The user's registers that the kernel leaves as they are.  Only an LWP with a schedctl
 * record has some: not a kernel LWP, and not one that is about to exit.
 */
static inline void save_user(struct lwp *l)
{
	__asm__ volatile("rdfsbase %0" : "=r"(l->fsbase));
	__asm__ volatile("swapgs; rdgsbase %0; swapgs" : "=r"(l->gsbase));
	__asm__ volatile("fxsave64 %0" : "=m"(l->fpu));
}

static inline void load_user(const struct lwp *l)
{
	if (cpu_here->as != l->proc->as)
		as_switch(l->proc->as);
	__asm__ volatile("wrfsbase %0" ::"r"(l->fsbase));
	__asm__ volatile("swapgs; wrgsbase %0; swapgs" ::"r"(l->gsbase));
	__asm__ volatile("fxrstor64 %0" ::"m"(l->fpu));
}

/* The same from one to the other, of one process. */
static inline void exchange_user(struct lwp *from, const struct lwp *to)
{
	__asm__ volatile("rdfsbase %0" : "=r"(from->fsbase));
	__asm__ volatile("wrfsbase %0" ::"r"(to->fsbase));
	__asm__ volatile("swapgs; rdgsbase %0; wrgsbase %1; swapgs"
			 : "=&r"(from->gsbase)
			 : "r"(to->gsbase));
	__asm__ volatile("fxsave64 %0" : "=m"(from->fpu));
	__asm__ volatile("fxrstor64 %0" ::"m"(to->fpu));
}

/*
 * Goes over to the stack of `to`, and comes back when somebody takes `from` up again.  Returns
 * whom that one has put down.  *lock crosses the switch: it comes back as the one that has
 * crossed that other switch.  For the compiler the call changes all registers: what it
 * needs of them afterwards it saves itself.
 */
static inline struct lwp *swtch(struct lwp *from, struct lwp *to, struct spinlock **lock)
{
	struct lwp *put_down;

	__asm__ volatile("pushq %%rbp; call swtch; popq %%rbp"
			 : "=a"(put_down), "+D"(from), "+S"(to), "+d"(*lock)
			 :
			 : "rbx", "rcx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
			   "memory", "cc");
	return put_down;
}

/* Do not return: `from` goes on at the end of its system call (cpu/entry.S), where it has yielded
 * or parked. */
void swtch_in_call(struct lwp *from, struct lwp *to, struct spinlock *lock) NORETURN;
void swtch_in_park(struct lwp *from, struct lwp *to, struct spinlock *lock) NORETURN;

/* --- off a CPU, and onto it ------------------------------------------------------------ */

/* The current LWP goes off its CPU, to be in the microstate ms. */
static inline void put_off(struct lwp *l, uint32_t ms)
{
	static const uint8_t sc[NMSTATE] = {
		[MS_WAITCPU] = SC_RUNNABLE,
		[MS_LOCK] = SC_SLEEPING,
		[MS_SLEEP] = SC_SLEEPING,
		[MS_STOPPED] = SC_STOPPED,
	};
	struct schedctl *shared = l->sc;

	if (shared != NULL) {
		/* First of all, so that nobody spins for an LWP that is on its way off. */
		__atomic_store_n(&shared->state, sc[ms], __ATOMIC_RELEASE);
		save_user(l);
	}
}

/* This CPU's time is l's no more. */
static inline void put_down(struct dispq *q, struct lwp *l, uint32_t ms, hrtime_t now)
{
	l->mresume = l->mstate;
	lwp_mstate_at(l, ms, now);
	l->slice_left = q->slice_end - now;
}

/* This CPU is that of l. */
static inline void put_on(struct lwp *l)
{
	l->state = LWP_ST_ONPROC;
	cpu_here->lwp = l;
	cpu_here->nswitch++;
	cpu_here->tss.rsp[0] = (uint64_t)l->kstack;
}

/* So is its time, from now on; l is not the idle one.  q->lock held. */
static inline void take_up(struct dispq *q, struct lwp *l, hrtime_t now)
{
	lwp_mstate_move(l, MS_WAITCPU, l->mresume, now);
	if (l->slice_left <= 0)
		l->slice_left = sched_slice(l);
	q->slice_end = now + l->slice_left;
	timerq_want(q->slice_end);
}

/* This CPU is from now on that of l, just off its queue, or the idle one's if that is NULL; the
 * result is whose.  q->lock held. */
static inline __attribute__((always_inline)) struct lwp *take_next(struct dispq *q, struct lwp *l,
								   hrtime_t now)
{
	cpu_here->need_resched = 0;
	if (l != NULL) {
		put_on(l);
		take_up(q, l, now);
		return l;
	}
	l = cpu_here->idle;
	put_on(l);
	q->slice_end = HRTIME_NEVER;
	return l;
}

/*
 * What is left to do for an LWP that is off its CPU, beside giving its lock back.  Whoever
 * waits for a dead one may free it as soon as the lock is free.
 */
static void __attribute__((noinline)) finish_then(struct lwp *prev, struct spinlock *lock)
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

/* The second half of a switch, on the stack of the LWP taken up: `lock` has crossed it. */
static inline void finish_switch(struct lwp *prev, struct spinlock *lock)
{
	debug_assert(spin_held(lock));
	if (__builtin_expect(prev->then == THEN_NOTHING, 1))
		spin_release(lock);
	else
		finish_then(prev, lock);
}

/* The user's part of the switch to next. */
static inline void load_next(const struct lwp *next)
{
	struct schedctl *sc = next->sc;

	if (sc != NULL) {
		load_user(next);
		sc->cpu = cpu_here->id;
		__atomic_store_n(&sc->state, SC_ONCPU, __ATOMIC_RELEASE);
	}
}

/*
 * With the lock that crosses the switch.  Returns when prev is taken up again: cpu_here is another
 * one then, perhaps.
 */
static inline void go_to(struct lwp *prev, struct lwp *next, struct spinlock *lock)
{
	load_next(next);
	if (next != prev)
		prev = swtch(prev, next, &lock);
	finish_switch(prev, lock);
}

/*
 * The current LWP gives its CPU to the result, to be in the microstate ms.  l->lock held.
 * The time is taken late: the work before it counts for the one that leaves.
 */
static inline __attribute__((always_inline)) struct lwp *give_cpu(struct lwp *l, uint32_t ms)
{
	struct dispq *q = cpu_here->dispq;
	struct lwp *next;

	debug_assert(!irq_enabled());
	put_off(l, ms);
	spin_acquire(&q->lock);
	assert(cpu_here->nlocks == 2); /* sleeping with another spin lock held */
	next = dispq_pop(q);
	hrtime_t now = time_now();
	put_down(q, l, ms, now);
	next = take_next(q, next, now);
	spin_release(&q->lock);
	return next;
}

void sched_switch(uint32_t ms)
{
	struct lwp *l = curlwp();

	assert(spin_held(&l->lock) && l->state != LWP_ST_ONPROC && l->state != LWP_ST_RUN);
	go_to(l, give_cpu(l, ms), &l->lock);
}

/* --- parking ------------------------------------------------------------------------------ */

/*
 * An LWP that parks has nothing on its kernel stack that is worth keeping, either: it goes on at the
 * end of the call, already in the microstate of its user mode (take_turns).  The wake-up itself is
 * what it waits for, so there is no permit to take and no lock to be had again.
 */

/* Does the current LWP sleep, and has nobody anything to do with it first?  l->lock held. */
static inline bool park_is_plain(const struct lwp *l)
{
	return !l->permit && l->ast == 0 && l->cancel == 0 && l->leaving == 0 && !lwp_traced(l);
}

/*
 * Blocks the calling LWP, which is in the system call lwp_park, until it has its permit, and takes
 * it.  0; -ETIMEDOUT when time_now() reaches deadline first; -EINTR when it is told to exit or has
 * a signal.  Blocks.
 */
int lwp_park(hrtime_t deadline)
{
	struct lwp *l = curlwp();

	irq_off();
	spin_acquire(&l->lock);
	if (__builtin_expect(deadline != HRTIME_NEVER || !park_is_plain(l), 0))
		return lwp_park_slowly(l, deadline);
	l->state = LWP_ST_SLEEP;
	l->sleep_flags = SLEEP_OF_PARK;
	l->wchan = "park";
	if (__builtin_expect(l->watched && upcall_blocked_by(l, SLEEP_OF_PARK, false), 0))
		upcall_blocks(l);
	l->nvcsw++;
	struct lwp *next = give_cpu(l, MS_LOCK);
	l->mresume = MS_USER; /* l->lock is held: nobody has taken l up yet */
	load_next(next);
	swtch_in_park(l, next, &l->lock);
}

/* The result of lwp_park. */
int64_t sched_park_resumed(struct lwp *prev, struct spinlock *lock)
{
	finish_switch(prev, lock);
	struct lwp *l = curlwp();
	int reason = l->wake_reason;
	l->wchan = NULL;
	l->syscall = ~0u;
	return __builtin_expect(reason == WAKE_EVENT, 1) ? 0 : lwp_park_result(l, reason);
}

void sched_put_back(bool at_front)
{
	struct lwp *l = curlwp();
	struct dispq *q = cpu_here->dispq;

	debug_assert(!irq_enabled());
	put_off(l, MS_WAITCPU);
	spin_acquire(&q->lock);
	assert(cpu_here->nlocks == 1);
	hrtime_t now = time_now();
	put_down(q, l, MS_WAITCPU, now);
	/* Release: whoever reads it may read the saved registers. */
	__atomic_store_n(&l->state, LWP_ST_RUN, __ATOMIC_RELEASE);
	l->enqueued = now;
	if (__builtin_expect(cpu_takes(this_cpu(), l), 1))
		dispq_insert(q, l, at_front);
	else
		l->then = THEN_PLACE;
	go_to(l, take_next(q, dispq_pop(q), now), &q->lock);
}

/* --- taking turns ----------------------------------------------------------------------- */

/*
 * LWPs of one process and one priority that yield to each other: what is left of sched_put_back if
 * nothing else is to be done.  An LWP that is in lwp_yield has nothing on its kernel stack that
 * is worth keeping, so it goes on at the end of the call, already in the microstate of its user
 * mode: what a switch costs is the time of the one that leaves (after Draves, Bershad, Rashid,
 * Dean: Using Continuations to Implement Thread Management and Communication in Operating
 * Systems, SOSP 1991).
 */

/* Rare, and out of the way, so that take_turns calls nothing that comes back. */
static void __attribute__((noinline)) NORETURN arm_and_switch(struct lwp *l, struct lwp *next,
							      struct dispq *q)
{
	timerq_arm(q->slice_end);
	swtch_in_call(l, next, &q->lock);
}

/*
 * Returns if more has to be done than this.  q->lock held.
 * need_resched says, too, that l may not be on this CPU any more: whoever changes that sets it
 * under the queue's lock.
 */
static inline __attribute__((always_inline)) void take_turns(struct dispq *q, struct lwp *l)
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
	__atomic_store_n(&l->sc->state, SC_RUNNABLE, __ATOMIC_RELEASE);
	l->nvcsw++;
	l->syscall = ~0u;
	/* Count, bit map and best priority of the queue stay as they are. */
	list_remove_first(equals, &next->runlink);
	list_push_back(equals, &l->runlink);
	put_on(next);
	exchange_user(l, next);
	hrtime_t now = time_now();
	l->mresume = MS_USER;
	lwp_mstate_move(l, MS_SYSTEM, MS_WAITCPU, now);
	lwp_mstate_move(next, MS_WAITCPU, next->mresume, now);
	l->enqueued = l->order = now;
	l->slice_left = q->slice_end - now;
	hrtime_t end = q->slice_end = now + next->slice_left;
	/* Release: whoever reads it may read the saved registers. */
	__atomic_store_n(&l->state, LWP_ST_RUN, __ATOMIC_RELEASE);
	sc->cpu = cpu_here->id;
	__atomic_store_n(&sc->state, SC_ONCPU, __ATOMIC_RELEASE);
	if (__builtin_expect(end < cpu_here->timer, 0))
		arm_and_switch(l, next, q);
	swtch_in_call(l, next, &q->lock);
}

/* An LWP that swtch_in_call has left goes on, at the end of its system call. */
void sched_call_resumed(struct lwp *prev, struct spinlock *lock)
{
	finish_switch(prev, lock);
}

/* lwp_yield, when it could not have the lock at once, or (locked) take_turns was not enough. */
static void __attribute__((noinline)) yield_slowly(struct dispq *q, struct lwp *l, bool locked)
{
	if (!locked) {
		spin_acquire(&q->lock);
		/* Of a call that is traced the end is reported: it must return. */
		if (!lwp_traced(l))
			take_turns(q, l);
	}
	spin_release(&q->lock);
	l->nvcsw++;
	sched_put_back(false);
}

/* lwp_yield(): lets an LWP of the same priority run; pays what preemption control owes. */
int64_t sys_lwp_yield(const uint64_t arg[6])
{
	struct lwp *l = curlwp();
	struct dispq *q;

	irq_off();
	if (__builtin_expect(l->leaving != 0, 0)) {
		sched_leaves(l);
		l = curlwp(); /* cheaper than to keep it, for all who do not come here */
	}
	q = cpu_here->dispq;
	/* Without the queue's lock: who comes with a higher priority sets need_resched, and who
	 * comes with the same one might as well have come later. */
	if (q->free.best == l->pri || dispq_best(q) > l->pri || q->tied.best == l->pri) {
		bool locked = !lwp_traced(l) && spin_try_plain(&q->lock);
		if (__builtin_expect(locked, 1))
			take_turns(q, l);
		yield_slowly(q, l, locked);
	}
	irq_on();
	return 0;
}

void sched_lwp_first(struct lwp *prev, struct spinlock *lock)
{
	finish_switch(prev, lock);
	struct lwp *l = curlwp();
	if (l->proc != NULL) {
		lwp_mstate_at(l, MS_USER, time_now());
		return; /* to user mode, through the frame */
	}
	irq_restore(0x200);
	l->kfn(l->karg);
	panic("a kernel LWP returned");
}