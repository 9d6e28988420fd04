/*
 * plocks PID...: the objects that the threads of a process wait for, each with its owner and its
 * waiters; and deadlocks.
 *
 * The process is held meanwhile (common/target.h).  An object is found through its waiters.  A lock
 * without waiters is not shown, because neither the library nor the kernel has a list of such
 * locks.  The readers that hold a reader-writer lock are counted, and not recorded.
 *
 * The kernel knows how long an LWP has slept.  Of a thread that waits on no LWP (mxn, n1) it is not
 * known: the library would have to read the clock in each wait.
 *
 * A deadlock is a cycle of threads, each of which waits for the next, in waits that have no
 * deadline.  A thread waits for the owner of a mutex, for the writer of a reader-writer lock, and
 * for the thread that it joins.  A cycle through other objects cannot be seen, because any thread
 * may post a semaphore or signal a condition variable.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "common/waits.h"

struct waiter {
	const struct user_thread *thread;
	struct wait wait;
	unsigned visit; /* 0: not seen yet; otherwise, which search for a cycle has seen it */
};

struct locks {
	const struct library *library;
	struct waiter *waiters; /* by ascending thread id */
	size_t n;
};

/* --- objects -------------------------------------------------------------------------------- */

/* Orders pointers to waiters: by object, then by thread. */
static int by_object(const void *a, const void *b)
{
	const struct waiter *x = *(struct waiter *const *)a, *y = *(struct waiter *const *)b;

	if (x->wait.kind != y->wait.kind)
		return x->wait.kind < y->wait.kind ? -1 : 1;
	if (x->wait.object != y->wait.object)
		return x->wait.object < y->wait.object ? -1 : 1;
	return (x->thread->id > y->thread->id) - (x->thread->id < y->thread->id);
}

static void print_object(const struct locks *k, const struct wait *w)
{
	char object[WAIT_TEXT], owner[WAIT_TEXT];

	wait_object(k->library, w, object);
	/* Each waiter of a condition variable has its mutex in its own line. */
	if (w->kind != WAIT_COND && *wait_owner(k->library, w, owner))
		printf("%s, %s\n", object, owner);
	else
		printf("%s\n", object);
}

static void print_waiter(const struct locks *k, const struct waiter *w)
{
	char mutex[WAIT_TEXT], times[WAIT_TEXT], thread[THREAD_WORDS];

	printf("    %s waits", thread_words(w->thread, thread));
	if (w->wait.kind == WAIT_RWLOCK)
		printf(" to %s", w->wait.write ? "write" : "read");
	if (w->wait.kind == WAIT_COND && *wait_owner(k->library, &w->wait, mutex))
		printf(", %s", mutex);
	printf("%s\n", wait_times(k->library, w->thread, &w->wait, times));
}

/* False: no memory. */
static bool print_objects(const struct locks *k)
{
	struct waiter **order = malloc((k->n + 1) * sizeof(*order));

	if (order == NULL)
		return false;
	for (size_t i = 0; i < k->n; i++)
		order[i] = &k->waiters[i];
	qsort(order, k->n, sizeof(*order), by_object);
	for (size_t i = 0; i < k->n; i++) {
		const struct wait *w = &order[i]->wait;

		if (i == 0 || order[i - 1]->wait.kind != w->kind ||
		    order[i - 1]->wait.object != w->object)
			print_object(k, w);
		print_waiter(k, order[i]);
	}
	free(order);
	return true;
}

/* --- deadlocks ------------------------------------------------------------------------------ */

static struct waiter *waiter_of(const struct locks *k, const struct user_thread *t)
{
	size_t low = 0, high = k->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (k->waiters[mid].thread->id < t->id)
			low = mid + 1;
		else
			high = mid;
	}
	return low < k->n && k->waiters[low].thread == t ? &k->waiters[low] : NULL;
}

/*
 * The waiter on which w depends; NULL: w may go on by itself.  A handler that has interrupted the
 * wait may do anything, so such a thread is no part of a deadlock.
 */
static struct waiter *waiter_next(const struct locks *k, const struct waiter *w)
{
	if (w->wait.owner == NULL || w->wait.timed || !w->wait.asleep)
		return NULL;
	return waiter_of(k, w->wait.owner);
}

static void print_cycle(const struct locks *k, const struct waiter *first)
{
	char object[WAIT_TEXT], owner[WAIT_TEXT], thread[THREAD_WORDS];
	const struct waiter *w = first;

	printf("deadlock: %s", thread_words(w->thread, thread));
	do {
		wait_owner(k->library, &w->wait, owner);
		printf("%s waits for %s%s%s", w == first ? "" : ", which",
		       wait_object(k->library, &w->wait, object), *owner ? " " : "", owner);
		w = waiter_next(k, w);
	} while (w != first);
	printf("\n");
}

/* Each waiter depends on at most one other waiter, so a search follows one chain. */
static unsigned print_deadlocks(const struct locks *k)
{
	unsigned cycles = 0, search = 0;

	for (size_t i = 0; i < k->n; i++) {
		struct waiter *w = &k->waiters[i];

		for (search++; w != NULL && w->visit == 0; w = waiter_next(k, w))
			w->visit = search;
		/* The chain has come back to w. */
		if (w != NULL && w->visit == search) {
			print_cycle(k, w);
			cycles++;
		}
	}
	return cycles;
}

/* --- a process ------------------------------------------------------------------------------ */

static const char *print_locks(const struct library *l)
{
	struct locks k = {.library = l, .waiters = malloc((l->nthreads + 1) * sizeof(*k.waiters))};
	bool done = k.waiters != NULL;

	printf("%d:\t%s\n", l->target->pid, l->target->info.name);
	for (size_t i = 0; done && i < l->nthreads; i++) {
		struct waiter w = {.thread = &l->threads[i], .wait = wait_of(l, &l->threads[i])};

		if (w.wait.kind != WAIT_NOTHING && w.wait.kind != WAIT_TIME &&
		    w.wait.kind != WAIT_SIGNALS)
			k.waiters[k.n++] = w;
	}
	done = done && print_objects(&k);
	if (done && print_deadlocks(&k) == 0)
		printf("no deadlock found\n");
	free(k.waiters);
	return done ? NULL : "there is no memory for its waits";
}

static bool show(int pid)
{
	return library_show(pid, print_locks);
}

int main(int argc, char **argv)
{
	return target_show_each(argv, "usage: plocks PID...\n", show);
}
