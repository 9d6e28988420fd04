/*
 * classfile.c - reads a class file, and checks its structure (JVMS 4.1 to 4.8).
 *
 * A file that breaks a rule of these sections gives ClassFormatError; the code of methods is checked later (verify.c).
 * The reader keeps a sticky flag: behind the end it reads zeros, and the caller looks at the flag once a table. All
 * counts have 16 bits, so that a wrong one costs some memory, and no more. The class owns a copy of the file; code and
 * tables point into it. A class that is no good is freed with all it has.
 *
 * Supported are class files of Java 6 to 8 (versions 50 to 52): older ones have no StackMapTable, by which the
 * verifier works, and may have the instructions jsr and ret.
 */

#include "classfile.h"
#include <string.h>

#define MAX_SUPERS 500 /* linking goes through them by recursion */

static struct symbol *parse_class_name(struct parse *p, uint32_t index)
{
	struct constant *c = parse_constant(p, index, CP_CLASS);

	if (c != NULL && c->name->text[0] == '[')
		parse_fail(p, "an array in the place of a class");
	return c == NULL ? NULL : c->name;
}

/* Reads the head of an attribute: its name, and a reader of its content. */
static struct symbol *parse_attribute(struct parse *p, struct reader *from, struct reader *content)
{
	struct symbol *name = parse_name(p, reader_take(from, 2));
	uint32_t length = reader_take(from, 4);

	content->p = reader_bytes(from, length);
	content->end = content->p == NULL ? NULL : content->p + length;
	content->bad = content->p == NULL;
	if (content->bad)
		parse_fail(p, "an attribute that is cut off");
	return name;
}

static bool symbol_is(const struct symbol *s, const char *text)
{
	return s != NULL && strcmp(s->text, text) == 0;
}

/* Whether a constant has the type of a static field with this descriptor. */
static bool constant_fits(const struct constant *c, const struct symbol *desc)
{
	switch (desc->text[0]) {
	case 'J':
		return c->tag == CP_LONG;
	case 'D':
		return c->tag == CP_DOUBLE;
	case 'F':
		return c->tag == CP_FLOAT;
	case 'L':
		return c->tag == CP_STRING && symbol_is(desc, "Ljava/lang/String;");
	case '[':
		return false;
	}
	return c->tag == CP_INTEGER;
}

static bool one_of(uint16_t access)
{
	access &= ACC_PUBLIC | ACC_PRIVATE | ACC_PROTECTED;
	return (access & (access - 1)) == 0;
}

static bool parse_field(struct parse *p, struct field *f)
{
	struct class *c = p->c;
	struct reader content;
	uint16_t n;

	f->cls = c;
	f->access = (uint16_t)reader_take(&p->r, 2);
	f->name = parse_name(p, reader_take(&p->r, 2));
	f->desc = parse_name(p, reader_take(&p->r, 2));
	n = (uint16_t)reader_take(&p->r, 2);
	if (f->name == NULL || f->desc == NULL)
		return false;
	if (!name_is_unqualified(f->name, false) ||
	    !descriptor_check(f->desc->text, f->desc->length, false))
		return parse_fail(p, "a field with a wrong name or type");
	f->type = f->desc->text[0];
	if (!one_of(f->access) ||
	    (f->access & (ACC_FINAL | ACC_VOLATILE)) == (ACC_FINAL | ACC_VOLATILE) ||
	    ((c->access & ACC_INTERFACE) &&
	     (f->access & 0x1f) != (ACC_PUBLIC | ACC_STATIC | ACC_FINAL)))
		return parse_fail(p, "a field with wrong flags");
	while (n-- > 0 && p->error == NULL) {
		if (!symbol_is(parse_attribute(p, &p->r, &content), "ConstantValue"))
			continue;
		if (content.end - content.p != 2 || f->constant != 0)
			return parse_fail(p, "a wrong ConstantValue");
		f->constant = (uint16_t)reader_take(&content, 2);
		if (f->constant == 0 || f->constant >= c->n_constants ||
		    !constant_fits(&c->constants[f->constant], f->desc))
			return parse_fail(p, "a ConstantValue of another type");
	}
	for (struct field *g = c->fields; g < f; g++)
		if (g->name == f->name && g->desc == f->desc)
			return parse_fail(p, "two fields with one name and type");
	return p->error == NULL;
}

