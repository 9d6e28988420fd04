/*
 * err_signal.c - every error of the system calls on signals and interval timers.
 */
#include <weft/signal.h>
#include <weft/time.h>
#include "errtest.h"
#include "rawlwp.h"

#define NOBODY 1000

static const uint64_t usr1 = WEFT_SIGBIT(WEFT_SIGUSR1);
static const struct weft_timespec zero, bad = {0, 1000000000};
static int status;

static void actions(void)
{
	struct weft_sigaction act = {.flags = 1u << 31}, old;
	uint64_t set;

	gives(sigaction, EINVAL, "signal 0", 0, NULL, &old);
	gives(sigaction, EINVAL, "signal 64", WEFT_NSIG, NULL, &old);
	gives(sigaction, EINVAL, "unknown flags", WEFT_SIGUSR1, &act, NULL);
	act = (struct weft_sigaction){.entry = (uint64_t)KERNEL_ADDR};
	gives(sigaction, EINVAL, "an entry in the kernel", WEFT_SIGUSR1, &act, NULL);
	act = (struct weft_sigaction){.handler = WEFT_SIG_IGN};
	gives(sigaction, EINVAL, "SIGKILL", WEFT_SIGKILL, &act, NULL);
	gives(sigaction, EFAULT, "the new one", WEFT_SIGUSR1, NOWHERE, NULL);
	gives(sigaction, EFAULT, "the old one", WEFT_SIGUSR1, NULL, NOWHERE);
	works(sigaction, WEFT_SIGUSR1, NULL, &old);

	gives(sigprocmask, EINVAL, "how", 99, &usr1, NULL);
	gives(sigprocmask, EFAULT, "the new one", WEFT_SIG_BLOCK, NOWHERE, NULL);
	gives(sigprocmask, EFAULT, "the old one", WEFT_SIG_BLOCK, NULL, NOWHERE);
	works(sigprocmask, WEFT_SIG_BLOCK, &usr1, NULL);
	gives(sigpending, EFAULT, "the set", NOWHERE);
	works(sigpending, &set);
}

static char other_stack[8192];
static volatile long moved = 1;

static void on_other_stack(int sig)
{
	struct weft_stack s = {.sp = (uint64_t)other_stack, .size = sizeof(other_stack)};
	moved = __sys_sigaltstack(&s, NULL);
}

static void stacks(void)
{
	struct weft_stack s = {.sp = (uint64_t)other_stack, .flags = 64, .size = 8192}, old;
	struct sigaction act = {.sa_handler = on_other_stack, .sa_flags = SA_ONSTACK};

	gives(sigaltstack, EFAULT, "the new one", NOWHERE, NULL);
	gives(sigaltstack, EFAULT, "the old one", NULL, NOWHERE);
	gives(sigaltstack, EINVAL, "unknown flags", &s, NULL);
	s.flags = 0;
	s.size = WEFT_MINSIGSTKSZ - 1;
	gives(sigaltstack, ENOMEM, "too small", &s, NULL);
	s.sp = (uint64_t)KERNEL_ADDR;
	s.size = sizeof(other_stack);
	gives(sigaltstack, ENOMEM, "in the kernel", &s, NULL);
	s.sp = (uint64_t)other_stack;
	works(sigaltstack, &s, &old);
	/* Its handler returns by sigreturn. */
	sigaction(SIGUSR2, &act, NULL);
	raise(SIGUSR2);
	err_result(moved, -EPERM, "sigaltstack EPERM: a handler runs on it");
	worked(sigreturn, moved != 1);
}

