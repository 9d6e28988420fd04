/*
 * harness.c - what the tests of boot-cpus look at inside of the kernel: each call of smp.c, and each
 * CPU at the moment at which it leaves trampoline.S.
 *
 * The linker puts these functions around the kernel's own (ld(1), --wrap).  Words of the command line
 * make a machine that is difficult to start:
 *
 *	lab-shuffle=N	the MADT has the CPUs in another order
 *	lab-dead=N	the MADT's Nth CPU does not exist
 *	lab-slow=N	the CPU with APIC id N needs lab-slow-ms=MS before it is online
 *	lab-lost=N	the first N start-up IPIs to each CPU are lost
 *	lab-fast=1	a CPU has started before its start-up IPI returns
 *
 * In exact timing the clock of the boot runs 200 times as fast when 50 ms have passed since an INIT, so
 * that 5 s are soon over.  (To QEMU a reset of a CPU takes up to 25 ms.)
 *
 * A fault of the boot CPU is a panic at once.  A fault that another CPU finds is kept in `fault`, and
 * that CPU stops: its stack and GS may be wrong.  The boot CPU panics when cpu_start_others returns,
 * or when nothing has happened for LIMIT instructions.
 */
#include <kern/boot.h>
#include <kern/kstack.h>
#include <kern/lwp.h>
#include <kern/page.h>
#include <kern/printk.h>
#include <kern/timing.h>
#include <kern/trap.h>
#include "asm.h"
#include "machine.h"

#define SPEED 200       /* of the boot's clock, */
#define SLOW 50000000   /* ... from so many ns after an INIT on */
#define LIMIT 110000000 /* instructions after an INIT: 12 s of that clock */
#define ABSENT 200      /* APIC id of the CPU that does not exist */
#define CR0_WP (1ull << 16)
#define EFER_NEEDED 0x801 /* NXE, SCE */
#define MSR_EFER 0xc0000080

void __real_cpu_find_others(const struct acpi_madt *m);
void __wrap_cpu_find_others(const struct acpi_madt *m);
void __real_cpu_start_others(void);
void __wrap_cpu_start_others(void);
void __real_cpu_ap_main(struct cpu *c) NORETURN;
void __wrap_cpu_ap_main(struct cpu *c) NORETURN;
void __real_lapic_send_init(uint32_t apic_id);
void __wrap_lapic_send_init(uint32_t apic_id);
void __real_lapic_send_startup(uint32_t apic_id, paddr_t entry);
void __wrap_lapic_send_startup(uint32_t apic_id, paddr_t entry);
void __real_trap_anywhere(struct trapframe *f);
void __wrap_trap_anywhere(struct trapframe *f);
hrtime_t __real_timing_boot_time(void);
hrtime_t __wrap_timing_boot_time(void);

static struct acpi_madt madt; /* as smp.c gets it */
static uint64_t kernel_cr3;
static uint64_t watched_since; /* TSC; 0: cpu_start_others is not running */
static struct {
	unsigned inits, startups, lost;
	volatile bool arrived;  /* has left trampoline.S */
	volatile bool overtook; /* it was given up, and goes on */
} seen[256];
static volatile bool given_up; /* cpu_start_others has returned */

static void limit_end(void);

/* --- faults ----------------------------------------------------------------------------------- */

static char fault[200];
static volatile uint32_t faults;

/* The first fault counts.  Also for a CPU whose GS is not set. */
#define BLAME(...)                                                                                 \
	do {                                                                                       \
		if (__atomic_exchange_n(&faults, 1, __ATOMIC_ACQ_REL) == 0)                        \
			snprintk(fault, sizeof(fault), __VA_ARGS__);                               \
	} while (0)

/*
 * Of the boot CPU.  The panic shall not wait until the others have stopped: nobody knows what they do,
 * and where their interrupts go.
 */
#define FAIL(f, ...)                                                                               \
	do {                                                                                       \
		struct trapframe *at = (f);                                                        \
		limit_end(); /* a panic may take longer */                                         \
		for (unsigned i = 1; i < WEFT_MAXCPU; i++)                                         \
			if (cpus[i] != NULL)                                                       \
				cpus[i]->online = false;                                           \
		if (at != NULL)                                                                    \
			panic_at(at, "lab: " __VA_ARGS__);                                         \
		panic("lab: " __VA_ARGS__);                                                        \
	} while (0)

