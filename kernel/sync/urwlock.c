/*
 * urwlock.c - reader-writer locks in user memory (weft/ksync.h), from the kernel's side.
 *
 * The rules are those of libthread's own locks (libthread/sync/rwlock.c).  A lock that is released
 * while LWPs wait is handed over: to the first waiter if this is a writer, or to all readers before
 * the first writer.  An LWP that arrives must wait if another LWP waits.  So neither writers nor
 * readers starve within a priority.  Real-time priorities are an exception: there writers come
 * first.  An LWP that is woken has the lock.
 *
 * While WAITING is set, the word changes under the bucket's lock only.  Readers are let in
 * UWAIT_SOME at a time.  In between, readers have the lock and WAITING is set.  This is a state
 * like any other: the next LWP that releases the lock, or comes here, lets in the rest.
 */
#include <kern/cpu.h>
#include <kern/proc.h>
#include <kern/sched.h>
#include <kern/usercopy.h>
#include <weft/errno.h>
#include "urwlock.h"

#define WRITER LWP_RWLOCK_WRITER
#define WAITING LWP_RWLOCK_WAITING
#define READERS LWP_RWLOCK_READERS

/* The lock at addr.  -EINVAL: misaligned; -EFAULT. */
static int urwlock_get(struct uobject *l, vaddr_t addr)
{
	uint32_t word;

	if (addr % sizeof(word) != 0)
		return -EINVAL;
	if (copyin(&word, addr, sizeof(word)) != 0)
		return -EFAULT;
	return uobject_get(l, addr, word & LWP_RWLOCK_SHARED);
}

/*
 * Does the caller go before all waiters?  Only an LWP with a real-time priority may.  Time-share
 * priorities rise and fall, so readers that always have a better priority for the moment would
 * starve the writers.  The bucket's lock is held.
 */
static bool goes_first(const struct uobject *l)
{
	const struct lwp *self = curlwp();
	bool more;

	if (self->sclass->cid != WEFT_CLASS_RT)
		return false;
	const struct uwaiter *w = uwait_first(l, &more);
	return w != NULL && w->pri < self->pri;
}

/*
 * Acquires the lock if the caller may have it.  -EBUSY: it may not, and WAITING is set; -EAGAIN:
 * too many readers; -EFAULT: the page is missing.
 */
static int urwlock_take(const struct uobject *l, bool write, bool again)
{
	uint32_t seen;

	int err = user_load32(&seen, l->addr);
	while (err >= 0) {
		bool past = again || (!write && (seen & WAITING) && goes_first(l));
		uint32_t want, closed = past ? WRITER : WRITER | WAITING;
		int r = 0;
		if (write ? !(seen & ~LWP_RWLOCK_SHARED) : !(seen & closed)) {
			if (!write && (seen & READERS) == READERS)
				return -EAGAIN;
			want = write ? seen | WRITER : seen + 1;
		} else {
			r = -EBUSY;
			if (seen & WAITING)
				return r;
			want = seen | WAITING;
		}
		err = user_cas32(l->addr, &seen, want);
		if (err == 0)
			return r;
	}
	return err;
}

/* Releases one hold.  -EPERM: no LWP has the lock; -EFAULT: the page is missing. */
static int urwlock_release(const struct uobject *l)
{
	uint32_t seen;

	int err = user_load32(&seen, l->addr);
	while (err >= 0) {
		if (!(seen & (WRITER | READERS)))
			return -EPERM;
		err = user_cas32(l->addr, &seen, seen & WRITER ? seen & ~WRITER : seen - 1);
		if (err == 0)
			return 0;
	}
	return err;
}

/*
 * Hands the lock to the waiters that may have it now, at most UWAIT_SOME.  Returns their number.
 * -EFAULT: the page is missing.  The word is not touched after the first wake-up.
 */
