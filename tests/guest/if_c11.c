/* if_c11.c - what the functions of threads.h (C11) return. */
#include <limits.h>
#include <stdint.h>
#include <threads.h>
#include "interface.h"

static int seven(void *arg)
{
	return 7;
}

static int leaves(void *arg)
{
	thrd_exit(8);
}

static void threads(void)
{
	const struct timespec now = {0, 0}, wrong = {0, 1000000000};
	thrd_t t;
	int value;

	DOES(thrd_current, thrd_equal(thrd_current(), pthread_self()));
	DOES(thrd_equal, !thrd_equal(thrd_current(), 0));
	WORKS(thrd_create(&t, seven, NULL));
	WORKS(thrd_join(t, &value));
	is("thrd_join", value, 7);
	GIVES(thrd_error, thrd_join(t, NULL), "it has been joined");
	GIVES(thrd_error, thrd_detach(t), "it has been joined");
	thrd_create(&t, leaves, NULL);
	thrd_join(t, &value);
	DOES(thrd_exit, value == 8);
	thrd_create(&t, seven, NULL);
	WORKS(thrd_detach(t));
	DOES(thrd_sleep, thrd_sleep(&now, NULL) == 0);
	is("thrd_sleep", thrd_sleep(&wrong, NULL) < -1, 1);
	thrd_yield();
	DOES(thrd_yield, 1);
}

static mtx_t m, recursive;
static cnd_t c;

static void mutexes(void)
{
	struct other o;

	GIVES(thrd_error, mtx_init(&m, 64), "no such type");
	WORKS(mtx_init(&m, mtx_timed));
	WORKS(mtx_init(&recursive, mtx_plain | mtx_recursive));
	WORKS(mtx_lock(&m));
	GIVES(thrd_busy, mtx_trylock(&m), "the caller has it");
	WORKS(mtx_unlock(&m));
	GIVES(thrd_error, mtx_unlock(&m), "nobody has it");
	WORKS(mtx_trylock(&m));
	mtx_unlock(&m);
	WORKS(mtx_timedlock(&m, PAST));
	mtx_unlock(&m);
	HOLD(&o, mtx_lock, mtx_unlock, &m);
	GIVES(thrd_busy, mtx_trylock(&m), "another thread has it");
	GIVES(thrd_timedout, mtx_timedlock(&m, PAST), "another thread has it");
	GIVES(thrd_error, mtx_timedlock(&m, WRONG), "1,000,000,000 nanoseconds");
	if_let_go(&o);
	mtx_lock(&recursive);
	recursive.__count = UINT_MAX; /* as after so many calls */
	GIVES(thrd_error, mtx_lock(&recursive), "locked too often");
	GIVES(thrd_error, mtx_trylock(&recursive), "locked too often");
	recursive.__count = 0;
	mtx_unlock(&recursive);
	mtx_destroy(&recursive);
	DOES(mtx_destroy, 1);
}

static int signalled; /* m */

static int waiter(void *arg)
{
	mtx_lock(&m);
	while (!signalled)
		WORKS(cnd_wait(&c, &m));
	WORKS(mtx_unlock(&m));
	return 0;
}

static void conditions(void)
{
	thrd_t t;

	WORKS(cnd_init(&c));
	GIVES(thrd_error, cnd_wait(&c, &m), "the caller does not have the mutex");
	GIVES(thrd_error, cnd_timedwait(&c, &m, PAST), "it does not have the mutex");
	mtx_lock(&m);
	GIVES(thrd_timedout, cnd_timedwait(&c, &m, PAST), "no signal");
	GIVES(thrd_error, cnd_timedwait(&c, &m, WRONG), "1,000,000,000 nanoseconds");
	mtx_unlock(&m);
	cnd_init(&c); /* __waiters is 0 now */
	thrd_create(&t, waiter, NULL);
	UNTIL(c.__waiters != 0);
	mtx_lock(&m);
	signalled = 1;
	WORKS(cnd_signal(&c));
	mtx_unlock(&m);
	thrd_join(t, NULL);
	WORKS(cnd_broadcast(&c));
	cnd_destroy(&c);
	DOES(cnd_destroy, 1);
}

static int signals(void *arg)
{
	UNTIL(c.__waiters != 0);
	mtx_lock(&m);
	cnd_signal(&c);
	mtx_unlock(&m);
	return 0;
}

static void in_time(void)
{
	const struct timespec far = {4000000000, 0};
	thrd_t t;

	cnd_init(&c);
	mtx_lock(&m);
	thrd_create(&t, signals, NULL);
	WORKS(cnd_timedwait(&c, &m, &far));
	mtx_unlock(&m);
	thrd_join(t, NULL);
}

static int times;

static void once(void)
{
	times++;
}

static void the_rest(void)
{
	static tss_t key[PTHREAD_KEYS_MAX];
	once_flag flag = ONCE_FLAG_INIT;
	struct timespec now;
	unsigned n = 1;

	call_once(&flag, once);
	call_once(&flag, once);
	DOES(call_once, times == 1);
	DOES(timespec_get, timespec_get(&now, TIME_UTC) == TIME_UTC && timespec_get(&now, 77) == 0);
	WORKS(tss_create(&key[0], NULL));
	WORKS(tss_set(key[0], key));
	DOES(tss_get, tss_get(key[0]) == key);
	while (n < PTHREAD_KEYS_MAX && tss_create(&key[n], NULL) == 0)
		n++;
	GIVES(thrd_error, tss_create(&key[0], NULL), "there are PTHREAD_KEYS_MAX");
	tss_delete(key[0]);
	DOES(tss_delete, 1);
	GIVES(thrd_error, tss_set(key[0], key), "deleted");
}

int main(void)
{
	threads();
	mutexes();
	conditions();
	in_time();
	the_rest();
	return tap_done();
}
