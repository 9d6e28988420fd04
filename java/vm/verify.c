/*
 * verify.c - the verifier: checks the types of a method's code by its StackMapTable (JVMS 4.10.1).
 *
 * The code is gone through once, from the beginning to the end, with the types of the local variables and operands. At each
 * place that a branch leads to, the table says the types, and the types on each way there must fit. So there is no
 * search for a fixed point, and each method takes time in proportion to its length. What has been verified is
 * memory-safe in the interpreter, which checks no types.
 *
 * This is the specification's way. Two checks of it are left out, because they guard no memory: that a protected
 * member of another package is used on an object of the own class only, and that a loader gives a name one meaning.
 */

#include "verify.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool verify_fail(struct verifier *v, const char *error)
{
	if (v->error == NULL) {
		v->error = error;
		v->error_pc = v->pc;
	}
	return false;
}

/* The kinds of load and store instructions, from iload or istore on. */
static const uint8_t local_kinds[] = {INT, LONG, FLOAT, DOUBLE, REF};

static void verify_load(struct verifier *v, int kind, uint32_t index)
{
	vtype type = v->now.locals[index];
	int found = KIND(type);

	if (kind == REF ? found != REF && found != NIL && found != THIS && found != FRESH
			: type != (vtype)kind || ((kind == LONG || kind == DOUBLE) &&
						  v->now.locals[index + 1] != HIGH))
		verify_fail(v, "a local variable of the wrong type");
	types_push(v, type);
}

static void verify_set_local(struct verifier *v, uint32_t index, vtype type)
{
	if (v->now.locals[index] == HIGH) /* half of a long is none */
		v->now.locals[index - 1] = TOP;
	if ((v->now.locals[index] == LONG || v->now.locals[index] == DOUBLE))
		v->now.locals[index + 1] = TOP;
	v->now.locals[index] = type;
}

static void verify_store(struct verifier *v, int kind, uint32_t index)
{
	vtype type = (vtype)kind;

	if (kind == REF)
		type = types_pop_reference(v, true);
	else
		types_pop_as(v, type);
	verify_set_local(v, index, type);
	if (kind == LONG || kind == DOUBLE)
		verify_set_local(v, index + 1, HIGH);
	if (kind == LONG || kind == DOUBLE)
		v->now.locals[index] = type;
}

static void verify_iinc(struct verifier *v, uint32_t index)
{
	if (v->now.locals[index] != INT)
		verify_fail(v, "iinc of no int");
}

/* True: it was a load, a store or iinc. */
static bool verify_local(struct verifier *v, const uint8_t *p)
{
	uint32_t op = *p, index;

	if (op == OP_wide) {
		op = p[1];
		index = u2_at(p + 2);
	} else if (op >= OP_iload_0 && op <= OP_aload_3) {
		index = (op - OP_iload_0) % 4;
		op = OP_iload + (op - OP_iload_0) / 4;
	} else if (op >= OP_istore_0 && op <= OP_astore_3) {
		index = (op - OP_istore_0) % 4;
		op = OP_istore + (op - OP_istore_0) / 4;
	} else if ((op >= OP_iload && op <= OP_aload) || (op >= OP_istore && op <= OP_astore) ||
		   op == OP_iinc) {
		index = p[1];
	} else {
		return false;
	}
	if (op == OP_iinc)
		verify_iinc(v, index);
	else if (op >= OP_istore)
		verify_store(v, local_kinds[op - OP_istore], index);
	else
		verify_load(v, local_kinds[op - OP_iload], index);
	return true;
}

/* Copies the top n places below the `under` places under them. */
static void verify_dup(struct verifier *v, uint32_t n, uint32_t under)
{
	vtype *s = v->now.stack;
	uint32_t top = v->now.n_stack;

	if (top < n + under || s[top - n] == HIGH || (under != 0 && s[top - n - under] == HIGH)) {
		verify_fail(v, "half of a long or double");
		return;
	}
	if (top + n > v->m->max_stack) {
		verify_fail(v, "more operands than max_stack");
		return;
	}
	memmove(s + top - under, s + top - n - under, (n + under) * sizeof(vtype));
	memcpy(s + top - n - under, s + top, n * sizeof(vtype));
	v->now.n_stack += n;
}

