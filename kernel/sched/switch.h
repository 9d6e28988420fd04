/*
 * switch.h - the parts of a switch, in line, for switch.c and its shortcuts (yield.c, park.c, stay.c).
 *
 * A switch has these steps, all with interrupts off:
 *
 *	switch_out      `from` leaves: its user registers, its microstate, what is left of its slice
 *	pick_next       the best LWP of this CPU's queue, or the idle one
 *	switch_in       `to` gets the CPU, a slice, and its user registers
 *	swtch           the stack of `from` for the stack of `to` (cpu/entry.S)
 *	switch_finish   on the stack of `to`: the lock that has crossed the switch is released
 *
 * One lock crosses a switch: the lock under which others find `from` afterwards.  It is the lock of
 * `from` if `from` sleeps, stops or exits, and the queue's if `from` goes back there.  `to`
 * releases it (switch_finish) when the registers of `from` are saved.
 *
 * The functions are in line, because every instruction here is part of each hand-over from thread
 * to thread.
 */
#pragma once
#include "queue.h"
#include <kern/probe.h>
#include <kern/proc.h>
#include <kern/space.h>
#include <kern/timing.h>

/* --- the user's registers that the kernel leaves as they are ---------------------------- */

/*
 * Only an LWP with a schedctl record has some.  A kernel LWP and an exiting LWP have none.
 *
 * FS base tells the library which thread an LWP runs, and a debugger too, which may stop the machine
 * between any two instructions.  *Race:* this CPU has taken an LWP, and a debugger or a panic reads
 * FS base; *without this:* it is that of the LWP before, so the thread is told to be on two LWPs;
 * *closed by:* l->fsbase is the LWP's, except while its record says SC_ONCPU.  So FS base is saved
 * before the record changes, and loaded before the record says SC_ONCPU (lwp_fsbase_loaded).
 */
static inline void user_fsbase_save(struct lwp *l)
{
	__asm__ volatile("rdfsbase %0" : "=r"(l->fsbase));
}

static inline void user_regs_save(struct lwp *l)
{
	__asm__ volatile("swapgs; rdgsbase %0; swapgs" : "=r"(l->gsbase));
	__asm__ volatile("fxsave64 %0" : "=m"(l->fpu));
}

static inline void user_regs_load(const struct lwp *l)
{
	if (cpu_here->as != l->proc->as)
		as_switch(l->proc->as);
	__asm__ volatile("wrfsbase %0" ::"r"(l->fsbase));
	__asm__ volatile("swapgs; wrgsbase %0; swapgs" ::"r"(l->gsbase));
	__asm__ volatile("fxrstor64 %0" ::"m"(l->fpu));
}

/* --- the stack ---------------------------------------------------------------------------- */

/*
 * Switches to the stack of `to`, and returns when a CPU switches to `from` again.  Returns the LWP
 * that ran on this CPU before.  *lock crosses the switch; on return it is the lock that has crossed
 * that other switch.  For the compiler the call changes all registers, so the compiler saves those
 * that it needs afterwards.
 */
static inline struct lwp *swtch(struct lwp *from, struct lwp *to, struct spinlock **lock)
{
	struct lwp *prev;

	__asm__ volatile("pushq %%rbp; call swtch; popq %%rbp"
			 : "=a"(prev), "+D"(from), "+S"(to), "+d"(*lock)
			 :
			 : "rbx", "rcx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
			   "memory", "cc");
	return prev;
}

/* --- off the CPU ------------------------------------------------------------------------ */

/* The current LWP leaves user mode's view: it will be in the microstate ms. */
static inline void switch_out_user(struct lwp *l, uint32_t ms)
{
	static const uint8_t sc[NMSTATE] = {
		[MS_WAITCPU] = SC_RUNNABLE,
		[MS_LOCK] = SC_SLEEPING,
		[MS_SLEEP] = SC_SLEEPING,
		[MS_STOPPED] = SC_STOPPED,
	};
	struct schedctl *shared = l->sc;

	if (shared != NULL) {
		user_fsbase_save(l);
		/* As early as that, so that no thread spins for an LWP that is on its way off. */
		__atomic_store_n(&shared->state, sc[ms], __ATOMIC_RELEASE);
		user_regs_save(l);
	}
}

