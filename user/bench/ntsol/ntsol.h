/*
 * ntsol.h - what the tests of ntsol have in common.
 *
 * main starts the column and passes a test its arguments, without its name.  The test prints
 * `result` and its own keys; then bench's print_since() ends the line.
 */
#pragma once
#include "../common/bench.h"
#include "../common/column.h"

/* main sets them once, before any thread. */
extern const struct column *column;
extern struct settings {
	long locks; /* -k */
	long reads; /* -r */
	enum idle { IDLE_WAIT, IDLE_WHOLE, IDLE_READ } idle;
	bool growth; /* -g */
} settings;

/* A thread's first step: the first `reads` threads that call this block in a read. */
void begin_by_reading(void);

/* create() creates a thread or fails.  join() joins n threads whose records lie `size` bytes apart;
 * each record begins with its task. */
void create(struct task *task);
void join_all(void *first, long n, size_t size);

void test_max(char **args);
void test_create(char **args);
void test_loaded(char **args);
void test_compute(char **args);
void test_shared(char **args);
void test_search(char **args);
void test_burst(char **args);
