/*
 * main.c - uthreads: what happens in an N:1 threads library when one of its threads reads.
 *
 * The library (uthread.c) is built on getcontext, makecontext and swapcontext.
 *
 * uthreads [counters [milliseconds]]	(3 20)
 *
 * A reader waits for input that a child process sends after so many milliseconds.  Meanwhile the
 * counters count rounds and yield.  With read() the kernel blocks the process's only LWP, and
 * with it every uthread.  With uthread_read() only the reader waits: the library asks with poll()
 * whether there is input, and reads only then.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "uthread.h"

static ssize_t (*read_by)(int fd, void *buf, size_t size);
static int input;
static volatile bool reading;
static long rounds; /* of the counters, while the reader reads */
static struct usem begun;

static void *count(void *unused)
{
	(void)unused;
	usem_wait(&begun);
	while (reading) {
		rounds++;
		uthread_yield();
	}
	return NULL;
}

static void *reads(void *counters)
{
	char c;
	ssize_t n;

	reading = true;
	for (long i = 0; i < *(long *)counters; i++)
		usem_post(&begun);
	n = read_by(input, &c, 1);
	reading = false;
	return n == 1 ? &input : NULL;
}

static pid_t send_later(int fd, long milliseconds)
{
	struct timespec delay = {milliseconds / 1000, milliseconds % 1000 * 1000000};
	pid_t pid = fork();

	if (pid == 0) {
		nanosleep(&delay, NULL);
		_exit(write(fd, "x", 1) != 1);
	}
	return pid;
}

static struct uthread *start(void *(*run)(void *), void *arg)
{
	struct uthread *t = uthread_create(run, arg);

	if (t == NULL) {
		fprintf(stderr, "uthreads: out of memory\n");
		exit(1);
	}
	return t;
}

static int test(const char *name, long counters, long milliseconds)
{
	struct uthread **counter = calloc(counters, sizeof(struct uthread *)), *reader;
	int ends[2], status;
	pid_t pid;
	bool done;

	if (counter == NULL || pipe(ends) != 0 || (pid = send_later(ends[1], milliseconds)) < 0) {
		perror("uthreads");
		exit(1);
	}
	input = ends[0];
	rounds = 0;
	for (long i = 0; i < counters; i++)
		counter[i] = start(count, NULL);
	reader = start(reads, &counters);
	for (long i = 0; i < counters; i++)
		uthread_join(counter[i]);
	done = uthread_join(reader) != NULL;
	waitpid(pid, &status, 0);
	close(ends[0]);
	close(ends[1]);
	free(counter);
	printf("%-15s %s; rounds of the counters meanwhile: %ld\n", name,
	       done && status == 0 ? "has got its input" : "failed", rounds);
	return done && status == 0 ? 0 : 1;
}

static long argument(int argc, char **argv, int index, long preset)
{
	long value = index < argc ? strtol(argv[index], NULL, 10) : preset;

	if (value < 1 || value > 10000) {
		fprintf(stderr, "usage: uthreads [counters [milliseconds]]\n");
		exit(2);
	}
	return value;
}

int main(int argc, char **argv)
{
	long counters = argument(argc, argv, 1, 3), milliseconds = argument(argc, argv, 2, 20);

	read_by = read;
	if (test("read():", counters, milliseconds) != 0)
		return 1;
	read_by = uthread_read;
	return test("uthread_read():", counters, milliseconds);
}
