/*
 * labcond.c PART [ROUNDS [CHANCE]] - the contract of condition variables, rule by rule.  Most parts run in the
 * M:N library, where a thread that waits leaves its LWP.
 */
#include "labcond.h"
#include <signal.h>
#include <sys/mman.h>
#include <weft/priocntl.h>
#include <weft/processor.h>

/* --- signal: one signal, one waiter; broadcast: all ------------------------------------------------ */

static bool by_owner; /* the signaller owns the mutex */

static void signaller_lock(void)
{
	if (by_owner)
		pthread_mutex_lock(&mutex);
}

static void signaller_unlock(unsigned me)
{
	player[me].doing = "pthread_mutex_unlock";
	if (by_owner)
		pthread_mutex_unlock(&mutex);
	player[me].doing = "the game";
}

static void signalled(unsigned me)
{
	if (me != 0) {
		waits_once(me);
		return;
	}
	for (unsigned i = 1; i < players && !game_over; i++) {
		if (i == 1 && !all_asleep())
			return;
		signaller_lock();
		pthread_cond_signal(&cond);
		if (by_owner) {
			nap(20000);
			EXPECT(went_on == i - 1,
			       "the signaller owns the mutex, and %ld waiters have gone on",
			       went_on);
		}
		signaller_unlock(me);
		UNTIL(went_on >= i);
		nap(20000);
		EXPECT3(went_on == i, "after %ld signals %ld waiters have gone on", i, went_on, 0);
	}
}

static void told_all(unsigned me)
{
	if (me != 0) {
		waits_once(me);
		return;
	}
	if (!all_asleep())
		return;
	signaller_lock();
	pthread_cond_broadcast(&cond);
	if (by_owner) {
		nap(20000);
		EXPECT(went_on == 0,
		       "the thread that calls pthread_cond_broadcast owns the mutex, and %ld "
		       "waiters have gone on",
		       went_on);
	}
	signaller_unlock(me);
}

/* A signal for which no thread waits is forgotten. */
static void forgotten(unsigned me)
{
	if (me != 0) {
		waits_once(me);
		return;
	}
	if (!all_asleep())
		return;
	EXPECT(went_on == 0, "a signal that came before the wait has ended it", 0);
	pthread_cond_signal(&cond);
}

/* 1 owns a mutex for which 2 sleeps, and waits: 2 must get it. */
static void released(unsigned me)
{
	if (me == 0)
		return;
	if (me == 2) {
		UNTIL(flag);
		player[me].doing = "pthread_mutex_lock";
		pthread_mutex_lock(&mutex);
		player[me].doing = "the game";
		pthread_cond_signal(&cond);
		pthread_mutex_unlock(&mutex);
		return;
	}
	pthread_mutex_lock(&mutex);
	flag = 1;
	if (asleep_within(2, 1000000))
		cond_sleep(me, &cond);
	else
		blame("the owner of a mutex sleeps, and a thread that wants the mutex does not", 0,
		      0, 0);
	pthread_mutex_unlock(&mutex);
}

static void part_signal(void)
{
	for (unsigned i = 0; i < rounds; i++) {
		by_owner = i % 2;
		pthread_cond_signal(&cond);
		pthread_cond_broadcast(&cond);
		play_conditions("forgotten", 2, forgotten);
		play_conditions("released", 3, released);
		play_conditions("signal", 3 + draw_from(&chance, 6), signalled);
	}
}

static void part_broadcast(void)
{
	for (unsigned i = 0; i < rounds; i++) {
		by_owner = i % 2;
		play_conditions("broadcast", 3 + draw_from(&chance, 12), told_all);
	}
}

/* --- moved: waiters that a signaller moves to its mutex -------------------------------------------- */

