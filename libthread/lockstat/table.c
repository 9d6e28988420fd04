/*
 * table.c - the rows of lock statistics, and the holds of each thread.
 *
 * The table is hashed by lock and caller, with open addressing.  Rows are never freed.  So one
 * address counts as one lock, even if the program puts several locks there one after the other.
 *
 * A row is claimed in two steps, lock and then caller, each a compare-and-swap from 0.  *Race:* two
 * threads claim a row for one pair at once; *without this:* the pair has two rows; *closed by:* the
 * compare-and-swap and the fixed order.  All threads look at the same rows in the same order, and
 * claim the first free row.  A thread that finds a row of its lock without a caller may store its
 * own caller there.  The thread that made the first step then looks at later rows.
 */
#include <string.h>
#include <sys/time.h>
#include "lockstat.h"

#define PROBES 64

struct lock_row *__lock_rows;
uint64_t __lockstat_untimed;

static void counter_add(uint64_t *counter, uint64_t n)
{
	__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

/* Is the word `value`, or was it 0 and is now `value`? */
static bool word_claim(uint64_t *word, uint64_t value)
{
	uint64_t seen = __atomic_load_n(word, __ATOMIC_RELAXED);

	return seen == value ||
	       (seen == 0 && (__atomic_compare_exchange_n(word, &seen, value, false,
							  __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
			      seen == value));
}

static struct lock_row *row_of(enum lock_kind kind, const void *lock, const void *caller)
{
	uint64_t key = (uintptr_t)lock | (uint64_t)kind << LOCK_KIND;
	uint64_t hash = (key ^ (uintptr_t)caller << 20) * 0x9e3779b97f4a7c15u >> 32;

	for (unsigned n = 0; n < PROBES; n++) {
		struct lock_row *row = &__lock_rows[(hash + n) % LOCK_ROWS];

		if (word_claim(&row->lock, key) && word_claim(&row->caller, (uintptr_t)caller))
			return row;
	}
	return &__lock_rows[LOCK_ROWS];
}

/* --- threads -------------------------------------------------------------------------------- */

/*
 * For threads without memory for a struct lockstat: their counts are wrong, and their holds are not
 * timed.
 */
static struct lockstat nobody;

static struct ilock memory_lock;

static struct lockstat *of_thread(struct thread *self)
{
	static struct lockstat *next, *end;

	if (likely(self->lockstat != NULL))
		return self->lockstat;
	ilock_lock(&memory_lock);
	if (next == end) {
		next = __lockstat_pages(16 * WEFT_PAGE_SIZE);
		end = next != NULL ? next + 16 * WEFT_PAGE_SIZE / sizeof(*next) : NULL;
	}
	self->lockstat = next != NULL ? next++ : &nobody;
	ilock_unlock(&memory_lock);
	return self->lockstat;
}

struct lock_op __lock_op(enum lock_kind kind, const void *lock, const void *caller)
{
	struct lockstat *s = of_thread(thread_self());
	struct lock_op op = {lock, caller, kind, gethrtime(), s->now};

	s->now = (struct lock_counts){0};
	return op;
}

void __lock_op_end_at(const struct lock_op *op, struct lock_row *row)
{
	struct lockstat *s = thread_self()->lockstat;

	if (row != NULL) {
		counter_add(&row->turns, s->now.turns);
		counter_add(&row->spun, s->now.spun);
		counter_add(&row->blocks, s->now.blocks);
		counter_add(&row->wakes, s->now.wakes);
	}
	s->now = op->outer;
}

struct lock_row *__lock_op_end(const struct lock_op *op, unsigned count, bool contended)
{
	struct lock_counts *now = &thread_self()->lockstat->now;
	struct lock_row *row = NULL;

	if (count != 0 || contended || now->wakes != 0) {
		row = row_of(op->kind, op->lock, op->caller);
		counter_add(&row->count, count);
		if (contended) {
			counter_add(&row->contended, 1);
			counter_add(&row->wait_ns, gethrtime() - op->start);
		}
	}
	__lock_op_end_at(op, row);
	return row;
}

/* --- holds ---------------------------------------------------------------------------------- */

/* The index of the lock's last hold among the caller's holds, or -1. */
static int lockstat_find(const struct lockstat *s, const void *lock)
{
	int i = s->nheld;

	while (--i >= 0 && s->held[i].lock != lock)
		;
	return i;
}

static void lockstat_drop(struct lockstat *s, int i)
{
	s->nheld--;
	memmove(&s->held[i], &s->held[i + 1], (s->nheld - i) * sizeof(s->held[0]));
}

void __lock_held(const void *lock, struct lock_row *row)
{
	struct lockstat *s = thread_self()->lockstat;
	int stale = lockstat_find(s, lock);

	/* Another thread has released the lock for the caller.  Only a read lock nests. */
	if (stale >= 0 && row->lock >> LOCK_KIND != LOCK_READ)
		lockstat_drop(s, stale);
	if (s->nheld == LOCKS_HELD || s == &nobody) {
		counter_add(&__lockstat_untimed, 1);
		if (s == &nobody)
			return;
		lockstat_drop(s, 0);
	}
	s->held[s->nheld++] = (struct held){lock, row, gethrtime()};
}

struct lock_row *__lock_released(const void *lock)
{
	int64_t now = gethrtime();
	struct lockstat *s = of_thread(thread_self());
	int i = lockstat_find(s, lock);
	struct lock_row *row;
	uint64_t ns, max;

	if (i < 0)
		return NULL;
	row = s->held[i].row;
	ns = now - s->held[i].since;
	lockstat_drop(s, i);
	counter_add(&row->hold_ns, ns);
	max = __atomic_load_n(&row->hold_max, __ATOMIC_RELAXED);
	while (ns > max && !__atomic_compare_exchange_n(&row->hold_max, &max, ns, false,
							__ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	return row;
}

bool __lock_is_held(const void *lock)
{
	return lockstat_find(thread_self()->lockstat, lock) >= 0;
}

/* Called in a child of fork.  The child's own figures begin here. */
void __lockstat_forked(void)
{
	memory_lock = (struct ilock){0};
	__lockstat_untimed = 0;
	for (unsigned i = 0; __lock_rows != NULL && i <= LOCK_ROWS; i++)
		if (__lock_rows[i].lock != 0 || i == LOCK_ROWS)
			__lock_rows[i] = (struct lock_row){.lock = __lock_rows[i].lock,
							   .caller = __lock_rows[i].caller};
}
