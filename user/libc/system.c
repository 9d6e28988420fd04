/*
 * system.c - properties and limits of the system.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include <weft/errno.h>
#include <weft/file.h>
#include <weft/proc.h>
#include <weft/signal.h>
#include <weft/start.h>
#include "libc.h"

int getpagesize(void)
{
	return WEFT_PAGE_SIZE;
}

/* -1 with errno unchanged: no limit, or not supported; -1 with EINVAL: no such name. */
long sysconf(int name)
{
	struct weft_sysinfo info;
	struct rlimit limit;

	switch (name) {
	case _SC_NPROCESSORS_CONF:
	case _SC_NPROCESSORS_ONLN:
		return __ncpu;
	case _SC_PAGESIZE:
		return WEFT_PAGE_SIZE;
	case _SC_PHYS_PAGES:
	case _SC_AVPHYS_PAGES:
		if (result(__sys_sysinfo(&info)) < 0)
			return -1;
		return (name == _SC_PHYS_PAGES ? info.mem_total : info.mem_free) / WEFT_PAGE_SIZE;
	case _SC_CLK_TCK:
		return CLOCKS_PER_SEC;
	case _SC_ARG_MAX:
		return WEFT_ARG_MAX;
	case _SC_OPEN_MAX:
		return getrlimit(RLIMIT_NOFILE, &limit) < 0 ? -1 : (long)limit.rlim_cur;
	case _SC_CHILD_MAX:
		return getrlimit(RLIMIT_NPROC, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY
			       ? -1
			       : (long)limit.rlim_cur;
	case _SC_VERSION:
	case _SC_THREADS:
	case _SC_THREAD_SAFE_FUNCTIONS:
	case _SC_THREAD_ATTR_STACKADDR:
	case _SC_THREAD_ATTR_STACKSIZE:
	case _SC_TIMERS:
	case _SC_REALTIME_SIGNALS:
	case _SC_TIMEOUTS:
	case _SC_MONOTONIC_CLOCK:
	case _SC_CLOCK_SELECTION:
	case _SC_CPUTIME:
	case _SC_THREAD_CPUTIME:
	case _SC_BARRIERS:
	case _SC_READER_WRITER_LOCKS:
	case _SC_SPIN_LOCKS:
	case _SC_SEMAPHORES:
	case _SC_SPAWN:
	case _SC_MEMORY_PROTECTION:
	case _SC_MAPPED_FILES:
	case _SC_SHARED_MEMORY_OBJECTS:
	case _SC_FSYNC:
	case _SC_ASYNCHRONOUS_IO:
	case _SC_MESSAGE_PASSING:
	case _SC_MEMLOCK:
	case _SC_MEMLOCK_RANGE:
	case _SC_PRIORITY_SCHEDULING:
	case _SC_THREAD_PRIORITY_SCHEDULING:
	case _SC_THREAD_PRIO_INHERIT:
	case _SC_THREAD_PRIO_PROTECT:
	case _SC_THREAD_ROBUST_PRIO_INHERIT:
	case _SC_THREAD_ROBUST_PRIO_PROTECT:
	case _SC_THREAD_PROCESS_SHARED:
		return 200809;
	case _SC_THREAD_STACK_MIN:
		return PTHREAD_STACK_MIN;
	case _SC_THREAD_KEYS_MAX:
		return PTHREAD_KEYS_MAX;
	case _SC_THREAD_DESTRUCTOR_ITERATIONS:
		return PTHREAD_DESTRUCTOR_ITERATIONS;
	case _SC_SEM_VALUE_MAX:
		return SEM_VALUE_MAX;
	case _SC_MQ_PRIO_MAX:
		return MQ_PRIO_MAX;
	case _SC_MQ_OPEN_MAX:
		return -1;
	case _SC_RTSIG_MAX:
		return WEFT_SIGRTMAX - WEFT_SIGRTMIN + 1;
	case _SC_SIGQUEUE_MAX:
		return WEFT_SIGQUEUE_MAX;
	case _SC_TIMER_MAX:
		return WEFT_TIMER_MAX;
	case _SC_JOB_CONTROL:
		return 1;
	case _SC_THREAD_THREADS_MAX:
	case _SC_SEM_NSEMS_MAX:
	case _SC_PRIORITIZED_IO:
	case _SC_SYNCHRONIZED_IO:
	case _SC_SPORADIC_SERVER:
	case _SC_THREAD_SPORADIC_SERVER:
		return -1;
	default:
		return fails(EINVAL);
	}
}

static long pathconf_of(int name)
{
	switch (name) {
	case _PC_NAME_MAX:
		return WEFT_NAME_MAX;
	case _PC_PATH_MAX:
		return WEFT_PATH_MAX;
	case _PC_PIPE_BUF:
		return WEFT_PIPE_BUF;
	case _PC_MAX_CANON:
	case _PC_MAX_INPUT:
		return MAX_CANON;
	case _PC_FILESIZEBITS:
		return 64;
	case _PC_SYMLINK_MAX:
		return WEFT_PATH_MAX - 1;
	case _PC_TIMESTAMP_RESOLUTION:
	case _PC_NO_TRUNC:
	case _PC_2_SYMLINKS:
		return 1;
	case _PC_VDISABLE:
		return 0;
	case _PC_ALLOC_SIZE_MIN:
	case _PC_REC_INCR_XFER_SIZE:
	case _PC_REC_MIN_XFER_SIZE:
	case _PC_REC_XFER_ALIGN:
		return WEFT_PAGE_SIZE;
	case _PC_LINK_MAX:
	case _PC_REC_MAX_XFER_SIZE:
	case _PC_CHOWN_RESTRICTED:
	case _PC_ASYNC_IO:
	case _PC_PRIO_IO:
	case _PC_SYNC_IO:
		return -1;
	default:
		return fails(EINVAL);
	}
}

/* All files have the same limits.  -1 with errno unchanged: no limit, or not supported; EINVAL: no
 * such name; errors of stat.  (POSIX, fpathconf.) */
long pathconf(const char *path, int name)
{
	struct weft_stat k;

	return result(__sys_stat(path, &k)) < 0 ? -1 : pathconf_of(name);
}

/* The same for an open file.  EBADF: no such descriptor. */
long fpathconf(int fd, int name)
{
	struct weft_stat k;

	return result(__sys_fstat(fd, &k)) < 0 ? -1 : pathconf_of(name);
}

int uname(struct utsname *u)
{
	*u = (struct utsname){.sysname = "weft",
			      .nodename = "weft",
			      .release = "1",
			      .version = "SMP",
			      .machine = "x86_64"};
	return 0;
}

int gethostname(char *name, size_t size)
{
	if (strlcpy(name, "weft", size) >= size)
		return fails(ENAMETOOLONG);
	return 0;
}
