/*
 * signal.c - sending signals: pending sets, the choice of the LWP that takes a signal, default
 * actions, stopping and continuing.
 *
 * A signal for an LWP waits in that LWP's pending set; a signal for the process waits in the
 * set of the process.  If a target does not block the signal, the sender carries out a default
 * action at once, because the target may sleep where no signal wakes it.  For a handler, the
 * sender chooses one LWP and posts AST_SIG to it.  The signal stays in its set until an LWP takes
 * it.  So if the chosen LWP blocks the signal in the last moment, the next LWP that unblocks it
 * takes it.  If the chosen LWP blocks the signal, becomes idle (weft/schedctl.h), is suspended or
 * exits, sig_hand_on chooses another LWP.  A suspended LWP (lwp_suspend) is chosen for no handler,
 * because the program alone knows when it goes on.
 *
 * A library that runs many threads on fewer LWPs has masks of threads that no LWP has.  It
 * reserves one LWP for signals that no LWP takes, the ASLWP of the Solaris paper (p. 13).
 * sig_aslwp makes its caller the ASLWP.  The kernel unparks the ASLWP for such a signal.  The
 * ASLWP looks at the pending signals, finds a thread that takes one, and posts AST_SIG to the
 * LWP that runs this thread (sig_redirect).  A library with activations needs no such LWP: the
 * kernel makes an LWP of the pool look (activation_look).
 *
 * For its parent, a process stops at once.  Each of its LWPs stops before its next return to
 * user mode; an LWP that sleeps continues to sleep.
 *
 * Lock order: proc_tree_lock, p->lock, l->lock.  The parent learns of a stop or a continuation
 * after p->lock has been released, because sig_notify_parent acquires the parent's lock.
 */
#include <kern/cache.h>
#include <kern/cpu.h>
#include <kern/printk.h>
#include <kern/proc.h>
#include <kern/sched.h>
#include <kern/schedctl.h>
#include <kern/signal.h>
#include <weft/errno.h>

#define BIT(sig) WEFT_SIGBIT(WEFT_SIG##sig)

#define IGNORED_BY_DEFAULT                                                                         \
	(BIT(CHLD) | BIT(URG) | BIT(IO) | BIT(WINCH) | BIT(CONT) | BIT(WAITING) | BIT(LWP))
#define STOPS_BY_DEFAULT (BIT(STOP) | BIT(TSTP) | BIT(TTIN) | BIT(TTOU))

enum action { ACT_CATCH, ACT_IGNORE, ACT_STOP, ACT_KILL };

/*
 * Can this signal stop p?  The first process does no job control, so no process could continue its
 * children.  For it and its children, the terminal's stop signals do nothing (as for orphaned
 * process groups in POSIX).
 */
static bool can_stop(const struct proc *p, int sig)
{
	return sig == WEFT_SIGSTOP || (p->parent != NULL && p->parent != init_proc);
}

static enum action action_of(const struct proc *p, int sig)
{
	uint64_t handler = p->sig.act[sig].handler;

	if (handler == WEFT_SIG_IGN)
		return ACT_IGNORE;
	if (handler != WEFT_SIG_DFL)
		return ACT_CATCH;
	if (WEFT_SIGBIT(sig) & IGNORED_BY_DEFAULT)
		return ACT_IGNORE;
	if (WEFT_SIGBIT(sig) & STOPS_BY_DEFAULT)
		return can_stop(p, sig) ? ACT_STOP : ACT_IGNORE;
	return ACT_KILL;
}

bool sig_ignored(const struct proc *p, int sig)
{
	return action_of(p, sig) == ACT_IGNORE;
}

/* --- pending signals; p->lock held ------------------------------------------------ */

static void pending_init(struct sigpending *pd)
{
	pd->set = 0;
	list_init(&pd->queue);
}

static struct sigqueued *pending_find(const struct sigpending *pd, int sig)
{
	LIST_FOREACH (&pd->queue, q, struct sigqueued, link)
		if (q->info.signo == sig)
			return q;
	return NULL;
}

