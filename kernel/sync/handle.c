/*
 * handle.c - handles and names of kernel objects (weft/kobj.h), and the calls on them.
 *
 * A handle is four times the number of its slot, plus four.  So it is never 0, as in NT.  Free
 * slots are in a list, so that all operations are O(1).
 *
 * An object is freed when its last reference is dropped.  A named object stays in the table of
 * names until then.  An LWP that finds an object there without a reference treats it as freed
 * (try_hold).
 *
 * Handle errors: EBADF: no such handle; EINVAL: the object is of another kind.
 *
 * Locks (level 4), never two at a time: a table of handles; the table of names.
 */
#include <kern/cache.h>
#include <kern/clock.h>
#include <kern/cpu.h>
#include <kern/printk.h>
#include <kern/proc.h>
#include <kern/syscall.h>
#include <kern/usercopy.h>
#include "kobj.h"

#define INHERIT_PIECE 256 /* handles that a child gets while the lock is held once */

/* --- names ------------------------------------------------------------------------------- */

#define NAME_HASH 256
static struct list names[NAME_HASH]; /* all zero: not yet used */
static struct spinlock names_lock = SPINLOCK_INIT("names of kernel objects");

static struct list *kobj_name_bucket(const char *name)
{
	uint32_t h = 2166136261u;

	for (; *name != '\0'; name++)
		h = (h ^ (uint8_t)*name) * 16777619u;
	struct list *b = &names[h % NAME_HASH];
	if (b->next == NULL)
		list_init(b);
	return b;
}

void kobj_hold(struct kobj *o)
{
	__atomic_add_fetch(&o->refs, 1, __ATOMIC_RELAXED);
}

/*
 * Adds a reference.  False: there is none left.
 *
 * *Race:* one LWP drops the last reference, another LWP finds the object by its name; *without
 * this:* the second LWP uses freed memory; *closed by:* no reference is added to a count of 0.
 */
