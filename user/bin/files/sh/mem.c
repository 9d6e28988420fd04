/*
 * mem.c - memory: arenas, and strings that grow.
 *
 * An arena is a chain of blocks, the newest first.  Each new block is as large as all older blocks
 * together, so that the number of blocks stays small.
 */
#include <err.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "sh.h"

#define FIRST_BLOCK 1000
#define LARGEST_BLOCK 65536

struct block {
	struct block *older;
	size_t used, size;
	char data[] __attribute__((aligned(16)));
};

struct arena {
	struct block *newest;
	int holders;
};

void *xrealloc(void *p, size_t size)
{
	p = realloc(p, size ? size : 1);
	if (!p)
		errx(STATUS_CANNOT_RUN, "out of memory");
	return p;
}

char *xstrdup(const char *s)
{
	return strcpy(xrealloc(NULL, strlen(s) + 1), s);
}

struct arena *arena_new(void)
{
	struct arena *a = xrealloc(NULL, sizeof(*a));

	*a = (struct arena){.holders = 1};
	return a;
}

void arena_hold(struct arena *a)
{
	a->holders++;
}

void arena_drop(struct arena *a)
{
	if (--a->holders)
		return;
	arena_release(a, (struct mark){0});
	free(a);
}

static void add_block(struct arena *a, size_t size)
{
	size_t usual = a->newest ? 2 * a->newest->size : FIRST_BLOCK;
	struct block *b;

	if (usual > LARGEST_BLOCK)
		usual = LARGEST_BLOCK;
	if (size < usual)
		size = usual;
	b = xrealloc(NULL, sizeof(*b) + size);
	b->older = a->newest;
	b->used = 0;
	b->size = size;
	a->newest = b;
}

void *arena_alloc(struct arena *a, size_t size)
{
	struct block *b;

	size = (size + 15) & ~(size_t)15;
	if (!a->newest || a->newest->size - a->newest->used < size)
		add_block(a, size);
	b = a->newest;
	b->used += size;
	return b->data + b->used - size;
}

char *arena_string(struct arena *a, const char *s, size_t len)
{
	char *copy = arena_alloc(a, len + 1);

	memcpy(copy, s, len);
	copy[len] = '\0';
	return copy;
}

struct mark arena_mark(const struct arena *a)
{
	return (struct mark){a->newest, a->newest ? a->newest->used : 0};
}

void arena_release(struct arena *a, struct mark mark)
{
	struct block *b;

	while ((b = a->newest) != mark.block) {
		a->newest = b->older;
		free(b);
	}
	if (b)
		b->used = mark.used;
}

static void grow(struct str *str, size_t more)
{
	size_t size = str->size ? str->size : 32;
	char *s;

	while (size < str->len + more + 1)
		size *= 2;
	if (size == str->size)
		return;
	if (str->arena) {
		s = arena_alloc(str->arena, size);
		if (str->len)
			memcpy(s, str->s, str->len);
		str->s = s;
	} else {
		str->s = xrealloc(str->s, size);
	}
	str->size = size;
}

void str_append(struct str *str, const char *s, size_t len)
{
	grow(str, len);
	memcpy(str->s + str->len, s, len);
	str->len += len;
	str->s[str->len] = '\0';
}

void str_add(struct str *str, char c)
{
	str_append(str, &c, 1);
}

char *str_done(struct str *str)
{
	char *s;

	str_append(str, "", 0);
	s = str->s;
	*str = (struct str){.arena = str->arena};
	return s;
}

void str_free(struct str *str)
{
	free(str->s);
	*str = (struct str){0};
}
