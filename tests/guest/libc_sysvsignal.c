/* libc_sysvsignal.c - sigset, sighold, sigrelse, sigignore, sigpause: actions and the caller's mask. */
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include "tap.h"

static volatile int caught, blocked_inside;

static int blocked(int sig)
{
	sigset_t now;

	pthread_sigmask(SIG_BLOCK, NULL, &now);
	return sigismember(&now, sig);
}

static int pending(int sig)
{
	sigset_t now;

	sigpending(&now);
	return sigismember(&now, sig);
}

static void handler(int sig)
{
	caught++;
	blocked_inside += blocked(sig);
}

static void actions(void)
{
	struct sigaction now;

	ok("sigset: the action before", sigset(SIGUSR1, handler) == SIG_DFL);
	ok("sigset: the next", sigset(SIGUSR1, handler) == handler);
	raise(SIGUSR1);
	raise(SIGUSR1);
	ok("sigset: the handler stays, with its signal blocked",
	   caught == 2 && blocked_inside == 2);
	ok("sigset: SIG_HOLD", sigset(SIGUSR1, SIG_HOLD) == handler && blocked(SIGUSR1));
	sigaction(SIGUSR1, NULL, &now);
	ok("sigset: SIG_HOLD leaves the action", now.sa_handler == handler);
	raise(SIGUSR1);
	is("sigset: a held signal is pending", caught, 2);
	ok("sigset: was held", sigset(SIGUSR1, handler) == SIG_HOLD);
	ok("sigset: is no more", caught == 3 && !blocked(SIGUSR1));
}

static void masks(void)
{
	caught = 0;
	is("sighold", sighold(SIGUSR1), 0);
	raise(SIGUSR1);
	ok("sighold: blocks it", caught == 0 && blocked(SIGUSR1) && pending(SIGUSR1));
	is("sigrelse", sigrelse(SIGUSR1), 0);
	ok("sigrelse: delivers it", caught == 1 && !blocked(SIGUSR1));
	sighold(SIGUSR1);
	raise(SIGUSR1);
	is("sigignore", sigignore(SIGUSR1), 0);
	sigrelse(SIGUSR1);
	is("sigignore: discards a pending one", caught, 1);
	raise(SIGUSR1);
	ok("sigignore: and later ones", caught == 1 && sigset(SIGUSR1, handler) == SIG_IGN);
}

static void pauses(void)
{
	caught = 0;
	sighold(SIGUSR1);
	sighold(SIGUSR2);
	raise(SIGUSR1);
	fails("sigpause: a pending signal", sigpause(SIGUSR1), EINTR);
	ok("sigpause: the mask after it", caught == 1 && blocked(SIGUSR1) && blocked(SIGUSR2));
}

static void *pausing(void *id)
{
	sighold(SIGUSR1);
	*(volatile int *)id = 1;
	return (void *)(long)(sigpause(SIGUSR1) == -1 && errno == EINTR && blocked(SIGUSR1));
}

/* The other thread is in sigpause, or on its way there with the signal held. */
static void threads(void)
{
	volatile int held = 0;
	pthread_t id;
	void *good;

	sigrelse(SIGUSR1);
	caught = 0;
	pthread_create(&id, NULL, pausing, (void *)&held);
	while (!held)
		sched_yield();
	pthread_kill(id, SIGUSR1);
	pthread_join(id, &good);
	ok("sigpause: a thread's", good && caught == 1);
	ok("sighold: the caller's mask alone", !blocked(SIGUSR1));
}

static void *pauses_for_ever(void *unused)
{
	sigpause(SIGUSR1);
	return unused;
}

static void points(void)
{
	pthread_t id;
	void *status;

	pthread_create(&id, NULL, pauses_for_ever, NULL);
	pthread_cancel(id);
	pthread_join(id, &status);
	ok("sigpause: is a cancellation point", status == PTHREAD_CANCELED);
}

static void errors(void)
{
	static const int bad[] = {-1, 0, NSIG, SIGKILL, SIGSTOP, SIGLWP};
	char name[40];

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(name, sizeof(name), "sigset: %d", bad[i]);
		fails(name, sigset(bad[i], SIG_DFL), EINVAL);
		snprintf(name, sizeof(name), "sighold: %d", bad[i]);
		fails(name, sighold(bad[i]), EINVAL);
		snprintf(name, sizeof(name), "sigrelse: %d", bad[i]);
		fails(name, sigrelse(bad[i]), EINVAL);
		snprintf(name, sizeof(name), "sigignore: %d", bad[i]);
		fails(name, sigignore(bad[i]), EINVAL);
		snprintf(name, sizeof(name), "sigpause: %d", bad[i]);
		fails(name, sigpause(bad[i]), EINVAL);
	}
}

int main(void)
{
	actions();
	masks();
	pauses();
	threads();
	points();
	errors();
	return tap_done();
}
