/* truss.h - what the files of truss share. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <weft/trace.h>

/* Text that is put together piece by piece; what does not fit is cut. */
struct text {
	size_t len;
	char s[1000];
};
__attribute__((format(printf, 2, 3))) void add(struct text *t, const char *fmt, ...);

/*
 * The arguments of a call of process pid: show_entry what is known when it begins, with
 * what it hands the kernel in its memory; show_return what it got.  Each argument is in one
 * of the two: show_arg[i] tells show_return where to put what.
 */
struct call_text {
	struct text arg[6];
};
void show_entry(struct call_text *c, const struct trace_event *e);
void show_return(struct call_text *c, const struct trace_event *entry, int64_t result);
/* name(arguments): what show_entry and show_return have found, as far as they have. */
void show_call(struct text *t, const struct call_text *c, uint32_t call);
/* The result, as the call means it, or Err#number name. */
void show_result(struct text *t, uint32_t call, int64_t result);

void show_signal(struct text *t, int sig);
const char *errno_name(int err); /* NULL: none has it */
