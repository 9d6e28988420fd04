/*
 * reclaim.c - memory is short: frees what the caches of objects and of stacks hold.
 *
 * A CPU's magazines (cache.c) and its own free stacks (kstack.c) have no lock, so only that CPU can give
 * them back.  mm_reclaim asks each CPU that has any, by an interrupt, and waits.  Without this, "no
 * memory" would depend on the CPU that the caller runs on: it would be refused on one CPU, and served on
 * another.
 *
 * Memory ordering: the CPU publishes in `done` the highest request that it has seen (release), after
 * its magazines are in the depots, and its stacks on the list.  The asker waits until `done` has reached
 * its own request (acquire), with interrupts on, so that two CPUs which ask each other both answer.
 */
#include <kern/cpu.h>
#include <kern/page.h>
#include <kern/printk.h>
#include <kern/timing.h>
#include <kern/trap.h>
#include "impl.h"

static struct reclaim_cpu {
	uint64_t requested;          /* atomic */
	uint64_t done CACHE_ALIGNED; /* the CPU itself writes it */
} CACHE_ALIGNED reclaim_cpus[WEFT_MAXCPU];

void reclaim_interrupt(void)
{
	struct reclaim_cpu *r = &reclaim_cpus[this_cpu()->id];
	uint64_t number = __atomic_load_n(&r->requested, __ATOMIC_ACQUIRE);

	cache_give_back();
	kstack_give_back();
	__atomic_store_n(&r->done, number, __ATOMIC_RELEASE);
}

/* Interrupts on, and no spin lock held. */
static void reclaim_from_cpus(void)
{
	uint64_t number[WEFT_MAXCPU];
	/* mm_reclaim does what this CPU's interrupt would do. */
	uint64_t mask = (cache_holders() | kstack_holders()) & ~(1ull << this_cpu()->id);

	assert(irq_enabled() && this_cpu()->nlocks == 0);
	for (uint64_t left = mask; left != 0; left &= left - 1) {
		unsigned id = __builtin_ctzll(left);
		number[id] = __atomic_add_fetch(&reclaim_cpus[id].requested, 1, __ATOMIC_ACQ_REL);
		timing->ipi(cpus[id], VEC_RECLAIM);
	}
	for (uint64_t left = mask; left != 0; left &= left - 1) {
		unsigned id = __builtin_ctzll(left);
		while (__atomic_load_n(&reclaim_cpus[id].done, __ATOMIC_ACQUIRE) < number[id])
			cpu_pause();
	}
}

void mm_reclaim(void)
{
	bool wait = irq_enabled() && this_cpu()->nlocks == 0;

	if (wait)
		reclaim_from_cpus();
	cache_reap();
	kstack_give_back();
	if (wait) {
		kstack_trim(0);
		cache_trim_stable(0, 0);
	}
}

bool mm_spare(unsigned flags)
{
	if (page_spare(flags))
		return true;
	mm_reclaim();
	return page_spare(flags);
}

bool mm_reserve(uint64_t npages)
{
	if (npages == 0 || page_reserve(npages))
		return true;
	mm_reclaim();
	return page_reserve(npages);
}
