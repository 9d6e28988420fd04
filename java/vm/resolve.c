/*
 * resolve.c - what an entry of a constant pool means (JVMS 5.4.3).
 *
 * Each function looks at `resolved` first, and stores the result there. Two threads that resolve one entry find the
 * same class, field or method, so either's store may win; for a string, interning makes both one.
 */

#include "vm.h"

/* Whether code of the class `from` may use a member of `owner`, or `owner` itself, that has these flags. */
bool access_is_allowed(const struct class *from, const struct class *owner, uint16_t access)
{
	if ((access & ACC_PUBLIC) || from == owner || owner->element != NULL || from->trusted)
		return true;
	if (access & ACC_PRIVATE)
		return false;
	if (class_same_package(from, owner))
		return true;
	return (access & ACC_PROTECTED) && class_is_assignable(from, owner);
}

static void *constant_resolved(struct constant *c)
{
	return atomic_load_explicit(&c->resolved, memory_order_acquire);
}

static void constant_store(struct constant *c, void *p)
{
	atomic_store_explicit(&c->resolved, p, memory_order_release);
}

/* NULL: t->exception. The class need not be linked. */
struct class *resolve_class(struct jthread *t, struct class *from, uint16_t index)
{
	struct constant *c = &from->constants[index];
	struct class *cls = constant_resolved(c), *e;

	if (cls != NULL)
		return cls;
	cls = class_find(t, c->name);
	if (cls == NULL)
		return NULL;
	for (e = cls; e->element != NULL; e = e->element)
		;
	if (!access_is_allowed(from, e, e->access & ACC_PUBLIC)) {
		throw_new(t, "java/lang/IllegalAccessError", "%s may not use the class %s",
			  from->name->text, e->name->text);
		return NULL;
	}
	constant_store(c, cls);
	return cls;
}

struct object *resolve_string(struct jthread *t, struct class *from, uint16_t index)
{
	struct constant *c = &from->constants[index];
	struct object *string = constant_resolved(c);

	if (string != NULL)
		return string;
	string = string_new(t, c->name->text, c->name->length);
	if (string != NULL)
		string = string_intern(t, string);
	if (string != NULL)
		constant_store(c, string);
	return string;
}

/*
 * A field; its class is linked. NULL: t->exception. `write`: it is to be stored to, by the method `by`; a final field
 * may be only by an initialiser of its class.
 */
struct field *resolve_field(struct jthread *t, struct class *from, uint16_t index, bool is_static,
			    bool write, struct method *by)
{
	struct constant *c = &from->constants[index];
	struct field *f = constant_resolved(c);
	struct class *cls;

	if (f == NULL) {
		cls = resolve_class(t, from, c->a);
		if (cls == NULL || !class_link(t, cls))
			return NULL;
		f = class_field(cls, c->name, c->desc);
		if (f == NULL) {
			throw_new(t, "java/lang/NoSuchFieldError", "%s.%s (%s)", cls->name->text,
				  c->name->text, c->desc->text);
			return NULL;
		}
		if (!access_is_allowed(from, f->cls, f->access)) {
			throw_new(t, "java/lang/IllegalAccessError",
				  "%s may not use the field %s.%s", from->name->text,
				  f->cls->name->text, f->name->text);
			return NULL;
		}
		if (!class_link(t, f->cls))
			return NULL;
	}
	if (((f->access & ACC_STATIC) != 0) != is_static) {
		throw_new(t, "java/lang/IncompatibleClassChangeError",
			  "the field %s.%s is %sstatic", f->cls->name->text, f->name->text,
			  is_static ? "not " : "");
		return NULL;
	}
	if (write && (f->access & ACC_FINAL) &&
	    (f->cls != from || by->name != (is_static ? known.clinit : known.init))) {
		throw_new(t, "java/lang/IllegalAccessError", "the field %s.%s is final",
			  f->cls->name->text, f->name->text);
		return NULL;
	}
	constant_store(c, f);
	return f;
}

/* Of the class, its superclasses, then its interfaces; a constructor of the class alone. Arrays have the methods of java.lang.Object. */
static struct method *method_search(struct class *cls, struct symbol *name, struct symbol *desc)
{
	struct method *m = name == known.init ? class_declared(cls, name, desc)
					      : class_method(cls, name, desc);
	bool interface = cls->access & ACC_INTERFACE;

	if (name == known.init)
		return m;
	if (m == NULL)
		m = class_implementation(cls, name, desc);
	return m == NULL && interface ? class_declared(known.object, name, desc) : m;
}

/* A method; its class is linked. NULL: t->exception. The caller checks whether it is static. */
struct method *resolve_method(struct jthread *t, struct class *from, uint16_t index)
{
	struct constant *c = &from->constants[index];
	struct method *m = constant_resolved(c);
	struct class *cls;

	if (m != NULL)
		return m;
	cls = resolve_class(t, from, c->a);
	if (cls == NULL || !class_link(t, cls))
		return NULL;
	if (((cls->access & ACC_INTERFACE) != 0) != (c->tag == CP_IMETHOD)) {
		throw_new(t, "java/lang/IncompatibleClassChangeError", "%s is %s interface",
			  cls->name->text, c->tag == CP_IMETHOD ? "no" : "an");
		return NULL;
	}
	m = method_search(cls, c->name, c->desc);
	if (m == NULL) {
		throw_new(t, "java/lang/NoSuchMethodError", "%s.%s%s", cls->name->text,
			  c->name->text, c->desc->text);
		return NULL;
	}
	if (!access_is_allowed(from, m->cls, m->access)) {
		throw_new(t, "java/lang/IllegalAccessError", "%s may not call %s.%s%s",
			  from->name->text, m->cls->name->text, m->name->text, m->desc->text);
		return NULL;
	}
	if (!class_link(t, m->cls))
		return NULL;
	constant_store(c, m);
	return m;
}
