/*
 * step_end.c - what a debugger steps over, for test_debug_motion.py: the return from the handler of a signal, and the
 * end of the process ("exit N": with this status; "kill N": by this signal).
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int handled;

static void handler(int signo)
{
	handled = signo;
}

int main(int argc, char **argv)
{
	int number = argc == 3 ? atoi(argv[2]) : 0;

	signal(SIGUSR1, handler);
	raise(SIGUSR1);
	if (number == 0)
		return 2;
	if (strcmp(argv[1], "exit") == 0)
		_exit(number);
	kill(getpid(), number);
	pause();
}
