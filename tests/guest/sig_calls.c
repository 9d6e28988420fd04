/*
 * sig_calls.c - the system calls on signals, by way of the C library: each call and each
 * error that it documents; what a handler is told and what it may change.  Started with an
 * argument it is its own child.
 */
#include "tap.h"
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <weft/proc.h>
#include <weft/schedctl.h>
#include <weft/sys.h>

#define KERNEL_ADDR ((void *)0xffff800000000000ull)

extern char **environ;

static volatile int count, last, order[8];
static volatile siginfo_t told;
static volatile uintptr_t handler_sp;

static void handler(int sig)
{
	if (count < 8)
		order[count] = sig;
	count++;
	last = sig;
}

static void info_handler(int sig, siginfo_t *info, void *uc)
{
	handler(sig);
	*(siginfo_t *)&told = *info;
	handler_sp = (uintptr_t)__builtin_frame_address(0);
	errno = 12345;
}

static sigset_t set_of(int sig)
{
	sigset_t s;
	sigemptyset(&s);
	sigaddset(&s, sig);
	return s;
}

static void catch (int sig, int flags)
{
	struct sigaction act = {.sa_sigaction = info_handler, .sa_flags = flags | SA_SIGINFO};
	if (sigaction(sig, &act, NULL) != 0)
		bail("sigaction of %d: %d", sig, errno);
	count = last = 0;
}

static void sets(void)
{
	sigset_t s;

	is("sigemptyset", sigemptyset(&s), 0);
	is("sigismember: no", sigismember(&s, SIGRTMAX), 0);
	is("sigaddset", sigaddset(&s, SIGRTMAX), 0);
	is("sigismember: yes", sigismember(&s, SIGRTMAX), 1);
	is("sigdelset", sigdelset(&s, SIGRTMAX), 0);
	is("sigismember: no more", sigismember(&s, SIGRTMAX), 0);
	is("sigaddset: 0", sigaddset(&s, 0), -1);
	is("sigaddset: NSIG", sigaddset(&s, NSIG), -1);
	is("sigismember: NSIG", sigismember(&s, NSIG), -1);
	is("sigfillset", sigfillset(&s), 0);
	is("sigfillset: all", sigismember(&s, 1) + sigismember(&s, SIGRTMAX), 2);
	ok("strsignal", strcmp(strsignal(SIGINT), "Interrupt") == 0);
	ok("strsignal: real-time", strcmp(strsignal(SIGRTMIN + 2), "Real-time signal 2") == 0);
}

static void actions(void)
{
	struct sigaction act = {.sa_handler = handler}, old;

	is("sigaction: what it is", sigaction(SIGUSR1, NULL, &old), 0);
	ok("sigaction: default", old.sa_handler == SIG_DFL);
	is("sigaction: no such signal", sigaction(0, &act, NULL), -1);
	is("sigaction: no such signal: errno", errno, EINVAL);
	is("sigaction: NSIG", sigaction(NSIG, &act, NULL), -1);
	is("sigaction: SIGKILL", sigaction(SIGKILL, &act, NULL), -1);
	is("sigaction: SIGSTOP", sigaction(SIGSTOP, &act, NULL), -1);
	is("sigaction: SIGKILL may be asked", sigaction(SIGKILL, NULL, &old), 0);
	act.sa_flags = 0x4000;
	is("sigaction: flags", sigaction(SIGUSR1, &act, NULL), -1);
	is("sigaction: pointer", __sys_sigaction(SIGUSR1, KERNEL_ADDR, NULL), -EFAULT);
	is("sigaction: old pointer", __sys_sigaction(SIGUSR1, NULL, KERNEL_ADDR), -EFAULT);
	struct weft_sigaction raw = {.entry = (uint64_t)KERNEL_ADDR};
	is("sigaction: entry", __sys_sigaction(SIGUSR1, &raw, NULL), -EINVAL);

	catch (SIGUSR1, 0);
	sigaction(SIGUSR1, NULL, &old);
	ok("sigaction: as it was set",
	   old.sa_sigaction == info_handler && old.sa_flags == SA_SIGINFO);
	errno = 77;
	is("raise", raise(SIGUSR1), 0);
	is("raise: handler", last, SIGUSR1);
	is("raise: errno is kept", errno, 77);
	is("raise: signo", told.si_signo, SIGUSR1);
	is("raise: code", told.si_code, SI_LWP);
	is("raise: pid", told.si_pid, getpid());
	is("kill: self", kill(getpid(), SIGUSR1), 0);
	is("kill: self: before it returns", count, 2);
	is("kill: code", told.si_code, SI_USER);
	is("raise: no such", raise(NSIG), -1);

	catch (SIGUSR1, SA_RESETHAND);
	raise(SIGUSR1);
	sigaction(SIGUSR1, NULL, &old);
	ok("SA_RESETHAND", count == 1 && old.sa_handler == SIG_DFL);

	ok("signal", signal(SIGUSR1, handler) == SIG_DFL);
	ok("signal: old", signal(SIGUSR1, SIG_IGN) == handler);
	count = 0;
	raise(SIGUSR1);
	is("SIG_IGN", count, 0);
	ok("signal: error", signal(SIGKILL, handler) == SIG_ERR);
	raise(SIGCHLD);
	raise(SIGWINCH);
	raise(SIGWAITING);
	raise(SIGCONT);
	is("ignored by default", 0, 0);
}

