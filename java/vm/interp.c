/*
 * interp.c - the interpreter.
 *
 * One loop runs all frames down to the one that C has called (`entry`); a Java method that calls another takes no C
 * stack. `pc` stays at the beginning of an instruction until NEXT. Whatever may throw, allocate, wait or be looked at by
 * the collector stores pc in the frame first (SAVE). Verified code needs no check of types, depths or indexes; checked are
 * null, bounds, casts, stores into arrays, and what a class may turn out to be when an entry is resolved.
 *
 * The collector finds references by looking at all places of the thread's Java stack (collect.c), so that a value which
 * has been popped is still found until something is pushed over it.
 *
 * A thread looks whether a safepoint is wanted at backward branches and at calls.
 */

#include "opcodes.h"
#include "vm.h"
#include <math.h>
#include <string.h>

#define NEXT(n)                                                                                    \
	do {                                                                                       \
		pc += (n);                                                                         \
		goto next;                                                                         \
	} while (0)
#define SAVE (f->pc = pc)
#define THROW(name, ...)                                                                           \
	do {                                                                                       \
		SAVE;                                                                              \
		throw_new(t, "java/lang/" name, __VA_ARGS__);                                      \
		goto thrown;                                                                       \
	} while (0)
#define NULL_CHECK(o)                                                                              \
	do {                                                                                       \
		if (__builtin_expect((o) == NULL, 0))                                              \
			THROW("NullPointerException", NULL);                                       \
	} while (0)
#define BRANCH(offset)                                                                             \
	do {                                                                                       \
		int branch_ = (offset);                                                            \
		if (branch_ < 0 && atomic_load_explicit(&world.wanted, memory_order_relaxed)) {    \
			SAVE;                                                                      \
			world_safepoint(t);                                                        \
		}                                                                                  \
		NEXT(branch_);                                                                     \
	} while (0)
#define S2(p) ((int16_t)u2_at(p))
#define S4(p) ((int32_t)u4_at(p))

#define CONST(member, value, n)                                                                    \
	sp->member = (value);                                                                      \
	sp += (n);                                                                                 \
	NEXT(1)
#define LOAD(index, n, length)                                                                     \
	sp[0] = locals[index];                                                                     \
	sp += (n);                                                                                 \
	NEXT(length)
#define STORE(index, n, length)                                                                    \
	sp -= (n);                                                                                 \
	locals[index] = sp[0];                                                                     \
	NEXT(length)
#define FOUR(op, WHAT, n)                                                                          \
	case OP_##op##_0:                                                                          \
		WHAT(0, n, 1);                                                                     \
	case OP_##op##_1:                                                                          \
		WHAT(1, n, 1);                                                                     \
	case OP_##op##_2:                                                                          \
		WHAT(2, n, 1);                                                                     \
	case OP_##op##_3:                                                                          \
		WHAT(3, n, 1)
#define INDEX(array, index)                                                                        \
	do {                                                                                       \
		NULL_CHECK(array);                                                                 \
		if ((uint32_t)(index) >= (uint32_t)ARRAY(array)->length)                           \
			THROW("ArrayIndexOutOfBoundsException", "%d", (int)(index));               \
	} while (0)
#define ALOAD(elements, member, n)                                                                 \
	INDEX(sp[-2].a, sp[-1].i);                                                                 \
	sp[-2].member = ARRAY(sp[-2].a)->elements[sp[-1].i];                                       \
	sp += (n)-2;                                                                               \
	NEXT(1)
#define ASTORE(elements, type, member, n)                                                          \
	INDEX(sp[-2 - (n)].a, sp[-1 - (n)].i);                                                     \
	ARRAY(sp[-2 - (n)].a)->elements[sp[-1 - (n)].i] = (type)sp[-(n)].member;                   \
	sp -= 2 + (n);                                                                             \
	NEXT(1)
/* n: places of an operand. */
#define BINARY(op, member, n, expression)                                                          \
	case OP_##op: {                                                                            \
		__typeof__(sp->member) a = sp[-2 * (n)].member, b = sp[-(n)].member;               \
		sp[-2 * (n)].member = (expression);                                                \
		sp -= (n);                                                                         \
		NEXT(1);                                                                           \
	}
#define SHIFT(op, member, n, expression)                                                           \
	case OP_##op: {                                                                            \
		__typeof__(sp->member) a = sp[-1 - (n)].member;                                    \
		int b = sp[-1].i;                                                                  \
		sp[-1 - (n)].member = (expression);                                                \
		sp -= 1;                                                                           \
		NEXT(1);                                                                           \
	}
#define CONVERT(op, from, n, to, k, expression)                                                    \
	case OP_##op: {                                                                            \
		__typeof__(sp->from) a = sp[-(n)].from;                                            \
		sp += (k) - (n);                                                                   \
		sp[-(k)].to = (expression);                                                        \
		NEXT(1);                                                                           \
	}
#define COMPARE(op, member, n, expression)                                                         \
	case OP_##op: {                                                                            \
		__typeof__(sp->member) a = sp[-2 * (n)].member, b = sp[-(n)].member;               \
		sp -= 2 * (n)-1;                                                                   \
		sp[-1].i = (expression);                                                           \
		NEXT(1);                                                                           \
	}
