/*
 * err_trace.c - every error of the system calls that watch other processes.  That there is no
 * memory: err_memory.c.
 */
#include <weft/processor.h>
#include <weft/trace.h>
#include "errtest.h"
#include "rawlwp.h"

#define NOBODY INT32_MAX

static struct trace_event event;
static struct lwp_regs regs;

/* A child that sleeps, or runs on CPU 1. */
static int child(int spins)
{
	int pid = __sys_fork();

	if (pid < 0)
		bail("fork: %d", pid);
	if (pid == 0) {
		if (spins)
			__sys_processor_bind(WEFT_P_PID, WEFT_P_MYID, 1, NULL);
		for (;;)
			if (!spins)
				__sys_lwp_park(NULL, 0);
	}
	return pid;
}

static void end(int pid)
{
	__sys_kill(pid, WEFT_SIGKILL);
	__sys_waitpid(pid, NULL, 0, NULL);
}

static void wait_until(int pid, uint32_t id, uint32_t state)
{
	struct lwp_info info = {0};
	while (__sys_lwp_info(pid, id, &info) == (long)id && info.state != state)
		__sys_lwp_yield();
}

static void wait_for_events(struct raw *r)
{
	static struct trace_event own;
	__sys_trace_wait(&own, 1);
}

static void attaching(void)
{
	int pid = child(0);

	gives(trace_attach, EINVAL, "unknown flags", pid, 0x80);
	gives(trace_attach, EINVAL, "a pid below 0", -1, 0);
	gives(trace_attach, ESRCH, "no such process", NOBODY, 0);
	gives(trace_attach, EPERM, "the caller", __sys_getpid(), 0);
	gives(trace_attach, EPERM, "the first process", 1, 0);
	gives(trace_detach, ESRCH, "it is not traced", pid);
	gives(trace_detach, ESRCH, "children are not", 0);
	works(trace_attach, pid, TRACE_STREAM);
	gives(trace_attach, EBUSY, "it has a tracer", pid, 0);
	works(trace_detach, pid);
	end(pid);
}

static void waiting(void)
{
	static struct raw waiter;
	int pid = child(0);

	wait_until(pid, 1, LWP_ST_SLEEP);
	__sys_trace_attach(pid, 0);
	gives(trace_wait, EINVAL, "no room", &event, 0);
	gives(trace_wait, EINVAL, "too much room", &event, 129);
	gives_eintr(trace_wait, "a signal", &event, 1);
	end(pid);
	gives(trace_wait, EFAULT, "the events", NOWHERE, 1);
	works(trace_wait, &event, 1);
	while (__sys_trace_wait(&event, 1) > 0)
		; /* to the last of it */

	pid = child(0);
	wait_until(pid, 1, LWP_ST_SLEEP);
	__sys_trace_attach(pid, 0);
	raw_start(&waiter, wait_for_events, 0, 0);
	wait_until(0, waiter.id, LWP_ST_SLEEP);
	gives(trace_wait, EBUSY, "another LWP waits", &event, 1);
	end(pid);
	__sys_lwp_wait(waiter.id, NULL);
}

static void looking(void)
{
	char here[8] = "memory", to[8];
	int pid = child(1);

	gives(proc_read, ESRCH, "no such process", NOBODY, (uint64_t)here, to, 8);
	gives(proc_read, EFAULT, "nothing is there", 0, (uint64_t)NOWHERE, to, 8);
	gives(proc_read, EFAULT, "the buffer", 0, (uint64_t)here, NOWHERE, 8);
	works(proc_read, 0, (uint64_t)here, to, 8);
	gives(lwp_regs, ESRCH, "no such process", NOBODY, 1, &regs);
	gives(lwp_regs, ESRCH, "no such LWP", 0, 1000, &regs);
	gives(lwp_regs, EFAULT, "the structure", 0, 1, NOWHERE);
	works(lwp_regs, 0, 1, &regs);
	wait_until(pid, 1, LWP_ST_ONPROC);
	__sys_processor_bind(WEFT_P_PID, WEFT_P_MYID, 0, NULL);
	gives(lwp_regs, EBUSY, "it runs", pid, 1, &regs);
	end(pid);
}

int main(void)
{
	attaching();
	waiting();
	looking();
	return tap_done();
}
