/*
 * libc_start.c - the way to main and back: arguments, environment, auxiliary vector,
 * constructors, the state of the stack and of the floating-point unit; atexit and destructors.
 */
#include <errno.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/wait.h>
#include <weft/start.h>
#include "tap.h"

static int constructed, exit_steps;

__attribute__((constructor)) static void construct(void)
{
	constructed = getenv("PATH") != NULL; /* the environment is there already */
}

/* Last of all: the child's status tells in which order the steps came. */
__attribute__((destructor)) static void destruct(void)
{
	if (exit_steps)
		_exit(exit_steps * 10 + 3);
}

static void at_exit_first(void)
{
	exit_steps = exit_steps * 10 + 2;
}

static void at_exit_second(void)
{
	exit_steps = 1;
}

/* What the child was started with comes back as its status. */
static int child(int argc, char **argv)
{
	if (!strcmp(argv[1], "exit")) {
		atexit(at_exit_first);
		atexit(at_exit_second);
		return 0;
	}
	if (!strcmp(argv[1], "args"))
		return argc == 5 && !strcmp(argv[2], "") && !strcmp(argv[3], "a b\n\"'") &&
				       !strcmp(argv[4], "\xc3\xa9") && !argv[5]
			       ? 0
			       : 1;
	if (!strcmp(argv[1], "env"))
		return environ[0] && !strcmp(environ[0], "A=1") && environ[1] &&
				       !strcmp(environ[1], "B=") && !environ[2] &&
				       !strcmp(getenv("A"), "1") && !getenv("PATH")
			       ? 0
			       : 1;
	if (!strcmp(argv[1], "noenv"))
		return environ[0] == NULL && !getenv("A") && setenv("A", "2", 1) == 0 &&
				       !strcmp(getenv("A"), "2")
			       ? 0
			       : 1;
	return 99;
}

static int run(const char *self, char **argv, char **envp)
{
	int status;
	pid_t pid;

	if (posix_spawn(&pid, self, NULL, NULL, argv, envp) != 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int has_aligned_stack(void)
{
	double local __attribute__((aligned(16)));

	return ((uintptr_t)&local & 15) == 0 && ((uintptr_t)__builtin_frame_address(0) & 15) == 0;
}

int main(int argc, char **argv)
{
	static const char self[] = "/bin/libc_start";
	char *env[] = {"A=1", "B=", NULL}, *none[] = {NULL};
	uint32_t mxcsr;
	uint16_t fcw;

	if (argc > 1)
		return child(argc, argv);

	is("argc", argc, 1);
	ok("argv ends with NULL", argv[0] && !argv[1]);
	ok("constructor", constructed);
	ok("stack aligned", has_aligned_stack());
	__asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
	__asm__ volatile("fnstcw %0" : "=m"(fcw));
	is("MXCSR", mxcsr & ~0x3fu, 0x1f80);
	is("x87 control word", fcw, 0x37f);

	is("AT_PAGESZ", __auxval(AT_PAGESZ), 4096);
	is("AT_ENTRY", __auxval(AT_ENTRY) >= 0x400000, 1);
	is("no such tag", __auxval(0xdead), 0);
	is("CPUs", __ncpu, sysconf(_SC_NPROCESSORS_ONLN));
	ok("time page", __timepage != NULL);

	is("exit: atexit in reverse, destructors last",
	   run(self, (char *[]){"t", "exit", NULL}, environ), 123);
	is("arguments",
	   run(self, (char *[]){"t", "args", "", "a b\n\"'", "\xc3\xa9", NULL}, environ), 0);
	is("environment", run(self, (char *[]){"t", "env", NULL}, env), 0);
	is("empty environment", run(self, (char *[]){"t", "noenv", NULL}, none), 0);
	return tap_done();
}
