/*
 * pp.c - Ping-Pong: what does it cost one thread to hand the turn to another?
 *
 * The benchmark of appendix C of P. Harman's "Multithreading in the Solaris
 * Operating Environment" (2002), written from its description.  Plain POSIX
 * threads: it compiles unchanged on other systems (cc -pthread pp.c).
 *
 * A game has two players in lock step and four mutexes.  Number the moves of a
 * game 0, 1, 2, ...: the first player makes the even moves, the second the odd
 * ones.  Move m waits for mutex m mod 4, so each player has two mutexes, which
 * it uses in turn.  The player that makes move m (all numbers mod 4):
 *
 *          first's
 *            (0)               1. locks   m      to wait for its turn
 *           /   \              2. locks   m + 3  to block the partner's move after next
 * second's /     \ second's    3. unlocks m      to let itself be blocked there again
 *      (3)         (1)         4. unlocks m + 1  to unblock the partner's next move
 *          \     /
 *           \   /              It holds m + 1 when it begins and m + 3 when it is done:
 *            (2)               that is (m + 2) + 1, with which its next move begins.
 *          first's
 *
 * Why this is lock step, and legal POSIX:
 *
 *  - The player of move m holds mutex m + 1 until step 4, so move m + 1 waits for
 *    step 4.  From step 2 on the player holds mutex m + 3, until step 4 of move m + 2,
 *    so move m + 3 waits for that.  Therefore the moves are made one by one, in order.
 *  - Every unlock is by the thread that locked: m in step 1, m + 1 in step 2 of its
 *    previous move (at first: before the begin barrier, where the first player
 *    locks mutex 1 and the second mutex 2).  Error-checking mutexes (-e) confirm it.
 *  - Only step 1 ever waits: the partner released mutex m + 3, which is m - 1, in
 *    step 3 of move m - 1, before its step 4 let move m begin.
 *
 * The turn itself guards game.moves, a plain counter: if two moves ever overlapped
 * or came out of order, make_move() would find a wrong number there.
 *
 * Any number of games go on at once.  They have nothing in common, except that with
 * -z -1 every move also locks and unlocks one global mutex.
 *
 * Locks: the four of a game are a ring, so they have no order.  There is no deadlock,
 * because no player waits in step 2.  The bottleneck mutex comes after them.  A gate's
 * mutex is held with one of the ring's already locked; no lock is acquired under it.
 */
#define _XOPEN_SOURCE 700 /* for pthread_setconcurrency() */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define GLOBAL_BOTTLENECK (-1) /* the value of -z that asks for it */
#define CACHE_LINE 64

struct game {
	_Alignas(CACHE_LINE) pthread_mutex_t turn[4]; /* move m waits for turn[m % 4] */
	unsigned long moves;                          /* made so far; guarded by the turn */
};

struct player {
	struct game *game;
	unsigned long first_move; /* 0 or 1 */
	pthread_t thread;
};

/* A barrier that sleeps: a mutex and a condition variable.  It never spins. */
struct gate {
	pthread_mutex_t lock;
	pthread_cond_t opened;
	unsigned long awaited; /* threads that have not arrived yet; lock */
};

static struct {
	long target;
	long tables;
	long sleep_ms;
	int scope; /* PTHREAD_SCOPE_* */
	bool scope_given;
	int pshared; /* PTHREAD_PROCESS_* */
	long concurrency;
	long stack_size;
	bool verbose;
	bool microseconds;
	bool errorcheck;
	bool gates_as_mutexes;
} opt = {
	.target = 1000000,
	.tables = 1,
	.scope = PTHREAD_SCOPE_PROCESS,
	.pshared = PTHREAD_PROCESS_PRIVATE,
};

static pthread_mutex_t bottleneck;
static struct gate setup_gate, begin_gate, end_gate;

/*
 * Prints a message and ends the process with status 1.  _Exit, because several players may fail
 * at once, and exit() may not be called twice.  Standard output is flushed where it is written.
 */