static volatile int depth, deepest;

static void nesting(int sig)
{
	if (++depth > deepest)
		deepest = depth;
	if (depth < 3 && count++ < 3)
		raise(sig);
	depth--;
}

static void masks(void)
{
	sigset_t usr1 = set_of(SIGUSR1), both = usr1, old, pending;

	sigaddset(&both, SIGUSR2);
	catch (SIGUSR1, 0);
	catch (SIGUSR2, 0);
	is("sigprocmask: block", sigprocmask(SIG_BLOCK, &usr1, &old), 0);
	is("sigprocmask: old", old, 0);
	raise(SIGUSR1);
	raise(SIGUSR1);
	is("blocked", count, 0);
	is("sigpending", sigpending(&pending), 0);
	ok("sigpending: set", pending == usr1);
	is("sigpending: pointer", __sys_sigpending(KERNEL_ADDR), -EFAULT);
	kill(getpid(), SIGUSR1); /* for the process, beside the one for the LWP */
	is("sigprocmask: unblock", sigprocmask(SIG_UNBLOCK, &usr1, &old), 0);
	ok("sigprocmask: old again", old == usr1);
	is("unblocked: once an LWP, once the process", count, 2);
	is("sigprocmask: how", sigprocmask(9, &usr1, NULL), -1);
	is("sigprocmask: how: errno", errno, EINVAL);
	is("sigprocmask: pointer", __sys_sigprocmask(SIG_BLOCK, KERNEL_ADDR, NULL), -EFAULT);
	is("sigprocmask: old pointer", __sys_sigprocmask(SIG_BLOCK, NULL, KERNEL_ADDR), -EFAULT);
	sigset_t all;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	sigprocmask(SIG_SETMASK, &old, &all);
	ok("SIGKILL and SIGSTOP are not blocked",
	   !sigismember(&all, SIGKILL) && !sigismember(&all, SIGSTOP) && sigismember(&all, SIGHUP));
	sigprocmask(SIG_UNBLOCK, &usr1, NULL);

	/* A pending signal that is ignored meanwhile is gone. */
	count = 0;
	sigprocmask(SIG_BLOCK, &both, NULL);
	raise(SIGUSR1);
	kill(getpid(), SIGUSR2);
	signal(SIGUSR1, SIG_IGN);
	signal(SIGUSR2, SIG_IGN);
	catch (SIGUSR1, 0);
	catch (SIGUSR2, 0);
	sigprocmask(SIG_UNBLOCK, &both, NULL);
	is("ignored while pending", count, 0);

	/* In a handler. */
	struct sigaction act = {.sa_handler = nesting};
	count = 0;
	sigaction(SIGUSR1, &act, NULL);
	raise(SIGUSR1);
	is("a handler blocks its signal", deepest, 1);
	deepest = count = 0;
	act.sa_flags = SA_NODEFER;
	sigaction(SIGUSR1, &act, NULL);
	raise(SIGUSR1);
	is("SA_NODEFER", deepest, 3);

	sigjmp_buf env;
	sigprocmask(SIG_SETMASK, &usr1, NULL);
	if (sigsetjmp(env, 1) == 0) {
		sigprocmask(SIG_SETMASK, &both, NULL);
		siglongjmp(env, 1);
	}
	sigprocmask(SIG_BLOCK, NULL, &old);
	ok("siglongjmp restores the mask", old == usr1);
	if (sigsetjmp(env, 0) == 0) {
		sigprocmask(SIG_SETMASK, &both, NULL);
		siglongjmp(env, 1);
	}
	sigprocmask(SIG_BLOCK, NULL, &old);
	ok("siglongjmp leaves the mask", old == both);
	sigprocmask(SIG_UNBLOCK, &both, NULL);
}

