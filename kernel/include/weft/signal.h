/*
 * signal.h - signals: numbers, actions, the arguments of a handler, timers.
 *
 * Numbers up to 31 are those of the BSDs, as newlib has them; 32 and 33 are Solaris's.  The
 * other numbers are real-time signals, which queue.  A set is one word: signal n is bit n - 1.
 */
#pragma once
#include "abi.h"
#include "syscall.h"

#define WEFT_SIGHUP 1
#define WEFT_SIGINT 2
#define WEFT_SIGQUIT 3
#define WEFT_SIGILL 4
#define WEFT_SIGTRAP 5
#define WEFT_SIGABRT 6
#define WEFT_SIGFPE 8
#define WEFT_SIGKILL 9
#define WEFT_SIGBUS 10
#define WEFT_SIGSEGV 11
#define WEFT_SIGSYS 12
#define WEFT_SIGPIPE 13
#define WEFT_SIGALRM 14
#define WEFT_SIGTERM 15
#define WEFT_SIGURG 16
#define WEFT_SIGSTOP 17
#define WEFT_SIGTSTP 18
#define WEFT_SIGCONT 19
#define WEFT_SIGCHLD 20
#define WEFT_SIGTTIN 21
#define WEFT_SIGTTOU 22
#define WEFT_SIGIO 23
#define WEFT_SIGXCPU 24
#define WEFT_SIGXFSZ 25
#define WEFT_SIGVTALRM 26
#define WEFT_SIGPROF 27
#define WEFT_SIGWINCH 28
#define WEFT_SIGUSR1 30
#define WEFT_SIGUSR2 31
#define WEFT_SIGWAITING 32 /* every LWP of the process is blocked; ignored by default */
#define WEFT_SIGLWP 33     /* for the threads library; ignored by default */
#define WEFT_SIGRTMIN 34
#define WEFT_SIGRTMAX 63
#define WEFT_NSIG 64 /* signals are 1 to 63 */

#define WEFT_SIGBIT(sig) (1ull << ((sig)-1))

#define WEFT_SIGQUEUE_MAX 1024 /* signals that may be queued to one process */

/* sigprocmask: how.  newlib's values. */
#define WEFT_SIG_SETMASK 0
#define WEFT_SIG_BLOCK 1
#define WEFT_SIG_UNBLOCK 2

/* sigaction: values of `handler` that are not functions. */
#define WEFT_SIG_DFL 0
#define WEFT_SIG_IGN 1

#define WEFT_SA_NOCLDSTOP 0x1
#define WEFT_SA_SIGINFO 0x2 /* for the library: the kernel always passes all arguments */
#define WEFT_SA_ONSTACK 0x4
#define WEFT_SA_RESTART 0x8
#define WEFT_SA_NODEFER 0x10
#define WEFT_SA_RESETHAND 0x20
#define WEFT_SA_NOCLDWAIT 0x40

/*
 * A handler is entered at `entry`, as entry(sig, struct weft_siginfo *, struct
 * weft_ucontext *, handler, mask).  This function of the library calls the handler and then
 * sigreturn.  mask is the present mask of the LWP.
 */
struct weft_sigaction { /* caller writes; kernel writes the old one */
	uint64_t handler;
	uint64_t entry;
	uint64_t mask;  /* blocked in the handler, besides sig itself */
	uint32_t flags; /* WEFT_SA_* */
	uint32_t spare;
};

/* si_code: the sender of the signal.  Positive codes depend on the signal. */
enum {
	WEFT_SI_USER = 0,     /* kill, lwp_kill, raise, abort */
	WEFT_SI_QUEUE = -1,   /* sigqueue */
	WEFT_SI_TIMER = -2,   /* timer_settime, setitimer */
	WEFT_SI_LWP = -6,     /* lwp_kill */
	WEFT_SI_PREEMPT = -7, /* not a signal: lwp_preempt (lwp.h) */
	WEFT_SI_KERNEL = 128, /* the kernel, for none of the reasons below */

