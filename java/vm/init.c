/*
 * init.c - initialisation of classes (JVMS 5.5), and the classes that the machine knows by name.
 *
 * A class is initialised once, by the first thread that uses it; that thread may use it meanwhile, and others wait.
 * init_lock guards the states, and is never held while Java code runs. The state is stored with release when the
 * class is ready, and the interpreter loads it with acquire, so that a thread that takes no lock sees the fields that
 * the initialiser has set.
 */

#include "vm.h"
#include <string.h>

struct known known;
static pthread_mutex_t init_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t init_done = PTHREAD_COND_INITIALIZER;

/* Static fields with a ConstantValue. */
static bool class_set_constants(struct jthread *t, struct class *c)
{
	for (int i = 0; i < c->n_fields; i++) {
		struct field *f = &c->fields[i];

		if (f->constant == 0 || !(f->access & ACC_STATIC))
			continue;
		if (f->desc->text[0] == 'L') {
			struct object *string = resolve_string(t, c, f->constant);

			if (string == NULL)
				return false;
			c->statics[f->slot].a = string;
		} else {
			c->statics[f->slot] = c->constants[f->constant].value;
		}
	}
	return true;
}

/* Interfaces with code are initialised with a class that implements them. */
static bool class_initialize_parents(struct jthread *t, struct class *c)
{
	if (c->access & ACC_INTERFACE)
		return true;
	if (c->super != NULL && !class_initialize(t, c->super))
		return false;
	for (int i = 0; i < c->n_all_interfaces; i++) {
		struct class *f = c->all_interfaces[i];
		bool has_code = false;

		for (int k = 0; k < f->n_methods; k++)
			has_code |= !(f->methods[k].access & (ACC_ABSTRACT | ACC_STATIC));
		if (has_code && !class_initialize(t, f))
			return false;
	}
	return true;
}

/* An exception of the initialiser that is no Error becomes the cause of ExceptionInInitializerError. */
static void init_wrap(struct jthread *t)
{
	struct object *cause = root_push(t, t->exception);
	struct class *error;

	t->exception = NULL;
	error = class_find_text(t, "java/lang/Error");
	t->exception = cause;
	if (error != NULL && !class_is_assignable(cause->cls, error))
		throw_wrap(t, "java/lang/ExceptionInInitializerError", NULL);
	root_pop(t, 1);
}

/* Whether this thread is to initialise the class. False: it is ready, or t->exception. */
static bool init_begin(struct jthread *t, struct class *c)
{
	int state;

	world_leave(t);
	pthread_mutex_lock(&init_lock);
	while (atomic_load(&c->state) == CLASS_INITIALIZING && c->initializer != t)
		pthread_cond_wait(&init_done, &init_lock);
	state = atomic_load(&c->state);
	if (state == CLASS_LINKED) {
		c->initializer = t;
		atomic_store(&c->state, CLASS_INITIALIZING);
	}
	pthread_mutex_unlock(&init_lock);
	world_enter(t);
	if (state == CLASS_FAILED)
		throw_new(t, "java/lang/NoClassDefFoundError", "%s: its initialisation has failed",
			  c->name->text);
	return state == CLASS_LINKED;
}

static void init_end(struct jthread *t, struct class *c, int state)
{
	world_leave(t);
	pthread_mutex_lock(&init_lock);
	c->initializer = NULL;
	atomic_store_explicit(&c->state, state, memory_order_release);
	pthread_cond_broadcast(&init_done);
	pthread_mutex_unlock(&init_lock);
	world_enter(t);
}

/* Initialises the class unless it is ready, or this thread is about it. False: t->exception. Runs Java code. */
bool class_initialize(struct jthread *t, struct class *c)
{
	union slot none;

	if (atomic_load_explicit(&c->state, memory_order_acquire) == CLASS_READY)
		return true;
	if (!class_link(t, c))
		return false;
	if (!init_begin(t, c))
		return t->exception == NULL;
	if (class_initialize_parents(t, c) && class_set_constants(t, c) && c->class_init != NULL) {
		java_call(t, c->class_init, NULL, &none);
		if (t->exception != NULL)
			init_wrap(t);
	}
	init_end(t, c, t->exception == NULL ? CLASS_READY : CLASS_FAILED);
	return t->exception == NULL;
}

