/*
 * process.c - moves with a child process: a child that plays with threads of its own, and a child
 * that shares objects, and may die with a robust mutex held.
 */
#include "torture.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread.h>
#include <unistd.h>

static int status_of(pid_t child)
{
	int status;

	note("waitpid", (void *)(uintptr_t)child);
	while (waitpid(child, &status, 0) != child)
		CHECK(errno == EINTR);
	note(NULL, NULL);
	me->helpers->thread = 0;
	return status;
}

/* The child plays, with its first helper's record, until the parent has the child's status. */
static pid_t fork_player(void)
{
	pid_t child = fork();

	CHECK(child >= 0);
	if (child == 0) {
		me->record = me->helpers;
		me->record->thread = thr_self();
	}
	return child;
}

/* --- a child with threads of its own -------------------------------------------------------- */

static void *ends(void *arg)
{
	return NULL;
}

static int threads_of_child(void)
{
	thread_t ids[3], gone;
	unsigned left = 0;

	me->helpers = me->record; /* all write into one record */
	move_barrier();
	move_ring();
	move_semaphore_on_stack();
	for (int i = 0; i < 3; i++) {
		OK(thr_create(NULL, 0, ends, NULL, 0, &ids[i]));
		left ^= ids[i];
	}
	for (int i = 0; i < 3; i++) {
		OK(thr_join(0, &gone, NULL));
		left ^= gone;
	}
	return left != 0;
}

/* The library of the child works, whatever the parent's other threads were doing at the fork. */
void move_fork(void)
{
	pid_t child = fork_player();

	if (child == 0)
		_exit(threads_of_child());
	CHECK(status_of(child) == 0);
}

/* --- a child that shares objects -------------------------------------------------------------- */

struct shared {
	pthread_mutex_t mutex; /* robust */
	sem_t ping, pong;
	pthread_barrier_t barrier;
	long turns; /* mutex */
};

static void shared_init(struct shared *s)
{
	pthread_mutexattr_t ma;
	pthread_barrierattr_t ba;

	pthread_mutexattr_init(&ma);
	OK(pthread_mutexattr_setpshared(&ma, PTHREAD_PROCESS_SHARED));
	OK(pthread_mutexattr_setrobust(&ma, PTHREAD_MUTEX_ROBUST));
	OK(pthread_mutex_init(&s->mutex, &ma));
	pthread_barrierattr_init(&ba);
	OK(pthread_barrierattr_setpshared(&ba, PTHREAD_PROCESS_SHARED));
	OK(pthread_barrier_init(&s->barrier, &ba, 2));
	CHECK(sem_init(&s->ping, 1, 0) == 0 && sem_init(&s->pong, 1, 0) == 0);
}

static void turn(struct shared *s)
{
	OK(WAIT("mutex of two processes", &s->mutex, pthread_mutex_lock(&s->mutex)));
	s->turns++;
	OK(pthread_mutex_unlock(&s->mutex));
}

static void child_of(struct shared *s, int rounds, bool killed)
{
	for (int i = 0; i < rounds; i++) {
		sem_wait_always("ping", &s->ping);
		turn(s);
		CHECK(sem_post(&s->pong) == 0);
	}
	sem_wait_always("last ping", &s->ping);
	OK(pthread_mutex_lock(&s->mutex));
	WAIT("barrier of two processes", &s->barrier, pthread_barrier_wait(&s->barrier));
	if (killed)
		kill(getpid(), SIGKILL);
	_exit(0);
}

void move_shared_with_child(void)
{
	int rounds = 1 + draw(6), r;
	bool killed = chance(2);
	struct shared *s =
		mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child;

	CHECK(s != MAP_FAILED);
	shared_init(s);
	child = fork_player();
	if (child == 0)
		child_of(s, rounds, killed);
	for (int i = 0; i < rounds; i++) {
		CHECK(sem_post(&s->ping) == 0);
		turn(s);
		sem_wait_always("pong", &s->pong);
	}
	CHECK(sem_post(&s->ping) == 0);
	WAIT("barrier of two processes", &s->barrier, pthread_barrier_wait(&s->barrier));
	/* The child has the mutex, and will die with it. */
	r = WAIT("robust mutex of a child", &s->mutex, pthread_mutex_lock(&s->mutex));
	CHECK(r == EOWNERDEAD);
	OK(pthread_mutex_consistent(&s->mutex));
	CHECK(s->turns == 2 * rounds);
	OK(pthread_mutex_unlock(&s->mutex));
	r = status_of(child);
	CHECK(killed ? WIFSIGNALED(r) && WTERMSIG(r) == SIGKILL : r == 0);
	OK(pthread_mutex_destroy(&s->mutex));
	CHECK(munmap(s, sizeof(*s)) == 0);
}
