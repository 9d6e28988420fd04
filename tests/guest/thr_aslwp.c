/*
 * thr_aslwp.c - signals and threads that are on no LWP, in every model.
 *
 * Tests which thread takes a signal for the process, handlers of threads that wait, alternate
 * stacks that stay with their thread, a handler between any two instructions, and the LWPs of a
 * program.  Argument `die` or `live`, given by the program itself: waits for a signal in all of its
 * threads.
 */
#include "sigtest.h"
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <weft/lwp.h>
#include <weft/schedctl.h>
#include <weft/signal.h>
#include <weft/sys.h>

extern char **environ;
static const char *model;

static void block(int sig, int how)
{
	sigset_t s = set_of(sig);

	pthread_sigmask(how, &s, NULL);
}

/* --- waits --------------------------------------------------------------------------------- */

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static sem_t s, first;
static pthread_t to_join;
static volatile int ready, through, go;

static struct timespec after(long ms)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += ms * 1000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

static int in_sem(void)
{
	return sem_wait(&s);
}

static int in_mutex(void)
{
	int error = pthread_mutex_lock(&m);

	pthread_mutex_unlock(&m);
	return error;
}

static int in_rwlock(void)
{
	int error = pthread_rwlock_rdlock(&rw);

	pthread_rwlock_unlock(&rw);
	return error;
}

static int in_cond(void)
{
	pthread_mutex_lock(&m);
	while (!go)
		pthread_cond_wait(&c, &m);
	pthread_mutex_unlock(&m);
	return 0;
}

static int in_join(void)
{
	return pthread_join(to_join, NULL);
}

static int in_far_timedwait(void)
{
	struct timespec far = after(1000000);

	return sem_timedwait(&s, &far);
}

static int in_near_timedwait(void)
{
	struct timespec near = after(200);
	int r = sem_timedwait(&s, &near) == -1 && errno == ETIMEDOUT ? 0 : -1;

	through = 1;
	UNTIL(handled == 4); /* on a busy host they may come later */
	return r;
}

/* After a wait for a semaphore, of which nothing must be left: that would end in sem_wait. */
static int in_near_timedlock(void)
{
	struct timespec near;
	int error;

	sem_wait(&first);
	near = after(200);
	error = pthread_mutex_timedlock(&m, &near);
	through = 1;
	UNTIL(handled == 4);
	return error == ETIMEDOUT ? 0 : -1;
}

static void *until_go(void *arg)
{
	UNTIL(go);
	return NULL;
}

static const struct wait {
	const char *name;
	int (*wait)(void);
	bool ends; /* by itself */
} waits[] = {
	{"sem_wait", in_sem, false},
	{"pthread_mutex_lock", in_mutex, false},
	{"pthread_rwlock_rdlock", in_rwlock, false},
	{"pthread_cond_wait", in_cond, false},
	{"pthread_join", in_join, false},
	{"sem_timedwait", in_far_timedwait, false},
	{"sem_timedwait that ends", in_near_timedwait, true},
	{"pthread_mutex_timedlock that ends", in_near_timedlock, true},
};

static void *waiter(void *arg)
{
	const struct wait *w = arg;
	int r;

	block(SIGUSR1, SIG_UNBLOCK);
	ready = 1;
	r = w->wait();
	through = 1;
	return (void *)(long)r;
}

static void let_go(void)
{
	pthread_mutex_unlock(&m);
	pthread_rwlock_unlock(&rw);
	sem_post(&s);
	pthread_mutex_lock(&m);
	go = 1;
	pthread_cond_broadcast(&c);
	pthread_mutex_unlock(&m);
}

/*
 * A thread waits, alone in not blocking SIGUSR1.  One for the process and one for the thread reach
 * it where it is, twice each, and its wait goes on.
 */
static void one_wait(const struct wait *w)
{
	pthread_t t;
	void *r;

	handled = ready = through = go = 0;
	sem_init(&s, 0, 0);
	sem_init(&first, 0, 0);
	pthread_create(&to_join, NULL, until_go, NULL);
	if (w->wait != in_cond)
		pthread_mutex_lock(&m);
	pthread_rwlock_wrlock(&rw);
	pthread_create(&t, NULL, waiter, (void *)w);
	UNTIL(ready);
	a_turn();
	sem_post(&first);
	for (int i = 0; i < 4; i++) {
		handled_by = 0;
		a_turn();
		if (i % 2 == 0)
			kill(getpid(), SIGUSR1);
		else
			pthread_kill(t, SIGUSR1);
		UNTIL(handled == i + 1);
		if (handled_by != t)
			handled = -100;
	}
	tap_report(handled == 4, w->name, "its handlers: %d", handled);
	if (w->ends)
		UNTIL(through);
	else
		tap_report(!through, w->name, "its wait ended");
	if (w->wait == in_cond)
		pthread_mutex_lock(&m);
	let_go();
	pthread_join(t, &r);
	if (w->wait != in_join)
		pthread_join(to_join, NULL);
	is(w->name, (long)r, 0);
}