static bool parse_handlers(struct parse *p, struct method *m, struct reader *r)
{
	m->n_handlers = (uint16_t)reader_take(r, 2);
	m->handlers = arena_alloc(&p->c->arena, m->n_handlers * sizeof(struct handler) + 1);
	for (int i = 0; i < m->n_handlers && !r->bad; i++) {
		struct handler *h = &m->handlers[i];

		h->start = (uint16_t)reader_take(r, 2);
		h->end = (uint16_t)reader_take(r, 2);
		h->target = (uint16_t)reader_take(r, 2);
		h->type = (uint16_t)reader_take(r, 2);
		if (h->start >= h->end || h->end > m->code_length || h->target >= m->code_length)
			return parse_fail(p, "a handler outside of the code");
		if (h->type != 0 && parse_constant(p, h->type, CP_CLASS) == NULL)
			return false;
	}
	return !r->bad;
}

static bool parse_code(struct parse *p, struct method *m, struct reader *r)
{
	struct reader content;
	uint16_t n;

	m->max_stack = (uint16_t)reader_take(r, 2);
	m->max_locals = (uint16_t)reader_take(r, 2);
	m->code_length = reader_take(r, 4);
	m->code = reader_bytes(r, m->code_length);
	if (r->bad || m->code_length == 0 || m->code_length > 65535)
		return parse_fail(p, "code of a wrong length");
	if (m->max_locals < m->n_args)
		return parse_fail(p, "arguments that find no place in the local variables");
	if (!parse_handlers(p, m, r))
		return parse_fail(p, "a wrong table of handlers");
	n = (uint16_t)reader_take(r, 2);
	while (n-- > 0 && p->error == NULL) {
		struct symbol *name = parse_attribute(p, r, &content);

		if (symbol_is(name, "StackMapTable")) {
			if (m->stackmap != NULL)
				return parse_fail(p, "two StackMapTables");
			m->stackmap = content.p;
			m->stackmap_length = (uint32_t)(content.end - content.p);
		} else if (symbol_is(name, "LineNumberTable")) {
			uint32_t lines = reader_take(&content, 2);

			if (content.end - content.p != lines * 4)
				return parse_fail(p, "a wrong LineNumberTable");
			m->n_lines = (uint16_t)lines; /* the last table counts */
			m->lines = content.p;
		}
	}
	if (r->bad || r->p != r->end)
		return parse_fail(p, "a Code attribute of a wrong length");
	return p->error == NULL;
}

static bool method_flags_fit(const struct class *c, const struct method *m)
{
	uint16_t a = m->access;

	if (m->name == known.clinit)
		return true;
	if (!one_of(a))
		return false;
	if ((a & ACC_ABSTRACT) &&
	    (a & (ACC_FINAL | ACC_NATIVE | ACC_PRIVATE | ACC_STATIC | ACC_SYNCHRONIZED)))
		return false;
	if (m->name == known.init)
		return !(a &
			 (ACC_STATIC | ACC_FINAL | ACC_SYNCHRONIZED | ACC_NATIVE | ACC_ABSTRACT)) &&
		       !(c->access & ACC_INTERFACE);
	if (c->access & ACC_INTERFACE)
		return !(a & (ACC_PROTECTED | ACC_FINAL | ACC_SYNCHRONIZED | ACC_NATIVE)) &&
		       (a & (ACC_PUBLIC | ACC_PRIVATE));
	return true;
}

static void method_measure(struct method *m)
{
	const char *d = m->desc->text + 1;

	m->n_args = (m->access & ACC_STATIC) ? 0 : 1;
	while (*d != ')') {
		m->n_args += *d == 'J' || *d == 'D' ? 2 : 1;
		d += descriptor_type(d, strlen(d));
	}
	m->returns = d[1];
}

