/*
 * pthreads PID...: the threads of processes, one line a thread, also those on no LWP.
 *
 * The columns: the thread's state, its LWP and the CPU that the LWP is on or was last on, the
 * thread's priority in the library's queues, whether it is bound, its name, and what it waits for.
 * (lwps has a line for each LWP; pstack shows the stacks.)  The process is held meanwhile
 * (common/target.h).
 */
#include <inttypes.h>
#include <stdio.h>
#include <weft/lwp.h>
#include <weft/sys.h>
#include "common/waits.h"

static void print_place(const struct target *t, const struct user_thread *thread)
{
	struct lwp_info info;

	if (thread->lwp == 0)
		printf(" %5s %3s", "-", "-");
	else if (__sys_lwp_info(t->pid, thread->lwp, &info) != (long)thread->lwp)
		printf(" %5" PRIu32 " %3s", thread->lwp, "-");
	else
		printf(" %5" PRIu32 " %3" PRIu32, thread->lwp, info.cpu);
}

static void print_thread(const struct library *l, const struct user_thread *thread)
{
	struct wait w = wait_of(l, thread);
	char line[WAIT_LINE];

	printf("%5d %6" PRIu32 " %-12s", l->target->pid, thread->id, library_state(l, thread));
	print_place(l->target, thread);
	printf(" %3u %-5s %-12s %s\n", thread->pri, thread->bound ? "yes" : "no",
	       *thread->name ? thread->name : "-",
	       thread->exited           ? "being joined"
	       : w.kind == WAIT_NOTHING ? "-"
					: wait_line(l, thread, &w, line));
}

static const char *print_threads(const struct library *l)
{
	static bool titled;

	if (!titled)
		printf("%5s %6s %-12s %5s %3s %3s %-5s %-12s WAITS FOR\n", "PID", "THREAD", "STATE",
		       "LWP", "CPU", "PRI", "BOUND", "NAME");
	titled = true;
	for (size_t i = 0; i < l->nthreads; i++)
		print_thread(l, &l->threads[i]);
	return NULL;
}

static bool show(int pid)
{
	return library_show(pid, print_threads);
}

int main(int argc, char **argv)
{
	return target_show_each(argv, "usage: pthreads PID...\n", show);
}
