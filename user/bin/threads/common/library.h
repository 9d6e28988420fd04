/*
 * library.h - the threads of a process that is held, as its threads library describes them
 * (libthread/core/threaddb.h).
 */
#pragma once
#include "target.h"

/* What the tools need of the description: an id here, the name there. */
#define LIBRARY_NAMES(X)                                                                           \
	X(L_THREAD, "thread")                                                                      \
	X(L_SELF, "thread.self")                                                                   \
	X(L_LWP, "thread.lwp")                                                                     \
	X(L_RSP, "thread.rsp")                                                                     \
	X(L_STATE, "thread.state")                                                                 \
	X(L_SPECIAL, "thread.special")                                                             \
	X(L_PRI, "thread.pri")                                                                     \
	X(L_BOUND, "thread.bound")                                                                 \
	X(L_ID, "thread.id")                                                                       \
	X(L_NAMED, "thread.named")                                                                 \
	X(L_NAME, "thread.name")                                                                   \
	X(L_WCHAN, "thread.wchan")                                                                 \
	X(L_Q, "thread.q")                                                                         \
	X(L_WAIT_ARG, "thread.wait_arg")                                                           \
	X(L_PI_WAIT, "thread.pi_wait")                                                             \
	X(L_EXITED, "thread.exited")                                                               \
	X(L_LIST_NEXT, "thread.list_next")                                                         \
	X(L_SIGMASK, "thread.sigmask")                                                             \
	X(L_ULWP_ID, "ulwp.id")                                                                    \
	X(L_TO_ARMED, "value.to_armed")                                                            \
	X(L_THREAD_LIST, "at.thread_list")                                                         \
	X(L_MUTEX_OWNER, "mutex.owner")                                                            \
	X(L_MUTEX_FLAGS, "value.mutex_flags")                                                      \
	X(L_MUTEX_WAITERS, "value.mutex_waiters")                                                  \
	X(L_RWLOCK_WORD, "rwlock.word")                                                            \
	X(L_RWLOCK_WRITER, "rwlock.writer")                                                        \
	X(L_WAIT_READ, "value.wait_read")                                                          \
	X(L_WAIT_WRITE, "value.wait_write")                                                        \
	X(L_BARRIER_WORD, "barrier.word")                                                          \
	X(L_BARRIER_COUNT, "barrier.count")                                                        \
	X(L_ONCE_STATE, "once.state")                                                              \
	X(L_ONCE_RUNNING, "value.once_running")                                                    \
	X(L_ANY_EXIT, "at.any_exit")                                                               \
	X(L_ENDS_IN_SLEEP, "at.ends_in_sleep")                                                     \
	X(L_SLEEPQ_POINT, "at.sleepq_point")                                                       \
	X(L_SLEEPQ_OTHER, "at.sleepq_other")                                                       \
	X(L_SLEEPQ_BYTES, "value.sleepq_bytes")

enum library_name {
#define X(id, name) id,
	LIBRARY_NAMES(X)
#undef X
		LIBRARY_NAMES_COUNT
};

#define LIBRARY_STATES 8
#define STATE_WORD 14
#define THREAD_NAME_MAX 32

/* A thread of the program. */
struct user_thread {
	uint64_t at; /* its structure */
	uint32_t id;
	uint32_t state;
	uint32_t lwp;              /* the LWP that it is on; 0: none */
	const struct lwp_regs *on; /* that LWP's registers, or NULL */
	uint64_t rsp;              /* on no LWP: where its registers are; 0: it has not begun */
	uint64_t wchan, q, wait_arg, pi_wait;
	uint8_t pri;
	bool bound;
	bool exited; /* and not joined yet */
	bool timed;  /* on no LWP: its wait has a deadline */
	char name[THREAD_NAME_MAX];
};

/* A place in an array, by the address of a struct thread. */
struct library_place {
	uint64_t at;
	size_t number;
};

struct library {
	const struct target *target;
	struct {
		uint16_t size;
		uint64_t value;
	} entry[LIBRARY_NAMES_COUNT];
	char state[LIBRARY_STATES][STATE_WORD];
	struct user_thread *threads; /* by ascending id */
	size_t nthreads;
	struct library_place *places; /* of the threads, by ascending address */
	struct library_place *lwps;   /* of the target's LWPs, by ascending FS base */
	const char *damage;           /* why there may be more threads, or NULL */
};

/*
 * Fills *l for the process.  False: it has no threads library that the tool knows, and *why says
 * more.
 */
bool library_read(struct library *l, const struct target *t, const char **why);
void library_free(struct library *l);

/*
 * Holds the process, and prints of its library what `print` does, which returns why something is
 * missing, or NULL.  False: not all could be shown; it is said why.
 */
bool library_show(int pid, const char *(*print)(const struct library *l));

/*
 * For a process that is not held.  library_describe does without the threads, and allocates
 * nothing.  library_thread_name writes the name of the thread that an LWP with this FS base runs,
 * "" if it has none.
 */
bool library_describe(struct library *l, const struct target *t, const char **why);
void library_thread_name(const struct library *l, uint64_t fsbase, char name[THREAD_NAME_MAX]);

static inline uint64_t library_value(const struct library *l, enum library_name n)
{
	return l->entry[n].value;
}
/* The number in a field of the object at this address; 0 if it cannot be read. */
static inline uint64_t library_field(const struct library *l, uint64_t object, enum library_name n)
{
	return target_number(l->target, object + l->entry[n].value, l->entry[n].size);
}

/* The word for the thread's state. */
const char *library_state(const struct library *l, const struct user_thread *t);
/* The thread whose structure is at this address; with this id; on this LWP.  NULL: none. */
const struct user_thread *library_thread_at(const struct library *l, uint64_t at);
const struct user_thread *library_thread_by_id(const struct library *l, uint32_t id);
const struct user_thread *library_thread_on_lwp(const struct library *l, uint32_t lwp);
/* Does a struct thread lie there, of the program or not, in use or not? */
bool library_is_thread(const struct library *l, uint64_t at);
