/*
 * torture [-s SEED] [-t WORKERS] [-n MOVES] [-m MOVE] [-k KIND] [-w SECONDS] [-v] -
 * everything in libthread at once, at random, from a seed.
 *
 * Workers make random moves.  They lock, wait, signal, meet at barriers and fork; and they create,
 * join, cancel, suspend and signal each other and helpers.  Invariants are checked all the time
 * (see the files of the moves).  The model and its options are those of the environment.
 *
 * -m makes one kind of move alone: -v lists them.  -k uses two locks of one kind (resource.c).
 *
 * The process that is started is only the watchdog, which uses no threads; its child plays.  The
 * watchdog ends with status 1 when a check has failed, the child was killed, or a player has waited
 * for longer than -w SECONDS.  In the last case it prints what each player waits for, from the
 * players' records.  In exact timing idle time costs nothing, so a standstill is found at once.
 */
#include "torture.h"
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread.h>
#include <unistd.h>
#include <weft/proc.h>
#include <weft/sys.h>

__thread struct player *me;
struct features features;

static long workers = 6, moves = 100, patience = 60;
static unsigned long seed = 1;
static const char *only; /* this move, or NULL */
static bool verbose;

static struct record *records;       /* worker w: at w * (1 + HELPERS), then its helpers' */
static volatile unsigned long *made; /* per worker and move: the moves made */

static void move_stand_still(void)
{
	sem_t never;

	CHECK(sem_init(&never, 0, 0) == 0);
	sem_wait_always("what never comes", &never);
}

static const struct move {
	const char *name;
	void (*make)(void);
	int weight;
} table[] = {
	{"hold", move_hold, 30},
	{"die with a robust mutex", move_die_with_robust, 1},
	{"barrier", move_barrier, 4},
	{"ring", move_ring, 4},
	{"once", move_once, 3},
	{"the last one frees", move_last_one_frees, 4},
	{"semaphore on the stack", move_semaphore_on_stack, 5},
	{"condition on the stack", move_condition_on_stack, 4},
	{"cancel a wait", move_cancel_wait, 6},
	{"cancel or signal", move_cancel_or_signal, 4},
	{"cancel asynchronously", move_cancel_async, 1},
	{"suspend", move_suspend, 8},
	{"kill somebody", move_kill_somebody, 6},
	{"kill a helper", move_kill_helper, 3},
	{"mask", move_mask, 4},
	{"priority", move_priority, 3},
	{"concurrency", move_concurrency, 1},
	{"yield", move_yield, 4},
	{"nap", move_nap, 2},
	{"specific data", move_specific, 3},
	{"detached thread", move_detached, 3},
	{"fork", move_fork, 1},
	{"share with a child", move_shared_with_child, 1},
	{"stand still", move_stand_still, 0}, /* with -m alone: tests the watchdog */
};
#define KINDS (sizeof(table) / sizeof(table[0]))

/* --- failing --------------------------------------------------------------------------- */

/* A place for breakpoints, at an address where no other program has code (user/user.mk). */
__attribute__((noinline, section(".tap"))) static void torture_failed(void)
{
	__asm__ volatile("" ::: "memory");
}

void fail(const char *fmt, ...)
{
	char line[300];
	va_list ap;
	int n = snprintf(line, sizeof(line),
			 "torture: thread %u: ", me != NULL ? me->record->thread : 0);

	va_start(ap, fmt);
	n += vsnprintf(line + n, sizeof(line) - n - 1, fmt, ap);
	va_end(ap);
	if (n > (int)sizeof(line) - 2)
		n = sizeof(line) - 2;
	line[n++] = '\n';
	write(1, line, n);
	torture_failed();
	__sys_reboot(WEFT_REBOOT_FAIL, 1); /* fails if the host tool does not want the memory */
	_exit(1);
}

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000l + t.tv_nsec;
}

void note(const char *doing, const void *object)
{
	struct record *r = me->record;

	r->object = object;
	if (doing != NULL)
		r->since = now();
	r->doing = doing;
}

/* --- chance ------------------------------------------------------------------------------ */

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15ul); /* splitmix64 */

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ul;
	z = (z ^ z >> 27) * 0x94d049bb133111ebul;
	return z ^ z >> 31;
}

uint32_t draw(uint32_t below)
{
	return (next_random(&me->random) >> 32) * below >> 32;
}

bool chance(uint32_t in)
{
	return draw(in) == 0;
}

void compute(void)
{
	for (volatile uint32_t i = draw(1000); i > 0;)
		i--;
}

void dawdle(void)
{
	uint32_t what = draw(8);

	if (what == 0)
		thr_yield();
	else if (what < 3)
		compute();
}

struct timespec soon(void)
{
	int64_t t = now() + draw(50000);

	return (struct timespec){.tv_sec = t / 1000000000, .tv_nsec = t % 1000000000};
}

