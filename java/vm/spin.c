/*
 * spin.c - parts of a class file that the machine writes (spin.h): constants, instructions, and the conversions that
 * java.lang.invoke.LambdaMetafactory describes.
 */

#include "spin.h"
#include "opcodes.h"
#include <string.h>

/* --- bytes ------------------------------------------------------------------------------------- */

void put(struct buffer *b, const void *bytes, size_t n)
{
	if (b->length + n > b->room) {
		size_t room = (b->length + n) * 2 + 64;
		uint8_t *more = arena_alloc(b->arena, room);

		if (b->length != 0)
			memcpy(more, b->bytes, b->length);
		b->bytes = more;
		b->room = room;
	}
	memcpy(b->bytes + b->length, bytes, n);
	b->length += n;
}

void put_1(struct buffer *b, uint8_t value)
{
	put(b, &value, 1);
}

void put_2(struct buffer *b, uint32_t value)
{
	put_1(b, (uint8_t)(value >> 8));
	put_1(b, (uint8_t)value);
}

void put_4(struct buffer *b, uint32_t value)
{
	put_2(b, value >> 16);
	put_2(b, value);
}

/* --- the constant pool ------------------------------------------------------------------------ */

#define MAX_CONSTANTS 60000 /* what is begun then still finds room */

uint16_t pool_text(struct spin *s, const char *text, size_t length)
{
	if (s->n_constants > MAX_CONSTANTS)
		s->error = "too many parts";
	put_1(&s->pool, CP_UTF8);
	put_2(&s->pool, (uint32_t)length);
	put(&s->pool, text, length);
	return s->n_constants++;
}

static uint16_t pool_pair(struct spin *s, int tag, uint16_t a, uint16_t b)
{
	put_1(&s->pool, (uint8_t)tag);
	put_2(&s->pool, a);
	put_2(&s->pool, b);
	return s->n_constants++;
}

uint16_t pool_class(struct spin *s, const char *name, size_t length)
{
	uint16_t text = pool_text(s, name, length);

	put_1(&s->pool, CP_CLASS);
	put_2(&s->pool, text);
	return s->n_constants++;
}

uint16_t pool_class_of(struct spin *s, struct type t)
{
	return t.text[0] == '[' ? pool_class(s, t.text, t.length)
				: pool_class(s, t.text + 1, t.length - 2);
}

uint16_t pool_member(struct spin *s, int tag, uint16_t cls, const char *name, const char *desc,
		     size_t desc_length)
{
	uint16_t a = pool_text(s, name, strlen(name)), b = pool_text(s, desc, desc_length);

	return pool_pair(s, tag, cls, pool_pair(s, CP_NAMETYPE, a, b));
}

/* --- types ------------------------------------------------------------------------------------- */

static bool type_is_reference(struct type t)
{
	return t.text[0] == 'L' || t.text[0] == '[';
}

static bool type_is(struct type t, const char *desc)
{
	return strlen(desc) == t.length && memcmp(t.text, desc, t.length) == 0;
}

