/*
 * stay.c - the sleep of an LWP that keeps its CPU while no other LWP wants it: upcall_idle.
 *
 * An ordinary sleep switches to the idle LWP, and a wake-up goes through a dispatch queue.  An LWP that stays is saved as in
 * a park: it goes on at the end of its call (park.c).  Then the loop of the idle LWP runs on the kernel stack of this LWP,
 * which is empty except for the user's registers.  The waker makes the LWP ONPROC and tells the CPU, and the LWP goes on without
 * a switch.  If another LWP comes to the queue, the CPU switches to it.  From then on the sleep is an ordinary one.
 *
 * Meanwhile the CPU is idle for all others (c->lwp is the idle LWP), and the LWP sleeps.
 *
 *   - *Race:* another CPU wakes the LWP, and this CPU switches to another LWP; *without this:* a third CPU runs the LWP on a
 *     stack that is in use, or no CPU runs it; *closed by:* l->lock, under which the waker looks at SLEEP_STAYS.
 *     This CPU clears the flag with the lock, and holds the lock until it has left the stack.
 *   - *Race:* this CPU looks whether the LWP has been woken, and halts; the waker wakes it in between; *without this:*
 *     both sleep; *closed by:* timing->idle, which returns at once if it has been told to end (timing->end_idle) since
 *     interrupts are off.  The waker tells it after the store to l->state.
 *   - *Race:* a waker puts another LWP on the queue of this CPU, which it has found idle, and the LWP that stays is woken,
 *     too; *without this:* the other LWP waits here although a CPU is idle; *closed by:* the look at the queue after the
 *     store to c->lwp.  Between the two stands a full barrier, as in the waker, which inserts its LWP and then looks at c->lwp.
 *     A claim of this CPU for another CPU's queue: idle_pass_on (disp.c).
 *
 * An LWP that stays may be bound elsewhere, or its CPU may close, while it sleeps.  Then need_resched of this CPU has been set
 * (sched_change, cpus.c).  It stays set until the CPU switches, so the LWP leaves on its way to user mode.  If this happens just
 * before its sleep, pick_next clears need_resched, and the LWP does not stay.
 *
 * An idle CPU that is asked to forget a page of its address space drops the whole of it (mm/tlb.c), and the virtual CPUs of exact
 * timing do not keep the FPU's state of an idle one (timing/one.c).  So the LWP loads these two again.
 *
 * From `sem_post` to the first instruction of a thread on an idle CPU it takes 1,309 instructions with an ordinary sleep, and
 * some 450 in this way (experiment `remote`).
 *
 * Lock order: l->lock, then the queue's.
 */
#include "switch.h"
#include <kern/activation.h>
#include <kern/syscall.h>
#include <kern/timing.h>
#include <kern/trace.h>

/* cpu/entry.S.  They do not return: `from` goes on at idle_resumed, l at the end of its call. */
void swtch_in_idle(struct lwp *from, struct lwp *to, struct spinlock *lock) NORETURN;
void stay_on_cpu(struct lwp *from, struct spinlock *lock) NORETURN;
void stay_goes_on(struct lwp *l, int64_t result) NORETURN;
struct lwp *stay_here(struct lwp *l); /* called by stay_on_cpu */
int64_t sched_idle_resumed(struct lwp *prev, struct spinlock *lock);

hrtime_t (*sched_idle_turn)(struct cpu *c, const struct lwp *stays);

/* The end of upcall_idle of l, the current LWP, which has slept.  Returns the call's result. */
static inline int64_t idle_call_ends(struct lwp *l)
{
	int64_t r = activation_idle_ends(l);

	l->wchan = NULL;
	l->syscall = ~0u;
	PROBE(syscall_end, "result", r, 0, 0);
	return r;
}

/* l, which stays on this CPU, has been woken.  start: as sched_idle_turn returns it. */
static NORETURN void stay_ends(struct lwp *l, hrtime_t start)
{
	struct dispq *q = cpu_here->dispq;

	PROBE(off_cpu, "lwp mstate wchan", cpu_here->idle, MS_SLEEP, 0);
	switch_in(l);
	hrtime_t now = time_now();
	cpu_here->idle_ns += now - start;
	if (__builtin_expect(cpu_here->as != l->proc->as, 0))
		as_switch(l->proc->as);
	__asm__ volatile("fxrstor64 %0" ::"m"(l->fpu));
	lwp_mstate_move(l, MS_LOCK, MS_USER, now);
	int64_t left = __atomic_load_n(&l->slice_left, __ATOMIC_RELAXED);
	if (__builtin_expect(left <= 0, 0)) /* sched_change has been here, and wants a look */
		left = WEFT_SLICE_MIN;
	q->slice_end = now + left;
	timerq_want(q->slice_end);
	__atomic_store_n(&l->sc->state, SC_ONCPU, __ATOMIC_RELEASE);
	int64_t r = idle_call_ends(l); /* a full barrier between c->lwp and the queue */
	if (__builtin_expect(dispq_count(q) != 0, 0))
		sched_handoff_failed();
	stay_goes_on(l, r);
}