static void sigqueue_remove(struct proc *p, struct sigqueued *q)
{
	list_remove(&q->link);
	if (q->overrun != NULL) {
		*q->overrun = q->info.overrun;
	} else {
		p->sig.queued--;
		kfree(q);
	}
}

/* Removes one signal `sig`, which is pending in pd, and fills *info. */
static void pending_take(struct proc *p, struct sigpending *pd, int sig, struct weft_siginfo *info)
{
	struct sigqueued *q = pending_find(pd, sig);

	*info = (struct weft_siginfo){.signo = sig, .code = WEFT_SI_KERNEL};
	if (q != NULL) {
		*info = q->info;
		sigqueue_remove(p, q);
	}
	if (q == NULL || pending_find(pd, sig) == NULL)
		pd->set &= ~WEFT_SIGBIT(sig);
}

static void pending_drop(struct proc *p, struct sigpending *pd, uint64_t set)
{
	struct list *at = pd->queue.next;

	pd->set &= ~set;
	while (at != &pd->queue) {
		struct sigqueued *q = CONTAINER_OF(at, struct sigqueued, link);
		at = at->next;
		if (WEFT_SIGBIT(q->info.signo) & set)
			sigqueue_remove(p, q);
	}
}

void sig_forget(struct proc *p, uint64_t set)
{
	pending_drop(p, &p->sig.pending, set);
	LIST_FOREACH (&p->lwps, l, struct lwp, proc_link)
		if (l->sig.pending.set & set)
			pending_drop(p, &l->sig.pending, set);
}

void sig_withdraw(struct proc *p, struct sigqueued *q)
{
	if (list_empty(&q->link))
		return;
	list_remove(&q->link);
	if (pending_find(q->in, q->info.signo) == NULL)
		q->in->set &= ~WEFT_SIGBIT(q->info.signo);
}

/*
 * Adds a signal to a pending set.  A signal that is pending already is not added again, unless it
 * is a real-time signal.  -EAGAIN: must_queue is set, and the queue is full or there is no memory.
 */
static int pending_add(struct proc *p, struct sigpending *pd, const struct weft_siginfo *info,
		       struct sigqueued *own, bool must_queue)
{
	uint64_t bit = WEFT_SIGBIT(info->signo);
	struct sigqueued *q = own;

	if (own != NULL) {
		own->info = *info;
		own->in = pd;
	} else if (info->signo < WEFT_SIGRTMIN && (pd->set & bit)) {
		return 0;
	} else {
		q = p->sig.queued < WEFT_SIGQUEUE_MAX ? kmalloc_user(sizeof(*q)) : NULL;
		if (q == NULL && must_queue)
			return -EAGAIN;
		if (q != NULL) {
			*q = (struct sigqueued){.info = *info};
			p->sig.queued++;
		}
	}
	if (q != NULL)
		list_push_back(&pd->queue, &q->link);
	pd->set |= bit;
	return 0;
}

/* --- stopping and continuing; p->lock held ------------------------------------------- */

static void signal_cancel_stops(struct proc *p, int sig)
{
	if (p->sig.stopped)
		return;
	p->sig.stopped = true;
	p->sig.stop_sig = sig;
	p->sig.notify_stopped = p->sig.wait_stopped = true;
	p->sig.tell_continued = p->sig.wait_continued = false;
	LIST_FOREACH (&p->lwps, l, struct lwp, proc_link)
		lwp_post_ast(l, AST_JOBSTOP);
}

static void go_on(struct proc *p)
{
	if (!p->sig.stopped)
		return;
	p->sig.stopped = false;
	p->sig.notify_stopped = p->sig.wait_stopped = false;
	p->sig.tell_continued = p->sig.wait_continued = true;
	LIST_FOREACH (&p->lwps, l, struct lwp, proc_link)
		lwp_clear_stop(l, AST_JOBSTOP);
	upcall_continued(p);
}

