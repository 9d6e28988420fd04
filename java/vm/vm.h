/*
 * vm.h - the structures of the Java machine, and what its files have for each other.
 *
 * A value has 8 bytes everywhere: in local variables, on operand stacks, in fields.  A long or double has its value
 * in the first of its two places, and the second is unused.  Elements of arrays have their natural size.
 *
 * Locks, outermost first:
 *	monitors of Java objects (monitor.c)
 *	class_lock (load.c): loading, linking and verification; recursive
 *	init_lock (init.c): states of class initialisation
 *	world.lock (world.c): the list of threads, and safepoints
 *	jthread.lock: a thread that waits or sleeps, and its waker (jthread.c)
 *	monitor_lock (monitor.c), heap_lock (heap.c), string_lock (string.c), symbol_lock (symbol.c): leaves
 * A thread that may have to wait for one of the first three does so in a safe region (world_leave), because the owner may
 * stop at a safepoint. The owner of another lock does not stop while it has it.
 */

#ifndef VM_H
#define VM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "sync.h"

struct class;
struct frame;
struct jthread;
struct member;
struct method;
struct object;

union slot {
	int32_t i;
	int64_t j;
	float f;
	double d;
	struct object *a;
	void *p;
};

/* --- names: symbol.c ------------------------------------------------------------------------- */

/* Two symbols with the same text are one. Never freed. */
struct symbol {
	struct symbol *next;
	uint32_t hash;
	uint16_t length;
	char text[]; /* modified UTF-8, with a NUL behind */
};

struct symbol *symbol_of(const char *text, size_t length);
struct symbol *symbol_of_text(const char *text);

/* Memory of one class, which is freed as a whole if the class is no good. */
struct arena {
	struct arena_chunk *chunks;
};

void *arena_alloc(struct arena *arena,
		  size_t size); /* zeroed; ends the process if there is no memory */
void arena_free(struct arena *arena);
void *vm_alloc(size_t size); /* the same, for ever */

/* --- objects: heap.c, collect.c ---------------------------------------------------------------- */

struct object {
	struct class *cls;     /* NULL: a free cell */
	_Atomic uint64_t lock; /* monitor.c */
	union slot fields[];
};

struct array {
	struct object object;
	int32_t length;
	int32_t unused;
	union {
		int8_t b[0];
		uint16_t c[0];
		int16_t s[0];
		int32_t i[0];
		int64_t j[0];
		float f[0];
		double d[0];
		struct object *a[0];
	};
};

#define ARRAY(o) ((struct array *)(o))

void heap_init(size_t max);
struct object *heap_object(struct jthread *t, struct class *cls);
struct array *heap_array(struct jthread *t, struct class *cls, int32_t length);
struct object *heap_clone(struct jthread *t, struct object *from);
void array_move(struct array *to, size_t k, const struct array *from, size_t i, size_t n);
void heap_forget(struct jthread *t);
void heap_sizes(int64_t *max, int64_t *total, int64_t *free);
void collect(struct jthread *t);
extern struct object *out_of_memory; /* the error that needs no memory */

/* --- classes: classfile.c, load.c, link.c, init.c, resolve.c ------------------------------------ */

enum {
	ACC_PUBLIC = 0x0001,
	ACC_PRIVATE = 0x0002,
	ACC_PROTECTED = 0x0004,
	ACC_STATIC = 0x0008,
	ACC_FINAL = 0x0010,
	ACC_SYNCHRONIZED = 0x0020,
	ACC_VOLATILE = 0x0040,
	ACC_VARARGS = 0x0080,
	ACC_NATIVE = 0x0100,
	ACC_INTERFACE = 0x0200,
	ACC_ABSTRACT = 0x0400,
};

enum {
	CP_UTF8 = 1,
	CP_INTEGER = 3,
	CP_FLOAT = 4,
	CP_LONG = 5,
	CP_DOUBLE = 6,
	CP_CLASS = 7,
	CP_STRING = 8,
	CP_FIELD = 9,
	CP_METHOD = 10,
	CP_IMETHOD = 11,
	CP_NAMETYPE = 12,
	CP_HANDLE = 15,
	CP_METHODTYPE = 16,
	CP_INVOKEDYNAMIC = 18,
};

