/*
 * probe.c - the rings of the trace, and records in exact timing.
 *
 * The rings lie in memory that is not the kernel's RAM.  So a traced kernel has the same pages as
 * another.  No locks: each CPU works on its own ring and on its own window.
 */
#include <kern/boot.h>
#include <kern/cpu.h>
#include <kern/layout.h>
#include <kern/mm.h>
#include <kern/printk.h>
#include <kern/probe.h>
#include <kern/timing.h>
#include <kern/trap.h>
#include "../cpu/asm.h"
#include "../cpu/machine.h"
#include "../timing/lockstep.h"
#include "probe.h"

_Static_assert(sizeof(struct probe_entry) == 40 && offsetof(struct probe_ring, entry) == 64, "");

/* record.S.  Each returns what the window's timer is to be set to, and leaves in probe_ran what the
 * window's clock is to show. */
uint64_t probe_record_exact(struct probe_words *w, uint64_t tsc);
uint64_t probe_settle_exact(uint64_t tsc);
uint64_t probe_program_exact(struct program_words *w, uint64_t tsc);
uint64_t probe_program_settle_exact(struct program_words *w, uint64_t tsc);
void probe_program_entry(void);
void probe_program_settle(void);
void probe_program_blank(void);

/* weft.ld: from a stub to its copy. */
extern const char probe_copies_offset[];
/* lockstep.S: the instructions of an NMI that does nothing because of RIP. */
extern const char lockstep_nmi_in_probe[];

/* The instructions before the RDTSC: in probe_record from the point on, in probe_settle from the
 * CALL on. */
#define BEFORE_RECORD 11
#define BEFORE_SETTLE 7
/* The same for the point of a program, and for the INT in a copy. */
#define BEFORE_PROGRAM 20
#define BEFORE_PROGRAM_SETTLE 11
/* PROBE_END: the instructions after the store that sets the timer, up to the RET, less one: as in
 * window_begin (timing/lockstep.S), the timer ends at count + 1. */
#define AFTER_STORE 15
/* The same up to the IRETQ. */
#define AFTER_STORE_PROGRAM 17
/* The jump back. */
#define JUMP 1
/* The POPFQ of probe_settle. */
#define POPF 1
/* Five bytes hold no more instructions. */
#define PROBE_DISPLACED 5

/*
 * How many instructions the current window had executed, `before` instructions before tsc was read.
 *
 * If the NMI of the window's end has been ignored meanwhile, its instructions are in the difference.
 * It came after the point, so less than `before` instructions of the window were left.  Without it
 * the difference is below the length of the window.
 */
static uint64_t probed_window_ran(struct cpu *c, uint64_t tsc, uint64_t before)
{
	uint64_t ran = tsc - before - c->timerec->ws;

	if (ran >= ls[c->id].len)
		ran -= (uint64_t)lockstep_nmi_in_probe;
	return ran;
}

/* `uncounted`: instructions from the RET on that are not to count. */
static uint64_t window_goes_on(struct cpu *c, uint64_t ran, uint64_t uncounted)
{
	c->probe_ran = ran - uncounted;
	return ls[c->id].len - ran + AFTER_STORE + uncounted;
}

static void record_write(struct cpu *c, uint64_t ran, uint32_t point, const uint64_t value[3])
{
	struct probe_ring *r = c->probe_ring;
	uint64_t n = __atomic_fetch_add(&r->head, 1, __ATOMIC_RELAXED);
	struct probe_entry *e = &r->entry[n & r->mask];

	debug_assert(!irq_enabled());
	__atomic_thread_fence(__ATOMIC_RELEASE);
	e->time = c->timerec->vbase + tsc_ns(ran, c->timerec->mult);
	e->point = point;
	memcpy(e->value, value, sizeof(e->value));
	__atomic_store_n(&e->seq, n + 1, __ATOMIC_RELEASE);
}

uint64_t probe_record_exact(struct probe_words *w, uint64_t tsc)
{
	struct cpu *c = this_cpu();
	uint64_t ran = probed_window_ran(c, tsc, BEFORE_RECORD);

	record_write(c, ran, w->point, w->value);
	if (ls[c->id].len - ran >= PROBE_DISPLACED)
		return window_goes_on(c, ran, JUMP);
	w->back += (uint64_t)probe_copies_offset;
	return window_goes_on(c, ran, 0);
}

uint64_t probe_settle_exact(uint64_t tsc)
{
	struct cpu *c = this_cpu();

	return window_goes_on(c, probed_window_ran(c, tsc, BEFORE_SETTLE), POPF + JUMP);
}

uint64_t probe_program_exact(struct program_words *w, uint64_t tsc)
{
	struct cpu *c = this_cpu();
	uint64_t ran = probed_window_ran(c, tsc, BEFORE_PROGRAM);

	record_write(c, ran, w->rip, w->value);
	w->rip += PROBE_COPIES - PROBE_USER - 2;
	c->probe_ran = ran;
	return ls[c->id].len - ran + AFTER_STORE_PROGRAM;
}

/* Behind the INT of a copy stands the address where the program goes on. */
uint64_t probe_program_settle_exact(struct program_words *w, uint64_t tsc)
{
	struct cpu *c = this_cpu();
	uint64_t ran = probed_window_ran(c, tsc, BEFORE_PROGRAM_SETTLE);

	w->rip = *(const uint64_t *)w->rip;
	c->probe_ran = ran;
	return ls[c->id].len - ran + AFTER_STORE_PROGRAM;
}

bool probe_is_stub(uint64_t rip)
{
	return rip - PROBE_USER < 3 * PROBE_SLOTS && this_cpu()->probe_ring != NULL;
}

bool probe_fault(struct trapframe *f)
{
	const struct program_words *w = (void *)this_cpu()->tss.rsp[0];

	if (f->rip - PROBE_KERNEL >= PROBE_SLOTS)
		return false;
	f->rsp = (uint64_t)(w - 1) + sizeof(w->value);
	f->rip = (uint64_t)probe_program_blank;
	return true;
}

static void programs_init(void)
{
	cpu_set_user_entry(VEC_PROBE, probe_program_entry);
	cpu_set_user_entry(VEC_PROBE_SETTLE, probe_program_settle);
}

void probe_init(void)
{
	paddr_t base = boot_option_num("probe-memory", 0) << 20;
	uint64_t records = boot_option_num("probe-records", 0);

	if (base == 0)
		return;
	if (records == 0 || (records & (records - 1)) != 0)
		panic("probe-records=%llu is no power of two", (unsigned long long)records);
	uint64_t size =
		PAGE_ROUND_UP(sizeof(struct probe_ring) + records * sizeof(struct probe_entry));
	if (size > (PROBE_MEMORY_MAX - PROBE_CODE) / ncpu)
		panic("probe-records=%llu: too many", (unsigned long long)records);
	mm_map_probe_memory(base);
	programs_init();
	for (unsigned i = 0; i < ncpu; i++) {
		struct probe_ring *r = phys_to_virt(base + PROBE_CODE + i * size);
		r->head = 0;
		r->mask = records - 1;
		cpus[i]->probe_ring = r;
	}
	for (unsigned i = 0; i < ncpu; i++)
		PROBE(lwp_idle, "lwp cpu", cpus[i]->idle, i, 0);
}
