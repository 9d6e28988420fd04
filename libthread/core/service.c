/*
 * service.c - LWPs of the library's own.  They are no threads of the program, take no signals, and
 * do not keep the process from its end.
 */
#include <errno.h>
#include <signal.h>
#include <weft/lwp.h>
#include "core.h"
#include "model.h"

#define SERVICE_STACK 16384

/*
 * Starts t's LWP with all signals blocked.  They are blocked from its first instruction on (by its
 * creator's mask), because no handler may run on this LWP.  0, EAGAIN, ENOMEM.
 */
int __lwp_start_blocked(struct thread *t, void (*entry)(struct thread *), uint32_t flags,
			const char *name)
{
	const uint64_t all = ~0ul;
	uint64_t before;
	int error;

	__sys_sigprocmask(SIG_SETMASK, &all, &before);
	error = __lwp_start(t, entry, flags, name);
	__sys_sigprocmask(SIG_SETMASK, &before, NULL);
	return error;
}

/* Starts an LWP at entry(context).  It is no thread of the program.  0, EAGAIN, ENOMEM. */
int __service_start(void (*entry)(struct thread *), const char *name, struct thread **context)
{
	struct thread *t = __thread_get(SERVICE_STACK, WEFT_PAGE_SIZE);
	int error;

	if (t == NULL)
		return ENOMEM;
	t->self = t;
	t->reent = NULL;
	t->lwp = &t->own_lwp;
	t->state = TS_ONLWP;
	t->special = 0;
	t->bound = true;
	t->exited = false;
	t->cancel_all = 0;
	t->carries = 0;
	t->sigmask = __base_mask;
	t->base = thread_self()->base;
	t->pri = t->base_pri;
	t->wchan = NULL;
	t->on_stack = 1;
	save_fp_control(&t->fp_control);
	error = __lwp_start_blocked(t, entry, LWP_NOPOOL, name);
	if (error == 0) {
		__atomic_store_n(context, t, __ATOMIC_RELEASE);
		return 0;
	}
	ilock_lock(&__threads_lock);
	t->on_stack = 0;
	__thread_put(t);
	ilock_unlock(&__threads_lock);
	return error;
}

/*
 * An LWP without an id need not be told.  It looks before it parks for the first time (for the
 * ASLWP the kernel looks, sig_aslwp).
 */
void __service_poke(struct thread *context)
{
	uint32_t id = context != NULL ? __atomic_load_n(&context->own_lwp.id, __ATOMIC_SEQ_CST) : 0;

	if (id != 0)
		__sys_lwp_unpark(id);
}

void __service_forgotten(struct thread *context)
{
	if (context == NULL)
		return;
	context->on_stack = 0;
	__thread_put(context);
}
