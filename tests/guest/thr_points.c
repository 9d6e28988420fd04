/*
 * thr_points.c - which functions are cancellation points, and which are not (POSIX.1-2008,
 * 2.9.5.2), in every model.  (Functions that may be points, and are none: thr_nopoints.c.)
 *
 * Each point is tried with a cancellation that is pending before the call.  Each point that can
 * block is also tried with a cancellation that comes at a random moment around its sleep.
 * Argument: how often such a cancellation is tried.
 */
#define _GNU_SOURCE
#include "start.h"
#include "tap.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static unsigned rounds = 8;

static int empty[2]; /* a pipe: nothing to read */
static int full[2];  /* and one that takes no more */
static int file;
#define OTHERS 5000 /* the byte of it that another process has locked */
static char *page;
static sigset_t sigusr2;
static pthread_t sleeper_thread;
static sem_t zero, shared_zero, one;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, shared_m;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER, shared_c;
static char buf[100000];

static const struct timespec hour = {.tv_sec = 3600}, never = {.tv_sec = 4000000000};
static struct iovec iov = {.iov_base = buf, .iov_len = sizeof(buf)};

/* --- points ------------------------------------------------------------------------- */

static void do_read(void)
{
	read(empty[0], buf, 1);
}
static void do_readv(void)
{
	readv(empty[0], &iov, 1);
}
static void do_write(void)
{
	write(full[1], buf, sizeof(buf));
}
static void do_writev(void)
{
	writev(full[1], &iov, 1);
}
static void do_pread(void)
{
	pread(file, buf, 1, 0);
}
static void do_pwrite(void)
{
	pwrite(file, buf, 1, 0);
}
static void do_open(void)
{
	open("/dev/null", O_RDONLY);
}
static void do_openat(void)
{
	openat(AT_FDCWD, "/tmp/thr_points.2", O_WRONLY | O_CREAT, 0600);
}
static void do_creat(void)
{
	creat("/tmp/thr_points.2", 0600);
}
static void do_close(void)
{
	close(file);
}
static void do_fsync(void)
{
	fsync(file);
}
static void do_fdatasync(void)
{
	fdatasync(file);
}
static void do_setlkw(void)
{
	struct flock lock = {.l_type = F_WRLCK, .l_start = OTHERS, .l_len = 1};
	fcntl(file, F_SETLKW, &lock);
}
static void do_msync(void)
{
	msync(page, 4096, MS_SYNC);
}
static void do_poll(void)
{
	struct pollfd p = {.fd = empty[0], .events = POLLIN};
	poll(&p, 1, -1);
}
static void do_ppoll(void)
{
	struct pollfd p = {.fd = empty[0], .events = POLLIN};
	ppoll(&p, 1, &hour, &sigusr2);
}
static void do_select(void)
{
	fd_set in;
	FD_ZERO(&in);
	FD_SET(empty[0], &in);
	select(empty[0] + 1, &in, NULL, NULL, NULL);
}
static void do_pselect(void)
{
	fd_set in;
	FD_ZERO(&in);
	FD_SET(empty[0], &in);
	pselect(empty[0] + 1, &in, NULL, NULL, &hour, &sigusr2);
}
static void do_nanosleep(void)
{
	nanosleep(&hour, NULL);
}
static void do_clock_nanosleep(void)
{
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &never, NULL);
}
static void do_sleep(void)
{
	sleep(3600);
}
static void do_usleep(void)
{
	usleep(UINT_MAX);
}
static void do_pause(void)
{
	pause();
}
static void do_sigsuspend(void)
{
	sigset_t none = 0;
	sigsuspend(&none);
}
static void do_sigwait(void)
{
	int sig;
	sigwait(&sigusr2, &sig);
}
static void do_sigwaitinfo(void)
{
	sigwaitinfo(&sigusr2, NULL);
}
static void do_sigtimedwait(void)
{
	sigtimedwait(&sigusr2, NULL, &hour);
}
static void do_wait(void)
{
	wait(NULL);
}
static void do_waitpid(void)
{
	waitpid(-1, NULL, 0);
}
static void do_waitid(void)
{
	siginfo_t info;
	waitid(P_ALL, 0, &info, WEXITED);
}
static void do_tcdrain(void)
{
	tcdrain(1);
}
static void do_system(void)
{
	system("sleep 3600");
}
static void do_join(void)
{
	pthread_join(sleeper_thread, NULL);
}
static void do_timedjoin(void)
{
	pthread_timedjoin_np(sleeper_thread, NULL, &never);
}
static void do_sem_wait(void)
{
	sem_wait(&zero);
}
static void do_sem_wait_free(void)
{
	sem_wait(&one);
}
static void do_sem_timedwait(void)
{
	sem_timedwait(&zero, &never);
}
static void do_shared_sem_wait(void)
{
	sem_wait(&shared_zero);
}
static void unlock(void *mutex)
{
	pthread_mutex_unlock(mutex);
}
static void do_cond_wait(void)
{
	pthread_mutex_lock(&m);
	pthread_cleanup_push(unlock, &m);
	pthread_cond_wait(&c, &m);
	pthread_cleanup_pop(1);
}
static void do_cond_timedwait(void)
{
	pthread_mutex_lock(&m);
	pthread_cleanup_push(unlock, &m);
	pthread_cond_timedwait(&c, &m, &never);
	pthread_cleanup_pop(1);
}
static void do_shared_cond_wait(void)
{
	pthread_mutex_lock(&shared_m);
	pthread_cleanup_push(unlock, &shared_m);
	pthread_cond_wait(&shared_c, &shared_m);
	pthread_cleanup_pop(1);
}

