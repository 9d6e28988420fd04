/*
 * cpu.c - the per-CPU set-up of the machine: descriptor tables, GS, SYSCALL,
 * control registers, and what a CPU must have.
 *
 * All CPUs share one IDT.  Each CPU has its GDT and TSS inside its struct cpu, and stacks for the
 * events that may arrive anywhere (entry.S).  No locks: CPU 0 prepares everything, a started CPU
 * only loads it.
 */
#include <kern/boot.h>
#include <kern/cpu.h>
#include <kern/layout.h>
#include <kern/lwp.h>
#include <kern/mm.h>
#include <kern/page.h>
#include <kern/printk.h>
#include <kern/trap.h>
#include "asm.h"
#include "machine.h"

_Static_assert(offsetof(struct cpu, self) == CPU_SELF, "");
_Static_assert(offsetof(struct cpu, user_rsp) == CPU_USER_RSP, "");
_Static_assert(offsetof(struct cpu, lwp) == CPU_LWP, "");
_Static_assert(offsetof(struct cpu, need_resched) == CPU_NEED_RESCHED, "");
_Static_assert(offsetof(struct cpu, id) == CPU_ID, "");
_Static_assert(offsetof(struct cpu, waiting) == CPU_WAITING, "");
_Static_assert(offsetof(struct cpu, parked) == CPU_PARKED, "");
_Static_assert(offsetof(struct cpu, wait_rsp) == CPU_WAIT_RSP, "");
_Static_assert(offsetof(struct cpu, nmi_stack) == CPU_NMI_STACK_A, "");
_Static_assert(offsetof(struct cpu, nmi_stack[1]) == CPU_NMI_STACK_B, "");
_Static_assert(offsetof(struct cpu, ist1) == CPU_IST1, "");
_Static_assert(offsetof(struct cpu, timerec) == CPU_TIMEREC, "");
_Static_assert(offsetof(struct cpu, inwin) == CPU_INWIN, "");
_Static_assert(offsetof(struct cpu, tss.rsp) == CPU_TSS_RSP0, "");
_Static_assert(offsetof(struct cpu, lapic) == CPU_LAPIC, "");
_Static_assert(offsetof(struct cpu, frame) == CPU_FRAME, "");
_Static_assert(offsetof(struct cpu, irr) == CPU_IRR, "");
_Static_assert(offsetof(struct cpu, probe_ring) == CPU_PROBE_RING, "");
_Static_assert(offsetof(struct cpu, probe_ran) == CPU_PROBE_RAN, "");
_Static_assert(offsetof(struct timerec, vbase) == TIMEREC_VBASE, "");
_Static_assert(offsetof(struct timerec, ws) == TIMEREC_WS, "");
_Static_assert(offsetof(struct timerec, mult) == TIMEREC_MULT, "");
_Static_assert(offsetof(struct lwp, ksp) == LWP_KSP, "");
_Static_assert(offsetof(struct lwp, ast) == LWP_AST, "");
_Static_assert(offsetof(struct lwp, frame) == LWP_FRAME, "");
_Static_assert(offsetof(struct trapframe, rbp) == TF_CALLER_REGS, "");
_Static_assert(offsetof(struct trapframe, rdi) == offsetof(struct trapframe, arg), "");
_Static_assert(offsetof(struct trapframe, r9) == offsetof(struct trapframe, arg[5]), "");
_Static_assert(offsetof(struct trapframe, rax) == TF_RAX, "");
_Static_assert(offsetof(struct trapframe, vec) == TF_VEC, "");
_Static_assert(offsetof(struct trapframe, rip) == TF_RIP, "");
_Static_assert(offsetof(struct trapframe, cs) == TF_CS, "");
_Static_assert(offsetof(struct trapframe, rflags) == TF_RFLAGS, "");
_Static_assert(offsetof(struct trapframe, rsp) == TF_RSP, "");
_Static_assert(sizeof(struct trapframe) == TF_SIZE, "");

#define MSR_STAR 0xc0000081
#define MSR_LSTAR 0xc0000082
#define MSR_FMASK 0xc0000084
#define MSR_GSBASE 0xc0000101
#define MSR_KERNEL_GSBASE 0xc0000102
#define MSR_TSC_AUX 0xc0000103

#define CR4_OSFXSR (1u << 9)
#define CR4_OSXMMEXCPT (1u << 10)
#define CR4_MCE (1u << 6)
#define CR4_FSGSBASE (1u << 16)

#define TSS_BUSY (1ull << 41)

/* RFLAGS that SYSCALL clears: TF, IF, DF, NT, AC. */
#define SYSCALL_CLEARS 0x44700

/* A stack for events that may arrive anywhere; `cpu` is the word above it. */
struct ist_stack {
	uint8_t bytes[4096 - 16];
	struct cpu *cpu;
	uint64_t pad;
} __attribute__((aligned(16)));

