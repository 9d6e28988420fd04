/*
 * threaddb.c - the description of the library's structures (threaddb.h), made out of them by the
 * compiler.
 *
 * libthread.ld puts it into every program.  It refers only to variables that every program has
 * anyway; otherwise programs would grow.
 */
#include <pthread.h>
#include <semaphore.h>
#include "core.h"
#include "model.h"
#include "sleepq.h"
#include "threaddb.h"
#include "../sync/mutex.h"

/* struct threaddb_entry, as the compiler fills it in. */
struct made_entry {
	char name[22];
	uint16_t size;
	union {
		uint64_t number;
		const void *address;
		struct {
			THREAD_SPECIAL
		};
	};
};
_Static_assert(sizeof(struct made_entry) == sizeof(struct threaddb_entry) &&
		       offsetof(struct made_entry, size) == offsetof(struct threaddb_entry, size) &&
		       offsetof(struct made_entry, number) ==
			       offsetof(struct threaddb_entry, value),
	       "threaddb.h");

#define FIELD(name, type, field)                                                                   \
	{                                                                                          \
		name, sizeof(((type *)0)->field),                                                  \
		{                                                                                  \
			offsetof(type, field)                                                      \
		}                                                                                  \
	}
#define THREAD(field) FIELD("thread." #field, struct thread, field)
#define NUMBER(name, n)                                                                            \
	{                                                                                          \
		name, 0,                                                                           \
		{                                                                                  \
			n                                                                          \
		}                                                                                  \
	}
#define AT(name, object, size)                                                                     \
	{                                                                                          \
		"at." name, size,                                                                  \
		{                                                                                  \
			.address = (object)                                                        \
		}                                                                                  \
	}

/* The words for states are those of the ThreadMon paper. */
#define STATES                                                                                     \
	NUMBER("state.Stopped", TS_STOPPED), NUMBER("state.Blocked", TS_BLOCKED),                  \
		NUMBER("state.RunQueue", TS_RUNQUEUE),                                             \
		NUMBER("state.Dispatchable", TS_DISPATCHABLE), NUMBER("state.OnLWP", TS_ONLWP)

/* A thread that is on no LWP has seven registers at thread.rsp (tcb.h). */
#define THREADS                                                                                    \
	{"thread", sizeof(struct thread), {0}}, THREAD(self), THREAD(lwp), THREAD(rsp),            \
		THREAD(state), THREAD(special), THREAD(pri), THREAD(bound), THREAD(id),            \
		THREAD(named), THREAD(wchan), THREAD(q), THREAD(q_next), THREAD(wait_arg),         \
		THREAD(pi_wait), THREAD(deadline), THREAD(exited), THREAD(joiner),                 \
		THREAD(list_next), THREAD(name), THREAD(sigmask),                                  \
		FIELD("ulwp.id", struct ulwp, id),                                                 \
		{"value.to_armed", 0, {.to_armed = true}}, /* a bit of thread.special */           \
		AT("thread_list", &__thread_list, sizeof(__thread_list)), STATES

/* What threads wait for.  thread.wchan is the object. */
#define OBJECTS                                                                                    \
	FIELD("mutex.owner", pthread_mutex_t, __owner), NUMBER("value.mutex_flags", M_FLAGS),      \
		NUMBER("value.mutex_waiters", M_WAITERS),                                          \
		FIELD("mutex.count", pthread_mutex_t, __count),                                    \
		FIELD("mutex.type", pthread_mutex_t, __type),                                      \
		FIELD("mutex.protocol", pthread_mutex_t, __protocol),                              \
		FIELD("sema.word", sem_t, __word), FIELD("rwlock.word", pthread_rwlock_t, __word), \
		FIELD("rwlock.writer", pthread_rwlock_t, __writer),                                \
		{"value.wait_read", 0, {.address = WAIT_READ}},                                    \
		{"value.wait_write", 0, {.address = WAIT_WRITE}},                                  \
		FIELD("barrier.word", pthread_barrier_t, __word),                                  \
		FIELD("barrier.count", pthread_barrier_t, __count),                                \
		FIELD("once.state", pthread_once_t, __state),                                      \
		NUMBER("value.once_running", ONCE_RUNNING),                                        \
		AT("any_exit", &__any_exit, sizeof(__any_exit)),                                   \
		AT("ends_in_sleep", &__ends_in_sleep, sizeof(__ends_in_sleep)),                    \
		AT("sleepq_point", __sleepq_point, 0), AT("sleepq_other", __sleepq_other, 0),      \
		NUMBER("value.sleepq_bytes", sizeof(__sleepq_other))

#define ENTRIES THREADS, OBJECTS

extern const struct made_threaddb {
	char magic[sizeof(THREADDB_MAGIC)];
	uint32_t entry_size, entries;
	struct made_entry entry[sizeof((struct made_entry[]){ENTRIES}) / sizeof(struct made_entry)];
} __threaddb;

const struct made_threaddb __threaddb __attribute__((section(".threaddb"), aligned(8))) = {
	THREADDB_MAGIC,
	sizeof(struct made_entry),
	sizeof(__threaddb.entry) / sizeof(struct made_entry),
	{ENTRIES},
};
_Static_assert(sizeof(THREADDB_MAGIC) == 16 &&
		       offsetof(struct made_threaddb, entry) == sizeof(struct threaddb),
	       "threaddb.h");
