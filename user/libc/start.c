/*
 * start.c - from the kernel's initial stack to main (the order: weft/start.h).
 */
#include <stdint.h>
#include <stdlib.h>
#include <reent.h>
#include <unistd.h>
#include <weft/start.h>
#include "libc.h"

const struct timepage *__timepage;
unsigned __ncpu;
const struct auxv *__auxv;
const char *__argv0;

typedef void initfn(void);
extern initfn *__preinit_array_start[], *__preinit_array_end[];
extern initfn *__init_array_start[], *__init_array_end[];
extern initfn *__fini_array_start[], *__fini_array_end[];

extern void __sinit(struct _reent *); /* newlib: opens stdin, stdout, stderr */
extern int main(int argc, char **argv, char **envp);
void __libc_start(uintptr_t *sp) __attribute__((noreturn));

uint64_t __auxval(uint64_t tag)
{
	const struct auxv *a;

	for (a = __auxv; a->tag != AT_NULL; a++)
		if (a->tag == tag)
			return a->value;
	return 0;
}

static void initfns_run(initfn **from, initfn **to)
{
	for (; from < to; from++)
		(*from)();
}

static void run_fini(void)
{
	initfn **f = __fini_array_end;

	while (f > __fini_array_start)
		(*--f)();
}

/* Called by crt0 on the initial stack; sp points at argc. */
void __libc_start(uintptr_t *sp)
{
	int argc = sp[0];
	char **argv = (char **)(sp + 1);
	char **envp = argv + argc + 1;
	char **p = envp;

	while (*p)
		p++;
	environ = envp;
	__argv0 = argv[0];
	__auxv = (const struct auxv *)(p + 1);
	__timepage = (const struct timepage *)__auxval(AT_WEFT_TIMEPAGE);
	__ncpu = __auxval(AT_WEFT_NCPU);
	__libthread_init(argc, argv, envp, __auxv);

	/*
	 * exit() flushes the streams of _GLOBAL_REENT alone.  If the thread that prints first set
	 * up the streams later, they would be lost when another thread exits.
	 */
	__sinit(_GLOBAL_REENT);
	atexit(run_fini); /* registered first: runs last */
	initfns_run(__preinit_array_start, __preinit_array_end);
	initfns_run(__init_array_start, __init_array_end);
	exit(main(argc, argv, environ));
}

void _exit(int status)
{
	__sys_exit(status);
}
