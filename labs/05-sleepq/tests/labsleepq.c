/*
 * labsleepq.c PART [ROUNDS [CHANCE]] - the sleep queue as a data structure.  The threads that stand
 * in it are none: nothing runs them.  A list for each object says what the queue has to say.
 */
#include "players.h"
#include <signal.h>

#define THREADS 48
#define OBJECTS 4

static struct sleepq queue;
static struct thread thread[THREADS];
static bool stands[THREADS];
static char object[OBJECTS];
static bool lifo; /* queue=lifo */

/* What must be in the queue for an object, the first to be taken out first. */
static struct list {
	struct thread *t[THREADS];
	unsigned n;
} list[OBJECTS];
static unsigned counted; /* entries by the near-LIFO rule */
static const char *part = "";

#define WANT(cond, ...)                                                                            \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			lab_check(false, part, __VA_ARGS__);                                       \
			_exit(lab_end());                                                          \
		}                                                                                  \
	} while (0)

static unsigned number(const struct thread *t)
{
	return t - thread;
}

static void list_insert(struct list *l, unsigned at, struct thread *t)
{
	for (unsigned i = l->n++; i > at; i--)
		l->t[i] = l->t[i - 1];
	l->t[at] = t;
}

static void list_remove(struct list *l, unsigned at)
{
	stands[number(l->t[at])] = false;
	l->n--;
	for (unsigned i = at; i < l->n; i++)
		l->t[i] = l->t[i + 1];
}

static bool all_empty(void)
{
	for (unsigned i = 0; i < OBJECTS; i++)
		if (list[i].n != 0)
			return false;
	return true;
}

/* Compares the first waiter of each object with the lists. */
static void look(const char *after)
{
	for (unsigned i = 0; i < OBJECTS; i++) {
		struct thread *t = __sleepq_first(&queue, &object[i]);
		struct thread *right = list[i].n != 0 ? list[i].t[0] : NULL;
		WANT(t != NULL || right == NULL,
		     "after %s, __sleepq_first(object %u) is NULL; thread %u waits for that object",
		     after, i, number(right));
		WANT(t == right,
		     "after %s, __sleepq_first(object %u) is thread %u of priority %u, not thread "
		     "%d of "
		     "priority %u",
		     after, i, number(t), t->pri, right != NULL ? (int)number(right) : -1,
		     right != NULL ? right->pri : 0);
	}
}

static void enter(unsigned obj, struct thread *t, enum order order)
{
	struct list *l = &list[obj];
	bool fifo = order == ORDER_FIFO || !lifo || t->pri >= PRI_REALTIME;
	unsigned at = 0;

	if (!fifo && !all_empty())
		fifo = ++counted % 16 == 0;
	while (at < l->n && (fifo ? l->t[at]->pri >= t->pri : l->t[at]->pri > t->pri))
		at++;
	t->q_next = t->q_prev = t->q_tail = t->q_chain =
		(struct thread *)16; /* of an earlier wait */
	sleepq_enter(&queue, &object[obj], t, order);
	list_insert(l, at, t);
	stands[number(t)] = true;
	WANT(t->wchan == &object[obj] && t->q == &queue,
	     "a thread has entered the queue, and its wchan or q does not say for what it waits "
	     "and where");
	look("an entry");
}

static void take(unsigned obj)
{
	struct list *l = &list[obj];
	struct thread *right = l->n != 0 ? l->t[0] : NULL;
	bool more = !(l->n > 1);
	struct thread *t = sleepq_take(&queue, &object[obj], &more);

	WANT(t == right, "sleepq_take takes thread %d, not thread %d",
	     t != NULL ? (int)number(t) : -1, right != NULL ? (int)number(right) : -1);
	if (t != NULL)
		list_remove(l, 0);
	WANT(more == (l->n != 0), "sleepq_take says that %s wait for the object; %u do",
	     more ? "more threads" : "no more threads", l->n);
	look("sleepq_take");
}

