/*
 * poll.h - how an object that can be polled tells those who wait for it (fs/poll.c).
 *
 * The object has a pollhead, guarded by the lock that guards what poll asks about.  Its
 * vnode's poll operation works the answer out and lets the caller's entry join under
 * that lock; whoever changes the answer holds it and calls pollhead_wake.  So a change
 * either is in the answer or finds the entry: no wake-up is lost.
 */
#pragma once
#include "list.h"
#include "spinlock.h"
#include "sync.h"

struct pollhead {
	struct list entries; /* of struct poll_entry; the object's lock */
};

struct poller;
struct poll_entry { /* the poller's: of one descriptor */
	struct list link;
	struct poller *poller;
	struct spinlock *lock; /* of the object that it joined, or NULL */
};

void pollhead_init(struct pollhead *h);
/* e (NULL is harmless) hears of changes from now on.  `lock`, the object's, is held. */
void pollhead_join(struct pollhead *h, struct poll_entry *e, struct spinlock *lock);
/* Something has changed.  The object's lock is held; takes pollers' locks, l->lock. */
void pollhead_wake(struct pollhead *h);
