/*
 * lwp.c - what the models share about LWPs: to start one for a thread, to leave it, to stop it.
 * Blocking on an LWP is in park.h.
 */
#include <string.h>
#include <weft/errno.h>
#include <weft/lwp.h>
#include "core.h"
#include "model.h"
#include "park.h"

static struct schedctl no_record = {.state = SC_SLEEPING};

struct ulwp __nowhere = {.sc = &no_record, .critical = &__nowhere.nowhere};

_Static_assert(offsetof(struct schedctl, yield) == offsetof(struct schedctl, nopreempt) + 4 &&
		       offsetof(struct schedctl, signalled) ==
			       offsetof(struct schedctl, nosignal) + 4,
	       "struct section");

/* The calling LWP is l from now on; sc is its record. */
void __lwp_adopt(struct ulwp *l, struct schedctl *sc)
{
	__atomic_store_n(&l->id, sc->lwpid, __ATOMIC_SEQ_CST); /* pthread_cancel reads it */
	l->owes = 0;
	l->critical = (struct section *)(__options.schedctl ? &sc->nopreempt : &sc->nosignal);
	l->critical->nopreempt = 0; /* the last owner left it inside a critical section */
	thread_self()->critical = l->critical;
	__atomic_store_n(&l->sc, sc, __ATOMIC_RELEASE);
}

static void lwp_main(struct thread *self)
{
	void (*entry)(struct thread *) = (void (*)(struct thread *))self->rsp;

	PROBE(thread_state, "thread state", self, TS_ONLWP, 0);
	uint32_t mxcsr = self->fp_control;
	uint16_t fcw = self->fp_control >> 32;

	__asm__ volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(mxcsr), "m"(fcw));
	self->rsp = 0;
	__lwp_adopt(self->lwp, (struct schedctl *)__sys_lwp_schedctl());
	entry(self);
	__builtin_unreachable();
}

/*
 * Creates an LWP for t, and starts it at entry(t), which does not return.  t has a stack, and its
 * t->lwp is set.  flags: LWP_SUSPENDED, LWP_NOPOOL.  name: the LWP's, or NULL.  0, EAGAIN, ENOMEM.
 */
int __lwp_start(struct thread *t, void (*entry)(struct thread *), uint32_t flags, const char *name)
{
	struct lwp_create c = {
		.entry = (uint64_t)lwp_main,
		.arg = (uint64_t)t,
		.fsbase = (uint64_t)t,
		.flags = LWP_DETACHED | flags,
	};
	uint64_t *sp = (uint64_t *)((uintptr_t)(t->stack + t->stack_size) & -16ul);
	long r;

	if (name != NULL)
		strcpy(c.name, name);
	*--sp = 0; /* a return address of 0 ends the backtrace */
	c.stack = (uint64_t)sp;
	t->rsp = (uint64_t)entry;
	/* Field by field: another thread may still spin on the record's last owner. */
	__atomic_store_n(&t->lwp->sc, &no_record, __ATOMIC_RELAXED);
	t->lwp->critical = t->critical = &t->lwp->nowhere; /* a handler may come before lwp_main */
	t->lwp->nowhere.nopreempt = 0;
	t->lwp->run.first = NULL; /* only LWPs of a pool have a list */
	t->lwp->owes = 0;
	t->lwp->id = 0;
	r = __sys_lwp_create(&c);
	if (r < 0)
		return r == -ENOMEM ? ENOMEM : EAGAIN;
	/*
	 * A stopped LWP cannot write its id.  An LWP that runs may have exited by now, and t may be
	 * reused.
	 */
	if (flags & LWP_SUSPENDED)
		t->lwp->id = c.id;
	return 0;
}

/*
 * Ends the calling LWP, and releases the stack of its thread, which is inside a critical section.
 * From the store on, another thread may use the stack.  So no instruction between the store and the
 * system call uses the stack.  The critical section keeps this moment short.
 *
 * *Race:* the thread has been joined, and all other threads block a signal; the signal comes before
 * the LWP is in its system call; *without this:* the kernel finds an LWP that does not block the
 * signal, and the default action ends the process; *closed by:* `idle`, which is stored first.
 */
