/*
 * siginherit.c - what a new process, or a new program of a process, has of the signals before it: actions, masks,
 * alternate stacks, timers.
 *
 * Sources: POSIX, fork, exec and posix_spawn.
 *
 * Lock: p->lock of the process from which the actions come, or whose program is new.
 */
#include <kern/proc.h>
#include <kern/signal.h>

void sig_fork(struct proc *parent, const struct lwp *from, struct proc *child, struct lwp *to)
{
	if (parent->sig.any_act) {
		irqstate_t s = spin_lock(&parent->lock);
		memcpy(child->sig.act, parent->sig.act, sizeof(child->sig.act));
		child->sig.any_act = true;
		spin_unlock(&parent->lock, s);
	}
	to->sc->mask = sig_mask(from);
	to->sig.stack = from->sig.stack;
}

void sig_preset(struct proc *child, struct lwp *l, const struct spawn_args *args)
{
	if (args->flags & SPAWN_SETSIGMASK)
		l->sc->mask = args->sigmask;
	if (args->flags & SPAWN_SETSIGDEF)
		for (int sig = 1; sig < WEFT_NSIG; sig++)
			if (args->sigdefault & WEFT_SIGBIT(sig))
				child->sig.act[sig] = (struct weft_sigaction){0};
}

void sig_exec(struct proc *p, struct lwp *l)
{
	irqstate_t s = spin_lock(&p->lock);
	for (int sig = 1; p->sig.any_act && sig < WEFT_NSIG; sig++) {
		struct weft_sigaction *act = &p->sig.act[sig];
		*act = (struct weft_sigaction){
			.handler = act->handler == WEFT_SIG_IGN ? WEFT_SIG_IGN : WEFT_SIG_DFL};
	}
	l->sig.stack = (struct weft_stack){0};
	spin_unlock(&p->lock, s);
	itimer_exec(p);
}
