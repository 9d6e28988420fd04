/*
 * sigdeliver.c - delivering signals: the frame of a handler, the return from it, faults, and
 * system calls that a signal interrupted.
 *
 * A handler's frame lies on the interrupted stack, below the red zone that the ABI gives a
 * leaf function, or on the alternate stack.  The kernel keeps no copy of it.  So sigreturn
 * checks the frame that it finds, like any argument from user space.
 *
 * The kernel does not use the FPU, so in the kernel its registers have the user's values.  The
 * dispatcher saves them to l->fpu.  With interrupts off, this file uses l->fpu as a buffer
 * to and from the registers.
 */
#include <kern/cpu.h>
#include <kern/printk.h>
#include <kern/probe.h>
#include <kern/proc.h>
#include <kern/sched.h>
#include <kern/signal.h>
#include <kern/syscall.h>
#include <kern/trace.h>
#include <kern/usercopy.h>

#define RED_ZONE 128 /* System V ABI for x86-64, 3.2.2 */

/* The bits that a program may set in RFLAGS: CF PF AF ZF SF TF DF OF RF AC ID. */
#define RFLAGS_USER 0x00250dd5ull
#define RFLAGS_FIXED 0x202ull         /* IF, and the bit that is always 1 */
#define RFLAGS_ENTRY_CLEAR 0x50500ull /* TF, DF, RF, AC: off when a handler begins */

#define FXSAVE_MXCSR 24
#define FXSAVE_MXCSR_MASK 28
#define MXCSR_MASK_DEFAULT 0xffbf /* if the mask reads 0 (Intel SDM 1, 11.6.6) */

struct sigframe {
	uint64_t ret; /* in the place of a return address, for backtraces */
	struct weft_siginfo info;
	struct weft_ucontext uc;
};

/* --- the frame --------------------------------------------------------------------- */

static bool on_stack(const struct weft_stack *st, uint64_t sp)
{
	return st->size != 0 && sp - st->sp <= st->size && sp != st->sp;
}

static void save_context(struct lwp *l, const struct trapframe *f, uint64_t addr, uint64_t mask,
			 struct weft_ucontext *uc)
{
	*uc = (struct weft_ucontext){
		.stack = l->sig.stack,
		.sigmask = mask,
		.r8 = f->r8,
		.r9 = f->r9,
		.r10 = f->r10,
		.r11 = f->r11,
		.r12 = f->r12,
		.r13 = f->r13,
		.r14 = f->r14,
		.r15 = f->r15,
		.rdi = f->rdi,
		.rsi = f->rsi,
		.rbp = f->rbp,
		.rbx = f->rbx,
		.rdx = f->rdx,
		.rax = f->rax,
		.rcx = f->rcx,
		.rsp = f->rsp,
		.rip = f->rip,
		.rflags = f->rflags,
		.err = f->vec < 32 ? f->err : 0,
		.trapno = f->vec < 32 ? f->vec : 0,
		.cr2 = addr,
	};
	if (l->sig.stack.size == 0)
		uc->stack.flags = WEFT_SS_DISABLE;
	else if (on_stack(&l->sig.stack, f->rsp))
		uc->stack.flags = WEFT_SS_ONSTACK;
	irqstate_t s = irq_save();
	__asm__ volatile("fxsave64 %0" : "=m"(l->fpu));
	memcpy(uc->fpu, l->fpu, sizeof(uc->fpu));
	irq_restore(s);
}

/*
 * Makes f enter the handler of `info`; sigreturn will restore mask.  -EFAULT: the stack cannot
 * be written, and f is as it was.
 */
