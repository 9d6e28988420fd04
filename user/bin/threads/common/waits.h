/*
 * waits.h - what a thread of a held process waits for, and which thread can end the wait.
 */
#pragma once
#include "library.h"

enum wait_kind {
	WAIT_NOTHING,
	WAIT_MUTEX,
	WAIT_RWLOCK,
	WAIT_COND,
	WAIT_SEMA,
	WAIT_BARRIER,
	WAIT_ONCE,
	WAIT_JOIN,
	WAIT_JOIN_ANY,
	WAIT_SIGNALS,
	WAIT_TIME,
	WAIT_UNKNOWN,
};

enum owner_kind {
	OWNER_NONE,       /* the object has no owner, or is free */
	OWNER_THREAD,     /* owner */
	OWNER_EXITED,     /* a thread that has exited, and still owns it */
	OWNER_NUMBER,     /* thread or LWP number `number` of process `pid` */
	OWNER_READERS,    /* `number` readers */
	OWNER_UNREADABLE, /* the object's memory cannot be read */
};

struct wait {
	enum wait_kind kind;
	uint64_t object; /* its address; WAIT_JOIN: of the thread's structure */
	uint64_t mutex;  /* WAIT_COND: the mutex that the waiter reacquires; 0: not known */
	uint64_t set;    /* WAIT_SIGNALS: the signals, bit 0 is signal 1 */
	unsigned count;  /* WAIT_BARRIER: threads of a cycle */
	bool write;      /* WAIT_RWLOCK: waits for writing */
	bool timed;      /* has a deadline */
	bool asleep;     /* is in the wait, and in no handler that has interrupted it */
	enum owner_kind owner_kind;
	const struct user_thread *owner; /* for WAIT_JOIN: the thread */
	int pid;
	uint32_t number;  /* WAIT_BARRIER: threads that have arrived */
	bool is_lwp;      /* OWNER_NUMBER: of an LWP */
	const char *dead; /* a robust mutex: what the death of an owner has made of it, or NULL */
};

struct wait wait_of(const struct library *l, const struct user_thread *t);

/* "thread", the thread's number, and its name if it has one. */
#define THREAD_WORDS (THREAD_NAME_MAX + 24)
const char *thread_words(const struct user_thread *t, char to[THREAD_WORDS]);

/* The words for an object that has waiters: its kind and name.  The words for its owner, or "". */
#define WAIT_TEXT 200
const char *wait_object(const struct library *l, const struct wait *w, char to[WAIT_TEXT]);
const char *wait_owner(const struct library *l, const struct wait *w, char to[WAIT_TEXT]);
/*
 * For how long the thread has waited and whether its wait has a deadline, each after a comma, or "".
 * Only the kernel knows when a wait began, so the time of a thread on no LWP is not known.
 */
const char *wait_times(const struct library *l, const struct user_thread *t, const struct wait *w,
		       char to[WAIT_TEXT]);
/* All of that in one line: object, owner, times. */
#define WAIT_LINE (3 * WAIT_TEXT)
const char *wait_line(const struct library *l, const struct user_thread *t, const struct wait *w,
		      char to[WAIT_LINE]);
