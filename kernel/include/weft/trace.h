/*
 * trace.h - watching another process: its system calls, signals, faults and ends as a
 * stream of events, its registers and its memory.  Under truss and pstack.
 *
 * A process becomes a tracer with trace_attach; from then on whatever the traced
 * processes do is queued for it, and trace_wait hands it out in order.  An LWP that
 * enters or leaves a system call, takes a signal or faults stands still from its event
 * on until the tracer comes back with the next trace_wait: meanwhile its arguments can
 * be read (proc_read).  With TRACE_STREAM nobody stands still, but an LWP waits while
 * the queue is full, so no event is ever lost.  A tracer that ends leaves its processes
 * running, untraced.
 */
#pragma once
#include "abi.h"

/* Flags of trace_attach. */
#define TRACE_FOLLOW 0x1 /* children of the process are traced too, from their start */
#define TRACE_STREAM 0x2 /* nobody stops, and TRACE_ENTRY is left out */
#define TRACE_HOLD 0x4   /* no events: no LWP of it executes a user instruction till the end */

enum {
	TRACE_ENTRY = 1, /* arg: the six arguments of the call */
	TRACE_RETURN,    /* arg: result or -errno, time of entry, CPU time of the call, both ns */
	TRACE_SIGNAL,    /* arg: signal, what will be done (TRACE_SIG_*) */
	TRACE_FAULT,     /* arg: vector of the trap, address, signal that it is about to send */
	TRACE_LWP_EXIT,
	TRACE_EXIT, /* the process: arg: its status as waitpid gives it.  The last of its pid */
};

enum { TRACE_SIG_DEFAULT, TRACE_SIG_CAUGHT, TRACE_SIG_IGNORED };

struct trace_event {   /* kernel writes all */
	uint32_t kind; /* TRACE_* */
	int32_t pid;
	uint32_t lwp;    /* 0 for TRACE_EXIT */
	uint32_t call;   /* TRACE_ENTRY, TRACE_RETURN: number of the call, known or not */
	uint64_t time;   /* nanoseconds since boot */
	uint64_t arg[6]; /* by kind; 0 beyond what the kind says */
};

struct lwp_regs { /* kernel writes all: the user's registers */
	uint64_t rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp;
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
	uint64_t rip, rflags, fsbase;
	uint32_t id;
	uint32_t syscall; /* number of the call that it is in, or ~0 */
};
