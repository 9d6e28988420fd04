/*
 * uthread.h - a small N:1 threads library: the process has one thread, and the uthreads take turns
 * on it.  Two threads of the system must not call the library at once, and handlers never.
 *
 * A uthread runs until it calls a function of this file that blocks or yields.
 */
#pragma once
#include <stdbool.h>
#include <sys/types.h>
#include <ucontext.h>

struct uqueue {
	struct uthread *first, *last;
};

struct uthread {
	ucontext_t context; /* saved while the uthread does not run */
	struct uthread *next;
	void *(*start)(void *);
	void *arg, *result;
	bool done;
	struct uqueue joiners;
};

/* NULL: no memory. */
struct uthread *uthread_create(void *(*start)(void *), void *arg);
/* Ends the caller's turn. */
void uthread_yield(void);
void uthread_exit(void *result) __attribute__((noreturn));
/* Waits until t has ended, frees it, and returns its result.  One joiner a uthread. */
void *uthread_join(struct uthread *t);

struct usem {
	int count;
	struct uqueue waiters;
};

void usem_wait(struct usem *s);
void usem_post(struct usem *s);

/* As read, for files that can be polled; the other uthreads run meanwhile. */
ssize_t uthread_read(int fd, void *buf, size_t size);
