/*
 * libc_clock.c - setting CLOCK_REALTIME: what waits for absolute times of it, and what does not; and
 * the clocks of CPU time by process.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <weft/lwp.h>
#include <weft/sys.h>
#include "tap.h"

#define NSEC 1000000000ll
#define MS 1000000ll

static int64_t now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * NSEC + ts.tv_nsec;
}

static struct timespec spec(int64_t ns)
{
	return (struct timespec){.tv_sec = ns / NSEC, .tv_nsec = ns % NSEC};
}

/* The clock goes on from here, this far away. */
static void jump(int64_t ns)
{
	struct timespec ts = spec(now(CLOCK_REALTIME) + ns);

	if (clock_settime(CLOCK_REALTIME, &ts) != 0)
		bail("clock_settime: %s", strerror(errno));
}

static int near(int64_t a, int64_t b)
{
	return a - b < 50 * MS && b - a < 50 * MS;
}

static void setting(void)
{
	struct timespec ts = spec(now(CLOCK_REALTIME)), bad = {.tv_nsec = NSEC}, early = {0};
	struct timeval tv = {.tv_sec = 2000000000, .tv_usec = 500000};
	int64_t mono = now(CLOCK_MONOTONIC);

	ts.tv_sec += 1000;
	is("clock_settime", clock_settime(CLOCK_REALTIME, &ts), 0);
	ok("it is that time", near(now(CLOCK_REALTIME), ts.tv_sec * NSEC + ts.tv_nsec));
	ok("CLOCK_MONOTONIC is as it was", near(now(CLOCK_MONOTONIC), mono));
	ok("time tells the same", time(NULL) - ts.tv_sec <= 1);
	is("settimeofday", settimeofday(&tv, NULL), 0);
	ok("it is that time too", near(now(CLOCK_REALTIME), 2000000000 * NSEC + NSEC / 2));
	fails("of CLOCK_MONOTONIC", clock_settime(CLOCK_MONOTONIC, &ts), EINVAL);
	fails("of no clock", clock_settime(99, &ts), EINVAL);
	fails("no time", clock_settime(CLOCK_REALTIME, &bad), EINVAL);
	fails("before the machine's start", clock_settime(CLOCK_REALTIME, &early), EINVAL);
}

/* --- sleeps ------------------------------------------------------------------------------ */

static struct sleep {
	clockid_t clock;
	int flags;
	struct timespec until;
	int64_t woken; /* CLOCK_MONOTONIC */
	int result;
} sleeps[3];

static void *sleeper(void *arg)
{
	struct sleep *s = arg;

	s->result = clock_nanosleep(s->clock, s->flags, &s->until, NULL);
	s->woken = now(CLOCK_MONOTONIC);
	return NULL;
}

/* All LWPs of this process but the first sleep. */
static void until_asleep(unsigned n)
{
	struct lwp_info info;

	for (unsigned id = 2; id < 2 + n;) {
		__sys_lwp_yield();
		id += __sys_lwp_info(0, id, &info) == id && strcmp(info.wchan, "sleep") == 0;
	}
}

static void sleeping(int64_t by, int64_t absolute_takes, const char *name)
{
	pthread_t t[3];
	int64_t start = now(CLOCK_MONOTONIC);
	char line[100];

	sleeps[0] = (struct sleep){CLOCK_REALTIME, TIMER_ABSTIME, spec(now(CLOCK_REALTIME) + NSEC),
				   0, -1};
	sleeps[1] = (struct sleep){CLOCK_REALTIME, 0, spec(NSEC), 0, -1};
	sleeps[2] = (struct sleep){CLOCK_MONOTONIC, TIMER_ABSTIME, spec(start + NSEC), 0, -1};
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, sleeper, &sleeps[i]);
	until_asleep(3);
	jump(by);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < 3; i++) {
		static const char *const kind[] = {"until a time", "for a time",
						   "by the other clock"};
		int64_t took = sleeps[i].woken - start;
		snprintf(line, sizeof(line), "%s: a sleep %s", name, kind[i]);
		tap_report(sleeps[i].result == 0 && near(took, i == 0 ? absolute_takes : NSEC),
			   line, "result %d after %ld ns", sleeps[i].result, (long)took);
	}
}

