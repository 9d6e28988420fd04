/*
 * errtest.h - for the programs err_*, which prove every error that a system call documents.
 *
 *	gives(close, EBADF, "no such descriptor", -1)	ok close EBADF: no such descriptor
 *	works(close, fd)				ok close
 *
 * tests/test_errors.py reads these lines and compares them with the comments at the calls.
 */
#pragma once
#include <signal.h>
#include <sys/time.h>
#include "filetest.h"

/* An address that the kernel must refuse and the compiler does not know. */
#define NOWHERE err_nowhere
__attribute__((unused)) static void *volatile err_nowhere = UNMAPPED;

#define gives(call, error, why, ...)                                                               \
	err_result(__sys_##call(__VA_ARGS__), -(error), #call " " #error ": " why)

/* The call does what it should; its result. */
#define works(call, ...) err_works(__sys_##call(__VA_ARGS__), #call)

/* The same of a call that does not return, as its traces show. */
#define worked(call, cond) ok(#call, cond)

__attribute__((unused)) static void err_result(long got, long want, const char *name)
{
	tap_report(got == want, name, "result %ld, not %ld", got, want);
}

__attribute__((unused)) static long err_works(long got, const char *name)
{
	tap_report(got >= 0, name, "result %ld", got);
	return got;
}

/* The errors of a path; the current directory must have the names that err_paths makes.  `...`:
 * the arguments behind it. */
#define gives_path_errors(call, ...) err_gives_path_errors(call, , ##__VA_ARGS__)
/* The same, with the path behind another argument. */
#define gives_path_errors_at(call, at, ...)                                                        \
	err_gives_path_errors(call, ERR_FIRST(at), ##__VA_ARGS__)
#define ERR_FIRST(argument) argument,

#define err_gives_path_errors(call, at, ...)                                                       \
	do {                                                                                       \
		gives(call, EFAULT, "the path is nowhere", at NOWHERE, ##__VA_ARGS__);             \
		gives(call, EFAULT, "it ends in a hole", at err_hole(), ##__VA_ARGS__);            \
		gives(call, ENOENT, "a directory is not there", at "none/x", ##__VA_ARGS__);       \
		gives(call, ENOENT, "an empty path", at "", ##__VA_ARGS__);                        \
		gives(call, ENOTDIR, "a file in its middle", at "file/x", ##__VA_ARGS__);          \
		gives(call, ELOOP, "a link to itself", at "loop/x", ##__VA_ARGS__);                \
		gives(call, ENAMETOOLONG, "a name of 256 bytes", at err_long(256), ##__VA_ARGS__); \
		gives(call, ENAMETOOLONG, "a path of 1024 bytes", at err_long(1024),               \
		      ##__VA_ARGS__);                                                              \
	} while (0)

__attribute__((unused)) static void err_paths(const char *dir)
{
	if (__sys_mkdir(dir, 0755) < 0 || __sys_chdir(dir) < 0 || __sys_mkdir("dir", 0755) < 0 ||
	    __sys_symlink("loop", "loop") < 0 ||
	    __sys_close(__sys_open("file", WEFT_O_WRONLY | WEFT_O_CREAT, 0644)) < 0)
		bail("no names in %s", dir);
}

__attribute__((unused)) static const char *err_hole(void)
{
	static char *page;
	if (page == NULL)
		page = page_before_hole();
	memset(page + PAGE - 4, 'x', 4);
	return page + PAGE - 4;
}

__attribute__((unused)) static const char *err_long(size_t n)
{
	static char path[WEFT_PATH_MAX + 1];
	memset(path, 'x', n);
	for (size_t i = 200; n > 256 && i < n; i += 200)
		path[i] = '/';
	path[n] = '\0';
	return path;
}

static volatile sig_atomic_t err_alarms; /* how many have been caught */

__attribute__((unused)) static void err_on_alarm(int sig)
{
	err_alarms++;
}

/* From now on a caught signal comes every millisecond: whatever waits for something else is
 * interrupted. */
__attribute__((unused)) static void interrupts(int on)
{
	struct sigaction act = {.sa_handler = err_on_alarm};
	struct itimerval every = {{0, on ? 1000 : 0}, {0, on ? 1000 : 0}};

	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
}

/* The same, for one call. */
#define gives_eintr(call, why, ...)                                                                \
	do {                                                                                       \
		interrupts(1);                                                                     \
		gives(call, EINTR, why, ##__VA_ARGS__);                                            \
		interrupts(0);                                                                     \
	} while (0)
