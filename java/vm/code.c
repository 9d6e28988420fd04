/*
 * code.c - the first part of verification: code is a row of whole instructions, and their operands are in order.
 *
 * Checked are the lengths of instructions, the targets of branches, the indexes of local variables and constants, and
 * the table of handlers. Types come later (verify.c).
 */

#include "verify.h"

/* The length of each instruction; 0: it varies; X: no instruction. */
static const char lengths[] = "1111111111111111" /* 00 */
			      "2323322222111111" /* 10 */
			      "1111111111111111" /* 20 */
			      "1111112222211111" /* 30 */
			      "1111111111111111" /* 40 */
			      "1111111111111111" /* 50 */
			      "1111111111111111" /* 60 */
			      "1111111111111111" /* 70 */
			      "1111311111111111" /* 80 */
			      "1111111113333333" /* 90 */
			      "33333333XX001111" /* a0 */
			      "1133333335532311" /* b0 */
			      "3311043355";      /* c0 */

/* 0: it goes beyond the code, or is none. */
uint32_t code_length_at(const uint8_t *code, uint32_t length, uint32_t pc)
{
	uint32_t op = code[pc], n = 0, at = (pc + 4) & ~3u;
	int64_t low, high;

	if (op >= sizeof(lengths) - 1 || lengths[op] == 'X')
		return 0;
	if (op == OP_jsr_w)
		return 0;
	if (lengths[op] != '0') {
		n = (uint32_t)(lengths[op] - '0');
	} else if (op == OP_wide) {
		n = pc + 1 < length && code[pc + 1] == OP_iinc ? 6 : 4;
	} else if (at + 12 <= length) {
		low = (int32_t)u4_at(code + at + 4);
		high = (int32_t)u4_at(code + at + 8);
		if (op == OP_tableswitch && low <= high && high - low < 16384)
			n = at + 12 - pc + (uint32_t)(high - low + 1) * 4;
		else if (op == OP_lookupswitch && low >= 0 && low < 16384)
			n = at + 8 - pc + (uint32_t)low * 8;
	} else if (op == OP_lookupswitch && at + 8 <= length && u4_at(code + at + 4) == 0) {
		n = at + 8 - pc;
	}
	return n <= length - pc ? n : 0;
}

static void code_target(struct verifier *v, int64_t offset)
{
	int64_t target = v->pc + offset;

	if (target < 0 || target >= v->length || !v->starts[target])
		verify_fail(v, "a branch into the middle of an instruction");
}

static void code_switch(struct verifier *v)
{
	uint32_t at = (v->pc + 4) & ~3u, first = at + 12, step = 4, n;

	n = u4_at(v->code + at + 4);
	if (v->code[v->pc] == OP_lookupswitch) {
		step = 8;
		for (uint32_t i = 1; i < n; i++)
			if ((int32_t)u4_at(v->code + at + 8 * i) >=
			    (int32_t)u4_at(v->code + at + 8 + 8 * i))
				verify_fail(v, "keys of a lookupswitch that are not sorted");
	} else {
		n = u4_at(v->code + at + 8) - n + 1;
	}
	code_target(v, (int32_t)u4_at(v->code + at));
	for (uint32_t i = 0; i < n; i++)
		code_target(v, (int32_t)u4_at(v->code + first + step * i));
}

static void code_local(struct verifier *v, uint32_t index, bool wide)
{
	if (index + wide >= v->m->max_locals)
		verify_fail(v, "a local variable that is not there");
}

/* Whether these instructions, from iload to astore, take two places. */
static bool code_is_wide(uint32_t op)
{
	return op == OP_lload || op == OP_dload || op == OP_lstore || op == OP_dstore;
}

static void code_locals(struct verifier *v, uint32_t op, const uint8_t *p)
{
	if ((op >= OP_iload && op <= OP_aload) || (op >= OP_istore && op <= OP_astore))
		code_local(v, p[1], code_is_wide(op));
	else if (op >= OP_iload_0 && op <= OP_aload_3)
		code_local(v, (op - OP_iload_0) % 4,
			   code_is_wide(OP_iload + (op - OP_iload_0) / 4));
	else if (op >= OP_istore_0 && op <= OP_astore_3)
		code_local(v, (op - OP_istore_0) % 4,
			   code_is_wide(OP_istore + (op - OP_istore_0) / 4));
	else if (op == OP_iinc)
		code_local(v, p[1], false);
	else if (op == OP_wide && ((p[1] >= OP_iload && p[1] <= OP_aload) ||
				   (p[1] >= OP_istore && p[1] <= OP_astore) || p[1] == OP_iinc))
		code_local(v, u2_at(p + 2), code_is_wide(p[1]));
	else if (op == OP_wide)
		verify_fail(v, "wide before another instruction");
}

