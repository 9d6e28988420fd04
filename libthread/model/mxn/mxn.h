/*
 * mxn.h - model mxn: unbound threads over a pool of LWPs, bound threads beside them (Solaris 2.2 to
 * 8).
 *
 *	schedlock.c	the lock
 *	sched.c		the scheduler: the run queue, blocking, waking, yielding
 *	vain.c		waits that end in vain
 *	pool.c		the LWPs of the pool: new, too many
 *	idle.c		an LWP of the pool that has no thread
 *	grow.c		growth of the pool without a request, and its end
 *	activation.c	model sa: the pool on scheduler activations
 *	claim.c		model sa: idle LWPs, and the threads that they get
 *	waiting.c	model sa: what the kernel learns of the run queue, for time slices
 *	local.c		model sa with several CPUs: yields without the lock
 *	lone.c		the same: semaphores between two threads
 *	life.c		the same: creation, exit and join
 *	queue.c		the same: locks of sleep queues
 *	look.c		model sa: signals that no LWP takes
 *	services.c	the model's LWPs of its own
 *	signal.c	signals of unbound threads, the ASLWP
 *	timeout.c	deadlines of unbound threads
 *	realtime.c	preemption by unbound threads of SCHED_FIFO and SCHED_RR, time slices
 *	mxn.c		creation, exit, suspension; the table of operations
 *	switch.S	the switch from one thread to another
 *
 * One lock, _schedlock, guards all: the run queue, every sleep queue (except in model sa with several
 * CPUs, the locks in struct sleepq are not used), the pool, the time-outs, and all fields of threads that core/tcb.h marks "model".
 * The Solaris papers found this lock to be the bottleneck.
 *
 * The lock is held across a switch.  The thread that leaves acquires it.  The switch itself
 * releases it, on the same LWP, once it runs on the stack of the thread that comes.  So no thread
 * is found in a queue before its registers are saved and its stack is no longer used.
 *
 * Whenever a thread is in the run queue, no LWP of the pool is idle.
 */
#pragma once
#include <thread.h>
#include "../../core/core.h"
#include "../../core/model.h"
#include "../../core/park.h"
#include "../../core/sleepq.h"

/* --- the lock ------------------------------------------------------------------- */

/*
 * One hold in HOLDS_A_SAMPLE is timed, and the lock itself counts the holds.  Below ILOCK_HELD, the
 * lock's word has a number.  Every release increments this number by the same addition that clears
 * ILOCK_HELD.  From SAMPLE_NOW on, the number overflows into that bit after HOLDS_A_SAMPLE holds.
 * Then the lock looks held and its count is 0 (SAMPLE_DUE); the word has this value at no other
 * time.  So the next thread that wants the lock comes to the slow path, acquires the lock there,
 * and has its hold timed (SECTION_TIMED).
 */
#define HOLDS_A_SAMPLE 256
#define SCHEDLOCK_RELEASE (ILOCK_HELD + 1)
#define SAMPLE_DUE ILOCK_HELD
#define SAMPLE_NOW (ILOCK_HELD - HOLDS_A_SAMPLE)

struct schedlock {
	struct ilock lock;
	int64_t since;                    /* when the lock was acquired, if this hold is timed */
	struct thr_schedlock_stats stats; /* acquisitions: up to the last sample */
} __attribute__((aligned(64)));
extern struct schedlock _schedlock;

void __schedlock_wait(struct ilock *l);
void __schedlock_timed(void);

static inline void schedlock(void)
{
	ilock_lock(&_schedlock.lock);
}

/*
 * Releases the lock, and stays in its critical section.  The addition needs no bus lock.  Other CPUs can only set the bit of a
 * held lock that is set already.  __mxn_switch does the same.
 */
static inline void schedlock_drop(void)
{
	__asm__ volatile("addl %1, %0"
			 : "+m"(_schedlock.lock.held)
			 : "i"((int)SCHEDLOCK_RELEASE)
			 : "memory", "cc");
}

static inline void schedunlock(void)
{
	schedlock_drop();
	critical_exit();
}

