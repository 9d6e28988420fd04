/*
 * spin.h - writes the class of a lambda expression as a class file: what lambda.c has of spin.c.
 */

#ifndef SPIN_H
#define SPIN_H

#include "vm.h"

/* A type as in a descriptor. Not followed by a NUL. */
struct type {
	const char *text;
	size_t length;
};

struct signature {
	struct type p[256];
	int n;
	struct type result;
};

struct buffer {
	struct arena *arena;
	uint8_t *bytes;
	size_t length, room;
};

#define MAX_INTERFACES 64

/* All that is needed to make one class. */
struct spin {
	struct arena arena; /* its memory */
	struct class *from; /* the class of the call site */
	const struct bootstrap *bootstrap;
	struct buffer pool, interfaces, fields, methods, code;
	uint16_t n_constants, n_interfaces, n_methods;
	uint16_t self;               /* the class, in the pool */
	const struct constant *impl; /* the member that the handle calls */
	int kind;                    /* of the handle */
	struct type owner;           /* the type of impl's class */
	struct type interfaces_named[MAX_INTERFACES];
	struct signature captured; /* what the call site gives; its result is the interface */
	struct signature given;    /* the arguments of the lambda expression */
	struct signature body;     /* those of impl, with its receiver */
	struct signature method;   /* those of the method that is written */
	uint16_t values[256];      /* fields of captured values, in the pool */
	const char *error;
};

void put(struct buffer *b, const void *bytes, size_t n);
void put_1(struct buffer *b, uint8_t value);
void put_2(struct buffer *b, uint32_t value);
void put_4(struct buffer *b, uint32_t value);

/* Each makes an entry of the constant pool, and returns its index. */
uint16_t pool_text(struct spin *s, const char *text, size_t length);
uint16_t pool_class(struct spin *s, const char *name, size_t length);
uint16_t pool_class_of(struct spin *s, struct type t);
uint16_t pool_member(struct spin *s, int tag, uint16_t cls, const char *name, const char *desc,
		     size_t desc_length);

bool type_equals(struct type a, struct type b);
int type_places(struct type t);
/* desc is the descriptor of a method, in order. */
void signature_read(struct signature *to, const struct symbol *desc);

/* Instructions. What cannot be converted sets s->error. */
void code_1(struct spin *s, int op);
void code_3(struct spin *s, int op, uint16_t index);
void code_load(struct spin *s, struct type t, int local);
void code_return(struct spin *s, struct type t);
void code_convert(struct spin *s, struct type from, struct type to);
/* A method whose code stands in s->code, which becomes empty. */
void method_put(struct spin *s, int access, uint16_t name, const struct symbol *desc, int stack,
		int locals);

#endif
