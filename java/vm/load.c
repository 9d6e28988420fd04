/*
 * load.c - the table of classes, and where class files are found.
 *
 * There is one class loader. It looks into the machine's own library first, so that a program cannot bring another
 * java.lang.Object, and then into the entries of the class path in their order. class_lock guards the table, and is
 * held while a class is loaded, linked or verified. A class in the table stays there.
 */

#include "vm.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUCKETS 1024 /* a power of two */
#define MAX_PATH 16
#define MAX_NEST 64 /* of superclasses that wait for one another to be loaded */

/* The machine's library, a jar that the linker has put into the program (library.S). */
extern const uint8_t java_library[], java_library_end[];

struct path_entry {
	struct zip *zip;
	const char *directory;
};

pthread_mutex_t class_lock;
static struct class *classes[BUCKETS];
static struct zip *library;
static struct path_entry path[MAX_PATH];
static int n_path;
static struct symbol *loading[MAX_NEST]; /* names that are being loaded */
static int n_loading;

void class_lock_acquire(struct jthread *t)
{
	if (pthread_mutex_trylock(&class_lock) == 0)
		return;
	world_leave(t);
	pthread_mutex_lock(&class_lock);
	world_enter(t);
}

void class_lock_release(void)
{
	pthread_mutex_unlock(&class_lock);
}

/* The content of a file, or NULL. The caller frees it. */
static uint8_t *file_read(const char *name, size_t *length)
{
	struct stat st;
	uint8_t *bytes = NULL;
	ssize_t n = 0;
	int fd = open(name, O_RDONLY);

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		bytes = malloc((size_t)st.st_size + 1);
	for (*length = 0; bytes != NULL && *length < (size_t)st.st_size; *length += (size_t)n) {
		n = read(fd, bytes + *length, (size_t)st.st_size - *length);
		if (n <= 0)
			break;
	}
	close(fd);
	return bytes;
}

/* Adds a directory or a jar to the class path. False: it is neither, and the class path has no such entry. */
bool class_path_add(const char *name)
{
	struct stat st;
	struct path_entry *e = &path[n_path];
	size_t length;
	uint8_t *bytes;

	if (n_path == MAX_PATH || stat(name, &st) != 0)
		return false;
	if (S_ISDIR(st.st_mode)) {
		e->directory = name;
	} else {
		bytes = file_read(name, &length);
		e->zip = bytes == NULL ? NULL : zip_open(bytes, length, false);
		if (e->zip == NULL) {
			free(bytes);
			return false;
		}
	}
	n_path++;
	return true;
}

static void entry_find(struct path_entry *e, const char *name, struct member *m)
{
	char *whole;

	if (e->zip != NULL) {
		zip_find(e->zip, name, m);
		return;
	}
	whole = malloc(strlen(e->directory) + strlen(name) + 2);
	if (whole == NULL)
		return;
	sprintf(whole, "%s/%s", e->directory, name);
	m->bytes = file_read(whole, &m->length);
	m->allocated = m->bytes != NULL;
	free(whole);
}

/* A damaged member ends the search, so that no other file of this name takes its place. */
static void path_find(const char *name, struct member *m)
{
	for (int i = 0; i < n_path && m->bytes == NULL && m->wrong[0] == 0; i++)
		entry_find(&path[i], name, m);
}

/* A file of the class path, with a NUL behind it, or NULL: m->wrong may say why. */
char *class_path_file(const char *name, struct member *m)
{
	char *text = NULL;

	*m = (struct member){0};
	path_find(name, m);
	if (m->bytes != NULL && (text = malloc(m->length + 1)) != NULL) {
		memcpy(text, m->bytes, m->length);
		text[m->length] = 0;
	}
	member_free(m);
	return text;
}

static struct class *table_find(struct symbol *name)
{
	struct class *c = classes[name->hash % BUCKETS];

	while (c != NULL && c->name != name)
		c = c->next;
	return c;
}

static void table_add(struct class *c)
{
	struct class **head = &classes[c->name->hash % BUCKETS];

	c->next = *head;
	*head = c;
}

void class_each(void (*f)(struct class *))
{
	for (int i = 0; i < BUCKETS; i++)
		for (struct class *c = classes[i]; c != NULL; c = c->next)
			f(c);
}

static void class_add_interface(struct class *c, struct class *i)
{
	for (int k = 0; k < c->n_all_interfaces; k++)
		if (c->all_interfaces[k] == i)
			return;
	c->all_interfaces[c->n_all_interfaces++] = i;
}

