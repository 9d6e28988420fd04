/*
 * native_lang.c - native methods of java.lang: classes, numbers, traces, the system.
 *
 * A comment above each gives its declaration in Java. Arguments are `this` and the parameters in turn; a long or double
 * takes two places. What a caller may pass wrongly is checked here, because the verifier knows types alone.
 */

#include "vm.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NATIVE(name) static void name(struct jthread *t, union slot *args, union slot *result)
#define REQUIRE(o)                                                                                 \
	do {                                                                                       \
		if ((o) == NULL) {                                                                 \
			throw_new(t, "java/lang/NullPointerException", NULL);                      \
			return;                                                                    \
		}                                                                                  \
	} while (0)

/* Class getClass() */
NATIVE(object_class)
{
	result->a = class_mirror(t, args[0].a->cls);
}

/* int hashCode(), System.identityHashCode(Object): objects do not move */
NATIVE(object_hash)
{
	result->i = (int32_t)((uintptr_t)args[0].a >> 4) & 0x7fffffff;
}

/* Object clone() */
NATIVE(object_clone)
{
	if (!class_is_assignable(args[0].a->cls, known.cloneable))
		throw_new(t, "java/lang/CloneNotSupportedException", "%s",
			  args[0].a->cls->name->text);
	else
		result->a = heap_clone(t, args[0].a);
}

/* void arraycopy(Object from, int at, Object to, int at, int length) */
NATIVE(system_arraycopy)
{
	struct object *from = args[0].a, *to = args[2].a;
	int64_t i = args[1].i, k = args[3].i, n = args[4].i;

	REQUIRE(from);
	REQUIRE(to);
	if (from->cls->element == NULL || to->cls->element == NULL ||
	    ((from->cls->kind == 'L' || from->cls->kind == '[') !=
	     (to->cls->kind == 'L' || to->cls->kind == '[')) ||
	    (from->cls->kind != to->cls->kind && from->cls->kind != 'L' &&
	     from->cls->kind != '[')) {
		throw_new(t, "java/lang/ArrayStoreException", "%s to %s", from->cls->name->text,
			  to->cls->name->text);
		return;
	}
	if (i < 0 || k < 0 || n < 0 || i + n > ARRAY(from)->length || k + n > ARRAY(to)->length) {
		throw_new(t, "java/lang/ArrayIndexOutOfBoundsException", NULL);
		return;
	}
	if ((from->cls->kind == 'L' || from->cls->kind == '[') &&
	    !class_is_assignable(from->cls->element, to->cls->element)) {
		for (int64_t e = 0; e < n; e++) {
			struct object *o = ARRAY(from)->a[i + e];

			if (o != NULL && !class_is_assignable(o->cls, to->cls->element)) {
				throw_new(t, "java/lang/ArrayStoreException", "%s",
					  o->cls->name->text);
				return;
			}
			ARRAY(to)->a[k + e] = o;
		}
		return;
	}
	array_move(ARRAY(to), (size_t)k, ARRAY(from), (size_t)i, (size_t)n);
}

/* long currentTimeMillis() */
NATIVE(system_millis)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	result->j = now.tv_sec * 1000ll + now.tv_nsec / 1000000;
}

/* long nanoTime() */
NATIVE(system_nanos)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	result->j = now.tv_sec * 1000000000ll + now.tv_nsec;
}

/* void exit(int status): other threads end where they are */
NATIVE(system_exit)
{
	world_leave(t);
	exit(args[0].i);
}

/* String getenv(String name) */
NATIVE(system_getenv)
{
	char *name, *value;

	REQUIRE(args[0].a);
	name = string_utf8(args[0].a);
	if (name == NULL) {
		throw_no_memory(t);
		return;
	}
	value = getenv(name);
	free(name);
	result->a = value == NULL ? NULL : string_new(t, value, strlen(value));
}

NATIVE(runtime_gc)
{
	collect(t);
}

