/*
 * inherit.c - mutexes in user memory whose owner inherits the priorities of the waiters
 * (LWP_MUTEX_INHERIT in weft/ksync.h), and the priorities that LWPs inherit.
 *
 * While LWPs sleep for such a mutex there is a struct imutex for it.  It has the sleepers in order
 * of priority, and the owner's LWP.  An LWP inherits the highest priority among the first sleepers
 * of all mutexes that it owns, and its ceiling (lwp_ceiling).  The dispatcher uses the inherited
 * priority wherever it is higher than the LWP's own (sched_inherit_pri).
 *
 * If the owner itself sleeps for such a mutex, it moves up among the sleepers there, and so on
 * along the chain (lwp_pri_recompute).  The chain is also followed when a priority falls: when a
 * mutex is released, a sleeper times out, or a sleeper is told to exit.
 *
 * A mutex is handed over: its owner makes the first sleeper the new owner, also in the word.  So
 * there is no moment in which a mutex has sleepers and no owner that inherits from them.
 *
 * pi_lock guards all of this, for all processes, because sleepers and owners are one graph: a chain
 * leads from mutex to mutex and from process to process.  It is acquired only when an LWP must
 * sleep for such a mutex, or has a mutex that others sleep for.  It is one of the locks of objects.
 * Lock order: proc_tree_lock and p->lock (only to look up an owner of another process), pi_lock,
 * l->lock.
 */
#include <kern/cache.h>
#include <kern/cpu.h>
#include <kern/ksync.h>
#include <kern/printk.h>
#include <kern/probe.h>
#include <kern/proc.h>
#include <kern/sched.h>
#include <kern/space.h>
#include <kern/syscall.h>
#include <kern/usercopy.h>
#include <kern/userkey.h>
#include <weft/errno.h>
#include "inherit.h"

#define CHAIN_MAX 1024 /* links of a chain that are followed; LWPs behind keep their priority */

struct imutex {
	struct tree_node node;  /* in `contended` */
	struct user_key key;    /* held by each sleeper */
	struct tree sleepers;   /* struct isleeper, by priority, then by arrival; not empty */
	struct lwp *owner;      /* NULL: no owner that could inherit */
	struct list owner_link; /* in owner->pi_mutexes */
};

struct isleeper {
	struct tree_node node;
	struct imutex *m;
	struct lwp *lwp;
	uint64_t me; /* its number as an owner, as in the word */
	int pri;     /* of the LWP, with what it inherits */
	bool chosen; /* it has the mutex, or will never get it; it is out of the tree */
	int result;
};

static struct spinlock pi_lock = SPINLOCK_INIT("priority inheritance");
static struct tree contended; /* struct imutex, by key */
static struct kcache *cache;

void inherit_init(void)
{
	cache = kcache_create("inheriting mutex", sizeof(struct imutex), 8, KC_USER, NULL);
	if (cache == NULL)
		panic("no memory for the cache of inheriting mutexes");
}

static struct imutex *imutex_of(const struct tree_node *n)
{
	return CONTAINER_OF(n, struct imutex, node);
}

static struct isleeper *isleeper_of(const struct tree_node *n)
{
	return CONTAINER_OF(n, struct isleeper, node);
}

static int imutex_cmp(const struct tree_node *a, const struct tree_node *b)
{
	return user_key_cmp(&imutex_of(a)->key, &imutex_of(b)->key);
}

static int sleeper_cmp(const struct tree_node *a, const struct tree_node *b)
{
	return isleeper_of(b)->pri - isleeper_of(a)->pri;
}

static struct imutex *imutex_find(const struct user_key *key)
{
	struct tree_node *n = contended.root;

	while (n != NULL) {
		int c = user_key_cmp(key, &imutex_of(n)->key);
		if (c == 0)
			return imutex_of(n);
		n = n->child[c > 0];
	}
	return NULL;
}

static struct isleeper *imutex_first(const struct imutex *m)
{
	return isleeper_of(tree_first(&m->sleepers));
}

