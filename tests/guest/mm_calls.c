/*
 * mm_calls.c - mmap, munmap, mprotect and brk: what they do, what they refuse, and
 * that a refusal changes nothing.  Started with a word it commits that fault.
 */
#include "mmtest.h"

#define PATH "/bin/mm_calls"

static uint64_t *word(char *p)
{
	return (uint64_t *)p;
}

/* --- what is refused ------------------------------------------------------------------- */

static void bad_mmap(void)
{
	const long size = 1l << 47;
	char *p = must_map(PAGE, RW);

	is("mmap: no length", map(NULL, 0, RW, ANON), -EINVAL);
	is("mmap: a length that wraps", map(NULL, ~0ul, RW, ANON), -EINVAL);
	is("mmap: more than the address space", map(NULL, size, NONE, ANON), -ENOMEM);
	is("mmap: neither private nor shared", map(NULL, PAGE, RW, WEFT_MAP_ANON), -EINVAL);
	is("mmap: both", map(NULL, PAGE, RW, ANON | WEFT_MAP_SHARED), -EINVAL);
	is("mmap: an unknown flag", map(NULL, PAGE, RW, ANON | 0x100000), -EINVAL);
	is("mmap: an unknown protection", map(NULL, PAGE, 8, ANON), -EINVAL);
	is("mmap: a fixed address off a page", map(p + 1, PAGE, RW, AT), -EINVAL);
	is("mmap: address 0", map(NULL, PAGE, RW, AT), -ENOMEM);
	is("mmap: below user space", map((void *)0x3ff000, PAGE, RW, AT), -ENOMEM);
	is("mmap: above user space", map((void *)WEFT_USER_END, PAGE, RW, AT), -ENOMEM);
	is("mmap: the last page", map((void *)(WEFT_USER_END - PAGE), 2 * PAGE, RW, AT), -ENOMEM);
	is("mmap: the kernel", map((void *)0xffff800000000000, PAGE, RW, AT), -ENOMEM);
	is("mmap: a range that wraps", map(p, -(uint64_t)p, RW, AT), -ENOMEM);
	is("mmap: more than the machine's memory", map(NULL, 1ul << 40, RW, ANON), -ENOMEM);
	long big = map(NULL, 1ul << 40, RW, ANON | WEFT_MAP_NORESERVE);
	ok("mmap: the same with NORESERVE", big > 0);
	is("munmap: that", __sys_munmap((void *)big, 1ul << 40), 0);
	*word(p) = 1;
	is("nothing was harmed", *word(p), 1);
	__sys_munmap(p, PAGE);
}

static void bad_munmap(void)
{
	char *p = must_map(PAGE, RW);

	is("munmap: no length", __sys_munmap(p, 0), -EINVAL);
	is("munmap: off a page", __sys_munmap(p + 8, PAGE), -EINVAL);
	is("munmap: a length that wraps", __sys_munmap(p, ~0ul), -EINVAL);
	is("munmap: beyond user space", __sys_munmap((void *)WEFT_USER_END, PAGE), -EINVAL);
	is("munmap: the kernel", __sys_munmap((void *)0xffff800000000000, PAGE), -EINVAL);
	is("munmap: up to the end of user space",
	   __sys_munmap(p, WEFT_USER_END - (uint64_t)p + PAGE), -EINVAL);
	ok("nothing was unmapped", writable(p));
	is("munmap: it", __sys_munmap(p, PAGE), 0);
	ok("it is gone", !readable(p));
	is("munmap: where nothing is", __sys_munmap(p, PAGE), 0);
}

static void bad_mprotect(void)
{
	char *p = must_map(4 * PAGE, RW);
	char *timepage = (char *)__auxval(AT_WEFT_TIMEPAGE);

	__sys_munmap(p + 2 * PAGE, PAGE);
	is("mprotect: off a page", __sys_mprotect(p + 1, PAGE, R), -EINVAL);
	is("mprotect: an unknown protection", __sys_mprotect(p, PAGE, 0x10), -EINVAL);
	is("mprotect: a length that wraps", __sys_mprotect(p, ~0ul - PAGE, R), -ENOMEM);
	is("mprotect: beyond user space", __sys_mprotect((void *)WEFT_USER_END, PAGE, R), -ENOMEM);
	is("mprotect: a hole in the range", __sys_mprotect(p, 4 * PAGE, R), -ENOMEM);
	ok("nothing was protected", writable(p) && writable(p + PAGE) && writable(p + 3 * PAGE));
	is("mprotect: up to the end of user space",
	   __sys_mprotect((void *)(WEFT_USER_END - PAGE), PAGE, RW), 0);
	is("mprotect: nothing at all", __sys_mprotect(p, 0, NONE), 0);
	ok("which does nothing", writable(p));
	is("mprotect: the time page", __sys_mprotect(timepage, PAGE, RW), -EACCES);
	ok("it cannot be written", !writable(timepage));
	ok("it can be read", readable(timepage));
	__sys_munmap(p, 4 * PAGE);
}

