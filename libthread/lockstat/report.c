/*
 * report.c - prints the lock statistics so far as a table.  Rows with the longest waits come first,
 * then rows with the longest holds.
 *
 * The report uses a copy of the rows and takes no lock.  It may run in a signal handler while other
 * threads still count.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <thread.h>
#include <unistd.h>
#include "../core/model.h"
#include "lockstat.h"

/*
 * A line of output.  The report does not use stdio, because stdio would be linked into every
 * program, and may be in use when a signal comes.
 */
struct line {
	char text[320];
	size_t n;
};

static void line_put(struct line *l, const char *s)
{
	size_t n = strlen(s), room = sizeof(l->text) - l->n;

	n = n < room ? n : room;
	memcpy(l->text + l->n, s, n);
	l->n += n;
}

/* Puts s at the right of a column of `width` characters. */
static void put_right(struct line *l, const char *s, int width)
{
	for (int n = strlen(s); n < width; n++)
		line_put(l, " ");
	line_put(l, s);
}

static void line_put_number(struct line *l, uint64_t value, unsigned base, int width)
{
	char digits[24], *p = digits + sizeof(digits);

	*--p = '\0';
	do {
		*--p = "0123456789abcdef"[value % base];
	} while ((value /= base) > 0);
	put_right(l, p, width);
}

static void line_write(struct line *l)
{
	line_put(l, "\n");
	__sys_write(__options.lockstat_fd, l->text, l->n);
	l->n = 0;
}

static int by_cost(const void *a, const void *b)
{
	const struct lock_row *x = a, *y = b;

	if (x->wait_ns != y->wait_ns)
		return x->wait_ns < y->wait_ns ? 1 : -1;
	return (x->hold_ns < y->hold_ns) - (x->hold_ns > y->hold_ns);
}

/* The columns after the kind. */
static const struct column {
	const char *name;
	size_t offset;
	int width;
} columns[] = {
#define COLUMN(name, field, width)                                                                 \
	{                                                                                          \
		name, offsetof(struct lock_row, field), width                                      \
	}
	COLUMN("count", count, 10),         COLUMN("contended", contended, 10),
	COLUMN("turns", turns, 10),         COLUMN("spun", spun, 8),
	COLUMN("blocks", blocks, 8),        COLUMN("wakes", wakes, 8),
	COLUMN("wait-ns", wait_ns, 12),     COLUMN("hold-ns", hold_ns, 12),
	COLUMN("longest-ns", hold_max, 12),
};
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

static void say_row(struct line *l, const struct lock_row *r)
{
	static const char *const kinds[] = {
		"other",
		[LOCK_MUTEX] = "mutex",
		[LOCK_READ] = "read ",
		[LOCK_WRITE] = "write",
		[LOCK_COND] = "cond ",
		[LOCK_SEMA] = "sema ",
	};

	line_put(l, kinds[r->lock >> LOCK_KIND]);
	for (unsigned i = 0; i < COLUMNS; i++)
		line_put_number(l, *(const uint64_t *)((const char *)r + columns[i].offset), 10,
				columns[i].width);
	line_put(l, "  0x");
	line_put_number(l, r->lock & ((1ul << LOCK_KIND) - 1), 16, 0);
	line_put(l, " 0x");
	line_put_number(l, r->caller, 16, 0);
	line_write(l);
}

static void say_titles(struct line *l)
{
	line_put(l, "kind ");
	for (unsigned i = 0; i < COLUMNS; i++)
		put_right(l, columns[i].name, columns[i].width);
	line_put(l, "  lock caller");
	line_write(l);
}

static void say_schedlock(struct line *l)
{
	struct thr_schedlock_stats s;

	if (__ops->schedlock_stats == NULL)
		return;
	__ops->schedlock_stats(&s);
	line_put(l, "_schedlock: count ");
	line_put_number(l, s.acquisitions, 10, 0);
	line_put(l, ", contended ");
	line_put_number(l, s.contentions, 10, 0);
	line_put(l, ", yields ");
	line_put_number(l, s.yields, 10, 0);
	line_put(l, ", holds timed ");
	line_put_number(l, s.hold_samples, 10, 0);
	line_put(l, ", their ns ");
	line_put_number(l, s.hold_ns, 10, 0);
	line_put(l, ", longest ns ");
	line_put_number(l, s.hold_max_ns, 10, 0);
	line_write(l);
}

void __lockstat_report(void)
{
	size_t size = (LOCK_ROWS + 1) * sizeof(struct lock_row);
	struct lock_row *copy = __lockstat_pages(size);
	struct line l = {.n = 0};
	unsigned n = 0;

	if (copy == NULL) {
		line_put(&l, "lockstat: no memory for the report");
		line_write(&l);
		return;
	}
	for (unsigned i = 0; i <= LOCK_ROWS; i++)
		if (__lock_rows[i].count | __lock_rows[i].contended | __lock_rows[i].wakes)
			copy[n++] = __lock_rows[i];
	qsort(copy, n, sizeof(*copy), by_cost);
	line_put(&l, "lockstat: process ");
	line_put_number(&l, getpid(), 10, 0);
	line_put(&l, ", ");
	line_put(&l, __argv0 != NULL ? __argv0 : "?");
	line_write(&l);
	say_titles(&l);
	for (unsigned i = 0; i < n; i++)
		say_row(&l, &copy[i]);
	say_schedlock(&l);
	if (__lockstat_untimed != 0) {
		line_put(&l, "lockstat: holds that were not timed, since a thread held more than ");
		line_put_number(&l, LOCKS_HELD, 10, 0);
		line_put(&l, " locks, or for want of memory: ");
		line_put_number(&l, __lockstat_untimed, 10, 0);
		line_write(&l);
	}
	munmap(copy, size);
}
