/*
 * verify.h - what the parts of the verifier share: code.c, stackmap.c, types.c, simple.c, verify.c.
 *
 * The type of a place is a word. A long or double takes two places; the second has the type HIGH.
 */

#ifndef VERIFY_H
#define VERIFY_H

#include "opcodes.h"
#include "vm.h"

typedef uintptr_t vtype; /* its kind, and a symbol, or the place of a `new` */

enum { TOP, INT, FLOAT, LONG, DOUBLE, HIGH, NIL, THIS, FRESH, REF };

#define KIND(type) ((int)((type)&15))
#define REF_OF(symbol) ((vtype)(uintptr_t)(symbol) | REF)
#define SYMBOL(type) ((struct symbol *)((type) & ~(vtype)15))
#define FRESH_AT(pc) ((vtype)(pc) << 4 | FRESH)
#define FRESH_PC(type) ((uint32_t)((type) >> 4))

/* The types at one place of the code: the StackMapTable's, or those that the verifier has there. */
struct types {
	uint32_t n_locals, n_stack; /* of a map: locals behind n_locals are TOP */
	vtype *locals, *stack;
	bool this_fresh; /* in a constructor, before the superclass's constructor is called */
};

struct verifier {
	struct jthread *t;
	struct class *cls;
	struct method *m;
	const uint8_t *code;
	uint32_t length, pc;
	uint8_t *starts;     /* by offset: whether an instruction begins there */
	struct types **maps; /* by offset, or NULL */
	struct types now;
	bool reachable;
	struct arena arena;
	size_t memory;     /* that the maps take */
	const char *error; /* the first, or NULL */
	uint32_t error_pc;
};

bool verify_fail(struct verifier *v, const char *error);
bool code_check(struct verifier *v);
bool verify_simple(struct verifier *v, uint32_t op);
bool stackmap_read(struct verifier *v);
void types_at_entry(struct verifier *v);
bool types_fit(struct verifier *v, const struct types *from, const struct types *to,
	       bool with_stack);
bool type_fits(struct verifier *v, vtype from, vtype to);
vtype type_of_desc(const char *desc, size_t length);
vtype type_of_text(const char *class_name);
void types_push(struct verifier *v, vtype type);
vtype types_pop(struct verifier *v);
void types_pop_as(struct verifier *v, vtype type);
vtype types_pop_reference(struct verifier *v, bool fresh_too);
uint32_t code_length_at(const uint8_t *code, uint32_t length, uint32_t pc);

#endif