/* --- what they do ------------------------------------------------------------------------ */

static void demand_zero(void)
{
	const size_t n = 64;
	uint64_t before = resident();
	char *p = must_map(n * PAGE, RW);
	uint64_t sum = 0;

	is("mapping takes no page", resident(), before);
	for (size_t i = 0; i < n * PAGE / 8; i++)
		sum |= word(p)[i];
	is("fresh memory is zero", sum, 0);
	is("reading brings the pages", resident() - before, n);
	for (size_t i = 0; i < n; i++)
		*word(p + i * PAGE) = i + 1;
	for (size_t i = 0; i < n; i++)
		sum += *word(p + i * PAGE) == i + 1;
	is("each page is its own", sum, n);
	is("writing brings no more", resident() - before, n);
	__sys_munmap(p, n * PAGE);
	is("munmap gives them back", resident(), before);
}

static void placement(void)
{
	char *p = must_map(8 * PAGE, RW);
	char *hole = p + 2 * PAGE;

	__sys_munmap(hole, 4 * PAGE);
	is("mmap: an address that is free is taken", map(hole + PAGE, PAGE, RW, ANON),
	   (long)(hole + PAGE));
	long q = map(hole, 2 * PAGE, RW, ANON);
	is("mmap: one that is not is only a hint, and room that just fits is found", q,
	   (long)(hole + 2 * PAGE));
	is("mmap: a hint off a page", map(hole + 5, PAGE, RW, ANON), (long)hole);
	long far = map((void *)~0xffful, PAGE, RW, ANON);
	ok("mmap: a hint in the kernel", far > 0);
	__sys_munmap((void *)far, PAGE);
	is("mmap: a length is rounded up", map(hole, PAGE + 1, R, AT), (long)hole);
	ok("by whole pages",
	   readable(hole + PAGE) && !writable(hole + PAGE) && writable(hole + 2 * PAGE));
	*word(p) = 5;
	*word(p + 7 * PAGE) = 6;
	is("mmap: fixed, over what was there", map(p + PAGE, 6 * PAGE, RW, AT), (long)(p + PAGE));
	ok("it is zero, its neighbours are as before",
	   *word(p + PAGE) == 0 && *word(p + 6 * PAGE) == 0 && *word(p) == 5 &&
		   *word(p + 7 * PAGE) == 6);
	__sys_munmap(p, 8 * PAGE);

	long s = map(NULL, PAGE, RW, WEFT_MAP_SHARED | WEFT_MAP_ANON);
	ok("mmap: shared memory", s > 0 && writable((void *)s));
	__sys_munmap((void *)s, PAGE);
}

static void partial(void)
{
	char *p = must_map(9 * PAGE, RW);
	int left = 0;

	for (int i = 0; i < 9; i++)
		*word(p + i * PAGE) = i + 1;
	__sys_munmap(p, PAGE);            /* the beginning */
	__sys_munmap(p + 4 * PAGE, PAGE); /* the middle */
	__sys_munmap(p + 8 * PAGE, PAGE); /* the end */
	ok("munmap: three pieces of a mapping",
	   !readable(p) && !readable(p + 4 * PAGE) && !readable(p + 8 * PAGE));
	for (int i = 0; i < 9; i++)
		if (i % 4 != 0)
			left += *word(p + i * PAGE) == (uint64_t)i + 1;
	is("the others are as before", left, 6);
	is("munmap: a range with holes", __sys_munmap(p, 9 * PAGE), 0);
	ok("all is gone", !readable(p + PAGE) && !readable(p + 7 * PAGE));
}