static int push_frame(struct lwp *l, struct trapframe *f, const struct weft_sigaction *act,
		      const struct weft_siginfo *info, uint64_t addr, uint64_t mask)
{
	const struct weft_stack *st = &l->sig.stack;
	struct sigframe frame;
	uint64_t sp = f->rsp - RED_ZONE;

	if ((act->flags & WEFT_SA_ONSTACK) && st->size != 0 && !on_stack(st, f->rsp))
		sp = st->sp + st->size;
	/* At a function's entry RSP is 8 mod 16. */
	sp = ((sp - sizeof(frame)) & ~15ull) - 8;
	frame.ret = f->rip;
	frame.info = *info;
	save_context(l, f, addr, mask, &frame.uc);
	if (copyout(sp, &frame, sizeof(frame)) != 0)
		return -EFAULT;
	/*
	 * As at any call, the handler finds an empty x87 stack, and no pending exception (System V ABI, 3.2.1).  So does the thread
	 * that goes on, if the handler is the library's, and leaves the LWP to another thread.
	 */
	__asm__ volatile("fnclex; emms" ::: "memory");
	f->rsp = sp;
	f->rip = act->entry;
	f->rdi = info->signo;
	f->rsi = sp + offsetof(struct sigframe, info);
	f->rdx = sp + offsetof(struct sigframe, uc);
	f->rcx = act->handler;
	f->r8 = sig_mask(l);
	f->rax = 0;
	f->rflags &= ~RFLAGS_ENTRY_CLEAR;
	f->vec = TRAP_NONE; /* this is not a fault any more, or a call that could be restarted */
	l->sig.call_again = false;
	return 0;
}

/*
 * Calls the handler of info->signo.  p->lock held; releases it.  Without a usable stack,
 * SIGSEGV ends the process.
 */
static void call_handler(struct lwp *l, struct trapframe *f, const struct weft_siginfo *info,
			 uint64_t addr, irqstate_t s)
{
	struct proc *p = l->proc;
	struct weft_sigaction *now = &p->sig.act[info->signo], act = *now;
	uint64_t mask = sig_mask(l), before = mask;

	if (l->sig.restore_mask) { /* the signal interrupts sigsuspend */
		mask = l->sig.saved_mask;
		l->sig.restore_mask = false;
	}
	sig_set_mask_locked(before | act.mask |
			    (act.flags & WEFT_SA_NODEFER ? 0 : WEFT_SIGBIT(info->signo)));
	if (act.flags & WEFT_SA_RESETHAND)
		now->handler = WEFT_SIG_DFL;
	spin_unlock(&p->lock, s);

	trace_signal(info->signo, TRACE_SIG_CAUGHT);
	if (push_frame(l, f, &act, info, addr, mask) != 0) {
		int status = WEFT_W_EXITCODE(0, WEFT_SIGSEGV);
		if (proc_kill(p, status))
			printk("weft: pid %d (%s) lwp %u: SIGSEGV: no stack at %p for the handler "
			       "of signal %d\n",
			       p->pid, p->name, l->id, (void *)f->rsp, info->signo);
		proc_exit(status);
	}
}

/* --- interrupted system calls -------------------------------------------------------- */

/*
 * Can this call simply be made again after a signal has interrupted it?  Such a call has done
 * nothing yet; otherwise its result would not be EINTR (POSIX: sigaction, SA_RESTART).  Calls
 * with a length of time cannot.  Calls that are made to be interrupted cannot, either.  If no handler
 * is called, can_resume says which of these can be made again.
 */
static bool can_restart(uint64_t call)
{
	switch (call) {
	case SYS_open:
	case SYS_openat:
	case SYS_read:
	case SYS_write:
	case SYS_pread:
	case SYS_pwrite:
	case SYS_readv:
	case SYS_writev:
	case SYS_ioctl:
	case SYS_fcntl:
	case SYS_waitpid:
	case SYS_lwp_wait:
	case SYS_lwp_mutex_lock:
	case SYS_lwp_mutex_timedlock: /* the deadline is a point in time */
	case SYS_lwp_sema_wait:
	case SYS_lwp_sema_timedwait:
	case SYS_lwp_rwlock_rdlock:
	case SYS_lwp_rwlock_wrlock:
	case SYS_trace_wait:
		return true;
	default:
		return false;
	}
}

/*
 * These begin with call_is_again, so they do not take longer.  If a handler or an upcall comes before the LWP makes the
 * call again, the call lasts its whole length from then on.
 */
static bool can_resume(uint64_t call)
{
	return call == SYS_sigtimedwait || call == SYS_lwp_sleep || call == SYS_poll;
}

static bool interrupted_call(const struct trapframe *f)
{
	return f->vec == TRAP_SYSCALL && f->rax == (uint64_t)-EINTR;
}

