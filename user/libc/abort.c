/*
 * abort.c - raise and abort (C, POSIX), and what they say of a process that SIGABRT ends: the line
 * that the kernel prints of a fault, on standard error.  Of SIGABRT from elsewhere the kernel tells.
 *
 * A program aborts with any lock held, malloc's and stdio's too: so the line is made by hand.
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
 * Not if it would be blocked: then nothing happens yet.  A pipe without room for the line does without
 * it, for its reader may never come.
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
	/* SIGABRT ends the process, not SIGPIPE, though nobody may read any more. */
	pthread_sigmask(SIG_BLOCK, &broken_pipe, NULL);
	if (__sys_poll(&room, 1, &at_once, NULL) == 1)
		__sys_write(STDERR_FILENO, line, to - line);
}

static int raise_signal(int sig)
{
	int error = pthread_kill(pthread_self(), sig);

	return error ? fails(error) : 0;
}

/* To the calling thread.  EINVAL. */
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
 * Ends the process by SIGABRT.  A handler runs first, unless SIGABRT is blocked; if it returns, the
 * default action follows.  Of several threads that abort at once each may tell.
 *
 * A handler of SIGABRT that aborts has the signal blocked: so it is not called again.
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
	/* One that is pending ends the process here. */
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise_signal(SIGABRT);
	_exit(128 + SIGABRT);
}
