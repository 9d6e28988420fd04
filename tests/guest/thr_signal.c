/*
 * thr_signal.c - signals of threads in every model: masks that stay with their thread,
 * pthread_kill, sigwait, handlers that run between any two instructions of the library.
 * Arguments: rounds of the races; and `again`, of itself, without preemption control.
 */
#include "sigtest.h"
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static unsigned rounds = 200;

/* --- masks --------------------------------------------------------------------------- */

static volatile int wrong_masks;

/* Each yields to the others, over and over, and must find its own mask every time. */
static void *masked_thread(void *arg)
{
	int sig = SIGRTMIN + (long)arg;
	sigset_t mine = set_of(sig);

	if (arg == NULL)
		mine = 0;
	pthread_sigmask(SIG_SETMASK, &mine, NULL);
	for (unsigned i = 0; i < rounds; i++) {
		sched_yield();
		if (mask_now() != mine)
			wrong_masks++;
	}
	return NULL;
}

static void *report_mask(void *arg)
{
	*(sigset_t *)arg = mask_now();
	return NULL;
}

static void masks(void)
{
	pthread_t t[4];
	sigset_t usr1 = set_of(SIGUSR1), seen = 0, old;

	for (long i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, masked_thread, (void *)i);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	is("a mask stays with its thread", wrong_masks, 0);
	is("pthread_sigmask: how", pthread_sigmask(77, &usr1, NULL), EINVAL);
	is("pthread_sigmask", pthread_sigmask(SIG_BLOCK, &usr1, &old), 0);
	is("pthread_sigmask: old", old, 0);
	pthread_create(&t[0], NULL, report_mask, &seen);
	pthread_join(t[0], NULL);
	ok("a thread begins with its creator's mask", seen == usr1);
	pthread_sigmask(SIG_UNBLOCK, &usr1, NULL);
	is("pthread_sigmask: unblock", mask_now(), 0);
}

/* --- pthread_kill ---------------------------------------------------------------------- */

static volatile int running, may_end;

static void *spinner(void *arg)
{
	running = 1;
	while (!may_end)
		sched_yield();
	return NULL;
}

static void *nothing(void *arg)
{
	return NULL;
}

/* Has it not exited? */
static int alive(pthread_t t)
{
	char name[16];

	return pthread_getname_np(t, name, sizeof(name)) == 0;
}

static void kills(void)
{
	pthread_t t;

	catch (SIGUSR1, note, 0);
	is("pthread_kill: self", pthread_kill(pthread_self(), SIGUSR1), 0);
	ok("pthread_kill: self: at once", handled == 1 && handled_by == pthread_self());
	pthread_create(&t, NULL, spinner, NULL);
	while (!running)
		sched_yield();
	is("pthread_kill: 0", pthread_kill(t, 0), 0);
	is("pthread_kill: no such signal", pthread_kill(t, NSIG), EINVAL);
	is("pthread_kill", pthread_kill(t, SIGUSR1), 0);
	while (handled == 1)
		sched_yield();
	ok("pthread_kill: that thread", handled_by == t);
	may_end = 1;
	pthread_join(t, NULL);
	is("pthread_kill: gone", pthread_kill(t, SIGUSR1), ESRCH);
	pthread_create(&t, NULL, nothing, NULL);
	is("pthread_kill: not yet run, or gone", pthread_kill(t, 0), 0);
	UNTIL(!alive(t));
	is("pthread_kill: exited", pthread_kill(t, SIGUSR1), 0);
	is("pthread_kill: exited: nothing happens", handled, 2);
	is("pthread_kill: exited: can be joined still", pthread_join(t, NULL), 0);
	is("raise is to oneself", raise(SIGUSR1), 0);
	is("raise: at once", handled, 3);
}

/* --- pending signals ------------------------------------------------------------------------ */

static sigset_t pending_now(void)
{
	sigset_t s;

	sigpending(&s);
	return s;
}

/* A new thread has its creator's mask, and nothing else of it. */
static void *reports_pending(void *arg)
{
	stack_t stack = {0};
	int state, type;

	*(sigset_t *)arg = pending_now();
	sigaltstack(NULL, &stack);
	ok("no alternate stack of its creator's", stack.ss_flags == SS_DISABLE);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
	ok("nor what that allows",
	   state == PTHREAD_CANCEL_ENABLE && type == PTHREAD_CANCEL_DEFERRED);
	return NULL;
}

