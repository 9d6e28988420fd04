/*
 * usleep.h - the queues of LWPs that sleep for locks in user memory (weft/ksync.h), and
 * the mutex among these locks, which the condition variable needs too.
 *
 * A queue is found by hashing the lock's key (kern/userkey.h) to a bucket.  A bucket
 * is one tree of waiters, ordered by key, then priority, then arrival (but of real-time ones
 * of a priority, those that want to write before those that want to read); so entering,
 * leaving and finding the first of a key cost O(log n), however many LWPs wait for
 * however many locks.  A waiter lies on its LWP's kernel stack.
 *
 * The bucket's lock guards the tree, and the words of the locks that hash there as far as
 * the kernel changes them: of LWPs that enter the kernel for a lock, one at a time looks
 * at the word, and goes to sleep or wakes somebody.  That no wake-up is lost follows as
 * usual: a word says that somebody waits before its LWP gives the bucket's lock up, and
 * whoever gives up or posts a lock whose word says so comes here.
 *
 * A word is touched under the bucket's spin lock, without its page being fetched: if the
 * page is missing, the lock is given up, the page brought in, and all begins again.  The
 * last access to a word comes before the wake-up: who is woken may unmap it.
 *
 * An LWP that has been chosen has had its wake-up, whatever else ended its sleep.  One that
 * cannot make use of it, because it is told to exit or its memory is gone, passes it on.
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
	uint64_t arrivals; /* counts those that entered */
} CACHE_ALIGNED;

struct uwaiter {
	struct tree_node node;
	const struct user_key *key;
	struct lwp *lwp;
	int pri; /* of its LWP when it came */
	uint64_t arrival;
	bool chosen; /* taken out by a waker */
	bool writes; /* reader-writer locks: what it wants */
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
/* The first that waits for o, or NULL; *more: there are others. */
struct uwaiter *uwait_first(const struct uobject *o, bool *more);
struct uwaiter *uwait_next(const struct uobject *o, struct uwaiter *w, bool *more);
/* Takes w out; the wake-up comes with uwait_wake, before the lock is given up. */
void uwait_choose(struct uobject *o, struct uwaiter *w);
void uwait_wake(struct uwaiter *w);
#define UWAIT_SOME 32 /* woken before others get a look in */
/*
 * Takes out at most UWAIT_SOME of those who came no later than `last` (arrivals of the
 * bucket) into list; true: there may be more of them.
 */
bool uwait_choose_some(struct uobject *o, uint64_t last, struct uwaiter *list[], unsigned *n);
/* The wake-up that the current LWP has had, and cannot use, goes to the next one. */
void uwait_pass_on(struct uobject *o);
/*
 * Sleeps until w, which has entered, is chosen: 0; -ETIMEDOUT, -EINTR: it was not, and has
 * left.  Gives the lock up meanwhile.
 */
int uwait_sleep(struct uobject *o, struct uwaiter *w, const char *wchan, hrtime_t deadline);
/*
 * The word's page is missing: gives the lock up (interrupts on) and brings it in for
 * writing.  0, -EFAULT, -ENOMEM; has the lock again in any case.
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