/* long memory0(int what) of Runtime: 0 maximum, 1 total, 2 free */
NATIVE(runtime_memory)
{
	int64_t size[3];

	heap_sizes(&size[0], &size[1], &size[2]);
	result->j = size[args[1].i == 1 || args[1].i == 2 ? args[1].i : 0];
}

NATIVE(runtime_processors)
{
	result->i = (int32_t)sysconf(_SC_NPROCESSORS_ONLN);
}

/* String getName() of Class: with dots */
NATIVE(class_name)
{
	struct symbol *name = class_of_mirror(args[0].a)->name;
	char *text = strdup(name->text);

	if (text == NULL) {
		throw_no_memory(t);
		return;
	}
	for (char *p = text; *p != 0; p++)
		if (*p == '/')
			*p = '.';
	result->a = string_new(t, text, name->length);
	free(text);
}

/* int flags0(): access flags; 0x10000: an array; 0x20000: a primitive type */
NATIVE(class_flags)
{
	struct class *c = class_of_mirror(args[0].a);

	result->i = c->access | (c->element != NULL ? 0x10000 : c->kind != 0 ? 0x20000 : 0);
}

/* Class getSuperclass() */
NATIVE(class_super)
{
	struct class *c = class_of_mirror(args[0].a);

	if (c->super != NULL && !(c->access & ACC_INTERFACE))
		result->a = class_mirror(t, c->super);
}

/* Class getComponentType() */
NATIVE(class_component)
{
	struct class *c = class_of_mirror(args[0].a);

	if (c->element != NULL)
		result->a = class_mirror(t, c->element);
}

/* boolean isAssignableFrom(Class c) */
NATIVE(class_assignable)
{
	REQUIRE(args[1].a);
	result->i = class_is_assignable(class_of_mirror(args[1].a), class_of_mirror(args[0].a));
}

/* boolean isInstance(Object o) */
NATIVE(class_instance)
{
	result->i = args[1].a != NULL &&
		    class_is_assignable(args[1].a->cls, class_of_mirror(args[0].a));
}

/* Class primitive0(char letter) */
NATIVE(class_primitive)
{
	if (strchr("ZBCDFIJSV", args[0].i & 0x7f) != NULL && args[0].i != 0)
		result->a = class_mirror(t, known.primitive[args[0].i & 0x7f]);
}

/* Class forName0(String name, boolean initialize): null, if there is no such class */
NATIVE(class_for_name)
{
	char *name;
	struct class *c = NULL;

	REQUIRE(args[0].a);
	name = string_utf8(args[0].a);
	if (name == NULL) {
		throw_no_memory(t);
		return;
	}
	for (char *p = name; *p != 0; p++)
		*p = *p == '.' ? '/' : *p == '/' ? '.' : *p;
	if (strlen(name) < 65000 && strchr(name, '.') == NULL &&
	    (name[0] != '[' || descriptor_check(name, strlen(name), false)))
		c = class_find_text(t, name);
	if (t->exception != NULL &&
	    strcmp(t->exception->cls->name->text, "java/lang/NoClassDefFoundError") == 0)
		t->exception = NULL; /* the caller throws ClassNotFoundException */
	free(name);
	if (c != NULL && t->exception == NULL && (!args[1].i || class_initialize(t, c)))
		result->a = class_mirror(t, c);
}

/*
 * Object newInstance0() of Class: by the constructor without arguments; null if there is none. The caller of newInstance()
 * must have access to it: a Class that its private constructor alone has made stands for no class.
 */
NATIVE(class_new_instance)
{
	const struct class *caller = t->frame->caller->caller->method->cls;
	struct class *c = class_of_mirror(args[0].a);
	struct method *init = class_declared(c, known.init, known.void_desc);
	union slot self[1], none;

	if (init == NULL || (c->access & (ACC_ABSTRACT | ACC_INTERFACE)))
		return;
	if (!access_is_allowed(caller, c, c->access & ACC_PUBLIC) ||
	    !access_is_allowed(caller, c, init->access)) {
		throw_new(t, "java/lang/IllegalAccessException",
			  "%s may not call the constructor of %s", caller->name->text,
			  c->name->text);
		return;
	}
	if (!class_initialize(t, c))
		return;
	self[0].a = heap_object(t, c);
	if (self[0].a == NULL)
		return;
	root_push(t, self[0].a);
	java_call(t, init, self, &none);
	result->a = self[0].a;
}

