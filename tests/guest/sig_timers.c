/*
 * sig_timers.c - setitimer, alarm and the timers of timer_create: times, overruns, the receivers of
 * their signals, and every documented error.
 *
 * Lower bounds on times hold on any machine.  They also hold for waits with the signal blocked
 * until the wait.  Upper bounds are checked in exact timing only, where no host can stop in
 * between.
 */
#include "rawlwp.h"
#include "tap.h"
#include <errno.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <weft/start.h>

#define MS 1000000ll
#define KERNEL_ADDR ((void *)0xffff800000000000ull)

static volatile int count, lwpid;
static volatile siginfo_t told;

static void handler(int sig, siginfo_t *info, void *uc)
{
	*(siginfo_t *)&told = *info;
	lwpid = __sys_lwp_self();
	count++;
}

static void catch (int sig)
{
	struct sigaction act = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
	sigaction(sig, &act, NULL);
	count = 0;
}

/* Not too late: of exact timing alone. */
static int in_time(int on_time)
{
	return on_time || !((const struct timepage *)__auxval(AT_WEFT_TIMEPAGE))->exact;
}

/* Waits until the handler has run n times for the blocked signal. */
static void await(int sig, int n)
{
	sigset_t all, none = 0, was;

	sigemptyset(&all);
	sigaddset(&all, sig);
	sigprocmask(SIG_BLOCK, &all, &was);
	while (count < n)
		sigsuspend(&none);
	sigprocmask(SIG_SETMASK, &was, NULL);
}

static void spin(int64_t ns)
{
	int64_t end = gethrtime() + ns;
	while (gethrtime() < end)
		;
}

static int64_t cpu_time(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000 * MS + ts.tv_nsec;
}

static void real(void)
{
	struct itimerval set = {.it_value.tv_sec = 5000}, off = {0}, now;

	catch (SIGALRM);
	is("setitimer", setitimer(ITIMER_REAL, &set, NULL), 0);
	is("getitimer", getitimer(ITIMER_REAL, &now), 0);
	ok("getitimer: left", now.it_value.tv_sec > 4000 && now.it_value.tv_sec <= 5000 &&
				      now.it_interval.tv_sec == 0 && now.it_interval.tv_usec == 0);
	set = (struct itimerval){.it_value.tv_usec = 5000};
	int64_t t = gethrtime();
	setitimer(ITIMER_REAL, &set, NULL);
	await(SIGALRM, 1);
	is("ITIMER_REAL", count, 1);
	ok("ITIMER_REAL: not early", gethrtime() - t >= 5 * MS);
	ok("ITIMER_REAL: not late", in_time(gethrtime() - t < 50 * MS));
	is("ITIMER_REAL: code", told.si_code, SI_TIMER);
	getitimer(ITIMER_REAL, &now);
	ok("ITIMER_REAL: off after once", now.it_value.tv_sec == 0 && now.it_value.tv_usec == 0);

	set.it_interval.tv_usec = 3000;
	t = gethrtime();
	setitimer(ITIMER_REAL, &set, NULL);
	await(SIGALRM, 4);
	ok("interval", gethrtime() - t >= (5 + 3 + 3) * MS);
	is("setitimer: off", setitimer(ITIMER_REAL, &off, &now), 0);
	ok("setitimer: old", now.it_interval.tv_usec == 3000 && now.it_value.tv_usec <= 3000);
	int before = count;
	spin(8 * MS);
	is("setitimer: off: stays so", count, before);

	is("setitimer: which", setitimer(7, &set, NULL), -1);
	is("setitimer: which: errno", errno, EINVAL);
	is("getitimer: which", getitimer(-1, &now), -1);
	set.it_value.tv_usec = 1000000;
	is("setitimer: microseconds", setitimer(ITIMER_REAL, &set, NULL), -1);
	set.it_value = (struct timeval){.tv_sec = -1};
	is("setitimer: negative", setitimer(ITIMER_REAL, &set, NULL), -1);
	is("setitimer: NULL", setitimer(ITIMER_REAL, NULL, NULL), -1);
	is("setitimer: pointer", __sys_setitimer(0, KERNEL_ADDR, NULL), -EFAULT);
	struct weft_itimerspec k = {0};
	is("setitimer: old pointer", __sys_setitimer(0, &k, KERNEL_ADDR), -EFAULT);
	is("getitimer: pointer", __sys_getitimer(0, KERNEL_ADDR), -EFAULT);

	is("alarm: none before", alarm(100), 0);
	is("alarm: left", alarm(0), 100);

	/* EINTR and what is left.  Again and again: the first may come before the call. */
	set = (struct itimerval){.it_value.tv_usec = 2000, .it_interval.tv_usec = 2000};
	struct timespec ts = {.tv_sec = 5000}, rem;
	setitimer(ITIMER_REAL, &set, NULL);
	is("nanosleep: interrupted", nanosleep(&ts, &rem), -1);
	ok("nanosleep: what is left", errno == EINTR && rem.tv_sec < 5000 && rem.tv_sec > 4000);
	unsigned left = sleep(3000);
	ok("sleep: interrupted", left > 2000 && left <= 3000);
	setitimer(ITIMER_REAL, &off, NULL);
}