/* Moves the frame back to its SYSCALL instruction, which is two bytes long. */
static void restart_call(struct trapframe *f)
{
	f->rax = f->err;
	f->rip -= 2;
}

/* --- delivery --------------------------------------------------------------------------- */

/*
 * Is the LWP in a critical section (weft/schedctl.h)?  If so, sets yield or signalled, so that the
 * library calls lwp_yield.  That yield, or a sleep, looks for signals again.  No other code needs
 * to, because a critical section ends by one of the two.
 */
static bool lwp_in_section(struct lwp *l)
{
	if (l->sc->nopreempt)
		l->sc->yield = 1;
	else if (l->sc->nosignal)
		l->sc->signalled = 1;
	else
		return false;
	l->grace |= GRACE_CALL;
	return true;
}

static bool signal_hold_off(struct lwp *l)
{
	if (!lwp_in_section(l))
		return false;
	irqstate_t s = spin_lock(&l->proc->lock);
	if (sig_next(NULL)) {
		__atomic_fetch_and(&l->ast, ~AST_SIG, __ATOMIC_SEQ_CST);
		l->grace |= GRACE_SIGNAL;
	}
	spin_unlock(&l->proc->lock, s);
	sig_notify_if_due(l->proc);
	return true;
}

void sig_deliver(struct trapframe *f)
{
	struct lwp *l = curlwp();
	struct proc *p = l->proc;
	struct weft_siginfo info;
	bool first = true;

	if (signal_hold_off(l))
		return;
	for (;;) {
		irqstate_t s = spin_lock(&p->lock);
		if (!sig_next(&info)) {
			uint64_t back = l->sig.saved_mask;
			bool restore = l->sig.restore_mask;
			l->sig.restore_mask = false;
			spin_unlock(&p->lock, s);
			sig_notify_if_due(p);
			if (restore) /* sigsuspend, and another LWP took the signal */
				sig_set_mask(back);
			/* *Race:* a sender wakes this LWP for a signal of the process, and another LWP takes the
			 * signal first; *without this:* the system call fails with EINTR, although the LWP has
			 * called no handler; *closed by:* the call is made again. */
			if (first && interrupted_call(f)) {
				l->sig.call_again = can_resume(f->err);
				if (l->sig.call_again || can_restart(f->err) ||
				    f->err == SYS_sigsuspend)
					restart_call(f);
			}
			return;
		}
		if (first && interrupted_call(f) && can_restart(f->err) &&
		    (p->sig.act[info.signo].flags & WEFT_SA_RESTART))
			restart_call(f);
		first = false;
		p->nsignals++;
		call_handler(l, f, &info, 0, s);
	}
}

/* If the stack cannot be written, the LWP continues without the handler; its own next use of the
 * stack will fault. */
void sig_preempt(struct trapframe *f)
{
	const struct weft_siginfo info = {.signo = WEFT_SIGLWP, .code = WEFT_SI_PREEMPT};
	struct lwp *l = curlwp();
	struct proc *p = l->proc;

	__atomic_fetch_and(&l->ast, ~AST_PREEMPT, __ATOMIC_SEQ_CST);
	if (lwp_in_section(l)) {
		l->grace |= GRACE_PREEMPT;
		return;
	}
	irqstate_t s = spin_lock(&p->lock);
	struct weft_sigaction act = p->sig.act[WEFT_SIGLWP];
	spin_unlock(&p->lock, s);
	if (act.handler > WEFT_SIG_IGN)
		push_frame(l, f, &act, &info, 0, sig_mask(l));
}

/* Makes a register image from user space valid, so that FXRSTOR does not fault. */
static void sane_fpu(uint8_t *fpu, const uint8_t *own)
{
	uint32_t *mxcsr = (uint32_t *)(fpu + FXSAVE_MXCSR);
	uint32_t mask = *(const uint32_t *)(own + FXSAVE_MXCSR_MASK);

	*mxcsr &= mask != 0 ? mask : MXCSR_MASK_DEFAULT;
}

