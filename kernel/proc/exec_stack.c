/*
 * exec_stack.c - the strings of a new program, and its first stack.
 *
 * The stack belongs to an address space that no CPU uses yet.  It is mapped like any
 * anonymous memory, and written through the direct map by as_copyout, which faults in
 * the pages that it touches.  as_map_page would not do: it would make one mapping for
 * each page, and fork and munmap would have to treat these pages as a special case.
 *
 * The layout, from the top down (System V ABI for x86-64, 3.4.1):
 *
 *	USER_STACK_TOP
 *	  the strings of argv, then those of envp
 *	  up to 15 bytes, so that RSP is a multiple of 16
 *	  the auxiliary vector, ending with AT_NULL
 *	  envp[], NULL
 *	  argv[], NULL
 *	  argc                                       <- RSP
 */
#include <weft/errno.h>
#include <weft/mman.h>
#include <weft/proc.h>
#include <kern/cache.h>
#include <kern/exec.h>
#include <kern/sched.h>
#include <kern/space.h>
#include <kern/usercopy.h>

#define STRING_PIECE 4096 /* bytes of a string that are copied at a time */

/* --- gathering the strings -------------------------------------------------------- */

static int exec_strings_begin(struct exec_strings *s)
{
	*s = (struct exec_strings){.buf = kmalloc(WEFT_ARG_MAX)};
	return s->buf != NULL ? 0 : -ENOMEM;
}

/* Appends one string from user memory: 0, -EFAULT, -E2BIG.  May yield the CPU. */
static int add_string(struct exec_strings *s, vaddr_t p)
{
	for (;;) {
		size_t room = MIN(WEFT_ARG_MAX - s->len, STRING_PIECE);
		int64_t len = copyinstr(s->buf + s->len, p, room);
		preempt_point();
		if (len >= 0) {
			s->len += len + 1;
			return 0;
		}
		if (len != -ENAMETOOLONG)
			return len;
		s->len += room;
		p += room;
		if (s->len == WEFT_ARG_MAX)
			return -E2BIG;
	}
}

/* Appends the strings of one vector in user memory, and counts them.  Errors of add_string. */
static int add_user(struct exec_strings *s, vaddr_t vec, unsigned *count)
{
	for (;; vec += sizeof(uint64_t)) {
		uint64_t p;
		int err = copyin(&p, vec, sizeof(p));
		if (err != 0)
			return err;
		if (p == 0)
			return 0;
		err = add_string(s, p);
		if (err != 0)
			return err;
		++*count;
	}
}

int exec_strings_copyin(struct exec_strings *s, vaddr_t argv, vaddr_t envp)
{
	int err = exec_strings_begin(s);
	if (err != 0)
		return err;
	err = add_user(s, argv, &s->argc);
	if (err == 0)
		err = add_user(s, envp, &s->envc);
	if (err != 0)
		exec_strings_free(s);
	return err;
}

static int add_kernel(struct exec_strings *s, char *const vec[], unsigned *count)
{
	for (; *vec != NULL; vec++) {
		size_t size = strlen(*vec) + 1;
		if (size > WEFT_ARG_MAX - s->len)
			return -E2BIG;
		memcpy(s->buf + s->len, *vec, size);
		s->len += size;
		++*count;
	}
	return 0;
}

int exec_strings_kernel(struct exec_strings *s, char *const argv[], char *const envp[])
{
	int err = exec_strings_begin(s);
	if (err != 0)
		return err;
	err = add_kernel(s, argv, &s->argc);
	if (err == 0)
		err = add_kernel(s, envp, &s->envc);
	if (err != 0)
		exec_strings_free(s);
	return err;
}

void exec_strings_free(struct exec_strings *s)
{
	kfree(s->buf);
	*s = (struct exec_strings){0};
}

/* --- laying out the stack ------------------------------------------------------------ */

/* Writes the words below the strings in pieces, upwards from `at`. */
struct words {
	struct address_space *as;
	vaddr_t at;
	unsigned n;
	uint64_t buf[64];
	int err;
};

static void flush_words(struct words *w)
{
	if (w->err == 0)
		w->err = as_copyout(w->as, w->at, w->buf, w->n * sizeof(uint64_t));
	w->at += w->n * sizeof(uint64_t);
	w->n = 0;
}

static void put_word(struct words *w, uint64_t v)
{
	if (w->n == ARRAY_LEN(w->buf))
		flush_words(w);
	w->buf[w->n++] = v;
}

/*
 * Writes argv or envp: the addresses of the next `count` strings in the new
 * process, and NULL.  *off moves past the strings.
 */
static void put_pointers(struct words *w, const struct exec_strings *s, vaddr_t strings,
			 unsigned count, size_t *off)
{
	for (unsigned i = 0; i < count; i++) {
		put_word(w, strings + *off);
		*off += strlen(s->buf + *off) + 1;
		preempt_point();
	}
	put_word(w, 0);
}

#define USER_STACK_MIN (WEFT_ARG_MAX * 10 + 65536)
_Static_assert(USER_STACK_MIN % PAGE_SIZE == 0, "whole pages");

/* The stack always has room for the strings and their addresses. */
vaddr_t exec_stack_bottom(const struct address_space *as)
{
	uint64_t size = MAX(PAGE_ROUND_DOWN(as->max_stack), USER_STACK_MIN);

	return USER_STACK_TOP - MIN(size, USER_STACK_SIZE);
}

static int exec_stack_map(struct address_space *as)
{
	/* WEFT_MAP_NORESERVE, because few programs use more than a few pages of the stack. */
	const uint32_t flags =
		WEFT_MAP_PRIVATE | WEFT_MAP_ANON | WEFT_MAP_FIXED | WEFT_MAP_NORESERVE;
	vaddr_t bottom = exec_stack_bottom(as);
	uint64_t size = USER_STACK_TOP - bottom;

	int64_t at = as_map(as, bottom, size, WEFT_PROT_READ | WEFT_PROT_WRITE, flags, NULL, 0, 0);
	if (at >= 0)
		at = as_map(as, bottom - USER_STACK_GUARD, USER_STACK_GUARD, WEFT_PROT_NONE, flags,
			    NULL, 0, 0);
	return at < 0 ? at : 0;
}

int exec_stack(struct address_space *as, const struct exec_strings *s, const struct auxv *aux,
	       unsigned naux, vaddr_t *sp)
{
	int err = exec_stack_map(as);
	if (err != 0)
		return err;

	/* WEFT_ARG_MAX bounds the strings.  Each string has a NUL, so it also bounds the pointers.
	 * Together they are far smaller than the stack. */
	vaddr_t strings = USER_STACK_TOP - s->len;
	uint64_t nwords = 1 + s->argc + 1 + s->envc + 1 + 2 * (naux + 1);
	struct words w = {.as = as, .at = (strings - nwords * sizeof(uint64_t)) & ~15ull};
	size_t off = 0;

	*sp = w.at;
	put_word(&w, s->argc);
	put_pointers(&w, s, strings, s->argc, &off);
	put_pointers(&w, s, strings, s->envc, &off);
	for (unsigned i = 0; i < naux; i++) {
		put_word(&w, aux[i].tag);
		put_word(&w, aux[i].value);
	}
	put_word(&w, AT_NULL);
	put_word(&w, 0);
	flush_words(&w);
	return w.err != 0 ? w.err : as_copyout(as, strings, s->buf, s->len);
}
