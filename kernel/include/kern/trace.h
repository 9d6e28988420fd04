/*
 * trace.h - where the kernel reports to a tracer (weft/trace.h, proc/trace.c).
 *
 * For an untraced process this costs no more than a test of a field that its path
 * loads anyhow.  l->ncalls is 0 while the LWP is traced, so its system calls take
 * the path of unknown calls.
 */
#pragma once
#include <weft/syscall.h>
#include <weft/trace.h>
#include "lwp.h"

struct proc;
struct tracer;

/* The link from a process to its tracer, while p->traced points at it (proc/trace.c). */
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
 * Around a system call of the current LWP, which is traced.  trace_entry fills in what
 * trace_return needs: the CPU time that the LWP had used in the kernel.  Interrupts on,
 * no lock held; both wait for the tracer.
 */
struct trace_call {
	hrtime_t entry, cpu;
};
void trace_entry(struct trace_call *c, uint64_t number, const uint64_t arg[6]);
void trace_return(const struct trace_call *c, uint64_t number, int64_t result);
/* The current LWP is about to act on a signal (TRACE_SIG_*), or has faulted.  Locks and waiting as
 * above.  Costs nothing if the LWP is not traced. */
void trace_signal(int sig, int action);
void trace_fault(uint64_t vec, uint64_t addr, int sig);
/* The current LWP exits.  Locks and waiting as above. */
void trace_lwp_exit(void);
/* AST_TRACE is set: stands still while the process is held.  Interrupts off. */
void trace_hold_self(void);

/* p gets a new LWP, which has not started.  p->lock held. */
void trace_new_lwp(struct proc *p, struct lwp *l);
/* There is a new process; its LWP has not started.  proc_tree_lock held; p->lock of neither. */
void trace_new_child(struct proc *parent, struct proc *child);
/* p has ended with p->status.  proc_tree_lock and p->lock held. */
void trace_ended(struct proc *p);
/* The system calls; the current process is the tracer. */
int trace_attach(int pid, uint32_t flags);
int trace_detach(int pid);
int64_t trace_wait(vaddr_t events, uint64_t n);

/* p is about to end: the processes that it traces go on without it.  No lock held. */
void trace_tracer_ends(struct proc *p);
