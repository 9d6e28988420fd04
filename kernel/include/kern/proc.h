/*
 * proc.h - the process: an address space, open files and LWPs.
 *
 * p->lock guards the lists of LWPs and children, the exit status and the
 * counters.  proc_tree_lock guards the table of processes and the links between
 * parents and children; it comes before p->lock.
 */
#pragma once
#include <weft/proc.h>
#include "cpu.h"
#include "file.h"
#include "kobj.h"
#include "itimer.h"
#include "lwp.h"
#include "signal.h"
#include "sync.h"
#include "tree.h"
#include "upcall.h"

struct address_space;
struct tracer;
struct traced;

/*
 * A process's LWPs by id, in two levels.  A reader needs no lock: the
 * parts are freed only with the process.  A slot holds a struct lwp *, or 0.  The slot of an id
 * that was freed holds the next such id shifted left, with bit 0 set.
 */
#define LWPTAB_LEAF 512
#define LWPTAB_ROOT 512
#define LWP_ID_MAX (LWPTAB_LEAF * LWPTAB_ROOT - 1)

#define PROC_ARGS 128 /* bytes of a program's arguments that the kernel keeps, for ps */

struct proc {
	struct spinlock lock;
	int pid;
	int pgrp, sid;        /* proc_tree_lock */
	struct proc *parent;  /* proc_tree_lock; set by proc_set_parent */
	int ppid;             /* the parent's pid, 0: none; read without a lock */
	struct list children; /* by sibling; proc_tree_lock */
	struct list sibling;
	struct list all_link; /* table of processes; proc_tree_lock */
	struct list hash_link;
	struct list group_link; /* of its group, of its session; proc_tree_lock (proc/group.c) */
	struct list session_link;
	char name[32];
	char args[PROC_ARGS]; /* its arguments, with spaces between them; proc_tree_lock, p->lock */

	struct address_space *as;
	struct fdtable files;

	struct list lwps;               /* live LWPs, by proc_link */
	struct list zombies;            /* exited, not detached, not waited for: proc_link */
	unsigned nlwp;                  /* live ones */
	uintptr_t **lwptab;             /* [id / LEAF][id % LEAF]; written with p->lock */
	uint32_t next_id;               /* this id and all above were never used */
	uint32_t free_first, free_last; /* freed ids, reused oldest first; 0: none */
	struct waitq lwp_waiters;       /* lwp_wait; p->lock */

	struct list sc_partial; /* schedctl pages with a free record; p->lock */
	struct list sc_full;
	unsigned sc_npages;

	struct tree robust; /* registered robust mutexes; p->lock (sync/robust.c) */
	unsigned nrobust;
	struct kobj_table kobjs;   /* handles to kernel objects */
	struct list at_end;        /* events that its end sets (sync/kobj.c); proc_tree_lock */
	struct proc_signals sig;   /* p->lock (kern/signal.h) */
	struct proc_upcalls up;    /* kern/upcall.h */
	struct proc_timers timers; /* kern/itimer.h */

	struct weft_rlimit limit[WEFT_RLIM_NLIMITS]; /* lock (proc/limits.c) */

	bool execed;      /* it began another program than its parent's (exec, spawn); atomic */
	bool exiting;     /* all LWPs have been told to exit, or are being told; none is created */
	bool exit_posted; /* all LWPs have been told; lock */
	uint32_t telling; /* walks that tell all LWPs, a piece at a time (proc_post_exit); lock */
	bool single;      /* an LWP is in exec: the others have been told, or are being; lock */
	bool zombie;
	int status;                 /* as waitpid reports it */
	struct waitq child_waiters; /* waitpid of this process; proc_tree_lock */

	struct traced *traced;  /* the link to its tracer; proc/trace.c says which locks */
	struct tracer *tracing; /* it traces other processes; atomic, set once */

	hrtime_t start;
	hrtime_t began;            /* when its program began: the last exec, or start; p->lock */
	struct mstimes dead_times; /* of LWPs that have exited; p->lock */
	struct lwp_counts dead_counts;
	uint64_t rss_before; /* most pages resident, in its earlier address spaces; p->lock */
	uint64_t nsignals;   /* handlers called; p->lock */
	struct weft_rusage ru_children; /* of children that it has waited for; p->lock */
};