static void queues(void)
{
	int rt = SIGRTMIN + 1;
	sigset_t s = set_of(rt), none = 0;
	siginfo_t info;
	struct timespec now = {0}, soon = {.tv_nsec = 1000000}, bad = {.tv_nsec = 1000000000};
	union sigval v;

	sigaddset(&s, SIGRTMIN);
	sigaddset(&s, SIGUSR1);
	sigprocmask(SIG_BLOCK, &s, NULL);
	for (int i = 0; i < 3; i++) {
		v.sival_int = i;
		is("sigqueue", sigqueue(getpid(), rt, v), 0);
	}
	v.sival_int = 9;
	sigqueue(getpid(), SIGRTMIN, v);
	is("sigwaitinfo: the lowest first", sigwaitinfo(&s, &info), SIGRTMIN);
	ok("sigwaitinfo: info", info.si_code == SI_QUEUE && info.si_value.sival_int == 9 &&
					info.si_pid == getpid() && info.si_signo == SIGRTMIN);
	for (int i = 0; i < 3; i++) {
		is("sigtimedwait", sigtimedwait(&s, &info, &now), rt);
		is("sigtimedwait: in order", info.si_value.sival_int, i);
	}
	is("sigtimedwait: none", sigtimedwait(&s, &info, &now), -1);
	is("sigtimedwait: none: errno", errno, EAGAIN);
	is("sigtimedwait: time-out", sigtimedwait(&s, NULL, &soon), -1);
	is("sigtimedwait: time-out: errno", errno, EAGAIN);
	is("sigtimedwait: bad time", sigtimedwait(&s, NULL, &bad), -1);
	is("sigtimedwait: bad time: errno", errno, EINVAL);
	is("sigtimedwait: set", __sys_sigtimedwait(KERNEL_ADDR, NULL, NULL), -EFAULT);
	is("sigtimedwait: timeout", __sys_sigtimedwait(&s, NULL, KERNEL_ADDR), -EFAULT);
	raise(SIGUSR1);
	is("sigtimedwait: info", __sys_sigtimedwait(&s, KERNEL_ADDR, NULL), -EFAULT);
	raise(SIGUSR1);
	int sig = 0;
	is("sigwait", sigwait(&s, &sig), 0);
	is("sigwait: signal", sig, SIGUSR1);
	is("sigqueue: no such process", sigqueue(99999, rt, v), -1);
	is("sigqueue: no such process: errno", errno, ESRCH);
	is("sigqueue: no such signal", sigqueue(getpid(), NSIG, v), -1);
	is("sigqueue: no such signal: errno", errno, EINVAL);
	is("sigqueue: 0", sigqueue(getpid(), 0, v), 0);
	is("lwp_sigqueue: no such LWP", __sys_lwp_sigqueue(4711, rt, 0), -ESRCH);
	is("lwp_sigqueue: no such signal", __sys_lwp_sigqueue(1, -1, 0), -EINVAL);
	is("lwp_kill: no such LWP", __sys_lwp_kill(4711, rt), -ESRCH);
	is("lwp_kill: no such signal", __sys_lwp_kill(1, NSIG), -EINVAL);

	int n = 0;
	while (sigqueue(getpid(), rt, v) == 0)
		n++;
	is("sigqueue: the most", n, WEFT_SIGQUEUE_MAX);
	is("sigqueue: too many", errno, EAGAIN);
	is("lwp_sigqueue: too many", __sys_lwp_sigqueue(__sys_lwp_self(), rt, 0), -EAGAIN);
	is("kill: never too many", kill(getpid(), SIGUSR1), 0);
	is("kill: is there", sigtimedwait(&s, &info, &now), SIGUSR1);
	while (sigtimedwait(&s, NULL, &now) == rt)
		n--;
	is("sigqueue: all come", n, 0);

	/* Delivery: one handler for each. */
	catch (rt, 0);
	sigqueue(getpid(), rt, v);
	sigqueue(getpid(), rt, v);
	sigprocmask(SIG_SETMASK, &none, NULL);
	is("queued: each is delivered", count, 2);
}

