/*
 * tls.h - ELF thread-local storage (tls.c): where a thread's variables lie.
 */
#pragma once
#include <stddef.h>

/*
 * Set before the first thread is, then constant.  The variables of thread t are the `size` bytes
 * that end where t begins.  They lie directly below FS base, as the ABI requires (ELF Handling for
 * Thread-Local Storage, variant II).  size 0: the program has none.
 */
struct tls {
	const void *image; /* the initial values; bytes beyond it are zero */
	size_t image_size;
	size_t size;
	size_t align; /* of a struct thread; includes its own alignment */
};
extern struct tls __tls;

struct thread;

void __tls_find(void);
/* The variables of t get their initial values. */
void __tls_fill(struct thread *t);
static inline void tls_fill(struct thread *t)
{
	if (__builtin_expect(__tls.size != 0, 0))
		__tls_fill(t);
}
