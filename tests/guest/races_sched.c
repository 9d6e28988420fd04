/*
 * races_sched.c RACE [ROUNDS] - the races that the dispatcher and its sleeps claim to close
 * (race.h): an LWP is put on a CPU's queue while a CPU goes idle or offline; an LWP goes to sleep
 * while it is woken, told or stopped.
 */
#include <signal.h>
#include <weft/ksync.h>
#include <weft/lwp.h>
#include <weft/procset.h>
#include <weft/start.h>
#include <weft/processor.h>
#include <weft/sys.h>
#include "race.h"
#include "rawlwp.h"

#define SOON 150000 /* ns: many times what a switch takes, less than LONG */

/* --- threads of one real-time priority, so that nobody makes room for anybody ----------------- */

static void become_equal(void)
{
	const struct sched_param param = {.sched_priority = 5};

	if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &param) != 0)
		bail("pthread_setschedparam");
}

static void go_to_cpu(int cpu)
{
	int old;

	if (__sys_processor_bind(WEFT_P_LWPID, WEFT_P_MYID, cpu, &old) != 0)
		bail("processor_bind");
}

/* Keeps its CPU meanwhile, and does not take long for an answer. */
#define AT_ONCE(cond)                                                                              \
	do {                                                                                       \
		hrtime_t asked = gethrtime();                                                      \
		while (!(cond))                                                                    \
			MUST(gethrtime() - asked < SOON);                                          \
	} while (0)

/* Sleeps after each round on a CPU on which it has run last, and is not bound to as a rule. */
struct sleeper {
	int home;
	bool bound;
	pthread_t thread;
	uint32_t lwp;
	volatile unsigned ready, ran, leave; /* rounds */
};
static struct sleeper sleeper[2];

static void *sleep_at_home(void *arg)
{
	struct sleeper *s = arg;

	become_equal();
	s->lwp = __sys_lwp_self();
	for (unsigned round = 1; !over; round++) {
		go_to_cpu(s->home);
		if (!s->bound)
			go_to_cpu(PBIND_NONE);
		s->ready = round;
		__sys_lwp_park(NULL, 0);
		s->ran = round;
		while (s->leave != round)
			;
	}
	return NULL;
}

static void new_sleeper(unsigned i, int home)
{
	sleeper[i].home = home;
	sleeper[i].thread = new_thread(sleep_at_home, &sleeper[i]);
}

static bool asleep(uint32_t lwp)
{
	struct lwp_info info;

	return __sys_lwp_info(0, lwp, &info) == (long)lwp && info.state == LWP_ST_SLEEP;
}

/* And the other parties have come back from their naps. */
static void sleepers_ready(unsigned round)
{
	for (unsigned i = 0; i < 2; i++) {
		struct sleeper *s = &sleeper[i];
		while (s->home >= 0 && (s->ready != round || !asleep(s->lwp)))
			usleep(50);
	}
	since = gethrtime();
	until(since + 110000);
}

static void no_sleepers(void)
{
	sleeper[0].home = sleeper[1].home = -1;
}

/* --- a wake-up, and a CPU that has just become idle ------------------------------------------- */

static void idle_begin(void)
{
	no_sleepers();
	become_equal();
	go_to_cpu(0);
	new_sleeper(0, 0);
}

/* On CPU 1, which has nobody else; the woken one was on CPU 0, which is kept busy. */
static void idle_rest(unsigned round)
{
	const struct timespec nap = {.tv_nsec = 50000};

	if (round == 1) {
		become_equal();
		go_to_cpu(1);
	}
	nanosleep(&nap, NULL);
}

static void idle_wake(unsigned round)
{
	turns(draw(150));
	__sys_lwp_unpark(sleeper[0].lwp);
	AT_ONCE(sleeper[0].ran == round);
	sleeper[0].leave = round;
}

/* --- two wake-ups in a row, and two idle CPUs ------------------------------------------------- */

static void pair_begin(void)
{
	no_sleepers();
	become_equal();
	go_to_cpu(0);
	new_sleeper(0, 1);
	new_sleeper(1, 1);
}

static void pair_wake(unsigned round)
{
	const uint32_t both[] = {sleeper[0].lwp, sleeper[1].lwp};

	__sys_lwp_unpark_all(both, 2);
	AT_ONCE(sleeper[0].ran == round && sleeper[1].ran == round);
	sleeper[0].leave = sleeper[1].leave = round;
}