static void waiting(void)
{
	const uint64_t none = 0;
	struct weft_siginfo info;

	gives(sigsuspend, EFAULT, "the set", NOWHERE);
	int before = err_alarms;
	gives_eintr(sigsuspend, "a handler", &none);
	worked(sigsuspend, err_alarms > before);

	const uint64_t alarm = WEFT_SIGBIT(WEFT_SIGALRM);
	gives(lwp_sigcatch, EFAULT, "the set", NOWHERE);
	gives(lwp_sigcatch, EAGAIN, "nothing is pending", &none);
	__sys_sigprocmask(WEFT_SIG_BLOCK, &alarm, NULL);
	__sys_kill(__sys_getpid(), WEFT_SIGALRM);
	gives(lwp_sigcatch, EAGAIN, "what is pending stays blocked", &alarm);
	before = err_alarms;
	gives(lwp_sigcatch, EINTR, "a handler", &none);
	worked(lwp_sigcatch, err_alarms == before + 1);
	__sys_kill(__sys_getpid(), WEFT_SIGALRM);
	is("lwp_sigcatch: the mask is back", err_alarms, before + 1);
	__sys_sigprocmask(WEFT_SIG_UNBLOCK, &alarm, NULL);

	gives(sigtimedwait, EFAULT, "the set", NOWHERE, &info, &zero);
	gives(sigtimedwait, EFAULT, "the time", &usr1, &info, NOWHERE);
	gives(sigtimedwait, EINVAL, "the time", &usr1, &info, &bad);
	gives(sigtimedwait, EAGAIN, "none came", &usr1, &info, &zero);
	gives_eintr(sigtimedwait, "a handler for another signal", &usr1, &info, NULL);
	__sys_kill(__sys_getpid(), WEFT_SIGUSR1);
	gives(sigtimedwait, EFAULT, "the information", &usr1, NOWHERE, &zero);
	__sys_kill(__sys_getpid(), WEFT_SIGUSR1);
	works(sigtimedwait, &usr1, &info, &zero);
}

static void sending(void)
{
	const uint64_t all = ~0ull;
	int me = __sys_getpid();
	uint32_t lwp = __sys_lwp_self();

	gives(kill, EINVAL, "signal 64", me, WEFT_NSIG);
	gives(kill, EINVAL, "signal -1", me, -1);
	gives(kill, ESRCH, "no such process", INT32_MAX, 0);
	gives(kill, ESRCH, "no such group", -INT32_MAX, 0);
	works(kill, me, 0);
	gives(sigqueue, EINVAL, "no such signal", me, WEFT_NSIG, 0);
	gives(sigqueue, ESRCH, "no such process", INT32_MAX, WEFT_SIGRTMIN, 0);
	gives(sigqueue, ESRCH, "a group", -me, WEFT_SIGRTMIN, 0);
	gives(lwp_kill, EINVAL, "no such signal", lwp, WEFT_NSIG);
	gives(lwp_kill, ESRCH, "no such LWP", NOBODY, 0);
	works(lwp_kill, lwp, 0);
	gives(lwp_sigqueue, EINVAL, "no such signal", lwp, WEFT_NSIG, 0);
	gives(lwp_sigqueue, ESRCH, "no such LWP", NOBODY, WEFT_SIGRTMIN, 0);

	works(sig_aslwp);
	gives(sig_aslwp, EBUSY, "there is one");
	gives(sig_redirect, EINVAL, "no such signal", 0, WEFT_NSIG);
	gives(sig_redirect, ESRCH, "no such LWP", NOBODY, SIGUSR1);
	gives(sig_redirect, EAGAIN, "it blocks the signal", __sys_lwp_self(), SIGUSR1);
	works(sig_redirect, 0, SIGUSR1);
	__sys_lwp_kill(__sys_lwp_self(), SIGUSR1);
	is("what is pending for the LWP is taken back", works(lwp_sigtake), (long)usr1);

	/* Nobody takes them, until there is no place for one more; then the process ends. */
	int pid = __sys_fork();
	if (pid == 0) {
		__sys_sigprocmask(WEFT_SIG_SETMASK, &all, NULL);
		works(sigqueue, __sys_getpid(), WEFT_SIGRTMIN, 0);
		works(lwp_sigqueue, __sys_lwp_self(), WEFT_SIGRTMIN, 0);
		for (int i = 2; i < WEFT_SIGQUEUE_MAX; i++)
			__sys_sigqueue(__sys_getpid(), WEFT_SIGRTMIN, i);
		gives(sigqueue, EAGAIN, "too many", __sys_getpid(), WEFT_SIGRTMIN, 0);
		gives(lwp_sigqueue, EAGAIN, "too many", __sys_lwp_self(), WEFT_SIGRTMIN, 0);
		__sys_exit(tap_failed);
	}
	__sys_waitpid(pid, &status, 0, NULL);
	tap_count += 4;
	is("the child's", status, 0);
}