/* --- sending --------------------------------------------------------------------------- */

struct weft_siginfo sig_info(int sig, int code, uint64_t value)
{
	struct proc *p = curproc();

	return (struct weft_siginfo){
		.signo = sig,
		.code = p != NULL ? code : WEFT_SI_KERNEL,
		.pid = p != NULL ? p->pid : 0,
		.value = value,
		.lwpid = curlwp()->id,
	};
}

/*
 * Chooses the LWP that is to take a signal for the process.  The first choice is an LWP that waits
 * for the signal, then the sender, if it is an LWP of p, then the first LWP in the list that does
 * not block the signal.  The LWPs that are passed over move to the end of the list.  The last choice
 * is a suspended LWP that does not block it: a default action does not wait for this LWP, but a
 * handler does.  NULL: all LWPs block it.
 */
static struct lwp *signal_choose_lwp(struct proc *p, uint64_t bit)
{
	struct lwp *self = curlwp(), *suspended = NULL;

	LIST_FOREACH (&p->sig.waiters, l, struct lwp, sig.wait_link)
		if ((l->sig.waits_for & bit) && !lwp_is_suspended(l))
			return l;
	if (self->proc == p && sig_taken_by(self, bit) && self->state == LWP_ST_ONPROC &&
	    !lwp_is_suspended(self))
		return self;
	struct list *last = p->lwps.prev;
	for (struct list *at = p->lwps.next; at != &p->lwps;) {
		struct lwp *l = CONTAINER_OF(at, struct lwp, proc_link);
		if (sig_taken_by(l, bit)) {
			if (!lwp_is_suspended(l))
				return l;
			suspended = l;
		}
		if (at == last)
			break;
		at = at->next;
		if (p->telling != 0) /* proc_post_exit: the list keeps its order */
			continue;
		list_remove(&l->proc_link);
		list_push_back(&p->lwps, &l->proc_link);
	}
	return suspended;
}

/* l, which was chosen for this signal of the process, is to look. */
static void choose(struct lwp *l, uint64_t bit)
{
	if (!(l->sig.waits_for & bit))
		l->sig.chosen |= bit;
	lwp_post_ast(l, AST_SIG);
}

/* A signal is pending for p that no LWP takes.  sig: the signal, or 0: any except SIGWAITING. */
static inline __attribute__((always_inline)) void tell_library(struct proc *p, int sig)
{
	struct lwp *l = p->sig.aslwp;

	if (l == NULL) {
		if (p->up.cpus != 0)
			activation_look(p);
		return;
	}
	if (sig == WEFT_SIGWAITING)
		return;
	spin_acquire(&l->lock);
	lwp_unpark_locked(l, PLACE_ANY);
	spin_release(&l->lock);
}

void sig_hand_on(struct proc *p, uint64_t set)
{
	bool left = false;

	set &= p->sig.pending.set & ~BIT(WAITING);
	for (; set != 0 && !p->exiting; set &= set - 1) {
		struct lwp *heir = signal_choose_lwp(p, set & -set);
		if (heir != NULL && !lwp_is_suspended(heir))
			choose(heir, set & -set);
		else
			left = true;
	}
	if (left)
		tell_library(p, 0);
}

void sig_choose_again(struct proc *p)
{
	irqstate_t s = spin_lock(&p->lock);
	sig_hand_on(p, ~0ull);
	spin_unlock(&p->lock, s);
}

/*
 * Reports a SIGABRT on the console, as a fault is reported, because an assertion may have failed
 * without a message.  A SIGABRT that a thread sends to itself is left out: the C library reports it
 * (abort, raise), and knows the place.  p->lock held; the console's lock is a leaf.
 */
static void tell_aborted(const struct proc *p, const struct lwp *l, const struct weft_siginfo *info)
{
	if (info->pid != p->pid || info->code != WEFT_SI_LWP)
		printk("weft: pid %d (%s) lwp %u: SIGABRT from pid %d\n", p->pid, p->name, l->id,
		       info->pid);
}

