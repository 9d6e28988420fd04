/*
 * aiopipe.c - a thread that reads a pipe, beside a thread that computes.
 *
 * aiopipe read|aio BYTES MICROSECONDS INSTRUCTIONS
 *
 * Another process writes BYTES bytes, one every MICROSECONDS.  One thread reads them one by one:
 *
 *	read  by read(), which keeps the reader's LWP
 *	aio   by aio_read() and aio_suspend(); an LWP of the library's own waits for the pipe
 *
 * The main thread computes BYTES parts of INSTRUCTIONS instructions, and yields after each.
 * Prints the time until both threads have finished.
 */
#include "common/bench.h"
#include <aio.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const char bench_name[] = "aiopipe";

static bool asynchronous;
static long bytes;
static int ends[2];

static void byte_read(void)
{
	char byte;

	if (read(ends[0], &byte, 1) != 1)
		fail("read: %s", strerror(errno));
}

static void byte_aio(void)
{
	char byte;
	struct aiocb cb = {.aio_fildes = ends[0], .aio_buf = &byte, .aio_nbytes = 1};
	const struct aiocb *list[] = {&cb};

	if (aio_read(&cb) != 0)
		fail("aio_read: %s", strerror(errno));
	while (aio_error(&cb) == EINPROGRESS)
		if (aio_suspend(list, 1, NULL) != 0)
			fail("aio_suspend: %s", strerror(errno));
	if (aio_return(&cb) != 1)
		fail("aio_read: %s", strerror(aio_error(&cb)));
}

static void *reader(void *arg)
{
	for (long i = 0; i < bytes; i++)
		asynchronous ? byte_aio() : byte_read();
	return NULL;
}

static void write_bytes(long us)
{
	const struct timespec pause = {us / 1000000, us % 1000000 * 1000};

	for (long i = 0; i < bytes; i++) {
		nanosleep(&pause, NULL);
		if (write(ends[1], "x", 1) != 1)
			fail("write: %s", strerror(errno));
	}
}

int main(int argc, char **argv)
{
	struct moment then, now;
	pthread_t t;

	if (argc != 5 || (strcmp(argv[1], "read") != 0 && strcmp(argv[1], "aio") != 0)) {
		fprintf(stderr, "usage: aiopipe read|aio BYTES MICROSECONDS INSTRUCTIONS\n");
		return 2;
	}
	asynchronous = strcmp(argv[1], "aio") == 0;
	bytes = number("bytes", argv[2], 1, 1000000);
	long us = number("microseconds", argv[3], 1, 1000000);
	long instructions = number("instructions", argv[4], 1, 1000000000);
	if (pipe(ends) != 0)
		fail("pipe: %s", strerror(errno));
	pid_t pid = fork();
	if (pid < 0)
		fail("fork: %s", strerror(errno));
	if (pid == 0) {
		write_bytes(us);
		_exit(0);
	}
	then = moment();
	must(pthread_create(&t, NULL, reader, NULL), "pthread_create");
	for (long i = 0; i < bytes; i++) {
		compute(instructions);
		sched_yield();
	}
	must(pthread_join(t, NULL), "pthread_join");
	now = moment();
	printf("result");
	print_since(&then, &now);
	return 0;
}