/* From `now` on the time of this CPU is not charged to l. */
static inline void switch_out(struct dispq *q, struct lwp *l, uint32_t ms, hrtime_t now)
{
	l->mresume = l->mstate;
	lwp_mstate_at(l, ms, now);
	l->slice_left = q->slice_end - now;
	PROBE(off_cpu, "lwp mstate wchan", l, ms, l->wchan);
}

/* --- onto the CPU ------------------------------------------------------------------------ */

static inline void switch_in(struct lwp *l)
{
	l->state = LWP_ST_ONPROC;
	cpu_here->lwp = l;
	cpu_here->nswitch++;
	cpu_here->tss.rsp[0] = (uint64_t)l->kstack;
	PROBE(on_cpu, "lwp pri", l, l->pri, 0);
}

/* The slice of l, which is not the idle LWP, begins or goes on.  q->lock held. */
static inline void slice_begin(struct dispq *q, struct lwp *l, hrtime_t now)
{
	lwp_mstate_move(l, MS_WAITCPU, l->mresume, now);
	if (l->slice_left <= 0)
		l->slice_left = sched_slice(l);
	q->slice_end = now + l->slice_left;
	timerq_want(q->slice_end);
}

/* Gives this CPU to `next`, which has just left its queue, or (NULL) to the idle LWP.  Returns the
 * LWP that has the CPU.  q->lock held. */
static inline __attribute__((always_inline)) struct lwp *
switch_in_or_idle(struct dispq *q, struct lwp *next, hrtime_t now)
{
	cpu_here->need_resched = 0;
	if (next != NULL) {
		switch_in(next);
		slice_begin(q, next, now);
		return next;
	}
	next = cpu_here->idle;
	switch_in(next);
	q->slice_end = HRTIME_NEVER;
	return next;
}

/* What user mode sees of `next`, and its registers. */
static inline void switch_in_user(const struct lwp *next)
{
	struct schedctl *sc = next->sc;

	if (sc != NULL) {
		user_regs_load(next);
		sc->cpu = cpu_here->id;
		__atomic_store_n(&sc->state, SC_ONCPU, __ATOMIC_RELEASE);
	}
}

/*
 * The current LWP l leaves this CPU for the microstate ms; the result is the LWP that has the CPU
 * now.  l->lock held.  The clock is read late, so that the work before it is charged to l.
 */
static inline __attribute__((always_inline)) struct lwp *pick_next(struct lwp *l, uint32_t ms)
{
	struct dispq *q = cpu_here->dispq;
	struct lwp *next;

	debug_assert(!irq_enabled());
	switch_out_user(l, ms);
	spin_acquire(&q->lock);
	assert(cpu_here->nlocks == 2); /* sleeping with another spin lock held */
	next = dispq_pop(q);
	hrtime_t now = time_now();
	switch_out(q, l, ms, now);
	l->since = now;
	next = switch_in_or_idle(q, next, now);
	spin_release(&q->lock);
	return next;
}

/* --- the second half --------------------------------------------------------------------- */

/* For an LWP that needs more than the release of its lock (prev->then). */
void switch_finish_then(struct lwp *prev, struct spinlock *lock);

/* On the stack of the LWP that has the CPU now: `lock` has crossed the switch from prev. */
static inline void switch_finish(struct lwp *prev, struct spinlock *lock)
{
	debug_assert(spin_held(lock));
	if (__builtin_expect(prev->then == THEN_NOTHING, 1))
		spin_release(lock);
	else
		switch_finish_then(prev, lock);
}
