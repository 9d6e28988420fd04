/*
 * libc_env.c - the environment, getopt, and the text of errors.
 */
#include <errno.h>
#include <unistd.h>
#include "tap.h"

static void environment(void)
{
	ok("PATH", getenv("PATH") && !strcmp(getenv("PATH"), "/host:/bin"));
	ok("not set", !getenv("WEFT_NO_SUCH"));
	is("setenv", setenv("A", "1", 0), 0);
	is("setenv keeps", setenv("A", "2", 0), 0);
	ok("kept", !strcmp(getenv("A"), "1"));
	is("setenv replaces", setenv("A", "a longer value than before", 1), 0);
	ok("replaced", !strcmp(getenv("A"), "a longer value than before"));
	is("unsetenv", unsetenv("A"), 0);
	ok("gone", !getenv("A"));
	is("putenv", putenv("PUT=1"), 0);
	ok("its value", getenv("PUT") && !strcmp(getenv("PUT"), "1"));
	errno = 0;
	ok("setenv of a bad name", setenv("A=B", "1", 1) < 0 && errno == EINVAL);
}

static void options(void)
{
	char *argv[] = {"prog", "-ab", "-c", "value", "-cnear", "-x", "--", "-a", "rest", NULL};
	char got[32] = "";
	int c;

	opterr = 0;
	while ((c = getopt(9, argv, "abc:")) != -1) {
		size_t n = strlen(got);
		got[n] = c;
		if (c == 'c')
			strcat(got, optarg);
	}
	ok("getopt", !strcmp(got, "abcvaluecnear?"));
	is("optind", optind, 7);
}

static void errors(void)
{
	ok("strerror", !strcmp(strerror(ENOENT), "No such file or directory"));
	ok("strerror of ETIMEDOUT", strstr(strerror(ETIMEDOUT), "timed out") != NULL);
	ok("strsignal", strlen(strsignal(11)) > 0);
}

int main(void)
{
	environment();
	options();
	errors();
	return tap_done();
}
