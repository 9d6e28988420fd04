/*
 * sema.c - the counting copy of sync/sema.c, and the functions that a program calls in its place.
 */
#define COUNTED
#define sem_wait __counted_sem_wait
#define sem_trywait __counted_sem_trywait
#define sem_timedwait __counted_sem_timedwait
#define sem_clockwait __counted_sem_clockwait
#define sem_post __counted_sem_post
#define sem_getvalue __counted_sem_getvalue
#define sem_init __counted_sem_init
#define sem_destroy __counted_sem_destroy
#include "../sync/sema.c"

int __stat_sem_wait(sem_t *s);
int __stat_sem_trywait(sem_t *s);
int __stat_sem_timedwait(sem_t *s, const struct timespec *at);
int __stat_sem_clockwait(sem_t *s, clockid_t clock, const struct timespec *at);
int __stat_sem_post(sem_t *s);

static int sema_op_ends(const struct lock_op *op, int r)
{
	__lock_op_end(op, r == 0, thread_self()->lockstat->now.blocks != 0);
	return r;
}

int __stat_sem_wait(sem_t *s)
{
	struct lock_op op = LOCK_OP(LOCK_SEMA, s);

	return sema_op_ends(&op, sem_wait(s));
}

int __stat_sem_trywait(sem_t *s)
{
	struct lock_op op = LOCK_OP(LOCK_SEMA, s);

	return sema_op_ends(&op, sem_trywait(s));
}

int __stat_sem_timedwait(sem_t *s, const struct timespec *at)
{
	struct lock_op op = LOCK_OP(LOCK_SEMA, s);

	return sema_op_ends(&op, sem_timedwait(s, at));
}

int __stat_sem_clockwait(sem_t *s, clockid_t clock, const struct timespec *at)
{
	struct lock_op op = LOCK_OP(LOCK_SEMA, s);

	return sema_op_ends(&op, sem_clockwait(s, clock, at));
}

/* Only a post that wakes a thread gets a row. */
int __stat_sem_post(sem_t *s)
{
	struct lock_op op = LOCK_OP(LOCK_SEMA, s);
	int r = sem_post(s);

	__lock_op_end(&op, 0, false);
	return r;
}
