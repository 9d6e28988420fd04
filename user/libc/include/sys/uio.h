/* sys/uio.h - reading and writing several pieces of memory at once. */
#pragma once
#include <sys/types.h>

struct iovec { /* laid out as struct weft_iovec */
	void *iov_base;
	size_t iov_len;
};

#ifdef __cplusplus
extern "C" {
#endif

ssize_t readv(int fd, const struct iovec *iov, int n);
ssize_t writev(int fd, const struct iovec *iov, int n);

#ifdef __cplusplus
}
#endif
