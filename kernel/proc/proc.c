/*
 * proc.c - processes: the table, signals' default actions, end, waiting.
 *
 * proc_tree_lock guards the table and the links between parents and children; a
 * process is in the table from its start until its parent has waited for it.
 * Lock order: proc_tree_lock, p->lock, l->lock.  All three are spin locks, so
 * work that may sleep (address spaces, files) is done without them.
 */
#include <kern/cache.h>
#include <kern/cpu.h>
#include <kern/exec.h>
#include <kern/kstack.h>
#include <kern/ksync.h>
#include <kern/printk.h>
#include <kern/probe.h>
#include <kern/proc.h>
#include <kern/sched.h>
#include <kern/schedctl.h>
#include <kern/space.h>
#include <kern/timing.h>
#include <kern/trace.h>
#include <weft/errno.h>
#include <weft/signal.h>
#include "impl.h"

#define PID_HASH 256

struct spinlock proc_tree_lock = SPINLOCK_INIT("process tree");
struct proc *init_proc;
static struct list all_procs = LIST_INIT(all_procs); /* in order of creation */
static struct list pid_hash[PID_HASH];
static int last_pid;
static uint64_t nprocs; /* in the table */

void proc_init(void)
{
	for (unsigned i = 0; i < PID_HASH; i++)
		list_init(&pid_hash[i]);
	group_init();
	lwp_init();
	ksync_init();
}

struct proc *proc_find(int pid)
{
	assert(spin_held(&proc_tree_lock));
	LIST_FOREACH (&pid_hash[(unsigned)pid % PID_HASH], p, struct proc, hash_link)
		if (p->pid == pid)
			return p;
	return NULL;
}

void proc_each_unlocked(bool (*fn)(struct proc *, void *), void *arg)
{
	LIST_FOREACH (&all_procs, p, struct proc, all_link)
		if (fn(p, arg))
			return;
}

void proc_each(bool (*fn)(struct proc *, void *), void *arg)
{
	assert(spin_held(&proc_tree_lock));
	proc_each_unlocked(fn, arg);
}

/* --- making and freeing -------------------------------------------------------------- */

void proc_set_name(struct proc *p, const char *path)
{
	const char *base = path;
	for (const char *s = path; *s; s++)
		if (*s == '/' && s[1] != '\0')
			base = s + 1;
	strlcpy(p->name, base, sizeof(p->name));
}

void proc_set_args(struct proc *p, const struct exec_strings *strings)
{
	size_t len = 0;

	/* The strings of argv come first, each with its NUL.  Only the part of a string that fits
	 * is read, because the caller may hold a lock, and the string may be long. */
	for (unsigned i = 0, at = 0; i < strings->argc && len < sizeof(p->args) - 1; i++) {
		if (i > 0)
			p->args[len++] = ' ';
		size_t n = strnlen(strings->buf + at, sizeof(p->args) - 1 - len);
		memcpy(p->args + len, strings->buf + at, n);
		len += n;
		at += n + 1; /* wrong if the string was cut; the loop ends then */
	}
	p->args[len] = '\0';
}

struct proc *proc_alloc(const char *name, struct address_space *as)
{
	struct proc *p = kzalloc(sizeof(*p));
	if (p == NULL)
		return NULL;
	spin_init(&p->lock, "process");
	list_init(&p->children);
	list_init(&p->lwps);
	list_init(&p->zombies);
	list_init(&p->sc_partial);
	list_init(&p->sc_full);
	sig_proc_init(p);
	kobj_table_init(&p->kobjs);
	list_init(&p->at_end);
	waitq_init(&p->lwp_waiters, "lwp_wait");
	waitq_init(&p->child_waiters, "wait");
	p->next_id = 1;
	p->start = p->began = time_now();
	proc_set_name(p, name);
	p->lwptab = kzalloc(LWPTAB_ROOT * sizeof(p->lwptab[0]));
	p->as = as != NULL ? as : as_create();
	if (p->lwptab == NULL || p->as == NULL || fdtable_init(&p->files) != 0) {
		if (p->as != as)
			as_destroy(p->as);
		kfree(p->lwptab);
		kfree(p);
		return NULL;
	}
	return p;
}

void proc_free(struct proc *p)
{
	if (p->as != NULL) {
		kobj_close_all(&p->kobjs, false);
		fdtable_destroy(&p->files);
		as_destroy(p->as);
	}
	schedctl_free_all(p);
	for (unsigned i = 0; i < LWPTAB_ROOT; i++)
		kfree(p->lwptab[i]);
	kfree(p->lwptab);
	kfree(p);
}

