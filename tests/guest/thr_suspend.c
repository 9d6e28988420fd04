/*
 * thr_suspend.c [ROUNDS] - thr_suspend and thr_continue: of threads that run, wait, are
 * about to run, or suspend themselves or each other; among other threads' locking, which must go on;
 * THR_SUSPENDED; and priorities of the run queue and the sleep queues.
 */
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <synch.h>
#include <sys/time.h>
#include <thread.h>
#include <time.h>
#include "tap.h"

static long rounds = 300;
static bool one_lwp; /* model n1 */

static void nap(long us)
{
	struct timespec t = {.tv_nsec = us * 1000};

	nanosleep(&t, NULL);
}

/* --- one target that counts ------------------------------------------------------------- */

static volatile unsigned long count;
static volatile bool stop;

static void *counts(void *arg)
{
	while (!stop) {
		count++;
		if (arg != NULL)
			thr_yield();
	}
	return NULL;
}

/* Whether count moves within some time, in which others may run. */
static bool moves_in(int turns)
{
	unsigned long before = count;

	for (int i = 0; i < turns; i++) {
		if (count != before)
			return true;
		thr_yield();
		if (i % 100 == 99)
			nap(100);
	}
	return false;
}

/* Waits for something that must happen, and would on a busy host too. */
static bool moves(void)
{
	return moves_in(1000000);
}

/* Waits for what must not happen. */
static bool rests(void)
{
	return !moves_in(1000);
}

/* look: does t rest, too?  That takes a while. */
static void suspend_and_continue(thread_t t, bool look)
{
	if (thr_suspend(t) != 0)
		bail("thr_suspend");
	if (look && !rests())
		bail("it runs though suspended");
	if (thr_continue(t) != 0)
		bail("thr_continue");
}

static void test_running(long flags)
{
	thread_t t;

	/* Over one LWP, a thread that never yields would never let us run. */
	bool yields = one_lwp || !(flags & THR_BOUND);

	stop = false;
	is("create suspended",
	   thr_create(NULL, 0, counts, (void *)yields, flags | THR_SUSPENDED, &t), 0);
	ok("it does not run", rests());
	is("suspend it, suspended", thr_suspend(t), 0);
	is("continue it", thr_continue(t), 0);
	ok("it runs", moves());
	is("continue it, running", thr_continue(t), 0);
	for (long i = 0; i < rounds / 10; i++) {
		suspend_and_continue(t, i % 16 == 0);
		if (!moves())
			bail("it does not run though continued");
	}
	stop = true;
	is("join it", thr_join(t, NULL, NULL), 0);
	is("suspend it, gone", thr_suspend(t), ESRCH);
	is("continue it, gone", thr_continue(t), ESRCH);
}

/* --- suspending oneself ------------------------------------------------------------------- */

static sem_t ready, token;

static void *stops(void *arg)
{
	for (int i = 0; i < 20; i++) {
		sem_post(&ready);
		thr_suspend(thr_self());
		count++;
		sem_wait(&token);
	}
	return NULL;
}

static void test_self(long flags)
{
	thread_t t;

	count = 0;
	thr_create(NULL, 0, stops, NULL, flags, &t);
	for (unsigned long i = 0; i < 20; i++) {
		sem_wait(&ready);
		if (!rests())
			bail("it runs though it has suspended itself");
		while (count == i) { /* the first may come before it has stopped */
			thr_continue(t);
			thr_yield();
		}
		sem_post(&token);
	}
	is("one that suspends itself", thr_join(t, NULL, NULL), 0);
}

/* --- suspending oneself in a handler that has interrupted a wait ---------------------------- */

static pthread_mutex_t object_lock;
static pthread_cond_t object_cond;
static pthread_barrier_t object_barrier;
static sem_t object_sem;
static volatile bool in_handler, handled, may_go;

static void handler_suspends(int sig)
{
	in_handler = true;
	thr_suspend(thr_self());
	handled = true;
}

static void wait_for_semaphore(void)
{
	while (sem_wait(&object_sem) != 0) /* EINTR */
		;
}

static void wait_for_cond(void)
{
	pthread_mutex_lock(&object_lock);
	while (!may_go)
		pthread_cond_wait(&object_cond, &object_lock);
	pthread_mutex_unlock(&object_lock);
}