static void __attribute__((format(printf, 1, 2), noreturn)) fail(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "pp: ");
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "\n");
	fflush(stderr);
	_Exit(EXIT_FAILURE);
}

/* The pthread calls return their error. */
static void check(int error, const char *call)
{
	if (error != 0)
		fail("%s: %s", call, strerror(error));
}

static void lock(pthread_mutex_t *mutex)
{
	check(pthread_mutex_lock(mutex), "pthread_mutex_lock");
}

static void unlock(pthread_mutex_t *mutex)
{
	check(pthread_mutex_unlock(mutex), "pthread_mutex_unlock");
}

/*
 * With -g a gate is for as many processes as the mutexes, as in the paper's program: a thread that
 * waits at a shared one sleeps in the kernel, and so keeps its LWP.
 */
static void gate_init(struct gate *gate, unsigned long threads)
{
	pthread_mutexattr_t mutex, *mutex_attr = NULL;
	pthread_condattr_t cond, *cond_attr = NULL;

	if (opt.gates_as_mutexes) {
		mutex_attr = &mutex;
		cond_attr = &cond;
		check(pthread_mutexattr_init(&mutex), "pthread_mutexattr_init");
		check(pthread_condattr_init(&cond), "pthread_condattr_init");
		check(pthread_mutexattr_setpshared(&mutex, opt.pshared),
		      "pthread_mutexattr_setpshared");
		check(pthread_condattr_setpshared(&cond, opt.pshared),
		      "pthread_condattr_setpshared");
	}
	check(pthread_mutex_init(&gate->lock, mutex_attr), "pthread_mutex_init");
	check(pthread_cond_init(&gate->opened, cond_attr), "pthread_cond_init");
	gate->awaited = threads;
}

/* Sleeps until every thread that the gate awaits has called this function.  A gate opens once. */
static void gate_pass(struct gate *gate)
{
	lock(&gate->lock);
	if (--gate->awaited == 0)
		check(pthread_cond_broadcast(&gate->opened), "pthread_cond_broadcast");
	while (gate->awaited != 0)
		check(pthread_cond_wait(&gate->opened, &gate->lock), "pthread_cond_wait");
	unlock(&gate->lock);
}

/* The time, in the unit of the verbose output. */
static long now(void)
{
	struct timespec time;

	if (clock_gettime(CLOCK_MONOTONIC, &time) != 0)
		fail("clock_gettime: %s", strerror(errno));
	if (opt.microseconds)
		return (long)time.tv_sec * 1000000 + time.tv_nsec / 1000;
	return (long)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void sleep_ms(long ms)
{
	struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	while (nanosleep(&left, &left) != 0) {
		if (errno != EINTR)
			fail("nanosleep: %s", strerror(errno));
	}
}

/* Move m, as the opening comment draws it.  The caller holds turn m + 1 at the start, and turn m +
 * 3 at the end. */
static void make_move(struct game *game, unsigned long m)
{
	lock(&game->turn[m % 4]);
	lock(&game->turn[(m + 3) % 4]);

	if (game->moves != m)
		fail("move %lu made after %lu moves: not in lock step", m, game->moves);
	game->moves = m + 1;
	if (opt.sleep_ms == GLOBAL_BOTTLENECK) {
		lock(&bottleneck);
		unlock(&bottleneck);
	} else if (opt.sleep_ms > 0) {
		sleep_ms(opt.sleep_ms);
	}

	unlock(&game->turn[m % 4]);
	unlock(&game->turn[(m + 1) % 4]);
}

static void *play(void *arg)
{
	struct player *player = arg;
	struct game *game = player->game;
	unsigned long m = player->first_move;

	lock(&game->turn[(m + 1) % 4]);
	gate_pass(&setup_gate);
	gate_pass(&begin_gate);
	for (long i = 0; i < opt.target; i++, m += 2)
		make_move(game, m);
	unlock(&game->turn[(m + 1) % 4]);
	gate_pass(&end_gate);
	return NULL;
}

/* Sets up the games.  All their mutexes, and the bottleneck, are of the same kind. */
static struct game *lay_tables(void)
{
	struct game *games = aligned_alloc(CACHE_LINE, (size_t)opt.tables * sizeof(*games));
	pthread_mutexattr_t attr;
	int error;

	if (games == NULL)
		fail("no memory for %ld games", opt.tables);
	check(pthread_mutexattr_init(&attr), "pthread_mutexattr_init");
	error = pthread_mutexattr_setpshared(&attr, opt.pshared);
	if (error == ENOTSUP)
		fail("process-shared mutexes are not supported");
	check(error, "pthread_mutexattr_setpshared");
	if (opt.errorcheck)
		check(pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK),
		      "pthread_mutexattr_settype");
	check(pthread_mutex_init(&bottleneck, &attr), "pthread_mutex_init");
	for (long i = 0; i < opt.tables; i++) {
		games[i].moves = 0;
		for (int k = 0; k < 4; k++)
			check(pthread_mutex_init(&games[i].turn[k], &attr), "pthread_mutex_init");
	}
	check(pthread_mutexattr_destroy(&attr), "pthread_mutexattr_destroy");
	return games;
}