/* --- signals of the process ------------------------------------------------------------------- */

static void *unblocks(void *arg)
{
	int before;

	ready = 1;
	UNTIL(go);
	before = handled;
	block(SIGUSR1, SIG_UNBLOCK);
	return (void *)(long)(before == 0 && handled == 1 && handled_by == pthread_self());
}

static void *sleeps(void *arg)
{
	block(SIGUSR1, SIG_UNBLOCK);
	__atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST);
	sem_wait(&s);
	return NULL;
}

/* All block it: it waits for the first that does not, and can be waited for and taken back. */
static void pending(void)
{
	sigset_t now, usr1 = set_of(SIGUSR1);
	const struct timespec zero = {0, 0};
	siginfo_t info;
	pthread_t t, idle;
	void *r;

	handled = ready = go = 0;
	pthread_create(&t, NULL, unblocks, NULL);
	UNTIL(ready);
	kill(getpid(), SIGUSR1);
	for (int i = 0; i < 5; i++)
		a_turn();
	sigpending(&now);
	ok("a signal that all block is pending", now == usr1 && handled == 0);
	go = 1;
	pthread_join(t, &r);
	is("until one unblocks it, which takes it at once", (long)r, 1);

	/* For a thread, pending while it blocks the signal, wherever it is. */
	handled = ready = go = 0;
	pthread_create(&t, NULL, unblocks, NULL);
	UNTIL(ready);
	pthread_kill(t, SIGUSR1);
	for (int i = 0; i < 5; i++)
		a_turn();
	sigpending(&now);
	ok("one for a thread is pending there", handled == 0 && now == 0);
	is("and nobody else takes it", sigtimedwait(&usr1, &info, &zero), -1);
	go = 1;
	pthread_join(t, &r);
	is("until that thread unblocks it", (long)r, 1);

	/* One that is ignored is dropped, though the only thread that does not block it sleeps. */
	handled = ready = 0;
	sem_init(&s, 0, 0);
	pthread_create(&idle, NULL, sleeps, NULL);
	UNTIL(ready);
	catch (SIGUSR1, SIG_IGN, 0);
	kill(getpid(), SIGUSR1);
	UNTIL(sigpending(&now) == 0 && now == 0);
	catch (SIGUSR1, note, 0);
	sem_post(&s);
	pthread_join(idle, NULL);
	is("an ignored one is dropped", handled, 0);
}

/* --- only sleepers -------------------------------------------------------------------------- */

static sem_t woken;

static void wake_up(int sig)
{
	handled_by = pthread_self();
	sem_post(&woken);
}

/* All threads of the process sleep, and a timer's signal comes: a thread's handler wakes one up. */
static void all_asleep(void)
{
	const struct itimerspec soon = {.it_value = {.tv_nsec = 3000000}};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
	pthread_t t;
	timer_t timer;
	int wrong = 0;

	sem_init(&woken, 0, 0);
	sem_init(&s, 0, 0);
	catch (SIGUSR2, wake_up, 0);
	ready = 0;
	pthread_create(&t, NULL, sleeps, NULL);
	UNTIL(ready);
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	for (int i = 0; i < 5; i++) {
		handled_by = 0;
		timer_settime(timer, 0, &soon, NULL);
		while (sem_wait(&woken) != 0)
			;
		wrong += handled_by != pthread_self() && handled_by != t;
	}
	is("a handler runs in a thread, never on an idle LWP", wrong, 0);
	timer_delete(timer);
	sem_post(&s);
	pthread_join(t, NULL);
}

static int sleeper_process(bool live)
{
	pthread_t t;

	block(SIGUSR1, SIG_BLOCK);
	if (live)
		catch (SIGTERM, SIG_IGN, 0);
	sem_init(&s, 0, 0);
	ready = 0;
	pthread_create(&t, NULL, sleeps, NULL);
	UNTIL(ready);
	if (write(1, "!", 1) != 1)
		return 1;
	sem_init(&woken, 0, 0);
	for (;;)
		sem_wait(&woken);
}

