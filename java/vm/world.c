/*
 * world.c - the list of threads, and how all of them are brought to stand still.
 *
 * A thread is running, or in a safe region: there it does not touch references, and may block. A thread that runs looks
 * at `wanted` again and again (world_safepoint), and when it leaves a safe region.
 *
 * *Race:* a thread enters a safe region, or leaves one, while a collector decides to stop the world.
 * *Without this:* the collector marks while the thread runs; or it waits for ever for a thread that blocks.
 * *Closed by:* both sides store their own flag, and then load the other's, sequentially consistent. One at least sees
 * the other: the thread sees `wanted`, and waits or signals; or the collector sees the thread's state. A thread
 * signals with world.lock held, so that the collector is before its look at the states, or in its wait.
 */

#include "vm.h"

struct world world = {.lock = PTHREAD_MUTEX_INITIALIZER,
		      .reached = PTHREAD_COND_INITIALIZER,
		      .resumed = PTHREAD_COND_INITIALIZER,
		      .last_user = PTHREAD_COND_INITIALIZER};

/* Enters a safe region: the thread may block from here on. */
void world_leave(struct jthread *t)
{
	atomic_store(&t->running, 0);
	if (atomic_load(&world.wanted)) {
		pthread_mutex_lock(&world.lock);
		pthread_cond_broadcast(&world.reached);
		pthread_mutex_unlock(&world.lock);
	}
}

/* Leaves a safe region; waits while the world stands still. */
void world_enter(struct jthread *t)
{
	bool wanted;

	atomic_store(&t->running, 1);
	wanted = atomic_load(&world.wanted);
	if (!wanted)
		return;
	pthread_mutex_lock(&world.lock);
	atomic_store(&t->running, 0);
	pthread_cond_broadcast(&world.reached);
	while (atomic_load(&world.wanted))
		pthread_cond_wait(&world.resumed, &world.lock);
	/* The lock is held, so no collector looks at the states between the look at `wanted` and this. */
	atomic_store(&t->running, 1);
	pthread_mutex_unlock(&world.lock);
}

/* Stands still if a collector wants it. */
void world_safepoint(struct jthread *t)
{
	world_leave(t);
	world_enter(t);
}

static struct jthread *world_runner(struct jthread *self)
{
	struct jthread *t = world.threads;

	while (t != NULL && (t == self || !atomic_load(&t->running)))
		t = t->next;
	return t;
}

/* Stops all threads except the caller, which then has world.lock. Waits for other collectors, and for all threads. */
void world_stop(struct jthread *t)
{
	world_leave(t);
	pthread_mutex_lock(&world.lock);
	while (atomic_load(&world.wanted))
		pthread_cond_wait(&world.resumed, &world.lock);
	atomic_store(&world.wanted, true);
	while (world_runner(t) != NULL)
		pthread_cond_wait(&world.reached, &world.lock);
	atomic_store(&t->running, 1);
}

void world_resume(void)
{
	atomic_store(&world.wanted, false);
	pthread_cond_broadcast(&world.resumed);
	pthread_mutex_unlock(&world.lock);
}

/* Puts a thread into the list, in a safe region. */
void jthread_add(struct jthread *t, bool daemon)
{
	pthread_mutex_lock(&world.lock);
	t->next = world.threads;
	t->prev = &world.threads;
	if (t->next != NULL)
		t->next->prev = &t->next;
	world.threads = t;
	world.users += !daemon;
	pthread_mutex_unlock(&world.lock);
}

/*
 * Takes it out. The thread is in a safe region, and touches no object from here on. Its java.lang.Thread forgets it here,
 * under the lock with which others find it (jthread.c).
 */
void jthread_remove(struct jthread *t, bool daemon)
{
	pthread_mutex_lock(&world.lock);
	if (t->object != NULL)
		t->object->fields[known.thread_vm->slot].p = NULL;
	*t->prev = t->next;
	if (t->next != NULL)
		t->next->prev = t->prev;
	world.users -= !daemon;
	if (world.users == 0)
		pthread_cond_broadcast(&world.last_user);
	pthread_mutex_unlock(&world.lock);
}