/* What the class can be assigned to: its superclasses, and all interfaces. */
static void class_ancestry(struct class *c)
{
	uint16_t n = c->super == NULL ? 0 : c->super->n_supers;
	size_t most = 1 + (c->super == NULL ? 0 : c->super->n_all_interfaces);

	c->supers = arena_alloc(&c->arena, (n + 1) * sizeof(struct class *));
	for (int i = 0; i < n; i++)
		c->supers[i] = c->super->supers[i];
	c->supers[n] = c;
	c->n_supers = n + 1;
	for (int i = 0; i < c->n_interfaces; i++)
		most += 1 + c->interfaces[i]->n_all_interfaces;
	c->all_interfaces = arena_alloc(&c->arena, most * sizeof(struct class *));
	for (int i = 0; c->super != NULL && i < c->super->n_all_interfaces; i++)
		class_add_interface(c, c->super->all_interfaces[i]);
	for (int i = 0; i < c->n_interfaces; i++) {
		for (int k = 0; k < c->interfaces[i]->n_all_interfaces; k++)
			class_add_interface(c, c->interfaces[i]->all_interfaces[k]);
		class_add_interface(c, c->interfaces[i]);
	}
	if (c->access & ACC_INTERFACE)
		class_add_interface(c, c);
}

/* Makes a class of these bytes. NULL: t->exception. The caller has class_lock. */
static struct class *class_make(struct jthread *t, const uint8_t *bytes, size_t length,
				struct symbol *expected, bool trusted)
{
	struct class *c = class_parse(t, bytes, length, trusted);

	if (c == NULL)
		return NULL;
	if (expected != NULL && c->name != expected)
		throw_new(t, "java/lang/NoClassDefFoundError", "%s: the file has the class %s",
			  expected->text, c->name->text);
	else if (table_find(c->name) != NULL)
		throw_new(t, "java/lang/LinkageError", "%s exists already", c->name->text);
	if (t->exception != NULL) {
		struct arena arena = c->arena;

		arena_free(&arena);
		return NULL;
	}
	class_ancestry(c);
	table_add(c);
	return c;
}

static struct class *class_load(struct jthread *t, struct symbol *name)
{
	char *file = malloc((size_t)name->length + 7);
	struct class *c = NULL;
	struct member m = {0};
	bool trusted;

	if (file == NULL) {
		throw_no_memory(t);
		return NULL;
	}
	sprintf(file, "%s.class", name->text);
	if (library == NULL)
		library = zip_open(java_library, (size_t)(java_library_end - java_library), true);
	zip_find(library, file, &m);
	trusted = m.bytes != NULL;
	if (!trusted)
		path_find(file, &m);
	free(file);
	if (m.wrong[0] != 0) {
		throw_new(t, "java/util/zip/ZipException", "%s", m.wrong);
		throw_wrap(t, "java/lang/NoClassDefFoundError", name->text);
	} else if (m.bytes == NULL && strncmp(name->text, "java/", 5) == 0)
		throw_new(t, "java/lang/NoClassDefFoundError",
			  "%s: the class library of this machine does not have it", name->text);
	else if (m.bytes == NULL)
		throw_new(t, "java/lang/NoClassDefFoundError", "%s", name->text);
	else
		c = class_make(t, m.bytes, m.length, name, trusted);
	member_free(&m);
	return c;
}

static struct class *class_array(struct jthread *t, struct symbol *name)
{
	struct class *element = class_of_type(t, name->text + 1, name->length - 1u);

	return element == NULL ? NULL : class_array_of(t, element);
}

/* The class of this name, which is loaded if need be. NULL: t->exception. */
struct class *class_find(struct jthread *t, struct symbol *name)
{
	struct class *c;

	class_lock_acquire(t);
	c = table_find(name);
	if (c == NULL && name->text[0] == '[') {
		c = class_array(t, name);
	} else if (c == NULL) {
		for (int i = 0; i < n_loading; i++)
			if (loading[i] == name && t->exception == NULL)
				throw_new(t, "java/lang/ClassCircularityError", "%s", name->text);
		if (n_loading == MAX_NEST && t->exception == NULL)
			throw_new(t, "java/lang/NoClassDefFoundError",
				  "%s: more than %d superclasses", name->text, MAX_NEST);
		if (t->exception == NULL) {
			loading[n_loading++] = name;
			c = class_load(t, name);
			n_loading--;
		}
	}
	class_lock_release();
	return c;
}

struct class *class_find_text(struct jthread *t, const char *name)
{
	if (strlen(name) > UINT16_MAX) { /* more than a symbol has room for */
		throw_new(t, "java/lang/NoClassDefFoundError", "a name of more than %d bytes",
			  UINT16_MAX);
		return NULL;
	}
	return class_find(t, symbol_of_text(name));
}

/* A class of a program's own making (ClassLoader.defineClass). */
struct class *class_define(struct jthread *t, const uint8_t *bytes, size_t length,
			   struct symbol *expected)
{
	struct class *c;

