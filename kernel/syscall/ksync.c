/*
 * ksync.c - the system calls on locks in user memory (weft/ksync.h; after Solaris's
 * _lwp_mutex_lock(2), _lwp_cond_wait(2), _lwp_sema_wait(2)).  The calls on records of robust
 * mutexes are in sync/robust.c.
 *
 * Lock errors: EINVAL: the lock is misaligned; EFAULT: it does not lie in memory that the
 * process may write; ENOMEM: there is no memory for a copy of its page.
 *
 * A deadline is an absolute CLOCK_MONOTONIC time.  A deadline in the past is not an error: the call
 * still acquires a lock or unit that is free.
 */
#include <kern/clock.h>
#include <kern/proc.h>
#include <kern/syscall.h>
#include "../sync/ucond.h"
#include "../sync/urwlock.h"

/*
 * lwp_mutex_lock(m, owner): acquires m; sleeps while another owner has it.  Blocks.
 * Lock errors; EOWNERDEAD: acquired, although its last owner died with it; ENOTRECOVERABLE: not
 * acquired, because it can never be acquired again; EDEADLK: the caller has it (with ERRORCHECK;
 * without, the caller sleeps for ever); EINTR: a signal.
 */
int64_t sys_lwp_mutex_lock(const uint64_t arg[6])
{
	return umutex_lock(arg[0], umutex_owner(arg[1]), HRTIME_NEVER, true);
}

/*
 * lwp_mutex_trylock(m, owner): the same without sleeping.
 * Lock errors; EOWNERDEAD, ENOTRECOVERABLE, EDEADLK: as for lwp_mutex_lock; EBUSY: another owner
 * has it.
 */
int64_t sys_lwp_mutex_trylock(const uint64_t arg[6])
{
	return umutex_lock(arg[0], umutex_owner(arg[1]), 0, false);
}

/*
 * lwp_mutex_timedlock(m, owner, deadline): the same until a deadline.  Blocks.
 * Errors of lwp_mutex_lock; ETIMEDOUT: the deadline; EINVAL, EFAULT: also the deadline.
 */
int64_t sys_lwp_mutex_timedlock(const uint64_t arg[6])
{
	hrtime_t deadline;

	int err = copyin_deadline(arg[2], &deadline);
	return err != 0 ? err : umutex_lock(arg[0], umutex_owner(arg[1]), deadline, true);
}

/*
 * lwp_mutex_unlock(m, owner): releases m and wakes its first sleeper.  If OWNERDEAD is set, m
 * becomes NOTRECOVERABLE.
 * Lock errors; EPERM: the caller does not have m.
 */
int64_t sys_lwp_mutex_unlock(const uint64_t arg[6])
{
	return umutex_unlock(arg[0], umutex_owner(arg[1]));
}

/*
 * lwp_cond_wait(c, m, owner): releases m and sleeps until c is signalled.  For a signaller that
 * holds m, this is one step.  Returns without m: the caller acquires m again, and can mostly do
 * so without a system call.  In a process that exits, a signal goes to another waiter.  Blocks.
 * Lock errors; EPERM: the caller does not have m; EINTR: a signal.
 */
int64_t sys_lwp_cond_wait(const uint64_t arg[6])
{
	return ucond_wait(arg[0], arg[1], umutex_owner(arg[2]), HRTIME_NEVER);
}

/*
 * lwp_cond_timedwait(c, m, owner, deadline): the same until a deadline.  Blocks.
 * Errors of lwp_cond_wait; ETIMEDOUT: the deadline; EINVAL, EFAULT: also the deadline (m is not
 * released in this case).
 */
int64_t sys_lwp_cond_timedwait(const uint64_t arg[6])
{
	hrtime_t deadline;

	int err = copyin_deadline(arg[3], &deadline);
	return err != 0 ? err : ucond_wait(arg[0], arg[1], umutex_owner(arg[2]), deadline);
}

/*
 * lwp_cond_signal(c): wakes the first sleeper of c, if there is any.
 * EINVAL: c is misaligned; EFAULT: it cannot be read.
 */
int64_t sys_lwp_cond_signal(const uint64_t arg[6])
{
	return ucond_signal(arg[0]);
}

/*
 * lwp_cond_broadcast(c): wakes all sleepers of c, in their order.
 * EINVAL: c is misaligned; EFAULT: it cannot be read.
 */
