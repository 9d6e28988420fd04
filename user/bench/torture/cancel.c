/*
 * cancel.c - moves in which a helper is cancelled, while it may be woken up at the same time.
 *
 * Checked: the cleanup handlers have run, and held the mutex.  A cancelled thread has consumed
 * nothing: what was posted or signalled is left for others.
 */
#include "torture.h"
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum place { SEMA, SEMA_TIMED, SEMA_SHARED, COND, COND_TIMED, JOIN, PIPE, NAP, NPLACES };

struct victim {
	enum place place;
	sem_t sema, begun;
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	struct helper *other; /* JOIN: ends when sema is posted */
	int pipe[2];
	bool go;     /* mutex */
	int cleaned; /* by handlers, which must run in order */
	bool got;    /* what it waited for */
};

static const struct timespec never = {.tv_sec = 1000000000};

static void cleanup_first_pushed(void *arg)
{
	struct victim *v = arg;

	CHECK(v->cleaned == 1);
	v->cleaned = 2;
}

static void cleanup_second_pushed(void *arg)
{
	struct victim *v = arg;

	CHECK(v->cleaned == 0);
	v->cleaned = 1;
	if (v->place == COND || v->place == COND_TIMED)
		OK(pthread_mutex_unlock(&v->mutex)); /* the unlock checks the owner */
}

static void wait_condition(struct victim *v)
{
	while (!v->go) {
		int error = v->place == COND ? pthread_cond_wait(&v->cond, &v->mutex)
					     : pthread_cond_clockwait(&v->cond, &v->mutex,
								      CLOCK_MONOTONIC, &never);
		CHECK(error == 0);
	}
}

static void wait_somewhere(struct victim *v)
{
	char byte;

	switch (v->place) {
	case COND:
	case COND_TIMED:
		wait_condition(v);
		break;
	case JOIN:
		OK(pthread_join(v->other->id, NULL));
		break;
	case PIPE:
		while (read(v->pipe[0], &byte, 1) < 0)
			CHECK(errno == EINTR);
		break;
	case NAP:
		while (nanosleep(&never, NULL) != 0)
			CHECK(errno == EINTR);
		break;
	default:
		while ((v->place == SEMA_TIMED ? sem_clockwait(&v->sema, CLOCK_MONOTONIC, &never)
					       : sem_wait(&v->sema)) != 0)
			CHECK(errno == EINTR);
	}
}

static void *gets_cancelled(void *arg)
{
	struct victim *v = arg;

	pthread_cleanup_push(cleanup_first_pushed, v);
	if (v->place == COND || v->place == COND_TIMED)
		OK(pthread_mutex_lock(&v->mutex));
	pthread_cleanup_push(cleanup_second_pushed, v);
	CHECK(sem_post(&v->begun) == 0);
	note("to be cancelled", v);
	wait_somewhere(v);
	v->got = true;
	pthread_cleanup_pop(1);
	pthread_cleanup_pop(1);
	return NULL;
}

static void *waits_for_sema(void *arg)
{
	sem_wait_always("end of a helper to be joined", arg);
	return NULL;
}

/* Lets v continue, so that it may complete before it is cancelled. */
static void let_go(struct victim *v)
{
	char byte = 0;

	switch (v->place) {
	case COND:
	case COND_TIMED:
		OK(pthread_mutex_lock(&v->mutex));
		v->go = true;
		OK(pthread_mutex_unlock(&v->mutex));
		OK(pthread_cond_signal(&v->cond));
		break;
	case PIPE:
		CHECK(write(v->pipe[1], &byte, 1) == 1);
		break;
	case NAP:
		break;
	default:
		CHECK(sem_post(&v->sema) == 0);
	}
}

static void victim_init(struct victim *v, pthread_mutexattr_t *checking)
{
	*v = (struct victim){.place = draw(features.may_block ? NPLACES : PIPE)};
	if (!features.may_block && v->place == SEMA_SHARED)
		v->place = SEMA;
	pthread_mutexattr_init(checking);
	OK(pthread_mutexattr_settype(checking, PTHREAD_MUTEX_ERRORCHECK));
	OK(pthread_mutex_init(&v->mutex, checking));
	OK(pthread_cond_init(&v->cond, NULL));
	CHECK(sem_init(&v->sema, v->place == SEMA_SHARED, 0) == 0);
	CHECK(sem_init(&v->begun, 0, 0) == 0);
	if (v->place == PIPE)
		CHECK(pipe(v->pipe) == 0);
}

static void victim_destroy(struct victim *v, bool posted, bool cancelled)
{
	int value;

	CHECK(v->cleaned == 2 && v->got == !cancelled);
	CHECK(sem_getvalue(&v->sema, &value) == 0);
	if (v->place <= SEMA_SHARED)
		CHECK(value == (posted && cancelled));
	OK(pthread_mutex_destroy(&v->mutex));
	OK(pthread_cond_destroy(&v->cond));
	CHECK(sem_destroy(&v->sema) == 0 && sem_destroy(&v->begun) == 0);
	if (v->place == PIPE) {
		close(v->pipe[0]);
		close(v->pipe[1]);
	}
}