static void pending(void)
{
	static char memory[SIGSTKSZ];
	const stack_t stack = {.ss_sp = memory, .ss_size = sizeof(memory)},
		      none = {.ss_flags = SS_DISABLE};
	sigset_t usr1 = set_of(SIGUSR1), usr2 = set_of(SIGUSR2), both = usr1 | usr2, all, seen = 0;
	pthread_t t;
	int sig;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	sched_yield();
	is("SIGKILL and SIGSTOP cannot be blocked",
	   mask_now() & (set_of(SIGKILL) | set_of(SIGSTOP)), 0);
	pthread_sigmask(SIG_SETMASK, &both, NULL);

	pthread_kill(pthread_self(), SIGUSR1);
	kill(getpid(), SIGUSR2);
	sched_yield();
	is("what is pending: of the thread and of the process", pending_now(), both);
	sigaltstack(&stack, NULL);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_create(&t, NULL, reports_pending, &seen);
	pthread_join(t, NULL);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	sigaltstack(&none, NULL);
	is("another thread has those of the process", seen, usr2);
	is("the thread's stay with it", pending_now(), both);
	is("sigwait takes them", sigwait(&usr1, &sig) | sigwait(&usr2, &sig), 0);
	is("and they are gone", pending_now(), 0);

	/* No other thread can take it: it comes before kill returns. */
	catch (SIGUSR1, note, 0);
	handled = 0;
	pthread_sigmask(SIG_UNBLOCK, &usr1, NULL);
	kill(getpid(), SIGUSR1);
	is("kill of one's own process: at once", handled, 1);
	is("sigqueue", sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 1}), 0);
	is("sigqueue to one's own process: at once", handled, 2);
	pthread_sigmask(SIG_UNBLOCK, &usr2, NULL);
}

/* --- pthread_join ------------------------------------------------------------------------ */

static sem_t end_it;

static void *ends(void *arg)
{
	sem_wait(&end_it);
	return arg;
}

static void *joins(void *arg)
{
	void *status = NULL;

	running = 1;
	return pthread_join(*(pthread_t *)arg, &status) == 0 ? status : NULL;
}

/* Handlers of a thread that waits for another thread's end, which is still to come. */
static void joined(void)
{
	pthread_t t, joiner;
	void *r;

	sem_init(&end_it, 0, 0);
	catch (SIGUSR1, note, 0);
	handled = running = 0;
	pthread_create(&t, NULL, ends, &t);
	pthread_create(&joiner, NULL, joins, &t);
	UNTIL(running);
	for (int i = 1; i <= 5; i++) {
		a_turn();
		pthread_kill(joiner, SIGUSR1);
		UNTIL(handled == i);
	}
	ok("pthread_join: handlers of the joiner", handled_by == joiner);
	is("... end no wait", alive(joiner), 1);
	sem_post(&end_it);
	pthread_join(joiner, &r);
	ok("... which gets the status", r == &t);
}

/* --- sigwait ----------------------------------------------------------------------------- */

static sem_t got;
static volatile int waited_for;

static void *waiter(void *arg)
{
	sigset_t s = set_of(SIGUSR2);
	int sig;

	for (int i = 0; i < 3; i++) {
		sigwait(&s, &sig);
		waited_for += sig;
		sem_post(&got);
	}
	return NULL;
}

static void sigwaits(void)
{
	sigset_t s = set_of(SIGUSR2);
	pthread_attr_t bound;
	pthread_t t;

	sem_init(&got, 0, 0);
	pthread_attr_init(&bound);
	pthread_attr_setscope(&bound, PTHREAD_SCOPE_SYSTEM);
	pthread_sigmask(SIG_BLOCK, &s, NULL);
	pthread_create(&t, &bound, waiter, NULL);
	for (int i = 0; i < 3; i++) {
		kill(getpid(), SIGUSR2);
		sem_wait(&got);
	}
	pthread_join(t, NULL);
	is("a thread waits for the process's signals", waited_for, 3 * SIGUSR2);
	pthread_sigmask(SIG_UNBLOCK, &s, NULL);
}

/* --- takers that come and go ----------------------------------------------------------------- */