/* --- the run queue ------------------------------------------------------------------ */

/*
 * The run queue: by priority, and FIFO within a priority.  All threads have priority 0 unless the
 * program sets another; threads of priority 0 are in a list of their own.  `above` says whether
 * there are others at all.  The lists are rings.  A list itself is the link between its last and
 * its first thread; where a thread's link points to the list, the list is given as a thread
 * (run_end).  All fields are under _schedlock.
 */
extern struct runq {
	struct run_list zero;
	uint32_t above;     /* threads of higher priorities, and kept ones */
	uint64_t bitmap[2]; /* priorities that have threads */
	struct run_list pri[THREAD_MAX_PRIORITY + 1]; /* from 1 on; valid if in the bitmap */
	uint64_t kept;                                /* priorities that have kept threads */
	struct run_list kept_of[PRI_REALTIME];        /* valid if in `kept` */
} __runq;

#define SLICE_KEPT 255 /* slice of a kept thread (waiting.c) */

static inline struct thread *run_end(struct run_list *l)
{
	return (struct thread *)((uintptr_t)l - offsetof(struct thread, run_next));
}

int __runq_top(void);
void __runq_push_above(struct thread *t);
void __runq_push_head(struct thread *t); /* before its equals, except for kept ones */
void __runq_remove(struct thread *t);
void __runq_init(void);

static inline void run_list_append(struct run_list *l, struct thread *t)
{
	struct thread *last = l->last;

	t->run_next = run_end(l);
	t->run_prev = last;
	last->run_next = t;
	l->last = t;
}

static inline void run_list_prepend(struct run_list *l, struct thread *t)
{
	t->run_prev = run_end(l);
	t->run_next = l->first;
	l->first->run_prev = t;
	l->first = t;
}

static inline void runq_push(struct thread *t)
{
	if (likely(t->pri == 0))
		run_list_append(&__runq.zero, t);
	else
		__runq_push_above(t);
}

/* t is the first thread of priority 0, and not kept. */
static inline void runq_remove_zero(struct thread *t)
{
	struct thread *next = t->run_next;

	__runq.zero.first = next;
	next->run_prev = run_end(&__runq.zero);
}

/*
 * Can self's LWP switch to the first thread of priority 0 without any change to the LWP or its
 * mask?  If so, this thread is *first, and it has left the run queue.
 */
static inline bool runq_pop_plain(struct thread *self, struct thread **first)
{
	struct thread *t = __runq.zero.first;

	if (unlikely(t == run_end(&__runq.zero) ||
		     (self->special | t->special | __runq.above) != 0))
		return false;
	runq_remove_zero(t);
	*first = t;
	return true;
}

/* Takes out the first thread of the highest priority.  NULL: the queue is empty. */
struct thread *__runq_pop(void);

/* t is off its LWP, has priority 0, and needs nothing except to run. */
static inline bool just_blocked(const struct thread *t)
{
	return t->state_and_special == TS_BLOCKED;
}

/*
 * t has just blocked, and no thread is in the run queue: the thread that wakes t may give t its LWP
 * at once.
 */
static inline bool goes_next(const struct thread *t)
{
	return just_blocked(t) && __runq.above == 0 && __runq.zero.first == run_end(&__runq.zero);
}

/* --- sched.c -------------------------------------------------------------------- */

/* All of these functions: the caller holds _schedlock. */

/* Makes t runnable, which is Blocked or Stopped and unbound.  Returns an LWP to unpark, or 0. */
uint32_t __make_runnable(struct thread *t);
/*
 * Ends t's wait: __make_runnable for any thread that stood in a sleep queue, also a bound thread.
 */
uint32_t __release(struct thread *t);
/*
 * switch.S: __mxn_switch saves the registers of `from` on its stack, and its RSP.  It goes on with
 * `to`, and there releases _schedlock, whose critical section is c.  Returns 0 when `from` has an
 * LWP again.  __mxn_leave: `from` has exited, and its stack is released (on_stack).
 */
