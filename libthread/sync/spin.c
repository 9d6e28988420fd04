/*
 * spin.c - spin locks of the program.
 *
 * The owner may be a thread that waits for this very LWP or CPU, so a spinner yields from time to
 * time.  A lock is only its word, so processes may share any lock.
 */
#include <errno.h>
#include <pthread.h>
#include "../core/core.h"
#include "../core/model.h"

#define SPINS_A_YIELD 1000

/* EINVAL: neither PTHREAD_PROCESS_SHARED nor PTHREAD_PROCESS_PRIVATE. */
int pthread_spin_init(pthread_spinlock_t *l, int pshared)
{
	if (pshared != PTHREAD_PROCESS_PRIVATE && pshared != PTHREAD_PROCESS_SHARED)
		return EINVAL;
	l->__held = 0;
	return 0;
}

/* EBUSY: a thread owns it. */
int pthread_spin_destroy(pthread_spinlock_t *l)
{
	return __atomic_load_n(&l->__held, __ATOMIC_RELAXED) != 0 ? EBUSY : 0;
}

/* EBUSY: a thread owns it, perhaps the caller. */
int pthread_spin_trylock(pthread_spinlock_t *l)
{
	if (__atomic_exchange_n(&l->__held, 1, __ATOMIC_ACQUIRE) != 0)
		return EBUSY;
	return 0;
}

int pthread_spin_lock(pthread_spinlock_t *l)
{
	while (unlikely(__atomic_exchange_n(&l->__held, 1, __ATOMIC_ACQUIRE) != 0)) {
		for (int i = 0; __atomic_load_n(&l->__held, __ATOMIC_RELAXED) != 0; i++) {
			if (i % SPINS_A_YIELD == SPINS_A_YIELD - 1)
				__ops->yield();
			spin_hint();
		}
	}
	return 0;
}

/* EPERM: no thread owns it. */
int pthread_spin_unlock(pthread_spinlock_t *l)
{
	if (__atomic_load_n(&l->__held, __ATOMIC_RELAXED) == 0)
		return EPERM;
	__atomic_store_n(&l->__held, 0, __ATOMIC_RELEASE);
	return 0;
}
