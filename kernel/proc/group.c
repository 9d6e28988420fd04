/*
 * group.c - process groups and sessions (POSIX, 3.290 and 3.337): their members, and the rules
 * for a change of membership.
 *
 * A group has no data except its members.  It exists until its last member has been waited for.
 * The same holds for a session.  All members of a group are in the same session.  Both are looked
 * up by hash chains of processes.  proc_tree_lock guards all data here.
 *
 * The console is always the controlling terminal of the first process's session.  No other
 * session has a terminal.
 */
#include <kern/cpu.h>
#include <kern/printk.h>
#include <kern/proc.h>
#include <weft/errno.h>
#include "impl.h"

#define ID_HASH 256

static struct list groups[ID_HASH];   /* by group_link */
static struct list sessions[ID_HASH]; /* by session_link */

void group_init(void)
{
	for (unsigned i = 0; i < ID_HASH; i++) {
		list_init(&groups[i]);
		list_init(&sessions[i]);
	}
}

static void join_group(struct proc *p, int pgrp)
{
	p->pgrp = pgrp;
	list_push_back(&groups[(unsigned)pgrp % ID_HASH], &p->group_link);
}

static void join_session(struct proc *p, int sid)
{
	p->sid = sid;
	list_push_back(&sessions[(unsigned)sid % ID_HASH], &p->session_link);
}

void group_enter(struct proc *p, int pgrp, int sid)
{
	join_group(p, pgrp);
	join_session(p, sid);
}

void group_leave(struct proc *p)
{
	list_remove(&p->group_link);
	list_remove(&p->session_link);
}

/* Any member of the group (all are in the same session); NULL: there is no such group. */
static const struct proc *group_member(int pgrp)
{
	LIST_FOREACH (&groups[(unsigned)pgrp % ID_HASH], p, struct proc, group_link)
		if (p->pgrp == pgrp)
			return p;
	return NULL;
}

bool group_in_session(int pgrp, int sid)
{
	const struct proc *p = group_member(pgrp);

	assert(spin_held(&proc_tree_lock));
	return p != NULL && p->sid == sid;
}

bool group_id_used(int id)
{
	if (group_member(id) != NULL)
		return true;
	LIST_FOREACH (&sessions[(unsigned)id % ID_HASH], p, struct proc, session_link)
		if (p->sid == id)
			return true;
	return false;
}

bool proc_has_console(const struct proc *p)
{
	return p->sid == init_proc->sid;
}

int proc_kill_group(int pgrp, int sig)
{
	int r = -ESRCH;

	irqstate_t s = spin_lock(&proc_tree_lock);
	LIST_FOREACH (&groups[(unsigned)pgrp % ID_HASH], p, struct proc, group_link)
		if (p->pgrp == pgrp && !p->zombie) {
			r = 0;
			proc_signal(p, sig);
		}
	spin_unlock(&proc_tree_lock, s);
	return r;
}

int proc_set_group(int pid, int pgrp)
{
	struct proc *me = curproc();
	int err = 0;

	if (pgrp < 0)
		return -EINVAL;
	irqstate_t s = spin_lock(&proc_tree_lock);
	struct proc *p = pid == 0 ? me : proc_find(pid);
	if (p == NULL || (p != me && p->parent != me))
		err = -ESRCH;
	else if (p != me && __atomic_load_n(&p->execed, __ATOMIC_RELAXED))
		err = -EACCES;
	else if (p->sid == p->pid || p->sid != me->sid)
		err = -EPERM;
	else if (pgrp != 0 && pgrp != p->pid && !group_in_session(pgrp, p->sid))
		err = -EPERM;
	if (err == 0) {
		list_remove(&p->group_link);
		join_group(p, pgrp == 0 ? p->pid : pgrp);
	}
	spin_unlock(&proc_tree_lock, s);
	return err;
}

int proc_set_session(void)
{
	struct proc *me = curproc();
	int r = -EPERM;

	irqstate_t s = spin_lock(&proc_tree_lock);
	if (group_member(me->pid) == NULL) {
		group_leave(me);
		group_enter(me, me->pid, me->pid);
		r = me->pid;
	}
	spin_unlock(&proc_tree_lock, s);
	return r;
}