#define SAVED_REGISTERS 6 /* above them lies the address at which the thread goes on */
int __mxn_switch(struct thread *from, struct thread *to, struct section *c);
const void *__mxn_switch_null(struct thread *from, struct thread *to, struct section *c) __asm__(
	"__mxn_switch"); /* returns 0 as NULL: a caller may end in this call */
int __local_switch(struct thread *from, struct thread *to, struct section *c, struct ulwp *l);
const void *__local_switch_null(struct thread *from, struct thread *to, struct section *c,
				struct ulwp *l) __asm__("__local_switch");
void __mxn_leave(struct thread *from, struct thread *to, struct section *c)
	__attribute__((noreturn));
void __local_leave_to(struct thread *from, struct thread *to, struct section *c, struct ulwp *l)
	__attribute__((noreturn));

/*
 * For a switch where a thread carries something of its own, or is a scheduler context (signal.c).
 */
void __masks_move(struct thread *from, struct thread *to);     /* signal.c */
void __switch_special(struct thread *from, struct thread *to); /* realtime.c */

/*
 * Does what must be done for priorities and masks before the switch, unless both threads are plain.
 */
static inline void prepare_switch(struct thread *self, struct thread *next)
{
	if (unlikely(self->special | next->special))
		__switch_special(self, next);
}

/* next gets the LWP of the calling thread, whose state has been set. */
static inline struct section *lwp_hand_over(struct thread *self, struct thread *next)
{
	struct ulwp *l = self->lwp;
	struct section *c = self->critical;

	self->lwp = &__nowhere;
	next->lwp = l;
	next->critical = c;
	next->state = TS_ONLWP;
	return c;
}

/*
 * The calling thread gives its LWP to next.  Returns 0 when the caller has an LWP again; _schedlock
 * is then released.
 */
static inline int switch_to(struct thread *self, struct thread *next)
{
	prepare_switch(self, next);
	return __mxn_switch(self, next, lwp_hand_over(self, next));
}

/* switch_to for two plain threads: their `special` is 0.  A context that has nothing to move may be one of them. */
static inline int switch_plain(struct thread *self, struct thread *next)
{
	return __mxn_switch(self, next, lwp_hand_over(self, next));
}

/* The scheduler context of the LWP that an unbound thread is on. */
static inline struct thread *context_of(struct thread *t)
{
	return (struct thread *)((char *)t->lwp - offsetof(struct thread, own_lwp));
}

/*
 * The thread that self's LWP runs when self leaves it: the first of the run queue, or the LWP's
 * scheduler context.
 */
static inline struct thread *next_for(struct thread *self)
{
	struct thread *next = __runq_pop();

	return next != NULL ? next : context_of(self);
}

/* What __mxn_block does in all cases except the plain case. */
const void *__block_special(struct thread *self, deadline_t deadline, struct thread *wake);
const void *__mxn_block(struct sleepq *q, deadline_t deadline, struct thread *wake);
int __mxn_sleep(struct sleepq *q);
void __mxn_wake(struct sleepq *q, struct thread *list);
int __mxn_wake_one(struct sleepq *q, struct thread *t);
int __mxn_yield(void);
void __wake_first(struct thread *t);
void __left_behind(struct thread *t, struct thread *next);

/* Prepares t, which has a stack, to begin in entry() at the first switch to it. */
static inline void mxn_prepare(struct thread *t, void (*entry)(void))
{
	uint64_t *sp = (uint64_t *)((uintptr_t)(t->stack + t->stack_size) & -16ul);

	sp[-1] = 0; /* a return address of 0 ends the backtrace */
	sp[-2] = (uint64_t)entry;
	sp[-3] = 0; /* RBP, as above; the other registers may be anything */
	t->rsp = (uint64_t)(sp - 8);
}

/* --- mxn.c ---------------------------------------------------------------------- */

void __mxn_begin(void); /* where an unbound thread begins */
int __mxn_create(struct thread *t, bool new_lwp, bool suspended);
void __mxn_exit(struct sleepq *q, struct thread *wake) __attribute__((noreturn));