/* Kinds of method handles, JVMS 4.4.8: fields up to 4, methods from 5 on. */
enum { HANDLE_VIRTUAL = 5, HANDLE_STATIC, HANDLE_SPECIAL, HANDLE_NEW, HANDLE_INTERFACE };

/*
 * An entry of a constant pool. `resolved` is a class, string, field or method; of a call site, the method that it
 * calls, and `value` is its class (lambda.c; class_lock). Several threads may resolve an entry at
 * once, and store the same pointer: release there and acquire at the reader make visible what it points to.
 */
struct constant {
	uint8_t tag;
	uint16_t a, b; /* indexes of other entries */
	union slot value;
	struct symbol *name; /* of CP_UTF8; also of a class, field, method or call site, its name */
	struct symbol *desc; /* of a field, method or call site, and of CP_NAMETYPE */
	_Atomic(void *) resolved;
};

/* An entry of the attribute BootstrapMethods: what links a call site of invokedynamic. */
struct bootstrap {
	struct constant *handle;
	uint16_t n;
	const uint8_t *arguments; /* n indexes of the constant pool */
};

struct field {
	struct class *cls;
	struct symbol *name, *desc;
	uint16_t access;
	uint16_t constant; /* index of its value, 0: none */
	char type;         /* first letter of its descriptor */
	uint32_t slot;     /* in the object, or in cls->statics */
};

struct handler {
	uint16_t start, end, target, type; /* type: of the constant pool, 0: any */
};

typedef void native_fn(struct jthread *t, union slot *args, union slot *result);

struct method {
	struct class *cls;
	struct symbol *name, *desc;
	uint16_t access;
	uint16_t max_stack, max_locals;
	uint16_t n_args; /* places of the arguments, `this` included */
	char returns;    /* first letter of the descriptor of the result */
	uint16_t n_handlers, n_lines;
	int32_t vindex; /* in vtables, or in the tables of an interface; -1: none */
	uint32_t code_length;
	const uint8_t *code;
	struct handler *handlers;
	const uint8_t *lines;    /* LineNumberTable */
	const uint8_t *stackmap; /* StackMapTable */
	uint32_t stackmap_length;
	native_fn *native;
};

enum class_state { CLASS_LOADED, CLASS_LINKED, CLASS_INITIALIZING, CLASS_READY, CLASS_FAILED };

struct class
{
	struct symbol *name;   /* java/lang/String, [I, int */
	struct class *next;    /* in the table */
	struct object *mirror; /* its java.lang.Class */
	struct class *super;
	uint16_t access;
	uint16_t n_constants, n_interfaces, n_fields, n_methods, n_supers, n_all_interfaces;
	bool trusted; /* of the machine's own library: a test verifies its files */
	bool hidden;  /* of a lambda expression (lambda.c): not verified, and in no trace */
	struct arena arena;
	struct constant *constants;
	struct bootstrap *bootstraps;
	uint16_t n_bootstraps;
	struct class **interfaces;
	struct field *fields;
	struct method *methods;
	struct symbol *source; /* its SourceFile, or NULL */
	/* Made by link.c. */
	struct class **supers; /* java.lang.Object first, the class itself last */
	struct class **all_interfaces;
	struct method ***itables; /* of each of all_interfaces, by vindex there */
	struct method **vtable;
	uint32_t n_vtable, n_slots, n_refs, n_statics;
	uint32_t *refs; /* the slots with references */
	union slot *statics;
	struct method *class_init;
	/* Of arrays. */
	struct class *element;
	char kind; /* letter of the elements' type, L for classes and [ for arrays; of a primitive type: its own; or 0 */
	_Atomic(struct class *) array; /* of elements of this class */
	_Atomic int state;             /* init.c */
	struct jthread *initializer;
};

extern pthread_mutex_t class_lock;
void class_lock_acquire(struct jthread *t);
void class_lock_release(void);
struct class *class_parse(struct jthread *t, const uint8_t *bytes, size_t length, bool trusted);
struct class *class_find(struct jthread *t, struct symbol *name); /* NULL: t->exception */
struct class *class_find_text(struct jthread *t, const char *name);
struct class *class_array_of(struct jthread *t, struct class *element);
struct class *class_define(struct jthread *t, const uint8_t *bytes, size_t length,
			   struct symbol *expected);
