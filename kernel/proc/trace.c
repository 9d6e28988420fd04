/*
 * trace.c - a process watches other processes (weft/trace.h).
 *
 * A tracer is a ring of events with three marks, which only grow:
 *
 *	released <= handed <= head
 *
 * Events below head have happened.  Events below handed have been given to the tracer.
 * Events below released are finished: the tracer has asked for more.  An LWP that has to
 * stop sleeps on the slot of its event until the slot is released.  An LWP that finds
 * the ring full sleeps until a slot is released.  Both continue when their process is
 * detached or is to exit.  The end of a process does not wait, because its entry in the
 * list of ended processes was allocated when it was attached.
 *
 * struct traced links a process to its tracer.  p->traced changes with proc_tree_lock,
 * p->lock and the tracer's lock held, so any of them is enough to read it.
 * proc_tree_lock guards the lists of a tracer's processes.  An LWP that reports finds its
 * tracer under p->lock, and counts as a user of the tracer while it sleeps there.
 *
 * Lock order: proc_tree_lock, p->lock, the tracer's lock, l->lock.
 */
#include <kern/cache.h>
#include <kern/cpu.h>
#include <kern/printk.h>
#include <kern/proc.h>
#include <kern/sched.h>
#include <kern/timing.h>
#include <kern/trace.h>
#include <kern/usercopy.h>
#include <weft/errno.h>

#define RING 128

struct slot {
	struct trace_event event;
	struct waitq stopped; /* the LWP of this event */
};

struct tracer {
	struct spinlock lock;
	struct proc *proc;
	unsigned users;       /* the process, and LWPs that sleep here; the last user frees it */
	bool reading;         /* an LWP is in trace_wait */
	bool children;        /* the process's own children are traced, ... */
	uint32_t child_flags; /* ... with these flags; both: proc_tree_lock */
	struct list traced;   /* of struct traced; proc_tree_lock */
	unsigned ntraced;
	struct list ended; /* of struct traced whose process has ended */
	uint64_t head, handed, released;
	struct waitq room, readers, held;
	struct slot ring[RING];
};

static struct slot *tracer_slot(struct tracer *t, uint64_t seq)
{
	return &t->ring[seq % RING];
}

/* Removes a user of t.  t->lock held; releases it. */
static void tracer_leave(struct tracer *t, irqstate_t s)
{
	bool last = --t->users == 0;
	spin_unlock(&t->lock, s);
	if (last)
		kfree(t);
}

/* --- the side of the traced process ------------------------------------------------- */

/* Returns the tracer of p, the current process, locked, and adds a user; NULL: it has none. */
static struct tracer *tracer_enter(struct proc *p, struct traced **tr, irqstate_t *s)
{
	*s = spin_lock(&p->lock);
	*tr = p->traced;
	if (*tr == NULL) {
		spin_unlock(&p->lock, *s);
		return NULL;
	}
	struct tracer *t = (*tr)->tracer;
	spin_acquire(&t->lock);
	spin_release(&p->lock);
	t->users++;
	return t;
}

/* Does the tracer want this event? */
static bool trace_event_wanted(const struct traced *tr, const struct trace_event *e)
{
	return !(tr->flags & TRACE_HOLD) && !(e->kind == TRACE_ENTRY && (tr->flags & TRACE_STREAM));
}

/* Reports an event of the current LWP, and stops until the tracer has finished with it.  Blocks. */
static void trace_report(struct trace_event *e)
{
	struct proc *p = curproc();
	struct traced *tr;
	irqstate_t s;
	int err = 0;

	struct tracer *t = tracer_enter(p, &tr, &s);
	if (t == NULL)
		return;
	e->pid = p->pid;
	e->lwp = curlwp()->id;
	while (p->traced == tr && trace_event_wanted(tr, e) && t->head - t->released == RING &&
	       err == 0)
		err = waitq_sleep(&t->room, &t->lock, HRTIME_NEVER, SLEEP_KILL);
	if (p->traced == tr && trace_event_wanted(tr, e) && err == 0) {
		uint64_t seq = t->head++;
		struct slot *slot = tracer_slot(t, seq);
		slot->event = *e;
		waitq_wake_all(&t->readers);
		while (p->traced == tr && !(tr->flags & TRACE_STREAM) && t->released <= seq &&
		       err == 0)
			err = waitq_sleep(&slot->stopped, &t->lock, HRTIME_NEVER, SLEEP_KILL);
	}
	tracer_leave(t, s);
}

