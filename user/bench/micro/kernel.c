/*
 * kernel.c - what the kernel's calls cost without the library.
 *
 * LWPs that run C code are bound threads.  They make their system calls themselves.
 */
#include <err.h>
#include <errno.h>
#include <sched.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <weft/lwp.h>
#include <weft/sys.h>
#include "micro.h"

extern char **environ;

#define PAGE WEFT_PAGE_SIZE

/* --- park and unpark -------------------------------------------------------------------- */

static volatile uint32_t lwp[2]; /* ids; 0: not there yet */
static volatile uint32_t turn;
static bool handoff; /* unpark and park in one call */

/* A return from park says nothing, because a late permit of another thread may be left.  The turn
 * decides. */
static void pass(uint32_t self, uint32_t other)
{
	while (turn != self)
		__sys_lwp_park(NULL, 0);
	turn = !self;
	if (handoff) {
		__sys_lwp_park(NULL, other);
	} else {
		__sys_lwp_unpark(other);
		__sys_lwp_park(NULL, 0);
	}
}

static void park_first(long n)
{
	while (lwp[1] == 0)
		__sys_lwp_yield();
	for (; n > 0; n--)
		pass(0, lwp[1]);
}

static void park_second(long n)
{
	lwp[1] = __sys_lwp_self();
	for (; n > 1; n--)
		pass(1, lwp[0]);
	/* The last turn: no thread will wake us again. */
	while (turn != 1)
		__sys_lwp_park(NULL, 0);
	turn = 0;
	__sys_lwp_unpark(lwp[0]);
}

/* The first thread is unbound in some models, so two other threads make the round trips. */
static void *park_pair(void *arg)
{
	pthread_attr_t attr;

	bound(&attr);
	lwp[0] = __sys_lwp_self();
	lwp[1] = 0;
	turn = 0;
	*(int64_t *)arg = pair(park_first, park_second, &attr, *(int64_t *)arg);
	return NULL;
}

static int64_t park(long n)
{
	pthread_attr_t attr;
	pthread_t first;
	int64_t result = n;

	bound(&attr);
	must(pthread_create(&first, &attr, park_pair, &result), "pthread_create");
	must(pthread_join(first, NULL), "pthread_join");
	return result;
}

int64_t park_unpark(long n)
{
	handoff = false;
	return park(n);
}

int64_t park_handoff(long n)
{
	handoff = true;
	return park(n);
}

/* --- LWPs ----------------------------------------------------------------------------------- */

/* The LWP has no thread, so it may use nothing of the library. */
static void leave(void)
{
	__sys_lwp_exit();
}

/* Includes the return of lwp_wait. */
int64_t lwp_create_exit(long n)
{
	static char stack[8192] __attribute__((aligned(16)));
	int64_t start = gethrtime();

	for (long i = 0; i < n; i++) {
		struct lwp_create c = {
			.entry = (uint64_t)leave,
			.stack = (uint64_t)stack + sizeof(stack) - 8,
		};
		long id = __sys_lwp_create(&c);

		if (id < 0)
			must(-id, "lwp_create");
		__sys_lwp_wait(id, NULL);
	}
	return gethrtime() - start;
}

/* --- memory ----------------------------------------------------------------------------------- */

static char *map_with(long pages, int prot)
{
	void *p = mmap(NULL, pages * PAGE, prot, MAP_PRIVATE | MAP_ANON, -1, 0);

	if (p == MAP_FAILED)
		err(1, "mmap");
	return p;
}

static char *map(long pages)
{
	return map_with(pages, PROT_READ | PROT_WRITE);
}

static void touch(volatile char *p, long pages)
{
	for (; pages > 0; pages--, p += PAGE)
		*p = 1;
}

/* The first store to a page of anonymous memory. */
int64_t page_fault(long n)
{
	char *p = map(n);
	int64_t start = gethrtime(), end;

	touch(p, n);
	end = gethrtime();
	munmap(p, n * PAGE);
	return end - start;
}

/*
 * The kernel keeps mappings in trees.  It is chance whether a tree has one node more above the place of a
 * new mapping, so the calls are made with TREES numbers of mappings in turn.
 */
#define TREES 32

static int64_t map_and_unmap(long n, bool touches)
{
	void *more[TREES];
	int64_t sum = 0;

	for (int k = 0; k < TREES; k++) {
		int64_t start = gethrtime();

		for (long i = k; i < n; i += TREES) {
			char *p = map(1);

			if (touches)
				touch(p, 1);
			munmap(p, PAGE);
		}
		sum += gethrtime() - start;
		/* Neighbours of one protection would be one mapping. */
		more[k] = map_with(1, k % 2 ? PROT_READ : PROT_NONE);
	}
	for (int k = 0; k < TREES; k++)
		munmap(more[k], PAGE);
	return sum;
}

int64_t map_unmap(long n)
{
	return map_and_unmap(n, false);
}

int64_t map_touch_unmap(long n)
{
	return map_and_unmap(n, true);
}

static volatile bool stop;
static unsigned at_work; /* atomic */

static void *stay_on_cpu(void *arg)
{
	__atomic_add_fetch(&at_work, 1, __ATOMIC_RELAXED);
	while (!stop)
		;
	return NULL;
}

/*
 * mprotect removes the right to write to a page, while all other CPUs run threads of the
 * process.  Each of these CPUs has to drop its TLB entry of the page before the call returns.
 */
int64_t tlb_shootdown(long n)
{
	unsigned others = __ncpu - 1;
	pthread_t threads[WEFT_MAXCPU];
	pthread_attr_t attr;
	char *p = map(n);
	int64_t start, end;

	touch(p, n);
	bound(&attr);
	stop = false;
	at_work = 0;
	for (unsigned i = 0; i < others; i++)
		must(pthread_create(&threads[i], &attr, stay_on_cpu, NULL), "pthread_create");
	while (__atomic_load_n(&at_work, __ATOMIC_RELAXED) < others)
		sched_yield();
	start = gethrtime();
	for (long i = 0; i < n; i++)
		mprotect(p + i * PAGE, PAGE, PROT_READ);
	end = gethrtime();
	stop = true;
	for (unsigned i = 0; i < others; i++)
		must(pthread_join(threads[i], NULL), "pthread_join");
	munmap(p, n * PAGE);
	return end - start;
}

/* --- processes -------------------------------------------------------------------------------- */

int64_t spawn_wait(long n)
{
	char *argv[] = {(char *)"true", NULL};
	int64_t start = gethrtime();

	for (long i = 0; i < n; i++) {
		pid_t pid;

		must(posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ), "/bin/true");
		if (waitpid(pid, NULL, 0) != pid)
			err(1, "waitpid");
	}
	return gethrtime() - start;
}