/* What becomes of a process, all of whose threads sleep, by `sig`. */
static int fate(char *self, char *how, int sig)
{
	char *argv[] = {self, how, NULL};
	posix_spawn_file_actions_t files;
	int out[2], status = -1;
	pid_t pid;
	char byte;

	if (pipe(out) != 0)
		bail("pipe");
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, out[1], 1);
	if (posix_spawnp(&pid, self, &files, NULL, argv, environ) != 0)
		bail("spawn");
	posix_spawn_file_actions_destroy(&files);
	if (read(out[0], &byte, 1) != 1)
		bail("the child does not begin");
	close(out[0]);
	close(out[1]);
	for (int i = 0; i < 4; i++)
		a_turn();
	kill(pid, sig);
	if (*how == 'l') {
		for (int i = 0; i < 4; i++)
			a_turn();
		if (waitpid(pid, &status, WNOHANG) != 0)
			return -1;
		kill(pid, SIGKILL);
	}
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) ? WTERMSIG(status) : -1;
}

/* --- alternate stacks ------------------------------------------------------------------------- */

#define STACKS 3
static char alternate[STACKS][16384];
static volatile int strayed, on_it[STACKS];
static __thread int which;

static void look_where(int sig)
{
	char here, *at = &here;

	if (at < alternate[which] || at >= alternate[which] + sizeof(alternate[0]))
		strayed++;
	else
		on_it[which]++;
	sched_yield(); /* the others' come in between */
	if (at < alternate[which] || at >= alternate[which] + sizeof(alternate[0]))
		strayed++;
}

static void *on_alternate(void *arg)
{
	stack_t mine = {.ss_size = sizeof(alternate[0])}, was;
	long wrong = 0;

	which = (long)arg;
	mine.ss_sp = alternate[which];
	sigaltstack(NULL, &was);
	wrong += was.ss_flags != SS_DISABLE;
	wrong += sigaltstack(&mine, NULL) != 0;
	for (int i = 0; i < 20; i++) {
		sched_yield();
		raise(SIGUSR2);
		sigaltstack(NULL, &was);
		wrong += was.ss_sp != mine.ss_sp || was.ss_flags != 0;
	}
	mine.ss_flags = SS_DISABLE;
	wrong += sigaltstack(&mine, NULL) != 0;
	sched_yield();
	sigaltstack(NULL, &was);
	return (void *)(wrong + (was.ss_flags != SS_DISABLE));
}

static void stacks(void)
{
	stack_t bad = {.ss_flags = 0x100, .ss_size = 16384}, small = {.ss_size = 100};
	pthread_t t[STACKS];
	long wrong = 0;
	void *r;

	catch (SIGUSR2, look_where, SA_ONSTACK);
	for (long i = 0; i < STACKS; i++)
		pthread_create(&t[i], NULL, on_alternate, (void *)i);
	for (int i = 0; i < STACKS; i++) {
		pthread_join(t[i], &r);
		wrong += (long)r;
		wrong += on_it[i] != 20;
	}
	is("handlers run on their thread's alternate stack", strayed, 0);
	is("which stays with the thread", wrong, 0);
	is("sigaltstack: flags", sigaltstack(&bad, NULL), -1);
	is("sigaltstack: EINVAL", errno, EINVAL);
	is("sigaltstack: size", sigaltstack(&small, NULL), -1);
	is("sigaltstack: ENOMEM", errno, ENOMEM);
}

/* --- between any two instructions ------------------------------------------------------------- */

#define TRAP_FLAG 0x100

static volatile int stepping, steps, moves;

/* The library's restartable ranges (libthread/core/ilock.h). */
extern const struct {
	int32_t from;
	uint32_t length;
} __restartable_start[], __restartable_end[];

static volatile uint64_t
	left_at; /* the thread has changed its LWP here, in the middle of a range */
static volatile int restarted, not_restarted;
static bool can_move;
static volatile uint32_t to_leave; /* the stepped thread waits to be on another LWP than this */

static bool in_a_range(uint64_t rip)
{
	for (unsigned i = 0; &__restartable_start[i] < __restartable_end; i++) {
		uint64_t from = (uintptr_t)&__restartable_start[i] + __restartable_start[i].from;

		if (rip > from && rip < from + __restartable_start[i].length)
			return true;
	}
	return false;
}

static uint32_t lwp_id(void)
{
	return __sys_lwp_self();
}

/*
 * A thread that has moved begins the range again, so that the next instruction after which it stops
 * is the same one.  True: it is.
 */
static bool begins_again(uint64_t rip)
{
	bool again = rip == left_at;

	restarted += again;
	not_restarted += !again && left_at != 0;
	left_at = 0;
	return again;
}

/*
 * After each instruction of its thread; where the library is in no critical section it gives the
 * LWP to another thread, and its own goes on on any.
 */
