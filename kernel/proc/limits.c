/*
 * limits.c - resource limits of processes (getrlimit(2)).
 *
 * p->limit has the limits that the process asked for, guarded by p->lock.  The address space and
 * the descriptor table enforce limits by copies of the soft values.  So memory and files do not
 * depend on processes.  A child gets its parent's limits, and exec keeps them.
 */
#include <kern/limits.h>
#include <kern/space.h>
#include <weft/errno.h>
#include "impl.h"

/* The largest value of each limit: the region of the first stack and the table have fixed sizes. */
static const uint64_t most[WEFT_RLIM_NLIMITS] = {
	[WEFT_RLIMIT_AS] = WEFT_RLIM_INFINITY, [WEFT_RLIMIT_DATA] = WEFT_RLIM_INFINITY,
	[WEFT_RLIMIT_STACK] = USER_STACK_SIZE, [WEFT_RLIMIT_NPROC] = WEFT_RLIM_INFINITY,
	[WEFT_RLIMIT_NOFILE] = WEFT_OPEN_MAX,
};

void limits_init(struct proc *p, struct proc *parent)
{
	if (parent == NULL) {
		for (unsigned i = 0; i < WEFT_RLIM_NLIMITS; i++)
			p->limit[i] = (struct weft_rlimit){.cur = most[i], .max = most[i]};
	} else {
		irqstate_t s = spin_lock(&parent->lock);
		memcpy(p->limit, parent->limit, sizeof(p->limit));
		spin_unlock(&parent->lock, s);
	}
	limits_apply(p, p->as);
	p->files.limit = p->limit[WEFT_RLIMIT_NOFILE].cur;
}

void limits_apply(struct proc *p, struct address_space *as)
{
	as->max_size = p->limit[WEFT_RLIMIT_AS].cur;
	as->max_data = p->limit[WEFT_RLIMIT_DATA].cur;
	as->max_stack = p->limit[WEFT_RLIMIT_STACK].cur;
}

int limits_exchange(struct proc *p, unsigned which, const struct weft_rlimit *to,
		    struct weft_rlimit *old)
{
	if (which >= WEFT_RLIM_NLIMITS || (to != NULL && to->cur > to->max))
		return -EINVAL;
	if (to != NULL && to->max > most[which])
		return -EPERM;
	irqstate_t s = spin_lock(&p->lock);
	*old = p->limit[which];
	if (to != NULL) {
		p->limit[which] = *to;
		limits_apply(p, p->as);
		p->files.limit = p->limit[WEFT_RLIMIT_NOFILE].cur;
	}
	spin_unlock(&p->lock, s);
	return 0;
}
