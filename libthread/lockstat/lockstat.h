/*
 * lockstat.h - lock statistics (LIBTHREAD_OPTIONS=lockstat=..., after Solaris's plockstat).
 *
 * When statistics are off, they cost nothing, except for a test on some ways into the kernel.  The
 * files of sync/ are compiled twice: as they are, and once more with COUNTED (lockstat/mutex.c and
 * so on).  In the second copy COUNT counts.  The functions __stat_NAME call this copy and measure
 * times.  At the start of a process that wants statistics, each function named by LOCKSTAT_ENTRY
 * gets a jump to its __stat_ function as its first instruction (start.c).  DTrace does something
 * similar for plockstat.
 *
 * The table (table.c) has one row for each pair of lock and caller, and only grows.  All counters
 * are atomic, and counting takes no lock.  So the only disturbance of the measured program is the
 * time of the extra instructions.
 */
#pragma once
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include "../core/core.h"

/* The events of one thread in one operation. */
struct lock_counts {
	uint32_t turns;  /* turns of spinning */
	uint32_t spun;   /* spins that got the mutex */
	uint32_t blocks; /* times that the thread went to sleep, or was woken on the way to sleep */
	uint32_t wakes;  /* threads that the thread woke */
};

enum lock_kind { LOCK_MUTEX = 1, LOCK_READ, LOCK_WRITE, LOCK_COND, LOCK_SEMA };

/* All fields after the first two: atomic counters. */
struct lock_row {
	uint64_t lock;   /* address, and the kind from bit LOCK_KIND on; atomic: 0, then constant */
	uint64_t caller; /* atomic: 0, then constant: the return address of the call */
	uint64_t count;  /* acquisitions, or waits for a condition variable */
	uint64_t contended;
	uint64_t turns, spun, blocks, wakes;
	uint64_t wait_ns, hold_ns, hold_max;
};

#define LOCK_KIND 56
#define LOCK_ROWS 8192 /* a power of 2; one more row is for all that found no room */
#define LOCKS_HELD 16  /* holds of one thread that are timed at once */

/* The data of one thread.  Only the thread and the handlers that interrupt it use the data. */
struct lockstat {
	struct lock_counts now;
	unsigned nheld;
	struct held {
		const void *lock;
		struct lock_row *row;
		int64_t since;
	} held[LOCKS_HELD]; /* in the order of acquisition */
};

#ifdef COUNTED
#define COUNTING 1
#define COUNT(what, n) (thread_self()->lockstat->now.what += (n))
#define LOCKSTAT_ENTRY(name)
#else
#define COUNTING 0
#define COUNT(what, n) ((void)0)
#define LOCKSTAT_ENTRY(name)                                                                       \
	extern char __stat_##name[];                                                               \
	static const struct lockstat_entry __attribute__((section("lockstat_entries"), used))      \
	entry_of_##name = {(char *)(name), __stat_##name}
#endif

/*
 * For shared.c, which is compiled only once.  On the way into the kernel the cost of a test does
 * not matter.  A thread has no struct lockstat before its first operation that counts, and never
 * while statistics are off.
 */
#define COUNT_IN_KERNEL(what, n)                                                                   \
	do {                                                                                       \
		if (unlikely(thread_self()->lockstat != NULL))                                     \
			thread_self()->lockstat->now.what += (n);                                  \
	} while (0)

struct lockstat_entry {
	char *plain, *counted;
};

/* An operation that counts.  It is on the stack of its function. */
struct lock_op {
	const void *lock, *caller;
	enum lock_kind kind;
	int64_t start;
	struct lock_counts outer; /* counts of the operation that a handler has interrupted */
};

#define LOCK_OP(kind, lock) __lock_op(kind, lock, __builtin_return_address(0))

/* table.c.  No function blocks. */
extern struct lock_row *__lock_rows; /* LOCK_ROWS + 1, or NULL: off */
extern uint64_t __lockstat_untimed;  /* holds that were not timed, because there was no room */
struct lock_op __lock_op(enum lock_kind kind, const void *lock, const void *caller);
/* Ends the operation: `count` acquisitions, after a wait if contended. */
struct lock_row *__lock_op_end(const struct lock_op *op, unsigned count, bool contended);
/* Ends the operation; its counts are added to the row, if there is one. */
void __lock_op_end_at(const struct lock_op *op, struct lock_row *row);
/*
 * The first function records that the caller owns the lock from now on.  The second ends the last
 * hold of the lock and returns its row, or NULL.
 */
void __lock_held(const void *lock, struct lock_row *row);
struct lock_row *__lock_released(const void *lock);
bool __lock_is_held(const void *lock);

/* start.c, before main; report.c */
void *__lockstat_pages(size_t size);
void __lockstat_report(void);