#define IF(op, n, condition)                                                                       \
	case OP_##op:                                                                              \
		sp -= (n);                                                                         \
		if (condition)                                                                     \
			BRANCH(S2(pc + 1));                                                        \
		NEXT(3)

static int32_t double_to_int(double d)
{
	return d != d               ? 0
	       : d >= 2147483647.0  ? INT32_MAX
	       : d <= -2147483648.0 ? INT32_MIN
				    : (int32_t)d;
}

static int64_t double_to_long(double d)
{
	return d != d                        ? 0
	       : d >= 9223372036854775808.0  ? INT64_MAX
	       : d <= -9223372036854775808.0 ? INT64_MIN
					     : (int64_t)d;
}

/* The target of tableswitch or lookupswitch, relative to pc. */
static int32_t switch_target(const uint8_t *code, const uint8_t *pc, int32_t key)
{
	const uint8_t *p = code + ((pc - code + 4) & ~3);
	int32_t low = S4(p + 4), n = S4(p + 8);

	if (*pc == OP_tableswitch)
		return key < low || key > n ? S4(p) : S4(p + 12 + 4 * ((int64_t)key - low));
	n = low;
	low = 0;
	while (low < n) {
		int32_t middle = low + (n - low) / 2, value = S4(p + 8 + 8 * (int64_t)middle);

		if (value == key)
			return S4(p + 12 + 8 * (int64_t)middle);
		if (value < key)
			low = middle + 1;
		else
			n = middle;
	}
	return S4(p);
}

static inline bool type_is_wide(char type)
{
	return type == 'J' || type == 'D';
}

/*
 * Stores an operand as a value of this type. A field's 8 bytes are never torn. Release: a thread that finds a new object
 * in a field finds its class and its zeroed fields too. On x86 it is a plain store.
 */
static inline void slot_store(union slot *to, char type, union slot value)
{
	int64_t bits = type == 'Z'   ? value.i & 1
		       : type == 'B' ? (int8_t)value.i
		       : type == 'C' ? (uint16_t)value.i
		       : type == 'S' ? (int16_t)value.i
				     : value.j;

	__atomic_store_n(&to->j, bits, __ATOMIC_RELEASE);
}

static inline void field_store(struct field *fd, union slot *to, union slot value)
{
	slot_store(to, fd->type, value);
	if (fd->access & ACC_VOLATILE) /* a later load must not come before the store */
		atomic_thread_fence(memory_order_seq_cst);
}

static inline union slot field_load(union slot *from)
{
	return (union slot){.j = __atomic_load_n(&from->j, __ATOMIC_ACQUIRE)};
}

/* The entry as resolved before, or NULL. */
static inline void *pool_resolved(struct class *c, const uint8_t *pc)
{
	return atomic_load_explicit(&c->constants[u2_at(pc + 1)].resolved, memory_order_acquire);
}

static inline bool class_is_ready(struct class *c)
{
	return atomic_load_explicit(&c->state, memory_order_acquire) == CLASS_READY;
}

/* The field of a getstatic, putstatic, getfield or putfield. NULL: t->exception. */
static inline struct field *pool_field(struct jthread *t, struct frame *f, const uint8_t *pc)
{
	struct class *c = f->method->cls;
	struct field *fd = pool_resolved(c, pc);
	bool is_static = *pc == OP_getstatic || *pc == OP_putstatic,
	     write = *pc == OP_putstatic || *pc == OP_putfield;

	if (__builtin_expect(fd == NULL || ((fd->access & ACC_STATIC) != 0) != is_static ||
				     (write && (fd->access & ACC_FINAL)),
			     0))
		fd = resolve_field(t, c, u2_at(pc + 1), is_static, write, f->method);
	if (fd != NULL && is_static && !class_is_ready(fd->cls) && !class_initialize(t, fd->cls))
		return NULL;
	return fd;
}

/* Puts the constant of ldc, ldc_w or ldc2_w into *to. Returns how many places it takes; 0: t->exception. */
static int pool_load(struct jthread *t, struct class *c, uint16_t index, union slot *to)
{
	struct constant *k = &c->constants[index];
	struct class *cls;

	switch (k->tag) {
	case CP_STRING:
		to->a = resolve_string(t, c, index);
		return to->a != NULL;
	case CP_CLASS:
		cls = resolve_class(t, c, index);
		to->a = cls == NULL ? NULL : class_mirror(t, cls);
		return to->a != NULL;
	case CP_LONG:
	case CP_DOUBLE:
		*to = k->value;
		return 2;
	}
	*to = k->value;
	return 1;
}

/*
 * The method that an instruction calls, and where its arguments begin. NULL: t->exception. The receiver is tested for
 * null here.
 */
static inline struct method *pool_method(struct jthread *t, struct frame *f, const uint8_t *pc,
					 union slot *sp)
{
	struct class *c = f->method->cls;
	struct method *m = pool_resolved(c, pc);
	struct object *receiver;

