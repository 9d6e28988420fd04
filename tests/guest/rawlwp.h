/*
 * rawlwp.h - LWPs without libthread, for tests of the kernel's own calls.  Such an
 * LWP has no thread behind it: its function may use raw system calls and atomics
 * only, nothing of the C library.
 */
#pragma once
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <weft/errno.h>
#include <weft/lwp.h>
#include <weft/schedctl.h>
#include <weft/sys.h>

#define RAW_STACK 16384

struct raw {
	void (*fn)(struct raw *);
	uint64_t arg;
	uint32_t id;
	struct schedctl *sc;
	char *stack;
};

static void raw_main(struct raw *r)
{
	r->fn(r);
	__sys_lwp_exit();
}

/* Creates an LWP that runs fn(r) and exits; the error of lwp_create, or 0. */
__attribute__((unused)) static int raw_start(struct raw *r, void (*fn)(struct raw *), uint64_t arg,
					     unsigned flags)
{
	r->fn = fn;
	r->arg = arg;
	if (r->stack == NULL)
		r->stack = malloc(RAW_STACK);
	if (r->stack == NULL)
		return -ENOMEM;
	struct lwp_create c = {
		.entry = (uint64_t)raw_main,
		.stack = ((uint64_t)(r->stack + RAW_STACK) & ~15ull) - 8,
		.arg = (uint64_t)r,
		.flags = flags,
	};
	long id = __sys_lwp_create(&c);
	if (id < 0)
		return id;
	r->id = id;
	r->sc = (struct schedctl *)c.schedctl;
	return 0;
}

/* The CPU that the caller runs on. */
__attribute__((unused)) static uint32_t cpu_now(void)
{
	uint32_t lo, hi, cpu;

	__asm__ volatile("rdtscp" : "=a"(lo), "=d"(hi), "=c"(cpu)::"memory");
	return cpu;
}

/* Waits until LWP id sleeps in the kernel, for `what`; NULL: for anything. */
__attribute__((unused)) static void raw_wait_asleep(uint32_t id, const char *what)
{
	struct lwp_info info;

	do {
		__sys_lwp_yield();
		if (__sys_lwp_info(__sys_getpid(), id, &info) < 0 || info.id != id)
			return;
	} while (info.state != LWP_ST_SLEEP || (what != NULL && strcmp(info.wchan, what) != 0));
}
