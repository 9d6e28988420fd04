/*
 * mutex.c - the counting copy of sync/mutex.c, and the functions that a program calls in its place.
 */
#define COUNTED
#define pthread_mutex_lock __counted_mutex_lock
#define pthread_mutex_trylock __counted_mutex_trylock
#define pthread_mutex_clocklock __counted_mutex_clocklock
#define pthread_mutex_timedlock __counted_mutex_timedlock
#define pthread_mutex_unlock __counted_mutex_unlock
#define pthread_mutex_init __counted_mutex_init
#define pthread_mutex_destroy __counted_mutex_destroy
#define __protocol_lock __counted_protocol_lock
#define __protocol_unlock __counted_protocol_unlock
#define __mutex_lock_slow __counted_mutex_lock_slow
#define __mutex_lock_plain __counted_mutex_lock_plain
#define __mutex_unlock_plain __counted_mutex_unlock_plain
#include "../sync/mutex.c"

int __stat_pthread_mutex_lock(pthread_mutex_t *m);
int __stat_pthread_mutex_trylock(pthread_mutex_t *m);
int __stat_pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock, const struct timespec *at);
int __stat_pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *at);
int __stat_pthread_mutex_unlock(pthread_mutex_t *m);

/* A recursive mutex is held from the first lock to the last unlock. */
static int mutex_op_ends(const struct lock_op *op, pthread_mutex_t *m, int error, bool contended)
{
	if (error != 0 && error != EOWNERDEAD)
		__lock_op_end(op, 0, error == ETIMEDOUT);
	else if (m->__count != 0)
		__lock_op_end_at(op, NULL);
	else
		__lock_held(m, __lock_op_end(op, 1, contended));
	return error;
}

int __stat_pthread_mutex_lock(pthread_mutex_t *m)
{
	struct lock_op op = LOCK_OP(LOCK_MUTEX, m);
	int error = pthread_mutex_trylock(m);

	if (error != EBUSY)
		return mutex_op_ends(&op, m, error, false);
	return mutex_op_ends(&op, m, pthread_mutex_lock(m), true);
}

int __stat_pthread_mutex_trylock(pthread_mutex_t *m)
{
	struct lock_op op = LOCK_OP(LOCK_MUTEX, m);

	return mutex_op_ends(&op, m, pthread_mutex_trylock(m), false);
}

static int mutex_op_timed(const struct lock_op *op, pthread_mutex_t *m, clockid_t clock,
			  const struct timespec *at)
{
	int error = pthread_mutex_trylock(m);

	if (error != EBUSY)
		return mutex_op_ends(op, m, error, false);
	return mutex_op_ends(op, m, pthread_mutex_clocklock(m, clock, at), true);
}

int __stat_pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock, const struct timespec *at)
{
	struct lock_op op = LOCK_OP(LOCK_MUTEX, m);

	return mutex_op_timed(&op, m, clock, at);
}

int __stat_pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *at)
{
	struct lock_op op = LOCK_OP(LOCK_MUTEX, m);

	return mutex_op_timed(&op, m, CLOCK_REALTIME, at);
}

/* Wake-ups are counted for the hold that ends, if it is the caller's hold. */
int __stat_pthread_mutex_unlock(pthread_mutex_t *m)
{
	struct lock_op op = LOCK_OP(LOCK_MUTEX, m);
	struct lock_row *row = m->__count == 0 ? __lock_released(m) : NULL;
	int error = pthread_mutex_unlock(m);

	if (row != NULL)
		__lock_op_end_at(&op, row);
	else
		__lock_op_end(&op, 0, false);
	return error;
}
