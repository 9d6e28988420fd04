/*
 * ilock.c - the slow side of the library's own lock, and of preemption control.
 *
 * A waiter spins for as long as a holder that is on a CPU may need.  Then the waiter yields its
 * CPU, because the holder may be waiting for this CPU.  While it yields, it does not hold the CPU
 * by preemption control.  A yield lets in only LWPs of at least the caller's priority.  So the
 * waiter sleeps for a tick from time to time, because the holder may have a lower priority.  (With
 * schedctl=on a holder is hardly ever off its CPU.)
 */
#include "ilock.h"
#include "model.h"
#include "sleepq.h"

#define SPINS 200         /* some 1,000 instructions; holds are shorter */
#define YIELDS_A_SLEEP 50 /* some 5,000 instructions */
#define PATIENCE 20       /* in model sa a waiter sleeps so many times later */

void __backoff(unsigned *turns)
{
	const struct weft_timespec tick = {.nsec = WEFT_TICK_NS};

	if (++*turns % YIELDS_A_SLEEP == 0)
		__sys_lwp_sleep(WEFT_CLOCK_MONOTONIC, 0, &tick);
	else
		__sys_lwp_yield();
}

bool __ilock_take(struct ilock *l)
{
	return l->held == 0 && ilock_try(l);
}

/*
 * How often the locks of each hash value have been acquired after a wait.  While the number for a lock changes, its holders
 * run, and a waiter need not sleep for their sake.  If it slept a tick because many want the lock, its CPU would have no
 * thread for 10 ms.  Only in model sa: elsewhere there may be more LWPs than CPUs, which need a waiter's CPU.  In sa a
 * waiter also has PATIENCE: its holder is off its CPU only for a page fault, or if another process has the CPU.  Not so with
 * schedctl=off: a holder of a lower priority would wait for this waiter, and each upcall that comes meanwhile enters the handler
 * on top of the last one.
 */
#define WAITED_BITS 6
static uint32_t waited[1 << WAITED_BITS]; /* atomic */

static inline uint32_t *waited_of(const struct ilock *l)
{
	return &waited[(uint32_t)(uintptr_t)l * 0x9e3779b1u >> (32 - WAITED_BITS)];
}

/*
 * Has the lock been acquired by others?  A lock may also have a number in its other bits that each release changes
 * (model/mxn/mxn.h): then the waiter does not even yield.
 */
static inline bool others_acquire(uint32_t seen, uint32_t now)
{
	return __options.waiting == WAITING_ACTIVATION && ((now ^ seen) & ~ILOCK_HELD) != 0;
}

unsigned __ilock_wait(struct ilock *l, bool (*take)(struct ilock *l))
{
	uint32_t *count = waited_of(l), counted = __atomic_load_n(count, __ATOMIC_RELAXED);
	uint32_t seen = l->held, now;
	unsigned turns = 0, in_vain = 0; /* yields; and those since the lock was last acquired */

	for (;;) {
		for (int i = __ncpu > 1 ? SPINS : 1; i > 0; i--) {
			if (take(l)) {
				__atomic_add_fetch(count, 1, __ATOMIC_RELAXED);
				return turns;
			}
			spin_hint();
		}
		now = l->held;
		critical_exit();
		if (others_acquire(seen, now)) {
			in_vain = 0;
		} else {
			bool activation = __options.waiting == WAITING_ACTIVATION;
			bool patient = activation && __options.schedctl;

			if (activation && counted != __atomic_load_n(count, __ATOMIC_RELAXED))
				in_vain = 0;
			if (!patient || turns % PATIENCE == 0)
				__backoff(&in_vain);
			else
				__sys_lwp_yield();
			turns++;
		}
		seen = now;
		counted = __atomic_load_n(count, __ATOMIC_RELAXED);
		critical_enter();
	}
}

struct ilock *__scheduler_lock;

/* ilock_lock has found l held, and is in the critical section of l. */
void __ilock_contended(struct ilock *l)
{
	if (l == __one_lock || l == __scheduler_lock)
		__ops->one_lock_wait(l);
	else
		__ilock_wait(l, __ilock_take);
}

/*
 * The caller has left the outermost section, an inner section, or a timed section.  If the kernel
 * wanted the CPU and waited, the kernel gets the CPU now: lwp_yield clears `yield`.
 */
long __critical_left(void)
{
	struct section *c = this_section();

	if (c->nopreempt >= SECTION_TIMED) {
		__ops->timed_hold_over();
		c->nopreempt -= SECTION_TIMED;
	}
	if (c->nopreempt == 0 && c->yield)
		__sys_lwp_yield();
	return 0;
}

/* The kernel calls the scheduler at once, or at the end of a critical section.  If it comes before, a look too many does no harm. */
void __look_owed(void)
{
	struct thread *self = thread_self();

	if (self->no_suspend != LOOK_OWED)
		return;
	self->no_suspend = 0;
	__sys_lwp_preempt(self->lwp->id);
}
