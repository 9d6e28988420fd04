/*
 * oscmp - integers, floating point and files: one after the other, at the same time, and under
 * stress.
 *
 * oscmp [-c] [-n ITERATIONS] [-i INCREMENTS] [-e EQUATIONS] [-f COPIES] [-t COUNTERS] [-l HOLD]
 *       [-k MICROSECONDS] COLUMN CASE
 *
 * The programs of D. Cirne's "Multithreading: An Extensive Study on Linux, OpenSolaris, and
 * Windows", written from their description.  COLUMN is an interface (common/column.h): nt, bound,
 * cl, unbound.  An iteration makes
 *
 * -i  increments of a counter, by adding 37 and subtracting 36 (100,000,000)
 * -e  values of exp(cos(sqrt(x^2 + y^2))), x = i / 1.1, y = i * 1.1, i from -10 to 10 (200,000)
 * -f  copies of a text of 35,146 bytes, the size of the GPL, in a new directory (100)
 *
 * CASE says how:
 *
 * linear   one after the other
 * threads  in three threads
 * stress   in 103: -t (100) that share the increments, each under one mutex; a producer that
 *          computes each value when the consumer has taken the last; a consumer; one for the files
 *
 * In the paper's figures the increments take hardly longer under the mutex than without it.  A lock
 * and an unlock for each increment would take far longer.  So a thread acquires the mutex once, for
 * its whole share.  With -l HOLD it releases the mutex after so many increments.  -t 0 leaves the
 * increments out.  The producer hands its values over by two semaphores; with -c by condition
 * variables (NT: events) under a lock.
 *
 * With -k the times are those of a clock that counts ticks of so many microseconds, and shows whole
 * milliseconds.  GetTickCount, which the paper's program read on Windows, is such a clock of 15,625
 * microseconds.
 *
 * -n iterations (100), each a line of results: iteration_ns, counter_ns, equation_ns, file_ns.
 * The results are checked.  The directory is removed after each iteration, which is not measured.
 *
 * Locks: shared.lock and pair.lock are never held together.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>
#include "common/bench.h"
#include "common/column.h"

#define TEXT_SIZE 35146
#define MAX_COUNTERS 10000
#define MS_NS 1000000
#define FOLDER "/tmp/oscmp"

const char bench_name[] = "oscmp";

static const struct column *column;
static long iterations = 100, increments = 100000000, equations = 200000, copies = 100;
static long counters = 100, hold; /* of case stress */
static bool by_condition;
static int64_t tick; /* of the clock, ns; 0: it shows nanoseconds */
static char text[TEXT_SIZE];

/* One of the three kinds of work: when its first thread began and its last thread ended. */
struct span {
	int64_t began, ended; /* written by its threads, atomic; read when they are joined */
};
static struct span counter_span, equation_span, file_span;

static struct {
	struct lock lock;
	volatile long counter; /* stress: lock */
} shared;

static struct {
	struct lock lock;
	struct place published, consumed;
	bool full; /* a value was produced and is not yet consumed; lock */
	struct semaphore filled, emptied;
	double value; /* guarded by lock, or owned by the thread that a semaphore woke */
} pair;

static double sum; /* of the values; only the consumer uses it */

/* What the clock shows, in ns; never 0. */
static int64_t now(void)
{
	int64_t ns = gethrtime();

	return tick == 0 ? ns : (ns / tick + 1) * tick / MS_NS * MS_NS;
}