/* They wait for the mutex, without a wake-up, until it is free. */
static void moved(unsigned me)
{
	if (me != 0) {
		waits_once(me);
		return;
	}
	if (!all_asleep())
		return;
	pthread_mutex_lock(&mutex);
	for (unsigned i = 1; i < players; i++)
		if (rounds % 2)
			pthread_cond_signal(&cond);
	if (rounds % 2 == 0)
		pthread_cond_broadcast(&cond);
	for (unsigned i = 1; i < players; i++)
		EXPECT(player[i].thread->wchan == &mutex,
		       "the owner of the mutex has signalled all waiters, and thread %ld is not in "
		       "the queue of "
		       "the mutex: it is woken only to sleep again",
		       i);
	pthread_mutex_unlock(&mutex);
}

static void part_moved(void)
{
	unsigned n = rounds;

	for (rounds = 1; rounds <= n; rounds++)
		play_conditions("moved", 3 + draw_from(&chance, 8), moved);
}

/* --- recursive: released completely, and held as often afterwards ---------------------------------- */

static void recursive(unsigned me)
{
	if (me == 0) {
		if (!asleep_within(1, 1000000)) {
			blame("thread 1 waits for a condition, and does not sleep", 0, 0, 0);
			return;
		}
		EXPECT(pthread_mutex_trylock(&mutex) == 0,
		       "a thread waits that has locked a recursive mutex three times, and the "
		       "mutex is not free",
		       0);
		pthread_cond_signal(&cond);
		pthread_mutex_unlock(&mutex);
		return;
	}
	for (int i = 0; i < 3; i++)
		pthread_mutex_lock(&mutex);
	cond_sleep(me, &cond);
	for (int i = 0; i < 3; i++) {
		EXPECT(mutex_owner(&mutex) == thread_self(),
		       "a recursive mutex is free after %ld unlocks; it was locked three times", i);
		pthread_mutex_unlock(&mutex);
	}
	EXPECT(mutex_owner(&mutex) != thread_self(),
	       "a recursive mutex is not free after as many unlocks as locks", 0);
}

static void part_recursive(void)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&mutex, &attr);
	for (unsigned i = 0; i < rounds; i++)
		play_conditions("recursive", 2, recursive);
}

/* --- deadline -------------------------------------------------------------------------------------- */

#define LATE 40000

static void in_vain(unsigned me)
{
	for (unsigned i = 0; i < rounds && !game_over; i++) {
		pthread_mutex_lock(&mutex);
		int64_t when = gethrtime() + 2000 + draw(me, 50000);
		int error = cond_sleep_until(me, when);
		int64_t now = gethrtime();
		pthread_mutex_unlock(&mutex);
		EXPECT(error == ETIMEDOUT,
		       "no thread signals, and pthread_cond_clockwait returns %ld, not ETIMEDOUT "
		       "(116)",
		       error);
		EXPECT(now >= when, "ETIMEDOUT comes %ld ns before the deadline", when - now);
		EXPECT(now <= when + LATE, "ETIMEDOUT comes %ld ns after the deadline", now - when);
	}
}

/* 1 is signalled before its deadline by 0, which owns the mutex until the deadline has passed. */
static void signalled_in_time(unsigned me)
{
	static volatile int64_t when;

	if (me == 0) {
		if (!all_asleep())
			return;
		pthread_mutex_lock(&mutex);
		pthread_cond_signal(&cond);
		nap(when + 20000 - gethrtime());
		pthread_mutex_unlock(&mutex);
		return;
	}
	pthread_mutex_lock(&mutex);
	when = gethrtime() + 300000;
	int error = cond_sleep_until(me, when);
	EXPECT(error == 0,
	       "a thread is signalled before its deadline and gets the mutex after it: "
	       "pthread_cond_clockwait returns %ld, not 0",
	       error);
	pthread_mutex_unlock(&mutex);
}