struct class *class_define_hidden(struct jthread *t, const uint8_t *bytes, size_t length,
				  struct symbol *name, uint16_t self);
struct class *class_of_type(struct jthread *t, const char *desc, size_t length);
void class_each(void (*f)(struct class *));
struct class *class_of_mirror(struct object *mirror);
struct object *class_mirror(struct jthread *t, struct class *cls);
bool class_path_add(const char *path); /* a directory or a jar file */
char *class_path_file(const char *name, struct member *m);
bool class_link(struct jthread *t, struct class *cls); /* false: t->exception */
bool class_same_package(const struct class *a, const struct class *b);
bool class_is_assignable(const struct class *from, const struct class *to);
bool class_initialize(struct jthread *t, struct class *cls); /* false: t->exception */
struct method *class_method(struct class *cls, struct symbol *name,
			    struct symbol *desc); /* of it or a superclass */
struct field *class_field(struct class *cls, struct symbol *name, struct symbol *desc);
struct method *class_declared(struct class *cls, struct symbol *name, struct symbol *desc);
struct method *class_implementation(struct class *cls, struct symbol *name, struct symbol *desc);
struct class *resolve_class(struct jthread *t, struct class *from, uint16_t index);
struct field *resolve_field(struct jthread *t, struct class *from, uint16_t index, bool is_static,
			    bool write, struct method *by);
struct method *resolve_method(struct jthread *t, struct class *from, uint16_t index);
struct method *lambda_link(struct jthread *t, struct class *from, uint16_t index); /* lambda.c */
struct object *resolve_string(struct jthread *t, struct class *from, uint16_t index);
struct method *method_of_interface(struct class *cls, struct method *m);
bool access_is_allowed(const struct class *from, const struct class *owner, uint16_t access);
bool text_is_utf8(const uint8_t *s, uint32_t length);
bool name_is_unqualified(const struct symbol *s, bool method);
bool name_is_class(const struct symbol *s);
bool descriptor_check(const char *desc, size_t length, bool method);
size_t descriptor_type(const char *desc,
		       size_t length); /* length of the type at its beginning, 0: none */

/* The classes that the machine itself uses. */
extern struct known {
	struct class *object, *string, *class, *throwable, *thread, *cloneable, *serializable;
	struct class *primitive[128]; /* by letter */
	struct class *array[128];     /* of primitive elements */
	struct class *array_object, *array_string;
	struct field *string_value, *class_vm, *throwable_message, *throwable_cause,
		*throwable_trace;
	struct field *thread_vm, *thread_name, *thread_daemon, *thread_priority;
	struct symbol *init, *clinit, *void_desc;
} known;
bool known_init(struct jthread *t);

/* verify.c */
bool verify_class(struct jthread *t, struct class *cls);
extern bool verify_all; /* the machine's own library too */

/* Jar files: zip.c, inflate.c. */
struct zip;

/* A file of the class path. All zero: there is none. */
struct member {
	const uint8_t *bytes;
	size_t length;
	bool allocated; /* member_free() frees the bytes */
	char wrong[80]; /* why a member of a jar cannot be read; "": it can */
};

struct zip *zip_open(const uint8_t *bytes, size_t length, bool trusted);
void zip_find(struct zip *zip, const char *name, struct member *m);
void member_free(struct member *m);
bool inflate_block(const uint8_t *in, size_t in_length, uint8_t *out, size_t out_length);

/* --- strings: string.c ----------------------------------------------------------------------- */

struct object *string_new(struct jthread *t, const char *utf8, size_t length);
struct object *string_intern(struct jthread *t, struct object *string);
char *string_utf8(const struct object *string); /* malloc; NULL: no memory */
void string_roots(void (*mark)(struct object *));

/* Numbers in decimal: decimal.c. */
void decimal_text(double value, bool single, char *out);
void decimal_fixed(double value, int digits, bool scientific, char *out);

/* --- threads: world.c, jthread.c ---------------------------------------------------------------- */

#define MAX_ROOTS 64
#define N_SIZES 40

