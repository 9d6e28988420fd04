/*
 * timer.c - interval timers: setitimer and alarm, and POSIX's per-process timers.
 */
#include <signal.h>
#include <stddef.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include "libc.h"

_Static_assert(sizeof(struct itimerspec) == sizeof(struct weft_itimerspec) &&
		       offsetof(struct itimerspec, it_value) ==
			       offsetof(struct weft_itimerspec, value) &&
		       TIMER_ABSTIME == WEFT_TIMER_ABSTIME,
	       "what the kernel reads");
_Static_assert(ITIMER_REAL == WEFT_ITIMER_REAL && ITIMER_VIRTUAL == WEFT_ITIMER_VIRTUAL &&
		       ITIMER_PROF == WEFT_ITIMER_PROF,
	       "timers");

/* --- setitimer ----------------------------------------------------------------------- */

static struct weft_timespec to_timespec(struct timeval tv)
{
	/* An invalid number of microseconds becomes an invalid number of nanoseconds. */
	return (struct weft_timespec){
		tv.tv_sec, tv.tv_usec >= 0 && tv.tv_usec < 1000000 ? tv.tv_usec * 1000 : -1};
}

/* The remaining time of a running timer is never 0. */
static struct itimerval to_itimerval(const struct weft_itimerspec *k)
{
	int64_t ns = k->value.nsec;

	if (k->value.sec == 0 && ns > 0 && ns < 1000)
		ns = 1000;
	return (struct itimerval){.it_interval = {k->interval.sec, k->interval.nsec / 1000},
				  .it_value = {k->value.sec, ns / 1000}};
}

int setitimer(int which, const struct itimerval *set, struct itimerval *old)
{
	struct weft_itimerspec to, was;

	if (set == NULL)
		return fails(EFAULT);
	to.interval = to_timespec(set->it_interval);
	to.value = to_timespec(set->it_value);
	if (result(__sys_setitimer(which, &to, &was)) < 0)
		return -1;
	if (old != NULL)
		*old = to_itimerval(&was);
	return 0;
}

int getitimer(int which, struct itimerval *now)
{
	struct weft_itimerspec k;

	if (result(__sys_getitimer(which, &k)) < 0)
		return -1;
	*now = to_itimerval(&k);
	return 0;
}

/* Returns the remaining seconds, rounded to the nearest, but at least 1 for a running timer. */
unsigned alarm(unsigned seconds)
{
	struct itimerval set = {.it_value.tv_sec = seconds}, old = {0};

	setitimer(ITIMER_REAL, &set, &old);
	return old.it_value.tv_sec + (old.it_value.tv_usec >= 500000 ||
				      (old.it_value.tv_sec == 0 && old.it_value.tv_usec > 0));
}

/* --- timers of a process, which libthread creates and deletes ------------------------------ */

int timer_settime(timer_t timer, int flags, const struct itimerspec *set, struct itimerspec *old)
{
	return result(__sys_timer_settime(timer, flags, (const struct weft_itimerspec *)set,
					  (struct weft_itimerspec *)old));
}

int timer_gettime(timer_t timer, struct itimerspec *now)
{
	return result(__sys_timer_gettime(timer, (struct weft_itimerspec *)now));
}
