/*
 * activation.c - scheduler activations: as many LWPs of a process run threads as it has been granted
 * CPUs (weft/lwp.h says what the library sees).
 *
 * An activation is an LWP with l->watched, in one of these states:
 *
 *	runs	it has a CPU, or waits for one in a dispatch queue; counted in up.active
 *	idle	it sleeps in upcall_idle(UPCALL_IDLE), mostly on a CPU that it keeps (sched/stay.c); counted in up.idle
 *	spare	it sleeps in upcall_idle(UPCALL_SPARE), in the list up.spares
 *	blocked	it sleeps in the kernel for something else, or is stopped
 *
 * active + idle is the number of CPUs that are spoken for.  Whenever it becomes smaller than up.cpus
 * and a spare is there, the spare is woken, and runs (hand_over).  So a CPU is lost to the process only
 * while it has no spare, and no memory is needed when an LWP blocks.  The library is told of a block by
 * the return of the spare.  Several blocks without a spare are one return of the next spare: no event
 * is queued.
 *
 * An LWP that unblocks is counted in `active` again when it is woken (upcall_unblocks).  If `active`
 * becomes larger than up.most, the waker sets AST_UPCALL, which makes the LWP look before it returns to
 * user mode (activation_is_surplus).  So at least as many LWPs look as are too many.  If still too many
 * run, the LWP leaves the count, is no activation any more (l->watched), and enters the library.  The
 * library puts the thread into a queue, and calls upcall_idle; from then on the LWP is an activation
 * again.  In a critical section of the library it enters later, at the end of the section
 * (weft/schedctl.h): so no critical section needs to be recovered.  An idle LWP that the library has
 * unparked looks in the same way.
 *
 * up.most is up.cpus, unless the process has asked for UPCALL_STAY, and LWPs that unblock never leave.
 *
 * An unblocked LWP takes the CPU of an idle LWP silently: up.idle stays as it is.  When the library
 * unparks this idle LWP, the LWP may find no CPU (EAGAIN).  So a thread that blocks and unblocks costs
 * no upcall as long as some LWP is idle.
 *
 *   - *Race:* an LWP is about to be a spare and has found all CPUs spoken for, another LWP blocks and
 *     finds no spare; *without this:* a CPU of the process stays unused; *closed by:* the blocking LWP
 *     lowers the count, and then reads the list (activation_blocks); the spare enters the list, and then
 *     reads the count.  All four are sequentially consistent, so one of the two LWPs sees the other.
 *   - *Race:* an idle LWP has been woken, and is counted in `active` and `idle` for a moment; another LWP
 *     blocks in this moment, and finds all CPUs spoken for; *without this:* a CPU of the process stays
 *     unused; *closed by:* the idle LWP hands over a CPU itself once it has left `idle`.
 *   - *Race:* a signal stops the process while one of its LWPs is in the kernel, and this LWP blocks there,
 *     which hands nothing over; the process is continued; *without this:* a CPU of the process stays unused
 *     until the next block; *closed by:* the continuation hands over (upcall_continued).  The LWP lowers the
 *     count before it reads `stopped`; the continuation clears `stopped` before it reads the count.
 *   - *Race:* two LWPs unblock, and one CPU is free; *without this:* both leave the count;
 *     *closed by:* the compare-and-exchange in activation_leaves_count.
 *
 * A signal of the process that no LWP takes, because each LWP that runs a thread blocks it: the library looks
 * for a thread without an LWP that takes it (activation_look).  No LWP is kept for that.  An LWP of the pool that
 * sleeps in upcall_idle is woken, an idle one if there is one, because a spare has no CPU of its own.  It comes back
 * to the library, finds `signals` in its record, and looks before it runs a thread or sleeps again.  An LWP that runs
 * a thread is not told, because it could block in the kernel before it has looked.  upcall_activate tells the library
 * of signals that came before it.
 *
 *   - *Race:* no LWP sleeps in upcall_idle, because the only one is on its way there, and has looked at its record
 *     already; *without this:* it sleeps, and the signal stays pending although a thread would take it;
 *     *closed by:* then all LWPs of the pool are told, and get a permit, with which upcall_idle returns at once.
 *   - *Race:* an LWP that sleeps there is told, and a waker or another block gives it a thread to run; *without this:*
 *     it runs the thread, and the signal stays pending; *closed by:* the library looks first.
 *   - *Race:* a sender finds that an LWP runs a thread that takes the signal, and chooses this LWP; the thread blocks, and the
 *     LWP calls upcall_idle; *without this:* the LWP sleeps, and the signal stays pending although the thread would take it;
 *     *closed by:* AST_SIG ends this sleep, or prevents it, and the LWP hands the signal on before it returns to user
 *     mode (sig_next).
 *
 * A program that writes its records or calls upcall_idle at will gets at most as many CPUs as it has
 * LWPs, as any program does.  up.active and up.idle only change by what its LWPs do in the kernel.
 *
 * Lock order: p->lock, the lock of the LWP that runs or is told of signals, the lock of the spares.  The lock of a
 * spare is only tried, because the caller may hold the lock of its own LWP.
 */