/* The tag of a constant; 0: there is no such constant. */
static int code_tag(struct verifier *v, uint32_t index)
{
	return index < v->cls->n_constants ? v->cls->constants[index].tag : 0;
}

static bool code_constant_fits(struct verifier *v, uint32_t op, const uint8_t *p)
{
	int tag = code_tag(v, op == OP_ldc ? p[1] : u2_at(p + 1));
	struct symbol *name = v->cls->constants[op == OP_ldc || tag == 0 ? 0 : u2_at(p + 1)].name;

	switch (op) {
	case OP_ldc:
	case OP_ldc_w:
		return tag == CP_INTEGER || tag == CP_FLOAT || tag == CP_STRING || tag == CP_CLASS;
	case OP_ldc2_w:
		return tag == CP_LONG || tag == CP_DOUBLE;
	case OP_getstatic:
	case OP_putstatic:
	case OP_getfield:
	case OP_putfield:
		return tag == CP_FIELD;
	case OP_invokevirtual:
		return tag == CP_METHOD && name != known.init;
	case OP_invokespecial:
		return tag == CP_METHOD || (tag == CP_IMETHOD && name != known.init);
	case OP_invokestatic:
		return (tag == CP_METHOD || tag == CP_IMETHOD) && name != known.init;
	case OP_invokeinterface:
		return tag == CP_IMETHOD && name != known.init && p[3] != 0 && p[4] == 0;
	case OP_invokedynamic:
		return tag == CP_INVOKEDYNAMIC && p[3] == 0 && p[4] == 0;
	case OP_new:
		return tag == CP_CLASS && name->text[0] != '[';
	case OP_anewarray:
	case OP_checkcast:
	case OP_instanceof:
	case OP_multianewarray:
		return tag == CP_CLASS;
	}
	return true;
}

static void code_instruction(struct verifier *v)
{
	const uint8_t *p = v->code + v->pc;
	uint32_t op = *p;

	code_locals(v, op, p);
	if (!code_constant_fits(v, op, p))
		verify_fail(v, "a constant of the wrong kind");
	if ((op >= OP_ifeq && op <= OP_goto) || op == OP_ifnull || op == OP_ifnonnull)
		code_target(v, (int16_t)u2_at(p + 1));
	else if (op == OP_goto_w)
		code_target(v, (int32_t)u4_at(p + 1));
	else if (op == OP_tableswitch || op == OP_lookupswitch)
		code_switch(v);
	else if (op == OP_newarray && (p[1] < 4 || p[1] > 11))
		verify_fail(v, "an array of an unknown type");
}

/* Sets v->starts. False: v->error. */
bool code_check(struct verifier *v)
{
	uint32_t n;

	for (v->pc = 0; v->pc < v->length; v->pc += n) {
		n = code_length_at(v->code, v->length, v->pc);
		if (n == 0)
			return verify_fail(
				v,
				v->code[v->pc] == OP_jsr || v->code[v->pc] == OP_ret ||
						v->code[v->pc] == OP_jsr_w
					? "jsr and ret, which no class file of Java 6 or later has"
					: "no instruction, or one that is cut off");
		v->starts[v->pc] = 1;
	}
	for (v->pc = 0; v->pc < v->length && v->error == NULL;
	     v->pc += code_length_at(v->code, v->length, v->pc))
		code_instruction(v);
	for (int i = 0; i < v->m->n_handlers && v->error == NULL; i++) {
		struct handler *h = &v->m->handlers[i];

		v->pc = h->target;
		if (!v->starts[h->start] || !v->starts[h->target] ||
		    (h->end < v->length && !v->starts[h->end]))
			verify_fail(v, "a handler in the middle of an instruction");
	}
	return v->error == NULL;
}
