/*
 * monitor.c - the monitors of objects: enter, exit, wait and notify.
 *
 * The lock word of an object is one of
 *	0			free
 *	id << 32 | n << 8	thin: the thread with this id has entered n + 1 times
 *	  | CONTENDED		and another thread waits for its end
 *	address | FAT		the struct monitor: entered by the owner of its mutex
 *
 * A monitor is thin until two threads want it at once, or a thread waits in it; it then stays fat while the object lives.
 * A fat monitor is the library's mutex, held while a thread is inside, and so shows what the thread model's mutex does.
 * With -Xnt it is a critical section (sync.h).
 * The struct monitor of an object is found in a table, so that all threads which want to make it fat take the same.
 *
 * *Race:* the owner of a thin monitor exits, while a waiter decides to sleep.
 * *Without this:* the owner does not see the waiter, which sleeps for ever.
 * *Closed by:* the waiter sets CONTENDED with compare-and-swap, with the mutex held, and sleeps on `freed`. The owner's
 * exit is a compare-and-swap too, from the word without CONTENDED. It fails, and the owner takes the mutex, frees the
 * word, and wakes the waiter, which is in its sleep by then, or finds another word.
 *
 * *Race:* a thread waits in a monitor, while another notifies or interrupts it, or the time is over.
 * *Without this:* a notification goes to a thread that returns for another reason, and is lost.
 * *Closed by:* the waiters are a list, which changes only with the mutex held. notify() takes a waiter out and sets its
 * `notified` in one step. A waiter whose wait ends otherwise looks at `notified` after it has the mutex again.
 *
 * Entering is an acquire, and exiting a release: by the swap of the word, or by the mutex.
 */

#include "vm.h"
#include <stdlib.h>

#define FAT 1u
#define CONTENDED 2u
#define COUNT_ONE 256u
#define COUNT_MASK 0xffffff00u
#define BUCKETS 512 /* a power of two */

struct monitor {
	struct monitor *next; /* in the table */
	struct object *object;
	struct lock mutex;
	struct place freed; /* a thin monitor has become free */
	/* Its id, or 0. A thread that reads its own there has written it. An address would be used again after an end. */
	_Atomic uint32_t owner;
	uint64_t count;
	struct jthread *first, **last; /* waiters, in their order */
};

static pthread_mutex_t monitor_lock = PTHREAD_MUTEX_INITIALIZER;
static struct monitor *monitors[BUCKETS];

static struct monitor *monitor_new(struct object *o)
{
	struct monitor *m = calloc(1, sizeof(*m));

	if (m == NULL)
		return NULL;
	if (!place_init(&m->freed)) {
		free(m);
		return NULL;
	}
	lock_init(&m->mutex);
	m->object = o;
	m->last = &m->first;
	return m;
}

/* The monitor of an object, which is made if need be. NULL: OutOfMemoryError. */
static struct monitor *monitor_of(struct jthread *t, struct object *o)
{
	struct monitor **head = &monitors[(uintptr_t)o / 16 % BUCKETS], *m;

	pthread_mutex_lock(&monitor_lock);
	for (m = *head; m != NULL && m->object != o; m = m->next)
		;
	if (m == NULL && (m = monitor_new(o)) != NULL) {
		m->next = *head;
		*head = m;
	}
	pthread_mutex_unlock(&monitor_lock);
	if (m == NULL)
		throw_no_memory(t);
	return m;
}

static struct monitor *monitor_fat(uint64_t word)
{
	return (struct monitor *)(uintptr_t)(word & ~(uint64_t)FAT);
}

static void monitor_lock_mutex(struct jthread *t, struct monitor *m)
{
	if (lock_try(&m->mutex))
		return;
	world_leave(t);
	lock_acquire(&m->mutex);
	world_enter(t);
}

/* Makes the caller's thin monitor fat. NULL: t->exception. */
static struct monitor *monitor_inflate(struct jthread *t, struct object *o)
{
	uint64_t word = atomic_load(&o->lock);
	struct monitor *m;

	if (word & FAT)
		return monitor_fat(word);
	m = monitor_of(t, o);
	if (m == NULL)
		return NULL;
	monitor_lock_mutex(t, m);
	atomic_store(&m->owner, t->id);
	m->count = (atomic_load(&o->lock) & COUNT_MASK) / COUNT_ONE + 1;
	/* A waiter sets CONTENDED with the mutex held. The caller holds it, so the word does not change. */
	atomic_store_explicit(&o->lock, (uintptr_t)m | FAT, memory_order_release);
	place_wake(&m->freed);
	return m;
}

/* The monitor is another thread's, or fat. */
static void monitor_enter_slow(struct jthread *t, struct object *o)
{
	uint64_t word = atomic_load_explicit(&o->lock, memory_order_acquire);
	struct monitor *m = (word & FAT) ? monitor_fat(word) : monitor_of(t, o);

	if (m == NULL)
		return;
	if (atomic_load_explicit(&m->owner, memory_order_relaxed) == t->id) {
		m->count++;
		return;
	}
	monitor_lock_mutex(t, m);
	for (;;) {
		word = atomic_load(&o->lock);
		if (word & FAT)
			break;
		if (word == 0) {
			if (atomic_compare_exchange_strong(&o->lock, &word, (uintptr_t)m | FAT))
				break;
		} else if (atomic_compare_exchange_strong(&o->lock, &word, word | CONTENDED)) {
			world_leave(t);
			place_wait(&m->freed, &m->mutex, NEVER);
			world_enter(t);
		}
	}
	atomic_store_explicit(&m->owner, t->id, memory_order_relaxed);
	m->count = 1;
}