static void NORETURN cpu_stop(void)
{
	for (;;)
		__asm__ volatile("cli; hlt");
}

/* --- the clock, and the limit ------------------------------------------------------------------- */

/* The last INIT: by the true clock, and by the one that smp.c sees.  Only the boot CPU writes them. */
static hrtime_t init_at, init_seen_at;

hrtime_t __wrap_timing_boot_time(void)
{
	hrtime_t passed = __real_timing_boot_time() - init_at;

	if (timepage->exact && init_at != 0 && passed > SLOW)
		passed = SLOW + (passed - SLOW) * SPEED;
	return init_seen_at + passed;
}

/* In exact timing the LAPIC timer of this CPU, the boot CPU, is free until virtual time begins. */
static void limit_set(void)
{
	if (!timepage->exact)
		return;
	watched_since = rdtsc();
	lapic_timer_nmi();
	*lapic_timer_register() = LIMIT;
}

static void clock_note_init(void)
{
	hrtime_t seen_at = __wrap_timing_boot_time();

	init_at = __real_timing_boot_time();
	init_seen_at = seen_at;
	limit_set();
}

static void limit_end(void)
{
	if (watched_since == 0)
		return;
	*lapic_timer_register() = 0;
	watched_since = 0;
}

#define ENDLESS                                                                                    \
	"cpu_start_others does not return: it must leave a CPU out that is not online 5 s after "  \
	"its INIT"
/* An NMI of another sender is not the limit's. */
void __wrap_trap_anywhere(struct trapframe *f)
{
	if (f->vec == T_NMI && watched_since != 0 && rdtsc() - watched_since >= LIMIT) {
		watched_since = 0;
		FAIL(f, "%s", faults ? fault : ENDLESS);
	}
	__real_trap_anywhere(f);
}

/* --- the machine that the MADT tells of --------------------------------------------------------- */

static void madt_shuffle(unsigned by)
{
	for (unsigned i = madt.ncpu; i > 1; i--) {
		unsigned j = (by = by * 1103515245 + 12345) / 65536 % i;
		uint32_t id = madt.apic_id[j];
		madt.apic_id[j] = madt.apic_id[i - 1];
		madt.apic_id[i - 1] = id;
	}
}

static void madt_insert(unsigned at, uint32_t id)
{
	at = MIN(at, madt.ncpu);
	for (unsigned i = madt.ncpu++; i > at; i--)
		madt.apic_id[i] = madt.apic_id[i - 1];
	madt.apic_id[at] = id;
}

static bool madt_has(uint32_t id)
{
	for (unsigned i = 0; i < madt.ncpu; i++)
		if (madt.apic_id[i] == id)
			return true;
	return false;
}

/* Each CPU of the MADT has its struct cpu, once. */
static void cpus_check_found(void)
{
	if (ncpu != madt.ncpu)
		FAIL(NULL,
		     "the MADT has %u CPUs, with the boot CPU, and ncpu is %u after "
		     "cpu_find_others",
		     madt.ncpu, ncpu);
	for (unsigned i = 0; i < ncpu; i++) {
		if (cpus[i] == NULL || cpus[i]->id != i)
			FAIL(NULL, "cpus[%u] is not the struct of CPU %u after cpu_find_others", i,
			     i);
		if (!madt_has(cpus[i]->apic_id))
			FAIL(NULL, "cpus[%u] has the APIC id %u, which no CPU of the MADT has", i,
			     cpus[i]->apic_id);
		for (unsigned j = 0; j < i; j++)
			if (cpus[j]->apic_id == cpus[i]->apic_id)
				FAIL(NULL, "cpus[%u] and cpus[%u] have the same APIC id %u", j, i,
				     cpus[i]->apic_id);
	}
}

void __wrap_cpu_find_others(const struct acpi_madt *m)
{
	unsigned shuffle = boot_option_num("lab-shuffle", 0);
	unsigned dead = boot_option_num("lab-dead", UINT32_MAX);

	madt = *m;
	if (shuffle != 0)
		madt_shuffle(shuffle);
	if (dead != UINT32_MAX)
		madt_insert(dead, ABSENT);
	__real_cpu_find_others(&madt);
	cpus_check_found();
}

