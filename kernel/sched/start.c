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
	c->dispq = q;
	c->idle = c->lwp = idle;
	timerq_init(c);
}

void sched_init(void)
{
	sched_init_cpu(cpus[0]);
	sched_open_first(cpus[0]);
}
