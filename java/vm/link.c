/*
 * link.c - lays out the objects and tables of a class, and has it verified.
 *
 * A virtual method has an index in the table of its class and of all subclasses. A method of an interface has an index in
 * the interface's methods; a class has a table for each of its interfaces, which says what implements them. So an
 * invocation is two or three loads, and needs no lock: the tables do not change after linking.
 */

#include "vm.h"
#include <string.h>

static size_t package_length(const struct symbol *name)
{
	const char *slash = strrchr(name->text, '/');

	return slash == NULL ? 0 : (size_t)(slash - name->text);
}

bool class_same_package(const struct class *a, const struct class *b)
{
	size_t n = package_length(a->name);

	return n == package_length(b->name) && memcmp(a->name->text, b->name->text, n) == 0;
}

static bool field_is_reference(const struct field *f)
{
	return f->desc->text[0] == 'L' || f->desc->text[0] == '[';
}

/* The three tables are made once: a class that does not verify may be linked again and again. */

static void class_lay_out(struct class *c)
{
	uint32_t n_super_refs = c->super == NULL ? 0 : c->super->n_refs;

	if (c->refs != NULL)
		return;
	c->n_slots = c->super == NULL ? 0 : c->super->n_slots;
	c->refs = arena_alloc(&c->arena, (n_super_refs + c->n_fields) * sizeof(uint32_t) + 1);
	if (n_super_refs != 0)
		memcpy(c->refs, c->super->refs, n_super_refs * sizeof(uint32_t));
	c->n_refs = n_super_refs;
	c->n_statics = 0;
	for (int i = 0; i < c->n_fields; i++) {
		struct field *f = &c->fields[i];

		if (f->access & ACC_STATIC) {
			f->slot = c->n_statics++;
			continue;
		}
		f->slot = c->n_slots++;
		if (field_is_reference(f))
			c->refs[c->n_refs++] = f->slot;
	}
	c->statics = arena_alloc(&c->arena, c->n_statics * sizeof(union slot) + 1);
}

static bool method_is_virtual(const struct method *m)
{
	return !(m->access & (ACC_STATIC | ACC_PRIVATE)) && m->name != known.init &&
	       m->name != known.clinit;
}

static bool method_overrides(const struct method *m, const struct method *inherited)
{
	return m->name == inherited->name && m->desc == inherited->desc &&
	       ((inherited->access & (ACC_PUBLIC | ACC_PROTECTED)) ||
		class_same_package(m->cls, inherited->cls));
}

/* False: t->exception. */
static bool class_make_vtable(struct jthread *t, struct class *c)
{
	uint32_t n = c->super == NULL ? 0 : c->super->n_vtable;

	if (c->vtable == NULL)
		c->vtable =
			arena_alloc(&c->arena, (n + c->n_methods) * sizeof(struct method *) + 1);
	if (n != 0)
		memcpy(c->vtable, c->super->vtable, n * sizeof(struct method *));
	c->n_vtable = n;
	for (int i = 0; i < c->n_methods; i++) {
		struct method *m = &c->methods[i];

		if (!method_is_virtual(m))
			continue;
		m->vindex = -1; /* an earlier attempt may have failed later on */
		for (uint32_t k = 0; k < n; k++) {
			if (!method_overrides(m, c->super->vtable[k]))
				continue;
			if (c->super->vtable[k]->access & ACC_FINAL) {
				throw_new(t, "java/lang/VerifyError",
					  "%s.%s overrides a final method", c->name->text,
					  m->name->text);
				return false;
			}
			c->vtable[k] = m;
			m->vindex = (int32_t)k;
		}
		if (m->vindex < 0) {
			m->vindex = (int32_t)c->n_vtable;
			c->vtable[c->n_vtable++] = m;
		}
	}
	return true;
}

/* Of the class's own methods. */
struct method *class_declared(struct class *cls, struct symbol *name, struct symbol *desc)
{
	for (int i = 0; i < cls->n_methods; i++)
		if (cls->methods[i].name == name && cls->methods[i].desc == desc)
			return &cls->methods[i];
	return NULL;
}

/* Of the class or a superclass; not of interfaces. NULL: none. */
struct method *class_method(struct class *cls, struct symbol *name, struct symbol *desc)
{
	for (; cls != NULL; cls = cls->super) {
		struct method *m = class_declared(cls, name, desc);

		if (m != NULL)
			return m;
	}
	return NULL;
}