int sig_send_locked(struct proc *p, struct lwp *to, const struct weft_siginfo *info,
		    struct sigqueued *own, bool must_queue)
{
	int sig = info->signo;
	uint64_t bit = WEFT_SIGBIT(sig);
	struct lwp *l = to;

	assert(spin_held(&p->lock) && sig > 0 && sig < WEFT_NSIG);
	if (p->exiting)
		return 0;
	if (sig == WEFT_SIGCONT) {
		sig_forget(p, STOPS_BY_DEFAULT);
		go_on(p);
	} else if (bit & STOPS_BY_DEFAULT) {
		sig_forget(p, BIT(CONT));
	}
	if (to == NULL)
		l = signal_choose_lwp(p, bit);
	else if (!sig_taken_by(to, bit) && !(to->sig.waits_for & bit))
		l = NULL;
	if (l != NULL && !(l->sig.waits_for & bit)) {
		switch (action_of(p, sig)) {
		case ACT_CATCH:
			break;
		case ACT_IGNORE:
			return 0;
		case ACT_STOP:
			signal_cancel_stops(p, sig);
			return 0;
		case ACT_KILL:
			if (proc_kill_locked(p, WEFT_W_EXITCODE(0, sig)) && sig == WEFT_SIGABRT)
				tell_aborted(p, l, info);
			return 0;
		}
	}
	int err = pending_add(p, to ? &to->sig.pending : &p->sig.pending, info, own, must_queue);
	if (err != 0)
		return err;
	if (to == NULL && l != NULL && lwp_is_suspended(l))
		l = NULL;
	if (to == NULL && l != NULL)
		choose(l, bit);
	else if (l != NULL)
		lwp_post_ast(l, AST_SIG);
	else if (to == NULL)
		tell_library(p, sig);
	return 0;
}

int sig_send(struct proc *p, const struct weft_siginfo *info, bool must_queue)
{
	assert(spin_held(&proc_tree_lock));
	irqstate_t s = spin_lock(&p->lock);
	int err = sig_send_locked(p, NULL, info, NULL, must_queue);
	spin_unlock(&p->lock, s);
	sig_notify_parent(p);
	return err;
}

int sig_send_stable(struct proc *p, struct lwp *to, const struct weft_siginfo *info,
		    struct sigqueued *own, bool must_queue)
{
	irqstate_t s = spin_lock(&p->lock);
	int err = sig_send_locked(p, to, info, own, must_queue);
	bool tell = p->sig.notify_stopped || p->sig.tell_continued;
	spin_unlock(&p->lock, s);
	if (tell) {
		s = spin_lock(&proc_tree_lock);
		sig_notify_parent(p);
		spin_unlock(&proc_tree_lock, s);
	}
	return err;
}

static void send_sigchld(struct proc *child, int code, int status)
{
	struct weft_siginfo info = {
		.signo = WEFT_SIGCHLD, .code = code, .pid = child->pid, .status = status};

	sig_send(child->parent, &info, false);
}

void sig_notify_parent(struct proc *p)
{
	assert(spin_held(&proc_tree_lock));
	irqstate_t s = spin_lock(&p->lock);
	bool stopped = p->sig.notify_stopped, continued = p->sig.tell_continued;
	p->sig.notify_stopped = p->sig.tell_continued = false;
	spin_unlock(&p->lock, s);
	if ((!stopped && !continued) || p->parent == NULL)
		return;
	waitq_wake_all(&p->parent->child_waiters);
	if (!(p->parent->sig.act[WEFT_SIGCHLD].flags & WEFT_SA_NOCLDSTOP))
		send_sigchld(p, stopped ? WEFT_CLD_STOPPED : WEFT_CLD_CONTINUED,
			     stopped ? p->sig.stop_sig : WEFT_SIGCONT);
}