#include <kern/activation.h>
#include <kern/cpu.h>
#include <kern/proc.h>
#include <kern/sched.h>
#include <kern/schedctl.h>
#include <kern/syscall.h>
#include <kern/timing.h>
#include <kern/upcall.h>
#include <weft/errno.h>
#include <weft/signal.h>

#define HANDED_BY_NONE UINT32_MAX /* l->handed: a CPU, and no LWP has blocked */

/* A process has one of these locks, so that struct proc has none. */
static struct spinlock spares_locks[16] = {[0 ... 15] = SPINLOCK_INIT("spares")};

static struct spinlock *spares_lock(const struct proc *p)
{
	return &spares_locks[p->pid % ARRAY_LEN(spares_locks)];
}

static void hand_over(struct proc *p, uint32_t from, int place);

static void hand_over_late(struct ktimer *t)
{
	hand_over(CONTAINER_OF(t, struct proc, up.timer), 0, PLACE_ANY);
}

/*
 * Wakes the first spare.  False: its lock is held.  The caller holds the lock of the spares, which
 * keeps this spare in upcall_idle.
 */
static bool wake_spare(struct proc_upcalls *up, uint32_t from, int place)
{
	struct lwp *l = up->spares;

	if (!spin_try(&l->lock))
		return false;
	__atomic_store_n(&up->spares, l->spare_next, __ATOMIC_RELAXED);
	l->handed = from != 0 ? from : HANDED_BY_NONE;
	if (place == PLACE_HANDOFF && l->state == LWP_ST_SLEEP && l->bound == PBIND_NONE)
		l->cpu = this_cpu()->id;
	lwp_wake_locked(l, WAKE_EVENT, 0, place);
	spin_release(&l->lock);
	return true;
}

/*
 * Gives CPUs that are not spoken for to spares.  from: the LWP that has blocked, or 0.  A spare whose
 * lock is held by another CPU, mostly because it is still on its way into its sleep, is woken a moment
 * later by a timer.  Interrupts off; any lock except those of spares and of queues may be held.
 */
static void hand_over(struct proc *p, uint32_t from, int place)
{
	struct proc_upcalls *up = &p->up;

	while (activation_cpus_left(up)) {
		struct spinlock *lock = spares_lock(p);
		spin_acquire(lock);
		bool none = up->spares == NULL;
		bool woken = !none && wake_spare(up, from, place);
		if (!none && !woken && !up->timer.node.linked)
			ktimer_arm(&up->timer, time_now(), hand_over_late);
		spin_release(lock);
		if (!woken)
			return;
		from = 0;
		place = PLACE_ANY;
	}
}

void activation_hand_over(struct proc *p)
{
	hand_over(p, 0, PLACE_ANY);
}

void activation_blocked(struct lwp *l)
{
	if (!l->proc->exiting && !l->proc->sig.stopped)
		hand_over(l->proc, l->id, PLACE_HANDOFF);
}

bool activation_leaves_count(struct lwp *l, struct proc_upcalls *up)
{
	int n = __atomic_load_n(&up->active, __ATOMIC_SEQ_CST);

	while (l->watched && n > up->most)
		if (__atomic_compare_exchange_n(&up->active, &n, n - 1, false, __ATOMIC_SEQ_CST,
						__ATOMIC_SEQ_CST)) {
			l->watched = 0;
			l->sc->surplus = 1;
			slices_begin(l->proc, true); /* its thread is about to wait */
			return true;
		}
	return false;
}

