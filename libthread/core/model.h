/*
 * model.h - what a model is: how threads are mapped to LWPs, as a table of operations.
 *
 * The model is chosen once, before main, by the environment variable LIBTHREAD, and its
 * mechanisms are set by LIBTHREAD_OPTIONS (core/options.c).  core/ and sync/ know models
 * by this file alone, and a model knows no other model.
 */
#pragma once
#include "ilock.h"

enum spin { SPIN_ADAPTIVE, SPIN_ALWAYS, SPIN_NEVER };
enum waiting { WAITING_UPCALL, WAITING_SIGNAL, WAITING_NONE };

enum { LOCKSTAT_OFF = 0, LOCKSTAT_EXIT = 1000 };

/* Set before main, then constant, except sleep_special. */
struct options {
	enum spin spin;       /* a mutex that is held: spin while the owner is on a CPU ... */
	bool fifo;            /* sleep queues: first in, first out; else near-LIFO */
	bool adaptive_unlock; /* let a spinner take the mutex before waking a sleeper */
	bool schedctl;        /* preemption control */
	bool kernel_sleep;    /* objects have their queues in the kernel, not here */
	bool separate_unpark; /* who wakes and then blocks makes a call for each */
	bool spin_shared;     /* no option: a process-shared mutex too (unless spin=never) */
	bool mt_malloc;       /* malloc is malloc/mt.c's, not newlib's */
	int lockstat;         /* lock statistics: LOCKSTAT_OFF, _EXIT, or the signal */
	int lockstat_fd;      /* and where they are written to */
	int concurrency;      /* LWPs of the pool at the start */
	int max_concurrency;  /* and at most (no option: the model's) */
	enum waiting waiting; /* by what the library learns that all LWPs are blocked */
	int aging;            /* seconds after which an idle LWP leaves */
	bool unlock_special;  /* derived: adaptive_unlock or kernel_sleep */
	bool sleep_special;   /* derived: kernel_sleep; from when a thread has allowed
				 asynchronous cancellation on, too (core/cancel.c) */
	bool may_spin;        /* derived: spin at all? (more than one CPU, or spin=always) */
};
extern struct options __options;

/* Which options a model has. */
#define OPT_SPIN 0x1
#define OPT_QUEUE 0x2
#define OPT_UNLOCK 0x4
#define OPT_SCHEDCTL 0x8
#define OPT_CONCURRENCY 0x10
#define OPT_WAITING 0x20
#define OPT_AGING 0x40
#define OPT_SLEEP 0x80
#define OPT_UNPARK 0x100
/* These every model has. */
#define OPT_MALLOC 0x10000
#define OPT_LOCKSTAT 0x20000
#define OPT_LOCKSTAT_FD 0x40000
#define OPT_ALWAYS 0xffff0000

struct thr_schedlock_stats;

/*
 * The operations.  "The lock of q" is what lock(q) takes: a model may have one lock for
 * all queues.  All are called by a thread of the program, none blocks unless it says so.
 */
struct model_ops {
	/* Once, on the first LWP, which runs *__main_thread; its LWP is own_lwp already. */
	void (*init)(void);

	/* Locks of sleep queues. */
	void (*lock)(struct sleepq *q);
	void (*unlock)(struct sleepq *q);
	/* With __one_lock (sleepq.h): waits for it; a timed hold is over (SECTION_TIMED). */
	void (*one_lock_wait)(struct ilock *l);
	void (*timed_hold_over)(void);

	/*
	 * Blocks the calling thread until its wchan is NULL or the deadline has passed.
	 * Called with the lock of q held, gives it up.  The caller stands in a sleep
	 * queue, or has been taken from it already; `wake`, if any, is a thread that the
	 * caller has just taken from q and that is woken on the way.  Returns NULL when
	 * woken, or the object that the caller waited for, from whose queue it has
	 * been removed, when it was too late, or when a cancellation is due and the wait is one
	 * that ends then (sleepq_ends_cancelled).
	 */
	const void *(*block)(struct sleepq *q, deadline_t deadline, struct thread *wake);

	/*
	 * The same for a caller who waits without a deadline, wakes nobody, and has held the
	 * lock since it entered q.  Returns 0, or not at all: so a fast path may end in it.
	 * If a cancellation is due and q is of the first table, the caller exits; there,
	 * wait_arg is __ends_in_sleep for all who come here, and for nobody else.
	 */
	int (*sleep)(struct sleepq *q);

