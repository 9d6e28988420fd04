/*
 * info.c - the state of a process and of an LWP, for the system calls and /proc: a snapshot,
 * made under the locks.
 */
#include <kern/proc.h>
#include <kern/sched.h>
#include <kern/space.h>
#include <weft/errno.h>

struct search {
	int pid;
	struct proc *best;
};

static bool proc_nearest(struct proc *p, void *arg)
{
	struct search *s = arg;
	if (p->pid >= s->pid && (s->best == NULL || p->pid < s->best->pid))
		s->best = p;
	return false;
}

/* p->lock held. */
static void fill_procinfo(struct proc *p, struct weft_procinfo *i)
{
	static const uint8_t rank[] = {
		[LWP_ST_ONPROC] = 4, [LWP_ST_RUN] = 3, [LWP_ST_SLEEP] = 2, [LWP_ST_STOP] = 1};

	*i = (struct weft_procinfo){
		.pid = p->pid,
		.ppid = p->parent ? p->parent->pid : 0,
		.pgrp = p->pgrp,
		.sid = p->sid,
		.nlwp = p->nlwp,
		.state = p->zombie ? LWP_ST_ZOMB : LWP_ST_IDLE,
		.start = p->start,
		.began = p->began,
	};
	LIST_FOREACH (&p->lwps, l, struct lwp, proc_link) {
		uint32_t st = l->state;
		if (st < ARRAY_LEN(rank) && rank[st] > rank[i->state])
			i->state = st;
	}
	if (p->as != NULL) {
		i->size = p->as->size;
		i->rss = p->as->rss * PAGE_SIZE;
	}
	proc_rusage(p, &i->ru);
	strlcpy(i->name, p->name, sizeof(i->name));
}

int proc_info(int pid, struct weft_procinfo *i)
{
	struct search find = {.pid = pid};

	irqstate_t s = spin_lock(&proc_tree_lock);
	proc_each(proc_nearest, &find);
	if (find.best != NULL) {
		spin_acquire(&find.best->lock);
		fill_procinfo(find.best, i);
		spin_release(&find.best->lock);
	}
	spin_unlock(&proc_tree_lock, s);
	return find.best != NULL ? i->pid : -ESRCH;
}

/*
 * For how long l has slept, been stopped, or waited for a CPU; 0: none of these.  l->lock held.
 * In exact timing the clock of the CPU that l has left may be ahead of `now`.
 */
static uint64_t lwp_in_state(const struct lwp *l, hrtime_t now)
{
	hrtime_t since;

	if (l->state == LWP_ST_SLEEP || l->state == LWP_ST_STOP)
		since = l->since;
	else if (l->state == LWP_ST_RUN)
		since = l->enqueued;
	else
		return 0;
	return now > since ? now - since : 0;
}

/* l->lock held. */
static void fill_lwp_info(struct lwp *l, struct lwp_info *i)
{
	struct mstimes t;

	lwp_times(l, &t);
	*i = (struct lwp_info){
		.id = l->id,
		.state = l->state,
		.pri = l->pri,
		.cpu = l->cpu,
		.utime = t.ms[MS_USER],
		.stime = ms_system(&t),
		.flags = l->flags,
		.syscall = l->syscall,
		.since = lwp_in_state(l, t.now),
	};
	const char *wchan = l->wchan; /* its LWP clears it without the lock */
	if (l->state == LWP_ST_SLEEP && wchan != NULL)
		strlcpy(i->wchan, wchan, sizeof(i->wchan));
	strlcpy(i->sclass, l->sclass->name, sizeof(i->sclass));
	memcpy(i->name, l->name, sizeof(i->name));
}

int64_t lwp_info_get(int pid, uint32_t id, struct lwp_info *i)
{
	struct lwp *l = NULL;

	irqstate_t s = spin_lock(&proc_tree_lock);
	struct proc *p = pid == 0 ? curproc() : proc_find(pid);
	if (p != NULL) {
		spin_acquire(&p->lock);
		id = MAX(id, 1u);
		while (l == NULL && id < p->next_id)
			l = lwp_lock_by_id(p, id++);
		if (l != NULL) {
			fill_lwp_info(l, i);
			spin_release(&l->lock);
		}
		spin_release(&p->lock);
	}
	spin_unlock(&proc_tree_lock, s);
	return l != NULL ? (int64_t)i->id : -ESRCH;
}

struct address_space *proc_hold_as(int pid)
{
	struct address_space *as = NULL;

	irqstate_t s = spin_lock(&proc_tree_lock);
	struct proc *p = pid == 0 ? curproc() : proc_find(pid);
	if (p != NULL) {
		spin_acquire(&p->lock);
		as = p->as;
		if (as != NULL)
			as_hold(as);
		spin_release(&p->lock);
	}
	spin_unlock(&proc_tree_lock, s);
	return as;
}
