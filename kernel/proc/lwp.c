/*
 * lwp.c - the life of an LWP: creation, lookup by id, exit, and lwp_wait.
 *
 * A struct lwp lies in a type-stable cache (kern/lwp.h), so a lookup needs only
 * the LWP's own lock.  Its id is allocated and freed under p->lock.  Freed ids
 * are used again oldest first.  So a late lwp_unpark for an LWP that has exited
 * seldom reaches a new LWP with the same id.  If it does, the park of the new LWP
 * returns once too early; a caller of park must expect that anyway.
 *
 * Lock order: p->lock, then l->lock.
 */
#include <kern/cache.h>
#include <kern/cpu.h>
#include <kern/kstack.h>
#include <kern/ksync.h>
#include <kern/printk.h>
#include <kern/probe.h>
#include <kern/proc.h>
#include <kern/sched.h>
#include <kern/schedctl.h>
#include <kern/timing.h>
#include <kern/trace.h>
#include <weft/errno.h>
#include "impl.h"

struct kcache *lwp_cache;

static void lwp_construct(void *obj)
{
	struct lwp *l = obj;
	spin_init(&l->lock, "lwp");
	list_init(&l->runlink);
	list_init(&l->proc_link);
}

void lwp_init(void)
{
	lwp_cache =
		kcache_create("lwp", sizeof(struct lwp), 64, KC_STABLE | KC_USER, lwp_construct);
	if (lwp_cache == NULL)
		panic("no memory for the cache of LWPs");
}

/* --- ids: p->lock held ------------------------------------------------------------ */

static uintptr_t *id_slot(struct proc *p, uint32_t id)
{
	return &p->lwptab[id / LWPTAB_LEAF][id % LWPTAB_LEAF];
}

/* Gives l a free id and returns it; 0: all ids are in use, or no memory for the table. */
static uint32_t id_take(struct proc *p, struct lwp *l)
{
	uint32_t id = p->free_first;
	if (id != 0) {
		p->free_first = *id_slot(p, id) >> 1;
		if (p->free_first == 0)
			p->free_last = 0;
	} else {
		id = p->next_id;
		if (id > LWP_ID_MAX)
			return 0;
		uintptr_t **leaf = &p->lwptab[id / LWPTAB_LEAF];
		if (*leaf == NULL) {
			uintptr_t *fresh = kzalloc(LWPTAB_LEAF * sizeof(uintptr_t));
			if (fresh == NULL)
				return 0;
			/* Release: a reader without the lock finds zeros. */
			__atomic_store_n(leaf, fresh, __ATOMIC_RELEASE);
		}
		p->next_id++;
	}
	l->id = id;
	__atomic_store_n(id_slot(p, id), (uintptr_t)l, __ATOMIC_RELEASE);
	return id;
}

static void id_give_back(struct proc *p, uint32_t id)
{
	__atomic_store_n(id_slot(p, id), 1, __ATOMIC_RELAXED);
	if (p->free_last != 0)
		__atomic_store_n(id_slot(p, p->free_last), (uintptr_t)id << 1 | 1,
				 __ATOMIC_RELAXED);
	else
		p->free_first = id;
	p->free_last = id;
}

void lwp_begin_anew(struct proc *p)
{
	struct lwp *l = curlwp();

	/* Only LWPs of p look an LWP up without p->lock, and the others have exited. */
	for (unsigned i = 0; i < LWPTAB_ROOT && p->lwptab[i] != NULL; i++)
		memset(p->lwptab[i], 0, LWPTAB_LEAF * sizeof(uintptr_t));
	p->free_first = p->free_last = 0;
	p->next_id = 1;
	spin_acquire(&l->lock);
	id_take(p, l);
	l->flags = 0;
	l->name[0] = '\0';
	l->permit = 0;
	l->cancel = 0; /* the new program numbers its threads from the start */
	spin_release(&l->lock);
}

/*
 * Returns l if it still is LWP `id` of p; else releases l->lock and returns NULL.  *Race:* the
 * caller finds l by its id, and l exits before the caller has its lock; *without this:* the caller
 * uses another LWP, because the memory may be a new LWP's; *closed by:* this comparison with
 * l->lock.
 */
