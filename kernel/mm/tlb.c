/*
 * tlb.c - which CPU holds translations of which address space, and how a CPU is made
 * to forget them.
 *
 * as->cpus has a bit for every CPU that has the address space in CR3.  Loading CR3
 * forgets the translations of the previous address space.  So a CPU without its bit holds
 * none, and a CPU that loads the address space later starts without any: only the CPUs with a
 * bit are asked.  An idle CPU keeps the last address space in CR3, because it will most likely
 * go back to it.  When an idle CPU is asked to forget something, it drops the whole address
 * space instead, and is not asked again.
 *
 * Memory ordering.
 *
 *	as_switch		tlb_shootdown (after its page-table stores)
 *	set the bit		fence
 *	load CR3, walk tables	look at the bits
 *
 * Setting the bit is a locked instruction and so a full fence: if the asker does
 * not see the bit, the CPU's walks see the new tables.  A bit is cleared only after
 * CR3 has another address space: an asker that no longer sees the bit knows that nothing
 * is left.
 *
 * Requests.  Each CPU has one record of what it still has to forget.  An asker merges its
 * range into the record and takes a number.  Only the first asker sends the
 * interrupt.  The CPU takes the whole record and then publishes the highest number
 * that was in it (release).  The asker waits until the published number has reached its own
 * (acquire), with interrupts on, so that two CPUs which ask each other both answer.  A CPU
 * that has interrupts off answers when it turns them on, which never takes long.
 * Therefore no LWP may ask with interrupts off or a spin lock held.
 *
 * Locks: a CPU's request lock, a leaf, one at a time.
 */
#include <kern/cpu.h>
#include <kern/lwp.h>
#include <kern/printk.h>
#include <kern/proc.h>
#include <kern/space.h>
#include <kern/timing.h>
#include <kern/tlb.h>
#include <kern/trap.h>
#include "impl.h"

/* Beyond this many pages it is cheaper to forget the whole address space. */
#define MAX_INVLPG 32

enum scope { NOTHING, RANGE, SPACE, EVERYTHING };

struct tlb_cpu {
	struct spinlock lock;
	enum scope scope;            /* lock */
	vaddr_t start, end;          /* lock: of scope RANGE */
	uint64_t requested;          /* lock: the last number taken */
	uint64_t done CACHE_ALIGNED; /* requests up to this number are done; the CPU writes it */
} CACHE_ALIGNED;

static struct tlb_cpu tlb_cpus[WEFT_MAXCPU];

void tlb_init_cpu(void)
{
	struct cpu *c = this_cpu();
	spin_init(&tlb_cpus[c->id].lock, "TLB requests");
	c->tlb = &tlb_cpus[c->id];
}

/* --- on the CPU itself; interrupts off ----------------------------------------------- */

static void flush_space(void)
{
	uint64_t cr3;
	__asm__ volatile("movq %%cr3, %0" : "=r"(cr3));
	load_cr3(cr3);
}

/* Flushes global pages too: changing CR4.PGE does that. */
static void flush_everything(void)
{
	uint64_t cr4;
	__asm__ volatile("movq %%cr4, %0" : "=r"(cr4));
	__asm__ volatile("movq %0, %%cr4" ::"r"(cr4 ^ 1u << 7) : "memory");
	__asm__ volatile("movq %0, %%cr4" ::"r"(cr4) : "memory");
}

static void tlb_flush(enum scope scope, vaddr_t start, vaddr_t end)
{
	switch (scope) {
	case NOTHING:
		break;
	case RANGE:
		for (vaddr_t va = start; va < end; va += PAGE_SIZE)
			__asm__ volatile("invlpg (%0)" ::"r"(va) : "memory");
		break;
	case SPACE:
		flush_space();
		break;
	case EVERYTHING:
		flush_everything();
		break;
	}
}

void as_switch(struct address_space *as)
{
	struct cpu *c = this_cpu();
	struct address_space *old = c->as;
	uint64_t bit = 1ull << c->id;

	if (old == as)
		return;
	if (as != NULL)
		__atomic_fetch_or(&as->cpus, bit, __ATOMIC_SEQ_CST);
	load_cr3(as != NULL ? as->pml4 : kernel_pml4);
	c->as = as;
	if (old != NULL)
		__atomic_fetch_and(&old->cpus, ~bit, __ATOMIC_SEQ_CST);
}

void tlb_refresh(void)
{
	const struct address_space *as = this_cpu()->as;

	if (as != NULL && (as->lock.holders < 0 || as->copying.owner != NULL))
		flush_space();
}