static void verify_stack(struct verifier *v, uint32_t op)
{
	uint32_t n = op == OP_pop ? 1 : 2;
	vtype a, b;

	if (op >= OP_dup && op <= OP_dup2_x2) {
		verify_dup(v, op < OP_dup2 ? 1 : 2, (op - OP_dup) % 3);
		return;
	}
	if (v->now.n_stack < n || v->now.stack[v->now.n_stack - n] == HIGH) {
		verify_fail(v, "half of a long or double");
		return;
	}
	a = types_pop(v);
	if (op == OP_pop)
		return;
	b = types_pop(v);
	if (op == OP_pop2)
		return;
	if (a == HIGH)
		verify_fail(v, "half of a long or double");
	types_push(v, a);
	types_push(v, b);
}

static struct constant *verify_constant(struct verifier *v, const uint8_t *p)
{
	return &v->cls->constants[*p == OP_ldc ? p[1] : u2_at(p + 1)];
}

static void verify_ldc(struct verifier *v, struct constant *c)
{
	switch (c->tag) {
	case CP_INTEGER:
		types_push(v, INT);
		break;
	case CP_FLOAT:
		types_push(v, FLOAT);
		break;
	case CP_LONG:
		types_push(v, LONG);
		break;
	case CP_DOUBLE:
		types_push(v, DOUBLE);
		break;
	default:
		types_push(v, REF_OF(c->tag == CP_STRING ? known.string->name : known.class->name));
	}
}

static struct symbol *verify_owner(struct verifier *v, struct constant *c)
{
	return v->cls->constants[c->a].name;
}

/*
 * Is the member protected, of a superclass in another package? Then it may be used of objects of this class alone (JVMS
 * 4.10.1.8). A member that is not there is left to resolution.
 */
static bool verify_protected(struct verifier *v, struct constant *c)
{
	struct class *owner = v->cls->super;
	struct field *f;
	struct method *m;

	while (owner != NULL && owner->name != verify_owner(v, c))
		owner = owner->super;
	if (owner == NULL)
		return false;
	if (c->tag == CP_FIELD) {
		f = class_field(owner, c->name, c->desc);
		return f != NULL && (f->access & ACC_PROTECTED) &&
		       !class_same_package(v->cls, f->cls);
	}
	m = class_method(owner, c->name, c->desc);
	return m != NULL && (m->access & ACC_PROTECTED) && !class_same_package(v->cls, m->cls);
}

static void verify_field(struct verifier *v, uint32_t op, struct constant *c)
{
	vtype type = type_of_desc(c->desc->text, c->desc->length), object;

	if (op == OP_putstatic || op == OP_putfield)
		types_pop_as(v, type);
	if (op == OP_getfield || op == OP_putfield) {
		object = types_pop(v);
		/* A constructor may set its own class's fields before it calls the superclass's. */
		if (object == THIS && op == OP_putfield && verify_owner(v, c) == v->cls->name) {
			bool own = false;

			for (int i = 0; i < v->cls->n_fields; i++)
				own |= v->cls->fields[i].name == c->name &&
				       v->cls->fields[i].desc == c->desc;
			if (!own)
				verify_fail(v, "a field of an object without constructor");
		} else if (!type_fits(v, object, REF_OF(verify_owner(v, c)))) {
			verify_fail(v, "a field of an object of another class");
		} else if (verify_protected(v, c) && !type_fits(v, object, REF_OF(v->cls->name))) {
			verify_fail(v, "a protected field of an object of another class");
		}
	}
	if (op == OP_getstatic || op == OP_getfield)
		types_push(v, type);
}

/* Takes the arguments off, last first. Returns their places. */
static uint32_t verify_arguments(struct verifier *v, const char *desc)
{
	const char *begin[256];
	uint32_t n = 0, places = 0;

	for (const char *d = desc + 1; *d != ')'; d += descriptor_type(d, strlen(d)))
		begin[n++] = d;
	while (n-- > 0) {
		size_t length = descriptor_type(begin[n], strlen(begin[n]));
		vtype type = type_of_desc(begin[n], length);

		places += type == LONG || type == DOUBLE ? 2 : 1;
		types_pop_as(v, type);
	}
	return places;
}

