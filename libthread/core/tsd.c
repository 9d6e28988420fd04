/*
 * tsd.c - thread-specific data.
 *
 * The values of the first TSD_FAST keys lie in struct thread.  The others lie in a table, which a
 * thread gets when it first sets one of them.  Reading takes no lock and calls nothing.
 *
 * keys_lock guards the table of keys.  A deleted key is cleared in every thread, so that it may be
 * given out again.  This is done under all locks of threads, which come after keys_lock.  The program
 * may not use a key while it deletes the key.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include "core.h"

#define TSD_MORE (PTHREAD_KEYS_MAX - TSD_FAST)

static struct ilock keys_lock;
static struct key {
	bool used;
	void (*destructor)(void *);
} keys[PTHREAD_KEYS_MAX];

bool __tsd_exists(pthread_key_t key)
{
	return key < PTHREAD_KEYS_MAX && keys[key].used;
}

/* EAGAIN: there are PTHREAD_KEYS_MAX keys. */
int pthread_key_create(pthread_key_t *key, void (*destructor)(void *))
{
	ilock_lock(&keys_lock);
	for (unsigned k = 0; k < PTHREAD_KEYS_MAX; k++) {
		if (!keys[k].used) {
			keys[k] = (struct key){.used = true, .destructor = destructor};
			ilock_unlock(&keys_lock);
			*key = k;
			return 0;
		}
	}
	ilock_unlock(&keys_lock);
	return EAGAIN;
}

static void key_clear(struct thread *t, pthread_key_t key)
{
	if (key < TSD_FAST)
		t->tsd[key] = NULL;
	else if (t->tsd_more != NULL)
		t->tsd_more[key - TSD_FAST] = NULL;
}

/* Calls no destructor.  EINVAL: there is no such key. */
int pthread_key_delete(pthread_key_t key)
{
	struct thread *t;

	ilock_lock(&keys_lock);
	if (key >= PTHREAD_KEYS_MAX || !keys[key].used) {
		ilock_unlock(&keys_lock);
		return EINVAL;
	}
	__threads_lock_all();
	t = __thread_list;
	do {
		key_clear(t, key);
		t = t->list_next;
	} while (t != __thread_list);
	__threads_unlock_all();
	keys[key].used = false;
	ilock_unlock(&keys_lock);
	return 0;
}

/* NULL for a key that does not exist, and before the thread has set a value. */
void *pthread_getspecific(pthread_key_t key)
{
	struct thread *self;

	if (likely(key < TSD_FAST))
		return ((struct thread __seg_fs *)0)
			->tsd[key]; /* FS base is the thread's address */
	self = thread_self();
	if (key >= PTHREAD_KEYS_MAX || self->tsd_more == NULL)
		return NULL;
	return self->tsd_more[key - TSD_FAST];
}

/* EINVAL: there is no such key; ENOMEM: for the values of keys from TSD_FAST on. */
int pthread_setspecific(pthread_key_t key, const void *value)
{
	struct thread *self = thread_self();

	if (!__tsd_exists(key))
		return EINVAL;
	if (key < TSD_FAST) {
		self->tsd[key] = (void *)value;
	} else {
		if (self->tsd_more == NULL) {
			if (value == NULL)
				return 0;
			self->tsd_more = calloc(TSD_MORE, sizeof(void *));
			if (self->tsd_more == NULL)
				return ENOMEM;
		}
		self->tsd_more[key - TSD_FAST] = (void *)value;
	}
	if (key >= self->tsd_top)
		self->tsd_top = key + 1;
	return 0;
}

static bool tsd_destroy(struct thread *self, unsigned top)
{
	bool any = false;

	for (pthread_key_t k = 0; k < top && k < PTHREAD_KEYS_MAX; k++) {
		void *value = pthread_getspecific(k);
		void (*destructor)(void *) = keys[k].destructor;

		if (value == NULL)
			continue;
		key_clear(self, k);
		if (keys[k].used && destructor != NULL) {
			any = true;
			destructor(value);
		}
	}
	return any;
}

void __tsd_forget(struct thread *self)
{
	for (unsigned k = 0; k < TSD_FAST; k++)
		self->tsd[k] = NULL;
	self->tsd_more = NULL;
	self->tsd_top = 0;
}

/*
 * The calling thread, which has set some value, exits.  Calls the destructors of all values, and
 * again for values that destructors set, at most PTHREAD_DESTRUCTOR_ITERATIONS times.  Values that
 * are left then are forgotten.
 */
void __tsd_exit(struct thread *self)
{
	int rounds = 0;

	while (tsd_destroy(self, self->tsd_top) && ++rounds < PTHREAD_DESTRUCTOR_ITERATIONS)
		;
	free(self->tsd_more);
	__tsd_forget(self);
}

/* In a child of fork. */
void __tsd_forked(void)
{
	keys_lock.held = 0;
}
