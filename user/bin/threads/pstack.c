/*
 * pstack PID...: the stacks of a process: of every LWP, with the thread that the LWP runs, and of
 * every thread that is on no LWP.
 *
 * A stack is the functions that the LWP or thread is in, innermost first.  For a thread there is a
 * line with its state and with what it waits for.  The process is held meanwhile (common/target.h).
 * A thread on no LWP has its registers in its own memory (libthread/core/tcb.h).
 */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <weft/lwp.h>
#include <weft/sys.h>
#include <weft/sysdesc.h>
#include "common/waits.h"

#define SAVED_REGISTERS 7 /* R15, R14, R13, R12, RBX, RBP, RIP */

static void print_state(const struct library *l, const struct user_thread *t)
{
	char line[WAIT_LINE];
	struct wait w = wait_of(l, t);

	printf(" %s", library_state(l, t));
	if (w.kind != WAIT_NOTHING)
		printf(", waits for %s", wait_line(l, t, &w, line));
	printf("\n");
}

static void show_lwp(const struct target *t, const struct library *l, const struct lwp_regs *r)
{
	const struct user_thread *thread = library_thread_at(l, r->fsbase);
	const char *call = sysdesc_name(r->syscall);
	struct lwp_info info;

	*info.name = '\0';
	__sys_lwp_info(t->pid, r->id, &info);
	printf("-----------------  lwp# %" PRIu32, r->id);
	if (*info.name)
		printf(" (%s)", info.name);
	else if (thread != NULL)
		printf(" / thread# %" PRIu32 "%s%s", thread->id, *thread->name ? " " : "",
		       thread->name);
	printf("%s%s  -----------------\n", call ? "  in " : "", call ? call : "");
	if (thread != NULL)
		print_state(l, thread);
	target_print_stack(t, r->rip, r->rsp, r->rbp, false);
}

/* A thread on no LWP. */
static void show_thread(const struct target *t, const struct library *l,
			const struct user_thread *thread)
{
	uint64_t saved[SAVED_REGISTERS];

	printf("-----------------  thread# %" PRIu32 "%s%s  -----------------\n", thread->id,
	       *thread->name ? " " : "", thread->name);
	print_state(l, thread);
	if (thread->exited)
		printf(" waits to be joined\n");
	else if (thread->lwp != 0)
		printf(" its LWP %" PRIu32 " does not run it now\n", thread->lwp);
	else if (thread->rsp == 0)
		printf(" has not begun\n");
	else if (!target_read(t, thread->rsp, saved, sizeof(saved)))
		printf(" its registers cannot be read\n");
	else
		target_print_stack(t, saved[6], thread->rsp + sizeof(saved), saved[5], true);
}

static bool show(int pid)
{
	struct library l;
	struct target t;
	const char *why;
	bool known;

	if (!target_hold(&t, pid))
		return false;
	known = library_read(&l, &t, &why);
	printf("%d:\t%s\n", pid, t.info.name);
	for (size_t i = 0; i < t.nlwps; i++)
		show_lwp(&t, &l, &t.lwps[i]);
	for (size_t i = 0; i < l.nthreads; i++)
		if (l.threads[i].on == NULL)
			show_thread(&t, &l, &l.threads[i]);
	fflush(stdout);
	if (!known)
		warnx("process %d: no threads to show: %s", pid, why);
	else if (l.damage != NULL)
		warnx("process %d: not all threads are shown: %s", pid, l.damage);
	known &= l.damage == NULL;
	library_free(&l);
	target_release(&t);
	return known;
}

int main(int argc, char **argv)
{
	return target_show_each(argv, "usage: pstack PID...\n", show);
}
