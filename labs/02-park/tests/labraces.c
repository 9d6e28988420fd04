/*
 * labraces.c GAME [ROUNDS [CHANCE]] - park and unpark at the same moment.  What differs from seed
 * to seed is the order of the CPUs; what differs with CHANCE is how late each LWP comes.
 *
 * Each LWP that waits for another one does so in lwp_yield or lwp_sleep, so that a game runs on any
 * number of CPUs.
 */
#include "crew.h"
#include <weft/processor.h>
#include <weft/signal.h>

static uint32_t chances[CREW]; /* as `chance`, for each LWP of the crew */
static unsigned players = 2;

/* One turn of a loop that waits for another LWP of the game. */
static void wait_a_turn(unsigned *turn)
{
	if (++*turn < 50)
		__sys_lwp_yield();
	else
		nap(3000);
}

static void come_late(unsigned me, unsigned most)
{
	turns(draw(&chances[me], most));
}

/* --- ring: tokens go round, and each hand-over is an unpark and a park ------------------------- */

static volatile uint64_t token;
static volatile uint64_t given_to[CREW], taken_by[CREW]; /* unparks, and parks that returned 0 */

/* After a park of LWP `me` that returned r.  False: a fault. */
static bool taken(unsigned me, long r)
{
	if (r != 0)
		blame("a park that no signal and no deadline ends returns %ld, not 0", r, 0, 0);
	else if (++taken_by[me] > given_to[me])
		blame("LWP %ld: the number of its parks that have returned 0 is %ld, and that of "
		      "its "
		      "unparks before is %ld",
		      crew[me].id, taken_by[me], given_to[me]);
	return !crew_over;
}

static bool give(unsigned to, unsigned me, bool and_park)
{
	__atomic_add_fetch(&given_to[to], 1, __ATOMIC_SEQ_CST);
	if (and_park)
		return taken(me, __sys_lwp_park(NULL, crew[to].id));
	__sys_lwp_unpark(crew[to].id);
	return true;
}

static void ring(unsigned me)
{
	uint64_t last = (uint64_t)rounds * players;

	for (;;) {
		uint64_t t = __atomic_load_n(&token, __ATOMIC_ACQUIRE);
		if (t >= last || crew_over)
			break;
		if (t % players == me) {
			come_late(me, 120);
			__atomic_store_n(&token, t + 1, __ATOMIC_RELEASE);
			if (!give((t + 1) % players, me, draw(&chances[me], 2)))
				return;
			continue;
		}
		come_late(me, 60);
		if (!taken(me, park()))
			return;
	}
	for (unsigned i = 0; i < players; i++)
		if (i != me)
			give(i, me, false);
}

/* --- timers: a pair on one CPU, which a timer interrupts again and again -------------------------- */

static void timers(unsigned me)
{
	int old;

	__sys_processor_bind(WEFT_P_LWPID, WEFT_P_MYID, 0, &old);
	if (me < players) {
		ring(me);
		return;
	}
	while (token < (uint64_t)rounds * players && !crew_over)
		nap(1000 + draw(&chances[me], 3000));
}

/* --- answer: each unpark ends one park, whenever it comes ---------------------------------------- */

/*
 * LWP 0 parks.  LWP 1 unparks it once a round, and waits for the answer, which is a park that
 * returns 0.  `asked` is written before the unpark, `told` after it.
 */
static volatile uint32_t asked, told, answered;
static volatile int64_t park_ends; /* deadline of the park that begins, or 0 */

static void await_answer(unsigned me, uint32_t round)
{
	unsigned turn = 0;

	while (__atomic_load_n(&answered, __ATOMIC_ACQUIRE) != round && !crew_over)
		wait_a_turn(&turn);
}

static void unpark_0(uint32_t round)
{
	__atomic_store_n(&asked, round, __ATOMIC_SEQ_CST);
	__sys_lwp_unpark(crew[0].id);
	__atomic_store_n(&told, round, __ATOMIC_SEQ_CST);
}

