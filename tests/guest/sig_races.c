/*
 * sig_races.c - interrupted system calls, and signals that race with other events: a call
 * about to sleep, sigsuspend, exit, stop and continue, parking.  Argument: rounds.
 *
 * The other side of each race is a child process, or a raw LWP.  No clock decides anything: the
 * LWP that interrupts a call first checks that the call has begun.
 */
#include "rawlwp.h"
#include "tap.h"
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <weft/syscall.h>

static unsigned rounds = 50;
static volatile unsigned caught;

static void handler(int sig)
{
	caught++;
}

static void catch (int sig, int flags)
{
	struct sigaction act = {.sa_handler = handler, .sa_flags = flags};
	sigaction(sig, &act, NULL);
	caught = 0;
}

static sigset_t set_of(int sig)
{
	sigset_t s;
	sigemptyset(&s);
	sigaddset(&s, sig);
	return s;
}

/* --- a signal for a call that has begun --------------------------------------------------- */

static struct {
	uint32_t lwp, call; /* the LWP to interrupt, and its call */
	int release;        /* written to when the handler has run, to end the call; or -1 */
	int pid;
} target;

/* What comes once an LWP is in a call finds it asleep, or keeps it from falling asleep. */
static void interrupter(struct raw *r)
{
	struct lwp_info i = {.syscall = ~0u};

	while (i.syscall != target.call)
		__sys_lwp_info(target.pid, target.lwp, &i);
	__sys_lwp_kill(target.lwp, SIGALRM);
	if (target.release < 0)
		return;
	while (caught == 0)
		__sys_lwp_yield();
	__sys_write(target.release, "x", 1);
}

static struct raw helper;

/* Sends us SIGALRM when we are in this call. */
static void interrupt_in(uint32_t call, int release)
{
	target.lwp = __sys_lwp_self();
	target.pid = getpid();
	target.call = call;
	target.release = release;
	if (raw_start(&helper, interrupter, 0, 0) != 0)
		bail("no LWP");
}

static void interrupted(void)
{
	int gone;

	while (__sys_lwp_wait(helper.id, &gone) == -EINTR)
		;
}

/* --- EINTR and SA_RESTART ------------------------------------------------------------- */

static void interrupted_calls(void)
{
	int fd[2], status;
	char c;

	pipe(fd);
	catch (SIGALRM, 0);
	interrupt_in(SYS_read, -1);
	is("read: interrupted", read(fd[0], &c, 1), -1);
	is("read: EINTR", errno, EINTR);
	interrupted();

	catch (SIGALRM, SA_RESTART);
	interrupt_in(SYS_read, fd[1]);
	is("read: restarted", read(fd[0], &c, 1), 1);
	is("read: after the handler", caught, 1);
	interrupted();

	/* waitpid for a child that goes on when we have been interrupted. */
	for (int restart = 0; restart < 2; restart++) {
		catch (SIGALRM, restart ? SA_RESTART : 0);
		pid_t pid = fork();
		if (pid == 0)
			_exit(read(fd[0], &c, 1) == 1 ? 3 : 4);
		interrupt_in(SYS_waitpid, fd[1]);
		pid_t got = waitpid(pid, &status, 0);
		if (restart) {
			is("waitpid: restarted", got, pid);
		} else {
			ok("waitpid: EINTR", got == -1 && errno == EINTR);
			waitpid(pid, &status, 0);
		}
		interrupted();
		is("waitpid: status", status, 3 << 8);
		is("waitpid: handler", caught, 1);
	}

	/* A length of time is not begun again, whatever the flag. */
	catch (SIGALRM, SA_RESTART);
	struct timespec ts = {.tv_sec = 3600};
	interrupt_in(SYS_lwp_sleep, -1);
	is("nanosleep: never restarted", nanosleep(&ts, NULL), -1);
	interrupted();
	interrupt_in(SYS_sigsuspend, -1);
	is("pause", pause(), -1);
	interrupted();
	sigset_t usr2 = set_of(SIGUSR2);
	sigprocmask(SIG_BLOCK, &usr2, NULL);
	interrupt_in(SYS_sigtimedwait, -1);
	is("sigwaitinfo: never restarted", sigwaitinfo(&usr2, NULL), -1);
	is("sigwaitinfo: EINTR", errno, EINTR);
	interrupted();
	sigprocmask(SIG_UNBLOCK, &usr2, NULL);

	/* No handler, no interruption: stopped and continued in the middle of a read. */
	pid_t pid = fork();
	if (pid == 0)
		_exit(read(fd[0], &c, 1) == 1 && c == 'y' ? 7 : 8);
	kill(pid, SIGWINCH); /* ignored */
	kill(pid, SIGSTOP);
	waitpid(pid, &status, WUNTRACED);
	kill(pid, SIGCONT);
	write(fd[1], "y", 1);
	waitpid(pid, &status, 0);
	is("stop and continue: the read goes on", status, 7 << 8);
	close(fd[0]);
	close(fd[1]);
}