/* --- which priority an LWP inherits ------------------------------------------------------ */

/*
 * l sleeps for such a mutex, owns one, or has a ceiling: from now on its fields are valid.  False:
 * l has exited.  An LWP that never takes part exits without pi_lock.  pi_lock held.
 *
 * *Race:* l exits, another LWP makes it an owner; *without this:* a dead LWP inherits; *closed by:*
 * both change l->inherit atomically.  Either this function finds EXITED, or the exiting LWP finds
 * JOINED, and waits for pi_lock to take itself out.
 */
static bool inherit_join(struct lwp *l)
{
	uint8_t was = INHERIT_APART;

	if (!__atomic_compare_exchange_n(&l->inherit, &was, INHERIT_JOINED, false, __ATOMIC_SEQ_CST,
					 __ATOMIC_SEQ_CST))
		return was == INHERIT_JOINED;
	l->ceiling = 0;
	list_init(&l->pi_mutexes);
	l->pi_blocked_on = NULL;
	return true;
}

/* What l inherits may have changed: computes it again, and follows the chain.  pi_lock held. */
static void lwp_pri_recompute(struct lwp *l)
{
	for (unsigned links = 0; l != NULL && links < CHAIN_MAX; links++) {
		int inherited = l->ceiling;
		LIST_FOREACH (&l->pi_mutexes, m, struct imutex, owner_link)
			inherited = MAX(inherited, imutex_first(m)->pri);
		if (inherited == l->inherited)
			return;
		int pri = sched_inherit_pri(l, inherited);
		struct isleeper *w = l->pi_blocked_on;
		if (w == NULL || w->pri == pri)
			return;
		tree_remove(&w->m->sleepers, &w->node);
		w->pri = pri;
		tree_insert(&w->m->sleepers, &w->node, sleeper_cmp);
		l = w->m->owner;
	}
}

/* Makes l the owner of m.  l inherits from the sleepers.  NULL: no owner.  pi_lock held. */
static void set_owner(struct imutex *m, struct lwp *l)
{
	struct lwp *was = m->owner;

	if (was != NULL)
		list_remove(&m->owner_link);
	m->owner = l;
	if (l != NULL)
		list_push_back(&l->pi_mutexes, &m->owner_link);
	lwp_pri_recompute(was);
	lwp_pri_recompute(l);
}

/* Takes w out.  If it is the last sleeper of its mutex, the struct imutex is freed.  pi_lock
 * held. */
static void isleeper_leave(struct isleeper *w)
{
	struct imutex *m = w->m;

	tree_remove(&m->sleepers, &w->node);
	w->lwp->pi_blocked_on = NULL;
	if (tree_first(&m->sleepers) != NULL) {
		lwp_pri_recompute(m->owner);
		return;
	}
	tree_remove(&contended, &m->node);
	struct lwp *owner = m->owner;
	if (owner != NULL)
		list_remove(&m->owner_link);
	kcache_free(cache, m);
	lwp_pri_recompute(owner);
}

void inherit_pri_changed(struct lwp *l)
{
	if (__atomic_load_n(&l->inherit, __ATOMIC_RELAXED) != INHERIT_JOINED)
		return;
	irqstate_t s = spin_lock(&pi_lock);
	struct isleeper *w = l->pi_blocked_on;
	if (w != NULL && w->pri != l->pri) {
		tree_remove(&w->m->sleepers, &w->node);
		w->pri = l->pri;
		tree_insert(&w->m->sleepers, &w->node, sleeper_cmp);
		lwp_pri_recompute(w->m->owner);
	}
	spin_unlock(&pi_lock, s);
}

static void imutex_disown(struct lwp *l)
{
	irqstate_t s = spin_lock(&pi_lock);
	while (!list_empty(&l->pi_mutexes)) {
		struct imutex *m = LIST_FIRST(&l->pi_mutexes, struct imutex, owner_link);
		list_remove(&m->owner_link);
		m->owner = NULL;
	}
	l->ceiling = 0;
	lwp_pri_recompute(l);
	spin_unlock(&pi_lock, s);
}

