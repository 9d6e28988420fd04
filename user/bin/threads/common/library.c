/*
 * library.c - reads the description of a process's threads library, and its threads.
 */
#include "library.h"
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../../../libthread/core/threaddb.h"

#define PAGE 4096

/* --- the description -------------------------------------------------------------------------- */

static void take_state(struct library *l, const struct threaddb_entry *e)
{
	if (strncmp(e->name, "state.", 6) == 0 && e->value < LIBRARY_STATES)
		memcpy(l->state[e->value], e->name + 6, STATE_WORD - 1);
}

/* False: the description lacks a name, or a field that cannot be. */
static bool take_entries(struct library *l, const struct threaddb *db, size_t room)
{
	static const char *const names[] = {
#define X(id, name) name,
		LIBRARY_NAMES(X)
#undef X
	};
	bool found[LIBRARY_NAMES_COUNT] = {false};
	size_t n = db->entries;

	if (db->entry_size != sizeof(db->entry[0]) || n > room / sizeof(db->entry[0]))
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct threaddb_entry *e = &db->entry[i];

		take_state(l, e);
		for (unsigned k = 0; k < LIBRARY_NAMES_COUNT; k++) {
			if (strncmp(e->name, names[k], sizeof(e->name)) == 0) {
				l->entry[k].size = e->size;
				l->entry[k].value = e->value;
				found[k] = true;
			}
		}
	}
	for (unsigned k = 0; k < LIBRARY_NAMES_COUNT; k++)
		if (!found[k])
			return false;
	/* The fields that are read from a copy of the structure lie in it. */
	for (unsigned k = L_SELF; k <= L_SIGMASK; k++)
		if (l->entry[k].value + l->entry[k].size > l->entry[L_THREAD].size)
			return false;
	return true;
}

bool library_describe(struct library *l, const struct target *t, const char **why)
{
	static char page[PAGE] __attribute__((aligned(8)));

	*l = (struct library){.target = t};
	*why = "it has no threads library";
	if (!target_read(t, THREADDB_IMAGE, page, sizeof(page)))
		return false;
	for (size_t at = 0; at + sizeof(struct threaddb) <= sizeof(page); at += 8) {
		if (memcmp(page + at, THREADDB_MAGIC, sizeof(THREADDB_MAGIC)) != 0)
			continue;
		*why = "its threads library is of another version, or damaged";
		return take_entries(l, (const struct threaddb *)(page + at),
				    sizeof(page) - at - sizeof(struct threaddb));
	}
	return false;
}

/* --- threads ---------------------------------------------------------------------------------- */

/* The number in a field of the structure that has been read. */
static uint64_t thread_field(const struct library *l, const char *copy, enum library_name n)
{
	uint64_t value = 0;

	memcpy(&value, copy + l->entry[n].value,
	       l->entry[n].size < sizeof(value) ? l->entry[n].size : sizeof(value));
	return value;
}