/* Object[] constants0() of Class: what the static method values() of an enum returns, or null */
NATIVE(class_constants)
{
	struct class *c = class_of_mirror(args[0].a);
	char desc[300];
	struct method *m;

	if (c->super == NULL || strcmp(c->super->name->text, "java/lang/Enum") != 0 ||
	    c->name->length > 256)
		return;
	snprintf(desc, sizeof(desc), "()[L%s;", c->name->text);
	m = class_declared(c, symbol_of_text("values"), symbol_of_text(desc));
	if (m != NULL && (m->access & ACC_STATIC) && class_initialize(t, c))
		java_call(t, m, NULL, result);
}

/* Object new0(Class c, int length) of java.lang.reflect.Array */
NATIVE(array_new_native)
{
	struct class *c;

	REQUIRE(args[0].a);
	c = class_array_of(t, class_of_mirror(args[0].a));
	if (c != NULL)
		result->a = (struct object *)heap_array(t, c, args[1].i);
}

/* Class define0(String name, byte[] bytes, int at, int length) of ClassLoader */
NATIVE(loader_define)
{
	struct object *bytes = args[1].a;
	uint8_t *copy;
	char *name = NULL;
	struct class *c;

	REQUIRE(bytes);
	if (args[2].i < 0 || args[3].i < 0 ||
	    (int64_t)args[2].i + args[3].i > ARRAY(bytes)->length) {
		throw_new(t, "java/lang/ArrayIndexOutOfBoundsException", NULL);
		return;
	}
	if (args[0].a != NULL)
		name = string_utf8(args[0].a);
	for (char *p = name; p != NULL && *p != 0; p++)
		if (*p == '.')
			*p = '/';
	/* A copy, because another thread may store into the array meanwhile. */
	copy = malloc((size_t)args[3].i + 1);
	if (copy != NULL) {
		memcpy(copy, ARRAY(bytes)->b + args[2].i, (size_t)args[3].i);
		c = class_define(t, copy, (size_t)args[3].i,
				 name == NULL || strlen(name) > 65000 ? NULL
								      : symbol_of_text(name));
		if (c != NULL)
			result->a = class_mirror(t, c);
	} else {
		throw_no_memory(t);
	}
	free(copy);
	free(name);
}

/* String intern() */
NATIVE(string_intern_native)
{
	result->a = string_intern(t, args[0].a);
}

/* Object trace0() of Throwable: where the threads' frames are, without the constructors */
NATIVE(throwable_trace)
{
	result->a = throw_trace(t, args[0].a);
}

/* String traceText(long method, int what): 0 class, 1 method, 2 file (or null) */
NATIVE(throwable_text)
{
	struct method *m = args[0].p;
	struct symbol *s = args[2].i == 0   ? m->cls->name
			   : args[2].i == 1 ? m->name
					    : m->cls->source;
	char *text = s == NULL ? NULL : strdup(s->text);

	for (char *p = text; p != NULL && *p != 0; p++)
		if (*p == '/')
			*p = '.';
	if (text != NULL)
		result->a = string_new(t, text, strlen(text));
	free(text);
}

/* int traceLine(long method, long pc): -1 unknown, -2 native */
NATIVE(throwable_line)
{
	result->i = args[2].j < 0 ? -2 : method_line(args[0].p, (uint32_t)args[2].j);
}

NATIVE(raw_int)
{
	result->i = args[0].i;
}

NATIVE(raw_long)
{
	result->j = args[0].j;
}

/* String toString0(double value, boolean single): the shortest digits, two at least, that give the value again */
NATIVE(double_text)
{
	char text[40];

	decimal_text(args[0].d, args[2].i != 0, text);
	result->a = string_new(t, text, strlen(text));
}

