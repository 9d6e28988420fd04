/*
 * lambda.c - lambda expressions and method references: what an invokedynamic calls (JVMS 6.5, 5.4.3.6).
 *
 * javac makes a method of the body of a lambda expression, and an invokedynamic of the place where it stands. The
 * bootstrap method of such a call site is java.lang.invoke.LambdaMetafactory.metafactory or altMetafactory. The JDK's makes a
 * class, in memory, when the call site is first executed. So does this file, for these two: it writes the bytes of a class
 * file, which class_parse() reads as any other.
 *
 *	final class Main$$Lambda.1 implements Function {
 *		private int c0;					a captured value each
 *		static Function get$Lambda(int c0)		what the call site calls
 *		public Object apply(Object a) {
 *			return Integer.valueOf(Main.lambda$main$0(c0, (String)a));
 *		}
 *	}
 *
 * If nothing is captured, the call site gives one object again and again. The method has conversions as the metafactory
 * describes them: casts, boxing, unboxing and widening. The class is hidden: it is not verified (get$Lambda calls no
 * constructor, and a private method may be called), and stands in no trace. So that it is safe whatever a class file's
 * bootstrap methods say, each reference is cast to the type that the method wants, and the counts of arguments are checked.
 *
 * *Race:* two threads come to a call site that is not linked; *without this:* the call site gives one of them another object
 * than all later threads, if nothing is captured; *closed by:* site_method, which looks under class_lock whether the call
 * site has been linked. Call sites that share an entry of the constant pool are one.
 */

#include "spin.h"
#include "opcodes.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the class --------------------------------------------------------------------------------- */

static void field_put(struct spin *s, int access, const char *name, struct type t)
{
	put_2(&s->fields, (uint32_t)access);
	put_2(&s->fields, pool_text(s, name, strlen(name)));
	put_2(&s->fields, pool_text(s, t.text, t.length));
	put_2(&s->fields, 0); /* attributes */
}

/* Once each. */
static void interface_put(struct spin *s, const char *name, size_t length)
{
	struct type t = {name, length};

	for (int i = 0; i < s->n_interfaces; i++)
		if (type_equals(s->interfaces_named[i], t))
			return;
	if (s->n_interfaces == MAX_INTERFACES) {
		s->error = "too many interfaces";
		return;
	}
	put_2(&s->interfaces, pool_class(s, name, length));
	s->interfaces_named[s->n_interfaces++] = t;
}

/* What the call site calls: another name than that of the interface's method. */
static const char *factory_name(const struct constant *site)
{
	return strcmp(site->name->text, "get$Lambda") == 0 ? "get$Lambda$" : "get$Lambda";
}

/* get$Lambda, and the fields. */
static void factory_write(struct spin *s, const struct constant *site)
{
	struct type face = s->captured.result;
	const char *name = factory_name(site);
	int local = 0;

	if (s->captured.n == 0) {
		field_put(s, ACC_STATIC, "it", face);
		code_3(s, OP_getstatic,
		       pool_member(s, CP_FIELD, s->self, "it", face.text, face.length));
	} else {
		code_3(s, OP_new, s->self);
	}
	for (int i = 0; i < s->captured.n; i++) {
		struct type t = s->captured.p[i];
		char field[8];

		snprintf(field, sizeof(field), "c%d", i);
		field_put(s, ACC_PRIVATE, field, t);
		s->values[i] = pool_member(s, CP_FIELD, s->self, field, t.text, t.length);
		code_1(s, OP_dup);
		code_load(s, t, local);
		code_3(s, OP_putfield, s->values[i]);
		local += type_places(t);
	}
	code_1(s, OP_areturn);
	method_put(s, ACC_STATIC, pool_text(s, name, strlen(name)), site->desc, 4, local);
}

static void body_invoke(struct spin *s)
{
	static const uint8_t ops[] = {
		[HANDLE_VIRTUAL] = OP_invokevirtual,     [HANDLE_STATIC] = OP_invokestatic,
		[HANDLE_SPECIAL] = OP_invokespecial,     [HANDLE_NEW] = OP_invokespecial,
		[HANDLE_INTERFACE] = OP_invokeinterface,
	};
	const struct constant *m = s->impl;

	code_3(s, ops[s->kind],
	       pool_member(s, m->tag, pool_class_of(s, s->owner), m->name->text, m->desc->text,
			   m->desc->length));
	if (s->kind == HANDLE_INTERFACE)
		put_2(&s->code, 0x100); /* the count, which the interpreter does not look at */
}