static bool parse_method(struct parse *p, struct method *m)
{
	struct class *c = p->c;
	struct reader content;
	bool has_code = false;
	uint16_t n;

	m->cls = c;
	m->vindex = -1;
	m->access = (uint16_t)reader_take(&p->r, 2);
	m->name = parse_name(p, reader_take(&p->r, 2));
	m->desc = parse_name(p, reader_take(&p->r, 2));
	n = (uint16_t)reader_take(&p->r, 2);
	if (m->name == NULL || m->desc == NULL)
		return false;
	if (!name_is_unqualified(m->name, true) ||
	    !descriptor_check(m->desc->text, m->desc->length, true))
		return parse_fail(p, "a method with a wrong name or type");
	if (m->name == known.clinit)
		m->access =
			(m->access | ACC_STATIC) & ~(ACC_NATIVE | ACC_ABSTRACT | ACC_SYNCHRONIZED);
	if (!method_flags_fit(c, m))
		return parse_fail(p, "a method with wrong flags");
	if ((m->name == known.init || m->name == known.clinit) &&
	    m->desc->text[m->desc->length - 1] != 'V')
		return parse_fail(p, "a constructor with a result");
	if (m->name == known.clinit && m->desc != known.void_desc)
		return parse_fail(p, "a class initialiser with arguments");
	method_measure(m);
	while (n-- > 0 && p->error == NULL) {
		if (!symbol_is(parse_attribute(p, &p->r, &content), "Code"))
			continue;
		if (has_code || (m->access & (ACC_NATIVE | ACC_ABSTRACT)))
			return parse_fail(p, "code where there must be none");
		has_code = true;
		if (p->error == NULL && !parse_code(p, m, &content))
			return parse_fail(p, "a Code attribute that is cut off");
	}
	if (!has_code && !(m->access & (ACC_NATIVE | ACC_ABSTRACT)))
		return parse_fail(p, "a method without code");
	if (m->access & ACC_NATIVE)
		m->max_locals = m->n_args;
	for (struct method *o = c->methods; o < m; o++)
		if (o->name == m->name && o->desc == m->desc)
			return parse_fail(p, "two methods with one name and type");
	return p->error == NULL;
}

static void parse_class_attribute(struct parse *p)
{
	struct reader content;
	struct symbol *name = parse_attribute(p, &p->r, &content);

	if (p->error != NULL)
		return;
	if (symbol_is(name, "SourceFile"))
		p->c->source = parse_name(p, reader_take(&content, 2));
	else if (symbol_is(name, "BootstrapMethods"))
		parse_bootstraps(p, &content);
}

static bool parse_members(struct parse *p)
{
	struct class *c = p->c;
	uint16_t n;

	c->n_fields = (uint16_t)reader_take(&p->r, 2);
	c->fields = arena_alloc(&c->arena, c->n_fields * sizeof(struct field) + 1);
	for (int i = 0; i < c->n_fields && !p->r.bad; i++)
		if (!parse_field(p, &c->fields[i]))
			return false;
	c->n_methods = p->r.bad ? 0 : (uint16_t)reader_take(&p->r, 2);
	c->methods = arena_alloc(&c->arena, c->n_methods * sizeof(struct method) + 1);
	for (int i = 0; i < c->n_methods && !p->r.bad; i++)
		if (!parse_method(p, &c->methods[i]))
			return false;
	n = (uint16_t)reader_take(&p->r, 2);
	while (n-- > 0 && p->error == NULL)
		parse_class_attribute(p);
	if (p->r.p != p->r.end)
		return parse_fail(p, "bytes behind the end of the class");
	return p->error == NULL && !p->r.bad && parse_call_sites(p);
}

/* Names of the class, its superclass and interfaces; the caller loads them. */
static bool parse_head(struct parse *p, struct symbol **super, struct symbol ***interfaces)
{
	struct class *c = p->c;
	uint32_t index;

	c->access = (uint16_t)reader_take(&p->r, 2);
	if ((c->access & ACC_INTERFACE)
		    ? !(c->access & ACC_ABSTRACT) || (c->access & ACC_FINAL)
		    : (c->access & (ACC_FINAL | ACC_ABSTRACT)) == (ACC_FINAL | ACC_ABSTRACT))
		return parse_fail(p, "a class with wrong flags");
	c->name = parse_class_name(p, reader_take(&p->r, 2));
	index = reader_take(&p->r, 2);
	*super = index == 0 ? NULL : parse_class_name(p, index);
	if (c->name == NULL || (*super == NULL) != symbol_is(c->name, "java/lang/Object") ||
	    *super == c->name)
		return parse_fail(p, "a class with a wrong superclass");
	if ((c->access & ACC_INTERFACE) && !symbol_is(*super, "java/lang/Object"))
		return parse_fail(p, "an interface with a superclass");
	c->n_interfaces = (uint16_t)reader_take(&p->r, 2);
	c->interfaces = arena_alloc(&c->arena, c->n_interfaces * sizeof(struct class *) + 1);
	*interfaces = arena_alloc(&c->arena, c->n_interfaces * sizeof(struct symbol *) + 1);
	for (int i = 0; i < c->n_interfaces && p->error == NULL; i++) {
		(*interfaces)[i] = parse_class_name(p, reader_take(&p->r, 2));
		for (int j = 0; j < i; j++)
			if ((*interfaces)[j] == (*interfaces)[i])
				parse_fail(p, "an interface twice");
	}
	return p->error == NULL && !p->r.bad;
}

