/*
 * mqmsg.c - message queues: sending and receiving messages, and waiting for room or for a message.
 * mqueue.h describes the layout of the queue and the order of the locks.
 *
 * A change wakes all waiters, and each looks at the queue again.  If it woke only one waiter, a
 * message could be left without a receiver, because that waiter's process may be killed before it
 * takes the message.
 *
 * A caller cannot be suspended while it owns queue->lock (no_suspend), because other processes wait
 * for this lock.  It can be suspended while it waits for a condition.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include "mqueue.h"

/* --- the queue ------------------------------------------------------------------------------ */

/*
 * Puts slot n, which has a whole message, into its place in the order.  Except after a repair, this
 * is the end.
 */
static void queue_enter(struct queue *q, uint32_t n)
{
	struct slot *s = slot_at(q, n);
	uint32_t *p = &q->list[s->priority].first, *last = &q->list[s->priority].last;

	if (q->priorities & 1u << s->priority && slot_at(q, *last)->turn < s->turn)
		p = &slot_at(q, *last)->next;
	while (*p != 0 && slot_at(q, *p)->turn < s->turn)
		p = &slot_at(q, *p)->next;
	s->next = *p;
	*p = n;
	if (s->next == 0)
		*last = n;
	q->priorities |= 1u << s->priority;
	q->count++;
}

static void queue_repair(struct queue *q)
{
	q->count = q->priorities = q->free = 0;
	memset(q->list, 0, sizeof(q->list));
	for (uint32_t n = q->maxmsg; n > 0; n--) {
		struct slot *s = slot_at(q, n);

		if (s->full) {
			queue_enter(q, n);
		} else {
			s->next = q->free;
			q->free = n;
		}
	}
	q->fresh = q->maxmsg;
}

/* The queue is not full. */
static void queue_put(struct queue *q, const char *text, size_t size, unsigned priority)
{
	uint32_t n = q->free;
	struct slot *s;

	if (n != 0)
		q->free = slot_at(q, n)->next;
	else
		n = ++q->fresh;
	s = slot_at(q, n);
	memcpy(s->text, text, size);
	s->size = size;
	s->priority = priority;
	s->turn = ++q->turn;
	__atomic_store_n(&s->full, 1, __ATOMIC_RELEASE);
	queue_enter(q, n);
}

/* Takes the first message of the highest priority and returns its size.  The queue is not empty. */
static uint32_t queue_take(struct queue *q, char *text, unsigned *priority)
{
	unsigned highest = 31 - __builtin_clz(q->priorities);
	uint32_t n = q->list[highest].first;
	struct slot *s = slot_at(q, n);
	uint32_t size = s->size;

	memcpy(text, s->text, size);
	if (priority != NULL)
		*priority = highest;
	__atomic_store_n(&s->full, 0, __ATOMIC_RELEASE);
	q->list[highest].first = s->next;
	if (s->next == 0)
		q->priorities &= ~(1u << highest);
	s->next = q->free;
	q->free = n;
	q->count--;
	return size;
}

static bool queue_ready(const struct queue *q, int condition)
{
	return condition == MESSAGES ? q->count > 0 : q->count < q->maxmsg;
}

/* --- its lock, and waiting --------------------------------------------------------------------- */

/*
 * Called with the result of a call that acquires the lock: repairs the queue if the last owner
 * died.
 */
static int lock_taken(struct queue *q, int error)
{
	if (error != EOWNERDEAD)
		return error;
	queue_repair(q);
	return pthread_mutex_consistent(&q->lock);
}

int __mq_lock(struct queue *q)
{
	int error;

	no_suspend_enter();
	error = lock_taken(q, pthread_mutex_lock(&q->lock));
	if (error != 0)
		no_suspend_exit();
	return error;
}

void __mq_unlock(struct queue *q)
{
	pthread_mutex_unlock(&q->lock);
	no_suspend_exit();
}

/*
 * Waits in the kernel.  The caller owns queue->lock.  0, also without a change; or an error number.
 */
int __mq_wait(struct mq *m, int condition)
{
	struct queue *q = m->queue;
	int error;

	no_suspend_exit();
	error = lock_taken(q, pthread_cond_wait(&q->changed[condition], &q->lock));
	no_suspend_enter();
	return error;
}

static void side_wake(struct side *s)
{
	s->turn++;
	pthread_cond_broadcast(&s->woken);
}

