/*
 * main.c - the order in which the kernel starts.
 *
 * CPU 0 runs all of this with interrupts off, on the start-up stack, as its own
 * idle LWP from sched_init on; nothing here may sleep.  Each step may use what
 * the steps above it have set up, and nothing else.
 */
#include <kern/boot.h>
#include <kern/cpu.h>
#include <kern/exec.h>
#include <kern/file.h>
#include <kern/lwp.h>
#include <kern/mm.h>
#include <kern/page.h>
#include <kern/printk.h>
#include <kern/probe.h>
#include <kern/proc.h>
#include <kern/sched.h>
#include <kern/timing.h>
#include "../cpu/machine.h"

/* free=N: exactly N MiB are free when init starts, whatever the kernel and the initial RAM disk
 * use. */
static void limit_memory(void)
{
	uint64_t wanted = boot_option_num("free", 0) << 20;

	if (wanted != 0 && !page_limit(wanted / PAGE_SIZE))
		panic("free=: only %llu MiB are free",
		      (unsigned long long)(page_free_count() * PAGE_SIZE >> 20));
}

static void start_init(char *path)
{
	char *argv[] = {path, NULL};
	char *envp[] = {"PATH=/host:/bin", "HOME=/", NULL};

	int err = proc_spawn_first(path, argv, envp);
	if (err != 0)
		panic("cannot start %s: error %d", path, -err);
}

void kmain(void)
{
	static char init[WEFT_PATH_MAX] = "/bin/init";

	machine_init();
	console_init_early();
	cpu_init_early();
	timing_choose();
	if (boot_info.nregions == 0)
		panic("the boot loader (%s) gave no memory map", boot_info.loader);
	page_init();
	mm_init();
	mm_init_cpu();
	cpu_init_acpi();
	timing_init_early();
	timing_init_cpu();
	/* The pages of the initial RAM disk are freed after it has been read, so they count,
	 * too. */
	printk_info("weft: booted by %s, %llu MiB, %u CPU%s\n", boot_info.loader,
		    (page_total() * PAGE_SIZE + boot_info.initrd_size) >> 20, ncpu,
		    ncpu == 1 ? "" : "s");

	sched_init();
	for (unsigned i = 1; i < ncpu; i++)
		sched_init_cpu(cpus[i]);
	proc_init();
	vfs_init();
	console_init();
	if (lockstep_cpus() == 0)
		cpu_start_others();
	else
		lockstep_start_cpus();
	printk_info("weft: %u CPU%s online after %lu ms\n", ncpu, ncpu == 1 ? "" : "s",
		    timing_boot_time() / 1000000);
	limit_memory();
	boot_option("init", init, sizeof(init));
	probe_init();
	/* What comes before costs no virtual time. */
	timing->start();
	start_init(init);
	cpu_call_on_stack(this_cpu()->idle->kstack, sched_cpu_main);
}
