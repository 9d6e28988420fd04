/*
 * poll.h - waiting for descriptors to become ready.  The values are those of <poll.h>
 * in user/libc.
 */
#pragma once
#include <stdint.h>

#define WEFT_POLLIN 0x1    /* a read would not block: there is input, or the end of file */
#define WEFT_POLLPRI 0x2   /* never */
#define WEFT_POLLOUT 0x4   /* a write of WEFT_PIPE_BUF bytes would not block */
#define WEFT_POLLERR 0x8   /* a pipe whose reader is gone; always reported */
#define WEFT_POLLHUP 0x10  /* a pipe whose writer is gone; always reported */
#define WEFT_POLLNVAL 0x20 /* no such descriptor; always reported */

struct weft_pollfd {
	int32_t fd;      /* caller writes; below 0: this entry is ignored */
	int16_t events;  /* caller writes */
	int16_t revents; /* kernel writes */
};
