/*
 * pmap [-x] PID...: the mappings of a process: address, size and permissions, and the mapped
 * object; -x: also how much of it is in memory.  Sizes in KiB.
 */
#include <err.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <weft/proc.h>
#include <weft/sys.h>
#include "../procids.h"
#include "../usage.h"

/* Writes the name of a mapped file: known only if the file is the program. */
static void name_file(char *to, size_t size, const char *program, unsigned long inode)
{
	static const char *const places[] = {"/bin", "/host", "."};
	struct stat st;

	for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(to, size, "%s/%s", places[i], program);
		if (stat(to, &st) == 0 && st.st_ino == inode)
			return;
	}
	snprintf(to, size, "inode %lu", inode);
}

static bool show(int pid, bool extended)
{
	unsigned long start, end, offset, inode, resident, kb = 0, rss = 0;
	char path[40], line[200], mode[8], device[16], what[40], name[100];
	struct weft_procinfo p;

	sprintf(path, "/proc/%d/maps", pid);
	FILE *f = fopen(path, "r");
	if (f == NULL || __sys_procinfo(pid, &p) != pid) {
		if (f != NULL)
			fclose(f);
		warnx("no process %d", pid);
		return false;
	}
	printf("%d:\t%s\n", pid, p.name);
	if (extended)
		printf("%16s %10s %10s %-5s %s\n", "Address", "Kbytes", "RSS", "Mode", "Mapping");
	while (fgets(line, sizeof(line), f) != NULL) {
		*what = '\0';
		if (sscanf(line, "%lx-%lx %7s %lx %15s %lu %lu %39s", &start, &end, mode, &offset,
			   device, &inode, &resident, what) < 7)
			continue;
		strcpy(name, what);
		if (inode != 0 && *what == '\0')
			name_file(name, sizeof(name), p.name, inode);
		if (extended)
			printf("%016lX %10lu %10lu %-5s %s\n", start, (end - start) / 1024,
			       resident, mode, name);
		else
			printf("%016lX %9luK %-5s %s\n", start, (end - start) / 1024, mode, name);
		kb += (end - start) / 1024;
		rss += resident;
	}
	if (extended)
		printf("%16s %10s %10s\n%16s %10lu %10lu\n", "", "------", "------", "total Kb", kb,
		       rss);
	else
		printf("%16s %9luK\n", "total", kb);
	fclose(f);
	return true;
}

static const char usage[] = "usage: pmap [-x] PID...\n";

int main(int argc, char **argv)
{
	bool extended = false, all = true;
	int c;

	usage_asked(argv, usage);
	while ((c = getopt(argc, argv, "x")) != -1) {
		if (c != 'x')
			return usage_wrong(usage);
		extended = true;
	}
	if (optind == argc)
		return usage_wrong(usage);
	for (; optind < argc; optind++)
		all &= show(process_id(argv[optind]), extended);
	return !all;
}
