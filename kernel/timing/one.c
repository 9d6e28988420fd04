/*
 * one.c - exact timing's engine of one processor: all virtual CPUs run in turn on one processor of
 * QEMU.
 *
 * The bytes that a program prints are those of the other engine (processors.c).  A window costs the
 * host the same whatever the number of CPUs, because no other processor is woken, and QEMU's record
 * and replay works, which takes a machine of one processor.
 *
 * Where the token changes hands, the processor gives up the state of one CPU and takes that of the
 * next (vcpu_save, vcpu_load).  All memory that belongs to a CPU stays its own: struct cpu, stacks,
 * GDT and TSS.
 *
 * Interrupts.  The processor's LAPIC holds only what is for the CPU that runs.  An interrupt for
 * another CPU waits in that CPU's `irr`, and is sent when its next window begins.  It is taken there
 * at the same instruction as in the other engine, because a waiting CPU has interrupts off in
 * both.  What is still pending when the CPU passes the token on is taken back (vcpu_irr_take).  An
 * interrupt whose handler has not yet acknowledged it is acknowledged then; the handler does it once
 * more, to no effect, because a handler does so before interrupts are on again.
 *
 * Not modelled: a TLB for each CPU.  INVLPG on one CPU is seen by all at once.  The other engine
 * agrees, because no window begins with translations that are being changed (tlb_refresh).
 *
 * No locks: all code here runs on the token's holder, outside of windows, interrupts off.
 */
#include <kern/layout.h>
#include <kern/lwp.h>
#include <kern/printk.h>
#include <kern/sched.h>
#include <kern/timing.h>
#include <kern/trap.h>
#include "../cpu/machine.h"
#include "lockstep.h"

extern volatile uint32_t lockstep_token;
/* lockstep.S: saves the registers that a function preserves, and the stack pointer in *save; goes
 * on where `load` was saved. */
void vcpu_switch(uint64_t *save, uint64_t load);
void vcpu_first(void);
void vcpu_irq_take(void);
extern const char lockstep_send_icr[];

/* What the processor holds for a CPU that runs, while it does not. */
static struct vcpu {
	uint8_t xmm[16][16] __attribute__((aligned(16)));
	uint8_t x87[108];
	uint32_t mxcsr;
	uint64_t rsp, cr2, cr3, fsbase, user_gsbase;
	uint16_t ds, es, fs, gs;
	bool fpu_dead; /* idle: no LWP's FPU state is in the registers */
} vcpus[WEFT_MAXCPU];

/* The vectors of exact timing stand in one word of the LAPIC's registers, and of `irr`. */
#define IRR_WORD (VEC_TIMER / 32)
_Static_assert(VEC_RESCHED / 32 == IRR_WORD && VEC_LAST / 32 == IRR_WORD, "");

/* --- interrupts ------------------------------------------------------------------------------ */

/*
 * Takes back what waits in the LAPIC for c.  c is asked again if its window ended just before the
 * store that sends an interrupt to itself.
 */
static void vcpu_irr_take(struct cpu *c)
{
	const struct lockstep_frame *f = c->frame;

	c->irr_sent = f->rip == (uint64_t)lockstep_send_icr;
	while (lapic_in_service(IRR_WORD) != 0)
		lapic_eoi();
	uint32_t pending = lapic_pending(IRR_WORD);
	if (pending != 0) {
		c->irr[IRR_WORD] |= pending;
		cpu_take_interrupts(vcpu_irq_take);
	}
}

/* Sends c what others have left for it. */
static void vcpu_irr_send(struct cpu *c)
{
	uint32_t pending = c->irr[IRR_WORD];

	c->irr[IRR_WORD] = 0;
	for (; pending != 0; pending &= pending - 1) {
		c->irr_sent = true;
		lapic_ipi(c, 32 * IRR_WORD + __builtin_ctz(pending));
	}
}

/*
 * The FPU's state, in parts.  QEMU executes MOVAPS in line, and FXSAVE by a call for each word: it
 * would be twice as dear, and a tenth of a short window's cost.
 */
#define XMM(op)                                                                                    \
	op(0) op(1) op(2) op(3) op(4) op(5) op(6) op(7) op(8) op(9) op(10) op(11) op(12) op(13)    \
		op(14) op(15)
#define XMM_SAVE(n) "movaps %%xmm" #n ", 16*" #n "(%0)\n\t"
#define XMM_LOAD(n) "movaps 16*" #n "(%0), %%xmm" #n "\n\t"

static void fpu_save(struct vcpu *v)
{
	__asm__ volatile(XMM(XMM_SAVE)::"r"(v->xmm) : "memory");
	__asm__ volatile("stmxcsr %0\n\tfnsave %1" : "=m"(v->mxcsr), "=m"(v->x87));
}

