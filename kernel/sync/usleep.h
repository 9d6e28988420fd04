/*
 * usleep.h - the queues of LWPs that sleep for locks in user memory (weft/ksync.h), and
 * the mutex among these locks, which the condition variable needs too.
 *
 * A queue is found by hashing the lock's key (kern/userkey.h) to a bucket.  A bucket is one tree of
 * waiters, ordered by key, then priority, then arrival.  Among real-time waiters of equal priority,
 * writers come before readers.  So entering, leaving and finding the first waiter of a key cost
 * O(log n), however many LWPs wait for however many locks.  A waiter lies on its LWP's kernel
 * stack.
 *
 * The bucket's lock guards the tree.  It also guards the words of the locks that hash to the
 * bucket, as far as the kernel changes them: one LWP at a time looks at the word in the kernel, and
 * goes to sleep or wakes a waiter.
 *
 * *Race:* a waiter is about to sleep for a lock, its owner releases the lock in user mode; *without
 * this:* the wake-up is lost; *closed by:* the word says that an LWP waits before this LWP releases
 * the bucket's lock.  An LWP that releases or posts a lock whose word says so comes here.
 *
 * A word is accessed under the bucket's spin lock, and the access does not bring in a missing page.
 * If the page is missing, the lock is released, the page is brought in, and the step begins again.
 * The last access to a word comes before the wake-up, because the woken LWP may unmap it.
 *
 * *Race:* a waker chooses a waiter, a time-out or a signal ends its sleep; *without this:* the
 * wake-up is lost; *closed by:* a chosen waiter has had its wake-up, whatever ended its sleep.  If
 * it cannot use the wake-up, because it is told to exit or its memory is gone, it passes it on.
 *
 * Locks: one bucket's at a time (level 4 of kernel/README.md), then l->lock.
 */
#pragma once
#include <kern/spinlock.h>
#include <kern/tree.h>
#include <kern/types.h>
#include <kern/userkey.h>
#include <weft/ksync.h>

struct lwp;

struct ubucket {
	struct spinlock lock;
	struct tree waiters;
	uint64_t arrivals; /* how many waiters have entered so far */
} CACHE_ALIGNED;

struct uwaiter {
	struct tree_node node;
	const struct user_key *key;
	struct lwp *lwp;
	int pri; /* of its LWP when it entered */
	uint64_t arrival;
	bool chosen; /* taken out by a waker */
	bool writes; /* reader-writer locks: it waits to write */
};

/* A lock in user memory, as a call works on it. */
struct uobject {
	vaddr_t addr;
	struct user_key key;
	struct ubucket *bucket;
};
void usleep_init(void);
int user_key_cmp(const struct user_key *a, const struct user_key *b); /* some order */

/* The lock at addr.  -EFAULT.  Holds the memory's object until uobject_put.  May sleep. */
int uobject_get(struct uobject *o, vaddr_t addr, bool shared);
void uobject_put(struct uobject *o);

/* All of these: with the lock of o's bucket held. */

void uwait_enter(struct uobject *o, struct uwaiter *w); /* the current LWP */
void uwait_enter_to_write(struct uobject *o, struct uwaiter *w);
void uwait_leave(struct uobject *o, struct uwaiter *w); /* if it has not been chosen */
/* The first waiter for o, or NULL; *more: there are others. */
struct uwaiter *uwait_first(const struct uobject *o, bool *more);
struct uwaiter *uwait_next(const struct uobject *o, struct uwaiter *w, bool *more);
/* Takes w out.  The caller wakes it with uwait_wake before it releases the lock. */
void uwait_choose(struct uobject *o, struct uwaiter *w);
void uwait_wake(struct uwaiter *w);
#define UWAIT_SOME 32 /* waiters that are woken while the lock is held once */
/*
 * Takes out at most UWAIT_SOME of the waiters that arrived no later than `last` (arrivals of the
 * bucket) into list.  True: there may be more of them.
 */
bool uwait_choose_some(struct uobject *o, uint64_t last, struct uwaiter *list[], unsigned *n);
/* Passes a wake-up that the current LWP has had, and cannot use, to the next waiter. */
void uwait_pass_on(struct uobject *o);
/*
 * Sleeps until w, which has entered, is chosen.  0; -ETIMEDOUT, -EINTR: w was not chosen, and has
 * left.  Releases the lock while it sleeps.
 */
int uwait_sleep(struct uobject *o, struct uwaiter *w, const char *wchan, hrtime_t deadline);
/*
 * The word's page is missing: releases the lock (interrupts on) and brings the page in for writing.
 * 0, -EFAULT, -ENOMEM.  In each case the lock is held again on return.
 */
int uobject_fault(struct uobject *o, irqstate_t *s);

/* The current LWP's process and `number` (0: the LWP's id) as an owner. */
uint64_t umutex_owner(uint64_t owner);
/* Errors as of lwp_mutex_timedlock, and -EBUSY with wait false. */
int umutex_lock(vaddr_t addr, uint64_t me, hrtime_t deadline, bool wait);
/* Errors as of lwp_mutex_unlock. */
int umutex_unlock(vaddr_t addr, uint64_t me);
/*
 * Frees the mutex at addr and marks it OWNERDEAD, if it is robust and its owner's number and
 * process, under mask, are those of `owner`.
 */
void umutex_owner_died(vaddr_t addr, uint64_t mask, uint64_t owner);
