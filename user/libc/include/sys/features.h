/*
 * features.h - what of POSIX weft has.  newlib's header knows a list of systems;
 * this one adds weft to it.  The macros make newlib's headers declare what
 * libc and libthread define.
 */
#pragma once
#include_next <sys/features.h>

#define _POSIX_THREADS 200809L
#define _POSIX_THREAD_SAFE_FUNCTIONS 200809L
#define _POSIX_THREAD_ATTR_STACKADDR 200809L
#define _POSIX_THREAD_ATTR_STACKSIZE 200809L
#define _POSIX_TIMEOUTS 200809L
#define _POSIX_TIMERS 1
#define _POSIX_MONOTONIC_CLOCK 200809L
#define _POSIX_CLOCK_SELECTION 200809L
#define _POSIX_CPUTIME 200809L
#define _POSIX_THREAD_CPUTIME 200809L
#define _POSIX_BARRIERS 200809L
#define _POSIX_READER_WRITER_LOCKS 200809L
#define _POSIX_SPIN_LOCKS 200809L
#define _POSIX_SEMAPHORES 200809L
#define _POSIX_SPAWN 200809L
#define _UNIX98_THREAD_MUTEX_ATTRIBUTES 1