/*
 * Sets the scope that was asked for.  If none was, sets process scope where the system has it
 * (Linux, for example, has system scope only).  The verbose output names the scope.
 */
static void set_scope(pthread_attr_t *attr)
{
	int error = pthread_attr_setscope(attr, opt.scope);

	if (error == ENOTSUP && !opt.scope_given) {
		opt.scope = PTHREAD_SCOPE_SYSTEM;
		error = pthread_attr_setscope(attr, opt.scope);
	}
	check(error, "pthread_attr_setscope");
}

static void print_configuration(void)
{
	printf("\nPING-PONG CONFIGURATION:\n\n");
	printf("target          (-i) = %ld\n", opt.target);
	printf("ntables         (-n) = %ld\n", opt.tables);
	printf("sleepms         (-z) = %ld\n", opt.sleep_ms);
	printf("pthread_scope   (-s) = %s\n",
	       opt.scope == PTHREAD_SCOPE_SYSTEM ? "system" : "process");
	printf("pthread_process (-p) = %s\n",
	       opt.pshared == PTHREAD_PROCESS_SHARED ? "shared" : "private");
	printf("concurrency     (-c) = %ld\n", opt.concurrency);
	printf("stacksize       (-S) = %ld\n\n", opt.stack_size);
	fflush(stdout);
}

static void __attribute__((noreturn)) usage(void)
{
	fprintf(stderr,
		"usage: pp [-vueg] [-i N] [-n N] [-z MS] [-p private|shared] [-s process|system]\n"
		"          [-c N] [-S BYTES]\n"
		"  -v  print the configuration and the times\n"
		"  -u  times in microseconds, not milliseconds\n"
		"  -i  iterations: moves of each player (1000000)\n"
		"  -n  games at once, two threads each (1)\n"
		"  -z  sleep in every move, milliseconds (0);\n"
		"      -1: lock and unlock one global mutex instead\n"
		"  -p  processes that may use the mutexes: one, or several (private)\n"
		"  -s  scheduling scope of the threads (process)\n"
		"  -c  concurrency asked for, pthread_setconcurrency() (0: not asked)\n"
		"  -S  stack size of the threads in bytes (0: the default)\n"
		"  -e  error-checking mutexes\n"
		"  -g  what threads meet at before and after the games is as -p says, too\n");
	exit(2);
}

static long number(int option, const char *text, long min, long max)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (end == text || *end != '\0' || errno != 0 || value < min || value > max) {
		fprintf(stderr, "pp: -%c %s: not a number from %ld to %ld\n", option, text, min,
			max);
		usage();
	}
	return value;
}

