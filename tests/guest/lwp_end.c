/*
 * lwp_end.c - the end of many LWPs: what each costs does not depend on how many there are, and
 * their memory comes back.  In exact timing a nanosecond is an instruction.
 *
 * The LWPs need no stack: what they do, they do in registers.  Each storm is in a process of its
 * own, which ends with it.  With a number: so many parked LWPs alone (test_scale.py).
 */
#include "mmtest.h"
#include "kmem.h"
#include <sys/mman.h>
#include <sys/wait.h>

static volatile uint32_t awake, gone;

/* Parks; then takes a page away, if it has one, which other CPUs hear of; and exits. */
void lwp_body(void);
__asm__(".text\n"
	".globl lwp_body\n"
	"lwp_body:\n"
	"	movq %rdi, %r8\n"
	"	testq %r8, %r8\n"
	"	je 1f\n"
	"	movb $1, (%r8)\n"
	"1:	lock incl awake(%rip)\n"
	"	xorl %edi, %edi\n"
	"	xorl %esi, %esi\n"
	"	movl $24, %eax\n"
	"	syscall\n"
	"	testq %r8, %r8\n"
	"	je 2f\n"
	"	movq %r8, %rdi\n"
	"	movl $4096, %esi\n"
	"	movl $41, %eax\n"
	"	syscall\n"
	"2:	lock incl gone(%rip)\n"
	"	movl $17, %eax\n"
	"	syscall\n");
_Static_assert(SYS_lwp_park == 24 && SYS_lwp_exit == 17 && SYS_munmap == 41, "lwp_body");

static volatile uint64_t *began;

static void nap(void)
{
	const struct weft_timespec tick = {.nsec = WEFT_TICK_NS};
	__sys_lwp_sleep(WEFT_CLOCK_MONOTONIC, 0, &tick);
}

/* n LWPs that park, with a page each if `pages` is not NULL. */
static void create(uint32_t n, char *pages)
{
	for (uint32_t i = 0; i < n; i++) {
		struct lwp_create c = {.entry = (uint64_t)lwp_body, .flags = LWP_DETACHED};
		if (pages != NULL)
			c.arg = (uint64_t)pages + 2 * i * PAGE;
		if (__sys_lwp_create(&c) < 0)
			_exit(1);
	}
	while (awake < n)
		nap();
}

/* The process ends with all of them. */
static void parked(uint32_t n)
{
	create(n, NULL);
	*began = gethrtime();
}

/* All change the address space at once, and each exits. */
static void unmapping(uint32_t n)
{
	char *pages = must_map(2 * n * PAGE, RW);

	create(n, pages);
	*began = gethrtime();
	for (uint32_t id = 2; id < n + 2; id++)
		__sys_lwp_unpark(id);
	while (gone < n)
		__sys_lwp_yield();
}

/* Instructions for the end of each of n LWPs. */
static uint64_t storm(void (*fn)(uint32_t), uint32_t n)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		fn(n);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	uint64_t took = gethrtime() - *began;
	if (status != 0)
		bail("a storm: status %d", status);
	return took / n;
}

static void same_cost(const char *name, void (*fn)(uint32_t), uint32_t few, uint32_t many)
{
	uint64_t before = storm(fn, few), after = storm(fn, many);

	printf("# %s: %lu instructions each of %u, %lu of %u\n", name, before, few, after, many);
	tap_report(after <= 2 * before, name, "%lu instructions each of %u, %lu of %u", before, few,
		   after, many);
}

/* Pages that are not free; of them, those of the cache of LWPs. */
struct taken {
	uint64_t all, lwps;
};

static struct taken taken(void)
{
	static struct kmem settled;
	static char text[8192];
	struct taken t = {0};
	unsigned long a = 0, b = 0;

	kmem_settle(&settled);
	int fd = open("/proc/kmem", O_RDONLY);
	ssize_t n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n < 0)
		bail("/proc/kmem: %s", strerror(errno));
	text[n] = '\0';
	const char *lwps = strstr(text, "Cache:\tlwp\t");
	if (sscanf(text, "Total:\t%lu\nFree:\t%lu", &a, &b) != 2 || lwps == NULL ||
	    sscanf(lwps, "Cache:\tlwp\t%*u\t%*u\t%lu", &t.lwps) != 1)
		bail("/proc/kmem: %s", text);
	t.all = a - b;
	return t;
}

#define STORM 4000 /* LWPs; 1,400 pages of their cache */
#define SLACK 160

static void comes_back(void)
{
	struct taken before = taken();
	storm(parked, STORM);
	struct taken first = taken();
	storm(parked, STORM);
	struct taken second = taken();

	printf("# pages: %lu, %lu after %u LWPs, %lu after as many again; for LWPs %lu, %lu, %lu\n",
	       before.all, first.all, STORM, second.all, before.lwps, first.lwps, second.lwps);
	/* Objects that wait in the magazines of the CPUs lie in this slab or that. */
	ok("a second storm adds nothing", second.all <= first.all + SLACK);
	ok("the memory of LWPs goes back", first.lwps <= before.lwps + SLACK);
}

int main(int argc, char **argv)
{
	began = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANON, -1, 0);
	if (argc > 1) {
		storm(parked, atoi(argv[1]));
		return 0;
	}
	kmem_init();
	same_cost("the end of parked LWPs", parked, 200, 1600);
	same_cost("the end of LWPs that wait for the address space", unmapping, 100, 800);
	comes_back();
	return tap_done();
}
