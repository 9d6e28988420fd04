/*
 * mqueue.h - message queues: the contents of a queue's file, and the data that a process keeps for
 * an open queue.
 *
 * The file holds a struct queue and the slots of its messages.  Its readers and writers own
 * queue->lock, a robust mutex that processes share.  If the owner of the lock dies, the next owner
 * rebuilds the lists from the slots (queue_repair).  A slot is `full` from the moment when its
 * message is whole until the receiver has copied it.
 *
 * Threads wait for one of two conditions, messages and room.  A thread with an LWP of its own waits
 * for the queue's shared condition variable, in the kernel.  An unbound thread waits for a
 * condition variable of its process, so that its LWP can run other threads.  Meanwhile a worker of
 * the library (core/worker.h) waits for the shared condition variable and passes its wake-ups on.
 *
 * Locks, in the order in which they nest: queue->lock, mq->lock.  The owner of queue->lock waits
 * for no other lock of its process, except mq->lock.  Otherwise an unbound owner could sleep for
 * another lock, and its LWP could run a thread that waits for queue->lock in the kernel.  The LWP
 * would never return to the owner.
 */
#pragma once
#include <mqueue.h>
#include <pthread.h>
#include "../core/worker.h"
#include "shared.h"

enum { MESSAGES, ROOM, NOTICE, CONDITIONS };

struct slot {
	uint64_t turn; /* of two messages of one priority, the lower turn goes first */
	uint32_t priority, size;
	uint32_t next; /* in its list; 0: the last */
	uint32_t full; /* atomic: it has a message */
	char text[];
};

struct queue {
	uint64_t magic;
	uint32_t maxmsg, msgsize, slot_size;
	pthread_mutex_t lock;
	pthread_cond_t changed[CONDITIONS];
	/* Slots are numbered from 1 on.  Everything from here on: lock. */
	uint32_t count;       /* of messages */
	uint32_t free, fresh; /* first slot of the free list; highest slot that was ever used */
	uint32_t priorities;  /* bit n: list[n] is not empty */
	struct {
		uint32_t first, last;
	} list[MQ_PRIO_MAX];
	uint64_t turn;      /* of the last message */
	uint32_t receivers; /* threads that wait for MESSAGES, and some that died in the wait */

	/* The process that is notified when a message comes to the empty queue. */
	struct {
		int32_t pid; /* 0: none */
		int32_t how, signo;
		uint32_t serial; /* counts registrations; never 0 in one */
		uint64_t began;  /* start of the process's program: exec ends the registration */
		uint64_t value;
	} notice;
};

#define QUEUE_MAGIC 0x6575657567736d31ull

static inline struct slot *slot_at(const struct queue *q, uint32_t n)
{
	return (struct slot *)((char *)(q + 1) + (uint64_t)(n - 1) * q->slot_size);
}

struct mq;

/* The unbound threads of this process that wait for one condition. */
struct side {
	struct work work; /* the worker that watches for them */
	struct mq *mq;
	unsigned sleepers;    /* mq->lock */
	unsigned turn;        /* mq->lock: changes with each wake-up */
	bool watched;         /* mq->lock: the worker runs */
	pthread_cond_t woken; /* with mq->lock */
};

/* An open message queue of this process. */
struct mq {
	struct queue *queue;
	size_t size;       /* of the mapping */
	uint64_t dev, ino; /* of the file */
	int fd, access;    /* O_RDONLY, O_WRONLY, O_RDWR */
	unsigned users;    /* atomic: calls, workers, and 1 until it is closed */
	bool closed;       /* queue->lock */
	pthread_mutex_t lock;
	struct side side[2]; /* MESSAGES, ROOM */

	uint32_t serial; /* queue->lock: of the registration made by this mq; 0: none */
};

/* mqueue.c */
struct mq *__mq_get(mqd_t fd, int not_access);
struct mq *__mq_next(const struct mq *m, int *fd);
void __mq_keep(struct mq *m);
void __mq_put(struct mq *m);
int __mq_fails(int error);

/* mqmsg.c: return an error number.  The owner cannot be suspended. */
int __mq_lock(struct queue *q);
void __mq_unlock(struct queue *q);
int __mq_wait(struct mq *m, int condition);

/* mqnotify.c: with queue->lock. */
/* The process that a sender notifies after it has released queue->lock.  pid 0: none. */
struct tell {
	int pid, signo;
	uint64_t value;
};
struct tell __mq_notice(struct queue *q);
void __mq_unregister(struct mq *m);
