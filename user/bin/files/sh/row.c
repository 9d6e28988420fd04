/*
 * row.c - the line that is edited, in one row of the terminal, scrolled sideways if it is longer.
 *
 * The row's contents are remembered.  The next time only the changed part is sent, so that a key
 * costs a slow terminal a few bytes.  A line that is too long scrolls by half a row, not by a
 * column at each key.
 */
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "edit.h"
#include "sh.h"

#define MIN_ROOM 8   /* columns for the line, for any length of the prompt */
#define BACKSPACES 4 /* maximum; a longer way back uses an escape sequence */

static struct {
	struct str shown; /* on the row: prompt and part of the line */
	int column;       /* of the terminal's cursor */
	bool known;       /* false: the row may show something else */
	int width;        /* for which the row was painted */
	size_t first;     /* first byte of the line that is shown */
} row;

static bool continuation(char c)
{
	return (c & 0xc0) == 0x80;
}

int char_columns(const char *s, size_t n)
{
	int c = 0;

	while (n--)
		c += !continuation(*s++);
	return c;
}

char char_shown(char c)
{
	return (unsigned char)c < ' ' || c == 0x7f ? '?' : c;
}

size_t char_after(const char *s, size_t len, size_t at)
{
	do
		at++;
	while (at < len && continuation(s[at]));
	return at;
}

size_t char_before(const char *s, size_t at)
{
	do
		at--;
	while (at > 0 && continuation(s[at]));
	return at;
}

int row_width(void)
{
	struct winsize w;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col ? w.ws_col : 80;
}

void row_forget(void)
{
	row.known = false;
	row.first = 0;
}

/* Moves the cursor within the row. */
static void row_move(int to)
{
	int back = row.column - to;

	if (to == 0 && back > 0)
		putchar('\r');
	else if (back > BACKSPACES)
		printf("\033[%dD", back);
	else if (back < 0)
		printf("\033[%dC", -back);
	else
		while (back-- > 0)
			putchar('\b');
	row.column = to;
}

/* Chooses the part of the line to show: as before, if the cursor is in it. */
static void row_scroll(const char *line, size_t len, size_t cursor, int room)
{
	int n;

	if (char_columns(line, len) <= room)
		row.first = 0;
	if (cursor >= row.first && row.first <= len && !continuation(line[row.first]) &&
	    char_columns(line + row.first, cursor - row.first) <= room)
		return;
	row.first = cursor;
	for (n = room / 2; n > 0 && row.first > 0; n--)
		row.first = char_before(line, row.first);
}

/* Replaces the shown text by `text': the equal beginning is not sent again. */
static void row_paint(const char *text, size_t len)
{
	size_t same = 0;
	int before = char_columns(row.shown.s, row.shown.len);

	while (row.known && same < len && same < row.shown.len && text[same] == row.shown.s[same])
		same++;
	while (same > 0 && ((same < len && continuation(text[same])) ||
			    (same < row.shown.len && continuation(row.shown.s[same]))))
		same--;
	if (!row.known)
		fputs("\r", stdout);
	else if (same < len || same < row.shown.len)
		row_move(char_columns(text, same));
	if (!row.known || same < len || same < row.shown.len) {
		fwrite(text + same, 1, len - same, stdout);
		row.column = char_columns(text, len);
		if (!row.known || before > row.column)
			fputs("\033[K", stdout);
	}
	row.shown.len = 0;
	str_append(&row.shown, text, len);
	row.known = true;
}

void row_show(const char *prompt, const char *line, size_t len, size_t cursor)
{
	int width = row_width(), at, room, n;
	struct str text = {0};
	size_t to, i;

	while ((at = char_columns(prompt, strlen(prompt))) > 0 && at + MIN_ROOM >= width)
		prompt += char_after(prompt, strlen(prompt), 0);
	room = width - at > 1 ? width - at - 1 : 1;
	if (row.known && width != row.width) {
		/* The terminal may have broken the row into two. */
		fputs("\r\033[J", stdout);
		row.known = false;
	}
	row.width = width;
	row_scroll(line, len, cursor, room);
	for (to = row.first, n = 0; to < len && n < room; n++)
		to = char_after(line, len, to);
	str_append(&text, prompt, strlen(prompt));
	for (i = row.first; i < to; i++)
		str_add(&text, char_shown(line[i]));
	row_paint(text.s, text.len);
	row_move(at + char_columns(line + row.first, cursor - row.first));
	str_free(&text);
	fflush(stdout);
}
