/* urwlock.h - reader-writer locks and barriers in user memory, for the calls on them. */
#pragma once
#include "usleep.h"

/* Errors as of the calls (syscall/ksync.c). */
int urwlock_read(vaddr_t addr, bool again, hrtime_t deadline);
int urwlock_write(vaddr_t addr, hrtime_t deadline);
int urwlock_unlock(vaddr_t addr);
int ubarrier_wait(vaddr_t addr, uint32_t cycle, bool arrived);
