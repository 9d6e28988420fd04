/*
 * robust.c - which robust mutexes may a process own when it dies?
 *
 * For each process the kernel keeps the addresses that the process has registered
 * (lwp_mutex_register).  A mutex must be registered once, before it is acquired.  It may then be
 * acquired and released in user mode any number of times.  When the process dies, the kernel reads
 * each registered word.  If the word names the process as the owner, the mutex is marked OWNERDEAD,
 * and the first waiter is woken.
 *
 * So a process may die at any moment after the acquisition, and the mutex is found.  A broken or
 * malicious program cannot mislead the kernel by the contents of its memory.  The kernel looks only
 * at the registered addresses, at most LWP_MUTEX_REGISTERED_MAX of them.  It does nothing to a word
 * there that the program could not have done itself.
 *
 * The addresses are a tree in order of address, guarded by p->lock.
 */
#include <kern/cache.h>
#include <kern/cpu.h>
#include <kern/ksync.h>
#include <kern/printk.h>
#include <kern/proc.h>
#include <kern/sched.h>
#include <kern/syscall.h>
#include <kern/usercopy.h>
#include "kobj.h"
#include "usleep.h"

struct registered {
	struct tree_node node; /* in proc->robust */
	vaddr_t addr;
};
static struct kcache *cache;

void ksync_init(void)
{
	usleep_init();
	inherit_init();
	kobj_init();
	cache = kcache_create("robust mutex", sizeof(struct registered), 8, KC_USER, NULL);
	if (cache == NULL)
		panic("no memory for the cache of robust mutexes");
}

static struct registered *registered_of(struct tree_node *n)
{
	return CONTAINER_OF(n, struct registered, node);
}

static int registered_compare(const struct tree_node *a, const struct tree_node *b)
{
	vaddr_t x = CONTAINER_OF(a, struct registered, node)->addr;
	vaddr_t y = CONTAINER_OF(b, struct registered, node)->addr;
	return x < y ? -1 : x > y;
}

/* The first registered mutex at or above addr, or NULL.  p->lock held. */
static struct registered *registered_from(struct proc *p, vaddr_t addr)
{
	struct registered *best = NULL;

	for (struct tree_node *n = p->robust.root; n != NULL;) {
		bool low = registered_of(n)->addr < addr;
		if (!low)
			best = registered_of(n);
		n = n->child[low];
	}
	return best;
}

/*
 * lwp_mutex_register(m): the process may own m, a robust mutex, when it dies, and the calling LWP
 * may own it when it exits.  Call it once for each process, and once for each LWP that acquires
 * mutexes under its own id; a second call does no harm.  The address stays registered, whatever is
 * mapped there later.  Does not block.
 * EINVAL: misaligned, or not ROBUST; EFAULT: m cannot be read; EAGAIN:
 * LWP_MUTEX_REGISTERED_MAX are registered; ENOMEM: no memory.
 */
int64_t sys_lwp_mutex_register(const uint64_t arg[6])
{
	struct proc *p = curproc();
	uint64_t word;
	int err = 0;

	if (arg[0] % sizeof(word) != 0)
		return -EINVAL;
	if (copyin(&word, arg[0], sizeof(word)) != 0)
		return -EFAULT;
	if (!(word & LWP_MUTEX_ROBUST))
		return -EINVAL;
	struct registered *fresh = kcache_alloc(cache);
	irqstate_t s = spin_lock(&p->lock);
	struct registered *r = registered_from(p, arg[0]);
	if (r == NULL || r->addr != arg[0]) {
		if (p->nrobust == LWP_MUTEX_REGISTERED_MAX) {
			err = -EAGAIN;
		} else if (fresh == NULL) {
			err = -ENOMEM;
		} else {
			fresh->addr = arg[0];
			tree_insert(&p->robust, &fresh->node, registered_compare);
			p->nrobust++;
			fresh = NULL;
		}
	}
	spin_unlock(&p->lock, s);
	if (fresh != NULL)
		kcache_free(cache, fresh);
	if (err == 0)
		curlwp()->robust = true;
	return err;
}

/*
 * lwp_mutex_unregister(m): the process will not own m any more.
 * ESRCH: it is not registered.
 */
int64_t sys_lwp_mutex_unregister(const uint64_t arg[6])
{
	struct proc *p = curproc();

	irqstate_t s = spin_lock(&p->lock);
	struct registered *r = registered_from(p, arg[0]);
	if (r != NULL && r->addr != arg[0])
		r = NULL;
	if (r != NULL) {
		tree_remove(&p->robust, &r->node);
		p->nrobust--;
	}
	spin_unlock(&p->lock, s);
	if (r == NULL)
		return -ESRCH;
	kcache_free(cache, r);
	return 0;
}

/* Hands on the registered mutexes that `owner`, of the current process, owns. */
static void owner_died(uint64_t owner)
{
	struct proc *p = curproc();

	for (vaddr_t next = 0;; next++) {
		irqstate_t s = spin_lock(&p->lock);
		struct registered *r = registered_from(p, next);
		if (r != NULL)
			next = r->addr;
		spin_unlock(&p->lock, s);
		if (r == NULL)
			break;
		umutex_owner_died(next, LWP_MUTEX_OWNER, owner);
		preempt_point();
	}
}

/*
 * lwp_mutex_abandon(owner): the owner with this number has ended.  The registered robust mutexes
 * that it owns are handed on as if it had died.  This is for a threads library, because a thread
 * may end while its LWP goes on.
 */
int64_t sys_lwp_mutex_abandon(const uint64_t arg[6])
{
	owner_died(umutex_owner(arg[0]));
	return 0;
}

void robust_lwp_exit(struct lwp *l)
{
	if (l->robust)
		owner_died(umutex_owner(l->id));
	l->robust = false;
}

void robust_proc_exit(struct proc *p)
{
	/* The number does not matter. */
	const uint64_t mask = LWP_MUTEX_OWNER & ~lwp_mutex_owner(0, ~0u);
	struct tree_node *n;

	/* No other LWP is left that could register a mutex. */
	while ((n = tree_first(&p->robust)) != NULL) {
		struct registered *r = registered_of(n);
		tree_remove(&p->robust, n);
		p->nrobust--;
		umutex_owner_died(r->addr, mask, lwp_mutex_owner(p->pid, 0));
		kcache_free(cache, r);
		preempt_point();
	}
}
