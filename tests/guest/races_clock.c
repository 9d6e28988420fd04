/*
 * races_clock.c RACE [ROUNDS] - the race that exact timing claims to close between a CPU that wakes an idle one and the timer of
 * the idle one (kernel/timing/lockstep.c, race.h).
 */
#include <weft/processor.h>
#include <weft/procset.h>
#include "race.h"

#define LOOKS 400

static volatile uint32_t sleeper; /* an LWP */
static volatile unsigned asleep, sleeps, seen;
static volatile hrtime_t due;

static void bind(int cpu)
{
	MUST(__sys_processor_bind(WEFT_P_LWPID, __sys_lwp_self(), cpu, NULL) == 0);
}

static void look(void)
{
	hrtime_t last = gethrtime(), now;

	for (int i = 0; i < LOOKS; i++) {
		now = gethrtime();
		MUST(now >= last);
		last = now;
	}
}

/* Sleeps until its time is up. */
static void sleep_until_due(unsigned round)
{
	struct weft_timespec deadline;

	if (round == 1)
		bind(0);
	UNTIL(sleeps == round);
	due = gethrtime() + 20000 + draw(3000);
	deadline = (struct weft_timespec){due / 1000000000, due % 1000000000};
	asleep = round;
	__sys_lwp_park(&deadline, 0);
	look();
	seen = round;
}

/* On the same CPU: this LWP is woken. */
static void sleep_until_woken(unsigned round)
{
	if (round == 1)
		bind(0);
	sleeper = __sys_lwp_self();
	sleeps = round;
	__sys_lwp_park(NULL, 0);
	look();
}

static void wake(unsigned round)
{
	hrtime_t when;

	if (round == 1)
		bind(1);
	UNTIL(asleep == round);
	when = due - 2000 + draw(3000);
	while (gethrtime() < when)
		;
	__sys_lwp_unpark(sleeper);
	UNTIL(seen == round);
}

static const struct race races[] = {
	{.name = "clock", .spread = 50, .act = {wake, sleep_until_due, sleep_until_woken}},
};

int main(int argc, char **argv)
{
	return run_races(races, sizeof(races) / sizeof(races[0]), argc, argv);
}
