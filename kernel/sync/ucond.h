/* ucond.h - condition variables and semaphores in user memory, for the calls on them. */
#pragma once
#include "usleep.h"

/* Errors as of the calls (syscall/ksync.c). */
int ucond_wait(vaddr_t addr, vaddr_t mutex, uint64_t me, hrtime_t deadline);
int ucond_signal(vaddr_t addr);
int ucond_broadcast(vaddr_t addr);
int usema_wait(vaddr_t addr, hrtime_t deadline, bool wait); /* -EAGAIN with wait false */
int usema_post(vaddr_t addr);