	class_lock_acquire(t);
	c = class_make(t, bytes, length, expected, false);
	class_lock_release();
	return c;
}

/*
 * A class that the machine has made for a lambda expression: its bytes have another name, in the entry `self` of the
 * constant pool. NULL: t->exception.
 */
struct class *class_define_hidden(struct jthread *t, const uint8_t *bytes, size_t length,
				  struct symbol *name, uint16_t self)
{
	struct class *c;

	class_lock_acquire(t);
	c = class_parse(t, bytes, length, true);
	if (c != NULL) {
		c->name = name;
		c->hidden = true;
		atomic_store_explicit(&c->constants[self].resolved, c, memory_order_relaxed);
		class_ancestry(c);
		table_add(c);
	}
	class_lock_release();
	return c;
}

/* The class of a type in a descriptor. */
struct class *class_of_type(struct jthread *t, const char *desc, size_t length)
{
	if (desc[0] == 'L')
		return class_find(t, symbol_of(desc + 1, length - 2));
	if (desc[0] == '[')
		return class_find(t, symbol_of(desc, length));
	return known.primitive[(int)desc[0]];
}

static struct symbol *array_name(const struct class *element)
{
	size_t n = element->name->length;
	char *text = vm_alloc(n + 4);
	struct symbol *name;

	if (element->element != NULL)
		sprintf(text, "[%s", element->name->text);
	else if (element->kind != 0)
		sprintf(text, "[%c", element->kind);
	else
		sprintf(text, "[L%s;", element->name->text);
	name = symbol_of_text(text);
	free(text);
	return name;
}

/* The class of arrays of this class. Never NULL except for too many dimensions: t->exception. */
struct class *class_array_of(struct jthread *t, struct class *element)
{
	struct class *c = atomic_load_explicit(&element->array, memory_order_acquire);

	if (c != NULL)
		return c;
	if (element->name->length > 65000 ||
	    (element->element != NULL && strspn(element->name->text, "[") >= 255)) {
		throw_new(t, "java/lang/IllegalArgumentException",
			  "an array of more than 255 dimensions");
		return NULL;
	}
	class_lock_acquire(t);
	c = atomic_load_explicit(&element->array, memory_order_acquire);
	if (c == NULL) {
		c = vm_alloc(sizeof(*c));
		c->name = array_name(element);
		c->super = known.object;
		c->access = (element->access & ACC_PUBLIC) | ACC_FINAL | ACC_ABSTRACT;
		c->element = element;
		c->kind = element->element != NULL ? '[' : element->kind != 0 ? element->kind : 'L';
		c->n_interfaces = 2;
		c->interfaces = vm_alloc(2 * sizeof(struct class *));
		c->interfaces[0] = known.cloneable;
		c->interfaces[1] = known.serializable;
		class_ancestry(c);
		c->vtable = known.object->vtable;
		c->n_vtable = known.object->n_vtable;
		c->itables = vm_alloc(c->n_all_interfaces * sizeof(struct method **) + 1);
		c->trusted = true;
		atomic_store(&c->state, CLASS_READY);
		table_add(c);
		/* Release: a reader without the lock finds the class complete. */
		atomic_store_explicit(&element->array, c, memory_order_release);
	}
	class_lock_release();
	return c;
}

/* The java.lang.Class of a class. NULL: t->exception. */
struct object *class_mirror(struct jthread *t, struct class *cls)
{
	struct object *mirror = __atomic_load_n(&cls->mirror, __ATOMIC_ACQUIRE);

	if (mirror != NULL)
		return mirror;
	class_lock_acquire(t);
	mirror = __atomic_load_n(&cls->mirror, __ATOMIC_ACQUIRE);
	if (mirror == NULL) {
		mirror = heap_object(t, known.class);
		if (mirror != NULL) {
			mirror->fields[known.class_vm->slot].p = cls;
			__atomic_store_n(&cls->mirror, mirror, __ATOMIC_RELEASE);
		}
	}
	class_lock_release();
	return mirror;
}

struct class *class_of_mirror(struct object *mirror)
{
	return mirror->fields[known.class_vm->slot].p;
}

/* Whether an object of class `from` can stand where `to` is expected. */
bool class_is_assignable(const struct class *from, const struct class *to)
{
	while (to->element != NULL && from->element != NULL) {
		if (from == to)
			return true;
		from = from->element;
		to = to->element;
	}
	if (from == to)
		return true;
	if (from->n_supers == 0 || to->n_supers == 0) /* a primitive type */
		return false;
	if (to->access & ACC_INTERFACE) {
		for (int i = 0; i < from->n_all_interfaces; i++)
			if (from->all_interfaces[i] == to)
				return true;
		return false;
	}
	return to->n_supers <= from->n_supers && from->supers[to->n_supers - 1] == to;
}
