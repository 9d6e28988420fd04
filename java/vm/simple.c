/*
 * simple.c - the instructions whose operands and results have fixed types, as a table for the verifier.
 */

#include "verify.h"

/*
 * What simple instructions take and give: I F J D, A: a reference, N: null. The type of an array is in capitals after
 * [, and B stands for byte and boolean. NULL: not simple (verify.c).
 */
static const char *const simple[OP_COUNT] = {
	[OP_nop] = ">",           [OP_aconst_null] = ">N", [OP_iconst_m1] = ">I",
	[OP_iconst_0] = ">I",     [OP_iconst_1] = ">I",    [OP_iconst_2] = ">I",
	[OP_iconst_3] = ">I",     [OP_iconst_4] = ">I",    [OP_iconst_5] = ">I",
	[OP_lconst_0] = ">J",     [OP_lconst_1] = ">J",    [OP_fconst_0] = ">F",
	[OP_fconst_1] = ">F",     [OP_fconst_2] = ">F",    [OP_dconst_0] = ">D",
	[OP_dconst_1] = ">D",     [OP_bipush] = ">I",      [OP_sipush] = ">I",
	[OP_iaload] = "I[I>I",    [OP_laload] = "I[J>J",   [OP_faload] = "I[F>F",
	[OP_daload] = "I[D>D",    [OP_baload] = "I[B>I",   [OP_caload] = "I[C>I",
	[OP_saload] = "I[S>I",    [OP_iastore] = "II[I>",  [OP_lastore] = "JI[J>",
	[OP_fastore] = "FI[F>",   [OP_dastore] = "DI[D>",  [OP_bastore] = "II[B>",
	[OP_castore] = "II[C>",   [OP_sastore] = "II[S>",  [OP_iadd] = "II>I",
	[OP_ladd] = "JJ>J",       [OP_fadd] = "FF>F",      [OP_dadd] = "DD>D",
	[OP_isub] = "II>I",       [OP_lsub] = "JJ>J",      [OP_fsub] = "FF>F",
	[OP_dsub] = "DD>D",       [OP_imul] = "II>I",      [OP_lmul] = "JJ>J",
	[OP_fmul] = "FF>F",       [OP_dmul] = "DD>D",      [OP_idiv] = "II>I",
	[OP_ldiv] = "JJ>J",       [OP_fdiv] = "FF>F",      [OP_ddiv] = "DD>D",
	[OP_irem] = "II>I",       [OP_lrem] = "JJ>J",      [OP_frem] = "FF>F",
	[OP_drem] = "DD>D",       [OP_ineg] = "I>I",       [OP_lneg] = "J>J",
	[OP_fneg] = "F>F",        [OP_dneg] = "D>D",       [OP_ishl] = "II>I",
	[OP_lshl] = "IJ>J",       [OP_ishr] = "II>I",      [OP_lshr] = "IJ>J",
	[OP_iushr] = "II>I",      [OP_lushr] = "IJ>J",     [OP_iand] = "II>I",
	[OP_land] = "JJ>J",       [OP_ior] = "II>I",       [OP_lor] = "JJ>J",
	[OP_ixor] = "II>I",       [OP_lxor] = "JJ>J",      [OP_i2l] = "I>J",
	[OP_i2f] = "I>F",         [OP_i2d] = "I>D",        [OP_l2i] = "J>I",
	[OP_l2f] = "J>F",         [OP_l2d] = "J>D",        [OP_f2i] = "F>I",
	[OP_f2l] = "F>J",         [OP_f2d] = "F>D",        [OP_d2i] = "D>I",
	[OP_d2l] = "D>J",         [OP_d2f] = "D>F",        [OP_i2b] = "I>I",
	[OP_i2c] = "I>I",         [OP_i2s] = "I>I",        [OP_lcmp] = "JJ>I",
	[OP_fcmpl] = "FF>I",      [OP_fcmpg] = "FF>I",     [OP_dcmpl] = "DD>I",
	[OP_dcmpg] = "DD>I",      [OP_ifeq] = "I>",        [OP_ifne] = "I>",
	[OP_iflt] = "I>",         [OP_ifge] = "I>",        [OP_ifgt] = "I>",
	[OP_ifle] = "I>",         [OP_if_icmpeq] = "II>",  [OP_if_icmpne] = "II>",
	[OP_if_icmplt] = "II>",   [OP_if_icmpge] = "II>",  [OP_if_icmpgt] = "II>",
	[OP_if_icmple] = "II>",   [OP_if_acmpeq] = "UU>",  [OP_if_acmpne] = "UU>",
	[OP_ifnull] = "U>",       [OP_ifnonnull] = "U>",   [OP_goto] = ">",
	[OP_goto_w] = ">",        [OP_tableswitch] = "I>", [OP_lookupswitch] = "I>",
	[OP_monitorenter] = "A>", [OP_monitorexit] = "A>",
};

static vtype letter_type(char letter)
{
	return letter == 'I'   ? INT
	       : letter == 'F' ? FLOAT
	       : letter == 'J' ? LONG
	       : letter == 'D' ? DOUBLE
			       : NIL;
}

/* Takes an array of primitive type off. */
static void verify_pop_array(struct verifier *v, char element)
{
	vtype type = types_pop(v);
	const char *name = KIND(type) == REF ? SYMBOL(type)->text : "";

	if (type != NIL && !(name[0] == '[' && name[2] == 0 &&
			     (name[1] == element || (element == 'B' && name[1] == 'Z'))))
		verify_fail(v, "no array of the expected type");
}

/* False: the instruction is not simple. */
bool verify_simple(struct verifier *v, uint32_t op)
{
	const char *s = simple[op];

	if (s == NULL)
		return false;
	for (; *s != '>'; s++) {
		if (*s == '[')
			verify_pop_array(v, *++s);
		else if (*s == 'A' || *s == 'U')
			types_pop_reference(v, *s == 'U');
		else
			types_pop_as(v, letter_type(*s));
	}
	if (*++s != 0)
		types_push(v, letter_type(*s));
	return true;
}
