/*
 * labmxn.h - what the tests of the scheduler share.
 *
 * The first thread of the program is unbound; it plays the part.  The options fix the number of
 * LWPs (waiting=none), so a thread that waits in the kernel keeps an LWP and gets no other.
 */
#pragma once
#include "labthreads.h"
#include <time.h>

#define SOON 200000l /* ns: from the event that lets a thread run until it runs, at most */

static unsigned count; /* threads of the part */
static sem_t gate[THREADS], done;
static volatile unsigned ran[THREADS]; /* the order in which they ran, from 1; or how often */
static volatile unsigned turn;
static volatile bool stop;

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

/* PROGRAM PART THREADS CHANCE.  Returns the status. */
static int part_play(const struct part *part, char **argv)
{
	if (part == NULL)
		return 2;
	count = atoi(argv[2]);
	watchdog_start(argv[1], part->ms, "Is a thread lost, or an LWP asleep?");
	nap(100000); /* until the watchdog has begun, and the LWPs are idle */
	part->play();
	return test_passes();
}
