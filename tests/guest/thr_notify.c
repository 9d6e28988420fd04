/*
 * thr_notify.c - timers with SIGEV_THREAD in every model: which thread calls the function, with
 * what argument, how often, with which attributes and mask; deletion, fork, also beside the first
 * of all; errors.
 */
#include "tap.h"
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <weft/signal.h>

#define MS 1000000

static sem_t called;
static pthread_t caller;
static int value;
static sigset_t mask;
static size_t stack_size;

static void look(union sigval v)
{
	pthread_attr_t attr;

	caller = pthread_self();
	value = v.sival_int;
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	pthread_getattr_np(caller, &attr);
	pthread_attr_getstacksize(&attr, &stack_size);
	sem_post(&called);
}

static void post(union sigval v)
{
	sem_post(v.sival_ptr);
}

/* Ends in another way than by returning. */
static void leave(union sigval v)
{
	sem_post(v.sival_ptr);
	pthread_exit(NULL);
}

static timer_t create(void (*function)(union sigval), union sigval v, pthread_attr_t *attr)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD,
				 .sigev_value = v,
				 .sigev_notify_function = function,
				 .sigev_notify_attributes = attr};
	timer_t timer = -1;

	is("timer_create", timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
	return timer;
}

static void set(timer_t timer, long ns, long every)
{
	struct itimerspec at = {{0, every}, {0, ns}};

	is("timer_settime", timer_settime(timer, 0, &at, NULL), 0);
}

static void one_call(void)
{
	timer_t timer = create(look, (union sigval){.sival_int = 42}, NULL);
	sigset_t ours;

	/* Not what its creator blocks, but what the process began with. */
	sigfillset(&ours);
	pthread_sigmask(SIG_SETMASK, &ours, &ours);
	set(timer, MS, 0);
	sem_wait(&called);
	pthread_sigmask(SIG_SETMASK, &ours, NULL);
	ok("another thread's call", !pthread_equal(caller, pthread_self()));
	is("its value", value, 42);
	is("its mask", mask, ours);
	set(timer, MS, 0);
	sem_wait(&called);
	is("set again", timer_delete(timer), 0);
	fails("it is gone", timer_delete(timer), EINVAL);
}

static void attributes(void)
{
	pthread_attr_t attr;
	timer_t timer;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_JOINABLE);
	timer = create(look, (union sigval){.sival_int = 7}, &attr);
	pthread_attr_destroy(&attr);
	set(timer, MS, 0);
	sem_wait(&called);
	is("its stack", stack_size, 65536);
	is("nobody can join it", pthread_join(caller, NULL) != 0, 1);
	timer_delete(timer);
}

static void periodic(void (*function)(union sigval))
{
	sem_t calls;
	int left;
	timer_t timer;

	sem_init(&calls, 0, 0);
	timer = create(function, (union sigval){.sival_ptr = &calls}, NULL);
	set(timer, MS, MS);
	for (int i = 0; i < 20; i++)
		sem_wait(&calls);
	is("after twenty", timer_delete(timer), 0);
	/* Another thread may still be on its way; then there is silence. */
	nanosleep(&(struct timespec){.tv_nsec = 20 * MS}, NULL);
	sem_getvalue(&calls, &left);
	nanosleep(&(struct timespec){.tv_nsec = 20 * MS}, NULL);
	is("no more calls", ({
		   int now;
		   sem_getvalue(&calls, &now);
		   now;
	   }),
	   left);
}

/* Many timers at once, each with its own value. */
static void many(void)
{
	enum { N = 16 };
	static sem_t each[N];
	timer_t timers[N];

	for (int i = 0; i < N; i++) {
		sem_init(&each[i], 0, 0);
		timers[i] =
			create(i % 2 ? post : leave, (union sigval){.sival_ptr = &each[i]}, NULL);
	}
	for (int i = 0; i < N; i++)
		set(timers[i], MS, 0);
	for (int i = 0; i < N; i++)
		sem_wait(&each[i]);
	for (int i = 0; i < N; i++)
		timer_delete(timers[i]);
	ok("each was called", 1);
}

