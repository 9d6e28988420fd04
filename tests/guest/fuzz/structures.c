/*
 * structures.c - what the structures that calls read must have in them, beyond fields of the
 * right kind, for the calls to get anywhere.
 */
#include "fuzz.h"
#include <stddef.h>
#include <string.h>
#include <weft/kobj.h>
#include <weft/ksync.h>
#include <weft/lwp.h>
#include <weft/priocntl.h>
#include <weft/proc.h>
#include <weft/signal.h>
#include <weft/sys.h>

/* What a new LWP runs: it ends at once, and needs no stack for it. */
__attribute__((naked)) static void short_life(void)
{
	__asm__ volatile("movl %0, %%eax; syscall" ::"i"(SYS_lwp_exit));
}

__attribute__((naked)) void return_at_once(void)
{
	__asm__ volatile("movq %%rdx, %%rdi; movl %0, %%eax; syscall" ::"i"(SYS_sigreturn));
}

/* Short, mostly: the calls are to go on. */
static void fill_timespec(struct rng *r, void *at)
{
	const int64_t t[2] = {one_in(r, 64) ? (int64_t)wild(r) : 0,
			      one_in(r, 32) ? wild(r) : below(r, 200000)};
	memcpy(at, t, sizeof(t));
}

static void fill_itimerspec(struct rng *r, void *at)
{
	fill_timespec(r, at);
	if (one_in(r, 2))
		memset(at, 0, sizeof(struct weft_timespec)); /* once */
	fill_timespec(r, (char *)at + sizeof(struct weft_timespec));
}

static void fill_sigaction(struct rng *r, void *at)
{
	struct weft_sigaction *a = at;
	a->entry = one_in(r, 256) ? wild(r) : (uint64_t)return_at_once;
	a->handler = one_in(r, 8) ? below(r, 2) : a->entry;
}

static void fill_lwp(struct rng *r, void *at)
{
	struct lwp_create *c = at;
	c->entry = one_in(r, 1024) ? wild(r) : (uint64_t)short_life;
	c->fsbase = one_in(r, 8) ? wild(r) : 0;
}

static void fill_mutex(struct rng *r, void *at)
{
	static const uint64_t kinds[] = {0, LWP_MUTEX_ROBUST, LWP_MUTEX_ERRORCHECK,
					 LWP_MUTEX_SHARED, LWP_MUTEX_SHARED | LWP_MUTEX_ROBUST};
	((struct lwp_mutex *)at)->word = one_in(r, 8) ? wild(r) : ANY(r, kinds);
}

static void fill_cond(struct rng *r, void *at)
{
	((struct lwp_cond *)at)->word = one_in(r, 16) ? wild(r) : LWP_COND_SHARED * below(r, 2);
}

static void fill_sema(struct rng *r, void *at)
{
	struct lwp_sema *s = at;
	s->word = one_in(r, 16) ? wild(r) : below(r, 3);
	s->flags = one_in(r, 16) ? wild(r) : LWP_SEMA_SHARED * below(r, 2);
}

static void fill_rwlock(struct rng *r, void *at)
{
	((struct lwp_rwlock *)at)->word = one_in(r, 16) ? wild(r) : LWP_RWLOCK_SHARED * below(r, 2);
}

static void fill_barrier(struct rng *r, void *at)
{
	struct lwp_barrier *b = at;
	b->word = one_in(r, 16) ? wild(r) : 0;
	b->count = one_in(r, 16) ? wild(r) : 1 + below(r, 3);
	b->flags = one_in(r, 16) ? wild(r) : LWP_BARRIER_SHARED * below(r, 2);
}

static void fill_kobj(struct rng *r, void *at)
{
	struct kobj_create *c = at;
	c->initial = one_in(r, 16) ? wild(r) : below(r, 2);
	c->max = one_in(r, 16) ? wild(r) : 1 + below(r, 3);
	if (one_in(r, 2))
		c->name = 0;
	if (!one_in(r, 8))
		c->flags &= KOBJ_INHERIT | (c->kind == KOBJ_EVENT ? KOBJ_MANUAL_RESET : 0);
}