void move_cancel_wait(void)
{
	struct helper h, other;
	struct victim v;
	pthread_mutexattr_t checking;
	bool posts = chance(2), first = chance(2), cancelled;
	void *status;

	victim_init(&v, &checking);
	v.other = &other;
	if (v.place == JOIN)
		helper_start(&other, 1, waits_for_sema, &v.sema, false);
	/* A nap keeps its LWP, and the pool need not grow for it. */
	helper_start(&h, 0, gets_cancelled, &v, v.place == NAP);
	if (chance(2)) /* else it may never begin to wait */
		sem_wait_always("beginning of one to be cancelled", &v.begun);
	dawdle();
	if (posts && first)
		let_go(&v);
	if (v.place == NAP || !posts || chance(2))
		OK(pthread_cancel(h.id));
	if (posts && !first)
		let_go(&v);
	status = helper_join(&h);
	cancelled = status == PTHREAD_CANCELED;
	CHECK(cancelled || (posts && status == NULL));
	if (v.place == JOIN && !posts)
		let_go(&v);
	if (v.place == JOIN && cancelled) /* it has not been joined */
		CHECK(helper_join(&other) == NULL);
	else if (v.place == JOIN)
		other.player.record->thread = 0;
	victim_destroy(&v, posts, cancelled);
}

/* --- one of two is cancelled, and one signal comes ----------------------------------------- */

struct two {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	sem_t begun;
	int signals; /* mutex: sent and not received */
};

static void unlock(void *mutex)
{
	OK(pthread_mutex_unlock(mutex));
}

static void *waits_for_signal(void *arg)
{
	struct two *t = arg;

	OK(pthread_mutex_lock(&t->mutex));
	pthread_cleanup_push(unlock, &t->mutex);
	CHECK(sem_post(&t->begun) == 0);
	OK(WAIT("signal, or to be cancelled", &t->cond, pthread_cond_wait(&t->cond, &t->mutex)));
	t->signals--;
	pthread_cleanup_pop(1);
	return NULL;
}

/* A signal during the cancellation of one waiter reaches the other, or the first is not
 * cancelled. */
void move_cancel_or_signal(void)
{
	struct two t = {.mutex = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};
	struct helper h[2];
	bool before = chance(2), inside = chance(2), first_ended;

	CHECK(sem_init(&t.begun, 0, 0) == 0);
	for (int i = 0; i < 2; i++)
		helper_start(&h[i], i, waits_for_signal, &t, false);
	for (int i = 0; i < 2; i++)
		sem_wait_always("beginning of a waiter", &t.begun);
	OK(pthread_mutex_lock(&t.mutex)); /* now both wait */
	if (!inside)
		OK(pthread_mutex_unlock(&t.mutex));
	if (before)
		OK(pthread_cancel(h[0].id));
	__atomic_fetch_add(&t.signals, 1, __ATOMIC_RELAXED);
	OK(pthread_cond_signal(&t.cond));
	if (!before)
		OK(pthread_cancel(h[0].id));
	if (inside)
		OK(pthread_mutex_unlock(&t.mutex));
	first_ended = helper_join(&h[0]) == NULL;
	if (first_ended) { /* the first got the signal; the other needs one */
		OK(pthread_mutex_lock(&t.mutex));
		t.signals++;
		OK(pthread_mutex_unlock(&t.mutex));
		OK(pthread_cond_signal(&t.cond));
	}
	CHECK(helper_join(&h[1]) == NULL);
	CHECK(t.signals == 0);
	OK(pthread_cond_destroy(&t.cond));
	OK(pthread_mutex_destroy(&t.mutex));
	CHECK(sem_destroy(&t.begun) == 0);
}

/* --- asynchronously ---------------------------------------------------------------------- */

#define COUNTS 200000 /* about a millisecond */

struct counter {
	volatile unsigned long turns;
	volatile int cleaned;
};

static void cleaned(void *arg)
{
	((struct counter *)arg)->cleaned++;
}

/* Does not count for ever: a pool whose LWPs are all blocked does not grow while a bound thread
 * computes. */
static void *counts_and_rests(void *arg)
{
	struct counter *c = arg;

	pthread_cleanup_push(cleaned, c);
	OK(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL));
	while (c->turns < COUNTS)
		c->turns++;
	for (;;)
		pause();
	pthread_cleanup_pop(0);
	return NULL;
}

void move_cancel_async(void)
{
	struct counter c = {};
	struct helper h;

	if (!features.bound) /* no other thread would run */
		return;
	helper_start(&h, 0, counts_and_rests, &c, true);
	dawdle();
	OK(pthread_cancel(h.id));
	CHECK(helper_join(&h) == PTHREAD_CANCELED);
	CHECK(c.cleaned <= 1 && (c.cleaned == 1 || c.turns == 0));
}
