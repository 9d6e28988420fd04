/*
 * held_locks.c - threads that wait, for pstack and plocks (test_proc_tools.py).
 *
 *	circle		two threads, each of which waits for a mutex that the other holds
 *	ends		two such threads; the second gives up at a deadline
 *	join		a thread waits for a reader-writer lock of the thread that joins it
 *	kinds		a thread for each kind of object; each is named after its object
 *	kernel		the same for objects whose waiters are in queues of the kernel
 *	forks N		a thread forks and executes programs, N times, while others wait
 *	ring, wild, word, image
 *			damages its own memory, in a way that `damage' tells, and waits
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "../../libthread/core/threaddb.h"

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both_hold;

static void start(const char *name, void *(*entry)(void *), void *arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, entry, arg) != 0 || pthread_setname_np(thread, name) != 0)
		abort();
}

static void *take(void *mutex)
{
	pthread_mutex_lock(mutex);
	return NULL;
}

static void *take_timed(void *mutex)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += 1000;
	pthread_mutex_timedlock(mutex, &end);
	return NULL;
}

/* Has both mutexes, except that the other thread has one of them. */
static void *lock_left(void *arg)
{
	take(&first);
	pthread_barrier_wait(&both_hold);
	return take(&second);
}

static void *lock_right(void *ends)
{
	take(&second);
	pthread_barrier_wait(&both_hold);
	return ends != NULL ? take_timed(&first) : take(&first);
}

static void make_circle(const void *ends)
{
	pthread_barrier_init(&both_hold, NULL, 2);
	start("left", lock_left, NULL);
	start("right", lock_right, (void *)ends);
}

/* --- every kind ----------------------------------------------------------------------------- */

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER, timed = PTHREAD_MUTEX_INITIALIZER,
		       guard = PTHREAD_MUTEX_INITIALIZER, inherit, protect, robust, shared;
static pthread_rwlock_t written = PTHREAD_RWLOCK_INITIALIZER,
			read_by_one = PTHREAD_RWLOCK_INITIALIZER,
			brief = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t three, kernel_barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t tokens, kernel_tokens;
static pthread_rwlock_t kernel_rwlock;

/* An earlier wait leaves traces, which must not be taken for the present wait. */
static void *take_after_wait(void *mutex)
{
	pthread_rwlock_rdlock(&brief);
	pthread_mutex_lock(mutex);
	return NULL;
}

static void *take_read(void *lock)
{
	pthread_rwlock_rdlock(lock);
	return NULL;
}

static void join_reader(void)
{
	pthread_t reader;

	pthread_rwlock_wrlock(&written);
	if (pthread_create(&reader, NULL, take_read, &written) == 0)
		pthread_join(reader, NULL);
}

static void *take_write(void *lock)
{
	pthread_rwlock_wrlock(lock);
	return NULL;
}

static void *take_token(void *sem)
{
	sem_wait(sem);
	return NULL;
}

static void *arrive(void *barrier)
{
	pthread_barrier_wait(barrier);
	return NULL;
}

static void *read_news(void *arg)
{
	pthread_mutex_lock(&guard);
	for (;;)
		pthread_cond_wait(&news, &guard);
	return arg;
}

static void slow_init(void)
{
	sem_wait(&tokens);
}

static void *init_once(void *arg)
{
	pthread_once(&once, slow_init);
	return arg;
}

static void *join_main(void *main_thread)
{
	pthread_join(*(pthread_t *)main_thread, NULL);
	return NULL;
}

static void hold_protocol(pthread_mutex_t *m, int protocol)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, protocol);
	pthread_mutexattr_setprioceiling(&attr, 10);
	if (pthread_mutex_init(m, &attr) != 0 || pthread_mutex_lock(m) != 0)
		abort();
}

