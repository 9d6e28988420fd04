/*
 * exec_stack_test.c - the first stack of a process (kernel/proc/exec_stack.c) on the
 * host: laid out in an array that stands for the new address space, then read as a
 * program would read it.
 *
 *	exec_stack_test NENV STRING...	the last NENV strings are the environment
 */
#include <weft/proc.h>
#include <kern/cache.h>
#include <kern/exec.h>
#include <kern/space.h>
#include <kern/usercopy.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft/errno.h>
#include <weft/mman.h>

#define CHECK(e)                                                                                   \
	((e) ? (void)0 : (fprintf(stderr, "exec_stack_test.c:%d: %s\n", __LINE__, #e), exit(1)))

#define BOTTOM (USER_STACK_TOP - USER_STACK_SIZE)

static uint8_t stack[USER_STACK_SIZE];
static unsigned maps;
static bool fail_copy;

/* --- what the file needs of the rest of the kernel ---------------------------------- */

static struct address_space space = {.max_stack = UINT64_MAX};

int64_t as_map(struct address_space *as, vaddr_t addr, uint64_t len, int prot, uint32_t flags,
	       struct vnode *vn, uint64_t off, uint64_t file_end)
{
	CHECK(flags == (WEFT_MAP_PRIVATE | WEFT_MAP_ANON | WEFT_MAP_FIXED | WEFT_MAP_NORESERVE) &&
	      vn == NULL);
	if (maps++ == 0) {
		CHECK(addr == BOTTOM && len == USER_STACK_SIZE);
		CHECK(prot == (WEFT_PROT_READ | WEFT_PROT_WRITE));
	} else {
		CHECK(addr + len == BOTTOM && len == USER_STACK_GUARD && prot == WEFT_PROT_NONE);
	}
	return addr;
}

int as_copyout(struct address_space *as, vaddr_t dst, const void *src, size_t n)
{
	CHECK(maps == 2 && dst >= BOTTOM && dst <= USER_STACK_TOP && n <= USER_STACK_TOP - dst);
	if (fail_copy)
		return -ENOMEM;
	memcpy(stack + (dst - BOTTOM), src, n);
	return 0;
}

/* The caller's memory is ours; what lies below one page is not. */
int copyin(void *dst, vaddr_t src, size_t n)
{
	if (src < PAGE_SIZE)
		return -EFAULT;
	memcpy(dst, (const void *)(uintptr_t)src, n);
	return 0;
}

int64_t copyinstr(char *dst, vaddr_t src, size_t size)
{
	if (src < PAGE_SIZE)
		return -EFAULT;
	size_t len = strnlen((const char *)(uintptr_t)src, size);
	memcpy(dst, (const char *)(uintptr_t)src, MIN(len + 1, size));
	return len == size ? -ENAMETOOLONG : (int64_t)len;
}

static unsigned allocated;

void *kmalloc(size_t size)
{
	allocated++;
	return malloc(size);
}

void kfree(void *p)
{
	allocated -= p != NULL;
	free(p);
}

/* --- the tests ------------------------------------------------------------------------ */

static vaddr_t at; /* where we read in the new process */

static uint64_t next_word(void)
{
	uint64_t v;
	CHECK(at >= BOTTOM && at <= USER_STACK_TOP - 8);
	memcpy(&v, stack + (at - BOTTOM), sizeof(v));
	at += 8;
	return v;
}

static void expect_vector(char **strings, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		uint64_t p = next_word();
		CHECK(p >= BOTTOM && p < USER_STACK_TOP);
		CHECK(strcmp((char *)stack + (p - BOTTOM), strings[i]) == 0);
	}
	CHECK(next_word() == 0);
}

static void lay_out(const struct exec_strings *s, char **argv, unsigned argc, char **envp,
		    unsigned envc, unsigned naux)
{
	struct auxv aux[8];
	vaddr_t sp = 0;

	for (unsigned i = 0; i < naux; i++)
		aux[i] = (struct auxv){.tag = 100 + i, .value = 1000 + i};
	CHECK(s->argc == argc && s->envc == envc);
	memset(stack, 0x55, sizeof(stack));
	maps = 0;
	CHECK(exec_stack(&space, s, aux, naux, &sp) == 0);
	CHECK(sp % 16 == 0);
	at = sp;
	CHECK(next_word() == argc);
	expect_vector(argv, argc);
	expect_vector(envp, envc);
	for (unsigned i = 0; i < naux; i++)
		CHECK(next_word() == 100 + i && next_word() == 1000 + i);
	CHECK(next_word() == AT_NULL && next_word() == 0);
	/* Nothing was written below. */
	CHECK(stack[sp - BOTTOM - 1] == 0x55);
	maps = 0;
	fail_copy = true;
	CHECK(exec_stack(&space, s, aux, naux, &sp) == -ENOMEM);
	fail_copy = false;
}

static void bad_vectors(void)
{
	static char big[WEFT_ARG_MAX + 1], *one[] = {big, NULL}, *none[] = {NULL};
	static char *with_bad[] = {"good", (char *)16, NULL};
	static char *many[WEFT_ARG_MAX + 2];
	struct exec_strings s;

	memset(big, 'x', WEFT_ARG_MAX);
	CHECK(exec_strings_kernel(&s, one, none) == -E2BIG);
	CHECK(exec_strings_copyin(&s, (uintptr_t)one, (uintptr_t)none) == -E2BIG);
	big[WEFT_ARG_MAX - 1] = '\0';
	CHECK(exec_strings_copyin(&s, (uintptr_t)one, (uintptr_t)none) == 0);
	lay_out(&s, one, 1, none, 0, 1);
	exec_strings_free(&s);
	CHECK(exec_strings_copyin(&s, (uintptr_t)one, (uintptr_t)one) == -E2BIG);

	/* As many empty strings as there is room for, and one more. */
	for (unsigned i = 0; i <= WEFT_ARG_MAX; i++)
		many[i] = "";
	CHECK(exec_strings_copyin(&s, (uintptr_t)many, (uintptr_t)none) == -E2BIG);
	many[WEFT_ARG_MAX] = NULL;
	CHECK(exec_strings_copyin(&s, (uintptr_t)many, (uintptr_t)none) == 0);
	lay_out(&s, many, WEFT_ARG_MAX, none, 0, 8);
	exec_strings_free(&s);

	CHECK(exec_strings_copyin(&s, 0, (uintptr_t)none) == -EFAULT);
	CHECK(exec_strings_copyin(&s, (uintptr_t)none, 8) == -EFAULT);
	CHECK(exec_strings_copyin(&s, (uintptr_t)with_bad, (uintptr_t)none) == -EFAULT);
	CHECK(allocated == 0);
}

int main(int argc, char **argv)
{
	unsigned nenv = atoi(argv[1]), narg = argc - 2 - nenv;
	char **args = calloc(narg + 1, sizeof(char *)), **env = argv + 2 + narg;
	struct exec_strings s;

	memcpy(args, argv + 2, narg * sizeof(char *));
	for (unsigned naux = 0; naux < 8; naux++) {
		CHECK(exec_strings_kernel(&s, args, env) == 0);
		lay_out(&s, args, narg, env, nenv, naux);
		exec_strings_free(&s);
		CHECK(exec_strings_copyin(&s, (uintptr_t)args, (uintptr_t)env) == 0);
		lay_out(&s, args, narg, env, nenv, naux);
		exec_strings_free(&s);
	}
	CHECK(allocated == 0);
	bad_vectors();
	return 0;
}
