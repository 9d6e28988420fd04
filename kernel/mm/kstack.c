/*
 * kstack.c - kernel stacks.
 *
 * The region KSTACKS is divided into slots of twice a stack's size.  The stack is
 * the upper half.  The lower half is never mapped, and its page next to the stack
 * catches an overflow.
 *
 * A slot has one of four states:
 *
 *	fresh	above next_slot: never used
 *	in use
 *	free	mapped, on a list through the top word of the stack itself
 *	bare	its memory was freed
 *
 * Free stacks are kept for the next LWP: a few on each CPU, the others on one
 * list.  What is beyond that, kstack_trim makes bare.  A CPU may remember the
 * translations of a slot that is made bare, so all CPUs flush before the memory is
 * freed.  A fresh or bare slot can then be mapped without telling the other CPUs,
 * because no CPU remembers that something is not mapped.
 *
 * While a slot is bare, the entry of its lowest page is not present, and holds the next
 * bare slot's number in its address bits.
 *
 * Locks: stacks.lock, then the lock of the kernel's page tables.  The CPU's own few
 * stacks need only interrupts off.
 */
#include <kern/cpu.h>
#include <kern/kstack.h>
#include <kern/layout.h>
#include <kern/page.h>
#include <kern/printk.h>
#include <kern/sched.h>
#include "impl.h"

#define SLOT_SIZE (2 * KSTACK_SIZE)
#define MAX_SLOTS (PT_SPAN(4) / SLOT_SIZE) /* one top-level entry: 512 GiB of addresses */
#define STACK_PAGES (KSTACK_SIZE / PAGE_SIZE)
#define NONE (-1ll)
#define TRIM_PIECE 64 /* stacks that become bare at a time */

_Static_assert(PT_SPAN(2) % SLOT_SIZE == 0, "a slot lies in one page table");

static struct {
	struct spinlock lock;
	uint64_t next_slot; /* also read without the lock, by kstack_is_guard */
	int64_t bare;       /* first bare slot, or NONE */
	void *free;         /* top of the first free stack, or NULL */
	unsigned nfree;
} stacks = {.lock = SPINLOCK_INIT("kernel stacks"), .bare = NONE};

#define CPU_STACKS 8

/* Accessed with interrupts off, and only by its CPU. */
static struct {
	unsigned n;
	void *top[CPU_STACKS];
} CACHE_ALIGNED percpu[WEFT_MAXCPU];

/* The word of a free stack that links it to the next. */
static inline void **link_of(void *top)
{
	return (void **)top - 1;
}

static inline uint64_t slot_bottom(uint64_t slot)
{
	return KSTACKS + slot * SLOT_SIZE + SLOT_SIZE - KSTACK_SIZE;
}

/* --- making and unmaking ------------------------------------------------------------- */

static int64_t bare_next(uint64_t slot)
{
	return (int64_t)(*kernel_pte(slot_bottom(slot)) >> PAGE_SHIFT) - 1;
}

/* stacks.lock held. */
static void push_bare(uint64_t slot)
{
	*kernel_pte(slot_bottom(slot)) = (uint64_t)(stacks.bare + 1) << PAGE_SHIFT;
	stacks.bare = slot;
}

/* A slot without memory, or NONE. */
static int64_t take_slot(void)
{
	irqstate_t s = spin_lock(&stacks.lock);
	int64_t slot = stacks.bare;
	if (slot != NONE)
		stacks.bare = bare_next(slot);
	else if (stacks.next_slot < MAX_SLOTS)
		slot = stacks.next_slot++;
	spin_unlock(&stacks.lock, s);
	return slot;
}

static void *make_stack(void)
{
	int64_t slot = take_slot();
	if (slot == NONE)
		return NULL;
	uint64_t bottom = slot_bottom(slot);
	uint64_t *first = kernel_pte(bottom);
	paddr_t page[STACK_PAGES];
	unsigned n = 0;

	/* The entries of a slot lie in one table: no stack crosses a table's end. */
	if (first != NULL)
		while (n < STACK_PAGES && (page[n] = page_alloc(PG_USER)) != 0)
			n++;
	if (n < STACK_PAGES) {
		while (n > 0)
			page_free(page[--n]);
		irqstate_t s = spin_lock(&stacks.lock);
		if (first != NULL)
			push_bare(slot);
		else if ((uint64_t)slot == stacks.next_slot - 1)
			stacks.next_slot--; /* else its addresses are lost */
		spin_unlock(&stacks.lock, s);
		return NULL;
	}
	for (unsigned i = 0; i < STACK_PAGES; i++)
		__atomic_store_n(&first[i],
				 page[i] | PTE_P | PTE_W | PTE_NX | PTE_G | PTE_A | PTE_D,
				 __ATOMIC_RELEASE);
	return (void *)(bottom + KSTACK_SIZE);
}

