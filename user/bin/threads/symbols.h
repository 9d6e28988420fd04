/*
 * symbols.h - the symbol table of a program's file, and the symbol at an address; for tools that
 * show addresses of another process.
 */
#pragma once
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The parts of an ELF-64 file (System V gABI) that lead to the symbol table. */
struct elf_header {
	unsigned char ident[16];
	uint16_t type, machine;
	uint32_t version;
	uint64_t entry, phoff, shoff;
	uint32_t flags;
	uint16_t ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
};
struct elf_section {
	uint32_t name, type;
	uint64_t flags, addr, offset, size;
	uint32_t link, info;
	uint64_t addralign, entsize;
};
struct elf_symbol {
	uint32_t name;
	uint8_t info, other;
	uint16_t shndx;
	uint64_t value, size;
};
#define SECTION_SYMTAB 2
#define SYMBOL_OBJECT 1
#define SYMBOL_FUNC 2

struct program {
	char *file; /* the whole file */
	size_t size;
	const struct elf_symbol *symbols;
	size_t nsymbols;
	const char *names;
	size_t names_size;
};

static inline bool read_whole(const char *path, struct program *p)
{
	struct stat st;
	int fd = open(path, O_RDONLY);
	ssize_t n = 0;

	if (fd < 0)
		return false;
	p->size = 0;
	p->file = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? malloc(st.st_size + 1) : NULL;
	while (p->file != NULL && p->size < (size_t)st.st_size &&
	       (n = read(fd, p->file + p->size, st.st_size - p->size)) > 0)
		p->size += n;
	close(fd);
	return p->file != NULL && p->size == (size_t)st.st_size;
}

/* Returns bytes [at, at + n) of the file, or NULL. */
static inline const void *part(const struct program *p, uint64_t at, uint64_t n)
{
	return at <= p->size && n <= p->size - at ? p->file + at : NULL;
}

/* Finds the symbols.  False: the file is no program, or has no symbols. */
static inline bool find_symbols(struct program *p)
{
	const struct elf_header *h = part(p, 0, sizeof(*h));

	if (h == NULL || memcmp(h->ident, "\177ELF\2\1", 6) != 0 ||
	    h->shentsize != sizeof(struct elf_section))
		return false;
	const struct elf_section *s = part(p, h->shoff, h->shnum * sizeof(*s));
	for (unsigned i = 0; s != NULL && i < h->shnum; i++) {
		if (s[i].type != SECTION_SYMTAB || s[i].link >= h->shnum)
			continue;
		const struct elf_section *names = &s[s[i].link];
		p->nsymbols = s[i].size / sizeof(struct elf_symbol);
		p->symbols = part(p, s[i].offset, s[i].size);
		p->names_size = names->size;
		p->names = part(p, names->offset, names->size);
		return p->symbols != NULL && p->names != NULL && names->size > 0 &&
		       p->names[names->size - 1] == '\0';
	}
	return false;
}

/* Returns the symbol of this type that contains the address, or NULL. */
static inline const struct elf_symbol *symbol_at(const struct program *p, int type, uint64_t at)
{
	const struct elf_symbol *best = NULL;

	for (size_t i = 0; i < p->nsymbols; i++) {
		const struct elf_symbol *y = &p->symbols[i];
		if ((y->info & 15) == type && y->value <= at && y->name < p->names_size &&
		    (at < y->value + y->size || (y->size == 0 && at == y->value)) &&
		    (best == NULL || y->value > best->value))
			best = y;
	}
	return best;
}
