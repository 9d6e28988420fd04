/*
 * pstack PID...: the stack of every LWP of a process, and the thread that the LWP runs.
 *
 * A stack is the functions that the LWP is in, innermost first.  A thread is shown with its name.
 *
 * The process is held meanwhile (TRACE_HOLD).  Frames are found by their frame pointers, which all
 * programs of weft have.  Names come from the symbol table of the program's file.  This is the file
 * in /bin or /host, or on the PATH, that has the process's name and begins with the same
 * instructions as the process.
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
#include <weft/lwp.h>
#include <weft/proc.h>
#include <weft/sys.h>
#include <weft/sysdesc.h>
#include <weft/trace.h>
#include "../procids.h"
#include "symbols.h"
#include "thread.h"
#include "../usage.h"

#define MAX_DEPTH 64

/* --- the program's file ------------------------------------------------------------------- */

/* Is this the file that the process runs?  Compares its first function with the process's
 * memory. */
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

/* --- stacks --------------------------------------------------------------------------------- */

#define PUSH_RBP 0x55 /* the first instruction of a function that has a frame */
#define SYSCALL "\x0f\x05"

/* Is pc behind the SYSCALL of a function without a frame?  Such a function is the stub of a
 * call. */
static bool in_stub(int pid, const struct elf_symbol *y, uint64_t pc)
{
	char before[2];
	uint8_t first;

	return __sys_proc_read(pid, pc - 2, before, 2) == 2 && memcmp(before, SYSCALL, 2) == 0 &&
	       __sys_proc_read(pid, y->value, &first, 1) == 1 && first != PUSH_RBP;
}

/*
 * Prints a line for the function that pc is in.  Returns true: it is the stub of a system call.  If
 * the function ends with a call that does not return, the return address is behind the function.
 */
static bool print_frame(const struct program *p, int pid, uint64_t pc, bool returns_there)
{
	const struct elf_symbol *y = symbol_at(p, SYMBOL_FUNC, returns_there ? pc - 1 : pc);

	if (y == NULL) {
		printf(" %016" PRIx64 " ????????\n", pc);
		return false;
	}
	const char *name = p->names + y->name;
	printf(" %016" PRIx64 " %s+%#" PRIx64 "\n", pc, name, pc - y->value);
	return in_stub(pid, y, pc);
}

static void print_stack(const struct program *p, int pid, const struct lwp_regs *r)
{
	uint64_t frame[2] = {0, 0}, fp = r->rbp, last = 0;
	int depth = 1;

	/* The stub of a call has no frame, so its return address is on top of the stack. */
	if (print_frame(p, pid, r->rip, false) && __sys_proc_read(pid, r->rsp, frame, 8) == 8) {
		print_frame(p, pid, frame[0], true);
		depth++;
	}
	/* Each frame must lie above the frame before; else the chain is invalid. */
	while (depth++ < MAX_DEPTH && fp > last &&
	       __sys_proc_read(pid, fp, frame, sizeof(frame)) == sizeof(frame) && frame[1] != 0) {
		print_frame(p, pid, frame[1], true);
		last = fp;
		fp = frame[0];
	}
}

static bool show(int pid)
{
	struct weft_procinfo info;
	struct program program;
	char name[THREAD_NAME];
	struct lwp_regs r;
	uint32_t thread;
	struct lwp_info l;
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
		printf("-----------------  lwp# %ld", id);
		thread = thread_of(pid, &r, name);
		*l.name = '\0';
		__sys_lwp_info(pid, id, &l);
		if (*l.name)
			printf(" (%s)", l.name);
		else if (thread != 0)
			printf(" / thread# %u%s%s", thread, *name ? " " : "", name);
		printf("%s%s  -----------------\n", call ? "  in " : "", call ? call : "");
		print_stack(&program, pid, &r);
	}
	__sys_trace_detach(pid);
	free(program.file);
	return true;
}

static const char usage[] = "usage: pstack PID...\n";

int main(int argc, char **argv)
{
	bool all = true;

	usage_asked(argv, usage);
	if (argc < 2)
		return usage_wrong(usage);
	for (int i = 1; i < argc; i++)
		all &= show(process_id(argv[i]));
	return !all;
}
