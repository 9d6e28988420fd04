/*
 * protocol.h - for the programs on mutexes with a protocol and on priorities: priorities of
 * SCHED_FIFO, and mutexes of every protocol, type and kind by either interface.
 */
#pragma once
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <synch.h>
#include <weft/lwp.h>
#include <weft/sys.h>
#include "tap.h"

static bool kernel_schedules; /* model lwp */

#define RT_FIRST 100 /* the global priority of real-time 0 */

__attribute__((unused)) static void find_model(void)
{
	const char *model = getenv("LIBTHREAD");

	kernel_schedules = model == NULL || strcmp(model, "lwp") == 0;
}

static int policy = SCHED_FIFO;

/* Fails for a priority that there is not, and in no model. */
static void reprice(pthread_t t, int pri)
{
	struct sched_param p = {.sched_priority = pri};

	if (pthread_setschedparam(t, policy, &p) != 0)
		bail("pthread_setschedparam");
}

__attribute__((unused)) static void set_priority(int pri)
{
	reprice(pthread_self(), pri);
}

/* What the kernel goes by; model lwp. */
__attribute__((unused)) static int lwp_priority(void)
{
	struct lwp_info info;

	if (__sys_lwp_info(__sys_getpid(), __sys_lwp_self(), &info) < 0)
		bail("lwp_info");
	return info.pri;
}

#define SHARED 2 /* besides PTHREAD_MUTEX_STALLED and _ROBUST */

static bool by_ui; /* mutex_init instead of pthread_mutex_init */

/* As UNIX International's interface has it. */
static void init_ui(mutex_t *m, int protocol, int ceiling, int type, int kind)
{
	static const int protocols[] = {
		[PTHREAD_PRIO_INHERIT] = LOCK_PRIO_INHERIT,
		[PTHREAD_PRIO_PROTECT] = LOCK_PRIO_PROTECT,
	};
	static const int types[] = {
		[PTHREAD_MUTEX_RECURSIVE] = LOCK_RECURSIVE,
		[PTHREAD_MUTEX_ERRORCHECK] = LOCK_ERRORCHECK,
	};
	static const int kinds[] = {
		[PTHREAD_MUTEX_ROBUST] = LOCK_ROBUST,
		[SHARED] = USYNC_PROCESS,
	};

	if (mutex_init(m, protocols[protocol] | types[type] | kinds[kind], &ceiling) != 0)
		bail("mutex_init");
}

static void init(pthread_mutex_t *m, int protocol, int ceiling, int type, int kind)
{
	pthread_mutexattr_t attr;

	if (by_ui) {
		init_ui(m, protocol, ceiling, type, kind);
		return;
	}
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, protocol);
	pthread_mutexattr_setprioceiling(&attr, ceiling);
	pthread_mutexattr_settype(&attr, type);
	if (kind == SHARED)
		pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	else
		pthread_mutexattr_setrobust(&attr, kind);
	if (pthread_mutex_init(m, &attr) != 0)
		bail("mutex_init");
}
