/*
 * libc_names.c - the C library's files: temporary files, absolute paths, lists of directories,
 * streams from and to commands, select.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tap.h"

#define DIR_NAME "/tmp/libc_names"

static void temporary(void)
{
	char name[] = "tmpXXXXXX", text[20] = "";
	struct stat st;
	int fd = mkstemp(name);
	FILE *f;

	char made[] = "dirXXXXXX", nowhere[] = "none/XXXXXX", fixed[] = "dir";

	ok("mkdtemp", mkdtemp(made) == made && strcmp(made, "dirXXXXXX") != 0);
	ok("mkdtemp: is there", stat(made, &st) == 0 && st.st_mode == (S_IFDIR | 0700));
	ok("mkdtemp: in no directory", mkdtemp(nowhere) == NULL && errno == ENOENT);
	ok("mkdtemp: a name without X", mkdtemp(fixed) == NULL && errno == EINVAL);
	rmdir(made);
	ok("mkstemp", fd >= 0 && strcmp(name, "tmpXXXXXX") != 0);
	ok("mkstemp: is there", stat(name, &st) == 0 && (st.st_mode & 0777) == 0600);
	close(fd);
	is("remove: file", remove(name), 0);
	is("remove: directory", (mkdir("d", 0755), remove("d")), 0);
	fails("remove: nothing", remove("d"), ENOENT);
	f = tmpfile();
	ok("tmpfile", f != NULL);
	fputs("some text", f);
	rewind(f);
	ok("tmpfile: read back", fgets(text, sizeof(text), f) && !strcmp(text, "some text"));
	fclose(f);
}

static void modes(void)
{
	char *line = NULL;
	size_t size = 0;
	struct stat st;
	FILE *f = fopen("f", "w");

	fputs("one\ntwo\n", f);
	fclose(f);
	f = fopen("f", "a");
	fputs("three", f);
	fclose(f);
	f = fopen("f", "r+");
	fputs("ONE", f);
	rewind(f);
	is("getline", getline(&line, &size, f), 4);
	ok("fopen: r+ writes over", !strcmp(line, "ONE\n"));
	is("getline: the next", getline(&line, &size, f), 4);
	is("getline: without an end", getline(&line, &size, f), 5);
	ok("fopen: a writes behind", !strcmp(line, "three"));
	is("getline: the end", getline(&line, &size, f), -1);
	fclose(f);
	free(line);
	f = fopen("f", "w+");
	ok("fopen: w+ empties", stat("f", &st) == 0 && st.st_size == 0);
	fclose(f);
	ok("fopen: x", !fopen("f", "wx") && errno == EEXIST);
	is("truncate", truncate("f", 12345), 0);
	ok("truncate: size", stat("f", &st) == 0 && st.st_size == 12345 && st.st_blocks == 0);
	is("utimes", utimes("f", (struct timeval[2]){{5, 6}, {7, 8}}), 0);
	ok("utimes: set", stat("f", &st) == 0 && st.st_atim.tv_sec == 5 &&
				  st.st_mtim.tv_nsec == 8000 && st.st_ctim.tv_sec > 1000000);
	is("access", access("f", R_OK | W_OK), 0);
	fails("access: cannot be executed", access("f", X_OK), EACCES);
	fails("access: nothing", access("none", F_OK), ENOENT);
	fails("access: unknown bits", access("f", 64), EINVAL);
	is("fsync", (fsync(1), fsync(0)), 0);
	int ends[2];
	pipe(ends);
	fails("fsync: a pipe", fsync(ends[1]), EINVAL);
	close(ends[0]);
	close(ends[1]);
	fails("fsync: no descriptor", fsync(99), EBADF);
	unlink("f");
}

static int path_is(const char *path, const char *want)
{
	char out[1024], *own = realpath(path, NULL);
	int same = own && realpath(path, out) == out && !strcmp(own, want) && !strcmp(out, want);
	free(own);
	return same;
}

static void paths(void)
{
	mkdir("d", 0755);
	symlink("d/../d", "s");
	symlink(DIR_NAME "/s/none", "dangling");
	symlink("loop", "loop");
	ok("realpath: .", path_is(".", DIR_NAME));
	ok("realpath: /", path_is("/", "/") && path_is("//..//.", "/"));
	ok("realpath: symbolic link", path_is("s/.././s//", DIR_NAME "/d"));
	ok("realpath: absolute", path_is("/tmp/../bin/sh", "/bin/sh"));
	ok("realpath: nothing", !realpath("d/none", NULL) && errno == ENOENT);
	ok("realpath: dangling", !realpath("dangling", NULL) && errno == ENOENT);
	ok("realpath: endless", !realpath("loop", NULL) && errno == ELOOP);
	ok("realpath: through a file", !realpath("/bin/sh/x", NULL) && errno == ENOTDIR);
	ok("realpath: empty", !realpath("", NULL) && errno == ENOENT);
	rmdir("d");
	unlink("s");
	unlink("dangling");
	unlink("loop");
}

static void parts_of_paths(void)
{
	static const struct {
		const char *path, *base, *dir;
	} table[] = {
		{"/usr/lib", "lib", "/usr"},
		{"/usr/", "usr", "/"},
		{"usr", "usr", "."},
		{"/", "/", "/"},
		{"///", "/", "/"},
		{".", ".", "."},
		{"..", "..", "."},
		{"a//b///", "b", "a"},
		{"", ".", "."},
		{"//a", "a", "/"},
		{"/a/b/c", "c", "/a/b"},
		{"a/", "a", "."},
	};
	char path[20], name[60];

	for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		snprintf(name, sizeof(name), "basename, dirname: %s", table[i].path);
		int good = !strcmp(basename(strcpy(path, table[i].path)), table[i].base);
		ok(name, good && !strcmp(dirname(strcpy(path, table[i].path)), table[i].dir));
	}
	ok("basename, dirname: nothing",
	   !strcmp(basename(NULL), ".") && !strcmp(dirname(NULL), "."));
}

static int no_dots(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static void directories(void)
{
	char name[8], third[256];
	struct dirent *e, **list;
	DIR *d;
	long mark;
	int n;

	mkdir("d", 0755);
	for (n = 0; n < 50; n++) {
		snprintf(name, sizeof(name), "d/%02d", 49 - n);
		close(open(name, O_WRONLY | O_CREAT, 0644));
	}
	n = scandir("d", &list, no_dots, alphasort);
	is("scandir", n, 50);
	ok("scandir: sorted",
	   n == 50 && !strcmp(list[0]->d_name, "00") && !strcmp(list[49]->d_name, "49"));
	while (n > 0)
		free(list[--n]);
	free(list);
	fails("scandir: nothing", scandir("none", &list, NULL, NULL), ENOENT);

	d = opendir("d");
	readdir(d);
	readdir(d);
	mark = telldir(d);
	strcpy(third, readdir(d)->d_name);
	while ((e = readdir(d)) != NULL)
		n++;
	is("readdir: the rest", n, 49);
	seekdir(d, mark);
	e = readdir(d);
	ok("seekdir", e && !strcmp(e->d_name, third));
	rewinddir(d);
	e = readdir(d);
	ok("rewinddir", e && !strcmp(e->d_name, "."));
	/* A position is good whatever is removed meanwhile. */
	for (n = 0; n < 50; n++) {
		snprintf(name, sizeof(name), "d/%02d", n);
		if (strcmp(name + 2, third))
			unlink(name);
	}
	seekdir(d, mark);
	e = readdir(d);
	ok("seekdir: after removals", e && !strcmp(e->d_name, third));
	closedir(d);
	snprintf(name, sizeof(name), "d/%s", third);
	unlink(name);
	is("rmdir", rmdir("d"), 0);
}