/* Takes at most TRIM_PIECE free stacks beyond the first `keep` off the list: a chain, or NULL. */
static void *take_surplus(unsigned keep)
{
	irqstate_t s = spin_lock(&stacks.lock);
	void *chain = NULL;
	unsigned n = stacks.nfree > keep ? MIN(stacks.nfree - keep, TRIM_PIECE) : 0;
	if (n > 0) {
		chain = stacks.free;
		void **at = &stacks.free;
		for (unsigned i = 0; i < n; i++)
			at = link_of(*at);
		stacks.free = *at;
		*at = NULL;
		stacks.nfree -= n;
	}
	spin_unlock(&stacks.lock, s);
	return chain;
}

static void make_bare(void *chain)
{
	/* First the stacks become unreachable for every CPU, then their memory is freed.  The
	 * link is read through the direct map, because the stack is no longer mapped. */
	for (void *top = chain, *next; top != NULL; top = next) {
		next = *link_of(top);
		uint64_t *e = kernel_pte((uint64_t)top - KSTACK_SIZE);
		for (unsigned i = 0; i < STACK_PAGES; i++)
			__atomic_fetch_and(&e[i], ~PTE_P, __ATOMIC_RELAXED);
		preempt_point();
	}
	tlb_flush_kernel();
	for (void *top = chain, *next; top != NULL; top = next) {
		uint64_t bottom = (uint64_t)top - KSTACK_SIZE;
		uint64_t *e = kernel_pte(bottom);
		char *last = phys_to_virt(e[STACK_PAGES - 1] & PTE_ADDR);
		next = *link_of(last + PAGE_SIZE);
		for (unsigned i = 0; i < STACK_PAGES; i++)
			page_free(e[i] & PTE_ADDR);
		memset(e, 0, STACK_PAGES * sizeof(*e));
		irqstate_t s = spin_lock(&stacks.lock);
		push_bare((bottom - KSTACKS) / SLOT_SIZE);
		spin_unlock(&stacks.lock, s);
		preempt_point();
	}
}

void kstack_trim(unsigned keep)
{
	void *chain;

	/*
	 * *Race:* this LWP gives up the CPU, and another LWP runs out of memory; *without this:*
	 * all free stacks are on this LWP's chain, and the other LWP is told that there is no
	 * memory; *closed by:* the pieces: the chain has at most TRIM_PIECE stacks, and the rest is
	 * on the list.
	 */
	while ((chain = take_surplus(keep)) != NULL) {
		make_bare(chain);
		preempt_point();
	}
}

/* --- the interface ------------------------------------------------------------------- */

void *kstack_alloc(void)
{
	irqstate_t s = irq_save();
	unsigned cpu = this_cpu()->id;
	void *top = NULL;

	if (percpu[cpu].n == 0) {
		spin_acquire(&stacks.lock);
		while (stacks.free != NULL && percpu[cpu].n < CPU_STACKS / 2) {
			percpu[cpu].top[percpu[cpu].n++] = stacks.free;
			stacks.free = *link_of(stacks.free);
			stacks.nfree--;
		}
		spin_release(&stacks.lock);
	}
	if (percpu[cpu].n > 0)
		top = percpu[cpu].top[--percpu[cpu].n];
	irq_restore(s);
	return top != NULL ? top : make_stack();
}

/* Moves stacks of this CPU's own to the list, until it has `keep`.  Interrupts off. */
static void kstack_give(unsigned keep)
{
	unsigned cpu = this_cpu()->id;

	spin_acquire(&stacks.lock);
	while (percpu[cpu].n > keep) {
		void *t = percpu[cpu].top[--percpu[cpu].n];
		*link_of(t) = stacks.free;
		stacks.free = t;
		stacks.nfree++;
	}
	spin_release(&stacks.lock);
}

void kstack_free(void *top)
{
	irqstate_t s = irq_save();
	unsigned cpu = this_cpu()->id;

	assert(top != NULL && (uint64_t)top % SLOT_SIZE == 0);
	if (percpu[cpu].n == CPU_STACKS)
		kstack_give(CPU_STACKS / 2);
	percpu[cpu].top[percpu[cpu].n++] = top;
	irq_restore(s);
}

void kstack_give_back(void)
{
	irqstate_t s = irq_save();
	kstack_give(0);
	irq_restore(s);
}

uint64_t kstack_holders(void)
{
	uint64_t holders = 0;

	for (unsigned i = 0; i < ncpu; i++)
		if (__atomic_load_n(&percpu[i].n, __ATOMIC_RELAXED) > 0)
			holders |= 1ull << i;
	return holders;
}

uint64_t kstack_kept(void)
{
	irqstate_t s = spin_lock(&stacks.lock);
	uint64_t n = stacks.nfree;
	spin_unlock(&stacks.lock, s);
	for (unsigned i = 0; i < ARRAY_LEN(percpu); i++)
		n += __atomic_load_n(&percpu[i].n, __ATOMIC_RELAXED);
	return n * STACK_PAGES;
}

bool kstack_is_guard(uint64_t addr)
{
	return addr >= KSTACKS && (addr - KSTACKS) / SLOT_SIZE < stacks.next_slot &&
	       addr % SLOT_SIZE < SLOT_SIZE - KSTACK_SIZE;
}
