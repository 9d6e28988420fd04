/*
 * itimer.h - an interval timer, for itimer.c and for its system calls (itimer_calls.c).
 */
#pragma once
#include <kern/list.h>
#include <kern/signal.h>
#include <kern/timer.h>

#define NOBODY UINT32_MAX /* lwpid, clock_lwp: the LWP has exited */
#define OF_CREATE (-1)    /* which: made by timer_create */

struct itimer {
	struct list link;
	struct proc *proc;
	int id, which; /* WEFT_ITIMER_* without WEFT_ITIMER_LWP, or OF_CREATE */
	bool of_lwp;   /* of setitimer with WEFT_ITIMER_LWP */
	bool realtime; /* absolute times are of CLOCK_REALTIME */
	bool silent;   /* WEFT_SIGEV_NONE */
	enum { WALL, USER_TIME, CPU_TIME } clock;
	uint32_t clock_lwp; /* the LWP of this CPU time; 0: the process */
	uint32_t lwpid;     /* the LWP that gets the signal; 0: the process */
	int signo;
	uint64_t value;
	struct ktimer timer; /* WALL */
	/* p->lock */
	hrtime_t expires;  /* on its clock: time since boot or CPU time; HRTIME_NEVER: off */
	hrtime_t interval; /* 0: once */
	bool by_clock;     /* set to an absolute time of CLOCK_REALTIME: */
	hrtime_t real;     /* its expiry by that clock, */
	hrtime_t offset;   /* and the clock_offset with which `expires` was computed */
	struct sigqueued queued;
	int32_t overrun; /* overruns of the last signal taken */
};

struct itimer_setting {
	hrtime_t value; /* until the next expiry; 0: off */
	hrtime_t interval;
};

/* p->timers.lock is held in all of these.  They acquire p->lock, except itimer_left, for which the
 * caller holds it. */

/* Makes a timer, which is off.  NULL: no memory, or WEFT_TIMER_MAX timers exist. */
struct itimer *itimer_make(struct proc *p, int which, int signo);
/* Removes a pending signal of the timer, too. */
void itimer_delete(struct itimer *t);
/* Sets the timer, to a time of its clock if `absolute`.  *old is what was left. */
void itimer_change(struct itimer *t, const struct itimer_setting *to, bool absolute,
		   struct itimer_setting *old);
/* The time that is left until the next expiry. */
struct itimer_setting itimer_left(const struct itimer *t);
