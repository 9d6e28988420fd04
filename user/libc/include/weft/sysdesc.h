/*
 * sysdesc.h - what the arguments of each system call are: truss shows them by it, and the
 * fuzzer makes them up by it.  A call that SYSCALLS lists and this table does not fails a
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
	T_PTR, /* an address that means nothing to us */
	T_NONE,
	T_FD,
	T_PID, /* or the negative of a process group */
	T_LWP,
	T_SIG,
	T_CPU,
	T_ERRNO,
	T_NAMED,    /* a number, of whose values some have names: `of` says which */
	T_NS,       /* a time or length in nanoseconds */
	T_CHARS,    /* in a structure: an array of characters that ends with NUL */
	T_PATH,     /* const char *, ends with NUL */
	T_STRV,     /* char *const *, ends with NULL */
	T_IN,       /* bytes that the call reads: as many as the next argument says */
	T_OUT,      /* bytes that it writes: as many as its result says */
	T_INT_IN,   /* const int * */
	T_INT_OUT,  /* int *, written */
	T_PAIR_OUT, /* int[2], written */
	T_INTS_OUT, /* int *, written: as many as the int has that argument `of` points at */
	T_INTS,     /* in a structure: an array of ints */
	T_LWPS,     /* const uint32_t *: ids, as many as the next argument says */
	T_SET,      /* a set of signals, by value: in structures */
	T_SET_IN,   /* const uint64_t *: a set of signals */
	T_SET_OUT,
	T_IDTYPE, /* what the next argument is an id of; shown as flags */
	T_FLAGS,  /* bits or values with names: `of` says which */
	T_STRUCT, /* structure: `of` says which, `dir` which way it goes */
	/* What it is depends on another value: of an argument on the one before it, of a member on
	 * the first of the structure.  `of` says which variants there are. */
	T_VARIANT,
};
/* D_IN, D_OUT: which way a structure goes; the others: of how many it is an array. */
enum {
	D_IN = 1,
	D_OUT = 2,
	D_COUNTED = 4, /* as the next argument says */
	D_TWO = 8,
	D_RETURNED = 16, /* as the result says */
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

/* If the other value is `value`, it is this. */
struct variantdesc {
	uint64_t value;
	struct argdesc desc;
};

/* NULL: there is no such call, or nothing is known of its arguments. */
const struct sysdesc *sysdesc(uint32_t number);
/* NULL: there is no such call. */
const char *sysdesc_name(uint32_t number);
const struct structdesc *sysdesc_struct(unsigned of);
/* NULL: nothing is known of it. */
const struct argdesc *sysdesc_variant(unsigned of, uint64_t value);
/* Ends with an entry without a name. */
const struct flagdesc *sysdesc_flags(unsigned of);
