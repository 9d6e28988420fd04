/*
 * edit.h - what the line editor's parts know of each other.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* --- row.c: the row of the terminal that shows the line; UTF-8, a column for each character --- */

int char_columns(const char *s, size_t n);
/* Returns the character shown for c: the terminal must not obey a control character in a file's
 * name. */
char char_shown(char c);
size_t char_before(const char *s, size_t at); /* where the character before `at' begins */
size_t char_after(const char *s, size_t len, size_t at);

int row_width(void);
/* Declares the contents of the row unknown: the next row_show paints all of it. */
void row_forget(void);
/*
 * Shows the prompt, and as much of the line around the cursor as fits.  The cursor is behind
 * `cursor' bytes.  If the prompt leaves no room for the line, shows the end of the prompt.  Paints
 * only what has changed.
 */
void row_show(const char *prompt, const char *line, size_t len, size_t cursor);

/* --- history.c: the lines, oldest first ------------------------------------------------------- */

int history_length(void);
const char *history_line(int i);
/* Returns the newest line before line `before' that contains the text; -1: none. */
int history_find(const char *text, int before);

/* --- complete.c ------------------------------------------------------------------------------- */

struct fields;
/*
 * Returns the text that Tab adds behind `cursor' bytes of the line.  "": nothing fits, or the names
 * that fit continue differently.  *names is the sorted list of these names.  In sh.tmp.
 */
const char *complete(const char *line, size_t cursor, struct fields *names);
