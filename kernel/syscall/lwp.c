/*
 * lwp.c - the system calls on LWPs (after Solaris's _lwp_*(2) and lwp_park).
 * Ids are those of the calling process.
 */
#include <kern/clock.h>
#include <kern/cpu.h>
#include <kern/itimer.h>
#include <kern/proc.h>
#include <kern/sample.h>
#include <kern/sched.h>
#include <kern/syscall.h>
#include <kern/timing.h>
#include <kern/usercopy.h>
#include <weft/signal.h>
#include <weft/time.h>

/*
 * lwp_create(struct lwp_create *): creates an LWP of the process, with the caller's class and
 * priority.  It starts at `entry` with RSP = stack, RDI = arg and FS base = fsbase.  Returns its
 * id.  Also stores the id and the address of the schedctl record in the structure.  May sleep.
 * EFAULT: the structure cannot be read or written; EINVAL: unknown flags, an entry or FS base
 * outside user space; EAGAIN: no memory, or no id left.
 */
int64_t sys_lwp_create(const uint64_t arg[6])
{
	struct lwp_create c;
	struct lwp *l;

	if (copyin(&c, arg[0], sizeof(c)) != 0)
		return -EFAULT;
	if ((c.flags & ~(LWP_DETACHED | LWP_SUSPENDED | LWP_BOUND | LWP_NOPOOL)) ||
	    c.entry >= WEFT_USER_END || c.fsbase >= WEFT_USER_END)
		return -EINVAL;
	int err = lwp_new(curproc(), &c, curlwp(), &l);
	if (err != 0)
		return err;
	/* The structure was readable a moment ago, and may still be read-only.  This write comes
	 * before the LWP runs.  If it fails, the new LWP exits at once. */
	err = copyout(arg[0], &c, sizeof(c));
	if (err != 0) {
		l->flags |= LWP_DETACHED;
		lwp_post_ast(l, AST_EXIT);
	}
	itimer_lwp_new(curproc());
	lwp_start(l);
	return err != 0 ? err : (int64_t)c.id;
}

/* lwp_exit(): ends the calling LWP.  The exit of the last LWP ends the process, with status 0. */
int64_t sys_lwp_exit(const uint64_t arg[6])
{
	lwp_exit_self();
}

/*
 * lwp_wait(id, int *departed): waits until LWP id (0: any) has exited, and frees the id.  0,
 * *departed = its id (departed may be NULL).  Blocks.
 * ESRCH: no such LWP; EINVAL: it is detached; EDEADLK: id is the caller's, or id is 0 and there is
 * no other LWP to wait for; EINTR: a signal; EFAULT: departed (the id is freed all the same).
 */
int64_t sys_lwp_wait(const uint64_t arg[6])
{
	int64_t r = lwp_wait(arg[0]);
	if (r < 0)
		return r;
	int32_t id = r;
	return arg[1] ? copyout(arg[1], &id, sizeof(id)) : 0;
}

/* lwp_self() = the caller's id. */
int64_t sys_lwp_self(const uint64_t arg[6])
{
	return curlwp()->id;
}

/* lwp_detach(id): its exit will free it, without a lwp_wait.  ESRCH: no such LWP; EINVAL: it is
 * detached. */
int64_t sys_lwp_detach(const uint64_t arg[6])
{
	struct proc *p = curproc();
	int err = 0;

	irqstate_t s = spin_lock(&p->lock);
	struct lwp *l = lwp_lock_by_id(p, arg[0]);
	if (l == NULL) {
		err = -ESRCH;
	} else {
		bool zombie = l->state == LWP_ST_ZOMB;
		if (l->flags & LWP_DETACHED)
			err = -EINVAL;
		else
			l->flags |= LWP_DETACHED;
		spin_release(&l->lock);
		if (err == 0 && zombie) {
			list_remove(&l->proc_link);
			lwp_free_zombie(p, l);
		}
		waitq_wake_all(&p->lwp_waiters); /* a waiter for it gets EINVAL or ESRCH */
	}
	spin_unlock(&p->lock, s);
	return err;
}