/* Intervals as short and as long as they can be written: the machine lives on. */
static void extremes(void)
{
	struct weft_itimerspec its = {.value = {0, 1}, .interval = {0, 1}}, off = {0}, now;

	catch (SIGALRM);
	is("an interval of 1 ns", __sys_setitimer(ITIMER_REAL, &its, NULL), 0);
	for (int i = 0; i < 1000; i++)
		__sys_null();
	await(SIGALRM, 20);
	__sys_setitimer(ITIMER_REAL, &off, NULL);
	/* The second expiry is beyond the end of time. */
	its.interval = (struct weft_timespec){18446744073, 709551000};
	catch (SIGALRM);
	is("an interval of 584 years", __sys_setitimer(ITIMER_REAL, &its, NULL), 0);
	await(SIGALRM, 1);
	spin(2 * MS);
	is("expires once", count, 1);
	__sys_getitimer(ITIMER_REAL, &now);
	ok("and not again", now.value.sec == 0 && now.value.nsec == 0);
	its.interval = (struct weft_timespec){INT64_MAX, 999999999};
	catch (SIGALRM);
	__sys_setitimer(ITIMER_REAL, &its, NULL);
	await(SIGALRM, 1);
	spin(2 * MS);
	is("nor one beyond all numbers", count, 1);
	__sys_setitimer(ITIMER_REAL, &off, NULL);
}

static void cpu(void)
{
	struct itimerval set = {.it_value.tv_usec = 20000, .it_interval.tv_usec = 20000}, off = {0};

	catch (SIGVTALRM);
	int64_t t = cpu_time();
	setitimer(ITIMER_VIRTUAL, &set, NULL);
	usleep(60000); /* takes no CPU time */
	is("ITIMER_VIRTUAL: not while asleep", count, 0);
	while (count == 0)
		;
	ok("ITIMER_VIRTUAL: not early", cpu_time() - t >= 20 * MS);
	while (count == 1)
		;
	ok("ITIMER_VIRTUAL: interval", cpu_time() - t >= 40 * MS);
	setitimer(ITIMER_VIRTUAL, &off, NULL);

	catch (SIGPROF);
	t = cpu_time();
	setitimer(ITIMER_PROF, &set, NULL);
	while (count == 0)
		__sys_null();
	ok("ITIMER_PROF: user and system",
	   cpu_time() - t >= 20 * MS && in_time(cpu_time() - t < 40 * MS));
	setitimer(ITIMER_PROF, &off, NULL);
}

/* --- timers of timer_create ------------------------------------------------------------- */

static struct itimerspec after(int64_t value, int64_t interval)
{
	return (struct itimerspec){.it_value = {value / (1000 * MS), value % (1000 * MS)},
				   .it_interval = {0, interval}};
}

