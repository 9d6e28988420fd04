/*
 * maps_long.c - /proc/self/maps of 40,000 mappings: read to its end, from the middle, backwards and
 * while the mappings change; and an LWP of real-time priority has its CPU when it wants it, however
 * much somebody reads.  In exact timing a nanosecond is an instruction.
 */
#include "mmtest.h"
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/mman.h>

#define MAPPINGS 40000
#define LATE 200000 /* ns: a line, or a step of what a large mapping has resident */

static char *area;

/* Every second page has another protection. */
static void make_mappings(void)
{
	area = must_map(MAPPINGS * PAGE, R);
	for (unsigned i = 0; i < MAPPINGS; i += 2)
		if (mprotect(area + i * PAGE, PAGE, PROT_NONE) != 0)
			bail("mprotect of page %u: %s", i, strerror(errno));
}

/* The lines from this offset on, which begins a line: how many are those of `area`, in order. */
static unsigned count_lines(int fd, off_t from, size_t *bytes)
{
	static char buf[8192];
	size_t len = 0, seen = 0;
	unsigned long last = 0, start, end;
	unsigned lines = 0;
	ssize_t n;

	lseek(fd, from, SEEK_SET);
	while ((n = read(fd, buf + len, sizeof(buf) - 1 - len)) > 0) {
		seen += n;
		len += n;
		buf[len] = '\0';
		char *at = buf, *newline;
		for (; (newline = strchr(at, '\n')) != NULL; at = newline + 1) {
			if (sscanf(at, "%lx-%lx", &start, &end) != 2 || start < last ||
			    end <= start)
				return 0;
			last = end;
			lines += start >= (unsigned long)area &&
				 end <= (unsigned long)area + MAPPINGS * PAGE;
		}
		len -= at - buf;
		memmove(buf, at, len);
	}
	if (bytes != NULL)
		*bytes = seen;
	return n < 0 || len != 0 ? 0 : lines;
}

/* The offset of the first line that begins at or after `off`. */
static off_t line_after(int fd, off_t off)
{
	char text[200] = "";

	pread(fd, text, sizeof(text) - 1, off);
	char *newline = strchr(text, '\n');
	return newline != NULL ? off + (newline - text) + 1 : -1;
}

static void reading(void)
{
	int fd = open("/proc/self/maps", O_RDONLY);
	char first[20], again[100];
	size_t bytes = 0;

	is("a line for each mapping", count_lines(fd, 0, &bytes), MAPPINGS);
	tap_report(bytes > 1 << 20, "more than a megabyte", "%zu bytes", bytes);
	off_t middle = line_after(fd, bytes / 2);
	unsigned left = count_lines(fd, middle, NULL);
	tap_report(left > MAPPINGS / 3 && left < MAPPINGS * 2 / 3, "from the middle on", "%u lines",
		   left);
	is("nothing beyond the end", pread(fd, first, sizeof(first), 2 * bytes), 0);
	is("from the beginning", pread(fd, first, sizeof(first), 0), sizeof(first));
	ok("at the end", pread(fd, again, sizeof(again), bytes - 10) > 0);
	is("and back", pread(fd, again, sizeof(again), 0), sizeof(again));
	ok("the same addresses", memcmp(first, again, sizeof(first)) == 0);
	close(fd);
}

/* Mappings go and come between two reads: every line is whole, and they are in order. */
static void changing(void)
{
	int fd = open("/proc/self/maps", O_RDONLY);
	char text[3000];
	unsigned long last = 0, start, end, errors = 0, lines = 0;
	size_t len = 0;
	ssize_t n;

	for (unsigned i = 0; i < 300 && (n = read(fd, text + len, 1000)) > 0; i++) {
		munmap(area + 20 * i * PAGE, 15 * PAGE);
		if (i % 3 == 0)
			map(area + 20 * (i - i % 7) * PAGE, 10 * PAGE, RW, AT);
		len += n;
		text[len] = '\0';
		char *at = text, *newline;
		for (; (newline = strchr(at, '\n')) != NULL; at = newline + 1, lines++) {
			errors += sscanf(at, "%lx-%lx", &start, &end) != 2 || start < last ||
				  end <= start;
			last = end;
		}
		len -= at - text;
		memmove(text, at, len);
	}
	close(fd);
	tap_report(errors == 0 && lines > 2000, "changes between two reads",
		   "%lu errors in %lu lines", errors, lines);
}

/* --- an LWP of real-time priority beside a reader --------------------------------------------- */

static volatile bool stop;
static uint64_t latest;

static void *wakes_up(void *arg)
{
	while (!stop) {
		uint64_t due = gethrtime() + 300000;
		const struct weft_timespec t = {.nsec = 300000};

		__sys_lwp_sleep(WEFT_CLOCK_MONOTONIC, 0, &t);
		uint64_t late = gethrtime() - due;
		if (late > latest && !stop)
			latest = late;
	}
	return arg;
}

/* Memory that is there and memory that is not, both by the gigabyte. */
static void latency(void)
{
	const struct sched_param param = {.sched_priority = sched_get_priority_max(SCHED_FIFO)};
	const size_t large = 100ul << 20;
	pthread_attr_t attr;
	pthread_t thread;
	char buf[4096];

	char *there = must_map(large, RW);
	for (size_t i = 0; i < large; i += PAGE)
		there[i] = 1;
	if (map(NULL, 1ul << 44, RW, ANON | WEFT_MAP_NORESERVE) < 0)
		bail("mmap of 16 TB");
	pthread_attr_init(&attr);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
	pthread_attr_setschedparam(&attr, &param);
	int error = pthread_create(&thread, &attr, wakes_up, NULL);
	if (error != 0)
		bail("pthread_create: %s", strerror(error));
	int fd = open("/proc/self/maps", O_RDONLY);
	while (read(fd, buf, sizeof(buf)) > 0)
		;
	pread(fd, buf, sizeof(buf), 1 << 21); /* from the beginning again, without a read between */
	close(fd);
	stop = true;
	pthread_join(thread, NULL);
	printf("# %lu ns late at most\n", (unsigned long)latest);
	tap_report(latest < LATE, "a reader keeps the CPU from nobody", "%lu ns late",
		   (unsigned long)latest);
}

int main(void)
{
	make_mappings();
	reading();
	latency();
	changing();
	return tap_done();
}
