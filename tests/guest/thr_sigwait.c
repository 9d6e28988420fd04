/*
 * thr_sigwait.c - sigwait, sigwaitinfo, sigtimedwait and sigsuspend in every model.
 *
 * Tests their results and the information on the signal, which thread gets a signal, handlers, and
 * time-outs; and that unbound threads which wait so keep no LWP.  Argument: signals of the race.
 */
#include "sigtest.h"
#include "start.h"
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <thread.h>
#include <time.h>
#include <unistd.h>
#include <weft/start.h>

static unsigned shots = 60;
static const char *model;

static volatile int ready;

/* --- they keep no LWP ------------------------------------------------------------------------- */

#define WAITERS 6
static volatile int got;

static void *waits(void *arg)
{
	sigset_t usr2 = set_of(SIGUSR2);
	int sig = 0, error;

	__atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST);
	error = sigwait(&usr2, &sig);
	if (error == 0 && sig == SIGUSR2)
		__atomic_add_fetch(&got, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

static void *computes(void *arg)
{
	return "done";
}

static void no_lwp(void)
{
	pthread_t t[WAITERS], other;
	int before, most = 0;
	void *r;

	pthread_create(&other, NULL, computes, NULL); /* those of the library are there by now */
	pthread_join(other, NULL);
	a_turn(); /* and that of deadlines */
	before = lwps();
	got = ready = 0;
	for (int i = 0; i < WAITERS; i++)
		pthread_create(&t[i], NULL, waits, NULL);
	UNTIL(ready == WAITERS);
	for (int i = 0; i < 10; i++) {
		a_turn();
		most = lwps() > most ? lwps() : most;
	}
	pthread_create(&other, NULL, computes, NULL);
	pthread_join(other, &r);
	ok("others go on meanwhile", r != NULL);
	if (strcmp(model, "sa") ==
	    0) /* which may still start an LWP for each CPU, with or without them */
		ok("threads that wait for signals keep no LWP", most <= before + (int)__ncpu);
	else if (strcmp(model, "lwp") != 0)
		is("threads that wait for signals keep no LWP", most, before);
	for (int i = 0; i < WAITERS; i++) {
		is("nobody is woken for nothing", got, i);
		if (i < WAITERS / 2)
			pthread_kill(t[i], SIGUSR2);
		else /* for any of those that are left */
			kill(getpid(), SIGUSR2);
		UNTIL(got == i + 1);
	}
	for (int i = 0; i < WAITERS; i++)
		pthread_join(t[i], NULL);
	is("each signal is taken once", got, WAITERS);
}

/* --- what they return ------------------------------------------------------------------------- */

static sem_t at;

static void *suspended_waits(void *arg)
{
	sigset_t usr2 = set_of(SIGUSR2);

	ready = 1;
	return (void *)(long)sigwaitinfo(&usr2, NULL);
}

static void *posts_handlers(void *arg)
{
	sem_wait(&at);
	a_turn();
	pthread_kill(*(pthread_t *)arg, SIGUSR1);
	return NULL;
}

static void results(void)
{
	const struct timespec now = {0, 0}, soon = {.tv_nsec = 3000000}, far = {.tv_sec = 100000},
			      bad = {.tv_nsec = 1000000000};
	sigset_t usr2 = set_of(SIGUSR2), rt = set_of(SIGRTMIN), both = usr2 | rt;
	struct timespec begin, end;
	pthread_t t, self = pthread_self();
	siginfo_t info = {0};
	void *r;
	int sig;

	fails("sigtimedwait: nothing there", sigtimedwait(&usr2, &info, &now), EAGAIN);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	fails("sigtimedwait: none came", sigtimedwait(&usr2, &info, &soon), EAGAIN);
	clock_gettime(CLOCK_MONOTONIC, &end);
	ok("sigtimedwait: not too early",
	   (end.tv_sec - begin.tv_sec) * 1000000000l + end.tv_nsec - begin.tv_nsec >= soon.tv_nsec);
	fails("sigtimedwait: no time", sigtimedwait(&usr2, &info, &bad), EINVAL);

	sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = 5});
	sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = 6});
	kill(getpid(), SIGUSR2);
	is("the lowest first", sigwaitinfo(&both, &info), SIGUSR2);
	ok("its sender", info.si_code == SI_USER && info.si_pid == getpid());
	is("then those that queue", sigtimedwait(&both, &info, &far), SIGRTMIN);
	ok("with their values", info.si_code == SI_QUEUE && info.si_value.sival_int == 5);
	is("in their order", sigtimedwait(&both, &info, &now), SIGRTMIN);
	is("and their values", info.si_value.sival_int, 6);
	fails("and no more", sigtimedwait(&both, &info, &now), EAGAIN);
	raise(SIGUSR2);
	is("sigwait: one for the thread", sigwait(&usr2, &sig), 0);
	is("sigwait: which", sig, SIGUSR2);

	/* A handler ends each of these calls except sigwait. */
	for (int i = 0; i < 3; i++) {
		sem_init(&at, 0, 0);
		handled = 0;
		pthread_create(&t, NULL, posts_handlers, &self);
		sem_post(&at);
		errno = 0;
		if (i == 0)
			fails("sigtimedwait: a handler", sigtimedwait(&usr2, &info, &far), EINTR);
		else if (i == 1)
			fails("sigwaitinfo: a handler", sigwaitinfo(&usr2, &info), EINTR);
		else
			fails("sigsuspend: a handler", sigsuspend(&usr2), EINTR);
		ok("its thread has run it", handled == 1 && handled_by == self);
		pthread_join(t, NULL);
	}

	/* One that thr_suspend has stopped in its wait. */
	ready = 0;
	pthread_create(&t, NULL, suspended_waits, NULL);
	UNTIL(ready);
	a_turn();
	thr_suspend(t);
	pthread_kill(t, SIGUSR2);
	a_turn();
	thr_continue(t);
	pthread_join(t, &r);
	is("a signal for one that is suspended", (long)r, SIGUSR2);
}

