/*
 * backtrace.c - the chain of calls, with symbols.
 *
 * Follows frame pointers, through trap frames too, up to user mode or the start
 * of the LWP.  It must work on a broken stack.  So the instruction that reads a word is in the
 * table of instructions that may fault (.extable), and the walk is bounded.  The symbol
 * table is put into the kernel by the second link (tools/ksyms.py).
 */
#include <kern/printk.h>
#include <kern/trap.h>
#include "machine.h"

#define MAX_FRAMES 40

struct ksyms {
	uint32_t count;
	struct ksym {
		uint32_t offset; /* from __text_start; ascending */
		uint32_t name;   /* from the end of the table */
	} sym[];
};

/* weft.ld.  In the first link there is no table, and the two are equal. */
extern const struct ksyms __ksyms_start;
extern const char __ksyms_end[], __text_start[], __text_end[];
/* entry.S: where the handler of a trap frame returns to; the frame lies there. */
extern const char trap_call_end[], anywhere_call_end[];

/* The function that holds addr, and its start; NULL: not in the kernel's text. */
static const char *symbol_of(uint64_t addr, uint64_t *start)
{
	const struct ksyms *t = &__ksyms_start;
	if (addr < (uint64_t)__text_start || addr >= (uint64_t)__text_end ||
	    (const char *)t == __ksyms_end)
		return NULL;
	uint32_t offset = addr - (uint64_t)__text_start;
	uint32_t low = 0, high = t->count; /* sym[low].offset <= offset < sym[high].offset */
	while (high - low > 1) {
		uint32_t mid = low + (high - low) / 2;
		*(t->sym[mid].offset <= offset ? &low : &high) = mid;
	}
	*start = (uint64_t)__text_start + t->sym[low].offset;
	return (const char *)&t->sym[t->count] + t->sym[low].name;
}

static bool read_word(uint64_t addr, uint64_t *value)
{
	uint32_t ok = 0;
	__asm__ volatile("1:\tmovq (%2), %0\n\t"
			 "movl $1, %1\n"
			 "2:\n\t"
			 ".pushsection .extable, \"a\"\n\t"
			 ".quad 1b, 2b\n\t"
			 ".popsection"
			 : "=&r"(*value), "+&r"(ok)
			 : "r"(addr));
	return ok;
}

static void print_line(uint64_t rip, bool is_return)
{
	uint64_t start;
	/* A call that does not return may be a function's last instruction. */
	const char *name = symbol_of(is_return ? rip - 1 : rip, &start);
	if (name != NULL)
		printk("    %p %s+%#lx\n", (void *)rip, name, rip - start);
	else
		printk("    %p\n", (void *)rip);
}

void backtrace(uint64_t rip, uint64_t rbp, bool is_return)
{
	uint64_t last = 0;
	for (unsigned n = 0; n < MAX_FRAMES; n++) {
		print_line(rip, is_return);
		uint64_t up;
		if (rbp <= last || rbp % 8 != 0 || !read_word(rbp, &up) ||
		    !read_word(rbp + 8, &rip))
			return;
		last = rbp;
		is_return = true;
		if (rip != (uint64_t)trap_call_end && rip != (uint64_t)anywhere_call_end) {
			if (rip == 0)
				return;
			rbp = up;
			continue;
		}
		uint64_t frame = rbp + 16, vec, cs;
		if (!read_word(frame + offsetof(struct trapframe, vec), &vec) ||
		    !read_word(frame + offsetof(struct trapframe, cs), &cs) ||
		    !read_word(frame + offsetof(struct trapframe, rip), &rip) ||
		    !read_word(frame + offsetof(struct trapframe, rbp), &rbp))
			return;
		printk("    --- trap %lu ---\n", vec);
		if (cs & 3) {
			printk("    %p in user mode\n", (void *)rip);
			return;
		}
		is_return = false;
		last = 0; /* the interrupted code may be on another stack */
	}
	printk("    ...\n");
}
