/*
 * main.c - micro: what operations of the kernel and of libthread cost.
 *
 * micro [-p PRELUDE] [FIGURE...]
 *
 * Prints one line a figure,
 *
 * NAME CPUS NANOSECONDS
 *
 * where CPUS is the number of CPUs of the machine.  In exact timing, at the default speed of 1,000
 * million instructions a second, nanoseconds are instructions.  Without arguments it
 * measures all figures that are defined for this number of CPUs; in model n1, those that a single LWP can
 * measure.
 *
 * A figure is the mean over many turns of a loop.  Nothing is subtracted.  A figure includes the
 * loop itself (two instructions, and the passing of the arguments).  It also includes the two calls
 * of gethrtime(), but the number of turns makes these negligible.  Some turns before are not
 * measured, because the cost of a first use is not the cost of an operation.
 *
 * Each figure is measured in a process of its own, so that it does not depend on the figures
 * measured before.  Figures that end in _mt run with LIBTHREAD_OPTIONS=malloc=mt, unless the
 * variable is set.  -p names what that process does first (prelude.c); NAME then ends in
 * _after_PRELUDE.  Without -p, on one CPU, figures of threads that hand over to each other are also
 * measured after an earlier pair.
 */
#include <err.h>
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "micro.h"

extern char **environ;

#define ON(cpus) (1u << (cpus))
#define ONE ON(1)
#define ONE_OR_TWO (ON(1) | ON(2))
#define SEVERAL (ON(2) | ON(4) | ON(8))
#define AGAIN 1u        /* on one CPU, measured after an earlier pair, too */
#define TWO_LWPS ON(31) /* its threads wait for each other, each on an LWP of its own */

static const struct figure {
	const char *name;
	unsigned cpus; /* CPU counts that it is defined for; AGAIN */
	int64_t (*measure)(long n);
	long n;
	long before; /* turns that are not counted; 0: the function makes some itself */
} figures[] = {
	{"null_syscall", ONE, null_syscall, 20000, 20},
	{"getppid", ONE, getppid_, 20000, 20},
	{"kill", ONE, kill_, 20000, 20},
	{"clock_gettime", ONE, clock_gettime_, 20000, 20},
	{"mutex", ONE, mutex_free, 20000, 20},
	{"mutex_contended", SEVERAL, mutex_contended, 4800, 0},
	{"rwlock_read", ONE, rwlock_free, 20000, 20},
	{"semaphore", ONE, sema_free, 20000, 20},
	{"getspecific", ONE, getspecific, 20000, 20},
	{"ui_mutex", ONE, ui_mutex, 20000, 20},
	{"ui_getspecific", ONE, ui_getspecific, 20000, 20},
	{"nanosleep_zero", ONE, nanosleep_zero, 20000, 20},
	{"sigmask", ONE, sigmask, 20000, 20},
	{"create_join", AGAIN | ONE_OR_TWO, create_join, 500, 20},
	{"yield_pair", AGAIN | ONE, yield_pair, 2000, 0},
	{"yield_masked", ONE, yield_masked, 2000, 0},
	{"semaphore_round_trip", AGAIN | ONE_OR_TWO, sema_round_trip, 1000, 0},
	{"timed_semaphore_round_trip", AGAIN | ONE_OR_TWO, timed_sema_round_trip, 1000, 0},
	{"condition_round_trip", AGAIN | ONE_OR_TWO, cond_round_trip, 1000, 0},
	{"pingpong_iteration", AGAIN | ONE_OR_TWO, pingpong, 1000, 0},
	{"malloc_free", ONE, malloc_free, 20000, 20},
	{"malloc_free_mt", ONE, malloc_free, 20000, 20},
	/* Only on request: the figures of threads that compete for one lock are not stable. */
	{"malloc_contended", 0, malloc_contended, 6400, 640},
	{"malloc_contended_mt", ON(4), malloc_contended, 6400, 640},
	{"park_unpark_round_trip", TWO_LWPS | AGAIN | ONE_OR_TWO, park_unpark, 1000, 0},
	{"park_handoff_round_trip", TWO_LWPS | AGAIN | ONE_OR_TWO, park_handoff, 1000, 0},
	{"lwp_mutex", ONE, lwp_mutex, 2000, 20},
	{"shared_mutex", ONE, shared_mutex, 20000, 20},
	{"robust_mutex", ONE, robust_mutex, 20000, 20},
	{"shared_semaphore_round_trip", TWO_LWPS | AGAIN | ONE_OR_TWO, shared_sema_round_trip, 8000,
	 0},
	{"kobj_mutex", ONE, kobj_mutex, 2000, 20},
	{"kobj_event_round_trip", TWO_LWPS | AGAIN | ONE_OR_TWO, kobj_event_round_trip, 8000, 0},
	{"lwp_create_exit", ONE, lwp_create_exit, 500, 20},
	{"page_fault", ONE, page_fault, 1000, 100},
	{"mmap_munmap", ONE, map_unmap, 1000, 20},
	{"mmap_touch_munmap", ONE, map_touch_unmap, 500, 20},
	{"tlb_shootdown", TWO_LWPS | ONE | SEVERAL, tlb_shootdown, 300, 0},
	{"spawn_wait", ONE, spawn_wait, 40, 2},
};
#define NFIGURES (sizeof(figures) / sizeof(figures[0]))

