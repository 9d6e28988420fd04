/*
 * uthread.c - the library: a run queue, and swapcontext from one uthread to the next.
 *
 * There are no locks, because no uthread interrupts another.  A library with time slices swaps
 * contexts in a handler of SIGVTALRM.  It must block that signal wherever this library touches a
 * queue, and its uthreads must not be in malloc or stdio when the slice ends.
 *
 * A uthread that ends cannot free the stack on which it runs: uthread_join does.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "uthread.h"

#define STACK_SIZE 65536

static struct uthread main_thread;
static struct uthread *running = &main_thread;
static struct uqueue ready; /* runnable, not running */

/* The uthreads that wait for a file.  Each has an entry in an array that a single poll examines. */
#define READERS_MAX 16
static struct pollfd polled[READERS_MAX];
static struct uthread *reader[READERS_MAX];
static int readers;

static void uqueue_put(struct uqueue *q, struct uthread *t)
{
	t->next = NULL;
	if (q->first == NULL)
		q->first = t;
	else
		q->last->next = t;
	q->last = t;
}

static struct uthread *uqueue_take(struct uqueue *q)
{
	struct uthread *t = q->first;

	if (t != NULL)
		q->first = t->next;
	return t;
}

/* Makes the uthreads runnable whose files are ready.  wait: blocks until one is, because no uthread
 * can run. */
static void readers_poll(bool wait)
{
	if (readers == 0 || poll(polled, readers, wait ? -1 : 0) <= 0)
		return;
	for (int i = readers - 1; i >= 0; i--)
		if (polled[i].revents != 0) {
			uqueue_put(&ready, reader[i]);
			readers--;
			polled[i] = polled[readers];
			reader[i] = reader[readers];
		}
}

/* Switches to the next uthread.  The caller is in a queue, or has ended. */
static void uthread_switch(void)
{
	struct uthread *self = running, *next;

	readers_poll(false);
	while ((next = uqueue_take(&ready)) == NULL) {
		if (readers == 0) {
			fprintf(stderr, "uthreads: deadlock: everyone waits for another\n");
			exit(1);
		}
		readers_poll(true);
	}
	if (next == self)
		return;
	running = next;
	if (self->done)
		setcontext(&next->context);
	else
		swapcontext(&self->context, &next->context);
}

static void uthread_main(void)
{
	uthread_exit(running->start(running->arg));
}

/* Prepares context to begin in uthread_main. */
static void context_prepare(ucontext_t *context, void *stack)
{
	getcontext(context);
	context->uc_stack.ss_sp = stack;
	context->uc_stack.ss_size = STACK_SIZE;
	makecontext(context, uthread_main, 0);
}

struct uthread *uthread_create(void *(*start)(void *), void *arg)
{
	struct uthread *t = calloc(1, sizeof(*t));
	void *stack = malloc(STACK_SIZE);

	if (t == NULL || stack == NULL) {
		free(t);
		free(stack);
		return NULL;
	}
	t->start = start;
	t->arg = arg;
	context_prepare(&t->context, stack);
	uqueue_put(&ready, t);
	return t;
}

void uthread_yield(void)
{
	uqueue_put(&ready, running);
	uthread_switch();
}

void uthread_exit(void *result)
{
	struct uthread *joiner = uqueue_take(&running->joiners);

	running->result = result;
	running->done = true;
	if (joiner != NULL)
		uqueue_put(&ready, joiner);
	uthread_switch();
	abort(); /* no uthread switches back to it */
}

void *uthread_join(struct uthread *t)
{
	void *result;

	if (!t->done) {
		uqueue_put(&t->joiners, running);
		uthread_switch();
	}
	result = t->result;
	free(t->context.uc_stack.ss_sp);
	free(t);
	return result;
}

void usem_wait(struct usem *s)
{
	if (s->count > 0) {
		s->count--;
		return;
	}
	uqueue_put(&s->waiters, running); /* usem_post gives the unit to the first waiter */
	uthread_switch();
}

void usem_post(struct usem *s)
{
	struct uthread *t = uqueue_take(&s->waiters);

	if (t != NULL)
		uqueue_put(&ready, t);
	else
		s->count++;
}

ssize_t uthread_read(int fd, void *buf, size_t size)
{
	if (readers == READERS_MAX) {
		errno = EAGAIN;
		return -1;
	}
	polled[readers] = (struct pollfd){.fd = fd, .events = POLLIN};
	reader[readers++] = running;
	uthread_switch();
	return read(fd, buf, size);
}