static void wait_for_mutex(void)
{
	pthread_mutex_lock(&object_lock);
	pthread_mutex_unlock(&object_lock);
}

static void meet(void)
{
	pthread_barrier_wait(&object_barrier);
}

static void post(void)
{
	sem_post(&object_sem);
}

static void signal_cond(void)
{
	pthread_mutex_lock(&object_lock);
	may_go = true;
	pthread_cond_signal(&object_cond);
	pthread_mutex_unlock(&object_lock);
}

static void take(void)
{
	pthread_mutex_lock(&object_lock);
}

static void release(void)
{
	pthread_mutex_unlock(&object_lock);
}

static const struct wait_in_handler {
	const char *name;
	void (*prepare)(void), (*wait)(void), (*wake)(void);
	bool wake_waits; /* for a thread that has not come to its wait yet */
} waits_in_handler[] = {
	{"a semaphore", NULL, wait_for_semaphore, post, false},
	{"a condition variable", NULL, wait_for_cond, signal_cond, true},
	{"a mutex", take, wait_for_mutex, release, false},
	{"a barrier", NULL, meet, meet, true},
};

static void *waits_for_object(void *arg)
{
	((const struct wait_in_handler *)arg)->wait();
	count = 1;
	return NULL;
}

/* The thread is woken before it is continued, or after. */
static void test_in_handler(const struct wait_in_handler *w, long flags, bool before)
{
	thread_t t;

	count = 0;
	in_handler = handled = may_go = false;
	if (w->prepare != NULL)
		w->prepare();
	thr_create(NULL, 0, waits_for_object, (void *)w, flags, &t);
	nap(5000);
	thr_kill(t, SIGUSR1);
	while (!in_handler)
		nap(100);
	nap(1000);
	if (before)
		w->wake();
	while (!handled) { /* the first may come before it has stopped */
		thr_continue(t);
		nap(1000);
	}
	if (!before) {
		if (count != 0)
			bail("the wait for %s has ended early", w->name);
		w->wake();
	}
	for (int i = 0; i < 10000 && count == 0; i++)
		nap(1000);
	if (count == 0)
		bail("suspended in its handler, it is not woken from %s (%s)", w->name,
		     flags & THR_BOUND ? "bound" : "unbound");
	thr_join(t, NULL, NULL);
}

static void test_in_handlers(void)
{
	signal(SIGUSR1, handler_suspends);
	sem_init(&object_sem, 0, 0);
	pthread_mutex_init(&object_lock, NULL);
	pthread_cond_init(&object_cond, NULL);
	pthread_barrier_init(&object_barrier, NULL, 2);
	for (unsigned i = 0; i < sizeof(waits_in_handler) / sizeof(waits_in_handler[0]); i++)
		for (int k = 0; k < (waits_in_handler[i].wake_waits ? 2 : 4); k++)
			test_in_handler(&waits_in_handler[i], k & 1 ? THR_BOUND : 0, k & 2);
	ok("a waiter that suspends itself in a handler is woken", true);
}

/* --- two that suspend each other ----------------------------------------------------------- */

static thread_t pair[2];
static volatile long pair_round, pair_done[2];

static void *suspends_other(void *arg)
{
	long me = (long)arg;

	for (long round = 1; round <= rounds; round++) {
		while (pair_round != round)
			thr_yield();
		if (thr_suspend(pair[!me]) != 0)
			bail("thr_suspend of the other");
		pair_done[me] = round;
	}
	while (!stop) /* a last thr_suspend may still be under way */
		thr_yield();
	return NULL;
}

static void test_each_other(long flags)
{
	stop = false;
	pair_round = pair_done[0] = pair_done[1] = 0;
	for (long i = 0; i < 2; i++)
		thr_create(NULL, 0, suspends_other, (void *)i, flags, &pair[i]);
	is("continue one that has hardly been created", thr_continue(pair[1]), 0);
	for (long round = 1; round <= rounds; round++) {
		pair_round = round;
		for (int turn = 1; pair_done[0] != round || pair_done[1] != round; turn++) {
			if (thr_continue(pair[turn % 2]) != 0)
				bail("thr_continue of one of two");
			thr_yield();
			if (turn % 100 == 0)
				nap(100);
		}
	}
	stop = true;
	for (int i = 0; i < 2; i++)
		thr_continue(pair[i]);
	for (int i = 0; i < 2; i++)
		thr_join(pair[i], NULL, NULL);
	ok("two that suspend each other go on when they are continued", true);
}

