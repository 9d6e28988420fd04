/*
 * worker.c - LWPs of the library's own that do work that blocks in the kernel.  They watch message
 * queues (sync/mqueue.c) for unbound threads, and make the calls of aio.c.
 *
 * An item of work waits in a queue until a worker takes it.  Its starter unparks an idle worker, or
 * starts a new worker.  So each item gets a worker, however long the other items block.  The user
 * of this file limits the number of its items.  An idle worker parks, and stays for later work.
 *
 * A worker is a service LWP (service.c): it blocks all signals, and does not keep the process from
 * its end.  It has an id like a thread's, which no thread has, because it owns robust mutexes.
 *
 * The record of a worker lies on the worker's stack, which lasts as long as the process.  work_lock
 * is innermost.
 */
#include <errno.h>
#include "core.h"
#include "model.h"
#include "worker.h"

#define WORKER_ID 0x40000000u /* ids of threads are lower (core/thread.c) */

struct worker {
	struct thread *context;
	struct worker *next_idle, *next;
	bool idle; /* work_lock: in the list of idle workers */
};

static struct ilock work_lock;
static struct work *work_first, **work_end = &work_first;
static struct worker *idle_workers, *workers;

/*
 * The work that was started first.  NULL: there is none, and the worker is in the list of idle
 * workers.
 */
static struct work *work_take(struct worker *self)
{
	struct work *w;

	ilock_lock(&work_lock);
	w = work_first;
	if (w != NULL) {
		work_first = w->next;
		if (work_first == NULL)
			work_end = &work_first;
	} else if (!self->idle) {
		self->idle = true;
		self->next_idle = idle_workers;
		idle_workers = self;
	}
	ilock_unlock(&work_lock);
	return w;
}

/*
 * *Race:* a starter takes an idle worker from the list before the worker has parked; *without
 * this:* the worker sleeps beside its work; *closed by:* the unpark, which leaves a permit.
 */
static void __attribute__((noreturn)) worker_main(struct thread *context)
{
	struct worker self = {.context = context};
	struct work *w;

	context->id = WORKER_ID | context->own_lwp.id;
	ilock_lock(&work_lock);
	self.next = workers;
	workers = &self;
	ilock_unlock(&work_lock);
	for (;;) {
		while ((w = work_take(&self)) == NULL)
			__lwp_park(NEVER, 0);
		w->run(w);
	}
}

/* Takes w out of the queue if no worker has taken it.  False: a worker has. */
static bool work_withdraw(const struct work *w)
{
	struct work **p = &work_first;
	bool found;

	ilock_lock(&work_lock);
	while (*p != NULL && *p != w)
		p = &(*p)->next;
	found = *p != NULL;
	if (found) {
		*p = w->next;
		if (*p == NULL)
			work_end = p;
	}
	ilock_unlock(&work_lock);
	return found;
}

/*
 * Has a worker run w.  0; EAGAIN, ENOMEM: there is no LWP for it.  Does not wait.
 *
 * *Race:* the caller has queued w, and another thread suspends the caller before it unparks or starts a worker; *without
 * this:* there is a worker too few, and perhaps the work of another thread waits until the caller is resumed; *closed by:*
 * the critical section of work_lock, which ends after that.
 */
int __work_start(struct work *w)
{
	struct thread *context; /* not used */
	struct worker *idle;
	int error = 0;

	w->next = NULL;
	ilock_lock(&work_lock);
	*work_end = w;
	work_end = &w->next;
	idle = idle_workers;
	if (idle != NULL) {
		idle_workers = idle->next_idle;
		idle->idle = false;
	}
	ilock_drop(&work_lock);
	if (idle != NULL)
		__service_poke(idle->context);
	else
		error = __service_start(worker_main, "worker", &context);
	critical_exit();
	return error != 0 && work_withdraw(w) ? error : 0;
}

/* In a child of fork: it has none of the workers, and __threads_lock is free.  True: a worker may stand in a sleep queue. */
bool __workers_forked(void)
{
	bool any = workers != NULL;

	work_lock.held = 0;
	for (struct worker *k = workers; k != NULL; k = k->next)
		__service_forgotten(k->context);
	workers = idle_workers = NULL;
	work_first = NULL;
	work_end = &work_first;
	return any;
}
