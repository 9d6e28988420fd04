/*
 * cpus.c - which LWP may run where: CPUs online and offline, processor sets, binding.
 *
 * cpu_lock, which sleeps, serializes all of these calls.  The fields that the dispatcher reads
 * (disp.h) change under the locks that the dispatcher holds, in this order:
 *
 *	- the CPU is closed: its bit leaves its set's `open`, and c->active_set becomes none with
 *	  the CPU's queue locked.  From then on no LWP is put on this queue;
 *	- the LWPs that wait on its queue are sent to other CPUs.  The CPU is told to look again, so
 *	  that the LWP that runs on it leaves at its next return to user mode.  When the call
 *	  returns, that has happened;
 *	- the CPU is opened, perhaps for another set.  It is told again, because it may have work to
 *	  steal.
 *
 * An LWP bound to a CPU cannot be sent elsewhere, so this CPU cannot be closed (EBUSY).  An offline
 * CPU runs no LWP.  It still handles the timers that were armed on it, and the device interrupts
 * that are directed to it.
 *
 * Lock order: cpu_lock, proc_tree_lock, p->lock, l->lock, a dispatch queue.
 */
#include "queue.h"
#include <kern/proc.h>
#include <kern/sync.h>
#include <kern/timing.h>
#include <weft/errno.h>

struct pset psets[WEFT_MAXPSET + 1] = {[0].used = true};
static struct kmutex cpu_lock = KMUTEX_INIT(cpu_lock, "cpu_lock");

static struct cpu *cpu_by_id(int id)
{
	return id >= 0 && id < (int)ncpu ? cpus[id] : NULL;
}

/* User space counts the sets from 1. */
static struct pset *pset_by_id(int id)
{
	if (id == PS_NONE)
		return &psets[0];
	return id > 0 && id <= WEFT_MAXPSET && psets[id].used ? &psets[id] : NULL;
}

static int id_of(int set)
{
	return set == 0 ? PS_NONE : set;
}

/* --- which LWP is where ------------------------------------------------------------------ */

/* The numbers of LWPs that decide whether a change is allowed. */
struct census {
	int set, cpu;           /* in: of this set, bound to this CPU */
	unsigned in_set, bound; /* out: LWPs there */
};

static void census_count(struct lwp *l, void *arg)
{
	struct census *c = arg;
	c->in_set += l->pset == c->set;
	c->bound += l->bound == c->cpu;
}

/* Counts over all LWPs.  A count of 0 stays 0, because a new LWP inherits its set and binding. */
static struct census take_census(int set, int cpu)
{
	struct census c = {.set = set, .cpu = cpu};
	procset_each(WEFT_P_ALL, 0, census_count, &c);
	return c;
}

/* --- closing and opening ---------------------------------------------------------------- */

static void cpu_set_active(struct cpu *c, int set)
{
	irqstate_t s = spin_lock(&c->dispq->lock);
	c->active_set = set;
	c->need_resched = 1; /* before the LWP that runs there can put itself back (switch.c) */
	spin_unlock(&c->dispq->lock, s);
}

/* Sends the LWPs that wait for c, and may not run there any more, to other CPUs. */
static void cpu_drain(struct cpu *c)
{
	struct dispq *q = c->dispq;

	for (;;) {
		irqstate_t s = spin_lock(&q->lock);
		struct lwp *l = runq_first(&q->free);
		if (l != NULL)
			dispq_remove(q, l);
		spin_release(&q->lock);
		if (l != NULL)
			sched_place(l);
		irq_restore(s);
		if (l == NULL)
			return;
	}
}

/*
 * Does c run an LWP that may not be there?  Takes no lock: a caller that polls under a lock which
 * the LWP needs on its way off might keep it there.  The structure of the LWP is type-stable while
 * interrupts are off.  The fields that are read here change under cpu_lock alone.
 */
static bool runs_stranger(struct cpu *c)
{
	irqstate_t s = irq_save();
	const struct lwp *l = __atomic_load_n(&c->lwp, __ATOMIC_ACQUIRE);
	bool stranger = l != c->idle && !cpu_may_run(c, l);
	irq_restore(s);
	return stranger;
}

