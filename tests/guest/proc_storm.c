/*
 * proc_storm.c - fork, exec, spawn, exit and LWPs by the thousand beside the exhaustion of
 * memory: calls fail with ENOMEM or EAGAIN, processes may be killed for memory, the kernel
 * lives on, and when all are gone it has the pages that it had before.  argv[1]: children of
 * a worker in each round.
 *
 * A round that is like the last one leaves the caches as the last one left them, so what is
 * compared is the end of the first round with that of the last.
 */
#include "mmtest.h"
#include <stdlib.h>

#define WORKERS 4
#define ROUNDS 4
#define HOG_PAGES 2048
#define SLACK 128 /* pages; a page lost by every tenth child would be more */

static unsigned children = 150;
static uint32_t seed;

/* In the first shared page, behind what children count in: a round begins when all are ready. */
struct gate {
	uint32_t ready, open; /* atomic */
};
#define GATE(shared) ((struct gate *)((shared) + 64))

static void sleep_a_little(struct raw *r)
{
	const struct weft_timespec ts = {.nsec = 100000};
	__sys_lwp_sleep(WEFT_CLOCK_MONOTONIC, 0, &ts);
}

static void spin_for_ever(struct raw *r)
{
	for (;;)
		__asm__ volatile("");
}

/* Memory that is not reserved, until a touch kills us or there is enough. */
static int hog(void)
{
	long p = map(NULL, HOG_PAGES * PAGE, RW, ANON | WEFT_MAP_NORESERVE);

	for (size_t i = 0; p > 0 && i < HOG_PAGES; i++)
		((volatile char *)p)[i * PAGE] = 1;
	return 0;
}

/* Writes to a part of what it has from its parent. */
static int copies(char *shared, char *mine)
{
	for (size_t i = 0; i < 64; i += 3)
		mine[i * PAGE] = i;
	shared[next_random(&seed) % 64 * PAGE]++;
	return 0;
}

/* LWPs that sleep, spin, or have gone, when the process ends. */
static int with_lwps(void)
{
	static struct raw r[6];
	static char stacks[6][4096];

	for (unsigned i = 0; i < 6; i++) {
		r[i].fn = i == 5 ? spin_for_ever : sleep_a_little;
		struct lwp_create c = {
			.entry = (uint64_t)raw_main,
			.stack = ((uint64_t)(stacks[i] + sizeof(stacks[i])) & ~15ull) - 8,
			.arg = (uint64_t)&r[i],
			.flags = i % 2 ? LWP_DETACHED : 0,
		};
		long id = __sys_lwp_create(&c);
		if (id < 0 && id != -EAGAIN)
			return 9;
	}
	return 0;
}

/* A fork by one LWP while others write to memory, and an exec of the grandchild. */
static int generations(void)
{
	int status = 0;
	char *argv[] = {"true", NULL};

	if (with_lwps() != 0)
		return 9;
	long pid = __sys_fork();
	if (pid == 0) {
		long r = __sys_execve("/bin/true", argv, environ);
		__sys_exit(r == -ENOMEM || r == -EAGAIN ? 0 : 9);
	}
	if (pid < 0)
		return pid == -ENOMEM || pid == -EAGAIN ? 0 : 9;
	__sys_waitpid(pid, &status, 0, NULL);
	return status == 0 || status == KILLED(WEFT_SIGKILL) ? 0 : 9;
}

/* One child, of a kind by chance.  0: it ended as it may; 1: as it may not. */
static int one_child(char *shared, char *mine)
{
	unsigned kind = next_random(&seed) % 16;
	int status = 0;
	long pid;

	if (kind < 3) {
		pid = start_child("/bin/true", "x");
	} else {
		pid = __sys_fork();
		if (pid == 0)
			__sys_exit(kind < 5    ? hog()
				   : kind < 9  ? copies(shared, mine)
				   : kind < 13 ? with_lwps()
					       : generations());
	}
	if (pid < 0)
		return pid != -ENOMEM && pid != -EAGAIN;
	if (kind == 12)
		__sys_kill(pid, WEFT_SIGKILL);
	while (__sys_waitpid(pid, &status, 0, NULL) != pid)
		;
	return status != 0 && status != KILLED(WEFT_SIGKILL);
}

static int worker(unsigned number, char *shared)
{
	char *mine = (char *)map(NULL, 64 * PAGE, RW, ANON);
	unsigned bad = 0;

	seed = 77 + number;
	if ((long)mine < 0)
		bail("no memory, while there is some");
	for (size_t i = 0; i < 64; i++)
		mine[i * PAGE] = 1;
	__atomic_add_fetch(&GATE(shared)->ready, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&GATE(shared)->open, __ATOMIC_ACQUIRE))
		__sys_lwp_yield();
	for (unsigned i = 0; i < children; i++)
		bad += one_child(shared, mine);
	return bad != 0;
}

static unsigned one_round(char *shared)
{
	struct gate *gate = GATE(shared);
	long pid[WORKERS];
	unsigned bad = 0;

	*gate = (struct gate){0, 0};
	for (unsigned i = 0; i < WORKERS; i++) {
		pid[i] = __sys_fork();
		if (pid[i] == 0)
			__sys_exit(worker(i, shared));
		if (pid[i] < 0)
			bail("fork, while there is memory");
	}
	while (__atomic_load_n(&gate->ready, __ATOMIC_ACQUIRE) < WORKERS)
		__sys_lwp_yield();
	__atomic_store_n(&gate->open, 1, __ATOMIC_RELEASE);
	for (unsigned i = 0; i < WORKERS; i++) {
		int status = 0;
		__sys_waitpid(pid[i], &status, 0, NULL);
		/* A worker has reserved all that it needs but its stack. */
		bad += status != 0 && status != KILLED(WEFT_SIGKILL);
	}
	return bad;
}

int main(int argc, char **argv)
{
	uint64_t first = 0;
	unsigned bad = 0;

	if (argc > 1)
		children = atoi(argv[1]);
	char *shared = (char *)map(NULL, 64 * PAGE, RW, WEFT_MAP_SHARED | WEFT_MAP_ANON);
	if ((long)shared < 0)
		bail("no shared memory");
	for (unsigned i = 0; i < 64; i++)
		shared[i * PAGE] = 1;
	for (unsigned i = 0; i < ROUNDS; i++) {
		bad += one_round(shared);
		if (i == 0)
			first = free_pages();
	}
	is("children end as they may", bad, 0);
	long lost = first - free_pages();
	printf("# %ld pages fewer are free than after the first round\n", lost);
	tap_report(lost < SLACK, "the pages are back", "%ld are missing", lost);
	return tap_done();
}
