/*
 * context.c - user contexts: the switch of N:1 libraries from thread to thread.
 *
 * A context is struct weft_ucontext, the same structure that the kernel hands to a handler.  So a
 * handler may swap away from the interrupted code, and setcontext may resume what a handler was
 * given.  The kernel's sigreturn resumes a context.  It changes registers, floating-point state and
 * mask at once, so no handler finds the mask of one context on the stack of another.
 *
 * What belongs to the thread and not to the context stays: the thread pointer, with thread-local
 * data and errno, cancellation, and the alternate stack for handlers.  An LWP is on its alternate
 * stack as long as its stack pointer is there.
 *
 * A context that getcontext or swapcontext saves goes on after a call.  So only the control words
 * of the floating-point state count, and the x87 stack is empty.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <ucontext.h>
#include "core.h"

#define REGISTER(name, at) _Static_assert(offsetof(struct weft_ucontext, name) == (at), "offsets.h")
REGISTER(r12, CONTEXT_R12);
REGISTER(r13, CONTEXT_R13);
REGISTER(r14, CONTEXT_R14);
REGISTER(r15, CONTEXT_R15);
REGISTER(rbp, CONTEXT_RBP);
REGISTER(rbx, CONTEXT_RBX);
REGISTER(rsp, CONTEXT_RSP);
REGISTER(rip, CONTEXT_RIP);

/* The layout of FXSAVE that a context needs (Intel SDM 1, 10.5.1), in units of 4 bytes. */
enum { FX_FCW_FSW = 0, FX_FTW = 1, FX_MXCSR = 6, FX_WORDS = 8 };

#define RFLAGS_INTERRUPT 0x202 /* at a call DF is clear, and the other flags do not matter */

/* context.S */
int __context_save(struct weft_ucontext *uc);
int __context_swap(struct weft_ucontext *save, const struct weft_ucontext *uc);
void __context_end(const struct weft_ucontext *link) __attribute__((noreturn));
void __context_returns(void);

/*
 * The rest of getcontext.  uc_link and uc_stack stay as they are, because they are the program's,
 * which may look for its stack there when the context has ended.  Never fails.
 */
int __context_save(struct weft_ucontext *uc)
{
	uint32_t fx[FX_WORDS] = {0};
	uint16_t fcw;

	__asm__("stmxcsr %0" : "=m"(fx[FX_MXCSR]));
	__asm__("fnstcw %0" : "=m"(fcw));
	fx[FX_FCW_FSW] = fcw;
	__builtin_memcpy(uc->fpu, fx, sizeof(fx));
	uc->flags = 0;
	uc->rax = 0;
	uc->rflags = RFLAGS_INTERRUPT;
	uc->err = uc->trapno = uc->cr2 = 0;
	uc->sigmask = thread_self()->sigmask;
	return 0;
}

/*
 * Resumes a context that getcontext, makecontext or swapcontext has made, or that a handler was
 * given, with its registers, floating-point state and signal mask.  Returns only when it fails.
 * Does not block.  ENOMEM: the stack that makecontext was given is too small.
 */
int setcontext(const ucontext_t *context)
{
	struct weft_ucontext *uc = (struct weft_ucontext *)context;
	struct thread *self = thread_self();

	if (uc->rip == 0) {
		errno = ENOMEM;
		return -1;
	}
	if (uc->sigmask &
	    WEFT_SIGBIT(SIGLWP)) /* the library's: pthread_sigmask does not block it */
		uc->sigmask &= ~WEFT_SIGBIT(SIGLWP);
	__sigmask_returns(uc->sigmask);
	/*
	 * A handler may leave through setcontext.  Then the work of __sig_entry at a handler's end
	 * is done here.
	 */
	self->caught = true;
	if (unlikely(cancel_due()))
		__cancel_call(self->lwp->id, self);
	/* The thread may be on another LWP than when a handler was given this context. */
	__restart_range(uc);
	__sys_sigreturn(uc);
}

/* Saves the caller's context, which goes on as if this had returned 0, and resumes another. */
int __context_swap(struct weft_ucontext *save, const struct weft_ucontext *uc)
{
	__context_save(save);
	return setcontext((const ucontext_t *)uc);
}

/* The thread ends with a context that has no successor (POSIX: setcontext). */
void __context_end(const struct weft_ucontext *link)
{
	if (link == NULL)
		pthread_exit(NULL);
	setcontext((const ucontext_t *)link);
	ASSERT(!"the successor's stack is too small");
}

/*
 * context, which getcontext has filled, will call function(...) with argc arguments, on the stack
 * uc_stack.  When the function returns, uc_link is resumed, or the thread ends if uc_link is NULL.
 * Each argument may be as large as a pointer.  A stack without room for a signal's frame makes
 * setcontext and swapcontext fail with ENOMEM.
 */
void makecontext(ucontext_t *context, void (*function)(void), int argc, ...)
{
	struct weft_ucontext *uc = (struct weft_ucontext *)context;
	uint64_t *const in_register[6] = {&uc->rdi, &uc->rsi, &uc->rdx, &uc->rcx, &uc->r8, &uc->r9};
	size_t on_stack = argc > 6 ? argc - 6 : 0;
	uint64_t *sp = (uint64_t *)((uc->stack.sp + uc->stack.size) & -16ul);
	va_list arguments;

	uc->rip = 0;
	if (argc < 0 || uc->stack.size < MINSIGSTKSZ + on_stack * sizeof(*sp))
		return;
	sp -= (on_stack + 1) & -2ul; /* at a call RSP is a multiple of 16 */
	va_start(arguments, argc);
	for (int i = 0; i < argc; i++)
		*(i < 6 ? in_register[i] : &sp[i - 6]) = va_arg(arguments, uint64_t);
	va_end(arguments);
	*--sp = (uint64_t)__context_returns;
	uc->rsp = (uint64_t)sp;
	uc->rip = (uint64_t)function;
	uc->rbp = 0; /* ends a backtrace */
	uc->rbx = uc->link;
}