static void created(void)
{
	struct sigevent ev = {
		.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN, .sigev_value.sival_int = 42};
	struct itimerspec set = after(4 * MS, 0), now;
	timer_t id, other;
	sigset_t s = 0;
	siginfo_t info;

	sigaddset(&s, SIGRTMIN);
	sigaddset(&s, SIGALRM);
	sigprocmask(SIG_BLOCK, &s, NULL);
	is("timer_create", timer_create(CLOCK_MONOTONIC, &ev, &id), 0);
	is("timer_gettime: off", timer_gettime(id, &now), 0);
	ok("timer_gettime: off: 0", now.it_value.tv_nsec == 0 && now.it_value.tv_sec == 0);
	int64_t t = gethrtime();
	is("timer_settime", timer_settime(id, 0, &set, &now), 0);
	is("sigwaitinfo", sigwaitinfo(&s, &info), SIGRTMIN);
	ok("not early", gethrtime() - t >= 4 * MS);
	ok("info", info.si_code == SI_TIMER && info.si_value.sival_int == 42 &&
			   info.si_timerid == (int)id && info.si_overrun == 0);
	is("timer_getoverrun: none", timer_getoverrun(id), 0);

	/* Five expiries while nobody takes the first. */
	set = after(2 * MS, 2 * MS);
	timer_settime(id, 0, &set, NULL);
	spin(10 * MS + MS / 2);
	is("overrun: one signal", sigwaitinfo(&s, &info), SIGRTMIN);
	ok("overrun: count", in_time(info.si_overrun >= 3 && info.si_overrun <= 4));
	is("timer_getoverrun", timer_getoverrun(id), info.si_overrun);
	set = after(0, 0);
	timer_settime(id, 0, &set, &now);
	ok("timer_settime: old", now.it_interval.tv_nsec == 2 * MS);
	while (sigtimedwait(&s, &info, &(struct timespec){0}) > 0)
		;

	/* Absolute, on both clocks. */
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	int64_t due = ts.tv_sec * 1000 * MS + ts.tv_nsec + 3 * MS;
	set = after(due, 0);
	t = gethrtime();
	timer_settime(id, TIMER_ABSTIME, &set, NULL);
	sigwaitinfo(&s, &info);
	ok("TIMER_ABSTIME", gethrtime() >= due && in_time(gethrtime() - t < 50 * MS));
	set = after(1, 0);
	timer_settime(id, TIMER_ABSTIME, &set, NULL);
	is("TIMER_ABSTIME: in the past", sigwaitinfo(&s, &info), SIGRTMIN);
	ok("info of another clock", timer_create(CLOCK_REALTIME, NULL, &other) == 0);
	clock_gettime(CLOCK_REALTIME, &ts);
	set = after(ts.tv_sec * 1000 * MS + ts.tv_nsec + 3 * MS, 0);
	due = ts.tv_sec * 1000 * MS + ts.tv_nsec + 3 * MS;
	t = gethrtime();
	timer_settime(other, TIMER_ABSTIME, &set, NULL);
	is("CLOCK_REALTIME: SIGALRM by default", sigwaitinfo(&s, &info), SIGALRM);
	clock_gettime(CLOCK_REALTIME, &ts);
	ok("CLOCK_REALTIME",
	   ts.tv_sec * 1000 * MS + ts.tv_nsec >= due && in_time(gethrtime() - t < 50 * MS));
	is("the timer's id as value", info.si_value.sival_int, other);

	ev.sigev_notify = SIGEV_NONE;
	timer_t silent;
	timer_create(CLOCK_MONOTONIC, &ev, &silent);
	set = after(MS, 0);
	timer_settime(silent, 0, &set, NULL);
	spin(3 * MS);
	is("SIGEV_NONE", sigtimedwait(&s, &info, &(struct timespec){0}), -1);

	/* What is pending goes with the timer. */
	set = after(1, 0);
	timer_settime(id, 0, &set, NULL);
	spin(MS);
	is("timer_delete", timer_delete(id), 0);
	is("timer_delete: its signal too", sigtimedwait(&s, &info, &(struct timespec){0}), -1);
	is("timer_delete: gone", timer_delete(id), -1);
	is("timer_delete: gone: errno", errno, EINVAL);
	is("timer_settime: gone", timer_settime(id, 0, &set, NULL), -1);
	is("timer_gettime: gone", timer_gettime(id, &now), -1);
	is("timer_getoverrun: gone", timer_getoverrun(id), -1);
	timer_delete(silent);

	is("timer_settime: flags", timer_settime(other, 1, &set, NULL), -1);
	set.it_value.tv_nsec = 1000 * MS;
	is("timer_settime: time", timer_settime(other, 0, &set, NULL), -1);
	is("timer_settime: pointer", __sys_timer_settime(other, 0, KERNEL_ADDR, NULL), -EFAULT);
	struct weft_itimerspec k = {0};
	is("timer_settime: old pointer", __sys_timer_settime(other, 0, &k, KERNEL_ADDR), -EFAULT);
	is("timer_gettime: pointer", __sys_timer_gettime(other, KERNEL_ADDR), -EFAULT);
	is("timer_create: clock", timer_create(77, NULL, &id), -1);
	is("timer_create: clock: errno", errno, EINVAL);
	ev = (struct sigevent){.sigev_notify = 9, .sigev_signo = SIGALRM};
	is("timer_create: notify", timer_create(CLOCK_MONOTONIC, &ev, &id), -1);
	ev = (struct sigevent){.sigev_notify = SIGEV_SIGNAL, .sigev_signo = NSIG};
	is("timer_create: signal", timer_create(CLOCK_MONOTONIC, &ev, &id), -1);
	ev = (struct sigevent){
		.sigev_notify = SIGEV_LWP, .sigev_signo = SIGALRM, .sigev_notify_lwpid = 4711};
	is("timer_create: LWP", timer_create(CLOCK_MONOTONIC, &ev, &id), -1);
	is("timer_create: LWP: errno", errno, ESRCH);
	is("timer_create: pointer", __sys_timer_create(CLOCK_MONOTONIC, KERNEL_ADDR, NULL),
	   -EFAULT);
	is("timer_create: id", __sys_timer_create(CLOCK_MONOTONIC, NULL, KERNEL_ADDR), -EFAULT);
	timer_delete(other);

	static timer_t many[WEFT_TIMER_MAX + 1];
	int n = 0;
	while (n <= WEFT_TIMER_MAX && timer_create(CLOCK_MONOTONIC, NULL, &many[n]) == 0)
		n++;
	ok("timer_create: the most", n > WEFT_TIMER_MAX - 8 && n <= WEFT_TIMER_MAX);
	is("timer_create: too many", errno, EAGAIN);
	while (n > 0)
		timer_delete(many[--n]);
	is("timer_create: room again", timer_create(CLOCK_MONOTONIC, NULL, &id), 0);
	timer_delete(id);
	sigprocmask(SIG_UNBLOCK, &s, NULL);
}

