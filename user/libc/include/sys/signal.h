/*
 * sys/signal.h - signals, for newlib's <signal.h>.  Replaces newlib's, which knows
 * 31 signals, has no complete siginfo_t, and has macros that shift an int.
 */
#ifndef _SYS_SIGNAL_H
#define _SYS_SIGNAL_H

#include <stdint.h>
#include <sys/_pthreadtypes.h>
#include <sys/_sigset.h>
#include <sys/_timespec.h>
#include <sys/cdefs.h>
#include <sys/features.h>
#include <sys/types.h>
#include <weft/signal.h>

#ifdef __cplusplus
extern "C" {
#endif

#if !defined(_SIGSET_T_DECLARED)
#define _SIGSET_T_DECLARED
typedef __sigset_t sigset_t; /* bit n - 1: signal n */
#endif

#define SIGHUP WEFT_SIGHUP
#define SIGINT WEFT_SIGINT
#define SIGQUIT WEFT_SIGQUIT
#define SIGILL WEFT_SIGILL
#define SIGTRAP WEFT_SIGTRAP
#define SIGABRT WEFT_SIGABRT
#define SIGIOT SIGABRT
#define SIGFPE WEFT_SIGFPE
#define SIGKILL WEFT_SIGKILL
#define SIGBUS WEFT_SIGBUS
#define SIGSEGV WEFT_SIGSEGV
#define SIGSYS WEFT_SIGSYS
#define SIGPIPE WEFT_SIGPIPE
#define SIGALRM WEFT_SIGALRM
#define SIGTERM WEFT_SIGTERM
#define SIGURG WEFT_SIGURG
#define SIGSTOP WEFT_SIGSTOP
#define SIGTSTP WEFT_SIGTSTP
#define SIGCONT WEFT_SIGCONT
#define SIGCHLD WEFT_SIGCHLD
#define SIGCLD SIGCHLD
#define SIGTTIN WEFT_SIGTTIN
#define SIGTTOU WEFT_SIGTTOU
#define SIGIO WEFT_SIGIO
#define SIGPOLL SIGIO
#define SIGXCPU WEFT_SIGXCPU
#define SIGXFSZ WEFT_SIGXFSZ
#define SIGVTALRM WEFT_SIGVTALRM
#define SIGPROF WEFT_SIGPROF
#define SIGWINCH WEFT_SIGWINCH
#define SIGUSR1 WEFT_SIGUSR1
#define SIGUSR2 WEFT_SIGUSR2
#define SIGWAITING WEFT_SIGWAITING
#define SIGLWP WEFT_SIGLWP
#define SIGRTMIN WEFT_SIGRTMIN
#define SIGRTMAX WEFT_SIGRTMAX
#define NSIG WEFT_NSIG

union sigval {
	int sival_int;
	void *sival_ptr;
};

#define SIGEV_NONE WEFT_SIGEV_NONE
#define SIGEV_SIGNAL WEFT_SIGEV_SIGNAL
#define SIGEV_LWP WEFT_SIGEV_LWP /* to the LWP sigev_notify_lwpid of the process */

#define SIGEV_THREAD 3 /* a function is called in a new thread */

struct sigevent { /* begins as struct weft_sigevent */
	int sigev_notify;
	int sigev_signo;
	union sigval sigev_value;
	unsigned sigev_notify_lwpid;
	void (*sigev_notify_function)(union sigval);
	pthread_attr_t *sigev_notify_attributes; /* NULL: the defaults; the thread is detached */
};

typedef struct { /* laid out as struct weft_siginfo */
	int si_signo;
	int si_code;
	int si_errno;
	pid_t si_pid;
	unsigned si_uid;
	int si_status;
	void *si_addr;
	union sigval si_value;
	int si_timerid;
	int si_overrun;
	unsigned si_trapno;
	unsigned si_lwpid;
} siginfo_t;

#define SI_USER WEFT_SI_USER
#define SI_QUEUE WEFT_SI_QUEUE
#define SI_TIMER WEFT_SI_TIMER
#define SI_LWP WEFT_SI_LWP
#define SI_KERNEL WEFT_SI_KERNEL
#define ILL_ILLOPC WEFT_ILL_ILLOPC
#define FPE_INTDIV WEFT_FPE_INTDIV
#define FPE_INTOVF WEFT_FPE_INTOVF
#define FPE_FLTDIV WEFT_FPE_FLTDIV
#define FPE_FLTOVF WEFT_FPE_FLTOVF
#define FPE_FLTUND WEFT_FPE_FLTUND
#define FPE_FLTRES WEFT_FPE_FLTRES
#define FPE_FLTINV WEFT_FPE_FLTINV
#define SEGV_MAPERR WEFT_SEGV_MAPERR
#define SEGV_ACCERR WEFT_SEGV_ACCERR
#define BUS_ADRALN WEFT_BUS_ADRALN
#define BUS_ADRERR WEFT_BUS_ADRERR
#define BUS_OBJERR WEFT_BUS_OBJERR
#define TRAP_BRKPT WEFT_TRAP_BRKPT
#define TRAP_TRACE WEFT_TRAP_TRACE
#define CLD_EXITED WEFT_CLD_EXITED
#define CLD_KILLED WEFT_CLD_KILLED
#define CLD_DUMPED WEFT_CLD_DUMPED
#define CLD_TRAPPED WEFT_CLD_TRAPPED
#define CLD_STOPPED WEFT_CLD_STOPPED
#define CLD_CONTINUED WEFT_CLD_CONTINUED

typedef void (*_sig_func_ptr)(int);

struct sigaction {
	union {
		_sig_func_ptr __handler;
		void (*__sigaction)(int, siginfo_t *, void *);
	} __act;
	sigset_t sa_mask;
	int sa_flags;
};
#define sa_handler __act.__handler
#define sa_sigaction __act.__sigaction

#define SA_NOCLDSTOP WEFT_SA_NOCLDSTOP
#define SA_SIGINFO WEFT_SA_SIGINFO
#define SA_ONSTACK WEFT_SA_ONSTACK
#define SA_RESTART WEFT_SA_RESTART
#define SA_NODEFER WEFT_SA_NODEFER
#define SA_RESETHAND WEFT_SA_RESETHAND
#define SA_NOCLDWAIT WEFT_SA_NOCLDWAIT

#define SIG_SETMASK WEFT_SIG_SETMASK
#define SIG_BLOCK WEFT_SIG_BLOCK
#define SIG_UNBLOCK WEFT_SIG_UNBLOCK

#define SS_ONSTACK WEFT_SS_ONSTACK
#define SS_DISABLE WEFT_SS_DISABLE
#define MINSIGSTKSZ WEFT_MINSIGSTKSZ
#define SIGSTKSZ 16384

typedef struct sigaltstack { /* laid out as struct weft_stack */
	void *ss_sp;
	int ss_flags;
	size_t ss_size;
} stack_t;

int kill(pid_t __pid, int __sig);
int killpg(pid_t __group, int __sig);
int sigaction(int __sig, const struct sigaction *__act, struct sigaction *__old);
int sigprocmask(int __how, const sigset_t *__set, sigset_t *__old);
int pthread_sigmask(int __how, const sigset_t *__set, sigset_t *__old);
int pthread_kill(pthread_t __target, int __sig);
int sigaddset(sigset_t *__set, int __sig);
int sigdelset(sigset_t *__set, int __sig);
int sigismember(const sigset_t *__set, int __sig);
int sigfillset(sigset_t *__set);
int sigemptyset(sigset_t *__set);
int sigpending(sigset_t *__set);
int sigsuspend(const sigset_t *__set);
int sigwait(const sigset_t *__set, int *__sig);
int sigwaitinfo(const sigset_t *__set, siginfo_t *__info);
int sigtimedwait(const sigset_t *__set, siginfo_t *__info, const struct timespec *__timeout);
int sigqueue(pid_t __pid, int __sig, const union sigval __value);
int sigaltstack(const stack_t *__stack, stack_t *__old);
int siginterrupt(int __sig, int __flag);
/* System V's. */
#define SIG_HOLD ((_sig_func_ptr)2)
_sig_func_ptr sigset(int __sig, _sig_func_ptr __action);
int sighold(int __sig);
int sigrelse(int __sig);
int sigignore(int __sig);
int sigpause(int __sig);
void psiginfo(const siginfo_t *__info, const char *__text);
#define SIG2STR_MAX 16
int sig2str(int __sig, char *__name);
int str2sig(const char *__name, int *__sig);

#ifdef __cplusplus
}
#endif

#ifndef _SIGNAL_H_
#include <signal.h>
#endif
#endif
