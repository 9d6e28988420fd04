/*
 * lwp_park.c - the races of park and unpark.
 *
 *	lwp_park [ROUNDS]
 *
 * Each game loses a wake-up if the kernel has one to lose: then it stands still,
 * and the run times out.  Counts are checked at the end of each.
 */
#include "rawlwp.h"
#include "tap.h"
#include <weft/start.h>

static uint64_t rounds = 20000;

/* --- hand to hand: each wakes the other and sleeps, by two calls or by one ------- */

static volatile uint32_t turn;
static struct raw player[2];
static uint32_t player_id[2];

static void pass(uint32_t me, int combined)
{
	for (uint64_t i = 0; i < rounds; i++) {
		/* Parks until it is its turn: a permit may be a stale one. */
		while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != me)
			__sys_lwp_park(NULL, 0);
		__atomic_store_n(&turn, !me, __ATOMIC_RELEASE);
		uint32_t to = __atomic_load_n(&player_id[!me], __ATOMIC_ACQUIRE);
		if (combined)
			__sys_lwp_park(NULL, to);
		else
			__sys_lwp_unpark(to);
	}
	__sys_lwp_unpark(__atomic_load_n(&player_id[!me], __ATOMIC_ACQUIRE));
}

static void pass_two_calls(struct raw *r)
{
	pass(r->arg, 0);
}

static void pass_combined(struct raw *r)
{
	pass(r->arg, 1);
}

static void hand_to_hand(const char *name, void (*fn)(struct raw *))
{
	turn = 0;
	for (int i = 0; i < 2; i++)
		if (raw_start(&player[i], fn, i, LWP_SUSPENDED) != 0)
			bail("lwp_create failed");
	for (int i = 0; i < 2; i++)
		player_id[i] = player[i].id;
	for (int i = 0; i < 2; i++)
		__sys_lwp_continue(player[i].id);
	for (int i = 0; i < 2; i++)
		__sys_lwp_wait(player[i].id, NULL);
	is(name, turn, 0);
}

/* --- permits are never lost and never doubled: a semaphore of one sleeper ---------- */

static volatile uint64_t given, taken, parks;
static volatile uint32_t sleeper_id;

static void giver(struct raw *r)
{
	for (uint64_t i = 0; i < rounds; i++) {
		__atomic_fetch_add(&given, 1, __ATOMIC_SEQ_CST);
		__sys_lwp_unpark(sleeper_id);
	}
}

static void sleeper(struct raw *r)
{
	uint64_t want = rounds * r->arg;
	while (taken < want) {
		uint64_t now = __atomic_load_n(&given, __ATOMIC_SEQ_CST);
		if (now == taken) {
			__sys_lwp_park(NULL, 0);
			parks++;
		} else {
			taken = now;
		}
	}
}

static void many_givers(int n)
{
	static struct raw s, g[8];
	given = taken = parks = 0;
	raw_start(&s, sleeper, n, LWP_SUSPENDED);
	sleeper_id = s.id;
	__sys_lwp_continue(s.id);
	for (int i = 0; i < n; i++)
		if (raw_start(&g[i], giver, 0, 0) != 0)
			bail("lwp_create failed");
	for (int i = 0; i < n; i++)
		__sys_lwp_wait(g[i].id, NULL);
	__sys_lwp_wait(s.id, NULL);
	is("givers: all taken", taken, rounds * n);
	/* A park returns for a permit, and each unpark gives at most one. */
	ok("givers: no park without a permit", parks <= rounds * n);
}

/* --- time-outs against wake-ups ------------------------------------------------------ */

static volatile uint64_t woken, timed_out, odd;

static void timed_sleeper(struct raw *r)
{
	for (uint64_t i = 0; i < r->arg; i++) {
		int64_t at = gethrtime() + 20000 + i * 977 % 60000;
		struct weft_timespec ts = {at / 1000000000, at % 1000000000};
		long e = __sys_lwp_park(&ts, 0);
		if (e == 0)
			woken++;
		else if (e == -ETIMEDOUT && gethrtime() >= at)
			timed_out++;
		else
			odd++;
	}
}

static volatile uint32_t stop;

static void timed_waker(struct raw *r)
{
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		__sys_lwp_unpark(sleeper_id);
		int64_t at = gethrtime() + 30000;
		struct weft_timespec ts = {at / 1000000000, at % 1000000000};
		__sys_lwp_park(&ts, 0);
	}
}

static void time_outs(void)
{
	static struct raw s, w;
	uint64_t n = rounds / 20 + 50;
	woken = timed_out = odd = stop = 0;
	raw_start(&s, timed_sleeper, n, LWP_SUSPENDED);
	sleeper_id = s.id;
	raw_start(&w, timed_waker, 0, 0);
	__sys_lwp_continue(s.id);
	__sys_lwp_wait(s.id, NULL);
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	__sys_lwp_wait(w.id, NULL);
	is("time-outs: every park ended", woken + timed_out, n);
	is("time-outs: none early or odd", odd, 0);
}

/* --- a ring: one token, many LWPs, over all CPUs ---------------------------------------- */

#define RING 12
static struct raw ring[RING];
static uint32_t ring_id[RING];
static volatile uint64_t token;

static void ring_main(struct raw *r)
{
	uint64_t last = rounds / 4 * RING;
	for (;;) {
		uint64_t t = __atomic_load_n(&token, __ATOMIC_ACQUIRE);
		if (t >= last)
			break;
		if (t % RING != r->arg) {
			__sys_lwp_park(NULL, 0);
			continue;
		}
		__atomic_store_n(&token, t + 1, __ATOMIC_RELEASE);
		__sys_lwp_unpark(__atomic_load_n(&ring_id[(t + 1) % RING], __ATOMIC_ACQUIRE));
	}
	__sys_lwp_unpark_all(ring_id, RING);
}

static void run_ring(void)
{
	token = 0;
	for (int i = 0; i < RING; i++) {
		if (raw_start(&ring[i], ring_main, i, LWP_SUSPENDED) != 0)
			bail("lwp_create failed");
		ring_id[i] = ring[i].id;
	}
	for (int i = 0; i < RING; i++)
		__sys_lwp_continue(ring_id[i]);
	for (int i = 0; i < RING; i++)
		__sys_lwp_wait(ring_id[i], NULL);
	is("ring", token, rounds / 4 * RING);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		rounds = strtoull(argv[1], NULL, 10);
	hand_to_hand("two calls", pass_two_calls);
	hand_to_hand("combined call", pass_combined);
	many_givers(1);
	many_givers(4);
	time_outs();
	run_ring();
	return tap_done();
}
