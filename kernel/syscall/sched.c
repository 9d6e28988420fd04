/*
 * sched.c - the system calls on scheduling classes, CPUs and processor sets.  There is one
 * user, with all rights, so no call fails with EPERM.  (idtype, id) selects the LWPs of a
 * call (weft/procset.h).
 */
#include <kern/cache.h>
#include <kern/cpu.h>
#include <kern/proc.h>
#include <kern/sched.h>
#include <kern/sync.h>
#include <kern/syscall.h>
#include <kern/usercopy.h>

/* --- classes ------------------------------------------------------------------------------- */

static int class_info(int cmd, uint64_t user)
{
	struct pcinfo info;
	const struct sched_class *c = NULL;

	if (copyin(&info, user, sizeof(info)) != 0)
		return -EFAULT;
	if (cmd == PC_GETCID) {
		info.pc_clname[PC_CLNMSZ - 1] = '\0';
		for (int i = 0; i < WEFT_NCLASS && c == NULL; i++)
			if (strcmp(class_by_id(i)->name, info.pc_clname) == 0)
				c = class_by_id(i);
	} else {
		c = class_by_id(info.pc_cid);
	}
	if (c == NULL)
		return -EINVAL;
	static const int16_t maxpri[WEFT_NCLASS] = {
		[WEFT_CLASS_TS] = 60, [WEFT_CLASS_RT] = RT_LEVELS - 1, [WEFT_CLASS_NT] = 31};
	memset(&info, 0, sizeof(info));
	info.pc_cid = c->cid;
	info.pc_maxpri = maxpri[c->cid];
	strlcpy(info.pc_clname, c->name, sizeof(info.pc_clname));
	return copyout(user, &info, sizeof(info)) != 0 ? -EFAULT : WEFT_NCLASS;
}

static void set_parms(struct lwp *l, void *arg)
{
	class_set(l, arg);
}

static void change_parms(struct lwp *l, void *arg)
{
	sched_change(l, set_parms, arg);
}

static int priocntl_setparms(int idtype, int id, uint64_t user)
{
	struct pcparms to;

	if (copyin(&to, user, sizeof(to)) != 0)
		return -EFAULT;
	int err = class_check(&to);
	return err != 0 ? err : procset_each(idtype, id, change_parms, &to);
}

struct getting {
	int cid; /* or PC_CLNULL */
	bool found;
	int pri, pid;
	struct pcparms parms;
};

static void get_parms(struct lwp *l, void *arg)
{
	struct getting *g = arg;

	if ((g->cid != PC_CLNULL && g->cid != l->sclass->cid) || (g->found && l->pri <= g->pri))
		return;
	g->found = true;
	g->pri = l->pri;
	g->pid = l->proc->pid;
	memset(&g->parms, 0, sizeof(g->parms));
	g->parms.pc_cid = l->sclass->cid;
	l->sclass->get(l, &g->parms);
}

static int priocntl_getparms(int idtype, int id, uint64_t user)
{
	struct getting g = {0};

	if (copyin(&g.parms, user, sizeof(g.parms)) != 0)
		return -EFAULT;
	g.cid = g.parms.pc_cid;
	if (g.cid != PC_CLNULL && class_by_id(g.cid) == NULL)
		return -EINVAL;
	int err = procset_each(idtype, id, get_parms, &g);
	if (err != 0)
		return err;
	if (!g.found)
		return -ESRCH;
	return copyout(user, &g.parms, sizeof(g.parms)) != 0 ? -EFAULT : g.pid;
}

/* Only one LWP at a time writes a table; the classes read it without a lock (ts.c). */
static struct kmutex table_lock = KMUTEX_INIT(table_lock, "class table");

static int priocntl_admin(uint64_t user)
{
	struct pcadmin a;

	if (copyin(&a, user, sizeof(a)) != 0)
		return -EFAULT;
	const struct sched_class *c = class_by_id(a.pc_cid);
	if (c == NULL || c->table == NULL || a.pc_size != c->table_size)
		return -EINVAL;
	if (a.pc_cmd == PC_GETTABLE)
		return copyout(a.pc_table, c->table, c->table_size);
	if (a.pc_cmd != PC_SETTABLE)
		return -EINVAL;
	void *fresh = kmalloc(c->table_size);
	if (fresh == NULL)
		return -ENOMEM;
	int err = copyin(fresh, a.pc_table, c->table_size);
	if (err == 0)
		err = c->check_table(fresh);
	if (err == 0) {
		kmutex_enter(&table_lock);
		/* Whole words, so that a reader sees no half-written number. */
		for (size_t i = 0; i < c->table_size / sizeof(uint32_t); i++)
			__atomic_store_n((uint32_t *)c->table + i, ((uint32_t *)fresh)[i],
					 __ATOMIC_RELAXED);
		kmutex_exit(&table_lock);
	}
	kfree(fresh);
	return err;
}

