/*
 * err_lwp.c - every error of the system calls on LWPs.  That there is no memory: err_memory.c.
 */
#include <weft/signal.h>
#include <weft/time.h>
#include "errtest.h"
#include "rawlwp.h"

#define NOBODY 1000

static struct raw sleeper, gone, other;

static void park_for_ever(struct raw *r)
{
	for (;;)
		__sys_lwp_park(NULL, 0);
}

static void end(struct raw *r)
{
}

static void wait_for_exits(struct raw *r)
{
	__sys_upcall_wait(UPCALL_EXIT);
}

static void wait_until(uint32_t id, uint32_t state)
{
	struct lwp_info info = {0};
	while (__sys_lwp_info(0, id, &info) == (long)id && info.state != state)
		__sys_lwp_yield();
}

static void creating(void)
{
	struct lwp_create c = {.entry = 0x400000, .flags = 0x8000};

	gives(lwp_create, EFAULT, "the structure", NOWHERE);
	gives(lwp_create, EINVAL, "unknown flags", &c);
	c = (struct lwp_create){.entry = (uint64_t)KERNEL_ADDR};
	gives(lwp_create, EINVAL, "an entry in the kernel", &c);
	c = (struct lwp_create){.entry = 0x400000, .fsbase = (uint64_t)KERNEL_ADDR};
	gives(lwp_create, EINVAL, "a thread pointer in the kernel", &c);
	struct lwp_create *fixed =
		(struct lwp_create *)__sys_mmap(NULL, PAGE, WEFT_PROT_READ | WEFT_PROT_WRITE,
						WEFT_MAP_PRIVATE | WEFT_MAP_ANON, -1, 0);
	*fixed = (struct lwp_create){.entry = 0x400000};
	__sys_mprotect(fixed, PAGE, WEFT_PROT_READ);
	gives(lwp_create, EFAULT, "it cannot be written", fixed);

	worked(lwp_create, raw_start(&sleeper, park_for_ever, 0, LWP_DETACHED) == 0);
	raw_start(&gone, end, 0, 0);
	wait_until(gone.id, LWP_ST_ZOMB);
	works(lwp_self);
	works(lwp_schedctl);
	works(lwp_yield);
}

static void ending(void)
{
	int departed;

	gives(lwp_detach, ESRCH, "no such LWP", NOBODY);
	gives(lwp_detach, EINVAL, "it is detached", sleeper.id);
	gives(lwp_wait, ESRCH, "no such LWP", NOBODY, &departed);
	gives(lwp_wait, EINVAL, "it is detached", sleeper.id, &departed);
	gives(lwp_wait, EDEADLK, "the caller", __sys_lwp_self(), &departed);
	gives(lwp_suspend, ESRCH, "it has exited", gone.id);
	gives(lwp_continue, ESRCH, "it has exited", gone.id);
	gives(lwp_kill, ESRCH, "it has exited", gone.id, 0);
	gives(lwp_wait, EFAULT, "departed", gone.id, NOWHERE);
	gives(lwp_wait, EDEADLK, "nobody is left", 0, &departed);
	raw_start(&other, park_for_ever, 0, 0);
	gives_eintr(lwp_wait, "a signal", other.id, &departed);
	works(lwp_detach, other.id);
	raw_start(&gone, end, 0, 0);
	works(lwp_wait, gone.id, &departed);
	worked(lwp_exit, departed == (int)gone.id);
}

static void stopping(void)
{
	gives(lwp_suspend, ESRCH, "no such LWP", NOBODY);
	works(lwp_suspend, sleeper.id);
	gives(lwp_continue, ESRCH, "no such LWP", NOBODY);
	works(lwp_continue, sleeper.id);
}

static void parking(void)
{
	struct weft_timespec bad = {0, 1000000000}, past = {0, 0};
	uint32_t ids[2] = {NOBODY, sleeper.id};

	gives(lwp_unpark, ESRCH, "no such LWP", NOBODY);
	works(lwp_unpark, __sys_lwp_self());
	works(lwp_park, NULL, 0);
	gives(lwp_park, ETIMEDOUT, "the deadline", &past, 0);
	gives(lwp_park, EFAULT, "the deadline", NOWHERE, 0);
	gives(lwp_park, EINVAL, "the deadline", &bad, 0);
	gives(lwp_park, ESRCH, "no LWP to unpark", &past, NOBODY);
	gives_eintr(lwp_park, "a signal", NULL, 0);
	gives(lwp_unpark_all, EINVAL, "less than none", ids, -1);
	gives(lwp_unpark_all, EFAULT, "the ids", NOWHERE, 1);
	gives(lwp_unpark_all, ESRCH, "one of them", ids, 2);
	works(lwp_unpark_all, ids + 1, 1);
	gives(lwp_cancel, ESRCH, "no such LWP", NOBODY, 1, NULL);
	works(lwp_cancel, __sys_lwp_self(), 0, NULL);
	gives(lwp_preempt, ESRCH, "no such LWP", NOBODY);
	works(lwp_preempt, __sys_lwp_self());

	gives(lwp_sleep, EINVAL, "the clock", 99, 0, &past);
	gives(lwp_sleep, EINVAL, "the flags", WEFT_CLOCK_MONOTONIC, 4, &past);
	gives(lwp_sleep, EINVAL, "the flags", WEFT_CLOCK_MONOTONIC, LWP_SLEEP_SAMPLE, &past);
	gives(lwp_sleep, EINVAL, "the flags", WEFT_CLOCK_REALTIME,
	      LWP_SLEEP_ABSTIME | LWP_SLEEP_SAMPLE, &past);
	works(lwp_sleep, WEFT_CLOCK_MONOTONIC, LWP_SLEEP_ABSTIME | LWP_SLEEP_SAMPLE, &past);
	gives(lwp_sleep, EINVAL, "the time", WEFT_CLOCK_MONOTONIC, 0, &bad);
	gives(lwp_sleep, EFAULT, "no time", WEFT_CLOCK_MONOTONIC, 0, NULL);
	gives(lwp_sleep, EFAULT, "the time", WEFT_CLOCK_MONOTONIC, 0, NOWHERE);
	struct weft_timespec hour = {3600, 0};
	gives_eintr(lwp_sleep, "a signal", WEFT_CLOCK_MONOTONIC, 0, &hour);
	gives_eintr(lwp_sleep, "a signal", WEFT_CLOCK_MONOTONIC,
		    LWP_SLEEP_ABSTIME | LWP_SLEEP_SAMPLE, &hour);
	works(lwp_sleep, WEFT_CLOCK_REALTIME, LWP_SLEEP_ABSTIME, &past);
}

static void upcalls(void)
{
	gives(upcall_wait, EINVAL, "no event", 0);
	gives(upcall_wait, EINVAL, "an unknown event", 0x80);
	gives_eintr(upcall_wait, "a signal", UPCALL_EXIT);
	raw_start(&gone, end, 0, LWP_BOUND);
	works(upcall_wait, UPCALL_EXIT);
	raw_start(&other, wait_for_exits, 0, LWP_DETACHED);
	wait_until(other.id, LWP_ST_SLEEP);
	gives(upcall_wait, EBUSY, "another LWP waits", UPCALL_EXIT);
	gives(upcall_activate, EBUSY, "an LWP waits for upcalls", 1);
}

int main(void)
{
	creating();
	ending();
	stopping();
	parking();
	upcalls();
	return tap_done();
}
