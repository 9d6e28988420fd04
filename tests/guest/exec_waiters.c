/*
 * exec_waiters.c - exec ends the other LWPs of the process, in whatever call they block.
 */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/ksync.h>
#include <weft/signal.h>
#include <weft/syscall.h>
#include "rawlwp.h"
#include "tap.h"

static void in_sigtimedwait(struct raw *r)
{
	uint64_t set = WEFT_SIGBIT(WEFT_SIGTERM);

	__sys_sigtimedwait(&set, NULL, NULL);
}

static void in_sigsuspend(struct raw *r)
{
	uint64_t none = 0;

	__sys_sigsuspend(&none);
}

static void in_upcall_wait(struct raw *r)
{
	__sys_upcall_wait(UPCALL_EXIT);
}

static void in_mutex_lock(struct raw *r)
{
	struct lwp_mutex m = {0};

	__sys_lwp_mutex_lock(&m, 0x100);
	__sys_lwp_mutex_lock(&m, 0x200);
}

static void in_poll(struct raw *r)
{
	__sys_poll(NULL, 0, NULL, NULL);
}

static void in_park(struct raw *r)
{
	for (;;)
		__sys_lwp_park(NULL, 0);
}

static void in_lwp_wait(struct raw *r)
{
	__sys_lwp_wait(1, NULL);
}

static void in_sleep(struct raw *r)
{
	const struct weft_timespec long_time = {1000, 0};

	__sys_lwp_sleep(4, 0, &long_time);
}

/* A process with an LWP that runs fn becomes another program. */
static int status_of_exec(void (*fn)(struct raw *))
{
	int status = -1, pid = fork();

	if (pid == 0) {
		char *argv[] = {"true", NULL}, *envp[] = {NULL};
		struct raw r = {0};
		struct lwp_info i;
		raw_start(&r, fn, 0, 0);
		do
			__sys_lwp_info(0, r.id, &i);
		while (i.state != LWP_ST_SLEEP);
		execve("/bin/true", argv, envp);
		_exit(77);
	}
	waitpid(pid, &status, 0);
	return status;
}

int main(void)
{
	is("sigtimedwait", status_of_exec(in_sigtimedwait), 0);
	is("sigsuspend", status_of_exec(in_sigsuspend), 0);
	is("upcall_wait", status_of_exec(in_upcall_wait), 0);
	is("lwp_mutex_lock", status_of_exec(in_mutex_lock), 0);
	is("poll", status_of_exec(in_poll), 0);
	is("lwp_park", status_of_exec(in_park), 0);
	is("lwp_wait", status_of_exec(in_lwp_wait), 0);
	is("lwp_sleep", status_of_exec(in_sleep), 0);
	return tap_done();
}