static struct field *class_declared_field(struct class *cls, struct symbol *name,
					  struct symbol *desc)
{
	for (int i = 0; i < cls->n_fields; i++)
		if (cls->fields[i].name == name && cls->fields[i].desc == desc)
			return &cls->fields[i];
	return NULL;
}

/*
 * Of the class, its interfaces, then its superclass. An interface comes before those that it extends; each is looked at
 * once for each direct interface, because the number of ways up may double with each level.
 */
struct field *class_field(struct class *cls, struct symbol *name, struct symbol *desc)
{
	for (; cls != NULL; cls = cls->super) {
		struct field *f = class_declared_field(cls, name, desc);

		for (int i = 0; i < cls->n_interfaces && f == NULL; i++) {
			struct class *of = cls->interfaces[i];

			for (int k = of->n_all_interfaces; k-- > 0 && f == NULL;)
				f = class_declared_field(of->all_interfaces[k], name, desc);
		}
		if (f != NULL)
			return f;
	}
	return NULL;
}

/* The method of the most special interface of a class that has it: one with code, or else any. */
static struct method *class_default(struct class *cls, struct symbol *name, struct symbol *desc)
{
	struct method *best = NULL;

	for (int i = 0; i < cls->n_all_interfaces; i++) {
		struct method *m = class_declared(cls->all_interfaces[i], name, desc);

		if (m == NULL || (m->access & (ACC_STATIC | ACC_PRIVATE)))
			continue;
		if (best == NULL || class_is_assignable(m->cls, best->cls) ||
		    ((best->access & ACC_ABSTRACT) && !class_is_assignable(best->cls, m->cls)))
			best = m;
	}
	return best;
}

/* What an object of this class does when the method of an interface is called. NULL: nothing. */
struct method *class_implementation(struct class *cls, struct symbol *name, struct symbol *desc)
{
	for (struct class *c = cls; c != NULL; c = c->super) {
		struct method *m = class_declared(c, name, desc);

		if (m != NULL && !(m->access & (ACC_STATIC | ACC_PRIVATE)))
			return m;
	}
	return class_default(cls, name, desc);
}

static void class_make_itables(struct class *c)
{
	if (c->itables != NULL)
		return;
	c->itables = arena_alloc(&c->arena, c->n_all_interfaces * sizeof(struct method **) + 1);
	for (int i = 0; i < c->n_all_interfaces && !(c->access & ACC_INTERFACE); i++) {
		struct class *f = c->all_interfaces[i];

		c->itables[i] = arena_alloc(&c->arena, f->n_methods * sizeof(struct method *) + 1);
		for (int k = 0; k < f->n_methods; k++)
			if (method_is_virtual(&f->methods[k]))
				c->itables[i][k] = class_implementation(c, f->methods[k].name,
									f->methods[k].desc);
	}
}

/* The method that implements a method of an interface. NULL: the class does not have the interface, or not the method. */
struct method *method_of_interface(struct class *cls, struct method *m)
{
	for (int i = 0; i < cls->n_all_interfaces; i++)
		if (cls->all_interfaces[i] == m->cls)
			return cls->itables[i] == NULL ? NULL
						       : cls->itables[i][m - m->cls->methods];
	return NULL;
}

static bool class_link_locked(struct jthread *t, struct class *c)
{
	if (c->super != NULL && !class_link(t, c->super))
		return false;
	for (int i = 0; i < c->n_interfaces; i++)
		if (!class_link(t, c->interfaces[i]))
			return false;
	class_lay_out(c);
	if (!class_make_vtable(t, c))
		return false;
	class_make_itables(c);
	c->class_init = class_declared(c, known.clinit, known.void_desc);
	return c->hidden || (c->trusted && !verify_all) || verify_class(t, c);
}

/* Links the class and its superclasses. False: t->exception. May wait for another thread that links. */
bool class_link(struct jthread *t, struct class *cls)
{
	bool good = true;

	if (atomic_load_explicit(&cls->state, memory_order_acquire) != CLASS_LOADED)
		return true;
	class_lock_acquire(t);
	if (atomic_load(&cls->state) == CLASS_LOADED) {
		good = class_link_locked(t, cls);
		/* Release: a thread that sees the state also sees the tables. */
		if (good)
			atomic_store_explicit(&cls->state, CLASS_LINKED, memory_order_release);
	}
	class_lock_release();
	return good;
}
