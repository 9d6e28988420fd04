/*
 * time.c - clocks and sleeping.
 *
 * CLOCK_MONOTONIC and CLOCK_REALTIME are read in user mode, from the time page
 * (weft/time.h); the CPU-time clocks need the kernel.
 */
#include <stdint.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
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

/* The time stamp counter, and the CPU that it was read on, in one instruction. */
static inline uint64_t rdtscp(uint32_t *cpu)
{
	uint32_t lo, hi;

	__asm__ volatile("rdtscp" : "=a"(lo), "=d"(hi), "=c"(*cpu) : : "memory");
	return (uint64_t)hi << 32 | lo;
}

/*
 * The record may be replaced, or the LWP be moved to another CPU, between any two
 * instructions.  A record that is the same before and after the counter was read,
 * on the CPU that it was read on, was in force at that moment.
 */
int64_t gethrtime(void)
{
	const struct timerec *r;
	uint64_t seq, vbase, ws, mult, tsc;
	uint32_t cpu, now_on;

	rdtscp(&cpu);
	for (;;) {
		r = &__timepage->cpu[cpu];
		seq = __atomic_load_n(&r->seq, __ATOMIC_ACQUIRE);
		vbase = __atomic_load_n(&r->vbase, __ATOMIC_RELAXED);
		ws = __atomic_load_n(&r->ws, __ATOMIC_RELAXED);
		mult = __atomic_load_n(&r->mult, __ATOMIC_RELAXED);
		tsc = rdtscp(&now_on);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (now_on == cpu && __atomic_load_n(&r->seq, __ATOMIC_RELAXED) == seq)
			break;
		cpu = now_on;
	}
	return vbase + (int64_t)(((__int128)(int64_t)(tsc - ws) * mult) >> 32);
}

/* EINVAL: no such clock. */
int clock_gettime(clockid_t clock, struct timespec *ts)
{
	int64_t ns;

	if (clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME)
		return result(__sys_clock_gettime(clock, (struct weft_timespec *)ts));
	ns = gethrtime();
	if (clock == CLOCK_REALTIME)
		ns += __timepage->boot_realtime;
	ts->tv_sec = ns / NSEC;
	ts->tv_nsec = ns % NSEC;
	return 0;
}

int clock_getres(clockid_t clock, struct timespec *ts)
{
	if (clock < CLOCK_REALTIME || clock > CLOCK_MONOTONIC)
		return fails(EINVAL);
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

/*
 * Blocks the calling LWP.  Returns an error number: EINVAL (clock, flags or time
 * wrong), EINTR (then *rem, if given and the time is a length, gets what is left).
 */
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *req, struct timespec *rem)
{
	int64_t start = gethrtime(), left;
	long r;

	if (flags & ~TIMER_ABSTIME)
		return EINVAL;
	r = __point_lwp_sleep(clock, flags & TIMER_ABSTIME ? LWP_SLEEP_ABSTIME : 0,
			      (const struct weft_timespec *)req);
	if (r == -EINTR)
		pthread_testcancel();
	if (r == -EINTR && rem && !(flags & TIMER_ABSTIME)) {
		left = req->tv_sec * NSEC + req->tv_nsec - (gethrtime() - start);
		if (left < 0)
			left = 0;
		rem->tv_sec = left / NSEC;
		rem->tv_nsec = left % NSEC;
	}
	return -r;
}

int nanosleep(const struct timespec *req, struct timespec *rem)
{
	int error = clock_nanosleep(CLOCK_MONOTONIC, 0, req, rem);

	return error ? fails(error) : 0;
}

int usleep(useconds_t usec)
{
	struct timespec ts = {.tv_sec = usec / 1000000, .tv_nsec = usec % 1000000 * 1000};

	return nanosleep(&ts, NULL);
}

/* Seconds that are left if it was interrupted, else 0. */
unsigned sleep(unsigned seconds)
{
	struct timespec ts = {.tv_sec = seconds}, rem = {0};

	return nanosleep(&ts, &rem) < 0 ? rem.tv_sec + (rem.tv_nsec > 0) : 0;
}
