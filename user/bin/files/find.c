/*
 * find.c - find [PATH...] [EXPRESSION]: walks through directories, and finds each file that
 * matches.
 *
 * The expression: -name PATTERN, -path PATTERN, -type b|c|d|f|l|p, -newer FILE, -maxdepth N,
 * -print, -exec CMD ARG... ; ({} in ARG: the path), with ! -a -o and ( ).  Without -print and
 * -exec, prints the matches.  Directories are read in the order of the names.
 */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../lines.h"
#include "../usage.h"

struct expr {
	enum { NAME, PATH, TYPE, NEWER, PRINT, EXEC, NOT, AND, OR, TRUE } kind;
	const char *text;
	char **argv;
	struct timespec newer;
	struct expr *left, *right;
};

static char **args; /* the part of the expression that is not parsed yet */
static bool acts;   /* there is a -print or -exec */
static long max_depth = 0x7fffffff;
static int failed;

/* --- parsing ------------------------------------------------------------------------ */

static struct expr *parse_or(void);

static struct expr *make(int kind, struct expr *left, struct expr *right)
{
	struct expr *e = need(calloc(1, sizeof(*e)));

	e->kind = kind;
	e->left = left;
	e->right = right;
	return e;
}

static bool take(const char *word)
{
	if (!*args || strcmp(*args, word))
		return false;
	args++;
	return true;
}

static const char *operand(const char *of)
{
	if (!*args)
		errx(2, "%s needs an operand", of);
	return *args++;
}

static struct expr *parse_primary(void)
{
	const char *word = operand("the expression");
	struct expr *e = make(TRUE, NULL, NULL);
	struct stat st;

	if (!strcmp(word, "(")) {
		e = parse_or();
		if (!take(")"))
			errx(2, "( needs a )");
	} else if (!strcmp(word, "!")) {
		e = make(NOT, parse_primary(), NULL);
	} else if (!strcmp(word, "-name") || !strcmp(word, "-path")) {
		e->kind = word[1] == 'n' ? NAME : PATH;
		e->text = operand(word);
	} else if (!strcmp(word, "-type")) {
		e->kind = TYPE;
		e->text = operand(word);
		if (strlen(e->text) != 1 || !strchr("bcdflp", *e->text))
			errx(2, "no such type: %s", e->text);
	} else if (!strcmp(word, "-newer")) {
		e->kind = NEWER;
		e->text = operand(word);
		if (stat(e->text, &st) < 0)
			err(2, "%s", e->text);
		e->newer = st.st_mtim;
	} else if (!strcmp(word, "-maxdepth")) {
		max_depth = natural(operand(word));
	} else if (!strcmp(word, "-print")) {
		e->kind = PRINT;
		acts = true;
	} else if (!strcmp(word, "-exec")) {
		e->kind = EXEC;
		e->argv = args;
		acts = true;
		while (*args && strcmp(*args, ";"))
			args++;
		if (!*args || args == e->argv)
			errx(2, "-exec needs a command and a ;");
		*args++ = NULL;
	} else {
		errx(2, "not an expression: %s", word);
	}
	return e;
}

static struct expr *parse_and(void)
{
	struct expr *e = parse_primary();

	while (*args && strcmp(*args, "-o") && strcmp(*args, ")")) {
		take("-a");
		e = make(AND, e, parse_primary());
	}
	return e;
}

static struct expr *parse_or(void)
{
	struct expr *e = parse_and();

	while (take("-o"))
		e = make(OR, e, parse_and());
	return e;
}

/* --- walking ----------------------------------------------------------------------------- */

