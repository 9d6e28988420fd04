/*
 * thr_safe.c - async-signal safety (POSIX, 2.4.3): a handler that comes at any moment of malloc,
 * stdio, locks, waits and the making of threads may call what POSIX lets it call, and nothing
 * stands still, is lost or is counted twice.  Argument: rounds.
 *
 * The moments are those of a timer whose period has nothing to do with what the threads do; in
 * exact timing each seed has its own.
 */
#include "tap.h"
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FORK_EVERY 97

static unsigned rounds = 300;
static int log_fd;
static sem_t posted;
static unsigned handled, wrong, children;

/* --- the handler ------------------------------------------------------------------------------- */

static void fork_one(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(7);
	if (pid < 0)
		return; /* no memory, in which nothing is wrong */
	__atomic_add_fetch(&children, 1, __ATOMIC_RELAXED);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			break;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 7)
		__atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
}

static void on_usr1(int sig)
{
}

static void on_alarm(int sig)
{
	unsigned n = __atomic_add_fetch(&handled, 1, __ATOMIC_RELAXED);
	unsigned bad = 0;
	struct sigaction action;
	struct timespec now;
	struct stat st;
	sigset_t set, old;
	char c;

	bad += sem_post(&posted) != 0;
	bad += write(log_fd, "x", 1) != 1;
	bad += clock_gettime(CLOCK_MONOTONIC, &now) != 0;
	bad += fstat(log_fd, &st) != 0;
	bad += close(-1) != -1 || errno != EBADF; /* errno is the interrupted thread's */
	bad += read(-1, &c, 1) != -1;
	bad += kill(getpid(), 0) != 0;
	bad += pthread_kill(pthread_self(), 0) != 0;
	bad += sigaction(SIGALRM, NULL, &action) != 0 || action.sa_handler != on_alarm;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	bad += pthread_sigmask(SIG_BLOCK, &set, &old) != 0;
	bad += raise(SIGUSR1) != 0;
	bad += sigpending(&set) != 0 || !sigismember(&set, SIGUSR1);
	bad += pthread_sigmask(SIG_SETMASK, &old, NULL) != 0; /* here its handler comes */
	if (n % FORK_EVERY == 0)
		fork_one();
	if (bad != 0)
		__atomic_add_fetch(&wrong, bad, __ATOMIC_RELAXED);
}

/* --- what it interrupts -------------------------------------------------------------------------- */

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static sem_t ping, pong;
static unsigned count;

static void allocate(unsigned round, bool first)
{
	char *p[8];

	for (unsigned i = 0; i < 8; i++) {
		p[i] = malloc(16 << (round + i) % 8);
		memset(p[i], i, 16);
	}
	for (unsigned i = 0; i < 8; i++) {
		if (p[i][15] != (char)i)
			__atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
		free(p[i]);
	}
}

static void print(unsigned round, bool first)
{
	static FILE *null;
	char text[32];

	if (first && null == NULL)
		null = fopen("/dev/null", "w");
	snprintf(text, sizeof(text), "%u of %u", round, rounds);
	if (null != NULL)
		fprintf(null, "%s %d %g\n", text, first, round / 3.0);
}

static void lock(unsigned round, bool first)
{
	pthread_mutex_lock(&m);
	count++;
	pthread_mutex_unlock(&m);
}

static void lock_to_write(unsigned round, bool first)
{
	if (round % 4 == 0) {
		pthread_rwlock_wrlock(&rw);
		count++;
	} else {
		pthread_rwlock_rdlock(&rw);
		__atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
	}
	pthread_rwlock_unlock(&rw);
}

static void wait_for_turn(unsigned round, bool first)
{
	pthread_mutex_lock(&m);
	while (count % 2 != (first ? 0 : 1))
		pthread_cond_wait(&c, &m);
	count++;
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&m);
}

static void pass(unsigned round, bool first)
{
	if (!first)
		sem_wait(&ping); /* which no handler ends: no other process has it */
	__atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
	sem_post(first ? &ping : &pong);
	if (first)
		sem_wait(&pong);
}

static void *nothing(void *arg)
{
	__atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
	return arg;
}

static void create(unsigned round, bool first)
{
	pthread_t t;

	if (pthread_create(&t, NULL, nothing, NULL) != 0)
		bail("pthread_create");
	pthread_join(t, NULL);
}

static void wait_in_vain(unsigned round, bool first)
{
	static sem_t none;
	struct timespec soon;

	clock_gettime(CLOCK_REALTIME, &soon);
	soon.tv_nsec += 20000;
	if (soon.tv_nsec >= 1000000000) {
		soon.tv_nsec -= 1000000000;
		soon.tv_sec++;
	}
	while (sem_timedwait(&none, &soon) != -1 || errno != ETIMEDOUT)
		if (errno != EINTR)
			__atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
}

static const struct work {
	const char *name;
	void (*turn)(unsigned round, bool first);
	unsigned turns;      /* a round: so many that handlers come */
	bool counts, errors; /* `count` tells of it; it changes errno */
} works[] = {
	{"malloc and free", allocate, 2, false, false},
	{"stdio", print, 1, false, true},
	{"a mutex", lock, 30, true, false},
	{"a reader-writer lock", lock_to_write, 30, true, false},
	{"a condition variable", wait_for_turn, 2, true, false},
	{"semaphores", pass, 2, true, false},
	{"threads made and joined", create, 1, true, false},
	{"waits in vain", wait_in_vain, 1, true, true},
};

static void all_turns(const struct work *w, bool first)
{
	errno = 77;
	for (unsigned i = 0; i < rounds * w->turns; i++)
		w->turn(i, first);
	if (errno != 77 && !w->errors)
		__atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
}

static void *partner(void *arg)
{
	all_turns(arg, false);
	return NULL;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	const struct itimerval off = {{0, 0}, {0, 0}}, on = {{0, 41}, {0, 41}};
	struct stat st;
	pthread_t t;
	int posts;

	if (argc > 1)
		rounds = atoi(argv[1]);
	sem_init(&posted, 0, 0);
	sem_init(&ping, 0, 0);
	sem_init(&pong, 0, 0);
	log_fd = open("/tmp/thr_safe", O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
	signal(SIGUSR1, on_usr1);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &on, NULL);
	for (const struct work *w = works; w < works + sizeof(works) / sizeof(works[0]); w++) {
		count = 0;
		if (pthread_create(&t, NULL, partner, (void *)w) != 0)
			bail("pthread_create");
		all_turns(w, true);
		pthread_join(t, NULL);
		if (w->counts)
			is(w->name, count, 2 * rounds * w->turns);
	}
	setitimer(ITIMER_REAL, &off, NULL);
	nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	/* Not in each work: the LWP that was chosen may wait for its CPU that long. */
	ok("handlers have come", handled > 100);
	is("nothing went wrong in them", wrong, 0);
	sem_getvalue(&posted, &posts);
	is("each has posted", posts, handled);
	fstat(log_fd, &st);
	is("each has written", st.st_size, handled);
	ok("some have forked", children > 0);
	unlink("/tmp/thr_safe");
	return tap_done();
}
