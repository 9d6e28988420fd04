/*
 * point.h - system calls as cancellation points (POSIX, 2.9.5), for libc and libthread.
 *
 * __point_NAME is __sys_NAME, except that it returns -EINTR if the calling thread is to be
 * cancelled, before the call or out of its sleep (libthread/core/cancel.c).  A caller that gets
 * -EINTR releases what it holds and calls pthread_testcancel, which then does not return.
 */
#pragma once
#include <pthread.h>
#include <weft/sys.h>

#define POINT(name) extern __typeof__(__sys_##name) __point_##name;
POINT(open)
POINT(openat)
POINT(close)
POINT(read)
POINT(write)
POINT(pread)
POINT(pwrite)
POINT(readv)
POINT(writev)
POINT(fcntl)
POINT(poll)
POINT(waitpid)
POINT(lwp_sleep)
POINT(sigsuspend)
POINT(sigtimedwait)
POINT(lwp_cond_wait)
POINT(lwp_cond_timedwait)
POINT(lwp_sema_wait)
POINT(lwp_sema_timedwait)
#undef POINT
