/*
 * pool.c - reads a class file's constant pool, and the bootstrap methods of its call sites (JVMS 4.4, 4.7.23).
 */

#include "classfile.h"

/* The next n bytes as a number. */
uint32_t reader_take(struct reader *r, int n)
{
	uint32_t value = 0;

	if (r->end - r->p < n) {
		r->bad = true;
		return 0;
	}
	while (n-- > 0)
		value = value << 8 | *r->p++;
	return value;
}

/* The next `length` bytes, or NULL. */
const uint8_t *reader_bytes(struct reader *r, uint32_t length)
{
	const uint8_t *p = r->p;

	if ((size_t)(r->end - r->p) < length) {
		r->bad = true;
		return NULL;
	}
	r->p += length;
	return p;
}

bool parse_fail(struct parse *p, const char *error)
{
	if (p->error == NULL)
		p->error = error;
	return false;
}

struct constant *parse_constant(struct parse *p, uint32_t index, uint8_t tag)
{
	if (index == 0 || index >= p->c->n_constants || p->c->constants[index].tag != tag) {
		parse_fail(p, "wrong index of the constant pool");
		return NULL;
	}
	return &p->c->constants[index];
}

/* The text of an entry CP_UTF8, or NULL. */
struct symbol *parse_name(struct parse *p, uint32_t index)
{
	struct constant *c = parse_constant(p, index, CP_UTF8);

	return c == NULL ? NULL : c->name;
}

/* Reads one entry. Returns how many places it takes. */
static int constant_read(struct parse *p, struct constant *c)
{
	struct reader *r = &p->r;
	uint32_t length;
	const uint8_t *bytes;

	c->tag = (uint8_t)reader_take(r, 1);
	switch (c->tag) {
	case CP_UTF8:
		length = reader_take(r, 2);
		bytes = reader_bytes(r, length);
		if (bytes != NULL && !text_is_utf8(bytes, length))
			parse_fail(p, "a text that is no UTF-8");
		c->name = symbol_of(bytes == NULL ? "" : (const char *)bytes,
				    bytes == NULL ? 0 : length);
		return 1;
	case CP_INTEGER:
	case CP_FLOAT:
		c->value.i = (int32_t)reader_take(r, 4);
		return 1;
	case CP_LONG:
	case CP_DOUBLE:
		c->value.j = (int64_t)((uint64_t)reader_take(r, 4) << 32);
		c->value.j |= reader_take(r, 4);
		return 2;
	case CP_HANDLE:
		c->a = (uint16_t)reader_take(r, 1);
		c->b = (uint16_t)reader_take(r, 2);
		return 1;
	case CP_CLASS:
	case CP_STRING:
	case CP_METHODTYPE:
		c->a = (uint16_t)reader_take(r, 2);
		return 1;
	case CP_FIELD:
	case CP_METHOD:
	case CP_IMETHOD:
	case CP_NAMETYPE:
	case CP_INVOKEDYNAMIC:
		c->a = (uint16_t)reader_take(r, 2);
		c->b = (uint16_t)reader_take(r, 2);
		return 1;
	}
	parse_fail(p, "unknown kind of constant");
	return 1;
}

static void call_site_link(struct parse *p, struct constant *c)
{
	struct constant *types = parse_constant(p, c->b, CP_NAMETYPE);

	if (types == NULL || types->name == NULL || types->desc == NULL)
		return;
	c->name = types->name;
	c->desc = types->desc;
	if (!name_is_unqualified(c->name, true) || c->name == known.init ||
	    c->name == known.clinit || !descriptor_check(c->desc->text, c->desc->length, true))
		parse_fail(p, "a call site with a wrong name or type");
}

/* Has a method handle a member of the right kind (JVMS 4.4.8)?  c->a is the handle's kind, c->b the member. */
static bool handle_fits(struct parse *p, const struct constant *c)
{
	const struct constant *member =
		c->b < p->c->n_constants ? &p->c->constants[c->b] : &p->c->constants[0];

	switch (c->a) {
	case HANDLE_VIRTUAL:
		return member->tag == CP_METHOD && member->name != known.init;
	case HANDLE_NEW:
		return member->tag == CP_METHOD && member->name == known.init;
	case HANDLE_STATIC:
	case HANDLE_SPECIAL:
		return (member->tag == CP_METHOD || member->tag == CP_IMETHOD) &&
		       member->name != known.init;
	case HANDLE_INTERFACE:
		return member->tag == CP_IMETHOD && member->name != known.init;
	}
	return c->a >= 1 && c->a < HANDLE_VIRTUAL && member->tag == CP_FIELD;
}

