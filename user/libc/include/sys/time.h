/* sys/time.h - newlib's, and Solaris's high-resolution time. */
#pragma once
#include_next <sys/time.h>
#include <stdint.h>
#include <weft/signal.h>

/* With any of ITIMER_*: a timer of the calling LWP, and the signal goes to that LWP. */
#define ITIMER_LWP WEFT_ITIMER_LWP

typedef int64_t hrtime_t; /* nanoseconds */

#ifdef __cplusplus
extern "C" {
#endif

/* Nanoseconds since boot; no system call. */
hrtime_t gethrtime(void);

#ifdef __cplusplus
}
#endif