static void body_convert_result(struct spin *s, struct type to)
{
	struct type from = s->body.result;

	if (to.text[0] == 'V') {
		if (type_places(from) != 0)
			code_1(s, type_places(from) == 2 ? OP_pop2 : OP_pop);
	} else if (from.text[0] == 'V') {
		s->error = "no result where there must be one";
	} else {
		code_convert(s, from, to);
	}
}

/* The method of the interface, or a bridge: it has this descriptor. */
static void body_write(struct spin *s, const struct symbol *name, const struct symbol *desc)
{
	int local = 1, places = 4, n = s->captured.n;

	signature_read(&s->method, desc);
	if (n + s->method.n != s->body.n || s->method.n != s->given.n) {
		s->error = "another number of arguments";
		return;
	}
	if (s->kind == HANDLE_NEW) {
		code_3(s, OP_new, pool_class_of(s, s->owner));
		code_1(s, OP_dup);
	}
	for (int i = 0; i < n; i++) {
		code_1(s, OP_aload_0);
		code_3(s, OP_getfield, s->values[i]);
		code_convert(s, s->captured.p[i], s->body.p[i]);
		places += type_places(s->captured.p[i]) + 1;
	}
	for (int i = 0; i < s->method.n; i++) {
		code_load(s, s->method.p[i], local);
		code_convert(s, s->method.p[i], s->given.p[i]);
		code_convert(s, s->given.p[i], s->body.p[n + i]);
		local += type_places(s->method.p[i]);
		places += type_places(s->method.p[i]) + 1;
	}
	body_invoke(s);
	body_convert_result(s, s->method.result);
	code_return(s, s->method.result);
	method_put(s, ACC_PUBLIC, pool_text(s, name->text, name->length), desc, places, local);
}

/* An argument of the bootstrap method. NULL: s->error. */
static const struct constant *bootstrap_argument(struct spin *s, int i, int tag)
{
	const struct bootstrap *b = s->bootstrap;

	if (i < b->n) {
		const struct constant *c = &s->from->constants[u2_at(b->arguments + 2 * i)];

		if (c->tag == tag)
			return c;
	}
	s->error = "a bootstrap method with another argument";
	return NULL;
}

static int bootstrap_number(struct spin *s, int i)
{
	const struct constant *c = bootstrap_argument(s, i, CP_INTEGER);

	return c == NULL ? 0 : c->value.i;
}

enum { SERIALIZABLE = 1, MARKERS = 2, BRIDGES = 4 };

/* What altMetafactory has beyond metafactory: more interfaces, and more descriptors of the method than desc. */
static void extras_write(struct spin *s, const struct symbol *name, const struct symbol *desc)
{
	int flags = bootstrap_number(s, 3), at = 4;

	if (flags & SERIALIZABLE)
		interface_put(s, "java/io/Serializable", 20);
	for (int what = MARKERS; what <= BRIDGES; what *= 2) {
		int n = flags & what ? bootstrap_number(s, at++) : 0;

		while (n-- > 0 && s->error == NULL) {
			const struct constant *c = bootstrap_argument(
				s, at++, what == MARKERS ? CP_CLASS : CP_METHODTYPE);

			if (c != NULL && what == MARKERS)
				interface_put(s, c->name->text, c->name->length);
			else if (c != NULL && c->name != desc)
				body_write(s, name, c->name);
		}
	}
}

/* The signature of impl, with its receiver as the first argument, or with its new object as the result. */
static void body_signature(struct spin *s)
{
	struct signature *b = &s->body;

	signature_read(b, s->impl->desc);
	if (s->kind == HANDLE_NEW) {
		b->result = s->owner;
	} else if (s->kind != HANDLE_STATIC) {
		memmove(b->p + 1, b->p, (size_t)b->n++ * sizeof(struct type));
		b->p[0] = s->owner;
	}
}

