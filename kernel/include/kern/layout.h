/*
 * layout.h - the kernel half of every address space.
 *
 * All address spaces share it.  Its top-level entries are made at boot and never change.
 *
 * KDIRECT  all physical memory, RW, NX; at least the first 4 GiB.  What is not RAM is uncached:
 *          device registers are reached here too.
 * KSTACKS  kernel stacks, each with an unmapped guard page below
 * KIMAGE   the kernel: text R-X, rodata R--, data RW-
 */
#pragma once
#include "types.h"

#define KDIRECT 0xffff800000000000ull
#define KSTACKS 0xffffc00000000000ull
#define KIMAGE 0xffffffff80000000ull

static inline void *phys_to_virt(paddr_t p)
{
	return (void *)(KDIRECT + p);
}
static inline paddr_t virt_to_phys(const void *v) /* direct map only */
{
	return (paddr_t)v - KDIRECT;
}
/* Physical address of an object in the kernel image. */
static inline paddr_t image_to_phys(const void *v)
{
	return (paddr_t)v - KIMAGE;
}