/*
 * Makes p the last child of `parent`; NULL: p has no parent.  proc_tree_lock held.  getppid() reads
 * ppid without the lock.  Relaxed order is enough, because no other data depends on this number.
 */
static void proc_set_parent(struct proc *p, struct proc *parent)
{
	p->parent = parent;
	__atomic_store_n(&p->ppid, parent ? parent->pid : 0, __ATOMIC_RELAXED);
	if (parent)
		list_push_back(&parent->children, &p->sibling);
}

/*
 * Gives p a pid, and enters it in the table, under the parent and in a group.  proc_tree_lock held.
 * -EAGAIN: the limit of processes is reached, or no pid is free; -EPERM: the group is not in the
 * parent's session.
 */
static int enter_table(struct proc *p, struct proc *parent, const struct spawn_args *args)
{
	bool set = args && (args->flags & SPAWN_SETPGROUP);
	int pgrp = set ? args->pgroup : parent ? parent->pgrp : 0;

	if (parent && nprocs >= parent->limit[WEFT_RLIMIT_NPROC].cur)
		return -EAGAIN;
	if (set && pgrp != 0 && !group_in_session(pgrp, parent->sid))
		return -EPERM;
	for (int tries = 0; tries < WEFT_PID_MAX; tries++) {
		last_pid = last_pid == WEFT_PID_MAX ? 2 : last_pid + 1;
		if (proc_find(last_pid) == NULL && !group_id_used(last_pid)) {
			p->pid = last_pid;
			group_enter(p, pgrp ? pgrp : p->pid, parent ? parent->sid : p->pid);
			proc_set_parent(p, parent);
			nprocs++;
			PROBE(process_new, "process pid parent", p, p->pid, parent);
			list_push_back(&all_procs, &p->all_link);
			list_push_back(&pid_hash[p->pid % PID_HASH], &p->hash_link);
			PROBE(process_name, "process name name", p, PROBE_CHARS(p->name, 0),
			      PROBE_CHARS(p->name, 1));
			return 0;
		}
	}
	return -EAGAIN;
}

static void leave_table(struct proc *p)
{
	nprocs--;
	if (p->parent)
		list_remove(&p->sibling);
	list_remove(&p->all_link);
	list_remove(&p->hash_link);
	group_leave(p);
}

int64_t proc_begin(struct proc *p, struct lwp *l, struct proc *parent,
		   const struct spawn_args *args, bool foreground)
{
	irqstate_t s = spin_lock(&proc_tree_lock);
	/* *Race:* a process forks, while a signal for its group kills it; *without this:* the child
	 * enters the table after the sender has walked it, and survives; *closed by:* the sender
	 * walks the table with proc_tree_lock, and with that lock a child of an exiting parent is
	 * refused. */
	int err = parent && parent->exiting ? -EAGAIN : enter_table(p, parent, args);
	int pid = p->pid;
	if (err == 0)
		sched_inherit(l, parent ? curlwp() : NULL, true); /* p can be found from now on */
	if (err == 0 && args && (args->flags & SPAWN_SETSCHED)) {
		spin_acquire(&l->lock);
		class_set(l, &args->sched);
		spin_release(&l->lock);
	}
	if (err == 0 && parent)
		trace_new_child(parent, p);
	if (err == 0 && parent == NULL)
		init_proc = p;
	if (err == 0 && foreground)
		console_set_pgrp(p->pgrp);
	spin_unlock(&proc_tree_lock, s);
	if (err != 0) {
		/* The LWP of p has never run, and no other LWP has seen it. */
		s = spin_lock(&p->lock);
		schedctl_detach(p, l);
		spin_unlock(&p->lock, s);
		kstack_free(l->kstack);
		kcache_free(lwp_cache, l);
		proc_free(p);
		return err;
	}
	lwp_start(l);
	return pid;
}

/* --- killing ------------------------------------------------------------------------ */

#define EXIT_PIECE 64 /* LWPs that get AST_EXIT in one hold of p->lock */

/* Posts AST_EXIT to the first n LWPs of p, except `but`, and moves them to the end of the list.
 * p->lock held. */
static void tell_some(struct proc *p, unsigned n, const struct lwp *but)
{
	for (; n > 0 && !list_empty(&p->lwps); n--) {
		struct lwp *l = LIST_FIRST(&p->lwps, struct lwp, proc_link);
		list_remove(&l->proc_link);
		list_push_back(&p->lwps, &l->proc_link);
		if (l != but)
			lwp_post_ast(l, AST_EXIT);
	}
}