/* strtod takes more than Java does. */
static bool double_is_literal(const char *text)
{
	const char *p = text + (*text == '+' || *text == '-');

	if (*p == '0' && (p[1] == 'x' || p[1] == 'X'))
		return strpbrk(p, "pP") != NULL;
	return (*p >= '0' && *p <= '9') || *p == '.' || strcmp(p, "NaN") == 0 ||
	       strcmp(p, "Infinity") == 0;
}

/* double parse0(String text, boolean[] good): good[0] says if the text is a number */
NATIVE(double_parse)
{
	char *text, *end;

	REQUIRE(args[0].a);
	REQUIRE(args[1].a);
	text = string_utf8(args[0].a);
	if (text == NULL) {
		throw_no_memory(t);
		return;
	}
	result->d = strtod(text, &end);
	if (ARRAY(args[1].a)->length > 0)
		ARRAY(args[1].a)->b[0] = end != text && *end == 0 && double_is_literal(text);
	free(text);
}

/* String fixed0(double value, int digits, char kind): as Formatter's f or e; 60 digits at most */
NATIVE(double_fixed)
{
	char text[400];
	int digits = args[2].i < 0 ? 6 : args[2].i > 60 ? 60 : args[2].i;

	if (!isfinite(args[0].d))
		decimal_text(args[0].d, false, text);
	else
		decimal_fixed(args[0].d, digits, args[3].i == 'e', text);
	result->a = string_new(t, text, strlen(text));
}

