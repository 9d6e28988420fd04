/*
 * usercopy.h - reads and writes of user memory (mm/usercopy.S, mm/copy.c).
 */
#pragma once
#include "types.h"

/*
 * These functions may fault the page in, so they may sleep; no spin lock may be held.  0, or
 * -EFAULT: the current process may not read or write one of the bytes.
 */
int copyin(void *dst, vaddr_t src, size_t n);
int copyout(vaddr_t dst, const void *src, size_t n);
/* Copies a string with its NUL.  Returns the length without the NUL, or -EFAULT, or
 * -ENAMETOOLONG: the first size bytes hold no NUL; dst has them then. */
int64_t copyinstr(char *dst, vaddr_t src, size_t size);

/*
 * Single accesses that may be made under a spin lock, because they do not wait for a page.
 * -EFAULT: the page is not there, for reading or writing as needed; then as_fault brings it in,
 * or says why it cannot.  p is aligned, and below WEFT_USER_END.  Interrupts off.
 * user_cas: 0: *p was *old and is `to` now; 1: *p had another value, which *old gets.
 * Sequentially consistent.
 */
int user_load32(uint32_t *to, vaddr_t p);
int user_load64(uint64_t *to, vaddr_t p);
int user_cas32(vaddr_t p, uint32_t *old, uint32_t to);
int user_cas64(vaddr_t p, uint64_t *old, uint64_t to);