static void suspension(void)
{
	sigset_t s = set_of(SIGUSR1), none = 0, now;

	catch (SIGUSR1, 0);
	sigprocmask(SIG_BLOCK, &s, NULL);
	raise(SIGUSR1);
	is("sigsuspend", sigsuspend(&none), -1);
	is("sigsuspend: errno", errno, EINTR);
	is("sigsuspend: handler", count, 1);
	sigprocmask(SIG_BLOCK, NULL, &now);
	ok("sigsuspend: mask", now == s);
	is("sigsuspend: pointer", __sys_sigsuspend(KERNEL_ADDR), -EFAULT);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static char alt[SIGSTKSZ];

static void alternate_stack(void)
{
	stack_t st = {.ss_sp = alt, .ss_size = sizeof(alt)}, old;

	is("sigaltstack: none", sigaltstack(NULL, &old), 0);
	is("sigaltstack: none: flags", old.ss_flags, SS_DISABLE);
	is("sigaltstack", sigaltstack(&st, NULL), 0);
	sigaltstack(NULL, &old);
	ok("sigaltstack: old", old.ss_sp == alt && old.ss_flags == 0 && old.ss_size == sizeof(alt));
	catch (SIGUSR1, 0);
	raise(SIGUSR1);
	ok("without SA_ONSTACK", handler_sp - (uintptr_t)alt >= sizeof(alt));
	catch (SIGUSR1, SA_ONSTACK);
	raise(SIGUSR1);
	ok("SA_ONSTACK", handler_sp - (uintptr_t)alt < sizeof(alt));
	st.ss_size = MINSIGSTKSZ - 1;
	is("sigaltstack: small", sigaltstack(&st, NULL), -1);
	is("sigaltstack: small: errno", errno, ENOMEM);
	st.ss_flags = 8;
	is("sigaltstack: flags", sigaltstack(&st, NULL), -1);
	is("sigaltstack: flags: errno", errno, EINVAL);
	is("sigaltstack: pointer", __sys_sigaltstack(KERNEL_ADDR, NULL), -EFAULT);
	is("sigaltstack: old pointer", __sys_sigaltstack(NULL, KERNEL_ADDR), -EFAULT);
	st.ss_flags = SS_DISABLE;
	is("sigaltstack: off", sigaltstack(&st, NULL), 0);
	raise(SIGUSR1);
	ok("sigaltstack: off: the usual one", handler_sp - (uintptr_t)alt >= sizeof(alt));
}

/* --- the context of a handler ---------------------------------------------------------- */

static void change_context(int sig, siginfo_t *info, void *arg)
{
	ucontext_t *uc = arg;

	uc->uc_mcontext.r12 = 0x1234;
	uc->uc_mcontext.rflags |= 0x3000 | 1; /* IOPL is not for a program to set; CF is */
	uc->uc_sigmask = 0;
	sigaddset(&uc->uc_sigmask, SIGUSR2);
	__asm__ volatile("pxor %%xmm7, %%xmm7\n\tfninit" ::: "xmm7");
}

static void contexts(void)
{
	struct sigaction act = {.sa_sigaction = change_context, .sa_flags = SA_SIGINFO};
	uint64_t r12, flags, xmm7 = 0x123456789abcdef0ull, redzone[2];
	uint16_t fcw = 0x27f;
	sigset_t now;

	sigaction(SIGUSR1, &act, NULL);
	/* The signal comes right at the system call, with a leaf's data below RSP. */
	__asm__ volatile("movq %[x], %%xmm7\n\t"
			 "fldcw %[cw]\n\t"
			 "xorl %%r12d, %%r12d\n\t"
			 "movq $0x55, -8(%%rsp)\n\t"
			 "movq $0x66, -128(%%rsp)\n\t"
			 "syscall\n\t"
			 "movq -8(%%rsp), %%rcx\n\t"
			 "movq %%rcx, %[z0]\n\t"
			 "movq -128(%%rsp), %%rcx\n\t"
			 "movq %%rcx, %[z1]\n\t"
			 "pushfq\n\tpopq %[f]\n\t"
			 "movq %%r12, %[r]\n\t"
			 "movq %%xmm7, %[x]\n\t"
			 "fnstcw %[cw]\n\t"
			 "cld"
			 : [x] "+r"(xmm7), [cw] "+m"(fcw), [r] "=&r"(r12), [f] "=&r"(flags),
			   [z0] "=&r"(redzone[0]), [z1] "=&r"(redzone[1])
			 : "a"((long)SYS_lwp_kill), "D"(__sys_lwp_self()), "S"((long)SIGUSR1)
			 : "rcx", "r11", "r12", "xmm7", "memory", "cc");
	is("context: a register that the handler sets", r12, 0x1234);
	ok("context: xmm survives", xmm7 == 0x123456789abcdef0ull);
	is("context: the x87 control word survives", fcw, 0x27f);
	ok("context: the red zone survives", redzone[0] == 0x55 && redzone[1] == 0x66);
	is("context: flags", flags & 0x3001, 1);
	sigprocmask(SIG_SETMASK, &(sigset_t){0}, &now);
	ok("context: the mask that the handler sets", now == set_of(SIGUSR2));
	__asm__ volatile("fninit");
}

/* --- synchronous faults -------------------------------------------------------------------- */

static sigjmp_buf out;
static volatile siginfo_t fault;

static void fault_handler(int sig, siginfo_t *info, void *uc)
{
	*(siginfo_t *)&fault = *info;
	siglongjmp(out, 1);
}

static volatile char *at(uint64_t addr)
{
	__asm__("" : "+r"(addr));
	return (volatile char *)addr;
}

/* (Not those of SSE: QEMU's TCG never raises them.) */
static void commit(const char *what, void *page)
{
	volatile int zero = 0;

	if (strcmp(what, "null") == 0)
		*at(16) = 1;
	else if (strcmp(what, "protected") == 0)
		*at((uint64_t)page) = 1;
	else if (strcmp(what, "noncanonical") == 0)
		*at(0x1234567890abcdefull) = 1;
	else if (strcmp(what, "divide") == 0)
		zero = 100 / zero;
	else if (strcmp(what, "x87") == 0) {
		uint16_t cw = 0x37f & ~4;
		__asm__ volatile("fninit\n\tfldcw %0\n\tfld1\n\tfldz\n\tfdivrp\n\tfwait" ::"m"(cw));
	} else if (strcmp(what, "illegal") == 0)
		__asm__ volatile("ud2");
	else if (strcmp(what, "breakpoint") == 0)
		__asm__ volatile("int3");
}

static void faults(void)
{
	static const struct {
		const char *what;
		int sig, code;
	} all[] = {
		{"null", SIGSEGV, SEGV_MAPERR},       {"protected", SIGSEGV, SEGV_ACCERR},
		{"noncanonical", SIGSEGV, SI_KERNEL}, {"divide", SIGFPE, FPE_INTDIV},
		{"x87", SIGFPE, FPE_FLTDIV},          {"illegal", SIGILL, ILL_ILLOPC},
		{"breakpoint", SIGTRAP, TRAP_BRKPT},
	};
	struct sigaction act = {.sa_sigaction = fault_handler, .sa_flags = SA_SIGINFO};
	void *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANON, -1, 0);

	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		sigaction(all[i].sig, &act, NULL);
		fault.si_signo = 0;
		if (sigsetjmp(out, 1) == 0)
			commit(all[i].what, page);
		__asm__ volatile("fninit");
		is(all[i].what, fault.si_signo, all[i].sig);
		is(all[i].what, fault.si_code, all[i].code);
		if (i == 0)
			ok("null: address", fault.si_addr == (void *)16);
		if (i == 1)
			ok("protected: address", fault.si_addr == page);
	}
	for (int sig = SIGILL; sig <= SIGSEGV; sig++)
		if (sig != SIGKILL)
			signal(sig, SIG_DFL);
}