void __lwp_leave(struct thread *self)
{
	self->lwp->sc->idle = 1;
	__asm__ volatile("movl $0, %0\n\t"
			 "syscall\n\t"
			 "ud2"
			 : "=m"(self->on_stack)
			 : "a"((long)SYS_lwp_exit)
			 : "memory");
	__builtin_unreachable();
}

/* lwp_park: 0, -ETIMEDOUT, -EINTR, -ESRCH (unpark: there is no such LWP; did not park). */
long __lwp_park(deadline_t deadline, uint32_t unpark)
{
	struct weft_timespec ts;
	uint64_t offset;

	if (deadline == NEVER)
		return __sys_lwp_park(NULL, unpark);
	if (is_real_time(deadline)) {
		offset = clock_offset();
		return __lwp_park_watching(deadline_by(deadline, offset), unpark, offset);
	}
	ts.sec = deadline / 1000000000;
	ts.nsec = deadline % 1000000000;
	return __sys_lwp_park(&ts, unpark);
}

/*
 * __lwp_park until a time of CLOCK_MONOTONIC that was computed with this offset of CLOCK_REALTIME.
 * Returns 0 also when the clock is set, or has been set since.
 */
long __lwp_park_watching(deadline_t deadline, uint32_t unpark, uint64_t offset)
{
	struct lwp_park_clock until = {
		.deadline = {deadline / 1000000000, deadline % 1000000000},
		.offset = offset,
	};

	return __sys_lwp_park(&until.deadline, unpark | LWP_PARK_CLOCK);
}

/* lwp_unpark_owed (park.h) for paths that should not save registers for it. */
void __lwp_unpark_owed(struct ulwp *l, uint32_t id)
{
	lwp_unpark_owed(l, id);
}

/*
 * Stops the LWP of t, which is not the caller, unless the LWP may not be stopped now (struct ulwp).
 * A stopped LWP executes nothing, so its fields stay as they are until it goes on.  0; EAGAIN: the
 * LWP may not be stopped now; ESRCH: it has exited.
 */
int __lwp_try_suspend(struct thread *t)
{
	struct ulwp *l = t->lwp;

	if (l->id == 0)
		return EAGAIN; /* the LWP has not begun */
	if (__sys_lwp_suspend(l->id) < 0)
		return ESRCH;
	if (in_critical(l) || t->no_suspend != 0) {
		__sys_lwp_continue(l->id);
		return EAGAIN;
	}
	if (l->owes != 0) /* perhaps it has done so: a second unpark is allowed */
		__sys_lwp_unpark(l->owes);
	return 0;
}

/*
 * The calling thread stops.  In a handler it may have been waiting for an object.  Then its state stays that of a waiter, because
 * it goes on with the wait, and the waker looks at the state.
 */
static void lwp_suspend_self(struct thread *self)
{
	bool waits = self->state != TS_ONLWP;

	if (!waits) {
		PROBE(thread_state, "thread state", self, TS_STOPPED, 0);
		self->state = TS_STOPPED;
	}
	__sys_lwp_suspend(self->lwp->id);
	if (!waits) {
		PROBE(thread_state, "thread state", self, TS_ONLWP, 0);
		self->state = TS_ONLWP;
	}
}

int __lwp_suspend(struct thread *t)
{
	int error;

	if (t == thread_self()) {
		lwp_suspend_self(t);
		return 0;
	}
	error = __lwp_try_suspend(t);
	if (error == 0 && t->state == TS_ONLWP) {
		PROBE(thread_stop, "thread", t, 0, 0);
		t->state = TS_STOPPED;
	}
	return error;
}

int __lwp_resume(struct thread *t)
{
	if (t->state == TS_STOPPED) {
		t->state = TS_ONLWP;
		PROBE(thread_continue, "thread", t, 0, 0);
	}
	if (t->lwp->id == 0) /* the LWP has not begun, so it is not stopped */
		return 0;
	return __sys_lwp_continue(t->lwp->id) < 0 ? ESRCH : 0;
}
