/*
 * printk.h - the kernel's messages, and its end.
 *
 * printk formats as printf does: %d %i %u %x %X %p %s %c %% with l, ll, z,
 * width, '-', '0', '#' and precision for %s.  It may be called from anywhere, with
 * any lock held, with interrupts on or off.  It takes only the console lock,
 * which is a leaf, and never blocks.
 */
#pragma once
#include <stdarg.h>
#include "types.h"

void printk(const char *fmt, ...) PRINTF_LIKE(1, 2);
/* As printk, but silent when the command line holds "quiet": progress of the boot. */
void printk_info(const char *fmt, ...) PRINTF_LIKE(1, 2);
void vprintk(const char *fmt, va_list ap);
/* The result always ends with NUL (if size is not 0); returns the length that it
 * would have had with enough room. */
int snprintk(char *buf, size_t size, const char *fmt, ...) PRINTF_LIKE(3, 4);
int vsnprintk(char *buf, size_t size, const char *fmt, va_list ap);

/*
 * For a broken invariant.  Stops every other CPU (NMI), prints the message and a
 * backtrace with symbols of every CPU, and ends QEMU with QEMU_EXIT_PANIC.
 */
void panic(const char *fmt, ...) NORETURN PRINTF_LIKE(1, 2);

#define assert(e)                                                                                  \
	((e) ? (void)0 : panic("%s:%d: %s: assertion failed: %s", __FILE__, __LINE__, __func__, #e))

#ifdef WEFT_DEBUG
#define debug_assert(e) assert(e) /* costly checks: DEBUG=1 */
#else
#define debug_assert(e) ((void)sizeof(!(e)))
#endif

/* Values written to the debug-exit device; QEMU's status is 2 * value + 1. */
#define QEMU_EXIT_OK 0x10    /* QEMU ends with 33 */
#define QEMU_EXIT_PANIC 0x11 /* QEMU ends with 35 */
#define QEMU_EXIT_STANDSTILL                                                                       \
	0x12 /* QEMU ends with 37: nothing can happen any more, or time is up */