/* --- children ----------------------------------------------------------------------------- */

static pid_t spawn(const char *what)
{
	char *argv[] = {"sig_calls", (char *)what, NULL};
	pid_t pid;

	int error = posix_spawn(&pid, "/bin/sig_calls", NULL, NULL, argv, environ);
	if (error != 0)
		bail("spawn: %d", error);
	return pid;
}

static struct schedctl *record(void)
{
	return (struct schedctl *)__sys_lwp_schedctl();
}

static int child(const char *what)
{
	if (strcmp(what, "pause") == 0) {
		pause();
		return 1;
	}
	if (strcmp(what, "record") == 0)
		for (;;)
			record()->mask = ~0ul;
	if (strcmp(what, "spin") == 0)
		for (;;)
			;
	if (strcmp(what, "abort") == 0) {
		sigset_t s = set_of(SIGABRT);
		sigprocmask(SIG_BLOCK, &s, NULL);
		signal(SIGABRT, handler);
		abort();
	}
	if (strcmp(what, "nostack") == 0) { /* nowhere to put the frame */
		signal(SIGUSR1, handler);
		__asm__ volatile("movq %0, %%rsp\n\tsyscall" ::"r"(0x10000000ll),
				 "a"((long)SYS_lwp_kill), "D"(1l), "S"((long)SIGUSR1)
				 : "memory");
	}
	if (strcmp(what, "badreturn") == 0)
		__sys_sigreturn(KERNEL_ADDR);
	if (strcmp(what, "kernelreturn") == 0) {
		static struct weft_ucontext uc;
		uc.rip = (uint64_t)KERNEL_ADDR;
		__sys_sigreturn(&uc);
	}
	if (strcmp(what, "blockedfault") == 0) {
		sigset_t s = set_of(SIGSEGV);
		sigprocmask(SIG_BLOCK, &s, NULL);
		signal(SIGSEGV, handler);
		*at(8) = 1;
	}
	if (strcmp(what, "ignored") == 0) { /* what spawn hands on */
		struct sigaction usr1, usr2;
		sigset_t now;
		sigaction(SIGUSR1, NULL, &usr1);
		sigaction(SIGUSR2, NULL, &usr2);
		sigprocmask(SIG_BLOCK, NULL, &now);
		return usr1.sa_handler == SIG_IGN && usr2.sa_handler == SIG_DFL &&
		       now == set_of(SIGHUP);
	}
	return 99;
}

