/*
 * activation.h - the counts of a process with activations (proc/activation.c says what they mean), in line, because they are part
 * of each block, of each wake-up, and of each end of upcall_idle (sched/stay.c).
 */
#pragma once
#include <weft/errno.h>
#include "proc.h"
#include "schedctl.h"
#include "upcall.h"

static inline bool is_activation(const struct lwp *l)
{
	return l->watched == WATCHED_ACTIVATION;
}

static inline bool activation_cpus_left(const struct proc_upcalls *up)
{
	int spoken_for = __atomic_load_n(&up->active, __ATOMIC_SEQ_CST) +
			 __atomic_load_n(&up->idle, __ATOMIC_SEQ_CST);

	return spoken_for < up->cpus;
}

/* Gives CPUs that are not spoken for to spares.  Interrupts off; any lock except those of spares and of queues may be held. */
void activation_hand_over(struct proc *p);
/* If more LWPs run than up->most, l leaves the count: true. */
bool activation_leaves_count(struct lwp *l, struct proc_upcalls *up);

/* An activation has blocked: gives its CPU to a spare.  l->lock or p->lock held. */
void activation_blocked(struct lwp *l);

/* l, the current LWP and an activation that runs, blocks or exits.  l->lock or p->lock held. */
static inline void activation_blocks(struct lwp *l)
{
	struct proc_upcalls *up = &l->proc->up;
	int left = __atomic_sub_fetch(&up->active, 1, __ATOMIC_SEQ_CST);

	assert(left >= 0);
	if (left + __atomic_load_n(&up->idle, __ATOMIC_SEQ_CST) < up->cpus &&
	    __atomic_load_n(&up->spares, __ATOMIC_SEQ_CST) != NULL)
		activation_blocked(l);
}

/* l, which was blocked or idle, runs again: how many did before.  l->lock held. */
static inline int activation_runs(struct lwp *l)
{
	l->blocked = false;
	return __atomic_fetch_add(&l->proc->up.active, 1, __ATOMIC_SEQ_CST);
}

/*
 * l, the current LWP, has been blocked or idle.  True: its process has no CPU for it, so the library must be told.  Interrupts off.
 */
static inline bool activation_is_surplus(struct lwp *l, struct proc *p)
{
	struct proc_upcalls *up = &p->up;

	if (__builtin_expect(__atomic_load_n(&up->active, __ATOMIC_SEQ_CST) > up->most, 0) &&
	    activation_leaves_count(l, up))
		return true;
	if (l->watched)
		slices_look(p);
	return false;
}

/*
 * l, the current LWP and an activation, has been idle in upcall_idle, whether it has slept or not: the result of the call.
 * Interrupts off.  A full memory barrier.
 */
static inline int64_t activation_idle_ends(struct lwp *l)
{
	struct proc *p = l->proc;
	int64_t r = 0;

	__atomic_sub_fetch(&p->up.idle, 1, __ATOMIC_SEQ_CST);
	if (activation_is_surplus(l, p))
		r = -EAGAIN;
	else
		l->sc->surplus = 0;
	/* For the time in which l was idle and counted as running. */
	if (__builtin_expect(activation_cpus_left(&p->up), 0))
		activation_hand_over(p);
	return r;
}