/* Blocks in the library; in the kernel; in either, as its thread is unbound or bound; does not. */
enum { USER, KERNEL, SIGNAL, SHORT };

static const struct point {
	const char *name;
	void (*call)(void);
	int kind;
} points[] = {
	{"read", do_read, KERNEL},
	{"readv", do_readv, KERNEL},
	{"write", do_write, KERNEL},
	{"writev", do_writev, KERNEL},
	{"pread", do_pread, SHORT},
	{"pwrite", do_pwrite, SHORT},
	{"open", do_open, SHORT},
	{"openat", do_openat, SHORT},
	{"creat", do_creat, SHORT},
	{"close", do_close, SHORT},
	{"fsync", do_fsync, SHORT},
	{"fdatasync", do_fdatasync, SHORT},
	{"fcntl F_SETLKW", do_setlkw, KERNEL},
	{"msync", do_msync, SHORT},
	{"poll", do_poll, KERNEL},
	{"ppoll", do_ppoll, KERNEL},
	{"select", do_select, KERNEL},
	{"pselect", do_pselect, KERNEL},
	{"nanosleep", do_nanosleep, KERNEL},
	{"clock_nanosleep", do_clock_nanosleep, KERNEL},
	{"sleep", do_sleep, KERNEL},
	{"usleep", do_usleep, KERNEL},
	{"pause", do_pause, SIGNAL},
	{"sigsuspend", do_sigsuspend, SIGNAL},
	{"sigwait", do_sigwait, SIGNAL},
	{"sigwaitinfo", do_sigwaitinfo, SIGNAL},
	{"sigtimedwait", do_sigtimedwait, SIGNAL},
	{"wait", do_wait, KERNEL},
	{"waitpid", do_waitpid, KERNEL},
	{"waitid", do_waitid, KERNEL},
	{"tcdrain", do_tcdrain, SHORT},
	{"system", do_system, KERNEL},
	{"pthread_join", do_join, USER},
	{"pthread_timedjoin_np", do_timedjoin, USER},
	{"sem_wait", do_sem_wait, USER},
	{"sem_wait, free", do_sem_wait_free, SHORT},
	{"sem_timedwait", do_sem_timedwait, USER},
	{"sem_wait, shared", do_shared_sem_wait, KERNEL},
	{"pthread_cond_wait", do_cond_wait, USER},
	{"pthread_cond_timedwait", do_cond_timedwait, USER},
	{"pthread_cond_wait, shared", do_shared_cond_wait, KERNEL},
	{"pthread_testcancel", pthread_testcancel, SHORT},
};
#define NPOINTS (sizeof(points) / sizeof(points[0]))

static const struct point *point;
static volatile int waiting, may_go_on, returned;

static void *with_pending(void *arg)
{
	pthread_cancel(pthread_self());
	point->call();
	returned = 1;
	return NULL;
}

static void *blocks(void *arg)
{
	sigset_t mask;

	waiting = 1;
	for (;;) {
		point->call();
		pthread_sigmask(SIG_BLOCK, NULL, &mask);
		if (mask != sigusr2) /* what sigsuspend and ppoll leave */
			return NULL;
	}
}

static void *start_and_join(void *(*fn)(void *), int bound, void (*meanwhile)(pthread_t))
{
	pthread_t t;
	void *r;

	waiting = 0;
	t = start(fn, NULL, bound ? PTHREAD_SCOPE_SYSTEM : PTHREAD_SCOPE_PROCESS);
	if (meanwhile)
		meanwhile(t);
	pthread_join(t, &r);
	return r;
}

static void nap(void)
{
	struct timespec ts = {.tv_nsec = rand() % 300000};

	nanosleep(&ts, NULL);
}

