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

/* The part of struct proc. */
struct proc_upcalls {
	bool watched; /* the program has asked for it, so the rest is kept up to date; p->lock */
	bool timed;   /* a sleep with a deadline counts; changes with p->lock, read with l->lock */
	int active;   /* LWPs that could run; atomic */
	bool due;     /* an LWP has blocked or exited since the last report; atomic */
	bool grow;    /* ... since the last report of UPCALL_GROW; atomic */
	bool exited;  /* an LWP with LWP_BOUND has exited; p->lock */
	uint32_t wanted; /* events of the LWP that waits; p->lock */
	struct lwp *lwp; /* the LWP that waits, while it sleeps in upcall_wait; p->lock */
	unsigned checks; /* requests for a check that have not been met yet; atomic */
	struct ktimer timer;
};

/* Does a sleep with these flags count as blocking for l?  timed: it has a deadline. */
bool upcall_blocked_by(const struct lwp *l, unsigned flags, bool timed);
/* l is about to sleep in that way, or to stop.  l->lock held. */
void upcall_blocks(struct lwp *l);
/* l, for which upcall_blocks was called, is made runnable.  l->lock held. */
void upcall_unblocks(struct lwp *l);
/* p has a new LWP; l, the current LWP, exits.  p->lock held. */
void upcall_new_lwp(struct proc *p, struct lwp *l);
void upcall_lwp_exit(struct proc *p, struct lwp *l);
/* A signal continues p, which a signal had stopped.  p->lock held. */
void upcall_continued(struct proc *p);
/* From now on SIGWAITING is sent when it is due.  No lock held. */
void upcall_watch(struct proc *p);
/* The current LWP, the only one of p, begins another program, which has not asked for upcalls yet.
 * p->lock held. */
void upcall_exec(struct proc *p);
/* The last LWP exits. */
void upcall_proc_exit(struct proc *p);