static bool run(char **argv, const char *path)
{
	char **copy;
	int n = 0, i, status, error;
	pid_t pid;

	while (argv[n])
		n++;
	copy = need(calloc(n + 1, sizeof(*copy)));
	for (i = 0; i < n; i++)
		copy[i] = strcmp(argv[i], "{}") ? argv[i] : (char *)path;
	fflush(stdout);
	error = posix_spawnp(&pid, copy[0], NULL, NULL, copy, environ);
	free(copy);
	if (error) {
		errno = error;
		warn("%s", argv[0]);
		failed = 1;
		return false;
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			err(1, "waitpid");
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static const char *last_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static bool is_type(char type, mode_t mode)
{
	return type == 'd'   ? S_ISDIR(mode)
	       : type == 'f' ? S_ISREG(mode)
	       : type == 'l' ? S_ISLNK(mode)
	       : type == 'c' ? S_ISCHR(mode)
	       : type == 'b' ? S_ISBLK(mode)
			     : S_ISFIFO(mode);
}

static bool fits(const struct expr *e, const char *path, const struct stat *st)
{
	switch (e->kind) {
	case NAME:
		return fnmatch(e->text, last_name(path), 0) == 0;
	case PATH:
		return fnmatch(e->text, path, 0) == 0;
	case TYPE:
		return is_type(*e->text, st->st_mode);
	case NEWER:
		return st->st_mtim.tv_sec == e->newer.tv_sec
			       ? st->st_mtim.tv_nsec > e->newer.tv_nsec
			       : st->st_mtim.tv_sec > e->newer.tv_sec;
	case PRINT:
		puts(path);
		return true;
	case EXEC:
		return run(e->argv, path);
	case NOT:
		return !fits(e->left, path, st);
	case AND:
		return fits(e->left, path, st) && fits(e->right, path, st);
	case OR:
		return fits(e->left, path, st) || fits(e->right, path, st);
	default:
		return true;
	}
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Returns the paths of a directory's entries, allocated, with a NULL at the end. */
static char **read_directory(const char *path)
{
	char **names = need(calloc(1, sizeof(*names)));
	DIR *d = opendir(path);
	const char *slash = path[strlen(path) - 1] == '/' ? "" : "/";
	struct dirent *e;
	size_t n = 0;

	if (!d) {
		warn("%s", path);
		failed = 1;
		return names;
	}
	while ((e = readdir(d)) != NULL) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		names = need(realloc(names, (n + 2) * sizeof(*names)));
		names[n] = need(malloc(strlen(path) + strlen(e->d_name) + 2));
		sprintf(names[n++], "%s%s%s", path, slash, e->d_name);
	}
	closedir(d);
	qsort(names, n, sizeof(*names), by_name);
	names[n] = NULL;
	return names;
}

static void walk(const char *path, const struct expr *e, long depth)
{
	char **names, **name;
	struct stat st;

	if (lstat(path, &st) < 0) {
		warn("%s", path);
		failed = 1;
		return;
	}
	fits(e, path, &st);
	if (!S_ISDIR(st.st_mode) || depth >= max_depth)
		return;
	names = read_directory(path);
	for (name = names; *name; name++) {
		walk(*name, e, depth + 1);
		free(*name);
	}
	free(names);
}

static const char usage[] =
	"usage: find [PATH...] [EXPRESSION]\n"
	"EXPRESSION: -name PATTERN, -path PATTERN, -type b|c|d|f|l|p, -newer FILE, -maxdepth N,\n"
	"  -print, -exec CMD ARG... ; with ! -a -o ( )\n";

int main(int argc, char **argv)
{
	static char dot[] = ".", *here[] = {dot, NULL};
	struct expr *e;
	char **paths = argv + 1;
	int n = 0;

	usage_asked(argv, usage);
	while (paths[n] && paths[n][0] != '-' && strcmp(paths[n], "(") && strcmp(paths[n], "!"))
		n++;
	args = paths + n;
	e = *args ? parse_or() : make(TRUE, NULL, NULL);
	if (*args)
		errx(2, "unexpected: %s", *args);
	if (!acts)
		e = make(AND, e, make(PRINT, NULL, NULL));
	if (n == 0) {
		paths = here;
		n = 1;
	}
	for (; n-- > 0; paths++) {
		size_t len = strlen(*paths);

		while (len > 1 && (*paths)[len - 1] == '/') /* else paths below have two */
			(*paths)[--len] = '\0';
		walk(*paths, e, 0);
	}
	return end_output(failed);
}