static void protection(void)
{
	char *p = must_map(5 * PAGE, RW);
	int kept = 0;

	for (int i = 0; i < 5; i++)
		*word(p + i * PAGE) = 100 + i;
	__sys_mprotect(p + PAGE, 3 * PAGE, NONE);
	ok("mprotect: none", !readable(p + PAGE) && !readable(p + 3 * PAGE));
	ok("only there", writable(p + 2048) && writable(p + 4 * PAGE + 2048));
	__sys_mprotect(p + 2 * PAGE, PAGE, R);
	ok("mprotect: read", readable(p + 2 * PAGE) && !writable(p + 2 * PAGE + 2048));
	__sys_mprotect(p, 5 * PAGE, RW);
	for (int i = 0; i < 5; i++)
		kept += *word(p + i * PAGE) == (uint64_t)100 + i;
	is("what was forbidden keeps its contents", kept, 5);
	ok("and can be written again", writable(p + PAGE + 2048) && writable(p + 2 * PAGE + 2048));

	/* A copy that begins in memory and ends outside of it. */
	__sys_mprotect(p + PAGE, PAGE, NONE);
	ok("a copy into a forbidden page fails", !writable(p + PAGE - 8));
	__sys_munmap(p + PAGE, PAGE);
	ok("a copy into a hole too", !writable(p + PAGE - 8));
	*word(p + PAGE - 8) = 0x4141414141414141;
	ok("a string that runs into a hole", !readable(p + PAGE - 8));
	__sys_munmap(p, 5 * PAGE);

	static const unsigned char code[] = {0xb8, 42, 0, 0, 0, 0xc3}; /* mov $42, %eax; ret */
	char *x = must_map(PAGE, RW);
	memcpy(x, code, sizeof(code));
	is("mprotect: executable", __sys_mprotect(x, PAGE, R | WEFT_PROT_EXEC), 0);
	is("it runs", ((int (*)(void))(uintptr_t)x)(), 42);
	__sys_munmap(x, PAGE);
}

static void heap(void)
{
	long was = __sys_brk(NULL);
	long top = (was + PAGE - 1) & ~(PAGE - 1);
	char *p = (char *)top;

	is("brk: a page more", __sys_brk(p + PAGE), top + PAGE);
	ok("which is zero", *word(p) == 0);
	*word(p) = 7;
	is("brk: within the page", __sys_brk(p + 16), top + 16);
	is("it stays", *word(p), 7);
	is("brk: back", __sys_brk(p), top);
	ok("it is gone", !readable(p));
	is("brk: again", __sys_brk(p + 8 * PAGE), top + 8 * PAGE);
	ok("zero again", *word(p) == 0 && *word(p + 7 * PAGE) == 0);
	is("brk: below the heap", __sys_brk((void *)PAGE), top + 8 * PAGE);
	is("brk: beyond user space", __sys_brk((void *)WEFT_USER_END), top + 8 * PAGE);
	is("brk: the kernel", __sys_brk((void *)~0ul), top + 8 * PAGE);
	is("brk: more than the machine's memory", __sys_brk(p + (1ul << 40)), top + 8 * PAGE);
	map(p + 16 * PAGE, PAGE, RW, AT);
	is("brk: into a mapping", __sys_brk(p + 17 * PAGE), top + 8 * PAGE);
	is("brk: up to it", __sys_brk(p + 16 * PAGE), top + 16 * PAGE);
	*word(p + 16 * PAGE) = 9;
	is("brk: away from it", __sys_brk((void *)was), was);
	is("the mapping stays", *word(p + 16 * PAGE), 9);
	__sys_munmap(p + 16 * PAGE, PAGE);
}

/* --- what kills ------------------------------------------------------------------------------ */

static void commit(const char *what)
{
	char *p = must_map(4 * PAGE, RW);
	volatile char *v = p;

	if (strcmp(what, "read-none") == 0) {
		v[0] = 1;
		__sys_mprotect(p, PAGE, NONE);
		(void)v[0];
	} else if (strcmp(what, "write-read") == 0) {
		v[0] = 1;
		__sys_mprotect(p, PAGE, R);
		v[0] = 2;
	} else if (strcmp(what, "write-untouched") == 0) {
		__sys_mprotect(p, PAGE, R);
		v[0] = 2;
	} else if (strcmp(what, "execute") == 0) {
		v[0] = 0xc3;
		((void (*)(void))(uintptr_t)p)();
	} else if (strcmp(what, "unmapped") == 0) {
		v[0] = 1;
		__sys_munmap(p, PAGE);
		(void)v[0];
	} else if (strcmp(what, "time-page") == 0) {
		*(volatile char *)__auxval(AT_WEFT_TIMEPAGE) = 1;
	} else if (strcmp(what, "below-heap-end") == 0) {
		v = (char *)__sys_brk(NULL) + 2 * PAGE;
		v[0] = 1;
	}
	exit(1);
}

int main(int argc, char **argv)
{
	static const char *const faults[] = {"read-none",     "write-read", "write-untouched",
					     "execute",       "unmapped",   "time-page",
					     "below-heap-end"};
	if (argc > 1)
		commit(argv[1]);
	bad_mmap();
	bad_munmap();
	bad_mprotect();
	demand_zero();
	placement();
	partial();
	protection();
	heap();
	for (unsigned i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		is(faults[i], run_child(PATH, faults[i]), KILLED(WEFT_SIGSEGV));
	return tap_done();
}
