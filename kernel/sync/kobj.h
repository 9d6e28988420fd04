/* kobj.h - kernel objects with handles: what the files of sync/ and the calls share. */
#pragma once
#include <kern/kobj.h>
#include <kern/list.h>
#include <kern/spinlock.h>
#include <weft/kobj.h>

struct proc;

struct kobj {
	struct spinlock lock; /* of several: in order of address */
	uint32_t refs;        /* atomic: handles, waits, the owner */
	uint8_t kind;
	bool manual;         /* event */
	bool abandoned;      /* mutex: its owner died, and the next owner is to know it; lock */
	int32_t signal, max; /* event: 0 or 1; semaphore: the count; lock */
	struct lwp *owner;   /* mutex; lock */
	uint64_t recursion;  /* mutex; lock */
	bool attached;       /* event: the end of an LWP or a process will set it; lock */
	struct list owned;   /* mutex: in owner->mutexes, which only the owner uses; attached
			      * event: in that list, or in p->at_end (proc_tree_lock) */
	struct list waiters; /* of kblock, first in, first out; lock */
	struct list named;   /* in the table of names; its lock */
	char *name;          /* or NULL; does not change */
};

/* --- kobj.c ----------------------------------------------------------------------------- */

void kobj_init(void);
struct kobj *kobj_alloc(const struct kobj_create *c); /* NULL: out of memory; one reference */
void kobj_free(struct kobj *o);                       /* no reference is left */
/* Enters o, a mutex that the caller owns, in the caller's list, unless it is there. */
void kobj_adopt(struct kobj *o);
/*
 * The end of the current LWP, or of p (with proc_tree_lock held), will set the event o.  o is held
 * until then.  -EBUSY: the event waits for some end already.
 */
int kobj_attach_lwp(struct kobj *o);
int kobj_attach_proc(struct kobj *o, struct proc *p);
/* The calls; errors as there (sync/handle.c). */
int kobj_mutex_release(struct kobj *o);
enum kobj_event_op { EVENT_SET, EVENT_RESET, EVENT_PULSE };
int kobj_event(struct kobj *o, enum kobj_event_op op);
int kobj_sema_release(struct kobj *o, int32_t n);
int kobj_wait(struct kobj *const obj[], unsigned n, bool all, hrtime_t deadline);

/* --- handle.c ----------------------------------------------------------------------------- */

void kobj_hold(struct kobj *o);
void kobj_rele(struct kobj *o);
