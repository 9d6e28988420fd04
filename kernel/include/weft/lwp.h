/*
 * lwp.h - LWPs as user space sees them: creation and inspection.
 */
#pragma once
#include "abi.h"

/* Flags of lwp_create (Solaris: _lwp_create(2)). */
#define LWP_DETACHED 0x1  /* its id is free as soon as it exits; lwp_wait refuses it */
#define LWP_SUSPENDED 0x2 /* starts stopped; lwp_continue starts it */
#define LWP_BOUND 0x4     /* its exit is an event (UPCALL_EXIT in signal.h) */
#define LWP_NOPOOL 0x8    /* in no pool: counts as blocked in a sleep with a deadline too */

#define LWP_NAME 16 /* bytes of an LWP's name, with the NUL */

struct lwp_create {
	uint64_t entry;      /* caller writes: first instruction */
	uint64_t stack;      /* caller writes: initial RSP, 8 mod 16 at a function's entry */
	uint64_t arg;        /* caller writes: RDI at entry */
	uint64_t fsbase;     /* caller writes: thread pointer */
	uint32_t flags;      /* caller writes: LWP_* */
	uint32_t id;         /* kernel writes: the new LWP's id, 1 or more */
	uint64_t schedctl;   /* kernel writes: address of its struct schedctl */
	char name[LWP_NAME]; /* caller writes: for display only; or empty */
};

/*
 * lwp_cancel(id, thread, pc): ends a wait of LWP `id` without a signal.  It acts on a system call
 * that a signal could interrupt, if the call was made for `thread` (R9, not 0) by the SYSCALL
 * instruction that ends at pc.  From now on the LWP does not block, or does not stay blocked, in
 * such a call.  The call ends with -EINTR, and is not restarted.  All other calls of the LWP are
 * as before, so the call is safe even if the thread does not run on this LWP any more.  It lasts
 * until the next lwp_cancel of that LWP, or its exec.  thread 0: ends an earlier lwp_cancel.
 */

/*
 * lwp_preempt(id): a scheduler in user space wants the LWP to look at its queue.  Before its next
 * instruction in user mode, LWP `id` enters the handler of SIGLWP, with the code WEFT_SI_PREEMPT.
 * In a critical section (schedctl.h), it does so after the section.  This is not a signal: it
 * does not end a sleep or change the mask, and no mask blocks it.  Several requests before the
 * handler is entered count as one.  If SIGLWP has no handler then, nothing happens.
 */

/*
 * Activations, for a scheduler in user space that runs many threads on few LWPs (Anderson, Bershad,
 * Lazowska, Levy: Scheduler Activations, 1992, section 3).  As many LWPs run its threads as the
 * process has been granted CPUs, whether LWPs block in the kernel or not.  Each upcall of that paper
 * comes to an LWP that has a CPU:
 *
 *	add this processor	upcall_idle returns 0
 *	an activation has	upcall_idle returns the id of the LWP that has blocked, and whose
 *	blocked			CPU the caller has now
 *	an activation has	its LWP enters the handler of SIGLWP, as for lwp_preempt, before its
 *	unblocked		next instruction in user mode, and only if all CPUs are in use.
 *				`surplus` of its record (schedctl.h) is 1.  The saved registers of its
 *				thread are the handler's ucontext
 *	a processor has been	the LWP that is about to be preempted enters the handler in the same way,
 *	preempted		with `yield` of its record 1, and calls lwp_yield when its thread may
 *				run on another LWP.  It has SC_GRACE_TICKS.  In a critical section it
 *				enters in the lwp_yield that ends the section.  Only if another LWP
 *				runs or is idle
 *	a time slice is over	each activation that runs enters the handler in the same way, with
 *				`surplus` 0.  This happens every 10 ticks while no LWP is idle, and
 *				threads wait (`waiting`, schedctl.h); one tick after
 *				an activation has unblocked without a CPU; and each tick for an LWP
 *				that runs on although `surplus` is 1 (the upcall may come when it is 0)
 *	no LWP takes a signal	an LWP returns from upcall_idle, and finds `look` and `signals` of its record
 *	of the process		set.  If no LWP sleeps there, all LWPs without LWP_NOPOOL find them so, as
 *				soon as they come there
 *
 * upcall_activate(cpus): the process is granted this many CPUs, from 1 on.  The calling LWP counts as
 * running, unless it has LWP_NOPOOL.  With UPCALL_STAY added, an activation that has unblocked is never told: if all
 * CPUs are in use, it shares them with the others, as LWPs of a process without activations do.
 *
 * upcall_unpark(id): lwp_unpark, in fewer instructions if LWP id sleeps in upcall_idle(UPCALL_IDLE) and still has its CPU.
 *
 * upcall_idle(how): the calling LWP runs no thread.  It sleeps until an unpark, or until it is handed a
 * CPU.  UPCALL_IDLE: it keeps a CPU, for the next thread that is made runnable; lwp_unpark tells it
 * so.  UPCALL_LEAVE: the same by an ordinary sleep, with which it leaves the CPU to the kernel meanwhile.
 * UPCALL_SPARE: it has no CPU, and takes over the CPU of the next LWP that blocks.  EAGAIN: the LWP has been
 * unparked, and all CPUs are in use; the thread that it was to run needs another LWP.  An LWP that was chosen for a signal
 * while it still ran a thread comes back as from an unpark.
 */
#define UPCALL_STAY 0x100

#define UPCALL_IDLE 0
#define UPCALL_SPARE 1
#define UPCALL_LEAVE 2

/* The state of a process (weft_procinfo) or LWP (lwp_info), for ps and lwps. */
enum {
	LWP_ST_IDLE = 0, /* being created */
	LWP_ST_RUN,      /* on a dispatch queue */
	LWP_ST_ONPROC,   /* on a CPU */
	LWP_ST_SLEEP,    /* blocked in the kernel */
	LWP_ST_STOP,     /* suspended */
	LWP_ST_ZOMB,     /* exited, not yet waited for */
};

struct lwp_info { /* kernel writes all */
	uint32_t id;
	uint32_t state;      /* LWP_ST_* */
	int32_t pri;         /* global priority, 0 to 169 */
	uint32_t cpu;        /* the CPU that it is on or was last on */
	uint64_t utime;      /* nanoseconds in user mode */
	uint64_t stime;      /* nanoseconds in the kernel */
	uint32_t flags;      /* LWP_* as created */
	uint32_t syscall;    /* number of the call that it is in, or ~0 */
	uint64_t since;      /* nanoseconds since it began to sleep, to be stopped, or to wait
			      * for a CPU; 0 in any other state */
	char wchan[16];      /* what it sleeps on, or empty */
	char sclass[8];      /* scheduling class */
	char name[LWP_NAME]; /* lwp_create's, or empty */
};
