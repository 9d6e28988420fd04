/*
 * meet.c - moves in which a worker and some helpers meet at an object of their own.
 *
 * The object is destroyed, and its memory overwritten, as soon as the interface allows.  This
 * reveals a call that touches an object after the call has woken up the other threads.
 */
#include "torture.h"
#include <errno.h>
#include <stdlib.h>

static void start_all(struct helper *h, int n, void *(*body)(void *), void *arg)
{
	for (int i = 0; i < n; i++)
		helper_start(&h[i], i, body, arg, false);
}

static void join_all(struct helper *h, int n)
{
	for (int i = 0; i < n; i++)
		CHECK(helper_join(&h[i]) == NULL);
}

/* --- a barrier, used again and again ------------------------------------------------------- */

struct barrier_game {
	pthread_barrier_t barrier;
	int count, cycles;
	int inside, serial; /* atomic */
};

/* All threads are between the same two meetings.  One thread in each cycle is the serial thread. */
static void meet(struct barrier_game *g)
{
	for (int i = 0; i < g->cycles; i++) {
		int r;

		CHECK(__atomic_fetch_add(&g->inside, 1, __ATOMIC_RELAXED) < (i + 1) * g->count);
		r = WAIT("barrier", &g->barrier, pthread_barrier_wait(&g->barrier));
		CHECK(r == 0 || r == PTHREAD_BARRIER_SERIAL_THREAD);
		CHECK(__atomic_load_n(&g->inside, __ATOMIC_RELAXED) >= (i + 1) * g->count);
		if (r == PTHREAD_BARRIER_SERIAL_THREAD)
			__atomic_fetch_add(&g->serial, 1, __ATOMIC_RELAXED);
	}
}

static void *meets(void *arg)
{
	meet(arg);
	return NULL;
}

void move_barrier(void)
{
	int helpers = 1 + draw(HELPERS);
	struct barrier_game g = {.count = helpers + 1, .cycles = 1 + draw(6)};
	struct helper h[HELPERS];
	pthread_barrierattr_t attr;

	pthread_barrierattr_init(&attr);
	if (features.may_block && chance(3))
		OK(pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED));
	OK(pthread_barrier_init(&g.barrier, &attr, g.count));
	start_all(h, helpers, meets, &g);
	meet(&g);
	OK(pthread_barrier_destroy(&g.barrier));
	scribble(&g.barrier, sizeof(g.barrier));
	join_all(h, helpers);
	CHECK(g.serial == g.cycles);
}

/* --- a ring, in which a token goes round ----------------------------------------------------- */

struct ring {
	int count, laps;
	bool by_condition;
	sem_t turn[HELPERS + 1];
	pthread_mutex_t mutex;
	pthread_cond_t moved;
	int at;     /* the thread that has the turn: by_condition */
	long token; /* used by the thread that has the turn */
	int seats;  /* atomic */
};

static void *ring_around(void *arg)
{
	struct ring *r = arg;
	int me_here = __atomic_fetch_add(&r->seats, 1, __ATOMIC_RELAXED);
	int next = (me_here + 1) % r->count;

	for (long lap = 0; lap < r->laps; lap++) {
		if (r->by_condition) {
			OK(WAIT("ring's mutex", &r->mutex, pthread_mutex_lock(&r->mutex)));
			while (r->at != me_here)
				OK(WAIT("ring's condition", &r->moved,
					pthread_cond_wait(&r->moved, &r->mutex)));
		} else {
			sem_wait_always("ring's semaphore", &r->turn[me_here]);
		}
		CHECK(r->token == lap * r->count + me_here);
		r->token++;
		if (r->by_condition) {
			r->at = next;
			OK(pthread_cond_broadcast(&r->moved));
			OK(pthread_mutex_unlock(&r->mutex));
		} else {
			CHECK(sem_post(&r->turn[next]) == 0);
		}
	}
	return NULL;
}

void move_ring(void)
{
	int helpers = 1 + draw(HELPERS);
	struct ring r = {.count = helpers + 1,
			 .laps = 1 + draw(8),
			 .by_condition = chance(2),
			 .mutex = PTHREAD_MUTEX_INITIALIZER,
			 .moved = PTHREAD_COND_INITIALIZER};
	struct helper h[HELPERS];
	bool shared = features.may_block && chance(4);

	for (int i = 0; i < r.count; i++)
		CHECK(sem_init(&r.turn[i], shared, i == 0) == 0);
	start_all(h, helpers, ring_around, &r);
	ring_around(&r);
	join_all(h, helpers);
	CHECK(r.token == (long)r.laps * r.count);
	for (int i = 0; i < r.count; i++)
		CHECK(sem_destroy(&r.turn[i]) == 0);
}

/* --- once ---------------------------------------------------------------------------------- */

struct once_game {
	pthread_once_t once;
	int begun, done; /* atomic */
	int running;
};

