/*
 * notify.c - timers, also those that call a function in a new thread (POSIX, timer_create() and
 * 2.4.1: SIGEV_THREAD).
 *
 * The kernel has the timer, and knows nothing of threads.  It sends SIGLWP to an LWP of the
 * library's own, which is created with the first such timer.  This LWP blocks all signals and waits
 * for SIGLWP.  Then it creates the thread, and does not wait for it.  The signal is queued once for
 * each timer, like any other signal of a timer.  timer_getoverrun counts the expiries that come
 * meanwhile.
 *
 * The signal's value is the `key` of a notice.  The LWP and the new thread look under notices_lock.
 * If the timer has been deleted meanwhile, or its place belongs to another timer, no function is
 * called.  notices_lock is held across the kernel's calls that create and delete timers, so that no
 * two notices have the same id.  notices_lock is innermost, except for the lock under which an LWP
 * is started (__threads_lock).
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>
#include "attr.h"
#include "core.h"
#include "model.h"

_Static_assert(offsetof(struct sigevent, sigev_value) == offsetof(struct weft_sigevent, value) &&
		       offsetof(struct sigevent, sigev_notify_lwpid) ==
			       offsetof(struct weft_sigevent, lwpid) &&
		       SIGEV_THREAD != WEFT_SIGEV_NONE && SIGEV_THREAD != WEFT_SIGEV_SIGNAL &&
		       SIGEV_THREAD != WEFT_SIGEV_LWP,
	       "what the kernel reads, and refuses");

struct notice {
	void (*function)(union sigval); /* NULL: free */
	union sigval value;
	pthread_attr_t attr;
	int timer;
	uint64_t key; /* its place, and how often the place was used */
};

static struct ilock notices_lock;
static struct notice notices[WEFT_TIMER_MAX];
static struct thread *service; /* NULL: none yet */

/* The notice with this key, if it still exists.  The caller holds notices_lock. */
static struct notice *notice_find(uint64_t key)
{
	struct notice *n = &notices[key % WEFT_TIMER_MAX];

	return n->function != NULL && n->key == key ? n : NULL;
}

/*
 * The new thread.  Its mask is the mask with which the process began, whatever thread created the
 * timer.
 */
static void *notify_thread(void *key)
{
	void (*function)(union sigval) = NULL;
	union sigval value;
	struct notice *n;

	pthread_sigmask(SIG_SETMASK, &__base_mask, NULL);
	ilock_lock(&notices_lock);
	n = notice_find((uintptr_t)key);
	if (n != NULL) {
		function = n->function;
		value = n->value;
	}
	ilock_unlock(&notices_lock);
	if (function != NULL)
		function(value);
	return NULL;
}

/*
 * If there is no memory for the thread, this expiry is lost, like a signal that cannot be queued.
 */
static void __attribute__((noreturn)) service_main(struct thread *self)
{
	const uint64_t ours = WEFT_SIGBIT(SIGLWP);
	struct weft_siginfo info;

	for (;;) {
		pthread_attr_t attr;
		pthread_t thread;
		struct notice *n;

		if (__sys_sigtimedwait(&ours, &info, NULL) != SIGLWP)
			continue;
		ilock_lock(&notices_lock);
		n = notice_find(info.value);
		if (n != NULL)
			attr = n->attr;
		ilock_unlock(&notices_lock);
		if (n != NULL)
			pthread_create(&thread, &attr, notify_thread, (void *)info.value);
	}
}

/* In a child of fork: it has none of the timers, and __threads_lock is free. */
void __notify_forked(void)
{
	notices_lock.held = 0;
	for (unsigned i = 0; i < WEFT_TIMER_MAX; i++)
		notices[i].function = NULL;
	__service_forgotten(service);
	service = NULL;
}

/* The id of the LWP, which is created if there is none.  0: it could not be created.  May block. */
static uint32_t service_lwp(void)
{
	unsigned turns = 0;
	int error = 0;
	uint32_t id;

	ilock_lock(&notices_lock);
	if (service == NULL)
		error = __service_start(service_main, "notify", &service);
	ilock_unlock(&notices_lock);
	if (error != 0)
		return 0;
	while ((id = __atomic_load_n(&service->own_lwp.id, __ATOMIC_ACQUIRE)) == 0)
		__backoff(&turns);
	return id;
}

/* A free place, filled from the event.  NULL: there is none.  The caller holds notices_lock. */
static struct notice *notice_fill(const struct sigevent *event)
{
	struct notice *n = notices;

	while (n < notices + WEFT_TIMER_MAX && n->function != NULL)
		n++;
	if (n == notices + WEFT_TIMER_MAX)
		return NULL;
	n->key = n->key == 0 ? (uint64_t)(n - notices) + WEFT_TIMER_MAX : n->key + WEFT_TIMER_MAX;
	n->function = event->sigev_notify_function;
	n->value = event->sigev_value;
	if (event->sigev_notify_attributes != NULL)
		n->attr = *event->sigev_notify_attributes;
	else
		pthread_attr_init(&n->attr);
	pthread_attr_setdetachstate(&n->attr, PTHREAD_CREATE_DETACHED);
	return n;
}

static long create_notifying(clockid_t clock, const struct sigevent *event, int *id)
{
	struct weft_sigevent k = {.notify = WEFT_SIGEV_LWP, .signo = SIGLWP};
	const pthread_attr_t *attr = event->sigev_notify_attributes;
	struct notice *n;
	long r = -EAGAIN;

	if (event->sigev_notify_function == NULL || (attr != NULL && attr->__valid != ATTR_VALID))
		return -EINVAL;
	k.lwpid = service_lwp();
	if (k.lwpid == 0)
		return -EAGAIN;
	ilock_lock(&notices_lock);
	n = notice_fill(event);
	if (n != NULL) {
		k.value = n->key;
		r = __sys_timer_create(clock, &k, id);
		n->timer = *id;
		if (r < 0)
			n->function = NULL;
	}
	ilock_unlock(&notices_lock);
	return r;
}

static int notify_result(long r)
{
	if (r == 0)
		return 0;
	errno = -r;
	return -1;
}

/*
 * Creates a timer of the process, which is not set.  With SIGEV_THREAD each expiry calls the
 * event's function with its value in a new thread.  The thread has the event's attributes, and is
 * always detached.  EINVAL: clock, or event, or there is no function, or attributes that are not
 * initialised.  ESRCH: the event names no LWP.  EFAULT: event.  EAGAIN: there are WEFT_TIMER_MAX
 * timers, or no memory.
 */
int timer_create(clockid_t clock, struct sigevent *event, timer_t *timer)
{
	int id = -1;
	long r = __sys_timer_create(clock, (const struct weft_sigevent *)event, &id);

	if (r == -EINVAL && event != NULL && event->sigev_notify == SIGEV_THREAD)
		r = create_notifying(clock, event, &id);
	if (r == 0)
		*timer = id;
	return notify_result(r);
}

/* An earlier expiry may still call the function for a moment.  EINVAL: there is no such timer. */
int timer_delete(timer_t timer)
{
	long r;

	ilock_lock(&notices_lock);
	r = __sys_timer_delete(timer);
	for (struct notice *n = notices; r == 0 && n < notices + WEFT_TIMER_MAX; n++)
		if (n->function != NULL && n->timer == (int)timer)
			n->function = NULL;
	ilock_unlock(&notices_lock);
	return notify_result(r);
}
