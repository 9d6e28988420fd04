/*
 * signame.c - signals by name (Solaris, and POSIX since 2024).
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/signal.h>
#include "libc.h"

static const char *const names[] = {
	[WEFT_SIGHUP] = "HUP",       [WEFT_SIGINT] = "INT",   [WEFT_SIGQUIT] = "QUIT",
	[WEFT_SIGILL] = "ILL",       [WEFT_SIGTRAP] = "TRAP", [WEFT_SIGABRT] = "ABRT",
	[WEFT_SIGFPE] = "FPE",       [WEFT_SIGKILL] = "KILL", [WEFT_SIGBUS] = "BUS",
	[WEFT_SIGSEGV] = "SEGV",     [WEFT_SIGSYS] = "SYS",   [WEFT_SIGPIPE] = "PIPE",
	[WEFT_SIGALRM] = "ALRM",     [WEFT_SIGTERM] = "TERM", [WEFT_SIGURG] = "URG",
	[WEFT_SIGSTOP] = "STOP",     [WEFT_SIGTSTP] = "TSTP", [WEFT_SIGCONT] = "CONT",
	[WEFT_SIGCHLD] = "CHLD",     [WEFT_SIGTTIN] = "TTIN", [WEFT_SIGTTOU] = "TTOU",
	[WEFT_SIGIO] = "IO",         [WEFT_SIGXCPU] = "XCPU", [WEFT_SIGXFSZ] = "XFSZ",
	[WEFT_SIGVTALRM] = "VTALRM", [WEFT_SIGPROF] = "PROF", [WEFT_SIGWINCH] = "WINCH",
	[WEFT_SIGUSR1] = "USR1",     [WEFT_SIGUSR2] = "USR2", [WEFT_SIGWAITING] = "WAITING",
	[WEFT_SIGLWP] = "LWP",
};
#define NAMED (int)(sizeof(names) / sizeof(names[0]))

/* Writes the name without SIG, in SIG2STR_MAX bytes.  -1: there is no such signal. */
int sig2str(int sig, char *name)
{
	if (sig > 0 && sig < NAMED && names[sig])
		strcpy(name, names[sig]);
	else if (sig == WEFT_SIGRTMIN || sig == WEFT_SIGRTMAX)
		strcpy(name, sig == WEFT_SIGRTMIN ? "RTMIN" : "RTMAX");
	else if (sig > WEFT_SIGRTMIN && sig < WEFT_SIGRTMAX)
		snprintf(name, SIG2STR_MAX, "RTMIN+%d", sig - WEFT_SIGRTMIN);
	else
		return -1;
	return 0;
}

/* Converts a name without SIG, or a number in text, to the number.  -1: there is no such signal. */
int str2sig(const char *name, int *sig)
{
	char text[SIG2STR_MAX], *end;
	long n = strtol(name, &end, 10);

	if (end != name) {
		*sig = n;
		return *end || n < 0 || n >= WEFT_NSIG ? -1 : 0;
	}
	for (*sig = 1; *sig < WEFT_NSIG; ++*sig)
		if (sig2str(*sig, text) == 0 && !strcmp(text, name))
			return 0;
	return -1;
}
