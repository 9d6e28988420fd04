/*
 * schedlock.c - _schedlock: the slow path, and its statistics.  mxn.h says how holds are counted.
 */
#include "mxn.h"

_Static_assert(SCHEDLOCK_RELEASE == 0x80000001 && offsetof(struct schedlock, lock) == 0,
	       "switch.S");

struct schedlock _schedlock = {.lock.held = SAMPLE_NOW};

/* Acquires l if it is free, or if it only looks held because a sample is due. */
static bool schedlock_take(struct ilock *l)
{
	uint32_t seen = l->held;

	if (!(seen & ILOCK_HELD))
		return ilock_try(l);
	if (seen != SAMPLE_DUE ||
	    !__atomic_compare_exchange_n(&l->held, &seen, ILOCK_HELD | SAMPLE_NOW, false,
					 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return false;
	_schedlock.stats.acquisitions += HOLDS_A_SAMPLE;
	_schedlock.since = gethrtime();
	this_section()->nopreempt += SECTION_TIMED;
	return true;
}

void __schedlock_wait(struct ilock *l)
{
	unsigned turns;

	if (schedlock_take(l))
		return;
	turns = __ilock_wait(l, schedlock_take);
	_schedlock.stats.contentions++;
	_schedlock.stats.yields += turns;
}

/*
 * A timed hold is over; the critical section of this hold is not over yet.  The next sample is many
 * holds away.  So it is very unlikely that the next timed holder is here too, and the statistics
 * need no lock.
 */
void __schedlock_timed(void)
{
	struct thr_schedlock_stats *s = &_schedlock.stats;
	int64_t held = gethrtime() - _schedlock.since;

	s->hold_samples++;
	s->hold_ns += held;
	if (held > (int64_t)s->hold_max_ns)
		s->hold_max_ns = held;
}
