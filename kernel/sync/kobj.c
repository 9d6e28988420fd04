/*
 * kobj.c - mutexes, events and semaphores of the kernel's own, and waiting for any or all of
 * several (after the dispatcher objects of Windows NT).
 *
 * An object is signalled when an LWP that waits for it may go on.  The waker, which makes it
 * signalled, looks at the waiters in order (kobj_offer).  If a waiter waits for this object, or for
 * any of several, the waker acquires the object for the waiter at once.  So no other LWP can
 * acquire it first.  A waiter for all of several objects is woken to look for itself.  The waiters
 * behind it do not wait for that.
 *
 * An LWP waits with one block in the queue of each object, and one struct kwait, the state of the
 * wait.  The waker changes this state from WAITING to the index of the acquired object, or to
 * RETRY.
 *
 *	*Race:* two objects become signalled, and two wakers look at the same waiter; *without
 *	this:* the waiter acquires both, and returns one; *closed by:* each waker changes the state
 *	with a compare-and-swap, under the lock of its object, and only one succeeds.
 *
 *	*Race:* the waiter is about to sleep, a waker changes the state; *without this:* the wake-up
 *	is lost; *closed by:* the waiter looks at the state under its own lock before it sleeps, and
 *	the waker wakes it after the change.
 *
 * Blocks and kwait belong to the waiter.  The waiter acquires the locks of all objects once more
 * before it leaves, so that no waker can still be looking at its blocks.
 *
 * To look at several objects at one time, an LWP acquires the locks of all, in order of their
 * addresses.  It does so only when it begins to wait and when it has been woken.  (NT had one lock
 * for all objects of the machine instead.)
 *
 * A pulse reaches the waiters for the event alone or for any of several.  A waiter for all of
 * several objects finds, when it looks, that the event has been reset again.
 *
 * Locks: objects by address (level 4), then l->lock.
 */
#include "kobj.h"
#include <kern/cache.h>
#include <kern/cpu.h>
#include <kern/printk.h>
#include <kern/probe.h>
#include <kern/proc.h>
#include <kern/sched.h>
#include <kern/timing.h>
#include <weft/errno.h>

enum { WAITING = -1, RETRY = -2 };

struct kwait {
	struct lwp *lwp;
	bool all;
	bool abandoned; /* a mutex that it has acquired was abandoned */
	int32_t state;  /* WAITING, RETRY, or the index of the object that it has acquired */
};
struct kblock {
	struct list link; /* obj->waiters; obj->lock */
	struct kobj *obj; /* held */
	struct kwait *wait;
	uint32_t index; /* in the call */
};

static struct kcache *cache;

void kobj_init(void)
{
	cache = kcache_create("kernel object", sizeof(struct kobj), 8, KC_USER, NULL);
	if (cache == NULL)
		panic("no memory for the cache of kernel objects");
}

struct kobj *kobj_alloc(const struct kobj_create *c)
{
	struct kobj *o = kcache_alloc(cache);

	if (o == NULL)
		return NULL;
	memset(o, 0, sizeof(*o));
	spin_init(&o->lock, "kernel object");
	spin_by_address(&o->lock);
	o->refs = 1;
	o->kind = c->kind;
	o->manual = c->flags & KOBJ_MANUAL_RESET;
	list_init(&o->owned);
	list_init(&o->waiters);
	list_init(&o->named);
	if (c->kind == KOBJ_MUTEX && c->initial) {
		o->owner = curlwp();
		o->recursion = 1;
	} else {
		o->signal = c->initial;
	}
	o->max = c->max;
	return o;
}

void kobj_free(struct kobj *o)
{
	assert(list_empty(&o->waiters) && list_empty(&o->owned));
	kfree(o->name);
	kcache_free(cache, o);
}

/* --- acquiring an object: its lock is held --------------------------------------------------- */

static bool kobj_is_signalled(const struct kobj *o, const struct lwp *l)
{
	return o->kind == KOBJ_MUTEX ? o->owner == NULL || o->owner == l : o->signal > 0;
}