static void commands(void)
{
	char text[100] = "";
	struct stat st;
	FILE *f = popen("echo to us; exit 3", "r");

	ok("popen", f != NULL);
	ok("popen: what it says", fgets(text, sizeof(text), f) && !strcmp(text, "to us\n"));
	ok("popen: the end", !fgets(text, sizeof(text), f));
	int status = pclose(f);
	ok("pclose: its status", WIFEXITED(status) && WEXITSTATUS(status) == 3);
	f = popen("cat > out", "w");
	fputs("for it", f);
	is("pclose", pclose(f), 0);
	ok("popen: what it got", stat("out", &st) == 0 && st.st_size == 6);
	unlink("out");
	ok("popen: bad mode", !popen("true", "x") && errno == EINVAL);
	fails("pclose: not popen's", pclose(stdout), EINVAL);

	signal(SIGPIPE, SIG_IGN);
	int p[2];
	is("pipe2", pipe2(p, O_CLOEXEC), 0);
	close(p[0]);
	fails("write: nobody reads", write(p[1], "x", 1), EPIPE);
	signal(SIGPIPE, SIG_DFL);
	close(p[1]);
}

static void selects(void)
{
	int p[2], q[2];
	fd_set in, out;
	struct timeval zero = {0, 0}, bad = {0, 1000000};

	pipe(p);
	pipe(q);
	FD_ZERO(&in);
	FD_ZERO(&out);
	FD_SET(p[0], &in);
	FD_SET(q[0], &in);
	FD_SET(p[1], &out);
	is("select: room", select(q[1] + 1, &in, &out, NULL, NULL), 1);
	ok("select: which", FD_ISSET(p[1], &out) && !FD_ISSET(p[0], &in) && !FD_ISSET(q[0], &in));
	write(q[1], "x", 1);
	FD_SET(p[0], &in);
	FD_SET(q[0], &in);
	is("select: input", select(q[1] + 1, &in, NULL, NULL, NULL), 1);
	ok("select: whose", FD_ISSET(q[0], &in) && !FD_ISSET(p[0], &in));
	FD_ZERO(&in);
	FD_SET(p[0], &in);
	is("select: none", select(q[1] + 1, &in, NULL, NULL, &zero), 0);
	ok("select: none is set", !FD_ISSET(p[0], &in));
	FD_SET(p[0], &in);
	close(p[1]);
	is("select: the end is input", select(q[1] + 1, &in, NULL, NULL, NULL), 1);
	fails("select: bad time", select(1, NULL, NULL, NULL, &bad), EINVAL);
	fails("select: too many", select(FD_SETSIZE + 1, NULL, NULL, NULL, &zero), EINVAL);
	FD_SET(99, &in);
	fails("select: no descriptor", select(100, &in, NULL, NULL, &zero), EBADF);
	close(p[0]);
	close(q[0]);
	close(q[1]);
}

