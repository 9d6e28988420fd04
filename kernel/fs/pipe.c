/*
 * pipe.c - pipes: a ring of bytes between an end to write to and an end to read from.
 *
 * An end is a vnode.  The open files that pipe(2), dup, fork and spawn make hold it; when
 * the last of them is closed, the end is released.  Then a writer at the other end gets -EPIPE;
 * a reader at the other end finds the end of the file once the ring is empty.
 *
 * *Race:* both ends are released at the same time; *without this:* each release finds the other
 * end closed, and the pipe is freed twice; *closed by:* each release closes its end and looks
 * at the other end under p->lock, so only the second frees the pipe.
 *
 * Bytes are copied without the lock.  One reader at a time (`reading`) has the filled part
 * that it found, and one writer (`writing`) has the free part.  Only first, count and the
 * wake-ups need p->lock.  A copy neither sleeps nor faults, so these two never delay other
 * LWPs for long.
 *
 * A write of WEFT_PIPE_BUF bytes or less waits for room for all of it, so it goes in one
 * piece even if other LWPs write too.  A longer write is cut into parts, and each part goes
 * in one piece.  The free room may be enough for one waiting writer and not for another, so
 * all writers are woken.  A reader takes whatever there is, so one reader is woken; if
 * something is left, it wakes the next.
 *
 * Locks: p->lock, then pollers' locks and l->lock.
 */
#include <weft/errno.h>
#include <kern/cache.h>
#include <kern/cpu.h>
#include <kern/layout.h>
#include <kern/page.h>
#include <kern/poll.h>
#include <kern/printk.h>
#include <kern/sched.h>
#include <kern/timing.h>
#include <weft/poll.h>
#include "fs.h"

#define PIPE_PAGES 4 /* a power of two */
#define PIPE_SIZE (PIPE_PAGES * PAGE_SIZE)
_Static_assert(PIPE_SIZE >= WEFT_PIPE_BUF, "a write in one piece must fit");

enum { READ_END, WRITE_END };

struct pipe_end {
	struct vnode vn;
	struct pipe *pipe;
	bool open;
	struct waitq waiters;
	struct pollhead polls;
};

struct pipe {
	struct spinlock lock; /* all fields below, and the ends except their vnodes */
	struct pipe_end end[2];
	bool reading, writing;  /* an LWP copies out of the ring, into it */
	unsigned first, count;  /* bytes: index of the oldest, how many */
	char *page[PIPE_PAGES]; /* the ring; the pointers do not change */
};

static struct kcache *pipes;
static uint64_t next_ino; /* atomic */
static uint32_t pipe_dev;

static struct pipe_end *to_end(struct vnode *vn)
{
	return CONTAINER_OF(vn, struct pipe_end, vn);
}

/* Copies n bytes between a buffer and the ring from `at` on.  Needs no lock. */
static void ring_copy(struct pipe *p, unsigned at, char *buf, size_t n, bool into)
{
	while (n > 0) {
		at %= PIPE_SIZE;
		size_t some = MIN(n, PAGE_SIZE - at % PAGE_SIZE);
		char *ring = p->page[at / PAGE_SIZE] + at % PAGE_SIZE;
		memcpy(into ? ring : buf, into ? buf : ring, some);
		buf += some;
		at += some;
		n -= some;
	}
}

static int64_t pipe_recv(struct vnode *vn, void *buf, size_t n, unsigned flags)
{
	struct pipe *p = to_end(vn)->pipe;
	struct pipe_end *me = &p->end[READ_END], *other = &p->end[WRITE_END];
	int64_t err = 0;

	irqstate_t s = spin_lock(&p->lock);
	while (p->reading || (p->count == 0 && other->open)) {
		if ((flags & WEFT_O_NONBLOCK) && !p->reading)
			err = -EAGAIN;
		else
			err = waitq_sleep(&me->waiters, &p->lock, HRTIME_NEVER, SLEEP_INTR);
		if (err != 0) {
			spin_unlock(&p->lock, s);
			return err;
		}
	}
	n = MIN(n, p->count);
	unsigned first = p->first;
	p->reading = true;
	spin_unlock(&p->lock, s);

	ring_copy(p, first, buf, n, false);

	s = spin_lock(&p->lock);
	p->reading = false;
	p->first = (p->first + n) % PIPE_SIZE;
	p->count -= n;
	if (p->count > 0 || !other->open)
		waitq_wake_one(&me->waiters);
	if (n > 0)
		waitq_wake_all(&other->waiters);
	if (n > 0 && PIPE_SIZE - p->count >= WEFT_PIPE_BUF)
		pollhead_wake(&other->polls);
	spin_unlock(&p->lock, s);
	return n;
}

/*
 * Waits until all n bytes are in the ring; if flags has IO_PART, until as many are as fit.
 * -EPIPE, besides the errors in kern/file.h.
 */
