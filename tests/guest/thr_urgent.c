/*
 * thr_urgent.c mq|pipe|idle|slices|suspend|ceiling MS - how soon a thread runs that is to run before others, for MS milliseconds.
 *
 * mq      a real-time thread is woken while another thread computes, and uses a message queue now and then.  The library does not
 *         take the LWP of a thread that owns the lock of a message queue.
 * pipe    a real-time thread is woken while the reads of another thread end, and that thread's LWP gets no CPU (model sa)
 * idle    a real-time thread is woken while an idle LWP takes another thread, which then computes; on two CPUs.  MS wake-ups, each a
 *         little later than the one before
 * suspend a real-time thread is woken, and the thread is suspended whose LWP it was to get (model mxn, two LWPs); on one CPU.  MS
 *         wake-ups
 * ceiling a real-time thread is woken, and the thread whose LWP it was to get locks a mutex with a ceiling (two LWPs).  MS wake-ups,
 *         each a little later than the one before
 * slices  a thread computes beside a thread that uses a message queue all the time; on one CPU, where threads have slices
 */
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <thread.h>
#include <unistd.h>
#include "tap.h"

#define LATE 2000000         /* ns: less than a tick */
#define FOR_EVER 500000000   /* a waker does not wait so long */
#define TWO_SLICES 210000000 /* the slice of the other thread, and what is left of one before */

static hrtime_t end, posted, worst;
static sem_t go;
static volatile bool over, answered;
static volatile long turn, answered_turn; /* idle */
static mqd_t queue;
static int pipe_of[2];

static void spend(unsigned turns)
{
	for (volatile unsigned i = 0; i < turns; i++)
		;
}

static void use_queue(void)
{
	char message[64] = {0};

	if (mq_send(queue, message, 40, 0) != 0 ||
	    mq_receive(queue, message, sizeof(message), NULL) != 40)
		bail("message queue");
}

static void *is_urgent(void *arg)
{
	for (;;) {
		hrtime_t waited;

		while (sem_wait(&go) != 0)
			;
		if (over)
			return NULL;
		waited = gethrtime() - posted;
		if (waited > worst)
			worst = waited;
		answered = true;
		answered_turn = turn;
	}
}

/* Has the highest priority, and its LWP. */
static void *wakes(void *arg)
{
	unsigned drawn = 1;

	while (gethrtime() < end) {
		drawn = drawn * 1103515245u + 12345;
		spend((drawn >> 16) % 4000);
		answered = false;
		posted = gethrtime();
		sem_post(&go);
		while (!answered && gethrtime() < posted + FOR_EVER)
			;
		if (!answered) {
			worst = FOR_EVER;
			break;
		}
	}
	over = true;
	sem_post(&go);
	return NULL;
}

static void *computes(void *uses)
{
	while (!over) {
		if (uses != NULL)
			use_queue();
		spend(8000);
	}
	return NULL;
}

static void *reads(void *arg)
{
	char c;

	while (!over && read(pipe_of[0], &c, 1) == 1)
		spend(20);
	return NULL;
}

static void writes(void)
{
	unsigned drawn = 5;

	for (;;) {
		drawn = drawn * 1103515245u + 12345;
		spend(3000 + (drawn >> 16) % 3000);
		if (write(pipe_of[1], "", 1) != 1)
			_exit(1);
	}
}

static pthread_t start(void *(*fn)(void *), void *arg, int pri)
{
	const struct sched_param param = {.sched_priority = pri};
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	pthread_attr_setscope(&attr, PTHREAD_SCOPE_PROCESS);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, pri != 0 ? SCHED_FIFO : SCHED_OTHER);
	pthread_attr_setschedparam(&attr, &param);
	if (pthread_create(&t, &attr, fn, arg) != 0)
		bail("pthread_create");
	return t;
}

static void real_time(bool beside_reads)
{
	pthread_t t[3];
	pid_t writer = 0;

	if (beside_reads) {
		if (pipe(pipe_of) != 0 || (writer = fork()) < 0)
			bail("pipe, fork");
		if (writer == 0)
			writes();
		start(reads, NULL, 0);
	}
	t[0] = start(is_urgent, NULL, 10);
	t[1] = start(computes, beside_reads ? NULL : &queue, 0);
	t[2] = start(wakes, NULL, 20);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	if (writer != 0)
		kill(writer, SIGKILL);
	ok("a real-time thread runs as soon as it is woken", worst < LATE);
}

static sem_t computer;

static void *computes_until_answered(void *arg)
{
	for (;;) {
		while (sem_wait(&computer) != 0)
			;
		if (over)
			return NULL;
		while (answered_turn != turn)
			;
	}
}

static void *wakes_both(void *wake_ups)
{
	const struct timespec nap = {.tv_nsec = 2000000};

	for (long i = 1; i <= (long)wake_ups; i++) {
		nanosleep(&nap, NULL);
		turn = i;
		sem_post(&computer);
		spend(i);
		posted = gethrtime();
		sem_post(&go);
		while (answered_turn != i)
			;
	}
	over = true;
	sem_post(&computer);
	sem_post(&go);
	return NULL;
}

