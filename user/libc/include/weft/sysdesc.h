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
	T_NS,       /* a time or length in nanoseconds */
	T_CHARS,    /* in a structure: an array of characters that ends with NUL */
	T_PATH,     /* const char *, ends with NUL */
	T_STRV,     /* char *const *, ends with NULL */
	T_IN,       /* bytes that the call reads: as many as the next argument says */
	T_OUT,      /* bytes that it writes: as many as its result says */
	T_INT_OUT,  /* int *, written */
	T_PAIR_OUT, /* int[2], written */
	T_LWPS,     /* const uint32_t *: ids, as many as the next argument says */
	T_SET,      /* a set of signals, by value: in structures */
	T_SET_IN,   /* const uint64_t *: a set of signals */
	T_SET_OUT,
	T_IDTYPE, /* what the next argument is an id of; shown as flags */
	T_FLAGS,  /* bits or values with names: `of` says which */
	T_STRUCT, /* structure: `of` says which, `dir` which way it goes */
};
enum { D_IN = 1, D_OUT = 2 };

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

/* NULL: there is no such call, or nothing is known of its arguments. */
const struct sysdesc *sysdesc(uint32_t number);
/* NULL: there is no such call. */
const char *sysdesc_name(uint32_t number);
const struct structdesc *sysdesc_struct(unsigned of);
/* Ends with an entry without a name. */
const struct flagdesc *sysdesc_flags(unsigned of);