static void parts_write(struct spin *s, const struct constant *site, bool alt)
{
	const struct constant *method = bootstrap_argument(s, 0, CP_METHODTYPE),
			      *given = bootstrap_argument(s, 2, CP_METHODTYPE);
	struct type face;

	signature_read(&s->captured, site->desc);
	face = s->captured.result;
	if (face.text[0] != 'L')
		s->error = "no interface";
	if (s->error != NULL)
		return;
	signature_read(&s->given, given->name);
	body_signature(s);
	interface_put(s, face.text + 1, face.length - 2);
	factory_write(s, site);
	body_write(s, site->name, method->name);
	if (alt)
		extras_write(s, site->name, method->name);
}

static void class_write(struct spin *s, struct buffer *out)
{
	uint16_t object = pool_class(s, "java/lang/Object", 16);

	put_4(out, 0xcafebabe);
	put_4(out, 52);
	put_2(out, s->n_constants);
	put(out, s->pool.bytes, s->pool.length);
	put_2(out, ACC_FINAL);
	put_2(out, s->self);
	put_2(out, object);
	put_2(out, s->n_interfaces);
	put(out, s->interfaces.bytes, s->interfaces.length);
	put_2(out, s->captured.n == 0 ? 1 : (uint32_t)s->captured.n);
	put(out, s->fields.bytes, s->fields.length);
	put_2(out, s->n_methods);
	put(out, s->methods.bytes, s->methods.length);
	put_2(out, 0); /* attributes */
}

/* Prepares to make a class. owner: the class whose method is called. */
static void spin_begin(struct spin *s, const struct symbol *owner)
{
	struct arena *a = &s->arena;
	char *type = arena_alloc(a, owner->length + 3u);

	s->pool.arena = s->interfaces.arena = s->fields.arena = s->methods.arena = s->code.arena =
		a;
	s->n_constants = 1;
	s->self = pool_class(s, "Lambda", 6); /* which the class is not called */
	s->owner.text = type;
	s->owner.length = (size_t)sprintf(type, owner->text[0] == '[' ? "%s" : "L%s;", owner->text);
}

/*
 * The name of the next class, NULL if it would be too long. No constant pool can have it, because of the dot. So a
 * program's class is not taken for it.
 */
static struct symbol *lambda_name(struct spin *s)
{
	static unsigned count; /* class_lock */
	const struct symbol *from = s->from->name;
	char *name = arena_alloc(&s->arena, from->length + 24u);
	int n = sprintf(name, "%s$$Lambda.%u", from->text, ++count);

	return n > UINT16_MAX ? NULL : symbol_of(name, (size_t)n);
}

/* The class of the call site's objects. owner: as for spin_begin. NULL: t->exception. */
static struct class *spin_class(struct jthread *t, struct spin *s, const struct constant *site,
				const struct symbol *owner, bool alt)
{
	struct buffer out = {.arena = &s->arena};
	struct symbol *name = lambda_name(s);

	spin_begin(s, owner);
	if (name == NULL)
		s->error = "a class with a name that is too long";
	else
		parts_write(s, site, alt);
	if (s->error == NULL) {
		class_write(s, &out);
		return class_define_hidden(t, out.bytes, out.length, name, s->self);
	}
	throw_new(t, "java/lang/BootstrapMethodError", "%s: a lambda expression has %s",
		  s->from->name->text, s->error);
	return NULL;
}

/* --- call sites -------------------------------------------------------------------------------- */

enum factory { NO_FACTORY, METAFACTORY, ALT_METAFACTORY };

static enum factory bootstrap_factory(const struct class *from, const struct bootstrap *b)
{
	const struct constant *m = &from->constants[b->handle->b];

	if (b->handle->a != HANDLE_STATIC ||
	    strcmp(from->constants[m->a].name->text, "java/lang/invoke/LambdaMetafactory") != 0)
		return NO_FACTORY;
	return strcmp(m->name->text, "metafactory") == 0      ? METAFACTORY
	       : strcmp(m->name->text, "altMetafactory") == 0 ? ALT_METAFACTORY
							      : NO_FACTORY;
}

