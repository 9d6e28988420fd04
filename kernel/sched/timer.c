/*
 * timer.c - per-CPU timer queues, and the CPU's one hardware timer.
 *
 * A queue is a tree sorted by time, so that arming and cancelling cost O(log n) with any number of
 * sleepers.  The hardware timer is armed for the earlier of the queue's first timer and the end of
 * the time slice.  It is left alone if it will expire earlier than needed, because a switch of LWPs
 * moves the end of the slice every few microseconds.  An interrupt that comes too early finds
 * nothing to do, and arms the timer again.
 *
 * Lock order: q->lock is a leaf below l->lock.  A timer's function runs without
 * it, because the function takes l->lock.
 */
#include "disp.h"
#include <kern/cache.h>
#include <kern/printk.h>
#include <kern/probe.h>
#include <kern/timer.h>
#include <kern/timing.h>

struct timerq {
	struct spinlock lock;
	struct tree tree;
	struct ktimer *running; /* its function is being called now */
	hrtime_t next_look;     /* when the dispatch queue is aged; own CPU only */
};

void timerq_init(struct cpu *c)
{
	struct timerq *q = kzalloc(sizeof(*q));
	if (q == NULL)
		panic("no memory for CPU %u", c->id);
	spin_init(&q->lock, "timer queue");
	c->timer = HRTIME_NEVER;
	c->timerq = q;
}

void timerq_arm(hrtime_t when)
{
	cpu_here->timer = when;
	timing->set_timer(when);
}

static int by_time(const struct tree_node *a, const struct tree_node *b)
{
	hrtime_t x = CONTAINER_OF(a, struct ktimer, node)->when;
	hrtime_t y = CONTAINER_OF(b, struct ktimer, node)->when;
	return x < y ? -1 : x > y;
}

void ktimer_arm(struct ktimer *t, hrtime_t when, void (*fn)(struct ktimer *))
{
	irqstate_t s = irq_save();
	struct timerq *q = this_cpu()->timerq;

	spin_acquire(&q->lock);
	assert(!t->node.linked);
	t->when = when;
	t->fn = fn;
	t->queue = q;
	tree_insert(&q->tree, &t->node, by_time);
	spin_release(&q->lock);
	timerq_want(when);
	irq_restore(s);
}

bool ktimer_cancel(struct ktimer *t)
{
	struct timerq *q = t->queue;
	for (;;) {
		irqstate_t s = spin_lock(&q->lock);
		bool pending = t->node.linked;
		bool running = q->running == t;
		if (pending)
			tree_remove(&q->tree, &t->node);
		spin_unlock(&q->lock, s);
		if (!running)
			return pending;
		cpu_pause(); /* its CPU runs the function with interrupts off, so not for long */
	}
}

bool ktimer_withdraw(struct ktimer *t)
{
	struct timerq *q = t->queue;
	irqstate_t s = spin_lock(&q->lock);
	bool pending = t->node.linked;
	if (pending)
		tree_remove(&q->tree, &t->node);
	spin_unlock(&q->lock, s);
	return pending;
}

void timer_interrupt(void)
{
	struct cpu *c = this_cpu();
	struct timerq *q = c->timerq;

	assert(!irq_enabled());
	c->timer = HRTIME_NEVER;
	hrtime_t now = time_now(), next = HRTIME_NEVER;
	for (;;) {
		spin_acquire(&q->lock);
		struct tree_node *n = tree_first(&q->tree);
		struct ktimer *t = n ? CONTAINER_OF(n, struct ktimer, node) : NULL;
		if (t == NULL || t->when > now) {
			next = t ? t->when : HRTIME_NEVER;
			spin_release(&q->lock);
			break;
		}
		PROBE(timer, "timer function", t, t->fn, 0);
		tree_remove(&q->tree, n);
		q->running = t;
		spin_release(&q->lock);
		t->fn(t);
		/* Release: a CPU that sees NULL here sees what the function did. */
		__atomic_store_n(&q->running, NULL, __ATOMIC_RELEASE);
	}
	timerq_want(next);
	sched_slice_check();
	/* Where no LWP waits there is none to age.  So an idle CPU needs no tick. */
	if (dispq_count(c->dispq) != 0) {
		if (now >= q->next_look) {
			dispq_age(c, now);
			q->next_look = now + SCHED_LOOK;
		}
	}
}
