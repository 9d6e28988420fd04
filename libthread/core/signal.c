/*
 * signal.c - signals of threads: how a handler is entered and left, masks, pthread_kill.
 *
 * The kernel calls no handler while its LWP is in a critical section (weft/schedctl.h).  So a
 * handler never meets a lock of the library that its own thread holds, or an LWP between two
 * threads.  It may use whatever POSIX allows, above all sem_post.  A handler must not block on an
 * object while the thread that it interrupted waits in a queue, because a thread stands in one
 * queue at a time.  POSIX forbids this too.
 *
 * The mask, alternate stack and pending signals of a bound thread are those of its LWP.  An unbound
 * thread carries its own, and the LWP gets them when the thread comes (model/mxn/signal.c).  This
 * costs nothing as long as all threads have the same mask, __base_mask, and nothing else (struct
 * thread).  A handler's mask is the thread's too, because a thread that yields or blocks in a
 * handler may go on on another LWP.
 *
 * In model sa, a thread changes the mask of its LWP by a store to the LWP's record (weft/schedctl.h), and makes a system
 * call only if this unblocks a signal that is pending.  In the other models it makes a system call for each change.
 *
 * Memory order: the store of a mask is sequentially consistent, so the load of `pending` comes after it.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include "ids.h"
#include "model.h"

#define UNBLOCKABLE (WEFT_SIGBIT(SIGKILL) | WEFT_SIGBIT(SIGSTOP))

uint64_t __base_mask; /* the mask with which the process began */

void __signals_init(void)
{
	__sys_sigprocmask(SIG_BLOCK, NULL, &__base_mask);
	thread_self()->sigmask = __base_mask; /* a new thread's is its creator's */
}

static void set_mask(struct thread *self, uint64_t mask)
{
	self->sigmask = mask;
	if (mask != __base_mask)
		self->carries |= CARRIES_MASK;
	else
		self->carries &= ~CARRIES_MASK;
}

/*
 * sigreturn is about to set this mask for the caller, without the signals that cannot be blocked.
 */
void __sigmask_returns(uint64_t mask)
{
	set_mask(thread_self(), mask & ~UNBLOCKABLE);
}

/*
 * Calls handler().  Afterwards the interrupted code goes on as if nothing had happened.  That code
 * may have been about to unpark an LWP.  This function makes the unpark, because the handler may
 * unpark another LWP, or may never return.  A second unpark does no harm.
 *
 * The thread's record of its mask is set back to its value before the handler, not to the mask that
 * the kernel will set.  The record may be one step ahead of the kernel's mask.  Another handler may
 * also come in between; then that handler sets the record back to what it found.
 */
static inline void around(int sig, struct weft_siginfo *info, struct weft_ucontext *uc,
			  void (*handler)(int, struct weft_siginfo *, void *), uint64_t mask)
{
	struct thread *self = thread_self();
	uint64_t before = self->sigmask, interrupted = uc->sigmask;
	const struct section *section = self->critical;
	uint32_t owes = self->lwp->owes;

	if (unlikely(self->lwp->id == 0)) /* the handler has come before lwp_main */
		__lwp_adopt(self->lwp, (struct schedctl *)__sys_lwp_schedctl());
	if (owes != 0)
		__lwp_unpark_owed(self->lwp, owes);
	set_mask(self, mask);
	handler(sig, info, uc);
	set_mask(self, uc->sigmask == interrupted ? before : uc->sigmask);
	if (self->critical != section) /* the thread is on another LWP */
		__restart_range(uc);
	/*
	 * The handler may return, on another LWP, into a system call that must end (core/cancel.c).
	 */
	if (unlikely(cancel_due()))
		__cancel_call(self->lwp->id, self);
}

bool __timed_forgotten;

/*
 * *Race:* a handler comes between prepare_timed and the wait, and forks; *without this:* the child's wait has a deadline,
 * and nothing in the child waits for deadlines; *closed by:* the child prepares again, as the handler returns.
 */
static void __attribute__((noinline, cold)) prepare_timed_again(void)
{
	unsigned turns = 0;

	__timed_forgotten = false;
	while (__ops->prepare_timed() != 0)
		__backoff(&turns);
}

/* Where the kernel enters a handler.  Preserves errno too. */
void __sig_entry(int sig, struct weft_siginfo *info, struct weft_ucontext *uc,
		 void (*handler)(int, struct weft_siginfo *, void *), uint64_t mask)
{
	int saved_errno = errno;

	around(sig, info, uc, handler, mask);
	if (unlikely(__timed_forgotten))
		prepare_timed_again();
	thread_self()->caught = true;
	errno = saved_errno;
	__sys_sigreturn(uc);
}

static void preempted(int sig, struct weft_siginfo *info, void *uc)
{
	__ops->preempted();
}

