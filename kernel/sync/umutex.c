/*
 * umutex.c - the mutex in user memory (weft/ksync.h), from the kernel's side.
 *
 * The woken LWP does not have the mutex.  It competes with LWPs that try to acquire the mutex in
 * user mode, and sleeps again if it loses.  So a contended mutex does not stay free until its next
 * owner gets a CPU.  No LWP waits for long, because each time the longest sleeper of the highest
 * priority is woken.  A mutex whose owner inherits (inherit.c) is handed over instead.
 */
#include <kern/cpu.h>
#include <kern/proc.h>
#include <kern/sched.h>
#include <kern/usercopy.h>
#include <weft/errno.h>
#include "inherit.h"

uint64_t umutex_owner(uint64_t owner)
{
	uint32_t number = owner;

	if (owner & LWP_OWNER_WORD)
		return owner & LWP_MUTEX_OWNER;
	return lwp_mutex_owner(curproc()->pid, number != 0 ? number : curlwp()->id);
}

#define INHERITS 1

/* The mutex at addr.  0; INHERITS: its word has INHERIT; -EINVAL: misaligned; -EFAULT. */
static inline int umutex_get(struct uobject *m, vaddr_t addr)
{
	uint64_t word;

	if (addr % sizeof(word) != 0)
		return -EINVAL;
	if (copyin(&word, addr, sizeof(word)) != 0)
		return -EFAULT;
	int err = uobject_get(m, addr, word & LWP_MUTEX_SHARED);
	return err == 0 && (word & LWP_MUTEX_INHERIT) ? INHERITS : err;
}

/*
 * Acquires the mutex if it is free.  Otherwise, with mark, makes sure that WAITERS is set.  0 and
 * -EOWNERDEAD: acquired; -EBUSY, -EDEADLK, -ENOTRECOVERABLE; -EFAULT: the page is missing.
 */
static int umutex_take(const struct uobject *m, uint64_t me, bool mark)
{
	uint64_t seen;
	int r;

	if (user_load64(&seen, m->addr) != 0)
		return -EFAULT;
	do {
		uint64_t want;
		if (seen & LWP_MUTEX_NOTRECOVERABLE)
			return -ENOTRECOVERABLE;
		if (!(seen & LWP_MUTEX_OWNER)) {
			want = seen | me;
			r = seen & LWP_MUTEX_OWNERDEAD ? -EOWNERDEAD : 0;
		} else if ((seen & LWP_MUTEX_OWNER) == me && (seen & LWP_MUTEX_ERRORCHECK)) {
			return -EDEADLK;
		} else if (mark && !(seen & LWP_MUTEX_WAITERS)) {
			want = seen | LWP_MUTEX_WAITERS;
			r = -EBUSY;
		} else {
			return -EBUSY;
		}
		int err = user_cas64(m->addr, &seen, want);
		if (err == 0)
			return r;
		if (err < 0)
			return err;
	} while (true);
}

int umutex_lock(vaddr_t addr, uint64_t me, hrtime_t deadline, bool wait)
{
	struct uobject m;
	struct uwaiter w;
	bool chosen = false;

	int err = umutex_get(&m, addr);
	if (err == INHERITS) {
		err = imutex_lock(&m, me, deadline, wait);
		uobject_put(&m);
		return err;
	}
	if (err != 0)
		return err;
	irqstate_t s = spin_lock(&m.bucket->lock);
	for (;;) {
		err = umutex_take(&m, me, wait);
		if (err == -EFAULT) {
			err = uobject_fault(&m, &s);
			if (err == 0)
				continue;
			break;
		}
		if (err != -EBUSY || !wait)
			break;
		uwait_enter(&m, &w);
		err = uwait_sleep(&m, &w, "lwp_mutex", deadline);
		chosen = err == 0;
		/* *Race:* a release wakes this LWP, and the LWP is told to exit; *without this:* it
		 * never returns to user mode, and the other sleepers are not woken; *closed by:* it
		 * stops trying here, and the wake-up is passed on below. */
		if (chosen && (curlwp()->ast & AST_EXIT))
			err = -EINTR;
		if (err != 0)
			break;
	}
	if (chosen && err != 0 && err != -EOWNERDEAD)
		uwait_pass_on(&m);
	spin_unlock(&m.bucket->lock, s);
	uobject_put(&m);
	return err;
}

/*
 * Frees the mutex if its owner, under mask, is `owner`, and wakes the first waiter, or all when it
 * cannot be recovered.  -EPERM: another owner has it, or none; -EFAULT, -ENOMEM.
 */
static int umutex_release(struct uobject *m, uint64_t mask, uint64_t owner, bool died)
{
	bool more;
	int err;

	irqstate_t s = spin_lock(&m->bucket->lock);
	for (;;) {
		struct uwaiter *w = uwait_first(m, &more);
		uint64_t seen;
		err = user_load64(&seen, m->addr);
		if (err == 0) {
			uint64_t want = seen & LWP_MUTEX_KIND;
			if ((seen & mask) != owner || (died && !(seen & LWP_MUTEX_ROBUST))) {
				err = -EPERM;
				break;
			}
			if (died)
				want |= LWP_MUTEX_OWNERDEAD;
			else if (seen & LWP_MUTEX_OWNERDEAD)
				want |= LWP_MUTEX_NOTRECOVERABLE;
			if (more)
				want |= LWP_MUTEX_WAITERS;
			err = user_cas64(m->addr, &seen, want);
			if (err == 0) {
				if (w != NULL) {
					uwait_choose(m, w);
					uwait_wake(w);
				}
				/* If the mutex cannot be recovered, the woken LWP wakes the
				 * next. */
				break;
			}
		}
		if (err < 0) {
			err = uobject_fault(m, &s);
			if (err != 0)
				break;
		}
	}
	spin_unlock(&m->bucket->lock, s);
	return err;
}

int umutex_unlock(vaddr_t addr, uint64_t me)
{
	struct uobject m;

	int err = umutex_get(&m, addr);
	if (err < 0)
		return err;
	err = err == INHERITS ? imutex_unlock(&m, LWP_MUTEX_OWNER, me, false)
			      : umutex_release(&m, LWP_MUTEX_OWNER, me, false);
	uobject_put(&m);
	return err;
}

void umutex_owner_died(vaddr_t addr, uint64_t mask, uint64_t owner)
{
	struct uobject m;

	int err = umutex_get(&m, addr);
	if (err < 0)
		return;
	if (err == INHERITS)
		imutex_unlock(&m, mask, owner, true);
	else
		umutex_release(&m, mask, owner, true);
	uobject_put(&m);
}
