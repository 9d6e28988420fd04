/*
 * sigtest.h - for the programs on signals of threads: sets, handlers, and waiting for others.
 */
#pragma once
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include "tap.h"

/* Lets all others run, whatever they run on. */
__attribute__((unused)) static void a_turn(void)
{
	const struct timespec nap = {.tv_nsec = 500000};

	sched_yield();
	nanosleep(&nap, NULL);
}

#define UNTIL(condition)                                                                           \
	while (!(condition))                                                                       \
	a_turn()

__attribute__((unused)) static sigset_t set_of(int sig)
{
	sigset_t s;

	sigemptyset(&s);
	sigaddset(&s, sig);
	return s;
}

__attribute__((unused)) static sigset_t mask_now(void)
{
	sigset_t s;

	pthread_sigmask(SIG_BLOCK, NULL, &s);
	return s;
}

__attribute__((unused)) static void catch (int sig, void (*handler)(int), int flags)
{
	struct sigaction act = {.sa_handler = handler, .sa_flags = flags};

	sigaction(sig, &act, NULL);
}

/* A handler that records the thread that runs it, and how often. */
static volatile pthread_t handled_by;
static volatile int handled;

__attribute__((unused)) static void note(int sig)
{
	handled_by = pthread_self();
	__atomic_add_fetch(&handled, 1, __ATOMIC_SEQ_CST);
}