struct niceness {
	int value;
	bool found, refused;
};

static void get_nice(struct lwp *l, void *arg)
{
	struct niceness *n = arg;

	if (l->sclass->get_nice == NULL)
		return;
	int value = l->sclass->get_nice(l);
	if (!n->found || value < n->value)
		n->value = value;
	n->found = true;
}

static void apply_nice(struct lwp *l, void *arg)
{
	l->sclass->set_nice(l, ((struct niceness *)arg)->value);
}

static void set_nice(struct lwp *l, void *arg)
{
	struct niceness *n = arg;

	if (l->sclass->set_nice == NULL)
		return;
	n->found = true;
	sched_change(l, apply_nice, n);
}

static int priocntl_donice(int idtype, int id, uint64_t user)
{
	struct pcnice c;
	struct niceness n = {0};

	if (copyin(&c, user, sizeof(c)) != 0)
		return -EFAULT;
	if (c.pc_op != PC_GETNICE && c.pc_op != PC_SETNICE)
		return -EINVAL;
	n.value = MAX(-20, MIN(c.pc_val, 19));
	int err = procset_each(idtype, id, c.pc_op == PC_GETNICE ? get_nice : set_nice, &n);
	if (err != 0)
		return err;
	if (!n.found)
		return -EINVAL;
	c.pc_val = n.value;
	return copyout(user, &c, sizeof(c));
}

/*
 * priocntl(idtype, id, command, argument): classes and their parameters (Solaris: priocntl(2);
 * weft/priocntl.h has the argument of each command).  PC_GETCID and PC_GETCLINFO return the number
 * of classes, PC_GETPARMS the pid of the LWP that it describes, the other commands 0.  PC_SETPARMS
 * and PC_SETNICE put an LWP behind the LWPs of equal priority, with a new slice.
 * EFAULT: argument; EINVAL: no such command, type of id or class, parameters that the class
 * does not have, a table of the wrong size or with invalid values, PC_DONICE if no selected LWP's
 * class has nice values; ESRCH: no such LWP; ENOMEM: no memory for a table.
 */
int64_t sys_priocntl(const uint64_t arg[6])
{
	int idtype = arg[0], id = arg[1];

	switch ((int)arg[2]) {
	case PC_GETCID:
	case PC_GETCLINFO:
		return class_info(arg[2], arg[3]);
	case PC_SETPARMS:
		return priocntl_setparms(idtype, id, arg[3]);
	case PC_GETPARMS:
		return priocntl_getparms(idtype, id, arg[3]);
	case PC_ADMIN:
		return priocntl_admin(arg[3]);
	case PC_DONICE:
		return priocntl_donice(idtype, id, arg[3]);
	default:
		return -EINVAL;
	}
}

/* --- CPUs and sets ------------------------------------------------------------------------ */

/* Stores an old value in user memory, unless the pointer is NULL. */
static int64_t give_old(int err, uint64_t user, int32_t old)
{
	return err != 0 || user == 0 ? err : copyout(user, &old, sizeof(old));
}

/*
 * processor_bind(idtype, id, cpu, int *old): from now on these LWPs run on this CPU only;
 * PBIND_NONE: on any CPU of their set.  PBIND_QUERY changes nothing.  *old: the CPU to which an
 * LWP was bound, or PBIND_NONE.
 * EINVAL: type of id, no such CPU, an offline CPU, or a CPU that is not in the LWPs' set
 * (no LWP is changed then); ESRCH: no such LWP; EFAULT: old (the change is made).
 */
int64_t sys_processor_bind(const uint64_t arg[6])
{
	int old = PBIND_NONE;
	int err = processor_bind(arg[0], arg[1], arg[2], &old);
	return give_old(err, arg[3], old);
}