/* --- a hand-over by an LWP that then does not sleep ------------------------------------------- */

static uint32_t giver;

static void hand_over_begin(void)
{
	no_sleepers();
	become_equal();
	giver = __sys_lwp_self();
	new_sleeper(0, 0);
}

static void hand_over_prepare(unsigned round)
{
	sleepers_ready(round);
	go_to_cpu(0);
	go_to_cpu(PBIND_NONE);
}

static void hand_over(unsigned round)
{
	__sys_lwp_park(NULL, sleeper[0].lwp);
	AT_ONCE(sleeper[0].ran == round);
	sleeper[0].leave = round;
}

static void unpark_giver(unsigned round)
{
	__sys_lwp_unpark(giver);
}

/* --- an LWP that another CPU takes over, and whose priority changes --------------------------- */

static void steal(unsigned round)
{
	const struct sched_param param = {.sched_priority = 5};

	__sys_lwp_unpark(giver);
	__sys_lwp_park(NULL, sleeper[0].lwp); /* it is on our queue, and an idle CPU is told */
	turns(draw(30));
	pthread_setschedparam(sleeper[0].thread, SCHED_FIFO, &param);
	AT_ONCE(sleeper[0].ran == round);
	sleeper[0].leave = round;
}

/* --- a CPU that goes offline while LWPs are put on its queue ---------------------------------- */

#define AWAY 2 /* the CPU */
static volatile bool away;
static uint32_t roamer;

static void offline_take(unsigned round)
{
	MUST(__sys_p_online(AWAY, P_OFFLINE) == P_ONLINE);
	__atomic_store_n(&away, true, __ATOMIC_SEQ_CST);
	turns(1000);
	__atomic_store_n(&away, false, __ATOMIC_SEQ_CST);
	MUST(__sys_p_online(AWAY, P_ONLINE) == P_OFFLINE);
}

/* It would rather stay on that CPU. */
static void offline_prepare(unsigned round)
{
	int old;

	if (roamer != 0) {
		__sys_processor_bind(WEFT_P_LWPID, roamer, AWAY, &old);
		__sys_processor_bind(WEFT_P_LWPID, roamer, PBIND_NONE, &old);
	}
}

static void offline_roam(unsigned round)
{
	roamer = __sys_lwp_self();
	for (unsigned i = 0; i < 8; i++) {
		__sys_lwp_park(NULL, 0);
		for (unsigned k = 0; k < 20; k++) {
			bool before = __atomic_load_n(&away, __ATOMIC_SEQ_CST);
			uint32_t here = cpu_now();
			bool after = __atomic_load_n(&away, __ATOMIC_SEQ_CST);
			MUST(here != AWAY || !before || !after);
		}
	}
}

static void offline_wake(unsigned round)
{
	while (finished[1] != round) {
		__sys_lwp_unpark(roamer);
		turns(draw(50));
	}
}

/* --- a time-out of a sleep that has ended ----------------------------------------------------- */

static uint32_t late_lwp;
static volatile unsigned parked;

static void timeout_begin(void)
{
	const struct sched_param param = {.sched_priority = 6};

	late_lwp = __sys_lwp_self();
	pthread_setschedparam(pthread_self(), SCHED_FIFO, &param);
}

static void timeout_prepare(unsigned round)
{
	since = gethrtime();
	go_to_cpu(1); /* where the timer will go off */
	go_to_cpu(PBIND_NONE);
	parked = 0;
}

static void timeout_sleep(unsigned round)
{
	hrtime_t when = gethrtime() + 8000;
	struct timespec t = timespec_of(when);

	parked = 1;
	__sys_lwp_park((struct weft_timespec *)&t, 0);
	for (unsigned i = 0; i < 3; i++)
		MUST(__sys_lwp_park(NULL, 0) != -ETIMEDOUT);
}

static void timeout_wake(unsigned round)
{
	UNTIL(parked == 1);
	until(gethrtime() + 7000 + draw(2000));
	__sys_lwp_unpark(late_lwp);
	while (finished[0] != round) {
		turns(2000);
		__sys_lwp_unpark(late_lwp);
	}
}

