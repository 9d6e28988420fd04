/* stdio.h - newlib's, and functions that newlib has under other names. */
#pragma once
#include_next <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

ssize_t getline(char **line, size_t *size, FILE *f);
ssize_t getdelim(char **line, size_t *size, int delimiter, FILE *f);

#ifdef __cplusplus
}
#endif