#define MATH1(name, expression)                                                                    \
	NATIVE(math_##name)                                                                        \
	{                                                                                          \
		double x = args[0].d;                                                              \
                                                                                                   \
		result->d = (expression);                                                          \
	}
#define MATH2(name, expression)                                                                    \
	NATIVE(math_##name)                                                                        \
	{                                                                                          \
		double x = args[0].d, y = args[2].d;                                               \
                                                                                                   \
		result->d = (expression);                                                          \
	}
MATH1(sin, sin(x))
MATH1(cos, cos(x))
MATH1(tan, tan(x))
MATH1(asin, asin(x))
MATH1(acos, acos(x))
MATH1(atan, atan(x))
MATH1(exp, exp(x))
MATH1(log, log(x))
MATH1(log10, log10(x))
MATH1(sqrt, sqrt(x))
MATH1(cbrt, cbrt(x))
MATH1(ceil, ceil(x))
MATH1(floor, floor(x))
MATH1(rint, rint(x))
MATH2(pow, fabs(x) == 1 && (isinf(y) || isnan(y)) ? NAN : pow(x, y))
MATH2(atan2, atan2(x, y))
MATH2(hypot, hypot(x, y))

/* The atomic classes have their value in their first field. */
NATIVE(compare_int)
{
	result->i = __atomic_compare_exchange_n(&args[0].a->fields[0].i, &args[1].i, args[2].i,
						false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

NATIVE(compare_long)
{
	result->i = __atomic_compare_exchange_n(&args[0].a->fields[0].j, &args[1].j, args[3].j,
						false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

NATIVE(compare_reference)
{
	result->i = __atomic_compare_exchange_n(&args[0].a->fields[0].a, &args[1].a, args[2].a,
						false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

#define MATH_ENTRY(name, desc)                                                                     \
	{                                                                                          \
		"java/lang/Math." #name desc, math_##name                                          \
	}
const struct native native_lang[] = {
	{"java/lang/Object.getClass()Ljava/lang/Class;", object_class},
	{"java/lang/Object.hashCode()I", object_hash},
	{"java/lang/Object.clone()Ljava/lang/Object;", object_clone},
	{"java/lang/System.identityHashCode(Ljava/lang/Object;)I", object_hash},
	{"java/lang/System.arraycopy(Ljava/lang/Object;ILjava/lang/Object;II)V", system_arraycopy},
	{"java/lang/System.currentTimeMillis()J", system_millis},
	{"java/lang/System.nanoTime()J", system_nanos},
	{"java/lang/System.exit(I)V", system_exit},
	{"java/lang/System.getenv(Ljava/lang/String;)Ljava/lang/String;", system_getenv},
	{"java/lang/Runtime.gc()V", runtime_gc},
	{"java/lang/Runtime.memory0(I)J", runtime_memory},
	{"java/lang/Runtime.availableProcessors()I", runtime_processors},
	{"java/lang/Class.getName0()Ljava/lang/String;", class_name},
	{"java/lang/Class.flags0()I", class_flags},
	{"java/lang/Class.getSuperclass()Ljava/lang/Class;", class_super},
	{"java/lang/Class.getComponentType()Ljava/lang/Class;", class_component},
	{"java/lang/Class.isAssignableFrom(Ljava/lang/Class;)Z", class_assignable},
	{"java/lang/Class.isInstance(Ljava/lang/Object;)Z", class_instance},
	{"java/lang/Class.primitive0(C)Ljava/lang/Class;", class_primitive},
	{"java/lang/Class.forName0(Ljava/lang/String;Z)Ljava/lang/Class;", class_for_name},
	{"java/lang/Class.newInstance0()Ljava/lang/Object;", class_new_instance},
	{"java/lang/Class.constants0()[Ljava/lang/Object;", class_constants},
	{"java/lang/reflect/Array.new0(Ljava/lang/Class;I)Ljava/lang/Object;", array_new_native},
	{"java/lang/ClassLoader.define0(Ljava/lang/String;[BII)Ljava/lang/Class;", loader_define},
	{"java/lang/String.intern()Ljava/lang/String;", string_intern_native},
	{"java/lang/Throwable.trace0()Ljava/lang/Object;", throwable_trace},
	{"java/lang/Throwable.traceText(JI)Ljava/lang/String;", throwable_text},
	{"java/lang/Throwable.traceLine(JJ)I", throwable_line},
	{"java/lang/Float.floatToRawIntBits(F)I", raw_int},
	{"java/lang/Float.intBitsToFloat(I)F", raw_int},
	{"java/lang/Double.doubleToRawLongBits(D)J", raw_long},
	{"java/lang/Double.longBitsToDouble(J)D", raw_long},
	{"java/lang/Double.toString0(DZ)Ljava/lang/String;", double_text},
	{"java/lang/Double.parse0(Ljava/lang/String;[Z)D", double_parse},
	{"java/lang/Double.fixed0(DIC)Ljava/lang/String;", double_fixed},
	MATH_ENTRY(sin, "(D)D"),
	MATH_ENTRY(cos, "(D)D"),
	MATH_ENTRY(tan, "(D)D"),
	MATH_ENTRY(asin, "(D)D"),
	MATH_ENTRY(acos, "(D)D"),
	MATH_ENTRY(atan, "(D)D"),
	MATH_ENTRY(exp, "(D)D"),
	MATH_ENTRY(log, "(D)D"),
	MATH_ENTRY(log10, "(D)D"),
	MATH_ENTRY(sqrt, "(D)D"),
	MATH_ENTRY(cbrt, "(D)D"),
	MATH_ENTRY(ceil, "(D)D"),
	MATH_ENTRY(floor, "(D)D"),
	MATH_ENTRY(rint, "(D)D"),
	MATH_ENTRY(pow, "(DD)D"),
	MATH_ENTRY(atan2, "(DD)D"),
	MATH_ENTRY(hypot, "(DD)D"),
	{"java/util/concurrent/atomic/AtomicInteger.compareAndSet(II)Z", compare_int},
	{"java/util/concurrent/atomic/AtomicLong.compareAndSet(JJ)Z", compare_long},
	{"java/util/concurrent/atomic/AtomicReference.compareAndSet(Ljava/lang/Object;Ljava/lang/"
	 "Object;)Z",
	 compare_reference},
	{NULL, NULL},
};