static void begin(struct span *s)
{
	int64_t none = 0;

	__atomic_compare_exchange_n(&s->began, &none, now(), false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
}

static void end(struct span *s)
{
	__atomic_store_n(&s->ended, now(), __ATOMIC_RELAXED);
}

static void increment(void)
{
	volatile long temp = shared.counter;

	temp = temp + 37;
	temp = temp - 36;
	shared.counter = temp;
}

static double equation(long n)
{
	double i = -10 + 20.0 * n / equations, x = i / 1.1, y = i * 1.1;

	return exp(cos(sqrt(x * x + y * y)));
}

static void count(struct task *task)
{
	begin(&counter_span);
	for (long i = 0; i < increments; i++)
		increment();
	end(&counter_span);
}

static void calculate(struct task *task)
{
	begin(&equation_span);
	for (long i = 0; i < equations; i++)
		sum += equation(i);
	end(&equation_span);
}

static void file_name(char *name, size_t size, long n)
{
	snprintf(name, size, FOLDER "/copies/%ld", n);
}

/* Reads the original again for each copy, as a copying program does. */
static void copy(long n)
{
	static char buffer[TEXT_SIZE]; /* one thread copies at a time */
	char name[64];
	int from = open(FOLDER "/original", O_RDONLY), to;

	file_name(name, sizeof(name), n);
	to = open(name, O_WRONLY | O_CREAT | O_EXCL, 0644);
	if (from < 0 || to < 0)
		fail("%s: %s", name, strerror(errno));
	if (read(from, buffer, TEXT_SIZE) != TEXT_SIZE || write(to, buffer, TEXT_SIZE) != TEXT_SIZE)
		fail("%s: not copied", name);
	close(from);
	close(to);
}

static void replicate(struct task *task)
{
	begin(&file_span);
	if (mkdir(FOLDER "/copies", 0755) != 0)
		fail("mkdir: %s", strerror(errno));
	for (long i = 0; i < copies; i++)
		copy(i);
	end(&file_span);
}

/* --- stress ----------------------------------------------------------------------------------- */

static void count_together(struct task *task)
{
	begin(&counter_span);
	for (long left = increments / counters, now; left > 0; left -= now) {
		now = left < hold ? left : hold;
		column->lock(&shared.lock);
		for (long i = 0; i < now; i++)
			increment();
		column->unlock(&shared.lock);
	}
	end(&counter_span);
}

static void put(double value)
{
	if (by_condition) {
		column->lock(&pair.lock);
		while (pair.full)
			column->wait(&pair.consumed, &pair.lock);
		pair.value = value;
		pair.full = true;
		column->wake(&pair.published);
		column->unlock(&pair.lock);
	} else {
		column->down(&pair.emptied);
		pair.value = value;
		column->up(&pair.filled);
	}
}

static double take(void)
{
	double value;

	if (by_condition) {
		column->lock(&pair.lock);
		while (!pair.full)
			column->wait(&pair.published, &pair.lock);
		value = pair.value;
		pair.full = false;
		column->wake(&pair.consumed);
		column->unlock(&pair.lock);
	} else {
		column->down(&pair.filled);
		value = pair.value;
		column->up(&pair.emptied);
	}
	return value;
}

static void produce(struct task *task)
{
	begin(&equation_span);
	for (long i = 0; i < equations; i++)
		put(equation(i));
}

static void consume(struct task *task)
{
	for (long i = 0; i < equations; i++)
		sum += take();
	end(&equation_span);
}

/* --- the cases -------------------------------------------------------------------------------- */

static void linear(void)
{
	count(NULL);
	calculate(NULL);
	replicate(NULL);
}

static void run_all(struct task *tasks, int n)
{
	for (int i = 0; i < n; i++)
		if (!column->create(&tasks[i], false))
			fail("no more threads");
	for (int i = 0; i < n; i++)
		column->join(&tasks[i]);
}

static void threads(void)
{
	struct task tasks[] = {{.run = count}, {.run = calculate}, {.run = replicate}};

	run_all(tasks, 3);
}

static void stress(void)
{
	static struct task tasks[MAX_COUNTERS + 3];

	for (long i = 0; i < counters; i++)
		tasks[i].run = count_together;
	tasks[counters].run = produce;
	tasks[counters + 1].run = consume;
	tasks[counters + 2].run = replicate;
	run_all(tasks, (int)counters + 3);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {{"linear", linear}, {"threads", threads}, {"stress", stress}};

/* Checks that the sum consists of values between 1/e and e, and that the last copy is complete. */
static void check(void)
{
	static char buffer[TEXT_SIZE];
	char name[64];
	int fd;

	if (shared.counter != increments)
		fail("the counter is %ld after %ld increments", shared.counter, increments);
	if (!(sum > equations / 2.7183 && sum < equations * 2.7183))
		fail("the sum of %ld values is %g", equations, sum);
	file_name(name, sizeof(name), copies - 1);
	fd = open(name, O_RDONLY);
	if (fd < 0 || read(fd, buffer, TEXT_SIZE) != TEXT_SIZE ||
	    memcmp(buffer, text, TEXT_SIZE) != 0)
		fail("%s: not the text", name);
	close(fd);
}

static void clean_up(void)
{
	char name[64];

	for (long i = 0; i < copies; i++) {
		file_name(name, sizeof(name), i);
		if (unlink(name) != 0)
			fail("%s: %s", name, strerror(errno));
	}
	if (rmdir(FOLDER "/copies") != 0)
		fail("rmdir: %s", strerror(errno));
}

static void iterate(void (*run)(void), const char *name)
{
	for (long n = 0; n < iterations; n++) {
		struct moment start, stop;
		int64_t began, ended;

		shared.counter = 0;
		sum = 0;
		counter_span = equation_span = file_span = (struct span){0};
		start = moment();
		began = now();
		run();
		ended = now();
		stop = moment();
		check();
		printf("result case=%s column=%s iteration=%ld iteration_ns=%lld counter_ns=%lld "
		       "equation_ns=%lld file_ns=%lld",
		       name, column->name, n, (long long)(ended - began),
		       (long long)(counter_span.ended - counter_span.began),
		       (long long)(equation_span.ended - equation_span.began),
		       (long long)(file_span.ended - file_span.began));
		print_since(&start, &stop);
		clean_up();
	}
}

/* Writes the text: lines, as in a licence.  Its contents do not matter. */
static void write_original(void)
{
	int fd;

	for (int i = 0; i < TEXT_SIZE; i++)
		text[i] = i % 72 == 71 ? '\n' : 'a' + i / 72 % 26;
	if (mkdir(FOLDER, 0755) != 0 && errno != EEXIST)
		fail("%s: %s", FOLDER, strerror(errno));
	fd = open(FOLDER "/original", O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (fd < 0 || write(fd, text, TEXT_SIZE) != TEXT_SIZE || close(fd) != 0)
		fail("%s/original: %s", FOLDER, strerror(errno));
}

static void __attribute__((noreturn)) usage(void)
{
	fputs("usage: oscmp [-c] [-n ITERATIONS] [-i INCREMENTS] [-e EQUATIONS] [-f COPIES]\n"
	      "             [-t COUNTERS] [-l HOLD] [-k MICROSECONDS]\n"
	      "             nt|bound|cl|unbound linear|threads|stress\n",
	      stderr);
	exit(2);
}

int main(int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "cn:i:e:f:t:l:k:")) != -1) {
		switch (option) {
		case 'c':
			by_condition = true;
			break;
		case 'n':
			iterations = number("-n", optarg, 1, 1000000);
			break;
		case 'i':
			increments = number("-i", optarg, 1, 1000000000000);
			break;
		case 'e':
			equations = number("-e", optarg, 1, 1000000000);
			break;
		case 'f':
			copies = number("-f", optarg, 1, 1000000);
			break;
		case 't':
			counters = number("-t", optarg, 0, MAX_COUNTERS);
			break;
		case 'l':
			hold = number("-l", optarg, 1, 1000000000000);
			break;
		case 'k':
			tick = number("-k", optarg, 1000, 1000000) * 1000;
			break;
		default:
			usage();
		}
	}
	if (argc - optind != 2)
		usage();
	increments = counters > 0 ? increments - increments % counters : 0;
	if (hold == 0)
		hold = increments;
	column = column_named(argv[optind]);
	column->start(sysconf(_SC_NPROCESSORS_ONLN));
	column->lock_init(&shared.lock, LOCK_LOCAL);
	column->lock_init(&pair.lock, LOCK_LOCAL);
	column->place_init(&pair.published);
	column->place_init(&pair.consumed);
	column->semaphore_init(&pair.filled, 0);
	column->semaphore_init(&pair.emptied, 1);
	write_original();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (strcmp(cases[i].name, argv[optind + 1]) == 0) {
			iterate(cases[i].run, cases[i].name);
			return EXIT_SUCCESS;
		}
	}
	usage();
}
