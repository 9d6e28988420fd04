/*
 * start.h - threads of a scope, points in time, and the number of LWPs, for the programs thr_*.
 */
#pragma once
#include <pthread.h>
#include <time.h>
#include <weft/lwp.h>
#include <weft/sys.h>
#include "tap.h"

/* A thread of PTHREAD_SCOPE_SYSTEM or _PROCESS. */
__attribute__((unused)) static pthread_t start(void *(*fn)(void *), void *arg, int scope)
{
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	pthread_attr_setscope(&attr, scope);
	if (pthread_create(&t, &attr, fn, arg) != 0)
		bail("pthread_create");
	return t;
}

/* In us microseconds. */
__attribute__((unused)) static struct timespec later(clockid_t clock, long us)
{
	struct timespec t;

	clock_gettime(clock, &t);
	t.tv_nsec += us % 1000000 * 1000;
	t.tv_sec += us / 1000000 + t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

/* Of this process, those that have not ended. */
__attribute__((unused)) static int lwps(void)
{
	struct lwp_info l;
	int n = 0;

	for (long id = 1; (id = __sys_lwp_info(0, id, &l)) > 0; id++)
		n++;
	return n;
}
