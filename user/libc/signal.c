/*
 * signal.c - signals (POSIX).  The kernel does the work (weft/signal.h).  Every action names
 * libthread's __sig_entry, through which the kernel enters a handler.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>
#include <weft/start.h>
#include "libc.h"

#define SAME(type, field, ktype, kfield)                                                           \
	_Static_assert(offsetof(type, field) == offsetof(struct ktype, kfield) &&                  \
			       sizeof(((type *)0)->field) == sizeof(((struct ktype *)0)->kfield),  \
		       #field)
SAME(siginfo_t, si_signo, weft_siginfo, signo);
SAME(siginfo_t, si_code, weft_siginfo, code);
SAME(siginfo_t, si_pid, weft_siginfo, pid);
SAME(siginfo_t, si_status, weft_siginfo, status);
SAME(siginfo_t, si_addr, weft_siginfo, addr);
SAME(siginfo_t, si_value, weft_siginfo, value);
SAME(siginfo_t, si_overrun, weft_siginfo, overrun);
SAME(siginfo_t, si_lwpid, weft_siginfo, lwpid);
SAME(stack_t, ss_sp, weft_stack, sp);
SAME(stack_t, ss_flags, weft_stack, flags);
SAME(stack_t, ss_size, weft_stack, size);
SAME(ucontext_t, uc_stack, weft_ucontext, stack);
SAME(ucontext_t, uc_sigmask, weft_ucontext, sigmask);
SAME(ucontext_t, uc_mcontext.r8, weft_ucontext, r8);
SAME(ucontext_t, uc_mcontext.rip, weft_ucontext, rip);
SAME(ucontext_t, uc_mcontext.cr2, weft_ucontext, cr2);
SAME(ucontext_t, uc_mcontext.fpu, weft_ucontext, fpu);
_Static_assert(sizeof(siginfo_t) == sizeof(struct weft_siginfo) &&
		       sizeof(ucontext_t) == sizeof(struct weft_ucontext) &&
		       sizeof(sigset_t) == sizeof(uint64_t),
	       "what the kernel writes");

/* --- sending ------------------------------------------------------------------------ */

int killpg(pid_t pgrp, int sig)
{
	return pgrp > 1 ? kill(-pgrp, sig) : fails(EINVAL);
}

int sigqueue(pid_t pid, int sig, const union sigval value)
{
	return result(__sys_sigqueue(pid, sig, (uint64_t)value.sival_ptr));
}

/* --- actions ------------------------------------------------------------------------- */

/* SIGLWP is reserved for libthread: it can be neither caught nor blocked.  EINVAL, EFAULT. */
int sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	struct weft_sigaction to, was;

	if (act && sig == SIGLWP)
		return fails(EINVAL);
	if (act)
		to = (struct weft_sigaction){.handler = (uint64_t)act->sa_handler,
					     .entry = (uint64_t)__sig_entry,
					     .mask = act->sa_mask & ~WEFT_SIGBIT(SIGLWP),
					     .flags = act->sa_flags};
	if (result(__sys_sigaction(sig, act ? &to : NULL, &was)) < 0)
		return -1;
	if (old)
		*old = (struct sigaction){.sa_handler = (_sig_func_ptr)was.handler,
					  .sa_mask = was.mask,
					  .sa_flags = was.flags};
	return 0;
}

/* As in the BSDs: the handler stays, and system calls are restarted. */
_sig_func_ptr signal(int sig, _sig_func_ptr handler)
{
	struct sigaction act = {.sa_handler = handler, .sa_flags = SA_RESTART}, old;

	return sigaction(sig, &act, &old) < 0 ? SIG_ERR : old.sa_handler;
}

int siginterrupt(int sig, int flag)
{
	struct sigaction act;

	if (sigaction(sig, NULL, &act) < 0)
		return -1;
	act.sa_flags = flag ? act.sa_flags & ~SA_RESTART : act.sa_flags | SA_RESTART;
	return sigaction(sig, &act, NULL);
}

/* --- sets ------------------------------------------------------------------------------ */

