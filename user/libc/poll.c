/*
 * poll.c - poll and ppoll, and select and pselect over them.
 */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/select.h>
#include <sys/time.h>
#include <time.h>
#include <weft/file.h>
#include <weft/proc.h>
#include "libc.h"

_Static_assert(sizeof(struct pollfd) == sizeof(struct weft_pollfd), "struct pollfd");
_Static_assert(FD_SETSIZE == WEFT_OPEN_MAX, "fd_set");

int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	struct weft_timespec ts = {timeout / 1000, timeout % 1000 * 1000000};

	return point_result(
		__point_poll((struct weft_pollfd *)fds, n, timeout < 0 ? NULL : &ts, NULL));
}

int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask)
{
	return point_result(__point_poll((struct weft_pollfd *)fds, n,
					 (const struct weft_timespec *)timeout,
					 (const uint64_t *)mask));
}

/* For each of select's three sets: the events to ask for, and the events that set a bit in the
 * answer. */
static const struct {
	short asks, tells;
} kinds[3] = {
	{POLLIN, POLLIN | POLLHUP | POLLERR},
	{POLLOUT, POLLOUT | POLLERR},
	{POLLPRI, POLLPRI},
};

static int select_ts(int n, fd_set *set[3], const struct weft_timespec *time, const uint64_t *mask)
{
	struct pollfd *fds;
	int i, k, used = 0, count = 0, error = 0;
	long ready;

	if (n < 0 || n > FD_SETSIZE)
		return fails(EINVAL);
	fds = malloc(n * sizeof(*fds) + 1);
	if (!fds)
		return -1;
	for (i = 0; i < n; i++) {
		fds[used] = (struct pollfd){.fd = i};
		for (k = 0; k < 3; k++)
			if (set[k] && FD_ISSET(i, set[k]))
				fds[used].events |= kinds[k].asks;
		used += fds[used].events != 0;
	}
	ready = __point_poll((struct weft_pollfd *)fds, used, time, mask);
	for (i = 0; i < used && ready > 0; i++)
		if (fds[i].revents & POLLNVAL)
			error = EBADF;
	if (ready >= 0 && !error) {
		for (k = 0; k < 3; k++)
			if (set[k])
				FD_ZERO(set[k]);
		for (i = 0; i < used; i++)
			for (k = 0; k < 3; k++)
				if ((fds[i].events & kinds[k].asks) &&
				    (fds[i].revents & kinds[k].tells)) {
					FD_SET(fds[i].fd, set[k]);
					count++;
				}
	}
	free(fds);
	if (error)
		return fails(error);
	return ready < 0 ? point_result(ready) : count;
}

/* Leaves *timeout unchanged.  EBADF, EINVAL, EINTR, ENOMEM; the sets are then unchanged. */
int select(int n, fd_set *in, fd_set *out, fd_set *except, struct timeval *timeout)
{
	struct weft_timespec ts;

	if (timeout) {
		if (timeout->tv_usec < 0 || timeout->tv_usec >= 1000000)
			return fails(EINVAL);
		ts.sec = timeout->tv_sec;
		ts.nsec = timeout->tv_usec * 1000;
	}
	return select_ts(n, (fd_set *[3]){in, out, except}, timeout ? &ts : NULL, NULL);
}

int pselect(int n, fd_set *in, fd_set *out, fd_set *except, const struct timespec *timeout,
	    const sigset_t *mask)
{
	return select_ts(n, (fd_set *[3]){in, out, except}, (const struct weft_timespec *)timeout,
			 (const uint64_t *)mask);
}