static void idle_takes(long wake_ups)
{
	pthread_t t[3];

	sem_init(&computer, 0, 0);
	t[0] = start(computes_until_answered, NULL, 0);
	t[1] = start(is_urgent, NULL, 20);
	t[2] = start(wakes_both, (void *)wake_ups, 40);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	ok("a real-time thread runs as soon as it is woken", worst < LATE);
}

static thread_t lowest, other;

/*
 * While `other` is suspended, the pool gets another LWP, and `lowest` runs.  So the pool gets no LWP when `lowest` is suspended, which
 * may have been asked for its LWP before, or not.
 */
static void *suspends(void *wake_ups)
{
	const struct timespec nap = {.tv_nsec = 1000000};

	for (long i = 0; i < (long)wake_ups && worst < FOR_EVER; i++) {
		thr_suspend(other);
		nanosleep(&nap, NULL);
		thr_continue(other);
		answered = false;
		posted = gethrtime();
		if (i % 2)
			thr_suspend(lowest);
		sem_post(&go);
		if (i % 2 == 0)
			thr_suspend(lowest);
		while (!answered && gethrtime() < posted + FOR_EVER)
			nanosleep(&nap, NULL);
		if (!answered)
			worst = FOR_EVER;
		thr_continue(lowest);
	}
	over = true;
	sem_post(&go);
	return NULL;
}

static void suspended(long wake_ups)
{
	pthread_t t[4] = {start(is_urgent, NULL, 20), start(computes, NULL, 0),
			  start(computes, NULL, 0), start(computes, NULL, 0)};
	thread_t waker;

	lowest = t[1];
	other = t[2];
	thr_setprio(t[2], 5);
	thr_setprio(t[3], 5);
	thr_create(NULL, 0, suspends, (void *)wake_ups, THR_BOUND, &waker);
	thr_join(waker, NULL, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	ok("a real-time thread runs although the thread is suspended that was to leave it an LWP",
	   worst < FOR_EVER);
}

static pthread_mutex_t high; /* its ceiling is above the real-time thread */
static volatile bool locks_now;

/* Has the mutex until the real-time thread has run. */
static void *locks(void *arg)
{
	while (!over) {
		locks_now = true;
		pthread_mutex_lock(&high);
		while (locks_now && !over)
			;
		pthread_mutex_unlock(&high);
	}
	return NULL;
}

static void *wakes_at_lock(void *wake_ups)
{
	for (long i = 1; i <= (long)wake_ups && worst < FOR_EVER; i++) {
		while (!locks_now)
			;
		spend(i * 2 % 800);
		answered = false;
		posted = gethrtime();
		sem_post(&go);
		while (!answered && gethrtime() < posted + FOR_EVER)
			;
		if (!answered)
			worst = FOR_EVER;
		locks_now = false;
	}
	over = true;
	sem_post(&go);
	return NULL;
}

static void raised(long wake_ups)
{
	pthread_mutexattr_t attr;
	pthread_t t[3];
	thread_t waker;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_PROTECT);
	pthread_mutexattr_setprioceiling(&attr, 40);
	pthread_mutex_init(&high, &attr);
	t[0] = start(is_urgent, NULL, 10);
	t[1] = start(locks, NULL, 0);
	t[2] = start(computes, NULL, 0);
	thr_setprio(t[2], 5);
	thr_create(NULL, 0, wakes_at_lock, (void *)wake_ups, THR_BOUND, &waker);
	thr_join(waker, NULL, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	ok("a real-time thread runs although the thread has a higher priority that was to leave it "
	   "an LWP",
	   worst < LATE);
}

/* The longest time in which the thread did not run. */
static void *notes_gaps(void *arg)
{
	for (hrtime_t now, last = gethrtime(); (now = gethrtime()) < end; last = now) {
		if (now - last > worst)
			worst = now - last;
		spend(200);
	}
	over = true;
	return NULL;
}

static void *uses_queue(void *arg)
{
	while (!over)
		use_queue();
	return NULL;
}

static void slices(void)
{
	pthread_t t[2] = {start(notes_gaps, NULL, 0), start(uses_queue, NULL, 0)};

	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	ok("a thread has its slice beside a thread that uses a message queue", worst < TWO_SLICES);
}

int main(int argc, char **argv)
{
	struct mq_attr attr = {.mq_maxmsg = 4, .mq_msgsize = 64};

	if (argc != 3)
		bail("usage: thr_urgent mq|pipe|idle|slices|suspend|ceiling MS");
	end = gethrtime() + atoll(argv[2]) * 1000000;
	queue = mq_open("/urgent", O_CREAT | O_RDWR, 0600, &attr);
	if (queue == (mqd_t)-1)
		bail("mq_open");
	sem_init(&go, 0, 0);
	if (strcmp(argv[1], "slices") == 0)
		slices();
	else if (strcmp(argv[1], "idle") == 0)
		idle_takes(atol(argv[2]));
	else if (strcmp(argv[1], "suspend") == 0)
		suspended(atol(argv[2]));
	else if (strcmp(argv[1], "ceiling") == 0)
		raised(atol(argv[2]));
	else
		real_time(strcmp(argv[1], "pipe") == 0);
	printf("# the worst: %lld us\n", (long long)(worst / 1000));
	return tap_done();
}
