/*
 * abort.c - raise and abort (C, POSIX), and the line that they print when SIGABRT ends the process.
 *
 * The line is like the kernel's line about a fault, on standard error.  If SIGABRT comes from
 * elsewhere, the kernel prints it.
 *
 * A program may abort with any lock held, malloc's and stdio's included.  So this file formats the
 * line without them.
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <weft/poll.h>
#include <weft/proc.h>
#include <weft/signal.h>
#include <weft/sys.h>
#include <weft/time.h>
#include "libc.h"

static char *put_text(char *to, const char *text)
{
	while (*text)
		*to++ = *text++;
	return to;
}

static char *text_put_number(char *to, uint64_t n, unsigned base)
{
	char digits[20], *d = digits;

	do
		*d++ = "0123456789abcdef"[n % base];
	while ((n /= base) > 0);
	while (d > digits)
		*to++ = *--d;
	return to;
}

static bool abort_is_default(void)
{
	struct weft_sigaction act;

	return __sys_sigaction(SIGABRT, NULL, &act) == 0 && act.handler == WEFT_SIG_DFL;
}

/*
 * Prints the line.  If standard error is a pipe without room for the line, prints nothing, because
 * the pipe's reader may never read.
 */
static void tell_abort(const char *call, const void *at)
{
	struct weft_procinfo p = {.name = ""};
	char line[160], *to = line;
	const sigset_t broken_pipe = WEFT_SIGBIT(SIGPIPE);
	const struct weft_timespec at_once = {0, 0};
	struct weft_pollfd room = {.fd = STDERR_FILENO, .events = WEFT_POLLOUT};
	int pid = __sys_getpid();

	__sys_procinfo(pid, &p);
	to = text_put_number(put_text(to, "weft: pid "), pid, 10);
	to = put_text(put_text(put_text(to, " ("), p.name), ") lwp ");
	to = text_put_number(to, __sys_lwp_self(), 10);
	to = text_put_number(put_text(to, ": SIGABRT at instruction 0x"), (uintptr_t)at, 16);
	to = put_text(put_text(put_text(to, " ("), call), ")\n");
	/* SIGABRT ends the process, not SIGPIPE, even if the pipe has no reader. */
	pthread_sigmask(SIG_BLOCK, &broken_pipe, NULL);
	if (__sys_poll(&room, 1, &at_once, NULL) == 1)
		__sys_write(STDERR_FILENO, line, to - line);
}

static int raise_signal(int sig)
{
	int error = pthread_kill(pthread_self(), sig);

	return error ? fails(error) : 0;
}

/* Sends sig to the calling thread.  Prints no line if SIGABRT is blocked, because the process goes
 * on.  EINVAL. */
int raise(int sig)
{
	sigset_t blocked;

	if (sig == SIGABRT && abort_is_default() &&
	    pthread_sigmask(SIG_BLOCK, NULL, &blocked) == 0 && !sigismember(&blocked, sig))
		tell_abort("raise", __builtin_return_address(0));
	return raise_signal(sig);
}

int _raise_r(struct _reent *reent, int sig)
{
	return raise(sig);
}

/*
 * Ends the process by SIGABRT.  A handler runs first, unless SIGABRT is blocked.  If the handler
 * returns, the default action follows.  If several threads abort at once, each may print a line.
 *
 * SIGABRT is blocked in its handler, so a handler that aborts is not called again.
 */
void abort(void)
{
	const void *at = __builtin_return_address(0);
	const struct sigaction dfl = {.sa_handler = SIG_DFL};
	sigset_t set = WEFT_SIGBIT(SIGABRT);

	if (!abort_is_default()) {
		raise_signal(SIGABRT);
		sigaction(SIGABRT, &dfl, NULL);
	}
	tell_abort("abort", at);
	/* A pending SIGABRT ends the process here. */
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise_signal(SIGABRT);
	_exit(128 + SIGABRT);
}