/*
 * lwp_suspend(id): after the call returns, LWP id executes no user instruction until
 * lwp_continue.  A blocked LWP stops when it would return from its system call.  Waits until
 * the target's CPU has handled an interrupt.  Other LWPs take the signals for the process for which
 * the target had been chosen.  Takes l->lock and p->lock, one after the other.
 * ESRCH: no such LWP, or it has exited.
 *
 * *Race:* a sender has chosen the target for a signal of the process, and the target is suspended before it takes the
 * signal; *without this:* the signal stays pending although another LWP would take it; *closed by:* sig_choose_again,
 * behind the store of AST_STOP.  A sender that chooses later sees AST_STOP, because it holds p->lock, as sig_choose_again.
 */
int64_t sys_lwp_suspend(const uint64_t arg[6])
{
	struct proc *p = curproc();
	uint32_t id = arg[0];

	if (id == curlwp()->id) {
		lwp_post_ast(curlwp(), AST_STOP);
		sig_choose_again(p);
		return 0; /* the caller stops on its way to user mode */
	}
	for (bool posted = false;; posted = true) {
		irqstate_t s = irq_save();
		struct lwp *l = lwp_lock_by_id(p, id);
		if (l == NULL || l->state == LWP_ST_ZOMB) {
			if (l)
				spin_release(&l->lock);
			irq_restore(s);
			return posted ? 0 : -ESRCH;
		}
		if (!posted)
			__atomic_fetch_or(&l->ast, AST_STOP, __ATOMIC_SEQ_CST);
		bool stopped = l->state != LWP_ST_ONPROC || !(l->ast & AST_STOP);
		struct cpu *c = cpus[l->cpu];
		spin_release(&l->lock);
		irq_restore(s);
		if (!posted)
			sig_choose_again(p);
		if (stopped)
			return 0;
		if (!posted)
			timing_kick(c);
		/* l is on another CPU, which enters the kernel by the interrupt.  *Race:* l
		 * suspends the caller meanwhile; *without this:* both wait for ever; *closed by:*
		 * an LWP that is to stop does so in this loop, and looks again when it is
		 * continued.  The state of l is read without its lock, as a hint, because a loop
		 * over the lock would keep the lock from the LWP that is to change the state. */
		do {
			if (curlwp()->ast & AST_EXIT)
				return -EINTR;
			if (curlwp()->ast & AST_STOP) {
				s = irq_save();
				lwp_stop_self();
				irq_restore(s);
			}
			preempt_point();
			cpu_pause();
		} while (__atomic_load_n(&l->state, __ATOMIC_RELAXED) == LWP_ST_ONPROC &&
			 (l->ast & AST_STOP));
	}
}

/*
 * lwp_continue(id): undoes lwp_suspend.  The LWP may take signals that were pending for the process while
 * no LWP took them.  Takes l->lock and p->lock, one after the other.
 * ESRCH: no such LWP, or it has exited.
 */
int64_t sys_lwp_continue(const uint64_t arg[6])
{
	struct proc *p = curproc();
	irqstate_t s = irq_save();
	struct lwp *l = lwp_lock_by_id(p, arg[0]);
	if (l == NULL || l->state == LWP_ST_ZOMB) {
		if (l)
			spin_release(&l->lock);
		irq_restore(s);
		return -ESRCH;
	}
	lwp_clear_stop_locked(l, AST_STOP);
	spin_unlock(&l->lock, s);
	sig_choose_again(p);
	return 0;
}

static inline __attribute__((always_inline)) int lwp_unpark_id(uint32_t id, int place)
{
	irq_off();
	struct lwp *l = lwp_lock_by_id(curproc(), id);
	if (l != NULL) {
		lwp_unpark_locked(l, place);
		spin_release(&l->lock);
	}
	irq_on();
	return l != NULL ? 0 : -ESRCH;
}

/*
 * Parks while the offset of CLOCK_REALTIME is `offset`.  *Race:* clock_settime changes the offset
 * and looks for watchers, while the LWP is about to park; *without this:* the LWP sleeps until a
 * time of the old clock; *closed by:* the LWP sets the flag before it reads the offset, and
 * clock_settime writes the offset before it reads the flags.  Both are sequentially consistent, so
 * one of them sees the other's write.
 */