static void verify_replace(struct verifier *v, vtype old, vtype type)
{
	for (uint32_t i = 0; i < v->m->max_locals; i++)
		if (v->now.locals[i] == old)
			v->now.locals[i] = type;
	for (uint32_t i = 0; i < v->now.n_stack; i++)
		if (v->now.stack[i] == old)
			v->now.stack[i] = type;
}

/* The call of a constructor makes a fresh object whole. */
static void verify_init(struct verifier *v, struct constant *c)
{
	struct symbol *owner = verify_owner(v, c);
	vtype object = types_pop(v);

	if (object == THIS) {
		if (owner != v->cls->name && owner != v->cls->super->name)
			verify_fail(v, "a constructor of another class");
		v->now.this_fresh = false;
		verify_replace(v, object, REF_OF(v->cls->name));
	} else if (KIND(object) == FRESH) {
		if (v->cls->constants[u2_at(v->code + FRESH_PC(object) + 1)].name != owner)
			verify_fail(v, "a constructor of another class");
		if (verify_protected(v, c))
			verify_fail(v, "a protected constructor of a superclass");
		verify_replace(v, object, REF_OF(owner));
	} else {
		verify_fail(v, "a constructor for no fresh object");
	}
}

/* The object whose method is called. Each may clone an array. */
static void verify_receiver(struct verifier *v, struct constant *c)
{
	vtype object = types_pop(v);
	bool array = KIND(object) == REF && SYMBOL(object)->text[0] == '[';

	if (!type_fits(v, object, REF_OF(verify_owner(v, c))))
		verify_fail(v, "an operand of the wrong type");
	else if (verify_protected(v, c) && !(array && strcmp(c->name->text, "clone") == 0) &&
		 !type_fits(v, object, REF_OF(v->cls->name)))
		verify_fail(v, "a protected method of an object of another class");
}

static void verify_call(struct verifier *v, const uint8_t *p, struct constant *c)
{
	const char *result = strchr(c->desc->text, ')') + 1;
	struct symbol *owner = *p == OP_invokedynamic ? NULL : verify_owner(v, c);
	uint32_t places;

	places = verify_arguments(v, c->desc->text);
	if (*p == OP_invokeinterface && places + 1 != p[3])
		verify_fail(v, "a wrong count of arguments");
	if (*p == OP_invokespecial && c->name == known.init) {
		verify_init(v, c);
	} else if (*p == OP_invokespecial) {
		if (!type_fits(v, REF_OF(v->cls->name), REF_OF(owner)))
			verify_fail(v, "invokespecial of a class that is no superclass");
		types_pop_as(v, REF_OF(v->cls->name));
	} else if (*p == OP_invokevirtual || *p == OP_invokeinterface) {
		verify_receiver(v, c);
	}
	if (*result != 'V')
		types_push(v, type_of_desc(result, strlen(result)));
}

static void verify_return(struct verifier *v, uint32_t op)
{
	const char *result = strchr(v->m->desc->text, ')') + 1;
	vtype type = *result == 'V' ? (vtype)TOP : type_of_desc(result, strlen(result));
	static const uint8_t kinds[] = {INT, LONG, FLOAT, DOUBLE, REF, TOP};

	if (KIND(type) != kinds[op - OP_ireturn])
		verify_fail(v, "the return of another type");
	else if (op != OP_return)
		types_pop_as(v, type);
	if (v->now.this_fresh)
		verify_fail(v, "a constructor that does not call its superclass's");
}

static struct symbol *array_symbol(struct symbol *element)
{
	char text[element->length + 4];
	size_t n = element->length;

	if (element->text[0] == '[') {
		text[0] = '[';
		memcpy(text + 1, element->text, n + 1);
		return symbol_of(text, n + 1);
	}
	text[0] = '[';
	text[1] = 'L';
	memcpy(text + 2, element->text, n);
	text[n + 2] = ';';
	return symbol_of(text, n + 3);
}

