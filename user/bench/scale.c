/*
 * scale.c - how work of several kinds spreads over the CPUs.
 *
 * scale split INSTRUCTIONS	a loop, in PHASES parts with a barrier behind each
 * scale faults PAGES		first stores to pages of anonymous memory
 * scale wakeups ROUNDS		pairs of LWPs that park and unpark each other, a pair a CPU
 * scale trip ROUNDS WORK		one such pair; WORK instructions before each unpark
 *
 * The number of operations is for all CPUs together.  There is one bound thread a CPU (two a CPU
 * for wakeups, two in all for trip), all in one process.  Prints one line,
 *
 * KIND CPUS OPERATIONS NANOSECONDS
 *
 * NANOSECONDS is the time from the beginning of the first thread to the end of the last.
 * The barrier spins.  With one thread a CPU its only cost is the time that CPUs need to
 * see each other's stores.
 */
#include <err.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <weft/start.h>
#include <weft/sys.h>

#define PHASES 2
#define PAGE WEFT_PAGE_SIZE
#define LOOP_INSTRUCTIONS 2

static unsigned threads; /* threads that the barriers await */
/* The threads sleep here until all of them exist.  So no other CPU has to be told of the changes of
 * the address space that thread creation makes. */
static pthread_barrier_t all_here;

static struct worker {
	_Alignas(64) pthread_t thread;
	unsigned number;
	int64_t began, ended;
	uint32_t lwp[2];        /* wakeups: ids of the pair; atomic, 0: not there yet */
	volatile uint32_t turn; /* wakeups: the member of the pair that has the turn */
} workers[WEFT_MAXCPU];

static long operations, work;
static char *memory;

static void must(int error, const char *what)
{
	if (error != 0) {
		errno = error;
		err(1, "%s", what);
	}
}

static void loop(long instructions)
{
	long turns = instructions / LOOP_INSTRUCTIONS;

	if (turns > 0)
		__asm__ volatile("1: dec %0; jnz 1b" : "+r"(turns));
}

static void barrier(void)
{
	static unsigned arrived, generation;
	unsigned now = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);

	if (__atomic_add_fetch(&arrived, 1, __ATOMIC_ACQ_REL) == threads) {
		__atomic_store_n(&arrived, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&generation, now + 1, __ATOMIC_RELEASE);
	}
	while (__atomic_load_n(&generation, __ATOMIC_ACQUIRE) == now)
		;
}

/* This worker's part of the operations.  The division leaves no remainder. */
static long part(void)
{
	return operations / threads;
}

static void split(struct worker *w)
{
	for (int i = 0; i < PHASES; i++) {
		loop(part() / PHASES);
		barrier();
	}
}

static void faults(struct worker *w)
{
	volatile char *p = memory + w->number * part() * PAGE;

	for (long i = part(); i > 0; i--, p += PAGE)
		*p = 1;
}

/* Gives the turn to the other thread.  A return from park says nothing; the turn decides. */
static void pass(struct worker *w, uint32_t self)
{
	while (w->turn != self)
		__sys_lwp_park(NULL, 0);
	loop(work);
	w->turn = !self;
	__sys_lwp_unpark(w->lwp[!self]);
}

static void *second_of_pair(void *arg)
{
	struct worker *w = arg;

	__atomic_store_n(&w->lwp[1], __sys_lwp_self(), __ATOMIC_RELEASE);
	for (long i = part(); i > 0; i--)
		pass(w, 1);
	return NULL;
}

static void wakeups(struct worker *w)
{
	for (long i = part(); i > 0; i--)
		pass(w, 0);
	while (w->turn != 0)
		__sys_lwp_park(NULL, 0);
}

static const struct kind {
	const char *name;
	void (*measured)(struct worker *w);
	bool pairs;
} kinds[] = {
	{"split", split, false},
	{"faults", faults, false},
	{"wakeups", wakeups, true},
	{"trip", wakeups, true},
};
static const struct kind *kind;

static void start_thread(pthread_t *thread, void *(*fn)(void *), struct worker *w)
{
	pthread_attr_t attr;

	must(pthread_attr_init(&attr), "pthread_attr_init");
	must(pthread_attr_setscope(&attr, PTHREAD_SCOPE_SYSTEM), "pthread_attr_setscope");
	must(pthread_create(thread, &attr, fn, w), "pthread_create");
}

static void *worker(void *arg)
{
	struct worker *w = arg;
	pthread_t second;

	if (kind->pairs) {
		w->lwp[0] = __sys_lwp_self();
		start_thread(&second, second_of_pair, w);
		while (__atomic_load_n(&w->lwp[1], __ATOMIC_ACQUIRE) == 0)
			__sys_lwp_yield();
	}
	pthread_barrier_wait(&all_here);
	barrier();
	w->began = gethrtime();
	kind->measured(w);
	w->ended = gethrtime();
	if (kind->pairs)
		must(pthread_join(second, NULL), "pthread_join");
	return NULL;
}

static long number(const char *text)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (*end != '\0' || n < 1)
		errx(2, "%s: not a number above 0", text);
	return n;
}

int main(int argc, char **argv)
{
	int64_t began = INT64_MAX, ended = 0;

	if (argc < 3 || argc > 4)
		errx(2, "usage: scale split|faults|wakeups|trip N [WORK]");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].name, argv[1]) == 0)
			kind = &kinds[i];
	if (kind == NULL)
		errx(2, "%s: not a kind of work", argv[1]);
	operations = number(argv[2]);
	work = argc > 3 ? number(argv[3]) : 0;
	threads = strcmp(kind->name, "trip") == 0 ? 1 : __ncpu;
	if (operations % threads != 0)
		errx(2, "%ld operations on %u CPUs: there is a rest", operations, threads);
	if (kind->measured == faults) {
		memory = mmap(NULL, operations * PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANON, -1, 0);
		if (memory == MAP_FAILED)
			err(1, "mmap");
	}

	must(pthread_barrier_init(&all_here, NULL, threads), "pthread_barrier_init");
	for (unsigned i = 0; i < threads; i++) {
		workers[i].number = i;
		start_thread(&workers[i].thread, worker, &workers[i]);
	}
	for (unsigned i = 0; i < threads; i++) {
		must(pthread_join(workers[i].thread, NULL), "pthread_join");
		began = workers[i].began < began ? workers[i].began : began;
		ended = workers[i].ended > ended ? workers[i].ended : ended;
	}
	printf("%s %u %ld %lld\n", kind->name, __ncpu, operations, (long long)(ended - began));
	return 0;
}