void inherit_exit(struct lwp *l)
{
	if (__atomic_exchange_n(&l->inherit, INHERIT_EXITED, __ATOMIC_SEQ_CST) == INHERIT_JOINED)
		imutex_disown(l);
}

void inherit_exec(struct lwp *l)
{
	if (__atomic_load_n(&l->inherit, __ATOMIC_RELAXED) == INHERIT_JOINED)
		imutex_disown(l);
}

/*
 * lwp_ceiling(ceiling, limit): from now on the caller runs at no less than real-time priority
 * `ceiling` (0 to 59; -1: its own), unless its own is real-time and above `limit` (-1: none).  For
 * mutexes with a ceiling: the library knows which of them the caller holds.  Does not block.
 * EINVAL: one of the two is no such priority; EINVAL: its own is above the limit, and nothing
 * changes.
 */
int64_t sys_lwp_ceiling(const uint64_t arg[6])
{
	int ceiling = (int)arg[0], limit = (int)arg[1];
	struct lwp *l = curlwp();

	if (ceiling < -1 || ceiling >= RT_LEVELS || limit < -1 || limit >= RT_LEVELS)
		return -EINVAL;
	if (limit >= 0 && l->own_pri > PRI_RT + limit)
		return -EINVAL;
	irqstate_t s = spin_lock(&pi_lock);
	inherit_join(l);
	l->ceiling = ceiling < 0 ? 0 : PRI_RT + ceiling;
	lwp_pri_recompute(l);
	spin_unlock(&pi_lock, s);
	return 0;
}

/* --- locks that are held together ------------------------------------------------------- */

struct held {
	irqstate_t s;
	int pid;            /* of another process whose LWPs may be looked up; 0: none */
	struct proc *other; /* that process, if it exists */
};

/* Acquires pi_lock.  If pid is another process, first acquires the locks that are needed to look up
 * its LWPs. */
static void held_lock(struct held *h, int pid)
{
	h->pid = pid;
	h->other = NULL;
	if (pid == 0 || pid == curproc()->pid) {
		h->s = spin_lock(&pi_lock);
		return;
	}
	h->s = spin_lock(&proc_tree_lock);
	h->other = proc_find(pid);
	if (h->other != NULL)
		spin_acquire(&h->other->lock);
	else
		spin_release(&proc_tree_lock);
	spin_acquire(&pi_lock);
}

/* Releases all locks except pi_lock. */
static void forget_other(struct held *h)
{
	if (h->other != NULL) {
		spin_release(&h->other->lock);
		spin_release(&proc_tree_lock);
	}
	h->other = NULL;
}

static void held_unlock(struct held *h)
{
	forget_other(h);
	spin_unlock(&pi_lock, h->s);
}

/* Brings in the page of the word, which is missing.  No lock is held.  0, -EFAULT, -ENOMEM. */
static int imutex_fault(const struct uobject *m)
{
	int err = as_fault(curproc()->as, m->addr, FAULT_WRITE);
	return err == 0 || err == -ENOMEM ? err : -EFAULT;
}

static int pid_of(uint64_t word)
{
	return (word & LWP_MUTEX_OWNER) >> 40;
}

/*
 * The LWP that the word names as its owner.  NULL: the LWP has exited, or the number is no LWP's.
 * -EAGAIN: the owner is of another process, and h is not locked for this process.
 */
static int owner_lwp(const struct held *h, uint64_t word, struct lwp **owner)
{
	struct proc *p = pid_of(word) == curproc()->pid ? curproc() : h->other;
	uint32_t number = (word & LWP_MUTEX_OWNER) >> 8;

	*owner = NULL;
	if (p != curproc() && h->pid != pid_of(word))
		return -EAGAIN;
	if (p == NULL || (number & LWP_OWNER_THREAD))
		return 0;
	struct lwp *l = lwp_lock_by_id(p, number);
	if (l == NULL)
		return 0;
	if (inherit_join(l))
		*owner = l;
	spin_release(&l->lock);
	return 0;
}

