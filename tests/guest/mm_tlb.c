/*
 * mm_tlb.c - TLB shoot-down: when a call has taken memory or a right away, no LWP on any
 * CPU can still use it.  Started with a word it is the child of one of the tests.
 *
 *	mm_tlb [MILLISECONDS]
 *
 * Each race lasts that long, not a number of rounds: where the host has fewer CPUs than the
 * guest, a round takes as long as the host likes.
 */
#include "mmtest.h"

#define PATH "/bin/mm_tlb"
#define MAX 16

static int64_t duration = 500; /* of a race, ms */
static struct raw lwp[MAX];
static unsigned nlwp; /* as many as there are CPUs besides ours, at least 2 */
static volatile int stop;
static volatile uint64_t turns[MAX], errors;

static void start_all(void (*fn)(struct raw *))
{
	stop = 0;
	errors = 0;
	for (unsigned i = 0; i < nlwp; i++) {
		turns[i] = 0;
		if (raw_start(&lwp[i], fn, i, 0) != 0)
			bail("lwp_create");
	}
	/* Not before all of them are at work. */
	for (unsigned i = 0; i < nlwp; i++)
		while (turns[i] == 0)
			__sys_lwp_yield();
}

static void stop_all(void)
{
	stop = 1;
	for (unsigned i = 0; i < nlwp; i++)
		__sys_lwp_wait(lwp[i].id, NULL);
}

static int64_t end_of_race(void)
{
	return gethrtime() + duration * 1000000;
}

/* Goes on at once, or now and then lets the others have this CPU too. */
static void pause_in_round(unsigned i, unsigned loops)
{
	if (i % 64 == 0) {
		struct weft_timespec ts = {.nsec = 100000};
		__sys_lwp_sleep(WEFT_CLOCK_MONOTONIC, 0, &ts);
	}
	for (volatile unsigned k = 0; k < loops; k++)
		;
}

/* --- a page that is replaced while others read and write it ------------------------------ */

#define MAGIC 0x5a5a5a5a00000000ull

static volatile uint64_t *page;

/* Word 0 is the number of the round; it never goes back, except for the moment in which the page is
 * new.  Words 8 and up are the writers' own. */
static void read_it(struct raw *r)
{
	uint64_t last = 0;
	while (!stop) {
		uint64_t v = page[0];
		if (v != 0 && (v < last || v >= MAGIC))
			__atomic_fetch_add(&errors, 1, __ATOMIC_RELAXED);
		if (v != 0)
			last = v;
		turns[r->arg]++;
	}
}

static void write_it(struct raw *r)
{
	while (!stop) {
		page[8 + r->arg]++;
		turns[r->arg]++;
	}
}

static void read_or_write(struct raw *r)
{
	if (r->arg % 2)
		write_it(r);
	else
		read_it(r);
}

/*
 * The page is replaced by a fresh one; its old memory most likely becomes the page that
 * is taken next, where a late reader would see MAGIC and a late writer leave a trace.
 */
static void replaced(void)
{
	uint64_t traces = 0;

	page = (uint64_t *)must_map(PAGE, RW);
	start_all(read_or_write);
	int64_t end = end_of_race();
	for (unsigned i = 1; gethrtime() < end; i++) {
		map((void *)page, PAGE, RW, AT);
		volatile uint64_t *other = (uint64_t *)must_map(PAGE, RW);
		other[0] = MAGIC + i;
		page[0] = i;
		pause_in_round(i, 50);
		for (unsigned k = 0; k < nlwp; k++)
			traces += other[8 + k] != 0;
		__sys_munmap((void *)other, PAGE);
	}
	stop_all();
	is("nobody reads a page that was replaced", errors, 0);
	is("nobody writes one", traces, 0);
	__sys_munmap((void *)page, PAGE);
}

/* --- a page that becomes read-only ---------------------------------------------------------- */

/* The kernel writes for them, and says EFAULT where their own store would kill them. */
static void write_by_kernel(struct raw *r)
{
	while (!stop) {
		writable((char *)page + 64 + 16 * r->arg);
		turns[r->arg]++;
	}
}

