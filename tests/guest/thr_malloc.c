/*
 * thr_malloc.c - malloc and its family, used by many threads: no block is given to two, what
 * is in one survives, what one thread allocates another may free, memory goes back, fork finds
 * a whole heap.  With LIBTHREAD_OPTIONS=malloc=mt also its guards.
 *
 *	thr_malloc [ROUNDS]
 *	thr_malloc free twice|large|inside|foreign	(what the guards must stop)
 */
#include "tap.h"
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/wait.h>
#include <weft/proc.h>
#include <weft/sys.h>

#define THREADS 6
#define SLOTS 60

extern char **environ;

/* Called by these, what this does on purpose is not seen by the compiler. */
static void (*volatile give)(void *) = free;
static void *(*volatile resize)(void *, size_t) = realloc;

static long rounds = 200;
static long wrong; /* atomic */

static unsigned rnd(uint64_t *state, unsigned below)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return (*state >> 33) % below;
}

struct block {
	struct block *next;
	size_t n;
	unsigned char byte[];
};

static struct block *make(uint64_t *state)
{
	static const unsigned most[] = {60, 400, 3000, 30000, 150000};
	size_t n = rnd(state, most[rnd(state, 40) == 0 ? 4 : rnd(state, 4)]);
	struct block *b = malloc(sizeof(*b) + n);

	if (b == NULL || (uintptr_t)b % 16 != 0 || malloc_usable_size(b) < sizeof(*b) + n) {
		__atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
		return NULL;
	}
	b->n = n;
	memset(b->byte, (uintptr_t)b >> 4 & 0xff, n);
	return b;
}

/* Was it mine alone? */
static void check(const struct block *b, uintptr_t made_at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (b->byte[i] != (made_at >> 4 & 0xff)) {
			__atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
			return;
		}
}

static void drop(struct block *b)
{
	check(b, (uintptr_t)b, b->n);
	free(b);
}

/* --- by themselves, and passed on ------------------------------------------------------------- */

static struct block *pile; /* lock-free: a thread that takes takes all */

static void pass_on(struct block *b)
{
	b->next = __atomic_load_n(&pile, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&pile, &b->next, b, false, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		;
}

static void drop_pile(void)
{
	struct block *b = __atomic_exchange_n(&pile, NULL, __ATOMIC_ACQUIRE);

	while (b != NULL) {
		struct block *next = b->next;
		drop(b);
		b = next;
	}
}

static void *work(void *arg)
{
	struct block *slot[SLOTS] = {NULL};
	uint64_t state = (uintptr_t)arg;

	for (long round = 0; round < rounds * 10; round++) {
		unsigned i = rnd(&state, SLOTS);

		if (slot[i] == NULL) {
			slot[i] = make(&state);
			continue;
		}
		switch (rnd(&state, 4)) {
		case 0:
			pass_on(slot[i]);
			slot[i] = NULL;
			break;
		case 1: {
			size_t old = slot[i]->n, n = rnd(&state, 5000);
			uintptr_t was = (uintptr_t)slot[i];
			struct block *b = realloc(slot[i], sizeof(*b) + n);
			if (b == NULL) {
				__atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
				break;
			}
			check(b, was, old < n ? old : n);
			b->n = n;
			memset(b->byte, (uintptr_t)b >> 4 & 0xff, n);
			slot[i] = b;
			break;
		}
		default:
			drop(slot[i]);
			slot[i] = NULL;
		}
		if (round % 100 == 0)
			drop_pile();
	}
	for (unsigned i = 0; i < SLOTS; i++)
		if (slot[i] != NULL)
			drop(slot[i]);
	return NULL;
}

static void threads(void)
{
	pthread_t t[THREADS];

	pthread_setconcurrency(4);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, work, (void *)(intptr_t)(i + 1));
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	drop_pile();
	is("blocks that were not one thread's alone, or not aligned, or too small", wrong, 0);
}

/* --- the family ------------------------------------------------------------------------------- */

