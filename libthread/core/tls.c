/*
 * tls.c - ELF thread-local storage: variables that programs declare __thread or _Thread_local.
 *
 * A program is linked statically, so all of its variables are one block.  The linker has computed
 * their offsets from FS base: they end at FS base, which points at struct thread.  core/memory.c
 * leaves room below each struct thread.  A program header says how much, and the kernel says where
 * the header is.  Most programs have no such variables, and need not touch the header's page.
 */
#include <string.h>
#include "tcb.h"
#include "tls.h"

struct program_header { /* System V ABI, 64 bits */
	uint32_t type, flags;
	uint64_t offset, vaddr, paddr, filesz, memsz, align;
};

struct tls __tls = {.align = _Alignof(struct thread)};

void __tls_find(void)
{
	const struct program_header *h = (const void *)__auxval(AT_WEFT_TLS);

	if (h == NULL)
		return;
	__tls.image = (const void *)h->vaddr;
	__tls.image_size = h->filesz;
	if (h->align > __tls.align)
		__tls.align = h->align;
	/* The block must begin at the same address as the image, modulo the block's alignment. */
	__tls.size = h->memsz;
	if (h->align > 1)
		__tls.size += -(h->memsz + h->vaddr) & (h->align - 1);
}

void __tls_fill(struct thread *t)
{
	char *block = (char *)t - __tls.size;

	memcpy(block, __tls.image, __tls.image_size);
	memset(block + __tls.image_size, 0, __tls.size - __tls.image_size);
}