/* --- helpers ----------------------------------------------------------------------------- */

static void *helper_main(void *arg)
{
	struct helper *h = arg;

	me = &h->player;
	me->record->thread = thr_self();
	return h->body(h->arg);
}

static void start(struct helper *h, int slot, void *(*body)(void *), void *arg, long flags)
{
	thread_t id;

	*h = (struct helper){.body = body, .arg = arg, .detached = flags & THR_DETACHED};
	h->player.record = &me->helpers[slot];
	h->player.random = next_random(&me->random);
	if (chance(6))
		flags |= THR_SUSPENDED;
	if (chance(30))
		flags |= THR_NEW_LWP;
	OK(thr_create(NULL, 0, helper_main, h, flags, &id));
	if (!(flags & THR_DETACHED)) /* else the helper may have freed h */
		h->id = id;
	if (flags & THR_SUSPENDED)
		OK(thr_continue(id));
}

void helper_start(struct helper *h, int slot, void *(*body)(void *), void *arg, bool bound)
{
	start(h, slot, body, arg, bound || chance(5) ? THR_BOUND : 0);
}

void helper_start_detached(struct helper *h, int slot, void *(*body)(void *), void *arg)
{
	start(h, slot, body, arg, THR_DETACHED);
}

void helper_gone(struct helper *h)
{
	note(NULL, NULL);
	h->player.record->thread = 0;
	me = NULL;
	free(h);
}

void *helper_join(struct helper *h)
{
	void *status;

	OK(WAIT("pthread_join", h, pthread_join(h->id, &status)));
	h->player.record->doing = NULL;
	h->player.record->held = 0;
	h->player.record->thread = 0;
	return status;
}

pthread_t somebody(void)
{
	return records[draw(workers * (1 + HELPERS))].thread;
}

void sem_wait_always(const char *what, sem_t *s)
{
	note(what, s);
	while (sem_wait(s) != 0)
		CHECK(errno == EINTR);
	note(NULL, NULL);
}

void scribble(void *object, size_t size)
{
	memset(object, 0xa5, size);
}

/* --- playing ----------------------------------------------------------------------------- */

static uint32_t weight(unsigned i)
{
	return only == NULL ? table[i].weight : strcmp(only, table[i].name) == 0;
}

static void *worker(void *arg)
{
	struct player *p = arg;
	volatile unsigned long *mine = made + (p->record - records) / (1 + HELPERS) * KINDS;
	uint32_t total = 0;

	me = p;
	p->record->thread = thr_self();
	for (unsigned i = 0; i < KINDS; i++)
		total += weight(i);
	for (long n = 0; n < moves; n++) {
		uint32_t pick = draw(total);
		unsigned i;

		for (i = 0; pick >= weight(i); i++)
			pick -= weight(i);
		table[i].make();
		mine[i]++;
	}
	p->record->thread = 0;
	return NULL;
}

static bool is(const char *variable, const char *value)
{
	const char *v = getenv(variable);

	return v != NULL && strcmp(v, value) == 0;
}

static void find_features(uint64_t *random)
{
	const char *options = getenv("LIBTHREAD_OPTIONS");
	bool n1 = is("LIBTHREAD", "n1"), mxn = is("LIBTHREAD", "mxn");

	features.bound = !n1;
	features.may_block = !n1 && !(mxn && options != NULL && strstr(options, "waiting=none"));
	features.priorities = next_random(random) >> 63;
	features.resources = 4 + next_random(random) % 12;
}

static int play(void)
{
	static struct player players[MAX_WORKERS];
	static pthread_t ids[MAX_WORKERS];
	uint64_t random = seed;

	find_features(&random);
	me = &(struct player){.record = &records[workers * (1 + HELPERS)], .random = random};
	me->record->thread = thr_self();
	resources_init();
	disturb_init();
	for (long w = 0; w < workers; w++) {
		struct record *r = &records[w * (1 + HELPERS)];
		pthread_attr_t attr;

		players[w] = (struct player){
			.record = r, .helpers = r + 1, .random = next_random(&random)};
		pthread_attr_init(&attr);
		pthread_attr_setscope(&attr, chance(4) && features.bound ? PTHREAD_SCOPE_SYSTEM
									 : PTHREAD_SCOPE_PROCESS);
		OK(pthread_create(&ids[w], &attr, worker, &players[w]));
		pthread_attr_destroy(&attr);
	}
	for (long w = 0; w < workers; w++)
		OK(pthread_join(ids[w], NULL)); /* takes as long as it takes: no record */
	resources_check();
	disturb_check();
	return 0;
}

/* --- the watchdog ------------------------------------------------------------------------ */

