/*
 * races_sets.c RACE [ROUNDS] - the races of LWPs that take turns while their processor set changes
 * (race.h).
 */
#include <weft/processor.h>
#include <weft/procset.h>
#include <weft/sys.h>
#include "race.h"
#include "rawlwp.h"

#define APART 1 /* a CPU that is a set of its own */

static int apart;
static volatile uint32_t goer; /* an LWP */
static volatile unsigned there, moved;

static void go_to_set(int set)
{
	if (__sys_pset_bind(set, WEFT_P_LWPID, WEFT_P_MYID, NULL) != 0)
		bail("pset_bind");
}

static void sets_begin(void)
{
	if (__sys_pset_create(&apart) != 0 || __sys_pset_assign(apart, APART, NULL) != 0)
		bail("no set");
}

static void sets_prepare(unsigned round)
{
	there = 0;
	moved = 0;
}

static void go_there(void)
{
	go_to_set(apart);
	__atomic_fetch_add(&there, 1, __ATOMIC_RELAXED);
	while (there != 2)
		__sys_lwp_yield();
}

static void move_goer(unsigned round)
{
	UNTIL(there == 2);
	turns(draw(200));
	MUST(__sys_pset_bind(PS_NONE, WEFT_P_LWPID, goer, NULL) == 0);
	moved = round;
}

/* When it has been moved its next call ends elsewhere. */
static void take_turns_and_go(unsigned round)
{
	bool gone;

	goer = __sys_lwp_self();
	go_there();
	do {
		gone = moved == round;
		__sys_lwp_yield();
	} while (!gone);
	MUST(cpu_now() != APART);
}

static void take_turns_and_stay(unsigned round)
{
	go_there();
	while (finished[1] != round)
		__sys_lwp_yield();
	go_to_set(PS_NONE);
}

static const struct race races[] = {
	{"turns",
	 0,
	 sets_begin,
	 sets_prepare,
	 {move_goer, take_turns_and_go, take_turns_and_stay},
	 NULL,
	 0},
};

int main(int argc, char **argv)
{
	return run_races(races, sizeof(races) / sizeof(races[0]), argc, argv);
}
