/*
 * libc_time.c - clocks, read in user mode and by the kernel, and sleeping.
 */
#include <errno.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <weft/sys.h>
#include <weft/time.h>
#include "tap.h"

#define MS 1000000ll
#define NSEC 1000000000ll

static int64_t read_clock(clockid_t clock)
{
	struct timespec ts = {-1, -1};

	if (clock_gettime(clock, &ts) != 0 || ts.tv_nsec < 0 || ts.tv_nsec >= NSEC)
		return -1;
	return ts.tv_sec * NSEC + ts.tv_nsec;
}

static int64_t kernel_clock(void)
{
	struct weft_timespec ts;

	return __sys_clock_gettime(CLOCK_MONOTONIC, &ts) == 0 ? ts.sec * NSEC + ts.nsec : -1;
}

/* User mode and the kernel must tell the same time: each reading lies between two of the other. */
static void agreement(void)
{
	int64_t a, b, c, last = 0;
	int i, backwards = 0, outside = 0;

	for (i = 0; i < 20000; i++) {
		a = gethrtime();
		b = kernel_clock();
		c = gethrtime();
		backwards += a < last || c < a;
		outside += b < a || b > c;
		last = c;
	}
	is("gethrtime goes back", backwards, 0);
	is("kernel and user clocks disagree", outside, 0);
}

static void clocks(void)
{
	struct timespec ts;
	struct timeval tv;
	int64_t a, b;
	struct tm tm;
	char text[32];
	time_t t;

	a = read_clock(CLOCK_MONOTONIC);
	b = gethrtime();
	ok("CLOCK_MONOTONIC is gethrtime", a > 0 && b >= a && b - a < 100 * MS);
	ok("CLOCK_REALTIME is after 2020", read_clock(CLOCK_REALTIME) / NSEC > 1577836800);
	is("gettimeofday", gettimeofday(&tv, NULL), 0);
	t = time(NULL);
	ok("time and gettimeofday", t - tv.tv_sec >= 0 && t - tv.tv_sec <= 1);
	errno = 0;
	ok("no such clock", clock_gettime(99, &ts) < 0 && errno == EINVAL);
	ok("clock_getres", clock_getres(CLOCK_MONOTONIC, &ts) == 0 && ts.tv_nsec == 1);
	errno = 0;
	ok("clock_getres of no clock", clock_getres(99, &ts) < 0 && errno == EINVAL);
	fails("clock_getres: no LWP of this process", clock_getres(WEFT_CLOCK_LWP(999), &ts),
	      EINVAL);
	fails("clock_getres: a negative clock", clock_getres(-1, NULL), EINVAL);
	fails("clock_getres: the largest number", clock_getres(0x7fffffff, NULL), EINVAL);
	t = 1000000000;
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", gmtime_r(&t, &tm));
	ok("gmtime, strftime", !strcmp(text, "2001-09-09 01:46:40"));
	is("mktime", mktime(&tm), t);
}

static void sleeping(void)
{
	struct timespec ts = {0, 20 * MS}, bad = {0, NSEC};
	int64_t start, took;

	start = gethrtime();
	is("nanosleep", nanosleep(&ts, NULL), 0);
	took = gethrtime() - start;
	tap_report(took >= 20 * MS, "it sleeps long enough", "%ld ns", (long)took);

	start = gethrtime();
	ts.tv_sec = (start + 30 * MS) / NSEC;
	ts.tv_nsec = (start + 30 * MS) % NSEC;
	is("clock_nanosleep to a point", clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL),
	   0);
	took = gethrtime() - start;
	tap_report(took >= 30 * MS, "it sleeps until then", "%ld ns", (long)took);
	start = gethrtime();
	is("to a point in the past", clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL), 0);
	ok("it returns at once", gethrtime() - start < 10 * MS);

	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_nsec += 10 * MS;
	if (ts.tv_nsec >= NSEC) {
		ts.tv_nsec -= NSEC;
		ts.tv_sec++;
	}
	is("on CLOCK_REALTIME", clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &ts, NULL), 0);
	took = read_clock(CLOCK_REALTIME) - (ts.tv_sec * NSEC + ts.tv_nsec);
	tap_report(took >= 0, "it sleeps until then too", "%ld ns early", (long)-took);

	errno = 0;
	ok("nanosleep of a bad time", nanosleep(&bad, NULL) < 0 && errno == EINVAL);
	is("clock_nanosleep with bad flags", clock_nanosleep(CLOCK_MONOTONIC, 64, &ts, NULL),
	   EINVAL);
	start = gethrtime();
	is("usleep", usleep(15000), 0);
	ok("usleep sleeps", gethrtime() - start >= 15 * MS);
}

static void burn(int64_t ns)
{
	int64_t end = gethrtime() + ns;

	while (gethrtime() < end)
		;
}

static void cpu_time(void)
{
	int64_t cpu, lwp, before;
	struct rusage ru;
	struct tms t;
	clock_t c;

	before = read_clock(CLOCK_PROCESS_CPUTIME_ID);
	lwp = read_clock(CLOCK_THREAD_CPUTIME_ID);
	burn(50 * MS);
	cpu = read_clock(CLOCK_PROCESS_CPUTIME_ID) - before;
	tap_report(cpu > 0 && cpu < 10 * NSEC, "CLOCK_PROCESS_CPUTIME_ID counts", "%ld ns",
		   (long)cpu);
	ok("CLOCK_THREAD_CPUTIME_ID counts", read_clock(CLOCK_THREAD_CPUTIME_ID) > lwp);

	before = read_clock(CLOCK_PROCESS_CPUTIME_ID);
	usleep(200000);
	cpu = read_clock(CLOCK_PROCESS_CPUTIME_ID) - before;
	tap_report(cpu >= 0 && cpu < 100 * MS, "sleep takes no CPU time", "%ld ns", (long)cpu);

	c = clock();
	ok("clock", c != (clock_t)-1 && c > 0);
	is("getrusage", getrusage(RUSAGE_SELF, &ru), 0);
	ok("its user time", ru.ru_utime.tv_sec > 0 || ru.ru_utime.tv_usec > 0);
	ok("its switches", ru.ru_nvcsw > 0);
	errno = 0;
	ok("getrusage of nobody", getrusage(5, &ru) < 0 && errno == EINVAL);
	ok("times", times(&t) != (clock_t)-1 && t.tms_utime > 0 && t.tms_cutime == 0);
	is("unit of times", sysconf(_SC_CLK_TCK), CLOCKS_PER_SEC);
}

int main(void)
{
	agreement();
	clocks();
	sleeping();
	cpu_time();
	return tap_done();
}
