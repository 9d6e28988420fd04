/*
 * proc_shared.c - processes that share memory, and locks in it: exclusion, condition
 * variables, semaphores, reader-writer locks, barriers, spin locks, and processes that are
 * killed, or become another program, with a robust mutex in hand.
 *
 *	proc_shared [ROUNDS]
 *	proc_shared exec		(the program that it becomes)
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <synch.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <weft/start.h>
#include <weft/sys.h>
#include "tap.h"

#define PROCESSES 4

static int rounds = 300;

static struct shared {
	pthread_mutex_t m, robust;
	pthread_cond_t c;
	sem_t go, done;
	pthread_rwlock_t lock;
	pthread_barrier_t barrier;
	pthread_spinlock_t spin;
	int readers, serial, step[PROCESSES];
	volatile long counter, dead, wrong;
	volatile long first, second; /* equal, unless somebody died in between */
	volatile int full;
} * sh;

static void init(void)
{
	pthread_mutexattr_t ma;
	pthread_condattr_t ca;
	pthread_rwlockattr_t ra;
	pthread_barrierattr_t ba;

	pthread_mutexattr_init(&ma);
	pthread_mutexattr_setpshared(&ma, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&sh->m, &ma);
	pthread_mutexattr_setrobust(&ma, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&sh->robust, &ma);
	pthread_condattr_init(&ca);
	pthread_condattr_setpshared(&ca, PTHREAD_PROCESS_SHARED);
	pthread_cond_init(&sh->c, &ca);
	sem_init(&sh->go, 1, 0);
	sem_init(&sh->done, 1, 0);
	pthread_rwlockattr_init(&ra);
	pthread_rwlockattr_setpshared(&ra, PTHREAD_PROCESS_SHARED);
	pthread_rwlock_init(&sh->lock, &ra);
	pthread_barrierattr_init(&ba);
	pthread_barrierattr_setpshared(&ba, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&sh->barrier, &ba, PROCESSES);
	pthread_spin_init(&sh->spin, PTHREAD_PROCESS_SHARED);
	sh->readers = sh->serial = 0;
	sh->counter = sh->dead = sh->wrong = sh->full = 0;
	sh->first = sh->second = 0;
}

/* A child that runs fn(arg) in the same memory, and exits with its result. */
static pid_t child(int (*fn)(int), int arg)
{
	pid_t pid = fork();

	if (pid < 0)
		bail("fork: %d", errno);
	if (pid == 0)
		_exit(fn(arg));
	return pid;
}

