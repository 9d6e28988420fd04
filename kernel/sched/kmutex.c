/*
 * kmutex.c - the sleeping mutex and the sleeping readers-writer lock
 * (kern/sync.h).  Both keep their state under a spin lock and sleep on a wait
 * queue; the spin lock is held for a few instructions only.
 */
#include <kern/cpu.h>
#include <kern/printk.h>
#include <kern/proc.h>
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
	waitq_init(&l->readers, name);
	waitq_init(&l->writers, name);
	l->holders = 0;
	l->writers_waiting = 0;
}

/*
 * The lock has become free.  One writer is woken, or all readers: with n waiters, n releases wake n
 * LWPs and not n * n / 2.  A third LWP may acquire the lock before the woken LWP runs.  The woken
 * LWP then waits again, and the release of the third LWP wakes the next waiter.  l->lock held.
 */
static void krw_free(struct krwlock *l)
{
	if (l->writers_waiting > 0)
		waitq_wake_one(&l->writers);
	else
		waitq_wake_all(&l->readers);
}

void krw_read_enter(struct krwlock *l)
{
	irqstate_t s = spin_lock(&l->lock);
	wait_event(&l->readers, &l->lock, l->holders >= 0 && l->writers_waiting == 0);
	l->holders++;
	spin_unlock(&l->lock, s);
}

void krw_read_exit(struct krwlock *l)
{
	irqstate_t s = spin_lock(&l->lock);
	assert(l->holders > 0);
	if (--l->holders == 0)
		krw_free(l);
	spin_unlock(&l->lock, s);
}

void krw_write_enter(struct krwlock *l)
{
	irqstate_t s = spin_lock(&l->lock);
	l->writers_waiting++;
	wait_event(&l->writers, &l->lock, l->holders == 0);
	l->writers_waiting--;
	l->holders = -1;
	spin_unlock(&l->lock, s);
}

void krw_write_exit(struct krwlock *l)
{
	irqstate_t s = spin_lock(&l->lock);
	assert(l->holders == -1);
	l->holders = 0;
	krw_free(l);
	spin_unlock(&l->lock, s);
}
