/*
 * torture.h - players, their records, and what the files of moves know of each other.
 *
 * A player is a thread: a worker, which makes random moves, or a helper, which a worker starts
 * for one move and joins.  A move waits only for what other players are bound to do, so a
 * player that waits for long has lost a wakeup:
 *
 *  - resources (resource.c) are acquired in the order of their numbers, and always released;
 *  - objects private to a move are used by its worker and the helpers alone;
 *  - no player polls: a thread of high priority that polls may keep off the thread it waits for.
 *
 * Each player notes what it waits for in a record.  The records lie in memory that the watchdog,
 * another process, shares.
 */
#pragma once
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#define HELPERS 4      /* of a worker, at a time */
#define MAX_WORKERS 64 /* argument */

/* Written by the player, read by the watchdog.  doing == NULL: the player has ended, or does not
 * wait. */
struct record {
	const char *volatile doing;
	const void *volatile object;
	volatile uint32_t thread; /* 0: no player uses the record */
	volatile uint32_t held;   /* resources held, a bit each */
	volatile int64_t since;   /* CLOCK_MONOTONIC, nanoseconds */
};

struct player {
	struct record *record;
	struct record *helpers; /* a worker's: HELPERS records */
	uint64_t random;
	volatile unsigned signals; /* SIGUSR1 that the player got */
	void *game;                /* of a helper's init function (pthread_once has no argument) */
};

struct helper {
	struct player player;
	pthread_t id;
	void *(*body)(void *arg);
	void *arg;
	bool detached;
};

extern __thread struct player *me;

/* What a run has: from the model, its options, and the seed. */
extern struct features {
	bool may_block;  /* an LWP that blocks in the kernel does not stop all unbound threads */
	bool bound;      /* there are bound threads, each with an LWP */
	bool priorities; /* then no thread spins */
	int resources;
} features;

/* --- main.c */

void fail(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond))                                                                       \
			fail("%s:%d: %s", __FILE__, __LINE__, #cond);                              \
	} while (0)
/* Checks that call returns 0, not an error number. */
#define OK(call)                                                                                   \
	do {                                                                                       \
		int error_ = (call);                                                               \
		if (error_ != 0)                                                                   \
			fail("%s:%d: %s: %s", __FILE__, __LINE__, #call, strerror(error_));        \
	} while (0)

/* A call that may block.  The caller's record says what it waits for. */
#define WAIT(what, obj, call)                                                                      \
	({                                                                                         \
		note(what, obj);                                                                   \
		__typeof__(call) result_ = (call);                                                 \
		note(NULL, NULL);                                                                  \
		result_;                                                                           \
	})
void note(const char *doing, const void *object);

uint32_t draw(uint32_t below); /* 0 to below - 1 */
bool chance(uint32_t in);      /* true once in so many */
void compute(void);            /* for up to a thousand turns */
void dawdle(void);             /* computes, yields, or goes on at once */
struct timespec soon(void);    /* CLOCK_MONOTONIC: within the next 50 us */

void helper_start(struct helper *h, int slot, void *(*body)(void *), void *arg, bool bound);
void helper_start_detached(struct helper *h, int slot, void *(*body)(void *), void *arg);
void *helper_join(struct helper *h);
/* The last action of a detached helper, which frees h. */
void helper_gone(struct helper *h);
pthread_t somebody(void); /* thread of any player, which may exit at any time; 0: none */
void sem_wait_always(const char *what, sem_t *s);
void scribble(void *object, size_t size); /* overwrites a destroyed object's memory */

/* --- the moves */

bool resources_only(const char *kind); /* false: unknown */
void resources_init(void);
void resources_check(void); /* called when all players have ended */
void move_hold(void);       /* resource.c */
void move_die_with_robust(void);

void move_barrier(void); /* meet.c */
void move_ring(void);
void move_once(void);
void move_last_one_frees(void);
void move_semaphore_on_stack(void);
void move_condition_on_stack(void);

void move_cancel_wait(void); /* cancel.c */
void move_cancel_or_signal(void);
void move_cancel_async(void);

void move_suspend(void); /* disturb.c */
void move_kill_somebody(void);
void move_kill_helper(void);
void move_mask(void);
void move_priority(void);
void move_concurrency(void);
void move_yield(void);
void move_nap(void);
void move_specific(void);
void move_detached(void);
void disturb_init(void);
void disturb_check(void);

void move_fork(void); /* process.c */
void move_shared_with_child(void);
