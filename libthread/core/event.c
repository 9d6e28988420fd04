/*
 * event.c - what a struct sigevent asks for (event.h).  For timers the kernel sends the signals,
 * and functions are called by a service LWP of their own (notify.c).
 */
#include <stdlib.h>
#include "attr.h"
#include "event.h"
#include "core.h"

bool __event_valid(const struct sigevent *event)
{
	const pthread_attr_t *attr = event->sigev_notify_attributes;

	switch (event->sigev_notify) {
	case SIGEV_NONE:
		return true;
	case SIGEV_SIGNAL:
		return event->sigev_signo > 0 && event->sigev_signo < NSIG &&
		       event->sigev_signo != SIGLWP;
	case SIGEV_THREAD:
		return event->sigev_notify_function != NULL &&
		       (attr == NULL || attr->__valid == ATTR_VALID);
	default:
		return false;
	}
}

/* The new thread.  Its mask is the mask with which the process began. */
static void *event_thread(void *event)
{
	struct sigevent e = *(struct sigevent *)event;

	free(event);
	pthread_sigmask(SIG_SETMASK, &__base_mask, NULL);
	e.sigev_notify_function(e.sigev_value);
	return NULL;
}

static void event_start(const struct sigevent *event)
{
	struct sigevent *copy = malloc(sizeof(*copy));
	pthread_attr_t attr;
	pthread_t thread;

	if (copy == NULL)
		return;
	*copy = *event;
	if (event->sigev_notify_attributes != NULL)
		attr = *event->sigev_notify_attributes;
	else
		pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&thread, &attr, event_thread, copy) != 0)
		free(copy);
}

/*
 * Sends the signal to the process, or calls the function in a new thread.  If there is no memory
 * for that, the event is lost, like a signal that cannot be queued.  The caller holds no locks.
 */
void __event_happens(const struct sigevent *event)
{
	if (event->sigev_notify == SIGEV_SIGNAL)
		__sys_sigqueue(__sys_getpid(), event->sigev_signo,
			       (uint64_t)event->sigev_value.sival_ptr);
	else if (event->sigev_notify == SIGEV_THREAD)
		event_start(event);
}