/* The CPU time of the current LWP in the kernel. */
static hrtime_t system_time(void)
{
	struct mstimes t;

	lwp_times(curlwp(), &t);
	return ms_system(&t);
}

void trace_entry(struct trace_call *c, uint64_t number, const uint64_t arg[6])
{
	struct trace_event e = {.kind = TRACE_ENTRY, .call = number, .time = time_now()};

	memcpy(e.arg, arg, sizeof(e.arg));
	trace_report(&e);
	c->entry = time_now();
	c->cpu = system_time();
}

void trace_return(const struct trace_call *c, uint64_t number, int64_t result)
{
	hrtime_t now = time_now();
	struct trace_event e = {
		.kind = TRACE_RETURN,
		.call = number,
		.time = now,
		.arg = {result, c->entry, system_time() - c->cpu},
	};

	trace_report(&e);
}

void trace_signal(int sig, int action)
{
	if (!lwp_traced(curlwp()))
		return;
	struct trace_event e = {.kind = TRACE_SIGNAL, .time = time_now(), .arg = {sig, action}};
	trace_report(&e);
}

void trace_fault(uint64_t vec, uint64_t addr, int sig)
{
	if (!lwp_traced(curlwp()))
		return;
	struct trace_event e = {.kind = TRACE_FAULT, .time = time_now(), .arg = {vec, addr, sig}};
	trace_report(&e);
}

void trace_lwp_exit(void)
{
	if (!lwp_traced(curlwp()))
		return;
	struct trace_event e = {.kind = TRACE_LWP_EXIT, .time = time_now()};
	trace_report(&e);
}

void trace_hold_self(void)
{
	struct lwp *l = curlwp();
	struct traced *tr;
	irqstate_t s;
	int err = 0;

	__atomic_fetch_and(&l->ast, ~AST_TRACE, __ATOMIC_SEQ_CST);
	struct tracer *t = tracer_enter(l->proc, &tr, &s);
	if (t == NULL)
		return;
	while (l->proc->traced == tr && (tr->flags & TRACE_HOLD) && err == 0)
		err = waitq_sleep(&t->held, &t->lock, HRTIME_NEVER, SLEEP_KILL);
	tracer_leave(t, s);
}

/* --- attaching and detaching: proc_tree_lock held ------------------------------------ */

/* Sets l's fields to match p->traced.  p->lock held. */
static void set_lwp(struct proc *p, struct lwp *l)
{
	__atomic_store_n(&l->ncalls, p->traced ? 0 : WEFT_SYSCALL_MAX, __ATOMIC_RELAXED);
	if (p->traced && (p->traced->flags & TRACE_HOLD))
		lwp_post_ast(l, AST_TRACE);
}

void trace_new_lwp(struct proc *p, struct lwp *l)
{
	assert(spin_held(&p->lock));
	set_lwp(p, l);
}

static void traced_attach(struct tracer *t, struct traced *tr, struct proc *p, uint32_t flags)
{
	assert(spin_held(&proc_tree_lock));
	*tr = (struct traced){.tracer = t, .proc = p, .pid = p->pid, .flags = flags};
	spin_acquire(&p->lock);
	spin_acquire(&t->lock);
	list_push_back(&t->traced, &tr->link);
	t->ntraced++;
	p->traced = tr;
	spin_release(&t->lock);
	LIST_FOREACH (&p->lwps, l, struct lwp, proc_link)
		set_lwp(p, l);
	spin_release(&p->lock);
}

/* Detaches p from its tracer t; p's LWPs continue.  p->lock and t->lock held. */
static struct traced *unlink_traced(struct tracer *t, struct proc *p)
{
	struct traced *tr = p->traced;

