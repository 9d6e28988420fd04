/*
 * switch.c - from one LWP to another on this CPU.
 *
 * Locks: l->lock of the LWP that is put down and the queue's lock cross the switch; the LWP
 * that is taken up gives them back (finish_switch).
 */
#include "queue.h"
#include <kern/mm.h>
#include <kern/proc.h>
#include <kern/timing.h>

/* cpu/entry.S */
void swtch(uint64_t *save_ksp, uint64_t load_ksp);

/* The LWP that this CPU has just put down, until finish_switch has seen to it:
 * kept per CPU because the stack that knew it belongs to that LWP. */
static struct lwp *put_down[WEFT_MAXCPU];

/*
 * The second half of a switch, on the stack of the LWP taken up.  A dead LWP's
 * stack is free now.  Its structure goes too if nobody waits for it; otherwise
 * whoever waits may free it as soon as we let its lock go, so look before.
 */
static void finish_switch(void)
{
	struct cpu *c = this_cpu();
	struct lwp *prev = put_down[c->id];
	spin_release(&c->dispq->lock);
	if (prev->leaves) {
		prev->leaves = false;
		sched_place(prev);
	}
	bool dead = prev->state == LWP_ST_ZOMB;
	bool reap = dead && prev->reap_self;
	void *kstack = prev->kstack;
	spin_release(&prev->lock);
	if (dead)
		kstack_free(kstack);
	if (reap)
		kcache_free(lwp_cache, prev);
}

static void take_up(struct cpu *c, struct lwp *l, hrtime_t now)
{
	struct dispq *q = c->dispq;

	l->state = LWP_ST_ONPROC;
	l->cpu = c->id;
	c->lwp = l;
	c->nswitch++;
	q->running_pri = l->pri;
	c->need_resched = 0;
	c->kstack = c->tss.rsp[0] = (uint64_t)l->kstack;
	if (l == c->idle) {
		q->slice_end = HRTIME_NEVER;
		return;
	}
	lwp_mstate_at(l, l->mresume, now);
	if (l->slice_left == 0)
		l->slice_left = l->sclass->quantum(l);
	q->slice_end = now + l->slice_left;
	timerq_want(q->slice_end);
	if (l->proc != NULL) {
		as_switch(l->proc->as);
		__asm__ volatile("wrfsbase %0" ::"r"(l->fsbase));
		__asm__ volatile("swapgs; wrgsbase %0; swapgs" ::"r"(l->gsbase));
		__asm__ volatile("fxrstor64 %0" ::"m"(l->fpu));
	}
	if (l->sc) {
		l->sc->cpu = c->id;
		__atomic_store_n(&l->sc->state, SC_ONCPU, __ATOMIC_RELEASE);
	}
}

static void put_away(struct cpu *c, struct lwp *l, hrtime_t now)
{
	static const struct {
		uint8_t sc, ms;
	} off[] = {
		[LWP_ST_RUN] = {SC_RUNNABLE, MS_WAITCPU},
		[LWP_ST_SLEEP] = {SC_SLEEPING, MS_SLEEP},
		[LWP_ST_STOP] = {SC_STOPPED, MS_STOPPED},
		[LWP_ST_ZOMB] = {SC_FREE, MS_SLEEP},
	};
	if (l == c->idle)
		return;
	/* First of all, so that nobody spins for an LWP that is on its way off. */
	if (l->sc)
		__atomic_store_n(&l->sc->state, off[l->state].sc, __ATOMIC_RELEASE);
	l->mresume = l->mstate;
	lwp_mstate_at(l,
		      l->state == LWP_ST_SLEEP && l->sleep_flags & SLEEP_LOCK ? MS_LOCK
									      : off[l->state].ms,
		      now);
	hrtime_t end = c->dispq->slice_end;
	l->slice_left = end > now ? end - now : 0;
	if (l->proc != NULL && l->state != LWP_ST_ZOMB) {
		__asm__ volatile("rdfsbase %0" : "=r"(l->fsbase));
		__asm__ volatile("swapgs; rdgsbase %0; swapgs" : "=r"(l->gsbase));
		__asm__ volatile("fxsave64 %0" : "=m"(l->fpu));
	}
}

void sched_switch(bool at_front)
{
	struct cpu *c = this_cpu();
	struct lwp *prev = c->lwp;
	struct dispq *q = c->dispq;

	assert(!irq_enabled() && spin_held(&prev->lock) && prev->state != LWP_ST_ONPROC);
	hrtime_t now = time_now();
	put_away(c, prev, now);
	spin_acquire(&q->lock);
	assert(c->nlocks == 2); /* sleeping with another spin lock held */
	if (prev->state == LWP_ST_RUN && prev != c->idle) {
		prev->enqueued = now;
		if (cpu_takes(c, prev))
			dispq_insert(q, prev, at_front);
		else
			prev->leaves = true; /* as soon as its registers are saved */
	}
	struct lwp *next = dispq_first(q);
	if (next != NULL)
		dispq_remove(q, next);
	else
		next = c->idle;
	if (next == prev) { /* its own equals are all gone: go on */
		spin_release(&prev->lock);
		take_up(c, next, now);
		spin_release(&q->lock);
		return;
	}
	put_down[c->id] = prev;
	take_up(c, next, now);
	swtch(&prev->ksp, next->ksp);
	/* Another CPU may have taken us up: c is stale. */
	finish_switch();
}

void sched_lwp_first(void)
{
	finish_switch();
	struct lwp *l = curlwp();
	if (l->proc != NULL) {
		lwp_mstate_at(l, MS_USER, time_now());
		return; /* to user mode, through the frame */
	}
	irq_restore(0x200);
	l->kfn(l->karg);
	panic("a kernel LWP returned");
}