static void in_child(void)
{
	timer_t timer = create(look, (union sigval){.sival_int = 1}, NULL);
	pid_t pid;
	int status;

	set(timer, MS, 0);
	sem_wait(&called);
	pid = fork();
	if (pid == 0) {
		struct sigevent event = {.sigev_notify = SIGEV_THREAD,
					 .sigev_value.sival_int = 3,
					 .sigev_notify_function = look};
		struct itimerspec at = {.it_value.tv_nsec = MS};
		timer_t mine;

		if (timer_delete(timer) == 0 || timer_create(CLOCK_REALTIME, &event, &mine) != 0 ||
		    timer_settime(mine, 0, &at, NULL) != 0)
			_exit(1);
		sem_wait(&called);
		_exit(value == 3 ? 0 : 2);
	}
	waitpid(pid, &status, 0);
	is("a child has none, and makes its own", status, 0);
	set(timer, MS, 0);
	sem_wait(&called);
	is("the parent's goes on", value, 1);
	timer_delete(timer);
}

static pthread_barrier_t both;
static struct sigevent posts = {.sigev_notify = SIGEV_THREAD,
				.sigev_value.sival_ptr = &called,
				.sigev_notify_function = post};

static void *makes_first(void *arg)
{
	timer_t timer;

	pthread_barrier_wait(&both);
	timer_create(CLOCK_MONOTONIC, &posts, &timer);
	return NULL;
}

/* In a process that has made no timer yet: one thread makes it, the other a child that does too. */
static int forks_meanwhile(int delay)
{
	const struct itimerspec soon = {.it_value.tv_nsec = MS};
	timer_t timer;
	pthread_t t;
	pid_t pid;
	int status;

	pthread_barrier_init(&both, NULL, 2);
	pthread_create(&t, NULL, makes_first, NULL);
	pthread_barrier_wait(&both);
	for (volatile int i = 0; i < delay; i++)
		;
	pid = fork();
	if (pid == 0) {
		if (timer_create(CLOCK_MONOTONIC, &posts, &timer) == 0 &&
		    timer_settime(timer, 0, &soon, NULL) == 0)
			_exit(sem_wait(&called));
		_exit(1);
	}
	waitpid(pid, &status, 0);
	pthread_join(t, NULL);
	return status;
}

static void first_beside_fork(void)
{
	enum { N = 24, STEP = 40 }; /* over the whole of the first timer_create */
	int status, bad = 0;

	for (int i = 0; i < N; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(forks_meanwhile(i * STEP) != 0);
		waitpid(pid, &status, 0);
		bad += status != 0;
	}
	is("a fork beside the first timer of all", bad, 0);
}

static void errors(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = look};
	pthread_attr_t none = {0};
	timer_t timer, all[WEFT_TIMER_MAX];
	int n = 0;

	fails("no such clock", timer_create(77, &event, &timer), EINVAL);
	event.sigev_notify_function = NULL;
	fails("no function", timer_create(CLOCK_MONOTONIC, &event, &timer), EINVAL);
	event.sigev_notify_function = look;
	event.sigev_notify_attributes = &none;
	fails("no attributes", timer_create(CLOCK_MONOTONIC, &event, &timer), EINVAL);
	event.sigev_notify_attributes = NULL;
	while (n < WEFT_TIMER_MAX && timer_create(CLOCK_MONOTONIC, &event, &all[n]) == 0)
		n++;
	is("as many as the process may have", n, WEFT_TIMER_MAX);
	fails("too many", timer_create(CLOCK_MONOTONIC, &event, &timer), EAGAIN);
	while (n > 0)
		timer_delete(all[--n]);
}

int main(void)
{
	sem_init(&called, 0, 0);
	first_beside_fork();
	one_call();
	attributes();
	periodic(post);
	periodic(leave);
	many();
	in_child();
	errors();
	return tap_done();
}
