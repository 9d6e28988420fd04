/*
 * symbol.c - names, and memory that is never given back or given back as a whole.
 *
 * A name of a class, field or method is one symbol wherever it stands, so that two names are compared by their
 * addresses. symbol_lock guards the table; a symbol does not change.
 */

#include "vm.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 4096 /* a power of two */
#define CHUNK 8192

struct arena_chunk {
	struct arena_chunk *next;
	size_t used, size;
	_Alignas(16) char bytes[];
};

static pthread_mutex_t symbol_lock = PTHREAD_MUTEX_INITIALIZER;
static struct symbol *symbols[BUCKETS];

static void *memory(size_t size)
{
	void *p = calloc(1, size);

	if (p == NULL) {
		fprintf(stderr, "java: no memory for classes\n");
		exit(1);
	}
	return p;
}

void *vm_alloc(size_t size)
{
	return memory(size);
}

void *arena_alloc(struct arena *arena, size_t size)
{
	struct arena_chunk *c = arena->chunks;

	size = (size + 15) & ~(size_t)15;
	if (c == NULL || c->size - c->used < size) {
		size_t room = size > CHUNK / 4 ? size : CHUNK;

		c = memory(sizeof(*c) + room);
		c->size = room;
		c->next = arena->chunks;
		arena->chunks = c;
	}
	c->used += size;
	return c->bytes + c->used - size;
}

void arena_free(struct arena *arena)
{
	struct arena_chunk *next;

	for (struct arena_chunk *c = arena->chunks; c != NULL; c = next) {
		next = c->next;
		free(c);
	}
	arena->chunks = NULL;
}

struct symbol *symbol_of(const char *text, size_t length)
{
	uint32_t hash = 0;
	struct symbol *s;

	for (size_t i = 0; i < length; i++)
		hash = hash * 31 + (uint8_t)text[i];
	pthread_mutex_lock(&symbol_lock);
	for (s = symbols[hash % BUCKETS]; s != NULL; s = s->next)
		if (s->hash == hash && s->length == length && memcmp(s->text, text, length) == 0)
			break;
	if (s == NULL) {
		s = memory(sizeof(*s) + length + 1);
		s->hash = hash;
		s->length = (uint16_t)length;
		memcpy(s->text, text, length);
		s->next = symbols[hash % BUCKETS];
		symbols[hash % BUCKETS] = s;
	}
	pthread_mutex_unlock(&symbol_lock);
	return s;
}

struct symbol *symbol_of_text(const char *text)
{
	return symbol_of(text, strlen(text));
}