/* Runs in a worker: passes wake-ups on as long as unbound threads wait. */
static void side_watch(struct work *w)
{
	struct side *s = (struct side *)w;
	struct mq *m = s->mq;
	int condition = s - m->side;

	if (__mq_lock(m->queue) == 0) {
		for (;;) {
			pthread_mutex_lock(&m->lock);
			if (queue_ready(m->queue, condition) || m->closed)
				side_wake(s);
			if (s->sleepers == 0 || m->closed)
				break;
			pthread_mutex_unlock(&m->lock);
			__mq_wait(m, condition);
		}
		s->watched = false;
		pthread_mutex_unlock(&m->lock);
		__mq_unlock(m->queue);
	}
	__mq_put(m);
}

/* Wakes the waiters of a condition that has become true.  The caller owns queue->lock. */
static void queue_wake(struct mq *m, int condition)
{
	struct side *s = &m->side[condition];

	pthread_cond_broadcast(&m->queue->changed[condition]);
	pthread_mutex_lock(&m->lock);
	if (s->sleepers > 0)
		side_wake(s);
	pthread_mutex_unlock(&m->lock);
}

/* A call that is waiting. */
struct caller {
	struct mq *mq;
	struct side *side;
	bool receiver;
};

static void not_waiting(struct caller *c)
{
	if (c->receiver && c->mq->queue->receivers > 0)
		c->mq->queue->receivers--;
}

/* The caller was cancelled in the kernel.  It owns queue->lock, whose last owner may have died. */
static void bound_cancelled(void *caller)
{
	struct caller *c = caller;
	struct queue *q = c->mq->queue;

	if (pthread_mutex_consistent(&q->lock) == 0)
		queue_repair(q);
	not_waiting(c);
	pthread_mutex_unlock(&q->lock);
	__mq_put(c->mq);
}

static int bound_wait(struct caller *c, int condition, const struct timespec *abstime)
{
	struct queue *q = c->mq->queue;
	struct thread *self = thread_self();
	int error;

	self->caught = false;
	no_suspend_exit();
	pthread_cleanup_push(bound_cancelled, c);
	error = abstime == NULL ? pthread_cond_wait(&q->changed[condition], &q->lock)
				: pthread_cond_timedwait(&q->changed[condition], &q->lock, abstime);
	pthread_cleanup_pop(0);
	no_suspend_enter();
	error = lock_taken(q, error);
	return error == 0 && self->caught ? EINTR : error;
}

/* The caller was cancelled in a queue of the library.  It owns mq->lock. */
static void unbound_cancelled(void *caller)
{
	struct caller *c = caller;

	c->side->sleepers--;
	pthread_mutex_unlock(&c->mq->lock);
	if (__mq_lock(c->mq->queue) == 0) {
		not_waiting(c);
		__mq_unlock(c->mq->queue);
	}
	__mq_put(c->mq);
}

/*
 * *Race:* the caller releases queue->lock, and a message comes before the caller sleeps; *without
 * this:* the caller sleeps although there is a message; *closed by:* turn, which the caller reads
 * before and compares under mq->lock, and by the worker, which looks at the queue before it waits.
 */
static int unbound_wait(struct caller *c, const struct timespec *abstime)
{
	struct mq *m = c->mq;
	struct side *s = c->side;
	unsigned turn;
	int error = 0;

	pthread_mutex_lock(&m->lock);
	if (!s->watched) {
		s->work.run = side_watch;
		error = __work_start(&s->work);
		if (error == 0)
			__mq_keep(m);
		s->watched = error == 0;
	}
	turn = s->turn;
	s->sleepers += error == 0;
	pthread_mutex_unlock(&m->lock);
	if (error != 0)
		return error;

	__mq_unlock(m->queue);
	pthread_mutex_lock(&m->lock);
	pthread_cleanup_push(unbound_cancelled, c);
	while (s->turn == turn && error == 0)
		error = abstime == NULL ? pthread_cond_wait(&s->woken, &m->lock)
					: pthread_cond_timedwait(&s->woken, &m->lock, abstime);
	pthread_cleanup_pop(0);
	s->sleepers--;
	pthread_mutex_unlock(&m->lock);
	if (__mq_lock(m->queue) != 0)
		ASSERT(!"the lock of a message queue");
	return error;
}

/*
 * Waits until the queue is ready.  The caller owns queue->lock, also on return, except when it is
 * cancelled.  0; EAGAIN, EINTR, ETIMEDOUT, EINVAL, EBADF, ENOMEM.
 */