/*
 * The LWP of p with this id, or NULL, without its lock: it may be another LWP by now, unless l->proc and l->id say so with
 * l->lock.  p is the current process, or p->lock is held.  Interrupts are off, which keeps the memory an LWP's (KC_STABLE).
 */
static inline struct lwp *lwp_peek(const struct proc *p, uint32_t id)
{
	debug_assert(!irq_enabled());
	if (id == 0 || id > LWP_ID_MAX)
		return NULL;
	uintptr_t *leaf = __atomic_load_n(&p->lwptab[id / LWPTAB_LEAF], __ATOMIC_ACQUIRE);
	if (leaf == NULL)
		return NULL;
	uintptr_t v = __atomic_load_n(&leaf[id % LWPTAB_LEAF], __ATOMIC_ACQUIRE);
	return v & 1 ? NULL : (struct lwp *)v;
}

extern struct spinlock proc_tree_lock;

void proc_init(void);
extern struct proc *init_proc; /* the first process: adopts orphans; its end halts the machine */

/* The current process; NULL on a kernel LWP. */
static inline struct proc *curproc(void)
{
	return curlwp()->proc;
}

/* Ends the current process: every LWP exits.  status: as waitpid reports it. */
void proc_exit(int status) NORETURN;
/* Tells every LWP of the current process p to exit (no lock held); p ends with this status.
 * False: p was ending already, with the status of the first call.  May give up the CPU. */
bool proc_kill(struct proc *p, int status);
/* The same for any process, without giving up the CPU.  p->lock held. */
bool proc_kill_locked(struct proc *p, int status);
/*
 * The current process touches addr, for which there is no page, and which it has not reserved.
 * As the last resort, ends the process as SIGKILL does, and names it on the console.
 */
void proc_out_of_memory(vaddr_t addr);
/*
 * Sends sig to the processes of a group (the console's Ctrl-C).  From any context
 * without a spin lock.  0, or -ESRCH.
 */
int proc_kill_group(int pgrp, int sig);
/* setpgid(2), setsid(2) for the current process (syscall/proc.c says which errors). */
int proc_set_group(int pid, int pgrp);
int proc_set_session(void);
/* Is there such a group, and in this session?  proc_tree_lock held. */
bool group_in_session(int pgrp, int sid);
/* Is the console p's controlling terminal? */
bool proc_has_console(const struct proc *p);
/* Sends sig to p, as kill(2) (kern/signal.h).  proc_tree_lock held. */
void proc_signal(struct proc *p, int sig);
/* The process with this id, or NULL.  proc_tree_lock held. */
struct proc *proc_find(int pid);
/*
 * Prints what every LWP does, and the threads on them (proc/report.c).  For a moment when nothing
 * runs any more: takes no lock.
 */
void proc_report(void);
/*
 * Describe the process with the smallest pid that is not below pid; the LWP of
 * process pid (0: the current one) with the smallest id that is not below id (proc/info.c).
 * Return its id, or -ESRCH.
 */
int proc_info(int pid, struct weft_procinfo *i);
int64_t lwp_info_get(int pid, uint32_t id, struct lwp_info *i);
/* The address space of a process (0: the current process), held; NULL: no such process, or it
 * is ending. */
struct address_space *proc_hold_as(int pid);
/* Calls fn on each process until it returns true.  proc_tree_lock held. */
void proc_each(bool (*fn)(struct proc *, void *), void *arg);
/* The same without the lock, for a moment when nothing runs any more. */
void proc_each_unlocked(bool (*fn)(struct proc *, void *), void *arg);

/*
 * fork(2): makes a child of the current process with a copy of its memory and descriptors.  The
 * child has a copy of the calling LWP only, which returns 0 from its system call there.  Returns
 * the child's pid, or -ENOMEM, -EAGAIN (out of processes).  May sleep.
 */
int64_t proc_fork(void);
/* waitpid(2) for the current process; *status and *ru are kernel memory.  Blocks. */
int64_t proc_wait(int pid, int options, int *status, struct weft_rusage *ru);
/* Adds up the times of p's LWPs, living and exited.  p->lock held. */
void proc_rusage(struct proc *p, struct weft_rusage *ru);
/* The last LWP's part of the end of a process: never returns.  Interrupts on. */
void proc_last_exit(struct proc *p) NORETURN;
