/*
 * ksync.h - locks in user memory on which LWPs sleep in the kernel: what the calls
 * lwp_mutex_*, lwp_cond_* and lwp_sema_* work on (after Solaris's _lwp_mutex_lock(2),
 * _lwp_cond_wait(2), _lwp_sema_wait(2)).
 *
 * The lock is one word of the program's memory.  While nobody has to wait, it is taken
 * and given up by compare-and-swap in user mode; the kernel comes in when the word says
 * that LWPs wait, or that the caller must.  Both sides change the word by
 * compare-and-swap only.
 *
 * Who sleeps is found by the memory that the word lies in: with the SHARED flag the
 * object that is mapped there and the offset in it, so that processes meet on a lock
 * which each may have mapped elsewhere; without it the process and the address.  All
 * zero is a free lock, private to the process.
 *
 * Queues are ordered by the priority with which an LWP came, then first in, first out.
 */
#pragma once
#include <stdint.h>

/*
 * A mutex.  The owner is the process and a number by which the process knows the
 * holder: of raw LWPs the LWP's id, which is what 0 as the `owner` of a call stands
 * for; a threads library, whose threads change their LWPs, uses numbers with
 * LWP_OWNER_THREAD set.
 *
 * The word, aligned to 8 bytes:
 *
 *	bit 0		WAITERS	kernel: LWPs may sleep for it; whoever takes the mutex
 *			keeps it, whoever gives it up then calls lwp_mutex_unlock
 *	bit 1		the library's, while it owns the mutex: forces a release into
 *			its slow path.  The kernel clears it when the mutex is given up
 *	bit 2		OWNERDEAD: an owner died; the present one has got EOWNERDEAD, and
 *			clears it once the data is consistent again
 *	bit 3		NOTRECOVERABLE: given up while OWNERDEAD was set; for good
 *	bits 4, 5, 61 to 63	ROBUST, CEILING, ERRORCHECK, INHERIT, SHARED: set by who
 *			initialises it
 *	bits 8 to 39	the owner's number; 0: free
 *	bits 40 to 60	the owner's process
 *
 * A process that shares the mutex with nobody may have anything it likes in bits 6 to 60, an
 * address for example: it hands that over as the owner, with LWP_OWNER_WORD.
 */
struct lwp_mutex {
	uint64_t word;
};
#define LWP_MUTEX_WAITERS 0x1ull
#define LWP_MUTEX_LIBRARY 0x2ull
#define LWP_MUTEX_OWNERDEAD 0x4ull
#define LWP_MUTEX_NOTRECOVERABLE 0x8ull
#define LWP_MUTEX_ROBUST 0x10ull          /* must be registered before it is taken */
#define LWP_MUTEX_CEILING 0x20ull         /* means nothing to the kernel: see lwp_ceiling */
#define LWP_MUTEX_ERRORCHECK (1ull << 61) /* its owner who locks it again gets EDEADLK */
/*
 * Its owner's LWP, if the number is an LWP's, inherits the priorities of those who sleep for
 * it; and it is handed over to the first of them.
 */
#define LWP_MUTEX_INHERIT (1ull << 62)
#define LWP_MUTEX_PROTOCOL (LWP_MUTEX_INHERIT | LWP_MUTEX_CEILING)
#define LWP_MUTEX_SHARED (1ull << 63)
#define LWP_MUTEX_KIND                                                                             \
	(LWP_MUTEX_ROBUST | LWP_MUTEX_ERRORCHECK | LWP_MUTEX_PROTOCOL | LWP_MUTEX_SHARED)
#define LWP_MUTEX_OWNER 0x1fffffffffffffc0ull
#define LWP_OWNER_THREAD 0x80000000u
#define LWP_OWNER_WORD (1ull << 63)

static inline uint64_t lwp_mutex_owner(int32_t pid, uint32_t number)
{
	return (uint64_t)pid << 40 | (uint64_t)number << 8;
}

/* Robust mutexes that a process can have registered at one time. */
#define LWP_MUTEX_REGISTERED_MAX 65536

/*
 * A condition variable: bit 0 WAITERS, set and cleared by the kernel: 0 means that
 * certainly nobody waits, so that nobody need be told; bit 31 SHARED.
 */
struct lwp_cond {
	uint32_t word;
};
#define LWP_COND_WAITERS 0x1u
#define LWP_COND_SHARED 0x80000000u

/*
 * A semaphore: the value, or WAITING: then it is 0 and LWPs may sleep.  While WAITING is
 * set only the kernel changes the word.
 */
struct lwp_sema {
	uint32_t word;
	uint32_t flags; /* LWP_SEMA_*; by who initialises it */
};
#define LWP_SEMA_WAITING 0x80000000u
#define LWP_SEMA_MAX 0x7fffffffu
#define LWP_SEMA_SHARED 0x1u

/*
 * A reader-writer lock: who has it, and flags.  While WAITING is set only the kernel changes
 * the word: whoever gives the last hold up hands the lock over.
 *
 *	bit 31		WRITER: a writer has it
 *	bit 30		WAITING: LWPs may sleep for it
 *	bit 29		SHARED: set by who initialises it
 *	bits 0 to 28	the number of readers that have it
 */
struct lwp_rwlock {
	uint32_t word;
};
#define LWP_RWLOCK_WRITER 0x80000000u
#define LWP_RWLOCK_WAITING 0x40000000u
#define LWP_RWLOCK_SHARED 0x20000000u
#define LWP_RWLOCK_READERS 0x1fffffffu /* the field, and the largest number of them */

#define LWP_RWLOCK_AGAIN 1 /* lwp_rwlock_rdlock: also past LWPs that wait */

/* A barrier, aligned to 8 bytes.  The kernel writes word; count and flags who initialises it. */
struct lwp_barrier {
	uint64_t word;  /* lower half: LWPs that have arrived; upper: cycles completed */
	uint32_t count; /* LWPs that a cycle takes, 1 or more */
	uint32_t flags; /* LWP_BARRIER_* */
};
#define LWP_BARRIER_SHARED 0x1u

#define LWP_BARRIER_ARRIVED 1 /* lwp_barrier_wait: the caller has been counted before */
