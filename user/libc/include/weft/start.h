/*
 * start.h - how a process starts: the interface between crt0, libc and libthread.
 *
 * The order is fixed.  crt0 finds the vectors that the kernel put on the first
 * stack and calls __libc_start.  That function sets the variables below and then
 * calls __libthread_init.  No thread pointer is valid before __libthread_init returns, so
 * nothing of newlib (errno included) may be used before.  Then come stdio,
 * constructors, main and exit.
 */
#pragma once
#include <weft/abi.h>
#include <weft/time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* libc writes these once, before __libthread_init; all other code only reads them. */
extern const struct timepage *__timepage; /* time without a system call (time.h) */
extern unsigned __ncpu;                   /* CPUs online when the process started */
extern const struct auxv *__auxv;         /* ends with AT_NULL */
extern const char *__argv0;               /* argv[0], or NULL */

/* Returns the value of an entry of the auxiliary vector, or 0 if it has no such entry. */
uint64_t __auxval(uint64_t tag);

/*
 * Defined by libthread: sets FS base for the first thread, with _GLOBAL_REENT as
 * its reent, and chooses the model.  Runs on the kernel's initial stack.
 */
void __libthread_init(int argc, char **argv, char **envp, const struct auxv *auxv);

/*
 * Defined by libthread: where the kernel enters every handler (struct weft_sigaction).
 * Calls handler(sig, info, uc), with `mask` blocked, and returns to the interrupted code.
 */
struct weft_siginfo;
struct weft_ucontext;
void __sig_entry(int sig, struct weft_siginfo *info, struct weft_ucontext *uc,
		 void (*handler)(int, struct weft_siginfo *, void *), uint64_t mask);

/* Defined by libc: gets and sets policy and priority of an LWP, as in sched.h. */
int __lwp_getsched(uint32_t id, int *policy, int *priority);
int __lwp_setsched(uint32_t id, int policy, int priority);
/* Defined by libthread, in programs that use functions which can give a thread a slice
 * (libthread/core/schedule.c). */
struct timespec;
_Bool __thread_slice(struct timespec *slice);

/* Nanoseconds since boot (CLOCK_MONOTONIC), in user mode; never goes back on one CPU. */
int64_t gethrtime(void);

#ifdef __cplusplus
}
#endif
