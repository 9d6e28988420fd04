/*
 * lwp_many.c - 100,000 LWPs at once, each of which has run and sleeps in the kernel: the last
 * cost no more to make than the first.  With an argument: as many as the memory of the
 * machine holds, where the limit is an EAGAIN that leaves all of them at work.
 *
 * The LWPs need no stack: what they do, they do in registers.  In exact timing a nanosecond
 * is an instruction.
 */
#include "mmtest.h"

#define MANY 100000
#define SAMPLE 2000

static volatile uint32_t awake, stop;

/* Counts itself, then parks until it is told to stop; counts itself again each time. */
void lwp_body(void);
__asm__(".text\n"
	".globl lwp_body\n"
	"lwp_body:\n"
	"	lock incl awake(%rip)\n"
	"1:	xorl %edi, %edi\n"
	"	xorl %esi, %esi\n"
	"	movl $24, %eax\n"
	"	syscall\n"
	"	lock incl awake(%rip)\n"
	"	cmpl $0, stop(%rip)\n"
	"	je 1b\n"
	"	movl $17, %eax\n"
	"	syscall\n");
_Static_assert(SYS_lwp_park == 24 && SYS_lwp_exit == 17, "lwp_body");

static long create(void)
{
	struct lwp_create c = {.entry = (uint64_t)lwp_body, .flags = LWP_DETACHED};
	return __sys_lwp_create(&c);
}

static void wait_until(uint32_t n)
{
	const struct weft_timespec tick = {.nsec = WEFT_TICK_NS};
	while (awake < n)
		__sys_lwp_sleep(WEFT_CLOCK_MONOTONIC, 0, &tick);
}

/* n LWPs; instructions for each of the first and of the last. */
static uint32_t create_many(uint32_t n, uint64_t *first, uint64_t *last)
{
	uint64_t since = gethrtime();
	uint32_t made = 0;

	while (made < n && create() > 0) {
		made++;
		if (made % SAMPLE == 0) {
			uint64_t now = gethrtime();
			*last = (now - since) / SAMPLE;
			if (made == 2 * SAMPLE)
				*first = *last;
			/* They run, and go to sleep, between the samples. */
			wait_until(made);
			since = gethrtime();
		}
	}
	return made;
}

/* Ids that are given back are used again, the others are the next ones. */
static void unpark_all(uint32_t n)
{
	for (uint32_t id = 2; n > 0; id++)
		n -= __sys_lwp_unpark(id) == 0;
}

/* All of them wake up, and in the end they go. */
static void all_answer(uint32_t n)
{
	struct weft_procinfo i;

	is("each has run", (wait_until(n), awake), n);
	ok("all are there", __sys_procinfo(__sys_getpid(), &i) > 0 && i.nlwp == n + 1);
	awake = 0;
	unpark_all(n);
	is("each answers", (wait_until(n), awake), n);
	awake = 0;
	stop = 1;
	unpark_all(n);
	wait_until(n);
	do
		__sys_lwp_yield();
	while (__sys_procinfo(__sys_getpid(), &i) > 0 && i.nlwp > 1);
	is("all have gone", i.nlwp, 1);
}

int main(int argc, char **argv)
{
	uint64_t first = 0, last = 0;
	uint32_t n;

	if (argc > 1) {
		/* All that we touch ourselves is there afterwards. */
		all_answer(create_many(10, &first, &last));
		awake = stop = 0;
		n = create_many(10 * MANY, &first, &last);
		is("the limit", create(), -EAGAIN);
		ok("is the machine's", n > 1000 && n < 10 * MANY);
		all_answer(n);
		stop = awake = 0;
		ok("there is room again", create() > 0);
		return tap_done();
	}
	n = create_many(MANY, &first, &last);
	is("100,000 LWPs", n, MANY);
	printf("# creation: %lu instructions at the beginning, %lu at the end\n", first, last);
	tap_report(last <= first + first / 10, "the last cost no more than the first",
		   "%lu and %lu instructions", last, first);
	all_answer(n);
	return tap_done();
}
