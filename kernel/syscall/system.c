/*
 * system.c - system calls that describe the system: processes, LWPs, CPUs, memory.
 * Their results are a snapshot, made under the locks.
 */
#include <kern/cpu.h>
#include <kern/page.h>
#include <kern/proc.h>
#include <kern/sched.h>
#include <kern/syscall.h>
#include <kern/timing.h>
#include <kern/usercopy.h>

/*
 * procinfo(pid, struct weft_procinfo *): the process with the smallest pid that is not below
 * pid.  Returns its pid.
 * ESRCH: there is none; EFAULT: the structure.
 */
int64_t sys_procinfo(const uint64_t arg[6])
{
	struct weft_procinfo i;

	int pid = proc_info(arg[0], &i);
	if (pid < 0)
		return pid;
	int err = copyout(arg[1], &i, sizeof(i));
	return err != 0 ? err : i.pid;
}

/*
 * lwp_info(pid, id, struct lwp_info *): the LWP of process pid (0: the caller's) with the
 * smallest id that is not below id.  Returns its id.
 * ESRCH: no such process, or no such LWP; EFAULT: the structure.
 */
int64_t sys_lwp_info(const uint64_t arg[6])
{
	struct lwp_info i;

	int64_t id = lwp_info_get(arg[0], arg[1], &i);
	if (id < 0)
		return id;
	int err = copyout(arg[2], &i, sizeof(i));
	return err != 0 ? err : id;
}

/*
 * msacct(pid, id, struct weft_msacct *): gets the microstates of LWP id of process pid (0: the
 * caller's).  id 0: of the whole process, with all LWPs that it has or had.  This also works after
 * the process has exited, until its parent has waited for it.
 * ESRCH: no such process, no such LWP, or the LWP has exited; EFAULT: the structure.
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

/* cpuinfo(cpu, struct weft_cpuinfo *).  EINVAL: there is no such CPU; EFAULT: the structure. */
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

/* sysinfo(struct weft_sysinfo *).  EFAULT: the structure. */
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
 * reboot(how, status): ends the machine.  WEFT_REBOOT_HALT: QEMU ends, and the host tool ends with
 * this status (its low 8 bits).  WEFT_REBOOT_HOLD: the same, except that QEMU stays until the host
 * tool has read the caller's memory.  WEFT_REBOOT_RESET: resets the machine.  WEFT_REBOOT_FAIL: as
 * WEFT_REBOOT_HALT, except that the host tool first reads all memory, for a program that has found a
 * mistake; the machine stands still meanwhile.
 * EINVAL: how.  ENOTSUP: WEFT_REBOOT_FAIL, and the host tool does not want the memory.
 */
int64_t sys_reboot(const uint64_t arg[6])
{
	if (arg[0] == WEFT_REBOOT_HALT)
		machine_halt((int)arg[1] & 0xff);
	if (arg[0] == WEFT_REBOOT_HOLD)
		machine_hold((int)arg[1] & 0xff);
	if (arg[0] == WEFT_REBOOT_FAIL && !machine_fail((int)arg[1] & 0xff))
		return -ENOTSUP;
	if (arg[0] == WEFT_REBOOT_RESET)
		machine_reset();
	return -EINVAL;
}