/* Whether text is the second of two words.  Any third word is an error. */
static bool second_of(int option, const char *text, const char *first, const char *second)
{
	if (strcmp(text, first) != 0 && strcmp(text, second) != 0) {
		fprintf(stderr, "pp: -%c %s: neither %s nor %s\n", option, text, first, second);
		usage();
	}
	return strcmp(text, second) == 0;
}

static void parse_options(int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "vuegi:n:z:p:s:c:S:")) != -1) {
		switch (option) {
		case 'v':
			opt.verbose = true;
			break;
		case 'u':
			opt.microseconds = true;
			break;
		case 'e':
			opt.errorcheck = true;
			break;
		case 'g':
			opt.gates_as_mutexes = true;
			break;
		case 'i':
			opt.target = number(option, optarg, 1, LONG_MAX / 4);
			break;
		case 'n':
			opt.tables = number(option, optarg, 1, 1000000);
			break;
		case 'z':
			opt.sleep_ms = number(option, optarg, GLOBAL_BOTTLENECK, INT_MAX);
			break;
		case 'p':
			opt.pshared = second_of(option, optarg, "private", "shared")
					      ? PTHREAD_PROCESS_SHARED
					      : PTHREAD_PROCESS_PRIVATE;
			break;
		case 's':
			opt.scope = second_of(option, optarg, "process", "system")
					    ? PTHREAD_SCOPE_SYSTEM
					    : PTHREAD_SCOPE_PROCESS;
			opt.scope_given = true;
			break;
		case 'c':
			opt.concurrency = number(option, optarg, 0, INT_MAX);
			break;
		case 'S':
			opt.stack_size = number(option, optarg, 0, LONG_MAX);
			break;
		default:
			usage();
		}
	}
	if (optind != argc) {
		fprintf(stderr, "pp: %s: not an option\n", argv[optind]);
		usage();
	}
}

int main(int argc, char **argv)
{
	struct player *players;
	struct game *games;
	pthread_attr_t attr;
	const char *unit;
	long threads, start;

	parse_options(argc, argv);
	unit = opt.microseconds ? "us" : "ms";
	threads = 2 * opt.tables;
	check(pthread_attr_init(&attr), "pthread_attr_init");
	set_scope(&attr);
	if (opt.stack_size != 0)
		check(pthread_attr_setstacksize(&attr, (size_t)opt.stack_size),
		      "pthread_attr_setstacksize");
	if (opt.verbose)
		print_configuration();

	start = now();
	if (opt.concurrency != 0)
		check(pthread_setconcurrency((int)opt.concurrency), "pthread_setconcurrency");
	games = lay_tables();
	players = calloc((size_t)threads, sizeof(*players));
	if (players == NULL)
		fail("no memory for %ld players", threads);
	gate_init(&setup_gate, (unsigned long)threads + 1);
	gate_init(&begin_gate, (unsigned long)threads + 1);
	gate_init(&end_gate, (unsigned long)threads + 1);
	for (long i = 0; i < threads; i++) {
		players[i].game = &games[i / 2];
		players[i].first_move = (unsigned long)i % 2;
		check(pthread_create(&players[i].thread, &attr, play, &players[i]),
		      "pthread_create");
	}
	gate_pass(&setup_gate);
	if (opt.verbose) {
		printf("%ld threads initialised in %ld%s\n", threads, now() - start, unit);
		fflush(stdout);
	}

	start = now();
	gate_pass(&begin_gate);
	gate_pass(&end_gate);
	if (opt.verbose) {
		printf("%ld games completed in %ld%s\n", opt.tables, now() - start, unit);
		fflush(stdout);
	}

	for (long i = 0; i < threads; i++)
		check(pthread_join(players[i].thread, NULL), "pthread_join");
	for (long i = 0; i < opt.tables; i++) {
		if (games[i].moves != 2 * (unsigned long)opt.target)
			fail("game %ld ended after %lu moves", i, games[i].moves);
	}
	return EXIT_SUCCESS;
}
