/*
 * disp_stress.c - the dispatcher under storms of sleeping and waking, migration,
 * creation and exit.  What it checks is that everyone gets to the end.
 *
 *	disp_stress [ROUNDS]
 */
#include "rawlwp.h"
#include "tap.h"
#include <weft/start.h>

static uint64_t rounds = 300;

#define N 24
static struct raw lwp[N];
static volatile uint64_t done[N];

static uint32_t mix(uint32_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 17;
	*s ^= *s << 5;
	return *s;
}

static volatile uint64_t ids_ready;

/* Computes, yields, sleeps, wakes others and parks with a time-out, at random. */
static void storm(struct raw *r)
{
	uint32_t seed = 2463534242u + r->arg * 7919;

	while (!__atomic_load_n(&ids_ready, __ATOMIC_ACQUIRE))
		__sys_lwp_yield();
	for (uint64_t i = 0; i < rounds; i++) {
		uint32_t x = mix(&seed);
		int64_t at = gethrtime() + (x >> 8) % 200000;
		struct weft_timespec ts = {at / 1000000000, at % 1000000000};
		switch (x % 6) {
		case 0:
			for (volatile uint32_t k = 0; k < (x >> 8) % 20000; k++)
				;
			break;
		case 1:
			__sys_lwp_yield();
			break;
		case 2:
			__sys_lwp_sleep(WEFT_CLOCK_MONOTONIC, LWP_SLEEP_ABSTIME, &ts);
			break;
		case 3:
			__sys_lwp_unpark(lwp[(x >> 8) % N].id);
			break;
		case 4:
			__sys_lwp_park(&ts, lwp[(x >> 8) % N].id);
			break;
		case 5:
			/* Stops only an LWP with a greater index: two LWPs that stop each other
			 * would stay stopped. */
			if (r->arg + 1 < N) {
				uint32_t to = r->arg + 1 + (x >> 8) % (N - r->arg - 1);
				__sys_lwp_suspend(lwp[to].id);
				__sys_lwp_continue(lwp[to].id);
			}
			break;
		}
		done[r->arg]++;
	}
}

static void leaf(struct raw *r)
{
	__atomic_fetch_add(&done[0], 1, __ATOMIC_RELAXED);
}

/* Creates and waits for short-lived LWPs. */
static void nursery(struct raw *r)
{
	struct raw child = {0};
	static char stack[N][RAW_STACK];

	child.stack = stack[r->arg];
	for (uint64_t i = 0; i < rounds; i++) {
		if (raw_start(&child, leaf, 0, 0) != 0 || __sys_lwp_wait(child.id, NULL) != 0)
			return;
		__atomic_fetch_add(&done[1], 1, __ATOMIC_RELAXED);
	}
}

int main(int argc, char **argv)
{
	if (argc > 1)
		rounds = strtoull(argv[1], NULL, 10);

	for (int i = 0; i < N; i++)
		if (raw_start(&lwp[i], storm, i, 0) != 0)
			bail("lwp_create failed");
	__atomic_store_n(&ids_ready, 1, __ATOMIC_RELEASE);
	int unfinished = 0;
	for (int i = 0; i < N; i++) {
		__sys_lwp_wait(lwp[i].id, NULL);
		unfinished += done[i] != rounds;
	}
	is("storm: all done", unfinished, 0);

	memset((void *)done, 0, sizeof(done));
	int breeders = 8;
	for (int i = 0; i < breeders; i++)
		if (raw_start(&lwp[i], nursery, i, 0) != 0)
			bail("lwp_create failed");
	for (int i = 0; i < breeders; i++)
		__sys_lwp_wait(lwp[i].id, NULL);
	is("nursery: created", done[0], rounds * breeders);
	is("nursery: waited for", done[1], rounds * breeders);
	return tap_done();
}
