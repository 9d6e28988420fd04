/*
 * edit.h - what the line editor's parts know of each other.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* --- row.c: the row of the terminal that shows the line; UTF-8, a column for each character ------ */

int char_columns(const char *s, size_t n);
/* What stands for c on the terminal: a control character in the name of a file is not obeyed. */
char char_shown(char c);
size_t char_before(const char *s, size_t at); /* where the character before `at' begins */
size_t char_after(const char *s, size_t len, size_t at);

int row_width(void);
/* What the row shows is not known: the next row_show paints all of it. */
void row_forget(void);
/*
 * Shows prompt and line, with as much of it as there is room for around the cursor, which is behind
 * `cursor' bytes; of a prompt that leaves no room for the line, the end.  Paints only what has changed.
 */
void row_show(const char *prompt, const char *line, size_t len, size_t cursor);

/* --- history.c: the lines, oldest first ------------------------------------------------------------ */

int history_length(void);
const char *history_line(int i);
/* The newest line before line `before' that has the text in it; -1: none. */
int history_find(const char *text, int before);

/* --- complete.c -------------------------------------------------------------------------------------- */

struct fields;
/*
 * What Tab adds behind `cursor' bytes of the line: "", if what fits goes on in several ways, or not
 * at all; *names is what fits, sorted.  In sh.tmp.
 */
const char *complete(const char *line, size_t cursor, struct fields *names);