static int grant_some(struct uobject *l)
{
	struct uwaiter *list[UWAIT_SOME];
	uint32_t seen;

	int err = user_load32(&seen, l->addr);
	while (err >= 0) {
		unsigned n = 0;
		bool more;
		if (!(seen & WAITING) || (seen & WRITER))
			return 0;
		struct uwaiter *w = uwait_first(l, &more);
		uint32_t readers = seen & READERS, want;
		if (w != NULL && w->writes) {
			if (readers != 0)
				return 0;
			list[n++] = w;
			want = WRITER | (more ? WAITING : 0);
		} else {
			while (w != NULL && !w->writes && n < UWAIT_SOME && readers + n < READERS) {
				list[n++] = w;
				w = more ? uwait_next(l, w, &more) : NULL;
			}
			want = (readers + n) | (w != NULL ? WAITING : 0);
		}
		err = user_cas32(l->addr, &seen, want | (seen & LWP_RWLOCK_SHARED));
		if (err != 0)
			continue;
		for (unsigned i = 0; i < n; i++)
			uwait_choose(l, list[i]);
		for (unsigned i = 0; i < n; i++)
			uwait_wake(list[i]);
		return n;
	}
	return err;
}

/*
 * Hands the lock to all waiters that may have it now.  Releases the bucket's lock now and then.  If
 * the memory has been unmapped meanwhile, no LWP is left that could use the lock.
 */
static void urwlock_grant(struct uobject *l, irqstate_t *s)
{
	for (;;) {
		int n = grant_some(l);
		if (n == -EFAULT ? uobject_fault(l, s) != 0 : n < UWAIT_SOME)
			return;
		spin_unlock(&l->bucket->lock, *s);
		preempt_point();
		*s = spin_lock(&l->bucket->lock);
	}
}

/* -EPERM, -EFAULT, -ENOMEM. */
static int drop_and_grant(struct uobject *l, irqstate_t *s)
{
	int err;

	while ((err = urwlock_release(l)) == -EFAULT) {
		err = uobject_fault(l, s);
		if (err != 0)
			return err;
	}
	if (err == 0)
		urwlock_grant(l, s);
	return err;
}

static int urwlock_lock(vaddr_t addr, bool write, bool again, hrtime_t deadline)
{
	struct uobject l;
	struct uwaiter w;

	int err = urwlock_get(&l, addr);
	if (err != 0)
		return err;
	irqstate_t s = spin_lock(&l.bucket->lock);
	while ((err = urwlock_take(&l, write, again)) == -EFAULT) {
		err = uobject_fault(&l, &s);
		if (err != 0)
			break;
	}
	if (err == -EBUSY) {
		if (write)
			uwait_enter_to_write(&l, &w);
		else
			uwait_enter(&l, &w);
		err = uwait_sleep(&l, &w, "lwp_rwlock", deadline);
		if (err != 0) {
			/* Readers may have waited only because this writer waited: let them in. */
			urwlock_grant(&l, &s);
		} else if (curlwp()->ast & AST_EXIT) {
			/* *Race:* this LWP gets the lock, and is told to exit; *without this:* the
			 * lock is never released; *closed by:* this release. */
			drop_and_grant(&l, &s);
			err = -EINTR;
		}
	}
	spin_unlock(&l.bucket->lock, s);
	uobject_put(&l);
	return err;
}

int urwlock_read(vaddr_t addr, bool again, hrtime_t deadline)
{
	return urwlock_lock(addr, false, again, deadline);
}

int urwlock_write(vaddr_t addr, hrtime_t deadline)
{
	return urwlock_lock(addr, true, false, deadline);
}

int urwlock_unlock(vaddr_t addr)
{
	struct uobject l;

	int err = urwlock_get(&l, addr);
	if (err != 0)
		return err;
	irqstate_t s = spin_lock(&l.bucket->lock);
	err = drop_and_grant(&l, &s);
	spin_unlock(&l.bucket->lock, s);
	uobject_put(&l);
	return err;
}