static void step(int sig, siginfo_t *info, void *context)
{
	struct weft_ucontext *uc = context;
	const struct schedctl *record = (const struct schedctl *)__sys_lwp_schedctl();
	uint32_t before = record->lwpid;
	bool inside;

	if (!stepping) {
		uc->rflags &= ~(uint64_t)TRAP_FLAG;
		return;
	}
	uc->rflags |= TRAP_FLAG;
	steps++;
	if (begins_again(uc->rip)) /* for ever, if it moved each time */
		return;
	if (record->nopreempt != 0 || record->nosignal != 0)
		return;
	sched_yield();
	/*
	 * In a range, an unbound thread yields until it has moved.  A thread beside it keeps the
	 * LWP meanwhile, so that only the other LWP can take it.
	 */
	inside = in_a_range(uc->rip);
	if (inside && can_move) {
		to_leave = before;
		while (before == lwp_id())
			sched_yield();
		to_leave = 0;
	}
	if (before == lwp_id())
		return;
	moves++;
	left_at = inside ? uc->rip : 0;
	if (moves % 2 == 0) /* a handler may also leave in this way */
		setcontext(context);
}

static void *stepped(void *arg)
{
	pthread_key_t key;

	stepping = 1;
	raise(SIGTRAP);
	for (int i = 0; i < 40; i++) {
		pthread_mutex_lock(&m);
		pthread_mutex_unlock(&m);
		sem_post(&s);
		sem_wait(&s);
		/* These enter critical sections, and switch to no other thread, which would step too. */
		pthread_key_create(&key, NULL);
		pthread_key_delete(key);
	}
	stepping = 0;
	return NULL;
}

static volatile int left_inside;

/* Its LWP is in no critical section. */
static void *beside(void *arg)
{
	const struct schedctl *record;
	unsigned turn = 0;
	const bool one_cpu = sysconf(_SC_NPROCESSORS_ONLN) == 1;

	while (!go) {
		record = (const struct schedctl *)__sys_lwp_schedctl();
		if (record->lwpid == (uint32_t)__sys_lwp_self())
			left_inside |= record->nopreempt | record->nosignal;
		sched_yield();
		while (to_leave == lwp_id())
			__sys_lwp_yield();
		/* Keeps the LWP, and another one takes what the first has left. */
		if (one_cpu && turn++ % 2 == 0)
			select(0, NULL, NULL, NULL,
			       &(struct timeval){.tv_usec = 7 + 6 * (long)arg});
		else
			__sys_lwp_yield();
	}
	return NULL;
}

#define BESIDE 3
static void any_instruction(void)
{
	struct sigaction act = {.sa_sigaction = step, .sa_flags = SA_SIGINFO};
	pthread_t t, others[BESIDE];

	can_move = strcmp(model, "mxn") == 0;
	sigaction(SIGTRAP, &act, NULL);
	sem_init(&s, 0, 0);
	go = 0;
	pthread_setconcurrency(2);
	for (int i = 0; i < BESIDE; i++)
		pthread_create(&others[i], NULL, beside, NULL);
	pthread_create(&t, NULL, stepped, NULL);
	pthread_join(t, NULL);
	go = 1;
	for (int i = 0; i < BESIDE; i++)
		pthread_join(others[i], NULL);
	tap_report(steps > 200, "a handler that yields, after every instruction", "%d", steps);

	if (can_move)
		tap_report(moves > 0 && restarted > 0, "its thread goes from LWP to LWP",
			   "%d moves, %d in a restartable range", moves, restarted);
	is("and begins each restartable range again that it was in", not_restarted, 0);
	is("and leaves none of them in a critical section", left_inside, 0);
	pthread_setconcurrency(1);
}

/* --- the LWPs of a process -------------------------------------------------------------------- */

/* Before main has created anything. */
static void four_lwps(void)
{
	const char *const want = strcmp(model, "mxn") == 0 ? " aslwp reaper upcall" : "";
	struct lwp_info l;
	char found[80] = "";
	long id;

	for (id = 2; (id = __sys_lwp_info(0, id, &l)) > 0; id++)
		snprintf(found + strlen(found), sizeof(found) - strlen(found), " %s", l.name);
	tap_report(strcmp(found, want) == 0, "the LWPs besides the first", "%s", found);
}

int main(int argc, char **argv)
{
	model = getenv("LIBTHREAD") ? getenv("LIBTHREAD") : "lwp";
	catch (SIGUSR1, note, 0);
	if (argc > 1)
		return sleeper_process(strcmp(argv[1], "live") == 0);
	four_lwps();
	block(SIGUSR1, SIG_BLOCK);
	for (unsigned i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
		one_wait(&waits[i]);
	pending();
	all_asleep();
	is("the default action of a signal ends a process that sleeps",
	   fate(argv[0], "die", SIGTERM), SIGTERM);
	is("SIGKILL too", fate(argv[0], "die", SIGKILL), SIGKILL);
	is("an ignored one does not", fate(argv[0], "live", SIGTERM), SIGKILL);
	stacks();
	any_instruction();
	return tap_done();
}