static void verify_new(struct verifier *v, const uint8_t *p)
{
	static const char kinds[] = "ZCFDBSIJ";
	struct symbol *name = *p == OP_newarray ? NULL : verify_constant(v, p)->name;
	char text[3] = {'[', kinds[(p[1] - 4) & 7], 0};

	if (*p == OP_new) {
		for (uint32_t i = 0; i < v->now.n_stack; i++)
			if (v->now.stack[i] == FRESH_AT(v->pc))
				verify_fail(v, "a fresh object of the same instruction");
		verify_replace(v, FRESH_AT(v->pc), TOP);
		types_push(v, FRESH_AT(v->pc));
		return;
	}
	if (*p == OP_multianewarray) {
		if (p[3] == 0 || strspn(name->text, "[") < p[3])
			verify_fail(v, "an array of fewer dimensions");
		for (int i = 0; i < p[3]; i++)
			types_pop_as(v, INT);
		types_push(v, REF_OF(name));
		return;
	}
	if (*p == OP_anewarray && (strspn(name->text, "[") >= 255 || name->length > 4096)) {
		verify_fail(v, "an array of more than 255 dimensions, or with a name of more than "
			       "4096 bytes");
		return;
	}
	types_pop_as(v, INT);
	types_push(v, *p == OP_newarray ? type_of_text(text) : REF_OF(array_symbol(name)));
}

static void verify_element(struct verifier *v, bool store)
{
	vtype array;
	const char *name;

	if (store)
		types_pop_reference(v, false);
	types_pop_as(v, INT);
	array = types_pop_reference(v, false);
	if (KIND(array) != REF) {
		if (!store)
			types_push(v, NIL);
		return;
	}
	name = SYMBOL(array)->text;
	if (name[0] != '[' || (name[1] != '[' && name[1] != 'L'))
		verify_fail(v, "no array of references");
	else if (!store)
		types_push(v, type_of_desc(name + 1, SYMBOL(array)->length - 1u));
}

static void verify_special(struct verifier *v, const uint8_t *p)
{
	vtype type;

	switch (*p) {
	case OP_ldc:
	case OP_ldc_w:
	case OP_ldc2_w:
		verify_ldc(v, verify_constant(v, p));
		break;
	case OP_aaload:
	case OP_aastore:
		verify_element(v, *p == OP_aastore);
		break;
	case OP_getstatic:
	case OP_putstatic:
	case OP_getfield:
	case OP_putfield:
		verify_field(v, *p, verify_constant(v, p));
		break;
	case OP_invokevirtual:
	case OP_invokespecial:
	case OP_invokestatic:
	case OP_invokeinterface:
	case OP_invokedynamic:
		verify_call(v, p, verify_constant(v, p));
		break;
	case OP_new:
	case OP_newarray:
	case OP_anewarray:
	case OP_multianewarray:
		verify_new(v, p);
		break;
	case OP_arraylength:
		type = types_pop(v);
		if (type != NIL && !(KIND(type) == REF && SYMBOL(type)->text[0] == '['))
			verify_fail(v, "the length of no array");
		types_push(v, INT);
		break;
	case OP_athrow:
		types_pop_as(v, REF_OF(known.throwable->name));
		break;
	case OP_checkcast:
	case OP_instanceof:
		types_pop_reference(v, false);
		types_push(v,
			   *p == OP_instanceof ? (vtype)INT : REF_OF(verify_constant(v, p)->name));
		break;
	default:
		if (*p >= OP_ireturn && *p <= OP_return)
			verify_return(v, *p);
		else
			verify_stack(v, *p);
	}
}

static void verify_target(struct verifier *v, int64_t offset)
{
	struct types *map = v->maps[v->pc + offset];

	if (map == NULL)
		verify_fail(v, "a branch to a place that the StackMapTable does not have");
	else if (!types_fit(v, &v->now, map, true))
		verify_fail(v, "a branch to a place with other types");
}

static void verify_branches(struct verifier *v, const uint8_t *p)
{
	uint32_t at = (v->pc + 4) & ~3u, n, step = *p == OP_lookupswitch ? 8 : 4;

	if ((*p >= OP_ifeq && *p <= OP_goto) || *p == OP_ifnull || *p == OP_ifnonnull) {
		verify_target(v, (int16_t)u2_at(p + 1));
	} else if (*p == OP_goto_w) {
		verify_target(v, (int32_t)u4_at(p + 1));
	} else if (*p == OP_tableswitch || *p == OP_lookupswitch) {
		n = u4_at(v->code + at + 4);
		if (*p == OP_tableswitch)
			n = u4_at(v->code + at + 8) - n + 1;
		verify_target(v, (int32_t)u4_at(v->code + at));
		for (uint32_t i = 0; i < n && v->error == NULL; i++)
			verify_target(v, (int32_t)u4_at(v->code + at + 12 + step * i));
	}
	v->reachable = !(*p == OP_goto || *p == OP_goto_w || *p == OP_tableswitch ||
			 *p == OP_lookupswitch || *p == OP_athrow ||
			 (*p >= OP_ireturn && *p <= OP_return));
}