/* On the CPU of the timer, so that the sleeper goes on on another one. */
static void timeout_occupy(unsigned round)
{
	if (round == 1)
		go_to_cpu(1);
	while (finished[0] != round)
		;
}

/* --- two LWPs that block, one of them again and again, and an LWP that is told that both do --- */

#define TIMES 3

static uint32_t blocker[2];
static volatile unsigned blocking; /* round */

static void block_once(unsigned round)
{
	blocker[0] = __sys_lwp_self();
	while (blocking != round)
		;
	turns(draw(400));
	__sys_lwp_park(NULL, 0);
}

static void block_again(unsigned round)
{
	blocker[1] = __sys_lwp_self();
	blocking = round;
	for (unsigned i = 0; i < TIMES; i++)
		__sys_lwp_park(NULL, 0);
}

static void blocked_tell(unsigned round)
{
	for (unsigned i = 0; i < TIMES; i++) {
		turns(draw(2000));
		MUST(__sys_upcall_wait(UPCALL_BLOCKED) == UPCALL_BLOCKED);
		__sys_lwp_unpark(blocker[1]);
	}
	__sys_lwp_unpark(blocker[0]);
}

/* --- two LWPs that suspend each other --------------------------------------------------------- */

static uint32_t partner[2];

static bool stopped(uint32_t lwp)
{
	struct lwp_info info;

	return __sys_lwp_info(0, lwp, &info) == (long)lwp && info.state == LWP_ST_STOP;
}

static void suspend_first(unsigned round)
{
	partner[0] = __sys_lwp_self();
	UNTIL(partner[1] != 0);
	__sys_lwp_suspend(partner[1]);
}

static void suspend_second(unsigned round)
{
	partner[1] = __sys_lwp_self();
	UNTIL(partner[0] != 0);
	__sys_lwp_suspend(partner[0]);
}

static void suspend_release(unsigned round)
{
	UNTIL(partner[0] != 0 && partner[1] != 0);
	AT_ONCE(stopped(partner[0]) || stopped(partner[1]));
	while (finished[1] != round || finished[2] != round) {
		__sys_lwp_continue(partner[0]);
		__sys_lwp_continue(partner[1]);
		turns(100);
	}
}

/* --- an LWP that is looked up as it exits, and its structure becomes another's ---------------- */

static struct raw short_lived, next_one;
static volatile bool may_go;
static volatile long parked_for;

static void go_soon(struct raw *r)
{
	while (!may_go)
		;
}

static void park_unwoken(struct raw *r)
{
	struct timespec t = timespec_of(gethrtime() + 30000);

	parked_for = __sys_lwp_park((struct weft_timespec *)&t, 0);
}

/* So that the next one does not get its number. */
static void lookup_begin(void)
{
	struct raw spare[4] = {0};

	may_go = true;
	for (unsigned i = 0; i < 4; i++)
		MUST(raw_start(&spare[i], go_soon, 0, 0) == 0);
	for (unsigned i = 0; i < 4; i++)
		__sys_lwp_wait(spare[i].id, NULL);
}

static void lookup_prepare(unsigned round)
{
	may_go = false;
	MUST(raw_start(&short_lived, go_soon, 0, 0) == 0);
}

static void lookup_replace(unsigned round)
{
	may_go = true;
	__sys_lwp_wait(short_lived.id, NULL);
	MUST(raw_start(&next_one, park_unwoken, 0, 0) == 0);
	__sys_lwp_wait(next_one.id, NULL);
	MUST(parked_for == -ETIMEDOUT);
}

static void lookup_unpark(unsigned round)
{
	while (__sys_lwp_unpark(short_lived.id) == 0)
		;
}

/* --- an LWP that is woken before it has quite left its CPU ------------------------------------ */

static void park_begin(void)
{
	late_lwp = __sys_lwp_self();
}

static void park(unsigned round)
{
	__sys_lwp_park(NULL, 0);
}

static void unpark(unsigned round)
{
	__sys_lwp_unpark(late_lwp);
}

/* --- an LWP that computes, and has to be told ------------------------------------------------- */

static volatile unsigned caught;

static void catch (int sig)
{
	caught = started;
}

static void told_begin(void)
{
	signal(SIGUSR1, catch);
}

static void told_compute(unsigned round)
{
	while (caught != round)
		;
}

static void told_send(unsigned round)
{
	pthread_kill(party[1], SIGUSR1);
	AT_ONCE(caught == round);
}

