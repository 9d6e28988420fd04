/*
 * model.h - what a model is: how threads are mapped to LWPs, as a table of operations.
 *
 * The environment variable LIBTHREAD chooses the model once, before main.  LIBTHREAD_OPTIONS sets
 * its mechanisms (core/options.c).  core/ and sync/ know models by this file alone, and a model
 * knows no other model.
 */
#pragma once
#include <semaphore.h>
#include "ilock.h"

enum spin { SPIN_ADAPTIVE, SPIN_ALWAYS, SPIN_NEVER };
enum waiting { WAITING_UPCALL, WAITING_SIGNAL, WAITING_NONE, WAITING_EARLY, WAITING_ACTIVATION };

enum { LOCKSTAT_OFF = 0, LOCKSTAT_EXIT = 1000 };

enum { SEMA_KERNEL = 0x40, SEMA_MODEL = 0x80 }; /* no flags of sem_t */

/* Set before main, then constant, except sleep_special. */
struct options {
	enum spin spin;       /* a mutex is held: spin while the owner is on a CPU ... */
	bool fifo;            /* sleep queues: first in, first out; else near-LIFO */
	bool adaptive_unlock; /* let a spinner take the mutex instead of waking a sleeper */
	bool schedctl;        /* preemption control */
	bool kernel_sleep;    /* objects have their queues in the kernel, not in the library */
	bool separate_unpark; /* to wake and then block takes two system calls */
	bool spin_shared;     /* no option: a process-shared mutex too (unless spin=never) */
	bool mt_malloc;       /* malloc is malloc/mt.c's, not newlib's */
	int lockstat;         /* lock statistics: LOCKSTAT_OFF, _EXIT, or the signal */
	int lockstat_fd;      /* and the descriptor to which they are written */
	int sample;           /* milliseconds between two samples of the threads, or 0 */
	int concurrency;      /* LWPs of the pool at the start */
	int max_concurrency;  /* their limit (no option: the model's) */
	enum waiting waiting; /* how the library learns that all LWPs are blocked */
	int aging;            /* seconds after which an idle LWP leaves */
	bool idle_spin;       /* an LWP of the pool spins for a moment before it sleeps */
	bool idle_leave;      /* ... sleeps as any LWP does, and does not keep its CPU */
	bool slices;          /* threads that wait for an LWP end the slices of others */
	bool hand_over;       /* an LWP that is to leave its CPU hands its thread over first */
	bool surplus_leaves; /* an LWP that unblocks while all CPUs are in use puts its thread into the queue */
	bool own_queues;      /* an LWP has a run queue of its own, besides the common one */
	bool own_sleepqs;     /* each sleep queue has a lock of its own */
	bool lone;            /* partners at semaphores, creators and joiners need no common lock */
	bool aslwp;           /* in sa: an ASLWP takes the signals to their threads, as in mxn */
	bool unlock_special;  /* derived: adaptive_unlock or kernel_sleep */
	uint8_t sema_special; /* derived: SEMA_KERNEL: kernel_sleep; SEMA_MODEL: set by the model */
	bool sleep_special;   /* derived: kernel_sleep; also set when a thread first
				 allows asynchronous cancellation (core/cancel.c) */
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
#define OPT_IDLE 0x200
#define OPT_SLICES 0x400
#define OPT_PREEMPTED 0x800
#define OPT_UNBLOCKED 0x1000
#define OPT_RUNQUEUE 0x2000
#define OPT_LONE 0x4000
#define OPT_SIGNALS 0x8000
#define OPT_SLEEPQ 0x10000
/* Every model has these. */
#define OPT_MALLOC 0x20000
#define OPT_LOCKSTAT 0x40000
#define OPT_LOCKSTAT_FD 0x80000
#define OPT_SAMPLE 0x100000
#define OPT_ALWAYS 0xfffe0000

struct thr_schedlock_stats;

/*
 * The operations.  "The lock of q" is what lock(q) acquires: a model may have one lock for all
 * queues.  A thread of the program calls them.  They do not block, except where the comment says
 * so.
 */
struct model_ops {
	/*
	 * Called once, on the first LWP.  This LWP runs *__main_thread, and own_lwp is already set
	 * to it.
	 */
	void (*init)(void);

	/* Locks of sleep queues. */
	void (*lock)(struct sleepq *q);
	void (*unlock)(struct sleepq *q);
	/*
	 * With __one_lock (sleepq.h) or __scheduler_lock.  one_lock_wait waits for the lock.
	 * timed_hold_over: a timed hold is over (SECTION_TIMED).
	 */
	void (*one_lock_wait)(struct ilock *l);
	void (*timed_hold_over)(void);

