/*
 * file_proc.c - /proc as a file system: directories read at every offset, files that are one
 * moment's view, names that go while somebody is there, and that none of it can be changed.
 */
#include "tap.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <weft/errno.h>
#include <weft/file.h>
#include <weft/sys.h>

static char text[16384];

/* A child that lives until it is killed. */
static pid_t sleeper(void)
{
	pid_t pid = fork();

	while (pid == 0)
		__sys_lwp_park(NULL, 0);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static long fails_with(long result)
{
	return result < 0 ? errno : 0;
}

/* Entries one by one, each at the position that the one before named; then all of them again in
 * steps of any size, and backwards. */
static void positions(const char *dir)
{
	static uint64_t at[512], ino[512];
	static char name[512][32];
	char buf[512];
	unsigned n = 0, wrong = 0;
	int fd = open(dir, O_RDONLY | O_DIRECTORY);
	struct weft_dirent *e = (struct weft_dirent *)buf;

	at[0] = 0;
	/* Room for one at least; the first alone is looked at. */
	while (n < 511 && lseek(fd, at[n], SEEK_SET) == (off_t)at[n] &&
	       __sys_getdents(fd, buf, sizeof(buf)) > 0) {
		strcpy(name[n], e->name);
		ino[n] = e->ino;
		at[n + 1] = e->next;
		wrong += e->next <= at[n] || e->reclen > sizeof(buf);
		n++;
	}
	ok(dir, n >= 3 && n < 511 && wrong == 0);
	ok("begins with . and ..", strcmp(name[0], ".") == 0 && strcmp(name[1], "..") == 0);
	for (unsigned i = n; i-- > 0;) {
		lseek(fd, at[i], SEEK_SET);
		if (__sys_getdents(fd, buf, sizeof(buf)) <= 0 || strcmp(e->name, name[i]) != 0 ||
		    e->ino != ino[i])
			wrong++;
	}
	is("the same at each position", wrong, 0);
	lseek(fd, 0, SEEK_SET);
	unsigned seen = 0;
	long got;
	while ((got = __sys_getdents(fd, buf, 64)) > 0)
		for (long off = 0; off < got; seen++) {
			struct weft_dirent *d = (struct weft_dirent *)(buf + off);
			wrong += seen >= n || strcmp(d->name, name[seen]) != 0;
			off += d->reclen;
		}
	is("in small pieces", seen, n);
	is("in order", wrong, 0);
	is("no room for one", __sys_getdents(fd, buf, 8), 0); /* at the end: none */
	lseek(fd, 0, SEEK_SET);
	is("no room for one: EINVAL", __sys_getdents(fd, buf, 8), -EINVAL);
	is("bad buffer", __sys_getdents(fd, (void *)0x10, 512), -EFAULT);
	is("a directory cannot be read", fails_with(read(fd, buf, 8)), EISDIR);
	is("beyond the end: nothing",
	   (lseek(fd, 1ll << 40, SEEK_SET), __sys_getdents(fd, buf, 512)), 0);
	close(fd);
}

/* What stat says is what readdir says. */
static void identities(void)
{
	char path[300];
	struct dirent *e;
	struct stat st;
	unsigned wrong = 0, n = 0;
	bool self = false, kmem = false;
	DIR *d = opendir("/proc");

	while ((e = readdir(d)) != NULL) {
		if (strcmp(e->d_name, "..") == 0)
			continue;
		snprintf(path, sizeof(path), "/proc/%s", e->d_name);
		if (lstat(path, &st) != 0 || st.st_ino != e->d_ino) {
			printf("# %s: %lx, %lx in the directory\n", path, (long)st.st_ino,
			       (long)e->d_ino);
			wrong++;
		}
		self |= strcmp(e->d_name, "self") == 0 && S_ISLNK(st.st_mode);
		kmem |= strcmp(e->d_name, "kmem") == 0 && S_ISREG(st.st_mode);
		n++;
	}
	closedir(d);
	is("inodes of entries are those of stat", wrong, 0);
	ok("self and kmem", self && kmem);
	ok("and processes", n >= 5);
}

/* A file is made when it is first read, and is the same at every offset from then on. */
static void files(void)
{
	static char again[sizeof(text)];
	int fd = open("/proc/self/maps", O_RDONLY);
	ssize_t n = read(fd, text, sizeof(text)), got = 0, r;

	ok("maps", n > 200);
	lseek(fd, 0, SEEK_SET);
	while ((r = read(fd, again + got, 7)) > 0)
		got += r;
	ok("in small pieces", got == n && memcmp(text, again, n) == 0);
	is("pread", pread(fd, again, 10, n - 5), 5);
	ok("pread: its end", memcmp(again, text + n - 5, 5) == 0);
	is("at its end", pread(fd, again, 10, n), 0);
	is("beyond", pread(fd, again, 10, 1ll << 40), 0);
	is("lseek: negative", fails_with(lseek(fd, -1, SEEK_SET)), EINVAL);
	is("bad buffer", fails_with(pread(fd, (void *)0x10, 10, 0)), EFAULT);
	close(fd);
}

static void read_only(void)
{
	pid_t pid = sleeper();
	char path[64];

	sprintf(path, "/proc/%d/status", (int)pid);
	ok("write", fails_with(open(path, O_WRONLY)) != 0 ||
			    fails_with(write(open(path, O_WRONLY), "x", 1)) != 0);
	ok("truncate", fails_with(truncate(path, 0)) != 0);
	ok("unlink", fails_with(unlink(path)) != 0);
	ok("rename", fails_with(rename(path, "/proc/x")) != 0);
	ok("rename out of it",
	   fails_with(rename(path, "/tmp/x")) == EXDEV || access("/tmp/x", F_OK) != 0);
	ok("link", fails_with(link(path, "/proc/x")) != 0);
	ok("chmod", fails_with(chmod(path, 0777)) != 0);
	sprintf(path, "/proc/%d", (int)pid);
	ok("rmdir", fails_with(rmdir(path)) != 0);
	ok("mkdir", fails_with(mkdir("/proc/new", 0755)) != 0);
	ok("create", fails_with(open("/proc/new", O_RDWR | O_CREAT, 0644)) != 0);
	ok("symlink", fails_with(symlink("x", "/proc/new")) != 0);
	is("and nothing is there", fails_with(access("/proc/new", F_OK)), ENOENT);
	is("no such process", fails_with(open("/proc/999999/status", 0)), ENOENT);
	is("no number", fails_with(open("/proc/0x1/status", 0)), ENOENT);
	is("leading zero", fails_with(open("/proc/01/status", 0)), ENOENT);
	is("no such file", fails_with(open("/proc/self/nothing", 0)), ENOENT);
	is("not a directory", fails_with(open("/proc/self/status/x", 0)), ENOTDIR);
	end(pid);
}

/* A process in the directory of an exited process finds it empty; a view that was opened stays. */
static void gone(void)
{
	char path[64], first[64];
	struct stat st;
	pid_t pid = sleeper();

	sprintf(path, "/proc/%d", (int)pid);
	is("chdir", chdir(path), 0);
	int taken = open("status", 0), late = open("maps", 0), lwps = open("lwp", 0);
	int n = read(taken, first, 10);
	end(pid);
	is("a view that was taken", pread(taken, first + 10, 10, 0), n);
	ok("it is the same", memcmp(first, first + 10, n) == 0);
	is("one that was not", fails_with(read(late, text, 10)), ESRCH);
	is("its directory", fails_with(stat(path, &st)), ENOENT);
	ok("from inside",
	   fails_with(open("status", 0)) != 0 || read(open("status", 0), text, 1) < 0);
	is("its LWPs: . and ..", __sys_getdents(lwps, text, sizeof(text)) > 0, 1);
	is("and no other", __sys_getdents(lwps, text, sizeof(text)), 0);
	ok("the way up",
	   chdir("..") == 0 && getcwd(path, sizeof(path)) != NULL && strcmp(path, "/proc") == 0);
	close(taken);
	close(late);
	close(lwps);
	chdir("/");
}

/* Processes come and go while another reads: each that lives all the time is there once. */
static void beside_exits(void)
{
	pid_t before = sleeper(), busy = fork(), after;
	unsigned wrong = 0;

	while (busy == 0) {
		pid_t pid = fork();
		if (pid == 0)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
	after = sleeper();
	for (unsigned i = 0; i < 60; i++) {
		unsigned found[2] = {0, 0};
		struct dirent *e;
		int last = 0;
		DIR *d = opendir("/proc");
		while ((e = readdir(d)) != NULL) {
			char path[64];
			int pid = atoi(e->d_name), fd;
			found[0] += pid == before;
			found[1] += pid == after;
			wrong += pid != 0 && pid <= last;
			last = pid != 0 ? pid : last;
			sprintf(path, "/proc/%.20s/maps", e->d_name);
			if (pid != 0 && (fd = open(path, 0)) >= 0) {
				while (read(fd, text, sizeof(text)) > 0)
					;
				close(fd);
			}
		}
		closedir(d);
		wrong += found[0] != 1 || found[1] != 1;
	}
	is("beside processes that come and go", wrong, 0);
	end(busy);
	end(before);
	end(after);
}

int main(void)
{
	positions("/proc");
	positions("/proc/self");
	positions("/proc/self/lwp");
	identities();
	files();
	read_only();
	gone();
	beside_exits();
	return tap_done();
}
