/*
 * ucond.c - condition variables and semaphores in user memory (weft/ksync.h), from the
 * kernel's side.
 *
 * *Race:* the waiter releases the mutex and sleeps, a waker changes the condition and
 * signals; *without this:* the waker finds no waiter, and the wake-up is lost; *closed by:* the
 * waiter enters the queue and sets WAITERS before it releases the mutex.  The waiter sleeps only if
 * it has not been chosen by then.
 *
 * A unit of a semaphore is handed over: the woken LWP has the unit, and no other LWP can take it.
 */
#include <kern/cpu.h>
#include <kern/proc.h>
#include <kern/sched.h>
#include <kern/usercopy.h>
#include <weft/errno.h>
#include "ucond.h"

/* The condition variable at addr.  -EINVAL: misaligned; -EFAULT. */
static int cond_get(struct uobject *c, vaddr_t addr)
{
	uint32_t word;

	if (addr % sizeof(word) != 0)
		return -EINVAL;
	if (copyin(&word, addr, sizeof(word)) != 0)
		return -EFAULT;
	return uobject_get(c, addr, word & LWP_COND_SHARED);
}

/* Sets WAITERS.  -EFAULT, -ENOMEM. */
static int mark_waiters(struct uobject *c, irqstate_t *s)
{
	for (;;) {
		uint32_t seen;
		int err = user_load32(&seen, c->addr);
		if (err == 0)
			err = user_cas32(c->addr, &seen, seen | LWP_COND_WAITERS);
		if (err == 0)
			return 0;
		if (err < 0)
			err = uobject_fault(c, s);
		if (err < 0)
			return err;
	}
}

/* Clears WAITERS.  -EFAULT: the page is missing. */
static int clear_waiters(const struct uobject *c)
{
	uint32_t seen;
	int err = user_load32(&seen, c->addr);

	while (err >= 0 && (seen & LWP_COND_WAITERS)) {
		err = user_cas32(c->addr, &seen, seen & ~LWP_COND_WAITERS);
		if (err == 0)
			break;
	}
	return err;
}

/*
 * The first waiter, or NULL.  If there is no second waiter, WAITERS is cleared.  This must come
 * before the first is chosen: if the page is missing, the lock is released, and a chosen waiter may
 * go on then.
 */
static struct uwaiter *first_to_go(struct uobject *c, irqstate_t *s)
{
	struct uwaiter *w;
	bool more;

	do
		w = uwait_first(c, &more);
	while (!more && clear_waiters(c) == -EFAULT && uobject_fault(c, s) == 0);
	return w;
}

int ucond_wait(vaddr_t addr, vaddr_t mutex, uint64_t me, hrtime_t deadline)
{
	struct uobject c;
	struct uwaiter w;
	bool more;

	int err = cond_get(&c, addr);
	if (err != 0)
		return err;
	irqstate_t s = spin_lock(&c.bucket->lock);
	err = mark_waiters(&c, &s);
	if (err == 0)
		uwait_enter(&c, &w);
	spin_unlock(&c.bucket->lock, s);
	if (err == 0) {
		err = umutex_unlock(mutex, me);
		s = spin_lock(&c.bucket->lock);
		if (err != 0)
			uwait_leave(&c, &w);
		else
			err = uwait_sleep(&c, &w, "lwp_cond", deadline);
		/* *Race:* a signal chooses this waiter, and the waiter fails or is told to exit;
		 * *without this:* the wake-up is lost; *closed by:* the next waiter gets it. */
		if (w.chosen && (err != 0 || (curlwp()->ast & AST_EXIT)))
			uwait_pass_on(&c);
		while (err != 0 && uwait_first(&c, &more) == NULL && clear_waiters(&c) == -EFAULT &&
		       uobject_fault(&c, &s) == 0)
			;
		spin_unlock(&c.bucket->lock, s);
	}
	uobject_put(&c);
	return err;
}

int ucond_signal(vaddr_t addr)
{
	struct uobject c;

	int err = cond_get(&c, addr);
	if (err != 0)
		return err;
	irqstate_t s = spin_lock(&c.bucket->lock);
	struct uwaiter *w = first_to_go(&c, &s);
	if (w != NULL) {
		uwait_choose(&c, w);
		uwait_wake(w);
	}
	spin_unlock(&c.bucket->lock, s);
	uobject_put(&c);
	return 0;
}