/* May wait. The object is kept alive by the caller. t->exception only if there is no memory. */
void monitor_enter(struct jthread *t, struct object *o)
{
	uint64_t word = 0, mine = (uint64_t)t->id << 32;

	if (atomic_compare_exchange_strong_explicit(&o->lock, &word, mine, memory_order_acquire,
						    memory_order_relaxed))
		return;
	while (!(word & FAT) && word >> 32 == t->id) {
		if ((word & COUNT_MASK) == COUNT_MASK) {
			struct monitor *m = monitor_inflate(t, o);

			if (m != NULL)
				m->count++;
			return;
		}
		if (atomic_compare_exchange_weak(&o->lock, &word, word + COUNT_ONE))
			return;
	}
	monitor_enter_slow(t, o);
}

bool monitor_owned(struct jthread *t, struct object *o)
{
	uint64_t word = atomic_load_explicit(&o->lock, memory_order_relaxed);

	if (word & FAT)
		return atomic_load_explicit(&monitor_fat(word)->owner, memory_order_relaxed) ==
		       t->id;
	return word >> 32 == t->id;
}

/* The owner exits a thin monitor for which another thread waits. */
static void monitor_free_contended(struct jthread *t, struct object *o)
{
	struct monitor *m = monitor_of(t, o); /* exists, so there is no need for memory */

	monitor_lock_mutex(t, m);
	atomic_store_explicit(&o->lock, 0, memory_order_release);
	place_wake(&m->freed);
	lock_release(&m->mutex);
}

/* False: the thread is not the owner. */
bool monitor_exit(struct jthread *t, struct object *o)
{
	uint64_t word = atomic_load_explicit(&o->lock, memory_order_relaxed);
	struct monitor *m;

	if (!monitor_owned(t, o))
		return false;
	while (!(word & FAT)) {
		if (word == (uint64_t)t->id << 32 &&
		    atomic_compare_exchange_weak_explicit(&o->lock, &word, 0, memory_order_release,
							  memory_order_relaxed))
			return true;
		if ((word & COUNT_MASK) != 0 &&
		    atomic_compare_exchange_weak(&o->lock, &word, word - COUNT_ONE))
			return true;
		if ((word & COUNT_MASK) == 0 && (word & CONTENDED)) {
			monitor_free_contended(t, o);
			return true;
		}
	}
	m = monitor_fat(word);
	if (--m->count == 0) {
		atomic_store_explicit(&m->owner, 0, memory_order_relaxed);
		lock_release(&m->mutex);
	}
	return true;
}

static void monitor_unlist(struct monitor *m, struct jthread *t)
{
	struct jthread **p = &m->first;

	while (*p != t)
		p = &(*p)->next_waiter;
	*p = t->next_waiter;
	if (m->last == &t->next_waiter)
		m->last = p;
}

/* Object.wait: until notify or interrupt, or for ns nanoseconds if that is not negative. May throw. */
void monitor_wait(struct jthread *t, struct object *o, int64_t ns)
{
	struct monitor *m;
	uint64_t count;

	if (!monitor_owned(t, o)) {
		throw_new(t, "java/lang/IllegalMonitorStateException", NULL);
		return;
	}
	if (jthread_interrupted(t, true)) {
		throw_new(t, "java/lang/InterruptedException", NULL);
		return;
	}
	m = monitor_inflate(t, o);
	if (m == NULL)
		return;
	count = m->count;
	t->notified = false; /* no other thread reads it before the thread is in the list */
	t->next_waiter = NULL;
	*m->last = t;
	m->last = &t->next_waiter;
	atomic_store_explicit(&m->owner, 0, memory_order_relaxed);
	world_leave(t);
	lock_release(&m->mutex);
	jthread_park(t, ns);
	lock_acquire(&m->mutex);
	if (!t->notified)
		monitor_unlist(m, t);
	atomic_store_explicit(&m->owner, t->id, memory_order_relaxed);
	m->count = count;
	world_enter(t);
	if (!t->notified && jthread_interrupted(t, true))
		throw_new(t, "java/lang/InterruptedException", NULL);
}

/* Object.notify and notifyAll. */
void monitor_notify(struct jthread *t, struct object *o, bool all)
{
	uint64_t word = atomic_load_explicit(&o->lock, memory_order_relaxed);
	struct monitor *m;
	struct jthread *w;

	if (!monitor_owned(t, o)) {
		throw_new(t, "java/lang/IllegalMonitorStateException", NULL);
		return;
	}
	if (!(word & FAT)) /* no thread waits: it would have made the monitor fat */
		return;
	m = monitor_fat(word);
	while ((w = m->first) != NULL) {
		m->first = w->next_waiter;
		if (m->first == NULL)
			m->last = &m->first;
		jthread_wake(w);
		if (!all)
			return;
	}
}

/* Frees the monitors of dead objects. The world stands still; a thread that is in or waits for a monitor keeps the object. */
void monitor_sweep(bool (*is_alive)(struct object *))
{
	for (int i = 0; i < BUCKETS; i++) {
		struct monitor **p = &monitors[i], *m;

		while ((m = *p) != NULL) {
			if (is_alive(m->object)) {
				p = &m->next;
				continue;
			}
			*p = m->next;
			place_destroy(&m->freed);
			lock_destroy(&m->mutex);
			free(m);
		}
	}
}