/* --- suspended while it waits -------------------------------------------------------------- */

static void *waits(void *arg)
{
	sem_wait(&token);
	count++;
	return NULL;
}

static void test_waiting(long flags)
{
	thread_t t;

	count = 0;
	thr_create(NULL, 0, waits, NULL, flags, &t);
	for (int i = 0; i < 100; i++)
		thr_yield();
	is("suspend one that waits", thr_suspend(t), 0);
	sem_post(&token);
	ok("it does not go on with what it waited for", rests());
	is("continue it", thr_continue(t), 0);
	is("now it does", thr_join(t, NULL, NULL), 0);
	is("once", count, 1);
}

/* --- amid other threads that lock ----------------------------------------------------------- */

#define VICTIMS 4

static mutex_t lock = DEFAULTMUTEX;
static sema_t ping[2], pong[2];
static volatile long bystander_rounds[2];

/* Uses the library all the time, but nothing that the bystanders use. */
static void *victim(void *arg)
{
	static sema_t s[VICTIMS];
	long me = (long)arg;

	while (!stop) {
		sema_post(&s[me]);
		sema_wait(&s[me]);
		mutex_lock(&lock);
		thr_yield();
		mutex_unlock(&lock);
	}
	return NULL;
}

/*
 * Two play.  They rest now and then: bound ones that wake each other all the time keep a high
 * priority, and would leave another bystander's LWP no CPU until the time-share class lifts it
 * for having waited seconds.
 */
static void *bystander(void *arg)
{
	long me = (long)arg, game = me / 2;

	while (!stop) {
		if (me % 2) {
			sema_wait(&ping[game]);
			sema_post(&pong[game]);
		} else {
			sema_post(&ping[game]);
			sema_wait(&pong[game]);
			if (++bystander_rounds[game] % 16 == 0)
				nap(200);
		}
		if (stop) /* lets the partner see it too */
			sema_post(me % 2 ? &pong[game] : &ping[game]);
	}
	sema_post(me % 2 ? &pong[game] : &ping[game]);
	return NULL;
}

static void test_amid_others(void)
{
	thread_t v[VICTIMS], b[4];
	unsigned seed = 1;

	stop = false;
	for (long i = 0; i < VICTIMS; i++)
		thr_create(NULL, 0, victim, (void *)i, i % 2 ? THR_BOUND : 0, &v[i]);
	for (long i = 0; i < 4; i++)
		thr_create(NULL, 0, bystander, (void *)i, i / 2 ? THR_BOUND : 0, &b[i]);
	for (long i = 0; i < rounds; i++) {
		thread_t t = v[(seed = seed * 1103515245 + 12345) >> 16 & 3];
		long before[2] = {bystander_rounds[0], bystander_rounds[1]};

		if (thr_suspend(t) != 0)
			bail("thr_suspend");
		for (int g = 0; g < 2; g++) {
			/* Hangs if the victim has a lock. */
			while (bystander_rounds[g] < before[g] + 2) {
				thr_yield();
				nap(20); /* a sleeper has a high priority; a yielder has not */
			}
		}
		if (thr_continue(t) != 0)
			bail("thr_continue");
	}
	stop = true;
	for (int i = 0; i < VICTIMS; i++)
		thr_join(v[i], NULL, NULL);
	for (int i = 0; i < 4; i++)
		thr_join(b[i], NULL, NULL);
	ok("a suspended thread holds no lock of the library", true);
}

/* --- priorities ------------------------------------------------------------------------------- */

static int order[8], arrived, waiting, tokens;
static mutex_t turn_lock;
static cond_t turn;

static void *takes_turn(void *arg)
{
	mutex_lock(&turn_lock);
	waiting++;
	while (tokens == 0)
		cond_wait(&turn, &turn_lock);
	tokens--;
	order[arrived++] = (long)arg;
	mutex_unlock(&turn_lock);
	sem_post(&ready);
	return NULL;
}