static int queue_wait(struct mq *m, int condition, const struct timespec *abstime)
{
	struct caller c = {m, &m->side[condition], condition == MESSAGES};
	bool in_kernel = thread_self()->bound || __ops->await_signal == NULL;
	int error = 0;

	if (queue_ready(m->queue, condition))
		return 0;
	if (fcntl(m->fd, F_GETFL) & O_NONBLOCK)
		return EAGAIN;
	m->queue->receivers += c.receiver;
	while (!queue_ready(m->queue, condition) && error == 0)
		error = m->closed   ? EBADF
			: in_kernel ? bound_wait(&c, condition, abstime)
				    : unbound_wait(&c, abstime);
	not_waiting(&c);
	return queue_ready(m->queue, condition) && !m->closed ? 0 : error;
}

/* --- the interface --------------------------------------------------------------------------- */

/*
 * Sends a message of that size and priority, 0 to MQ_PRIO_MAX - 1.  Waits until there is room for
 * it, unless the queue is O_NONBLOCK.  A cancellation point.  EAGAIN: the queue is O_NONBLOCK and
 * full, or the library has no LWP that can wait for room.  EBADF: not open for writing.  EMSGSIZE:
 * longer than mq_msgsize.  EINVAL: the priority.  EINTR: a handler was called meanwhile (only a
 * bound thread).  ENOMEM: for a first wait.
 */
int mq_send(mqd_t fd, const char *text, size_t size, unsigned priority)
{
	return mq_timedsend(fd, text, size, priority, NULL);
}

/*
 * The same until abstime by CLOCK_REALTIME (NULL: without a limit).  ETIMEDOUT: there was no room
 * before abstime.  EINVAL: nanoseconds of abstime out of range, if the call has to wait.  Errors of
 * mq_send.
 */
int mq_timedsend(mqd_t fd, const char *text, size_t size, unsigned priority,
		 const struct timespec *abstime)
{
	struct tell tell = {0};
	struct queue *q;
	struct mq *m;
	int error;

	pthread_testcancel();
	m = __mq_get(fd, O_RDONLY);
	if (m == NULL)
		return __mq_fails(EBADF);
	q = m->queue;
	error = priority >= MQ_PRIO_MAX ? EINVAL : size > q->msgsize ? EMSGSIZE : __mq_lock(q);
	if (error == 0) {
		error = queue_wait(m, ROOM, abstime);
		if (error == 0) {
			if (q->count == 0)
				tell = __mq_notice(q);
			queue_put(q, text, size, priority);
			queue_wake(m, MESSAGES);
		}
		__mq_unlock(q);
		if (tell.pid != 0)
			__sys_sigqueue(tell.pid, tell.signo, tell.value);
	}
	__mq_put(m);
	return error == 0 ? 0 : __mq_fails(error);
}

/*
 * Takes the first message of the highest priority, and returns its size; priority may be NULL.
 * Waits until there is a message, unless the queue is O_NONBLOCK.  A cancellation point.  EAGAIN:
 * the queue is O_NONBLOCK and empty, or the library has no LWP that can wait for a message.  EBADF:
 * not open for reading.  EMSGSIZE: size is less than mq_msgsize.  EINTR: a handler was called
 * meanwhile (only a bound thread).  ENOMEM: for a first wait.
 */
ssize_t mq_receive(mqd_t fd, char *text, size_t size, unsigned *priority)
{
	return mq_timedreceive(fd, text, size, priority, NULL);
}

/*
 * The same until abstime by CLOCK_REALTIME (NULL: without a limit).  ETIMEDOUT: there was no
 * message before abstime.  EINVAL: nanoseconds of abstime out of range, if the call has to wait.
 * Errors of mq_receive.
 */
ssize_t mq_timedreceive(mqd_t fd, char *text, size_t size, unsigned *priority,
			const struct timespec *abstime)
{
	ssize_t got = 0;
	struct queue *q;
	struct mq *m;
	int error;

	pthread_testcancel();
	m = __mq_get(fd, O_WRONLY);
	if (m == NULL)
		return __mq_fails(EBADF);
	q = m->queue;
	error = size < q->msgsize ? EMSGSIZE : __mq_lock(q);
	if (error == 0) {
		error = queue_wait(m, MESSAGES, abstime);
		if (error == 0) {
			got = queue_take(q, text, priority);
			queue_wake(m, ROOM);
		}
		__mq_unlock(q);
	}
	__mq_put(m);
	return error == 0 ? got : __mq_fails(error);
}
