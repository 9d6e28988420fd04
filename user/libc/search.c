/* search.c - linear search in an array, and lists of elements that begin with two links (POSIX). */
#include <search.h>
#include <string.h>

/* Returns the first of *count elements for which compare(key, element) is 0, or NULL. */
void *lfind(const void *key, const void *base, size_t *count, size_t size,
	    int (*compare)(const void *, const void *))
{
	const char *element = base;

	for (size_t i = 0; i < *count; i++, element += size)
		if (compare(key, element) == 0)
			return (void *)element;
	return NULL;
}

/* As lfind.  If there is no such element, copies key behind the last, where there must be room. */
void *lsearch(const void *key, void *base, size_t *count, size_t size,
	      int (*compare)(const void *, const void *))
{
	void *found = lfind(key, base, count, size, compare);

	if (found == NULL)
		found = memcpy((char *)base + (*count)++ * size, key, size);
	return found;
}

struct queue_element {
	struct queue_element *next, *previous;
};

/* Inserts element behind `before`.  NULL: element becomes the first of a list with ends. */
void insque(void *element, void *before)
{
	struct queue_element *e = element, *b = before;

	e->previous = b;
	e->next = b != NULL ? b->next : NULL;
	if (b != NULL)
		b->next = e;
	if (e->next != NULL)
		e->next->previous = e;
}

/* Removes element.  Its own links are not changed. */
void remque(void *element)
{
	struct queue_element *e = element;

	if (e->next != NULL)
		e->next->previous = e->previous;
	if (e->previous != NULL)
		e->previous->next = e->next;
}