/* --- sigsuspend ------------------------------------------------------------------------------- */

static sigjmp_buf env;
static volatile sigset_t mask_in_handler;
static volatile int nested;

static void look_at_mask(int sig)
{
	mask_in_handler = mask_now();
}

static void jump(int sig)
{
	siglongjmp(env, 1);
}

/* In a handler that has interrupted a wait for a semaphore. */
static void waits_in_handler(int sig)
{
	sigset_t open = 0;

	nested = 1;
	nested = sigsuspend(&open) == -1 && errno == EINTR ? 2 : -1;
}

static sem_t s;
static void *in_sem_wait(void *arg)
{
	sigset_t usr1 = set_of(SIGUSR1), rt = set_of(SIGRTMIN);

	pthread_sigmask(SIG_BLOCK, &rt, NULL); /* for the handler within */
	pthread_sigmask(SIG_UNBLOCK, &usr1, NULL);
	ready = 1;
	return (void *)(long)sem_wait(&s);
}

static void suspends(void)
{
	struct sigaction look = {.sa_handler = look_at_mask}, act = {.sa_handler = note};
	sigset_t usr1 = set_of(SIGUSR1), usr2 = set_of(SIGUSR2), rt = set_of(SIGRTMIN), before;
	sigset_t outside = usr1 | rt, inside = usr2;
	volatile int jumps = 0;
	pthread_t t;
	void *r;

	sigaction(SIGUSR1, &look, NULL);
	sigaction(SIGUSR2, &act, NULL);
	sigaction(SIGRTMIN, &act, NULL);
	pthread_sigmask(SIG_SETMASK, &outside, &before);
	handled = 0;
	raise(SIGUSR1);
	fails("sigsuspend: with one pending", sigsuspend(&inside), EINTR);
	is("sigsuspend: its mask in the handler", mask_in_handler, usr1 | usr2);
	is("sigsuspend: the mask after it", mask_now(), outside);
	raise(SIGRTMIN); /* blocked outside, and inside too */
	inside = usr2 | rt;
	raise(SIGUSR1);
	sigsuspend(&inside);
	is("sigsuspend: what it blocks stays pending", handled, 0);
	pthread_sigmask(SIG_UNBLOCK, &rt, NULL);
	is("sigsuspend: until it is unblocked", handled, 1);
	pthread_sigmask(SIG_BLOCK, &rt, NULL);

	/* Out of it by a jump. */
	act.sa_handler = jump;
	sigaction(SIGUSR1, &act, NULL);
	for (int i = 0; i < 5; i++) {
		if (sigsetjmp(env, 1) == 0) {
			raise(SIGUSR1);
			sigsuspend(&usr2);
			jumps = -100;
		}
		jumps++;
	}
	is("siglongjmp out of sigsuspend", jumps, 5);
	is("leaves the mask", mask_now(), outside);
	sem_init(&s, 0, 1);
	is("and the thread can wait for others", sem_wait(&s), 0);

	act.sa_handler = waits_in_handler;
	sigaction(SIGUSR1, &act, NULL);
	act.sa_handler = note;
	sigaction(SIGRTMIN, &act, NULL);
	ready = nested = handled = 0;
	pthread_create(&t, NULL, in_sem_wait, NULL);
	UNTIL(ready);
	a_turn();
	if (strcmp(model, "n1") != 0) { /* there its wait is the LWP's, and all stand still */
		pthread_kill(t, SIGUSR1);
		UNTIL(nested);
		a_turn();
		pthread_kill(t, SIGRTMIN);
		UNTIL(nested == 2);
		is("sigsuspend in a handler", handled, 1);
	}
	sem_post(&s);
	pthread_join(t, &r);
	is("its thread waits on", (long)r, 0);
	act.sa_handler = note;
	sigaction(SIGUSR1, &act, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* --- a race ----------------------------------------------------------------------------------- */

static volatile unsigned taken;
static volatile unsigned long sum;

static void *takes(void *arg)
{
	const struct timespec soon = {.tv_nsec = 50000 + 30000 * (long)arg};
	sigset_t rt = set_of(SIGRTMIN + 1);
	siginfo_t info;

	while (taken < shots) {
		int sig = arg ? sigtimedwait(&rt, &info, &soon) : sigwaitinfo(&rt, &info);

		if (sig == SIGRTMIN + 1 && info.si_value.sival_int != 0) {
			__atomic_add_fetch(&sum, info.si_value.sival_int, __ATOMIC_SEQ_CST);
			__atomic_add_fetch(&taken, 1, __ATOMIC_SEQ_CST);
		}
	}
	return NULL;
}

/* Of which every third is cancelled as soon as it waits, and none takes a signal along. */
static void *goes(void *arg)
{
	sigset_t rt = set_of(SIGRTMIN + 1);
	siginfo_t info;

	while (sigwaitinfo(&rt, &info) < 0)
		;
	if (info.si_value.sival_int != 0) {
		__atomic_add_fetch(&sum, info.si_value.sival_int, __ATOMIC_SEQ_CST);
		__atomic_add_fetch(&taken, 1, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

static void race(void)
{
	pthread_t t[4], cancelled;

	for (long i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, takes, (void *)i);
	for (unsigned i = 1; i <= shots; i++) {
		if (i % 3 == 0) {
			pthread_create(&cancelled, NULL, goes, NULL);
			sched_yield();
		}
		while (sigqueue(getpid(), SIGRTMIN + 1, (union sigval){.sival_int = i}) != 0)
			a_turn();
		if (i % 3 == 0) {
			pthread_cancel(cancelled);
			pthread_join(cancelled, NULL);
		}
	}
	UNTIL(taken == shots);
	for (int i = 0; i < 4; i++)
		sigqueue(getpid(), SIGRTMIN + 1, (union sigval){.sival_int = 0});
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	is("every signal is taken, with its value", sum, shots * (shots + 1ul) / 2);
}

int main(int argc, char **argv)
{
	struct sigaction act = {.sa_handler = note};
	sigset_t waited = set_of(SIGUSR2) | set_of(SIGRTMIN) | set_of(SIGRTMIN + 1);

	model = getenv("LIBTHREAD") ? getenv("LIBTHREAD") : "lwp";
	if (argc > 1)
		shots = atoi(argv[1]);
	sigaction(SIGUSR1, &act, NULL);
	pthread_sigmask(SIG_BLOCK, &waited, NULL);
	no_lwp();
	results();
	suspends();
	race();
	return tap_done();
}
