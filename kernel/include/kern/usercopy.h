/*
 * usercopy.h - reads and writes of user memory (mm/usercopy.S, mm/copy.c).
 */
#pragma once
#include "types.h"

/*
 * All may fault the page in, so may sleep; no spin lock may be held.  0, or
 * -EFAULT when any byte is not the current process's to read or write.
 */
int copyin(void *dst, vaddr_t src, size_t n);
int copyout(vaddr_t dst, const void *src, size_t n);
/* Copies a string with its NUL; the length without it, or -EFAULT,
 * -ENAMETOOLONG when size bytes hold no NUL: dst has them then. */
int64_t copyinstr(char *dst, vaddr_t src, size_t size);

/*
 * Single accesses that may be made under a spin lock, since they do not wait for a page:
 * -EFAULT if it is not there, for reading or writing as needed; then as_fault brings it,
 * or says why it cannot.  p is aligned, and below WEFT_USER_END.  Interrupts off.
 * user_cas: 0: *p was *old and is `to` now; 1: it was not, and *old is what it was.
 * Sequentially consistent.
 */
int user_load32(uint32_t *to, vaddr_t p);
int user_load64(uint64_t *to, vaddr_t p);
int user_cas32(vaddr_t p, uint32_t *old, uint32_t to);
int user_cas64(vaddr_t p, uint64_t *old, uint64_t to);
