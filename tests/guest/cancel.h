/*
 * cancel.h - for the programs on cancellation: threads, their results, and what they say of
 * themselves meanwhile.
 */
#pragma once
#include <pthread.h>
#include <sched.h>
#include "tap.h"

static volatile int waiting; /* the thread has come to where it is to be cancelled */

__attribute__((unused)) static pthread_t start(void *(*fn)(void *), void *arg)
{
	pthread_t t;

	if (pthread_create(&t, NULL, fn, arg) != 0)
		bail("pthread_create");
	return t;
}

__attribute__((unused)) static void *result_of(pthread_t t)
{
	void *r = NULL;

	is("join", pthread_join(t, &r), 0);
	return r;
}

/* The other thread may need this LWP. */
__attribute__((unused)) static void wait_for(volatile int *flag)
{
	while (!*flag)
		sched_yield();
}
