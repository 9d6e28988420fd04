/* sys/wait.h - newlib's, and wait4 and waitid. */
#pragma once
#include_next <sys/wait.h>
#include <signal.h>
#include <sys/procset.h>

#define WSTOPPED WUNTRACED
#define WEXITED 4
#define WCONTINUED 8
#define WNOWAIT 16
#define WIFCONTINUED(w) ((w) == 0xffff)

struct rusage;

#ifdef __cplusplus
extern "C" {
#endif

int waitid(idtype_t type, id_t id, siginfo_t *info, int options);
pid_t wait4(pid_t pid, int *status, int options, struct rusage *ru);

#ifdef __cplusplus
}
#endif