/* struct cpu with its stacks. */
struct cpu_area {
	struct cpu cpu;
	struct ist_stack ist[3];
	struct ist_stack nmi_second; /* exact timing: for an NMI while ist[0] holds a frame */
} __attribute__((aligned(4096)));

struct cpu *cpus[WEFT_MAXCPU];
unsigned ncpu = 1;

static struct cpu_area boot_area;

/* The record until timing_init_cpu: time stands still at 0. */
static struct timerec no_time;

struct gate {
	uint16_t offset_low, selector;
	uint8_t ist, type;
	uint16_t offset_mid;
	uint32_t offset_high, reserved;
} __attribute__((packed));
static struct gate idt[256];

struct table_register {
	uint16_t limit;
	uint64_t base;
} __attribute__((packed));

/* entry.S */
extern char trap_stubs[], syscall_entry[];
void nmi_entry(void), double_fault_entry(void), machine_check_entry(void);

static struct gate make_gate(uint64_t entry, unsigned ist, unsigned dpl)
{
	return (struct gate){
		.offset_low = entry,
		.offset_mid = entry >> 16,
		.offset_high = entry >> 32,
		.selector = SEL_KCODE,
		.ist = ist,
		.type = 0x8e | dpl << 5, /* present, interrupt gate */
	};
}

static void set_gate(unsigned vec, uint64_t entry, unsigned ist, unsigned dpl)
{
	idt[vec] = make_gate(entry, ist, dpl);
}

static void fill_idt(void)
{
	for (unsigned v = 0; v < ARRAY_LEN(idt); v++)
		set_gate(v, (uint64_t)trap_stubs + 16 * v, 0, 0);
	set_gate(T_BREAK, (uint64_t)trap_stubs + 16 * T_BREAK, 0, 3);
	set_gate(T_OVERFLOW, (uint64_t)trap_stubs + 16 * T_OVERFLOW, 0, 3);
	set_gate(T_NMI, (uint64_t)nmi_entry, 1, 0);
	set_gate(T_DOUBLE, (uint64_t)double_fault_entry, 2, 0);
	set_gate(T_MCHECK, (uint64_t)machine_check_entry, 3, 0);
}

/* Fills in the parts that the CPU itself reads: GDT, TSS, stacks. */
static void fill_area(struct cpu_area *a, unsigned id)
{
	struct cpu *c = &a->cpu;
	uint64_t tss = (uint64_t)&c->tss;

	c->self = c;
	c->id = id;
	c->holds = id + 1;
	c->nobody = spin_plain ? 0 : SPIN_NEVER;
	c->timerec = &no_time;
	for (unsigned i = 0; i < ARRAY_LEN(a->ist); i++) {
		a->ist[i].cpu = c;
		c->tss.ist[i] = (uint64_t)&a->ist[i].cpu;
	}
	a->nmi_second.cpu = c;
	c->nmi_stack[0] = (uint64_t)&a->ist[0].cpu;
	c->nmi_stack[1] = (uint64_t)&a->nmi_second.cpu;
	c->ist1 = (uint64_t *)((char *)&c->tss + offsetof(struct tss, ist));
	c->tss.iomap = sizeof(c->tss);
	c->gdt[SEL_KCODE / 8] = 0x00af9a000000ffff;
	c->gdt[SEL_KDATA / 8] = 0x00cf92000000ffff;
	c->gdt[(SEL_UDATA - 8) / 8] = 0x00cffa000000ffff; /* 32-bit user code: unused */
	c->gdt[SEL_UDATA / 8] = 0x00cff2000000ffff;
	c->gdt[SEL_UCODE / 8] = 0x00affa000000ffff;
	c->gdt[SEL_TSS / 8] = 0x0000890000000000 | (sizeof(c->tss) - 1) | (tss & 0xffffff) << 16 |
			      (tss >> 24 & 0xff) << 56;
	c->gdt[SEL_TSS / 8 + 1] = tss >> 32;
	cpus[id] = c;
}

static void load_gdt(struct cpu *c)
{
	struct table_register gdtr = {sizeof(c->gdt) - 1, (uint64_t)c->gdt};

	__asm__ volatile("lgdt %0" ::"m"(gdtr));
}

static void load_idt(const struct gate *table, size_t size)
{
	struct table_register idtr = {size - 1, (uint64_t)table};

	__asm__ volatile("lidt %0" ::"m"(idtr));
}

/* LTR takes only a TSS that is not busy, and makes it busy. */
static void load_tss(struct cpu *c)
{
	c->gdt[SEL_TSS / 8] &= ~TSS_BUSY;
	__asm__ volatile("ltr %w0" ::"r"(SEL_TSS) : "memory");
}

