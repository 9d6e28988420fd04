/*
 * labshare.c PART [ROUNDS [CHANCE]] - how LWPs that compute share the CPUs.
 */
#include "labdisp.h"

/* --- slices: LWPs of one priority take turns ------------------------------------------------------- */

#define SLICE 1000000
#define SHARERS 3

static void slices_game(unsigned me)
{
	int64_t chunk, last, all = 0;
	unsigned n = 0;

	bind_and_look(ncpu - 1);
	set_priority(20, SLICE);
	get_ready();
	until_ready(SHARERS);
	chunk = last = gethrtime();
	while (n < rounds && all < (int64_t)(rounds + 2) * SLICE && !crew_over) {
		int64_t now = gethrtime();
		if (now - last > SLICE / 4 && !crew_over) {
			long ran = last - chunk, away = now - last;
			if (n > 0) {
				EXPECT3(ran > SLICE * 8 / 10 && ran < SLICE * 12 / 10,
					"LWPs of one priority have slices of %ld ns, and one runs "
					"for %ld ns",
					SLICE, ran, 0);
				EXPECT3(away > SLICE * 16 / 10 && away < SLICE * 24 / 10,
					"three LWPs take turns with slices of %ld ns, and one of "
					"them waits %ld "
					"ns for its turn",
					SLICE, away, 0);
			}
			n++;
			all += ran;
			chunk = now;
		}
		EXPECT3(crew_over || now - chunk < 2 * SLICE,
			"an LWP runs for %ld ns with a slice of %ld ns, although others of its "
			"priority wait",
			now - chunk, SLICE, 0);
		last = now;
	}
	__atomic_store_n(&crew_over, true, __ATOMIC_RELEASE); /* the others would be alone */
}

static void slices(void)
{
	crew_pause = 500000;
	play("slices", SHARERS, 60, slices_game);
}

/* --- work, fair: more LWPs than CPUs --------------------------------------------------------------- */

#define WORK 1500000 /* ns of computing for each LWP */

/* Computes for so long by its own count of the time in which it has a CPU. */
static void work_game(unsigned me)
{
	uint32_t state = chance + 31 * me + 1;
	int64_t todo = WORK, last;

	set_priority(20, SLICE);
	last = gethrtime();
	while (todo > 0 && !crew_over) {
		int64_t now = gethrtime();
		todo -= now - last < 2000 ? now - last : 0; /* more: another LWP has run */
		last = now;
		if (draw(&state, 3000) == 0) {
			nap(5000);
			last = gethrtime();
		}
	}
}

static void work(void)
{
	for (unsigned r = 0; r < rounds; r++) {
		int64_t start = gethrtime();
		crew_pause = 100000;
		play("work", 2 * ncpu, 40, work_game);
		long took = gethrtime() - start;
		lab_check(took < 2 * WORK * 13 / 10 + 400000, "work",
			  "%u LWPs compute for %d ns each on %u CPUs, and need %ld ns: a CPU is "
			  "idle, or "
			  "runs no LWP, while LWPs wait",
			  2 * ncpu, WORK, ncpu, took);
	}
}

#define SHARE 12000000    /* ns */
static int64_t got[CREW]; /* in the SHARE ns before fair_end: what came earlier does not count */
static int64_t fair_end;

static void fair_game(unsigned me)
{
	int64_t last, all = 0, sum = 0;

	set_priority(20, SLICE);
	get_ready();
	until_ready(ncpu + 1);
	if (me == 0)
		__atomic_store_n(&fair_end, gethrtime() + SHARE, __ATOMIC_RELEASE);
	last = gethrtime();
	for (;;) {
		int64_t now = gethrtime(), end = __atomic_load_n(&fair_end, __ATOMIC_ACQUIRE);
		if (now - last < 2000) {
			all += now - last;
			if (end != 0 && last >= end - SHARE)
				sum += now - last;
		}
		last = now;
		if (end != 0 && now > end)
			break;
		if (end == 0 && (crew_over || all > SHARE))
			break;
	}
	got[me] = sum;
}

static void fair(void)
{
	long should = (long)SHARE * ncpu / (ncpu + 1);

	ready = 0;
	fair_end = 0;
	/* With pauses of a slice this LWP would run at each end of a slice on its CPU. */
	crew_pause = 1300000;
	play("fair", ncpu + 1, 60, fair_game);
	for (unsigned i = 0; i <= ncpu; i++)
		lab_check(got[i] > should * 78 / 100 && got[i] < should * 122 / 100, "fair",
			  "%u LWPs of one priority share %u CPUs for %d ns, and one has got %ld "
			  "ns; its "
			  "share is %ld ns",
			  ncpu + 1, ncpu, SHARE, (long)got[i], should);
}

int main(int argc, char **argv)
{
	static const struct part parts[] = {
		{"slices", slices},
		{"work", work},
		{"fair", fair},
	};

	return dispatch_part(parts, sizeof(parts) / sizeof(parts[0]), argc, argv);
}