/*
 * Another LWP waits on this CPU's queue.  Returns the LWP to switch to, and holds l->lock then.  NULL: l has been woken, or the
 * queue is empty again.
 */
static struct lwp *stay_gives_way(struct lwp *l)
{
	struct dispq *q = cpu_here->dispq;
	struct lwp *next = NULL;

	spin_acquire(&l->lock);
	if (l->state == LWP_ST_SLEEP) {
		spin_acquire(&q->lock);
		next = dispq_pop(q);
		if (next != NULL) {
			l->sleep_flags = SLEEP_OF_IDLE;
			PROBE(off_cpu, "lwp mstate wchan", cpu_here->idle, MS_SLEEP, 0);
			switch_in_or_idle(q, next, time_now());
		}
		spin_release(&q->lock);
	}
	if (next == NULL)
		spin_release(&l->lock);
	else
		switch_in_user(next);
	return next;
}

/* What this CPU does while l stays.  If another LWP is to run, returns this LWP, and l->lock is held, which crosses the
 * switch. */
struct lwp *stay_here(struct lwp *l)
{
	struct cpu *c = this_cpu();

	spin_release(&l->lock);
	for (;;) {
		hrtime_t start = sched_idle_turn(c, l);
		if (stay_woken(l))
			stay_ends(l, start);
		c->idle_ns += time_now() - start;
		if (dispq_count(c->dispq) != 0) {
			struct lwp *next = stay_gives_way(l);
			if (next != NULL)
				return next;
		}
	}
}

int64_t sched_idle_resumed(struct lwp *prev, struct spinlock *lock)
{
	switch_finish(prev, lock);
	return idle_call_ends(curlwp());
}

bool lwp_may_stay(const struct lwp *l)
{
	return sched_idle_turn != NULL && !lwp_traced(l);
}

void lwp_sleep_staying(struct lwp *l, const char *wchan)
{
	assert(l == curlwp());
	l->state = LWP_ST_SLEEP;
	l->sleep_flags = SLEEP_OF_IDLE;
	l->wchan = wchan;
	l->wake_reason = WAKE_EVENT; /* stay_wake needs not write it */
	if (l->leaving != 0)
		sched_leaves(l);
	l->nvcsw++;
	struct lwp *next = pick_next(l, MS_LOCK);
	l->mresume = MS_USER; /* l->lock is held: no CPU has switched to l yet */
	if (next == cpu_here->idle && cpu_may_run(this_cpu(), l)) {
		l->sleep_flags = SLEEP_STAYS;
		stay_on_cpu(l, &l->lock);
	}
	switch_in_user(next);
	swtch_in_idle(l, next, &l->lock);
}

/* elsewhere: l is not on this CPU, because the caller is an LWP that runs. */
static inline __attribute__((always_inline)) bool stay_wake_inline(struct lwp *l, bool elsewhere)
{
	if (l->sleep_flags != SLEEP_STAYS)
		return false;
	l->sleep_flags = 0;
	struct cpu *c = cpus[l->cpu];
	PROBE(wake, "lwp reason", l, WAKE_EVENT, 0);
	l->sclass->wakeup(l);
	if (l->slice_left <= 0)
		l->slice_left = sched_slice(l);
	activation_runs(l); /* it looks itself whether there is a CPU: activation_idle_ends */
	l->sc->state = SC_COMING;
	/* Release, and last: from here on the LWP runs, although l->lock is held. */
	__atomic_store_n(&l->state, LWP_ST_ONPROC, __ATOMIC_RELEASE);
	if (elsewhere || c != this_cpu())
		timing->end_idle(c);
	return true;
}

bool stay_wake(struct lwp *l)
{
	return stay_wake_inline(l, false);
}

/*
 * upcall_unpark(id): see weft/lwp.h.
 * ESRCH: no such LWP.
 */
int64_t sys_upcall_unpark(const uint64_t arg[6])
{
	struct proc *p = curproc();

	irq_off();
	struct lwp *l = lwp_peek(p, arg[0]);
	if (__builtin_expect(l != NULL, 1)) {
		spin_acquire(&l->lock);
		bool woken = l->proc == p && l->id == (uint32_t)arg[0] && stay_wake_inline(l, true);
		spin_release(&l->lock);
		if (__builtin_expect(woken, 1)) {
			irq_on();
			return 0;
		}
	}
	irq_on();
	return sys_lwp_unpark(arg);
}
