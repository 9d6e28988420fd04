/*
 * class.c - the scheduling classes and what LWPs inherit; which LWPs a call means.
 *
 * Lock order: proc_tree_lock, p->lock, l->lock.  A walk holds proc_tree_lock throughout, so that no
 * process is created or freed.  It holds p->lock for each process.  A walk finds all LWPs of a
 * kind, because a new LWP inherits under one of these two locks (sched_inherit).
 */
#include <kern/ksync.h>
#include <kern/proc.h>
#include <kern/sched.h>
#include <weft/errno.h>

const struct sched_class *class_by_id(int cid)
{
	static const struct sched_class *const classes[WEFT_NCLASS] = {
		[WEFT_CLASS_SYS] = &sys_class,
		[WEFT_CLASS_TS] = &ts_class,
		[WEFT_CLASS_RT] = &rt_class,
		[WEFT_CLASS_NT] = &nt_class,
	};
	return cid >= 0 && cid < WEFT_NCLASS ? classes[cid] : NULL;
}

int class_check(const struct pcparms *parms)
{
	const struct sched_class *c = class_by_id(parms->pc_cid);

	return c != NULL ? c->check(parms) : -EINVAL;
}

void class_set(struct lwp *l, const struct pcparms *parms)
{
	const struct sched_class *c = class_by_id(parms->pc_cid);
	bool fresh = l->sclass != c;

	l->sclass = c;
	c->set(l, parms, fresh);
	l->slice_left = sched_slice_rest(l, l->slice_left);
}

void sched_inherit(struct lwp *l, const struct lwp *parent, bool process)
{
	if (parent == NULL) {
		const struct pcparms defaults = {.ts = {TS_NOCHANGE, TS_NOCHANGE}};
		l->sclass = &ts_class;
		l->sclass->set(l, &defaults, true);
		l->pset = 0;
		l->bound = PBIND_NONE;
		return;
	}
	l->sclass = parent->sclass;
	l->cl = parent->cl;
	sched_own_pri(l, parent->own_pri); /* a new LWP gets no inherited priority */
	l->pset = parent->pset;
	l->bound = parent->bound;
	l->sclass->fork(l, process);
}

static void set_inherited(struct lwp *l, void *arg)
{
	l->inherited = *(int *)arg;
	sched_own_pri(l, l->own_pri);
}

int sched_inherit_pri(struct lwp *l, int pri)
{
	irqstate_t s = spin_lock(&l->lock);
	sched_change(l, set_inherited, &pri);
	int now = l->pri;
	spin_unlock(&l->lock, s);
	return now;
}

/* --- which LWPs ------------------------------------------------------------------------ */

struct walk {
	int idtype, id;
	void (*fn)(struct lwp *, void *);
	void *arg;
	bool found;
};

/* l->lock held. */
static void walk_lwp(struct lwp *l, struct walk *w)
{
	if (l->state == LWP_ST_ZOMB || (w->idtype == WEFT_P_CID && l->sclass->cid != w->id))
		return;
	w->found = true;
	w->fn(l, w->arg);
}

static bool walk_means(const struct proc *p, const struct walk *w)
{
	switch (w->idtype) {
	case WEFT_P_PID:
		return p->pid == w->id;
	case WEFT_P_PPID:
		return p->parent != NULL && p->parent->pid == w->id;
	case WEFT_P_PGID:
		return p->pgrp == w->id;
	case WEFT_P_SID:
		return p->sid == w->id;
	default:
		return true;
	}
}

static bool each_of_process(struct proc *p, void *arg)
{
	struct walk *w = arg;

	if (p->zombie || !walk_means(p, w))
		return false;
	spin_acquire(&p->lock);
	LIST_FOREACH (&p->lwps, l, struct lwp, proc_link) {
		spin_acquire(&l->lock);
		walk_lwp(l, w);
		spin_release(&l->lock);
		inherit_pri_changed(l);
	}
	spin_release(&p->lock);
	return false;
}

/* The caller's own id of a type.  proc_tree_lock held. */
static int own_id(int idtype)
{
	const struct proc *p = curproc();

	switch (idtype) {
	case WEFT_P_PID:
		return p->pid;
	case WEFT_P_PPID:
		return p->parent ? p->parent->pid : 0;
	case WEFT_P_PGID:
		return p->pgrp;
	case WEFT_P_SID:
		return p->sid;
	case WEFT_P_CID:
		return curlwp()->sclass->cid;
	case WEFT_P_LWPID:
		return curlwp()->id;
	default:
		return 0;
	}
}

int procset_each(int idtype, int id, void (*fn)(struct lwp *, void *), void *arg)
{
	struct walk w = {.idtype = idtype, .id = id, .fn = fn, .arg = arg};

	if (idtype < WEFT_P_PID || idtype > WEFT_P_LWPID)
		return -EINVAL;
	irqstate_t s = spin_lock(&proc_tree_lock);
	if (id == WEFT_P_MYID)
		w.id = own_id(idtype);
	if (idtype == WEFT_P_LWPID) {
		struct proc *p = curproc();
		spin_acquire(&p->lock);
		struct lwp *l = lwp_lock_by_id(p, w.id);
		if (l != NULL) {
			walk_lwp(l, &w);
			spin_release(&l->lock);
			inherit_pri_changed(l);
		}
		spin_release(&p->lock);
	} else if (idtype == WEFT_P_PID) {
		struct proc *p = proc_find(w.id);
		if (p != NULL)
			each_of_process(p, &w);
	} else if ((idtype != WEFT_P_UID && idtype != WEFT_P_GID) || w.id == 0) {
		proc_each(each_of_process, &w);
	}
	spin_unlock(&proc_tree_lock, s);
	return w.found ? 0 : -ESRCH;
}