int ucond_broadcast(vaddr_t addr)
{
	struct uobject c;
	struct uwaiter *list[UWAIT_SOME];
	unsigned n;
	bool rest;

	int err = cond_get(&c, addr);
	if (err != 0)
		return err;
	irqstate_t s = spin_lock(&c.bucket->lock);
	/* All present waiters will go.  A waiter that arrives after the lock has been released sets
	 * WAITERS again. */
	while (clear_waiters(&c) == -EFAULT && uobject_fault(&c, &s) == 0)
		;
	uint64_t last = c.bucket->arrivals;
	for (;;) {
		rest = uwait_choose_some(&c, last, list, &n);
		for (unsigned i = 0; i < n; i++)
			uwait_wake(list[i]);
		spin_unlock(&c.bucket->lock, s);
		if (!rest)
			break;
		preempt_point();
		s = spin_lock(&c.bucket->lock);
	}
	uobject_put(&c);
	return 0;
}

/* --- semaphores ------------------------------------------------------------------------- */

/* The semaphore at addr.  -EINVAL: misaligned, or unknown flags; -EFAULT. */
static int sema_get(struct uobject *o, vaddr_t addr)
{
	struct lwp_sema sema;

	if (addr % sizeof(sema.word) != 0)
		return -EINVAL;
	if (copyin(&sema, addr, sizeof(sema)) != 0)
		return -EFAULT;
	if (sema.flags & ~LWP_SEMA_SHARED)
		return -EINVAL;
	return uobject_get(o, addr, sema.flags & LWP_SEMA_SHARED);
}

/* Clears WAITING if no LWP waits any more.  -EFAULT: the page is missing. */
static int clear_waiting(const struct uobject *o)
{
	uint32_t seen = LWP_SEMA_WAITING;
	bool more;

	return uwait_first(o, &more) == NULL ? user_cas32(o->addr, &seen, 0) : 0;
}

/* Takes a unit.  0; -EAGAIN: there is none, and, with mark, WAITING is set; -EFAULT: the page is
 * missing. */
static int take_unit(const struct uobject *o, bool mark)
{
	uint32_t seen;

	int err = user_load32(&seen, o->addr);
	while (err >= 0) {
		if (seen != 0 && seen != LWP_SEMA_WAITING) {
			err = user_cas32(o->addr, &seen, seen - 1);
			if (err == 0)
				return 0;
		} else if (seen == 0 && mark) {
			err = user_cas32(o->addr, &seen, LWP_SEMA_WAITING);
			if (err == 0)
				return -EAGAIN;
		} else {
			return -EAGAIN;
		}
	}
	return err;
}

/* Gives a unit to the first waiter, or to the word if there is none.  Lock held; -EFAULT,
 * -EOVERFLOW. */
static int give_unit(struct uobject *o)
{
	bool more;
	struct uwaiter *w = uwait_first(o, &more);
	uint32_t seen;

	int err = user_load32(&seen, o->addr);
	while (err >= 0) {
		uint32_t want = more ? LWP_SEMA_WAITING : 0;
		if (w == NULL) {
			uint32_t value = seen == LWP_SEMA_WAITING ? 0 : seen;
			if (value >= LWP_SEMA_MAX)
				return -EOVERFLOW;
			want = value + 1;
		}
		err = user_cas32(o->addr, &seen, want);
		if (err == 0) {
			if (w != NULL) {
				uwait_choose(o, w);
				uwait_wake(w);
			}
			return 0;
		}
	}
	return err;
}

int usema_wait(vaddr_t addr, hrtime_t deadline, bool wait)
{
	struct uobject o;
	struct uwaiter w;

	int err = sema_get(&o, addr);
	if (err != 0)
		return err;
	irqstate_t s = spin_lock(&o.bucket->lock);
	while ((err = take_unit(&o, wait)) == -EFAULT) {
		err = uobject_fault(&o, &s);
		if (err != 0)
			break;
	}
	if (err == -EAGAIN && wait) {
		uwait_enter(&o, &w);
		err = uwait_sleep(&o, &w, "lwp_sema", deadline);
		if (err == 0 && (curlwp()->ast & AST_EXIT)) {
			/* *Race:* this LWP gets a unit, and is told to exit; *without this:* the
			 * unit is lost; *closed by:* the next waiter or the word gets it. */
			while (give_unit(&o) == -EFAULT && uobject_fault(&o, &s) == 0)
				;
			err = -EINTR;
		}
		if (err != 0)
			while (clear_waiting(&o) == -EFAULT && uobject_fault(&o, &s) == 0)
				;
	}
	spin_unlock(&o.bucket->lock, s);
	uobject_put(&o);
	return err;
}

int usema_post(vaddr_t addr)
{
	struct uobject o;

	int err = sema_get(&o, addr);
	if (err != 0)
		return err;
	irqstate_t s = spin_lock(&o.bucket->lock);
	while ((err = give_unit(&o)) == -EFAULT) {
		err = uobject_fault(&o, &s);
		if (err != 0)
			break;
	}
	spin_unlock(&o.bucket->lock, s);
	uobject_put(&o);
	return err;
}