	if (m == NULL && (m = resolve_method(t, c, u2_at(pc + 1))) == NULL)
		return NULL;
	if (((m->access & ACC_STATIC) != 0) != (*pc == OP_invokestatic)) {
		throw_new(t, "java/lang/IncompatibleClassChangeError",
			  "the method %s.%s is %sstatic", m->cls->name->text, m->name->text,
			  *pc == OP_invokestatic ? "not " : "");
		return NULL;
	}
	if (*pc == OP_invokestatic)
		return class_is_ready(m->cls) || class_initialize(t, m->cls) ? m : NULL;
	receiver = sp[-m->n_args].a;
	if (receiver == NULL) {
		throw_new(t, "java/lang/NullPointerException", NULL);
		return NULL;
	}
	if (*pc == OP_invokespecial) {
		/* super.method(): what the superclass does, whatever class the entry names. */
		if (m->vindex >= 0 && !(m->cls->access & ACC_INTERFACE) && c != m->cls &&
		    class_is_assignable(c, m->cls))
			m = c->super->vtable[m->vindex];
	} else if (m->cls->access & ACC_INTERFACE) {
		struct method *found = method_of_interface(receiver->cls, m);

		if (found == NULL && !class_is_assignable(receiver->cls, m->cls)) {
			throw_new(t, "java/lang/IncompatibleClassChangeError", "%s is no %s",
				  receiver->cls->name->text, m->cls->name->text);
			return NULL;
		}
		m = found == NULL ? m : found;
	} else if (m->vindex >= 0) {
		m = receiver->cls->vtable[m->vindex];
	}
	if (m->access & ACC_ABSTRACT) {
		throw_new(t, "java/lang/AbstractMethodError", "%s.%s%s", m->cls->name->text,
			  m->name->text, m->desc->text);
		return NULL;
	}
	return m;
}

/* checkcast (true: good) and instanceof (true: it is), for an object that is not null. */
static inline bool object_is(struct jthread *t, struct frame *f, const uint8_t *pc,
			     struct object *o)
{
	struct class *c = pool_resolved(f->method->cls, pc);

	if (c == NULL && (c = resolve_class(t, f->method->cls, u2_at(pc + 1))) == NULL)
		return false;
	if (o->cls == c || class_is_assignable(o->cls, c))
		return true;
	if (*pc == OP_checkcast)
		throw_new(t, "java/lang/ClassCastException", "%s cannot be cast to %s",
			  o->cls->name->text, c->name->text);
	return false;
}

/* The object of a `new`. NULL: t->exception. */
static inline struct object *object_new(struct jthread *t, struct frame *f, const uint8_t *pc)
{
	struct class *c = pool_resolved(f->method->cls, pc);

	if (c == NULL && (c = resolve_class(t, f->method->cls, u2_at(pc + 1))) == NULL)
		return NULL;
	if (!class_is_ready(c)) {
		if (c->access & (ACC_ABSTRACT | ACC_INTERFACE)) {
			throw_new(t, "java/lang/InstantiationError", "%s", c->name->text);
			return NULL;
		}
		if (!class_initialize(t, c))
			return NULL;
	}
	if (c->access & (ACC_ABSTRACT | ACC_INTERFACE)) {
		throw_new(t, "java/lang/InstantiationError", "%s", c->name->text);
		return NULL;
	}
	return heap_object(t, c);
}

/* Makes the array of newarray, anewarray or multianewarray in place of its counts. NULL: t->exception. */
static struct object *array_new(struct jthread *t, struct frame *f, const uint8_t *pc,
				union slot *sp)
{
	static const char kinds[] = "ZCFDBSIJ"; /* from 4 on */
	struct class *c;

	if (*pc == OP_newarray)
		return (struct object *)heap_array(t, known.array[(int)kinds[pc[1] - 4]], sp[-1].i);
	c = resolve_class(t, f->method->cls, u2_at(pc + 1));
	if (c == NULL)
		return NULL;
	if (*pc == OP_multianewarray)
		return multi_array(t, c, sp - pc[3], pc[3]);
	c = class_array_of(t, c);
	return c == NULL ? NULL : (struct object *)heap_array(t, c, sp[-1].i);
}

/* Stores a reference into an array. The index is in order. False: t->exception. */
static inline bool element_store(struct jthread *t, struct object *array, int32_t index,
				 struct object *o)
{
	if (o != NULL && o->cls != array->cls->element &&
	    !class_is_assignable(o->cls, array->cls->element)) {
		throw_new(t, "java/lang/ArrayStoreException", "%s", o->cls->name->text);
		return false;
	}
	__atomic_store_n(&ARRAY(array)->a[index], o, __ATOMIC_RELEASE); /* as slot_store */
	return true;
}

/* Enters the monitor of a synchronized method. Its frame is on top. */
static void frame_synchronize(struct jthread *t, struct frame *f)
{
	struct object *o =
		(f->method->access & ACC_STATIC) ? class_mirror(t, f->method->cls) : f->locals[0].a;

	if (o == NULL)
		return;
	monitor_enter(t, o);
	if (t->exception == NULL)
		f->lock = o;
}

/*
 * Runs the thread's top frame to its end, and all that it calls. *result is its result, unless there is t->exception.
 */
#include "interp_loop.h"