/* Waits until n threads wait: a thread that counts itself releases the lock only by its wait. */
static void until_all_wait(int n)
{
	for (bool all = false; !all;) {
		thr_yield(); /* to those without an LWP of their own ... */
		nap(1000);   /* ... and to those with one */
		mutex_lock(&turn_lock);
		all = waiting == n;
		mutex_unlock(&turn_lock);
	}
}

static void test_priorities(void)
{
	static const int pri[8] = {3, 1, 127, 0, 64, 63, 2, 100};
	static const int want[8] = {127, 100, 64, 63, 3, 2, 1, 0};
	thread_t t[8];
	int wrong = 0;

	arrived = waiting = 0;
	for (int i = 0; i < 8; i++) {
		thr_create(NULL, 0, takes_turn, (void *)(long)pri[i], THR_SUSPENDED, &t[i]);
		if (i % 2)
			thr_setprio(t[i], pri[i]);
		thr_continue(t[i]);
	}
	until_all_wait(8);
	for (int i = 0; i < 8; i += 2)
		thr_setprio(t[i], pri[i]); /* moves it in the queue */
	for (int i = 0; i < 8; i++) {
		mutex_lock(&turn_lock);
		tokens++;
		cond_signal(&turn);
		mutex_unlock(&turn_lock);
		sem_wait(&ready);
	}
	for (int i = 0; i < 8; i++) {
		thr_join(t[i], NULL, NULL);
		wrong += order[i] != want[i];
	}
	is("waiters come out by priority", wrong, 0);
}

/* --- a thread whose handlers nap, perhaps while it owns the lock of a message queue ----------- */

#define MESSAGE 2000

static mqd_t queue;
static char message[MESSAGE];

static void handler_naps(int sig)
{
	nap(300);
}

static void *uses_queue(void *arg)
{
	char received[MESSAGE];

	pthread_sigmask(SIG_UNBLOCK, arg, NULL);
	while (!stop) {
		if (mq_send(queue, message, MESSAGE, 0) != 0 ||
		    mq_receive(queue, received, MESSAGE, NULL) != MESSAGE)
			bail("message queue: %d", errno);
		count++;
		thr_yield();
	}
	return NULL;
}

/* Until the thread has released the lock, thr_suspend lets it run, which may need the only LWP. */
static void test_owning(long flags)
{
	struct mq_attr attr = {.mq_maxmsg = 1, .mq_msgsize = MESSAGE};
	struct itimerval every = {{0, 730}, {0, 730}}, never = {{0, 0}, {0, 0}};
	sigset_t alarm;
	thread_t t;

	queue = mq_open("/suspend", O_CREAT | O_RDWR, 0600, &attr);
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm, NULL);
	signal(SIGALRM, handler_naps);
	stop = false;
	thr_create(NULL, 0, uses_queue, &alarm, flags, &t);
	setitimer(ITIMER_REAL, &every, NULL);
	for (long i = 0; i < rounds / 3; i++) {
		nap(100);
		suspend_and_continue(t, i % 16 == 0);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	stop = true;
	is("a thread that owns the lock of a message queue", thr_join(t, NULL, NULL), 0);
	signal(SIGALRM, SIG_IGN);
	pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
	mq_close(queue);
}

int main(int argc, char **argv)
{
	const char *model = getenv("LIBTHREAD");

	one_lwp = model != NULL && strcmp(model, "n1") == 0;
	if (argc > 1)
		rounds = atol(argv[1]);
	sem_init(&ready, 0, 0);
	sem_init(&token, 0, 0);
	is("suspend nobody", thr_suspend(99999), ESRCH);
	is("continue nobody", thr_continue(99999), ESRCH);
	for (int concurrency = 1; concurrency <= 4; concurrency *= 4) {
		thr_setconcurrency(concurrency);
		test_running(0);
		test_running(THR_BOUND);
		test_self(0);
		test_self(THR_BOUND);
		test_in_handlers();
		test_each_other(0);
		test_each_other(THR_BOUND);
		test_waiting(0);
		test_waiting(THR_BOUND);
		test_priorities();
		test_amid_others();
		test_owning(0);
		test_owning(THR_BOUND);
	}
	return tap_done();
}