static inline struct lwp *lwp_if_still(struct lwp *l, const struct proc *p, uint32_t id)
{
	if (__builtin_expect(l->proc == p && l->id == id, 1))
		return l;
	spin_release(&l->lock);
	return NULL;
}

/* A separate function, so that a caller that gets the lock at once saves no registers. */
static struct lwp *__attribute__((noinline))
lwp_lock_slowly(struct lwp *l, const struct proc *p, uint32_t id)
{
	spin_acquire(&l->lock);
	return lwp_if_still(l, p, id);
}

struct lwp *lwp_lock_by_id(struct proc *p, uint32_t id)
{
	struct lwp *l = lwp_peek(p, id);

	if (l == NULL)
		return NULL;
	return spin_try_plain(&l->lock) ? lwp_if_still(l, p, id) : lwp_lock_slowly(l, p, id);
}

/* --- creation --------------------------------------------------------------------------- */

/* cpu/entry.S: goes to sched_lwp_first. */
void lwp_trampoline(void);

void lwp_init_frame(struct lwp *l, vaddr_t entry, vaddr_t stack)
{
	*l->frame = (struct trapframe){
		.rip = entry,
		.cs = SEL_UCODE,
		.rflags = 0x202, /* interrupts on */
		.rsp = stack,
		.ss = SEL_UDATA,
		.vec = TRAP_NONE,
	};
}

void lwp_init_fpu(struct lwp *l)
{
	memset(l->fpu, 0, sizeof(l->fpu));
	*(uint16_t *)(l->fpu + 0) = 0x37f;   /* FCW: all exceptions masked, 64-bit precision */
	*(uint32_t *)(l->fpu + 24) = 0x1f80; /* MXCSR: all exceptions masked */
}

/* Makes a new LWP, with every field set that does not depend on its process.  NULL: no memory. */
static struct lwp *lwp_alloc(void)
{
	struct lwp *l = kcache_alloc(lwp_cache);
	if (l == NULL)
		return NULL;
	void *kstack = kstack_alloc();
	if (kstack == NULL) {
		kcache_free(lwp_cache, l);
		return NULL;
	}
	irqstate_t s = spin_lock(&l->lock);
	l->kstack = kstack;
	l->frame = (struct trapframe *)kstack - 1;
	l->ast = 0;
	l->state = LWP_ST_IDLE;
	l->then = THEN_NOTHING;
	l->slice_left = 0;
	l->leaving = 0;
	memset(l->charged, 0, sizeof(l->charged));
	l->permit = 0;
	l->cancel = 0;
	l->robust = false;
	list_init(&l->mutexes);
	l->inherit = INHERIT_APART;
	l->inherited = 0;
	l->wchan = NULL;
	l->sc = NULL;
	sig_lwp_init(l);
	l->watched = 0;
	l->blocked = false;
	l->cpu = this_cpu()->id;
	memset(l->mtime, 0, sizeof(l->mtime));
	l->created = l->since = time_now();
	l->mstate = MS_STOPPED;
	l->mresume = MS_SYSTEM;
	l->mtime[MS_STOPPED] -= l->created;
	l->nvcsw = l->nivcsw = l->minflt = l->nsyscall = 0;
	l->syscall = ~0u;
	memset(&l->timer, 0, sizeof(l->timer));

	/* The stack is as if lwp_trampoline had called swtch: the return address. */
	uint64_t *sp = (uint64_t *)l->frame;
	*--sp = (uint64_t)lwp_trampoline;
	l->ksp = (uint64_t)sp;

	lwp_init_fpu(l);
	spin_unlock(&l->lock, s);
	return l;
}