bool sig_child_exited(struct proc *child)
{
	struct proc *parent = child->parent;
	const struct weft_sigaction *act = &parent->sig.act[WEFT_SIGCHLD];
	int sig = child->status & 0x7f;

	assert(spin_held(&proc_tree_lock));
	send_sigchld(child, sig != 0 ? WEFT_CLD_KILLED : WEFT_CLD_EXITED,
		     sig != 0 ? sig : child->status >> 8 & 0xff);
	return act->handler == WEFT_SIG_IGN || (act->flags & WEFT_SA_NOCLDWAIT);
}

void proc_signal(struct proc *p, int sig)
{
	struct weft_siginfo info = sig_info(sig, WEFT_SI_USER, 0);

	if (sig != 0) /* 0 only asks whether the process exists */
		sig_send(p, &info, false);
}

/* --- taking; the current LWP ------------------------------------------------------------ */

/*
 * What l may take now.
 *
 * *Race:* a sender wakes l for a signal of the process, and l is suspended before it runs; *without this:* l takes the signal,
 * or its system call ends because of it, although l calls no handler before lwp_continue, and another LWP would take the
 * signal; *closed by:* a suspended LWP does not see the signals of the process.  If the suspension comes after this look, l
 * takes the signal before it is suspended: p->lock is held, and lwp_suspend acquires it (sig_choose_again) before it returns.
 */
static uint64_t signals_seen(const struct lwp *l)
{
	return l->sig.pending.set | (lwp_is_suspended(l) ? 0 : l->proc->sig.pending.set);
}

static void signal_take(struct lwp *l, int sig, struct weft_siginfo *info)
{
	bool own = l->sig.pending.set & WEFT_SIGBIT(sig);

	pending_take(l->proc, own ? &l->sig.pending : &l->proc->sig.pending, sig, info);
}

bool sig_take(uint64_t set, struct weft_siginfo *info)
{
	struct lwp *l = curlwp();
	uint64_t found = signals_seen(l) & set;

	assert(spin_held(&l->proc->lock));
	if (found == 0)
		return false;
	signal_take(l, __builtin_ctzll(found) + 1, info);
	return true;
}

bool sig_next(struct weft_siginfo *info)
{
	struct lwp *l = curlwp();
	struct proc *p = l->proc;

	assert(spin_held(&p->lock));
	for (;;) {
		uint64_t mask = sig_mask(l), left = l->sig.chosen & mask;
		uint64_t found = signals_seen(l) & ~mask;
		struct weft_siginfo drop;

		if (l->sc->idle) {
			left |= found & ~SIG_UNBLOCKABLE;
			found &= SIG_UNBLOCKABLE;
		}
		/* *Race:* a sender has chosen l for a signal of the process, and l, in user mode, stores a mask that
		 * blocks it; *without this:* the signal stays pending, although another LWP would take it;
		 * *closed by:* sig_hand_on chooses another LWP. */
		if (left != 0) {
			l->sig.chosen &= ~left;
			sig_hand_on(p, left);
		}
		if (found == 0 || p->exiting) {
			/* *Race:* a sender finds that l takes a signal, and l, in user mode, stores a mask that blocks it;
			 * *without this:* l does not see that the signal is pending as it unblocks the signal again;
			 * *closed by:* sig_tell_pending. */
			l->sig.chosen = 0;
			sig_tell_pending();
			__atomic_fetch_and(&l->ast, ~AST_SIG, __ATOMIC_SEQ_CST);
			return false;
		}
		int sig = __builtin_ctzll(found) + 1;
		enum action action = action_of(p, sig);
		if (action == ACT_CATCH) {
			if (info != NULL)
				signal_take(l, sig, info);
			return true;
		}
		signal_take(l, sig, &drop);
		if (action == ACT_STOP)
			signal_cancel_stops(p, sig);
		else if (action == ACT_KILL)
			proc_kill_locked(p, WEFT_W_EXITCODE(0, sig));
	}
}

