/*
 * poll.h - how an object that can be polled wakes its pollers (fs/poll.c).
 *
 * The object has a pollhead, guarded by the lock that guards what poll asks about.  Its
 * vnode's poll operation finds the answer and lets the caller's entry join under
 * that lock.  An LWP that changes the answer holds the lock too, and calls pollhead_wake.
 *
 * *Race:* the answer changes while a poller asks; *without this:* the poller misses the
 * change and sleeps on; *closed by:* the lock: a change is in the answer, or finds the entry.
 */
#pragma once
#include "list.h"
#include "spinlock.h"
#include "sync.h"

struct pollhead {
	struct list entries; /* of struct poll_entry; the object's lock */
};

struct poller;
struct poll_entry { /* of the poller, for one descriptor */
	struct list link;
	struct poller *poller;
	struct spinlock *lock; /* of the object that it joined, or NULL */
};

void pollhead_init(struct pollhead *h);
/* Makes e (NULL is harmless) hear of later changes.  `lock`, the object's, is held. */
void pollhead_join(struct pollhead *h, struct poll_entry *e, struct spinlock *lock);
/* Wakes the pollers after a change.  The object's lock is held; takes pollers' locks, l->lock. */
void pollhead_wake(struct pollhead *h);
