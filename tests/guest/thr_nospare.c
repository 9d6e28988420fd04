/*
 * thr_nospare.c - the first thread is created, on memory of the program, while there is no memory for an LWP.  The creation fails, or the
 * thread runs, also while the first thread blocks in the kernel.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <unistd.h>
#include <weft/proc.h>
#include <weft/sys.h>
#include "tap.h"

static int pipe_of[2];
static char stack[65536] __attribute__((aligned(4096)));

static void *writes(void *arg)
{
	write(pipe_of[1], "", 1);
	return NULL;
}

static void limit_memory(rlim_t to)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_AS, &l) != 0)
		bail("getrlimit");
	l.rlim_cur = to;
	if (setrlimit(RLIMIT_AS, &l) != 0)
		bail("setrlimit");
}

static int create(pthread_t *t)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, stack, sizeof(stack));
	return pthread_create(t, &attr, writes, NULL);
}

int main(void)
{
	struct pollfd readable = {.events = POLLIN};
	struct weft_procinfo info;
	pthread_t t;
	int error;

	if (pipe(pipe_of) != 0 || __sys_procinfo(__sys_getpid(), &info) < 0)
		bail("pipe, procinfo");
	readable.fd = pipe_of[0];
	limit_memory(info.size);
	error = create(&t);
	ok("the error is clean", error == 0 || error == EAGAIN || error == ENOMEM);
	limit_memory(RLIM_INFINITY);
	if (error != 0)
		is("with memory the thread is created", create(&t), 0);
	is("it runs while the first thread is in the kernel", poll(&readable, 1, 3000), 1);
	pthread_join(t, NULL);
	return tap_done();
}
