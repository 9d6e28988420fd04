/*
 * system.c - system calls that look at the system: processes, LWPs, CPUs, memory.
 * What they report of others is a moment's view, taken under the locks.
 */
#include <kern/cpu.h>
#include <kern/mm.h>
#include <kern/proc.h>
#include <kern/sched.h>
#include <kern/syscall.h>
#include <kern/timing.h>

struct search {
	int pid;
	struct proc *best;
};

static bool nearest(struct proc *p, void *arg)
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
		.nlwp = p->nlwp,
		.state = p->zombie ? LWP_ST_ZOMB : LWP_ST_IDLE,
		.start = p->start,
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

/*
 * procinfo(pid, struct weft_procinfo *): the process with the smallest pid that is
 * not below pid.  Returns its pid.  ESRCH: there is none; EFAULT.
 */
int64_t sys_procinfo(const uint64_t arg[6])
{
	struct search find = {.pid = arg[0]};
	struct weft_procinfo i;

	irqstate_t s = spin_lock(&proc_tree_lock);
	proc_each(nearest, &find);
	if (find.best != NULL) {
		spin_acquire(&find.best->lock);
		fill_procinfo(find.best, &i);
		spin_release(&find.best->lock);
	}
	spin_unlock(&proc_tree_lock, s);
	if (find.best == NULL)
		return -ESRCH;
	int err = copyout(arg[1], &i, sizeof(i));
	return err != 0 ? err : i.pid;
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
	};
	const char *wchan = l->wchan; /* its LWP clears it without the lock */
	if (l->state == LWP_ST_SLEEP && wchan != NULL)
		strlcpy(i->wchan, wchan, sizeof(i->wchan));
	strlcpy(i->sclass, l->sclass->name, sizeof(i->sclass));
}

/*
 * lwp_info(pid, id, struct lwp_info *): the LWP of process pid (0: the caller's)
 * with the smallest id that is not below id.  Returns its id.  ESRCH, EFAULT.
 */
int64_t sys_lwp_info(const uint64_t arg[6])
{
	struct lwp_info i;
	struct lwp *l = NULL;

	irqstate_t s = spin_lock(&proc_tree_lock);
	struct proc *p = arg[0] == 0 ? curproc() : proc_find(arg[0]);
	if (p != NULL) {
		spin_acquire(&p->lock);
		uint32_t id = MAX((uint32_t)arg[1], 1u);
		while (l == NULL && id < p->next_id)
			l = lwp_lock_by_id(p, id++);
		if (l != NULL) {
			fill_lwp_info(l, &i);
			spin_release(&l->lock);
		}
		spin_release(&p->lock);
	}
	spin_unlock(&proc_tree_lock, s);
	if (l == NULL)
		return -ESRCH;
	int err = copyout(arg[2], &i, sizeof(i));
	return err != 0 ? err : (int64_t)i.id;
}

/*
 * msacct(pid, id, struct weft_msacct *): the microstates of LWP id of process pid (0: the
 * caller's), or with id 0 of the process: of all LWPs that it has or had, also when it
 * has exited and nobody has waited for it.  ESRCH: no such process, or no such LWP or
 * one that has exited; EFAULT.
 */
int64_t sys_msacct(const uint64_t arg[6])
{
	struct weft_msacct a = {.lwpid = arg[1]};
	struct mstimes t;
	struct lwp_counts c;
	bool found = false;

	irqstate_t s = spin_lock(&proc_tree_lock);
	struct proc *p = arg[0] == 0 ? curproc() : proc_find(arg[0]);
	if (p != NULL) {
		spin_acquire(&p->lock);
		a.pid = p->pid;
		a.nlwp = p->nlwp;
		a.created = p->start;
		struct lwp *l = a.lwpid != 0 ? lwp_lock_by_id(p, a.lwpid) : NULL;
		if (a.lwpid == 0) {
			proc_times(p, &t, &c);
			found = true;
		} else if (l != NULL) {
			found = l->state != LWP_ST_ZOMB;
			lwp_times(l, &t);
			c = (struct lwp_counts){l->nvcsw, l->nivcsw, l->minflt, l->nsyscall};
			a.created = l->created;
			spin_release(&l->lock);
		}
		spin_release(&p->lock);
	}
	spin_unlock(&proc_tree_lock, s);
	if (!found)
		return -ESRCH;
	a.now = t.now;
	a.elapsed = t.elapsed;
	memcpy(a.ms, t.ms, sizeof(a.ms));
	a.nvcsw = c.nvcsw;
	a.nivcsw = c.nivcsw;
	a.nsyscall = c.nsyscall;
	a.minflt = c.minflt;
	return copyout(arg[2], &a, sizeof(a));
}

/* cpuinfo(cpu, struct weft_cpuinfo *).  EINVAL: there is no such CPU; EFAULT. */
int64_t sys_cpuinfo(const uint64_t arg[6])
{
	if (arg[0] >= ncpu)
		return -EINVAL;
	struct cpu *c = cpus[arg[0]];
	struct weft_cpuinfo i = {
		.id = c->id,
		.apic_id = c->apic_id,
		.online = !c->offline,
		.pset = c->pset == 0 ? PS_NONE : c->pset,
		.switches = c->nswitch,
		.steals = c->nsteal,
		.ipis = c->nipi,
		.idle_ns = c->idle_ns,
	};
	sched_cpu_load(c, &i.nrunnable, &i.pid, &i.lwpid);
	return copyout(arg[1], &i, sizeof(i));
}

static bool count_proc(struct proc *p, void *arg)
{
	struct weft_sysinfo *i = arg;
	i->nproc++;
	i->nlwp += p->nlwp;
	return false;
}

/* sysinfo(struct weft_sysinfo *).  EFAULT. */
int64_t sys_sysinfo(const uint64_t arg[6])
{
	struct weft_sysinfo i = {
		.mem_total = page_total() * PAGE_SIZE,
		.mem_free = page_free_count() * PAGE_SIZE,
		.ncpu = ncpu,
	};
	i.kernel_pages = page_total() - i.mem_free / PAGE_SIZE - page_user_count();
	irqstate_t s = spin_lock(&proc_tree_lock);
	proc_each(count_proc, &i);
	spin_unlock(&proc_tree_lock, s);
	return copyout(arg[0], &i, sizeof(i));
}

/*
 * reboot(how, status): ends the machine.  WEFT_REBOOT_HALT: QEMU ends, and the
 * host tool with this status (its low 8 bits); WEFT_REBOOT_RESET.  EINVAL.
 */
int64_t sys_reboot(const uint64_t arg[6])
{
	if (arg[0] == WEFT_REBOOT_HALT)
		machine_halt((int)arg[1] & 0xff);
	if (arg[0] == WEFT_REBOOT_RESET)
		machine_reset();
	return -EINVAL;
}