/* --- what smp.c sends --------------------------------------------------------------------------- */

void __wrap_lapic_send_init(uint32_t apic_id)
{
	if (!madt_has(apic_id) || apic_id == cpus[0]->apic_id)
		FAIL(NULL, "an INIT to APIC id %u, which is %s", apic_id,
		     madt_has(apic_id) ? "the boot CPU itself" : "no CPU of the MADT");
	if (seen[apic_id].arrived && !given_up)
		for (unsigned i = 1; i < ncpu; i++)
			if (cpus[i] != NULL && cpus[i]->apic_id == apic_id && cpus[i]->online)
				FAIL(NULL,
				     "an INIT resets the CPU with APIC id %u, which is "
				     "online",
				     apic_id);
	seen[apic_id].inits++;
	clock_note_init();
	__real_lapic_send_init(apic_id);
}

/*
 * A CPU may be faster than its sender.  So with lab-fast the sender waits until it has come.  To QEMU 7.2 the
 * reset of a CPU takes up to 28 ms, to QEMU 10 up to 5: no CPU is waited for twice as long.
 */
static void cpu_let_arrive(uint32_t apic_id)
{
	uint64_t begin = rdtsc();

	while (!seen[apic_id].arrived && rdtsc() - begin < LIMIT / 2)
		cpu_pause();
}

void __wrap_lapic_send_startup(uint32_t apic_id, paddr_t entry)
{
	if (!madt_has(apic_id) || apic_id == cpus[0]->apic_id)
		FAIL(NULL, "a start-up IPI to APIC id %u, which is %s", apic_id,
		     madt_has(apic_id) ? "the boot CPU itself" : "no CPU of the MADT");
	if (seen[apic_id].inits == 0)
		FAIL(NULL, "a start-up IPI to APIC id %u comes before an INIT: no CPU waits for it",
		     apic_id);
	if (entry != AP_TRAMPOLINE)
		FAIL(NULL, "a start-up IPI with the entry %p, not AP_TRAMPOLINE", (void *)entry);
	seen[apic_id].startups++;
	if (seen[apic_id].lost < boot_option_num("lab-lost", 0)) {
		seen[apic_id].lost++;
		return;
	}
	__real_lapic_send_startup(apic_id, entry);
	if (boot_option_num("lab-fast", 0) != 0)
		cpu_let_arrive(apic_id);
}

/* --- a CPU that has left trampoline.S ------------------------------------------------------------ */

static uint64_t cr0_read(void)
{
	uint64_t v;
	__asm__ volatile("movq %%cr0, %0" : "=r"(v));
	return v;
}

static uint64_t cr3_read(void)
{
	uint64_t v;
	__asm__ volatile("movq %%cr3, %0" : "=r"(v));
	return v;
}

static uint64_t rflags_read(void)
{
	uint64_t v;
	__asm__ volatile("pushfq; popq %0" : "=r"(v));
	return v;
}

/* Does this CPU have its own struct and stack, and the kernel's state?  rsp: near its first stack
 * pointer. */
static bool arrival_check(const struct cpu *c, uint32_t id, uint64_t rsp)
{
	bool known = false;

	for (unsigned i = 1; i < ncpu; i++)
		known |= cpus[i] == c;
	if (!known)
		BLAME("the CPU with APIC id %u calls cpu_ap_main(%p), which is in no cpus[i]", id,
		      c);
	else if (c->apic_id != id)
		BLAME("the CPU with APIC id %u arrives with the struct cpu of the one with %u: has "
		      "ap_start been changed before that CPU was online?",
		      id, c->apic_id);
	else if (c->online)
		BLAME("the CPU with APIC id %u calls cpu_ap_main a second time", id);
	else if ((uint64_t)c->idle->kstack - rsp > 256)
		BLAME("CPU %u arrives with the stack pointer %p; the top of its idle LWP's stack "
		      "is "
		      "%p",
		      c->id, (void *)rsp, c->idle->kstack);
	else if (cr3_read() != kernel_cr3)
		BLAME("CPU %u arrives with other page tables (CR3) than the kernel's", c->id);
	else if (rflags_read() & 0x200)
		BLAME("CPU %u arrives with interrupts on", c->id);
	else if (!(cr0_read() & CR0_WP) || (rdmsr(MSR_EFER) & EFER_NEEDED) != EFER_NEEDED)
		BLAME("CPU %u arrives without CR0.WP, EFER.NXE or EFER.SCE: see enter_long_mode",
		      c->id);
	else
		return true;
	return false;
}

