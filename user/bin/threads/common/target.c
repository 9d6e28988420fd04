/*
 * target.c - holds and reads a process: its LWPs, its memory, its symbols and its stacks.
 *
 * Frames are found by their frame pointers, which all programs of weft have.  Names come from the
 * symbol table of the program's file.  This is the file in /bin or /host, or in the current
 * directory, that has the process's name and begins with the same instructions as the process.
 */
#include "target.h"
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weft/sys.h>
#include "../../procids.h"
#include "../../usage.h"

#define MAX_DEPTH 64

bool target_read(const struct target *t, uint64_t at, void *to, size_t n)
{
	return __sys_proc_read(t->pid, at, to, n) == (long)n;
}

uint64_t target_number(const struct target *t, uint64_t at, size_t size)
{
	uint64_t n = 0;

	return size <= sizeof(n) && target_read(t, at, &n, size) ? n : 0;
}

/* --- the program's file ------------------------------------------------------------------- */

/* Is this the file that the process runs?  Compares its first function with the process's memory. */
static bool program_is_of(const struct program *p, const struct target *t)
{
	char there[32];

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
			return here != NULL && target_read(t, y->value, there, 32) &&
			       memcmp(here, there, 32) == 0;
		}
	}
	return false;
}

static bool target_find_program(struct target *t)
{
	static const char *const places[] = {"/bin", "/host", "."};
	char path[300];

	for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", places[i], t->info.name);
		t->program = (struct program){0};
		if (read_whole(path, &t->program) && find_symbols(&t->program) &&
		    program_is_of(&t->program, t))
			return true;
		free(t->program.file);
	}
	t->program = (struct program){0};
	return false;
}

const char *target_object(const struct target *t, uint64_t at, char to[OBJECT_NAME])
{
	const struct elf_symbol *y = symbol_at(&t->program, SYMBOL_OBJECT, at);

	if (y == NULL)
		snprintf(to, OBJECT_NAME, "%#" PRIx64, at);
	else if (y->value == at)
		snprintf(to, OBJECT_NAME, "%s", t->program.names + y->name);
	else
		snprintf(to, OBJECT_NAME, "%.*s+%#" PRIx64, OBJECT_NAME - 20,
			 t->program.names + y->name, at - y->value);
	return to;
}

/* --- LWPs ------------------------------------------------------------------------------------- */

static bool target_read_lwps(struct target *t)
{
	struct lwp_regs r;

	for (long id = 1; (id = __sys_lwp_regs(t->pid, id, &r)) > 0; id++) {
		if ((t->nlwps & (t->nlwps - 1)) == 0) { /* full: room for twice as many */
			size_t n = t->nlwps == 0 ? 1 : 2 * t->nlwps;
			struct lwp_regs *more = realloc(t->lwps, n * sizeof(*more));

			if (more == NULL)
				return false;
			t->lwps = more;
		}
		t->lwps[t->nlwps++] = r;
	}
	return true;
}

/* False: says why the process cannot be held. */
static bool target_attach(int pid)
{
	long r = __sys_trace_attach(pid, TRACE_HOLD);

	if (r == -EPERM)
		warnx("process %d: it cannot be held: it is %s", pid,
		      pid == 1          ? "the first process"
		      : pid == getpid() ? "this command"
					: "the tracer of this command");
	else if (r == -EBUSY)
		warnx("process %d: it cannot be held: another process traces it", pid);
	else if (r != 0)
		warnx("process %d: %s", pid, strerror(-r));
	return r == 0;
}

bool target_hold(struct target *t, int pid)
{
	*t = (struct target){.pid = pid};
	if (!target_attach(pid))
		return false;
	errno = ESRCH;
	if (__sys_procinfo(pid, &t->info) == pid && (errno = ENOMEM, target_read_lwps(t))) {
		if (!target_find_program(t))
			warnx("process %d: no symbols: the file of %s is not to be found", pid,
			      t->info.name);
		return true;
	}
	warn("process %d", pid);
	target_release(t);
	return false;
}

void target_release(struct target *t)
{
	__sys_trace_detach(t->pid);
	free(t->lwps);
	free(t->program.file);
}

/* --- stacks --------------------------------------------------------------------------------- */

#define PUSH_RBP 0x55 /* the first instruction of a function that has a frame */
#define SYSCALL "\x0f\x05"

/* Is pc behind the SYSCALL of a function without a frame?  Such a function is the stub of a
 * call. */
static bool in_stub(const struct target *t, const struct elf_symbol *y, uint64_t pc)
{
	char before[2];
	uint8_t first;

	return target_read(t, pc - 2, before, 2) && memcmp(before, SYSCALL, 2) == 0 &&
	       target_read(t, y->value, &first, 1) && first != PUSH_RBP;
}

/*
 * Prints a line for the function that pc is in.  Returns true: it is the stub of a system call.  If
 * the function ends with a call that does not return, the return address is behind the function.
 */
static bool print_frame(const struct target *t, uint64_t pc, bool returns_there)
{
	const struct elf_symbol *y =
		symbol_at(&t->program, SYMBOL_FUNC, returns_there ? pc - 1 : pc);

	if (y == NULL) {
		printf(" %016" PRIx64 " ????????\n", pc);
		return false;
	}
	const char *name = t->program.names + y->name;
	printf(" %016" PRIx64 " %s+%#" PRIx64 "\n", pc, name, pc - y->value);
	return in_stub(t, y, pc);
}

void target_print_stack(const struct target *t, uint64_t rip, uint64_t rsp, uint64_t rbp,
			bool returned)
{
	uint64_t frame[2] = {0, 0}, fp = rbp, last = 0;
	int depth = 1;

	/* The stub of a call has no frame, so its return address is on top of the stack. */
	if (print_frame(t, rip, returned) && target_read(t, rsp, frame, 8)) {
		print_frame(t, frame[0], true);
		depth++;
	}
	/* Each frame must lie above the frame before; else the chain is invalid. */
	while (depth++ < MAX_DEPTH && fp > last && target_read(t, fp, frame, sizeof(frame)) &&
	       frame[1] != 0) {
		print_frame(t, frame[1], true);
		last = fp;
		fp = frame[0];
	}
}

int target_show_each(char **argv, const char *usage, bool (*show)(int pid))
{
	bool all = true;

	usage_asked(argv, usage);
	if (argv[1] == NULL)
		return usage_wrong(usage);
	for (char **id = argv + 1; *id != NULL; id++)
		all &= show(process_id(*id));
	return !all;
}
