/*
 * err_activation.c - every error of the system calls on activations.  A process of its own, because one
 * that has activations cannot wait for other upcalls.
 */
#include <weft/signal.h>
#include "errtest.h"
#include "rawlwp.h"

static struct raw other;

static void idle(struct raw *r)
{
	__atomic_store_n(&r->arg, __sys_upcall_idle(UPCALL_IDLE), __ATOMIC_SEQ_CST);
}

int main(void)
{
	gives(upcall_activate, EINVAL, "no CPU", 0);
	gives(upcall_activate, EINVAL, "more CPUs than weft has", 65);
	gives(upcall_activate, EINVAL, "no CPU, to stay on", UPCALL_STAY);
	gives(upcall_idle, EINVAL, "no activations", UPCALL_IDLE);
	works(upcall_activate, 1);
	gives(upcall_activate, EBUSY, "it has activations", 1);
	gives(upcall_wait, EBUSY, "it has activations", UPCALL_EXIT);
	gives(upcall_idle, EINVAL, "how", 3);

	/* The only CPU is the caller's. */
	raw_start(&other, idle, 0, LWP_DETACHED);
	raw_wait_asleep(other.id, "idle");
	__sys_lwp_unpark(other.id);
	while (__atomic_load_n(&other.arg, __ATOMIC_SEQ_CST) == 0)
		__sys_lwp_yield();
	err_result(other.arg, -EAGAIN, "upcall_idle EAGAIN: all CPUs are in use");

	gives(upcall_unpark, ESRCH, "no such LWP", 1000);
	works(upcall_unpark, __sys_lwp_self());
	works(upcall_idle, UPCALL_IDLE);
	return tap_done();
}
