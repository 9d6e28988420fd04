/*
 * proc_share.c - the share of a process by its threads that can run (kernel/proc/share.c).
 *
 * An LWP says in its record how many threads wait, and computes on one CPU beside another process.
 */
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <weft/procset.h>
#include <weft/signal.h>
#include <weft/start.h>
#include "child.h"
#include "rawlwp.h"

#define SECOND 1000000000ll
#define OFF 4 /* percent: a slice or two of the time that is measured */

static unsigned waiting;

/* The end of a slice: no other thread is there. */
static void slice_over(int sig, struct weft_siginfo *info, struct weft_ucontext *uc, void *handler,
		       uint64_t mask)
{
	__sys_sigreturn(uc);
}

static hrtime_t cpu_time(void)
{
	struct rusage ru;

	if (getrusage(RUSAGE_SELF, &ru) != 0)
		_exit(99);
	return (ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * SECOND +
	       (ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) * 1000;
}

static void compute_for(hrtime_t ns)
{
	for (hrtime_t began = gethrtime(); gethrtime() - began < ns;)
		;
}

static pid_t other_process(void)
{
	pid_t pid = fork();

	while (pid == 0)
		;
	return pid;
}

/* The share in percent. */
static int share(void)
{
	const struct weft_sigaction act = {.handler = (uint64_t)slice_over,
					   .entry = (uint64_t)slice_over};
	hrtime_t began, used;
	pid_t other;

	if (__sys_processor_bind(WEFT_P_LWPID, WEFT_P_MYID, 0, NULL) != 0 ||
	    (other = other_process()) < 0)
		return 99;
	__sys_sigaction(WEFT_SIGLWP, &act, NULL);
	if (__sys_upcall_activate(1) != 0)
		return 99;
	((struct schedctl *)__sys_lwp_schedctl())->waiting = waiting;
	compute_for(2 * SECOND); /* both come to the lowest level */
	began = gethrtime();
	used = cpu_time();
	compute_for(12 * SECOND);
	used = cpu_time() - used;
	began = gethrtime() - began;
	kill(other, SIGKILL);
	return used * 100 / began;
}

static void shares(unsigned threads_waiting, int expected, const char *what)
{
	int got;

	waiting = threads_waiting;
	got = status_of(child(share));
	if (got < expected - OFF || got > expected + OFF)
		printf("# %u threads wait: %d %%, not %d %%\n", threads_waiting, got, expected);
	is(what, got >= expected - OFF && got <= expected + OFF, 1);
}

int main(void)
{
	shares(0, 50, "one thread beside one: a half");
	shares(1, 67, "two threads beside one: two thirds");
	shares(3, 80, "four threads beside one: four fifths");
	shares(15, 94, "sixteen threads beside one: sixteen seventeenths");
	return tap_done();
}
