/*
 * spinlock.c - the spin lock, and in DEBUG builds the check of the lock order.
 *
 * This file has the steps that spin_plain leaves out, and the waiting.
 *
 * A waiter spins on ordinary loads and tries the exchange only when it has seen
 * the lock free, so that waiting does not steal the holder's cache line.
 *
 * The check groups locks into classes by their name.  When a CPU acquires a lock while it holds
 * others, "held before acquired" becomes an edge of a graph over the classes.  An edge that closes
 * a cycle is an order that can deadlock.  The kernel panics, even if it does not deadlock this
 * time.
 *
 * The kernel also panics when a CPU acquires two locks of one class.  The exception is the order of
 * addresses, for locks that allow it.  A lock acquired by spin_try adds no edge, because spin_try
 * does not wait.
 */
#include <kern/cpu.h>
#include <kern/printk.h>
#include <kern/spinlock.h>
#include <kern/timing.h>

#ifdef WEFT_DEBUG
bool spin_plain = false;

#define MAX_CLASSES 64
#define MAX_HELD 80                 /* kobj_wait takes up to 64 */
#define SPIN_TIMEOUT 60000000000ull /* counts of the TSC: tens of seconds */

static const char *class_name[MAX_CLASSES];
static unsigned nclasses;
static uint32_t class_lock;
/* Bit b of after[a]: a CPU acquired a lock of class b while it held a lock of class a. */
static uint64_t after[MAX_CLASSES];

static struct held {
	const struct spinlock *lock[MAX_HELD];
	uint8_t class[MAX_HELD];
	unsigned n;
} held[WEFT_MAXCPU];

static int find_class(const char *name, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (class_name[i] == name || strcmp(class_name[i], name) == 0)
			return i;
	return -1;
}

static unsigned lock_class_of(const struct spinlock *l)
{
	if (l->name == NULL)
		panic("spin lock %p has no name: not initialised", (void *)l);
	/* Classes are added and never removed, and the count changes last. */
	int found = find_class(l->name, __atomic_load_n(&nclasses, __ATOMIC_ACQUIRE));
	if (found >= 0)
		return found;
	while (__atomic_exchange_n(&class_lock, 1, __ATOMIC_ACQUIRE))
		cpu_pause();
	found = find_class(l->name, nclasses);
	if (found < 0) {
		if (nclasses == MAX_CLASSES)
			panic("too many classes of locks");
		found = nclasses;
		class_name[found] = l->name;
		__atomic_store_n(&nclasses, found + 1, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&class_lock, 0, __ATOMIC_RELEASE);
	return found;
}

/* All classes that were ever acquired, directly or not, while `from` was held. */
static uint64_t lock_class_reachable(unsigned from)
{
	uint64_t seen = 0, todo = 1ull << from;
	while (todo != 0) {
		unsigned i = __builtin_ctzll(todo);
		seen |= 1ull << i;
		todo |= __atomic_load_n(&after[i], __ATOMIC_ACQUIRE);
		todo &= ~seen;
	}
	return seen;
}

static void check_order(const struct spinlock *l)
{
	struct held *h = &held[this_cpu()->id];
	unsigned class = lock_class_of(l);
	for (unsigned i = 0; i < h->n; i++) {
		unsigned outer = h->class[i];
		if (h->lock[i] == l)
			panic("lock %s is taken twice", l->name);
		if (outer == class && l->by_address && h->lock[i] < l)
			continue;
		if (outer == class)
			panic("two locks of one kind at a time: %s", l->name);
		if (__atomic_load_n(&after[outer], __ATOMIC_ACQUIRE) & 1ull << class)
			continue;
		if (lock_class_reachable(class) & 1ull << outer)
			panic("lock order: %s is taken while %s is held, and elsewhere the "
			      "other way round",
			      l->name, class_name[outer]);
		__atomic_fetch_or(&after[outer], 1ull << class, __ATOMIC_RELEASE);
	}
}

static void push_held(const struct spinlock *l)
{
	struct held *h = &held[this_cpu()->id];
	if (h->n == MAX_HELD)
		panic("a CPU holds more than %d spin locks", MAX_HELD);
	h->lock[h->n] = l;
	h->class[h->n++] = lock_class_of(l);
}

static void pop_held(const struct spinlock *l)
{
	struct held *h = &held[this_cpu()->id];
	for (unsigned i = h->n; i-- > 0;)
		if (h->lock[i] == l) {
			for (h->n--; i < h->n; i++) {
				h->lock[i] = h->lock[i + 1];
				h->class[i] = h->class[i + 1];
			}
			return;
		}
	panic("lock %s is given up by a CPU that does not hold it", l->name);
}

static inline uint64_t spin_begin(void)
{
	return rdtsc();
}
static inline void spin_check(const struct spinlock *l, uint64_t begin)
{
	if (rdtsc() - begin > SPIN_TIMEOUT)
		panic("lock %s: held too long, by CPU %d", l->name, (int)l->holder - 1);
}

#else
bool spin_plain = true;

static inline void check_order(const struct spinlock *l)
{
}
static inline void push_held(const struct spinlock *l)
{
}
static inline void pop_held(const struct spinlock *l)
{
}
static inline uint64_t spin_begin(void)
{
	return 0;
}
static inline void spin_check(const struct spinlock *l, uint64_t begin)
{
}

#endif

void spin_end_plain(void)
{
	spin_plain = false;
	for (unsigned i = 0; i < ncpu; i++)
		cpus[i]->nobody = SPIN_NEVER;
}

void spin_init(struct spinlock *l, const char *name)
{
	*l = (struct spinlock)SPINLOCK_INIT(name);
}

/* Acquires l if it is free. */
static bool spinlock_take(struct spinlock *l)
{
	uint32_t nobody = 0;

	if (!__atomic_compare_exchange_n(&l->holder, &nobody, cpu_here->holds, false,
					 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return false;
	cpu_here->nlocks++;
	push_held(l);
	/* In exact timing the time of the release may be later than this CPU's clock.  Then it is
	 * also later than the clock at the start of the window. */
	if (l->released > cpu_here->timerec->begin)
		timing->advance(l->released);
	return true;
}

void spin_acquire_slowly(struct spinlock *l)
{
	debug_assert(!irq_enabled());
	check_order(l);
	if (spinlock_take(l))
		return;
	uint64_t begin = spin_begin();
	do {
		while (__atomic_load_n(&l->holder, __ATOMIC_RELAXED) != 0) {
			spin_check(l, begin);
			timing->spin(l);
		}
	} while (!spinlock_take(l));
}

bool spin_try(struct spinlock *l)
{
	debug_assert(!irq_enabled());
	return __atomic_load_n(&l->holder, __ATOMIC_RELAXED) == 0 && spinlock_take(l);
}

void spin_release_slowly(struct spinlock *l)
{
	debug_assert(spin_held(l));
	pop_held(l);
	if (timing->advance != NULL)
		l->released = time_now();
	cpu_here->nlocks--;
	bool waiters = l->waiters != 0;
	__atomic_store_n(&l->holder, 0, __ATOMIC_RELEASE); /* from here on l may be freed */
	if (waiters)
		timing->hand_over(l);
}