bool type_equals(struct type a, struct type b)
{
	return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

int type_places(struct type t)
{
	return t.text[0] == 'V' ? 0 : t.text[0] == 'J' || t.text[0] == 'D' ? 2 : 1;
}

void signature_read(struct signature *to, const struct symbol *desc)
{
	const char *p = desc->text + 1, *end = desc->text + desc->length;

	for (to->n = 0; *p != ')'; p += to->p[to->n++].length)
		to->p[to->n] = (struct type){p, descriptor_type(p, (size_t)(end - p))};
	to->result = (struct type){p + 1, (size_t)(end - p - 1)};
}

static struct wrapper {
	char primitive;
	const char *cls, *type, *value_of, *value, *value_type;
} const wrappers[] = {
#define WRAPPER(letter, name, method)                                                              \
	{                                                                                          \
		letter[0], "java/lang/" name, "Ljava/lang/" name ";",                              \
			"(" letter ")Ljava/lang/" name ";", method, "()" letter                    \
	}
	WRAPPER("Z", "Boolean", "booleanValue"), WRAPPER("B", "Byte", "byteValue"),
	WRAPPER("C", "Character", "charValue"),  WRAPPER("D", "Double", "doubleValue"),
	WRAPPER("F", "Float", "floatValue"),     WRAPPER("I", "Integer", "intValue"),
	WRAPPER("J", "Long", "longValue"),       WRAPPER("S", "Short", "shortValue"),
#undef WRAPPER
};

#define N_WRAPPERS (sizeof(wrappers) / sizeof(wrappers[0]))

/* Of a primitive type. */
static const struct wrapper *wrapper_of(char primitive)
{
	const struct wrapper *w = wrappers;

	while (w->primitive != primitive)
		w++;
	return w;
}

/* That t is itself, or NULL. */
static const struct wrapper *type_wrapper(struct type t)
{
	for (size_t i = 0; i < N_WRAPPERS; i++)
		if (type_is(t, wrappers[i].type))
			return &wrappers[i];
	return NULL;
}

/* --- code -------------------------------------------------------------------------------------- */

void code_1(struct spin *s, int op)
{
	put_1(&s->code, (uint8_t)op);
}

void code_3(struct spin *s, int op, uint16_t index)
{
	put_1(&s->code, (uint8_t)op);
	put_2(&s->code, index);
}

void code_load(struct spin *s, struct type t, int local)
{
	static const char types[] = "JFD"; /* the order of lload, fload, dload */
	const char *p = strchr(types, t.text[0]);

	code_1(s, type_is_reference(t) ? OP_aload
		  : p == NULL          ? OP_iload
				       : OP_lload + (int)(p - types));
	code_1(s, local);
}

void code_return(struct spin *s, struct type t)
{
	static const char types[] = "JFD";
	const char *p = strchr(types, t.text[0]);

	code_1(s, type_is_reference(t) ? OP_areturn
		  : t.text[0] == 'V'   ? OP_return
		  : p == NULL          ? OP_ireturn
				       : OP_lreturn + (int)(p - types));
}

static void code_cast(struct spin *s, struct type t)
{
	if (!type_is(t, "Ljava/lang/Object;"))
		code_3(s, OP_checkcast, pool_class_of(s, t));
}

/* Of a primitive value (JLS 5.1.2). */
static void code_widen(struct spin *s, char from, char to)
{
	static const struct {
		uint8_t from, to, op;
	} ops[] = {{'I', 'J', OP_i2l}, {'I', 'F', OP_i2f}, {'I', 'D', OP_i2d},
		   {'J', 'F', OP_l2f}, {'J', 'D', OP_l2d}, {'F', 'D', OP_f2d}};

	if (from == to || (from == 'B' && to == 'S'))
		return;
	if (from == 'B' || from == 'S' || from == 'C')
		from = 'I';
	if (from == to)
		return;
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (ops[i].from == from && ops[i].to == to) {
			code_1(s, ops[i].op);
			return;
		}
	s->error = "a value of another primitive type";
}

static void code_box(struct spin *s, char from, struct type to)
{
	const struct wrapper *w = wrapper_of(from);

	code_3(s, OP_invokestatic,
	       pool_member(s, CP_METHOD, pool_class(s, w->cls, strlen(w->cls)), "valueOf",
			   w->value_of, strlen(w->value_of)));
	if (!type_is(to, w->type))
		code_cast(s, to);
}

/*
 * A reference becomes a primitive value: by its own wrapper if its type is one. Else the value may be any number, if a number
 * is wanted: get() of a Supplier<Integer> gives an Object, as far as its descriptor says.
 */
static void code_unbox(struct spin *s, struct type from, char to)
{
	static const char number[] = "java/lang/Number";
	const struct wrapper *own = type_wrapper(from), *w = own != NULL ? own : wrapper_of(to);
	bool any = own == NULL && to != 'Z' && to != 'C';
	const char *name = any ? number : w->cls;
	uint16_t cls = pool_class(s, name, strlen(name));

	if (own == NULL)
		code_3(s, OP_checkcast, cls);
	code_3(s, OP_invokevirtual,
	       pool_member(s, CP_METHOD, cls, w->value, w->value_type, strlen(w->value_type)));
	code_widen(s, w->primitive, to);
}

void code_convert(struct spin *s, struct type from, struct type to)
{
	if (type_equals(from, to))
		return;
	if (!type_is_reference(from) && !type_is_reference(to))
		code_widen(s, from.text[0], to.text[0]);
	else if (!type_is_reference(from))
		code_box(s, from.text[0], to);
	else if (!type_is_reference(to))
		code_unbox(s, from, to.text[0]);
	else
		code_cast(s, to);
}

void method_put(struct spin *s, int access, uint16_t name, const struct symbol *desc, int stack,
		int locals)
{
	struct buffer *b = &s->methods;

	put_2(b, (uint32_t)access);
	put_2(b, name);
	put_2(b, pool_text(s, desc->text, desc->length));
	put_2(b, 1);
	put_2(b, pool_text(s, "Code", 4));
	put_4(b, (uint32_t)s->code.length + 12);
	put_2(b, (uint32_t)stack);
	put_2(b, (uint32_t)locals);
	put_4(b, (uint32_t)s->code.length);
	put(b, s->code.bytes, s->code.length);
	put_2(b, 0); /* handlers */
	put_2(b, 0); /* attributes */
	s->code.length = 0;
	s->n_methods++;
}
