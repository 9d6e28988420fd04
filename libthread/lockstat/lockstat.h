/*
 * lockstat.h - lock statistics (LIBTHREAD_OPTIONS=lockstat=..., after Solaris's plockstat).
 *
 * Off, they cost nothing at all, but for a test on some ways into the kernel.  The files of sync/
 * are compiled twice: as they are, and once more with COUNTED (lockstat/mutex.c and so on), where
 * COUNT counts, behind functions that keep the times, __stat_NAME.  At the start of a process that
 * wants statistics, each function that LOCKSTAT_ENTRY names gets a jump to its __stat_ one as its
 * first instruction (start.c): what DTrace does for plockstat, in its way.
 *
 * Rows of the table (table.c) are kept by lock and caller, and only ever grow.  All counters are
 * atomic and nothing takes a lock, so that what is measured is not disturbed by more than the
 * instructions that it takes.
 */
#pragma once
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include "../core/core.h"

/* What happens to one thread in one operation. */
struct lock_counts {
	uint32_t turns;  /* of spinning */
	uint32_t spun;   /* spins that got the mutex */
	uint32_t blocks; /* times that it went to sleep, or on the way to it was let go */
	uint32_t wakes;  /* threads that it let go */
};

enum lock_kind { LOCK_MUTEX = 1, LOCK_READ, LOCK_WRITE, LOCK_COND, LOCK_SEMA };

/* All but the first two: atomic counters. */
struct lock_row {
	uint64_t lock;   /* address, and the kind from bit LOCK_KIND on; atomic: 0, then constant */
	uint64_t caller; /* the same: where the call returns to */
	uint64_t count;  /* acquisitions, of a condition variable waits */
	uint64_t contended;
	uint64_t turns, spun, blocks, wakes;
	uint64_t wait_ns, hold_ns, hold_max;
};

#define LOCK_KIND 56
#define LOCK_ROWS 8192 /* a power of 2; one more stands for all that found no room */
#define LOCKS_HELD 16  /* holds of one thread that are timed at once */

/* A thread's own; only it, and handlers that interrupt it, use it. */
struct lockstat {
	struct lock_counts now;
	unsigned nheld;
	struct held {
		const void *lock;
		struct lock_row *row;
		int64_t since;
	} held[LOCKS_HELD]; /* the last taken last */
};

#ifdef COUNTED
#define COUNT(what, n) (thread_self()->lockstat->now.what += (n))
#define LOCKSTAT_ENTRY(name)
#else
#define COUNT(what, n) ((void)0)
#define LOCKSTAT_ENTRY(name)                                                                       \
	extern char __stat_##name[];                                                               \
	static const struct lockstat_entry __attribute__((section("lockstat_entries"), used))      \
	entry_of_##name = {(char *)(name), __stat_##name}
#endif

/*
 * In shared.c, which is compiled once, on the way into the kernel: there a test costs nothing that
 * counts.  A thread has no table before its first operation that counts, and never while it is off.
 */
#define COUNT_IN_KERNEL(what, n)                                                                   \
	do {                                                                                       \
		if (unlikely(thread_self()->lockstat != NULL))                                     \
			thread_self()->lockstat->now.what += (n);                                  \
	} while (0)

struct lockstat_entry {
	char *plain, *counted;
};

/* An operation that counts: on its function's stack. */
struct lock_op {
	const void *lock, *caller;
	enum lock_kind kind;
	int64_t start;
	struct lock_counts outer; /* of the operation that a handler has interrupted */
};

#define LOCK_OP(kind, lock) __lock_op(kind, lock, __builtin_return_address(0))

/* table.c.  None blocks. */
extern struct lock_row *__lock_rows; /* LOCK_ROWS + 1, or NULL: off */
extern uint64_t __lockstat_untimed;  /* holds that were not timed, for want of room */
struct lock_op __lock_op(enum lock_kind kind, const void *lock, const void *caller);
/* Ends it: count acquisitions, after a wait if contended. */
struct lock_row *__lock_op_end(const struct lock_op *op, unsigned count, bool contended);
/* Ends it; what it counted belongs to the row, if there is one. */
void __lock_op_end_at(const struct lock_op *op, struct lock_row *row);
/* The caller has the lock from now on; no longer (the row of the last such hold, or NULL). */
void __lock_held(const void *lock, struct lock_row *row);
struct lock_row *__lock_released(const void *lock);
bool __lock_is_held(const void *lock);

/* start.c, before main; report.c */
void *__lockstat_pages(size_t size);
void __lockstat_report(void);