void __wrap_cpu_ap_main(struct cpu *c)
{
	uint32_t r[4];

	if (lockstep_cpus() != 0) /* one processor plays all CPUs: nothing has been started */
		__real_cpu_ap_main(c);
	cpuid(1, r);
	uint32_t id = r[1] >> 24;
	bool well = arrival_check(c, id, (uint64_t)__builtin_frame_address(0));
	seen[id].arrived = true;
	if (!well)
		cpu_stop();
	if (boot_option_num("lab-slow", 0) == id) {
		hrtime_t until =
			__wrap_timing_boot_time() + boot_option_num("lab-slow-ms", 0) * 1000000;
		while (__wrap_timing_boot_time() < until)
			cpu_pause();
		seen[id].overtook = given_up;
	}
	if (seen[id].overtook)
		cpu_stop();
	__real_cpu_ap_main(c);
}

/* --- the whole ----------------------------------------------------------------------------------- */

/* Is this CPU one that must run? */
static bool cpu_must_run(uint32_t id)
{
	return id != ABSENT &&
	       !(id == boot_option_num("lab-slow", 0) && boot_option_num("lab-slow-ms", 0) > 5000);
}

static void cpus_check_started(void)
{
	unsigned wanted = 0;

	for (unsigned i = 0; i < madt.ncpu; i++) {
		uint32_t id = madt.apic_id[i];
		bool must = cpu_must_run(id);
		wanted += must;
		if (must && id != cpus[0]->apic_id && !seen[id].arrived)
			FAIL(NULL,
			     "the CPU with APIC id %u has not come to cpu_ap_main: %u INIT, "
			     "%u "
			     "start-up IPI sent, %u of them lost",
			     id, seen[id].inits, seen[id].startups, seen[id].lost);
	}
	for (unsigned i = 0; i < MIN(ncpu, madt.ncpu); i++) {
		if (cpus[i] == NULL || cpus[i]->id != i)
			FAIL(NULL,
			     "ncpu is %u, and cpus[%u] is not the struct of CPU %u: numbers "
			     "have no gaps",
			     ncpu, i, i);
		if (!cpus[i]->online)
			FAIL(NULL,
			     "cpu_start_others has returned, and cpus[%u], with APIC id %u, "
			     "is "
			     "not online",
			     i, cpus[i]->apic_id);
		if (cpus[i]->lapic != (int32_t)cpus[i]->apic_id)
			FAIL(NULL, "cpus[%u] has APIC id %u, and its interrupts go to %d", i,
			     cpus[i]->apic_id, cpus[i]->lapic);
	}
	if (ncpu != wanted)
		FAIL(NULL, "ncpu is %u, and %u CPUs can run", ncpu, wanted);
	for (unsigned i = ncpu; i < WEFT_MAXCPU; i++)
		if (cpus[i] != NULL)
			FAIL(NULL, "ncpu is %u, and cpus[%u] is not NULL", ncpu, i);
}

/* A CPU that was given up must not go on when it is ready at last. */
static void cpus_check_stopped(void)
{
	uint32_t id = boot_option_num("lab-slow", 0);
	hrtime_t begin = __wrap_timing_boot_time();

	if (id == 0 || cpu_must_run(id))
		return;
	while (__wrap_timing_boot_time() - begin < boot_option_num("lab-slow-ms", 0) * 1000000)
		cpu_pause();
	if (seen[id].overtook)
		FAIL(NULL,
		     "the CPU with APIC id %u was left out, and goes on later, while the "
		     "others "
		     "run",
		     id);
}

void __wrap_cpu_start_others(void)
{
	kernel_cr3 = cr3_read();
	limit_set();
	__real_cpu_start_others();
	limit_end();
	given_up = true;
	if (faults)
		FAIL(NULL, "%s", fault);
	cpus_check_started();
	cpus_check_stopped();
}