/* --- timers of CPU time ------------------------------------------------------------------- */

static int64_t thread_time(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000 * MS + ts.tv_nsec;
}

static volatile int go_on;
static timer_t of_raw;

static void burns(struct raw *r)
{
	struct weft_itimerspec far = {.value = {1000, 0}};
	int id;

	if (r->arg) {
		__sys_timer_create(WEFT_CLOCK_THREAD_CPUTIME, NULL, &id);
		__sys_timer_settime(id, 0, &far, NULL);
		of_raw = id;
	}
	while (go_on)
		;
}

static void cpu_clocks(void)
{
	static struct raw r;
	struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
	struct itimerspec set = after(10 * MS, 0), now;
	timer_t id;
	int gone;

	catch (SIGUSR2);
	is("CLOCK_PROCESS_CPUTIME_ID", timer_create(CLOCK_PROCESS_CPUTIME_ID, &ev, &id), 0);
	int64_t t = cpu_time();
	timer_settime(id, 0, &set, NULL);
	usleep(30000);
	ok("no time while asleep", count == 0 || cpu_time() - t >= 10 * MS);
	timer_gettime(id, &now);
	ok("what is left", count > 0 || (now.it_value.tv_sec == 0 && now.it_value.tv_nsec > 0 &&
					 now.it_value.tv_nsec <= 10 * MS));
	while (count == 0)
		;
	ok("after so much CPU time", cpu_time() - t >= 10 * MS);
	t = cpu_time() + 5 * MS;
	set = after(t, 0);
	timer_settime(id, TIMER_ABSTIME, &set, NULL);
	while (count == 1)
		__sys_null();
	ok("at a point of it", cpu_time() >= t);
	timer_delete(id);

	/* Another LWP's time is the process's, and not ours. */
	catch (SIGUSR2);
	is("CLOCK_THREAD_CPUTIME_ID", timer_create(CLOCK_THREAD_CPUTIME_ID, &ev, &id), 0);
	t = thread_time();
	set = after(1000 * MS, 0);
	timer_settime(id, 0, &set, NULL);
	go_on = 1;
	raw_start(&r, burns, 0, 0);
	int64_t all = cpu_time();
	while (cpu_time() - all < 20 * MS)
		usleep(1000);
	set = after(thread_time() + 5 * MS, 0);
	t = thread_time() + 5 * MS;
	timer_settime(id, TIMER_ABSTIME, &set, NULL);
	is("another's time is not ours", count, 0);
	while (count == 0)
		;
	ok("our own is", thread_time() >= t - MS);
	go_on = 0;
	__sys_lwp_wait(r.id, &gone);
	timer_delete(id);

	/* Of an LWP that is gone: off, and for good. */
	raw_start(&r, burns, 1, 0);
	__sys_lwp_wait(r.id, &gone);
	is("timer of an LWP that is gone", timer_gettime(of_raw, &now), 0);
	ok("it is off", now.it_value.tv_sec == 0 && now.it_value.tv_nsec == 0);
	timer_delete(of_raw);

	is("clock_nanosleep: one's own time",
	   clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &now.it_value, NULL), EINVAL);
	is("clock_nanosleep: the process's",
	   clock_nanosleep(CLOCK_PROCESS_CPUTIME_ID, 0, &now.it_value, NULL), ENOTSUP);
	struct timespec ts;
	is("clock_gettime: no such clock", clock_gettime(77, &ts), -1);
	is("clock_gettime: errno", errno, EINVAL);
}