static void *takes_one(void *arg)
{
	sigset_t s = set_of(SIGUSR1);

	pthread_sigmask(SIG_UNBLOCK, &s, NULL);
	sem_post(&got);
	while (sem_wait(&end_it) != 0)
		;
	return NULL;
}

/*
 * The library may remember the thread that took the last signal.  Each taker has its stack from the program, so that it leaves
 * the list of threads at once.  A signal that no thread takes makes the library look through the whole list.
 */
static void takers(void)
{
	static char stack[65536] __attribute__((aligned(4096)));
	const struct timespec soon = {.tv_nsec = 1000000};
	sigset_t s = set_of(SIGUSR1);
	unsigned lost = 0;
	pthread_attr_t own;
	pthread_t t;

	sem_init(&got, 0, 0);
	sem_init(&end_it, 0, 0);
	catch (SIGUSR1, note, 0);
	pthread_sigmask(SIG_BLOCK, &s, NULL);
	pthread_attr_init(&own);
	pthread_attr_setstack(&own, stack, sizeof(stack));
	for (int i = 0; i < 5; i++) {
		if (pthread_create(&t, &own, takes_one, NULL) != 0)
			bail("pthread_create");
		sem_wait(&got);
		handled = 0;
		kill(getpid(), SIGUSR1);
		UNTIL(handled == 1);
		sem_post(&end_it);
		pthread_join(t, NULL);
		kill(getpid(), SIGUSR1);
		nanosleep(&soon, NULL); /* all LWPs are idle and look */
		lost += sigtimedwait(&s, NULL, &soon) != SIGUSR1;
	}
	is("the process's signals: each taker takes one, and what none takes stays pending", lost,
	   0);
	pthread_attr_destroy(&own);
	pthread_sigmask(SIG_UNBLOCK, &s, NULL);
}

/* --- handlers at any moment ---------------------------------------------------------------- */

static sem_t posted;
static volatile unsigned posts;

static void post(int sig)
{
	__atomic_add_fetch(&posts, 1, __ATOMIC_RELAXED); /* handlers of two threads at once */
	sem_post(&posted);
}

/*
 * The handler posts what the main thread waits for, and interrupts threads that use every
 * kind of object: a handler in the middle of the library's locks would hang.
 */
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static volatile int stop;
static volatile unsigned long turns;

static void *busy(void *arg)
{
	pthread_t t;

	while (!stop) {
		pthread_mutex_lock(&m);
		turns++;
		pthread_cond_signal(&c);
		pthread_mutex_unlock(&m);
		sched_yield();
		if (turns % 64 == 0 && pthread_create(&t, NULL, nothing, NULL) == 0)
			pthread_join(t, NULL);
	}
	return NULL;
}

static void *conds(void *arg)
{
	while (!stop) {
		struct timespec soon;
		clock_gettime(CLOCK_REALTIME, &soon);
		soon.tv_nsec += 2000000;
		soon.tv_sec += soon.tv_nsec / 1000000000;
		soon.tv_nsec %= 1000000000;
		pthread_mutex_lock(&m);
		pthread_cond_timedwait(&c, &m, &soon);
		pthread_mutex_unlock(&m);
	}
	return NULL;
}

static void storm(void)
{
	pthread_t t[4];
	struct itimerval tick = {{0, 300}, {0, 300}}, off = {{0, 0}, {0, 0}};
	unsigned waits = 0;

	stop = 0;
	posts = 0;
	sem_init(&posted, 0, 0);
	catch (SIGALRM, post, SA_RESTART);
	catch (SIGUSR1, post, SA_RESTART);
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, i % 2 ? conds : busy, NULL);
	setitimer(ITIMER_REAL, &tick, NULL);
	for (unsigned i = 0; i < rounds; i++) {
		sem_wait(&posted);
		waits++;
		if (i % 3 == 0)
			pthread_kill(t[i % 4], SIGUSR1);
	}
	setitimer(ITIMER_REAL, &off, NULL);
	stop = 1;
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	while (sem_trywait(&posted) == 0)
		waits++;
	is("a storm of signals: every post arrives", waits, posts);
	ok("and the threads got on", turns > 0);
}

/* Each thread sends signals to its neighbour, which is at a lock, in a handler or asleep. */
static pthread_t ring[3];
static volatile unsigned long in_handler, sent;
static volatile int dead;

static void count(int sig)
{
	__atomic_add_fetch(&in_handler, 1, __ATOMIC_RELAXED);
}