void must(int error, const char *what)
{
	if (error != 0) {
		errno = error;
		err(1, "%s", what);
	}
}

/* Model n1 has one LWP: a thread that sleeps in the kernel, or waits in a loop, stops the thread that it waits for. */
static bool can_be_measured(const struct figure *f)
{
	const char *model = getenv("LIBTHREAD");

	return !(f->cpus & TWO_LWPS) || model == NULL || strcmp(model, "n1") != 0;
}

/* Prints hundredths, rounded, because a figure of a few instructions needs them. */
static void measure(const struct figure *f, const char *before)
{
	int64_t hundredths;

	if (!can_be_measured(f))
		errx(2, "%s: wants two LWPs, and model n1 has one", f->name);
	if (before != NULL && !prelude(before))
		errx(2, "-p: pair, fork, sleep or idle, not %s", before);
	if (f->before != 0)
		f->measure(f->before);
	hundredths = (f->measure(f->n) * 100 + f->n / 2) / f->n;
	printf("%s%s%s %u %lld.%02lld\n", f->name, before != NULL ? "_after_" : "",
	       before != NULL ? before : "", __ncpu, (long long)hundredths / 100,
	       (long long)hundredths % 100);
}

static void measure_in_child(const struct figure *f, const char *before)
{
	const char *options = getenv("LIBTHREAD_OPTIONS");
	char *argv[] = {(char *)"micro", (char *)f->name, NULL, NULL, NULL};
	int status;
	pid_t pid;

	if (before != NULL) {
		argv[1] = (char *)"-p";
		argv[2] = (char *)before;
		argv[3] = (char *)f->name;
	}
	if (options == NULL && strstr(f->name, "_mt") != NULL)
		setenv("LIBTHREAD_OPTIONS", "malloc=mt", 1);
	must(posix_spawnp(&pid, "micro", NULL, NULL, argv, environ), "micro");
	if (options == NULL)
		unsetenv("LIBTHREAD_OPTIONS");
	if (waitpid(pid, &status, 0) != pid)
		err(1, "waitpid");
	if (status != 0)
		errx(1, "%s: status %#x", f->name, status);
}

static const struct figure *find(const char *name)
{
	for (size_t i = 0; i < NFIGURES; i++)
		if (strcmp(figures[i].name, name) == 0)
			return &figures[i];
	fprintf(stderr, "micro: no figure %s; there are:", name);
	for (size_t i = 0; i < NFIGURES; i++)
		fprintf(stderr, " %s", figures[i].name);
	fprintf(stderr, "\n");
	exit(2);
}

int main(int argc, char **argv)
{
	const char *before = NULL;

	if (argc > 1 && strcmp(argv[1], "-p") == 0) {
		if (argc == 2)
			errx(2, "-p: pair, fork, sleep or idle");
		before = argv[2];
		argv += 2;
		argc -= 2;
	}
	if (argc > 1) {
		for (int i = 1; i < argc; i++)
			measure(find(argv[i]), before);
		return 0;
	}
	for (size_t i = 0; i < NFIGURES; i++)
		if (__ncpu < 31 && figures[i].cpus & ON(__ncpu) && can_be_measured(&figures[i])) {
			measure_in_child(&figures[i], before);
			if (before == NULL && __ncpu == 1 && figures[i].cpus & AGAIN)
				measure_in_child(&figures[i], "pair");
		}
	return 0;
}
