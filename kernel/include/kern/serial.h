/* serial.h - the 16550 UART at COM1 (dev/serial.c). */
#pragma once
#include "types.h"

/* 115,200 baud, 8 bits, FIFO on, interrupts off.  False: there is no UART (output
 * is lost then).  CPU 0, before any other call. */
bool serial_init(void);
/* Exact timing: output goes to the debug console port, which needs no polling; there is
 * no input. */
void serial_use_debug_port(void);
/* Writes all n bytes; polls for room.  The caller excludes other writers. */
void serial_write(const char *s, size_t n);
/* fn(c) gets every byte received, from interrupt context on CPU 0.  Call it once. */
void serial_on_input(void (*fn)(char c));
/* Stops or resumes input.  While it is stopped, the sender waits once the receiver's
 * FIFO is full.  The caller serialises the calls; fn may call it too. */
void serial_receive(bool on);
