/*
 * faults.c - a fault in user mode kills the process with the right signal, and
 * nobody else.  Started with the name of a fault it commits it; the console's line
 * about each is checked by tests/test_faults.py.
 */
#include "rawlwp.h"
#include "tap.h"
#include <assert.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#include <weft/proc.h>
#include <weft/signal.h>

extern char **environ;
static const char constant = 1;

/* An address that the compiler knows nothing of. */
static volatile int *at(uint64_t addr)
{
	__asm__("" : "+r"(addr));
	return (volatile int *)addr;
}

static void fault_in_lwp(struct raw *r)
{
	*at(0x28) = 1;
}

int main(int argc, char **argv);

static void abort_again(int sig)
{
	abort();
}

static void commit(const char *what)
{
	static struct raw r;
	volatile int zero = 0;

	if (strcmp(what, "null-read") == 0)
		zero = *at(8);
	else if (strcmp(what, "null-write") == 0)
		*at(16) = 1;
	else if (strcmp(what, "null-call") == 0)
		((void (*)(void))(uintptr_t)at(0))();
	else if (strcmp(what, "kernel-read") == 0)
		zero = *at(0xffffffff80000000ull);
	else if (strcmp(what, "kernel-write") == 0)
		*at(0xffff800000100000ull) = 1;
	else if (strcmp(what, "noncanonical") == 0)
		zero = *at(0x1234567890abcdefull);
	else if (strcmp(what, "text-write") == 0)
		*(volatile char *)(uintptr_t)main = 1;
	else if (strcmp(what, "rodata-write") == 0)
		*(volatile char *)&constant = 2;
	else if (strcmp(what, "stack-exec") == 0) {
		unsigned char code[] = {0xc3};
		((void (*)(void))(uintptr_t)code)();
	} else if (strcmp(what, "divide") == 0)
		zero = 100 / zero; /* 1 / x needs no division */
	else if (strcmp(what, "ud2") == 0)
		__asm__ volatile("ud2");
	else if (strcmp(what, "cli") == 0)
		__asm__ volatile("cli");
	else if (strcmp(what, "out") == 0)
		__asm__ volatile("outb %%al,$0x80" ::"a"(0));
	else if (strcmp(what, "int") == 0)
		__asm__ volatile("int $0x62");
	else if (strcmp(what, "stack-overflow") == 0)
		__asm__ volatile("1: push %rax; jmp 1b");
	else if (strcmp(what, "bad-stack-syscall") == 0)
		__asm__ volatile("mov $0x10,%%rsp; mov $0,%%eax; syscall; push %%rax" ::: "memory");
	else if (strcmp(what, "jump-kernel") == 0)
		__asm__ volatile("jmp *%0" ::"r"(0xffffffff80100000ull));
	else if (strcmp(what, "jump-noncanonical") == 0)
		__asm__ volatile("jmp *%0" ::"r"(0x8000000000000000ull));
	else if (strcmp(what, "abort") == 0)
		abort();
	else if (strcmp(what, "abort-in-handler") == 0) {
		signal(SIGABRT, abort_again);
		raise(SIGABRT);
	} else if (strcmp(what, "abort-pending") == 0) {
		sigprocmask(SIG_BLOCK, &(sigset_t){WEFT_SIGBIT(SIGABRT)}, NULL);
		raise(SIGABRT);
		abort();
	} else if (strcmp(what, "abort-unread") == 0) {
		int ends[2];

		pipe(ends);
		dup2(ends[1], STDERR_FILENO);
		close(ends[0]);
		abort();
	} else if (strcmp(what, "raise") == 0)
		raise(SIGABRT);
	else if (strcmp(what, "kill") == 0)
		kill(getpid(), SIGABRT);
	else if (strcmp(what, "assert") == 0)
		assert(zero);
	else if (strcmp(what, "lwp") == 0) {
		raw_start(&r, fault_in_lwp, 0, 0);
		for (;;)
			__sys_lwp_park(NULL, 0);
	}
}

static const struct {
	const char *what;
	int sig;
} faults[] = {
	{"null-read", WEFT_SIGSEGV},
	{"null-write", WEFT_SIGSEGV},
	{"null-call", WEFT_SIGSEGV},
	{"kernel-read", WEFT_SIGSEGV},
	{"kernel-write", WEFT_SIGSEGV},
	{"noncanonical", WEFT_SIGSEGV},
	{"text-write", WEFT_SIGSEGV},
	{"rodata-write", WEFT_SIGSEGV},
	{"stack-exec", WEFT_SIGSEGV},
	{"divide", WEFT_SIGFPE},
	{"ud2", WEFT_SIGILL},
	{"cli", WEFT_SIGSEGV},
	{"out", WEFT_SIGSEGV},
	{"int", WEFT_SIGSEGV},
	{"stack-overflow", WEFT_SIGSEGV},
	{"bad-stack-syscall", WEFT_SIGSEGV},
	{"jump-kernel", WEFT_SIGSEGV},
	{"jump-noncanonical", WEFT_SIGSEGV},
	{"lwp", WEFT_SIGSEGV},
	{"abort", WEFT_SIGABRT},
	{"abort-in-handler", WEFT_SIGABRT},
	{"abort-pending", WEFT_SIGABRT},
	{"abort-unread", WEFT_SIGABRT},
	{"raise", WEFT_SIGABRT},
	{"kill", WEFT_SIGABRT},
	{"assert", WEFT_SIGABRT},
};

int main(int argc, char **argv)
{
	if (argc > 1) {
		commit(argv[1]);
		return 1;
	}
	for (unsigned i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		char *child[] = {"faults", (char *)faults[i].what, NULL};
		struct spawn_args a = {.path = (uint64_t) "/bin/faults",
				       .argv = (uint64_t)child,
				       .envp = (uint64_t)environ};
		int status = -1;
		long pid = __sys_spawn(&a);
		if (pid < 0)
			bail("spawn: %ld", pid);
		__sys_waitpid(pid, &status, 0, NULL);
		is(faults[i].what, status, WEFT_W_EXITCODE(0, faults[i].sig));
	}
	return tap_done();
}