int lwp_new(struct proc *p, struct lwp_create *arg, const struct lwp *parent, struct lwp **out)
{
	struct lwp *l = lwp_alloc();
	if (l == NULL)
		return -EAGAIN;
	l->fsbase = arg->fsbase;
	l->gsbase = 0;
	l->flags = arg->flags;
	memcpy(l->name, arg->name, sizeof(l->name) - 1);
	l->name[sizeof(l->name) - 1] = '\0';
	lwp_init_frame(l, arg->entry, arg->stack);
	l->frame->rdi = arg->arg;
	if (schedctl_attach(p, l) != 0) {
		kstack_free(l->kstack);
		kcache_free(lwp_cache, l);
		return -EAGAIN;
	}

	irqstate_t s = spin_lock(&p->lock);
	/* Once all LWPs, or all except one, are to exit, no LWP may be added. */
	bool ends = p->exiting || p->single;
	uint32_t id = ends ? 0 : id_take(p, l);
	if (id == 0) {
		if (ends && p == curproc())
			proc_post_exit_self();
		schedctl_detach(p, l);
		spin_unlock(&p->lock, s);
		kstack_free(l->kstack);
		kcache_free(lwp_cache, l);
		return -EAGAIN;
	}
	l->sc->lwpid = id;
	sig_begin_record(p, l, parent != NULL ? sig_mask(parent) : 0);
	sched_inherit(l, parent, false);
	l->summed = p->timers.summed;
	spin_acquire(&l->lock);
	l->proc = p; /* from here on a lookup finds l */
	PROBE(lwp_new, "lwp process id", l, p, l->id);
	if (l->flags & LWP_SUSPENDED)
		l->ast |= AST_STOP;
	if (p->sig.stopped)
		l->ast |= AST_JOBSTOP;
	upcall_new_lwp(p, l);
	spin_release(&l->lock);
	list_push_back(&p->lwps, &l->proc_link);
	p->nlwp++;
	trace_new_lwp(p, l);
	arg->id = id;
	arg->schedctl = l->sc_user;
	spin_unlock(&p->lock, s);
	*out = l;
	return 0;
}

void lwp_start(struct lwp *l)
{
	irqstate_t s = spin_lock(&l->lock);
	if (l->ast & AST_EXIT)
		l->ast &= ~AST_STOP;
	if (l->ast & AST_STOP) {
		l->state = LWP_ST_STOP;
		__atomic_store_n(&l->sc->state, SC_STOPPED, __ATOMIC_RELEASE);
		if (l->watched)
			upcall_blocks(l);
	} else {
		lwp_runnable(l, PLACE_ANY);
	}
	spin_unlock(&l->lock, s);
}

struct lwp *kernel_lwp(const char *name, void (*fn)(void *), void *arg)
{
	struct lwp *l = lwp_alloc();
	if (l == NULL)
		return NULL;
	l->proc = NULL;
	l->id = 0;
	l->kfn = fn;
	l->karg = arg;
	l->wchan = name;
	sched_inherit(l, NULL, false);
	l->sclass = &sys_class;
	l->sclass->set(l, NULL, true);
	irqstate_t s = spin_lock(&l->lock);
	lwp_runnable(l, PLACE_ANY);
	spin_unlock(&l->lock, s);
	return l;
}

/* --- ASTs -------------------------------------------------------------------------------- */

/* l->lock held.  The target sees the AST before its next user instruction.  A target on a CPU
 * sees it by the interrupt; another target when it is next switched in. */
void lwp_post_ast_locked(struct lwp *l, uint32_t ast)
{
	__atomic_fetch_or(&l->ast, ast, __ATOMIC_SEQ_CST);
	if (l->state == LWP_ST_STOP && (ast & AST_EXIT))
		lwp_runnable(l, PLACE_ANY);
	else if (ast & (AST_EXIT | AST_SIG))
		lwp_wake_locked(l, WAKE_INTR,
				SLEEP_INTR | (ast & AST_EXIT ? SLEEP_KILL : SLEEP_SIG), PLACE_ANY);
	/* The state may change from RUN to ONPROC without l->lock.  In that case l still has to
	 * pass user_return_work, or it has passed it just before and gets the interrupt. */
	struct cpu *c = cpus[l->cpu];
	if ((l->state == LWP_ST_ONPROC || l->state == LWP_ST_RUN) && l != curlwp())
		timing_kick(c);
}

void lwp_post_ast(struct lwp *l, uint32_t ast)
{
	irqstate_t s = spin_lock(&l->lock);
	lwp_post_ast_locked(l, ast);
	spin_unlock(&l->lock, s);
}

void lwp_clear_stop_locked(struct lwp *l, uint32_t ast)
{
	uint32_t left = __atomic_and_fetch(&l->ast, ~ast, __ATOMIC_SEQ_CST);
	if (l->state == LWP_ST_STOP && !(left & AST_STOPS))
		lwp_runnable(l, PLACE_ANY);
}

