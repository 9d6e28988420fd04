/*
 * labconds.c PART [ROUNDS [CHANCE]] - games of chance with condition variables, and the price of a wait.  Most
 * parts run in the M:N library.
 */
#include "labcond.h"

static pthread_cond_t second = PTHREAD_COND_INITIALIZER;

static void wakes_all(unsigned me)
{
	if (me != 0)
		waits_once(me);
	else if (all_asleep())
		pthread_cond_broadcast(&cond);
}

/* Before each game: a wait does wait. */
static void waits_at_all(void)
{
	play_conditions("wait", 2, wakes_all);
	went_on = 0;
}

/* --- chance --------------------------------------------------------------------------------------------- */

/* A buffer of one place: half of the players put numbers in, the others take them out. */
static volatile unsigned place, put, taken;

static void buffer(unsigned me)
{
	for (unsigned i = 0; i < rounds && !game_over; i++) {
		bool puts = me % 2 == 0, owner = draw(me, 2);
		come_late(me, 40);
		player[me].doing = "pthread_mutex_lock";
		pthread_mutex_lock(&mutex);
		while ((puts ? place != 0 : place == 0) && !game_over)
			cond_sleep(me, puts ? &cond : &second);
		if (puts)
			put += place = 1 + draw(me, 9);
		else {
			taken += place;
			place = 0;
		}
		if (owner)
			pthread_cond_signal(puts ? &second : &cond);
		pthread_mutex_unlock(&mutex);
		if (!owner)
			pthread_cond_signal(puts ? &second : &cond);
	}
}

static void part_buffer(void)
{
	waits_at_all();
	play_conditions("buffer", 6, buffer);
	lab_check(put == taken, "buffer", "%u has been put into a buffer, and %u taken out", put,
		  taken);
}

/* 0 takes the mutex as soon as 1 releases it in order to wait, and signals at once. */
static void aimed(unsigned me)
{
	for (unsigned i = 1; i <= rounds && !game_over; i++) {
		if (me == 0) {
			UNTIL(waiting == i);
			come_late(me, 20);
			pthread_mutex_lock(&mutex);
			flag = i;
			pthread_cond_signal(&cond);
			pthread_mutex_unlock(&mutex);
			UNTIL(went_on == i);
			continue;
		}
		pthread_mutex_lock(&mutex);
		waiting = i;
		come_late(me, 100);
		while (flag != i && !game_over)
			cond_sleep(me, &cond);
		pthread_mutex_unlock(&mutex);
		went_on = i;
	}
}

static void part_aimed(void)
{
	waits_at_all();
	play_conditions("aimed", 2, aimed);
}

/*
 * 2 and 3 signal again and again without the mutex, as 1 begins to wait; 0 wants the mutex that 1
 * releases.
 */
static void at_once(unsigned me)
{
	for (unsigned i = 1; i <= rounds && !game_over; i++) {
		if (me == 1) {
			pthread_mutex_lock(&mutex);
			flag = i;
			turns(400); /* 0 sleeps by then */
			come_late(me, 100);
			cond_sleep(me, &cond);
			pthread_mutex_unlock(&mutex);
			went_on = i;
		} else if (me == 0) {
			UNTIL(flag >= i);
			player[me].doing = "pthread_mutex_lock";
			pthread_mutex_lock(&mutex);
			pthread_mutex_unlock(&mutex);
			UNTIL(went_on >= i);
		} else {
			player[me].doing = "pthread_cond_signal";
			while (went_on < i && !game_over) {
				pthread_cond_signal(&cond);
				come_late(me, 30);
			}
		}
	}
}

static void part_at_once(void)
{
	waits_at_all();
	play_conditions("at-once", 4, at_once);
}

/* A signal and a deadline at the same moment: one of two, and the waiter owns the mutex. */
static volatile int64_t round_ends;

static void deadlines(unsigned me)
{
	for (unsigned i = 1; i <= rounds && !game_over; i++) {
		if (me == 0) {
			UNTIL(waiting == i);
			compute_until(round_ends - 1500 + draw(me, 3000));
			pthread_mutex_lock(&mutex);
			flag = i;
			pthread_cond_signal(&cond);
			pthread_mutex_unlock(&mutex);
			continue;
		}
		pthread_mutex_lock(&mutex);
		round_ends = gethrtime() + 10000;
		waiting = i;
		while (flag != i && !game_over)
			if (cond_sleep_until(me, round_ends) == ETIMEDOUT)
				EXPECT(gethrtime() >= round_ends,
				       "ETIMEDOUT comes before the deadline", 0);
		pthread_mutex_unlock(&mutex);
	}
}

static void part_deadlines(void)
{
	waits_at_all();
	play_conditions("deadlines", 2, deadlines);
}

/* --- price -------------------------------------------------------------------------------------------------- */

static volatile uint64_t price;

static void round_trip(unsigned me)
{
	pthread_mutex_lock(&mutex);
	int64_t began = gethrtime();
	for (unsigned i = 0; i < rounds && !game_over; i++) {
		while (flag % 2 != me && !game_over)
			cond_sleep(me, me == 0 ? &cond : &second);
		flag++;
		pthread_cond_signal(me == 0 ? &second : &cond);
	}
	price = gethrtime() - began;
	pthread_mutex_unlock(&mutex);
}

static void part_price(void)
{
	waits_at_all();
	play_conditions("price", 2, round_trip);
	lab_check(flag == 2 * rounds, "price", "two threads have gone on %u times, not %u", flag,
		  2 * rounds);
	lab_figure("roundtrip", price / rounds);
}

static const struct part parts[] = {
	{"buffer", part_buffer},       {"aimed", part_aimed}, {"at-once", part_at_once},
	{"deadlines", part_deadlines}, {"price", part_price},
};

int main(int argc, char **argv)
{
	return play_part(parts, sizeof(parts) / sizeof(parts[0]), argc, argv);
}
