/*
 * sysdesc.h - the types of the arguments of each system call.  truss uses them to show arguments,
 * and the fuzzer to make them up.  A call that SYSCALLS lists and this table does not fails a
 * test (tests/test_truss.py).
 */
#pragma once
#include <stdint.h>

enum argtype {
	T_INT, /* 32 bits, signed */
	T_LONG,
	T_SIZE, /* bytes, or a count */
	T_HEX,
	T_OCT,
	T_PTR, /* an address that the table does not describe further */
	T_NONE,
	T_FD,
	T_PID, /* a process id, or the negative of a process group */
	T_LWP,
	T_SIG,
	T_CPU,
	T_ERRNO,
	T_NAMED,    /* a number, some of whose values have names; `of`: which names */
	T_NS,       /* a time or length in nanoseconds */
	T_CHARS,    /* in a structure: an array of characters that ends with NUL */
	T_PATH,     /* const char *, ends with NUL */
	T_STRV,     /* char *const *, ends with NULL */
	T_IN,       /* bytes that the call reads; the next argument is their number */
	T_OUT,      /* bytes that the call writes; its result is their number */
	T_INT_IN,   /* const int * */
	T_INT_OUT,  /* int *, written */
	T_PAIR_OUT, /* int[2], written */
	T_INTS_OUT, /* int *, written; argument `of` points at the number of ints */
	T_INTS,     /* in a structure: an array of ints */
	T_LWPS,     /* const uint32_t *: ids; the next argument is their number */
	T_SET,      /* a set of signals, by value: in structures */
	T_SET_IN,   /* const uint64_t *: a set of signals */
	T_SET_OUT,
	T_IDTYPE, /* the type of id of the next argument; shown as flags */
	T_FLAGS,  /* bits or values with names; `of`: which names */
	T_STRUCT, /* structure; `of`: which structure, `dir`: its direction */
	/* Depends on another value: for an argument, on the argument before it; for a member, on
	 * the first member of the structure.  `of` names the set of variants. */
	T_VARIANT,
};
/* D_IN, D_OUT: the direction of a structure.  The others: the length of an array of them. */
enum {
	D_IN = 1,
	D_OUT = 2,
	D_COUNTED = 4, /* the next argument */
	D_TWO = 8,
	D_RETURNED = 16, /* the result */
};

struct argdesc {
	uint8_t type, of, dir;
};

struct sysdesc {
	const char *name;
	uint8_t nargs;
	struct argdesc result, arg[6];
};

struct fielddesc {
	const char *name;
	uint16_t offset, size;
	struct argdesc desc;
};

struct structdesc {
	const char *name;
	uint32_t size;
	uint8_t nfields;
	const struct fielddesc *field;
};

/* v means this name if v & mask == value. */
struct flagdesc {
	const char *name;
	uint64_t value, mask;
};

/* The type, if the other value is `value`. */
struct variantdesc {
	uint64_t value;
	struct argdesc desc;
};

/* NULL: there is no such call, or its arguments are not described. */
const struct sysdesc *sysdesc(uint32_t number);
/* NULL: there is no such call. */
const char *sysdesc_name(uint32_t number);
const struct structdesc *sysdesc_struct(unsigned of);
/* NULL: there is no such variant. */
const struct argdesc *sysdesc_variant(unsigned of, uint64_t value);
/* The list ends with an entry without a name. */
const struct flagdesc *sysdesc_flags(unsigned of);