void lwp_clear_stop(struct lwp *l, uint32_t ast)
{
	irqstate_t s = spin_lock(&l->lock);
	lwp_clear_stop_locked(l, ast);
	spin_unlock(&l->lock, s);
}

/* --- exit and wait -------------------------------------------------------------------------- */

void lwp_exit_self(void)
{
	struct lwp *l = curlwp();
	struct proc *p = l->proc;

	trace_lwp_exit();
	robust_lwp_exit(l);
	inherit_exit(l);
	kobj_lwp_exit(l);
	itimer_lwp_exit(p, l);
	irqstate_t s = spin_lock(&p->lock);
	if (p->nlwp == 1) {
		/* No other LWP is left that could create one. */
		spin_unlock(&p->lock, s);
		proc_last_exit(p);
	}
	/* The CPU keeps the address space.  Its next LWP is mostly of the same process, and two
	 * loads of CR3 for each LWP would empty the TLB twice.  The last LWP of the process removes
	 * the address space from all CPUs (tlb_evict). */
	uint64_t mask = sig_mask(l);
	schedctl_detach(p, l);
	proc_account_dead(p, l);
	list_remove(&l->proc_link);
	p->nlwp--;
	sig_lwp_exit(p, l, mask);
	upcall_lwp_exit(p, l);
	bool joinable = !(l->flags & LWP_DETACHED) && !p->exiting;
	uint32_t id = l->id;
	PROBE(lwp_exit, "lwp", l, 0, 0);
	waitq_wake_all(&p->lwp_waiters); /* the waiters continue when p->lock is free */
	spin_acquire(&l->lock);
	l->state = LWP_ST_ZOMB;
	if (joinable) {
		list_push_back(&p->zombies, &l->proc_link);
		l->then = THEN_KSTACK;
	} else {
		l->then = THEN_FREE;
		l->proc = NULL;
		id_give_back(p, id);
	}
	/* A waiter that finds l frees it only with l->lock, which is released when l is off the
	 * CPU. */
	spin_release(&p->lock);
	sched_switch(MS_SLEEP);
	panic("an exited LWP runs");
}

void lwp_free_zombie(struct proc *p, struct lwp *l)
{
	spin_acquire(&l->lock);
	assert(l->state == LWP_ST_ZOMB);
	l->proc = NULL;
	spin_release(&l->lock);
	id_give_back(p, l->id);
	kcache_free(lwp_cache, l);
}

/* The LWP with this id, which may have exited; NULL: there is none.  p->lock held. */
static struct lwp *lwp_by_id(struct proc *p, uint32_t id)
{
	struct lwp *l = lwp_lock_by_id(p, id);
	if (l != NULL)
		spin_release(&l->lock);
	return l;
}

/* Does p have another LWP that lwp_wait could wait for?  p->lock held. */
static bool others_joinable(struct proc *p)
{
	LIST_FOREACH (&p->lwps, l, struct lwp, proc_link)
		if (l != curlwp() && !(l->flags & LWP_DETACHED))
			return true;
	return false;
}

int64_t lwp_wait(uint32_t id)
{
	struct proc *p = curproc();
	int64_t r = 0;

	irqstate_t s = spin_lock(&p->lock);
	for (;;) {
		struct lwp *l = NULL;
		if (id != 0) {
			l = lwp_by_id(p, id);
			if (l == NULL)
				r = -ESRCH;
			else if (l == curlwp())
				r = -EDEADLK;
			else if (l->flags & LWP_DETACHED)
				r = -EINVAL;
			else if (l->state != LWP_ST_ZOMB)
				l = NULL;
		} else if (!list_empty(&p->zombies)) {
			l = LIST_FIRST(&p->zombies, struct lwp, proc_link);
		} else if (!others_joinable(p)) {
			r = -EDEADLK;
		}
		if (r < 0)
			break;
		if (l != NULL) {
			r = l->id;
			list_remove(&l->proc_link);
			lwp_free_zombie(p, l);
			break;
		}
		r = waitq_sleep(&p->lwp_waiters, &p->lock, HRTIME_NEVER, SLEEP_INTR);
		if (r < 0)
			break;
	}
	spin_unlock(&p->lock, s);
	return r;
}
