/*
 * cond.c - the counting copy of sync/cond.c, and the functions that a program calls in its place.
 *
 * A wait releases the mutex, so the hold of the mutex ends.  pthread_mutex_lock reacquires most
 * mutexes and counts that.  For the other mutexes a new hold begins here.
 */
#define COUNTED
#define pthread_cond_wait __counted_cond_wait
#define pthread_cond_timedwait __counted_cond_timedwait
#define pthread_cond_clockwait __counted_cond_clockwait
#define pthread_cond_signal __counted_cond_signal
#define pthread_cond_broadcast __counted_cond_broadcast
#define pthread_cond_init __counted_cond_init
#define pthread_cond_destroy __counted_cond_destroy
#include "../sync/cond.c"

int __stat_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m);
int __stat_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *at);
int __stat_pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock,
				  const struct timespec *at);
int __stat_pthread_cond_signal(pthread_cond_t *c);
int __stat_pthread_cond_broadcast(pthread_cond_t *c);

static int cond_op_ends(const struct lock_op *op, pthread_mutex_t *m, struct lock_row *row,
			int error)
{
	bool slept = thread_self()->lockstat->now.blocks != 0;

	if (row != NULL && error != ENOTRECOVERABLE && !__lock_is_held(m))
		__lock_held(m, row);
	__lock_op_end(op, slept, slept);
	return error;
}

int __stat_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
	struct lock_op op = LOCK_OP(LOCK_COND, c);
	struct lock_row *row = __lock_released(m);

	return cond_op_ends(&op, m, row, pthread_cond_wait(c, m));
}

int __stat_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *at)
{
	struct lock_op op = LOCK_OP(LOCK_COND, c);
	struct lock_row *row = __lock_released(m);

	return cond_op_ends(&op, m, row, pthread_cond_timedwait(c, m, at));
}

int __stat_pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock,
				  const struct timespec *at)
{
	struct lock_op op = LOCK_OP(LOCK_COND, c);
	struct lock_row *row = __lock_released(m);

	return cond_op_ends(&op, m, row, pthread_cond_clockwait(c, m, clock, at));
}

int __stat_pthread_cond_signal(pthread_cond_t *c)
{
	struct lock_op op = LOCK_OP(LOCK_COND, c);
	int error = pthread_cond_signal(c);

	__lock_op_end(&op, 0, false);
	return error;
}

int __stat_pthread_cond_broadcast(pthread_cond_t *c)
{
	struct lock_op op = LOCK_OP(LOCK_COND, c);
	int error = pthread_cond_broadcast(c);

	__lock_op_end(&op, 0, false);
	return error;
}