static void family(void)
{
	static const size_t sizes[] = {1, 20, 100, 1000, 5000, 40000, 300000};
	unsigned misaligned = 0, dirty = 0, lost = 0;
	unsigned char *p, *q;

	for (size_t align = 8; align <= 1 << 20; align *= 2)
		for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			void *v = NULL;
			p = memalign(align, sizes[i]);
			q = aligned_alloc(align, (sizes[i] + align - 1) / align * align);
			misaligned += posix_memalign(&v, align, sizes[i]) != 0;
			misaligned += ((uintptr_t)p | (uintptr_t)q | (uintptr_t)v) % align != 0;
			misaligned += p == NULL || q == NULL || v == NULL;
			memset(p, 1, sizes[i]);
			memset(v, 2, sizes[i]);
			free(q);
			lost += p[0] != 1 || p[sizes[i] - 1] != 1;
			free(p);
			free(v);
		}
	is("aligned blocks", misaligned, 0);
	is("... and what is in them", lost, 0);
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (int again = 0; again < 3; again++) {
			p = calloc(sizes[i], 1);
			for (size_t k = 0; k < sizes[i]; k++)
				dirty += p[k] != 0;
			memset(p, 0xff, sizes[i]);
			free(p);
		}
	is("calloc clears what was used", dirty, 0);
	p = malloc(0);
	q = malloc(0);
	ok("malloc(0): blocks of their own", p != NULL && q != NULL && p != q);
	free(p);
	free(q);
	p = realloc(NULL, 100);
	memset(p, 7, 100);
	for (size_t n = 100; n < 400000; n = n * 3 / 2)
		p = realloc(p, n);
	for (size_t n = 400000; n > 100; n /= 2)
		p = realloc(p, n);
	for (int i = 0; i < 100; i++)
		lost += p[i] != 7;
	is("realloc, up and down", lost, 0);
	ok("malloc_usable_size", malloc_usable_size(p) >= 100 && malloc_usable_size(NULL) == 0);
	free(p);
	free(NULL);
	errno = 0;
	volatile size_t most = SIZE_MAX - 100;
	ok("more than there can be", malloc(most) == NULL && errno == ENOMEM);
	p = malloc(10);
	errno = 0;
	ok("realloc: ENOMEM", resize(p, most) == NULL && errno == ENOMEM);
	errno = 0;
	ok("memalign: ENOMEM", memalign(64, most) == NULL && errno == ENOMEM);
	errno = 0;
	ok("calloc: ENOMEM", calloc(most, 2) == NULL && errno == ENOMEM);
	free(p);
}

/* --- memory that goes back -------------------------------------------------------------------- */

static uint64_t resident(void)
{
	struct weft_procinfo info;

	__sys_procinfo(getpid(), &info);
	return info.rss;
}

static void goes_back(void)
{
	enum { N = 20000, SIZE = 1000 };
	static void *block[N];
	uint64_t before, most;

	before = resident();
	for (int i = 0; i < N; i++)
		block[i] = memset(malloc(SIZE), 1, SIZE);
	most = resident();
	for (int i = 0; i < N; i++)
		free(block[i]);
	ok("20 MB are there", most - before >= N * SIZE);
	ok("... and go back, but for some", resident() - before < (most - before) / 2);
}

/* --- fork ------------------------------------------------------------------------------------- */

static volatile int stop;

static void *churn(void *arg)
{
	uint64_t state = (uintptr_t)arg;

	while (!stop) {
		struct block *a = make(&state), *b = make(&state);
		drop(a);
		drop(b);
		sched_yield(); /* unbound threads are not time-sliced */
	}
	return NULL;
}

static void forks(void)
{
	pthread_t t[2];
	int bad = 0;

	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, churn, (void *)(intptr_t)(i + 1));
	for (int n = 0; n < 10; n++) {
		int status;
		pid_t pid = fork();
		if (pid == 0) {
			uint64_t state = n;
			alarm(60);
			wrong = 0;
			for (int i = 0; i < 200; i++)
				drop(make(&state));
			_exit(wrong != 0);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
			bad++;
		sched_yield();
	}
	stop = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	is("children of fork in whose parent others allocate", bad, 0);
}

/* --- guards ----------------------------------------------------------------------------------- */

static int misuse(const char *how)
{
	static char foreign[300000];
	char *volatile small = malloc(100), *volatile large = malloc(100000);

	signal(SIGSEGV, SIG_DFL);
	if (strcmp(how, "twice") == 0) {
		give(small);
		give(small);
	} else if (strcmp(how, "large") == 0) {
		give(large);
		give(large);
	} else if (strcmp(how, "inside") == 0) {
		give(small + 16);
	} else {
		give(foreign + 299008 - (uintptr_t)foreign % 16);
	}
	return 0; /* not stopped */
}

static void guards(void)
{
	static const char *const how[] = {"twice", "large", "inside", "foreign"};

	for (int i = 0; i < 4; i++) {
		char *argv[] = {"thr_malloc", "free", (char *)how[i], NULL};
		posix_spawn_file_actions_t quiet;
		int status;
		pid_t pid;

		posix_spawn_file_actions_init(&quiet);
		posix_spawn_file_actions_addclose(&quiet, 2);
		posix_spawnp(&pid, argv[0], &quiet, NULL, argv, environ);
		waitpid(pid, &status, 0);
		posix_spawn_file_actions_destroy(&quiet);
		ok(how[i], WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	}
}

int main(int argc, char **argv)
{
	const char *options = getenv("LIBTHREAD_OPTIONS");

	if (argc == 3)
		return misuse(argv[2]);
	if (argc > 1)
		rounds = atol(argv[1]);
	threads();
	family();
	forks();
	if (options != NULL && strstr(options, "malloc=mt") != NULL) {
		goes_back();
		guards();
	}
	return tap_done();
}
