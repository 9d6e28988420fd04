/*
 * labtest.h - how a test program of a lab reports.  Each call prints one line with one write(2):
 *
 *	lab N CHECK ok - MAC
 *	lab N CHECK failed TEXT MAC
 *	lab N NAME figure VALUE MAC
 *	lab N all end CHECKS checks, FAILED failed MAC
 *
 * N counts the lines from 1.  MAC is SipHash-2-4 of all that stands between "lab " and " MAC", as
 * 16 hexadecimal digits.  The host puts a fresh key into the program's file before each run
 * (tools/weft_lab/mac.py).  So a line of another program, or of an earlier run, is no result.
 * Without a key there are blanks in place of the MAC: a student may run the program by hand.
 *
 * One thread calls these functions, and no child of a fork does: two processes would count alike.
 * A text is cut at 300 bytes, and its control characters become spaces.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* One check, named without spaces; may be called several times with one name.  format: what went
 * wrong, in the words of the lab. */
void lab_check(bool ok, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* A number of instructions. */
void lab_figure(const char *name, uint64_t value);
/* All is told.  Returns the status for main: 0 if every check was ok, otherwise 1. */
int lab_end(void);