static bool try_hold(struct kobj *o)
{
	uint32_t refs = __atomic_load_n(&o->refs, __ATOMIC_RELAXED);

	while (refs != 0)
		if (__atomic_compare_exchange_n(&o->refs, &refs, refs + 1, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			return true;
	return false;
}

void kobj_rele(struct kobj *o)
{
	if (__atomic_sub_fetch(&o->refs, 1, __ATOMIC_ACQ_REL) != 0)
		return;
	if (o->name != NULL) {
		irqstate_t s = spin_lock(&names_lock);
		list_remove(&o->named);
		spin_unlock(&names_lock, s);
	}
	kobj_free(o);
}

/* The object of this name, with a reference, or NULL.  names_lock held. */
static struct kobj *kobj_name_find(const char *name)
{
	LIST_FOREACH (kobj_name_bucket(name), o, struct kobj, named)
		if (strcmp(o->name, name) == 0 && try_hold(o))
			return o;
	return NULL;
}

/*
 * The object of this name, or a new object; *existed says which.  -EEXIST, -ENOENT, -EINVAL (the
 * object is of another kind), -ENOMEM.
 */
static int kobj_create_named(const struct kobj_create *c, const char *name, struct kobj **out,
			     bool *existed)
{
	struct kobj *fresh = NULL;

	if (!(c->flags & KOBJ_OPEN)) {
		fresh = kobj_alloc(c);
		if (fresh == NULL)
			return -ENOMEM;
		fresh->name = kmalloc_user(strlen(name) + 1);
		if (fresh->name == NULL) {
			kobj_free(fresh);
			return -ENOMEM;
		}
		strlcpy(fresh->name, name, strlen(name) + 1);
	}
	irqstate_t s = spin_lock(&names_lock);
	struct kobj *o = kobj_name_find(name);
	*existed = o != NULL;
	if (o == NULL && fresh != NULL) {
		o = fresh;
		fresh = NULL;
		list_push_back(kobj_name_bucket(name), &o->named);
	}
	spin_unlock(&names_lock, s);
	if (fresh != NULL)
		kobj_free(fresh);
	if (o == NULL)
		return -ENOENT;
	int err = !*existed ? 0 : c->flags & KOBJ_NEW ? -EEXIST : o->kind != c->kind ? -EINVAL : 0;
	if (err != 0)
		kobj_rele(o);
	*out = o;
	return err;
}

/* --- tables of handles -------------------------------------------------------------------- */

static uint32_t handle_slot(uint32_t handle)
{
	return handle % 4 == 0 ? handle / 4 - 1 : ~0u;
}

void kobj_table_init(struct kobj_table *t)
{
	spin_init(&t->lock, "kernel object handles");
}

/* Makes the table twice as large.  -EMFILE, -ENOMEM. */
static int handle_table_grow(struct kobj_table *t)
{
	uint32_t had = __atomic_load_n(&t->nslots, __ATOMIC_RELAXED);
	uint32_t n = had == 0 ? 16 : 2 * had;
	struct kobj_slot *fresh, *old = NULL;

	if (n > KOBJ_HANDLES_MAX)
		return -EMFILE;
	fresh = kmalloc_user(n * sizeof(*fresh));
	if (fresh == NULL)
		return -ENOMEM;
	for (uint32_t i = had; i < n; i++) {
		fresh[i] = (struct kobj_slot){.next_free = i + 2}; /* the slot behind it */
		preempt_point();
	}
	irqstate_t s = spin_lock(&t->lock);
	old = fresh;
	/*
	 * *Race:* two LWPs make the table larger; *without this:* the second one drops the handles
	 * that the first one has put there since; *closed by:* the second look at the size.
	 */
	if (t->nslots == had) {
		memcpy(fresh, t->slot, had * sizeof(*fresh));
		fresh[n - 1].next_free = t->free;
		t->free = had + 1;
		old = t->slot;
		t->slot = fresh;
		t->nslots = n;
	}
	spin_unlock(&t->lock, s);
	kfree(old);
	return 0;
}

/* Makes a handle to o.  On success the caller's reference becomes the handle's.  -EMFILE,
 * -ENOMEM. */
static int64_t handle_add(struct kobj_table *t, struct kobj *o, bool inherit)
{
	for (;;) {
		irqstate_t s = spin_lock(&t->lock);
		uint32_t i = t->free;
		if (i != 0) {
			struct kobj_slot *slot = &t->slot[i - 1];
			t->free = slot->next_free;
			*slot = (struct kobj_slot){.obj = o, .inherit = inherit};
		}
		spin_unlock(&t->lock, s);
		if (i != 0)
			return 4 * (int64_t)i;
		int err = handle_table_grow(t);
		if (err != 0)
			return err;
	}
}

/* Takes the object out of a slot.  Lock held. */
static struct kobj *handle_remove(struct kobj_table *t, uint32_t i)
{
	struct kobj *o = t->slot[i].obj;

	t->slot[i] = (struct kobj_slot){.next_free = t->free};
	t->free = i + 1;
	return o;
}

/* The current process's object of this handle, with a reference, or NULL. */
static struct kobj *handle_get(uint32_t handle)
{
	struct kobj_table *t = &curproc()->kobjs;
	uint32_t i = handle_slot(handle);

	irqstate_t s = spin_lock(&t->lock);
	struct kobj *o = i < t->nslots ? t->slot[i].obj : NULL;
	if (o != NULL)
		kobj_hold(o);
	spin_unlock(&t->lock, s);
	return o;
}

/* The object of a handle and a kind, with a reference.  -EBADF, -EINVAL. */
static int get_kind(uint32_t handle, int kind, struct kobj **out)
{
	struct kobj *o = handle_get(handle);

	if (o == NULL)
		return -EBADF;
	if (o->kind != kind) {
		kobj_rele(o);
		return -EINVAL;
	}
	*out = o;
	return 0;
}

int kobj_inherit(struct kobj_table *t, struct kobj_table *from)
{
	uint32_t n;

	/* No other LWP has t yet.  `from` may grow until its lock is held. */
	while (t->nslots < (n = __atomic_load_n(&from->nslots, __ATOMIC_RELAXED)))
		if (handle_table_grow(t) != 0)
			return -ENOMEM;
	/*
	 * *Race:* between two pieces another LWP of the parent closes or makes handles, or makes
	 * the table larger; *without this:* the child gets an object that has been freed; *closed
	 * by:* each piece reads the table again, under its lock, and adds its references there.  A
	 * handle that is made or closed during the fork may be in the child or not.
	 */
	t->free = 0;
	for (uint32_t i = t->nslots; i > 0;) {
		uint32_t last = i - MIN(i, INHERIT_PIECE);
		irqstate_t s = spin_lock(&from->lock);
		n = from->nslots;
		while (i > last) {
			i--;
			if (i < n && from->slot[i].obj != NULL && from->slot[i].inherit) {
				kobj_hold(from->slot[i].obj);
				t->slot[i] = from->slot[i];
			} else {
				t->slot[i] = (struct kobj_slot){.next_free = t->free};
				t->free = i + 1;
			}
		}
		spin_unlock(&from->lock, s);
		preempt_point();
	}
	return 0;
}

void kobj_close_all(struct kobj_table *t, bool exec)
{
	/* The process has one LWP left, or none. */
	for (uint32_t i = 0; i < t->nslots; i++)
		if (t->slot[i].obj != NULL && !(exec && t->slot[i].inherit)) {
			kobj_rele(handle_remove(t, i));
			preempt_point();
		}
	if (!exec) {
		kfree(t->slot);
		t->slot = NULL;
		t->nslots = t->free = 0;
	}
}

/* --- the calls -------------------------------------------------------------------------------- */

static bool kobj_create_valid(const struct kobj_create *c)
{
	uint32_t flags = KOBJ_INHERIT | (c->name != 0 ? KOBJ_OPEN | KOBJ_NEW : 0) |
			 (c->kind == KOBJ_EVENT ? KOBJ_MANUAL_RESET : 0);

	if ((c->flags & ~flags) || (c->flags & (KOBJ_OPEN | KOBJ_NEW)) == (KOBJ_OPEN | KOBJ_NEW))
		return false;
	switch (c->kind) {
	case KOBJ_MUTEX:
	case KOBJ_EVENT:
		return c->initial == 0 || c->initial == 1;
	case KOBJ_SEMAPHORE:
		return (c->flags & KOBJ_OPEN) ||
		       (c->max >= 1 && c->initial >= 0 && c->initial <= c->max);
	default:
		return false;
	}
}

/*
 * kobj_create(struct kobj_create *) = a handle to a new object, or to the object of this name.
 * Does not block.
 * EFAULT: the structure, or the name; EINVAL: unknown kind or flags, initial or max out of
 * range, an empty name, a name of an object of another kind; ENAMETOOLONG: more than
 * KOBJ_NAME_MAX bytes; ENOENT: KOBJ_OPEN; EEXIST: KOBJ_NEW; EMFILE: KOBJ_HANDLES_MAX; ENOMEM:
 * no memory.
 */
int64_t sys_kobj_create(const uint64_t arg[6])
{
	struct kobj_create c;
	char name[KOBJ_NAME_MAX + 1];
	struct kobj *o;
	bool existed = false;

	if (copyin(&c, arg[0], sizeof(c)) != 0)
		return -EFAULT;
	if (!kobj_create_valid(&c))
		return -EINVAL;
	int64_t r = 0;
	if (c.name != 0) {
		r = copyinstr(name, c.name, sizeof(name));
		if (r <= 0)
			return r < 0 ? r : -EINVAL;
		r = kobj_create_named(&c, name, &o, &existed);
	} else {
		o = kobj_alloc(&c);
		r = o != NULL ? 0 : -ENOMEM;
	}
	if (r != 0)
		return r;
	bool own = !existed && c.kind == KOBJ_MUTEX && c.initial;
	if (own)
		kobj_adopt(o);
	r = handle_add(&curproc()->kobjs, o, c.flags & KOBJ_INHERIT);
	if (r > 0) {
		c.handle = r;
		c.existed = existed;
		if (copyout(arg[0], &c, sizeof(c)) == 0)
			return r;
		irqstate_t s = spin_lock(&curproc()->kobjs.lock);
		handle_remove(&curproc()->kobjs, handle_slot(r));
		spin_unlock(&curproc()->kobjs.lock, s);
		r = -EFAULT;
	}
	if (own)
		kobj_mutex_release(o);
	kobj_rele(o);
	return r;
}

/*
 * kobj_close(handle): frees the handle.  The object is freed with its last handle, unless an LWP
 * waits for it or owns it.
 * EBADF: no such handle.
 */
int64_t sys_kobj_close(const uint64_t arg[6])
{
	struct kobj_table *t = &curproc()->kobjs;
	struct kobj *o = NULL;
	uint32_t i = handle_slot(arg[0]);

	irqstate_t s = spin_lock(&t->lock);
	if (i < t->nslots && t->slot[i].obj != NULL)
		o = handle_remove(t, i);
	spin_unlock(&t->lock, s);
	if (o == NULL)
		return -EBADF;
	kobj_rele(o);
	return 0;
}

/*
 * kobj_dup(handle, flags) = another handle to the same object; flags: KOBJ_INHERIT, or 0.
 * EBADF: no such handle; EINVAL: flags; EMFILE: KOBJ_HANDLES_MAX; ENOMEM: no memory.
 */
int64_t sys_kobj_dup(const uint64_t arg[6])
{
	if (arg[1] & ~(uint64_t)KOBJ_INHERIT)
		return -EINVAL;
	struct kobj *o = handle_get(arg[0]);
	if (o == NULL)
		return -EBADF;
	int64_t r = handle_add(&curproc()->kobjs, o, arg[1] & KOBJ_INHERIT);
	if (r < 0)
		kobj_rele(o);
	return r;
}

/* -ESRCH: p is no child of the caller.  A child that has ended already sets o at once. */
static int at_exit_of(int pid, struct kobj *o)
{
	irqstate_t s = spin_lock(&proc_tree_lock);
	struct proc *p = proc_find(pid);
	int err = -ESRCH;
	if (p != NULL && p->parent == curproc()) {
		err = kobj_attach_proc(o, p);
		if (err == 0 && p->zombie)
			kobj_set_all(&p->at_end);
	}
	spin_unlock(&proc_tree_lock, s);
	return err;
}

/*
 * kobj_at_exit(handle, pid): the end of the calling LWP (pid 0), or of a child, will set the event,
 * even if all its handles are closed.  So an LWP can wait for a thread or a process as for any
 * object.  An LWP that ends sets the event after the mutexes that it owned have been abandoned.  An
 * exec is an end, too.
 * Handle errors; EBUSY: the event waits for some end already; ESRCH: no such child.
 */
int64_t sys_kobj_at_exit(const uint64_t arg[6])
{
	struct kobj *o;

	int err = get_kind(arg[0], KOBJ_EVENT, &o);
	if (err == 0) {
		err = (int)arg[1] == 0 ? kobj_attach_lwp(o) : at_exit_of(arg[1], o);
		kobj_rele(o);
	}
	return err;
}

/*
 * kobj_wait(const uint32_t *handles, n, flags, deadline): waits until one of the objects is
 * signalled, or all of them are at one time (KOBJ_WAIT_ALL).  The caller then owns the mutex; the
 * semaphore has a unit less; the event without manual reset is reset.  With WAIT_ALL this happens
 * to all objects in one step, or to none.  Returns the index of the object (the lowest of several),
 * 0 for all; + KOBJ_ABANDONED.  deadline: absolute CLOCK_MONOTONIC, or NULL; if it is in the past,
 * the call does not wait.  Blocks.
 * EFAULT: handles, or the deadline; EINVAL: n is 0 or more than KOBJ_WAIT_MAX, unknown flags,
 * an object twice, the deadline; EBADF: no such handle; ETIMEDOUT: the deadline; EINTR: a
 * signal; ENOMEM: no memory.
 */
int64_t sys_kobj_wait(const uint64_t arg[6])
{
	uint32_t handle[KOBJ_WAIT_MAX];
	struct kobj *obj[KOBJ_WAIT_MAX];
	unsigned n = arg[1], got;
	hrtime_t deadline;

	if (arg[1] == 0 || arg[1] > KOBJ_WAIT_MAX || (arg[2] & ~(uint64_t)KOBJ_WAIT_ALL))
		return -EINVAL;
	int err = copyin_deadline(arg[3], &deadline);
	if (err != 0)
		return err;
	if (copyin(handle, arg[0], n * sizeof(handle[0])) != 0)
		return -EFAULT;
	for (got = 0; got < n; got++) {
		obj[got] = handle_get(handle[got]);
		if (obj[got] == NULL)
			break;
	}
	err = got < n ? -EBADF : kobj_wait(obj, n, arg[2] & KOBJ_WAIT_ALL, deadline);
	while (got-- > 0)
		kobj_rele(obj[got]);
	return err;
}

/*
 * kobj_mutex_release(handle): undoes one wait.
 * Handle errors; EPERM: the caller does not own it.
 */
int64_t sys_kobj_mutex_release(const uint64_t arg[6])
{
	struct kobj *o;

	int err = get_kind(arg[0], KOBJ_MUTEX, &o);
	if (err == 0) {
		err = kobj_mutex_release(o);
		kobj_rele(o);
	}
	return err;
}

static int64_t event_operate(uint32_t handle, enum kobj_event_op op)
{
	struct kobj *o;

	int r = get_kind(handle, KOBJ_EVENT, &o);
	if (r == 0) {
		r = kobj_event(o, op);
		kobj_rele(o);
	}
	return r;
}

/*
 * kobj_event_set(handle) = was it set?  One waiter goes on, or all with manual reset.
 * Handle errors.
 */
int64_t sys_kobj_event_set(const uint64_t arg[6])
{
	return event_operate(arg[0], EVENT_SET);
}

/* kobj_event_reset(handle) = was it set?  Handle errors. */
int64_t sys_kobj_event_reset(const uint64_t arg[6])
{
	return event_operate(arg[0], EVENT_RESET);
}

/*
 * kobj_event_pulse(handle) = was it set?  Sets and resets the event in one step, so that only the
 * present waiters go on.  A waiter for all of several objects does not see the pulse.
 * Handle errors.
 */
int64_t sys_kobj_event_pulse(const uint64_t arg[6])
{
	return event_operate(arg[0], EVENT_PULSE);
}

/*
 * kobj_sema_release(handle, n) = the count before: n units more.
 * Handle errors; EINVAL: also n is less than 1; EOVERFLOW: more than the maximum (nothing has
 * changed then).
 */
int64_t sys_kobj_sema_release(const uint64_t arg[6])
{
	struct kobj *o;
	int32_t n = arg[1];

	int r = get_kind(arg[0], KOBJ_SEMAPHORE, &o);
	if (r == 0) {
		r = n >= 1 ? kobj_sema_release(o, n) : -EINVAL;
		kobj_rele(o);
	}
	return r;
}
