/*
 * edit.c - the line editor: cursor keys, Home, End, Delete, Tab, ^A ^B ^D ^E ^F ^H ^K ^L ^N ^P
 * ^R ^U ^W.  row.c shows the line, history.c keeps the lines, complete.c handles Tab.
 *
 * The terminal has two settings.  While a line is edited the shell receives every key, Ctrl-C
 * included.  At all other times the settings are those that the shell found, or that `stty' set.
 */
#define _GNU_SOURCE /* ppoll */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include "edit.h"
#include "sh.h"

#define CTRL(c) ((c) - '@')
#define ESC '\033'
#define MAX_LISTED 300 /* names that Tab shows at most */

enum {
	KEY_EOF = -1,
	KEY_NONE,
	KEY_LEFT = 256,
	KEY_RIGHT,
	KEY_UP,
	KEY_DOWN,
	KEY_HOME,
	KEY_END,
	KEY_DELETE
};

static struct termios normal;

static struct {
	const char *prompt;
	struct str line;
	size_t cursor; /* bytes before it */
	sigset_t mask; /* the shell's, without SIGWINCH blocked */
} ed;

void edit_init(void)
{
	edit_modes_changed();
	edit_tell_size();
}

void edit_modes_changed(void)
{
	if (sh.interactive)
		tcgetattr(STDIN_FILENO, &normal);
}

void edit_tell_size(void)
{
	static struct winsize told;
	struct winsize w = {0};
	char number[8];

	if (ioctl(STDIN_FILENO, TIOCGWINSZ, &w) < 0 || memcmp(&w, &told, sizeof(w)) == 0)
		return;
	told = w;
	snprintf(number, sizeof(number), "%u", w.ws_col);
	var_set("COLUMNS", number);
	snprintf(number, sizeof(number), "%u", w.ws_row);
	var_set("LINES", number);
}

/* SIGWINCH is delivered only while the shell waits for a key, so none is missed. */
static void raw_mode(void)
{
	struct termios raw = normal;
	sigset_t winch;

	/* ICRNL: input typed ahead for a command must have its line ends. */
	raw.c_iflag |= ICRNL;
	raw.c_oflag |= OPOST;
	raw.c_lflag &= ~(ICANON | ECHO | ISIG);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
	sigemptyset(&winch);
	sigaddset(&winch, SIGWINCH);
	sigprocmask(SIG_BLOCK, &winch, &ed.mask);
}

static void normal_mode(void)
{
	sigprocmask(SIG_SETMASK, &ed.mask, NULL);
	tcsetattr(STDIN_FILENO, TCSADRAIN, &normal);
}

static void refresh(void)
{
	row_show(ed.prompt, ed.line.s, ed.line.len, ed.cursor);
}

/* --- editing -------------------------------------------------------------------- */

static void set_line(const char *s)
{
	ed.line.len = 0;
	while (*s)
		str_add(&ed.line, *s++);
	if (ed.line.s)
		ed.line.s[ed.line.len] = '\0';
	ed.cursor = ed.line.len;
}

static void insert(char c)
{
	str_add(&ed.line, c);
	memmove(ed.line.s + ed.cursor + 1, ed.line.s + ed.cursor, ed.line.len - 1 - ed.cursor);
	ed.line.s[ed.cursor++] = c;
}

static void erase(size_t from, size_t to)
{
	memmove(ed.line.s + from, ed.line.s + to, ed.line.len - to + 1);
	ed.line.len -= to - from;
	ed.cursor = from;
}

static size_t word_start(void)
{
	size_t at = ed.cursor;

	while (at > 0 && ed.line.s[at - 1] == ' ')
		at--;
	while (at > 0 && ed.line.s[at - 1] != ' ')
		at--;
	return at;
}

/*
 * Reads one byte at a time, because the input after the line belongs to the command that the line
 * starts.  KEY_NONE: a signal came; only returned for the first byte of a key.
 */
static int read_byte(bool first)
{
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
	unsigned char c;

	while (ppoll(&in, 1, NULL, &ed.mask) < 0)
		if (errno != EINTR || first)
			return errno == EINTR ? KEY_NONE : KEY_EOF;
	return read(STDIN_FILENO, &c, 1) == 1 ? c : KEY_EOF;
}

