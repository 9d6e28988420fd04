/*
 * upcall.h - which LWPs of a process could run, for SIGWAITING and upcall_wait
 * (proc/upcall.c).
 */
#pragma once
#include "list.h"
#include "timer.h"
#include "types.h"

struct lwp;
struct proc;

/* struct proc's part. */
struct proc_upcalls {
	bool watched; /* somebody wants to know: the rest is kept up to date; p->lock */
	bool timed;   /* a sleep with a deadline counts; changes with p->lock, read with l->lock */
	int active;   /* LWPs that could run; atomic */
	bool due;     /* one has blocked or gone since the last report; atomic */
	bool grow;    /* and that has left fewer than there are CPUs; atomic */
	bool exited;  /* one with LWP_BOUND has exited; p->lock */
	uint32_t wanted; /* events of the LWP that waits; p->lock */
	struct lwp *lwp; /* it, while it sleeps in upcall_wait; p->lock */
	unsigned checks; /* requests for a check that have not been met; atomic */
	struct ktimer timer;
};

/* Is a sleep with these flags one that l is blocked in?  timed: it has a deadline. */
bool upcall_blocked_by(const struct lwp *l, unsigned flags, bool timed);
/* l is about to sleep in that way, or to stop.  l->lock held. */
void upcall_blocks(struct lwp *l);
/* l, which did that, is made runnable.  l->lock held. */
void upcall_unblocks(struct lwp *l);
/* A new LWP of p; l, the current LWP, exits.  p->lock held. */
void upcall_new_lwp(struct proc *p, struct lwp *l);
void upcall_lwp_exit(struct proc *p, struct lwp *l);
/* A signal sets p going that it had stopped.  p->lock held. */
void upcall_continued(struct proc *p);
/* From now on SIGWAITING is sent when it is due.  No lock held. */
void upcall_watch(struct proc *p);
/* The only LWP, the current one, begins another program, where nobody wants to know so far.  p->lock
 * held. */
void upcall_exec(struct proc *p);
/* The last LWP leaves. */
void upcall_proc_exit(struct proc *p);