/* Its actions are behind it. */
static void fill_spawn(struct rng *r, void *at)
{
	struct spawn_args *a = at;
	struct spawn_action *act = (struct spawn_action *)(a + 1);

	a->envp = one_in(r, 8) ? a->envp : 0;
	a->pgroup = one_in(r, 2) ? 0 : __sys_getpgrp(0);
	a->nactions = one_in(r, 256) ? wild(r) : one_in(r, 2) ? below(r, 4) : 0;
	fill_parameters(r, PC_SETPARMS, &a->sched);
	if (!one_in(r, 64))
		a->actions = (uint64_t)act;
	for (unsigned i = 0; i < 4 && in_arena((char *)(act + i), sizeof(*act)); i++)
		act[i] = (struct spawn_action){.what = below(r, 6),
					       .fd = (int)below(r, 12) - 1,
					       .from = (int)below(r, 12) - 1,
					       .flags = one_in(r, 8) ? wild(r) : below(r, 3),
					       .mode = 0600,
					       .path = a->path};
}

/* What its fields alone do not make; the last stands for all others. */
static const struct special specials[] = {
	{"weft_timespec", 2, 0, fill_timespec},
	{"weft_itimerspec", 1, 0, fill_itimerspec},
	{"weft_sigaction", 1, 0, fill_sigaction},
	{"lwp_create", 1, 0, fill_lwp},
	{"lwp_mutex", 1, 1, fill_mutex},
	{"lwp_cond", 1, 2, fill_cond},
	{"lwp_sema", 1, 3, fill_sema},
	{"lwp_rwlock", 1, 4, fill_rwlock},
	{"lwp_barrier", 1, 5, fill_barrier},
	{"kobj_create", 1, 0, fill_kobj},
	{"spawn_args", 1, 0, fill_spawn},
	{"weft_pollfd", 6, 0, NULL},
	{"weft_iovec", 6, 0, NULL},
	{"", 1, 0, NULL},
};

const struct special *special(const char *name)
{
	const struct special *s = specials;

	while (*s->name != '\0' && strcmp(s->name, name) != 0)
		s++;
	return s;
}

void fill_parameters(struct rng *r, unsigned command, void *at)
{
	struct pcinfo *info = at;
	struct pcparms *p = at;
	struct pcnice *nice = at;
	struct pcadmin *admin = at;
	static const char *const names[] = {"TS", "RT", "NT", "SYS", "", "XX"};

	switch (command) {
	case PC_GETCID:
		strcpy(info->pc_clname, ANY(r, names));
		break;
	case PC_SETPARMS:
	case PC_GETPARMS:
		p->pc_cid = below(r, WEFT_NCLASS + 1) - 1;
		if (p->pc_cid == WEFT_CLASS_TS)
			p->ts = (struct tsparms){below(r, 130) - 65, below(r, 130) - 65};
		else if (p->pc_cid == WEFT_CLASS_RT) /* the harness is above */
			p->rt = (struct rtparms){below(r, RT_LEVELS - 1), 0,
						 one_in(r, 2) ? (int64_t)below(r, 100000)
							      : RT_TQDEF};
		else if (p->pc_cid == WEFT_CLASS_NT)
			p->nt = (struct ntparms){below(r, 33), below(r, 6) - 3, 0};
		break;
	case PC_DONICE:
		*nice = (struct pcnice){below(r, 60) - 30, below(r, 2)};
		break;
	case PC_ADMIN:
		*admin = (struct pcadmin){below(r, WEFT_NCLASS), PC_GETTABLE, (uint64_t)(admin + 1),
					  0};
		admin->pc_size = admin->pc_cid == WEFT_CLASS_TS ? TS_LEVELS * sizeof(struct tsdpent)
				 : admin->pc_cid == WEFT_CLASS_RT
					 ? RT_LEVELS * sizeof(struct rtdpent)
					 : sizeof(struct ntadmin);
		admin->pc_cmd = one_in(r, 3) ? PC_SETTABLE : PC_GETTABLE;
		break;
	default:
		*(int32_t *)at = below(r, WEFT_NCLASS + 1);
	}
}