static void tell(int64_t at)
{
	printf("torture: a player has waited for more than %ld s\n", patience);
	for (long i = 0; i < workers * (1 + HELPERS); i++) {
		const struct record *r = &records[i];

		if (r->thread == 0)
			continue;
		printf("  player %ld.%ld, thread %u: ", i / (1 + HELPERS), i % (1 + HELPERS),
		       r->thread);
		if (r->doing != NULL)
			printf("%s at %p for %lld us", r->doing, (void *)r->object,
			       (long long)(at - r->since) / 1000);
		else
			printf("waits for nothing");
		if (r->held != 0)
			printf("; holds 0x%x", r->held);
		printf("\n");
	}
	fflush(stdout);
	/* Shows what the records cannot: whether a runnable thread is on an LWP, and that LWP on a
	 * CPU. */
	system("lwps; pstack $(pgrep -x torture)");
}

static bool someone_is_stuck(int64_t at)
{
	for (long i = 0; i < workers * (1 + HELPERS); i++) {
		int64_t since = records[i].since;

		if (records[i].thread != 0 && records[i].doing != NULL &&
		    at - since > patience * 1000000000l && since == records[i].since)
			return true;
	}
	return false;
}

/* Returns the child's wait status.  Checks the records eight times within -w SECONDS. */
static int watch(pid_t child)
{
	const struct timespec nap = {.tv_sec = patience / 8,
				     .tv_nsec = patience % 8 * (1000000000l / 8)};
	sigset_t ended;
	int status;

	sigemptyset(&ended);
	sigaddset(&ended, SIGCHLD);
	while (waitpid(child, &status, WNOHANG) == 0) {
		if (sigtimedwait(&ended, NULL, &nap) < 0 && someone_is_stuck(now())) {
			tell(now());
			torture_failed();
			__sys_reboot(WEFT_REBOOT_FAIL, 1);
			kill(child, SIGKILL);
		}
	}
	return status;
}

static void summary(void)
{
	unsigned long all = 0;

	for (unsigned i = 0; i < KINDS; i++) {
		unsigned long sum = 0;

		for (long w = 0; w < workers; w++)
			sum += made[w * KINDS + i];
		if (verbose)
			printf("%8lu %s\n", sum, table[i].name);
		all += sum;
	}
	printf("torture: seed %lu: %lu moves of %ld workers, all well\n", seed, all, workers);
}

static long number(const char *s, long least, long most)
{
	char *end;
	long n = strtol(s, &end, 10);

	if (*s == '\0' || *end != '\0' || n < least || n > most) {
		fprintf(stderr, "torture: %s is no number from %ld to %ld\n", s, least, most);
		exit(2);
	}
	return n;
}

static void options(int argc, char **argv)
{
	bool known = true;
	int c;

	while ((c = getopt(argc, argv, "s:t:n:m:k:w:v")) >= 0) {
		if (c == 's') {
			seed = number(optarg, 0, UINT32_MAX);
		} else if (c == 't') {
			workers = number(optarg, 1, MAX_WORKERS);
		} else if (c == 'n') {
			moves = number(optarg, 1, INT32_MAX);
		} else if (c == 'm') {
			only = optarg;
			known = false;
			for (unsigned i = 0; i < KINDS; i++)
				known |= strcmp(only, table[i].name) == 0;
		} else if (c == 'k') {
			if (!resources_only(optarg)) {
				fprintf(stderr, "torture: there are no locks of kind \"%s\"\n",
					optarg);
				exit(2);
			}
		} else if (c == 'w') {
			patience = number(optarg, 1, 1000000);
		} else if (c == 'v') {
			verbose = true;
		} else {
			fprintf(stderr,
				"usage: torture [-s SEED] [-t WORKERS] [-n MOVES] [-m MOVE] "
				"[-k KIND] [-w SECONDS] [-v]\n");
			exit(2);
		}
	}
	if (!known) {
		fprintf(stderr, "torture: there is no move \"%s\"\n", only);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	size_t of_records, of_counts;
	sigset_t ended;
	pid_t child;
	int status;

	options(argc, argv);
	of_records = (workers * (1 + HELPERS) + 1) * sizeof(struct record);
	of_counts = workers * KINDS * sizeof(unsigned long);
	records = mmap(NULL, of_records + of_counts, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (records == MAP_FAILED) {
		perror("torture");
		return 2;
	}
	made = (unsigned long *)((char *)records + of_records);
	sigemptyset(&ended);
	sigaddset(&ended, SIGCHLD);
	sigprocmask(SIG_BLOCK, &ended, NULL);
	child = fork();
	if (child < 0) {
		perror("torture");
		return 2;
	}
	if (child == 0)
		_exit(play());
	status = watch(child);
	if (WIFSIGNALED(status))
		printf("torture: killed by signal %d\n", WTERMSIG(status));
	else if (WEXITSTATUS(status) == 0)
		summary();
	return status != 0;
}
