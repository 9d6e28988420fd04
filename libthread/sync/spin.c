/*
 * spin.c - spin locks of the program.
 *
 * The holder may be a thread that waits for this very LWP or CPU, so a waiter lets others
 * run from time to time.  There is nothing to a lock but its word, so that processes may
 * share any.
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

/* EBUSY: somebody has it. */
int pthread_spin_destroy(pthread_spinlock_t *l)
{
	return __atomic_load_n(&l->__held, __ATOMIC_RELAXED) != 0 ? EBUSY : 0;
}

/* EBUSY: somebody has it, the caller perhaps. */
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

/* EPERM: nobody has it. */
int pthread_spin_unlock(pthread_spinlock_t *l)
{
	if (__atomic_load_n(&l->__held, __ATOMIC_RELAXED) == 0)
		return EPERM;
	__atomic_store_n(&l->__held, 0, __ATOMIC_RELEASE);
	return 0;
}