/*
 * p_online(cpu, flag) = the state that the CPU had; flag: P_ONLINE, P_OFFLINE, P_STATUS.  When the
 * call returns, no LWP runs on an offline CPU.  Waits until the LWP on this CPU leaves the kernel.
 * EINVAL: no such CPU or flag; EBUSY: an LWP is bound to the CPU, or it is the last CPU of the
 * default set or of a set that has LWPs.
 */
int64_t sys_p_online(const uint64_t arg[6])
{
	return p_online(arg[0], arg[1]);
}

/* pset_create(int *id): creates a set without CPUs.  ENOMEM: WEFT_MAXPSET exist; EFAULT: id. */
int64_t sys_pset_create(const uint64_t arg[6])
{
	int id;
	int err = pset_create(&id);
	if (err != 0)
		return err;
	err = copyout(arg[0], &id, sizeof(id));
	if (err != 0)
		pset_destroy(id);
	return err;
}

/* pset_destroy(id): moves its LWPs and CPUs to the default set.  EINVAL: no such set. */
int64_t sys_pset_destroy(const uint64_t arg[6])
{
	return pset_destroy(arg[0]);
}

/*
 * pset_assign(id, cpu, int *old): moves the CPU to this set (PS_NONE: the default set;
 * PS_QUERY: changes nothing).  *old: its set before.  When the call returns, only LWPs of the
 * new set run on the CPU.  Waits as p_online does.
 * EINVAL: no such CPU or set; EBUSY: as for p_online; EFAULT: old (the change is made).
 */
int64_t sys_pset_assign(const uint64_t arg[6])
{
	int old = PS_NONE;
	int err = pset_assign(arg[0], arg[1], &old);
	return give_old(err, arg[2], old);
}

/*
 * pset_bind(set, idtype, id, int *old): moves these LWPs to this set (PS_NONE, PS_QUERY,
 * PS_MYID).  *old: the set of one of them before.
 * EINVAL: type of id, no such set, or a set without an online CPU; EBUSY: an LWP is bound to a
 * CPU of another set (no LWP is changed then); ESRCH: no such LWP; EFAULT: old (the change is
 * made).
 */
int64_t sys_pset_bind(const uint64_t arg[6])
{
	int old = PS_NONE;
	int err = pset_bind(arg[0], arg[1], arg[2], &old);
	return give_old(err, arg[3], old);
}

/* Stores `first` plus the number of each set bit of mask in a user array of *n elements.  *n gets
 * the number of set bits. */
static int64_t give_list(uint64_t mask, int first, uint64_t list, uint64_t n_user)
{
	uint32_t room, n = 0;

	if (n_user == 0)
		return 0;
	if (copyin(&room, n_user, sizeof(room)) != 0)
		return -EFAULT;
	for (unsigned i = 0; i < 64; i++) {
		int32_t id = first + i;
		if (!(mask >> i & 1))
			continue;
		if (list != 0 && n < room && copyout(list + n * sizeof(id), &id, sizeof(id)) != 0)
			return -EFAULT;
		n++;
	}
	return copyout(n_user, &n, sizeof(n));
}

/*
 * pset_info(set, int *type, unsigned *n, int *cpus): gets the type of a set (PS_NONE, PS_MYID),
 * the number of its CPUs, and the CPUs, at most the old *n.  Each of the three may be NULL.
 * EINVAL: no such set; EFAULT: one of the three.
 */
int64_t sys_pset_info(const uint64_t arg[6])
{
	int32_t type = PS_PRIVATE;
	uint64_t mask;
	int id = arg[0];

	if (id == PS_MYID)
		id = curlwp()->pset == 0 ? PS_NONE : curlwp()->pset;
	int err = pset_cpus(id, &mask);
	if (err != 0)
		return err;
	if (id == PS_NONE)
		type = PS_NONE;
	if (arg[1] != 0 && copyout(arg[1], &type, sizeof(type)) != 0)
		return -EFAULT;
	return give_list(mask, 0, arg[3], arg[2]);
}

/*
 * pset_list(int *ids, unsigned *n): gets the number of sets, and their ids, at most the old *n.
 * Both may be NULL.
 * EFAULT: one of them.
 */
int64_t sys_pset_list(const uint64_t arg[6])
{
	return give_list(pset_list(), 1, arg[0], arg[1]);
}
