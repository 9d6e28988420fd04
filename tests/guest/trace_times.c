/*
 * trace_times.c - a process with some of each microstate, and what the kernel has counted for it:
 * a line "state nanoseconds" for each, of all its LWPs together.  tests/test_stats.py compares
 * these with the figures of weft stats.  Prints also the number of the process.
 *
 * The process is a child, because only a process that has ended has all its time counted.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/msacct.h>
#include <weft/sys.h>

#define PAGES 20
#define THREADS 3
#define NAPS 4

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static const char *const names[NMSTATE] = {"user",   "system", "trap",  "tfault",  "dfault",
					   "kfault", "lock",   "sleep", "waitcpu", "stopped"};

static void check(int ok, const char *what)
{
	if (!ok) {
		perror(what);
		exit(1);
	}
}

static void spin(unsigned turns)
{
	for (volatile unsigned i = 0; i < turns; i++)
		;
}

/* Holds the mutex while it sleeps, so that the other threads block; then competes for a CPU. */
static void *work(void *arg)
{
	for (int i = 0; i < NAPS; i++) {
		pthread_mutex_lock(&mutex);
		usleep(1000);
		pthread_mutex_unlock(&mutex);
		spin(100000);
	}
	return NULL;
}

static void child(void)
{
	pthread_t t[THREADS];
	int pipes[2];
	char *pages =
		mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);

	check(pages != MAP_FAILED && pipe(pipes) == 0, "child");
	for (int i = 0; i < PAGES / 2; i++)
		pages[i * 4096] = 1;
	check(write(pipes[1], "weft", 4) == 4, "write");
	check(read(pipes[0], pages + PAGES / 2 * 4096, 4) == 4, "read"); /* the kernel's fault */
	for (int i = 0; i < THREADS; i++)
		check(pthread_create(&t[i], NULL, work, NULL) == 0, "pthread_create");
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
}

int main(void)
{
	struct weft_msacct acct;
	siginfo_t info;
	pid_t pid = fork();

	check(pid >= 0, "fork");
	if (pid == 0) {
		child();
		_exit(0);
	}
	check(waitid(P_PID, pid, &info, WEXITED | WNOWAIT) == 0, "waitid");
	check(__sys_msacct(pid, 0, &acct) == 0, "msacct");
	printf("pid %d\n", (int)pid);
	for (unsigned i = 0; i < NMSTATE; i++)
		printf("%s %llu\n", names[i], (unsigned long long)acct.ms[i]);
	printf("switches %llu\n", (unsigned long long)(acct.nvcsw + acct.nivcsw));
	printf("faults %llu\n", (unsigned long long)acct.minflt);
	printf("calls %llu\n", (unsigned long long)acct.nsyscall);
	return waitpid(pid, NULL, 0) == pid && info.si_status == 0 ? 0 : 1;
}
