/*
 * smp.c - the other CPUs: makes their struct cpu, and starts them one after another.
 *
 * (Say here what a started CPU reads, which CPU may write it and when, and how the boot CPU knows that
 * it may go on.)
 */
#include <kern/boot.h>
#include <kern/layout.h>
#include <kern/lwp.h>
#include <kern/printk.h>
#include "asm.h"
#include "machine.h"

/*
 * Yours.  Makes the struct cpu of each CPU in m except the boot CPU, with cpu_alloc, and counts it in
 * ncpu.  As it stands, weft boots on one CPU.
 */
void cpu_find_others(const struct acpi_madt *m)
{
}

/*
 * Yours.  Starts the CPUs cpus[1] to cpus[ncpu - 1].  When it returns, each CPU from cpus[0] to
 * cpus[ncpu - 1] is online, and no other CPU runs.  The handout has the contract.
 */
void cpu_start_others(void)
{
}