/* An LWP that runs no thread (`idle`) has nothing to hand over. */
bool activation_hands_over(struct lwp *l)
{
	struct proc_upcalls *up = &l->proc->up;

	return is_activation(l) && !l->sc->idle &&
	       __atomic_load_n(&up->active, __ATOMIC_RELAXED) +
			       __atomic_load_n(&up->idle, __ATOMIC_RELAXED) >
		       1;
}

/* --- signals; p->lock held ------------------------------------------------------------------ */

/* Does l sleep in upcall_idle?  The library's own locks make a context sleep too, but without SLEEP_PARK. */
static bool sleeps_idle(const struct lwp *l)
{
	return l->sc->idle && l->state == LWP_ST_SLEEP &&
	       (l->sleep_flags & (SLEEP_PARK | SLEEP_STAYS));
}

/* True: l has been woken for it. */
static bool look_tell(struct lwp *l, uint64_t set)
{
	spin_acquire(&l->lock);
	bool woken = sleeps_idle(l);
	__atomic_fetch_or(&l->sc->signals, set, __ATOMIC_SEQ_CST);
	l->sc->look = 1;
	lwp_unpark_locked(l, PLACE_ANY);
	spin_release(&l->lock);
	return woken;
}

void activation_look(struct proc *p)
{
	uint64_t set = p->sig.pending.set & ~WEFT_SIGBIT(WEFT_SIGWAITING);
	struct lwp *sleeper = NULL;

	if (set == 0)
		return;
	LIST_FOREACH (&p->lwps, l, struct lwp, proc_link) {
		if (!sleeps_idle(l)) /* a guess, since l is not locked */
			continue;
		sleeper = l;
		if (!l->sc->surplus)
			break;
	}
	if (sleeper != NULL && look_tell(sleeper, set))
		return;
	LIST_FOREACH (&p->lwps, l, struct lwp, proc_link)
		if (!(l->flags & LWP_NOPOOL))
			look_tell(l, set);
}

/* --- the calls ------------------------------------------------------------------------------ */

/*
 * upcall_activate(cpus): see weft/lwp.h.
 * EINVAL: no CPU, or more than weft has; EBUSY: the process has activations, or an LWP has asked for
 * SIGWAITING or has called upcall_wait.
 */
int64_t sys_upcall_activate(const uint64_t arg[6])
{
	struct lwp *l = curlwp();
	struct proc *p = l->proc;
	struct proc_upcalls *up = &p->up;
	uint64_t cpus = arg[0] & ~(uint64_t)UPCALL_STAY;

	if (cpus == 0 || cpus > WEFT_MAXCPU)
		return -EINVAL;
	irqstate_t s = spin_lock(&p->lock);
	if (up->watched || up->cpus != 0) {
		spin_unlock(&p->lock, s);
		return -EBUSY;
	}
	up->spares = NULL;
	up->waiting = 0;
	up->cpus = cpus;
	up->most = arg[0] & UPCALL_STAY ? UINT8_MAX : cpus;
	__atomic_store_n(&up->limit, up->most, __ATOMIC_RELAXED);
	up->timed = true;
	__atomic_store_n(&up->idle, 0, __ATOMIC_RELAXED);
	spin_acquire(&l->lock);
	bool pool = !(l->flags & LWP_NOPOOL);
	l->watched = pool ? WATCHED_ACTIVATION : 0;
	__atomic_store_n(&up->active, pool, __ATOMIC_SEQ_CST);
	spin_release(&l->lock);
	activation_look(p);
	spin_unlock(&p->lock, s);
	slices_look(p);
	return 0;
}

/* l leaves the list of spares, unless a hand-over has taken it out. */
static void spare_remove(struct proc *p, struct lwp *l)
{
	struct spinlock *lock = spares_lock(p);
	struct lwp **at;

	spin_acquire(lock);
	for (at = &p->up.spares; *at != NULL && *at != l;)
		at = &(*at)->spare_next;
	if (*at != NULL)
		__atomic_store_n(at, l->spare_next, __ATOMIC_RELAXED);
	spin_release(lock);
}