static int64_t pipe_send(struct vnode *vn, const void *buf, size_t n, unsigned flags)
{
	struct pipe *p = to_end(vn)->pipe;
	struct pipe_end *me = &p->end[WRITE_END], *other = &p->end[READ_END];
	size_t need = flags & IO_PART ? 1 : n;

	debug_assert(n <= WEFT_PIPE_BUF);
	irqstate_t s = spin_lock(&p->lock);
	while (other->open && (p->writing || PIPE_SIZE - p->count < need)) {
		int err;
		if ((flags & WEFT_O_NONBLOCK) && !p->writing)
			err = -EAGAIN;
		else
			err = waitq_sleep(&me->waiters, &p->lock, HRTIME_NEVER, SLEEP_INTR);
		if (err != 0) {
			spin_unlock(&p->lock, s);
			return err;
		}
	}
	if (!other->open) {
		spin_unlock(&p->lock, s);
		return -EPIPE;
	}
	n = MIN(n, PIPE_SIZE - p->count);
	unsigned at = p->first + p->count;
	p->writing = true;
	spin_unlock(&p->lock, s);

	ring_copy(p, at, (char *)buf, n, true);

	s = spin_lock(&p->lock);
	p->writing = false;
	p->count += n;
	waitq_wake_all(&me->waiters);
	waitq_wake_one(&other->waiters);
	pollhead_wake(&other->polls);
	spin_unlock(&p->lock, s);
	return n;
}

static int pipe_poll(struct vnode *vn, int events, struct poll_entry *e)
{
	struct pipe_end *me = to_end(vn);
	struct pipe *p = me->pipe;
	int r = 0;

	irqstate_t s = spin_lock(&p->lock);
	if (me == &p->end[READ_END]) {
		if (p->count > 0)
			r |= WEFT_POLLIN;
		if (!p->end[WRITE_END].open)
			r |= WEFT_POLLHUP;
	} else {
		if (PIPE_SIZE - p->count >= WEFT_PIPE_BUF)
			r |= WEFT_POLLOUT;
		if (!p->end[READ_END].open)
			r |= WEFT_POLLERR;
	}
	r &= events | WEFT_POLLHUP | WEFT_POLLERR;
	if (r == 0)
		pollhead_join(&me->polls, e, &p->lock);
	spin_unlock(&p->lock, s);
	return r;
}

static void pipe_free(struct pipe *p)
{
	for (unsigned i = 0; i < PIPE_PAGES; i++)
		if (p->page[i] != NULL)
			page_free(virt_to_phys(p->page[i]));
	kcache_free(pipes, p);
}

static void pipe_release(struct vnode *vn)
{
	struct pipe_end *me = to_end(vn);
	struct pipe *p = me->pipe;
	struct pipe_end *other = &p->end[me == &p->end[READ_END] ? WRITE_END : READ_END];

	irqstate_t s = spin_lock(&p->lock);
	me->open = false;
	bool last = !other->open;
	waitq_wake_all(&other->waiters);
	pollhead_wake(&other->polls);
	spin_unlock(&p->lock, s);
	if (last)
		pipe_free(p);
}

static const struct vnode_ops read_ops = {
	.recv = pipe_recv,
	.poll = pipe_poll,
	.release = pipe_release,
};
static const struct vnode_ops write_ops = {
	.send = pipe_send,
	.poll = pipe_poll,
	.release = pipe_release,
};

int pipe_new(struct vnode *end[2])
{
	struct pipe *p = kcache_alloc(pipes);
	if (p == NULL)
		return -ENOMEM;
	*p = (struct pipe){0};
	for (unsigned i = 0; i < PIPE_PAGES; i++) {
		paddr_t page = page_alloc(PG_USER);
		if (page == 0) {
			pipe_free(p);
			return -ENOMEM;
		}
		p->page[i] = phys_to_virt(page);
	}
	spin_init(&p->lock, "pipe");
	uint64_t ino = __atomic_add_fetch(&next_ino, 1, __ATOMIC_RELAXED);
	uint64_t now = time_real();
	for (unsigned i = READ_END; i <= WRITE_END; i++) {
		struct pipe_end *e = &p->end[i];
		e->vn = (struct vnode){
			.ops = i == READ_END ? &read_ops : &write_ops,
			.refs = 1,
			.mode = WEFT_S_IFIFO | 0600,
			.ino = ino,
			.dev = pipe_dev,
			.nlink = 1,
			.atime = now,
			.mtime = now,
			.ctime = now,
		};
		e->pipe = p;
		e->open = true;
		waitq_init(&e->waiters, i == READ_END ? "pipe read" : "pipe write");
		pollhead_init(&e->polls);
		end[i] = &e->vn;
	}
	return 0;
}

void pipe_init(void)
{
	pipe_dev = vfs_new_dev();
	pipes = kcache_create("pipe", sizeof(struct pipe), 0, KC_USER, NULL);
	if (pipes == NULL)
		panic("no memory for pipes");
}