	p->traced = NULL;
	list_remove(&tr->link);
	t->ntraced--;
	for (uint64_t seq = t->released; seq < t->head; seq++)
		if (tracer_slot(t, seq)->event.pid == tr->pid)
			waitq_wake_all(&tracer_slot(t, seq)->stopped);
	waitq_wake_all(&t->room);
	waitq_wake_all(&t->held);
	if (t->ntraced == 0)
		waitq_wake_all(&t->readers);
	return tr;
}

static void traced_detach(struct traced *tr)
{
	struct tracer *t = tr->tracer;
	struct proc *p = tr->proc;

	assert(spin_held(&proc_tree_lock));
	spin_acquire(&p->lock);
	spin_acquire(&t->lock);
	unlink_traced(t, p);
	spin_release(&t->lock);
	LIST_FOREACH (&p->lwps, l, struct lwp, proc_link)
		set_lwp(p, l);
	spin_release(&p->lock);
	kfree(tr);
}

void trace_new_child(struct proc *parent, struct proc *child)
{
	struct tracer *t = NULL;
	uint32_t flags = 0;

	assert(spin_held(&proc_tree_lock));
	if (parent->traced != NULL && (parent->traced->flags & TRACE_FOLLOW)) {
		t = parent->traced->tracer;
		flags = parent->traced->flags;
	} else if (parent->tracing != NULL && parent->tracing->children) {
		t = parent->tracing;
		flags = t->child_flags;
	}
	if (t == NULL)
		return;
	/* Without memory the child is not traced: this is better than a failure of its creation. */
	struct traced *tr = kmalloc_user(sizeof(*tr));
	if (tr != NULL)
		traced_attach(t, tr, child, flags);
}

void trace_ended(struct proc *p)
{
	assert(spin_held(&proc_tree_lock) && spin_held(&p->lock));
	if (p->traced == NULL)
		return;
	struct tracer *t = p->traced->tracer;
	spin_acquire(&t->lock);
	struct traced *tr = unlink_traced(t, p);
	tr->status = p->status;
	tr->end = time_now();
	list_push_back(&t->ended, &tr->link);
	waitq_wake_all(&t->readers);
	spin_release(&t->lock);
}

void trace_tracer_ends(struct proc *p)
{
	struct tracer *t = p->tracing;

	if (t == NULL)
		return;
	irqstate_t s = spin_lock(&proc_tree_lock);
	while (!list_empty(&t->traced))
		traced_detach(LIST_FIRST(&t->traced, struct traced, link));
	p->tracing = NULL;
	spin_unlock(&proc_tree_lock, s);
	while (!list_empty(&t->ended)) {
		struct traced *tr = LIST_FIRST(&t->ended, struct traced, link);
		list_remove(&tr->link);
		kfree(tr);
	}
	s = spin_lock(&t->lock);
	tracer_leave(t, s);
}

/* --- the side of the tracer ------------------------------------------------------------ */

/* Makes the current process a tracer, if it is none; NULL: no memory. */
static struct tracer *become_tracer(void)
{
	struct proc *p = curproc();
	struct tracer *t = __atomic_load_n(&p->tracing, __ATOMIC_ACQUIRE);

	if (t != NULL)
		return t;
	t = kzalloc_user(sizeof(*t));
	if (t == NULL)
		return NULL;
	spin_init(&t->lock, "tracer");
	t->proc = p;
	t->users = 1;
	list_init(&t->traced);
	list_init(&t->ended);
	waitq_init(&t->room, "traced");
	waitq_init(&t->held, "traced");
	waitq_init(&t->readers, "trace");
	for (unsigned i = 0; i < RING; i++)
		waitq_init(&t->ring[i].stopped, "traced");
	/* *Race:* two LWPs make a tracer of their process at once; *without this:* one tracer
	 * replaces the other, and the events of its processes are lost; *closed by:* the
	 * compare-and-swap: the second LWP uses the tracer of the first. */
	struct tracer *other = NULL;
	if (!__atomic_compare_exchange_n(&p->tracing, &other, t, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE)) {
		kfree(t);
		t = other;
	}
	return t;
}

/* Does p trace the current process, directly or through other processes?  The two would then wait
 * for each other. */
static bool traces_us(const struct proc *p)
{
	for (struct proc *q = curproc(); q->traced != NULL;) {
		q = q->traced->tracer->proc;
		if (q == p)
			return true;
	}
	return false;
}

