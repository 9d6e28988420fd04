/*
 * join.h - what a thread leaves when it exits: the counts of joinable threads, and its way out of the table and the list.
 */
#pragma once
#include "ids.h"

extern unsigned __unclaimed;   /* atomic: neither claimed, nor detached, nor daemons */
extern unsigned __any_waiters; /* threads in thr_join(0, ...); changes under all locks */

/* Wakes one thread that waits for any exit.  The caller holds the lock of an id. */
void __any_exit_wake(void);

static inline void exited_append(struct thread *t)
{
	struct id_set *set = id_set_of(t->id);

	t->free_next = NULL;
	t->free_prev = set->exited_last;
	if (set->exited_last != NULL)
		set->exited_last->free_next = t;
	else
		set->exited_first = t;
	set->exited_last = t;
}

/* t, which has exited and is not claimed, can be taken by thr_join(0, ...).  The caller holds the lock of its id. */
static inline void exited_offer(struct thread *t)
{
	exited_append(t);
	if (__any_waiters > 0)
		__any_exit_wake();
}

/* The program no longer knows t.  The caller holds the lock of t's id. */
static inline void thread_delist(struct thread *t, bool apart)
{
	id_remove(t);
	if (!apart)
		thread_list_remove(t);
}

/*
 * t, which has been delisted, is free, or will be free when on_stack is 0.  Releases the lock of t's id, and stays in
 * its critical section.  The struct thread of the first thread is not used again.
 */
static inline __attribute__((always_inline)) void thread_free(struct thread *t, struct ilock *lock,
							      bool apart)
{
	if (apart) {
		bool kept = kept_put(t);

		ilock_drop(lock);
		if (likely(kept) || t == __main_thread)
			return;
		ilock_lock(&__threads_lock);
		thread_list_remove(t);
		__thread_put(t);
		ilock_unlock_inner(&__threads_lock);
		return;
	}
	if (t != __main_thread)
		__thread_put(t);
	ilock_drop(lock);
}