/* --- acquiring --------------------------------------------------------------------------- */

/*
 * Acquires the mutex if it is free.  Otherwise, with mark, makes sure that WAITERS is set.  Results
 * as of lwp_mutex_lock; -EBUSY, and *seen: the word.
 */
static int imutex_take(const struct uobject *m, uint64_t me, bool mark, uint64_t *seen)
{
	int err = user_load64(seen, m->addr);

	while (err >= 0) {
		uint64_t want = *seen | LWP_MUTEX_WAITERS;
		int r = -EBUSY;
		if (*seen & LWP_MUTEX_NOTRECOVERABLE)
			return -ENOTRECOVERABLE;
		if (!(*seen & LWP_MUTEX_OWNER)) {
			want = *seen | me;
			r = *seen & LWP_MUTEX_OWNERDEAD ? -EOWNERDEAD : 0;
		} else if ((*seen & LWP_MUTEX_OWNER) == me && (*seen & LWP_MUTEX_ERRORCHECK)) {
			return -EDEADLK;
		} else if (!mark || (*seen & LWP_MUTEX_WAITERS)) {
			return r;
		}
		err = user_cas64(m->addr, seen, want);
		if (err == 0)
			return r;
	}
	return err;
}

/* The current LWP becomes a sleeper of the mutex.  -EAGAIN: as owner_lwp. */
static int imutex_enter(struct uobject *m, struct held *h, uint64_t word, struct imutex **fresh,
			struct isleeper *w)
{
	struct imutex *im = imutex_find(&m->key);

	if (im == NULL) {
		struct lwp *owner;
		int err = owner_lwp(h, word, &owner);
		if (err != 0)
			return err;
		im = *fresh;
		*fresh = NULL;
		*im = (struct imutex){.key = m->key, .owner = owner};
		tree_insert(&contended, &im->node, imutex_cmp);
		if (owner != NULL)
			list_push_back(&owner->pi_mutexes, &im->owner_link);
	}
	struct lwp *l = curlwp();
	inherit_join(l);
	w->m = im;
	w->lwp = l;
	w->pri = l->pri;
	tree_insert(&im->sleepers, &w->node, sleeper_cmp);
	l->pi_blocked_on = w;
	lwp_pri_recompute(im->owner);
	return 0;
}

/* Sleeps until w is chosen, and returns the result of w.  -ETIMEDOUT, -EINTR: w was not chosen, and
 * is no longer a sleeper. */
static int isleeper_sleep(struct uobject *m, struct isleeper *w, hrtime_t deadline)
{
	struct lwp *l = curlwp();

	spin_acquire(&l->lock);
	int reason = lwp_sleep_locked(l, &pi_lock, "lwp_mutex", SLEEP_INTR | SLEEP_LOCK, deadline);
	spin_acquire(&pi_lock);
	if (w->chosen)
		return w->result;
	bool last = tree_first(&w->m->sleepers) == tree_last(&w->m->sleepers);
	isleeper_leave(w);
	/* If the page is missing, WAITERS stays set, which does no harm. */
	uint64_t seen;
	if (last && user_load64(&seen, m->addr) == 0)
		while ((seen & LWP_MUTEX_WAITERS) &&
		       user_cas64(m->addr, &seen, seen & ~LWP_MUTEX_WAITERS) == 1)
			;
	return reason == WAKE_TIMEOUT ? -ETIMEDOUT : -EINTR;
}

