/*
 * libc_threads.c - the C library under threads: errno and the conversion buffers are
 * each thread's own; malloc and streams are safe; exit does not wait for a
 * thread that reads.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/wait.h>
#include "tap.h"

#define THREADS 8
#define ROUNDS 2000

static pthread_barrier_t barrier;
static FILE *null;

struct worker {
	pthread_t thread;
	unsigned id, wrong_errno, wrong_text, damaged;
};

static void *work(void *arg)
{
	struct worker *w = arg;
	char text[40], want[40];
	unsigned char *block[16] = {0};
	unsigned i, k, n;
	double d;

	snprintf(want, sizeof(want), "%u.125", w->id);
	pthread_barrier_wait(&barrier);
	for (i = 0; i < ROUNDS; i++) {
		errno = 0;
		if (w->id & 1)
			close(-1);
		else
			open("/nonexistent", O_RDONLY);
		n = i % 16;
		if (block[n]) {
			for (k = 0; k < 50 + n; k++)
				w->damaged += block[n][k] != w->id;
			free(block[n]);
		}
		w->wrong_errno += errno != (w->id & 1 ? EBADF : ENOENT);
		block[n] = malloc(50 + n);
		memset(block[n], w->id, 50 + n);
		snprintf(text, sizeof(text), "%.3f", w->id + 0.125);
		w->wrong_text += strcmp(text, want) != 0;
		d = strtod("1.23456789012345678901234567890e-200", NULL);
		w->wrong_text += d != 1.23456789012345678901234567890e-200;
		fprintf(null, "%u %s %g\n", i, text, d);
	}
	for (i = 0; i < 16; i++)
		free(block[i]);
	return NULL;
}

static void *reader(void *arg)
{
	pthread_barrier_wait(&barrier);
	getchar();
	return NULL;
}

/* Must end with 3 although a thread holds stdin's lock, asleep in a read. */
static int exit_beside_reader(void)
{
	pthread_t t;

	pthread_barrier_init(&barrier, NULL, 2);
	if (pthread_create(&t, NULL, reader, NULL) != 0)
		return 1;
	pthread_barrier_wait(&barrier);
	usleep(20000); /* most likely it sleeps by now; the test holds either way */
	exit(3);
}

int main(int argc, char **argv)
{
	char *args[] = {"libc_threads", "exit", NULL};
	struct worker w[THREADS] = {0};
	unsigned i, wrong_errno = 0, wrong_text = 0, damaged = 0;
	int status = -1;
	pid_t pid;

	if (argc > 1)
		return exit_beside_reader();
	null = fopen("/dev/null", "w");
	if (!null)
		bail("/dev/null: %s", strerror(errno));
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (i = 0; i < THREADS; i++) {
		w[i].id = i + 1;
		if (pthread_create(&w[i].thread, NULL, work, &w[i]) != 0)
			bail("pthread_create");
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(w[i].thread, NULL);
		wrong_errno += w[i].wrong_errno;
		wrong_text += w[i].wrong_text;
		damaged += w[i].damaged;
	}
	is("errno of another thread", wrong_errno, 0);
	is("wrong conversions", wrong_text, 0);
	is("damaged blocks", damaged, 0);
	is("stream without error", ferror(null) || fclose(null), 0);

	is("spawn", posix_spawn(&pid, "/bin/libc_threads", NULL, NULL, args, environ), 0);
	is("waitpid", waitpid(pid, &status, 0), pid);
	ok("exit beside a thread in getchar", WIFEXITED(status) && WEXITSTATUS(status) == 3);
	return tap_done();
}
