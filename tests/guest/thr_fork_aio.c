/*
 * thr_fork_aio.c [ROUNDS] - a process with one thread, and workers that make its asynchronous calls, forks: the child's sleep queues are
 * empty, whatever the workers did.
 */
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../../libthread/core/sleepq.h"
#include "tap.h"

#define REQUESTS 12

static struct aiocb requests[REQUESTS];
static char buf[REQUESTS][64];
static int fd;

static bool queue_unused(const struct sleepq *q)
{
	return q->first == NULL && q->spinners == 0 && q->lock.held == 0;
}

static bool queues_unused(void)
{
	for (int i = 0; i < 1 << SLEEPQ_BITS; i++)
		if (!queue_unused(&__sleepq_point[i]) || !queue_unused(&__sleepq_other[i]))
			return false;
	return true;
}

static void begin(void)
{
	for (int i = 0; i < REQUESTS; i++) {
		requests[i] = (struct aiocb){.aio_fildes = fd, .aio_buf = buf[i], .aio_nbytes = 64};
		if (aio_read(&requests[i]) != 0)
			bail("aio_read");
	}
}

static void await(void)
{
	for (int i = 0; i < REQUESTS; i++) {
		const struct aiocb *list[1] = {&requests[i]};

		while (aio_error(&requests[i]) == EINPROGRESS)
			aio_suspend(list, 1, NULL);
	}
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 100, wrong = 0, status;

	fd = open("/tmp/fork_aio", O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, buf, sizeof(buf)) != sizeof(buf))
		bail("file");
	srand(1);
	for (int i = 0; i < rounds && wrong == 0; i++) {
		pid_t pid;

		begin();
		for (volatile int turns = rand() % 3000; turns > 0; turns--)
			;
		pid = fork();
		if (pid == 0) {
			bool unused = queues_unused();

			begin();
			await();
			_exit(!unused);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			bail("fork");
		wrong = status;
		await();
	}
	is("the sleep queues of the children are empty", wrong, 0);
	return tap_done();
}