static void cancel_later(pthread_t t)
{
	while (!waiting)
		sched_yield();
	if (rand() & 1)
		nap();
	for (int i = rand() % 4; i > 0; i--)
		sched_yield();
	pthread_cancel(t);
}

static void handler(int sig)
{
	for (int i = rand() % 3; i > 0; i--)
		sched_yield(); /* an unbound thread may go on on another LWP */
}

/* A handler at any moment; only then the cancellation. */
static void interrupt_and_cancel(pthread_t t)
{
	while (!waiting)
		sched_yield();
	if (rand() & 1)
		nap();
	pthread_kill(t, SIGUSR1);
	for (int i = rand() % 3; i > 0; i--)
		sched_yield();
	pthread_cancel(t);
}

static void test_points(int n1)
{
	unsigned pending = 0, blocked = 0, unbound = 0, interrupted = 0, expected = 0;

	for (point = points; point < points + NPOINTS; point++) {
		int good;

		returned = 0;
		good = start_and_join(with_pending, 0, NULL) == PTHREAD_CANCELED && !returned;
		pending += good;
		if (!good)
			ok(point->name, !"it is no point");
	}
	is("points, with one pending", pending, NPOINTS);
	ok("close: has not closed", fcntl(file, F_GETFD) >= 0);
	is("open, openat, creat: have made no file", access("/tmp/thr_points.2", F_OK), -1);
	is("sem_wait: has not waited", sem_trywait(&one), 0);
	sem_post(&one);

	for (point = points; point < points + NPOINTS; point++) {
		if (point->kind == SHORT || (n1 && point->kind == KERNEL))
			continue;
		for (unsigned i = 0; i < rounds; i++) {
			expected++;
			blocked += start_and_join(blocks, 1, cancel_later) == PTHREAD_CANCELED;
			unbound += start_and_join(blocks, 0, cancel_later) == PTHREAD_CANCELED;
			interrupted += point->kind == USER ||
				       start_and_join(blocks, i & 1, interrupt_and_cancel) ==
					       PTHREAD_CANCELED;
		}
	}
	is("points, in their sleep or on the way to it", blocked, expected);
	is("the same of unbound threads", unbound, expected);
	is("the same after a handler", interrupted, expected);
	ok("system: SIGINT is as it was", signal(SIGINT, SIG_DFL) == SIG_DFL);
	is("no mutex has been left locked", pthread_mutex_trylock(&m), 0);
	pthread_mutex_unlock(&m);
	is("nor a shared one", pthread_mutex_trylock(&shared_m), 0);
	pthread_mutex_unlock(&shared_m);
}

/* --- no points ------------------------------------------------------------------------ */

static void init(void)
{
}

static void *nothing(void *arg)
{
	return NULL;
}

static pthread_barrier_t barrier;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;

/* Of the functions that POSIX does not name, a selection: of each kind some. */
static void *calls_others(void *arg)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct timespec past = {0};
	struct sched_param param;
	pthread_attr_t attr;
	sigset_t set;
	pthread_t t;
	pthread_key_t key;
	int end[2], value;

	pthread_cancel(pthread_self());
	pthread_mutex_lock(&m);
	pthread_mutex_trylock(&m);
	pthread_mutex_timedlock(&m, &past);
	pthread_cond_signal(&c);
	pthread_cond_broadcast(&c);
	pthread_mutex_unlock(&m);
	pthread_mutex_lock(&shared_m);
	pthread_mutex_unlock(&shared_m);
	pthread_barrier_wait(&barrier);
	pthread_once(&once, init);
	pthread_key_create(&key, NULL);
	pthread_setspecific(key, &value);
	pthread_key_delete(key);
	pthread_create(&t, NULL, nothing, NULL);
	pthread_detach(t);
	pthread_kill(pthread_self(), 0);
	pthread_sigmask(SIG_BLOCK, &sigusr2, NULL);
	raise(SIGUSR1);
	sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 1});
	sigpending(&set);
	sched_yield();
	pthread_attr_init(&attr);
	pthread_attr_destroy(&attr);
	pthread_getschedparam(pthread_self(), &value, &param);
	pthread_setschedparam(pthread_self(), value, &param);
	pthread_setschedprio(pthread_self(), param.sched_priority);
	pthread_setconcurrency(pthread_getconcurrency());
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &value);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &value);
	pthread_cancel(pthread_self());
	pthread_atfork(NULL, NULL, NULL);
	sched_getparam(0, &param);
	sem_post(&one);
	sem_trywait(&one);
	sem_getvalue(&one, &value);
	pipe(end);
	lseek(file, 0, SEEK_SET);
	dup2(end[0], end[1]);
	fcntl(file, F_GETFD);
	kill(getpid(), 0);
	free(malloc(100));
	shm_unlink("/thr_points");
	value = shm_open("/thr_points", O_RDWR | O_CREAT, 0600);
	ftruncate(value, 4096);
	return "returned";
}

