/*
 * resource.c - locks of all kinds, several acquired at a time, in the order of their numbers; and
 * the data that they guard.
 *
 * Checked: an exclusive holder is alone; no more than `capacity` threads share a lock.  The guarded
 * data, tokens and their twin, change only in the hands of the holder, and no token is lost.  A
 * call that may fail returns only its own error.  Threads die with robust mutexes held.
 */
#include "torture.h"
#include <errno.h>
#include <string.h>

#define MOST 16
#define TOKENS 100
#define WRITES 1000 /* what a writer adds to holders */

enum kind {
	NORMAL,
	ERRORCHECK,
	RECURSIVE,
	POOL, /* a mutex and a condition variable */
	SEMA,
	RW,
	SPIN,         /* without priorities */
	SHARED_MUTEX, /* from here on: locks that block in the kernel */
	ROBUST,
	SHARED_POOL,
	SHARED_SEMA,
	SHARED_RW,
	NKINDS,
};

static const char *const names[] = {
	"mutex",        "error-checking mutex", "recursive mutex",  "condition variable",
	"semaphore",    "reader-writer lock",   "spin lock",        "shared mutex",
	"robust mutex", "shared condition",     "shared semaphore", "shared reader-writer lock",
};

static struct resource {
	enum kind kind;
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	int units; /* POOL: free units */
	sem_t sema;
	pthread_rwlock_t rw;
	pthread_spinlock_t spin;
	int capacity;      /* holders at a time, at most */
	int holders;       /* atomic */
	long tokens, twin; /* equal, except while the exclusive holder changes them */
} resources[MOST];

static int only = NKINDS; /* this kind, unless NKINDS */

bool resources_only(const char *kind)
{
	for (only = 0; only < NKINDS && strcmp(kind, names[only]) != 0;)
		only++;
	return only < NKINDS;
}

static void init(struct resource *r)
{
	bool shared = r->kind >= SHARED_MUTEX;
	pthread_mutexattr_t ma;
	pthread_condattr_t ca;
	pthread_rwlockattr_t ra;
	int pshared = shared ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE;

	pthread_mutexattr_init(&ma);
	OK(pthread_mutexattr_settype(&ma, r->kind == ERRORCHECK  ? PTHREAD_MUTEX_ERRORCHECK
					  : r->kind == RECURSIVE ? PTHREAD_MUTEX_RECURSIVE
								 : PTHREAD_MUTEX_NORMAL));
	OK(pthread_mutexattr_setpshared(&ma, pshared));
	if (r->kind == ROBUST)
		OK(pthread_mutexattr_setrobust(&ma, PTHREAD_MUTEX_ROBUST));
	OK(pthread_mutex_init(&r->mutex, &ma));
	pthread_condattr_init(&ca);
	OK(pthread_condattr_setpshared(&ca, pshared));
	OK(pthread_cond_init(&r->cond, &ca));
	pthread_rwlockattr_init(&ra);
	OK(pthread_rwlockattr_setpshared(&ra, pshared));
	OK(pthread_rwlock_init(&r->rw, &ra));
	OK(pthread_spin_init(&r->spin, pshared));
	r->capacity = 1;
	if (r->kind == SEMA || r->kind == POOL || r->kind == SHARED_SEMA || r->kind == SHARED_POOL)
		r->capacity = 1 + draw(3);
	if (r->kind == RW || r->kind == SHARED_RW)
		r->capacity = WRITES - 1;
	r->units = r->capacity;
	CHECK(sem_init(&r->sema, shared, r->capacity) == 0);
	r->tokens = r->twin = TOKENS;
}

void resources_init(void)
{
	if (only < NKINDS)
		features.resources = 2;
	for (int i = 0; i < features.resources; i++) {
		struct resource *r = &resources[i];

		do {
			r->kind = only < NKINDS        ? only
				  : features.may_block ? (int)draw(NKINDS)
						       : (int)draw(SHARED_MUTEX);
		} while (r->kind == SPIN && features.priorities && only == NKINDS);
		init(r);
	}
}

/* --- acquiring and releasing a resource ------------------------------------------------------ */

enum how { PLAIN, TRY, TIMED };

