/* sys/stat.h - newlib's, and what newlib declares for other systems only. */
#pragma once
#include_next <sys/stat.h>

/* Values of tv_nsec in a time for futimens and utimensat. */
#define UTIME_NOW (-2L)
#define UTIME_OMIT (-1L)

#ifdef __cplusplus
extern "C" {
#endif

int lstat(const char *path, struct stat *st);

#ifdef __cplusplus
}
#endif
