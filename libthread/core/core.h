/*
 * core.h - what the files of core/ and sync/ offer to each other and to the models.
 */
#pragma once
#include "ilock.h"
#include "model.h"
#include "tcb.h"

/* core/deadline.c */
int __deadline(clockid_t clock, const struct timespec *abstime, deadline_t *deadline);

/* core/lwp.c: what the models share about LWPs. */
int __lwp_start(struct thread *t, void (*entry)(struct thread *), uint32_t flags, const char *name);
void __lwp_adopt(struct ulwp *l, struct schedctl *sc);
void __lwp_leave(struct thread *self) __attribute__((noreturn));
void __lwp_unpark_owed(struct ulwp *l, uint32_t id);
int __lwp_try_suspend(struct thread *t);
/*
 * thr_suspend and thr_continue for a thread with an LWP of its own (model.h: suspend, resume).  To
 * stop a stopped thread does nothing.
 */
int __lwp_suspend(struct thread *t);
int __lwp_resume(struct thread *t);
long __lwp_park(deadline_t deadline, uint32_t unpark);
long __lwp_park_watching(deadline_t deadline, uint32_t unpark, uint64_t offset);

/* core/signal.c */
extern uint64_t __base_mask;
void __signals_init(void);
void __sigmask_returns(uint64_t mask);
/* Does a thread change its LWP's mask by a store to the record (core/signal.c)? */
static inline bool masks_published(void)
{
	return __options.waiting == WAITING_ACTIVATION;
}
/* Stores a mask in the caller's record.  Not 0: a system call must look for signals. */
static inline uint64_t mask_publish(struct schedctl *sc, uint64_t mask)
{
	__atomic_store_n(&sc->mask, mask, __ATOMIC_SEQ_CST);
	return sc->pending & ~mask;
}
void __preempt_entry(struct weft_ucontext *uc, uint64_t mask);

/* core/cancel.c */
int __cancelled(void);
void __siglwp_catch(void);
void __cancel_call(uint32_t lwp, const struct thread *t);

/* core/memory.c */
void *__pages_alloc(size_t size);
struct thread *__thread_slots(size_t size, unsigned *n);
struct thread *__thread_take(size_t stack_size, size_t guard_size, void *user_stack);
struct thread *__thread_get(size_t stack_size, size_t guard_size);
void __thread_put(struct thread *t);
#define LWP_KEEPS 16
void __threads_keep_none(struct ulwp *l);
void __stacks_forked(void);
#define STACKS_KEPT 256
extern unsigned __stacks_kept;
void __stacks_trim(void);
/*
 * Are there more stacks than are kept?  Without the lock this is a guess, and __stacks_trim looks
 * again.
 */
static inline bool stacks_many(void)
{
	return unlikely(__stacks_kept > STACKS_KEPT);
}

/* core/ids.c; see ids.h */
extern struct ilock __threads_lock;
/* All locks of threads: no thread comes, goes or is joined. */
void __threads_lock_all(void);
void __threads_unlock_all(void);
void __threads_unlock_all_but(const struct ilock *kept);
/* Called once, before main: threads get many locks. */
void __threads_apart(void);
void __threads_locks_forked(void);

/* core/thread.c, core/join.c; see join.h */
extern char __any_exit;
struct create_args {
	void *stack; /* the program's stack, or NULL: allocated */
	size_t stack_size, guard_size;
	uint8_t detached; /* DETACHED, DAEMON */
	bool bound, new_lwp, suspended;
	bool explicit_sched; /* policy, priority */
	int policy, priority;
};
int __thread_create(const struct create_args *args, void *(*start)(void *), void *arg,
		    unsigned long *id);
int __thread_join(unsigned long id, deadline_t deadline, unsigned long *departed, void **status);
int __thread_detach(unsigned long id);
void __thread_exit(void *status) __attribute__((noreturn));
/*
 * Ends the calling thread where it is.  The caller is a handler that has interrupted the thread
 * outside the library's critical sections.  The thread leaves the queue in which it waits, then
 * calls last(arg), which may block.  No destructor runs, and neither values of keys nor newlib's
 * state are freed, because the thread may be inside malloc.
 */
void __thread_terminate(void (*last)(void *), void *arg) __attribute__((noreturn));
void __thread_first(struct thread *t);
void __thread_main(struct thread *self) __attribute__((noreturn));
/*
 * Calls op(t, arg) for the thread with this id.  The id's lock is held, so the thread cannot exit.
 * Calls op again as long as it returns EAGAIN, because the thread has not quite begun.  Returns
 * op's last result.  ESRCH: no such thread, or it has exited.
 */
int __thread_with(unsigned long id, int (*op)(struct thread *t, void *arg), void *arg);
/* One turn of a loop that waits for another thread, with no lock held.  *turns is 0 at first. */
void __let_others_run(unsigned *turns);

void __threads_forked(struct thread *self);

/* core/service.c */
int __lwp_start_blocked(struct thread *t, void (*entry)(struct thread *), uint32_t flags,
			const char *name);
int __service_start(void (*entry)(struct thread *), const char *name, struct thread **context);
/* Ends the wait of the service LWP of context.  NULL: there is none. */
void __service_poke(struct thread *context);
/* In a child of fork: there is no such LWP any more. */
void __service_forgotten(struct thread *context);

/* core/schedule.c */
bool __sched_policy_known(int policy);
bool __sched_priority_known(int policy, int priority);
int __sched_set(struct thread *t, int policy, int priority, bool to_tail);

/* core/sampler.c: before main; in a child of fork, where __threads_lock is free */
void __sampler_start(void), __sampler_forked(void);

/* lockstat/: before main; in a child of fork */
void __lockstat_start(void), __lockstat_forked(void);

/* sync/shared.c */
void __shared_thread_exit(void);
void __shared_forked(void);

/*
 * sync/protocol.c: sets t's policy and its own priority; the inherited priority is added.  to_tail:
 * t goes behind its equals, unless it inherits a priority from a mutex.  t cannot exit meanwhile.
 */
void __thread_set_sched(struct thread *t, int policy, int pri, bool to_tail);
void __protocol_thread_exit(void);

/* core/tsd.c */
void __tsd_exit(struct thread *self);
void __tsd_forget(struct thread *self); /* forgets its values; they are not freed */
bool __tsd_exists(unsigned key);
void __tsd_forked(void);

/* core/notify.c: in a child of fork, where __threads_lock is free */
void __notify_forked(void);

/* sync/semname.c: in the child of fork */
void __semname_forked(void);

/* aio.c */
void __aio_forked(void);

/* sync/mqueue.c */
void __mq_forked(void);

/* core/newlib.c: around fork; `forked` in the child, before `after`. */
void __newlib_before_fork(void), __newlib_forked(void), __newlib_after_fork(bool child);