static int status_of(pid_t pid)
{
	int status = -1;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

/* --- masks in the record that the LWP shares with the kernel (weft/schedctl.h) --- */

static void records(void)
{
	const uint64_t none = 0;
	struct schedctl *sc = record();
	sigset_t usr1 = set_of(SIGUSR1);
	uint64_t old;

	catch (SIGUSR1, 0);
	sigprocmask(SIG_BLOCK, &usr1, NULL);
	ok("record: mask", sc->mask == usr1);
	sigprocmask(SIG_UNBLOCK, &usr1, NULL);
	sc->mask = ~0ul;
	kill(getpid(), SIGUSR1);
	__sys_lwp_kill(1, SIGUSR1);
	is("record: blocked", count, 0);
	ok("record: pending", sc->pending & usr1);
	__sys_sigprocmask(SIG_BLOCK, &none, &old);
	ok("record: SIGKILL and SIGSTOP are not blocked",
	   old == ~(set_of(SIGKILL) | set_of(SIGSTOP)));
	sc->pending = 0; /* the kernel does not rely on it */
	sc->mask = 0;
	is("record: not looked yet", count, 0);
	__sys_sigprocmask(SIG_BLOCK, &none, NULL);
	is("record: unblocked", count, 2);
	is("record: nothing pending", sc->pending, 0);
	pid_t pid = spawn("record");
	nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
	kill(pid, SIGSTOP);
	int status;
	is("record: SIGSTOP", waitpid(pid, &status, WUNTRACED), pid);
	ok("record: it has stopped", WIFSTOPPED(status));
	kill(pid, SIGKILL);
	is("record: SIGKILL", status_of(pid), SIGKILL);
}

static void children(void)
{
	int status;
	sigset_t chld = set_of(SIGCHLD), hup = set_of(SIGHUP);
	siginfo_t info;

	is("abort", status_of(spawn("abort")), SIGABRT);
	is("no stack for a handler", status_of(spawn("nostack")), SIGSEGV);
	is("sigreturn: bad pointer", status_of(spawn("badreturn")), SIGSEGV);
	is("sigreturn: kernel address", status_of(spawn("kernelreturn")), SIGSEGV);
	is("a fault that is blocked", status_of(spawn("blockedfault")), SIGSEGV);

	signal(SIGUSR1, SIG_IGN);
	signal(SIGUSR2, handler);
	sigprocmask(SIG_BLOCK, &hup, NULL);
	is("spawn: actions and mask", status_of(spawn("ignored")), WEFT_W_EXITCODE(1, 0));
	sigprocmask(SIG_UNBLOCK, &hup, NULL);
	signal(SIGUSR1, SIG_DFL);
	signal(SIGUSR2, SIG_DFL);

	/* Stop and go on, SIGCHLD and waitpid. */
	sigprocmask(SIG_BLOCK, &chld, NULL);
	pid_t pid = spawn("spin");
	kill(pid, SIGSTOP);
	is("SIGCHLD: stopped", sigwaitinfo(&chld, &info), SIGCHLD);
	ok("SIGCHLD: stopped: info",
	   info.si_code == CLD_STOPPED && info.si_pid == pid && info.si_status == SIGSTOP);
	is("waitpid: not without WUNTRACED", waitpid(pid, &status, WNOHANG), 0);
	is("waitpid: WUNTRACED", waitpid(pid, &status, WUNTRACED), pid);
	ok("waitpid: WUNTRACED: status", WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
	is("waitpid: WUNTRACED once", waitpid(pid, &status, WUNTRACED | WNOHANG), 0);
	kill(pid, SIGCONT);
	is("SIGCHLD: continued", sigwaitinfo(&chld, &info), SIGCHLD);
	is("SIGCHLD: continued: info", info.si_code, CLD_CONTINUED);
	is("waitpid: WCONTINUED", waitpid(pid, &status, WCONTINUED), pid);
	ok("waitpid: WCONTINUED: status", WIFCONTINUED(status));
	kill(pid, SIGTSTP);
	is("SIGTSTP", waitpid(pid, &status, WUNTRACED), pid);
	is("SIGTSTP: status", status, WEFT_W_STOPCODE(SIGTSTP));
	kill(pid, SIGTERM);
	is("a stopped one can be killed", status_of(pid), SIGTERM);

	pid = spawn("pause");
	kill(pid, SIGSTOP);
	is("stop: one that sleeps", waitpid(pid, &status, WUNTRACED), pid);
	kill(pid, SIGCONT);
	kill(pid, SIGKILL);
	is("SIGKILL", status_of(pid), SIGKILL);

	while (sigtimedwait(&chld, &info, &(struct timespec){0}) == SIGCHLD)
		;
	pid = spawn("badexit");
	is("SIGCHLD: exit", sigwaitinfo(&chld, &info), SIGCHLD);
	ok("SIGCHLD: exit: info", info.si_code == CLD_EXITED && info.si_status == 99);
	status_of(pid);

	/* Nobody to wait for. */
	struct sigaction act = {.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDWAIT | SA_NOCLDSTOP};
	sigaction(SIGCHLD, &act, NULL);
	pid = spawn("spin");
	kill(pid, SIGSTOP);
	waitpid(pid, &status, WUNTRACED);
	is("SA_NOCLDSTOP", sigtimedwait(&chld, NULL, &(struct timespec){0}), -1);
	kill(pid, SIGKILL);
	is("SA_NOCLDWAIT", waitpid(pid, &status, 0), -1);
	is("SA_NOCLDWAIT: errno", errno, ECHILD);
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_UNBLOCK, &chld, NULL);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return child(argv[1]);
	sets();
	actions();
	masks();
	records();
	queues();
	suspension();
	alternate_stack();
	contexts();
	faults();
	children();
	return tap_done();
}
