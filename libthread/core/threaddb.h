/*
 * threaddb.h - the description of the library's structures, for tools that look at the threads of
 * another process (Solaris had libthread_db for this).
 *
 * A tool cannot know the layout of struct thread: the process may have been linked with another
 * version of the library.  So each program carries a table of offsets, sizes, values and
 * addresses, by name.  The compiler makes the table out of the structures themselves (threaddb.c).
 * No code of the program uses it.
 *
 * The table lies in the first page of the program's image, behind the ELF header (libthread.ld).
 * A tool searches that page for THREADDB_MAGIC at addresses that are multiples of 8.  It needs
 * neither symbols nor the program's file.
 */
#pragma once
#include <stdint.h>

#define THREADDB_MAGIC "weft threaddb 1" /* 16 bytes, with the NUL */
#define THREADDB_IMAGE 0x400000ul        /* where the linker puts each program's first page */

/*
 * The entry's name says what `value` is:
 *
 *	STRUCTURE.FIELD		the offset of a field; `size`: its size in bytes
 *	thread			a structure; `size`: its size
 *	state.WORD		a value of thread.state, and the word for it
 *	value.NAME		a constant
 *	at.NAME			the address of a variable; `size`: the variable's size
 */
struct threaddb_entry {
	char name[22];
	uint16_t size; /* 0: it has none, or it is 64 KiB or more */
	uint64_t value;
};

struct threaddb {
	char magic[16];
	uint32_t entry_size; /* bytes */
	uint32_t entries;
	struct threaddb_entry entry[];
};