struct jthread {
	struct jthread *next, **prev; /* world.lock */
	struct frame *frame;
	struct object *exception; /* pending */
	struct object *object;    /* its java.lang.Thread */
	union slot *stack, *stack_end;
	size_t stack_size;
	_Atomic int running; /* world.c */
	uint32_t id;         /* in lock words */
	int depth;           /* of calls from C to Java */
	int n_roots;
	struct object *roots[MAX_ROOTS]; /* what C functions have at hand */
	void *free[N_SIZES];             /* cells for allocation: heap.c */
	struct lock lock;                /* of the members below */
	struct place wake;
	struct worker worker; /* of the thread itself, once it has begun */
	bool begun;           /* world.lock */
	int inherited;        /* its creator's priority */
	bool interrupted, notified;
	struct jthread *next_waiter; /* the lock of the monitor */
	_Atomic bool
		alive; /* false: release, with the monitor of `object` held; isAlive() acquires */
};

struct world {
	pthread_mutex_t lock;
	pthread_cond_t reached, resumed;
	_Atomic bool wanted;
	struct jthread *threads;
	int users; /* threads that are no daemons */
	pthread_cond_t last_user;
};

extern struct world world;
extern __thread struct jthread *jthread_current;
void world_leave(struct jthread *t);
void world_enter(struct jthread *t);
void world_safepoint(struct jthread *t);
void world_stop(struct jthread *t);
void world_resume(void);
struct jthread *jthread_new(size_t stack_size);
void jthread_add(struct jthread *t, bool daemon);
void jthread_remove(struct jthread *t, bool daemon);
bool jthread_start_main(struct jthread *t);
void jthread_finish(struct jthread *t);
extern size_t java_stack_size;

/* Keeps `object` alive until the native method or the caller's root_pop(). */
struct object *root_push(struct jthread *t, struct object *object);
void root_pop(struct jthread *t, int n);

/* --- monitors: monitor.c ---------------------------------------------------------------------- */

void monitor_enter(struct jthread *t, struct object *object);
bool monitor_exit(struct jthread *t,
		  struct object *object); /* false: IllegalMonitorStateException */
bool monitor_owned(struct jthread *t, struct object *object);
void monitor_wait(struct jthread *t, struct object *object,
		  int64_t ns); /* ns < 0: without an end */
void monitor_notify(struct jthread *t, struct object *object, bool all);
void monitor_sweep(bool (*is_alive)(struct object *));
void jthread_park(struct jthread *t, int64_t ns);
void jthread_wake(struct jthread *t);
bool jthread_interrupted(struct jthread *t, bool clear);

/* --- running: interp.c, call.c, throw.c ------------------------------------------------------------ */

/* Lies on the thread's Java stack, behind its local variables and before its operand stack. */
struct frame {
	struct frame *caller;
	struct method *method;
	const uint8_t *pc;
	union slot *locals;
	union slot *sp;      /* of the caller, without the arguments */
	struct object *lock; /* of a synchronized method */
	bool entry;          /* C has called */
};

#define FRAME_SLOTS (sizeof(struct frame) / sizeof(union slot))
#define FRAME_STACK(f) ((union slot *)((f) + 1))
#define STACK_RESERVE 512 /* slots that StackOverflowError may still use */

struct frame *frame_push(struct jthread *t, struct method *m, union slot *args);
void interpret(struct jthread *t, union slot *result);
void java_call(struct jthread *t, struct method *m, const union slot *args, union slot *result);
void native_call(struct jthread *t, struct method *m, union slot *args, union slot *result);
native_fn *native_find(struct method *m);
void throw_object(struct jthread *t, struct object *throwable);
__attribute__((format(printf, 3, 4))) void throw_new(struct jthread *t, const char *cls,
						     const char *format, ...);
void throw_no_memory(struct jthread *t);
void throw_wrap(struct jthread *t, const char *cls, const char *message);
const uint8_t *throw_find(struct jthread *t, struct frame *f);
struct object *throw_trace(struct jthread *t, struct object *skip);
int method_line(const struct method *m, uint32_t pc);
void throw_uncaught(struct jthread *t);
bool slow_new_array(struct jthread *t, struct class *cls, union slot *sp);
struct object *multi_array(struct jthread *t, struct class *cls, const union slot *counts, int n);

/* Tables of native methods, by class. */
struct native {
	const char *name; /* class, method and descriptor as one word */
	native_fn *fn;
};

extern const struct native native_lang[], native_thread[], native_io[];

static inline uint16_t u2_at(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t u4_at(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

#endif
