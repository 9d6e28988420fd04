/*
 * reclock.c - record locks: F_GETLK, F_SETLK and F_SETLKW of fcntl (POSIX; first in System V).
 *
 * A record lock is a range of bytes that a process has for reading or for writing.  The locks are
 * advisory: reads and writes do not look at them.  The owner is the process; its descriptor table
 * stands for it.  So a child of fork has none of its parent's locks, and exec keeps them.  Two LWPs
 * of one process never wait for each other here.  A vnode has the list of its locks.  The locks of
 * one owner never overlap.  Those of the same kind do not touch either: they are merged.
 *
 * The owner loses all its locks on a file when it closes any descriptor of that file.  So an
 * owner with a lock on a vnode has a descriptor for it, and the vnode outlives its locks.
 * *Race:* one LWP sets a lock through a descriptor, another LWP closes that descriptor; *without
 * this:* the lock stays when the process has ended; *closed by:* the close first takes the
 * descriptor away, and then looks for locks; the LWP with the lock first enters it, and then looks
 * for the descriptor (still_open).  The table's lock orders the two: at least one sees the other.
 *
 * A request that has to wait stands in `requests`.  When bytes of a file are unlocked, all requests
 * of that file are woken, and each tries again: the first request has no precedence.
 *
 * Deadlock: before a request waits, it follows the owners that it would wait for, their own
 * requests, the owners that these wait for, and so on.  If it comes to its own process, none of
 * them would ever go on.  A process counts as waiting when one of its LWPs waits, as in other
 * systems.
 *
 * Locks: reclock_mutex guards all locks and requests.  It sleeps.  All walks give up the CPU
 * in between, because programs decide how many locks there are.  request_lock guards what a waiter
 * looks at when it goes to sleep.  The descriptor tables' lock is taken below the mutex, too.
 */
#include <weft/errno.h>
#include <kern/cache.h>
#include <kern/proc.h>
#include <kern/sched.h>
#include "fs.h"

#define TO_END INT64_MAX /* `last` of a lock on all bytes to the end, wherever the end is */

struct reclock {
	struct reclock *next; /* of the same vnode, in no order */
	const struct fdtable *owner;
	int pid; /* of the owner */
	bool write;
	int64_t first, last;
};

struct request {          /* on the waiter's stack */
	struct list link; /* requests */
	struct vnode *vn;
	struct reclock want;
	struct request *next; /* in a search: the next request to follow */
	bool reached;         /* by the current search */
	bool again;           /* request_lock: the waiter must try again */
	struct waitq waiters; /* request_lock */
};

static struct kmutex reclock_mutex = KMUTEX_INIT(reclock_mutex, "record locks");
static struct list requests = LIST_INIT(requests);
static struct spinlock request_lock = SPINLOCK_INIT("record lock request");

/*
 * The lock with the lowest first byte that conflicts with `want`; NULL: none.  The mutex is
 * held.
 */
static struct reclock *reclock_conflict(const struct vnode *vn, const struct reclock *want)
{
	struct reclock *found = NULL;

	for (struct reclock *l = vn->reclocks; l != NULL; l = l->next) {
		if (l->owner != want->owner && l->first <= want->last && want->first <= l->last &&
		    (l->write || want->write) && (found == NULL || l->first < found->first))
			found = l;
		preempt_point();
	}
	return found;
}

/* Makes all requests of vn try again.  The mutex is held. */
static void reclock_wake(const struct vnode *vn)
{
	LIST_FOREACH (&requests, r, struct request, link) {
		if (r->vn == vn) {
			irqstate_t s = spin_lock(&request_lock);
			r->again = true;
			waitq_wake_all(&r->waiters);
			spin_unlock(&request_lock, s);
		}
		preempt_point();
	}
}

static void reclock_enter(struct vnode *vn, struct reclock *l)
{
	l->next = vn->reclocks;
	__atomic_store_n(&vn->reclocks, l,
			 __ATOMIC_RELAXED); /* read without the mutex by a close */
}

/* Do l and [first, last] overlap, or touch without a gap? */
static bool reclock_touches(const struct reclock *l, int64_t first, int64_t last)
{
	return (last == TO_END || l->first <= last + 1) &&
	       (l->last == TO_END || first <= l->last + 1);
}