static void leave_init(void *arg)
{
	struct once_game *g = arg;

	__atomic_fetch_sub(&g->running, 1, __ATOMIC_RELAXED);
}

static void init_once(void)
{
	struct once_game *g = me->game;

	__atomic_fetch_add(&g->begun, 1, __ATOMIC_RELAXED);
	CHECK(__atomic_fetch_add(&g->running, 1, __ATOMIC_RELAXED) == 0);
	pthread_cleanup_push(leave_init, g);
	dawdle();
	pthread_testcancel();
	pthread_cleanup_pop(1);
	CHECK(__atomic_fetch_add(&g->done, 1, __ATOMIC_RELAXED) == 0);
}

static void come_once(struct once_game *g)
{
	me->game = g;
	OK(WAIT("pthread_once", &g->once, pthread_once(&g->once, init_once)));
	CHECK(__atomic_load_n(&g->done, __ATOMIC_RELAXED) == 1);
}

static void *comes_once(void *arg)
{
	come_once(arg);
	return NULL;
}

/* One of the callers is cancelled, possibly inside the init function: then another caller runs
 * it. */
void move_once(void)
{
	struct once_game g = {.once = PTHREAD_ONCE_INIT};
	int helpers = 1 + draw(HELPERS);
	struct helper h[HELPERS];
	void *first;

	start_all(h, helpers, comes_once, &g);
	dawdle();
	OK(pthread_cancel(h[0].id));
	come_once(&g);
	first = helper_join(&h[0]);
	CHECK(first == NULL || first == PTHREAD_CANCELED);
	join_all(h + 1, helpers - 1);
	CHECK(g.done == 1 && g.running == 0 &&
	      g.begun == 1 + (first == PTHREAD_CANCELED && g.begun == 2));
}

/* --- an object that its last user frees ------------------------------------------------------ */

struct counted {
	pthread_mutex_t mutex;
	int users;
};

static void *uses(void *arg)
{
	struct counted *c = arg;
	bool last;

	OK(WAIT("mutex of a counted object", c, pthread_mutex_lock(&c->mutex)));
	dawdle();
	last = --c->users == 0;
	OK(pthread_mutex_unlock(&c->mutex));
	if (last) {
		OK(pthread_mutex_destroy(&c->mutex));
		scribble(c, sizeof(*c));
		free(c);
	}
	return NULL;
}

void move_last_one_frees(void)
{
	struct counted *c = malloc(sizeof(*c));
	int helpers = 1 + draw(HELPERS);
	struct helper h[HELPERS];

	CHECK(c != NULL);
	*c = (struct counted){.mutex = PTHREAD_MUTEX_INITIALIZER, .users = helpers + 1};
	start_all(h, helpers, uses, c);
	uses(c);
	join_all(h, helpers);
}

/* --- objects on the stack of a thread that waits for one event -------------------------------- */

static void *posts(void *arg)
{
	dawdle();
	CHECK(sem_post(arg) == 0);
	return NULL;
}

void move_semaphore_on_stack(void)
{
	struct helper h[HELPERS];
	int helpers = 1 + draw(2);
	sem_t s;

	CHECK(sem_init(&s, features.may_block && chance(4), 0) == 0);
	start_all(h, helpers, posts, &s);
	for (int i = 0; i < helpers; i++)
		sem_wait_always("semaphore on the stack", &s);
	CHECK(sem_destroy(&s) == 0);
	scribble(&s, sizeof(s));
	join_all(h, helpers);
}

struct event {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	bool happened;
};

/* The signal comes before the unlock.  So both objects belong to the waiter once it has the mutex,
 * except for the rest of the unlock itself. */
static void *happens(void *arg)
{
	struct event *e = arg;

	dawdle();
	OK(WAIT("event's mutex", &e->mutex, pthread_mutex_lock(&e->mutex)));
	e->happened = true;
	OK(pthread_cond_signal(&e->cond));
	OK(pthread_mutex_unlock(&e->mutex));
	return NULL;
}

void move_condition_on_stack(void)
{
	struct event e = {.mutex = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};
	bool timed = chance(2);
	struct helper h;

	helper_start(&h, 0, happens, &e, false);
	OK(WAIT("event's mutex", &e.mutex, pthread_mutex_lock(&e.mutex)));
	while (!e.happened) {
		struct timespec until = soon();
		int error = WAIT(
			"event", &e.cond,
			timed ? pthread_cond_clockwait(&e.cond, &e.mutex, CLOCK_MONOTONIC, &until)
			      : pthread_cond_wait(&e.cond, &e.mutex));
		CHECK(error == 0 || (timed && error == ETIMEDOUT));
	}
	OK(pthread_mutex_unlock(&e.mutex));
	OK(pthread_cond_destroy(&e.cond));
	OK(pthread_mutex_destroy(&e.mutex));
	scribble(&e, sizeof(e));
	CHECK(helper_join(&h) == NULL);
}
