/*
 * exit.c - the ways in which the machine ends.
 *
 * With the word `stay' on the kernel's command line, a machine that does not end well stays in QEMU
 * and stands still, so that the host tool can read its memory.  The host tool ends QEMU.  With
 * `stay=all' a program can ask for this, too (WEFT_REBOOT_FAIL).
 */
#include <kern/boot.h>
#include <kern/cpu.h>
#include <kern/file.h>
#include <kern/printk.h>
#include <kern/timing.h>
#include "machine.h"

#define DEBUG_EXIT_PORT 0xf4
#define KEYBOARD_PORT 0x64
#define KEYBOARD_PULSE_RESET 0xfe

/* Tells the host tool what QEMU would have ended with.  All other CPUs are stopped, and the
 * console's lock is ignored. */
static void NORETURN machine_stand(int qemu_value)
{
	printk("\033]weft;stands;%d\a", qemu_value);
	for (;;)
		__asm__ volatile("cli; hlt");
}

static bool stays, stays_for_programs;

/* A look at the command line takes time by all that stands there, and that differs between the engines of exact
 * timing.  So there is one look, before virtual time begins. */
void machine_init(void)
{
	char value[8];

	stays = boot_option("stay", value, sizeof(value));
	stays_for_programs = stays && strcmp(value, "all") == 0;
}

void machine_exit(int qemu_value)
{
	irq_save();
	if (qemu_value != QEMU_EXIT_OK && stays)
		machine_stand(qemu_value);
	__asm__ volatile("outl %0, %1" ::"a"(qemu_value), "Nd"((uint16_t)DEBUG_EXIT_PORT));
	for (;;) /* the machine has no such device: nothing is left to do */
		__asm__ volatile("cli; hlt");
}

/* Stops all other CPUs, so that what follows is the console's last output. */
static void machine_say_status(int status)
{
	char text[40];
	irq_save();
	hrtime_t now = time_now();
	stop_others();
	printk_info("weft: ends at %llu ns\n", (unsigned long long)now);
	int n = snprintk(text, sizeof(text), "\033]weft;exit;%d\a", status);
	console_write(text, n);
}

void machine_halt(int status)
{
	machine_say_status(status);
	machine_exit(QEMU_EXIT_OK);
}

bool machine_fail(int status)
{
	if (!stays_for_programs)
		return false;
	machine_say_status(status);
	machine_stand(QEMU_EXIT_OK);
}

void machine_hold(int status)
{
	char text[40];

	machine_say_status(status);
	/* The number is that of the processor. */
	int n = snprintk(text, sizeof(text), "\033]weft;held;%u\a",
			 lockstep_cpus() != 0 ? 0 : this_cpu()->id);
	console_write(text, n);
	for (;;)
		__asm__ volatile("cli; hlt");
}

void machine_reset(void)
{
	irq_save();
	outb(KEYBOARD_PORT, KEYBOARD_PULSE_RESET);
	/* No keyboard controller: a fault without a handler resets the CPU. */
	struct {
		uint16_t limit;
		uint64_t base;
	} __attribute__((packed)) none = {0, 0};
	__asm__ volatile("lidt %0; int3" ::"m"(none));
	for (;;)
		__asm__ volatile("cli; hlt");
}