/* After a park of LWP 0 that returned r.  `before`: told, as the park began.  False: a fault. */
static bool judged(long r, uint32_t before)
{
	uint32_t now = __atomic_load_n(&asked, __ATOMIC_SEQ_CST);

	if (r == 0) {
		if (now == answered)
			blame("a park returns 0, and nobody has unparked its LWP since the last "
			      "one (round %ld)",
			      now, 0, 0);
		__atomic_store_n(&answered, now, __ATOMIC_RELEASE);
	} else if (before > answered) {
		blame("a park begins after an unpark, and returns %ld, not 0: an earlier park has "
		      "lost the unpark (round %ld)",
		      r, now, 0);
	}
	return !crew_over;
}

static void parks_often(unsigned me)
{
	while (answered != rounds) {
		come_late(me, 100);
		uint32_t before = __atomic_load_n(&told, __ATOMIC_SEQ_CST);
		long r = park();
		EXPECT3(r == 0, "a park that no signal and no deadline ends returns %ld", r, 0, 0);
		if (!judged(r, before))
			return;
	}
}

static void unparks_once_a_round(unsigned me)
{
	for (uint32_t i = 1; i <= rounds && !crew_over; i++) {
		come_late(me, 150);
		unpark_0(i);
		await_answer(me, i);
	}
}

static void answer(unsigned me)
{
	if (me == 0)
		parks_often(me);
	else
		unparks_once_a_round(me);
}

/* --- deadlines: an unpark and a deadline at the same moment -------------------------------------- */

static void parks_with_deadline(unsigned me)
{
	while (answered != rounds) {
		uint32_t before = __atomic_load_n(&told, __ATOMIC_SEQ_CST);
		int64_t when = gethrtime() + 4000 + draw(&chances[me], 8000);
		__atomic_store_n(&park_ends, when, __ATOMIC_RELEASE);
		long r = park_until(when);
		int64_t now = gethrtime();
		EXPECT3(r == 0 || r == -ETIMEDOUT, "a park with a deadline returns %ld", r, 0, 0);
		EXPECT3(r == 0 || now >= when,
			"a park returns ETIMEDOUT %ld ns before its deadline", when - now, 0, 0);
		if (!judged(r, before))
			return;
	}
}

/* Aims at the deadline. */
static void unparks_at_deadline(unsigned me)
{
	for (uint32_t i = 1; i <= rounds && !crew_over; i++) {
		int64_t at = __atomic_load_n(&park_ends, __ATOMIC_ACQUIRE) +
			     draw(&chances[me], 4000) - 2500;
		nap(draw(&chances[me], 3000));
		while (gethrtime() < at)
			;
		unpark_0(i);
		await_answer(me, i);
	}
}

static void deadlines(unsigned me)
{
	if (me == 0)
		parks_with_deadline(me);
	else
		unparks_at_deadline(me);
}

/* --- signals: an unpark and a signal at the same moment ------------------------------------------ */

static volatile uint32_t sent, caught;
static volatile bool parker_ended;

static void signal_entry(int sig, struct weft_siginfo *info, struct weft_ucontext *uc)
{
	__atomic_store_n(&caught, sent, __ATOMIC_RELEASE);
	__sys_sigreturn(uc);
}

static void parks_with_signals(unsigned me)
{
	while (answered != rounds || caught != rounds) {
		come_late(me, 100);
		uint32_t before = __atomic_load_n(&told, __ATOMIC_SEQ_CST);
		long r = park_for(2000000); /* against a hang alone */
		EXPECT3(r != -ETIMEDOUT,
			"a park has neither unpark nor signal for 2 ms, in round %ld of unparks "
			"(answered: %ld): is one of them lost?",
			asked, answered, 0);
		EXPECT3(r == 0 || r == -EINTR, "a park that a signal ends returns %ld", r, 0, 0);
		if (!judged(r, before))
			return;
	}
	parker_ended = true;
}

