/*
 * ksync.h - locks in user memory on which LWPs sleep in the kernel, for the calls
 * lwp_mutex_*, lwp_cond_* and lwp_sema_* (after Solaris's _lwp_mutex_lock(2),
 * _lwp_cond_wait(2), _lwp_sema_wait(2)).
 *
 * The lock is one word of the program's memory.  While no LWP has to wait, LWPs acquire
 * and release it by compare-and-swap in user mode.  They call the kernel if the word says
 * that LWPs wait, or that the caller must wait.  User mode and the kernel change the word
 * by compare-and-swap only.
 *
 * The kernel finds the sleepers of a lock by the memory that the word lies in.  With the
 * SHARED flag, this is the mapped object and the offset in it, so processes can share a
 * lock that each has mapped at another address.  Without the flag, it is the process and
 * the address.  All zero is a free lock, private to the process.
 *
 * A queue is ordered by the priority that an LWP had when it began to wait, then first in,
 * first out.
 */
#pragma once
#include <stdint.h>

/*
 * A mutex.  The owner is the process, and a number by which the process knows the holder.
 * For LWPs without a threads library the number is the LWP's id; 0 as the `owner` of a
 * call means this id.  A threads library, whose threads change their LWPs, uses numbers
 * with LWP_OWNER_THREAD set.
 *
 * The word, aligned to 8 bytes:
 *
 *	bit 0		WAITERS	the kernel sets it: LWPs may sleep for the mutex.  A new
 *			owner keeps the bit; an owner that finds it set releases the
 *			mutex by lwp_mutex_unlock
 *	bit 1		for the library, while it owns the mutex: forces a release into
 *			the slow path.  The kernel clears it when the mutex is released
 *	bit 2		OWNERDEAD: an owner died.  The next owner has got EOWNERDEAD, and
 *			clears the bit when the data is consistent again
 *	bit 3		NOTRECOVERABLE: released while OWNERDEAD was set; never cleared
 *	bits 4, 5, 61 to 63	ROBUST, CEILING, ERRORCHECK, INHERIT, SHARED: set by the
 *			LWP that initialises the mutex
 *	bits 8 to 39	the owner's number; 0: free
 *	bits 40 to 60	the owner's process
 *
 * A process that does not share the mutex may use bits 6 to 60 for any value, for example an
 * address.  It passes this value as the owner, with LWP_OWNER_WORD.
 */
struct lwp_mutex {
	uint64_t word;
};
#define LWP_MUTEX_WAITERS 0x1ull
#define LWP_MUTEX_LIBRARY 0x2ull
#define LWP_MUTEX_OWNERDEAD 0x4ull
#define LWP_MUTEX_NOTRECOVERABLE 0x8ull
#define LWP_MUTEX_ROBUST 0x10ull          /* must be registered before it is acquired */
#define LWP_MUTEX_CEILING 0x20ull         /* the kernel ignores it: see lwp_ceiling */
#define LWP_MUTEX_ERRORCHECK (1ull << 61) /* an owner that locks it again gets EDEADLK */
/*
 * The owner's LWP, if the number is an LWP's, inherits the priorities of the LWPs that sleep for
 * the mutex.  A release hands the mutex over to the first sleeper.
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

/* The most robust mutexes that a process can have registered at one time. */
#define LWP_MUTEX_REGISTERED_MAX 65536

/*
 * A condition variable.  Bit 0 is WAITERS, set and cleared by the kernel.  0 means that no
 * LWP waits, so a signal needs no system call.  Bit 31 is SHARED.
 */
struct lwp_cond {
	uint32_t word;
};
#define LWP_COND_WAITERS 0x1u
#define LWP_COND_SHARED 0x80000000u

/*
 * A semaphore.  The word is the value, or WAITING: the value is 0, and LWPs may sleep.  While
 * WAITING is set, only the kernel changes the word.
 */
struct lwp_sema {
	uint32_t word;
	uint32_t flags; /* LWP_SEMA_*; written by the LWP that initialises it */
};
#define LWP_SEMA_WAITING 0x80000000u
#define LWP_SEMA_MAX 0x7fffffffu
#define LWP_SEMA_SHARED 0x1u

/*
 * A reader-writer lock: its holders, and flags.  While WAITING is set, only the kernel changes
 * the word: the last holder hands the lock over by lwp_rwlock_unlock.
 *
 *	bit 31		WRITER: a writer holds it
 *	bit 30		WAITING: LWPs may sleep for it
 *	bit 29		SHARED: set by the LWP that initialises it
 *	bits 0 to 28	the number of readers that hold it
 */
struct lwp_rwlock {
	uint32_t word;
};
#define LWP_RWLOCK_WRITER 0x80000000u
#define LWP_RWLOCK_WAITING 0x40000000u
#define LWP_RWLOCK_SHARED 0x20000000u
#define LWP_RWLOCK_READERS 0x1fffffffu /* the field, and the largest number of readers */

#define LWP_RWLOCK_AGAIN 1 /* lwp_rwlock_rdlock: acquire it even if other LWPs wait */

/* A barrier, aligned to 8 bytes.  The kernel writes word; the LWP that initialises it writes count
 * and flags. */
struct lwp_barrier {
	uint64_t word;  /* lower half: LWPs that have arrived; upper: cycles completed */
	uint32_t count; /* LWPs that complete a cycle, 1 or more */
	uint32_t flags; /* LWP_BARRIER_* */
};
#define LWP_BARRIER_SHARED 0x1u

#define LWP_BARRIER_ARRIVED 1 /* lwp_barrier_wait: the caller has been counted before */
