/*
 * kmutex.c - the sleeping mutex and the sleeping readers-writer lock
 * (kern/sync.h).  Both keep their state under a spin lock and sleep on a wait
 * queue; the spin lock is held for a few instructions only.
 */
#include <kern/cpu.h>
#include <kern/printk.h>
#include <kern/sync.h>

void kmutex_init(struct kmutex *m, const char *name)
{
	spin_init(&m->lock, name);
	waitq_init(&m->waiters, name);
	m->owner = NULL;
}

void kmutex_enter(struct kmutex *m)
{
	assert(m->owner != curlwp());
	irqstate_t s = spin_lock(&m->lock);
	wait_event(&m->waiters, &m->lock, m->owner == NULL);
	m->owner = curlwp();
	spin_unlock(&m->lock, s);
}

void kmutex_exit(struct kmutex *m)
{
	irqstate_t s = spin_lock(&m->lock);
	assert(m->owner == curlwp());
	m->owner = NULL;
	waitq_wake_one(&m->waiters);
	spin_unlock(&m->lock, s);
}

bool kmutex_owned(const struct kmutex *m)
{
	return m->owner == curlwp();
}

void krw_init(struct krwlock *l, const char *name)
{
	spin_init(&l->lock, name);
	waitq_init(&l->waiters, name);
	l->holders = 0;
	l->writers_waiting = 0;
}

void krw_read_enter(struct krwlock *l)
{
	irqstate_t s = spin_lock(&l->lock);
	wait_event(&l->waiters, &l->lock, l->holders >= 0 && l->writers_waiting == 0);
	l->holders++;
	spin_unlock(&l->lock, s);
}

void krw_read_exit(struct krwlock *l)
{
	irqstate_t s = spin_lock(&l->lock);
	assert(l->holders > 0);
	/* Only a writer can be waiting for this, but readers may stand before it
	 * in the queue: wake all, and let the condition choose. */
	if (--l->holders == 0)
		waitq_wake_all(&l->waiters);
	spin_unlock(&l->lock, s);
}

void krw_write_enter(struct krwlock *l)
{
	irqstate_t s = spin_lock(&l->lock);
	l->writers_waiting++;
	wait_event(&l->waiters, &l->lock, l->holders == 0);
	l->writers_waiting--;
	l->holders = -1;
	spin_unlock(&l->lock, s);
}

void krw_write_exit(struct krwlock *l)
{
	irqstate_t s = spin_lock(&l->lock);
	assert(l->holders == -1);
	l->holders = 0;
	waitq_wake_all(&l->waiters);
	spin_unlock(&l->lock, s);
}
