/*
 * races_mxn.c RACE [ROUNDS] - the races that the model mxn claims to close (race.h): unbound
 * threads, their deadlines and LWPs.  Their signals: races_signal.c.
 */
#include <fcntl.h>
#include <mqueue.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>
#include "../../libthread/core/tcb.h"
#include "race.h"

static sem_t sem;
static volatile unsigned reached;

static void sem_begin(void)
{
	sem_init(&sem, 0, 0);
}

/* --- stopped while an LWP is on its way to it ------------------------------------------------- */

static void stopped_wait(unsigned round)
{
	sem_wait(&sem);
	reached = round;
}

static void stopped_post(unsigned round)
{
	unsigned before;

	turns(300);
	sem_post(&sem);
	turns(draw(20));
	if (thr_suspend(party[1]) != 0)
		return;
	before = reached;
	turns(1500);
	MUST(reached == before);
	thr_continue(party[1]);
}

/* --- an idle LWP whose CPU another LWP has taken (model sa, two CPUs) ------------------------- */

static int silent_pipe[2];

static void silent_begin(void)
{
	sem_begin();
	MUST(pipe(silent_pipe) == 0);
}

/* The reader unblocks, and has the second CPU when the waiter is woken. */
static void silent_post(unsigned round)
{
	turns(3000);
	MUST(write(silent_pipe[1], "", 1) == 1);
	turns(300 + draw(300));
	sem_post(&sem);
}

static void silent_wait(unsigned round)
{
	sem_wait(&sem);
}

static void silent_read(unsigned round)
{
	char c;

	MUST(read(silent_pipe[0], &c, 1) == 1);
	turns(4000);
}

/* --- an idle LWP that stops spinning (model sa, idle=spin) -------------------------------------- */

/* As long as an idle LWP spins, to some hundred instructions. */
static void spin_post(unsigned round)
{
	turns(1400 + draw(250));
	sem_post(&sem);
}

/* --- yields of threads whose LWP another LWP takes them from (model sa, two CPUs) ---------------- */

static pthread_mutex_t inside = PTHREAD_MUTEX_INITIALIZER;

static void yield_some(void)
{
	for (unsigned n = draw(6); n > 0; n--)
		sched_yield();
}

/* The owner yields, so that others block, and an LWP runs out of threads. */
static void yield_inside(unsigned round)
{
	for (int i = 0; i < 5; i++) {
		pthread_mutex_lock(&inside);
		yield_some();
		pthread_mutex_unlock(&inside);
		yield_some();
	}
}

/* --- stopped before it begins ----------------------------------------------------------------- */

static volatile pthread_t newborn;
static volatile unsigned born;

static void *is_born(void *arg)
{
	born++;
	return NULL;
}

/* Its id can be seen as soon as it is written, which is before the thread is whole. */
static void newborn_create(unsigned round)
{
	newborn = 0;
	born = 0;
	MUST(pthread_create((pthread_t *)&newborn, NULL, is_born, NULL) == 0);
	MUST(pthread_join(newborn, NULL) == 0);
	MUST(born == 1);
}

static void newborn_stop(unsigned round)
{
	pthread_t t;

	UNTIL((t = newborn) != 0 || finished[0] == round);
	if (thr_suspend(t) == 0)
		thr_continue(t);
}

/* --- a mutex whose owner inherits priorities -------------------------------------------------- */

static pthread_mutex_t inheriting;

static void inherit_begin(void)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&inheriting, &attr);
}

static void inherit_use(unsigned round)
{
	for (int i = 0; i < 5; i++) {
		pthread_mutex_lock(&inheriting);
		turns(draw(100));
		pthread_mutex_unlock(&inheriting);
		turns(draw(100));
	}
}

/* In case that the others sleep for ever. */
static void inherit_watch(unsigned round)
{
	UNTIL(finished[1] == round && finished[2] == round && finished[3] == round);
}

static void inherit_in_time(unsigned round)
{
	for (int i = 0; i < 5; i++) {
		struct timespec t = timespec_of(gethrtime() + 100 + draw(3000));

		if (pthread_mutex_clocklock(&inheriting, CLOCK_MONOTONIC, &t) == 0)
			pthread_mutex_unlock(&inheriting);
	}
}

/* --- an LWP that has been idle for long ------------------------------------------------------- */

static int pipe_end[2];

static void aging_begin(void)
{
	sem_begin();
	if (pipe(pipe_end) != 0)
		bail("pipe");
}

/* The pool has to grow for somebody to run, and is then larger than was asked for. */
static void aging_read(unsigned round)
{
	char byte;

	read(pipe_end[0], &byte, 1);
	sem_wait(&sem);
}

static void aging_post(unsigned round)
{
	sched_yield();
	write(pipe_end[1], "ab", 2);
	until(gethrtime() + 18000);
	turns(draw(1500));
	sem_post(&sem);
	sem_post(&sem);
}

/* --- a condition variable with a mutex whose queue is the kernel's ---------------------------- */

static pthread_mutex_t mutex;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static volatile unsigned flag;

static void robust_begin(void)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&mutex, &attr);
}

static void robust_wait(unsigned round)
{
	pthread_mutex_lock(&mutex);
	while (flag != round)
		pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
}

static void robust_signal(unsigned round)
{
	pthread_mutex_lock(&mutex);
	flag = round;
	pthread_mutex_unlock(&mutex);
	pthread_cond_signal(&cond);
}

/* --- deadlines -------------------------------------------------------------------------------- */

static void deadline_wait(unsigned round)
{
	struct timespec t = timespec_of(gethrtime() + 200 + draw(3000));

	MUST(sem_clockwait(&sem, CLOCK_MONOTONIC, &t) == -1);
}

