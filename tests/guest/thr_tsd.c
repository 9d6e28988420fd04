/*
 * thr_tsd.c [THREADS] - thread-specific data: keys, values of each thread, destructors
 * and their rounds, deletion and reuse of keys, the UNIX International functions.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <thread.h>
#include "tap.h"

static pthread_key_t keys[PTHREAD_KEYS_MAX];

static void *all_null(void *arg)
{
	long not_null = 0;

	for (int i = 0; i < PTHREAD_KEYS_MAX; i++)
		not_null += pthread_getspecific(keys[i]) != NULL;
	return (void *)not_null;
}

static long elsewhere(void *(*fn)(void *), void *arg)
{
	pthread_t t;
	void *r;

	if (pthread_create(&t, NULL, fn, arg) != 0)
		bail("pthread_create");
	pthread_join(t, &r);
	return (long)r;
}

static void test_keys(void)
{
	pthread_key_t one_more;
	int made = 0, set = 0, right = 0;

	for (int i = 0; i < PTHREAD_KEYS_MAX; i++)
		made += pthread_key_create(&keys[i], NULL) == 0;
	is("PTHREAD_KEYS_MAX keys", made, PTHREAD_KEYS_MAX);
	is("one too many", pthread_key_create(&one_more, NULL), EAGAIN);
	for (int i = 0; i < PTHREAD_KEYS_MAX; i++)
		set += pthread_setspecific(keys[i], &keys[i]) == 0;
	is("all set", set, PTHREAD_KEYS_MAX);
	for (int i = 0; i < PTHREAD_KEYS_MAX; i++)
		right += pthread_getspecific(keys[i]) == &keys[i];
	is("all have their values", right, PTHREAD_KEYS_MAX);
	is("another thread has none", elsewhere(all_null, NULL), 0);
	for (int i = 0; i < PTHREAD_KEYS_MAX; i++)
		set -= pthread_key_delete(keys[i]) == 0;
	is("all deleted", set, 0);
	is("delete again", pthread_key_delete(keys[0]), EINVAL);
	is("set a deleted one", pthread_setspecific(keys[0], &keys), EINVAL);
	is("set one beyond", pthread_setspecific(PTHREAD_KEYS_MAX, &keys), EINVAL);
	is("delete one beyond", pthread_key_delete(PTHREAD_KEYS_MAX), EINVAL);
	ok("get one beyond", pthread_getspecific(PTHREAD_KEYS_MAX) == NULL);
	for (int i = 0; i < PTHREAD_KEYS_MAX; i++)
		pthread_key_create(&keys[i], NULL);
	is("a key given out again has no value", (long)all_null(NULL), 0);
	for (int i = 0; i < PTHREAD_KEYS_MAX; i++)
		pthread_key_delete(keys[i]);
}

/* --- destructors ------------------------------------------------------------------------------ */

static pthread_key_t low, high, stubborn, chain;
static long sum, stubborn_runs, chain_ran, null_seen;

static void adds(void *value)
{
	null_seen += pthread_getspecific(low) != NULL; /* it is NULL before we are called */
	__atomic_add_fetch(&sum, (long)value, __ATOMIC_RELAXED);
}

static void adds_high(void *value)
{
	__atomic_add_fetch(&sum, (long)value, __ATOMIC_RELAXED);
}

static void sets_itself(void *value)
{
	__atomic_add_fetch(&stubborn_runs, 1, __ATOMIC_RELAXED);
	pthread_setspecific(stubborn, value);
}

static void sets_another(void *value)
{
	chain_ran++;
	if (value == (void *)1)
		pthread_setspecific(chain, (void *)2);
}

/* A destructor may delete keys, its own and one whose destructor is yet to come. */
static pthread_key_t own, other;
static int own_ran, other_ran;

static void deletes(void *value)
{
	own_ran++;
	if (pthread_key_delete(own) != 0 || pthread_key_delete(other) != 0)
		own_ran = -100;
}

static void counts(void *value)
{
	other_ran++;
}

static void *sets_own(void *arg)
{
	pthread_setspecific(own, arg);
	pthread_setspecific(other, arg);
	return NULL;
}

static void *sets_two(void *arg)
{
	pthread_setspecific(low, arg);
	pthread_setspecific(high, arg);
	if ((long)arg % 2)
		pthread_exit(NULL);
	return NULL;
}

static void *sets_stubborn(void *arg)
{
	pthread_setspecific(stubborn, arg);
	return NULL;
}

static void *sets_chain(void *arg)
{
	pthread_setspecific(chain, (void *)1);
	return NULL;
}

static void *unsets(void *arg)
{
	pthread_setspecific(low, (void *)1000);
	pthread_setspecific(low, NULL);
	pthread_setspecific(high, NULL);
	return NULL;
}

static void test_destructors(long threads)
{
	pthread_t t[64];

	pthread_key_create(&low, adds);
	for (int i = 0; i < 20; i++)
		pthread_key_create(&high, adds_high);
	pthread_key_create(&stubborn, sets_itself);
	pthread_key_create(&chain, sets_another);
	for (long done = 0; done < threads; done += 64) {
		for (long i = 0; i < 64; i++)
			if (pthread_create(&t[i], NULL, sets_two, (void *)(done + i + 1)) != 0)
				bail("pthread_create");
		for (int i = 0; i < 64; i++)
			pthread_join(t[i], NULL);
	}
	threads = (threads + 63) / 64 * 64;
	is("every destructor ran once for each thread", sum, threads * (threads + 1));
	is("with the value already NULL", null_seen, 0);
	sum = 0;
	elsewhere(unsets, NULL);
	is("none for NULL", sum, 0);
	elsewhere(sets_stubborn, &keys);
	is("a value that comes back", stubborn_runs, PTHREAD_DESTRUCTOR_ITERATIONS);
	elsewhere(sets_chain, NULL);
	is("a value that a destructor set", chain_ran, 2);
	pthread_key_delete(low);
	elsewhere(sets_two, (void *)5);
	is("none for a deleted key", sum, 5);
	pthread_key_create(&own, deletes);
	pthread_key_create(&other, counts);
	elsewhere(sets_own, &keys);
	is("a destructor deletes keys", own_ran, 1);
	is("... its own are not called any more", other_ran, 0);
}

static void test_ui(void)
{
	thread_key_t key;
	void *value = &key;

	is("thr_keycreate with a destructor", thr_keycreate(&own, counts), 0);
	elsewhere(sets_own, &keys);
	is("... which is called", other_ran, 1);
	is("thr_keycreate", thr_keycreate(&key, NULL), 0);
	is("thr_getspecific", thr_getspecific(key, &value), 0);
	ok("no value yet", value == NULL);
	is("thr_setspecific", thr_setspecific(key, &key), 0);
	is("its value", (thr_getspecific(key, &value), value == &key), 1);
	ok("a thread_key_t is a pthread_key_t", pthread_getspecific(key) == &key);
	is("thr_getspecific, beyond", thr_getspecific(PTHREAD_KEYS_MAX, &value), EINVAL);
	is("thr_setspecific, beyond", thr_setspecific(PTHREAD_KEYS_MAX, &key), EINVAL);
}

int main(int argc, char **argv)
{
	test_keys();
	test_destructors(argc > 1 ? atol(argv[1]) : 512);
	test_ui();
	return tap_done();
}
