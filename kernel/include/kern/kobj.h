/*
 * kobj.h - tables of handles, and what the life of processes and LWPs does to them
 * (sync/handle.c, sync/kobj.c).
 */
#pragma once
#include "list.h"
#include "spinlock.h"
#include "types.h"

struct kobj;
struct lwp;

struct kobj_slot {
	struct kobj *obj; /* held; NULL: free */
	uint32_t inherit;
	uint32_t next_free; /* slot + 1, or 0 */
};
struct kobj_table {
	struct spinlock lock;
	struct kobj_slot *slot;
	uint32_t nslots, free; /* the first free slot + 1, or 0 */
};

void kobj_table_init(struct kobj_table *t);
/* The inheritable handles of `from` into the new, empty table t.  -ENOMEM. */
int kobj_inherit(struct kobj_table *t, struct kobj_table *from);
/* Closes all handles, or all that exec closes. */
void kobj_close_all(struct kobj_table *t, bool exec);
/* The current LWP gives up, as abandoned, the mutexes that it owns, and its end sets the events
 * that wait for it (kobj_at_exit). */
void kobj_lwp_exit(struct lwp *l);
/* Sets the events of a list, which is empty then.  Whoever may add to it is kept out. */
void kobj_set_all(struct list *events);
