/* sys/wait.h - newlib's, and wait4. */
#pragma once
#include_next <sys/wait.h>

#define WCONTINUED 8
#define WIFCONTINUED(w) ((w) == 0xffff)

struct rusage;

#ifdef __cplusplus
extern "C" {
#endif

pid_t wait4(pid_t pid, int *status, int options, struct rusage *ru);

#ifdef __cplusplus
}
#endif