/*
 * Gives the bytes of `want` to its owner, for reading or writing; with unlock, takes them away.
 * No other owner's lock conflicts.  The mutex is held.  -ENOLCK: out of memory; then nothing has
 * changed.
 */
static int reclock_set(struct vnode *vn, const struct reclock *want, bool unlock)
{
	/* One for the new lock, one for what may be left of an old lock behind it. */
	struct reclock *fresh = kmalloc_user(sizeof(*fresh)), *rest = kmalloc_user(sizeof(*rest));
	struct reclock **link = &vn->reclocks, *l;

	if (fresh == NULL || rest == NULL) {
		kfree(fresh);
		kfree(rest);
		return -ENOLCK;
	}
	*fresh = *want;
	/*
	 * *Race:* a close looks without the mutex while the new lock takes in old ones; *without
	 * this:* the close finds no lock and goes on, and the new lock stays; *closed by:* this
	 * line enters the new lock before the old ones are removed.
	 */
	if (!unlock)
		reclock_enter(vn, fresh);
	while ((l = *link) != NULL) {
		bool gone = false;
		if (l->owner != want->owner || l == fresh) {
			/* the lock of another owner, or the new lock */
		} else if (!unlock && l->write == want->write) {
			gone = reclock_touches(l, want->first, want->last);
			if (gone) {
				fresh->first = MIN(fresh->first, l->first);
				fresh->last = MAX(fresh->last, l->last);
			}
		} else if (l->first <= want->last && want->first <= l->last) {
			bool before = l->first<want->first, behind = l->last> want->last;
			if (before && behind) {
				*rest = *l;
				rest->first = want->last + 1;
				reclock_enter(vn, rest);
				if (link == &vn->reclocks)
					link = &rest->next;
				rest = NULL;
			}
			if (before)
				l->last = want->first - 1;
			else if (behind)
				l->first = want->last + 1;
			else
				gone = true;
		}
		if (gone) {
			__atomic_store_n(link, l->next, __ATOMIC_RELAXED);
			kfree(l);
		} else {
			link = &l->next;
		}
		preempt_point();
	}
	if (unlock)
		kfree(fresh);
	kfree(rest);
	reclock_wake(vn);
	return 0;
}

void reclock_closed(const struct fdtable *t, struct vnode *vn)
{
	struct reclock **link = &vn->reclocks, *l;
	bool had = false;

	kmutex_enter(&reclock_mutex);
	while ((l = *link) != NULL) {
		if (l->owner == t) {
			__atomic_store_n(link, l->next, __ATOMIC_RELAXED);
			kfree(l);
			had = true;
		} else {
			link = &l->next;
		}
		preempt_point();
	}
	if (had)
		reclock_wake(vn);
	kmutex_exit(&reclock_mutex);
}

/* Would r wait for its own process?  The mutex is held. */
static bool reclock_deadlock(struct request *r)
{
	struct request *follow = r, **end = &r->next;

	LIST_FOREACH (&requests, other, struct request, link) {
		other->reached = false;
		preempt_point();
	}
	for (r->next = NULL; follow != NULL; follow = follow->next)
		for (struct reclock *l = follow->vn->reclocks; l != NULL; l = l->next) {
			preempt_point();
			if (l->owner == follow->want.owner || l->first > follow->want.last ||
			    follow->want.first > l->last || !(l->write || follow->want.write))
				continue;
			if (l->owner == r->want.owner)
				return true;
			LIST_FOREACH (&requests, other, struct request, link) {
				preempt_point();
				if (other->want.owner != l->owner || other->reached)
					continue;
				other->reached = true;
				other->next = NULL;
				*end = other;
				end = &other->next;
			}
		}
	return false;
}

/*
 * Sleeps until bytes of the request's file are unlocked: 0, -EDEADLK, -EINTR.  The caller holds the
 * mutex; it is released during the sleep, and held again on return.
 *
 * *Race:* the owner unlocks before the waiter sleeps; *without this:* the waiter sleeps on;
 * *closed by:* `again`, which the waiter clears before it releases the mutex.
 * *Race:* two processes look for a deadlock before either waits; *without this:* both wait for
 * ever; *closed by:* the mutex, held from the search until the request stands in `requests`.
 */
