/*
 * thr_blocked.c [THREADS] - more threads are blocked in the kernel than the pool of mxn has LWPs, and the thread that all of
 * them wait for still runs.
 */
#include "tap.h"
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fds[2];
static unsigned begun;

static void *reader(void *arg)
{
	char c;

	__atomic_add_fetch(&begun, 1, __ATOMIC_SEQ_CST);
	return read(fds[0], &c, 1) == 1 ? arg : NULL;
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 1100, got = 0;
	pthread_t *threads = calloc(n, sizeof(*threads));
	pthread_attr_t attr;
	char c = 'c';

	if (threads == NULL || pipe(fds) != 0)
		bail("no memory or no pipe");
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 32768);
	for (unsigned i = 0; i < n; i++) {
		int error = pthread_create(&threads[i], &attr, reader, &fds);

		if (error != 0)
			bail("thread %u: %s", i, strerror(error));
	}
	while (__atomic_load_n(&begun, __ATOMIC_SEQ_CST) != n)
		sched_yield();
	for (unsigned i = 0; i < n; i++)
		if (write(fds[1], &c, 1) != 1)
			bail("write %u", i);
	for (unsigned i = 0; i < n; i++) {
		void *status;

		got += pthread_join(threads[i], &status) == 0 && status == &fds;
	}
	is("each thread has read", got, n);
	return tap_done();
}