static void take_all(unsigned obj)
{
	struct list *l = &list[obj];
	struct thread *t = __sleepq_take_all(&queue, &object[obj]);
	unsigned i = 0;

	for (; t != NULL && i < l->n; t = t->q_next, i++)
		WANT(t == l->t[i],
		     "place %u in the list of __sleepq_take_all is thread %u, not thread %u", i,
		     number(t), number(l->t[i]));
	WANT(i == l->n && t == NULL, "__sleepq_take_all takes %s than %u threads",
	     t != NULL ? "more" : "fewer", l->n);
	while (l->n > 0)
		list_remove(l, l->n - 1);
	look("__sleepq_take_all");
}

static void leave(unsigned obj, unsigned at)
{
	struct thread *t = list[obj].t[at];

	__sleepq_remove(&queue, t);
	list_remove(&list[obj], at);
	look("__sleepq_remove");
}

static void drain(void)
{
	for (unsigned i = 0; i < OBJECTS; i++)
		while (list[i].n != 0)
			take(i);
	WANT(queue.first == NULL, "all threads have left the queue, and it is not empty");
}

static unsigned any(unsigned n)
{
	return draw_from(&chance, n);
}

static struct thread *a_thread(unsigned pri)
{
	for (unsigned i = any(THREADS), n = 0; n < THREADS; i = (i + 1) % THREADS, n++)
		if (!stands[i]) {
			thread[i].pri = pri;
			return &thread[i];
		}
	return NULL;
}

static void fill(unsigned n, unsigned objects, unsigned priorities, enum order order)
{
	for (unsigned i = 0; i < n; i++)
		enter(any(objects), a_thread(any(priorities)), order);
}

static void part_fifo(void)
{
	for (unsigned i = 0; i < rounds; i++) {
		fill(2 + any(20), 1, 1, ORDER_FIFO);
		drain();
	}
	lab_check(true, part, "-");
}

static void part_objects(void)
{
	for (unsigned i = 0; i < rounds; i++) {
		fill(4 + any(20), OBJECTS, 1, ORDER_FIFO);
		for (unsigned k = any(10); k > 0; k--)
			take(any(OBJECTS));
		fill(any(10), OBJECTS, 1, ORDER_FIFO);
		take_all(any(OBJECTS));
		drain();
	}
	lab_check(true, part, "-");
}

static void part_order(void)
{
	for (unsigned i = 0; i < rounds; i++) {
		fill(20 + any(20), 1 + any(2), 1 + any(4), ORDER_OPTION);
		enter(0, a_thread(PRI_REALTIME), ORDER_OPTION);
		enter(0, a_thread(PRI_REALTIME), ORDER_OPTION);
		drain();
	}
	lab_check(true, part, "-");
}

static void part_remove(void)
{
	for (unsigned i = 0; i < rounds; i++) {
		fill(6 + any(30), OBJECTS, 3, ORDER_FIFO);
		for (unsigned k = any(30); k > 0; k--) {
			unsigned obj = any(OBJECTS);
			if (list[obj].n != 0)
				leave(obj, any(3) == 0 ? list[obj].n - 1 : any(list[obj].n));
		}
		fill(any(8), OBJECTS, 3, ORDER_FIFO);
		drain();
	}
	lab_check(true, part, "-");
}

static void part_all(void)
{
	for (unsigned i = 0; i < 20 * rounds; i++) {
		unsigned obj = any(OBJECTS), what = any(8);
		struct thread *t = a_thread(any(4) == 0 ? PRI_REALTIME + any(2) : any(3));
		if (what < 4 && t != NULL)
			enter(obj, t, any(3) == 0 ? ORDER_FIFO : ORDER_OPTION);
		else if (what < 6)
			take(obj);
		else if (what == 6 && list[obj].n != 0)
			leave(obj, any(list[obj].n));
		else if (any(4) == 0)
			take_all(obj);
	}
	drain();
	lab_check(true, part, "-");
}

static void fault(int sig)
{
	lab_check(false, part, "a pointer of a queue leads to no thread (SIGSEGV)");
	_exit(lab_end());
}

static const struct part parts[] = {
	{"fifo", part_fifo},     {"objects", part_objects}, {"order", part_order},
	{"remove", part_remove}, {"all", part_all},
};

int main(int argc, char **argv)
{
	struct sigaction act = {.sa_handler = fault};

	part = argc > 1 ? argv[1] : "";
	lifo = !__options.fifo;
	sigaction(SIGSEGV, &act, NULL);
	return play_part(parts, sizeof(parts) / sizeof(parts[0]), argc, argv);
}