int trace_attach(int pid, uint32_t flags)
{
	if (flags & ~(TRACE_FOLLOW | TRACE_STREAM | TRACE_HOLD) || pid < 0)
		return -EINVAL;
	struct tracer *t = become_tracer();
	struct traced *tr = kmalloc_user(sizeof(*tr));
	if (t == NULL || tr == NULL) {
		kfree(tr);
		return -ENOMEM;
	}
	int err = 0;
	irqstate_t s = spin_lock(&proc_tree_lock);
	if (pid == 0) {
		t->children = true;
		t->child_flags = flags;
	} else {
		struct proc *p = proc_find(pid);
		if (p == NULL || p->zombie)
			err = -ESRCH;
		else if (p == curproc() || p == init_proc || traces_us(p))
			err = -EPERM;
		else if (p->traced != NULL)
			err = -EBUSY;
		else
			traced_attach(t, tr, p, flags);
	}
	spin_unlock(&proc_tree_lock, s);
	if (pid == 0 || err != 0)
		kfree(tr);
	return err;
}

int trace_detach(int pid)
{
	int err = -ESRCH;

	irqstate_t s = spin_lock(&proc_tree_lock);
	struct tracer *t = curproc()->tracing;
	if (pid == 0 && t != NULL && t->children) {
		t->children = false;
		err = 0;
	} else if (pid != 0 && t != NULL) {
		struct proc *p = proc_find(pid);
		if (p != NULL && p->traced != NULL && p->traced->tracer == t) {
			traced_detach(p->traced);
			err = 0;
		}
	}
	spin_unlock(&proc_tree_lock, s);
	return err;
}

/* The tracer has finished with the events that it was given: their LWPs continue.  t->lock held. */
static void release_handed(struct tracer *t)
{
	for (; t->released < t->handed; t->released++) {
		waitq_wake_all(&tracer_slot(t, t->released)->stopped);
		waitq_wake_one(&t->room);
	}
}

/* Copies the end of a process to user memory.  t->lock is not needed, because only a reader removes
 * entries from the list, and there is one reader (t->reading). */
static int64_t give_end(struct traced *tr, vaddr_t user)
{
	struct trace_event e = {
		.kind = TRACE_EXIT, .pid = tr->pid, .time = tr->end, .arg = {tr->status}};

	int err = copyout(user, &e, sizeof(e));
	return err != 0 ? err : 1;
}

int64_t trace_wait(vaddr_t user, uint64_t n)
{
	struct tracer *t = __atomic_load_n(&curproc()->tracing, __ATOMIC_ACQUIRE);
	int64_t r = 0;

	if (n == 0 || n > RING)
		return -EINVAL;
	if (t == NULL)
		return 0;
	irqstate_t s = spin_lock(&t->lock);
	if (t->reading) {
		spin_unlock(&t->lock, s);
		return -EBUSY;
	}
	t->reading = true;
	release_handed(t);
	while (r == 0 && t->head == t->handed && list_empty(&t->ended) && t->ntraced > 0)
		r = waitq_sleep(&t->readers, &t->lock, HRTIME_NEVER, SLEEP_INTR);
	struct traced *ended = NULL;
	uint64_t some = MIN(n, t->head - t->handed);
	if (r == 0 && some == 0 && !list_empty(&t->ended))
		ended = LIST_FIRST(&t->ended, struct traced, link);
	spin_unlock(&t->lock, s);

	/* Slots below head do not change until they are released. */
	if (ended != NULL)
		r = give_end(ended, user);
	else if (r == 0) {
		for (uint64_t i = 0; i < some && r >= 0; i++)
			r = copyout(user + i * sizeof(struct trace_event),
				    &tracer_slot(t, t->handed + i)->event,
				    sizeof(struct trace_event));
		r = r < 0 ? r : (int64_t)some;
	}

	s = spin_lock(&t->lock);
	if (r > 0 && ended == NULL)
		t->handed += r;
	else if (r > 0)
		list_remove(&ended->link);
	t->reading = false;
	spin_unlock(&t->lock, s);
	if (r > 0 && ended != NULL)
		kfree(ended);
	return r;
}
