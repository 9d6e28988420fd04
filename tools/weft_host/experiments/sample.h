/*
 * sample.h - what the programs of this folder share: work, CPU time, and quantiles of samples.
 */
#pragma once
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weft/msacct.h>
#include <weft/start.h>
#include <weft/sys.h>

/* Ends the program if a call has failed.  error: what the call returns, 0 or an error number. */
static inline void must(int error, const char *call)
{
	if (error == 0)
		return;
	fprintf(stderr, "%s: %s\n", call, strerror(error));
	exit(1);
}

/* Executes so many instructions, two a turn. */
static inline void compute(long instructions)
{
	long turns = instructions / 2;

	if (turns > 0)
		__asm__ volatile("1: dec %0; jnz 1b" : "+r"(turns));
}

static inline int sample_order(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static inline void sort_samples(int64_t *samples, long n)
{
	qsort(samples, n, sizeof(samples[0]), sample_order);
}

/* The least of n sorted samples that at least so many thousandths of them do not exceed. */
static inline int64_t quantile(const int64_t *samples, long n, long thousandths)
{
	return samples[(n * thousandths + 999) / 1000 - 1];
}

/* What a process has spent; lwps: that it has now. */
struct spent {
	int64_t cpu_ns;
	unsigned lwps;
};

static inline struct spent spent_by(pid_t pid)
{
	struct weft_msacct acct;
	struct spent spent = {0};

	must(-(int)__sys_msacct(pid, 0, &acct), "msacct");
	for (int i = MS_USER; i <= MS_KFAULT; i++)
		spent.cpu_ns += acct.ms[i];
	spent.lwps = acct.nlwp;
	return spent;
}
