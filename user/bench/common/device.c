/*
 * device.c - the process that answers (device.h).
 *
 * One pipe carries questions: each is the time at which its answer is due.  The other carries
 * answers, a byte each.  Any waiting thread may read an answer and continue, because there are as
 * many answers as questions.
 */
#include "device.h"
#include <errno.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include "bench.h"

static int questions[2], answers[2];

/* Answers until the process that asks has exited. */
static void __attribute__((noreturn)) answer(void)
{
	int64_t due;

	close(questions[1]);
	close(answers[0]);
	while (read(questions[0], &due, sizeof(due)) == sizeof(due)) {
		int64_t left = due - gethrtime();
		struct timespec ts = {left / 1000000000, left % 1000000000};

		if (left > 0)
			nanosleep(&ts, NULL);
		if (write(answers[1], "", 1) != 1)
			break;
	}
	_exit(0);
}

void device_start(void)
{
	pid_t pid;

	if (pipe(questions) != 0 || pipe(answers) != 0)
		fail("pipe: error %d", errno);
	pid = fork();
	if (pid < 0)
		fail("fork: error %d", errno);
	if (pid == 0)
		answer();
	close(questions[0]);
	close(answers[1]);
}

void device_wait(int64_t ns)
{
	int64_t due = gethrtime() + ns;
	char byte;

	if (write(questions[1], &due, sizeof(due)) != sizeof(due) ||
	    read(answers[0], &byte, 1) != 1)
		fail("the device does not answer: error %d", errno);
}