int imutex_lock(struct uobject *m, uint64_t me, hrtime_t deadline, bool wait)
{
	struct imutex *fresh = wait ? kcache_alloc(cache) : NULL;
	struct isleeper w = {.me = me};
	struct held h;
	int pid = 0, err;

	if (wait && fresh == NULL)
		return -ENOMEM;
	for (;;) {
		uint64_t seen;
		held_lock(&h, pid);
		err = imutex_take(m, me, wait, &seen);
		if (err == -EBUSY && wait) {
			err = imutex_enter(m, &h, seen, &fresh, &w);
			if (err == 0) {
				PROBE(object_wait, "object", m->addr, 0, 0);
				break;
			}
			pid = pid_of(seen);
			held_unlock(&h);
			continue;
		}
		held_unlock(&h);
		if (err != -EFAULT)
			goto out;
		err = imutex_fault(m);
		if (err != 0)
			goto out;
	}
	forget_other(&h);
	err = isleeper_sleep(m, &w, deadline);
	held_unlock(&h);
	/* *Race:* this LWP gets the mutex, and is told to exit; *without this:* the mutex has an
	 * owner that never returns to user mode; *closed by:* this release. */
	if ((err == 0 || err == -EOWNERDEAD) && w.chosen && (curlwp()->ast & AST_EXIT)) {
		imutex_unlock(m, LWP_MUTEX_OWNER, me, err == -EOWNERDEAD);
		err = -EINTR;
	}
out:
	if (fresh != NULL)
		kcache_free(cache, fresh);
	return err;
}

/* --- releasing ----------------------------------------------------------------------------- */

/* Wakes w with this result.  w owns its mutex if the result says so. */
static void isleeper_choose(struct isleeper *w, int result)
{
	struct lwp *l = w->lwp;

	w->chosen = true;
	w->result = result;
	lwp_wake(l, WAKE_EVENT);
}

/*
 * The word names the first sleeper as the owner.  Takes this sleeper out; from now on it inherits
 * from the other sleepers.  With the last sleeper the struct imutex is freed.
 */
static void imutex_hand_over(struct imutex *m, bool more, int result)
{
	struct isleeper *w = imutex_first(m);
	bool lwp = !((w->me >> 8) & LWP_OWNER_THREAD);

	if (more) {
		tree_remove(&m->sleepers, &w->node);
		w->lwp->pi_blocked_on = NULL;
		set_owner(m, lwp ? w->lwp : NULL);
	} else {
		isleeper_leave(w);
	}
	isleeper_choose(w, result);
}

int imutex_unlock(struct uobject *m, uint64_t mask, uint64_t owner, bool died)
{
	struct held h;
	int err;

	for (;;) {
		uint64_t seen;
		held_lock(&h, 0);
		err = user_load64(&seen, m->addr);
		while (err >= 0) {
			struct imutex *im = imutex_find(&m->key);
			struct tree_node *w = im != NULL ? tree_first(&im->sleepers) : NULL;
			bool more = w != NULL && w != tree_last(&im->sleepers);
			uint64_t want = seen & LWP_MUTEX_KIND;
			if ((seen & mask) != owner || (died && !(seen & LWP_MUTEX_ROBUST))) {
				err = -EPERM;
				break;
			}
			bool lost = !died && (seen & LWP_MUTEX_OWNERDEAD);
			if (lost)
				want |= LWP_MUTEX_NOTRECOVERABLE;
			else if (w != NULL)
				want |= isleeper_of(w)->me | (more ? LWP_MUTEX_WAITERS : 0);
			if (died)
				want |= LWP_MUTEX_OWNERDEAD;
			err = user_cas64(m->addr, &seen, want);
			if (err != 0)
				continue;
			if (im != NULL && !lost)
				imutex_hand_over(im, more, died ? -EOWNERDEAD : 0);
			for (; lost && im != NULL; im = imutex_find(&m->key)) {
				struct isleeper *next = imutex_first(im);
				isleeper_leave(next);
				isleeper_choose(next, -ENOTRECOVERABLE);
			}
			break;
		}
		held_unlock(&h);
		if (err != -EFAULT)
			return err;
		err = imutex_fault(m);
		if (err != 0)
			return err;
	}
}
