/*
 * kstack.h - kernel stacks (mm/kstack.c).
 */
#pragma once
#include "types.h"

#ifdef WEFT_DEBUG
#define KSTACK_SIZE (16 * 1024)
#else
#define KSTACK_SIZE (8 * 1024)
#endif
/* Returns the top (16-byte aligned), NULL when out of memory.  Freed stacks are
 * cached, mapped, so that LWP creation seldom touches page tables.  No TLB
 * shoot-down is needed: a stack's address is never used for anything else. */
void *kstack_alloc(void);
void kstack_free(void *top);
/* Pages of stacks that wait for the next LWP: exact while none is made or ends. */
uint64_t kstack_kept(void);
/* Does this address lie in a guard page? (for the double-fault message) */
bool kstack_is_guard(uint64_t addr);
