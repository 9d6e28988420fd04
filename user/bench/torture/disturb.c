/*
 * disturb.c - moves that disturb other threads at any point: they suspend them, send them signals,
 * and change their priority; and short moves.
 *
 * Checked: a suspended thread does nothing until it is continued; a signal reaches a thread that
 * lives on; what handlers post arrives; destructors are called.
 */
#include "torture.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <thread.h>

#define PRIORITIES 4
#define REALTIME 61 /* from this priority on a woken thread preempts (libthread/README.md) */

static sem_t posted;            /* by handlers, and taken by moves */
static unsigned posts;          /* atomic: the posts that there should be */
static unsigned set, destroyed; /* atomic: values of `key` */
static pthread_key_t key;

static void handler(int sig)
{
	int error = errno;

	if (me != NULL) {
		me->signals++;
		__atomic_fetch_add(&posts, 1, __ATOMIC_RELAXED);
		CHECK(sem_post(&posted) == 0);
	}
	errno = error;
}

static void destroy(void *value)
{
	free(value);
	__atomic_fetch_add(&destroyed, 1, __ATOMIC_RELAXED);
}

void disturb_init(void)
{
	struct sigaction act = {.sa_handler = handler, .sa_flags = SA_RESTART};

	CHECK(sem_init(&posted, 0, 0) == 0);
	CHECK(sigaction(SIGUSR1, &act, NULL) == 0);
	OK(pthread_key_create(&key, destroy));
}

void disturb_check(void)
{
	int value;

	CHECK(sem_getvalue(&posted, &value) == 0 && value == (int)posts);
	CHECK(set == destroyed);
}

/* --- suspending ---------------------------------------------------------------------------- */

/*
 * The suspended thread may hold anything, so this move waits for nothing until it has continued
 * that thread.  The suspending thread may be suspended itself, by a thread that is not.  At least
 * one thread always runs, so all run again in the end.
 */
void move_suspend(void)
{
	pthread_t other = somebody();
	int error;

	if (other == 0 || other == pthread_self())
		return;
	error = WAIT("thr_suspend", NULL, thr_suspend(other));
	CHECK(error == 0 || error == ESRCH);
	compute();
	if (chance(4))
		thr_yield();
	error = WAIT("thr_continue", NULL, thr_continue(other));
	CHECK(error == 0 || error == ESRCH);
}

/* --- signals ---------------------------------------------------------------------------------- */

void move_kill_somebody(void)
{
	pthread_t other = somebody();
	int error;

	if (other == 0)
		return;
	error = WAIT("pthread_kill", NULL, pthread_kill(other, SIGUSR1));
	CHECK(error == 0 || error == ESRCH);
	if (sem_trywait(&posted) == 0)
		__atomic_fetch_sub(&posts, 1, __ATOMIC_RELAXED);
	else
		CHECK(errno == EAGAIN);
}

static void *gets_signal(void *arg)
{
	sem_wait_always("end of a signalled helper", arg);
	return NULL;
}

/* The thread lives until after the signal, so it receives the signal. */
void move_kill_helper(void)
{
	struct helper h;
	sem_t end;

	CHECK(sem_init(&end, features.may_block && chance(3), 0) == 0);
	helper_start(&h, 0, gets_signal, &end, false);
	dawdle();
	OK(WAIT("pthread_kill", NULL, pthread_kill(h.id, SIGUSR1)));
	CHECK(sem_post(&end) == 0);
	CHECK(helper_join(&h) == NULL);
	CHECK(sem_destroy(&end) == 0);
}

/* Signals stay pending while they are blocked, and are delivered before the mask is restored. */
void move_mask(void)
{
	unsigned before;
	sigset_t usr1, old;

	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	OK(pthread_sigmask(SIG_BLOCK, &usr1, &old));
	before = me->signals;
	OK(WAIT("pthread_kill", NULL, pthread_kill(pthread_self(), SIGUSR1)));
	move_hold();
	CHECK(me->signals == before);
	OK(pthread_sigmask(SIG_SETMASK, &old, NULL));
	CHECK(me->signals > before);
}

/* --- short ones ------------------------------------------------------------------------------ */

void move_priority(void)
{
	pthread_t other = somebody();
	int error;

	if (other == 0 || !features.priorities)
		return;
	error = thr_setprio(other, draw(PRIORITIES) + (draw(2) ? 0 : REALTIME));
	CHECK(error == 0 || error == ESRCH);
}

void move_concurrency(void)
{
	OK(thr_setconcurrency(draw(6)));
}

void move_yield(void)
{
	thr_yield();
}

/* An interrupted nap is short. */
void move_nap(void)
{
	const struct timespec t = {.tv_nsec = 1 + draw(20000)};

	CHECK(WAIT("nanosleep", NULL, nanosleep(&t, NULL)) == 0 || errno == EINTR);
}

static void *sets_value(void *arg)
{
	void *value = malloc(1 + draw(100));

	CHECK(value != NULL && pthread_getspecific(key) == NULL);
	OK(pthread_setspecific(key, value));
	__atomic_fetch_add(&set, 1, __ATOMIC_RELAXED);
	dawdle();
	CHECK(pthread_getspecific(key) == value);
	return NULL;
}

void move_specific(void)
{
	struct helper h;
	pthread_key_t mine;

	helper_start(&h, 0, sets_value, NULL, false);
	OK(pthread_key_create(&mine, NULL));
	CHECK(pthread_getspecific(mine) == NULL);
	OK(pthread_setspecific(mine, &h));
	dawdle();
	CHECK(pthread_getspecific(mine) == &h);
	OK(pthread_key_delete(mine));
	CHECK(helper_join(&h) == NULL);
}

struct detached {
	struct helper *helper;
	sem_t *end;
};

static void *ends_detached(void *arg)
{
	struct detached d = *(struct detached *)arg;

	dawdle();
	helper_gone(d.helper);
	sem_post(d.end); /* from here on arg is invalid, and the record may be reused */
	return NULL;
}

void move_detached(void)
{
	sem_t end;
	struct detached d = {malloc(sizeof(*d.helper)), &end};

	CHECK(d.helper != NULL && sem_init(&end, 0, 0) == 0);
	helper_start_detached(d.helper, 0, ends_detached, &d);
	sem_wait_always("end of a detached thread", &end);
	CHECK(sem_destroy(&end) == 0);
	scribble(&end, sizeof(end));
}
