/*
 * services.c - the model's LWPs of its own, beside those of time-outs and the ticker.
 *
 * They are the growing LWP (grow.c), the ASLWP (signal.c) and the reaper of detached threads; in sa the reaper
 * alone.  So a program that links the library has four LWPs, with the first thread's, as the Solaris paper lists
 * them (p. 16).  They are started with the process.  In a child of fork, and in n1, which has only
 * the ASLWP, they are started with the first thread that is created, or when an LWP goes idle for
 * the first time.
 */
#include "mxn.h"

static struct ilock services_lock; /* held while LWPs are started */

static void __attribute__((noreturn)) reaper_main(struct thread *self)
{
	for (;;) {
		deadline_t again = NEVER;

		if (__options.waiting == WAITING_ACTIVATION)
			again = __activation_retry();
		__stacks_trim();
		__lwp_park(again, 0);
	}
}

static struct thread *grower, *aslwp, *reaper; /* written with services_lock */

static bool service_started(struct thread **context, void (*entry)(struct thread *),
			    const char *name)
{
	return *context != NULL || __service_start(entry, name, context) == 0;
}

/*
 * If an LWP cannot be started, it is not missed until it is needed.  The next thread that creates a
 * thread, or an LWP that goes idle, tries again.
 */
void __services_start(void)
{
	bool all;

	ilock_lock(&services_lock);
	if (!__pool_ready) {
		all = (__options.waiting == WAITING_ACTIVATION && !__options.aslwp) ||
		      service_started(&aslwp, __aslwp_main, "aslwp");
		if (__model->scope == SCOPE_EITHER)
			all &= service_started(&reaper, reaper_main, "reaper");
		if (__options.waiting != WAITING_NONE && __options.waiting != WAITING_ACTIVATION)
			all &= service_started(&grower, __grow_main,
					       __options.waiting == WAITING_SIGNAL ? "sigwaiting"
										   : "upcall");
		__pool_ready = all;
	}
	ilock_unlock(&services_lock);
}

/* Makes the ASLWP look at what is pending. */
void __aslwp_poke(void)
{
	__service_poke(__atomic_load_n(&aslwp, __ATOMIC_ACQUIRE));
}

void __services_forked(void)
{
	services_lock.held = 0;
	__service_forgotten(grower);
	__service_forgotten(aslwp);
	__service_forgotten(reaper);
	grower = aslwp = reaper = NULL;
	__pool_ready = false;
}

void __reap(void)
{
	if (__atomic_load_n(&reaper, __ATOMIC_ACQUIRE) != NULL)
		__service_poke(reaper);
	else
		__stacks_trim();
}