static volatile sig_atomic_t caught;

static void catch (int sig)
{
	caught = sig;
}

static void masked_polls(void)
{
	struct timespec soon = {0, 1000000};
	sigset_t usr1, none, now;
	struct pollfd p;
	int end[2];

	pipe(end);
	p = (struct pollfd){.fd = end[0], .events = POLLIN};
	sigemptyset(&none);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	signal(SIGUSR1, catch);
	sigprocmask(SIG_BLOCK, &usr1, NULL);
	raise(SIGUSR1);
	is("ppoll: time-out", ppoll(&p, 1, &soon, NULL), 0);
	is("ppoll: what is blocked stays so", ppoll(&p, 1, &soon, &usr1), 0);
	is("ppoll: no handler yet", caught, 0);
	fails("ppoll: interrupted", ppoll(&p, 1, NULL, &none), EINTR);
	is("ppoll: by the handler", caught, SIGUSR1);
	sigprocmask(SIG_BLOCK, NULL, &now);
	ok("ppoll: the mask is as it was", sigismember(&now, SIGUSR1) == 1);
	raise(SIGUSR1);
	write(end[1], "x", 1);
	caught = 0;
	is("ppoll: input", ppoll(&p, 1, NULL, &usr1), 1);
	fd_set in;
	FD_ZERO(&in);
	FD_SET(end[0], &in);
	is("pselect: input", pselect(end[0] + 1, &in, NULL, NULL, NULL, &usr1), 1);
	is("ppoll, pselect: no handler", caught, 0);
	sigprocmask(SIG_UNBLOCK, &usr1, NULL);
	is("afterwards: the handler", caught, SIGUSR1);
	signal(SIGUSR1, SIG_DFL);
	close(end[0]);
	close(end[1]);
}

