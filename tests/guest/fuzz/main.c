/*
 * main.c - fuzz [-s SEED] [-n CALLS] [-p PROCESSES] [-l LWPS] [-t NAME,NAME...]: random
 * system calls with random and half-valid arguments, from several processes with several
 * LWPs each.
 *
 * The kernel must survive, and must get back every page and every object of its caches: status 1 if
 * it does not.
 *
 * The harness starts victims, one batch of calls each, watches them, kills those that take too
 * long, and starts the next.  A victim may crash, exec, exit, or hang at any time.  A victim's
 * first LWP makes no random call.  It wakes the others, and starts a further LWP when one seems to
 * be stuck for good.  Two things are kept from the random calls: the end of the machine, and the
 * ids of the harness and of the first process.
 *
 * Calls come from SYSCALLS, arguments by the table of weft/sysdesc.h.  The whole run is a
 * function of its seed, in exact timing to the instruction.
 */
#include "../kmem.h"
#include "fuzz.h"
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weft/sysdesc.h>

/* Of each call: how often it was made, and with success; the numbers of the errors it gave. */
static void print_calls(void)
{
	for (unsigned i = 0; i < WEFT_SYSCALL_MAX; i++) {
		uint64_t made, good;

		if (sysdesc_name(i) == NULL)
			continue;
		count_calls(i, &made, &good);
		printf("fuzz: %s: %llu made, %llu well, errors", sysdesc_name(i),
		       (unsigned long long)made, (unsigned long long)good);
		for (unsigned error = 1; error < ERRORS; error++)
			if (has_given(i, error))
				printf(" %u", error);
		printf("\n");
	}
}

int main(int argc, char **argv)
{
	struct plan plan = {.seed = 1, .processes = 4, .lwps = 3};
	uint64_t calls = 100000;
	unsigned long batch = 0;
	static struct kmem before;
	int c;

	if (argc >= 7 && strcmp(argv[1], "-v") == 0)
		return be_victim(argv + 2);
	while ((c = getopt(argc, argv, "s:n:p:l:t:")) != -1)
		switch (c) {
		case 's':
			plan.seed = strtoull(optarg, NULL, 0);
			break;
		case 'n':
			calls = strtoull(optarg, NULL, 0);
			break;
		case 'p':
			plan.processes = atoi(optarg);
			break;
		case 'l':
			plan.lwps = atoi(optarg);
			break;
		case 't':
			plan.names = optarg;
			break;
		default:
			return 2;
		}
	if (plan.processes < 1 || plan.processes > MAX_VICTIMS || plan.lwps < 1 ||
	    plan.lwps > SLOTS)
		errx(2, "1 to %d processes, 1 to %d LWPs", MAX_VICTIMS, SLOTS);
	printf("fuzz: seed %llu, %u system calls, %u processes of %u LWPs\n",
	       (unsigned long long)plan.seed, choose_calls(plan.names), plan.processes, plan.lwps);
	fflush(stdout);

	/* What the first victims make once and for all is not missed later. */
	harness_init();
	machine_save();
	kmem_init();
	uint64_t done = run_victims(&plan, &batch, calls / 8);
	kmem_settle(&before);
	done += run_victims(&plan, &batch, calls - calls / 8);
	bool whole = kmem_returns(&before);
	print_calls();
	printf("fuzz: %llu calls by %lu processes; memory %s\n", (unsigned long long)done, batch,
	       whole ? "is all back" : "is missing");
	return !whole;
}
