/*
 * process.c - identity, waiting and accounting of processes.
 */
#include <string.h>
#include <sys/resource.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <weft/proc.h>
#include <weft/start.h>
#include "libc.h"

_Static_assert(WNOHANG == WEFT_WNOHANG && WUNTRACED == WEFT_WUNTRACED &&
		       WSTOPPED == WEFT_WUNTRACED && WCONTINUED == WEFT_WCONTINUED &&
		       WNOWAIT == WEFT_WNOWAIT,
	       "waitpid options");
_Static_assert(WIFEXITED(WEFT_W_EXITCODE(3, 0)) && WEXITSTATUS(WEFT_W_EXITCODE(3, 0)) == 3 &&
		       WIFSIGNALED(WEFT_W_EXITCODE(0, 9)) && WTERMSIG(WEFT_W_EXITCODE(0, 9)) == 9,
	       "wait status");

#define USEC_NS 1000ull
#define SEC_NS 1000000000ull

pid_t getpgrp(void)
{
	return result(__sys_getpgrp(0));
}

/* There is one user. */
uid_t getuid(void)
{
	return 0;
}

uid_t geteuid(void)
{
	return 0;
}

gid_t getgid(void)
{
	return 0;
}

gid_t getegid(void)
{
	return 0;
}

static struct timeval timeval_from_ns(uint64_t ns)
{
	return (struct timeval){.tv_sec = ns / SEC_NS, .tv_usec = ns % SEC_NS / USEC_NS};
}

static void rusage_convert(struct rusage *ru, const struct weft_rusage *k)
{
	memset(ru, 0, sizeof(*ru));
	ru->ru_utime = timeval_from_ns(k->utime);
	ru->ru_stime = timeval_from_ns(k->stime);
	ru->ru_maxrss = k->maxrss / 1024;
	ru->ru_minflt = k->minflt;
	ru->ru_nsignals = k->nsignals;
	ru->ru_nvcsw = k->nvcsw;
	ru->ru_nivcsw = k->nivcsw;
}

pid_t wait4(pid_t pid, int *status, int options, struct rusage *ru)
{
	struct weft_rusage k = {0};
	pid_t child = point_result(__point_waitpid(pid, status, options, &k));

	if (child > 0 && ru)
		rusage_convert(ru, &k);
	return child;
}

pid_t waitpid(pid_t pid, int *status, int options)
{
	return point_result(__point_waitpid(pid, status, options, NULL));
}

pid_t wait(int *status)
{
	return waitpid(-1, status, 0);
}

static void child_describe(siginfo_t *info, pid_t child, int status)
{
	*info = (siginfo_t){.si_signo = SIGCHLD, .si_pid = child};
	if (WIFEXITED(status)) {
		info->si_code = CLD_EXITED;
		info->si_status = WEXITSTATUS(status);
	} else if (WIFSIGNALED(status)) {
		info->si_code = CLD_KILLED;
		info->si_status = WTERMSIG(status);
	} else if (WIFCONTINUED(status)) {
		info->si_code = CLD_CONTINUED;
		info->si_status = SIGCONT;
	} else {
		info->si_code = CLD_STOPPED;
		info->si_status = WSTOPSIG(status);
	}
}

/*
 * Waits for a change of a child's state: WEXITED, WSTOPPED, WCONTINUED.  With WNOWAIT the next call
 * finds the same change.  With WNOHANG and no change, si_signo and si_pid are 0.  Blocks; a
 * cancellation point.
 *
 * -1: ECHILD: there is no such child; EINVAL: the options, or the type of id; EINTR: a signal.
 * (POSIX, waitid.)
 */
int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	const int events = options & (WEXITED | WSTOPPED | WCONTINUED);
	int status, how = options & ~WEXITED;
	/* waitpid would take such an id for a group, or for any child. */
	int no_pid = type == P_PID && (pid_t)id <= 0;
	pid_t child;

	if (events == 0 || (options & ~(events | WNOHANG | WNOWAIT)) ||
	    (type != P_ALL && type != P_PID && type != P_PGID) || no_pid)
		return fails(EINVAL);
	if (!(events & WEXITED))
		how |= WEFT_WNOEXIT;
	if (type == P_PGID)
		how |= WEFT_WGROUP;
	child = point_result(__point_waitpid(type == P_ALL ? -1 : (pid_t)id, &status, how, NULL));
	if (child < 0)
		return -1;
	if (child > 0)
		child_describe(info, child, status);
	else
		*info = (siginfo_t){0};
	return 0;
}

int getrusage(int who, struct rusage *ru)
{
	struct weft_rusage k;

	if (result(__sys_getrusage(who, &k)) < 0)
		return -1;
	rusage_convert(ru, &k);
	return 0;
}

/* In microseconds, the unit of clock_t (CLOCKS_PER_SEC, sysconf(_SC_CLK_TCK)). */
clock_t times(struct tms *t)
{
	struct weft_rusage self, children;

	if (result(__sys_getrusage(RUSAGE_SELF, &self)) < 0 ||
	    result(__sys_getrusage(RUSAGE_CHILDREN, &children)) < 0)
		return -1;
	t->tms_utime = self.utime / USEC_NS;
	t->tms_stime = self.stime / USEC_NS;
	t->tms_cutime = children.utime / USEC_NS;
	t->tms_cstime = children.stime / USEC_NS;
	return gethrtime() / USEC_NS;
}

/* newlib's version counts children too. */
clock_t clock(void)
{
	struct tms t;

	return times(&t) == (clock_t)-1 ? (clock_t)-1 : t.tms_utime + t.tms_stime;
}

_Static_assert(RLIMIT_AS == WEFT_RLIMIT_AS && RLIMIT_DATA == WEFT_RLIMIT_DATA &&
		       RLIMIT_STACK == WEFT_RLIMIT_STACK && RLIMIT_NPROC == WEFT_RLIMIT_NPROC &&
		       RLIMIT_NOFILE == WEFT_RLIMIT_NOFILE && RLIMIT_CORE == WEFT_RLIM_NLIMITS &&
		       RLIM_INFINITY == WEFT_RLIM_INFINITY &&
		       sizeof(struct rlimit) == sizeof(struct weft_rlimit),
	       "resource limits");

/* EINVAL: there is no such limit. */
int getrlimit(int which, struct rlimit *limit)
{
	if (which >= RLIMIT_CORE && which <= RLIMIT_FSIZE) {
		limit->rlim_cur = limit->rlim_max = which == RLIMIT_CORE ? 0 : RLIM_INFINITY;
		return 0;
	}
	return result(__sys_rlimit(which, NULL, (struct weft_rlimit *)limit));
}

/* EINVAL: there is no such limit, the limit cannot be set, or the soft limit exceeds the hard one;
 * EPERM: the hard limit exceeds the system's. */
int setrlimit(int which, const struct rlimit *limit)
{
	if (which == RLIMIT_CORE)
		return limit->rlim_cur <= limit->rlim_max ? 0 : fails(EINVAL);
	return result(__sys_rlimit(which, (const struct weft_rlimit *)limit, NULL));
}
