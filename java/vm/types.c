/*
 * types.c - types of the verifier, and which can stand for which (JVMS 4.10.1.2).
 *
 * An interface counts as java.lang.Object: whether an object has an interface is looked at when its method is called. To
 * see whether one class is another's superclass, both are loaded. If that fails, t->exception has the reason.
 */

#include "verify.h"
#include <string.h>

vtype type_of_text(const char *class_name)
{
	return REF_OF(symbol_of_text(class_name));
}

/* The type of a descriptor, without the second place of a long or double. */
vtype type_of_desc(const char *desc, size_t length)
{
	switch (desc[0]) {
	case 'F':
		return FLOAT;
	case 'J':
		return LONG;
	case 'D':
		return DOUBLE;
	case 'L':
		return REF_OF(symbol_of(desc + 1, length - 2));
	case '[':
		return REF_OF(symbol_of(desc, length));
	}
	return INT;
}

static bool class_name_fits(struct verifier *v, struct symbol *from, struct symbol *to);

/* Two arrays: their elements' types. */
static bool element_fits(struct verifier *v, const struct symbol *from, const struct symbol *to)
{
	vtype a = type_of_desc(from->text + 1, from->length - 1u),
	      b = type_of_desc(to->text + 1, to->length - 1u);

	if (KIND(a) != REF || KIND(b) != REF)
		return false; /* arrays of one primitive type have one name */
	return class_name_fits(v, SYMBOL(a), SYMBOL(b));
}

static bool class_name_fits(struct verifier *v, struct symbol *from, struct symbol *to)
{
	struct class *a, *b;

	if (from == to || to == known.object->name)
		return true;
	if (to->text[0] == '[')
		return from->text[0] == '[' && element_fits(v, from, to);
	if (from->text[0] == '[')
		return to == known.cloneable->name || to == known.serializable->name;
	b = to == v->cls->name ? v->cls : class_find(v->t, to);
	if (b == NULL)
		return false;
	if (b->access & ACC_INTERFACE)
		return true;
	a = from == v->cls->name ? v->cls : class_find(v->t, from);
	return a != NULL && class_is_assignable(a, b);
}

/* Whether a value of one type can stand where the other is expected. */
bool type_fits(struct verifier *v, vtype from, vtype to)
{
	if (from == to || to == TOP)
		return true;
	if (KIND(to) != REF)
		return false;
	return from == NIL || (KIND(from) == REF && class_name_fits(v, SYMBOL(from), SYMBOL(to)));
}

/* Whether the code can go on with the types `to`, having `from`. `to` is of a map. */
bool types_fit(struct verifier *v, const struct types *from, const struct types *to,
	       bool with_stack)
{
	if (from->this_fresh && !to->this_fresh)
		return false;
	for (uint32_t i = 0; i < to->n_locals; i++)
		if (!type_fits(v, from->locals[i], to->locals[i]))
			return false;
	if (!with_stack)
		return true;
	if (from->n_stack != to->n_stack)
		return false;
	for (uint32_t i = 0; i < to->n_stack; i++)
		if (!type_fits(v, from->stack[i], to->stack[i]))
			return false;
	return true;
}

void types_push(struct verifier *v, vtype type)
{
	uint32_t n = type == LONG || type == DOUBLE ? 2 : 1;

	if (v->now.n_stack + n > v->m->max_stack) {
		verify_fail(v, "more operands than max_stack");
		return;
	}
	v->now.stack[v->now.n_stack++] = type;
	if (n == 2)
		v->now.stack[v->now.n_stack++] = HIGH;
}

/* Takes one place off. */
vtype types_pop(struct verifier *v)
{
	if (v->now.n_stack == 0) {
		verify_fail(v, "an operand that is not there");
		return TOP;
	}
	return v->now.stack[--v->now.n_stack];
}

void types_pop_as(struct verifier *v, vtype type)
{
	vtype found = types_pop(v);

	if (type == LONG || type == DOUBLE) {
		if (found != HIGH)
			verify_fail(v, "an operand of the wrong type");
		found = types_pop(v);
	}
	if (!type_fits(v, found, type))
		verify_fail(v, "an operand of the wrong type");
}

/* A reference, or null; `fresh_too`: or an object whose constructor has not been called. */
vtype types_pop_reference(struct verifier *v, bool fresh_too)
{
	vtype type = types_pop(v);
	int kind = KIND(type);

	if (kind != REF && kind != NIL && !(fresh_too && (kind == THIS || kind == FRESH)))
		verify_fail(v, "an operand that is no reference");
	return type;
}

/* Sets v->now to the types at the beginning of the method. */
void types_at_entry(struct verifier *v)
{
	struct method *m = v->m;
	const char *d = m->desc->text + 1;
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->max_locals; i++)
		v->now.locals[i] = TOP;
	if (!(m->access & ACC_STATIC)) {
		v->now.this_fresh = m->name == known.init && v->cls->super != NULL;
		v->now.locals[n++] = v->now.this_fresh ? (vtype)THIS : REF_OF(v->cls->name);
	}
	while (*d != ')') {
		size_t length = descriptor_type(d, strlen(d));
		vtype type = type_of_desc(d, length);

		v->now.locals[n++] = type;
		if (type == LONG || type == DOUBLE)
			v->now.locals[n++] = HIGH;
		d += length;
	}
	v->now.n_locals = n;
	v->now.n_stack = 0;
}
