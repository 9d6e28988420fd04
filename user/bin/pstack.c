/*
 * pstack PID...: the stack of every LWP of a process: the functions that it is in,
 * innermost first.
 *
 * The process stands still meanwhile (TRACE_HOLD).  Frames are found by their frame
 * pointers, which all our programs have, names in the symbol table of the program's file:
 * the one in /bin or /host, or on the PATH, that has the process's name and begins with
 * the same instructions as the process.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <weft/proc.h>
#include <weft/sys.h>
#include <weft/sysdesc.h>
#include <weft/trace.h>

#define MAX_DEPTH 64

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
#define SYMBOL_FUNC 2

struct program {
	char *file; /* all of it */
	size_t size;
	const struct elf_symbol *symbols;
	size_t nsymbols;
	const char *names;
	size_t names_size;
};

/* --- the program's file ------------------------------------------------------------------- */

static bool read_whole(const char *path, struct program *p)
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

/* [at, at + n) of the file, or NULL. */
static const void *part(const struct program *p, uint64_t at, uint64_t n)
{
	return at <= p->size && n <= p->size - at ? p->file + at : NULL;
}

/* Finds the symbols.  False: the file is no program, or has none. */
static bool find_symbols(struct program *p)
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

/* Is this the file that the process runs?  Its first function must be there. */
static bool is_of(const struct program *p, int pid)
{
	char there[64];

	for (size_t i = 0; i < p->nsymbols; i++) {
		const struct elf_symbol *y = &p->symbols[i];
		if (y->name < p->names_size && strcmp(p->names + y->name, "_start") == 0) {
			const struct elf_header *h = (const struct elf_header *)p->file;
			/* The first segment with code is a page-for-page image of the file. */
			const struct elf_section *s = part(p, h->shoff, h->shnum * sizeof(*s));
			if (y->shndx >= h->shnum)
				return false;
			s += y->shndx;
			const void *here = part(p, s->offset + (y->value - s->addr), 32);
			return here != NULL && __sys_proc_read(pid, y->value, there, 32) == 32 &&
			       memcmp(here, there, 32) == 0;
		}
	}
	return false;
}

static bool find_program(struct program *p, int pid, const char *name)
{
	static const char *const places[] = {"/bin", "/host", "."};
	char path[300];

	for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", places[i], name);
		*p = (struct program){0};
		if (read_whole(path, p) && find_symbols(p) && is_of(p, pid))
			return true;
		free(p->file);
	}
	*p = (struct program){0};
	return false;
}

static const struct elf_symbol *symbol_at(const struct program *p, uint64_t pc)
{
	const struct elf_symbol *best = NULL;

	for (size_t i = 0; i < p->nsymbols; i++) {
		const struct elf_symbol *y = &p->symbols[i];
		if ((y->info & 15) == SYMBOL_FUNC && y->value <= pc && y->name < p->names_size &&
		    (pc < y->value + y->size || (y->size == 0 && pc == y->value)) &&
		    (best == NULL || y->value > best->value))
			best = y;
	}
	return best;
}

/* --- stacks --------------------------------------------------------------------------------- */

/* A line for the function that pc is in; true: it is the stub of a system call. */
static bool print_frame(const struct program *p, uint64_t pc)
{
	const struct elf_symbol *y = symbol_at(p, pc);

	if (y == NULL) {
		printf(" %016" PRIx64 " ????????\n", pc);
		return false;
	}
	const char *name = p->names + y->name;
	printf(" %016" PRIx64 " %s+%#" PRIx64 "\n", pc, name, pc - y->value);
	return strncmp(name, "__sys_", 6) == 0;
}

static void print_stack(const struct program *p, int pid, const struct lwp_regs *r)
{
	uint64_t frame[2] = {0, 0}, fp = r->rbp, last = 0;
	int depth = 1;

	/* The stub of a call has no frame: its return address is on top of the stack. */
	if (print_frame(p, r->rip) && __sys_proc_read(pid, r->rsp, frame, 8) == 8) {
		print_frame(p, frame[0]);
		depth++;
	}
	/* Frames lie one above the other, or the chain is none. */
	while (depth++ < MAX_DEPTH && fp > last &&
	       __sys_proc_read(pid, fp, frame, sizeof(frame)) == sizeof(frame) && frame[1] != 0) {
		print_frame(p, frame[1]);
		last = fp;
		fp = frame[0];
	}
}

static bool show(int pid)
{
	struct weft_procinfo info;
	struct program program;
	struct lwp_regs r;
	long id;

	errno = -__sys_trace_attach(pid, TRACE_HOLD);
	if (errno != 0) {
		warn("process %d", pid);
		return false;
	}
	__sys_procinfo(pid, &info);
	printf("%d:\t%s\n", pid, info.name);
	if (!find_program(&program, pid, info.name))
		warnx("process %d: no symbols: the file of %s is not to be found", pid, info.name);
	for (id = 1; (id = __sys_lwp_regs(pid, id, &r)) > 0; id++) {
		const char *call = sysdesc_name(r.syscall);
		printf("-----------------  lwp# %ld%s%s  -----------------\n", id,
		       call ? "  in " : "", call ? call : "");
		print_stack(&program, pid, &r);
	}
	__sys_trace_detach(pid);
	free(program.file);
	return true;
}

int main(int argc, char **argv)
{
	bool all = true;

	if (argc < 2) {
		fputs("usage: pstack PID...\n", stderr);
		return 2;
	}
	for (int i = 1; i < argc; i++)
		all &= show(atoi(argv[i]));
	return !all;
}
