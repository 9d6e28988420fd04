/* sys/time.h - newlib's, and Solaris's high-resolution time. */
#pragma once
#include_next <sys/time.h>
#include <stdint.h>

typedef int64_t hrtime_t; /* nanoseconds */

#ifdef __cplusplus
extern "C" {
#endif

/* Nanoseconds since boot; no system call. */
hrtime_t gethrtime(void);

#ifdef __cplusplus
}
#endif