	/*
	 * Wakes the threads of a list (linked by q_next) that have been taken from q.
	 * Called with the lock of q held, gives it up.  From the moment that it is
	 * woken, a thread may do anything, so the caller must be through with the
	 * object: it may no longer exist.
	 */
	void (*wake)(struct sleepq *q, struct thread *list);
	/* The same for one thread, whatever its q_next.  Always 0. */
	int (*wake_one)(struct sleepq *q, struct thread *t);

	/* Before the first wait with a deadline.  0 or an error number. */
	int (*prepare_timed)(void);

	/*
	 * Starts t, which is complete, has a stack and is in the list, at
	 * __thread_main(t).  0; EAGAIN, ENOMEM: no LWP for it.
	 */
	int (*create)(struct thread *t, bool new_lwp, bool suspended);
	/*
	 * Ends the calling thread, which is inside of one critical section: that of the lock
	 * of q, from which it has taken `wake`, which is woken; or, if both are NULL, another.
	 * Clears on_stack when its stack is no longer used.
	 */
	void (*exit)(struct sleepq *q, struct thread *wake) __attribute__((noreturn));
	int (*yield)(void); /* 0, as sched_yield */

	/*
	 * Blocks t where it is, until resume.  t is the caller, or lives and cannot go.
	 * 0; EAGAIN: t is in a critical section, try later; ESRCH: it is exiting; ENOMEM.
	 */
	int (*suspend)(struct thread *t);
	int (*resume)(struct thread *t);
	void (*set_priority)(struct thread *t, int pri);
	/*
	 * The same with the lock of any queue held, in a model that has one lock for all and
	 * schedules threads itself; NULL: the kernel does (sync/protocol.c).
	 */
	void (*change_priority)(struct thread *t, int pri);
	/*
	 * In such a model.  rescheduled, with the lock of any queue held: t's policy and priority
	 * have been set; to_tail: it goes behind its equals, of SCHED_FIFO or SCHED_RR.
	 * prepare_realtime: before an unbound thread has one of these; 0, EAGAIN, ENOMEM.
	 * preempted: the LWP of the caller has been asked to look at the run queue (lwp_preempt in
	 * weft/lwp.h); the caller is like a signal handler.
	 */
	void (*rescheduled)(struct thread *t, bool to_tail);
	int (*prepare_realtime)(void);
	void (*preempted)(void);
	/* Sends a signal to t, which lives and cannot go.  0; EAGAIN: it has not begun, try
	 * later; other error numbers. */
	int (*kill)(struct thread *t, int sig);
	/*
	 * Blocks the caller, who stands in no queue, until a signal of `set` may be pending for it
	 * or for the process, its `caught` is set, or a cancellation is due.  False: the deadline
	 * has passed.  NULL: threads that wait for signals keep their LWPs.
	 */
	bool (*await_signal)(uint64_t set, deadline_t deadline);
	/* The caller has waited so, and takes no more: what there is of set is for others. */
	void (*leave_signals)(uint64_t set);
	/*
	 * t, which lives and cannot go, has a cancellation pending: ends its wait (see
	 * block), or its system call, if that is a point (core/cancel.c).
	 */
	void (*cancel)(struct thread *t);

	/* level 0: as many LWPs as there should be, after suspend has stopped one. */
	int (*set_concurrency)(int level);
	/*
	 * fork: takes the model's locks, and gives them up; in the child instead, where
	 * the calling thread's LWP is the only one, all is as if no other thread had ever
	 * been: no locks, no thread asleep.  __threads_lock is held.
	 */
	void (*before_fork)(void);
	void (*after_fork)(void);
	void (*forked)(bool had_others);

	/* Stacks of detached threads pile up: has them freed (__stacks_trim), now or soon. */
	void (*reap)(void);

	/* NULL if the model has no such lock. */
	void (*schedlock_stats)(struct thr_schedlock_stats *stats);
};

enum scope { SCOPE_EITHER, SCOPE_ALL_BOUND, SCOPE_ALL_UNBOUND };

struct model {
	const char *name;
	const char *like; /* instead of ops: the model whose operations it has */
	const struct model_ops *ops;
	enum scope scope;
	unsigned options; /* OPT_* that it has */
	struct options defaults;
};

extern const struct model *__model;
extern struct model_ops __ops[1]; /* a copy, so that a call of one needs no load */

/*
 * Can the caller give up its LWP while it waits for signals or for a time?  A handler that has
 * interrupted a wait must not stand in a second queue, so its wait keeps the LWP.
 */
static inline bool waits_here(const struct thread *self)
{
	return __ops->await_signal != NULL && !self->bound && self->wchan == NULL;
}

/* core/options.c: from LIBTHREAD and LIBTHREAD_OPTIONS; ends the process if they are bad. */
void __choose_model(char **envp);
