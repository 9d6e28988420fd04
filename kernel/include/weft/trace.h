/*
 * trace.h - watching another process: its system calls, signals, faults and ends as a
 * stream of events, its registers and its memory.  truss and pstack use it.
 *
 * A process becomes a tracer with trace_attach.  From then on the events of the traced
 * processes are queued for it, and trace_wait returns them in order.  An LWP has an event
 * when it enters or leaves a system call, takes a signal or faults.  The LWP then stops
 * until the tracer calls the next trace_wait.  Meanwhile its arguments can be read
 * (proc_read).  With TRACE_STREAM no LWP stops at its events; an LWP waits only while the
 * queue is full, so no event is lost.  When a tracer ends, its processes continue, untraced.
 */
#pragma once
#include "abi.h"

/* Flags of trace_attach. */
#define TRACE_FOLLOW 0x1 /* children of the process are traced too, from their start */
#define TRACE_STREAM 0x2 /* no LWP stops, and there is no TRACE_ENTRY */
#define TRACE_HOLD 0x4   /* no events; its LWPs execute no user instruction while it is traced */

enum {
	TRACE_ENTRY = 1, /* arg: the six arguments of the call */
	TRACE_RETURN,    /* arg: result or -errno, time of entry, CPU time of the call, both ns */
	TRACE_SIGNAL,    /* arg: signal, its action (TRACE_SIG_*) */
	TRACE_FAULT,     /* arg: vector of the trap, address, signal that will be sent */
	TRACE_LWP_EXIT,
	TRACE_EXIT, /* of the process; arg: the status of waitpid.  The last event of its pid */
};

enum { TRACE_SIG_DEFAULT, TRACE_SIG_CAUGHT, TRACE_SIG_IGNORED };

struct trace_event {   /* kernel writes all */
	uint32_t kind; /* TRACE_* */
	int32_t pid;
	uint32_t lwp;    /* 0 for TRACE_EXIT */
	uint32_t call;   /* TRACE_ENTRY, TRACE_RETURN: number of the call, valid or not */
	uint64_t time;   /* nanoseconds since boot */
	uint64_t arg[6]; /* by kind; the unused arguments are 0 */
};

struct lwp_regs { /* kernel writes all: the user's registers */
	uint64_t rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp;
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
	uint64_t rip, rflags, fsbase;
	uint32_t id;
	uint32_t syscall; /* number of the call that it is in, or ~0 */
};