/* --- timers ------------------------------------------------------------------------------ */

static int64_t signal_after(int64_t start, int sig, int *overruns)
{
	sigset_t set;
	siginfo_t info;

	sigemptyset(&set);
	sigaddset(&set, sig);
	if (sigwaitinfo(&set, &info) != sig)
		return -1;
	*overruns = info.si_overrun;
	return now(CLOCK_MONOTONIC) - start;
}

static void timers(void)
{
	struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	struct itimerspec at = {0}, in = {.it_value = {.tv_sec = 1}}, left;
	sigset_t set;
	timer_t absolute, relative;
	int overruns;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	timer_create(CLOCK_REALTIME, &ev, &absolute);
	ev.sigev_signo = SIGUSR2;
	timer_create(CLOCK_REALTIME, &ev, &relative);

	int64_t start = now(CLOCK_MONOTONIC);
	at.it_value = spec(now(CLOCK_REALTIME) + NSEC);
	timer_settime(absolute, TIMER_ABSTIME, &at, NULL);
	timer_settime(relative, 0, &in, NULL);
	jump(NSEC / 2);
	timer_gettime(absolute, &left);
	ok("half a second ahead: half is left", near(left.it_value.tv_nsec, NSEC / 2));
	ok("the timer moves", near(signal_after(start, SIGUSR1, &overruns), NSEC / 2));
	ok("one with a length does not", near(signal_after(start, SIGUSR2, &overruns), NSEC));

	start = now(CLOCK_MONOTONIC);
	at.it_value = spec(now(CLOCK_REALTIME) + NSEC);
	timer_settime(absolute, TIMER_ABSTIME, &at, NULL);
	jump(-2 * NSEC);
	ok("back: it waits longer", near(signal_after(start, SIGUSR1, &overruns), 3 * NSEC));

	start = now(CLOCK_MONOTONIC);
	at.it_value = spec(now(CLOCK_REALTIME) + NSEC);
	at.it_interval.tv_sec = 10;
	timer_settime(absolute, TIMER_ABSTIME, &at, NULL);
	jump(36 * NSEC);
	ok("far ahead: at once", near(signal_after(start, SIGUSR1, &overruns), 0));
	is("those on the way are overruns", overruns, 3);
	ok("on the beat of the new clock", near(signal_after(start, SIGUSR1, &overruns), 5 * NSEC));
	timer_delete(absolute);
	timer_delete(relative);
	jump(-36 * NSEC);
}

/* --- clocks of CPU time ----------------------------------------------------------------------- */

static void cpu_clocks(void)
{
	clockid_t mine, by_id, childs;
	int64_t before;
	pid_t child = fork();

	if (child == 0)
		for (;;)
			pause();
	is("clock_getcpuclockid", clock_getcpuclockid(0, &mine), 0);
	is("by the process's id", clock_getcpuclockid(getpid(), &by_id), 0);
	before = now(CLOCK_PROCESS_CPUTIME_ID);
	ok("it is the process's", now(mine) >= before && near(now(by_id), before));
	is("of a child", clock_getcpuclockid(child, &childs), 0);
	ok("which uses less", now(childs) < now(mine));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	is("when it is gone", clock_getcpuclockid(child, &childs), ESRCH);
	fails("its clock too", clock_gettime(childs, &(struct timespec){0}), EINVAL);
	is("of nobody", clock_getcpuclockid(-1, &childs), ESRCH);
}

int main(void)
{
	setting();
	sleeping(NSEC / 2, NSEC / 2, "ahead");
	sleeping(60 * NSEC, 0, "far ahead");
	sleeping(-NSEC, 2 * NSEC, "back");
	timers();
	cpu_clocks();
	return tap_done();
}