/* From now on c takes no unbound LWP.  When this returns, those that it had are elsewhere. */
static void close_cpu(struct cpu *c)
{
	__atomic_fetch_and(&psets[c->pset].open, ~(1ull << c->id), __ATOMIC_SEQ_CST);
	cpu_set_active(c, SET_NONE);
	cpu_drain(c);
	irqstate_t s = irq_save();
	resched(c);
	irq_restore(s);
	/* The LWP on c enters the kernel within an interrupt's time; if it is in a system call,
	 * that may take longer.  If c is this CPU, the caller is that LWP, and leaves here. */
	while (runs_stranger(c)) {
		preempt_point();
		cpu_pause();
	}
}

/* c takes the unbound LWPs of its set. */
static void open_cpu(struct cpu *c)
{
	cpu_set_active(c, c->pset);
	__atomic_fetch_or(&psets[c->pset].open, 1ull << c->id, __ATOMIC_SEQ_CST);
	irqstate_t s = irq_save();
	resched(c);
	irq_restore(s);
}

/* Must c stay in its set?  It must if it is the last open CPU of the default set, or of a set that
 * has LWPs. */
static bool cpu_needed(const struct cpu *c, const struct census *n)
{
	bool last = (psets[c->pset].open & ~(1ull << c->id)) == 0;
	return last && (c->pset == 0 || n->in_set != 0);
}

static void move_cpu(struct cpu *c, int set)
{
	if (!c->offline)
		close_cpu(c);
	psets[c->pset].cpus &= ~(1ull << c->id);
	psets[set].cpus |= 1ull << c->id;
	c->pset = set;
	if (!c->offline)
		open_cpu(c);
}

/* --- online and offline ----------------------------------------------------------------- */

int p_online(int cpu, int flag)
{
	struct cpu *c = cpu_by_id(cpu);
	int err = 0;

	if (c == NULL || flag < P_OFFLINE || flag > P_STATUS)
		return -EINVAL;
	kmutex_enter(&cpu_lock);
	int old = c->offline ? P_OFFLINE : P_ONLINE;
	if (flag == P_OFFLINE && !c->offline) {
		struct census n = take_census(c->pset, cpu);
		if (n.bound != 0 || cpu_needed(c, &n)) {
			err = -EBUSY;
		} else {
			c->offline = true;
			close_cpu(c);
		}
	} else if (flag == P_ONLINE && c->offline) {
		c->offline = false;
		open_cpu(c);
	}
	kmutex_exit(&cpu_lock);
	return err != 0 ? err : old;
}

/* --- binding to a CPU -------------------------------------------------------------------- */

struct binding {
	int to;  /* CPU, or set as the kernel numbers them */
	int old; /* that of the last LWP of the walk */
	int err;
};

static void check_bind(struct lwp *l, void *arg)
{
	struct binding *b = arg;
	b->old = l->bound;
	if (b->to >= 0 && cpus[b->to]->pset != l->pset)
		b->err = -EINVAL;
}

static void set_bound(struct lwp *l, void *arg)
{
	l->bound = ((struct binding *)arg)->to;
}

static void do_bind(struct lwp *l, void *arg)
{
	sched_change(l, set_bound, arg);
}

int processor_bind(int idtype, int id, int cpu, int *old)
{
	struct cpu *c = cpu_by_id(cpu);
	struct binding b = {.to = cpu};

	if (c == NULL && cpu != PBIND_NONE && cpu != PBIND_QUERY)
		return -EINVAL;
	kmutex_enter(&cpu_lock);
	int err = c != NULL && c->offline ? -EINVAL : procset_each(idtype, id, check_bind, &b);
	if (err == 0)
		err = b.err;
	if (err == 0 && cpu != PBIND_QUERY)
		err = procset_each(idtype, id, do_bind, &b);
	kmutex_exit(&cpu_lock);
	*old = b.old;
	return err;
}

/* --- sets ----------------------------------------------------------------------------------- */

int pset_create(int *id)
{
	int err = -ENOMEM;

	kmutex_enter(&cpu_lock);
	for (int i = 1; i <= WEFT_MAXPSET && err != 0; i++)
		if (!psets[i].used) {
			psets[i] = (struct pset){.used = true};
			*id = i;
			err = 0;
		}
	kmutex_exit(&cpu_lock);
	return err;
}

