/* usleep.c - queues of LWPs that sleep for locks in user memory (usleep.h). */
#include <kern/cpu.h>
#include <kern/printk.h>
#include <kern/probe.h>
#include <kern/proc.h>
#include <kern/sched.h>
#include <kern/space.h>
#include <kern/userkey.h>
#include <weft/errno.h>
#include "usleep.h"

#define BUCKET_BITS 10
static struct ubucket buckets[1 << BUCKET_BITS];

static struct ubucket *ubucket_of(const struct user_key *key)
{
	uint64_t h =
		((uint64_t)key->object ^ key->offset * 0x9e3779b97f4a7c15u) * 0x9e3779b97f4a7c15u;
	return &buckets[h >> (64 - BUCKET_BITS)];
}

void usleep_init(void)
{
	for (unsigned i = 0; i < ARRAY_LEN(buckets); i++)
		spin_init(&buckets[i].lock, "user lock queue");
}

int uobject_get(struct uobject *o, vaddr_t addr, bool shared)
{
	o->addr = addr;
	int err = user_key_get(&o->key, addr, shared);
	if (err == 0)
		o->bucket = ubucket_of(&o->key);
	return err;
}

void uobject_put(struct uobject *o)
{
	user_key_put(&o->key);
}

int user_key_cmp(const struct user_key *a, const struct user_key *b)
{
	if (a->object != b->object)
		return a->object < b->object ? -1 : 1;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return 0;
}

static struct uwaiter *uwaiter_of(const struct tree_node *n)
{
	return CONTAINER_OF(n, struct uwaiter, node);
}

static int waiter_cmp(const struct tree_node *a, const struct tree_node *b)
{
	const struct uwaiter *x = uwaiter_of(a), *y = uwaiter_of(b);
	int c = user_key_cmp(x->key, y->key);
	if (c == 0)
		c = y->pri - x->pri;
	return c != 0 || x->pri < PRI_RT ? c : y->writes - x->writes;
}

static void uwaiter_enter(struct uobject *o, struct uwaiter *w, bool writes)
{
	struct lwp *l = curlwp();

	*w = (struct uwaiter){.key = &o->key,
			      .lwp = l,
			      .pri = l->pri,
			      .arrival = ++o->bucket->arrivals,
			      .writes = writes};
	tree_insert(&o->bucket->waiters, &w->node, waiter_cmp);
}

void uwait_enter(struct uobject *o, struct uwaiter *w)
{
	uwaiter_enter(o, w, false);
}

void uwait_enter_to_write(struct uobject *o, struct uwaiter *w)
{
	uwaiter_enter(o, w, true);
}

void uwait_leave(struct uobject *o, struct uwaiter *w)
{
	if (!w->chosen)
		tree_remove(&o->bucket->waiters, &w->node);
}

/* Does another waiter for the same lock come after w? */
static bool has_next(const struct uwaiter *w)
{
	const struct tree_node *n = tree_next(&w->node);
	return n != NULL && user_key_cmp(w->key, uwaiter_of(n)->key) == 0;
}

struct uwaiter *uwait_first(const struct uobject *o, bool *more)
{
	struct tree_node *n = o->bucket->waiters.root;
	struct uwaiter *first = NULL;

	while (n != NULL) {
		int c = user_key_cmp(&o->key, uwaiter_of(n)->key);
		if (c == 0)
			first = uwaiter_of(n);
		n = n->child[c > 0];
	}
	*more = first != NULL && has_next(first);
	return first;
}

struct uwaiter *uwait_next(const struct uobject *o, struct uwaiter *w, bool *more)
{
	w = uwaiter_of(tree_next(&w->node));
	*more = has_next(w);
	return w;
}

void uwait_choose(struct uobject *o, struct uwaiter *w)
{
	tree_remove(&o->bucket->waiters, &w->node);
	w->chosen = true;
}

void uwait_wake(struct uwaiter *w)
{
	lwp_wake(w->lwp, WAKE_EVENT);
}

bool uwait_choose_some(struct uobject *o, uint64_t last, struct uwaiter *list[], unsigned *n)
{
	bool more;

	*n = 0;
	struct uwaiter *w = uwait_first(o, &more);
	while (w != NULL && *n < UWAIT_SOME) {
		struct uwaiter *next = more ? uwait_next(o, w, &more) : NULL;
		/* A waiter that arrived after `last` is skipped; it is only ahead in the tree
		 * because of its priority. */
		if (w->arrival <= last) {
			uwait_choose(o, w);
			list[(*n)++] = w;
		}
		w = next;
	}
	return w != NULL;
}

void uwait_pass_on(struct uobject *o)
{
	bool more;
	struct uwaiter *w = uwait_first(o, &more);

	if (w != NULL) {
		uwait_choose(o, w);
		uwait_wake(w);
	}
}

int uwait_sleep(struct uobject *o, struct uwaiter *w, const char *wchan, hrtime_t deadline)
{
	struct lwp *l = curlwp();
	int reason = WAKE_EVENT;

	if (!w->chosen) {
		PROBE(object_wait, "object wchan", o->addr, wchan, 0);
		spin_acquire(&l->lock);
		reason = lwp_sleep_locked(l, &o->bucket->lock, wchan, SLEEP_INTR | SLEEP_LOCK,
					  deadline);
		spin_acquire(&o->bucket->lock);
	}
	if (w->chosen)
		return 0;
	assert(reason != WAKE_EVENT);
	uwait_leave(o, w);
	return reason == WAKE_TIMEOUT ? -ETIMEDOUT : -EINTR;
}

int uobject_fault(struct uobject *o, irqstate_t *s)
{
	spin_unlock(&o->bucket->lock, *s);
	int err = as_fault(curproc()->as, o->addr, FAULT_WRITE);
	*s = spin_lock(&o->bucket->lock);
	return err == 0 || err == -ENOMEM ? err : -EFAULT;
}