/* Fills in the names of entries that name others, in an order in which those are complete. */
static void constant_link(struct parse *p, struct constant *c, int round)
{
	struct constant *other;
	bool method = c->tag == CP_METHOD || c->tag == CP_IMETHOD;

	if (round == 0 && (c->tag == CP_CLASS || c->tag == CP_STRING || c->tag == CP_METHODTYPE)) {
		c->name = parse_name(p, c->a);
		if (c->tag == CP_CLASS && c->name != NULL && !name_is_class(c->name))
			parse_fail(p, "a name that no class can have");
	} else if (round == 0 && c->tag == CP_NAMETYPE) {
		c->name = parse_name(p, c->a);
		c->desc = parse_name(p, c->b);
	} else if (round == 1 && (c->tag == CP_FIELD || method)) {
		parse_constant(p, c->a, CP_CLASS);
		other = parse_constant(p, c->b, CP_NAMETYPE);
		if (other == NULL || other->name == NULL || other->desc == NULL)
			return;
		c->name = other->name;
		c->desc = other->desc;
		if (!descriptor_check(c->desc->text, c->desc->length, method))
			parse_fail(p, "a descriptor that is no type");
		if (!name_is_unqualified(c->name, method) || c->name == known.clinit)
			parse_fail(p, "a name that no field or method can have");
		if (c->name == known.init && c->desc->text[c->desc->length - 1] != 'V')
			parse_fail(p, "a constructor with a result");
	} else if (round == 1 && c->tag == CP_METHODTYPE) {
		if (!descriptor_check(c->name->text, c->name->length, true))
			parse_fail(p, "a type of a method that is none");
	} else if (round == 1 && c->tag == CP_INVOKEDYNAMIC) {
		call_site_link(p, c);
	} else if (round == 2 && c->tag == CP_HANDLE && !handle_fits(p, c)) {
		parse_fail(p, "a handle of the wrong kind");
	}
}

bool parse_constants(struct parse *p)
{
	struct class *c = p->c;

	c->n_constants = (uint16_t)reader_take(&p->r, 2);
	if (c->n_constants == 0)
		return parse_fail(p, "no constant pool");
	c->constants = arena_alloc(&c->arena, c->n_constants * sizeof(struct constant));
	for (int i = 1; i < c->n_constants && !p->r.bad && p->error == NULL;)
		i += constant_read(p, &c->constants[i]);
	if (c->n_constants > 1 && (c->constants[c->n_constants - 1].tag == CP_LONG ||
				   c->constants[c->n_constants - 1].tag == CP_DOUBLE))
		return parse_fail(p, "a constant behind the end of the pool");
	for (int round = 0; round < 3; round++)
		for (int i = 1; i < c->n_constants && !p->r.bad && p->error == NULL; i++)
			constant_link(p, &c->constants[i], round);
	return p->error == NULL && !p->r.bad;
}

/* The content of the attribute BootstrapMethods.  The arguments stay where they are in the file. */
void parse_bootstraps(struct parse *p, struct reader *r)
{
	struct class *c = p->c;

	if (c->bootstraps != NULL)
		parse_fail(p, "two tables of bootstrap methods");
	c->n_bootstraps = (uint16_t)reader_take(r, 2);
	c->bootstraps = arena_alloc(&c->arena, c->n_bootstraps * sizeof(struct bootstrap) + 1);
	for (int i = 0; i < c->n_bootstraps && !r->bad && p->error == NULL; i++) {
		struct bootstrap *b = &c->bootstraps[i];

		b->handle = parse_constant(p, reader_take(r, 2), CP_HANDLE);
		b->n = (uint16_t)reader_take(r, 2);
		b->arguments = reader_bytes(r, b->n * 2u);
	}
	if (r->bad || r->p != r->end)
		parse_fail(p, "a table of bootstrap methods of a wrong length");
}

/* Has each call site a bootstrap method, and each of its arguments a constant? */
bool parse_call_sites(struct parse *p)
{
	struct class *c = p->c;

	for (int i = 1; i < c->n_constants; i++)
		if (c->constants[i].tag == CP_INVOKEDYNAMIC && c->constants[i].a >= c->n_bootstraps)
			return parse_fail(p, "a call site without a bootstrap method");
	for (int i = 0; i < c->n_bootstraps; i++)
		for (int k = 0; k < c->bootstraps[i].n; k++) {
			uint16_t index = u2_at(c->bootstraps[i].arguments + 2 * k);

			if (index == 0 || index >= c->n_constants || c->constants[index].tag == 0)
				return parse_fail(p, "an argument of a bootstrap method that is "
						     "not there");
		}
	return true;
}