/* --- an LWP that goes idle -------------------------------------------------------------------- */

static sem_t to[2];

static void idle_begin(void)
{
	sem_init(&to[0], 0, 0);
	sem_init(&to[1], 0, 0);
}

static void idle_post(unsigned round)
{
	turns(draw(30));
	sem_post(&to[round % 2]);
	turns(draw(30));
	sem_post(&to[!(round % 2)]);
}

static void idle_first(unsigned round)
{
	sem_wait(&to[0]);
}

static void idle_second(unsigned round)
{
	sem_wait(&to[1]);
}

static void yields(unsigned round)
{
	for (int i = 0; i < 6; i++)
		sched_yield();
}

/* --- stopped while it has yielded in a handler, with the lock of a message queue --------------- */

#define MESSAGE 2000

static mqd_t queue;
static char message[MESSAGE];
static struct thread *volatile sender;
static volatile unsigned handlers;

static void yielding_handler(int sig)
{
	handlers++;
	yields(started);
}

/* A thread to which a handler can yield. */
static void *is_there(void *arg)
{
	while (!over) {
		turns(draw(100));
		sched_yield();
	}
	return NULL;
}

static void queue_begin(void)
{
	struct mq_attr attr = {.mq_maxmsg = 4, .mq_msgsize = MESSAGE};

	queue = mq_open("/race", O_CREAT | O_RDWR | O_NONBLOCK, 0600, &attr);
	MUST(queue != (mqd_t)-1);
}

static void owning_begin(void)
{
	queue_begin();
	signal(SIGUSR1, yielding_handler);
	pthread_detach(new_thread(is_there, NULL));
}

static void owning_prepare(unsigned round)
{
	handlers = 0;
	sender = NULL;
}

static void owning_send(unsigned round)
{
	sender = thread_self();
	mq_send(queue, message, MESSAGE, 0);
	turns(2000); /* where it may be stopped */
}

static void owning_receive(unsigned round)
{
	static char received[MESSAGE];

	UNTIL(sender != NULL);
	mq_receive(queue, received, MESSAGE, NULL);
}

/* The stopped thread does not have the lock, so another thread can have it. */
static void owning_stop(unsigned round)
{
	hrtime_t end;

	UNTIL(sender != NULL);
	while (sender->no_suspend == 0 && finished[1] != round)
		;
	pthread_kill(party[1], SIGUSR1);
	while (handlers == 0)
		;
	if (thr_suspend(party[1]) != 0)
		return;
	end = gethrtime() + 500000;
	while (finished[2] != round) {
		MUST(gethrtime() < end);
		sched_yield();
	}
	thr_continue(party[1]);
}

/* --- cancelled there -------------------------------------------------------------------------- */

/* POSIX lets it call no such thing then, but the library does. */
static void *sends(void *arg)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	owning_send(started);
	for (reached = started;;)
		pthread_testcancel();
	return NULL;
}

/* The receiver needs both locks of the queue. */
static void cancelled_cancel(unsigned round)
{
	pthread_t t = new_thread(sends, NULL);

	UNTIL(sender != NULL);
	UNTIL(sender->no_suspend != 0 || reached == round);
	turns(draw(200));
	pthread_cancel(t);
	MUST(pthread_join(t, NULL) == 0);
	owning_receive(round);
}

static void cancelled_watch(unsigned round)
{
	UNTIL(finished[0] == round);
}

static const struct race races[] = {
	{.name = "stopped", .spread = 100, .begin = sem_begin, .act = {stopped_post, stopped_wait}},
	{.name = "newborn", .spread = 30, .act = {newborn_create, newborn_stop}},
	{.name = "inherit",
	 .spread = 50,
	 .begin = inherit_begin,
	 .act = {inherit_watch, inherit_use, inherit_use, inherit_use}},
	{.name = "inherit-in-time",
	 .spread = 50,
	 .begin = inherit_begin,
	 .act = {inherit_use, inherit_in_time, inherit_in_time}},
	{.name = "aging",
	 .spread = 50,
	 .begin = aging_begin,
	 .act = {aging_post, aging_read, aging_read},
	 .lwps = 2},
	{.name = "silent",
	 .spread = 50,
	 .begin = silent_begin,
	 .act = {silent_post, silent_wait, silent_read},
	 .lwps = 2},
	{.name = "idle-spin", .spread = 50, .begin = sem_begin, .act = {spin_post, silent_wait}},
	{.name = "yield",
	 .spread = 50,
	 .act = {yield_inside, yield_inside, yield_inside, yield_inside},
	 .lwps = 2},
	{.name = "robust",
	 .spread = 200,
	 .begin = robust_begin,
	 .act = {robust_wait, robust_signal}},
	{.name = "deadlines",
	 .spread = 100,
	 .begin = sem_begin,
	 .act = {deadline_wait, deadline_wait, deadline_wait}},
	{.name = "crowd",
	 .spread = 30,
	 .begin = idle_begin,
	 .act = {idle_post, idle_first, idle_second, yields},
	 .lwps = 2},
	{.name = "owning",
	 .spread = 100,
	 .begin = owning_begin,
	 .prepare = owning_prepare,
	 .act = {owning_stop, owning_send, owning_receive},
	 .lwps = 2},
	{.name = "owning-cancelled",
	 .spread = 100,
	 .begin = queue_begin,
	 .prepare = owning_prepare,
	 .act = {cancelled_cancel, cancelled_watch}},
	{.name = "idle",
	 .spread = 30,
	 .begin = idle_begin,
	 .act = {idle_post, idle_first, idle_second}},
};

int main(int argc, char **argv)
{
	return run_races(races, sizeof(races) / sizeof(races[0]), argc, argv);
}