static void signals_once_a_round(unsigned me)
{
	for (uint32_t i = 1; i <= rounds && !crew_over; i++) {
		unsigned turn = 0;
		come_late(me, 300);
		__atomic_store_n(&sent, i, __ATOMIC_RELEASE);
		__sys_lwp_kill(crew[0].id, WEFT_SIGUSR1);
		int64_t limit = gethrtime() + 1000000;
		while (__atomic_load_n(&caught, __ATOMIC_ACQUIRE) != i && !crew_over) {
			EXPECT3(gethrtime() < limit,
				"a signal comes as an LWP is about to park, and 1 ms later its "
				"handler has not run (the LWP's state is %ld; 3 is asleep)",
				state_of(crew[0].id), 0, 0);
			wait_a_turn(&turn);
		}
	}
	/* The last signal may come after the parker has looked, and before it parks. */
	while (!parker_ended && !crew_over) {
		nap(3000);
		__sys_lwp_kill(crew[0].id, WEFT_SIGUSR1);
	}
}

static void signals(unsigned me)
{
	if (me == 0)
		parks_with_signals(me);
	else if (me == 1)
		unparks_once_a_round(me);
	else
		signals_once_a_round(me);
}

/* The same without a deadline, so that the park is the plain one. */
static void signal_at_once(unsigned me)
{
	if (me == 1) {
		signals_once_a_round(me);
		return;
	}
	while (caught != rounds && !crew_over) {
		come_late(me, 60);
		long r = park();
		EXPECT3(r == -EINTR,
			"a park that nothing ends except a signal returns %ld, not EINTR (-4)", r,
			0, 0);
	}
	parker_ended = true;
}

/* --- crowd: many LWPs park, and one call wakes them all -------------------------------------------- */

static volatile uint32_t crowd_round, crowd_awake;

static void crowd(unsigned me)
{
	uint32_t ids[CREW];

	for (uint32_t i = 1; i <= rounds && !crew_over; i++) {
		if (me != players - 1) {
			come_late(me, 200);
			long r = park();
			EXPECT3(r == 0 && crowd_round == i,
				"in round %ld a park returns %ld before its unpark (the round is "
				"%ld)",
				i, r, crowd_round);
			__atomic_add_fetch(&crowd_awake, 1, __ATOMIC_RELEASE);
			continue;
		}
		if (i == 1 || draw(&chances[me], 2)) {
			if (!until_asleep(draw(&chances[me], players - 1)))
				return;
		} else {
			come_late(me, 1000);
		}
		for (unsigned k = 0; k < players - 1; k++)
			ids[k] = crew[k].id;
		__atomic_store_n(&crowd_round, i, __ATOMIC_SEQ_CST);
		__sys_lwp_unpark_all(ids, players - 1);
		unsigned turn = 0;
		while (__atomic_load_n(&crowd_awake, __ATOMIC_ACQUIRE) != i * (players - 1) &&
		       !crew_over)
			wait_a_turn(&turn);
	}
}

/* ----------------------------------------------------------------------------------------------------- */

/* Plays one of the games with `n` LWPs, and `others` that are not counted as players. */
static void game(const char *name, unsigned n, unsigned others, void (*fn)(unsigned me))
{
	struct weft_sigaction act = {.handler = 8, .entry = (uint64_t)signal_entry};

	__sys_sigaction(WEFT_SIGUSR1, &act, NULL);
	for (unsigned i = 0; i < CREW; i++)
		chances[i] = 77 + 1000 * i + draw(&chance, 1000);
	players = n;
	play(name, n + others, 20, fn);
}

static void part_ring(void)
{
	game("ring", 9, 0, ring);
}

static void part_timers(void)
{
	game("timers", 2, 1, timers);
}

static void part_answer(void)
{
	game("answer", 2, 0, answer);
}

static void part_deadlines(void)
{
	game("deadlines", 2, 0, deadlines);
}

static void part_signals(void)
{
	game("signals", 3, 0, signals);
}

static void part_signal_at_once(void)
{
	game("signal-at-once", 2, 0, signal_at_once);
}

static void part_crowd(void)
{
	game("crowd", 24, 0, crowd);
}

static const struct part parts[] = {
	{"ring", part_ring},       {"timers", part_timers},
	{"answer", part_answer},   {"deadlines", part_deadlines},
	{"signals", part_signals}, {"signal-at-once", part_signal_at_once},
	{"crowd", part_crowd},
};

int main(int argc, char **argv)
{
	return play_part(parts, sizeof(parts) / sizeof(parts[0]), argc, argv);
}