/* A rwlock is held by another thread; a mutex too: waits that are none of the points. */
static void *waits_for_mutex(void *arg)
{
	waiting = 1;
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	pthread_rwlock_wrlock(&rw);
	pthread_rwlock_unlock(&rw);
	pthread_barrier_wait(&barrier);
	return "returned";
}

static void cancel_and_let_go(pthread_t t)
{
	cancel_later(t);
	for (int i = 0; i < 5; i++)
		sched_yield();
	pthread_mutex_unlock(&m);
	for (int i = 0; i < 5; i++)
		sched_yield();
	pthread_rwlock_unlock(&rw);
	pthread_barrier_wait(&barrier);
}

static void test_others(void)
{
	void *r;

	pthread_barrier_init(&barrier, NULL, 1);
	r = start_and_join(calls_others, 0, NULL);
	ok("others are no points", r != PTHREAD_CANCELED);
	pthread_barrier_init(&barrier, NULL, 2);
	for (unsigned i = 0; i < rounds; i++) {
		pthread_mutex_lock(&m);
		pthread_rwlock_rdlock(&rw);
		r = start_and_join(waits_for_mutex, i & 1, cancel_and_let_go);
		if (r == PTHREAD_CANCELED)
			break;
	}
	ok("waits for mutex, rwlock and barrier are none", r != PTHREAD_CANCELED);
}

/* A handler without SA_RESTART ends a wait for a shared semaphore, and for no other. */
static void *interrupted(void *arg)
{
	waiting = 1;
	return (void *)(long)(sem_wait(&shared_zero) == -1 && errno == EINTR);
}

/* With time to get to the wait in between: one signal after the other would leave it none. */
static void interrupt(pthread_t t)
{
	char name[16];

	do {
		nap();
		if (waiting)
			pthread_kill(t, SIGUSR1);
	} while (pthread_getname_np(t, name, sizeof(name)) == 0);
}

static void *sleeps(void *arg)
{
	sem_wait(&zero);
	return NULL;
}

int main(int argc, char **argv)
{
	const char *model = getenv("LIBTHREAD");
	int n1 = model && strcmp(model, "n1") == 0;
	pthread_mutexattr_t ma;
	pthread_condattr_t ca;
	struct flock others = {.l_type = F_WRLCK, .l_start = OTHERS, .l_len = 1};
	pid_t child;

	if (argc > 1)
		rounds = atoi(argv[1]);
	sigemptyset(&sigusr2);
	sigaddset(&sigusr2, SIGUSR2);
	pthread_sigmask(SIG_SETMASK, &sigusr2, NULL);
	signal(SIGUSR1, handler);
	if (pipe(empty) < 0 || pipe(full) < 0)
		bail("pipe");
	fcntl(full[1], F_SETFL, O_NONBLOCK);
	while (write(full[1], buf, sizeof(buf)) > 0)
		;
	while (write(full[1], buf, 1) > 0)
		;
	fcntl(full[1], F_SETFL, 0);
	file = open("/tmp/thr_points", O_RDWR | O_CREAT | O_TRUNC, 0600);
	write(file, buf, 4096);
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	sem_init(&zero, 0, 0);
	sem_init(&one, 0, 1);
	sem_init(&shared_zero, 1, 0);
	pthread_mutexattr_init(&ma);
	pthread_mutexattr_setpshared(&ma, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&shared_m, &ma);
	pthread_condattr_init(&ca);
	pthread_condattr_setpshared(&ca, PTHREAD_PROCESS_SHARED);
	pthread_cond_init(&shared_c, &ca);
	child = fork();
	if (child == 0) {
		fcntl(file, F_SETLK, &others);
		for (;;)
			pause();
	}
	do {
		others.l_type = F_WRLCK;
		fcntl(file, F_GETLK, &others);
	} while (others.l_type == F_UNLCK);
	if (pthread_create(&sleeper_thread, NULL, sleeps, NULL) != 0)
		bail("pthread_create");
	pthread_setconcurrency(3); /* those that block in the kernel keep their LWP */
	test_points(n1);
	test_others();
	if (!n1) {
		struct sigaction act = {.sa_handler = handler};
		sigaction(SIGUSR1, &act, NULL);
		ok("a shared semaphore and a handler", start_and_join(interrupted, 1, interrupt));
	}
	kill(child, SIGKILL);
	return tap_done();
}
