/*
 * spinlock.h - the kernel's spin lock.
 *
 * A spin lock is held with interrupts off, so that an interrupt handler may
 * acquire it too.  Its holder never sleeps, never touches user memory and never
 * waits for another CPU's interrupt handler (a TLB shoot-down, for one): that
 * CPU may be spinning for this lock with interrupts off.
 *
 * Memory ordering: acquiring the lock is an acquire, releasing it a release.  A holder sees all
 * that the previous holder wrote.
 *
 * In exact timing on several CPUs the acquirer's virtual clock may lag behind the release
 * that it saw; `released` lets it catch up (timing->advance).
 *
 * kernel/README.md has the order in which locks nest.  With DEBUG=1 each
 * CPU keeps the stack of locks that it holds; an order that contradicts an earlier
 * order is a panic.
 */
#pragma once
#include "cpu.h"
#include "types.h"

struct spinlock {
	uint32_t holder;   /* atomic: CPU + 1, or 0: free */
	uint32_t waiters;  /* atomic: CPUs in timing->spin for it (exact timing) */
	uint64_t released; /* time of the last release (exact timing) */
	const char *name;
#ifdef WEFT_DEBUG
	bool by_address;
#endif
};

#define SPINLOCK_INIT(n)                                                                           \
	{                                                                                          \
		.name = (n)                                                                        \
	}

typedef uint64_t irqstate_t; /* RFLAGS as they were */

static inline void irq_off(void)
{
	__asm__ volatile("cli" ::: "memory");
}
static inline void irq_on(void)
{
	__asm__ volatile("sti" ::: "memory");
}
static inline irqstate_t irq_save(void)
{
	irqstate_t s;
	__asm__ volatile("pushfq; popq %0; cli" : "=r"(s)::"memory");
	return s;
}
static inline void irq_restore(irqstate_t s)
{
	if (s & 0x200)
		irq_on();
}
static inline bool irq_enabled(void)
{
	uint64_t s;
	__asm__ volatile("pushfq; popq %0" : "=r"(s));
	return s & 0x200;
}

void spin_init(struct spinlock *l, const char *name);
/* After spin_init: several locks of this kind may be held, in the order of their addresses. */
static inline void spin_by_address(struct spinlock *l)
{
#ifdef WEFT_DEBUG
	l->by_address = true;
#endif
}

/*
 * Spin locks are plain as long as acquiring and releasing is all the work: their order is not
 * checked, and no CPU asks for the time of a release.  An acquirer learns from one comparison that
 * a lock is free and that locks are plain.  It compares the holder with cpu->nobody: that is 0, or,
 * when locks are not plain, SPIN_NEVER, which no lock has.
 */
extern bool spin_plain;
#define SPIN_NEVER 0xffffffffu /* no holder */
/* From now on locks are not plain. */
void spin_end_plain(void);
void spin_acquire_slowly(struct spinlock *l);
void spin_release_slowly(struct spinlock *l);

/* Acquires l if one instruction can do it.  If not, spin_acquire may still succeed. */
static inline bool spin_try_plain(struct spinlock *l)
{
	uint32_t nobody = cpu_here->nobody;

	if (!__atomic_compare_exchange_n(&l->holder, &nobody, cpu_here->holds, false,
					 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return false;
	cpu_here->nlocks++;
	return true;
}
/* Acquires l; interrupts must be off already and stay off. */
static inline void spin_acquire(struct spinlock *l)
{
	if (__builtin_expect(!spin_try_plain(l), 0))
		spin_acquire_slowly(l);
}
/* Releases l; interrupts stay off. */
static inline void spin_release(struct spinlock *l)
{
	if (__builtin_expect(spin_plain, 1)) {
		cpu_here->nlocks--;
		__atomic_store_n(&l->holder, 0, __ATOMIC_RELEASE);
	} else {
		spin_release_slowly(l);
	}
}
/* Acquires l if it is free; interrupts must be off. */
bool spin_try(struct spinlock *l);
/* Does this CPU hold l? */
static inline bool spin_held(const struct spinlock *l)
{
	return __atomic_load_n(&l->holder, __ATOMIC_RELAXED) == cpu_here->holds;
}

/* Turns interrupts off and acquires l; the result goes to spin_unlock. */
static inline irqstate_t spin_lock(struct spinlock *l)
{
	irqstate_t s = irq_save();
	spin_acquire(l);
	return s;
}
static inline void spin_unlock(struct spinlock *l, irqstate_t s)
{
	spin_release(l);
	irq_restore(s);
}