static void make_kinds(void)
{
	static pthread_t self;

	self = pthread_self();
	pthread_mutex_lock(&plain);
	pthread_mutex_lock(&timed);
	pthread_rwlock_wrlock(&written);
	pthread_rwlock_wrlock(&brief);
	pthread_rwlock_rdlock(&read_by_one);
	pthread_barrier_init(&three, NULL, 3);
	sem_init(&tokens, 0, 0);
	hold_protocol(&inherit, PTHREAD_PRIO_INHERIT);
	hold_protocol(&protect, PTHREAD_PRIO_PROTECT);
	start("plain", take, &plain);
	start("timed", take_timed, &timed);
	start("inherit", take, &inherit);
	start("protect", take, &protect);
	start("written", take_read, &written);
	start("read", take_write, &read_by_one);
	start("news", read_news, NULL);
	start("tokens", take_token, &tokens);
	start("three", arrive, &three);
	start("three too", arrive, &three);
	start("after a wait", take_after_wait, &plain);
	usleep(1000); /* the threads above sleep first: a LIFO queue has "once" at its head */
	start("once", init_once, NULL);
	usleep(1000);
	pthread_rwlock_unlock(&brief);
	start("once too", init_once, NULL);
	start("join", join_main, &self);
}

static void make_kernel(void)
{
	pthread_mutexattr_t attr;
	pthread_rwlockattr_t rwattr;
	pthread_barrierattr_t battr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&shared, &attr);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &attr);
	pthread_rwlockattr_init(&rwattr);
	pthread_rwlockattr_setpshared(&rwattr, PTHREAD_PROCESS_SHARED);
	pthread_rwlock_init(&kernel_rwlock, &rwattr);
	pthread_barrierattr_init(&battr);
	pthread_barrierattr_setpshared(&battr, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&kernel_barrier, &battr, 2);
	sem_init(&kernel_tokens, 1, 0);
	if (pthread_mutex_lock(&shared) != 0 || pthread_mutex_lock(&robust) != 0 ||
	    pthread_rwlock_wrlock(&kernel_rwlock) != 0)
		abort();
	start("shared", take, &shared);
	start("robust", take, &robust);
	start("kernel_rwlock", take_write, &kernel_rwlock);
	start("kernel_barrier", arrive, &kernel_barrier);
	start("kernel_tokens", take_token, &kernel_tokens);
}

/* --- fork and exec ---------------------------------------------------------------------------- */

static int fork_and_exec(int n)
{
	int status, good = 0;

	make_circle(NULL);
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			execl("/bin/true", "held_locks", NULL);
			_exit(1);
		}
		good += pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
	}
	printf("%d good\n", good);
	return good == n ? 0 : 1;
}

/* --- damage ---------------------------------------------------------------------------------- */

extern const struct threaddb __threaddb;

static uint64_t offset_of(const char *name)
{
	for (uint32_t i = 0; i < __threaddb.entries; i++)
		if (strcmp(__threaddb.entry[i].name, name) == 0)
			return __threaddb.entry[i].value;
	abort();
}

/* Of a thread other than the first: sets the next thread in the list. */
static void *damage_list(void *next)
{
	char *self;

	__asm__("movq %%fs:0, %0" : "=r"(self));
	*(void **)(self + offset_of("thread.list_next")) = next != NULL ? next : self;
	sem_wait(&tokens);
	return NULL;
}

static void damage(const char *how)
{
	sem_init(&tokens, 0, 0);
	if (strcmp(how, "ring") == 0) /* leads to itself */
		start("ring", damage_list, NULL);
	else if (strcmp(how, "wild") == 0)
		start("wild", damage_list, (void *)0x10);
	else if (strcmp(how, "word") == 0) /* the owners are no threads */
		memset(&first, 0x5a, 8), memset(&second, 0x5a, 8);
	else if (munmap((void *)THREADDB_IMAGE, 4096) != 0)
		abort();
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "forks") == 0)
		return fork_and_exec(argc > 2 ? atoi(argv[2]) : 1);
	if (strcmp(what, "kinds") == 0) {
		make_kinds();
	} else if (strcmp(what, "kernel") == 0) {
		make_kernel();
	} else if (strcmp(what, "join") == 0) {
		join_reader();
	} else if (strcmp(what, "circle") == 0 || strcmp(what, "ends") == 0) {
		make_circle(*what == 'e' ? what : NULL);
	} else {
		make_circle(NULL);
		usleep(10000);
		damage(what);
	}
	for (;;)
		pause();
}
