/*
 * rwlock.c - the counting copy of sync/rwlock.c, and the functions that a program calls in its
 * place.
 */
#define COUNTED
#define pthread_rwlock_rdlock __counted_rwlock_rdlock
#define pthread_rwlock_tryrdlock __counted_rwlock_tryrdlock
#define pthread_rwlock_timedrdlock __counted_rwlock_timedrdlock
#define pthread_rwlock_clockrdlock __counted_rwlock_clockrdlock
#define pthread_rwlock_wrlock __counted_rwlock_wrlock
#define pthread_rwlock_trywrlock __counted_rwlock_trywrlock
#define pthread_rwlock_timedwrlock __counted_rwlock_timedwrlock
#define pthread_rwlock_clockwrlock __counted_rwlock_clockwrlock
#define pthread_rwlock_unlock __counted_rwlock_unlock
#define pthread_rwlock_init __counted_rwlock_init
#define pthread_rwlock_destroy __counted_rwlock_destroy
#include "../sync/rwlock.c"

int __stat_pthread_rwlock_rdlock(pthread_rwlock_t *l);
int __stat_pthread_rwlock_tryrdlock(pthread_rwlock_t *l);
int __stat_pthread_rwlock_timedrdlock(pthread_rwlock_t *l, const struct timespec *at);
int __stat_pthread_rwlock_clockrdlock(pthread_rwlock_t *l, clockid_t clock,
				      const struct timespec *at);
int __stat_pthread_rwlock_wrlock(pthread_rwlock_t *l);
int __stat_pthread_rwlock_trywrlock(pthread_rwlock_t *l);
int __stat_pthread_rwlock_timedwrlock(pthread_rwlock_t *l, const struct timespec *at);
int __stat_pthread_rwlock_clockwrlock(pthread_rwlock_t *l, clockid_t clock,
				      const struct timespec *at);
int __stat_pthread_rwlock_unlock(pthread_rwlock_t *l);

static int rwlock_op_ends(const struct lock_op *op, int error, bool contended)
{
	if (error != 0)
		__lock_op_end(op, 0, error == ETIMEDOUT);
	else
		__lock_held(op->lock, __lock_op_end(op, 1, contended));
	return error;
}

int __stat_pthread_rwlock_tryrdlock(pthread_rwlock_t *l)
{
	struct lock_op op = LOCK_OP(LOCK_READ, l);

	return rwlock_op_ends(&op, pthread_rwlock_tryrdlock(l), false);
}

int __stat_pthread_rwlock_rdlock(pthread_rwlock_t *l)
{
	struct lock_op op = LOCK_OP(LOCK_READ, l);

	if (pthread_rwlock_tryrdlock(l) == 0)
		return rwlock_op_ends(&op, 0, false);
	return rwlock_op_ends(&op, pthread_rwlock_rdlock(l), true);
}

static int timed_read(const struct lock_op *op, pthread_rwlock_t *l, clockid_t clock,
		      const struct timespec *at)
{
	if (pthread_rwlock_tryrdlock(l) == 0)
		return rwlock_op_ends(op, 0, false);
	return rwlock_op_ends(op, pthread_rwlock_clockrdlock(l, clock, at), true);
}

int __stat_pthread_rwlock_clockrdlock(pthread_rwlock_t *l, clockid_t clock,
				      const struct timespec *at)
{
	struct lock_op op = LOCK_OP(LOCK_READ, l);

	return timed_read(&op, l, clock, at);
}

int __stat_pthread_rwlock_timedrdlock(pthread_rwlock_t *l, const struct timespec *at)
{
	struct lock_op op = LOCK_OP(LOCK_READ, l);

	return timed_read(&op, l, CLOCK_REALTIME, at);
}

int __stat_pthread_rwlock_trywrlock(pthread_rwlock_t *l)
{
	struct lock_op op = LOCK_OP(LOCK_WRITE, l);

	return rwlock_op_ends(&op, pthread_rwlock_trywrlock(l), false);
}

int __stat_pthread_rwlock_wrlock(pthread_rwlock_t *l)
{
	struct lock_op op = LOCK_OP(LOCK_WRITE, l);

	if (pthread_rwlock_trywrlock(l) == 0)
		return rwlock_op_ends(&op, 0, false);
	return rwlock_op_ends(&op, pthread_rwlock_wrlock(l), true);
}

static int timed_write(const struct lock_op *op, pthread_rwlock_t *l, clockid_t clock,
		       const struct timespec *at)
{
	if (pthread_rwlock_trywrlock(l) == 0)
		return rwlock_op_ends(op, 0, false);
	return rwlock_op_ends(op, pthread_rwlock_clockwrlock(l, clock, at), true);
}

int __stat_pthread_rwlock_clockwrlock(pthread_rwlock_t *l, clockid_t clock,
				      const struct timespec *at)
{
	struct lock_op op = LOCK_OP(LOCK_WRITE, l);

	return timed_write(&op, l, clock, at);
}

int __stat_pthread_rwlock_timedwrlock(pthread_rwlock_t *l, const struct timespec *at)
{
	struct lock_op op = LOCK_OP(LOCK_WRITE, l);

	return timed_write(&op, l, CLOCK_REALTIME, at);
}

int __stat_pthread_rwlock_unlock(pthread_rwlock_t *l)
{
	struct lock_op op = LOCK_OP(LOCK_READ, l);
	struct lock_row *row = __lock_released(l);
	int error = pthread_rwlock_unlock(l);

	if (row != NULL)
		__lock_op_end_at(&op, row);
	else
		__lock_op_end(&op, 0, false);
	return error;
}