int64_t sys_lwp_cond_broadcast(const uint64_t arg[6])
{
	return ucond_broadcast(arg[0]);
}

/*
 * lwp_sema_wait(s): takes a unit; sleeps until there is one.  Blocks.
 * Lock errors; EINVAL: also unknown flags; EINTR: a signal.
 */
int64_t sys_lwp_sema_wait(const uint64_t arg[6])
{
	return usema_wait(arg[0], HRTIME_NEVER, true);
}

/*
 * lwp_sema_trywait(s): the same without sleeping.
 * Lock errors; EINVAL: also unknown flags; EAGAIN: there is no unit.
 */
int64_t sys_lwp_sema_trywait(const uint64_t arg[6])
{
	return usema_wait(arg[0], 0, false);
}

/*
 * lwp_sema_timedwait(s, deadline): the same until a deadline.  Blocks.
 * Errors of lwp_sema_wait; ETIMEDOUT: the deadline; EINVAL, EFAULT: also the deadline.
 */
int64_t sys_lwp_sema_timedwait(const uint64_t arg[6])
{
	hrtime_t deadline;

	int err = copyin_deadline(arg[1], &deadline);
	return err != 0 ? err : usema_wait(arg[0], deadline, true);
}

/*
 * lwp_sema_post(s): hands a unit to the first waiter, or adds it to the value.
 * Lock errors; EINVAL: also unknown flags; EOVERFLOW: the value is LWP_SEMA_MAX.
 */
int64_t sys_lwp_sema_post(const uint64_t arg[6])
{
	return usema_post(arg[0]);
}

/*
 * lwp_rwlock_rdlock(l, flags, deadline): acquires l for reading; sleeps while a writer has it or
 * an LWP waits for it.  With LWP_RWLOCK_AGAIN, for a caller that may have it for reading already,
 * sleeps only while a writer has it.  deadline NULL: for ever.  Blocks.
 * Lock errors; EINVAL, EFAULT: also the deadline, or flags; EAGAIN: too many readers; ETIMEDOUT:
 * the deadline; EINTR: a signal.
 */
int64_t sys_lwp_rwlock_rdlock(const uint64_t arg[6])
{
	hrtime_t deadline;

	if ((uint32_t)arg[1] & ~LWP_RWLOCK_AGAIN)
		return -EINVAL;
	int err = copyin_deadline(arg[2], &deadline);
	return err != 0 ? err : urwlock_read(arg[0], arg[1] & LWP_RWLOCK_AGAIN, deadline);
}

/*
 * lwp_rwlock_wrlock(l, deadline): the same for writing; sleeps while l is held.  Blocks.
 * Lock errors; EINVAL, EFAULT: also the deadline; ETIMEDOUT: the deadline; EINTR: a signal.
 */
int64_t sys_lwp_rwlock_wrlock(const uint64_t arg[6])
{
	hrtime_t deadline;

	int err = copyin_deadline(arg[1], &deadline);
	return err != 0 ? err : urwlock_write(arg[0], deadline);
}

/*
 * lwp_rwlock_unlock(l): releases the writer's hold, or one reader's, and hands l to its
 * sleepers.  These are the first sleeper, if it is a writer, or all readers before the first
 * writer.
 * Lock errors; EPERM: l is free.
 */
int64_t sys_lwp_rwlock_unlock(const uint64_t arg[6])
{
	return urwlock_unlock(arg[0]);
}

/*
 * lwp_barrier_wait(b, cycle, flags): arrives at b, of which `cycle` cycles have been completed,
 * and sleeps until the present cycle is completed.  1 for the last LWP to arrive, 0 for the others.
 * Blocks.
 * Lock errors; EINVAL: also flags, the flags of the barrier, or its count is 0; EAGAIN: another
 * cycle has begun, and the caller is not counted; EINTR: a signal (the caller has been counted, and
 * calls again with LWP_BARRIER_ARRIVED).
 */
int64_t sys_lwp_barrier_wait(const uint64_t arg[6])
{
	if ((uint32_t)arg[2] & ~LWP_BARRIER_ARRIVED)
		return -EINVAL;
	return ubarrier_wait(arg[0], arg[1], arg[2] & LWP_BARRIER_ARRIVED);
}