static void leave_set(struct lwp *l, void *arg)
{
	l->pset = 0;
}

static void lwp_evict(struct lwp *l, void *arg)
{
	if (l->pset == *(int *)arg)
		sched_change(l, leave_set, NULL);
}

int pset_destroy(int id)
{
	int err = -EINVAL;

	kmutex_enter(&cpu_lock);
	struct pset *ps = pset_by_id(id);
	if (ps != NULL && id != PS_NONE) {
		/* Its LWPs leave first, because they could not run without CPUs. */
		procset_each(WEFT_P_ALL, 0, lwp_evict, &id);
		for (unsigned i = 0; i < ncpu; i++)
			if (ps->cpus >> i & 1)
				move_cpu(cpus[i], 0);
		ps->used = false;
		err = 0;
	}
	kmutex_exit(&cpu_lock);
	return err;
}

int pset_assign(int id, int cpu, int *old)
{
	struct cpu *c = cpu_by_id(cpu);
	int err = 0;

	kmutex_enter(&cpu_lock);
	struct pset *ps = pset_by_id(id);
	if (c == NULL || (id != PS_QUERY && ps == NULL)) {
		err = -EINVAL;
	} else {
		*old = id_of(c->pset);
		if (id != PS_QUERY && ps != &psets[c->pset]) {
			struct census n = take_census(c->pset, cpu);
			if (n.bound != 0 || (!c->offline && cpu_needed(c, &n)))
				err = -EBUSY;
			else
				move_cpu(c, ps - psets);
		}
	}
	kmutex_exit(&cpu_lock);
	return err;
}

static void check_set(struct lwp *l, void *arg)
{
	struct binding *b = arg;
	b->old = id_of(l->pset);
	if (b->to >= 0 && l->bound != PBIND_NONE && cpus[l->bound]->pset != b->to)
		b->err = -EBUSY;
}

static void set_pset(struct lwp *l, void *arg)
{
	l->pset = ((struct binding *)arg)->to;
}

static void do_set(struct lwp *l, void *arg)
{
	sched_change(l, set_pset, arg);
}

int pset_bind(int id, int idtype, int who, int *old)
{
	struct binding b = {.to = -1};
	int err = 0;

	kmutex_enter(&cpu_lock);
	if (id == PS_MYID)
		id = id_of(curlwp()->pset);
	struct pset *ps = pset_by_id(id);
	if (id != PS_QUERY && (ps == NULL || ps->open == 0))
		err = -EINVAL;
	else if (id != PS_QUERY)
		b.to = ps - psets;
	if (err == 0)
		err = procset_each(idtype, who, check_set, &b);
	if (err == 0)
		err = b.err;
	if (err == 0 && id != PS_QUERY)
		err = procset_each(idtype, who, do_set, &b);
	kmutex_exit(&cpu_lock);
	*old = b.old;
	return err;
}

int pset_cpus(int id, uint64_t *mask)
{
	kmutex_enter(&cpu_lock);
	struct pset *ps = pset_by_id(id == PS_MYID ? id_of(curlwp()->pset) : id);
	if (ps != NULL)
		*mask = ps->cpus;
	kmutex_exit(&cpu_lock);
	return ps != NULL ? 0 : -EINVAL;
}

uint64_t pset_list(void)
{
	uint64_t found = 0;

	kmutex_enter(&cpu_lock);
	for (unsigned i = 1; i <= WEFT_MAXPSET; i++)
		if (psets[i].used)
			found |= 1ull << (i - 1);
	kmutex_exit(&cpu_lock);
	return found;
}

void sched_cpu_load(struct cpu *c, uint32_t *waiting, int32_t *pid, uint32_t *lwpid)
{
	/* The structure of the LWP is type-stable.  Its process cannot be freed, because
	 * proc_tree_lock is held.  The CPU may run another LWP by now: the answer is a snapshot. */
	irqstate_t s = spin_lock(&proc_tree_lock);
	struct lwp *l = c->lwp;
	spin_acquire(&l->lock);
	*waiting = dispq_count(c->dispq);
	*pid = l->proc ? l->proc->pid : 0;
	*lwpid = l->proc ? l->id : 0;
	spin_release(&l->lock);
	spin_unlock(&proc_tree_lock, s);
}
