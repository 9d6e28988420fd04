/*
 * bench.c - arguments, work and time of the papers' programs (bench.h).
 *
 * CPU time and waiting time are the kernel's microstates.  They are exact and not sampled, so a
 * program can ask for them at any moment.  The call costs some hundred instructions an LWP.
 */
#include "bench.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
#include <weft/msacct.h>

#define LOOP_INSTRUCTIONS 2

/* _Exit, because several threads may fail at once, and exit() may not be called twice. */
void fail(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fprintf(stderr, "%s: ", bench_name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	_Exit(1);
}

void must(int error, const char *call)
{
	if (error != 0)
		fail("%s: %s", call, strerror(error));
}

long number(const char *what, const char *text, long min, long max)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (end == text || *end != '\0' || errno != 0 || value < min || value > max) {
		fprintf(stderr, "%s: %s %s: not a number from %ld to %ld\n", bench_name, what, text,
			min, max);
		exit(2);
	}
	return value;
}

void *allocate(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (p == NULL)
		fail("no memory for %zu times %zu bytes", n, size);
	return p;
}

void compute(long instructions)
{
	long turns = instructions / LOOP_INSTRUCTIONS;

	if (turns > 0)
		__asm__ volatile("1: dec %0; jnz 1b" : "+r"(turns));
}

struct moment moment(void)
{
	struct weft_msacct acct;
	struct moment m;

	if (__sys_msacct(getpid(), 0, &acct) != 0)
		fail("no times of this process");
	m.real = gethrtime();
	m.user = acct.ms[MS_USER];
	m.sys = 0;
	for (int i = MS_USER + 1; i <= MS_KFAULT; i++)
		m.sys += acct.ms[i];
	m.waits_for_cpu = acct.ms[MS_WAITCPU];
	m.blocked_on_lock = acct.ms[MS_LOCK];
	m.blocks = acct.nvcsw;
	m.preempted = acct.nivcsw;
	m.lwps = acct.nlwp;
	return m;
}

void print_since(const struct moment *then, const struct moment *now)
{
	printf(" real_ns=%lld user_ns=%lld sys_ns=%lld waitcpu_ns=%lld lock_ns=%lld "
	       "blocks=%lld preempted=%lld lwps=%u\n",
	       (long long)(now->real - then->real), (long long)(now->user - then->user),
	       (long long)(now->sys - then->sys),
	       (long long)(now->waits_for_cpu - then->waits_for_cpu),
	       (long long)(now->blocked_on_lock - then->blocked_on_lock),
	       (long long)(now->blocks - then->blocks),
	       (long long)(now->preempted - then->preempted), now->lwps);
}