/* --- vain.c --------------------------------------------------------------------- */

/*
 * self's wait was in vain: was it a wait of ops->sleep, which then does not return?  In the second
 * table (sleepq.h) wait_arg has another meaning, or is left from an earlier wait.
 */
static inline bool ends_in_sleep(const struct thread *self)
{
	return self->wait_arg == &__ends_in_sleep && sleepq_is_point(self->q);
}

/*
 * The caller holds _schedlock.  Ends the wait of t in vain.  t is Blocked in a queue and unbound.
 * Returns an LWP to unpark, or 0.
 */
uint32_t __give_up(struct thread *t);
/*
 * The caller is to be cancelled in this wait: wakes `wake`, if it is not NULL, and does not block.
 * Called with _schedlock held; releases it.  Returns what block returns.
 */
const void *__block_in_vain(struct thread *self, struct thread *wake);
/*
 * t is off its LWP, in a switch that it has called to block.  When t comes onto an LWP again, it
 * first calls function().  The call of the switch then returns what function() returned.
 */
void __mxn_call_first(struct thread *t, const void *(*function)(void));

/* --- pool.c --------------------------------------------------------------------- */

void __pool_init(void);
extern void (*__pool_loop)(struct thread *); /* what an LWP of the pool does without a thread */
extern struct thread *__pool_contexts;       /* all, linked by list_next; _schedlock */
/* LWPs that run threads; that the program asks for; that there should be now.  _schedlock */
extern int __pool_size, __pool_asked, __pool_wanted;
/* Adds an LWP to the pool; __pool_size counts it already.  0; EAGAIN, ENOMEM: it does not. */
int __pool_add_lwp(void);
/* Ends the calling LWP, which is in no list.  Called with _schedlock held; releases it. */
void __pool_retire(struct thread *self) __attribute__((noreturn));
/*
 * The caller does not hold _schedlock.  Brings the pool to `level` LWPs; 0: to as many as there
 * should be.
 */
int __pool_set_concurrency(int level);
int __pool_one_more(void);
/*
 * The caller holds _schedlock.  An LWP of the pool has been stopped together with its thread (1),
 * or goes on again (-1).
 */
void __pool_stopped(int change);
extern bool __pool_ready; /* pool and services exist; else __pool_make_ready */
/* 0; EAGAIN, ENOMEM: there is no LWP at all, and none could be created. */
int __pool_make_ready(void);
/* In a child of fork.  self is its only thread. */
void __pool_forked(struct thread *self);

/* --- idle.c --------------------------------------------------------------------- */

extern struct thread *__pool_idle;           /* the latest first; _schedlock (in sa also claim.c) */
#define WAITING_UNTOLD ((struct thread *)64) /* may stand at its end in model sa: waiting.c */
/*
 * The caller holds _schedlock.  Returns an idle LWP, which then counts as idle no longer; or NULL: a
 * thread has to wait.
 */
struct thread *__pool_take_idle(void);
/*
 * What an LWP does when it runs no thread.  self: its scheduler context, which the LWP comes to in
 * a switch, or as it begins.
 */
void __pool_scheduler(struct thread *self) __attribute__((noreturn));

/* --- activation.c ----------------------------------------------------------------- */

void __activation_init(void);
void __activation_forked(struct thread *self);
/* The caller holds _schedlock.  The slice of the thread on l was over before. */
void __slice_owed(struct ulwp *l);
/*
 * Creates a spare, if it could not be created before.  Called by the reaper; returns when the reaper is to
 * call again.
 */
deadline_t __activation_retry(void);

/* --- claim.c ---------------------------------------------------------------------- */

/*
 * The caller holds _schedlock.  take: __pool_take_idle of sa.  any: is __pool_idle not NULL, apart from LWPs at its head
 * that are idle no longer?  Then an LWP is idle, as it seems, or the kernel has not been told (waiting.c).
 */
struct thread *__idle_take(void);
bool __idle_any(void);

/* --- local.c ---------------------------------------------------------------------- */

