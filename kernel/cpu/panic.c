/*
 * panic.c - the end after a broken invariant: stops every CPU, prints the backtraces
 * on the console, and tells QEMU.
 *
 * The first CPU to panic prints everything.  It stops the other CPUs by NMI, which arrives with
 * interrupts off, too.  They leave their trap frames for it to read.  No lock is acquired: the
 * console's lock is ignored once no other CPU runs.
 */
#include <stdarg.h>
#include <kern/cpu.h>
#include <kern/file.h>
#include <kern/lwp.h>
#include <kern/printk.h>
#include <kern/proc.h>
#include <kern/trap.h>
#include "machine.h"

/* Tells the host tool that everything that follows is the report. */
#define PANIC_MARK "\033]weft;panic\a"

/* The CPU that has stopped the others, + 1; 0: none. */
static uint32_t stopper;
/* Where each stopped CPU was; each CPU sets its own. */
static const struct trapframe *stopped_at[WEFT_MAXCPU];

/* How long to wait for a CPU to stop, in counts of the TSC: one second or a few.  The frequency may
 * not be known yet. */
#define STOP_TIMEOUT 4000000000ull

static void NORETURN panic_halt(void)
{
	for (;;)
		__asm__ volatile("cli; hlt");
}

/* For the report: saves the thread pointer of the LWP that this CPU runs, which may still be in the
 * register. */
static void keep_fsbase(void)
{
	struct lwp *l = this_cpu()->lwp;

	if (l != NULL && l->proc != NULL && lwp_fsbase_loaded(l))
		__asm__ volatile("rdfsbase %0" : "=r"(l->fsbase));
}

void stop_nmi(const struct trapframe *f)
{
	uint32_t by = __atomic_load_n(&stopper, __ATOMIC_ACQUIRE);
	if (by == this_cpu()->id + 1)
		return; /* the host's NMI, which has arrived too late */
	if (by == 0)
		time_limit(f);
	keep_fsbase();
	__atomic_store_n(&stopped_at[this_cpu()->id], f, __ATOMIC_RELEASE);
	panic_halt();
}

/* This CPU is to stop the others.  False: a CPU, perhaps this CPU, does so already; *by: that CPU +
 * 1. */
static bool stop_claim(uint32_t *by)
{
	*by = 0;
	return __atomic_compare_exchange_n(&stopper, by, this_cpu()->id + 1, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/* Stops the other CPUs.  The caller's stop_claim has succeeded. */
static void stop_rest(void)
{
	struct cpu *self = this_cpu();

	lockstep_stop();
	if (lockstep_cpus() != 0) { /* no other CPU runs */
		lockstep_keep_fsbase();
		console_panic();
		return;
	}
	for (unsigned i = 0; i < ncpu; i++)
		if (cpus[i] != NULL && cpus[i] != self && cpus[i]->online)
			lapic_nmi(cpus[i]);
	uint64_t begin = rdtsc();
	for (unsigned i = 0; i < ncpu; i++)
		while (cpus[i] != NULL && cpus[i] != self && cpus[i]->online &&
		       __atomic_load_n(&stopped_at[i], __ATOMIC_ACQUIRE) == NULL &&
		       rdtsc() - begin < STOP_TIMEOUT)
			cpu_pause();
	console_panic();
}

void stop_others(void)
{
	uint32_t by;

	if (stop_claim(&by))
		stop_rest();
	else if (by != this_cpu()->id + 1)
		panic_halt(); /* another CPU was first: its NMI will arrive */
}

/*
 * The host's NMI arrives at all CPUs at once.  The first CPU prints the report.  The other CPUs
 * stop here, because no further NMI can reach them before they have returned from the host's NMI.
 */
void time_limit(const struct trapframe *f)
{
	uint32_t by;

	irq_save();
	if (!stop_claim(&by)) {
		stop_nmi(f);
		panic_halt();
	}
	this_cpu()->in_panic = true;
	keep_fsbase();
	hrtime_t now = time_now();
	stop_rest();
	printk(PANIC_MARK "\nweft: time limit at %llu ns\n", (unsigned long long)now);
	proc_report();
	machine_exit(QEMU_EXIT_STANDSTILL);
}

static void print_cpu(const struct cpu *c)
{
	const struct lwp *l = c->lwp;
	printk("CPU %u", c->id);
	if (l == NULL)
		printk(", starting");
	else if (l == c->idle)
		printk(", idle");
	else if (l->proc == NULL)
		printk(", kernel lwp");
	else
		printk(", pid %d (%s) lwp %u", l->proc->pid, l->proc->name, l->id);
	printk(":\n");
}

static void print_others(void)
{
	for (unsigned i = 0; i < ncpu; i++) {
		struct cpu *c = cpus[i];
		if (c == NULL || c == this_cpu() || !c->online)
			continue;
		print_cpu(c);
		const struct trapframe *f = lockstep_stopped_at(i);
		if (f == NULL)
			f = stopped_at[i];
		if (f == NULL)
			printk("    does not answer\n");
		else if (frame_is_user(f))
			printk("    %p in user mode\n", (void *)f->rip);
		else
			backtrace(f->rip, f->rbp, false);
	}
}

static void NORETURN panic_die(uint64_t rip, uint64_t rbp, const struct trapframe *f,
			       const char *fmt, va_list ap)
{
	irq_save();
	struct cpu *c = this_cpu();
	if (c->in_panic) { /* the report itself has failed: end here */
		printk("weft: panic in a panic: ");
		vprintk(fmt, ap);
		printk("\n");
		machine_exit(QEMU_EXIT_PANIC);
	}
	c->in_panic = true;
	stop_others();

	printk(PANIC_MARK "\nweft: panic: ");
	vprintk(fmt, ap);
	printk("\n");
	print_cpu(c);
	if (f != NULL)
		printk("    rax %p rbx %p rcx %p rdx %p\n    rsi %p rdi %p rbp %p rsp %p\n"
		       "    r8 %p r9 %p r10 %p r11 %p\n    r12 %p r13 %p r14 %p r15 %p\n",
		       (void *)f->rax, (void *)f->rbx, (void *)f->rcx, (void *)f->rdx,
		       (void *)f->rsi, (void *)f->rdi, (void *)f->rbp, (void *)f->rsp,
		       (void *)f->r8, (void *)f->r9, (void *)f->r10, (void *)f->r11, (void *)f->r12,
		       (void *)f->r13, (void *)f->r14, (void *)f->r15);
	backtrace(rip, rbp, f == NULL);
	print_others();
	machine_exit(QEMU_EXIT_PANIC);
}

void panic(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	panic_die((uint64_t)__builtin_return_address(0), *(uint64_t *)__builtin_frame_address(0),
		  NULL, fmt, ap);
}

void panic_at(const struct trapframe *f, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	panic_die(f->rip, f->rbp, f, fmt, ap);
}