static int reclock_wait(struct request *r)
{
	if (reclock_deadlock(r))
		return -EDEADLK;
	r->again = false;
	list_push_back(&requests, &r->link);
	kmutex_exit(&reclock_mutex);
	irqstate_t s = spin_lock(&request_lock);
	int err = wait_event_intr(&r->waiters, &request_lock, r->again);
	spin_unlock(&request_lock, s);
	kmutex_enter(&reclock_mutex);
	list_remove(&r->link);
	return err;
}

/* Does fd still stand for f, so that its close takes the locks away? */
static bool still_open(struct fdtable *t, int fd, const struct file *f)
{
	irqstate_t s = spin_lock(&t->lock);
	bool same = (unsigned)fd < t->size && t->files[fd] == f &&
		    !(t->private_fds[fd / 64] >> fd % 64 & 1);
	spin_unlock(&t->lock, s);
	return same;
}

static int reclock_change(struct fdtable *t, int fd, struct file *f, const struct reclock *want,
			  bool unlock, bool wait)
{
	struct request r = {.vn = f->vn, .want = *want};
	int err = 0;

	waitq_init(&r.waiters, "fcntl");
	kmutex_enter(&reclock_mutex);
	while (err == 0 && !unlock && reclock_conflict(f->vn, want) != NULL)
		err = wait ? reclock_wait(&r) : -EAGAIN;
	if (err == 0)
		err = reclock_set(f->vn, want, unlock);
	kmutex_exit(&reclock_mutex);
	if (err == 0 && !unlock && !still_open(t, fd, f)) {
		reclock_closed(t, f->vn);
		err = -EBADF;
	}
	return err;
}

/* Computes the bytes that lk means.  -EINVAL, -EOVERFLOW. */
static int reclock_range(struct file *f, const struct weft_flock *lk, struct reclock *l)
{
	int64_t base = 0, first, last = TO_END;

	switch (lk->whence) {
	case WEFT_SEEK_SET:
		break;
	case WEFT_SEEK_CUR:
		kmutex_enter(&f->lock);
		base = f->off;
		kmutex_exit(&f->lock);
		break;
	case WEFT_SEEK_END:
		base = f->vn->size;
		break;
	default:
		return -EINVAL;
	}
	if (__builtin_add_overflow(base, lk->start, &first))
		return lk->start > 0 ? -EOVERFLOW : -EINVAL;
	if (lk->len > 0 && __builtin_add_overflow(first, lk->len - 1, &last))
		return -EOVERFLOW;
	if (lk->len < 0) {
		last = first - 1;
		if (__builtin_add_overflow(first, lk->len, &first))
			return -EINVAL;
	}
	if (first < 0)
		return -EINVAL;
	l->first = first;
	l->last = last;
	return 0;
}

int reclock_fcntl(struct fdtable *t, int fd, struct file *f, int cmd, struct weft_flock *lk)
{
	struct reclock l = {.owner = t, .pid = curproc()->pid, .write = lk->type == WEFT_F_WRLCK};
	uint32_t access = file_flags(f) & WEFT_O_ACCMODE;
	bool unlock = lk->type == WEFT_F_UNLCK;

	if (vnode_is_stream(f->vn) || (lk->type != WEFT_F_RDLCK && lk->type != WEFT_F_WRLCK &&
				       !(unlock && cmd != WEFT_F_GETLK)))
		return -EINVAL;
	int err = reclock_range(f, lk, &l);
	if (err != 0)
		return err;
	if (cmd != WEFT_F_GETLK) {
		if ((lk->type == WEFT_F_RDLCK && access == WEFT_O_WRONLY) ||
		    (lk->type == WEFT_F_WRLCK && access == WEFT_O_RDONLY))
			return -EBADF;
		return reclock_change(t, fd, f, &l, unlock, cmd == WEFT_F_SETLKW);
	}
	kmutex_enter(&reclock_mutex);
	const struct reclock *other = reclock_conflict(f->vn, &l);
	if (other == NULL)
		lk->type = WEFT_F_UNLCK;
	else
		*lk = (struct weft_flock){
			.type = other->write ? WEFT_F_WRLCK : WEFT_F_RDLCK,
			.whence = WEFT_SEEK_SET,
			.start = other->first,
			.len = other->last == TO_END ? 0 : other->last - other->first + 1,
			.pid = other->pid,
		};
	kmutex_exit(&reclock_mutex);
	return 0;
}