/* Loads the superclass and the interfaces. False: t->exception. */
static bool parents_load(struct jthread *t, struct class *c, struct symbol *super,
			 struct symbol **interfaces)
{
	if (super != NULL) {
		c->super = class_find(t, super);
		if (c->super == NULL)
			return false;
		if ((c->super->access & (ACC_INTERFACE | ACC_FINAL))) {
			throw_new(t,
				  c->super->access & ACC_INTERFACE
					  ? "java/lang/IncompatibleClassChangeError"
					  : "java/lang/VerifyError",
				  "%s cannot extend %s", c->name->text, super->text);
			return false;
		}
	}
	if (c->super != NULL && c->super->n_supers > MAX_SUPERS) {
		throw_new(t, "java/lang/LinkageError", "%s has more than %d superclasses",
			  c->name->text, MAX_SUPERS);
		return false;
	}
	for (int i = 0; i < c->n_interfaces; i++) {
		c->interfaces[i] = class_find(t, interfaces[i]);
		if (c->interfaces[i] == NULL)
			return false;
		if (!(c->interfaces[i]->access & ACC_INTERFACE)) {
			throw_new(t, "java/lang/IncompatibleClassChangeError", "%s is no interface",
				  interfaces[i]->text);
			return false;
		}
		if (c->interfaces[i]->n_all_interfaces > MAX_SUPERS) {
			throw_new(t, "java/lang/LinkageError", "%s has more than %d interfaces",
				  c->name->text, MAX_SUPERS);
			return false;
		}
	}
	return true;
}

static bool parse_version(struct parse *p)
{
	uint32_t minor, major;

	if (reader_take(&p->r, 4) != 0xcafebabe)
		return parse_fail(p, "no class file");
	minor = reader_take(&p->r, 2);
	major = reader_take(&p->r, 2);
	if (p->r.bad || major < 45)
		return parse_fail(p, "no class file");
	if (major < 50 || major > 52) {
		throw_new(p->t, "java/lang/UnsupportedClassVersionError",
			  "class file version %u.%u; this machine reads 50 to 52: compile with "
			  "javac --release 8",
			  (unsigned)major, (unsigned)minor);
		return false;
	}
	return true;
}

/*
 * Makes a class of a file, loads its superclasses and interfaces, and returns it, unlinked and not in the table; NULL:
 * t->exception is ClassFormatError, or what loading gave. The caller has class_lock.
 */
struct class *class_parse(struct jthread *t, const uint8_t *bytes, size_t length, bool trusted)
{
	struct arena arena = {NULL};
	uint8_t *copy = arena_alloc(&arena, length + 1);
	struct class *c = arena_alloc(&arena, sizeof(*c));
	struct parse p = {t, c, {copy, copy + length, false}, NULL};
	struct symbol *super = NULL, **interfaces = NULL;
	bool good;

	memcpy(copy, bytes, length);
	c->arena = arena;
	c->trusted = trusted;
	good = parse_version(&p) && parse_constants(&p) && parse_head(&p, &super, &interfaces) &&
	       parse_members(&p) && parents_load(t, c, super, interfaces);
	if (good)
		return c;
	if (t->exception == NULL)
		throw_new(t, "java/lang/ClassFormatError", "%s%s%s",
			  c->name == NULL ? "" : c->name->text, c->name == NULL ? "" : ": ",
			  p.error == NULL ? "the file is cut off" : p.error);
	arena = c->arena;
	arena_free(&arena);
	return NULL;
}
