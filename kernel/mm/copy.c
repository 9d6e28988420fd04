/*
 * copy.c - copies between the kernel and the current process's memory.
 *
 * The address is checked here, once, against the end of user space.  Whether it is
 * mapped shows at the access itself (usercopy.S).  A page fault may sleep, so no spin lock
 * may be held.
 */
#include <weft/errno.h>
#include <kern/cpu.h>
#include <kern/printk.h>
#include <kern/usercopy.h>
#include "impl.h"

/* usercopy.S */
size_t user_copy(void *dst, const void *src, size_t n);
int64_t user_strcpy(char *dst, const char *src, size_t n);

static bool user_range_outside(vaddr_t addr, size_t n)
{
	debug_assert(irq_enabled() && this_cpu()->nlocks == 0);
	return addr > WEFT_USER_END || n > WEFT_USER_END - addr;
}

int copyin(void *dst, vaddr_t src, size_t n)
{
	return user_range_outside(src, n) || user_copy(dst, (const void *)src, n) != 0 ? -EFAULT
										       : 0;
}

int copyout(vaddr_t dst, const void *src, size_t n)
{
	return user_range_outside(dst, n) || user_copy((void *)dst, src, n) != 0 ? -EFAULT : 0;
}

int64_t copyinstr(char *dst, vaddr_t src, size_t size)
{
	if (user_range_outside(src, 0))
		return -EFAULT;
	size_t most = MIN(size, WEFT_USER_END - src);
	int64_t len = user_strcpy(dst, (const char *)src, most);
	if (len < 0)
		return -EFAULT;
	if ((size_t)len < most)
		return len;
	return most < size ? -EFAULT : -ENAMETOOLONG;
}
