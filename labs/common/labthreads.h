/*
 * labthreads.h - what the tests of a scheduler of threads share: the threads that a part of the test makes, and
 * the choice of the part.
 *
 * The first thread of the program is unbound; it plays the part.  The watchdog (watchdog.h) is a bound
 * thread of its own.
 */
#pragma once
#include "watchdog.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>
#include <weft/lwp.h>

#define THREADS 96
#define MS 1000000l

static uint32_t chance = 1; /* the state of the numbers that are drawn */
static thread_t made[THREADS];
static unsigned made_count;

/* --- counts that other threads change ------------------------------------------------------------ */

static inline unsigned now_in(volatile unsigned *count)
{
	return __atomic_load_n(count, __ATOMIC_ACQUIRE);
}

static inline void add_one(volatile unsigned *count)
{
	__atomic_add_fetch(count, 1, __ATOMIC_ACQ_REL);
}

static inline void turns(unsigned n)
{
	for (volatile unsigned i = 0; i < n; i++)
		;
}

/* --- threads ------------------------------------------------------------------------------------- */

static inline void make_with(void *(*fn)(void *), unsigned me, long flags)
{
	if (thr_create(NULL, 0, fn, (void *)(uintptr_t)me, flags, &made[made_count]) != 0)
		test_fails("thr_create fails for thread %ld", me, 0, 0);
	made_count++;
}

static inline void make(void *(*fn)(void *), unsigned me)
{
	make_with(fn, me, 0);
}

static inline void join_all(void)
{
	while (made_count > 0)
		thr_join(made[--made_count], NULL, NULL);
}

/* ns of CPU time that the LWPs of the process have used, without those that have exited. */
static inline uint64_t cpu_of_process(void)
{
	struct lwp_info info;
	uint64_t ns = 0;

	for (uint32_t id = 1; __sys_lwp_info(__sys_getpid(), id, &info) >= 0 && info.id >= id;
	     id = info.id + 1)
		ns += info.utime + info.stime;
	return ns;
}

/* --- parts --------------------------------------------------------------------------------------- */

struct part {
	const char *name;
	void (*play)(void);
	int64_t ms; /* within which it ends */
};

/* PROGRAM PART NUMBER CHANCE: the part.  NULL, with the usage: there is none. */
static const struct part *part_choose(const struct part *parts, unsigned n, int argc, char **argv)
{
	for (unsigned i = 0; argc == 4 && i < n; i++)
		if (strcmp(parts[i].name, argv[1]) == 0) {
			chance += 7919 * atoi(argv[3]);
			return &parts[i];
		}
	fprintf(stderr, "usage: %s PART NUMBER CHANCE; the parts:", argv[0]);
	for (unsigned i = 0; i < n; i++)
		fprintf(stderr, " %s", parts[i].name);
	fprintf(stderr, "\n");
	return NULL;
}
