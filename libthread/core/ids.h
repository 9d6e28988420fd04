/*
 * ids.h - threads by their ids, the list of all threads, and the locks of both.
 *
 * Threads belong to sets, by the lowest bits of their ids.  A set has a lock.  It guards what tcb.h marks "list" in the
 * threads of the set, the chains of the table of ids in which they are, and those of them that have exited.
 *
 * With one set, which is the usual case, its lock is __threads_lock, and that lock also guards the list of threads
 * and the free threads (memory.c).  A model whose threads are created without a lock in common asks for many sets
 * (__threads_apart).  Then __threads_lock guards only the list and the free threads.  The list then has threads
 * that the program does not know: free threads that an LWP keeps, and threads that are being created.  Their id is
 * 0, and they are `exited`.
 *
 * Lock order: __threads_lock, the locks of the sets in their order.
 *
 * A function with the argument `apart` has a constant there: are there many sets?
 */
#pragma once
#include "core.h"

struct id_set {
	struct ilock lock;                         /* if there are many sets */
	struct thread *exited_first, *exited_last; /* not claimed, oldest first */
} __attribute__((aligned(64)));

extern struct id_set *__id_sets;
extern uint32_t __id_sets_mask; /* 0: one set.  Set before main */
extern bool __are_apart;        /* many sets */

extern struct thread **__id_table; /* chained by hash_next */
extern uint32_t __id_table_mask;   /* at least __id_sets_mask */
extern uint32_t __ids_used;        /* atomic: threads in the table */
extern uint32_t __last_id;         /* atomic */
extern bool __ids_wrapped;         /* the next id may be in use */

#define are_apart() unlikely(__are_apart)

static inline struct id_set *id_set_of(unsigned long id)
{
	return &__id_sets[id & __id_sets_mask];
}

/* The lock of the thread that has, or had, this id. */
static inline struct ilock *id_lock_among(unsigned long id, bool apart)
{
	return apart ? &id_set_of(id)->lock : &__threads_lock;
}
static inline struct ilock *id_lock(unsigned long id)
{
	return id_lock_among(id, are_apart());
}

/* NULL: no such thread.  The caller holds the lock of the id. */
static inline struct thread *id_find(unsigned long id)
{
	struct thread *t = __id_table[id & __id_table_mask];

	while (t != NULL && t->id != id)
		t = t->hash_next;
	return t;
}

/* The caller holds the lock of t's id. */
static inline void id_insert(struct thread *t)
{
	struct thread **p = &__id_table[t->id & __id_table_mask];

	t->hash_next = *p;
	*p = t;
	__atomic_add_fetch(&__ids_used, 1, __ATOMIC_RELAXED);
}

static inline void id_remove(struct thread *t)
{
	struct thread **p = &__id_table[t->id & __id_table_mask];

	while (*p != t)
		p = &(*p)->hash_next;
	*p = t->hash_next;
	__atomic_sub_fetch(&__ids_used, 1, __ATOMIC_RELAXED);
	t->id = 0;
}

/* The caller holds __threads_lock. */
static inline void thread_list_append(struct thread *t)
{
	t->list_next = __thread_list;
	t->list_prev = __thread_list->list_prev;
	t->list_prev->list_next = t;
	__thread_list->list_prev = t;
}

static inline void thread_list_remove(struct thread *t)
{
	t->list_prev->list_next = t->list_next;
	t->list_next->list_prev = t->list_prev;
	if (__thread_list == t)
		__thread_list = t->list_next;
	if (__last_taker == t)
		__last_taker = t->list_next;
}

/* last_id becomes an id that no thread has, and is not 0.  For one set. */
void __id_search(void);
/* t gets an id, and enters the table.  Returns with the id's lock held, as the only one.  For many sets. */
void __id_give_apart(struct thread *t);

/* Keeps chains short.  The caller holds no lock. */
void __id_table_grow(void);
static inline bool id_table_full(void)
{
	return unlikely(__atomic_load_n(&__ids_used, __ATOMIC_RELAXED) > 2 * __id_table_mask);
}

/*
 * A thread that the caller's LWP keeps, or NULL: the latest one, if it suits.  It is in the list of threads, and it has
 * left its stack, because it was put there on this LWP.  Sizes that are not whole pages suit none.
 */
static inline struct thread *kept_take(size_t stack_size, size_t guard_size)
{
	struct ulwp *l;
	struct thread *t;

	critical_enter();
	l = thread_self()->lwp;
	t = l->kept;
	if (likely(t != NULL)) {
		if (likely(t->stack_size == stack_size && t->guard_size == guard_size)) {
			l->kept = t->free_next;
			l->may_keep++;
		} else {
			t = NULL;
		}
	}
	critical_exit();
	return t;
}

/*
 * t is in the list of threads, and is free, or will be free when it has left its stack, on this LWP.  The caller is in a
 * critical section, and stays in it.  False: the LWP keeps no more, or the stack is the program's.
 */
static inline bool kept_put(struct thread *t)
{
	struct ulwp *l = thread_self()->lwp;

	if (unlikely(l->may_keep == 0 || t->user_stack))
		return false;
	t->free_next = l->kept;
	l->kept = t;
	l->may_keep--;
	return true;
}
