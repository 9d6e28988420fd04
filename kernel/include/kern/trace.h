/*
 * trace.h - where the kernel reports to a tracer (weft/trace.h, proc/trace.c).
 *
 * Nothing of this costs an untraced process more than a test of a field that its path
 * loads anyhow: l->ncalls is 0 while the LWP is traced, which sends its system calls
 * down the path of unknown ones.
 */
#pragma once
#include <weft/syscall.h>
#include <weft/trace.h>
#include "lwp.h"

struct proc;
struct tracer;

/* What links a process to its tracer, while p->traced names it (proc/trace.c). */
struct traced {
	struct list link;
	struct tracer *tracer;
	struct proc *proc;
	int pid, status;
	uint32_t flags;
	hrtime_t end;
};

static inline bool lwp_traced(const struct lwp *l)
{
	return l->ncalls == 0;
}

/*
 * Around a system call of the current LWP, which is traced.  trace_entry returns what
 * trace_return needs: the CPU time that the LWP had used in the kernel.  Interrupts on,
 * no lock held; wait for the tracer.
 */
struct trace_call {
	hrtime_t entry, cpu;
};
void trace_entry(struct trace_call *c, uint64_t number, const uint64_t arg[6]);
void trace_return(const struct trace_call *c, uint64_t number, int64_t result);
/* The current LWP is about to act on a signal (TRACE_SIG_*), or has faulted.  As above,
 * and free of charge if it is not traced. */
void trace_signal(int sig, int action);
void trace_fault(uint64_t vec, uint64_t addr, int sig);
/* The current LWP ends.  As above. */
void trace_lwp_exit(void);
/* AST_TRACE is set: stands still while the process is held.  Interrupts off. */
void trace_hold_self(void);

/* A new LWP of p, before it is started.  p->lock held. */
void trace_new_lwp(struct proc *p, struct lwp *l);
/* A new process, before its LWP is started.  proc_tree_lock held; no lock of the two. */
void trace_new_child(struct proc *parent, struct proc *child);
/* p has ended, p->status tells how.  proc_tree_lock and p->lock held. */
void trace_ended(struct proc *p);
/* The system calls; the current process is the tracer. */
int trace_attach(int pid, uint32_t flags);
int trace_detach(int pid);
int64_t trace_wait(vaddr_t events, uint64_t n);

/* p is about to end: whomever it traces goes on without it.  No lock held. */
void trace_tracer_ends(struct proc *p);
