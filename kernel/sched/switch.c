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
#include <kern/mm.h>
#include <kern/proc.h>
#include <kern/syscall.h>
#include <kern/timing.h>

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

/*
 * Goes over to the stack of `to`, and comes back when somebody takes `from` up again.  Returns
 * whom that one has put down.  For the compiler the call changes all registers: what it
 * needs of them afterwards it saves itself.
 */
static inline struct lwp *swtch(struct lwp *from, struct lwp *to)
{
	struct lwp *put_down;

	__asm__ volatile("call swtch"
			 : "=a"(put_down), "+D"(from), "+S"(to)
			 :
			 : "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
			   "r15", "memory", "cc");
	return put_down;
}

/* --- off a CPU, and onto it ------------------------------------------------------------ */

/* The current LWP goes off its CPU and into the microstate ms. */
static inline void put_down(struct dispq *q, struct lwp *l, uint32_t ms, hrtime_t now)
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
	l->mresume = l->mstate;
	lwp_mstate_at(l, ms, now);
	l->slice_left = q->slice_end - now;
}

/* This CPU is the best waiting LWP's from now on, or the idle one's.  q->lock held. */
static inline __attribute__((always_inline)) struct lwp *take_next(struct cpu *c, struct dispq *q,
								   hrtime_t now)
{
	struct lwp *l = dispq_pop(q);

	if (l == NULL)
		l = c->idle;
	l->state = LWP_ST_ONPROC;
	c->lwp = l;
	c->nswitch++;
	c->need_resched = 0;
	c->kstack = c->tss.rsp[0] = (uint64_t)l->kstack;
	if (l == c->idle) {
		q->slice_end = HRTIME_NEVER;
		return l;
	}
	lwp_mstate_at(l, l->mresume, now);
	if (l->slice_left <= 0)
		l->slice_left = l->sclass->quantum(l);
	q->slice_end = now + l->slice_left;
	timerq_want(q->slice_end);
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

/* The second half of a switch, on the stack of the LWP taken up. */
static inline void finish_switch(struct lwp *prev)
{
	/* If we hold it, it is the one that has crossed the switch. */
	struct spinlock *lock = spin_held(&prev->lock) ? &prev->lock : &cpu_here->dispq->lock;

	if (__builtin_expect(prev->then == THEN_NOTHING, 1))
		spin_release(lock);
	else
		finish_then(prev, lock);
}

/* Returns when prev is taken up again: cpu_here is another one then, perhaps. */
static inline void go_to(struct cpu *c, struct lwp *prev, struct lwp *next)
{
	struct schedctl *sc = next->sc;

	if (sc != NULL) {
		load_user(next);
		sc->cpu = c->id;
		__atomic_store_n(&sc->state, SC_ONCPU, __ATOMIC_RELEASE);
	}
	finish_switch(next == prev ? prev : swtch(prev, next));
}

void sched_switch(uint32_t ms)
{
	struct cpu *c = this_cpu();
	struct lwp *l = c->lwp;
	struct dispq *q = c->dispq;
	hrtime_t now = time_now();

	debug_assert(!irq_enabled());
	assert(spin_held(&l->lock) && l->state != LWP_ST_ONPROC && l->state != LWP_ST_RUN);
	put_down(q, l, ms, now);
	spin_acquire(&q->lock);
	assert(c->nlocks == 2); /* sleeping with another spin lock held */
	struct lwp *next = take_next(c, q, now);
	spin_release(&q->lock);
	go_to(c, l, next);
}

static inline __attribute__((always_inline)) void put_back(bool at_front)
{
	struct cpu *c = this_cpu();
	struct lwp *l = c->lwp;
	struct dispq *q = c->dispq;
	hrtime_t now = time_now();

	debug_assert(!irq_enabled());
	put_down(q, l, MS_WAITCPU, now);
	spin_acquire(&q->lock);
	assert(c->nlocks == 1);
	/* Release: whoever reads it may read the saved registers. */
	__atomic_store_n(&l->state, LWP_ST_RUN, __ATOMIC_RELEASE);
	l->enqueued = now;
	if (__builtin_expect(cpu_takes(c, l), 1))
		dispq_insert(q, l, at_front);
	else
		l->then = THEN_PLACE;
	go_to(c, l, take_next(c, q, now));
}

void sched_put_back(bool at_front)
{
	put_back(at_front);
}

/* lwp_yield(): lets an LWP of the same priority run; pays what preemption control owes. */
int64_t sys_lwp_yield(const uint64_t arg[6])
{
	struct lwp *l = curlwp();
	struct schedctl *sc = l->sc;

	irq_off();
	l->grace = 0;
	sc->yield = sc->signalled = 0;
	if (l->sig.held) {
		l->sig.held = false;
		__atomic_fetch_or(&l->ast, AST_SIG, __ATOMIC_SEQ_CST);
	}
	/* Without the queue's lock: who comes with a higher priority sets need_resched, and who
	 * comes with the same one might as well have come later. */
	if (dispq_best(cpu_here->dispq) >= l->pri) {
		l->nvcsw++;
		put_back(false);
	}
	irq_on();
	return 0;
}

void sched_lwp_first(struct lwp *prev)
{
	finish_switch(prev);
	struct lwp *l = curlwp();
	if (l->proc != NULL) {
		lwp_mstate_at(l, MS_USER, time_now());
		return; /* to user mode, through the frame */
	}
	irq_restore(0x200);
	l->kfn(l->karg);
	panic("a kernel LWP returned");
}