/*
 * proc.h - processes as user space sees them: creation, status, inspection.
 */
#pragma once
#include "abi.h"
#include "priocntl.h"

#define WEFT_ARG_MAX 65536 /* bytes of argument and environment strings */
#define WEFT_PATH_MAX 1024 /* bytes of a path, the NUL included */
#define WEFT_NAME_MAX 255  /* bytes of one component of a path */
#define WEFT_OPEN_MAX 1024 /* descriptors of a process */

/* Flags of spawn: further attributes of the child. */
#define SPAWN_SETPGROUP 0x1  /* it joins pgroup (0: leads a group of its own) */
#define SPAWN_SETSIGMASK 0x2 /* it begins with sigmask, not with the caller's mask */
#define SPAWN_SETSIGDEF 0x4  /* the signals in sigdefault have the default action */
#define SPAWN_SETSCHED 0x8   /* it begins with the class and parameters of sched */

/* Actions change the child's descriptors, which begin as copies of the caller's. */
enum {
	SPAWN_OPEN,      /* fd becomes an open file: path, flags, mode as in open() */
	SPAWN_DUP2,      /* fd becomes a copy of `from`; if they are equal: without FD_CLOEXEC */
	SPAWN_CLOSE,     /* fd is closed, if it is open */
	SPAWN_CHDIR,     /* path becomes the current directory */
	SPAWN_TCSETPGRP, /* the child's group gets the terminal fd (Ctrl-C goes to it) */
};
struct spawn_action {  /* caller writes all */
	uint64_t path; /* const char * */
	uint32_t what; /* SPAWN_OPEN ... */
	int32_t fd, from;
	uint32_t flags, mode;
	uint32_t spare;
};

struct spawn_args {       /* caller writes all */
	uint64_t path;    /* const char *, relative to the current directory of the child */
	uint64_t argv;    /* char *const *, ends with NULL */
	uint64_t envp;    /* char *const *, ends with NULL */
	uint64_t actions; /* const struct spawn_action *, carried out in order */
	uint32_t nactions;
	uint32_t flags;
	uint64_t sigmask, sigdefault;
	int32_t pgroup;
	struct pcparms sched;
};

/* waitpid: options, and the status word (the traditional encoding). */
#define WEFT_WNOHANG 1
#define WEFT_WUNTRACED 2  /* also for a child that a signal has stopped */
#define WEFT_WCONTINUED 8 /* also for a child that SIGCONT has continued */
#define WEFT_WNOWAIT 16   /* leaves the child as it is, so another call can wait for it */
#define WEFT_WNOEXIT 32   /* not for a child that has exited */
#define WEFT_WGROUP 64    /* pid is a process group's id */
#define WEFT_W_EXITCODE(code, sig) (((code)&0xff) << 8 | ((sig)&0x7f))
#define WEFT_W_STOPCODE(sig) ((sig) << 8 | 0x7f)
#define WEFT_W_CONTINUED 0xffff

struct weft_rusage { /* kernel writes: for a process with all its LWPs; times in ns */
	uint64_t utime, stime;
	uint64_t nvcsw;    /* switches because an LWP blocked */
	uint64_t nivcsw;   /* switches because it was preempted */
	uint64_t minflt;   /* page faults */
	uint64_t maxrss;   /* most bytes resident at any time; for several processes, the largest */
	uint64_t nsignals; /* handlers called */
};

/* Resource limits (getrlimit(2)).  A process that exceeds a limit gets the error named. */
enum {
	WEFT_RLIMIT_AS,     /* bytes mapped: ENOMEM */
	WEFT_RLIMIT_DATA,   /* bytes of the heap (brk): the break stays */
	WEFT_RLIMIT_STACK,  /* bytes of the first stack, from the next exec on: SIGSEGV */
	WEFT_RLIMIT_NPROC,  /* processes in the system, when the process creates one: EAGAIN */
	WEFT_RLIMIT_NOFILE, /* descriptors are below this: EMFILE, EBADF */
	WEFT_RLIM_NLIMITS
};
#define WEFT_RLIM_INFINITY UINT64_MAX
struct weft_rlimit { /* caller writes the new limit, kernel the old one */
	uint64_t cur, max;
};

#define WEFT_PID_MAX 99999 /* ids are 1 to this */

struct weft_procinfo { /* kernel writes all */
	int32_t pid, ppid, pgrp, sid;
	uint32_t nlwp;
	uint32_t state;     /* that of its most active LWP; LWP_ST_ZOMB: exited */
	uint64_t size, rss; /* bytes mapped, bytes resident */
	uint64_t start;     /* nanoseconds since boot */
	uint64_t began;     /* start of its program, in the same unit: the last exec, or start */
	struct weft_rusage ru;
	char name[32];
};

struct weft_cpuinfo { /* kernel writes all */
	uint32_t id, apic_id;
	uint32_t online; /* 0: no LWP runs on it (p_online) */
	int32_t pset;    /* its processor set, or PS_NONE */
	int32_t pid;     /* the process of the LWP on it; 0: idle */
	uint32_t lwpid;
	uint32_t nrunnable; /* length of its dispatch queue */
	uint32_t spare2;
	uint64_t switches; /* LWP switches since boot */
	uint64_t steals;   /* LWPs taken from another CPU's queue */
	uint64_t ipis;     /* inter-processor interrupts received */
	uint64_t idle_ns;  /* time without an LWP */
};

struct weft_sysinfo {                 /* kernel writes all */
	uint64_t mem_total, mem_free; /* bytes */
	uint64_t kernel_pages;        /* pages that the kernel uses for itself */
	uint32_t ncpu, nproc, nlwp;
	uint32_t spare;
};

/* reboot(how, status): status becomes the exit status of `weft run`. */
#define WEFT_REBOOT_HALT 0
#define WEFT_REBOOT_RESET 1
/* All CPUs stop.  The host tool reads the caller's memory, and ends QEMU. */
#define WEFT_REBOOT_HOLD 2
/* The same with all memory, if `weft run --keep` wants it. */
#define WEFT_REBOOT_FAIL 3
