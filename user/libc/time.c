/*
 * time.c - clocks.  (Sleeping: libthread/core/sleep.c.)
 *
 * CLOCK_MONOTONIC and CLOCK_REALTIME are read in user mode, from the time page
 * (weft/time.h); the CPU-time clocks need the kernel.
 */
#include <stdint.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include <weft/proc.h>
#include <weft/start.h>
#include "libc.h"

_Static_assert(CLOCK_REALTIME == WEFT_CLOCK_REALTIME && CLOCK_MONOTONIC == WEFT_CLOCK_MONOTONIC &&
		       CLOCK_PROCESS_CPUTIME_ID == WEFT_CLOCK_PROCESS_CPUTIME &&
		       CLOCK_THREAD_CPUTIME_ID == WEFT_CLOCK_THREAD_CPUTIME,
	       "clocks");
_Static_assert(sizeof(struct timespec) == sizeof(struct weft_timespec) &&
		       sizeof(time_t) == sizeof(int64_t) && sizeof(long) == sizeof(int64_t),
	       "struct timespec");

#define NSEC 1000000000ll

/* Reads the time stamp counter, and the CPU it belongs to, in one instruction. */
static inline uint64_t rdtscp(uint64_t *cpu)
{
	uint64_t lo, hi; /* the upper halves of all three become 0 */

	__asm__ volatile("rdtscp" : "=a"(lo), "=d"(hi), "=c"(*cpu) : : "memory");
	return hi << 32 | lo;
}

/*
 * The record may be replaced, or the LWP may move to another CPU, between any two
 * instructions.  weft/time.h explains why the test suffices.
 */
static inline uint64_t monotonic_now(void)
{
	for (;;) {
		uint64_t cpu, ran, tsc = rdtscp(&cpu);
		const struct timerec *r = &__timepage->cpu[cpu];
		uint64_t vbase = r->vbase;

		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		if (!__builtin_sub_overflow(tsc, r->ws, &ran))
			return vbase + (uint64_t)((unsigned __int128)ran * r->mult >> 32);
	}
}

int64_t gethrtime(void)
{
	return monotonic_now();
}

static int __attribute__((noinline)) cpu_time(clockid_t clock, struct timespec *ts)
{
	return result(__sys_clock_gettime(clock, (struct weft_timespec *)ts));
}

/* EINVAL: no such clock. */
int clock_gettime(clockid_t clock, struct timespec *ts)
{
	uint64_t ns;

	if (clock == CLOCK_MONOTONIC)
		ns = monotonic_now();
	else if (clock == CLOCK_REALTIME)
		ns = monotonic_now() + __timepage->boot_realtime;
	else
		return cpu_time(clock, ts);
	ts->tv_sec = ns / NSEC;
	ts->tv_nsec = ns % NSEC;
	return 0;
}

/*
 * Sets CLOCK_REALTIME.  Sleeps (clock_nanosleep) and timers with absolute times of this clock then
 * wait for that time of the new clock.  Timed waits for locks end when they would have ended
 * before.  EINVAL: another clock, or a time outside its range.  (POSIX, clock_settime.)
 */
int clock_settime(clockid_t clock, const struct timespec *ts)
{
	return result(__sys_clock_settime(clock, (const struct weft_timespec *)ts));
}

/* As clock_settime for CLOCK_REALTIME, in microseconds.  There are no time zones: tz is ignored. */
int settimeofday(const struct timeval *tv, const struct timezone *tz)
{
	struct timespec ts = {.tv_sec = tv->tv_sec, .tv_nsec = tv->tv_usec * 1000};

	return clock_settime(CLOCK_REALTIME, &ts);
}

/*
 * Returns the clock of a process's CPU time (0: the caller's), for clock_gettime.  Returns an error
 * number: ESRCH: no such process.  (POSIX, clock_getcpuclockid.)
 */
int clock_getcpuclockid(pid_t pid, clockid_t *clock)
{
	struct weft_timespec ts;
	clockid_t of = pid == 0 ? CLOCK_PROCESS_CPUTIME_ID : WEFT_CLOCK_PROC(pid);

	if (pid < 0 || pid > WEFT_PID_MAX || __sys_clock_gettime(of, &ts) < 0)
		return ESRCH;
	*clock = of;
	return 0;
}

/* All clocks count nanoseconds.  EINVAL: no such clock, or its LWP does not exist. */
int clock_getres(clockid_t clock, struct timespec *ts)
{
	struct timespec now;

	if (clock_gettime(clock, &now) < 0)
		return -1;
	if (ts)
		*ts = (struct timespec){.tv_nsec = 1};
	return 0;
}

int gettimeofday(struct timeval *tv, void *tz)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	tv->tv_sec = ts.tv_sec;
	tv->tv_usec = ts.tv_nsec / 1000;
	return 0;
}