static void known_primitives(void)
{
	static const char *const names[] = {"boolean", "byte", "char",  "double", "float",
					    "int",     "long", "short", "void"};
	static const char letters[] = "ZBCDFIJSV";

	for (int i = 0; letters[i] != 0; i++) {
		struct class *c = vm_alloc(sizeof(*c));

		c->name = symbol_of_text(names[i]);
		c->kind = letters[i];
		c->access = ACC_PUBLIC | ACC_FINAL | ACC_ABSTRACT;
		c->trusted = true;
		atomic_store(&c->state, CLASS_READY);
		known.primitive[(int)letters[i]] = c;
	}
}

static struct field *known_field(struct class *c, const char *name, const char *desc)
{
	return class_field(c, symbol_of_text(name), symbol_of_text(desc));
}

/* Errors that are thrown where nothing can be loaded: with a full stack or heap. */
static bool known_errors(struct jthread *t)
{
	static const char *const names[] = {"java/lang/StackOverflowError",
					    "java/lang/OutOfMemoryError",
					    "java/lang/NullPointerException"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct class *c = class_find_text(t, names[i]);

		if (c == NULL || !class_initialize(t, c))
			return false;
	}
	out_of_memory = heap_object(t, class_find_text(t, names[1]));
	return out_of_memory != NULL;
}

/* Loads what the machine itself uses. False: t->exception, or no library. */
bool known_init(struct jthread *t)
{
	pthread_mutexattr_t recursive;

	pthread_mutexattr_init(&recursive);
	pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&class_lock, &recursive);
	known.init = symbol_of_text("<init>");
	known.clinit = symbol_of_text("<clinit>");
	known.void_desc = symbol_of_text("()V");
	known_primitives();
	known.object = class_find_text(t, "java/lang/Object");
	known.cloneable = class_find_text(t, "java/lang/Cloneable");
	known.serializable = class_find_text(t, "java/io/Serializable");
	known.class = class_find_text(t, "java/lang/Class");
	known.string = class_find_text(t, "java/lang/String");
	known.throwable = class_find_text(t, "java/lang/Throwable");
	known.thread = class_find_text(t, "java/lang/Thread");
	if (known.object == NULL || known.cloneable == NULL || known.serializable == NULL ||
	    known.class == NULL || known.string == NULL || known.throwable == NULL ||
	    known.thread == NULL)
		return false;
	known.string_value = known_field(known.string, "value", "[C");
	known.class_vm = known_field(known.class, "vm", "J");
	known.throwable_message = known_field(known.throwable, "message", "Ljava/lang/String;");
	known.throwable_cause = known_field(known.throwable, "cause", "Ljava/lang/Throwable;");
	known.throwable_trace = known_field(known.throwable, "trace", "Ljava/lang/Object;");
	known.thread_vm = known_field(known.thread, "vm", "J");
	known.thread_name = known_field(known.thread, "name", "Ljava/lang/String;");
	known.thread_daemon = known_field(known.thread, "daemon", "Z");
	known.thread_priority = known_field(known.thread, "priority", "I");
	if (!class_link(t, known.object) || !class_link(t, known.class) ||
	    !class_link(t, known.string) || !class_link(t, known.throwable) ||
	    !class_link(t, known.thread))
		return false;
	for (const char *p = "ZBCDFIJS"; *p != 0; p++)
		known.array[(int)*p] = class_array_of(t, known.primitive[(int)*p]);
	known.array_object = class_array_of(t, known.object);
	known.array_string = class_array_of(t, known.string);
	return class_initialize(t, known.object) && class_initialize(t, known.class) &&
	       class_initialize(t, known.string) && known_errors(t);
}