/*
 * *Race:* between two pieces LWPs exit, and another LWP begins the same walk; *without this:* an
 * LWP without AST_EXIT is passed over, and the process never ends; *closed by:* the list is used as
 * a ring.  A walk takes as many steps as there were LWPs at its beginning, and each step of any
 * walk posts AST_EXIT.  Only a step of an exec leaves out its own LWP.  So the walk of an exec ends
 * early if the process is to exit.
 *
 * *Race:* between two pieces a signal comes for the process, and its sender moves LWPs that do not take
 * it to the end of the list; *without this:* the same; *closed by:* `telling`, during which a sender
 * leaves the list as it is.
 */
void proc_post_exit(struct proc *p, const struct lwp *but, irqstate_t *s)
{
	unsigned left = p->nlwp;

	p->telling++;
	while (left > EXIT_PIECE) {
		tell_some(p, EXIT_PIECE, but);
		left -= EXIT_PIECE;
		spin_unlock(&p->lock, *s);
		preempt_point();
		*s = spin_lock(&p->lock);
		if (but != NULL && p->exiting) {
			left = 0;
			break;
		}
	}
	tell_some(p, left, but);
	p->telling--;
}

/*
 * *Race:* another LWP calls exec; an LWP that proc_post_exit has not reached yet calls lwp_create
 * or exec, and the call fails; *without this:* the failing LWP returns to its program.  The program
 * exits because of the error, so the process ends instead of running the new program; *closed by:*
 * the failing call posts AST_EXIT to its own LWP before it returns.
 */
void proc_post_exit_self(void)
{
	lwp_post_ast(curlwp(), AST_EXIT);
}

/* Makes p end with this status; false: it was ending already.  p->lock held. */
static bool begin_end(struct proc *p, int status)
{
	bool first = !p->exiting;
	if (first)
		p->status = status;
	p->exiting = true;
	return first;
}

/* Also posts AST_EXIT if proc_kill has not finished: the LWP in proc_kill may not run for long. */
bool proc_kill_locked(struct proc *p, int status)
{
	bool first = begin_end(p, status);
	if (!p->exit_posted)
		tell_some(p, p->nlwp, NULL);
	p->exit_posted = true;
	return first;
}

bool proc_kill(struct proc *p, int status)
{
	irqstate_t s = spin_lock(&p->lock);
	bool first = begin_end(p, status);
	if (!p->exit_posted)
		proc_post_exit(p, NULL, &s);
	p->exit_posted = true;
	spin_unlock(&p->lock, s);
	return first;
}

void proc_out_of_memory(vaddr_t addr)
{
	struct proc *p = curproc();

	/* Several LWPs may find no memory at once.  The LWP that ends the process prints. */
	if (proc_kill(p, WEFT_W_EXITCODE(0, WEFT_SIGKILL)))
		printk("weft: out of memory: pid %d (%s) lwp %u killed at address %p, "
		       "%llu KiB resident\n",
		       p->pid, p->name, curlwp()->id, (void *)addr,
		       __atomic_load_n(&p->as->rss, __ATOMIC_RELAXED) * PAGE_SIZE / 1024);
}

/* --- end -------------------------------------------------------------------------------- */

void proc_exit(int status)
{
	proc_kill(curproc(), status);
	irq_restore(0x200);
	lwp_exit_self();
}

/* Makes the first process the parent of p's children.  proc_tree_lock held. */
static void hand_on_children(struct proc *p)
{
	while (!list_empty(&p->children)) {
		struct proc *child = LIST_FIRST(&p->children, struct proc, sibling);
		list_remove(&child->sibling);
		proc_set_parent(child, init_proc);
		if (child->zombie)
			waitq_wake_all(&init_proc->child_waiters);
	}
}

void proc_free_zombies(struct proc *p)
{
	while (!list_empty(&p->zombies)) {
		irqstate_t s = spin_lock(&p->lock);
		struct lwp *z = LIST_FIRST(&p->zombies, struct lwp, proc_link);
		list_remove(&z->proc_link);
		lwp_free_zombie(p, z);
		spin_unlock(&p->lock, s);
		preempt_point();
	}
}

