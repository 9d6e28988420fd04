/*
 * style_ostep.c - the exercises of a course in operating systems, as its text books have them: locks out
 * of atomic instructions and yielding, semaphores out of locks and condition variables, and locks out of
 * semaphores; bounded buffers, readers and writers, philosophers, a covering condition, barriers, joins,
 * lists with a lock a node.  Each looks at what its threads have done.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tap.h"

#define THREADS 5

static void run_threads(int n, void *(*fn)(void *))
{
	pthread_t t[THREADS];

	for (long i = 0; i < n; i++)
		if (pthread_create(&t[i], NULL, fn, (void *)i) != 0)
			bail("pthread_create");
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
}

/* --- a semaphore out of a lock and a condition variable --------------------------------------- */

struct zem {
	int value;
	pthread_cond_t more;
	pthread_mutex_t lock;
};

static void zem_init(struct zem *z, int value)
{
	z->value = value;
	pthread_cond_init(&z->more, NULL);
	pthread_mutex_init(&z->lock, NULL);
}

static void zem_wait(struct zem *z)
{
	pthread_mutex_lock(&z->lock);
	while (z->value <= 0)
		pthread_cond_wait(&z->more, &z->lock);
	z->value--;
	pthread_mutex_unlock(&z->lock);
}

static void zem_post(struct zem *z)
{
	pthread_mutex_lock(&z->lock);
	z->value++;
	pthread_cond_signal(&z->more);
	pthread_mutex_unlock(&z->lock);
}

/* --- locks, each guards the same count -------------------------------------------------------- */

#define TURNS 500

static volatile long count; /* read and written in two steps */

static atomic_uint next_ticket, turn;

static void ticket_lock(void)
{
	unsigned mine = atomic_fetch_add(&next_ticket, 1);

	while (atomic_load(&turn) != mine)
		sched_yield();
}

static void ticket_unlock(void)
{
	atomic_fetch_add(&turn, 1);
}

static atomic_flag flag = ATOMIC_FLAG_INIT;

static void flag_lock(void)
{
	while (atomic_flag_test_and_set(&flag))
		usleep(10);
}