/* Parses a key that sends ESC [ X, ESC O X or ESC [ number ~; unknown keys are ignored. */
static int escape_sequence(void)
{
	int c = read_byte(false), number = 0;

	if (c != '[' && c != 'O')
		return c == KEY_EOF ? KEY_EOF : KEY_NONE;
	while ((c = read_byte(false)) >= '0' && c <= '9')
		number = (number * 10 + c - '0') % 1000;
	while (c == ';' || (c >= '0' && c <= '9')) /* with Shift, Alt, Ctrl: the same */
		c = read_byte(false);
	switch (c) {
	case 'A':
		return KEY_UP;
	case 'B':
		return KEY_DOWN;
	case 'C':
		return KEY_RIGHT;
	case 'D':
		return KEY_LEFT;
	case 'H':
		return KEY_HOME;
	case 'F':
		return KEY_END;
	case '~':
		return number == 1 || number == 7   ? KEY_HOME
		       : number == 4 || number == 8 ? KEY_END
		       : number == 3                ? KEY_DELETE
						    : KEY_NONE;
	case KEY_EOF:
		return KEY_EOF;
	default:
		return KEY_NONE;
	}
}

static int read_key(void)
{
	int c = read_byte(true);

	return c == ESC ? escape_sequence() : c;
}

static void keep_typed(char **typed, const char *line)
{
	free(*typed);
	*typed = xstrdup(line);
}

/* Moves through the history; *typed keeps the unfinished line meanwhile. */
static void recall(int to, int *at, char **typed)
{
	if (to < 0 || to > history_length())
		return;
	if (*at == history_length())
		keep_typed(typed, ed.line.s);
	*at = to;
	set_line(to == history_length() ? *typed : history_line(to));
}

/* --- searching ------------------------------------------------------------------ */

struct search {
	struct str text; /* the text to search for */
	int at;          /* the line that contains it; history_length(): none yet */
	bool failed;
};

/* Searches the lines before `from'; the cursor moves to the match. */
static void search_from(struct search *s, int from)
{
	int found = history_find(s->text.s, from);

	s->failed = found < 0;
	if (s->failed)
		return;
	s->at = found;
	set_line(history_line(found));
	ed.cursor = strstr(ed.line.s, s->text.s) - ed.line.s;
}

static void show_search(const struct search *s)
{
	const char *begins = s->failed ? "(failed reverse-i-search)`" : "(reverse-i-search)`";
	struct str prompt = {0};

	str_append(&prompt, begins, strlen(begins));
	str_append(&prompt, s->text.s, s->text.len);
	str_append(&prompt, "': ", 3);
	row_show(prompt.s, ed.line.s, ed.line.len, ed.cursor);
	str_free(&prompt);
}

/*
 * ^R: searches the history for what is typed; ^R again: searches older lines.  ^G returns to the
 * line that was typed.  Any other key ends the search and is returned, to be executed.  *at and
 * *typed are as after recall.
 */
static int search_history(int *at, char **typed)
{
	struct search s = {.at = history_length()};
	char *before = xstrdup(ed.line.s);
	size_t cursor = ed.cursor;
	int key;

	str_append(&s.text, "", 0);
	for (;;) {
		show_search(&s);
		key = read_key();
		if (key == CTRL('R')) {
			search_from(&s, s.at);
		} else if (key == CTRL('H') || key == 0x7f) {
			s.text.len = s.text.len ? char_before(s.text.s, s.text.len) : 0;
			s.text.s[s.text.len] = '\0';
			search_from(&s, history_length());
		} else if (key >= ' ' && key < 256) {
			str_add(&s.text, key);
			search_from(&s, s.at < history_length() ? s.at + 1 : s.at);
		} else if (key != KEY_NONE) {
			break;
		}
	}
	if (key == CTRL('G')) {
		set_line(before);
		ed.cursor = cursor;
		key = KEY_NONE;
	} else if (s.at < history_length()) {
		if (*at == history_length())
			keep_typed(typed, before);
		*at = s.at;
	}
	free(before);
	str_free(&s.text);
	return key;
}