/* A process that is not in the foreground reads from the console. */
static void background(void)
{
	int status = 0;
	char c;
	pid_t pid = fork();

	if (pid == 0) {
		setpgid(0, 0);
		read(0, &c, 1);
		_exit(1);
	}
	is("SIGTTIN: wait", waitpid(pid, &status, WUNTRACED), pid);
	ok("SIGTTIN: stops who reads", WIFSTOPPED(status) && WSTOPSIG(status) == SIGTTIN);
	kill(pid, SIGCONT);
	is("SIGTTIN: wait again", waitpid(pid, &status, WUNTRACED), pid);
	ok("SIGTTIN: again, the read was restarted", WIFSTOPPED(status));
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		signal(SIGTTIN, SIG_IGN);
		_exit(read(0, &c, 1) == -1 && errno == EIO ? 0 : 1);
	}
	is("SIGTTIN: wait for one that ignores it", waitpid(pid, &status, WUNTRACED), pid);
	is("SIGTTIN: EIO for that one", status, 0);
}

static void others(void)
{
	struct iovec v[2] = {{"ab", 2}, {"cd", 2}};
	struct statvfs sv;
	char buf[8] = "", name[20];
	int fd = open("f", O_RDWR | O_CREAT, 0600);

	is("writev", writev(fd, v, 2), 4);
	is("pwrite", pwrite(fd, "X", 1, 1), 1);
	is("pread", pread(fd, buf, 8, 0), 4);
	ok("pread: what it read", !strcmp(buf, "aXcd"));
	is("fcntl: O_APPEND", fcntl(fd, F_SETFL, O_APPEND), 0);
	is("fcntl: F_GETFL", fcntl(fd, F_GETFL), O_RDWR | O_APPEND);
	fails("ttyname: a file",
	      ttyname_r(fd, name, 20) ? (errno = ttyname_r(fd, name, 20), -1) : 0, ENOTTY);
	close(fd);
	unlink("f");
	ok("ttyname", ttyname(1) && !strcmp(ttyname(1), "/dev/console"));
	is("ttyname_r: no room", ttyname_r(1, name, 5), ERANGE);
	is("statvfs", statvfs("/tmp", &sv), 0);
	ok("statvfs: room", sv.f_blocks > sv.f_bavail && sv.f_bavail > 0);
	fails("statvfs: nothing", statvfs("none", &sv), ENOENT);
}

static void signal_names(void)
{
	char name[SIG2STR_MAX];
	int sig, bad = 0, back;

	for (sig = 1; sig < 64; sig++)
		if (sig2str(sig, name) == 0)
			bad += str2sig(name, &back) != 0 || back != sig;
	is("sig2str, str2sig", bad, 0);
	ok("sig2str: a name", sig2str(SIGTERM, name) == 0 && !strcmp(name, "TERM"));
	ok("str2sig: a number", str2sig("9", &sig) == 0 && sig == 9);
	ok("sig2str, str2sig: no signal", sig2str(0, name) == -1 && sig2str(64, name) == -1 &&
						  str2sig("NONE", &sig) == -1 &&
						  str2sig("64", &sig) == -1);
}

int main(void)
{
	if (mkdir(DIR_NAME, 0755) < 0 || chdir(DIR_NAME) < 0)
		bail("no directory");
	temporary();
	modes();
	paths();
	parts_of_paths();
	directories();
	commands();
	selects();
	masked_polls();
	background();
	others();
	signal_names();
	chdir("/");
	is("nothing is left", rmdir(DIR_NAME), 0);
	return tap_done();
}