static void load_tables(struct cpu *c)
{
	load_gdt(c);
	__asm__ volatile("pushq %0\n\t"
			 "leaq 1f(%%rip), %%rax\n\t"
			 "pushq %%rax\n\t"
			 "lretq\n"
			 "1:\tmovw %w1, %%ss" ::"i"(SEL_KCODE),
			 "r"(SEL_KDATA)
			 : "rax", "memory");
	load_idt(idt, sizeof(idt));
	load_tss(c);
	wrmsr(MSR_GSBASE, (uint64_t)c);
	wrmsr(MSR_KERNEL_GSBASE, 0);
}

static inline uint64_t read_cr4(void)
{
	uint64_t v;
	__asm__ volatile("movq %%cr4, %0" : "=r"(v));
	return v;
}

void cpuid(uint32_t leaf, uint32_t out[4])
{
	__asm__ volatile("cpuid"
			 : "=a"(out[0]), "=b"(out[1]), "=c"(out[2]), "=d"(out[3])
			 : "a"(leaf), "c"(0));
}

/* Panics unless the CPU has all features that weft needs. */
static void check_features(void)
{
	enum { EBX = 1, ECX, EDX };
	static const struct {
		uint32_t leaf;
		uint8_t reg, bit;
		const char *name;
	} need[] = {
		{0x00000001, EDX, 4, "TSC"},      {0x00000001, EDX, 9, "APIC"},
		{0x00000001, EDX, 24, "FXSR"},    {0x00000001, EDX, 26, "SSE2"},
		{0x80000001, EDX, 11, "SYSCALL"}, {0x80000001, EDX, 20, "NX"},
		{0x80000001, EDX, 27, "RDTSCP"},  {0x00000007, EBX, 0, "FSGSBASE"},
	};
	for (unsigned i = 0; i < ARRAY_LEN(need); i++) {
		uint32_t max[4], r[4];
		cpuid(need[i].leaf & 0x80000000, max);
		cpuid(need[i].leaf, r);
		if (max[0] < need[i].leaf || !(r[need[i].reg] & 1u << need[i].bit))
			panic("the CPU lacks %s (CPUID %#x)", need[i].name, need[i].leaf);
	}
}

/* The part of every CPU's set-up that allocates no memory.  `c` is this CPU. */
static void init_this_cpu(struct cpu *c)
{
	load_tables(c);
	if (c->id == 0)
		check_features();
	uint32_t r[4];
	cpuid(1, r);
	uint64_t mce = r[3] & 1u << 7 ? CR4_MCE : 0;
	__asm__ volatile("movq %0, %%cr4" ::"r"(read_cr4() | CR4_OSFXSR | CR4_OSXMMEXCPT |
						CR4_FSGSBASE | mce));
	wrmsr(MSR_TSC_AUX, c->id); /* RDTSCP gives time and CPU in one instruction */
	wrmsr(MSR_STAR, (uint64_t)(SEL_UDATA - 8) << 48 | (uint64_t)SEL_KCODE << 32);
	wrmsr(MSR_LSTAR, (uint64_t)syscall_entry);
	wrmsr(MSR_FMASK, SYSCALL_CLEARS);
}

void cpu_take_over(struct cpu *c)
{
	load_gdt(c);
	load_tss(c);
	__asm__ volatile("wrgsbase %0" ::"r"(c));
	wrmsr(MSR_TSC_AUX, c->id);
}

void cpu_take_interrupts(void (*handler)(void))
{
	static struct gate table[VEC_LAST + 1];

	if (table[VEC_LAST].type == 0)
		for (unsigned v = VEC_TIMER; v <= VEC_LAST; v++)
			table[v] = make_gate((uint64_t)handler, 0, 0);
	load_idt(table, sizeof(table));
	__asm__ volatile("sti; nop; cli" ::: "memory");
	load_idt(idt, sizeof(idt));
}

void cpu_set_nmi_entry(void (*entry)(void))
{
	set_gate(T_NMI, (uint64_t)entry, 1, 0);
}

void cpu_set_user_entry(unsigned vec, void (*entry)(void))
{
	set_gate(vec, (uint64_t)entry, 0, 3);
}

void cpu_init_early(void)
{
	fill_idt();
	fill_area(&boot_area, 0);
	boot_area.cpu.online = true;
	init_this_cpu(&boot_area.cpu);
}

struct cpu *cpu_alloc(unsigned id)
{
	unsigned order = 0;
	while (PAGE_SIZE << order < sizeof(struct cpu_area))
		order++;
	paddr_t p = page_alloc_order(order, PG_ZERO);
	if (p == 0)
		panic("no memory for CPU %u", id);
	struct cpu_area *a = phys_to_virt(p);
	fill_area(a, id);
	return &a->cpu;
}

/* A started CPU arrives here from boot.S, on its idle LWP's stack. */
void cpu_ap_main(struct cpu *c)
{
	init_this_cpu(c);
	mm_init_cpu();
	lapic_init_cpu();
	timing_init_cpu();
	/* From here on the CPU counts as started: cpu_start_others waits for this. */
	__atomic_store_n(&c->online, true, __ATOMIC_RELEASE);
	timing->start_cpu();
	sched_cpu_main();
}
