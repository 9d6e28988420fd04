/*
 * column.h - a thin layer between a paper's program and the interface of the column that it fills:
 * Windows NT's threads (nt.c), or UNIX International's (solaris.c), bound, unbound with as
 * many LWPs as asked for, or unbound.
 *
 * Calls that cannot fail in a healthy program end the program if they do (bench.h, fail()).
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* A thread's work.  The program puts this into its own record of the thread. */
struct task {
	void (*run)(struct task *task);
	uintptr_t thread; /* the layer's: the thread to join */
};

enum lock_kind {
	LOCK_LOCAL,  /* NT: critical section; Solaris: private mutex */
	LOCK_GLOBAL, /* NT: mutex of the kernel; Solaris: process-shared mutex */
};
struct lock {
	enum lock_kind kind;
	uint64_t object[8]; /* what nt.c or solaris.c makes of it */
};

/* A place where a thread waits for a condition that a lock guards, as with a condition variable.
 * NT had no condition variables: there the place is an auto-reset event.  At most one thread waits
 * at a time, and it waits again if the condition does not hold. */
struct place {
	uint64_t object[4];
};

struct semaphore {
	uint64_t object[6];
};

struct column {
	const char *name;
	/* Called once, before all else.  concurrency: LWPs for the pool. */
	void (*start)(unsigned concurrency);
	/* Creates a thread that runs task.  False: the system can make no more threads.  Suspended
	 * threads never run. */
	bool (*create)(struct task *task, bool suspended);
	void (*join)(struct task *task);
	void (*lock_init)(struct lock *lock, enum lock_kind kind);
	void (*lock)(struct lock *lock);
	void (*unlock)(struct lock *lock);
	void (*place_init)(struct place *place);
	void (*wait)(struct place *place, struct lock *lock); /* releases the lock while it waits */
	void (*wake)(struct place *place);
	void (*semaphore_init)(struct semaphore *semaphore, unsigned count);
	void (*down)(struct semaphore *semaphore);
	void (*up)(struct semaphore *semaphore);
	/* Is idle, without its CPU, for so many nanoseconds (NT: rounded up to milliseconds).  An
	 * unbound thread gives up its LWP, too. */
	void (*idle)(int64_t ns);
};

/* Returns the column of this name.  An unknown name ends the program with status 2. */
const struct column *column_named(const char *name);

extern const struct column column_nt, column_bound, column_cl, column_unbound;
