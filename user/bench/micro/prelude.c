/*
 * prelude.c - what a process may do before a figure is measured.  It must make no difference.
 *
 * Only the levels of time-share make one.  Threads that begin together, in a process that has
 * slept, keep equal priorities: each wait of a round trip is a sleep.  In a new process the second
 * thread may be preempted by each wakeup of the first, and have its turn without a sleep.
 */
#include <err.h>
#include <semaphore.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "micro.h"

#define TURNS 100
#define NAP 1000000 /* ns */

/* Another pair of threads takes turns and exits. */
static void earlier_pair(void)
{
	sema_turns(0, NULL, TURNS);
}

static void after_fork(void)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		err(1, "fork");
	if (pid == 0)
		return; /* the child measures */
	if (waitpid(pid, &status, 0) != pid)
		err(1, "waitpid");
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

static void after_sleep(void)
{
	for (int i = 0; i < 10; i++)
		nanosleep(&(struct timespec){.tv_nsec = NAP}, NULL);
}

static sem_t never;

static void *sleep_on(void *arg)
{
	sem_wait(&never);
	return NULL;
}

/* A third thread sleeps as long as the process lives. */
static void idle_thread(void)
{
	pthread_t thread;

	sem_init(&never, 0, 0);
	must(pthread_create(&thread, NULL, sleep_on, NULL), "pthread_create");
	must(pthread_detach(thread), "pthread_detach");
	after_sleep(); /* the thread sleeps by now */
}

bool prelude(const char *name)
{
	static const struct {
		const char *name;
		void (*play)(void);
	} preludes[] = {
		{"pair", earlier_pair},
		{"fork", after_fork},
		{"sleep", after_sleep},
		{"idle", idle_thread},
	};

	for (size_t i = 0; i < sizeof(preludes) / sizeof(preludes[0]); i++)
		if (strcmp(name, preludes[i].name) == 0) {
			preludes[i].play();
			return true;
		}
	return false;
}
