/*
 * start.c - what the dispatcher needs of a CPU before the CPU runs its first LWP: a dispatch queue,
 * timers, and the idle LWP.
 */
#include "disp.h"
#include <kern/kstack.h>
#include <kern/cache.h>

/* Atomic: several CPUs may start at once. */
void sched_open_first(struct cpu *c)
{
	c->active_set = 0;
	__atomic_fetch_or(&psets[0].cpus, 1ull << c->id, __ATOMIC_SEQ_CST);
	__atomic_fetch_or(&psets[0].open, 1ull << c->id, __ATOMIC_SEQ_CST);
}

/*
 * No two CPUs have slices of one length.
 *
 * *Race:* a CPU takes the only waiting LWP to its queue, another CPU looks for an LWP at the end of
 * its slice; *without this:* if both slices end together once, they end together each time, and the
 * LWP of the second CPU never shares this CPU; *closed by:* the ends come apart.
 *
 * The six bits of the CPU's number are taken in reverse order, so that the slices of few CPUs differ
 * much: those of four CPUs by 16 parts of 4,096 at least, which is 4 us of 1 ms.
 */
static uint32_t cpu_slice_less(const struct cpu *c)
{
	uint32_t less = 0;

	for (unsigned bit = 0; bit < 6; bit++)
		less |= (c->id >> bit & 1) << (5 - bit);
	return less;
}

void sched_init_cpu(struct cpu *c)
{
	struct dispq *q = kzalloc(sizeof(*q));
	struct lwp *idle = kzalloc(sizeof(*idle));
	if (q == NULL || idle == NULL)
		panic("no memory for CPU %u", c->id);
	spin_init(&q->lock, "dispatch queue");
	for (unsigned i = 0; i < NPRI; i++) {
		list_init(&q->free.list[i]);
		list_init(&q->tied.list[i]);
	}
	q->free.best = q->tied.best = PRI_IDLE;
	q->slice_end = HRTIME_NEVER;
	spin_init(&idle->lock, "lwp");
	idle->sclass = &sys_class;
	idle->pri = PRI_IDLE;
	idle->state = LWP_ST_ONPROC;
	idle->cpu = c->id;
	idle->bound = c->id;
	idle->syscall = ~0u;
	list_init(&idle->runlink);
	idle->kstack = kstack_alloc();
	if (idle->kstack == NULL)
		panic("no stack for CPU %u", c->id);
	c->slice_less = cpu_slice_less(c);
	c->dispq = q;
	c->idle = c->lwp = idle;
	timerq_init(c);
}

void sched_init(void)
{
	sched_init_cpu(cpus[0]);
	sched_open_first(cpus[0]);
}