static void flag_unlock(void)
{
	atomic_flag_clear(&flag);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void mutex_try_lock(void)
{
	while (pthread_mutex_trylock(&mutex) != 0)
		sched_yield();
}

static void mutex_unlock(void)
{
	pthread_mutex_unlock(&mutex);
}

static sem_t binary;

static void sem_lock(void)
{
	sem_wait(&binary);
}

static void sem_unlock(void)
{
	sem_post(&binary);
}

static struct zem zem_binary;

static void zem_lock(void)
{
	zem_wait(&zem_binary);
}

static void zem_unlock(void)
{
	zem_post(&zem_binary);
}

static const struct exclusion {
	const char *name;
	void (*lock)(void), (*unlock)(void);
} exclusions[] =
	{
		{"a ticket lock that yields", ticket_lock, ticket_unlock},
		{"a flag that is polled with usleep", flag_lock, flag_unlock},
		{"a mutex that is tried", mutex_try_lock, mutex_unlock},
		{"a semaphore of one", sem_lock, sem_unlock},
		{"a semaphore out of a condition variable", zem_lock, zem_unlock},
},
  *exclusion;

static void *counts(void *arg)
{
	for (int i = 0; i < TURNS; i++) {
		exclusion->lock();
		long was = count;
		if (i % 50 == 0)
			sched_yield(); /* with the lock */
		count = was + 1;
		exclusion->unlock();
	}
	return NULL;
}

static void locks(void)
{
	sem_init(&binary, 0, 1);
	zem_init(&zem_binary, 1);
	for (unsigned i = 0; i < sizeof(exclusions) / sizeof(exclusions[0]); i++) {
		exclusion = &exclusions[i];
		count = 0;
		run_threads(4, counts);
		is(exclusion->name, count, 4 * TURNS);
	}
}

/* --- waiting for a child ---------------------------------------------------------------------- */

static pthread_cond_t child_cond = PTHREAD_COND_INITIALIZER;
static sem_t child_sem;
static volatile bool child_done;

static void *child(void *arg)
{
	if (arg != NULL)
		usleep(500);
	pthread_mutex_lock(&mutex);
	child_done = true;
	pthread_cond_signal(&child_cond);
	pthread_mutex_unlock(&mutex);
	sem_post(&child_sem);
	return NULL;
}

static void joins(void)
{
	pthread_t t;

	sem_init(&child_sem, 0, 0);
	for (long late = 0; late < 2; late++) {
		child_done = false;
		pthread_create(&t, NULL, child, (void *)late);
		pthread_mutex_lock(&mutex);
		while (!child_done)
			pthread_cond_wait(&child_cond, &mutex);
		pthread_mutex_unlock(&mutex);
		sem_wait(&child_sem);
		pthread_join(t, NULL);
		child_done = false;
		pthread_create(&t, NULL, child, (void *)late);
		while (!child_done)
			sleep(1);
		sem_wait(&child_sem);
		pthread_join(t, NULL);
		ok(late ? "a parent waits for a child that sleeps" : "a parent waits for its child",
		   child_done);
	}
}

/* --- bounded buffers -------------------------------------------------------------------------- */

#define SLOTS 3
#define ITEMS 400 /* of each producer */
#define PRODUCERS 2
#define CONSUMERS 3

static struct buffer {
	int slot[SLOTS], fill, use, used;
	pthread_cond_t empty, full;
	sem_t empties, fulls, guard;
} buffer;
static atomic_int seen[PRODUCERS * ITEMS];

static void buffer_put(int item)
{
	buffer.slot[buffer.fill] = item;
	buffer.fill = (buffer.fill + 1) % SLOTS;
	buffer.used++;
}

static int buffer_get(void)
{
	int item = buffer.slot[buffer.use];

	buffer.use = (buffer.use + 1) % SLOTS;
	buffer.used--;
	return item;
}

static void cond_put(int item)
{
	pthread_mutex_lock(&mutex);
	while (buffer.used == SLOTS)
		pthread_cond_wait(&buffer.empty, &mutex);
	buffer_put(item);
	pthread_cond_signal(&buffer.full);
	pthread_mutex_unlock(&mutex);
}

static int cond_get(void)
{
	pthread_mutex_lock(&mutex);
	while (buffer.used == 0)
		pthread_cond_wait(&buffer.full, &mutex);
	int item = buffer_get();
	pthread_cond_signal(&buffer.empty);
	pthread_mutex_unlock(&mutex);
	return item;
}

static void sem_put(int item)
{
	sem_wait(&buffer.empties);
	sem_wait(&buffer.guard);
	buffer_put(item);
	sem_post(&buffer.guard);
	sem_post(&buffer.fulls);
}

static int sem_get(void)
{
	sem_wait(&buffer.fulls);
	sem_wait(&buffer.guard);
	int item = buffer_get();
	sem_post(&buffer.guard);
	sem_post(&buffer.empties);
	return item;
}

static void (*put)(int);
static int (*get)(void);
static atomic_int producing;

/* The last producer puts an end for each consumer. */
static void *produces_or_consumes(void *arg)
{
	long me = (long)arg;

	if (me < PRODUCERS) {
		for (int i = 0; i < ITEMS; i++)
			put(me * ITEMS + i);
		if (atomic_fetch_sub(&producing, 1) == 1)
			for (int i = 0; i < CONSUMERS; i++)
				put(-1);
		return NULL;
	}
	for (int item; (item = get()) >= 0;)
		atomic_fetch_add(&seen[item], 1);
	return NULL;
}

static void bounded_buffer(const char *name, void (*p)(int), int (*g)(void))
{
	int once = 0;

	put = p;
	get = g;
	memset(&buffer, 0, sizeof(buffer));
	memset(seen, 0, sizeof(seen));
	pthread_cond_init(&buffer.empty, NULL);
	pthread_cond_init(&buffer.full, NULL);
	sem_init(&buffer.empties, 0, SLOTS);
	sem_init(&buffer.fulls, 0, 0);
	sem_init(&buffer.guard, 0, 1);
	atomic_store(&producing, PRODUCERS);
	run_threads(PRODUCERS + CONSUMERS, produces_or_consumes);
	for (int i = 0; i < PRODUCERS * ITEMS; i++)
		once += atomic_load(&seen[i]) == 1;
	is(name, once, PRODUCERS * ITEMS);
}

/* --- readers and writers, by semaphores ------------------------------------------------------- */

static struct {
	sem_t lock, writing, waiting;
	int readers;
} rw;
static volatile int value[2]; /* the same, but while a writer is at it */
static atomic_int torn, at_once, most;

/* The first reader takes `writing`, and the last one, another thread, gives it back. */
static void read_lock(void)
{
	sem_wait(&rw.waiting); /* not past a writer that waits */
	sem_post(&rw.waiting);
	sem_wait(&rw.lock);
	if (++rw.readers == 1)
		sem_wait(&rw.writing);
	sem_post(&rw.lock);
}

static void read_unlock(void)
{
	sem_wait(&rw.lock);
	if (--rw.readers == 0)
		sem_post(&rw.writing);
	sem_post(&rw.lock);
}

static void *reads_or_writes(void *arg)
{
	for (int i = 0; i < 100; i++) {
		if ((long)arg < 2) {
			sem_wait(&rw.waiting);
			sem_wait(&rw.writing);
			value[0]++;
			usleep(20);
			value[1]++;
			sem_post(&rw.writing);
			sem_post(&rw.waiting);
			continue;
		}
		read_lock();
		int n = atomic_fetch_add(&at_once, 1) + 1;
		if (n > atomic_load(&most))
			atomic_store(&most, n);
		int first = value[0];
		usleep(20);
		if (first != value[1])
			atomic_fetch_add(&torn, 1);
		atomic_fetch_sub(&at_once, 1);
		read_unlock();
	}
	return NULL;
}

static void readers_and_writers(void)
{
	sem_init(&rw.lock, 0, 1);
	sem_init(&rw.writing, 0, 1);
	sem_init(&rw.waiting, 0, 1);
	run_threads(THREADS, reads_or_writes);
	is("readers and writers: every write", value[0], 200);
	is("... and no reader between its halves", atomic_load(&torn), 0);
	ok("... but readers beside readers", atomic_load(&most) > 1);
}

/* --- philosophers ----------------------------------------------------------------------------- */

#define MEALS 50

static sem_t fork_sem[THREADS];
static atomic_int eaters[THREADS], quarrels, meals;

static void *dines(void *arg)
{
	int me = (long)arg, left = me, right = (me + 1) % THREADS;
	int first = me == THREADS - 1 ? right : left, second = left + right - first;

	for (int i = 0; i < MEALS; i++) {
		usleep(10 * me);
		sem_wait(&fork_sem[first]);
		sched_yield();
		sem_wait(&fork_sem[second]);
		if (atomic_fetch_add(&eaters[left], 1) + atomic_fetch_add(&eaters[right], 1) != 0)
			atomic_fetch_add(&quarrels, 1);
		usleep(10);
		atomic_fetch_add(&meals, 1);
		atomic_fetch_sub(&eaters[left], 1);
		atomic_fetch_sub(&eaters[right], 1);
		sem_post(&fork_sem[second]);
		sem_post(&fork_sem[first]);
	}
	return NULL;
}

static void philosophers(void)
{
	for (int i = 0; i < THREADS; i++)
		sem_init(&fork_sem[i], 0, 1);
	run_threads(THREADS, dines);
	is("philosophers: all have eaten", atomic_load(&meals), THREADS * MEALS);
	is("... each with two forks", atomic_load(&quarrels), 0);
}

/* --- a covering condition --------------------------------------------------------------------- */

static int room = 100, least = 100;
static pthread_cond_t freed = PTHREAD_COND_INITIALIZER;

/* A thread that gives room back does not know which need that meets: it wakes all. */
static void *takes_room(void *arg)
{
	int need = 20 + 20 * (int)(long)arg;

	for (int i = 0; i < 60; i++) {
		pthread_mutex_lock(&mutex);
		while (room < need)
			pthread_cond_wait(&freed, &mutex);
		room -= need;
		if (room < least)
			least = room;
		pthread_mutex_unlock(&mutex);
		usleep(10);
		pthread_mutex_lock(&mutex);
		room += need;
		pthread_cond_broadcast(&freed);
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static void covering_condition(void)
{
	run_threads(THREADS, takes_room);
	is("a covering condition: all is given back", room, 100);
	ok("... and nothing was given twice", least >= 0);
}

/* --- a barrier out of semaphores -------------------------------------------------------------- */

#define CYCLES 40

static struct {
	struct zem lock, arrive, leave;
	int n;
} bar;
static atomic_int cycle_of[THREADS], too_far;

/* Two gates: a thread that is fast cannot take the place of a slow one in the next cycle. */
static void barrier_wait(void)
{
	zem_wait(&bar.lock);
	if (++bar.n == THREADS)
		for (int i = 0; i < THREADS; i++)
			zem_post(&bar.arrive);
	zem_post(&bar.lock);
	zem_wait(&bar.arrive);
	zem_wait(&bar.lock);
	if (--bar.n == 0)
		for (int i = 0; i < THREADS; i++)
			zem_post(&bar.leave);
	zem_post(&bar.lock);
	zem_wait(&bar.leave);
}

static void *cycles(void *arg)
{
	long me = (long)arg;

	for (int c = 1; c <= CYCLES; c++) {
		if (me == c % THREADS)
			usleep(100);
		atomic_store(&cycle_of[me], c);
		barrier_wait();
		for (int i = 0; i < THREADS; i++)
			if (atomic_load(&cycle_of[i]) < c || atomic_load(&cycle_of[i]) > c + 1)
				atomic_fetch_add(&too_far, 1);
	}
	return NULL;
}

static void barrier_of_semaphores(void)
{
	zem_init(&bar.lock, 1);
	zem_init(&bar.arrive, 0);
	zem_init(&bar.leave, 0);
	run_threads(THREADS, cycles);
	is("a barrier out of semaphores: nobody is in another cycle", atomic_load(&too_far), 0);
	is("... and it ends empty", bar.arrive.value + bar.leave.value + bar.n, 0);
}

/* --- lists and counters ----------------------------------------------------------------------- */

#define KEYS 40

/* A sorted list with a lock a node: a thread has at most two, hand over hand. */
struct node {
	pthread_mutex_t lock;
	struct node *next;
	int key, times;
};
static struct node head = {.lock = PTHREAD_MUTEX_INITIALIZER, .key = -1};

static void list_add(int key)
{
	struct node *at = &head, *next, *n;

	pthread_mutex_lock(&at->lock);
	while ((next = at->next) != NULL) {
		pthread_mutex_lock(&next->lock);
		if (next->key >= key)
			break;
		pthread_mutex_unlock(&at->lock);
		at = next;
	}
	if (next != NULL && next->key == key) {
		next->times++;
	} else {
		n = calloc(1, sizeof(*n));
		pthread_mutex_init(&n->lock, NULL);
		n->key = key;
		n->times = 1;
		n->next = next;
		at->next = n;
	}
	if (next != NULL)
		pthread_mutex_unlock(&next->lock);
	pthread_mutex_unlock(&at->lock);
}

static struct {
	long global, local[THREADS];
	pthread_mutex_t glock;
} approx = {.glock = PTHREAD_MUTEX_INITIALIZER};

static void approx_add(int me, long n, long limit)
{
	approx.local[me] += n;
	if (approx.local[me] >= limit) {
		pthread_mutex_lock(&approx.glock);
		approx.global += approx.local[me];
		pthread_mutex_unlock(&approx.glock);
		approx.local[me] = 0;
	}
}

static void *adds(void *arg)
{
	int me = (long)arg;

	for (int i = 0; i < KEYS; i++) {
		list_add((i * 7 + me * 11) % KEYS);
		approx_add(me, i, 64);
		if (i % 8 == me)
			usleep(10);
	}
	approx_add(me, 0, 0);
	return NULL;
}

static void lists(void)
{
	int nodes = 0, wrong = 0, before = -1;

	run_threads(THREADS, adds);
	for (struct node *n = head.next; n != NULL; before = n->key, n = n->next, nodes++)
		wrong += n->times != THREADS || n->key <= before;
	is("a list with a lock a node", nodes, KEYS);
	is("... in order, each key as often as it was added", wrong, 0);
	is("a count in parts", approx.global, THREADS * (long)(KEYS * (KEYS - 1) / 2));
}

int main(void)
{
	locks();
	joins();
	bounded_buffer("a bounded buffer with condition variables", cond_put, cond_get);
	bounded_buffer("a bounded buffer with semaphores", sem_put, sem_get);
	readers_and_writers();
	philosophers();
	covering_condition();
	barrier_of_semaphores();
	lists();
	return tap_done();
}
