/*
 * activation.h - the end of upcall_idle, in line, because it is part of each wake-up of a thread on an idle CPU
 * (sched/stay.c; proc/activation.c says what the counts mean).
 */
#pragma once
#include <weft/errno.h>
#include "proc.h"
#include "schedctl.h"
#include "upcall.h"

static inline bool activation_cpus_left(const struct proc_upcalls *up)
{
	int spoken_for = __atomic_load_n(&up->active, __ATOMIC_SEQ_CST) +
			 __atomic_load_n(&up->idle, __ATOMIC_SEQ_CST);

	return spoken_for < up->cpus;
}

/* Gives CPUs that are not spoken for to spares.  Interrupts off; any lock except those of spares and of queues may be held. */
void activation_hand_over(struct proc *p);
/* More LWPs run than p has CPUs.  True: l has left the count. */
bool activation_leaves_count(struct lwp *l, struct proc_upcalls *up);

/* upcall_unblocks, in line. */
static inline void activation_unblocks(struct lwp *l)
{
	l->blocked = false;
	__atomic_add_fetch(&l->proc->up.active, 1, __ATOMIC_SEQ_CST);
}

/* activation_surplus, in line. */
static inline bool activation_is_surplus(struct lwp *l, struct proc *p)
{
	struct proc_upcalls *up = &p->up;

	if (__builtin_expect(__atomic_load_n(&up->active, __ATOMIC_SEQ_CST) > up->cpus, 0) &&
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