static void *shooter(void *arg)
{
	long me = (long)arg;

	while (!running)
		sched_yield();
	for (unsigned i = 0; i < rounds; i++) {
		pthread_mutex_lock(&m);
		sched_yield();
		pthread_mutex_unlock(&m);
		if (pthread_kill(ring[(me + 1) % 3], SIGRTMIN) == 0)
			__atomic_add_fetch(&sent, 1, __ATOMIC_RELAXED);
	}
	/* Nobody leaves before all have shot. */
	__atomic_add_fetch(&dead, 1, __ATOMIC_RELAXED);
	while (dead < 3)
		sched_yield();
	return NULL;
}

static void neighbours(void)
{
	sigset_t rt = set_of(SIGRTMIN), old;

	catch (SIGRTMIN, count, SA_RESTART);
	pthread_sigmask(SIG_BLOCK, &rt, &old);
	running = 0;
	for (long i = 0; i < 3; i++)
		pthread_create(&ring[i], NULL, shooter, (void *)i);
	running = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(ring[i], NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	is("every shot is sent", sent, 3 * rounds);
	is("none to a thread that blocks it", in_handler, 0);
}

/* sigsuspend in a thread against a signal that comes at any moment. */
static volatile int suspended;

static void *sender(void *arg)
{
	pthread_t to = *(pthread_t *)arg;

	while (!stop) {
		pthread_kill(to, SIGUSR1);
		sched_yield();
	}
	return NULL;
}

static void suspends(void)
{
	pthread_attr_t bound;
	pthread_t t, self = pthread_self();
	sigset_t usr1 = set_of(SIGUSR1), none = 0;
	int wrong = 0;

	pthread_attr_init(&bound);
	pthread_attr_setscope(&bound, PTHREAD_SCOPE_SYSTEM);
	catch (SIGUSR1, note, 0);
	pthread_sigmask(SIG_BLOCK, &usr1, NULL);
	stop = 0;
	pthread_create(&t, &bound, sender, &self);
	for (unsigned i = 0; i < rounds; i++) {
		int before = handled;
		sigsuspend(&none);
		wrong += handled == before || errno != EINTR || mask_now() != usr1;
	}
	stop = 1;
	pthread_join(t, NULL);
	is("sigsuspend returns after a handler, with the old mask", wrong, 0);
	pthread_sigmask(SIG_UNBLOCK, &usr1, NULL);
}

/* A handler that does not return. */
static sigjmp_buf env;

static void jump(int sig)
{
	siglongjmp(env, 1);
}

static void jumps(void)
{
	volatile unsigned n = 0;

	catch (SIGUSR1, jump, 0);
	while (n < 10) {
		if (sigsetjmp(env, 1) == 0)
			raise(SIGUSR1);
		n++;
	}
	is("siglongjmp out of a handler", n, 10);
	is("and the mask is what it was", mask_now(), 0);
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
}

#define REPORT_OF_SECOND "/tmp/thr_signal.again"

static void copy_report(void)
{
	FILE *f = fopen(REPORT_OF_SECOND, "r");
	char line[400];

	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		printf("# schedctl=off: %s", line);
	if (f != NULL)
		fclose(f);
	fflush(stdout);
}

/* The same in a process of its own without preemption control. */
static void without_schedctl(char *self)
{
	char number[12];
	char *argv[] = {self, number, "again", NULL};
	int status = -1;
	pid_t pid;

	snprintf(number, sizeof(number), "%u", rounds);
	setenv("LIBTHREAD_OPTIONS", "schedctl=off", 1);
	if (posix_spawnp(&pid, self, NULL, NULL, argv, environ) != 0)
		bail("spawn");
	waitpid(pid, &status, 0);
	if (!is("schedctl=off", status, 0))
		copy_report();
}

int main(int argc, char **argv)
{
	if (argc > 1)
		rounds = atoi(argv[1]);
	/* The report is the first process's; it copies the report of this process if a check has
	 * failed. */
	if (argc > 2 && freopen(REPORT_OF_SECOND, "w", stdout) == NULL)
		return 1;
	masks();
	kills();
	pending();
	joined();
	sigwaits();
	takers();
	storm();
	neighbours();
	suspends();
	jumps();
	if (argc > 2)
		return tap_failed != 0;
	without_schedctl(argv[0]);
	return tap_done();
}
