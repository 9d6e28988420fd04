/* wc.c - wc [-lwcm] [FILE...]: counts lines, words and bytes of files, or of standard input. */
#include <ctype.h>
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "../usage.h"

enum { LINES, WORDS, BYTES, KINDS };

static unsigned show;

static void print(const unsigned long n[KINDS], const char *name)
{
	int i;

	for (i = 0; i < KINDS; i++)
		if (show & 1u << i)
			printf(" %7lu", n[i]);
	printf(*name ? " %s\n" : "\n", name);
}

static int count(int fd, const char *name, unsigned long total[KINDS])
{
	unsigned long n[KINDS] = {0};
	char buf[16384];
	int in_word = 0, i;
	ssize_t got, at;

	while ((got = read(fd, buf, sizeof(buf))) > 0) {
		n[BYTES] += got;
		for (at = 0; at < got; at++) {
			int space = isspace((unsigned char)buf[at]) != 0;
			n[LINES] += buf[at] == '\n';
			n[WORDS] += !space && !in_word;
			in_word = !space;
		}
	}
	if (got < 0)
		warn("%s", *name ? name : "standard input");
	else
		print(n, name);
	for (i = 0; i < KINDS; i++)
		total[i] += n[i];
	return got < 0;
}

static const char usage[] = "usage: wc [-lwcm] [FILE...]\n";

int main(int argc, char **argv)
{
	static const char letters[] = "lwcm"; /* m: a character is a byte */
	unsigned long total[KINDS] = {0};
	int c, fd, failed = 0, many;

	usage_asked(argv, usage);
	while ((c = getopt(argc, argv, letters)) != -1) {
		if (c == '?')
			return usage_wrong(usage);
		show |= 1u << (c == 'm' ? BYTES : strchr(letters, c) - letters);
	}
	if (!show)
		show = (1u << KINDS) - 1;
	if (optind == argc)
		return count(STDIN_FILENO, "", total);
	many = argc - optind > 1;
	for (argv += optind; *argv; argv++) {
		fd = strcmp(*argv, "-") ? open(*argv, O_RDONLY) : STDIN_FILENO;
		if (fd < 0) {
			warn("%s", *argv);
			failed = 1;
			continue;
		}
		failed |= count(fd, *argv, total);
		if (fd != STDIN_FILENO)
			close(fd);
	}
	if (many)
		print(total, "total");
	return failed;
}