	WEFT_ILL_ILLOPC = 1,
	WEFT_FPE_INTDIV = 1,
	WEFT_FPE_INTOVF = 2,
	WEFT_FPE_FLTDIV = 3,
	WEFT_FPE_FLTOVF = 4,
	WEFT_FPE_FLTUND = 5,
	WEFT_FPE_FLTRES = 6,
	WEFT_FPE_FLTINV = 7,
	WEFT_SEGV_MAPERR = 1, /* the address is not mapped */
	WEFT_SEGV_ACCERR = 2, /* the protection forbids the access */
	WEFT_BUS_ADRALN = 1,
	WEFT_BUS_ADRERR = 2,
	WEFT_BUS_OBJERR = 3,
	WEFT_TRAP_BRKPT = 1,
	WEFT_TRAP_TRACE = 2,
	WEFT_CLD_EXITED = 1,
	WEFT_CLD_KILLED = 2,
	WEFT_CLD_DUMPED = 3, /* never: there are no core dumps */
	WEFT_CLD_TRAPPED = 4,
	WEFT_CLD_STOPPED = 5,
	WEFT_CLD_CONTINUED = 6,
};

struct weft_siginfo { /* kernel writes all; unused fields are 0 */
	int32_t signo;
	int32_t code;    /* see above */
	int32_t err;     /* 0 */
	int32_t pid;     /* sender, or child */
	uint32_t uid;    /* 0: there is one user */
	int32_t status;  /* SIGCHLD: exit status or signal */
	uint64_t addr;   /* faults: the address, or the instruction's address */
	uint64_t value;  /* sigqueue, timers */
	int32_t timerid; /* timers */
	int32_t overrun; /* timers: expiries that found the last signal still pending */
	uint32_t trapno; /* faults: the CPU's vector */
	uint32_t lwpid;  /* sender */
};

#define WEFT_SS_ONSTACK 1 /* the caller is on it now */
#define WEFT_SS_DISABLE 2
#define WEFT_SS_LEAVING 4 /* the caller leaves it: a threads library switches */
#define WEFT_MINSIGSTKSZ 2048

struct weft_stack {    /* caller writes; kernel writes the old one */
	uint64_t sp;   /* lowest address */
	int32_t flags; /* WEFT_SS_* */
	int32_t spare;
	uint64_t size;
};

/*
 * The interrupted context, on the handler's stack.  The handler may change it.  sigreturn
 * restores the parts that user space may set: the registers, the arithmetic bits of RFLAGS,
 * and the mask.  It does not change the segments.
 */
struct weft_ucontext {           /* kernel writes all */
	uint64_t flags;          /* 0 */
	uint64_t link;           /* 0 */
	struct weft_stack stack; /* the alternate stack as it was set */
	uint64_t sigmask;
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
	uint64_t rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp;
	uint64_t rip, rflags;
	uint64_t err, trapno; /* of a fault */
	uint64_t cr2;
	uint64_t spare;
	uint8_t fpu[512]; /* as FXSAVE lays it out */
};

/* --- interval timers ------------------------------------------------------------ */

#define WEFT_ITIMER_REAL 0    /* SIGALRM */
#define WEFT_ITIMER_VIRTUAL 1 /* SIGVTALRM, by the process's time in user mode */
#define WEFT_ITIMER_PROF 2    /* SIGPROF, by its time in user mode and the kernel */
/* With any of these: a timer of the calling LWP only; its signal goes to this LWP. */
#define WEFT_ITIMER_LWP 0x100

struct weft_itimerspec {               /* caller writes; kernel writes the old one */
	struct weft_timespec interval; /* 0: once */
	struct weft_timespec value;    /* until the next expiry; 0: off */
};

#define WEFT_TIMER_MAX 64 /* timers of a process, of all kinds */

#define WEFT_TIMER_ABSTIME 4 /* flags of timer_settime; newlib's value */

/* Notification.  newlib's values, and WEFT_SIGEV_LWP. */
#define WEFT_SIGEV_NONE 1
#define WEFT_SIGEV_SIGNAL 2
#define WEFT_SIGEV_LWP 4 /* a signal to LWP lwpid */

struct weft_sigevent {  /* caller writes all */
	int32_t notify; /* WEFT_SIGEV_* */
	int32_t signo;
	uint64_t value;
	uint32_t lwpid;
	uint32_t spare;
};

/* --- upcalls ------------------------------------------------------------------------ */

/* Events of upcall_wait: its argument has the wanted events, its result the events that happened. */
#define UPCALL_BLOCKED 0x1 /* every LWP is blocked: SIGWAITING would be sent */
#define UPCALL_GROW 0x2    /* an LWP has blocked, and fewer LWPs than CPUs are left */
#define UPCALL_EXIT 0x4    /* an LWP that was created with LWP_BOUND has exited */
#define UPCALL_TIMED 0x8 /* with UPCALL_BLOCKED: from now on a sleep with a deadline counts, too */
