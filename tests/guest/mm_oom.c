/*
 * mm_oom.c - memory runs out: a call returns ENOMEM, an access kills only its process, the
 * system lives on, and all of the memory comes back.
 *
 * Started with a word, it is one of the processes that take all memory.
 */
#include "mmtest.h"

#define PATH "/bin/mm_oom"
#define CHUNK (1ul << 20)
#define LAZY (ANON | WEFT_MAP_NORESERVE)

static void touch(char *p, size_t len)
{
	for (size_t i = 0; i < len; i += PAGE)
		p[i] = 1;
}

/* Takes memory until less than `left` pages are free. */
static void fill(uint64_t left)
{
	while (free_pages() > left) {
		long p = map(NULL, CHUNK, RW, LAZY);
		if (p < 0)
			break;
		uint64_t some = free_pages() - left;
		touch((char *)p, some * PAGE < CHUNK ? some * PAGE : CHUNK);
	}
}

/* More memory than there is, by access. */
static int hog(void)
{
	for (;;) {
		long p = map(NULL, CHUNK, RW, LAZY);
		if (p < 0)
			return 2;
		touch((char *)p, CHUNK);
	}
}

/* The same by the kernel's hand: a copy fails instead. */
static int copies(void)
{
	for (;;) {
		long p = map(NULL, CHUNK, RW, LAZY);
		if (p < 0)
			return 2;
		for (size_t i = 0; i < CHUNK; i += PAGE)
			if (!writable((char *)p + i))
				return 0;
	}
}

/* So many mappings that there is no memory for one more. */
static int mappings(void)
{
	const size_t n = 1ul << 20;

	fill(6000);
	long p = map(NULL, n * PAGE, R, ANON);
	if (p < 0 || !readable((char *)p + PAGE))
		return 2;
	for (size_t i = 0; i < n; i += 2) {
		long r = __sys_mprotect((char *)p + i * PAGE, PAGE, NONE);
		if (r == -ENOMEM) {
			/* Nothing was changed, and what can be given back can be. */
			if (!readable((char *)p + PAGE))
				return 3;
			return __sys_munmap((void *)p, n * PAGE) == 0 ? 0 : 4;
		}
		if (r != 0)
			return 5;
	}
	return 6;
}

/* What is reserved is there: the call fails, no access does. */
static int reserves(void)
{
	enum { MAX = 4096 };
	static char *p[MAX];
	unsigned n = 0;
	long r = 0;

	while (n < MAX && (r = map(NULL, CHUNK / 4, RW, ANON)) > 0)
		p[n++] = (char *)r;
	if (n < 10 || r != -ENOMEM)
		return 2;
	/* A mapping without a reservation takes none of it either. */
	long lazy = map(NULL, 4096 * CHUNK, RW, LAZY);
	for (size_t i = 0; lazy > 0 && writable((char *)lazy + i); i += PAGE)
		;
	while (n-- > 0)
		touch(p[n], CHUNK / 4);
	return 0;
}

static int brk_until_refused(void)
{
	char *p = (char *)__sys_brk(NULL);
	for (unsigned i = 0; i < 1u << 20; i++) {
		if (__sys_brk(p + 64 * CHUNK) == (long)p)
			return i > 0 ? 0 : 2;
		p += 64 * CHUNK;
	}
	return 3;
}

static void sleep_for_ever(struct raw *r)
{
	for (;;)
		__sys_lwp_park(NULL, 0);
}

/* LWPs until the kernel has no memory for another. */
static int lwps(void)
{
	fill(4000);
	char *stack = must_map(PAGE, RW);
	struct raw r = {.fn = sleep_for_ever};
	for (unsigned i = 0; i < 1000000; i++) {
		struct lwp_create c = {
			.entry = (uint64_t)raw_main,
			.stack = (uint64_t)stack + PAGE - 8,
			.arg = (uint64_t)&r,
			.flags = LWP_SUSPENDED,
		};
		long id = __sys_lwp_create(&c);
		if (id == -EAGAIN)
			return i > 10 ? 0 : 2;
		if (id < 0)
			return 3;
	}
	return 4;
}

/*
 * Starts programs when there is no memory at all, and then again with a little more each
 * time: so it runs out at every step of a start.
 */
static int spawns(void)
{
	unsigned failed = 0, done = 0;
	long p = map(NULL, 1ul << 40, RW, ANON | WEFT_MAP_NORESERVE);
	size_t n = 0;

	/* All that the calls below touch of our own is there from now on. */
	if (p < 0 || run_child("/bin/true", "x") != EXITED(0))
		return 2;
	while (writable((char *)p + n * PAGE))
		n++;
	for (unsigned i = 0; i < 60; i++) {
		long r = run_child("/bin/true", "x");
		if (r == EXITED(0))
			done++;
		else if (r == KILLED(WEFT_SIGKILL) || r == -ENOMEM || r == -EAGAIN)
			failed++;
		else
			return 3;
		n -= 8;
		__sys_munmap((char *)p + n * PAGE, 8 * PAGE);
	}
	return failed > 0 && done > 0 ? 0 : 4;
}

static const struct {
	const char *what;
	int (*fn)(void);
	int status;
} takers[] = {
	{"hog", hog, KILLED(WEFT_SIGKILL)},    {"copies", copies, EXITED(0)},
	{"reserves", reserves, EXITED(0)},     {"mappings", mappings, EXITED(0)},
	{"brk", brk_until_refused, EXITED(0)}, {"lwps", lwps, EXITED(0)},
	{"spawns", spawns, EXITED(0)},
};
#define TAKERS (sizeof(takers) / sizeof(takers[0]))

/* A leak of one page in two thousand would show. */
#define SLACK 16

/*
 * The pages that are free when the kernel's caches keep nothing.  A reservation of more than there is
 * makes the kernel free what they keep, before it is refused: free stacks alone are some 500 pages.
 */
static uint64_t pages_back(void)
{
	struct weft_sysinfo i;

	__sys_sysinfo(&i);
	is("more than there is", map(NULL, i.mem_total, RW, ANON), -ENOMEM);
	return free_pages();
}

static void one_after_another(void)
{
	char name[64];
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < TAKERS; i++) {
			uint64_t before = pages_back();
			is(takers[i].what, run_child(PATH, takers[i].what), takers[i].status);
			long lost = before - pages_back();
			/* The first time, caches may grow to what they will keep. */
			if (round == 0)
				continue;
			snprintf(name, sizeof(name), "%s: its memory comes back", takers[i].what);
			tap_report(lost < SLACK, name, "%ld pages are missing", lost);
		}
	}
}

static void two_at_once(void)
{
	int status[2] = {-1, -1};
	long pid[2];
	uint64_t before = pages_back();
	char *mine = must_map(PAGE, RW);

	mine[0] = 77;
	for (int i = 0; i < 2; i++)
		pid[i] = start_child(PATH, "hog");
	for (int i = 0; i < 2; i++)
		__sys_waitpid(pid[i], &status[i], 0, NULL);
	ok("two at once", status[0] == KILLED(WEFT_SIGKILL) && status[1] == KILLED(WEFT_SIGKILL));
	is("who took nothing is unharmed", mine[0], 77);
	long lost = before - pages_back();
	tap_report(lost < SLACK, "their memory comes back", "%ld pages are missing", lost);
}

int main(int argc, char **argv)
{
	for (unsigned i = 0; argc > 1 && i < TAKERS; i++)
		if (strcmp(argv[1], takers[i].what) == 0)
			return takers[i].fn();
	one_after_another();
	two_at_once();
	return tap_done();
}