/* The same by an LWP with a higher priority, which may run on no other CPU. */
static void room_begin(void)
{
	no_sleepers();
	sleeper[0].bound = true;
	new_sleeper(0, 1);
}

static void room_compute(unsigned round)
{
	if (round == 1)
		go_to_cpu(1);
	while (sleeper[0].leave != round)
		;
}

static void room_wake(unsigned round)
{
	turns(300);
	__sys_lwp_unpark(sleeper[0].lwp);
	AT_ONCE(sleeper[0].ran == round);
	sleeper[0].leave = round;
}

/* --- an LWP that exits while a waiter begins to lend it a priority ---------------------------- */

static struct lwp_mutex left;

/* It has something to do with inheritance, and leaves a mutex. */
static void end_with_mutex(struct raw *r)
{
	__sys_lwp_ceiling(-1, -1);
	__sys_lwp_mutex_lock(&left, 0);
	while (!may_go)
		;
}

static void set_policy(int policy, int priority)
{
	const struct sched_param param = {.sched_priority = priority};

	MUST(pthread_setschedparam(party[1], policy, &param) == 0);
}

static void lend_prepare(unsigned round)
{
	set_policy(SCHED_OTHER, 0);
	left.word = LWP_MUTEX_INHERIT;
	may_go = false;
	MUST(raw_start(&short_lived, end_with_mutex, 0, 0) == 0);
	while (!(__atomic_load_n(&left.word, __ATOMIC_ACQUIRE) & LWP_MUTEX_OWNER))
		;
}

/* Another one has its structure then, and nobody sleeps for anything that it has. */
static void lend_replace(unsigned round)
{
	struct lwp_info info;

	may_go = true;
	__sys_lwp_wait(short_lived.id, NULL);
	MUST(raw_start(&next_one, park_unwoken, 0, LWP_SUSPENDED) == 0);
	MUST(__sys_lwp_info(0, next_one.id, &info) == next_one.id);
	int before = info.pri;
	set_policy(SCHED_FIFO, 5);
	__sys_lwp_info(0, next_one.id, &info);
	MUST(info.pri == before);
	__sys_lwp_continue(next_one.id);
	__sys_lwp_wait(next_one.id, NULL);
}

static void lend_sleep(unsigned round)
{
	struct timespec t = timespec_of(gethrtime() + 200000);

	while (!may_go)
		;
	come_late();
	MUST(__sys_lwp_mutex_timedlock(&left, 0, (struct weft_timespec *)&t) == -ETIMEDOUT);
}

/* --------------------------------------------------------------------------------------------------- */

static const struct race races[] = {
	{"idle", 300, idle_begin, sleepers_ready, {idle_wake, idle_rest}, NULL, 0},
	{"pair", 20, pair_begin, sleepers_ready, {pair_wake}, NULL, 0},
	{"hand-over", 200, hand_over_begin, hand_over_prepare, {hand_over, unpark_giver}, NULL, 0},
	{"offline",
	 300,
	 NULL,
	 offline_prepare,
	 {offline_take, offline_roam, offline_wake},
	 NULL,
	 0},
	{"timeout",
	 30,
	 timeout_begin,
	 timeout_prepare,
	 {timeout_sleep, timeout_wake, timeout_occupy},
	 NULL,
	 0},
	{"steal", 0, hand_over_begin, hand_over_prepare, {steal}, NULL, 0},
	{"lookup", 0, lookup_begin, lookup_prepare, {lookup_replace, lookup_unpark}, NULL, 0},
	{"park", 20, park_begin, NULL, {park, unpark}, NULL, 0},
	{"told", 20, told_begin, NULL, {told_send, told_compute}, NULL, 0},
	{"room", 20, room_begin, sleepers_ready, {room_wake, room_compute}, NULL, 0},
	{"blocked", 0, NULL, NULL, {block_once, block_again, blocked_tell}, NULL, 0},
	{"lend", 300, lookup_begin, lend_prepare, {lend_replace, lend_sleep}, NULL, 0},
	{"suspend", 20, NULL, NULL, {suspend_release, suspend_first, suspend_second}, NULL, 0},
};

int main(int argc, char **argv)
{
	return run_races(races, sizeof(races) / sizeof(races[0]), argc, argv);
}