void proc_last_exit(struct proc *p)
{
	struct lwp *l = curlwp();

	proc_kill(p, 0); /* needed if the last LWP called lwp_exit: no LWP may be added now */
	sig_proc_exit(p);
	upcall_proc_exit(p);
	if (p == init_proc) {
		int sig = p->status & 0x7f;
		machine_halt(sig ? 128 + sig : p->status >> 8 & 0xff);
	}
	trace_tracer_ends(p);
	robust_proc_exit(p);
	kobj_close_all(&p->kobjs, false);
	proc_free_zombies(p);
	fdtable_destroy(&p->files);

	irqstate_t s = spin_lock(&p->lock);
	struct address_space *as = p->as;
	p->rss_before = MAX(p->rss_before, as_rss_max(as));
	p->as = NULL;
	as_switch(NULL);
	spin_unlock(&p->lock, s);
	as_destroy(as);

	s = spin_lock(&proc_tree_lock);
	spin_acquire(&p->lock);
	schedctl_detach(p, l);
	proc_account_dead(p, l);
	list_remove(&l->proc_link);
	p->nlwp = 0;
	trace_ended(p);
	sig_lwp_exit(p, l, ~0ull);
	spin_release(&p->lock);
	hand_on_children(p);
	PROBE(process_exit, "process status", p, p->status, 0);
	p->zombie = true;
	kobj_set_all(&p->at_end);
	waitq_wake_all(&p->parent->child_waiters);
	if (sig_child_exited(p)) { /* the first process waits for all its children */
		list_remove(&p->sibling);
		proc_set_parent(p, init_proc);
		waitq_wake_all(&init_proc->child_waiters);
	}
	/* The parent may free p as soon as it has the lock.  From here on only l is used. */
	spin_acquire(&l->lock);
	l->proc = NULL;
	l->then = THEN_FREE;
	l->state = LWP_ST_ZOMB;
	spin_release(&proc_tree_lock);
	sched_switch(MS_SLEEP);
	panic("an exited LWP runs");
}

/* --- waiting --------------------------------------------------------------------------------- */

static void rusage_add(struct weft_rusage *to, const struct weft_rusage *a)
{
	to->utime += a->utime;
	to->stime += a->stime;
	to->nvcsw += a->nvcsw;
	to->nivcsw += a->nivcsw;
	to->minflt += a->minflt;
	to->maxrss = MAX(to->maxrss, a->maxrss);
	to->nsignals += a->nsignals;
}

static bool child_matches(const struct proc *child, const struct proc *me, int pid, int options)
{
	if (options & WEFT_WGROUP)
		return child->pgrp == pid;
	if (pid > 0)
		return child->pid == pid;
	if (pid == -1)
		return true;
	return child->pgrp == (pid == 0 ? me->pgrp : -pid);
}

/* Has c stopped or continued since its parent last asked?  If so, *status says which. */
static bool child_changed(struct proc *c, int options, int *status)
{
	spin_acquire(&c->lock);
	bool stopped = (options & WEFT_WUNTRACED) && c->sig.wait_stopped;
	bool continued = (options & WEFT_WCONTINUED) && c->sig.wait_continued;
	bool leave = options & WEFT_WNOWAIT;
	if (stopped) {
		c->sig.wait_stopped = leave;
		*status = WEFT_W_STOPCODE(c->sig.stop_sig);
	} else if (continued) {
		c->sig.wait_continued = leave;
		*status = WEFT_W_CONTINUED;
	}
	spin_release(&c->lock);
	return stopped || continued;
}

int64_t proc_wait(int pid, int options, int *status, struct weft_rusage *ru)
{
	struct proc *me = curproc();
	struct proc *found = NULL;
	int64_t r = 0;

	irqstate_t s = spin_lock(&proc_tree_lock);
	for (;;) {
		bool any = false;
		LIST_FOREACH (&me->children, c, struct proc, sibling) {
			if (!child_matches(c, me, pid, options))
				continue;
			any = true;
			if (c->zombie && !(options & WEFT_WNOEXIT)) {
				found = c;
				break;
			}
			if (!c->zombie && child_changed(c, options, status)) {
				r = c->pid;
				*ru = (struct weft_rusage){0};
				break;
			}
		}
		if (r > 0)
			break;
		if (found != NULL || (any && (options & WEFT_WNOHANG)))
			break;
		r = any ? waitq_sleep(&me->child_waiters, &proc_tree_lock, HRTIME_NEVER, SLEEP_INTR)
			: -ECHILD;
		if (r < 0)
			break;
	}
	if (found == NULL) {
		spin_unlock(&proc_tree_lock, s);
		return r;
	}
	*status = found->status;
	spin_acquire(&found->lock);
	proc_rusage(found, ru);
	spin_release(&found->lock);
	rusage_add(ru, &found->ru_children);
	if (options & WEFT_WNOWAIT) {
		r = found->pid;
		spin_unlock(&proc_tree_lock, s);
		return r;
	}
	leave_table(found);
	spin_acquire(&me->lock);
	rusage_add(&me->ru_children, ru);
	spin_release(&me->lock);
	spin_unlock(&proc_tree_lock, s);
	r = found->pid;
	proc_free(found);
	return r;
}