static void fpu_load(const struct vcpu *v)
{
	__asm__ volatile(XMM(XMM_LOAD)::"r"(v->xmm) : "memory");
	__asm__ volatile("ldmxcsr %0\n\tfrstor %1" ::"m"(v->mxcsr), "m"(v->x87));
}

/* --- the state of a CPU -------------------------------------------------------------------- */

static void vcpu_save(struct cpu *c, bool idle)
{
	struct vcpu *v = &vcpus[c->id];

	if (c->irr_sent)
		vcpu_irr_take(c);
	c->lapic = LAPIC_NOBODY;
	__asm__ volatile("movq %%cr2, %0" : "=r"(v->cr2));
	__asm__ volatile("movq %%cr3, %0" : "=r"(v->cr3));
	__asm__ volatile("rdfsbase %0" : "=r"(v->fsbase));
	__asm__ volatile("swapgs; rdgsbase %0; swapgs" : "=r"(v->user_gsbase));
	__asm__ volatile("movw %%ds, %0" : "=r"(v->ds));
	__asm__ volatile("movw %%es, %0" : "=r"(v->es));
	__asm__ volatile("movw %%fs, %0" : "=r"(v->fs));
	__asm__ volatile("movw %%gs, %0" : "=r"(v->gs));
	v->fpu_dead = idle;
	if (!idle)
		fpu_save(v);
}

/* `from`: the CPU whose state the processor holds.  What is the same for both stays. */
static void vcpu_load(struct cpu *c, const struct vcpu *from)
{
	const struct vcpu *v = &vcpus[c->id];

	if (v->ds != from->ds)
		__asm__ volatile("movw %0, %%ds" ::"r"(v->ds));
	if (v->es != from->es)
		__asm__ volatile("movw %0, %%es" ::"r"(v->es));
	if (v->fs != from->fs)
		__asm__ volatile("movw %0, %%fs" ::"r"(v->fs));
	if (v->gs != from->gs)
		__asm__ volatile("movw %0, %%gs" ::"r"(v->gs));
	cpu_take_over(c);
	__asm__ volatile("wrfsbase %0" ::"r"(v->fsbase));
	__asm__ volatile("swapgs; wrgsbase %0; swapgs" ::"r"(v->user_gsbase));
	__asm__ volatile("movq %0, %%cr2" ::"r"(v->cr2));
	if (v->cr3 != from->cr3) /* QEMU then forgets all translations */
		__asm__ volatile("movq %0, %%cr3" ::"r"(v->cr3) : "memory");
	if (!v->fpu_dead)
		fpu_load(v);
	c->lapic = cpus[0]->apic_id;
}

/* --- the engine -------------------------------------------------------------------------------- */

static void one_give(struct cpu *c, struct cpu *next, bool idle)
{
	lockstep_token = next->id;
	vcpu_save(c, idle);
	vcpu_load(next, &vcpus[c->id]);
	vcpu_switch(&vcpus[c->id].rsp, vcpus[next->id].rsp);
}

/* CPU 0 waits in vcpu_start. */
static void one_join(struct cpu *c)
{
	c->parked = 1;
	one_give(c, cpus[0], true);
}

/* What c has sent to itself in its window has gone through the LAPIC; `irr` has it too. */
static void one_end(struct cpu *c)
{
	if (c->irr[IRR_WORD] != 0) {
		c->irr[IRR_WORD] = 0;
		c->irr_sent = true;
	}
}

const struct engine engine_one = {
	.join = one_join,
	.give = one_give,
	.end = one_end,
	.begin = vcpu_irr_send,
};

/* --- start and end ----------------------------------------------------------------------------- */

static void vcpu_start(struct cpu *c)
{
	struct vcpu *v = &vcpus[c->id];
	uint64_t *sp = c->idle->kstack;

	*--sp = (uint64_t)vcpu_first;
	*--sp = (uint64_t)c; /* RBX */
	for (unsigned i = 0; i < 5; i++)
		*--sp = 0;
	v->rsp = (uint64_t)sp;
	__asm__ volatile("movq %%cr3, %0" : "=r"(v->cr3));
	v->fpu_dead = true;
	one_give(this_cpu(), c, false);
}

void lockstep_alloc_cpus(void)
{
	for (; ncpu < lockstep_cpus(); ncpu++) {
		struct cpu *c = cpu_alloc(ncpu);
		c->apic_id = ncpu;
		c->lapic = LAPIC_NOBODY;
	}
}

void lockstep_start_cpus(void)
{
	for (unsigned i = 1; i < ncpu; i++)
		vcpu_start(cpus[i]);
}

void lockstep_keep_fsbase(void)
{
	for (unsigned i = 0; i < ncpu; i++) {
		struct lwp *l = cpus[i]->lwp;
		if (cpus[i] != this_cpu() && l != NULL && l->proc != NULL && lwp_fsbase_loaded(l))
			l->fsbase = vcpus[i].fsbase;
	}
}