/* l acquires o, which is signalled for l.  True: o is a mutex, and its last owner died. */
static bool kobj_acquire(struct kobj *o, struct lwp *l)
{
	bool abandoned = false;

	if (o->kind == KOBJ_MUTEX) {
		o->owner = l;
		o->recursion++;
		abandoned = o->abandoned;
		o->abandoned = false;
	} else if (!o->manual) {
		o->signal--;
	}
	return abandoned;
}

/* o may have become signalled: lets as many waiters go on as can. */
static void kobj_offer(struct kobj *o)
{
	for (struct list *at = o->waiters.next, *next; at != &o->waiters; at = next) {
		struct kblock *b = CONTAINER_OF(at, struct kblock, link);
		struct kwait *w = b->wait;
		int32_t waiting = WAITING;
		next = at->next;
		if (!kobj_is_signalled(o, w->lwp))
			break;
		if (!__atomic_compare_exchange_n(&w->state, &waiting,
						 w->all ? RETRY : (int)b->index, false,
						 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			continue;
		if (!w->all)
			w->abandoned = kobj_acquire(o, w->lwp);
		lwp_wake(w->lwp, WAKE_EVENT);
	}
}

/* --- the calls -------------------------------------------------------------------------------- */

void kobj_adopt(struct kobj *o)
{
	if (o->kind == KOBJ_MUTEX && list_empty(&o->owned)) {
		kobj_hold(o);
		list_push_back(&curlwp()->mutexes, &o->owned);
	}
}

int kobj_mutex_release(struct kobj *o)
{
	bool freed = false;

	irqstate_t s = spin_lock(&o->lock);
	int err = o->owner == curlwp() ? 0 : -EPERM;
	if (err == 0 && --o->recursion == 0) {
		list_remove(&o->owned);
		o->owner = NULL;
		freed = true;
		kobj_offer(o);
	}
	spin_unlock(&o->lock, s);
	if (freed)
		kobj_rele(o);
	return err;
}

static int kobj_attach(struct kobj *o, struct list *events)
{
	irqstate_t s = spin_lock(&o->lock);
	int err = o->attached ? -EBUSY : 0;
	o->attached = true;
	spin_unlock(&o->lock, s);
	if (err == 0) {
		kobj_hold(o);
		list_push_back(events, &o->owned);
	}
	return err;
}

int kobj_attach_lwp(struct kobj *o)
{
	return kobj_attach(o, &curlwp()->mutexes);
}

int kobj_attach_proc(struct kobj *o, struct proc *p)
{
	return kobj_attach(o, &p->at_end);
}

void kobj_set_all(struct list *events)
{
	while (!list_empty(events)) {
		struct kobj *o = LIST_FIRST(events, struct kobj, owned);
		irqstate_t s = spin_lock(&o->lock);
		list_remove(&o->owned);
		o->attached = false;
		o->signal = 1;
		kobj_offer(o);
		spin_unlock(&o->lock, s);
		kobj_rele(o);
	}
}

/* Mutexes first, so that an LWP that sees the event finds them abandoned. */
void kobj_lwp_exit(struct lwp *l)
{
	for (struct list *at = l->mutexes.next, *next; at != &l->mutexes; at = next) {
		struct kobj *o = CONTAINER_OF(at, struct kobj, owned);
		next = at->next;
		if (o->kind != KOBJ_MUTEX)
			continue;
		irqstate_t s = spin_lock(&o->lock);
		list_remove(&o->owned);
		o->owner = NULL;
		o->recursion = 0;
		o->abandoned = true;
		kobj_offer(o);
		spin_unlock(&o->lock, s);
		kobj_rele(o);
	}
	kobj_set_all(&l->mutexes);
}

int kobj_event(struct kobj *o, enum kobj_event_op op)
{
	irqstate_t s = spin_lock(&o->lock);
	int was = o->signal;
	o->signal = op != EVENT_RESET;
	kobj_offer(o);
	if (op == EVENT_PULSE)
		o->signal = 0;
	spin_unlock(&o->lock, s);
	return was;
}

int kobj_sema_release(struct kobj *o, int32_t n)
{
	irqstate_t s = spin_lock(&o->lock);
	int was = o->signal;
	if (n > o->max - was) {
		was = -EOVERFLOW;
	} else {
		o->signal += n;
		kobj_offer(o);
	}
	spin_unlock(&o->lock, s);
	return was;
}

/* --- waiting ---------------------------------------------------------------------------------- */

static irqstate_t lock_all(struct kblock *b, unsigned n)
{
	irqstate_t s = irq_save();
	for (unsigned i = 0; i < n; i++)
		spin_acquire(&b[i].obj->lock);
	return s;
}

static void unlock_all(struct kblock *b, unsigned n, irqstate_t s)
{
	while (n-- > 0)
		spin_release(&b[n].obj->lock);
	irq_restore(s);
}

/*
 * If the objects that w waits for are signalled, acquires them and sets the state.  In a wait for
 * any of several, acquires the first in the order of the call.  The locks of all objects are held.
 */
static void kwait_check(struct kwait *w, struct kblock *b, unsigned n)
{
	struct kblock *first = NULL;
	unsigned ready = 0;

	for (unsigned i = 0; i < n; i++) {
		if (!kobj_is_signalled(b[i].obj, w->lwp))
			continue;
		ready++;
		if (first == NULL || b[i].index < first->index)
			first = &b[i];
	}
	if (ready == 0 || (w->all && ready < n)) {
		w->state = WAITING;
	} else if (w->all) {
		for (unsigned i = 0; i < n; i++)
			w->abandoned |= kobj_acquire(b[i].obj, w->lwp);
		w->state = 0;
	} else {
		w->abandoned = kobj_acquire(first->obj, w->lwp);
		w->state = first->index;
	}
}

/* Sleeps while the state of w is WAITING.  Returns WAKE_*. */
static int kwait_sleep(struct kwait *w, hrtime_t deadline)
{
	irqstate_t s = spin_lock(&w->lwp->lock);
	if (__atomic_load_n(&w->state, __ATOMIC_ACQUIRE) != WAITING) {
		spin_unlock(&w->lwp->lock, s);
		return WAKE_EVENT;
	}
	int reason = lwp_sleep_locked(w->lwp, NULL, "kobj", SLEEP_INTR, deadline);
	irq_restore(s);
	return reason;
}

/* Waits with the blocks b, in order of their objects' addresses. */
static int kwait_wait(struct kwait *w, struct kblock *b, unsigned n, hrtime_t deadline)
{
	int err = 0;

	irqstate_t s = lock_all(b, n);
	kwait_check(w, b, n);
	if (w->state == WAITING && time_now() >= deadline) {
		err = -ETIMEDOUT;
	} else if (w->state == WAITING) {
		for (unsigned i = 0; i < n; i++) {
			PROBE(kobj_wait, "object kind owner", b[i].obj, b[i].obj->kind,
			      b[i].obj->owner);
			list_push_back(&b[i].obj->waiters, &b[i].link);
		}
		do {
			unlock_all(b, n, s);
			int reason = kwait_sleep(w, deadline);
			s = lock_all(b, n);
			if (w->state < 0)
				kwait_check(w, b, n);
			if (w->state == WAITING && reason != WAKE_EVENT)
				err = reason == WAKE_TIMEOUT ? -ETIMEDOUT : -EINTR;
		} while (w->state == WAITING && err == 0);
		for (unsigned i = 0; i < n; i++)
			list_remove(&b[i].link);
	}
	unlock_all(b, n, s);
	return err;
}

int kobj_wait(struct kobj *const obj[], unsigned n, bool all, hrtime_t deadline)
{
	struct kblock few[4], *b = n <= ARRAY_LEN(few) ? few : kmalloc(n * sizeof(*b));
	struct kwait w = {.lwp = curlwp(), .all = all, .state = WAITING};
	int err = 0;

	if (b == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < n; i++) {
		unsigned at = i;
		for (; at > 0 && b[at - 1].obj > obj[i]; at--)
			b[at] = b[at - 1];
		if (at > 0 && b[at - 1].obj == obj[i])
			err = -EINVAL;
		b[at] = (struct kblock){.obj = obj[i], .wait = &w, .index = i};
	}
	if (err == 0)
		err = kwait_wait(&w, b, n, deadline);
	for (unsigned i = 0; i < n && err == 0; i++)
		if (all || b[i].index == (uint32_t)w.state)
			kobj_adopt(b[i].obj);
	if (b != few)
		kfree(b);
	return err != 0 ? err : w.state | (w.abandoned ? KOBJ_ABANDONED : 0);
}
