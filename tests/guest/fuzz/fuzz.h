/*
 * fuzz.h - what the parts of the fuzzer share (main.c says what it does).
 *
 *	main.c		options, and the order of a run
 *	harness.c	starts victims, looks on, kills
 *	machine.c	what belongs to the whole machine: put back, and compared
 *	victim.c	a victim's LWPs and its calls
 *	arguments.c	what the calls get
 *	structures.c	what is in the structures that they get
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <weft/syscall.h>

#define HOME "/tmp/fuzz" /* where victims live: all that they do to files, they do here */
#define BATCH 20000      /* calls of one victim */
#define MAX_VICTIMS 16   /* at a time */
#define SLOTS 32         /* LWPs that a victim may use up */

/* --- numbers ------------------------------------------------------------------------------ */

struct rng {
	uint64_t state;
};

static inline uint64_t next(struct rng *r)
{
	/* xorshift64*: Marsaglia 2003, Vigna 2016. */
	r->state ^= r->state >> 12;
	r->state ^= r->state << 25;
	r->state ^= r->state >> 27;
	return r->state * 0x2545f4914f6cdd1dull;
}

static inline uint64_t below(struct rng *r, uint64_t n)
{
	return (next(r) >> 33) % n;
}

static inline bool one_in(struct rng *r, unsigned n)
{
	return below(r, n) == 0;
}

static inline void seed(struct rng *r, uint64_t a, uint64_t b)
{
	r->state = (a + 1) * 0x9e3779b97f4a7c15ull ^ (b + 1) * 0xbf58476d1ce4e5b9ull;
	for (int i = 0; i < 4; i++)
		next(r);
}

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define ANY(r, a) ((a)[below(r, COUNT(a))])

#define ERRORS 192 /* error numbers are below */

/* --- what was done ------------------------------------------------------------------------ */

/*
 * One a victim, in a file that the harness and the victim have mapped: it outlives the
 * victim, and forked copies of it count in the same one.  The victims write, atomically.
 */
struct report {
	uint64_t calls;
	uint32_t made[WEFT_SYSCALL_MAX], good[WEFT_SYSCALL_MAX]; /* of each call; with success */
	uint64_t errors[WEFT_SYSCALL_MAX][ERRORS / 64];          /* bit n: it gave error n */
};
#define REPORT_SIZE (3 * 4096)
_Static_assert(sizeof(struct report) <= REPORT_SIZE, "whole pages a victim");

/* --- victim.c ----------------------------------------------------------------------------- */

/* Selects the calls to make: those of SYSCALLS in a comma list, or all except reboot.  Ends the
 * program if the list names none.  Returns their number. */
unsigned choose_calls(const char *names);
/* `fuzz -v HARNESS SLOT SEED BATCH LWPS [NAMES]`, with the file of reports as descriptor 0: makes
 * so many calls, and ends in any way. */
int be_victim(char **argv);

/* --- arguments.c -------------------------------------------------------------------------- */

/* Before any call: memory to point at.  Ids up to the harness's are left alone.  False: no
 * memory. */
bool arguments_init(int harness, uint64_t seed);
/* Is all of [p, p + n) of that memory? */
bool in_arena(const void *p, size_t n);
/* Makes up the arguments of a call.  `lwps`: ids up to about here are LWPs of ours. */
void arguments(struct rng *r, unsigned number, unsigned lwps, uint64_t arg[6]);
/* The call has returned: its results are good arguments for others. */
void arguments_learn(unsigned number, const uint64_t arg[6], long result);
/* A handler of signals: it goes back to the context that it is given. */
void return_at_once(void);

/* Any number; often one at the edge of something. */
uint64_t wild(struct rng *r);

/* --- structures.c ------------------------------------------------------------------------- */

struct special { /* how to make a structure that a call reads */
	const char *name;
	unsigned row;  /* how many to make in a row: some calls take several */
	unsigned lock; /* not 0: a kind of lock: few, for all, and seldom set again */
	void (*fill)(struct rng *r, void *at); /* after its fields have been; may be NULL */
};
/* What there is to say of the structure of this name; never NULL. */
const struct special *special(const char *name);
/* What a command of priocntl works on: at most a page. */
void fill_parameters(struct rng *r, unsigned command, void *at);

/* --- harness.c ---------------------------------------------------------------------------- */

struct plan {
	uint64_t seed;
	unsigned processes, lwps;
	const char *names; /* NULL: all calls */
};
void harness_init(void);
/* Runs victims until they have made so many calls; batches count on from *batch.  Returns the
 * calls. */
uint64_t run_victims(const struct plan *p, unsigned long *batch, uint64_t calls);
/* How often the victims have made a call, and with success. */
void count_calls(unsigned number, uint64_t *made, uint64_t *good);
/* Has any of them got this error from the call? */
bool has_given(unsigned number, unsigned error);

/* --- machine.c ---------------------------------------------------------------------------- */

/* Keeps how the machine is. */
void machine_save(void);
/* Puts back what victims may change and others need: CPUs, processor sets, dispatch tables. */
void machine_restore(void);
/* HOME as victims expect it. */
void make_home(void);
/* Removes every file that was not there at machine_save; ends the program if one of those that
 * were is gone. */
void clean_files(void);
