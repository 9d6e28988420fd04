/*
 * syscall.h - the kernel's side of the system calls: one handler for each call, under
 * the name of weft/syscall.h.  A handler gets the six argument registers as they
 * came.  It runs on the caller's LWP with interrupts on, may sleep, and returns a
 * result of 0 or more or the negative of an error number.
 */
#pragma once
#include <weft/errno.h>
#include <weft/syscall.h>
#include "types.h"

#define X(number, name, nargs) int64_t sys_##name(const uint64_t arg[6]);
SYSCALLS(X)
#undef X
