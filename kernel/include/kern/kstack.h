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
/* Returns the top (16-byte aligned); NULL: out of memory.  Freed stacks are
 * kept mapped, so that creating an LWP seldom touches page tables.  No TLB
 * shoot-down is needed: a stack's address never gets another use. */
void *kstack_alloc(void);
void kstack_free(void *top);
/* Pages of stacks that are kept for the next LWP; exact while no LWP is created or freed. */
uint64_t kstack_kept(void);
/* Does this address lie in a guard page?  For the message of a double fault. */
bool kstack_is_guard(uint64_t addr);