/* An exception may come with the types before the instruction. */
static void verify_handlers(struct verifier *v)
{
	for (int i = 0; i < v->m->n_handlers && v->error == NULL; i++) {
		struct handler *h = &v->m->handlers[i];
		struct types *map = v->maps[h->target];
		vtype type = REF_OF(h->type == 0 ? known.throwable->name
						 : v->cls->constants[h->type].name);

		if (v->pc < h->start || v->pc >= h->end)
			continue;
		if (map == NULL || map->n_stack != 1 || !type_fits(v, type, map->stack[0]) ||
		    !types_fit(v, &v->now, map, false))
			verify_fail(v, "a handler with other types");
		else if (!type_fits(v, type, REF_OF(known.throwable->name)))
			verify_fail(v, "a handler for what is no Throwable");
	}
}

static void verify_instruction(struct verifier *v)
{
	const uint8_t *p = v->code + v->pc;
	struct types *map = v->maps[v->pc];

	if (map != NULL) {
		if (v->reachable && !types_fit(v, &v->now, map, true))
			verify_fail(v, "other types than the StackMapTable has");
		for (uint32_t i = 0; i < v->m->max_locals; i++)
			v->now.locals[i] = i < map->n_locals ? map->locals[i] : (vtype)TOP;
		memcpy(v->now.stack, map->stack, map->n_stack * sizeof(vtype));
		v->now.n_stack = map->n_stack;
		v->now.this_fresh = map->this_fresh;
	} else if (!v->reachable) {
		verify_fail(v, "code behind a branch that the StackMapTable does not have");
	}
	verify_handlers(v);
	if (v->error != NULL || v->t->exception != NULL)
		return;
	if (!verify_simple(v, *p) && !verify_local(v, p))
		verify_special(v, p);
	if (v->error == NULL)
		verify_branches(v, p);
}

static void verify_code(struct verifier *v)
{
	struct method *m = v->m;

	v->starts = arena_alloc(&v->arena, v->length + 1);
	v->maps = arena_alloc(&v->arena, v->length * sizeof(struct types *) + 1);
	v->now.locals = arena_alloc(&v->arena, m->max_locals * sizeof(vtype) + 1);
	v->now.stack = arena_alloc(&v->arena, m->max_stack * sizeof(vtype) + 1);
	if (!code_check(v))
		return;
	types_at_entry(v);
	if (!stackmap_read(v))
		return;
	v->reachable = true;
	for (v->pc = 0; v->pc < v->length && v->error == NULL && v->t->exception == NULL;
	     v->pc += code_length_at(v->code, v->length, v->pc))
		verify_instruction(v);
	if (v->reachable && v->error == NULL)
		verify_fail(v, "code that goes on behind its end");
}

/* False: t->exception is VerifyError, or what loading a class gave. The caller has class_lock. */
bool verify_class(struct jthread *t, struct class *cls)
{
	for (int i = 0; i < cls->n_methods; i++) {
		struct method *m = &cls->methods[i];
		struct verifier v = {
			.t = t, .cls = cls, .m = m, .code = m->code, .length = m->code_length};

		if (m->code != NULL)
			verify_code(&v);
		arena_free(&v.arena);
		if (t->exception != NULL)
			return false;
		if (v.error != NULL &&
		    cls->trusted) { /* its exception could have this very class */
			fprintf(stderr,
				"java: the library's class %s does not verify: %s%s at %u: %s\n",
				cls->name->text, m->name->text, m->desc->text, (unsigned)v.error_pc,
				v.error);
			exit(1);
		}
		if (v.error != NULL) {
			throw_new(t, "java/lang/VerifyError", "%s.%s%s at %u: %s", cls->name->text,
				  m->name->text, m->desc->text, (unsigned)v.error_pc, v.error);
			return false;
		}
	}
	return true;
}