/* A waiter whose time is up takes no later signal: 1 leaves, 2 stays. */
static void left(unsigned me)
{
	pthread_mutex_lock(&mutex);
	if (me == 1) {
		cond_sleep_until(me, gethrtime() + 30000);
		flag = 1;
	} else if (me == 2) {
		cond_sleep(me, &cond);
		went_on++;
	}
	pthread_mutex_unlock(&mutex);
	if (me != 0)
		return;
	UNTIL(flag);
	EXPECT(asleep_within(2, 1000000), "thread 2 waits for a condition, and does not sleep", 0);
	pthread_cond_signal(&cond);
}

static void part_deadline(void)
{
	play_conditions("in-vain", 3, in_vain);
	play_conditions("signalled-in-time", 2, signalled_in_time);
	play_conditions("left", 3, left);
}

/* --- cancel: a wait is a cancellation point, whose handlers own the mutex ------------------------- */

static pthread_t to_cancel;

static void cleanup(void *arg)
{
	if (mutex_owner(&mutex) != thread_self())
		blame("a thread is cancelled in pthread_cond_wait, and its cleanup handler does "
		      "not own the mutex",
		      0, 0, 0);
	else
		pthread_mutex_unlock(&mutex);
	went_on++;
}

static void *is_cancelled(void *arg)
{
	pthread_mutex_lock(&mutex);
	pthread_cleanup_push(cleanup, NULL);
	flag = 1;
	pthread_cond_wait(&cond, &mutex);
	pthread_cleanup_pop(1);
	return NULL;
}

static void cancels(unsigned me)
{
	if (me == 1) {
		waits_once(me);
		return;
	}
	if (!all_asleep())
		return;
	pthread_create(&to_cancel, NULL, is_cancelled, NULL);
	UNTIL(flag);
	nap(30000);
	player[me].doing = "pthread_cancel";
	pthread_cancel(to_cancel);
	UNTIL(went_on == 1);
	pthread_cond_signal(&cond);
}

static void part_cancel(void)
{
	for (unsigned i = 0; i < rounds; i++)
		play_conditions("cancel", 2, cancels);
}

/* --- gone: the woken thread unmaps the condition variable before its waker has returned ------------ */

static pthread_cond_t *lent;

static void touched(int sig)
{
	blame("a signaller touches a condition variable that the woken thread has unmapped: after "
	      "the wake-up "
	      "it may not exist any more",
	      0, 0, 0);
	for (;;)
		nap(1000000000);
}

/* On one CPU, in the 1:1 library: 1 has a higher priority, so it runs as soon as it is woken. */
static void gone(unsigned me)
{
	struct pcparms p = {.pc_cid = WEFT_CLASS_RT, .rt = {.rt_pri = 10, .rt_tqnsecs = RT_TQINF}};
	int old;

	__sys_processor_bind(WEFT_P_LWPID, WEFT_P_MYID, 0, &old);
	if (me == 0) {
		if (!all_asleep())
			return;
		player[me].doing = "pthread_cond_signal";
		pthread_cond_signal(lent);
		return;
	}
	__sys_priocntl(WEFT_P_LWPID, WEFT_P_MYID, PC_SETPARMS, &p);
	pthread_mutex_lock(&mutex);
	cond_sleep(me, lent);
	pthread_mutex_unlock(&mutex);
	munmap(lent, 4096);
}

static void part_gone(void)
{
	struct sigaction act = {.sa_handler = touched};

	sigaction(SIGSEGV, &act, NULL);
	for (unsigned i = 0; i < rounds; i++) {
		lent = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (lent == MAP_FAILED) {
			fprintf(stderr, "mmap fails\n");
			_exit(2);
		}
		pthread_cond_init(lent, NULL);
		play_conditions("gone", 2, gone);
	}
}

static const struct part parts[] = {
	{"signal", part_signal},       {"broadcast", part_broadcast}, {"moved", part_moved},
	{"recursive", part_recursive}, {"deadline", part_deadline},   {"cancel", part_cancel},
	{"gone", part_gone},
};

int main(int argc, char **argv)
{
	return play_part(parts, sizeof(parts) / sizeof(parts[0]), argc, argv);
}