/* True: acquired.  An error is one that `how` allows. */
static bool taken(int error, enum how how)
{
	if (error == 0)
		return true;
	CHECK(error == (how == TRY ? EBUSY : how == TIMED ? ETIMEDOUT : 0));
	return false;
}

static bool take_mutex(struct resource *r, enum how how)
{
	struct timespec until = soon();
	int error = how == TRY     ? pthread_mutex_trylock(&r->mutex)
		    : how == TIMED ? pthread_mutex_clocklock(&r->mutex, CLOCK_MONOTONIC, &until)
				   : pthread_mutex_lock(&r->mutex);

	if (error == EOWNERDEAD && r->kind == ROBUST) {
		OK(pthread_mutex_consistent(&r->mutex));
		error = 0;
	}
	if (!taken(error, how))
		return false;
	if (r->kind == ERRORCHECK && chance(4))
		CHECK(pthread_mutex_lock(&r->mutex) == EDEADLK);
	if (r->kind == RECURSIVE && chance(2)) {
		OK(pthread_mutex_lock(&r->mutex));
		dawdle();
		OK(pthread_mutex_unlock(&r->mutex));
	}
	return true;
}

static bool take_unit(struct resource *r, enum how how)
{
	OK(pthread_mutex_lock(&r->mutex));
	while (r->units == 0) {
		struct timespec until = soon();
		int error = how == TRY     ? EBUSY
			    : how == TIMED ? pthread_cond_clockwait(&r->cond, &r->mutex,
								    CLOCK_MONOTONIC, &until)
					   : pthread_cond_wait(&r->cond, &r->mutex);
		if (!taken(error, how) && r->units == 0) {
			OK(pthread_mutex_unlock(&r->mutex));
			return false;
		}
	}
	r->units--;
	OK(pthread_mutex_unlock(&r->mutex));
	return true;
}

static void give_unit(struct resource *r)
{
	bool inside = chance(2), all = chance(3);

	OK(pthread_mutex_lock(&r->mutex));
	CHECK(r->units < r->capacity);
	r->units++;
	if (!inside)
		OK(pthread_mutex_unlock(&r->mutex));
	OK(all ? pthread_cond_broadcast(&r->cond) : pthread_cond_signal(&r->cond));
	if (inside)
		OK(pthread_mutex_unlock(&r->mutex));
}

static bool take_sema(struct resource *r, enum how how)
{
	struct timespec until = soon();
	int error;

	do {
		error = (how == TRY     ? sem_trywait(&r->sema)
			 : how == TIMED ? sem_clockwait(&r->sema, CLOCK_MONOTONIC, &until)
					: sem_wait(&r->sema)) == 0
				? 0
				: errno;
	} while (error == EINTR);
	return taken(error == EAGAIN ? EBUSY : error, how);
}

static bool take_rw(struct resource *r, enum how how, bool write)
{
	struct timespec until = soon();
	pthread_rwlock_t *l = &r->rw;

	switch (how) {
	case TRY:
		return taken(write ? pthread_rwlock_trywrlock(l) : pthread_rwlock_tryrdlock(l),
			     how);
	case TIMED:
		return taken(write ? pthread_rwlock_clockwrlock(l, CLOCK_MONOTONIC, &until)
				   : pthread_rwlock_clockrdlock(l, CLOCK_MONOTONIC, &until),
			     how);
	default:
		return taken(write ? pthread_rwlock_wrlock(l) : pthread_rwlock_rdlock(l), how);
	}
}

static bool take_spin(struct resource *r, enum how how)
{
	return taken(how == PLAIN ? pthread_spin_lock(&r->spin) : pthread_spin_trylock(&r->spin),
		     TRY);
}

static bool take(struct resource *r, enum how how, bool write)
{
	switch (r->kind) {
	case POOL:
	case SHARED_POOL:
		return take_unit(r, how);
	case SEMA:
	case SHARED_SEMA:
		return take_sema(r, how);
	case RW:
	case SHARED_RW:
		return take_rw(r, how, write);
	case SPIN:
		return take_spin(r, how);
	default:
		return take_mutex(r, how);
	}
}

