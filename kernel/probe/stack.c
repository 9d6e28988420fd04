/*
 * stack.c - the stack of an LWP or a thread that leaves, behind the record of it.
 *
 * The host command lets a point call probe_record_stack or probe_program_stack (record.S) if stacks are
 * asked for; no other point comes here.  A stack is one to STACK_PARTS records with the time of the record
 * before them and with PROBE_STACK in place of a point.  In the order of the records they hold:
 *
 *	RIP, as the kernel or the stub has it
 *	the two words at RSP: one is the return address where a function has no frame yet
 *	the return addresses of the frames that RBP leads to
 *
 * The host finds out which of them count (tools/weft_trace/stacks.py).  Programs lie in the first 4 GiB, so an
 * address has 32 bits; 0 stands for a word that cannot be one.
 *
 * Nothing here sleeps, and no page is brought in: user_load64 fails where a page is missing.  RBP may be any
 * number, because code without frames uses it for something else.  So the walk is bounded.
 */
#include <kern/cpu.h>
#include <kern/layout.h>
#include <kern/lwp.h>
#include <kern/probe.h>
#include <kern/trap.h>
#include <kern/usercopy.h>
#include "probe.h"

#define STACK_PARTS 3
#define STACK_WORDS (STACK_PARTS * 6)
#define STACK_FRAMES 3 /* where the frames begin */

/* record.S */
void probe_stack_lwp(void);
void probe_stack_thread(const struct program_words *w, uint64_t rbp);

static bool stack_load(uint64_t *to, uint64_t addr)
{
	return addr < WEFT_USER_END && (addr & 7) == 0 && user_load64(to, addr) == 0;
}

static uint32_t stack_address(uint64_t addr)
{
	uint64_t word;

	return stack_load(&word, addr) && word <= UINT32_MAX ? word : 0;
}

/* How many of the words hold something. */
static unsigned stack_read(uint32_t words[STACK_WORDS], uint64_t rip, uint64_t rsp, uint64_t rbp)
{
	unsigned n = STACK_FRAMES;

	words[0] = rip;
	words[1] = stack_address(rsp);
	words[2] = stack_address(rsp + 8);
	while (n < STACK_WORDS && rbp >= rsp && (words[n] = stack_address(rbp + 8)) != 0) {
		n++;
		rsp = rbp + 1; /* the next frame is higher */
		if (!stack_load(&rbp, rbp))
			break;
	}
	return n;
}

static void stack_write(uint64_t rip, uint64_t rsp, uint64_t rbp)
{
	struct probe_ring *r = cpu_here->probe_ring;
	uint32_t words[STACK_WORDS] = {0};
	unsigned n = stack_read(words, rip, rsp, rbp);
	uint64_t time = r->entry[(r->head - 1) & r->mask].time;

	for (unsigned at = 0; at <= n && at < STACK_WORDS; at += ARRAY_LEN(r->entry->stack)) {
		uint64_t number = __atomic_fetch_add(&r->head, 1, __ATOMIC_RELAXED);
		struct probe_entry *e = &r->entry[number & r->mask];
		__atomic_thread_fence(__ATOMIC_RELEASE);
		e->time = time;
		e->point = PROBE_STACK;
		memcpy(e->stack, &words[at], sizeof(e->stack));
		__atomic_store_n(&e->seq, number + 1, __ATOMIC_RELEASE);
	}
}

/* The current LWP, which leaves its CPU.  A kernel LWP has no stack of a program, an exiting one none any more. */
void probe_stack_lwp(void)
{
	const struct lwp *l = curlwp();

	if (l->proc != NULL && l->sc != NULL)
		stack_write(l->frame->rip, l->frame->rsp, l->frame->rbp);
}

void probe_stack_thread(const struct program_words *w, uint64_t rbp)
{
	stack_write(w->rip, w->rsp, rbp);
}