static int park_watching(hrtime_t deadline, hrtime_t offset)
{
	struct lwp *l = curlwp();
	int err = 0;

	__atomic_store_n(&l->clock_watch, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&timepage->boot_realtime, __ATOMIC_SEQ_CST) == offset)
		err = lwp_park(deadline);
	__atomic_store_n(&l->clock_watch, 0, __ATOMIC_RELAXED);
	return err;
}

/* lwp_park with LWP_PARK_CLOCK. */
static int64_t __attribute__((noinline)) park_by_clock(const uint64_t arg[6])
{
	uint32_t id = arg[1] & ~LWP_PARK_CLOCK;
	hrtime_t deadline, offset;

	int err = copyin_deadline(arg[0], &deadline);
	if (err != 0)
		return err;
	if (copyin(&offset, arg[0] + offsetof(struct lwp_park_clock, offset), sizeof(offset)) != 0)
		return -EFAULT;
	if (id == 0)
		return park_watching(deadline, offset);
	err = lwp_unpark_id(id, PLACE_HANDOFF);
	if (err != 0)
		return err;
	uint64_t slept = curlwp()->nvcsw;
	err = park_watching(deadline, offset);
	if (curlwp()->nvcsw == slept)
		sched_handoff_failed();
	return err;
}

/* The other cases of lwp_park. */
static int64_t __attribute__((noinline)) park_in_general(const uint64_t arg[6])
{
	hrtime_t deadline;

	int err = copyin_deadline_inline(arg[0], &deadline);
	if (err != 0)
		return err;
	if ((uint32_t)arg[1] == 0)
		return lwp_park(deadline);
	err = lwp_unpark_id(arg[1], PLACE_HANDOFF);
	if (err != 0)
		return err;
	uint64_t slept = curlwp()->nvcsw;
	err = lwp_park(deadline);
	if (curlwp()->nvcsw == slept)
		sched_handoff_failed();
	return err;
}

/*
 * lwp_park(deadline, id): unparks LWP id (0: none) and blocks the caller until an unpark of the
 * caller.  Returns at once if there was an unpark since its last park.  deadline: absolute
 * CLOCK_MONOTONIC, or NULL.  With LWP_PARK_CLOCK in id, deadline points at a struct
 * lwp_park_clock.  clock_settime then ends the park; the park returns at once if the offset has
 * changed already.  Blocks.
 * ETIMEDOUT: the deadline; EINTR: a signal (the caller must treat it as spurious); EFAULT,
 * EINVAL: deadline; ESRCH: no LWP id.  After the last three errors no LWP is unparked.
 */
int64_t sys_lwp_park(const uint64_t arg[6])
{
	if (__builtin_expect(arg[0] == 0 && (uint32_t)arg[1] == 0, 1))
		return lwp_park(HRTIME_NEVER);
	if (__builtin_expect((arg[1] & LWP_PARK_CLOCK) != 0, 0))
		return park_by_clock(arg);
	return park_in_general(arg);
}

/* lwp_cancel(id, thread, pc): see weft/lwp.h.  ESRCH: no such LWP. */
int64_t sys_lwp_cancel(const uint64_t arg[6])
{
	irqstate_t s = irq_save();
	struct lwp *l = lwp_lock_by_id(curproc(), arg[0]);
	if (l == NULL) {
		irq_restore(s);
		return -ESRCH;
	}
	lwp_cancel_locked(l, arg[1], arg[2]);
	spin_unlock(&l->lock, s);
	return 0;
}

/* lwp_preempt(id): see weft/lwp.h.  ESRCH: no such LWP. */
int64_t sys_lwp_preempt(const uint64_t arg[6])
{
	irqstate_t s = irq_save();
	struct lwp *l = lwp_lock_by_id(curproc(), arg[0]);
	if (l == NULL) {
		irq_restore(s);
		return -ESRCH;
	}
	lwp_post_ast_locked(l, AST_PREEMPT);
	spin_unlock(&l->lock, s);
	return 0;
}