	/*
	 * Blocks the calling thread until its wchan is NULL or the deadline has passed.  Called
	 * with the lock of q held; releases it.  The caller stands in a sleep queue, or has been
	 * taken from it already.  `wake`, if not NULL, is a thread that the caller has just taken
	 * from q; it is woken on the way.  Returns NULL when the caller was woken.  Returns the
	 * object for which the caller waited when the deadline has passed, or when a cancellation
	 * is due and ends the wait (sleepq_ends_cancelled).  Then the caller has been removed from
	 * the object's queue.
	 */
	const void *(*block)(struct sleepq *q, deadline_t deadline, struct thread *wake);

	/*
	 * block() for a caller that waits without a deadline, wakes no thread, and has held the
	 * lock since it entered q.  Returns 0, or does not return, so a fast path may end in this
	 * call.  If a cancellation is due and q is of the first table, the caller exits.  Every
	 * caller of sleep sets wait_arg to __ends_in_sleep if q is of the first table; no other
	 * waiter there does.
	 */
	int (*sleep)(struct sleepq *q);

	/*
	 * Wakes the threads of a list (linked by q_next) that have been taken from q.  Called with
	 * the lock of q held; releases it.  A woken thread may do anything at once.  So the caller
	 * must no longer use the object, which may no longer exist.
	 */
	void (*wake)(struct sleepq *q, struct thread *list);
	/* wake for one thread, whatever its q_next is.  Always returns 0. */
	int (*wake_one)(struct sleepq *q, struct thread *t);

	/*
	 * NULL unless the model has fast paths of its own for semaphores (SEMA_MODEL, sync/sema.c).  sema_wait: the
	 * caller has found no unit, and blocks as in sem_wait; q is the semaphore's queue.  sema_post: the word is
	 * `name`, larger than LWP_SEMA_WAITING: a thread waits alone, in no queue.  Both end in `ordinary` if there is
	 * no fast path now.  sema_settle: a thread that waits alone enters the queue.  The caller holds no lock of a queue.
	 */
	int (*sema_wait)(sem_t *s, struct sleepq *q, int (*ordinary)(sem_t *));
	int (*sema_post)(sem_t *s, uint32_t name, int (*ordinary)(sem_t *));
	void (*sema_settle)(sem_t *s);

	/*
	 * Called before the first wait with a deadline.  Returns 0 or an error number.  A child of fork that is not
	 * prepared, as its parent was, sets __timed_forgotten (core/signal.c).
	 */
	int (*prepare_timed)(void);

	/*
	 * Starts t at __thread_main(t).  t is complete, has a stack and is in the list.  Returns 0;
	 * EAGAIN, ENOMEM: there is no LWP for it.
	 */
	int (*create)(struct thread *t, bool new_lwp, bool suspended);
	/*
	 * Ends the calling thread, which is inside one critical section.  Either this is the
	 * section of the lock of q, and the caller has taken `wake` from q; then `wake` is woken.
	 * Or both arguments are NULL, and it is another section.  Clears on_stack when the caller's
	 * stack is no longer used.
	 */
	void (*exit)(struct sleepq *q, struct thread *wake) __attribute__((noreturn));
	/*
	 * NULL, except perhaps in a model that has called __threads_apart (core.h).  join_alone: the caller has claimed t, and waits without
	 * a deadline until t exits, in no queue.  Called with lock held, of t's id; releases it.  Returns what block returns;
	 * or `lock`, which is still held: there is no fast path now.  exit_alone: releases lock, and ends
	 * the calling thread.  The joiner may wait in join_alone.  Returns, with lock held, if there is no fast path now.
	 * join_settle: the caller holds the lock of the id for which the joiner waits, and no lock of a queue.  If the
	 * joiner waits in join_alone, it enters the queue.
	 */
	const void *(*join_alone)(struct thread *t, struct ilock *lock);
	void (*exit_alone)(struct thread *joiner, struct ilock *lock);
	void (*join_settle)(struct thread *joiner);

	int (*yield)(void); /* always 0, as sched_yield */

