/*
 * xargs.c - xargs [-0rt] [-n COUNT] [-I TEXT] [CMD [ARG...]]: runs CMD (echo) with the words of
 * standard input as further arguments, as often as needed.
 *
 * Blanks and newlines separate words; quotes and backslashes quote.  -0: NULs separate words
 * instead.  -n: at most COUNT words a run; -I: one line a run, in place of TEXT in the ARGs; -r: no
 * run without words; -t: shows each command.
 *
 * Exit status 123: a run failed, 124: a run ended with 255, 125: a signal ended a run, 126 or 127:
 * CMD cannot be run or found.
 */
#include <ctype.h>
#include <errno.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../lines.h"
#include "../usage.h"

#define MAX_BYTES 65536 /* of arguments a run: half of what exec takes */

static bool nul, show;
static int status;

static void run(char **argv)
{
	int error, wstatus, i;
	pid_t pid;

	if (show) {
		for (i = 0; argv[i]; i++)
			fprintf(stderr, i ? " %s" : "%s", argv[i]);
		fputc('\n', stderr);
	}
	fflush(stdout);
	error = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);
	if (error) {
		errno = error;
		err(error == ENOENT ? 127 : 126, "%s", argv[0]);
	}
	while (waitpid(pid, &wstatus, 0) < 0)
		if (errno != EINTR)
			err(1, "waitpid");
	if (WIFSIGNALED(wstatus))
		errx(125, "%s: %s", argv[0], strsignal(WTERMSIG(wstatus)));
	if (WEXITSTATUS(wstatus) == 255)
		errx(124, "%s: ended with 255", argv[0]);
	if (WEXITSTATUS(wstatus))
		status = 123;
}

/*
 * Returns the next word, or with `line' the next line, as an allocated string; NULL: the end.
 */
static char *next_word(bool line)
{
	char *word = NULL;
	size_t n = 0, room = 0;
	int c, quote = 0;
	bool started = false;

	while ((c = getchar()) != EOF) {
		if (n + 2 > room)
			word = need(realloc(word, room = 2 * room + 32));
		if (nul ? c == '\0' : !quote && (c == '\n' || (!line && isspace(c)))) {
			if (started || nul)
				break;
			continue;
		}
		if (line && !started && isblank(c))
			continue;
		started = true;
		if (!nul && quote && c == '\n')
			errx(1, "a quote is open at the end of a line");
		if (!nul && c == quote) {
			quote = 0;
		} else if (!nul && !quote && (c == '\'' || c == '"')) {
			quote = c;
		} else {
			if (!nul && !quote && c == '\\' && (c = getchar()) == EOF)
				break;
			word[n++] = c;
		}
	}
	if (quote)
		errx(1, "a quote is open at the end");
	if (!started && (c == EOF || !nul)) {
		free(word);
		return NULL;
	}
	word[n] = '\0';
	return word;
}

/* Returns s with each `text' in it replaced. */
static char *replace(const char *s, const char *text, const char *by)
{
	size_t n = strlen(s) + 1, len = strlen(text);
	char *out, *at;
	const char *p;

	for (p = s; (p = strstr(p, text)) != NULL; p += len)
		n += strlen(by);
	at = out = need(malloc(n));
	while ((p = strstr(s, text)) != NULL) {
		memcpy(at, s, p - s);
		at = stpcpy(at + (p - s), by);
		s = p + len;
	}
	strcpy(at, s);
	return out;
}

static void run_replacing(char **cmd, int ncmd, const char *text)
{
	char **argv = need(calloc(ncmd + 1, sizeof(*argv))), *word;
	int i;

	while ((word = next_word(true)) != NULL) {
		for (i = 0; i < ncmd; i++)
			argv[i] = replace(cmd[i], text, word);
		run(argv);
		for (i = 0; i < ncmd; i++)
			free(argv[i]);
		free(word);
	}
	free(argv);
}

static void run_appending(char **cmd, int ncmd, long most, bool unless_empty)
{
	char **argv = NULL, *word = next_word(false);
	size_t bytes;
	int n, room = 0;

	if (!word && unless_empty)
		return;
	do {
		bytes = 0;
		for (n = ncmd; word && n - ncmd < most; word = next_word(false)) {
			bytes += strlen(word) + 1 + sizeof(*argv);
			if (bytes > MAX_BYTES && n > ncmd)
				break;
			if (n + 2 > room)
				argv = need(realloc(argv, (room = 2 * n + 16) * sizeof(*argv)));
			argv[n++] = word;
		}
		if (!argv)
			argv = need(malloc((ncmd + 1) * sizeof(*argv)));
		memcpy(argv, cmd, ncmd * sizeof(*argv));
		argv[n] = NULL;
		run(argv);
		while (n > ncmd)
			free(argv[--n]);
	} while (word);
	free(argv);
}

static const char usage[] = "usage: xargs [-0rt] [-n COUNT] [-I TEXT] [CMD [ARG...]]\n";

int main(int argc, char **argv)
{
	static char *echo[] = {"echo", NULL};
	const char *text = NULL;
	bool unless_empty = false;
	long most = 0x7fffffff;
	char **cmd = echo;
	int c;

	usage_asked(argv, usage);
	while ((c = getopt(argc, argv, "+0rtn:I:")) != -1) {
		switch (c) {
		case '0':
			nul = true;
			break;
		case 'r':
			unless_empty = true;
			break;
		case 't':
			show = true;
			break;
		case 'n':
			most = natural(optarg);
			if (most)
				break;
			/* fall through */
		default:
			return usage_wrong(usage);
		case 'I':
			text = optarg;
			if (!*text)
				errx(2, "-I needs a text");
			break;
		}
	}
	if (optind < argc)
		cmd = argv + optind;
	else
		argc = optind + 1;
	if (text)
		run_replacing(cmd, argc - optind, text);
	else
		run_appending(cmd, argc - optind, most, unless_empty);
	return status;
}