/*
 * l, the current LWP, is about to wait in upcall_idle.  False: its wait has ended already.  l->lock is held, and stays held unless
 * the result is false.
 */
static inline bool activation_waits(struct lwp *l, struct proc_upcalls *up, bool ended)
{
	l->handed = 0;
	if (!ended && !l->permit && !(l->ast & (AST_EXIT | AST_SIG))) {
		l->blocked = true; /* the LWP that wakes l counts it */
		return true;
	}
	__atomic_add_fetch(&up->active, 1, __ATOMIC_SEQ_CST);
	return false;
}

/* l, the current LWP, runs no thread any more.  l->lock held. */
static void activation_leaves(struct proc *p, struct lwp *l)
{
	if (l->watched)
		__atomic_sub_fetch(&p->up.active, 1, __ATOMIC_SEQ_CST);
	l->watched = WATCHED_ACTIVATION;
	activation_hand_over(p); /* the spares before l have waited longer */
}

/* One wait of a spare.  True: an unpark has ended it.  Interrupts off. */
static bool activation_spare_wait(struct proc *p, struct lwp *l)
{
	struct proc_upcalls *up = &p->up;
	struct spinlock *lock = spares_lock(p);
	bool permit;

	spin_acquire(&l->lock);
	activation_leaves(p, l);
	spin_acquire(lock);
	l->spare_next = up->spares;
	__atomic_store_n(&up->spares, l, __ATOMIC_SEQ_CST);
	if (!activation_waits(l, up, activation_cpus_left(up))) {
		permit = l->permit;
		l->permit = 0;
		__atomic_store_n(&up->spares, l->spare_next, __ATOMIC_RELAXED);
		spin_release(lock);
		spin_release(&l->lock);
		return permit;
	}
	lwp_sleep_locked(l, lock, "idle", SLEEP_OF_IDLE, HRTIME_NEVER);
	if (l->handed != 0)
		return false;
	spare_remove(p, l);
	return true;
}

/* upcall_idle(UPCALL_SPARE).  Interrupts off. */
static int64_t activation_spare(struct proc *p, struct lwp *l)
{
	int64_t r = 0;

	for (;;) {
		bool unparked = activation_spare_wait(p, l);
		if (!activation_is_surplus(l, p)) {
			l->sc->surplus = 0;
			r = l->handed == HANDED_BY_NONE ? 0 : l->handed;
			break;
		}
		if (unparked || (l->ast & (AST_EXIT | AST_SIG))) {
			r = -EAGAIN;
			break;
		}
	}
	activation_hand_over(p);
	return r;
}

/* upcall_idle(UPCALL_IDLE or UPCALL_LEAVE).  After lwp_sleep_staying the call ends elsewhere (sched/stay.c).  Interrupts off. */
static int64_t activation_idle(struct proc *p, struct lwp *l, bool stays)
{
	__atomic_add_fetch(&p->up.idle, 1, __ATOMIC_SEQ_CST);
	spin_acquire(&l->lock);
	activation_leaves(p, l);
	if (!activation_waits(l, &p->up, false)) {
		l->permit = 0;
		spin_release(&l->lock);
	} else if (stays && lwp_may_stay(l)) {
		lwp_sleep_staying(l, "idle");
	} else {
		lwp_sleep_locked(l, NULL, "idle", SLEEP_OF_IDLE, HRTIME_NEVER);
	}
	return activation_idle_ends(l);
}

/*
 * upcall_idle(how): see weft/lwp.h.  Blocks.  A signal ends it only if the LWP was chosen before it was idle.
 * EINVAL: how, or the process has no activations; EAGAIN: unparked, and all CPUs are in use.
 */
int64_t sys_upcall_idle(const uint64_t arg[6])
{
	struct lwp *l = curlwp();
	struct proc *p = l->proc;

	if (arg[0] > UPCALL_LEAVE || p->up.cpus == 0)
		return -EINVAL;
	irq_off();
	int64_t r = arg[0] == UPCALL_SPARE ? activation_spare(p, l)
					   : activation_idle(p, l, arg[0] == UPCALL_IDLE);
	irq_on();
	return r;
}
