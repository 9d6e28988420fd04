/*
 * truss [-cfldD] [-t [!]CALL,...] [-o FILE] CMD ARG... | -p PID...: shows the system calls
 * of a command, or of running processes, with arguments and results, and their signals
 * and faults (after Solaris's truss(1)).
 *
 * -c	counts: calls, errors and CPU time in the kernel of each call, at the end
 * -f	also the processes that they start; lines begin with the process id
 * -l	lines begin with the LWP's id, even if there is only one
 * -d, -D	... with the seconds since the start; since the LWP's line before
 * -t	these calls only; with !, the other calls only
 * -o	writes to FILE, not to standard error
 *
 * Exits as the command does; 128 + signal if one killed it.  With -p it ends when the last of the
 * processes does.  Ctrl-C ends truss, and the processes continue.  Status 1: a process could not be
 * watched.
 */
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/proc.h>
#include <weft/sys.h>
#include <weft/sysdesc.h>
#include "../../procids.h"
#include "truss.h"
#include "../../usage.h"

#define MAX_EVENTS 64
#define HASH 1024

/* An LWP that has reported an event. */
struct traced_lwp {
	struct traced_lwp *next;
	int pid;
	uint32_t id;
	bool in_call;
	struct trace_event entry; /* the call that the LWP is in */
	struct call_text text;
	uint64_t last; /* time of its last line */
};

static bool counting, following, show_lwps, show_time, show_delta;
static bool chosen[WEFT_SYSCALL_MAX + 1]; /* last element: calls that do not exist */
static FILE *out;
static uint64_t began;
static struct traced_lwp *table[HASH];
static volatile sig_atomic_t interrupted;

static struct {
	uint64_t calls, errors, ns;
} count[WEFT_SYSCALL_MAX + 1];

static uint32_t index_of(uint32_t call)
{
	return call < WEFT_SYSCALL_MAX ? call : WEFT_SYSCALL_MAX;
}

static struct traced_lwp **slot_of(int pid, uint32_t id)
{
	struct traced_lwp **at = &table[(pid * 31u + id) % HASH];

	while (*at != NULL && ((*at)->pid != pid || (*at)->id != id))
		at = &(*at)->next;
	return at;
}

static struct traced_lwp *lwp_of(const struct trace_event *e)
{
	struct traced_lwp **at = slot_of(e->pid, e->lwp);

	if (*at == NULL) {
		*at = calloc(1, sizeof(**at));
		if (*at == NULL)
			errx(1, "out of memory");
		(*at)->pid = e->pid;
		(*at)->id = e->lwp;
		(*at)->last = e->time;
	}
	return *at;
}

/* --- lines ---------------------------------------------------------------------------------- */

static void begin_line(struct text *t, const struct trace_event *e, struct traced_lwp *l)
{
	*t = (struct text){0};
	if (following)
		add(t, "%d", e->pid);
	if (e->lwp > 1 || show_lwps)
		add(t, "/%u", e->lwp);
	if (t->len)
		add(t, ":\t");
	if (show_time)
		add(t, "%10.6f  ", (e->time - began) / 1e9);
	if (show_delta && l != NULL)
		add(t, "%9.6f  ", (e->time - l->last) / 1e9);
	if (l != NULL)
		l->last = e->time;
}

static void print(const struct text *t)
{
	fwrite(t->s, 1, t->len, out);
	putc('\n', out);
}

/* Prints a call that ends without a return. */
static void print_unfinished(const struct trace_event *e, struct traced_lwp *l, const char *why)
{
	struct text t;

	if (!l->in_call)
		return;
	l->in_call = false;
	begin_line(&t, e, l);
	show_call(&t, &l->text, l->entry.call);
	add(&t, "%s", why);
	print(&t);
}

static void handle_entry(const struct trace_event *e)
{
	const struct sysdesc *d = sysdesc(e->call);
	struct traced_lwp *l = lwp_of(e);

	if (!chosen[index_of(e->call)])
		return;
	l->entry = *e;
	l->in_call = true;
	show_entry(&l->text, e);
	if (d != NULL && d->result.type == T_NONE)
		print_unfinished(e, l, "");
}

