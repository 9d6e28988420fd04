/*
 * interface.h - for the programs if_*, which prove what libthread's functions return.
 *
 *	WORKS(pthread_mutex_lock(&m))			ok pthread_mutex_lock
 *	GIVES(EBUSY, pthread_mutex_trylock(&m), "held")	ok pthread_mutex_trylock EBUSY: held
 *	SETS(EAGAIN, sem_trywait(&s), "it is 0")	of those that return -1 and set errno
 *	DOES(pthread_self, it is so)			of what returns no such number
 *
 * tests/test_interface.py reads these lines and compares them with the headers and the comments at
 * the functions.
 */
#pragma once
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <thread.h>
#include <time.h>
#include "tap.h"

#define WORKS(call) if_result(#call, NULL, NULL, 0, (call))
#define GIVES(error, call, cause) if_result(#call, #error, cause, error, (call))
#define SETS(error, call, cause)                                                                   \
	if_result(#call, #error, cause, error, (long)(call) == -1 ? errno : 0)
#define DOES(name, condition) ok(#name, condition)

/* The function's name stands before the first bracket. */
__attribute__((unused)) static void if_result(const char *call, const char *error,
					      const char *cause, long want, long got)
{
	char line[200];
	int name = strcspn(call, "(");

	if (error != NULL)
		snprintf(line, sizeof(line), "%.*s %s: %s", name, call, error, cause);
	else
		snprintf(line, sizeof(line), "%.*s", name, call);
	tap_report(got == want, line, "%s is %ld, not %ld", call, got, want);
}

/* Another thread, which holds or waits for something. */
struct other {
	pthread_t id;
	int (*take)(void *);
	int (*give)(void *);
	void *object;
	sem_t has, go;
};

__attribute__((unused)) static void *if_other(void *arg)
{
	struct other *o = arg;

	if (o->take(o->object) != 0)
		bail("the other thread got nothing");
	sem_post(&o->has);
	while (o->give != NULL && sem_wait(&o->go) != 0)
		;
	if (o->give != NULL)
		o->give(o->object);
	return NULL;
}

/* It takes the object, in one of the ways that the headers have for it... */
#define HOLD(o, take, give, object)                                                                \
	if_hold(o, (int (*)(void *))(take), (int (*)(void *))(give), object)
__attribute__((unused)) static void if_hold(struct other *o, int (*take)(void *),
					    int (*give)(void *), void *object)
{
	*o = (struct other){.take = take, .give = give, .object = object};
	sem_init(&o->has, 0, 0);
	sem_init(&o->go, 0, 0);
	if (pthread_create(&o->id, NULL, if_other, o) != 0)
		bail("pthread_create");
	while (sem_wait(&o->has) != 0)
		;
}

/* ... and gives it up, and is gone. */
__attribute__((unused)) static void if_let_go(struct other *o)
{
	sem_post(&o->go);
	if (pthread_join(o->id, NULL) != 0)
		bail("pthread_join");
}

/* Runs fn(arg) in another thread, to its end. */
__attribute__((unused)) static void if_elsewhere(void *(*fn)(void *), void *arg)
{
	pthread_t t;

	if (pthread_create(&t, NULL, fn, arg) != 0 || pthread_join(t, NULL) != 0)
		bail("another thread");
}

/* Until another thread has done it; it may need this CPU, or this LWP. */
#define UNTIL(condition)                                                                           \
	while (!(condition)) {                                                                     \
		const struct timespec ms = {0, 1000000};                                           \
		thr_yield();                                                                       \
		nanosleep(&ms, NULL);                                                              \
	}

#define PAST (&(const struct timespec){0, 0})
#define WRONG (&(const struct timespec){0, 1000000000})
#define NO_THREAD 0x7ffffff0u

static struct {
	pthread_t to;
	thread_t from;
	volatile int on;
} if_alarms;

__attribute__((unused)) static void if_on_alarm(int sig)
{
}

__attribute__((unused)) static void *if_sends(void *arg)
{
	const struct timespec ms = {0, 1000000};

	while (if_alarms.on) {
		pthread_kill(if_alarms.to, SIGALRM);
		nanosleep(&ms, NULL);
	}
	return NULL;
}

/*
 * From now on a handler interrupts whatever the caller waits for in the kernel, every millisecond.
 * A thread with its own LWP sends the signals, as those of a timer may go to any LWP that is idle;
 * where there is but one LWP, a timer does.
 */
__attribute__((unused)) static void if_interrupts(int on)
{
	const struct itimerval every = {{0, on ? 1000 : 0}, {0, on ? 1000 : 0}};
	struct sigaction act = {.sa_handler = if_on_alarm};

	sigaction(SIGALRM, &act, NULL);
	if_alarms.on = on;
	if_alarms.to = pthread_self();
	if (strcmp(getenv("LIBTHREAD"), "n1") == 0)
		setitimer(ITIMER_REAL, &every, NULL);
	else if (!on)
		pthread_join(if_alarms.from, NULL);
	else if (thr_create(NULL, 0, if_sends, NULL, THR_BOUND, &if_alarms.from) != 0)
		bail("thr_create");
}
