/*
 * serial.c - the 16550 UART at COM1.
 *
 * Output is polled, in bursts: when the transmitter is empty it takes a whole FIFO, so the line
 * status is read once for 16 bytes.  Input arrives by interrupt.  The console's lock serializes the
 * writers.  Only the interrupt handler reads the receiver, so it needs no lock.
 */
#include <kern/cpu.h>
#include <kern/serial.h>
#include <kern/trap.h>

#define DEBUG_PORT 0xe9 /* QEMU: isa-debugcon */
#define COM1 0x3f8
#define COM1_IRQ 4

enum { /* registers */
       DATA = 0,
       IER = 1, /* interrupt enable */
       FCR = 2, /* FIFO control */
       LCR = 3, /* line control */
       MCR = 4, /* modem control */
       LSR = 5, /* line status */
       SCRATCH = 7,
};
#define LSR_RECEIVED 0x01
#define LSR_SENT 0x20 /* the transmit FIFO is empty */
#define FIFO_SIZE 16

static bool present;
static bool debug_port; /* instead of the UART */
static bool receiving;
static void (*on_input)(char);

bool serial_init(void)
{
	outb(COM1 + SCRATCH, 0x5a);
	if (inb(COM1 + SCRATCH) != 0x5a)
		return false;
	outb(COM1 + IER, 0);
	outb(COM1 + LCR, 0x80); /* the next two writes set the divisor: 115,200 / 1 */
	outb(COM1 + DATA, 1);
	outb(COM1 + IER, 0);
	outb(COM1 + LCR, 0x03); /* 8 data bits, 1 stop bit, no parity */
	outb(COM1 + FCR, 0xc7); /* on and cleared; an interrupt at 14 bytes, or 4 byte times */
	outb(COM1 + MCR, 0x0b); /* DTR, RTS, and OUT2: the gate of the interrupt line */
	present = true;
	return true;
}

void serial_use_debug_port(void)
{
	present = false;
	debug_port = true;
}

void serial_write(const char *s, size_t n)
{
	for (; debug_port && n > 0; n--)
		outb(DEBUG_PORT, *s++);
	while (present && n > 0) {
		while (!(inb(COM1 + LSR) & LSR_SENT))
			cpu_pause();
		for (unsigned i = 0; i < FIFO_SIZE && n > 0; i++, n--)
			outb(COM1 + DATA, *s++);
	}
}

static void serial_interrupt(void)
{
	while (__atomic_load_n(&receiving, __ATOMIC_RELAXED) && (inb(COM1 + LSR) & LSR_RECEIVED))
		on_input(inb(COM1 + DATA));
}

void serial_receive(bool on)
{
	if (!present)
		return;
	__atomic_store_n(&receiving, on, __ATOMIC_RELAXED);
	outb(COM1 + IER, on); /* received data; a byte that arrived meanwhile interrupts at once */
}

void serial_on_input(void (*fn)(char))
{
	if (!present)
		return;
	on_input = fn;
	irq_register(COM1_IRQ, serial_interrupt);
	serial_receive(true);
}
