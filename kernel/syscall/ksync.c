/*
 * ksync.c - the system calls on locks in user memory (weft/ksync.h; after Solaris's
 * _lwp_mutex_lock(2), _lwp_cond_wait(2), _lwp_sema_wait(2)).  Those on records of robust
 * mutexes are in sync/robust.c.
 *
 * Lock errors: EINVAL: the lock is misaligned; EFAULT: it does not lie in memory that the
 * process may write; ENOMEM: there is no memory for a copy of its page.
 *
 * A deadline is an absolute CLOCK_MONOTONIC time, and one in the past is no error: what can be
 * had at once is had.
 */
#include <kern/clock.h>
#include <kern/proc.h>
#include <kern/syscall.h>
#include "../sync/ucond.h"
#include "../sync/urwlock.h"

/*
 * lwp_mutex_lock(m, owner): takes m; sleeps while somebody has it.  Blocks.
 * Lock errors; EOWNERDEAD: taken, but its last owner died with it; ENOTRECOVERABLE: not taken,
 * nor will it ever be; EDEADLK: the caller has it (ERRORCHECK; else it sleeps for ever);
 * EINTR: a signal.
 */
int64_t sys_lwp_mutex_lock(const uint64_t arg[6])
{
	return umutex_lock(arg[0], umutex_owner(arg[1]), HRTIME_NEVER, true);
}

/*
 * lwp_mutex_trylock(m, owner): the same without sleeping.
 * Lock errors; EOWNERDEAD, ENOTRECOVERABLE, EDEADLK: as of lwp_mutex_lock; EBUSY: somebody has
 * it.
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
 * lwp_mutex_unlock(m, owner): gives m up and wakes the first who sleeps for it.  Given up with
 * OWNERDEAD set, it becomes NOTRECOVERABLE.
 * Lock errors; EPERM: it is not the caller's.
 */
int64_t sys_lwp_mutex_unlock(const uint64_t arg[6])
{
	return umutex_unlock(arg[0], umutex_owner(arg[1]));
}

/*
 * lwp_cond_wait(c, m, owner): gives m up and sleeps until c is signalled, in one step for
 * whoever signals with m in hand.  Returns without m: the caller takes it again, where it need
 * not come into the kernel for that.  In a process that exits, a signal goes to another
 * waiter.  Blocks.
 * Lock errors; EPERM: m is not the caller's; EINTR: a signal.
 */
int64_t sys_lwp_cond_wait(const uint64_t arg[6])
{
	return ucond_wait(arg[0], arg[1], umutex_owner(arg[2]), HRTIME_NEVER);
}

/*
 * lwp_cond_timedwait(c, m, owner, deadline): the same until a deadline.  Blocks.
 * Errors of lwp_cond_wait; ETIMEDOUT: the deadline; EINVAL, EFAULT: also the deadline (m has
 * not been given up then).
 */
int64_t sys_lwp_cond_timedwait(const uint64_t arg[6])
{
	hrtime_t deadline;

	int err = copyin_deadline(arg[3], &deadline);
	return err != 0 ? err : ucond_wait(arg[0], arg[1], umutex_owner(arg[2]), deadline);
}

/*
 * lwp_cond_signal(c): the first who sleeps for c, if any, goes on.
 * EINVAL: c is misaligned; EFAULT: it cannot be read.
 */
int64_t sys_lwp_cond_signal(const uint64_t arg[6])
{
	return ucond_signal(arg[0]);
}

/*
 * lwp_cond_broadcast(c): all who sleep for c go on, in their order.
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
 * Lock errors; EINVAL: also unknown flags; EAGAIN: there is none.
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
 * lwp_sema_post(s): hands a unit to the first who waits, or adds it.
 * Lock errors; EINVAL: also unknown flags; EOVERFLOW: LWP_SEMA_MAX units are there.
 */
int64_t sys_lwp_sema_post(const uint64_t arg[6])
{
	return usema_post(arg[0]);
}

/*
 * lwp_rwlock_rdlock(l, flags, deadline): takes l for reading; sleeps while a writer has it or
 * anybody waits for it; with LWP_RWLOCK_AGAIN, of a caller who may have it for reading already,
 * only while a writer has it.  deadline NULL: for ever.  Blocks.
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
 * lwp_rwlock_wrlock(l, deadline): the same for writing; sleeps while anybody has it.  Blocks.
 * Lock errors; EINVAL, EFAULT: also the deadline; ETIMEDOUT: the deadline; EINTR: a signal.
 */
int64_t sys_lwp_rwlock_wrlock(const uint64_t arg[6])
{
	hrtime_t deadline;

	int err = copyin_deadline(arg[1], &deadline);
	return err != 0 ? err : urwlock_write(arg[0], deadline);
}

/*
 * lwp_rwlock_unlock(l): gives up the writer's hold, or one reader's, and hands l to those
 * who sleep for it: the first, if that is a writer, or all readers that come before the
 * first writer.
 * Lock errors; EPERM: nobody has it.
 */
int64_t sys_lwp_rwlock_unlock(const uint64_t arg[6])
{
	return urwlock_unlock(arg[0]);
}

/*
 * lwp_barrier_wait(b, cycle, flags): arrives at b, of which `cycle` cycles have been completed,
 * and sleeps until this one is.  1 for the last to arrive, 0 for the others.  Blocks.
 * Lock errors; EINVAL: also flags, of the barrier too, or its count is 0; EAGAIN: it is another
 * cycle already, and the caller is not counted; EINTR: a signal (the caller has been counted, and
 * comes again with LWP_BARRIER_ARRIVED).
 */
int64_t sys_lwp_barrier_wait(const uint64_t arg[6])
{
	if ((uint32_t)arg[2] & ~LWP_BARRIER_ARRIVED)
		return -EINVAL;
	return ubarrier_wait(arg[0], arg[1], arg[2] & LWP_BARRIER_ARRIVED);
}