/*
 * May the class call the handle's method, and as the handle says? Returns the class whose method is called: of a protected
 * one of another package, the class itself. NULL: t->exception.
 */
static struct symbol *impl_owner(struct jthread *t, struct class *from,
				 const struct constant *handle)
{
	struct symbol *owner;
	struct method *m;
	bool protected;

	if (handle == NULL || handle->a < HANDLE_VIRTUAL) {
		throw_new(t, "java/lang/BootstrapMethodError",
			  "%s: a lambda expression that calls no method", from->name->text);
		return NULL;
	}
	m = resolve_method(t, from, handle->b);
	if (m == NULL)
		return NULL;
	owner = from->constants[from->constants[handle->b].a].name;
	protected = (m->access & ACC_PROTECTED) && !class_same_package(from, m->cls) &&
		    owner->text[0] != '[';
	if (((m->access & ACC_STATIC) != 0) != (handle->a == HANDLE_STATIC) ||
	    (handle->a == HANDLE_NEW && (protected || (m->cls->access & ACC_ABSTRACT))) ||
	    (handle->a == HANDLE_SPECIAL && !class_is_assignable(from, m->cls))) {
		throw_new(t, "java/lang/IncompatibleClassChangeError",
			  "a lambda expression cannot call %s.%s", m->cls->name->text,
			  m->name->text);
		return NULL;
	}
	return handle->a == HANDLE_VIRTUAL && protected ? from->name : owner;
}

/* Makes the class of the call site. NULL: t->exception. The caller has class_lock. */
static struct class *site_class(struct jthread *t, struct class *from, const struct constant *site)
{
	const struct bootstrap *b = &from->bootstraps[site->a];
	enum factory factory = bootstrap_factory(from, b);
	const struct constant *handle;
	struct symbol *owner;
	struct class *c = NULL;
	struct spin *s;

	if (factory == NO_FACTORY) {
		throw_new(t, "java/lang/BootstrapMethodError",
			  "%s: an invokedynamic that is no lambda expression and no method "
			  "reference: this machine links no other",
			  from->name->text);
		return NULL;
	}
	s = vm_alloc(sizeof(*s));
	s->from = from;
	s->bootstrap = b;
	handle = bootstrap_argument(s, 1, CP_HANDLE);
	owner = impl_owner(t, from, handle);
	if (owner != NULL) {
		s->impl = &from->constants[handle->b];
		s->kind = handle->a;
		c = spin_class(t, s, site, owner, factory == ALT_METAFACTORY);
	}
	arena_free(&s->arena);
	free(s);
	return c;
}

/* The method that the call site calls, of its class, which is ready. NULL: t->exception. The caller has class_lock. */
static struct method *site_method(struct jthread *t, struct constant *site, struct class *c)
{
	struct method *m = atomic_load_explicit(&site->resolved, memory_order_relaxed);

	if (m != NULL)
		return m;
	m = class_declared(c, symbol_of_text(factory_name(site)), site->desc);
	if (m->n_args == 0) {
		c->statics[0].a = heap_object(t, c);
		if (c->statics[0].a == NULL)
			return NULL;
	}
	/* Release: a thread that finds the method finds its class complete. */
	atomic_store_explicit(&site->resolved, m, memory_order_release);
	return m;
}

/*
 * The static method that the call site `index` of the class calls: its arguments are the captured values, its result is
 * the object. NULL: t->exception. May load classes, run their initialisers, and wait for other threads that do. So it
 * acquires class_lock twice, and releases it meanwhile: an initialiser in another thread may need it. A call site that
 * fails keeps its class, if it has got one, for the next attempt.
 */
struct method *lambda_link(struct jthread *t, struct class *from, uint16_t index)
{
	struct constant *site = &from->constants[index];
	struct method *m;
	struct class *c;

	class_lock_acquire(t);
	if (site->value.p == NULL)
		site->value.p = site_class(t, from, site);
	c = site->value.p;
	class_lock_release();
	if (c == NULL || !class_initialize(t, c))
		return NULL;
	class_lock_acquire(t);
	m = site_method(t, site, c);
	class_lock_release();
	return m;
}
