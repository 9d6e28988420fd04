/*
 * thr_nopoints.c - functions that POSIX lets be cancellation points (2.9.5.2), and that are none
 * here, in every model: stdio's, and others that make system calls.
 */
#define _GNU_SOURCE
#include "cancel.h"
#include <dirent.h>
#include <fcntl.h>
#include <semaphore.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

extern char **environ;

/* Each step is the name of what it tries. */
static void *calls_free(void *step)
{
	static char *const sh[] = {"sh", "-c", "exit 3", NULL};
	int status = 0, end[2];
	struct stat st;
	char name[64];
	DIR *dir;
	FILE *f;
	pid_t pid;

	pthread_cancel(pthread_self());
	*(const char **)step = "names";
	mkdir("/tmp/thr_nopoints.d", 0700);
	stat("/tmp/thr_nopoints.d", &st);
	access("/tmp/thr_nopoints.d", R_OK);
	chmod("/tmp/thr_nopoints.d", 0755);
	rename("/tmp/thr_nopoints.d", "/tmp/thr_nopoints.e");
	rmdir("/tmp/thr_nopoints.e");
	getcwd(name, sizeof(name));
	*(const char **)step = "directories";
	dir = opendir("/tmp");
	readdir(dir);
	closedir(dir);
	*(const char **)step = "streams";
	f = fopen("/tmp/thr_nopoints.4", "w+");
	fputs("x", f);
	fseek(f, 0, SEEK_SET);
	getc(f);
	fclose(f);
	unlink("/tmp/thr_nopoints.4");
	f = tmpfile();
	fclose(f);
	*(const char **)step = "memory";
	munmap(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096);
	*(const char **)step = "semaphores";
	sem_close(sem_open("/thr_nopoints", O_CREAT, 0600, 1));
	sem_unlink("/thr_nopoints");
	*(const char **)step = "processes";
	pid = fork();
	if (pid == 0)
		_exit(3);
	posix_spawn(&pid, "/bin/sh", NULL, NULL, sh, environ);
	pipe(end);
	fcntl(end[0], F_GETFL);
	isatty(end[0]);
	*(const char **)step = "popen";
	f = popen("exit 3", "r");
	status = pclose(f);
	return WIFEXITED(status) && WEXITSTATUS(status) == 3 ? "returned" : NULL;
}

/* No stream stays locked. */
static void *prints(void *arg)
{
	FILE *f = arg;

	pthread_cancel(pthread_self());
	fprintf(f, "a line that is written\n");
	fflush(f);
	rewind(f);
	fgetc(f);
	return "returned";
}

/* But under the program's own lock a point is one. */
static void *closes_locked(void *arg)
{
	FILE *f = arg;

	flockfile(f);
	pthread_cancel(pthread_self());
	close(-1);
	return NULL;
}

int main(void)
{
	FILE *f = fopen("/tmp/thr_nopoints", "w+");
	const char *step = "";
	void *r = result_of(start(calls_free, &step));

	tap_report(r != NULL && r != PTHREAD_CANCELED, "others that make system calls are none",
		   "%s", step);
	ok("stdio is none", result_of(start(prints, f)) != PTHREAD_CANCELED);
	is("its stream can be used", ftrylockfile(f), 0);
	funlockfile(f);
	ok("close with flockfile is one", result_of(start(closes_locked, f)) == PTHREAD_CANCELED);
	return tap_done();
}