/* --- completion ----------------------------------------------------------------- */

static void list_below(const struct fields *names)
{
	int i, width = 0, column = 0, n = names->n < MAX_LISTED ? names->n : MAX_LISTED;
	const char *s;

	for (i = 0; i < n; i++)
		if (char_columns(names->v[i], strlen(names->v[i])) > width)
			width = char_columns(names->v[i], strlen(names->v[i]));
	width += 2;
	putchar('\n');
	for (i = 0; i < n; i++) {
		if (column > 0 && column + width > row_width()) {
			putchar('\n');
			column = 0;
		}
		for (s = names->v[i]; *s; s++)
			putchar(char_shown(*s));
		printf("%*s", width - char_columns(names->v[i], strlen(names->v[i])), "");
		column += width;
	}
	if (names->n > n)
		printf("\n... and %d more", names->n - n);
	putchar('\n');
	row_forget();
}

static void complete_word(void)
{
	struct mark mark = arena_mark(sh.tmp);
	struct fields names = {0};
	const char *more = complete(ed.line.s, ed.cursor, &names);

	if (*more)
		while (*more)
			insert(*more++);
	else if (names.n > 1)
		list_below(&names);
	else
		putchar('\a');
	arena_release(sh.tmp, mark);
}

/* Carries out an editing key; other keys do nothing. */
static void edit_key(int key)
{
	switch (key) {
	case KEY_LEFT:
	case CTRL('B'):
		if (ed.cursor > 0)
			ed.cursor = char_before(ed.line.s, ed.cursor);
		break;
	case KEY_RIGHT:
	case CTRL('F'):
		if (ed.cursor < ed.line.len)
			ed.cursor = char_after(ed.line.s, ed.line.len, ed.cursor);
		break;
	case KEY_HOME:
	case CTRL('A'):
		ed.cursor = 0;
		break;
	case KEY_END:
	case CTRL('E'):
		ed.cursor = ed.line.len;
		break;
	case CTRL('H'):
	case 0x7f:
		if (ed.cursor > 0)
			erase(char_before(ed.line.s, ed.cursor), ed.cursor);
		break;
	case KEY_DELETE:
	case CTRL('D'):
		if (ed.cursor < ed.line.len)
			erase(ed.cursor, char_after(ed.line.s, ed.line.len, ed.cursor));
		break;
	case CTRL('U'):
		erase(0, ed.cursor);
		break;
	case CTRL('K'):
		ed.line.s[ed.line.len = ed.cursor] = '\0';
		break;
	case CTRL('W'):
		erase(word_start(), ed.cursor);
		break;
	case CTRL('L'):
		fputs("\033[H\033[2J", stdout);
		row_forget();
		break;
	case '\t':
		complete_word();
		break;
	default:
		if (key >= ' ' && key < 256)
			insert(key);
	}
}

const char *edit_line(const char *prompt, bool *interrupted)
{
	int key, at = history_length();
	char *typed = NULL;
	const char *line;

	ed.prompt = prompt;
	str_add(&ed.line, '\0'); /* makes it a string */
	set_line("");
	*interrupted = false;
	raw_mode();
	row_forget();
	for (;;) {
		refresh();
		key = read_key();
		if (key == CTRL('R'))
			key = search_history(&at, &typed);
		if (key == '\r' || key == '\n' || key == CTRL('C') || key == KEY_EOF ||
		    (key == CTRL('D') && ed.line.len == 0))
			break;
		if (key == KEY_UP || key == CTRL('P'))
			recall(at - 1, &at, &typed);
		else if (key == KEY_DOWN || key == CTRL('N'))
			recall(at + 1, &at, &typed);
		else
			edit_key(key);
	}
	free(typed);
	line = ed.line.s;
	if (key == CTRL('C')) {
		fputs("^C", stdout);
		set_line("");
		*interrupted = true;
	} else if (key == KEY_EOF || key == CTRL('D')) {
		line = NULL;
	} else {
		ed.cursor = ed.line.len; /* so that the output goes below the line, not over it */
		refresh();
	}
	putchar('\n');
	fflush(stdout);
	normal_mode();
	edit_tell_size();
	return line;
}
