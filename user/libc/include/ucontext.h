/*
 * ucontext.h - what the third argument of a handler with SA_SIGINFO points to: the interrupted
 * thread's registers and mask (struct weft_ucontext), which the handler may change.
 *
 * Also contexts that a program switches itself (libthread/core/context.c), as in POSIX up to 2004.
 */
#pragma once
#include <signal.h>

typedef struct { /* laid out as the end of struct weft_ucontext */
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
	uint64_t rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp;
	uint64_t rip, rflags;
	uint64_t err, trapno;
	uint64_t cr2; /* of a page fault: the faulting address */
	uint64_t __spare;
	uint8_t fpu[512]; /* as FXSAVE lays it out */
} mcontext_t;

typedef struct ucontext {
	uint64_t uc_flags;
	struct ucontext *uc_link;
	stack_t uc_stack;
	sigset_t uc_sigmask;
	mcontext_t uc_mcontext;
} ucontext_t;

#ifdef __cplusplus
extern "C" {
#endif

int getcontext(ucontext_t *__context) __attribute__((__returns_twice__));
int setcontext(const ucontext_t *__context);
int swapcontext(ucontext_t *__save, const ucontext_t *__context);
void makecontext(ucontext_t *__context, void (*__function)(void), int __argc, ...);

#ifdef __cplusplus
}
#endif
