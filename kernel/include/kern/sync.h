/*
 * sync.h - how kernel code sleeps: wait queues, and the sleeping locks made of
 * them (sched/waitq.c, sched/kmutex.c).
 *
 * The interface of the wait queue makes a lost wake-up impossible to write.  The
 * condition is always tested under a spin lock.  The sleeper releases the lock only
 * after it stands in the queue, and the waker holds the lock when it makes the condition true:
 *
 *	irqstate_t s = spin_lock(&obj->lock);
 *	wait_event(&obj->waiters, &obj->lock, obj->count > 0);
 *	obj->count--;
 *	spin_unlock(&obj->lock, s);
 *
 *	irqstate_t s = spin_lock(&obj->lock);
 *	obj->count++;
 *	waitq_wake_one(&obj->waiters);
 *	spin_unlock(&obj->lock, s);
 *
 * A wait queue has no lock of its own: the object's lock guards it.
 */
#pragma once
#include "list.h"
#include "sched.h"
#include "spinlock.h"
#include "types.h"

struct waitq {
	struct list sleepers; /* of struct waiter, in order of arrival; object's lock */
	const char *name;     /* what lwps shows as wchan */
};

struct lwp;
struct waiter { /* on the sleeper's stack */
	struct list link;
	struct lwp *lwp;
};

void waitq_init(struct waitq *q, const char *name);
/* Wakes the first sleeper, or all; the object's lock is held. */
void waitq_wake_one(struct waitq *q);
void waitq_wake_all(struct waitq *q);

/*
 * Sleeps once: enters the queue, releases `lock` and switches away; then acquires `lock` again
 * and leaves the queue.  For the macros below.  deadline: HRTIME_NEVER or a
 * time.  Returns 0, -ETIMEDOUT, or -EINTR: flags (SLEEP_*) ask for it, and the LWP has been told
 * to exit or stop or has a signal.  Spurious returns of 0 are allowed.
 */
int waitq_sleep(struct waitq *q, struct spinlock *lock, hrtime_t deadline, uint32_t flags);

#define wait_event(q, lock, cond)                                                                  \
	do {                                                                                       \
		while (!(cond))                                                                    \
			waitq_sleep(q, lock, HRTIME_NEVER, 0);                                     \
	} while (0)

/* 0 when cond holds, or -EINTR. */
#define wait_event_intr(q, lock, cond)                                                             \
	({                                                                                         \
		int we_err = 0;                                                                    \
		while (!(cond) && we_err == 0)                                                     \
			we_err = waitq_sleep(q, lock, HRTIME_NEVER, SLEEP_INTR);                   \
		we_err;                                                                            \
	})

/* A sleeping mutex.  Not recursive; released by its owner. */
struct kmutex {
	struct spinlock lock;
	struct lwp *owner;
	struct waitq waiters;
};
#define KMUTEX_INIT(m, n)                                                                          \
	{                                                                                          \
		.lock = SPINLOCK_INIT(n), .waiters = { LIST_INIT((m).waiters.sleepers), n }        \
	}
void kmutex_init(struct kmutex *m, const char *name);
void kmutex_enter(struct kmutex *m);
void kmutex_exit(struct kmutex *m);
bool kmutex_owned(const struct kmutex *m);

/* A sleeping readers-writer lock; a waiting writer blocks new readers. */
struct krwlock {
	struct spinlock lock;
	int holders;              /* readers, or -1 for a writer */
	unsigned writers_waiting; /* asleep, or woken and still without the lock */
	struct waitq readers, writers;
};
void krw_init(struct krwlock *l, const char *name);
void krw_read_enter(struct krwlock *l);
void krw_read_exit(struct krwlock *l);
void krw_write_enter(struct krwlock *l);
void krw_write_exit(struct krwlock *l);
