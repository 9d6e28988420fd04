/*
 * sync.h - what Java's monitors and threads are made of: the library's threads, mutexes and condition variables; or
 * with -Xnt Windows NT's threads under its scheduling class, critical sections and events.
 *
 * The machine's own locks (of the heap, of strings and so on) are the library's mutexes in both cases.
 */
#pragma once
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lock {
	union {
		pthread_mutex_t mutex;
		uint64_t section[8]; /* a CRITICAL_SECTION */
	};
};

/* Where threads wait for a condition that a lock guards. A thread waits again if the condition does not hold. */
struct place {
	union {
		pthread_cond_t cond;
		void *event;
	};
};

/* Before any lock: the process is NT's from here on. False: it cannot be. */
bool sync_use_nt(void);

/* Starts a thread that no other one joins. 0, or an errno. */
int sync_thread(void *(*run)(void *), void *arg, size_t stack_size);

/* A thread, as another one names it to set its priority. */
struct worker {
	pthread_t id;
	void *handle; /* NT's; NULL: no memory for it, and priorities have no effect */
};

void worker_init(struct worker *worker,
		 bool first); /* of the calling thread; the process's first */
void worker_destroy(struct worker *worker);

/* Java's priority, 1 to 10, becomes one of the thread's scheduler. The thread has not ended. */
void worker_set_priority(struct worker *worker, int priority);

void lock_init(struct lock *lock);
void lock_destroy(struct lock *lock);
void lock_acquire(struct lock *lock);
bool lock_try(struct lock *lock);
void lock_release(struct lock *lock);

bool place_init(struct place *place); /* false: no memory */
void place_destroy(struct place *place);

#define NEVER INT64_MAX

int64_t sync_now(void); /* ns of the monotonic clock */

/* Releases the lock, and has it again at the end. False: it is `end` by sync_now(); NEVER: there is no end. */
bool place_wait(struct place *place, struct lock *lock, int64_t end);

/* Wakes all threads that wait. The caller has the lock. */
void place_wake(struct place *place);
