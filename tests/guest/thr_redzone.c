/*
 * thr_redzone.c [bound|unbound] - a thread that overflows its stack runs into the red
 * zone and is killed, instead of writing into its neighbour's stack.  Without an argument:
 * the test, which spawns itself.
 */
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tap.h"

static int __attribute__((noinline)) overflow(volatile char *above, int depth)
{
	volatile char here[512];

	here[0] = above[0] + depth;
	if (depth == 1 << 30) /* 512 GB down: never */
		return 0;
	return overflow(here, depth + 1) + here[0];
}

static void *falls(void *arg)
{
	volatile char first = 0;

	return (void *)(long)overflow(&first, 0);
}

static int fall(int scope)
{
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	pthread_attr_setscope(&attr, scope);
	pthread_attr_setstacksize(&attr, 65536);
	if (pthread_create(&t, &attr, falls, NULL) != 0)
		return 1;
	pthread_join(t, NULL);
	return 0;
}

int main(int argc, char **argv)
{
	static char *const how[] = {"bound", "unbound"};

	if (argc > 1)
		return fall(strcmp(argv[1], "bound") == 0);
	for (int i = 0; i < 2; i++) {
		char *args[] = {"thr_redzone", how[i], NULL};
		int status = 0;
		pid_t pid;

		is("spawn", posix_spawn(&pid, "/bin/thr_redzone", NULL, NULL, args, environ), 0);
		is("waitpid", waitpid(pid, &status, 0), pid);
		ok(how[i], WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	}
	return tap_done();
}
