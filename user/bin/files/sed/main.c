/*
 * sed [-n] [-E] SCRIPT [FILE...], sed [-n] [-E] [-e SCRIPT | -f FILE]... [FILE...]: edits lines
 * (POSIX, sed).  -n: prints only what the command p prints; -E: extended regular expressions.
 *
 * The text of a, c and i may begin on the line of the command, as in GNU sed.
 */
#include <unistd.h>
#include "sed.h"
#include "../../usage.h"

static void parse_file(const char *name)
{
	struct buffer all = {0};
	FILE *f = open_input(name);
	char part[1024];
	size_t n;

	if (!f)
		exit(2);
	while ((n = fread(part, 1, sizeof(part), f)) > 0)
		buffer_add(&all, part, n);
	if (!close_input(f, name))
		exit(2);
	parse_script(all.s ? all.s : "");
	free(all.s);
}

static const char usage[] = "usage: sed [-nE] SCRIPT [FILE...]\n"
			    "       sed [-nE] [-e SCRIPT | -f FILE]... [FILE...]\n";

int main(int argc, char **argv)
{
	bool have_script = false;
	int c;

	usage_asked(argv, usage);
	while ((c = getopt(argc, argv, "nEe:f:")) != -1)
		switch (c) {
		case 'n':
			no_print = true;
			break;
		case 'E':
			regex_flags = REG_EXTENDED;
			break;
		case 'e':
			parse_script(optarg);
			have_script = true;
			break;
		case 'f':
			parse_file(optarg);
			have_script = true;
			break;
		default:
			goto usage;
		}
	if (!have_script) {
		if (optind == argc)
			goto usage;
		parse_script(argv[optind++]);
	}
	parse_end();
	return run_files(argv + optind);
usage:
	return usage_wrong(usage);
}