static void made_read_only(void)
{
	uint64_t copy[MAX * 2], changed = 0, at_work = 0;

	page = (uint64_t *)must_map(PAGE, RW);
	start_all(write_by_kernel);
	int64_t end = end_of_race();
	/* A busy host may let the others work late only. */
	for (unsigned i = 0; gethrtime() < end || at_work == 0; i++) {
		uint64_t before = turns[0];
		__sys_mprotect((void *)page, PAGE, R);
		memcpy(copy, (char *)page + 64, nlwp * 16);
		pause_in_round(i, 200);
		changed += memcmp(copy, (char *)page + 64, nlwp * 16) != 0;
		__sys_mprotect((void *)page, PAGE, RW);
		at_work += turns[0] != before;
	}
	stop_all();
	is("nobody writes a page that is read-only", changed, 0);
	ok("and they were at work meanwhile", at_work > 0);
	__sys_munmap((void *)page, PAGE);
}

/* --- everyone maps and unmaps at once --------------------------------------------------------- */

static void storm(struct raw *r)
{
	uint32_t seed = 7 + r->arg;
	while (!stop) {
		size_t n = 1 + next_random(&seed) % 50;
		long p = map(NULL, n * PAGE, RW, ANON);
		if (p < 0) {
			errors++;
			continue;
		}
		volatile uint64_t *w = (uint64_t *)p;
		for (size_t k = 0; k < n; k++) {
			if (w[k * PAGE / 8] != 0)
				__atomic_fetch_add(&errors, 1, __ATOMIC_RELAXED);
			w[k * PAGE / 8] = (r->arg + 1) << 32 | k;
		}
		size_t some = next_random(&seed) % n;
		__sys_mprotect((void *)p, (some + 1) * PAGE, R);
		for (size_t k = 0; k < n; k++)
			if (w[k * PAGE / 8] != ((r->arg + 1) << 32 | k))
				__atomic_fetch_add(&errors, 1, __ATOMIC_RELAXED);
		__sys_munmap((void *)p, n * PAGE);
		turns[r->arg]++;
	}
}

static void all_at_once(void)
{
	uint64_t before = resident();
	int64_t end = end_of_race();
	start_all(storm);
	while (gethrtime() < end)
		pause_in_round(0, 0);
	stop_all();
	is("everyone finds his own memory, and fresh", errors, 0);
	ok("and leaves none behind", resident() <= before + 4);
}

/* --- an access to an unmapped page is fatal --------------------------------------------------- */

static void touch_until_dead(struct raw *r)
{
	for (;;) {
		page[8 + r->arg]++;
		turns[r->arg]++;
	}
}

static void child(const char *what)
{
	page = (uint64_t *)must_map(PAGE, RW);
	start_all(touch_until_dead);
	if (strcmp(what, "munmap") == 0)
		__sys_munmap((void *)page, PAGE);
	else if (strcmp(what, "none") == 0)
		__sys_mprotect((void *)page, PAGE, NONE);
	else
		__sys_mprotect((void *)page, PAGE, R);
	/* The toucher may be off its CPU for a while; it dies when it is back. */
	struct weft_timespec ts = {.sec = 20};
	__sys_lwp_sleep(WEFT_CLOCK_MONOTONIC, 0, &ts);
	exit(1);
}

/* Its LWPs ran on all CPUs, which keep its address space when they go idle. */
static void leave(struct raw *r)
{
	page[8 + r->arg] = 1;
	turns[r->arg] = 1;
}

static void come_and_go(void)
{
	page = (uint64_t *)must_map(PAGE, RW);
	for (int i = 0; i < 2; i++) {
		start_all(leave);
		stop_all();
	}
	exit(0);
}

int main(int argc, char **argv)
{
	static const char *const ways[] = {"munmap", "none", "read"};
	unsigned bad = 0;

	nlwp = __ncpu > 2 ? __ncpu - 1 : 2;
	if (nlwp > MAX)
		nlwp = MAX;
	if (argc > 1 && strcmp(argv[1], "leave") == 0)
		come_and_go();
	if (argc > 1 && (argv[1][0] < '0' || argv[1][0] > '9'))
		child(argv[1]);
	if (argc > 1)
		duration = atoi(argv[1]);

	replaced();
	made_read_only();
	all_at_once();
	for (unsigned i = 0; i < 3; i++)
		is(ways[i], run_child(PATH, ways[i]), KILLED(WEFT_SIGSEGV));
	for (unsigned i = 0; i < 12; i++)
		bad += run_child(PATH, "leave") != EXITED(0);
	is("processes end while CPUs idle in them", bad, 0);
	return tap_done();
}