/* --- sigsuspend ---------------------------------------------------------------------------- */

/* Two processes signal each other in turns; a lost signal would be the end of it. */
static void ping_pong(void)
{
	sigset_t usr1 = set_of(SIGUSR1), none = 0;
	int status;

	sigprocmask(SIG_BLOCK, &usr1, NULL);
	catch (SIGUSR1, 0);
	pid_t parent = getpid(), pid = fork();
	if (pid == 0) {
		for (unsigned i = 0; i < rounds; i++) {
			sigsuspend(&none);
			kill(parent, SIGUSR1);
		}
		_exit(caught != rounds);
	}
	for (unsigned i = 0; i < rounds; i++) {
		kill(pid, SIGUSR1);
		sigsuspend(&none);
	}
	waitpid(pid, &status, 0);
	is("sigsuspend: none lost", caught, rounds);
	is("sigsuspend: nor there", status, 0);
	sigprocmask(SIG_UNBLOCK, &usr1, NULL);
}

/* --- kill against exit, stop against continue ------------------------------------------------ */

static void exits(void)
{
	unsigned by_signal = 0, by_itself = 0, other = 0;

	for (unsigned i = 0; i < rounds; i++) {
		int status;
		pid_t pid = fork();
		if (pid == 0)
			_exit(5);
		if (i % 2)
			sched_yield();
		kill(pid, SIGTERM);
		if (waitpid(pid, &status, 0) != pid)
			other++;
		else if (status == SIGTERM)
			by_signal++;
		else if (status == 5 << 8)
			by_itself++;
		else
			other++;
	}
	is("kill against exit: one or the other", other, 0);
	is("kill against exit: all are there", by_signal + by_itself, rounds);
}

static void stops(void)
{
	unsigned wrong = 0;
	int status;
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			sched_yield();
	for (unsigned i = 0; i < rounds; i++) {
		kill(pid, SIGSTOP);
		if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status))
			wrong++;
		kill(pid, SIGCONT);
		if (i % 2 && (waitpid(pid, &status, WCONTINUED) != pid || !WIFCONTINUED(status)))
			wrong++;
	}
	kill(pid, SIGSTOP);
	kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) == pid && !WIFSIGNALED(status))
		;
	is("stop and continue", wrong, 0);
	is("a stopped process can be killed", status, SIGKILL);
}

/* --- many LWPs -------------------------------------------------------------------------------- */

static volatile uint64_t raw_caught, shots, wakes;
static volatile int done;

static void raw_entry(int sig, struct weft_siginfo *info, struct weft_ucontext *uc)
{
	__atomic_add_fetch(&raw_caught, 1, __ATOMIC_RELAXED);
	__sys_sigreturn(uc);
}

static void parker(struct raw *r)
{
	while (!done)
		if (__sys_lwp_park(NULL, 0) == 0)
			__atomic_add_fetch(&wakes, 1, __ATOMIC_RELAXED);
}

/* Real-time signals to LWPs that park and are unparked: each is delivered, once. */
static void storm(void)
{
	static struct raw raw[3];
	struct weft_sigaction act = {.handler = 8, .entry = (uint64_t)raw_entry};
	int gone;

	__sys_sigaction(SIGRTMIN, &act, NULL);
	for (int i = 0; i < 3; i++)
		raw_start(&raw[i], parker, 0, 0);
	for (unsigned i = 0; i < rounds * 4; i++) {
		if (__sys_lwp_sigqueue(raw[i % 3].id, SIGRTMIN, i) == 0)
			shots++;
		if (i % 2)
			__sys_lwp_unpark(raw[(i + 1) % 3].id);
		if (__sys_sigqueue(getpid(), SIGRTMIN, i) == 0) /* any LWP takes it */
			shots++;
	}
	done = 1;
	for (int i = 0; i < 3; i++) {
		__sys_lwp_unpark(raw[i].id);
		while (__sys_lwp_wait(raw[i].id, &gone) == -EINTR)
			;
	}
	is("a storm of queued signals: each is delivered once", raw_caught, shots);
}

/* LWPs leave while the process is signalled: what one was to take, another takes. */
static void short_lived(struct raw *r)
{
	__sys_lwp_yield();
}

static void leavers(void)
{
	static struct raw raw[2];
	int gone;

	raw_caught = shots = 0;
	for (unsigned i = 0; i < rounds; i++) {
		struct raw *r = &raw[i % 2];
		raw_start(r, short_lived, 0, 0);
		if (__sys_sigqueue(getpid(), SIGRTMIN, i) == 0)
			shots++;
		if (__sys_lwp_sigqueue(r->id, 0, 0) == 0)
			__sys_lwp_yield();
		while (__sys_lwp_wait(r->id, &gone) == -EINTR)
			;
	}
	is("signals of the process outlive the LWP that was to take them", raw_caught, shots);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		rounds = atoi(argv[1]);
	interrupted_calls();
	ping_pong();
	exits();
	stops();
	storm();
	leavers();
	return tap_done();
}
