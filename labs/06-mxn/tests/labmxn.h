/*
 * labmxn.h - what the tests of the scheduler share.
 *
 * The first thread of the program is unbound; it plays the part.  The options fix the number of
 * LWPs (waiting=none), so a thread that waits in the kernel keeps an LWP and gets no other.
 */
#pragma once
#include "watchdog.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>
#include <weft/lwp.h>

#define THREADS 24
#define MS 1000000l
#define SOON 200000l /* ns: from the event that lets a thread run until it runs, at most */

static unsigned count; /* threads of the part */
static uint32_t chance = 1;
static sem_t gate[THREADS], done;
static thread_t made[THREADS];
static unsigned made_count;
static volatile unsigned ran[THREADS]; /* the order in which they ran, from 1; or how often */
static volatile unsigned turn;
static volatile bool stop;

static inline void turns(unsigned n)
{
	for (volatile unsigned i = 0; i < n; i++)
		;
}

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

static inline struct thread *thread_of(thread_t id)
{
	struct thread *t = __thread_list;

	while (t->id != id && t->list_next != __thread_list)
		t = t->list_next;
	return t;
}

static inline bool is_blocked(thread_t id)
{
	struct thread *t = thread_of(id);

	return t->state == TS_BLOCKED && t->wchan != NULL && (t->bound || t->lwp->id == 0);
}

static inline int wait_until(unsigned me, int64_t at)
{
	struct timespec when = {at / 1000000000, at % 1000000000};

	return sem_clockwait(&gate[me], CLOCK_MONOTONIC, &when) == 0 ? 0 : errno;
}

struct part {
	const char *name;
	void (*play)(void);
	int64_t ms;
};

/* PROGRAM PART THREADS CHANCE.  Returns the status. */
static int play_part(const struct part *parts, unsigned n, int argc, char **argv)
{
	for (unsigned i = 0; argc == 4 && i < n; i++) {
		if (strcmp(parts[i].name, argv[1]) != 0)
			continue;
		count = atoi(argv[2]);
		chance += 7919 * atoi(argv[3]);
		watchdog_start(argv[1], parts[i].ms, "Is a thread lost, or an LWP asleep?");
		nap(100000); /* until the watchdog has begun, and the LWPs are idle */
		parts[i].play();
		return test_passes();
	}
	fprintf(stderr, "usage: %s PART THREADS CHANCE\n", argv[0]);
	return 2;
}