static void handle_return(const struct trace_event *e)
{
	struct traced_lwp *l = lwp_of(e);
	int64_t result = e->arg[0];
	struct text t;

	if (counting && chosen[index_of(e->call)]) {
		count[index_of(e->call)].calls++;
		count[index_of(e->call)].errors += result < 0 && result >= -4095;
		count[index_of(e->call)].ns += e->arg[2];
	}
	if (!l->in_call)
		return;
	l->in_call = false;
	show_return(&l->text, &l->entry, result);
	begin_line(&t, e, l);
	show_call(&t, &l->text, e->call);
	while (t.len < 40)
		add(&t, " ");
	add(&t, " = ");
	show_result(&t, e->call, result);
	print(&t);
}

static void handle_lwp_exit(const struct trace_event *e)
{
	struct traced_lwp **at = slot_of(e->pid, e->lwp), *l = *at;

	if (l == NULL)
		return;
	print_unfinished(e, l, "  (it ends here)");
	*at = l->next;
	free(l);
}

static void handle_exit(const struct trace_event *e)
{
	int status = e->arg[0], sig = status & 0x7f;
	struct text t;

	for (unsigned i = 0; i < HASH; i++)
		for (struct traced_lwp **at = &table[i], *l; (l = *at) != NULL;) {
			if (l->pid == e->pid) {
				*at = l->next;
				free(l);
			} else {
				at = &l->next;
			}
		}
	if (counting || sig == 0)
		return;
	begin_line(&t, e, NULL);
	add(&t, "\t*** process killed by ");
	show_signal(&t, sig);
	add(&t, " ***");
	print(&t);
}

static void handle_news(const struct trace_event *e)
{
	static const char *const actions[] = {"default", "caught", "ignored"};
	struct text t;

	if (counting)
		return;
	begin_line(&t, e, lwp_of(e));
	if (e->kind == TRACE_SIGNAL) {
		add(&t, "    Received signal #%d, ", (int)e->arg[0]);
		show_signal(&t, e->arg[0]);
		add(&t, " [%s]", e->arg[1] < 3 ? actions[e->arg[1]] : "?");
	} else {
		add(&t, "    Incurred fault #%d, address = %#" PRIx64 ", ", (int)e->arg[0],
		    e->arg[1]);
		show_signal(&t, e->arg[2]);
	}
	print(&t);
}

static void handle(const struct trace_event *e)
{
	switch (e->kind) {
	case TRACE_ENTRY:
		handle_entry(e);
		break;
	case TRACE_RETURN:
		handle_return(e);
		break;
	case TRACE_LWP_EXIT:
		handle_lwp_exit(e);
		break;
	case TRACE_EXIT:
		handle_exit(e);
		break;
	default:
		handle_news(e);
	}
}

/* --- counts ----------------------------------------------------------------------------------- */

static void print_counts(const struct weft_rusage *ru, uint64_t elapsed)
{
	uint64_t calls = 0, errors = 0, ns = 0;

	fprintf(out, "%-20s %9s %8s %7s\n", "syscall", "seconds", "calls", "errors");
	for (uint32_t i = 0; i <= WEFT_SYSCALL_MAX; i++) {
		if (count[i].calls == 0)
			continue;
		fprintf(out, "%-20s %9.6f %8" PRIu64, sysdesc_name(i) ?: "(no such call)",
			count[i].ns / 1e9, count[i].calls);
		if (count[i].errors)
			fprintf(out, " %7" PRIu64, count[i].errors);
		putc('\n', out);
		calls += count[i].calls;
		errors += count[i].errors;
		ns += count[i].ns;
	}
	fprintf(out, "%-20s %9s %8s %7s\n", "", "--------", "-------", "------");
	fprintf(out, "%-20s %9.6f %8" PRIu64 " %7" PRIu64 "\n", "sys totals:", ns / 1e9, calls,
		errors);
	if (ru != NULL)
		fprintf(out, "%-20s %9.6f\n", "usr time:", ru->utime / 1e9);
	fprintf(out, "%-20s %9.6f\n", "elapsed:", elapsed / 1e9);
}