static int sigset_change(sigset_t *set, int sig, bool in)
{
	if (sig < 1 || sig >= NSIG)
		return fails(EINVAL);
	*set = in ? *set | WEFT_SIGBIT(sig) : *set & ~WEFT_SIGBIT(sig);
	return 0;
}

int sigaddset(sigset_t *set, int sig)
{
	return sigset_change(set, sig, true);
}

int sigdelset(sigset_t *set, int sig)
{
	return sigset_change(set, sig, false);
}

int sigismember(const sigset_t *set, int sig)
{
	if (sig < 1 || sig >= NSIG)
		return fails(EINVAL);
	return (*set & WEFT_SIGBIT(sig)) != 0;
}

int sigfillset(sigset_t *set)
{
	*set = WEFT_SIGBIT(NSIG) - 1;
	return 0;
}

int sigemptyset(sigset_t *set)
{
	*set = 0;
	return 0;
}

/* --- masks; waiting: libthread/core/sigwait.c ------------------------------------------------- */

int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	int error = pthread_sigmask(how, set, old);

	return error ? fails(error) : 0;
}

int pause(void)
{
	sigset_t now;

	sigprocmask(SIG_BLOCK, NULL, &now);
	return sigsuspend(&now);
}

void __sigjmp_save(sigjmp_buf env, int savemask)
{
	env->__saved = savemask;
	if (savemask)
		sigprocmask(SIG_BLOCK, NULL, &env->__mask);
}

void siglongjmp(sigjmp_buf env, int value)
{
	if (env->__saved)
		sigprocmask(SIG_SETMASK, &env->__mask, NULL);
	longjmp(env->__registers, value);
}

/* --- names -------------------------------------------------------------------------------- */

static const char *const names[] = {
	[SIGHUP] = "Hangup",
	[SIGINT] = "Interrupt",
	[SIGQUIT] = "Quit",
	[SIGILL] = "Illegal instruction",
	[SIGTRAP] = "Trace trap",
	[SIGABRT] = "Aborted",
	[SIGFPE] = "Arithmetic exception",
	[SIGKILL] = "Killed",
	[SIGBUS] = "Bus error",
	[SIGSEGV] = "Segmentation fault",
	[SIGSYS] = "Bad system call",
	[SIGPIPE] = "Broken pipe",
	[SIGALRM] = "Alarm clock",
	[SIGTERM] = "Terminated",
	[SIGURG] = "Urgent condition",
	[SIGSTOP] = "Stopped (signal)",
	[SIGTSTP] = "Stopped",
	[SIGCONT] = "Continued",
	[SIGCHLD] = "Child status changed",
	[SIGTTIN] = "Stopped (tty input)",
	[SIGTTOU] = "Stopped (tty output)",
	[SIGIO] = "I/O possible",
	[SIGXCPU] = "CPU time limit exceeded",
	[SIGXFSZ] = "File size limit exceeded",
	[SIGVTALRM] = "Virtual timer expired",
	[SIGPROF] = "Profiling timer expired",
	[SIGWINCH] = "Window size changed",
	[SIGUSR1] = "User signal 1",
	[SIGUSR2] = "User signal 2",
	[SIGWAITING] = "All LWPs blocked",
	[SIGLWP] = "Inter-LWP signal",
};

/* The result for a real-time or unknown signal is valid until the next such call. */
char *strsignal(int sig)
{
	static char text[40];

	if (sig > 0 && sig < (int)(sizeof(names) / sizeof(names[0])) && names[sig])
		return (char *)names[sig];
	if (sig >= SIGRTMIN && sig <= SIGRTMAX)
		snprintf(text, sizeof(text), "Real-time signal %d", sig - SIGRTMIN);
	else
		snprintf(text, sizeof(text), "Unknown signal %d", sig);
	return text;
}

void psignal(int sig, const char *text)
{
	if (text && *text)
		fprintf(stderr, "%s: ", text);
	fprintf(stderr, "%s\n", strsignal(sig));
}

void psiginfo(const siginfo_t *info, const char *text)
{
	psignal(info->si_signo, text);
}