void tlb_interrupt(void)
{
	struct cpu *c = this_cpu();
	struct tlb_cpu *t = c->tlb;

	spin_acquire(&t->lock);
	enum scope scope = t->scope;
	vaddr_t start = t->start, end = t->end;
	uint64_t number = t->requested;
	t->scope = NOTHING;
	spin_release(&t->lock);

	if (scope == EVERYTHING)
		flush_everything();
	/* After flush_everything too: the record may also hold the request of a tlb_evict,
	 * which expects this CPU to drop the address space. */
	if (c->as != NULL && curlwp()->proc == NULL)
		as_switch(NULL); /* it was kept only to save a reload */
	else if (c->as != NULL && scope != EVERYTHING)
		tlb_flush(scope, start, end);
	__atomic_store_n(&t->done, number, __ATOMIC_RELEASE);
}

/* --- asking other CPUs --------------------------------------------------------------- */

/* The requests to wait for. */
struct pending {
	uint64_t cpus;
	uint64_t number[WEFT_MAXCPU];
};

static uint64_t ask_one(struct cpu *c, enum scope scope, vaddr_t start, vaddr_t end)
{
	struct tlb_cpu *t = c->tlb;
	irqstate_t s = spin_lock(&t->lock);
	bool first = t->scope == NOTHING;

	if (first) {
		t->start = start;
		t->end = end;
	} else if (scope == RANGE && t->scope == RANGE) {
		t->start = MIN(t->start, start);
		t->end = MAX(t->end, end);
		if (t->end - t->start > MAX_INVLPG * PAGE_SIZE)
			t->scope = SPACE;
	}
	t->scope = MAX(t->scope, scope);
	uint64_t number = ++t->requested;
	spin_unlock(&t->lock, s);
	if (first)
		timing->ipi(c, VEC_TLB);
	return number;
}

static void tlb_ask(struct pending *p, uint64_t mask, enum scope scope, vaddr_t start, vaddr_t end)
{
	p->cpus = mask;
	for (; mask != 0; mask &= mask - 1) {
		unsigned id = __builtin_ctzll(mask);
		p->number[id] = ask_one(cpus[id], scope, start, end);
	}
}

static void tlb_wait(const struct pending *p)
{
	if (p->cpus == 0)
		return;
	assert(irq_enabled() && this_cpu()->nlocks == 0);
	for (uint64_t left = p->cpus; left != 0; left &= left - 1) {
		unsigned id = __builtin_ctzll(left);
		while (__atomic_load_n(&cpus[id]->tlb->done, __ATOMIC_ACQUIRE) < p->number[id])
			cpu_pause();
	}
}

/* Flushes on all CPUs of `as`, including this CPU if it is one of them. */
static void tlb_shootdown_scope(struct address_space *as, enum scope scope, vaddr_t start,
				vaddr_t end)
{
	struct cpu *c = this_cpu();
	struct pending p;

	__atomic_thread_fence(__ATOMIC_SEQ_CST); /* page-table stores before the look at the bits */
	uint64_t mask = __atomic_load_n(&as->cpus, __ATOMIC_SEQ_CST);
	tlb_ask(&p, mask & ~(1ull << c->id), scope, start, end);
	if (c->as == as) {
		irqstate_t s = irq_save();
		tlb_flush(scope, start, end);
		irq_restore(s);
	}
	tlb_wait(&p);
}

void tlb_shootdown(struct address_space *as, vaddr_t start, vaddr_t end)
{
	if (end - start > MAX_INVLPG * PAGE_SIZE)
		tlb_shootdown_scope(as, SPACE, 0, 0);
	else
		tlb_shootdown_scope(as, RANGE, start, end);
}

void tlb_evict(struct address_space *as)
{
	irqstate_t s = irq_save();
	if (this_cpu()->as == as)
		as_switch(NULL);
	irq_restore(s);
	if (__atomic_load_n(&as->cpus, __ATOMIC_SEQ_CST) != 0)
		tlb_shootdown_scope(as, SPACE, 0, 0);
	assert(__atomic_load_n(&as->cpus, __ATOMIC_SEQ_CST) == 0);
}

void tlb_flush_kernel(void)
{
	struct pending p;
	uint64_t mask = 0;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	/* A CPU that is not online yet will load CR3 first. */
	for (unsigned i = 0; i < ncpu; i++)
		if (cpus[i] != this_cpu() && __atomic_load_n(&cpus[i]->online, __ATOMIC_ACQUIRE))
			mask |= 1ull << i;
	tlb_ask(&p, mask, EVERYTHING, 0, 0);
	irqstate_t s = irq_save();
	flush_everything();
	irq_restore(s);
	tlb_wait(&p);
}