/* --- the command line ------------------------------------------------------------------------- */

static void choose(char *list)
{
	bool but = *list == '!';
	char *name, *rest = list + but;

	memset(chosen, but, sizeof(chosen));
	while ((name = strsep(&rest, ",")) != NULL) {
		uint32_t i = 0;
		while (i < WEFT_SYSCALL_MAX &&
		       (sysdesc_name(i) == NULL || strcmp(sysdesc_name(i), name) != 0))
			i++;
		if (strcmp(name, "all") == 0)
			memset(chosen, !but, sizeof(chosen));
		else if (i == WEFT_SYSCALL_MAX)
			errx(2, "there is no system call %s", name);
		else
			chosen[i] = !but;
	}
}

static void on_interrupt(int sig)
{
	interrupted = sig;
}

static int start(char **argv, unsigned flags)
{
	pid_t pid;

	errno = -__sys_trace_attach(0, flags);
	if (errno != 0)
		err(1, "trace_attach");
	int error = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);
	if (error) {
		errno = error;
		err(error == ENOENT ? 127 : 126, "%s", argv[0]);
	}
	__sys_trace_detach(0);
	return pid;
}

static const char usage[] = "usage: truss [-cfldD] [-t [!]CALL,...] [-o FILE] CMD ARG...\n"
			    "       truss [-cfldD] [-t [!]CALL,...] [-o FILE] -p PID...\n";

int main(int argc, char **argv)
{
	static struct trace_event events[MAX_EVENTS];
	bool attach = false, failed = false;
	int c, pid = 0, status = 0;
	struct weft_rusage ru;
	const char *file = NULL;
	long n;

	usage_asked(argv, usage);
	out = stderr;
	memset(chosen, true, sizeof(chosen));
	while ((c = getopt(argc, argv, "+cfldDt:o:p")) != -1)
		switch (c) {
		case 'c':
			counting = true;
			break;
		case 'f':
			following = true;
			break;
		case 'l':
			show_lwps = true;
			break;
		case 'd':
			show_time = true;
			break;
		case 'D':
			show_delta = true;
			break;
		case 't':
			choose(optarg);
			break;
		case 'o':
			file = optarg;
			break;
		case 'p':
			attach = true;
			break;
		default:
			return usage_wrong(usage);
		}
	if (optind == argc)
		return usage_wrong(usage);
	if (file != NULL) {
		out = fopen(file, "we");
		if (out == NULL)
			err(1, "%s", file);
	}
	unsigned flags = (following ? TRACE_FOLLOW : 0) | (counting ? TRACE_STREAM : 0);
	struct sigaction act = {.sa_handler = on_interrupt};
	sigaction(SIGINT, &act, NULL);
	began = gethrtime();
	if (!attach)
		pid = start(argv + optind, flags);
	for (int i = optind; attach && i < argc; i++) {
		errno = -__sys_trace_attach(process_id(argv[i]), flags);
		if (errno != 0) {
			warn("process %s", argv[i]);
			failed = true;
		}
	}
	/* Ctrl-C reaches the command, too; truss ends when the command ends. */
	while ((n = __sys_trace_wait(events, MAX_EVENTS)) > 0 || (n == -EINTR && !attach)) {
		for (long i = 0; i < n; i++)
			handle(&events[i]);
		if (interrupted && attach)
			break;
		fflush(out);
	}
	if (!attach && __sys_waitpid(pid, &status, 0, &ru) < 0)
		err(1, "waitpid");
	if (counting)
		print_counts(attach ? NULL : &ru, gethrtime() - began);
	fflush(out);
	if (failed)
		return 1;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
