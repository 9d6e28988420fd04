/* list.h - an intrusive doubly-linked list with a head node.  The caller locks. */
#pragma once
#include "types.h"

struct list {
	struct list *next, *prev;
};

#define LIST_INIT(l)                                                                               \
	{                                                                                          \
		&(l), &(l)                                                                         \
	}

static inline void list_init(struct list *l)
{
	l->next = l->prev = l;
}
static inline bool list_empty(const struct list *l)
{
	return l->next == l;
}
static inline void list_insert_before(struct list *at, struct list *n)
{
	struct list *prev = at->prev;

	n->prev = prev;
	n->next = at;
	prev->next = n;
	at->prev = n;
}
static inline void list_push_back(struct list *l, struct list *n)
{
	list_insert_before(l, n);
}
static inline void list_push_front(struct list *l, struct list *n)
{
	list_insert_before(l->next, n);
}
/* Leaves n pointing at itself, so that a second removal is harmless. */
static inline void list_remove(struct list *n)
{
	struct list *prev = n->prev, *next = n->next;

	prev->next = next;
	next->prev = prev;
	list_init(n);
}
/* The same for n, the first of l. */
static inline void list_remove_first(struct list *l, struct list *n)
{
	struct list *next = n->next;

	l->next = next;
	next->prev = l;
	list_init(n);
}

#define LIST_FIRST(l, type, member) CONTAINER_OF((l)->next, type, member)
#define LIST_FOREACH(l, var, type, member)                                                         \
	for (type *var = CONTAINER_OF((l)->next, type, member); &var->member != (l);               \
	     var = CONTAINER_OF(var->member.next, type, member))
