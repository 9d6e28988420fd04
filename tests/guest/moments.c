/*
 * moments.c - does a little of everything, and prints after each step the time to the nanosecond.
 *
 * In exact timing that is a count of instructions: two runs that print the same have executed the
 * same ones (tests/test_initrd.py).
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/start.h>

extern char **environ;

static void moment(const char *step)
{
	printf("%lld %s\n", (long long)gethrtime(), step);
	fflush(stdout);
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* --- names ---------------------------------------------------------------------------- */

static void look(const char *path)
{
	struct stat st;

	if (stat(path, &st) == 0)
		printf("%s: %lld.%09ld %lld.%09ld\n", path, (long long)st.st_mtim.tv_sec,
		       st.st_mtim.tv_nsec, (long long)st.st_ctim.tv_sec, st.st_ctim.tv_nsec);
	moment(path);
}

static void make_file(const char *path, const char *other)
{
	struct stat st;
	int fd = open(path, O_CREAT | O_EXCL | O_RDWR, 0644);

	if (fd < 0 || write(fd, path, strlen(path)) < 0 || fstat(fd, &st) != 0)
		fail(path);
	close(fd);
	printf("inode %llu\n", (unsigned long long)st.st_ino);
	moment(path);
	if (link(path, other) != 0 || unlink(path) != 0 || rename(other, path) != 0)
		fail(other);
	moment(other);
}

static void names(void)
{
	static const char *const known[] = {"/",
					    "/bin",
					    "/host",
					    "/tmp",
					    "/dev",
					    "/bin/sh",
					    "/bin/init",
					    "/bin/echo",
					    "/bin/pp",
					    "/bin/nothing",
					    "/host/nothing",
					    "/tmp/nothing",
					    "/nothing/at/all",
					    "/bin/../etc/../tmp"};

	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		look(known[i]);
	make_file("/tmp/made", "/tmp/made2");
	make_file("/host/made", "/bin/made2");
	make_file("/made", "/made2");
	if (mkdir("/tmp/dir", 0755) != 0)
		fail("/tmp/dir");
	make_file("/tmp/dir/made", "/tmp/made2");
	if (unlink("/tmp/dir/made") != 0 || rmdir("/tmp/dir") != 0 || unlink("/tmp/made") != 0 ||
	    unlink("/made") != 0 || unlink("/host/made") != 0)
		fail("unlink");
	moment("unlink");
}

/* --- memory, threads, processes --------------------------------------------------------- */

static void memory(void)
{
	const size_t size = 6 << 20;
	unsigned char seed[8];
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open("/dev/urandom", O_RDONLY);

	if (p == MAP_FAILED || fd < 0 || read(fd, seed, sizeof(seed)) != sizeof(seed))
		fail("memory");
	close(fd);
	for (unsigned i = 0; i < sizeof(seed); i++)
		printf("%02x", seed[i]);
	printf("\n");
	for (size_t i = 0; i < size; i += 4096)
		p[i] = 1;
	moment("touched");
	munmap(p, size);
	moment("unmapped");
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long shared;

static void *work(void *arg)
{
	for (unsigned i = 0; i < 200; i++) {
		pthread_mutex_lock(&lock);
		shared++;
		if (i % 16 == 0)
			sched_yield();
		pthread_mutex_unlock(&lock);
		free(malloc(i * 8 + 1));
	}
	return NULL;
}

static void threads(void)
{
	pthread_t t[12];

	for (unsigned i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		if (pthread_create(&t[i], NULL, work, NULL) != 0)
			fail("pthread_create");
	moment("created");
	for (unsigned i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		pthread_join(t[i], NULL);
	moment("joined");
}

static void processes(char *name)
{
	char *argv[] = {name, "child", NULL};
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		fail("fork");
	moment("forked");
	if (posix_spawnp(&pid, name, NULL, NULL, argv, environ) != 0 ||
	    waitpid(pid, &status, 0) != pid || status != 0)
		fail(name);
	moment("spawned");
}

int main(int argc, char **argv)
{
	moment("main");
	if (argc > 1)
		return 0;
	names();
	memory();
	threads();
	processes(argv[0]);
	names();
	return 0;
}
