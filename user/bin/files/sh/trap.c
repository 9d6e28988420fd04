/*
 * trap.c - signals.
 *
 * A handler only notes that its signal came.  signals_check runs the trap later, between commands
 * or where the shell waits.
 *
 * An interactive shell catches the keyboard's signals instead of ignoring them.  So
 * programs start with the default actions: exec resets caught signals, but not ignored ones.
 */
#define _GNU_SOURCE /* ppoll */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "sh.h"

static struct {
	char *action; /* of trap; NULL: none */
	bool ours;    /* the interactive shell's own handler is set */

	volatile sig_atomic_t came;
} signals[NSIG]; /* [0]: EXIT */
static volatile sig_atomic_t any_came;
static bool trapped; /* a trap was set at some time */

static const int keyboard[] = {SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGTTIN, SIGTTOU, SIGWINCH};
#define NKEYBOARD (sizeof(keyboard) / sizeof(keyboard[0]))

int signal_number(const char *s)
{
	int sig;

	if (!strcmp(s, "EXIT"))
		return 0;
	if (!strncmp(s, "SIG", 3))
		s += 3;
	return str2sig(s, &sig) == 0 ? sig : -1;
}

const char *signal_name(int sig)
{
	static char name[SIG2STR_MAX];

	if (sig == 0)
		return "EXIT";
	return sig2str(sig, name) == 0 ? name : NULL;
}

static void handler(int sig)
{
	signals[sig].came = 1;
	any_came = 1;
}

static int set_handler(int sig, void (*to)(int))
{
	/* A resize of the window interrupts only the editor's ppoll. */
	struct sigaction act = {.sa_handler = to, .sa_flags = sig == SIGWINCH ? SA_RESTART : 0};

	return sigaction(sig, &act, NULL);
}

void signals_init(void)
{
	size_t i;

	for (i = 0; i < NKEYBOARD; i++) {
		signals[keyboard[i]].ours = true;
		set_handler(keyboard[i], handler);
	}
}

/* Removes the traps, except those that ignore a signal. */
void signals_child(void)
{
	int sig;

	any_came = 0;
	for (sig = 0; sig < NSIG; sig++) {
		signals[sig].came = 0;
		if (sig && (signals[sig].ours || (signals[sig].action && *signals[sig].action)))
			set_handler(sig, SIG_DFL);
		signals[sig].ours = false;
		if (signals[sig].action && *signals[sig].action) {
			free(signals[sig].action);
			signals[sig].action = NULL;
		}
	}
}

static struct {
	sigset_t mask;
	struct sigaction child;
} held;

static void wake(int sig)
{
}

void signals_hold(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &held.mask);
	sigaction(SIGCHLD, NULL, &held.child);
	if (held.child.sa_handler != handler)
		set_handler(SIGCHLD, wake);
}

void signals_sleep(void)
{
	sigset_t mask = held.mask;

	sigdelset(&mask, SIGCHLD);
	sigsuspend(&mask);
}

void signals_release(void)
{
	sigaction(SIGCHLD, &held.child, NULL);
	sigprocmask(SIG_SETMASK, &held.mask, NULL);
}

bool signals_let_read(void)
{
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
	sigset_t all, before;
	bool ready;

	if (!trapped && !sh.interactive)
		return true; /* no signal has an effect here */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	ready = !signal_came() && ppoll(&in, 1, NULL, &before) >= 0;
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (!ready)
		errno = EINTR;
	return ready;
}

void interrupt(void)
{
	sh.skip = SKIP_NONE;
	fail(STATUS_SIGNAL + SIGINT);
}

int signal_came(void)
{
	int sig;

	for (sig = 1; any_came && sig < NSIG; sig++)
		if (signals[sig].came && (signals[sig].action || (sig == SIGINT && sh.unwind)))
			return sig;
	return 0;
}

void signals_pass_on(const struct job *j)
{
	static const int sigs[] = {SIGINT, SIGQUIT, SIGTSTP};
	size_t i;

	for (i = 0; i < sizeof(sigs) / sizeof(sigs[0]); i++)
		if (signals[sigs[i]].came) {
			signals[sigs[i]].came = 0;
			job_kill(j, sigs[i]);
		}
}

void interrupt_pass_on(pid_t pid)
{
	if (signals[SIGINT].came)
		kill(pid, SIGINT);
}

/* Keeps the status of the interrupted commands. */
static void run_action(int sig)
{
	int status = sh.status;
	char *action = xstrdup(signals[sig].action); /* the action may change its own trap */
	struct mark mark = arena_mark(sh.tmp);

	undo_later(free, action);
	run_string(action, sh.line);
	undo();
	arena_release(sh.tmp, mark);
	sh.status = status;
}

void signals_check(void)
{
	int sig;

	while (any_came) {
		sig = signal_came();
		if (!sig) {
			any_came = 0;
			for (sig = 1; sig < NSIG; sig++)
				signals[sig].came = 0;
			return;
		}
		signals[sig].came = 0;
		if (!signals[sig].action)
			interrupt();
		run_action(sig);
	}
}

void trap_exit(void)
{
	char *action = signals[0].action;
	int status = sh.status;

	signals[0].action = NULL;
	if (!action)
		return;
	sh.skip = SKIP_NONE;
	run_string(action, sh.line);
	sh.status = status;
	free(action);
}

/* action NULL: the default. */
static bool set_trap(int sig, const char *action)
{
	free(signals[sig].action);
	signals[sig].action = action ? xstrdup(action) : NULL;
	if (sig == 0)
		return true;
	trapped |= action != NULL;
	if (action && *action)
		return set_handler(sig, handler) == 0;
	if (action)
		return set_handler(sig, SIG_IGN) == 0;
	return set_handler(sig, signals[sig].ours ? handler : SIG_DFL) == 0;
}

static void list_traps(void)
{
	const char *s;
	int sig;

	for (sig = 0; sig < NSIG; sig++) {
		if (!signals[sig].action)
			continue;
		fputs("trap -- '", stdout);
		for (s = signals[sig].action; *s; s++)
			if (*s == '\'')
				fputs("'\\''", stdout);
			else
				putchar(*s);
		printf("' %s\n", signal_name(sig));
	}
}

/* trap [ACTION | -] SIGNAL...; without arguments, lists. */
int builtin_trap(int argc, char **argv)
{
	int i = 1, sig, status = 0;
	const char *action = NULL;

	if (i < argc && !strcmp(argv[i], "--"))
		i++;
	if (i == argc) {
		list_traps();
		return 0;
	}
	/* The first operand is a number: all operands are signals, to be reset. */
	if (argv[i][strspn(argv[i], "0123456789")] || !argv[i][0])
		action = argv[i++];
	if (action && !strcmp(action, "-"))
		action = NULL;
	for (; i < argc; i++) {
		sig = signal_number(argv[i]);
		if (sig < 0) {
			complain("trap: %s: no such signal", argv[i]);
			status = 1;
		} else if (!set_trap(sig, action)) {
			complain("trap: %s: %s", argv[i], strerror(errno));
			status = 1;
		}
	}
	return status;
}
