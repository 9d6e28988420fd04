/*
 * robust.c - which robust mutexes may a process own when it dies?
 *
 * The kernel keeps, for each process, the addresses that it has registered
 * (lwp_mutex_register): a mutex must be registered before it is taken, once, and may then be
 * taken and given up in user mode as often as one likes.  At the end each word on record is
 * read: if it names the process as the owner, the mutex is handed on.  So nothing is lost
 * between taking a mutex and noting it, and nothing that a broken or malicious program
 * leaves in its memory leads the kernel anywhere: it only ever looks at the addresses on its
 * own record, of which there are at most LWP_MUTEX_REGISTERED_MAX, and what it may do to a
 * word there the program could have done itself.
 *
 * The record is a tree in order of addresses, guarded by p->lock.
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

/* The first at or above addr, or NULL.  p->lock held. */
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
 * lwp_mutex_register(m): the process may own m, a robust mutex, when it dies, and the calling
 * LWP when it exits.  Once for each process (and, if it takes mutexes under its own id, LWP);
 * again does no harm.  Good for the address, whatever is mapped there by then.  Does not
 * block.
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

/* Hands on what `owner` of the current process has. */
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
 * lwp_mutex_abandon(owner): the holder of this number has ended: the registered robust mutexes
 * that it owns are handed on as if it had died.  For a threads library, some of whose threads
 * end while their LWPs live on.
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

	/* Nobody else is left who could register. */
	while ((n = tree_first(&p->robust)) != NULL) {
		struct registered *r = registered_of(n);
		tree_remove(&p->robust, n);
		p->nrobust--;
		umutex_owner_died(r->addr, mask, lwp_mutex_owner(p->pid, 0));
		kcache_free(cache, r);
		preempt_point();
	}
}