/* After sig_next, with p->lock released: sig_next may have stopped p. */
void sig_notify_if_due(struct proc *p)
{
	if (!p->sig.notify_stopped)
		return;
	irqstate_t s = spin_lock(&proc_tree_lock);
	sig_notify_parent(p);
	spin_unlock(&proc_tree_lock, s);
}

bool sig_interrupted(void)
{
	struct lwp *l = curlwp();
	struct proc *p = l->proc;

	irqstate_t s = spin_lock(&p->lock);
	bool found = sig_next(NULL) || p->exiting || (l->ast & AST_EXIT) || lwp_cancelled(l);
	spin_unlock(&p->lock, s);
	sig_notify_if_due(p);
	return found;
}

/* --- what the threads library knows better ------------------------------------------------- */

int sig_aslwp(void)
{
	struct lwp *l = curlwp();
	struct proc *p = l->proc;
	int err = -EBUSY;

	irqstate_t s = spin_lock(&p->lock);
	if (p->sig.aslwp == NULL) {
		p->sig.aslwp = l;
		if (p->sig.pending.set != 0)
			tell_library(p, 0);
		err = 0;
	}
	spin_unlock(&p->lock, s);
	return err;
}

int sig_redirect(uint32_t id, int sig)
{
	struct proc *p = curproc();
	uint64_t bit = WEFT_SIGBIT(sig);
	struct weft_siginfo info;
	struct lwp *l = NULL;
	int r = 1;

	irqstate_t s = spin_lock(&p->lock);
	if (id != 0) {
		l = lwp_lock_by_id(p, id);
		if (l == NULL) {
			spin_unlock(&p->lock, s);
			return -ESRCH;
		}
		spin_release(&l->lock); /* with p->lock held, l cannot exit */
	}
	if (l != NULL && (!sig_taken_by(l, bit) || lwp_is_suspended(l))) {
		r = -EAGAIN;
	} else if (p->sig.pending.set & bit) {
		enum action action = action_of(p, sig);
		if (action == ACT_CATCH) {
			if (l != NULL)
				choose(l, bit);
			r = 0;
		} else {
			pending_take(p, &p->sig.pending, sig, &info);
			if (action == ACT_STOP)
				signal_cancel_stops(p, sig);
			else if (action == ACT_KILL)
				proc_kill_locked(p, WEFT_W_EXITCODE(0, sig));
		}
	}
	spin_unlock(&p->lock, s);
	sig_notify_if_due(p);
	return r;
}

uint64_t sig_take_back(void)
{
	struct lwp *l = curlwp();

	irqstate_t s = spin_lock(&l->proc->lock);
	uint64_t set = l->sig.pending.set;
	pending_drop(l->proc, &l->sig.pending, set);
	sig_tell_pending();
	spin_unlock(&l->proc->lock, s);
	return set;
}

/* --- life ------------------------------------------------------------------------------ */

void sig_proc_init(struct proc *p)
{
	pending_init(&p->sig.pending);
	list_init(&p->sig.waiters);
	itimer_proc_init(p);
}

void sig_lwp_init(struct lwp *l)
{
	l->sig = (struct lwp_signals){0};
	pending_init(&l->sig.pending);
	list_init(&l->sig.wait_link);
}

void sig_lwp_exit(struct proc *p, struct lwp *l, uint64_t mask)
{
	pending_drop(p, &l->sig.pending, ~0ull);
	if (p->sig.aslwp == l)
		p->sig.aslwp = NULL;
	/* *Race:* a sender has chosen l for a signal of the process, and l exits before it takes
	 * the signal; *without this:* the signal stays pending, although another LWP would take it;
	 * *closed by:* sig_hand_on chooses another LWP. */
	sig_hand_on(p, ~mask | l->sig.chosen);
}

void sig_proc_exit(struct proc *p)
{
	itimer_proc_exit(p);
	irqstate_t s = spin_lock(&p->lock);
	pending_drop(p, &p->sig.pending, ~0ull);
	spin_unlock(&p->lock, s);
}