static void give(struct resource *r)
{
	switch (r->kind) {
	case POOL:
	case SHARED_POOL:
		give_unit(r);
		break;
	case SEMA:
	case SHARED_SEMA:
		CHECK(sem_post(&r->sema) == 0);
		break;
	case RW:
	case SHARED_RW:
		OK(pthread_rwlock_unlock(&r->rw));
		break;
	case SPIN:
		OK(pthread_spin_unlock(&r->spin));
		break;
	default:
		OK(pthread_mutex_unlock(&r->mutex));
	}
}

/* --- the moves ---------------------------------------------------------------------------- */

struct hold {
	struct resource *r;
	bool alone;
};

static void come_in(struct hold *h, bool write)
{
	struct resource *r = h->r;
	int others = __atomic_fetch_add(&r->holders, write ? WRITES : 1, __ATOMIC_RELAXED);

	h->alone = write || r->capacity == 1;
	if (write ? others != 0 : others >= r->capacity)
		fail("%s %d is held by %d, and %d more", names[r->kind], (int)(r - resources),
		     others, write ? WRITES : 1);
	if (h->alone || r->kind == RW || r->kind == SHARED_RW)
		CHECK(r->tokens == r->twin);
}

static void go_out(struct hold *h, bool write)
{
	__atomic_fetch_sub(&h->r->holders, write ? WRITES : 1, __ATOMIC_RELAXED);
}

static void move_token(struct resource *from, struct resource *to)
{
	from->tokens--;
	to->tokens++;
	dawdle();
	from->twin--;
	to->twin++;
}

/* Acquires some resources, plays with what they guard, and releases them in either order. */
void move_hold(void)
{
	struct hold held[MOST], *alone = NULL;
	bool write = chance(3), up = chance(2);
	uint32_t often = 2 + draw(8);
	int n = 0;

	for (int i = 0; i < features.resources; i++) {
		struct resource *r = &resources[i];
		enum how how = draw(5) < 3 ? PLAIN : 1 + draw(2);

		if (!chance(often) || !WAIT(names[r->kind], r, take(r, how, write)))
			continue;
		me->record->held |= 1u << i;
		held[n].r = r;
		come_in(&held[n], write && (r->kind == RW || r->kind == SHARED_RW));
		if (held[n].alone && alone != NULL)
			move_token(alone->r, r);
		if (held[n].alone)
			alone = &held[n];
		n++;
		/* No thread waits while it holds a spin lock. */
		if (r->kind == SPIN)
			break;
		dawdle();
	}
	for (int i = 0; i < n; i++) {
		struct hold *h = &held[up ? i : n - 1 - i];

		go_out(h, write && (h->r->kind == RW || h->r->kind == SHARED_RW));
		me->record->held &= ~(1u << (h->r - resources));
		WAIT("giving back", h->r, (give(h->r), 0));
	}
}

static void *dies(void *arg)
{
	struct resource *r = arg;

	WAIT("robust mutex", r, take_mutex(r, PLAIN));
	CHECK(__atomic_load_n(&r->holders, __ATOMIC_RELAXED) == 0);
	dawdle();
	return NULL;
}

/* The next thread that acquires the mutex gets EOWNERDEAD, so the helper's death loses no token. */
void move_die_with_robust(void)
{
	struct helper h;

	for (int i = 0; i < features.resources; i++) {
		if (resources[i].kind != ROBUST)
			continue;
		helper_start(&h, 0, dies, &resources[i], false);
		CHECK(helper_join(&h) == NULL);
		return;
	}
}

void resources_check(void)
{
	long tokens = 0;

	for (int i = 0; i < features.resources; i++) {
		struct resource *r = &resources[i];
		struct hold h = {.r = r};
		bool write = r->kind == RW || r->kind == SHARED_RW;
		int value;

		CHECK(take(r, r->kind == ROBUST ? PLAIN : TRY, write));
		come_in(&h, write);
		go_out(&h, write);
		give(r);
		CHECK(r->holders == 0 && r->tokens == r->twin && r->units == r->capacity);
		CHECK(sem_getvalue(&r->sema, &value) == 0 && value == r->capacity);
		tokens += r->tokens;
		OK(pthread_mutex_destroy(&r->mutex));
		OK(pthread_cond_destroy(&r->cond));
		OK(pthread_rwlock_destroy(&r->rw));
		OK(pthread_spin_destroy(&r->spin));
		CHECK(sem_destroy(&r->sema) == 0);
	}
	CHECK(tokens == features.resources * TOKENS);
}
