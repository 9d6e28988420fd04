/*
 * bench.h - what the papers' programs share: arguments, work, time, and the lines of results.
 *
 * A line of results is `result key=value key=value ...`, one a measurement, without blanks in
 * values.  A key that ends in _ns is a time in nanoseconds.  All other lines are for people.
 */
#pragma once
#include <stdint.h>
#include <weft/sys.h>

/* The name that messages begin with: the program's. */
extern const char bench_name[];

/* Prints "NAME: message" on standard error and ends the process with status 1, from any thread. */
void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Calls fail() unless error, which a call has returned, is 0. */
void must(int error, const char *call);

/* Returns the number in text.  If it is none or out of range, prints a message that names `what`,
 * and ends the program with status 2. */
long number(const char *what, const char *text, long min, long max);

void *allocate(size_t n, size_t size); /* zeroed; fail() if there is no memory */

/* Executes so many instructions, rounded down to an even number. */
void compute(long instructions);

/* A moment of this process. */
struct moment {
	int64_t real;          /* nanoseconds since boot */
	int64_t user, sys;     /* CPU time of all LWPs, exited ones included */
	int64_t waits_for_cpu; /* time in which LWPs were runnable without a CPU, summed over all */
	int64_t blocked_on_lock;   /* time parked or in a lock's call, summed over all */
	int64_t blocks, preempted; /* times that an LWP blocked; times that an LWP was preempted */
	uint32_t lwps;             /* that exist */
};
struct moment moment(void);

/* Prints " real_ns=.. user_ns=.. sys_ns=.. waitcpu_ns=.. lock_ns=.. blocks=.. preempted=.. lwps=.."
 * and the end of the line.  lwps is the number at `now`; the others are differences. */
void print_since(const struct moment *then, const struct moment *now);
