/*
 * random.c - random, srandom, initstate, setstate (POSIX).  They replace newlib's, which use rand's
 * generator and have no states.
 *
 * The generator: x = x * A + 1 modulo 2^64; a number is the upper half of x (Knuth, "The Art of
 * Computer Programming", 3.3.4).  A state is x in the first 8 bytes of its array, of any length.
 * Threads may call random at once: each number is returned to only one of them.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include "libc.h"

#define MULTIPLIER 6364136223846793005u
#define STATE_MIN sizeof(uint64_t)

typedef uint64_t __attribute__((aligned(1))) state_t; /* an array of char need not be aligned */

static uint64_t first_state = 1;
static state_t *state = &first_state;

long random(void)
{
	state_t *s = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
	uint64_t x = *s, next;

	do {
		next = x * MULTIPLIER + 1;
	} while (!__atomic_compare_exchange_n(s, &x, next, true, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	return next >> 32 & RAND_MAX;
}

/* The same seed begins the same sequence. */
void srandom(unsigned seed)
{
	*__atomic_load_n(&state, __ATOMIC_ACQUIRE) = seed;
}

/* Continues with a state of initstate, where it stopped.  Returns the previous state, which stays
 * valid. */
char *setstate(char *array)
{
	return (char *)__atomic_exchange_n(&state, (state_t *)array, __ATOMIC_ACQ_REL);
}

/* Begins a sequence in an array of at least 8 bytes.  Returns the previous state; NULL: bad
 * size. */
char *initstate(unsigned seed, char *array, size_t size)
{
	if (size < STATE_MIN) {
		fails(EINVAL);
		return NULL;
	}
	*(state_t *)array = seed;
	return setstate(array);
}