/*
 * __sig_entry for lwp_preempt, which is no signal, so it ends no wait for a signal.  Does not
 * return.
 */
void __preempt_entry(struct weft_ucontext *uc, uint64_t mask)
{
	around(SIGLWP, NULL, uc, preempted, mask);
	__sys_sigreturn(uc);
}

static uint64_t mask_changed(int how, uint64_t was, uint64_t set)
{
	if (how == SIG_BLOCK)
		set |= was;
	else if (how == SIG_UNBLOCK)
		set = was & ~set;
	return set & ~UNBLOCKABLE;
}

/*
 * pthread_sigmask by a store to the LWP's record.  set: without SIGLWP.
 *
 * *Race:* the caller stores a mask that does not block a signal any more, and the signal comes; *without this:* the
 * kernel finds the old mask, and the signal stays pending; *closed by:* the caller looks at what is pending after the
 * store.  The kernel says that the signal is pending, and then reads the mask once more.
 */
static int mask_store(int how, uint64_t set, uint64_t *was)
{
	struct thread *self = thread_self();
	const uint64_t none = 0;
	uint64_t fresh, due;

	if (how != SIG_BLOCK && how != SIG_UNBLOCK && how != SIG_SETMASK)
		return EINVAL;
	critical_enter(); /* the caller must still be on the LWP whose mask it stores */
	*was = self->sigmask;
	fresh = mask_changed(how, *was, set);
	set_mask(self, fresh);
	due = mask_publish(self->lwp->sc, fresh);
	critical_exit();
	if (unlikely(due != 0)) /* on another LWP by now, this does no harm */
		__sys_sigprocmask(SIG_BLOCK, &none, NULL);
	return 0;
}

/* EINVAL: `how` is unknown. */
int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	uint64_t fresh, was;
	long r;

	if (set == NULL) {
		if (!masks_published())
			return -__sys_sigprocmask(how, NULL, old);
		if (old != NULL)
			*old = thread_self()->sigmask;
		return 0;
	}
	fresh = *set;
	if (how != SIG_UNBLOCK)
		fresh &= ~WEFT_SIGBIT(SIGLWP);
	if (masks_published()) {
		r = -mask_store(how, fresh, &was);
	} else {
		r = __sys_sigprocmask(how, &fresh, &was);
		if (r == 0)
			set_mask(thread_self(), mask_changed(how, was, fresh));
	}
	if (r == 0 && old != NULL)
		*old = was;
	return -r;
}

/*
 * Sets the calling thread's stack for handlers with SA_ONSTACK.  Fails as the kernel's call does:
 * EINVAL, ENOMEM, EPERM, EFAULT.
 */
int sigaltstack(const stack_t *stack, stack_t *old)
{
	struct thread *self = thread_self();
	const struct weft_stack off = {.flags = WEFT_SS_DISABLE};
	struct weft_stack fresh = off;
	long r;

	if (stack != NULL)
		fresh = *(const struct weft_stack *)stack;
	fresh.flags &= ~WEFT_SS_LEAVING;
	/* The thread must still be on the same LWP when it records what it carries. */
	critical_enter();
	r = __sys_sigaltstack(stack != NULL ? &fresh : NULL, (struct weft_stack *)old);
	if (r == 0 && stack != NULL) {
		self->altstack = fresh.flags & SS_DISABLE ? off : fresh;
		if (fresh.flags & SS_DISABLE)
			self->carries &= ~CARRIES_STACK;
		else
			self->carries |= CARRIES_STACK;
	}
	critical_exit();
	if (r == 0)
		return 0;
	errno = -r;
	return -1;
}

static int signal_send(struct thread *t, void *sig)
{
	return __ops->kill(t, *(int *)sig);
}

static int is_there(unsigned long id)
{
	struct ilock *lock = id_lock(id);
	int error;

	ilock_lock(lock);
	error = id_find(id) != NULL ? 0 : ESRCH;
	ilock_unlock(lock);
	return error;
}

/*
 * Sends a signal to one thread of the process.  If the thread waits for an object, its handler is
 * called meanwhile, and the thread waits on.  A runnable unbound thread takes the signal when it
 * runs.  Nothing happens if the thread has exited and has not been joined.  ESRCH: no such thread;
 * EINVAL: no such signal.  May wait for a thread that has just been created to begin.
 */
int pthread_kill(pthread_t thread, int sig)
{
	struct thread *self = thread_self();
	int error;

	if (sig < 0 || sig >= NSIG)
		return EINVAL;
	if (thread == self->id && self->bound)
		return -__sys_lwp_kill(self->lwp->id, sig);
	error = __thread_with(thread, signal_send, &sig);
	return error == ESRCH ? is_there(thread) : error;
}
