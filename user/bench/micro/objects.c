/*
 * objects.c - what it costs when the kernel keeps the object.  The objects are locks in user
 * memory, used by the kernel's calls (weft/ksync.h) and as the library's process-shared objects,
 * and objects with handles (weft/kobj.h).
 *
 * In a round trip the second thread is bound.  So the models differ only in the LWP of the first
 * thread.
 */
#include <err.h>
#include <weft/ksync.h>
#include <weft/wait.h>
#include "micro.h"

/* Both operations by a call, although the mutex is free: this is what the fast path saves. */
int64_t lwp_mutex(long n)
{
	static struct lwp_mutex m;
	int64_t start = gethrtime();

	for (long i = 0; i < n; i++) {
		__sys_lwp_mutex_lock(&m, 0);
		__sys_lwp_mutex_unlock(&m, 0);
	}
	return gethrtime() - start;
}

static int64_t lock_unlock(int robust, long n)
{
	static pthread_mutex_t m;
	pthread_mutexattr_t attr;
	int64_t start, end;

	must(pthread_mutexattr_init(&attr), "pthread_mutexattr_init");
	must(pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED), "setpshared");
	must(pthread_mutexattr_setrobust(&attr, robust), "setrobust");
	must(pthread_mutex_init(&m, &attr), "pthread_mutex_init");
	start = gethrtime();
	for (long i = 0; i < n; i++) {
		pthread_mutex_lock(&m);
		pthread_mutex_unlock(&m);
	}
	end = gethrtime();
	must(pthread_mutex_destroy(&m), "pthread_mutex_destroy");
	return end - start;
}

int64_t shared_mutex(long n)
{
	return lock_unlock(PTHREAD_MUTEX_STALLED, n);
}

int64_t robust_mutex(long n)
{
	return lock_unlock(PTHREAD_MUTEX_ROBUST, n);
}

int64_t shared_sema_round_trip(long n)
{
	pthread_attr_t attr;

	bound(&attr);
	return sema_turns(1, &attr, n);
}

static uint32_t make(uint32_t kind)
{
	struct kobj_create c = {.kind = kind};

	if (__sys_kobj_create(&c) < 0)
		errx(1, "kobj_create");
	return c.handle;
}

int64_t kobj_mutex(long n)
{
	uint32_t m = make(KOBJ_MUTEX);
	int64_t start = gethrtime(), end;

	for (long i = 0; i < n; i++) {
		kobj_wait_one(m, KOBJ_INFINITE);
		__sys_kobj_mutex_release(m);
	}
	end = gethrtime();
	__sys_kobj_close(m);
	return end - start;
}

static uint32_t event[2];

static void event_first(long n)
{
	for (; n > 0; n--) {
		__sys_kobj_event_set(event[0]);
		kobj_wait_one(event[1], KOBJ_INFINITE);
	}
}

static void event_second(long n)
{
	for (; n > 0; n--) {
		kobj_wait_one(event[0], KOBJ_INFINITE);
		__sys_kobj_event_set(event[1]);
	}
}

int64_t kobj_event_round_trip(long n)
{
	pthread_attr_t attr;

	bound(&attr);
	event[0] = make(KOBJ_EVENT);
	event[1] = make(KOBJ_EVENT);
	return pair(event_first, event_second, &attr, n);
}
