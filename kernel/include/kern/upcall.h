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

/*
 * The part of struct proc.  A process has activations (proc/activation.c) or waits for SIGWAITING and
 * upcall_wait, not both, so both use the same few words.
 */
struct proc_upcalls {
	bool watched;  /* the program has asked for it, so the rest is kept up to date; p->lock */
	bool timed;    /* a sleep with a deadline counts; changes with p->lock, read with l->lock */
	uint16_t idle; /* activations that wait with UPCALL_IDLE; atomic */
	int active;    /* LWPs that could run; of a process with activations: that run; atomic */
	bool due;      /* an LWP has blocked or exited since the last report; atomic */
	bool grow;     /* ... since the last report of UPCALL_GROW; atomic */
	bool exited;   /* an LWP with LWP_BOUND has exited; p->lock */
	uint8_t cpus;  /* granted; 0: the process has no activations; p->lock */
	uint8_t most; /* activations that run at a time: cpus, or with UPCALL_STAY any number; p->lock */
	uint8_t limit; /* an LWP that unblocks looks if as many others run: most, or 0; atomic (proc/slices.c) */
	uint32_t wanted; /* events of the LWP that waits; p->lock */
	union {
		struct lwp *lwp; /* the LWP that waits, while it sleeps in upcall_wait; p->lock */
		/* Activations that wait with UPCALL_SPARE, the latest first; the lock of spares, and read without it. */
		struct lwp *spares;
	};
	unsigned checks; /* requests for a check that have not been met yet; atomic */
	unsigned below;  /* UPCALL_GROW: when fewer LWPs than this are active; p->lock */
	struct ktimer timer;

	/* Time slices of threads (proc/slices.c). */
	struct ktimer slices;
	bool slicing; /* `slices` is armed, or its function runs; the lock of slices, and atomic */
	unsigned waiting; /* threads that waited for an LWP at the end of the last slice; atomic */
	bool soon;        /* once more, a slice is to end at the next tick; the lock of slices */
	uint8_t slice; /* number of the last slice that ended, from 1 on, for schedctl.h; p->lock */
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
/*
 * A signal is pending for p, which has activations, and no LWP takes it: makes the library look for a thread that
 * does.  p->lock held.
 */
void activation_look(struct proc *p) __attribute__((cold));
/* Is l, the current LWP, an activation that runs a thread which another LWP of its process could run? */
bool activation_hands_over(struct lwp *l);
/*
 * An activation of p has begun to run: do its threads need slices from now on?  slices_begin: they do,
 * and (soon) the first slice ends at the next tick.  Any lock may be held except those of slices and timers.
 */
#define slices_look(p)                                                                             \
	do {                                                                                       \
		if (!__atomic_load_n(&(p)->up.slicing, __ATOMIC_SEQ_CST))                          \
			slices_look_closer(p);                                                     \
	} while (0)
void slices_look_closer(struct proc *p);
void slices_begin(struct proc *p, bool soon);
/* l, the current LWP, which is watched, has used its slice.  True: it gets another slice at once, for another
 * of its threads (proc/share.c).  l->lock held. */
bool share_goes_on(struct lwp *l);
/* Has an LWP stood for several threads of late?  Then l->others of some LWP may not be 0. */
extern hrtime_t share_until; /* atomic */
static inline bool share_in_use(hrtime_t now)
{
	return now < __atomic_load_n(&share_until, __ATOMIC_RELAXED);
}
/* The last LWP exits.  No lock held. */
void slices_proc_exit(struct proc *p);
/* The last LWP exits. */
void upcall_proc_exit(struct proc *p);
