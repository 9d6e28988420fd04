/*
 * stackmap.c - reads a StackMapTable: the types at each place that a branch or handler may lead to (JVMS 4.7.4).
 *
 * An entry is told as the difference to the one before it. Here each becomes a whole struct types. The memory for
 * them is limited, because a malformed table could ask for gigabytes.
 */

#include "verify.h"
#include <string.h>

#define MAX_MEMORY (4u << 20)

struct map_reader {
	struct verifier *v;
	const uint8_t *p, *end;
	struct types now; /* the entry read last; its arrays have max_locals and max_stack places */
};

static uint32_t map_take(struct map_reader *r, int n)
{
	uint32_t value = 0;

	if (r->end - r->p < n) {
		verify_fail(r->v, "a StackMapTable that is cut off");
		return 0;
	}
	while (n-- > 0)
		value = value << 8 | *r->p++;
	return value;
}

static vtype map_type(struct map_reader *r)
{
	static const uint8_t kinds[] = {TOP, INT, FLOAT, DOUBLE, LONG, NIL, THIS};
	uint32_t tag = map_take(r, 1), index;
	struct class *c = r->v->cls;

	if (tag < sizeof(kinds))
		return kinds[tag];
	index = map_take(r, 2);
	if (tag == 7 && index < c->n_constants && c->constants[index].tag == CP_CLASS)
		return REF_OF(c->constants[index].name);
	if (tag == 8 && index < r->v->length && r->v->starts[index] && r->v->code[index] == OP_new)
		return FRESH_AT(index);
	verify_fail(r->v, "a wrong type in the StackMapTable");
	return TOP;
}

/* Reads n types to the end of an array that has room for `room`. */
static void map_types(struct map_reader *r, vtype *to, uint32_t *at, uint32_t room, uint32_t n)
{
	while (n-- > 0 && r->v->error == NULL) {
		vtype type = map_type(r);
		bool wide = type == LONG || type == DOUBLE;

		if (*at + 1 + wide > room) {
			verify_fail(r->v, "more places in the StackMapTable than the method has");
			return;
		}
		to[(*at)++] = type;
		if (wide)
			to[(*at)++] = HIGH;
	}
}

static void map_chop(struct map_reader *r, uint32_t n)
{
	while (n-- > 0) {
		if (r->now.n_locals == 0) {
			verify_fail(r->v, "a StackMapTable that takes off more than there is");
			return;
		}
		r->now.n_locals -= r->now.locals[r->now.n_locals - 1] == HIGH ? 2 : 1;
	}
}

/* Reads an entry into r->now. Returns the difference of its offset. */
static uint32_t map_entry(struct map_reader *r)
{
	struct method *m = r->v->m;
	uint32_t kind = map_take(r, 1), delta = kind < 64 ? kind : kind < 128 ? kind - 64 : 0;

	if (kind >= 128 && kind < 247)
		verify_fail(r->v, "an unknown kind of entry in the StackMapTable");
	if (kind >= 247)
		delta = map_take(r, 2);
	r->now.n_stack = 0;
	if ((kind >= 64 && kind < 128) || kind == 247)
		map_types(r, r->now.stack, &r->now.n_stack, m->max_stack, 1);
	else if (kind >= 248 && kind <= 250)
		map_chop(r, 251 - kind);
	else if (kind >= 252 && kind < 255)
		map_types(r, r->now.locals, &r->now.n_locals, m->max_locals, kind - 251);
	if (kind == 255) {
		r->now.n_locals = 0;
		map_types(r, r->now.locals, &r->now.n_locals, m->max_locals, map_take(r, 2));
		map_types(r, r->now.stack, &r->now.n_stack, m->max_stack, map_take(r, 2));
	}
	return delta;
}

static void map_keep(struct map_reader *r, uint32_t offset)
{
	struct verifier *v = r->v;
	struct types *map;

	v->memory += sizeof(*map) + (r->now.n_locals + r->now.n_stack) * sizeof(vtype);
	if (offset >= v->length || !v->starts[offset] || v->memory > MAX_MEMORY) {
		verify_fail(v, v->memory > MAX_MEMORY
				       ? "a StackMapTable that is too large"
				       : "an entry of the StackMapTable that is at no instruction");
		return;
	}
	map = arena_alloc(&v->arena, sizeof(*map));
	*map = r->now;
	map->locals = arena_alloc(&v->arena, r->now.n_locals * sizeof(vtype) + 1);
	map->stack = arena_alloc(&v->arena, r->now.n_stack * sizeof(vtype) + 1);
	memcpy(map->locals, r->now.locals, r->now.n_locals * sizeof(vtype));
	memcpy(map->stack, r->now.stack, r->now.n_stack * sizeof(vtype));
	map->this_fresh = false;
	for (uint32_t i = 0; i < map->n_locals; i++)
		map->this_fresh |= map->locals[i] == THIS;
	v->maps[offset] = map;
}

/* Fills v->maps. v->now has the types at the beginning of the method. False: v->error. */
bool stackmap_read(struct verifier *v)
{
	struct method *m = v->m;
	struct map_reader r = {v, m->stackmap, m->stackmap + m->stackmap_length, v->now};
	uint32_t n, offset = 0;

	if (m->stackmap == NULL)
		return true;
	r.now.locals = arena_alloc(&v->arena, m->max_locals * sizeof(vtype) + 1);
	r.now.stack = arena_alloc(&v->arena, m->max_stack * sizeof(vtype) + 1);
	memcpy(r.now.locals, v->now.locals, v->now.n_locals * sizeof(vtype));
	n = map_take(&r, 2);
	for (uint32_t i = 0; i < n && v->error == NULL; i++) {
		offset += map_entry(&r) + (i != 0);
		if (v->error == NULL)
			map_keep(&r, offset);
	}
	if (v->error == NULL && r.p != r.end)
		verify_fail(v, "bytes behind the StackMapTable");
	return v->error == NULL;
}