int64_t sig_return(struct trapframe *f, vaddr_t user)
{
	struct lwp *l = curlwp();
	struct weft_ucontext uc;

	if (copyin(&uc, user, sizeof(uc)) != 0 ||
	    (uc.rip >= WEFT_USER_END && !probe_is_stub(uc.rip)))
		return -EFAULT;
	sig_set_mask(uc.sigmask);
	f->r8 = uc.r8;
	f->r9 = uc.r9;
	f->r10 = uc.r10;
	f->r11 = uc.r11;
	f->r12 = uc.r12;
	f->r13 = uc.r13;
	f->r14 = uc.r14;
	f->r15 = uc.r15;
	f->rdi = uc.rdi;
	f->rsi = uc.rsi;
	f->rbp = uc.rbp;
	f->rbx = uc.rbx;
	f->rdx = uc.rdx;
	f->rcx = uc.rcx;
	f->rsp = uc.rsp;
	f->rip = uc.rip;
	f->rflags = (uc.rflags & RFLAGS_USER) | RFLAGS_FIXED;
	f->cs = SEL_UCODE;
	f->ss = SEL_UDATA;
	f->vec = TRAP_NONE;
	irqstate_t s = irq_save();
	__asm__ volatile("fxsave64 %0" : "=m"(l->fpu));
	sane_fpu(uc.fpu, l->fpu);
	memcpy(l->fpu, uc.fpu, sizeof(l->fpu));
	__asm__ volatile("fxrstor64 %0" ::"m"(l->fpu));
	irq_restore(s);
	return uc.rax;
}

/* --- faults ------------------------------------------------------------------------------- */

static const char *signal_name(int sig)
{
	switch (sig) {
	case WEFT_SIGILL:
		return "SIGILL";
	case WEFT_SIGTRAP:
		return "SIGTRAP";
	case WEFT_SIGFPE:
		return "SIGFPE";
	case WEFT_SIGBUS:
		return "SIGBUS";
	case WEFT_SIGSEGV:
		return "SIGSEGV";
	default:
		return "signal";
	}
}

/* Bits of a page fault's error code (Intel SDM 3A, 4.7). */
#define PF_PRESENT 1
#define PF_WRITE 2
#define PF_FETCH 16

static void signal_report(const struct trapframe *f, uint64_t addr, const struct weft_siginfo *info)
{
	struct proc *p = curproc();

	if (f->vec == T_PAGE)
		printk("weft: pid %d (%s) lwp %u: %s at address %p, instruction %p (%s, %s)\n",
		       p->pid, p->name, curlwp()->id, signal_name(info->signo), (void *)addr,
		       (void *)f->rip,
		       f->err & PF_FETCH   ? "execute"
		       : f->err & PF_WRITE ? "write"
					   : "read",
		       f->err & PF_PRESENT ? "protected" : "not mapped");
	else
		printk("weft: pid %d (%s) lwp %u: %s at instruction %p (trap %lu, error %#lx)\n",
		       p->pid, p->name, curlwp()->id, signal_name(info->signo), (void *)f->rip,
		       f->vec, f->err);
}

/*
 * The LWP that caused the fault takes the signal before any other signal.  If the LWP blocks the
 * signal, or the process ignores it, the LWP could not continue.  The process then ends (POSIX
 * leaves this case undefined).
 */
void sig_fault(struct trapframe *f, uint64_t addr, struct weft_siginfo *info)
{
	struct lwp *l = curlwp();
	struct proc *p = l->proc;
	int sig = info->signo;

	trace_fault(f->vec, addr, sig);
	info->trapno = f->vec;
	info->lwpid = l->id;
	info->pid = p->pid;
	irqstate_t s = spin_lock(&p->lock);
	if (p->sig.act[sig].handler > WEFT_SIG_IGN && !(sig_mask(l) & WEFT_SIGBIT(sig)) &&
	    !p->exiting) {
		call_handler(l, f, info, addr, s);
		return;
	}
	spin_unlock(&p->lock, s);
	/* Several LWPs may fault at once.  The LWP that ends the process is named. */
	int status = WEFT_W_EXITCODE(0, sig);
	if (proc_kill(p, status))
		signal_report(f, addr, info);
	proc_exit(status);
}