extern bool __runq_local; /* each LWP of the pool has a list of threads that have yielded */
void __local_init(void);
void __local_forked(void);
/*
 * All of these functions: the caller holds _schedlock.  leave: threads of l enter __runq.  freeze: no thread
 * yields until thaw, so states and LWPs of all threads stay as they are.
 */
struct thread *__local_pop(void); /* a thread that has yielded, or NULL */
void __local_leave(struct ulwp *l);
void __local_leave_blocked(uint32_t id); /* the LWP with this id */
void __local_leave_all(void);
void __local_freeze(void);
void __local_thaw(void);
static inline void local_freeze(void)
{
	if (__runq_local)
		__local_freeze();
}
/* The same, and t, if it sleeps, stands in a sleep queue, or in none any more (__sleepq_taken). */
void __lone_settle(struct thread *t);
static inline void local_freeze_for(struct thread *t)
{
	if (__runq_local) {
		__local_freeze();
		__lone_settle(t);
	}
}
static inline void local_thaw(void)
{
	if (__runq_local)
		__local_thaw();
}

/* --- queue.c ---------------------------------------------------------------------- */

extern bool __queues_apart;       /* each sleep queue has its own lock */
enum { APART_NOT, APART_LEAVES }; /* apart of a Blocked thread; APART_SAVED: offsets.h */
void __queue_init(void);
struct sleepq *__wait_queue(struct thread *t);
/*
 * All of these functions: the caller holds _schedlock, and t is Blocked or about to block, or all run_locks are held too.
 * wait_queue_lock: the queue in which t stands, with its lock.  NULL: t stands in none, or a waker has taken it out.
 * wait_queue_leave: takes t out of its queue, and returns the object for which t has waited; or NULL, as above.
 */
static inline struct sleepq *wait_queue_lock(struct thread *t)
{
	if (__queues_apart)
		return __wait_queue(t);
	return t->wchan != NULL ? t->q : NULL;
}
static inline void wait_queue_unlock(struct sleepq *q)
{
	if (__queues_apart)
		ilock_unlock_inner(&q->lock);
}
static inline const void *wait_queue_leave(struct thread *t)
{
	struct sleepq *q = wait_queue_lock(t);
	const void *obj;

	if (q == NULL)
		return NULL;
	obj = t->wchan;
	__sleepq_remove(q, t);
	if (__queues_apart) {
		t->wchan = &__sleepq_taken;
		ilock_unlock_inner(&q->lock);
	}
	return obj;
}
/* t enters q, and waits for obj. */
static inline void wait_queue_enter(struct sleepq *q, const void *obj, struct thread *t)
{
	if (__queues_apart)
		ilock_lock(&q->lock);
	t->apart = APART_NOT;
	sleepq_enter(q, obj, t, ORDER_FIFO);
	wait_queue_unlock(q);
}

/* --- waiting.c -------------------------------------------------------------------- */

/*
 * The caller holds _schedlock.  __waiting_tell: a thread has to wait, and the kernel does not know of it.
 * __waiting_yielded: the lists of yielded threads are empty no longer.  __waiting_look: a slice is over.
 * __waiting_begin: the pool has an LWP again.  __waiting_leave: an LWP of the pool, not the last, exits.
 */
void __waiting_tell(void);
void __waiting_yielded(void);
void __waiting_look(void);
void __waiting_begin(void);
void __waiting_leave(struct thread *context);
void __waiting_init(void); /* also in a child of fork */
/*
 * The caller holds _schedlock.  t has left its LWP, and its slice is not over.  keep: t enters the run queue, before the threads
 * of its priority.  keep_none: slices have ended; the places of all kept threads are behind the threads of their priorities.
 */
void __slice_keep(struct thread *t);
void __slice_keep_none(void);

/* --- grow.c --------------------------------------------------------------------- */

/* The growing LWP; self is its context.  It has all signals blocked. */
void __grow_main(struct thread *self) __attribute__((noreturn));
/*
 * The caller holds _schedlock.  An LWP goes idle: when has it aged?  NEVER: the program has asked for
 * it.
 */