static void thread_name(const struct library *l, const char *copy, char name[THREAD_NAME_MAX])
{
	size_t n = l->entry[L_NAME].size;

	*name = '\0';
	if (!thread_field(l, copy, L_NAMED))
		return;
	n = n < THREAD_NAME_MAX ? n : THREAD_NAME_MAX;
	memcpy(name, copy + l->entry[L_NAME].value, n);
	name[n - 1] = '\0';
	for (char *c = name; *c != '\0'; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
}

/* Reads the structure at this address.  False: there is none. */
static bool thread_copy(const struct library *l, uint64_t at, char *copy)
{
	return target_read(l->target, at, copy, l->entry[L_THREAD].size) &&
	       thread_field(l, copy, L_SELF) == at;
}

void library_thread_name(const struct library *l, uint64_t fsbase, char name[THREAD_NAME_MAX])
{
	char *copy = malloc(l->entry[L_THREAD].size);

	*name = '\0';
	if (copy != NULL && thread_copy(l, fsbase, copy))
		thread_name(l, copy, name);
	free(copy);
}

static int place_order(const void *a, const void *b)
{
	const struct library_place *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

/* The number of the LWP or thread at this address; -1: none. */
static long place_find(const struct library_place *places, size_t n, uint64_t at)
{
	struct library_place key = {.at = at};
	const struct library_place *found =
		n == 0 ? NULL : bsearch(&key, places, n, sizeof(key), place_order);

	return found == NULL ? -1 : (long)found->number;
}

static const struct lwp_regs *lwp_that_runs(const struct library *l, uint64_t thread)
{
	long i = place_find(l->lwps, l->target->nlwps, thread);

	return i < 0 ? NULL : &l->target->lwps[i];
}

/*
 * FS base says which thread an LWP runs.  The field of the structure is used only if it names no
 * LWP at all: a held LWP may be between two threads, and a thread's LWP may not have begun.
 */
static void thread_fill(const struct library *l, uint64_t at, const char *copy,
			struct user_thread *t)
{
	*t = (struct user_thread){
		.at = at,
		.id = thread_field(l, copy, L_ID),
		.state = thread_field(l, copy, L_STATE),
		.on = lwp_that_runs(l, at),
		.rsp = thread_field(l, copy, L_RSP),
		.wchan = thread_field(l, copy, L_WCHAN),
		.q = thread_field(l, copy, L_Q),
		.wait_arg = thread_field(l, copy, L_WAIT_ARG),
		.pi_wait = thread_field(l, copy, L_PI_WAIT),
		.pri = thread_field(l, copy, L_PRI),
		.bound = thread_field(l, copy, L_BOUND),
		.exited = thread_field(l, copy, L_EXITED),
		.timed = thread_field(l, copy, L_SPECIAL) & library_value(l, L_TO_ARMED),
	};
	t->lwp = t->on != NULL ? t->on->id
			       : library_field(l, thread_field(l, copy, L_LWP), L_ULWP_ID);
	thread_name(l, copy, t->name);
}

static struct user_thread *thread_add(struct library *l)
{
	if ((l->nthreads & (l->nthreads - 1)) == 0) { /* full: room for twice as many */
		size_t n = l->nthreads == 0 ? 1 : 2 * l->nthreads;
		struct user_thread *more = realloc(l->threads, n * sizeof(*more));

		if (more == NULL)
			return NULL;
		l->threads = more;
	}
	return &l->threads[l->nthreads++];
}

/*
 * Follows the ring of threads.  A damaged ring may lead back to a thread other than the first.  So
 * each address is compared with that of an earlier thread, the mark.  The mark moves to the present
 * thread after 1, 2, 4, ... steps (Brent's method).  A cycle is found after at most three times its
 * length.
 */
static void read_ring(struct library *l, char *copy)
{
	uint64_t first = target_number(l->target, library_value(l, L_THREAD_LIST), 8), at = first;
	uint64_t mark = 0;

	for (size_t n = 1; at != 0; n++) {
		struct user_thread *t;

		if (at == mark)
			l->damage = "the list of threads does not lead back to its first";
		else if (!thread_copy(l, at, copy))
			l->damage = "the list of threads leads to memory that is no thread";
		if (l->damage != NULL)
			return;
		if (thread_field(l, copy, L_ID) != 0) { /* else a free one (libthread/core/ids.h) */
			t = thread_add(l);
			if (t == NULL) {
				l->damage = "there is no memory for them";
				return;
			}
			thread_fill(l, at, copy, t);
		}
		if ((n & (n - 1)) == 0)
			mark = at;
		at = thread_field(l, copy, L_LIST_NEXT);
		if (at == first)
			return;
	}
	if (first != 0)
		l->damage = "the list of threads ends";
}

static int by_id(const void *a, const void *b)
{
	const struct user_thread *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

/* Sorts the threads by id, and makes the table of their addresses.  False: no memory. */
static bool sort_threads(struct library *l)
{
	if (l->nthreads == 0)
		return true;
	l->places = malloc(l->nthreads * sizeof(*l->places));
	if (l->places == NULL)
		return false;
	qsort(l->threads, l->nthreads, sizeof(*l->threads), by_id);
	for (size_t i = 0; i < l->nthreads; i++)
		l->places[i] = (struct library_place){l->threads[i].at, i};
	qsort(l->places, l->nthreads, sizeof(*l->places), place_order);
	return true;
}

bool library_read(struct library *l, const struct target *t, const char **why)
{
	char *copy;
	bool read;

	if (!library_describe(l, t, why))
		return false;
	*why = "there is no memory for its threads";
	copy = malloc(l->entry[L_THREAD].size);
	l->lwps = malloc((t->nlwps + 1) * sizeof(*l->lwps));
	if (copy != NULL && l->lwps != NULL) {
		for (size_t i = 0; i < t->nlwps; i++)
			l->lwps[i] = (struct library_place){t->lwps[i].fsbase, i};
		qsort(l->lwps, t->nlwps, sizeof(*l->lwps), place_order);
		read_ring(l, copy);
	}
	read = copy != NULL && l->lwps != NULL && sort_threads(l);
	free(copy);
	if (!read)
		library_free(l);
	return read;
}

void library_free(struct library *l)
{
	free(l->threads);
	free(l->places);
	free(l->lwps);
	*l = (struct library){0};
}

bool library_show(int pid, const char *(*print)(const struct library *l))
{
	struct library l;
	struct target t;
	const char *why = NULL;

	if (!target_hold(&t, pid))
		return false;
	if (library_read(&l, &t, &why)) {
		why = print(&l);
		if (why == NULL)
			why = l.damage;
	}
	fflush(stdout);
	if (why != NULL)
		warnx("process %d: %s: %s", pid,
		      l.nthreads > 0 ? "not all is shown" : "nothing to show", why);
	library_free(&l);
	target_release(&t);
	return why == NULL;
}

/* --- finding ---------------------------------------------------------------------------------- */

const char *library_state(const struct library *l, const struct user_thread *t)
{
	if (t->exited)
		return "exited";
	return t->state < LIBRARY_STATES && *l->state[t->state] ? l->state[t->state] : "?";
}

const struct user_thread *library_thread_at(const struct library *l, uint64_t at)
{
	long i = place_find(l->places, l->nthreads, at);

	return i < 0 ? NULL : &l->threads[i];
}

const struct user_thread *library_thread_by_id(const struct library *l, uint32_t id)
{
	struct user_thread key = {.id = id};

	return l->nthreads == 0
		       ? NULL
		       : bsearch(&key, l->threads, l->nthreads, sizeof(*l->threads), by_id);
}

const struct user_thread *library_thread_on_lwp(const struct library *l, uint32_t lwp)
{
	for (size_t i = 0; i < l->nthreads; i++)
		if (l->threads[i].lwp == lwp)
			return &l->threads[i];
	return NULL;
}

bool library_is_thread(const struct library *l, uint64_t at)
{
	return at != 0 && target_number(l->target, at + library_value(l, L_SELF), 8) == at;
}