static void timers(void)
{
	struct weft_itimerspec off = {{0, 0}, {0, 0}}, now, wrong = {{0, 0}, {0, -1}};
	struct weft_itimerspec far = {{0, 0}, {3600, 0}};
	struct weft_sigevent ev = {.notify = 99};
	int id, ids[WEFT_TIMER_MAX], n = 0;

	gives(setitimer, EINVAL, "which", 7, &off, NULL);
	gives(setitimer, EINVAL, "the time", WEFT_ITIMER_REAL, &wrong, NULL);
	gives(setitimer, EFAULT, "the new one", WEFT_ITIMER_REAL, NOWHERE, NULL);
	gives(setitimer, EFAULT, "the old one", WEFT_ITIMER_REAL, &off, NOWHERE);
	works(setitimer, WEFT_ITIMER_REAL, &off, &now);
	gives(getitimer, EINVAL, "which", 7, &now);
	gives(getitimer, EFAULT, "the structure", WEFT_ITIMER_REAL, NOWHERE);
	works(getitimer, WEFT_ITIMER_REAL, &now);

	gives(timer_create, EINVAL, "the clock", 99, NULL, &id);
	gives(timer_create, EINVAL, "the notification", WEFT_CLOCK_MONOTONIC, &ev, &id);
	ev = (struct weft_sigevent){.notify = WEFT_SIGEV_SIGNAL, .signo = 64};
	gives(timer_create, EINVAL, "the signal", WEFT_CLOCK_MONOTONIC, &ev, &id);
	ev = (struct weft_sigevent){.notify = WEFT_SIGEV_LWP, .signo = 1, .lwpid = NOBODY};
	gives(timer_create, ESRCH, "no such LWP", WEFT_CLOCK_MONOTONIC, &ev, &id);
	gives(timer_create, EFAULT, "the event", WEFT_CLOCK_MONOTONIC, NOWHERE, &id);
	gives(timer_create, EFAULT, "the id", WEFT_CLOCK_MONOTONIC, NULL, NOWHERE);
	works(timer_create, WEFT_CLOCK_MONOTONIC, NULL, &id);

	gives(timer_settime, EINVAL, "no such timer", 99, 0, &off, NULL);
	gives(timer_settime, EINVAL, "the flags", id, 1, &off, NULL);
	gives(timer_settime, EINVAL, "the time", id, 0, &wrong, NULL);
	gives(timer_settime, EFAULT, "the new one", id, 0, NOWHERE, NULL);
	gives(timer_settime, EFAULT, "the old one", id, 0, &off, NOWHERE);
	works(timer_settime, id, WEFT_TIMER_ABSTIME, &off, &now);
	gives(timer_gettime, EINVAL, "no such timer", 99, &now);
	gives(timer_gettime, EFAULT, "the structure", id, NOWHERE);
	works(timer_gettime, id, &now);
	gives(timer_getoverrun, EINVAL, "no such timer", 99);
	works(timer_getoverrun, id);
	gives(timer_delete, EINVAL, "no such timer", 99);
	works(timer_delete, id);

	while (__sys_timer_create(WEFT_CLOCK_MONOTONIC, NULL, &ids[n]) == 0)
		n++;
	gives(timer_create, EAGAIN, "too many", WEFT_CLOCK_MONOTONIC, NULL, &id);
	gives(setitimer, EAGAIN, "too many", WEFT_ITIMER_VIRTUAL, &far, NULL);
	while (n > 0)
		__sys_timer_delete(ids[--n]);
}

int main(void)
{
	actions();
	stacks();
	waiting();
	sending();
	timers();
	return tap_done();
}
