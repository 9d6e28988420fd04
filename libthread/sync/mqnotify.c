/*
 * mqnotify.c - mq_notify: a process is notified when a message comes to the empty queue.
 *
 * The queue holds at most one registration.  The sender of the message ends the registration, and
 * sends the signal itself.  With SIGEV_THREAD a worker of the registered process waits in the
 * kernel until the registration has ended (serial).  The worker then creates the thread if the
 * sender has ended the registration, and not the process itself (mq->serial).
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <weft/lwp.h>
#include <weft/proc.h>
#include "../core/event.h"
#include "mqueue.h"

struct notice {
	struct work work;
	struct mq *mq;
	uint32_t serial;
	struct sigevent event;
	pthread_attr_t attr; /* a copy of the event's, because the program may destroy it */
};

/* Ends the registration.  For a registration with SIGEV_THREAD the worker is woken to look. */
static void registration_end(struct queue *q)
{
	q->notice.pid = 0;
	pthread_cond_broadcast(&q->changed[NOTICE]);
}

/* The time when the process began its program; 0: it has ended. */
static uint64_t process_began(int pid)
{
	struct weft_procinfo p;

	return __sys_procinfo(pid, &p) == pid && p.state != LWP_ST_ZOMB ? p.began : 0;
}

/* Is there a registration?  A process that has ended, or called exec, has none. */
static bool registration_lives(const struct queue *q)
{
	return q->notice.pid != 0 && process_began(q->notice.pid) == q->notice.began;
}

/*
 * A message comes to q, which is empty.  If a thread waits for a message, the thread gets it, and
 * no process is notified.
 */
struct tell __mq_notice(struct queue *q)
{
	struct tell tell = {0};

	if (q->notice.pid == 0 ||
	    (q->receivers > 0 &&
	     (__atomic_load_n(&q->changed[MESSAGES].__waiters, __ATOMIC_RELAXED) &
	      LWP_COND_WAITERS)))
		return tell;
	if (q->notice.how == SIGEV_SIGNAL && registration_lives(q))
		tell = (struct tell){q->notice.pid, q->notice.signo, q->notice.value};
	registration_end(q);
	return tell;
}

/* Is `serial` the current registration? */
static bool registration_is(const struct queue *q, uint32_t serial)
{
	return q->notice.pid != 0 && q->notice.serial == serial;
}

/* Ends the registration that was made by m, if it has not ended. */
void __mq_unregister(struct mq *m)
{
	if (registration_is(m->queue, m->serial))
		registration_end(m->queue);
	m->serial = 0;
}

/* Runs in a worker. */
static void notice_watch(struct work *w)
{
	struct notice *n = (struct notice *)w;
	struct mq *m = n->mq;
	struct queue *q = m->queue;
	bool fired = false;

	if (__mq_lock(q) == 0) {
		while (registration_is(q, n->serial))
			__mq_wait(m, NOTICE);
		fired = m->serial == n->serial;
		if (fired)
			m->serial = 0;
		__mq_unlock(q);
	}
	__mq_put(m);
	if (fired)
		__event_happens(&n->event);
	free(n);
}

static struct notice *notice_new(struct mq *m, const struct sigevent *event)
{
	struct notice *n = malloc(sizeof(*n));

	if (n == NULL)
		return NULL;
	*n = (struct notice){.work.run = notice_watch, .mq = m, .event = *event};
	if (event->sigev_notify_attributes != NULL) {
		n->attr = *event->sigev_notify_attributes;
		n->event.sigev_notify_attributes = &n->attr;
	}
	return n;
}

/* Registers the process.  The caller owns queue->lock. */
static int registration_make(struct mq *m, const struct sigevent *event, struct notice *n)
{
	struct queue *q = m->queue;
	int error = 0;

	if (registration_lives(q))
		return EBUSY;
	q->notice.pid = __sys_getpid();
	q->notice.began = process_began(q->notice.pid);
	q->notice.how = event->sigev_notify;
	q->notice.signo = event->sigev_signo;
	q->notice.value = (uint64_t)event->sigev_value.sival_ptr;
	if (++q->notice.serial == 0)
		q->notice.serial = 1;
	m->serial = q->notice.serial;
	if (n != NULL) {
		n->serial = m->serial;
		__mq_keep(m);
		error = __work_start(&n->work);
	}
	if (error != 0) {
		__mq_put(m);
		__mq_unregister(m);
	}
	return error;
}

/*
 * Ends the registration of the process, which may have been made by any of its descriptors for m's
 * queue.
 */
static void registration_drop(const struct mq *m)
{
	struct mq *by;
	int fd = 0;

	while ((by = __mq_next(m, &fd)) != NULL) {
		if (__mq_lock(by->queue) == 0) {
			__mq_unregister(by);
			__mq_unlock(by->queue);
		}
		__mq_put(by);
	}
}

/*
 * Registers the process for one notification, when a message comes to the empty queue and no thread
 * waits for it.  The notification is a signal (si_code is SI_QUEUE), or a function called in a new
 * thread.  NULL ends the registration of the process, if there is one.  EBADF: no open message
 * queue.  EBUSY: a process is registered.  EINVAL: the event.  ENOMEM, EAGAIN: for SIGEV_THREAD.
 */
int mq_notify(mqd_t fd, const struct sigevent *event)
{
	struct mq *m = __mq_get(fd, -1);
	struct notice *n = NULL;
	int error = 0;

	if (m == NULL)
		return __mq_fails(EBADF);
	if (event != NULL && !__event_valid(event))
		error = EINVAL;
	else if (event != NULL && event->sigev_notify == SIGEV_THREAD) {
		n = notice_new(m, event);
		error = n == NULL ? ENOMEM : 0;
	}
	if (event == NULL)
		registration_drop(m);
	else if (error == 0 && (error = __mq_lock(m->queue)) == 0) {
		error = registration_make(m, event, n);
		__mq_unlock(m->queue);
	}
	__mq_put(m);
	if (error == 0)
		return 0;
	free(n);
	return __mq_fails(error);
}
