/*
 * kobj.h - tables of handles, and what they need from the life of processes and LWPs
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
	uint32_t next_free; /* the next free slot + 1, or 0 */
};
struct kobj_table {
	struct spinlock lock;
	struct kobj_slot *slot;
	uint32_t nslots, free; /* the first free slot + 1, or 0 */
};

void kobj_table_init(struct kobj_table *t);
/* Copies the inheritable handles of `from` into the new, empty table t.  -ENOMEM. */
int kobj_inherit(struct kobj_table *t, struct kobj_table *from);
/* Closes all handles; with exec, only those that exec closes. */
void kobj_close_all(struct kobj_table *t, bool exec);
/* The current LWP exits: releases the mutexes that it owns, as abandoned, and sets the events
 * that wait for its end (kobj_at_exit). */
void kobj_lwp_exit(struct lwp *l);
/* Sets the events of a list and empties it.  The caller excludes LWPs that may add to it. */
void kobj_set_all(struct list *events);
