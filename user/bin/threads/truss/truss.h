/* truss.h - what the files of truss share. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <weft/trace.h>

/* Text that is put together piece by piece; what does not fit is cut off. */
struct text {
	size_t len;
	char s[1000];
};
__attribute__((format(printf, 2, 3))) void add(struct text *t, const char *fmt, ...);

/*
 * The arguments of a call of process pid.  show_entry finds those known when the call begins, with
 * its input in memory; show_return finds its output.  Each argument belongs to one of the two:
 * show_arg[i] tells show_return where to put its text.
 */
struct call_text {
	struct text arg[6];
};
void show_entry(struct call_text *c, const struct trace_event *e);
void show_return(struct call_text *c, const struct trace_event *entry, int64_t result);
/* Shows name(arguments), with the arguments that show_entry and show_return have found so far. */
void show_call(struct text *t, const struct call_text *c, uint32_t call);
/* Shows the result, by the call's type of result, or Err#number name. */
void show_result(struct text *t, uint32_t call, int64_t result);

void show_signal(struct text *t, int sig);
const char *errno_name(int err); /* NULL: none has it */
