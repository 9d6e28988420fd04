/* poll.h - waiting for descriptors to become ready; the values are weft/poll.h's. */
#pragma once
#include <signal.h>
#include <sys/types.h>
#include <weft/poll.h>

#define POLLIN WEFT_POLLIN
#define POLLRDNORM WEFT_POLLIN
#define POLLPRI WEFT_POLLPRI
#define POLLOUT WEFT_POLLOUT
#define POLLWRNORM WEFT_POLLOUT
#define POLLERR WEFT_POLLERR
#define POLLHUP WEFT_POLLHUP
#define POLLNVAL WEFT_POLLNVAL

typedef unsigned int nfds_t;

struct pollfd { /* laid out as struct weft_pollfd */
	int fd;
	short events, revents;
};

#ifdef __cplusplus
extern "C" {
#endif

int poll(struct pollfd *fds, nfds_t n, int timeout);
int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask);

#ifdef __cplusplus
}
#endif
