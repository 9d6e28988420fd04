/* sys/stat.h - newlib's, and lstat. */
#pragma once
#include_next <sys/stat.h>

#ifdef __cplusplus
extern "C" {
#endif

int lstat(const char *path, struct stat *st);

#ifdef __cplusplus
}
#endif