/* lwp_unpark(id): gives LWP id its permit.  ESRCH: no such LWP. */
int64_t sys_lwp_unpark(const uint64_t arg[6])
{
	return lwp_unpark_id(arg[0], PLACE_ANY);
}

/*
 * lwp_unpark_all(ids, n): unparks n LWPs in one system call.
 * EINVAL: n is larger than the number of ids; EFAULT: ids (LWPs before the bad page have been
 * unparked); ESRCH: one or more LWPs do not exist (the others have been unparked).
 */
int64_t sys_lwp_unpark_all(const uint64_t arg[6])
{
	uint32_t ids[64];
	int64_t n = arg[1];
	int err = 0;

	if (n < 0 || n > LWP_ID_MAX)
		return -EINVAL;
	for (int64_t done = 0; done < n;) {
		unsigned some = MIN((size_t)(n - done), ARRAY_LEN(ids));
		if (copyin(ids, arg[0] + done * sizeof(ids[0]), some * sizeof(ids[0])) != 0)
			return -EFAULT;
		for (unsigned i = 0; i < some; i++)
			if (lwp_unpark_id(ids[i], PLACE_ANY) != 0)
				err = -ESRCH;
		done += some;
		preempt_point();
	}
	return err;
}

/* lwp_schedctl() = the address of the caller's struct schedctl. */
int64_t sys_lwp_schedctl(const uint64_t arg[6])
{
	return curlwp()->sc_user;
}

/* EINTR: a signal.  Blocks. */
static inline __attribute__((always_inline)) int sleep_until(hrtime_t when)
{
	struct lwp *l = curlwp();

	while (time_now() < when) {
		irqstate_t s = spin_lock(&l->lock);
		int reason = lwp_sleep_locked(l, NULL, "sleep", SLEEP_INTR, when);
		irq_restore(s);
		if (reason == WAKE_INTR && sig_interrupted())
			return -EINTR;
	}
	return 0;
}

/* Out of the way of all other sleeps. */
static int __attribute__((noinline, cold)) sleep_sampled(uint64_t ts)
{
	struct sample sample;
	hrtime_t when;
	int err = copyin_deadline(ts, &when);

	if (err != 0)
		return err;
	sample_arm(&sample, when);
	err = sleep_until(when);
	sample_end(&sample);
	return err;
}

/*
 * lwp_sleep(clock, flags, ts): sleeps for ts, or until ts with LWP_SLEEP_ABSTIME.  Clocks:
 * WEFT_CLOCK_MONOTONIC, WEFT_CLOCK_REALTIME.  A point in time of WEFT_CLOCK_REALTIME moves when
 * that clock is set.  LWP_SLEEP_SAMPLE goes with a point in time of WEFT_CLOCK_MONOTONIC.  Blocks.
 * EINVAL: clock, flags, or the time is not valid; EFAULT: ts; EINTR: a handler has been called, or a cancellation is due.
 */
int64_t sys_lwp_sleep(const uint64_t arg[6])
{
	bool again = call_is_again();
	hrtime_t when;

	if (arg[2] == 0)
		return -EFAULT;
	if ((arg[0] != WEFT_CLOCK_MONOTONIC && arg[0] != WEFT_CLOCK_REALTIME) ||
	    (arg[1] & ~(uint64_t)LWP_SLEEP_ABSTIME)) {
		if (arg[0] != WEFT_CLOCK_MONOTONIC ||
		    arg[1] != (LWP_SLEEP_ABSTIME | LWP_SLEEP_SAMPLE))
			return -EINVAL;
		return sleep_sampled(arg[2]);
	}
	int err = copyin_deadline(arg[2], &when);
	if (err != 0)
		return err;
	if (!(arg[1] & LWP_SLEEP_ABSTIME))
		when = call_deadline(when, again);
	else if (arg[0] == WEFT_CLOCK_REALTIME)
		return clock_sleep_until(when);
	return sleep_until(when);
}
