/*
 * notified.h - what a struct sigevent asks for has happened: a function is called, or a signal comes.
 */
#pragma once
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>

static sem_t called;       /* posted by the function */
static volatile int value; /* of the event that came last */

static void function(union sigval v)
{
	value = v.sival_int;
	sem_post(&called);
}

/* Within so many milliseconds. */
static bool signal_comes(int sig, long ms)
{
	const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
	sigset_t set = WEFT_SIGBIT(sig);
	siginfo_t info;

	if (sigtimedwait(&set, &info, &time) != sig)
		return false;
	value = info.si_value.sival_int;
	return true;
}
