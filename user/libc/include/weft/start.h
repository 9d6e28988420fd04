/*
 * start.h - how a process starts: what crt0, libc and libthread tell each other.
 *
 * The order is fixed.  crt0 finds the vectors that the kernel put on the first
 * stack and calls __libc_start, which sets the variables below and then
 * calls __libthread_init: no thread pointer is valid before, so nothing of
 * newlib (errno included) may be used until it returns.  Then come stdio,
 * constructors, main and exit.
 */
#pragma once
#include <weft/abi.h>
#include <weft/time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* libc writes these once, before __libthread_init; everyone else reads. */
extern const struct timepage *__timepage; /* time without a system call (time.h) */
extern unsigned __ncpu;                   /* CPUs online when the process started */
extern const struct auxv *__auxv;         /* ends with AT_NULL */
extern const char *__argv0;               /* argv[0], or NULL */

/* Value of an entry of the auxiliary vector, or 0 if it has none. */
uint64_t __auxval(uint64_t tag);

/*
 * Defined by libthread: sets FS base for the first thread, with _GLOBAL_REENT as
 * its reent, and chooses the model.  Runs on the kernel's initial stack.
 */
void __libthread_init(int argc, char **argv, char **envp, const struct auxv *auxv);

/*
 * Defined by libthread: where the kernel enters every handler (struct weft_sigaction).
 * Calls handler(sig, info, uc), with `mask` blocked, and returns to what was interrupted.
 */
struct weft_siginfo;
struct weft_ucontext;
void __sig_entry(int sig, struct weft_siginfo *info, struct weft_ucontext *uc,
		 void (*handler)(int, struct weft_siginfo *, void *), uint64_t mask);

/* Defined by libc: policy and priority of an LWP, as sched.h has them. */
int __lwp_getsched(uint32_t id, int *policy, int *priority);
int __lwp_setsched(uint32_t id, int policy, int priority);
/* Of libthread, if the program uses what can give a thread a slice: see there. */
struct timespec;
_Bool __thread_slice(struct timespec *slice);

/* Nanoseconds since boot (CLOCK_MONOTONIC), in user mode; never goes back on one CPU. */
int64_t gethrtime(void);

#ifdef __cplusplus
}
#endif