static int wait_for(pid_t pid)
{
	int status = -1;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static int everybody(int (*fn)(int))
{
	pid_t pid[PROCESSES];
	int bad = 0;

	for (int i = 0; i < PROCESSES; i++)
		pid[i] = child(fn, i);
	for (int i = 0; i < PROCESSES; i++)
		bad |= wait_for(pid[i]);
	return bad;
}

/* --- those that live ---------------------------------------------------------------------- */

static int add(int me)
{
	for (int i = 0; i < rounds; i++) {
		if (pthread_mutex_lock(&sh->m) != 0)
			return 1;
		long v = sh->counter;
		if (i % 4 == 0)
			sched_yield();
		sh->counter = v + 1;
		pthread_mutex_unlock(&sh->m);
	}
	return 0;
}

static int buffer(int me)
{
	for (int i = 0; i < rounds; i++) {
		pthread_mutex_lock(&sh->m);
		while (sh->full == !(me & 1))
			pthread_cond_wait(&sh->c, &sh->m);
		sh->full = !(me & 1);
		sh->counter++;
		pthread_cond_broadcast(&sh->c);
		pthread_mutex_unlock(&sh->m);
	}
	return 0;
}

static int answer(int me)
{
	for (int i = 0; i < rounds; i++) {
		while (sem_wait(&sh->go) != 0)
			;
		sem_post(&sh->done);
	}
	return 0;
}

/* Readers see no half of a change, and writers find no reader. */
static int read_and_write(int me)
{
	for (int i = 0; i < rounds; i++) {
		bool write = (i + me) % 4 == 0;

		if ((write ? pthread_rwlock_wrlock(&sh->lock) : pthread_rwlock_rdlock(&sh->lock)) !=
		    0)
			return 1;
		if (write) {
			if (__atomic_load_n(&sh->readers, __ATOMIC_RELAXED) != 0)
				sh->wrong++;
			sh->first++;
			if (i % 8 == 0)
				sched_yield();
			sh->second++;
			sh->counter++;
		} else {
			__atomic_add_fetch(&sh->readers, 1, __ATOMIC_RELAXED);
			if (sh->first != sh->second)
				sh->wrong++;
			if (i % 8 == 0)
				sched_yield();
			__atomic_sub_fetch(&sh->readers, 1, __ATOMIC_RELAXED);
		}
		if (pthread_rwlock_unlock(&sh->lock) != 0)
			return 2;
	}
	return 0;
}

static int march(int me)
{
	for (int i = 1; i <= rounds; i++) {
		int r;

		__atomic_store_n(&sh->step[me], i, __ATOMIC_RELAXED);
		r = pthread_barrier_wait(&sh->barrier);
		if (r == PTHREAD_BARRIER_SERIAL_THREAD)
			__atomic_add_fetch(&sh->serial, 1, __ATOMIC_RELAXED);
		else if (r != 0)
			return 1;
		for (int k = 0; k < PROCESSES; k++) {
			int step = __atomic_load_n(&sh->step[k], __ATOMIC_RELAXED);
			if (step < i || step > i + 1)
				return 2;
		}
	}
	return 0;
}

static int spin(int me)
{
	for (int i = 0; i < rounds; i++) {
		pthread_spin_lock(&sh->spin);
		sh->counter++;
		pthread_spin_unlock(&sh->spin);
	}
	return 0;
}

static void living(void)
{
	init();
	is("exclusion: all well", everybody(add), 0);
	is("exclusion", sh->counter, PROCESSES * rounds);
	init();
	is("buffer: all well", everybody(buffer), 0);
	is("buffer", sh->counter, PROCESSES * rounds);
	is("buffer: empty", sh->full, 0);
	init();
	pid_t pid = child(answer, 0);
	for (int i = 0; i < rounds; i++) {
		sem_post(&sh->go);
		while (sem_wait(&sh->done) != 0)
			;
	}
	is("semaphores", wait_for(pid), 0);
	init();
	is("readers and writers: all well", everybody(read_and_write), 0);
	is("readers and writers keep apart", sh->wrong, 0);
	is("no write was lost", sh->second, sh->counter);

	is("nobody has it", pthread_rwlock_destroy(&sh->lock), 0);
	init();
	is("barrier: all keep step", everybody(march), 0);
	is("barrier: one of each cycle", sh->serial, rounds);
	is("barrier: nobody waits", pthread_barrier_destroy(&sh->barrier), 0);
	init();
	is("spin lock: all well", everybody(spin), 0);
	is("spin lock excludes", sh->counter, PROCESSES * rounds);
}

/* The same objects, made by UNIX International's names. */
static void made_by_ui(void)
{
	const int all = rounds;

	rounds = all / 4 + 1;
	init();
	mutex_init(&sh->m, USYNC_PROCESS, NULL);
	is("mutex_init: all well", everybody(add), 0);
	is("mutex_init: exclusion", sh->counter, PROCESSES * rounds);
	init();
	mutex_init(&sh->m, USYNC_PROCESS, NULL);
	cond_init(&sh->c, USYNC_PROCESS, NULL);
	is("cond_init: all well", everybody(buffer), 0);
	is("cond_init: buffer", sh->counter, PROCESSES * rounds);
	init();
	sema_init(&sh->go, 0, USYNC_PROCESS, NULL);
	sema_init(&sh->done, 0, USYNC_PROCESS, NULL);
	pid_t pid = child(answer, 0);
	for (int i = 0; i < rounds; i++) {
		sema_post(&sh->go);
		while (sema_wait(&sh->done) != 0)
			;
	}
	is("sema_init: semaphores", wait_for(pid), 0);
	init();
	rwlock_init(&sh->lock, USYNC_PROCESS, NULL);
	is("rwlock_init: all well", everybody(read_and_write), 0);
	is("rwlock_init: readers and writers keep apart", sh->wrong, 0);
	rounds = all;
}

/* The writer's mark of one process means nothing in another. */
static int write_too(int me)
{
	struct timespec past = {0, 0};

	return pthread_rwlock_timedwrlock(&sh->lock, &past) == ETIMEDOUT &&
			       pthread_rwlock_unlock(&sh->lock) == EPERM
		       ? 0
		       : 1;
}

static void another_writer(void)
{
	init();
	pthread_rwlock_wrlock(&sh->lock);
	is("the same thread of another process: no deadlock", wait_for(child(write_too, 0)), 0);
	is("... and it is still ours", pthread_rwlock_wrlock(&sh->lock), EDEADLK);
	is("... to give up", pthread_rwlock_unlock(&sh->lock), 0);
}

/* A word at one place of a file, mapped twice at different addresses. */
static void two_addresses(void)
{
	char *a = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct shared *was = sh;

	sh = (struct shared *)(a + 4096);
	init();
	pthread_mutex_lock(&sh->m);
	pid_t pid = child(add, 0);
	struct timespec ts = {0, 1000000};
	nanosleep(&ts, NULL);
	is("a parent that owns it: the child waits", sh->counter, 0);
	pthread_mutex_unlock(&sh->m);
	is("... and goes on", wait_for(pid), 0);
	is("... to the end", sh->counter, rounds);
	munmap(a, 8192);
	sh = was;
}

/* Private memory is two memories after fork: locks in it have nothing in common. */
static pthread_mutex_t own;

static int lock_own(int me)
{
	return pthread_mutex_trylock(&own) != 0;
}

static void private_memory(void)
{
	pthread_mutexattr_t ma;

	pthread_mutexattr_init(&ma);
	pthread_mutexattr_setpshared(&ma, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&own, &ma);
	is("private memory: the child's is another", wait_for(child(lock_own, 0)), 0);
	is("... and the parent's is free", pthread_mutex_lock(&own), 0);
	pthread_mutex_unlock(&own);
}

/* --- those that die -------------------------------------------------------------------------- */

static int take_robust(void)
{
	int error = pthread_mutex_lock(&sh->robust);

	if (error == EOWNERDEAD) {
		sh->dead++;
		if (sh->first != sh->second)
			sh->second = sh->first; /* it died in between */
		pthread_mutex_consistent(&sh->robust);
		return 0;
	}
	if (error == 0 && sh->first != sh->second)
		sh->wrong++;
	return error;
}

/* Until it is killed. */
static int work(int me)
{
	for (;;) {
		if (take_robust() != 0)
			return 1;
		sh->first++;
		if (sh->first % 8 == 0)
			sched_yield();
		sh->second++;
		pthread_mutex_unlock(&sh->robust);
	}
}

static int exit_with_it(int me)
{
	return pthread_mutex_lock(&sh->robust);
}

static int exec_with_it(int me)
{
	char *const argv[] = {"proc_shared", "exec", NULL};

	pthread_mutex_lock(&sh->robust);
	execv("/bin/proc_shared", argv);
	return 1;
}

static void dying(void)
{
	init();
	is("exit with it", wait_for(child(exit_with_it, 0)), 0);
	is("... EOWNERDEAD", pthread_mutex_lock(&sh->robust), EOWNERDEAD);
	is("... consistent", pthread_mutex_consistent(&sh->robust), 0);
	is("... unlock", pthread_mutex_unlock(&sh->robust), 0);
	is("exec with it", wait_for(child(exec_with_it, 0)), 0);
	is("... EOWNERDEAD", pthread_mutex_trylock(&sh->robust), EOWNERDEAD);
	is("... not made consistent", pthread_mutex_unlock(&sh->robust), 0);
	is("... the child is told", WEXITSTATUS(wait_for(child(exit_with_it, 0))), ENOTRECOVERABLE);
}

/* Processes that work on the data, killed at points that nobody chose. */
static void kills(void)
{
	pid_t pid[PROCESSES];
	uint32_t seed = 12345;
	int lives = rounds / 4 + PROCESSES, killed = 0, exited = 0;

	init();
	for (int i = 0; i < lives + PROCESSES; i++) {
		if (i >= PROCESSES) {
			seed = seed * 1103515245 + 12345;
			struct timespec ts = {0, 10000 + seed / 16 % 200000};
			nanosleep(&ts, NULL);
			kill(pid[i % PROCESSES], SIGKILL);
			int status = wait_for(pid[i % PROCESSES]);
			killed += WIFSIGNALED(status);
			exited += WIFEXITED(status);
		}
		if (i < lives)
			pid[i % PROCESSES] = child(work, i);
	}
	is("kills: all were killed", killed, lives);
	is("kills: nobody gave up", exited, 0);
	int error = pthread_mutex_lock(&sh->robust);
	ok("kills: it can be had", error == 0 || error == EOWNERDEAD);
	is("kills: nobody saw half of a change", sh->wrong, 0);
	ok("kills: not more deaths than told", sh->dead <= lives);
	printf("# %ld of %d died with the mutex; %ld changes\n", sh->dead, lives, sh->second);
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "exec") == 0)
		return 0;
	if (argc > 1)
		rounds = atoi(argv[1]);
	sh = mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (sh == MAP_FAILED)
		bail("mmap: %d", errno);
	living();
	made_by_ui();
	another_writer();
	two_addresses();
	private_memory();
	dying();
	kills();
	return tap_done();
}