deadline_t __pool_aging(void);
/*
 * The caller holds _schedlock.  An LWP has aged.  True: it leaves the pool, and is no longer wanted.
 */
bool __pool_aged(void);

/* --- services.c ------------------------------------------------------------------- */

void __services_start(void);
void __services_forked(void);
void __aslwp_poke(void);
void __reap(void);

/* --- signal.c ------------------------------------------------------------------- */

int __mxn_kill(struct thread *t, int sig);
bool __mxn_await_signal(uint64_t set, deadline_t deadline);
/*
 * At least as many threads as stand in a queue of await_signal.  It grows in the hold of _schedlock in which the thread enters, and
 * shrinks after the wait.  A thread that a handler ends stays counted, and in a child of fork the threads of the parent do.
 */
extern unsigned __signal_waiters;
void __mxn_leave_signals(uint64_t set);
/*
 * Signals of the process that may be pending because a thread that takes them is suspended.  The thread may have been made to look,
 * and no other thread then (set by mxn_suspend); or the threads that the library has found were all suspended.  Set with
 * _schedlock held; __mxn_signals_again takes them without a lock.
 */
extern uint64_t __signals_left;
static inline void signals_left(uint64_t set)
{
	if (set != 0)
		__atomic_fetch_or(&__signals_left, set, __ATOMIC_RELAXED);
}
void __mxn_signals_again(void);
void __aslwp_main(struct thread *self) __attribute__((noreturn));
/* The signals for which t waits in await_signal, asleep or about to sleep. */
static inline uint64_t signals_awaited(const struct thread *t)
{
	return t->wchan == &t->sigmask ? *(const uint64_t *)t->wait_arg : 0;
}
/*
 * The caller holds _schedlock.  Make t take signals, which is Blocked, or which is on no LWP and does not block one of
 * them.  Return an LWP to unpark, or 0.
 */
uint32_t __signals_interrupt(struct thread *t);
uint32_t __signals_make_look(struct thread *t);

/* --- look.c --------------------------------------------------------------------- */

/* The caller holds no lock.  look: the kernel has told the LWP with this record.  leave: leave_signals of sa. */
void __signals_look(struct schedctl *sc);
void __signals_leave(uint64_t set);
/* The caller holds _schedlock.  Has self, which is about to block, signals to take first? */
bool __signals_due(struct thread *self);
/*
 * self wakes `wake`, if it is not NULL, takes these signals, and blocks after that.  Releases _schedlock.  Returns what
 * block returns.
 */
const void *__signals_first(deadline_t deadline, struct thread *wake);

/* --- timeout.c ------------------------------------------------------------------ */

int __timeout_prepare(void);
/* The caller holds _schedlock. */
void __timeout_arm(struct thread *t, deadline_t deadline);
void __timeout_cancel(struct thread *t);
void __timeout_forked(void); /* in a child of fork */

/* --- realtime.c ----------------------------------------------------------------- */

#define RR_TICKS (RR_SLICE_NS / WEFT_TICK_NS)

/*
 * The caller holds _schedlock.  A thread of this priority has entered the run queue, or is left
 * there.
 */
void __realtime_look(int pri, bool gives_way);
/*
 * The caller holds _schedlock.  t's priority has changed.  t is in no run queue, although its state
 * may say that it is.
 */
void __realtime_changed(struct thread *t, bool lowered);
/*
 * The caller holds _schedlock, and an LWP is about to run partner.  Returns the thread to run: a
 * real-time thread may have entered the run queue since partner was chosen.
 */
struct thread *__realtime_instead_of(struct thread *partner);
/*
 * Called with _schedlock held; releases it.  The caller leaves its LWP to the first of the run
 * queue.
 */
void __give_up_lwp(struct thread *self, bool to_tail);
void __mxn_give_way(void);
void __mxn_preempted(void);
void __mxn_rescheduled(struct thread *t, bool to_tail);
int __realtime_prepare(void);
bool __realtime_charge(struct thread *self);
void __realtime_preempt(struct thread *self); /* called with _schedlock held; releases it */
void __realtime_forked(void);
