/*
 * grep.c - grep [-EFHchilnqrsvx] [-e PATTERN]... [PATTERN] [FILE...]: prints the lines that match
 * a pattern.  -E: extended regular expressions; -F: plain text; -r: all files below a directory.
 *
 * Exit status 0: some line matches; 1: no line does; 2: an error.
 */
#include <dirent.h>
#include <fcntl.h>
#include <regex.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../lines.h"
#include "../usage.h"

static struct {
	bool count, names_only, numbers, quiet, recursive, silent, invert, whole;
	int names; /* prefix of each line: 1 yes, 0 no, -1: if there are several files */
	int cflags;
} opt = {.names = -1};

static regex_t *patterns;
static int npatterns;
static bool any; /* an empty pattern, which matches every line */
static bool found, failed;

static void add_pattern(const char *s)
{
	char why[100];
	int error;

	if (!*s) { /* regcomp rejects an empty pattern */
		any = true;
		return;
	}
	patterns = need(realloc(patterns, (npatterns + 1) * sizeof(*patterns)));
	error = regcomp(&patterns[npatterns], s, opt.cflags);
	if (error) {
		regerror(error, &patterns[npatterns], why, sizeof(why));
		errx(2, "%s: %s", s, why);
	}
	npatterns++;
}

/* -e may contain several patterns, one a line. */
static void add_patterns(char *s)
{
	char *line;

	if (!*s)
		add_pattern("");
	while ((line = strsep(&s, "\n")) != NULL)
		if (*line || s)
			add_pattern(line);
}

static bool fits(const char *line, size_t len)
{
	regmatch_t m;
	int i;

	if (any && (!opt.whole || !len))
		return true;
	for (i = 0; i < npatterns; i++) {
		m = (regmatch_t){.rm_so = 0, .rm_eo = len};
		if (regexec(&patterns[i], line, 1, &m, REG_STARTEND) == 0 &&
		    (!opt.whole || (m.rm_so == 0 && m.rm_eo == (regoff_t)len)))
			return true;
	}
	return false;
}

static void search(FILE *f, const char *name, bool show_name)
{
	static char *line;
	static size_t size;
	long count = 0, number = 0;
	ssize_t len;

	while ((len = next_line(&line, &size, f)) >= 0) {
		number++;
		if (fits(line, len) == opt.invert)
			continue;
		found = true;
		count++;
		if (opt.quiet || opt.names_only)
			break;
		if (opt.count)
			continue;
		if (show_name)
			printf("%s:", name);
		if (opt.numbers)
			printf("%ld:", number);
		fwrite(line, 1, len, stdout);
		putchar('\n');
	}
	if (opt.quiet)
		return;
	if (opt.names_only && count)
		puts(name);
	if (opt.count && show_name)
		printf("%s:", name);
	if (opt.count)
		printf("%ld\n", count);
}

static void search_path(const char *path, bool show_name);

static void search_directory(const char *path, bool show_name)
{
	DIR *d = opendir(path);
	struct dirent *e;
	char *name;

	if (!d) {
		warn("%s", path);
		failed = true;
		return;
	}
	while ((e = readdir(d)) != NULL) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		name = need(malloc(strlen(path) + strlen(e->d_name) + 2));
		sprintf(name, "%s/%s", path, e->d_name);
		search_path(name, show_name);
		free(name);
	}
	closedir(d);
}

static void search_path(const char *path, bool show_name)
{
	bool input = !strcmp(path, "-");
	struct stat st;
	FILE *f;

	if (!input && stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
		if (opt.recursive)
			search_directory(path, show_name);
		else if (!opt.silent)
			warnx("%s: a directory", path);
		return;
	}
	f = input ? stdin : fopen(path, "r");
	if (!f) {
		if (!opt.silent)
			warn("%s", path);
		failed = true;
		return;
	}
	search(f, input ? "(standard input)" : path, show_name);
	failed |= !close_input(f, path);
}

static const char usage[] = "usage: grep [-EFHchilnqrsvx] [-e PATTERN]... [PATTERN] [FILE...]\n";

int main(int argc, char **argv)
{
	static char *none[] = {"-", NULL}, *here[] = {".", NULL};
	char **texts = need(calloc(argc + 1, sizeof(*texts)));
	int c, i, ntexts = 0;
	bool show_name;

	usage_asked(argv, usage);
	while ((c = getopt(argc, argv, "EFHce:hilnqrsvx")) != -1) {
		switch (c) {
		case 'E':
			opt.cflags |= REG_EXTENDED;
			break;
		case 'F':
			opt.cflags |= REG_NOSPEC;
			break;
		case 'i':
			opt.cflags |= REG_ICASE;
			break;
		case 'H':
		case 'h':
			opt.names = c == 'H';
			break;
		case 'c':
			opt.count = true;
			break;
		case 'e':
			texts[ntexts++] = optarg;
			break;
		case 'l':
			opt.names_only = true;
			break;
		case 'n':
			opt.numbers = true;
			break;
		case 'q':
			opt.quiet = true;
			break;
		case 'r':
			opt.recursive = true;
			break;
		case 's':
			opt.silent = true;
			break;
		case 'v':
			opt.invert = true;
			break;
		case 'x':
			opt.whole = true;
			break;
		default:
			return usage_wrong(usage);
		}
	}
	argv += optind;
	if (!ntexts) {
		if (!*argv)
			return usage_wrong(usage);
		texts[ntexts++] = *argv++;
	}
	if (opt.cflags & REG_NOSPEC) /* with it regcomp accepts no REG_EXTENDED */
		opt.cflags &= ~REG_EXTENDED;
	for (i = 0; i < ntexts; i++)
		add_patterns(texts[i]);
	if (!*argv)
		argv = opt.recursive ? here : none;
	show_name = opt.names < 0 ? argv[1] || opt.recursive : opt.names;
	for (; *argv && !(opt.quiet && found); argv++)
		search_path(*argv, show_name);
	return end_output(failed && !(opt.quiet && found) ? 2 : !found);
}
