/*
 * thr_options.c - LIBTHREAD and LIBTHREAD_OPTIONS: what is known works; what is not known, or
 * makes no sense in the model, ends the process with status 2 (test_libthread.py reads the
 * messages).  With an argument: the program that is started; it uses locks enough to go
 * through the mechanisms that the options choose.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <thread.h>
#include <unistd.h>
#include "tap.h"

/* --- the program ---------------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t ping, pong;
static volatile long count;
#define HOLDS_A_SAMPLE 256 /* one hold in so many is timed (thread.h) */

static void *work(void *arg)
{
	for (int i = 0; i < 500; i++) {
		pthread_mutex_lock(&lock);
		count++;
		if (i % 8 == 0)
			sched_yield();
		pthread_mutex_unlock(&lock);
		if (arg == NULL)
			continue;
		sem_wait(&ping);
		sem_post(&pong);
	}
	return NULL;
}

/*
 * Do the statistics of the lock over the run queue fit what program() has done?  In mxn and n1 each
 * yield and each wait takes the lock.  In sa few of them do.
 */
static bool schedlock_stats_fit(void)
{
	const char *model = getenv("LIBTHREAD");
	bool spared = model != NULL && strcmp(model, "sa") == 0;
	struct thr_schedlock_stats s;
	int r = thr_schedlock_stats(&s);

	if (r == ENOTSUP)
		return true;
	return r == 0 && s.acquisitions >= (spared ? 1 : 1000) && s.hold_max_ns <= s.hold_ns &&
	       (s.acquisitions < 2 * HOLDS_A_SAMPLE || s.hold_samples != 0);
}

static int program(void)
{
	pthread_t t[3];

	sem_init(&ping, 0, 0);
	sem_init(&pong, 0, 0);
	for (long i = 0; i < 3; i++)
		if (pthread_create(&t[i], NULL, work, i == 0 ? &ping : NULL) != 0)
			return 1;
	for (int i = 0; i < 500; i++) {
		sem_post(&ping);
		sem_wait(&pong);
	}
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	if (!schedlock_stats_fit())
		return 3;
	return count == 1500 ? 0 : 1;
}

/* --- the test --------------------------------------------------------------------------------- */

static void with(char *model, char *options, int status)
{
	char *args[] = {"thr_options", "run", NULL}, *env[] = {model, options, NULL};
	char name[120];
	int how = -1;
	pid_t pid;

	if (posix_spawn(&pid, "/bin/thr_options", NULL, NULL, args, env) != 0)
		bail("spawn");
	snprintf(name, sizeof(name), "%s %s", model, options);
	if (waitpid(pid, &how, 0) != pid || !WIFEXITED(how))
		bail("%s: killed by a signal", name);
	is(name, WEXITSTATUS(how), status);
}

/* Every value of every option, and the models that have it (libthread/README.md). */
static const struct {
	const char *option, *models;
} every[] = {
	{"spin=adaptive", "lwp mxn sa"},
	{"spin=always", "lwp mxn sa"},
	{"spin=never", "lwp mxn sa"},
	{"unlock=adaptive", "lwp mxn sa"},
	{"unlock=plain", "lwp mxn sa"},
	{"queue=lifo", "lwp mxn n1 sa"},
	{"queue=fifo", "lwp mxn n1 sa"},
	{"sleep=park", "lwp"},
	{"sleep=kernel", "lwp"},
	{"unpark=combined", "lwp"},
	{"unpark=separate", "lwp"},
	{"malloc=newlib", "lwp mxn n1 sa"},
	{"malloc=mt", "lwp mxn n1 sa"},
	{"lockstat=off", "lwp mxn n1 sa"},
	{"lockstat=30", "lwp mxn n1 sa"},
	{"lockstat-fd=2", "lwp mxn n1 sa"},
	{"sample=10", "lwp mxn n1 sa"},
	{"schedctl=on", "lwp mxn n1 sa"},
	{"schedctl=off", "lwp mxn n1 sa"},
	{"concurrency=2", "mxn sa"},
	{"waiting=upcall", "mxn"},
	{"waiting=signal", "mxn"},
	{"waiting=none", "mxn"},
	{"waiting=early", "mxn"},
	{"aging=1", "mxn sa"},
	{"idle=sleep", "sa"},
	{"idle=spin", "sa"},
	{"idle=leave", "sa"},
	{"slices=off", "sa"},
	{"preempted=stay", "sa"},
	{"unblocked=stay", "sa"},
	{"runqueue=common", "sa"},
	{"sleepq=common", "sa"},
	{"lone=off", "sa"},
	{"signals=aslwp", "sa"},
};

static void each_alone(void)
{
	static const char *const models[] = {"lwp", "mxn", "n1", "sa"};
	char model[20], options[60];

	for (int m = 0; m < 4; m++) {
		snprintf(model, sizeof(model), "LIBTHREAD=%s", models[m]);
		for (unsigned i = 0; i < sizeof(every) / sizeof(every[0]); i++) {
			snprintf(options, sizeof(options), "LIBTHREAD_OPTIONS=%s", every[i].option);
			with(model, options, strstr(every[i].models, models[m]) != NULL ? 0 : 2);
		}
	}
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return program();

	with("LIBTHREAD=", "LIBTHREAD_OPTIONS=", 0);
	each_alone();
	with("LIBTHREAD=lwp", "LIBTHREAD_OPTIONS=spin=always,queue=fifo,unlock=plain,schedctl=off",
	     0);
	with("LIBTHREAD=lwp", "LIBTHREAD_OPTIONS=sleep=kernel,unlock=adaptive,queue=lifo", 0);
	with("LIBTHREAD=mxn",
	     "LIBTHREAD_OPTIONS=spin=always,queue=lifo,unlock=adaptive,concurrency=3", 0);
	with("LIBTHREAD=mxn", "LIBTHREAD_OPTIONS=schedctl=off,concurrency=4,spin=never", 0);
	with("LIBTHREAD=n1", "LIBTHREAD_OPTIONS=queue=lifo,schedctl=off", 0);
	with("LIBTHREAD=sa", "LIBTHREAD_OPTIONS=runqueue=common,sleepq=common,lone=off,idle=leave",
	     0);

	with("LIBTHREAD=nm", "LIBTHREAD_OPTIONS=", 2);
	with("LIBTHREAD=mxn", "LIBTHREAD_OPTIONS=concurrency=0", 2);
	with("LIBTHREAD=mxn", "LIBTHREAD_OPTIONS=concurrency=99999999999", 2);
	with("LIBTHREAD=mxn", "LIBTHREAD_OPTIONS=colour=red", 2);
	with("LIBTHREAD=mxn", "LIBTHREAD_OPTIONS=queue=fifo,spin", 2);
	with("LIBTHREAD=mxn", "LIBTHREAD_OPTIONS=queue=", 2);
	return tap_done();
}