/* --- timers of an LWP --------------------------------------------------------------------- */

static volatile int64_t lwp_count;

static void raw_handler(int sig, struct weft_siginfo *info, struct weft_ucontext *uc)
{
	if (__sys_lwp_self() != 1)
		lwp_count++;
	__sys_sigreturn(uc);
}

static void timed(struct raw *r)
{
	struct weft_itimerspec set = {.value = {0, 2 * MS}, .interval = {0, 2 * MS}};

	__sys_setitimer(r->arg | WEFT_ITIMER_LWP, &set, NULL);
	while (lwp_count < 3)
		;
}

static void of_lwps(void)
{
	static struct raw r;
	struct weft_sigaction raw_act = {.handler = 8, .entry = (uint64_t)raw_handler};
	int gone;

	__sys_sigaction(SIGALRM, &raw_act, NULL);
	raw_start(&r, timed, ITIMER_REAL, 0);
	__sys_lwp_wait(r.id, &gone);
	int64_t last = lwp_count;
	ok("a timer of an LWP signals it", last >= 3 && in_time(last == 3));
	usleep(10000);
	is("and goes with it", lwp_count, last);
	__sys_sigaction(SIGVTALRM, &raw_act, NULL);
	lwp_count = 0;
	raw_start(&r, timed, ITIMER_VIRTUAL, 0);
	spin(20 * MS); /* ours, which does not count */
	__sys_lwp_wait(r.id, &gone);
	ok("its CPU time", lwp_count >= 3 && in_time(lwp_count == 3));

	struct sigevent ev = {.sigev_notify = SIGEV_LWP,
			      .sigev_signo = SIGUSR1,
			      .sigev_notify_lwpid = __sys_lwp_self()};
	struct itimerspec set = after(2 * MS, 0);
	timer_t id;
	catch (SIGUSR1);
	timer_create(CLOCK_MONOTONIC, &ev, &id);
	timer_settime(id, 0, &set, NULL);
	await(SIGUSR1, 1);
	ok("SIGEV_LWP", count == 1 && lwpid == (int)__sys_lwp_self());
	timer_delete(id);
}

int main(void)
{
	real();
	extremes();
	cpu();
	created();
	cpu_clocks();
	of_lwps();
	return tap_done();
}
