/*
 * poll.c - waiting for several objects at once (kern/poll.h).
 *
 * A poller joins the pollheads of all its objects, and asks each object as it joins.  It
 * sleeps only if none is ready.  A later change sets `woken` and wakes the poller.  Then the
 * poller asks all objects again.  It does not join again, because its entries stay where they
 * are until it returns.
 *
 * *Race:* an object becomes ready after the poller has asked it, and before the poller sleeps;
 * *without this:* the poller sleeps on; *closed by:* `woken`, which the poller clears only
 * before it asks.
 *
 * Locks: an object's lock, then the poller's, then l->lock.  Two objects' locks are never
 * held together.
 *
 * *Race:* an object wakes its pollers while one of them returns; *without this:* the waker
 * uses a poller that is gone from its stack; *closed by:* the object's lock, under which
 * an entry is unlinked.  The poller holds its open files, so objects outlive their entries.
 */
#include <weft/errno.h>
#include <kern/cache.h>
#include <kern/poll.h>
#include <kern/printk.h>
#include <kern/sched.h>
#include <kern/timing.h>
#include "fs.h"

struct poller {
	struct spinlock lock;
	struct waitq sleeper; /* at most one LWP; lock */
	bool woken;           /* lock */
};

struct polled {            /* one descriptor */
	struct file *file; /* held; NULL: none */
	struct poll_entry entry;
};

void pollhead_init(struct pollhead *h)
{
	list_init(&h->entries);
}

void pollhead_join(struct pollhead *h, struct poll_entry *e, struct spinlock *lock)
{
	if (e == NULL)
		return;
	debug_assert(spin_held(lock) && e->lock == NULL);
	e->lock = lock;
	list_push_back(&h->entries, &e->link);
}

void pollhead_wake(struct pollhead *h)
{
	LIST_FOREACH (&h->entries, e, struct poll_entry, link) {
		struct poller *p = e->poller;
		spin_acquire(&p->lock);
		p->woken = true;
		waitq_wake_one(&p->sleeper);
		spin_release(&p->lock);
	}
}

/*
 * Asks all objects; returns how many revents are not 0.  With `join`, the poller joins each
 * object until one is ready.
 */
static int poll_ask(struct weft_pollfd *fd, struct polled *polled, unsigned n, bool join)
{
	int ready = 0;

	for (unsigned i = 0; i < n; i++) {
		struct file *f = polled[i].file;
		int events = fd[i].events, r;
		if (fd[i].fd < 0)
			r = 0;
		else if (f == NULL)
			r = WEFT_POLLNVAL;
		else if (f->vn->ops->poll != NULL)
			r = f->vn->ops->poll(f->vn, events,
					     join && ready == 0 ? &polled[i].entry : NULL);
		else
			r = events & (WEFT_POLLIN | WEFT_POLLOUT);
		fd[i].revents = r;
		ready += r != 0;
	}
	return ready;
}

static int poll_wait(struct poller *p, hrtime_t deadline)
{
	int err = 0;
	irqstate_t s = spin_lock(&p->lock);
	while (!p->woken && err == 0)
		err = waitq_sleep(&p->sleeper, &p->lock, deadline, SLEEP_INTR);
	p->woken = false;
	spin_unlock(&p->lock, s);
	return err;
}

int file_poll(struct fdtable *t, struct weft_pollfd *fd, unsigned n, hrtime_t deadline)
{
	struct poller p = {.lock = SPINLOCK_INIT("poller")};
	struct polled *polled = kzalloc(n * sizeof(*polled) + 1);
	int err = 0, ready = 0;

	if (polled == NULL)
		return -ENOMEM;
	waitq_init(&p.sleeper, "poll");
	for (unsigned i = 0; i < n; i++) {
		polled[i].entry.poller = &p;
		if (fd[i].fd >= 0)
			polled[i].file = fd_get(t, fd[i].fd);
	}

	bool join = deadline != 0;
	while ((ready = poll_ask(fd, polled, n, join)) == 0 && err == 0 && deadline != 0) {
		join = false;
		err = poll_wait(&p, deadline);
	}

	for (unsigned i = 0; i < n; i++) {
		struct poll_entry *e = &polled[i].entry;
		if (e->lock != NULL) {
			irqstate_t s = spin_lock(e->lock);
			list_remove(&e->link);
			spin_unlock(e->lock, s);
		}
		if (polled[i].file != NULL)
			file_rele(polled[i].file);
	}
	kfree(polled);
	return ready == 0 && err == -EINTR ? err : ready;
}