	/*
	 * Stops t where it is, until resume.  t is the caller, or a thread that has not exited and
	 * cannot exit now.  Returns 0; EAGAIN: t is in a critical section, try later; ESRCH: it is
	 * exiting; ENOMEM.
	 */
	int (*suspend)(struct thread *t);
	int (*resume)(struct thread *t);
	void (*set_priority)(struct thread *t, int pri);
	/*
	 * set_priority for a caller that holds the lock of priorities.  Only a model that schedules
	 * threads itself has it.  NULL: the kernel schedules (sync/protocol.c).
	 */
	void (*change_priority)(struct thread *t, int pri);
	/*
	 * The lock of priorities, in such a model.  It comes before the locks of queues.  NULL: it is the
	 * one lock of all queues.
	 */
	void (*priorities_lock)(void);
	void (*priorities_unlock)(void);
	/*
	 * These three are for such a model too.  rescheduled: t's policy and priority have been
	 * set; the caller holds the lock of priorities.  to_tail: t goes behind its equals, if it
	 * has SCHED_FIFO or SCHED_RR.  prepare_realtime: called before an unbound thread has one of
	 * these policies; 0, EAGAIN, ENOMEM.  preempted: the LWP of the caller has been asked to
	 * look at the run queue (lwp_preempt in weft/lwp.h); the caller is like a signal handler.
	 */
	void (*rescheduled)(struct thread *t, bool to_tail);
	int (*prepare_realtime)(void);
	void (*preempted)(void);
	/*
	 * Sends a signal to t, which has not exited and cannot exit now.  Returns 0; EAGAIN: t has
	 * not begun, try later; other error numbers.
	 */
	int (*kill)(struct thread *t, int sig);
	/*
	 * Blocks the caller, which stands in no queue.  The wait ends when a signal of `set` may be
	 * pending for the caller or for the process, when its `caught` is set, or when a
	 * cancellation is due.  False: the deadline has passed.  NULL: threads that wait for
	 * signals keep their LWPs.
	 */
	bool (*await_signal)(uint64_t set, deadline_t deadline);
	/*
	 * The caller may have waited in await_signal, and takes no more signals, or none for a time.  Other
	 * threads may take what is pending of set.
	 */
	void (*leave_signals)(uint64_t set);
	/*
	 * A thread has been suspended, or goes on.  Other threads may have to take the signals of the process
	 * that it was to take; or it may take signals that no other thread took.  No lock held.  NULL: the
	 * kernel chooses again.
	 */
	void (*signals_again)(void);
	/*
	 * t, which has not exited and cannot exit now, has a cancellation pending.  Ends t's wait
	 * (see block), or its system call if that is a cancellation point (core/cancel.c).
	 */
	void (*cancel)(struct thread *t);

	/*
	 * level 0: brings the number of LWPs to what it should be, after suspend has stopped one.
	 */
	int (*set_concurrency)(int level);
	/*
	 * For fork, and for a sample of the threads.  before_fork acquires the model's locks,
	 * after_fork releases them in the parent.  forked is called in the child, where the calling
	 * thread's LWP is the only one.  After it, all is as if there had never been another
	 * thread: no lock is held, no thread sleeps.  The caller holds all locks of threads.
	 */
	void (*before_fork)(void);
	void (*after_fork)(void);
	void (*forked)(bool had_others);

	/* Many stacks of detached threads are kept: has them freed (__stacks_trim), now or soon. */
	void (*reap)(void);

	/* NULL if the model has no such lock. */
	void (*schedlock_stats)(struct thr_schedlock_stats *stats);
};

enum scope { SCOPE_EITHER, SCOPE_ALL_BOUND, SCOPE_ALL_UNBOUND };

struct model {
	const char *name;
	const char *like; /* instead of ops: the model with the same operations */
	const struct model_ops *ops;
	enum scope scope;
	unsigned options; /* OPT_* that the model has */
	struct options defaults;
};

extern struct ilock
	*__scheduler_lock; /* the model's, if each queue has a lock of its own; set before main */
extern const struct model *__model;
extern struct model_ops __ops[1]; /* a copy, so that a call of one needs no load */

/*
 * Can the caller leave its LWP while it waits for signals or for a time?  A handler that has
 * interrupted a wait must not enter a second queue, so its wait keeps the LWP.
 */
static inline bool waits_here(const struct thread *self)
{
	return __ops->await_signal != NULL && !self->bound && self->wchan == NULL;
}

extern bool __timed_forgotten; /* the only thread of a child sets it, and clears it */

/* core/options.c: from LIBTHREAD and LIBTHREAD_OPTIONS; ends the process if they are bad. */
void __choose_model(char **envp);
