/*
 * sed.h - what the files of sed share: a script as a list of commands (made by parse.c), and the
 * buffers of text that the commands work on (run.c).
 */
#pragma once
#include <sys/types.h>
#include <regex.h>
#include <stdbool.h>
#include "../../lines.h"

struct buffer { /* text, which may contain NULs; one NUL always follows it */
	char *s;
	size_t len, size;
};
void buffer_add(struct buffer *b, const char *s, size_t len);

struct address {
	enum { NO_ADDRESS, LINE, LAST, REGEX } kind;
	long line;
	regex_t *regex; /* NULL: the regular expression used last */
};

struct command {
	struct address from, to;
	bool active;  /* the current line is between from and to */
	long ends_at; /* the last line's number, if `to' is a number */
	bool others;  /* !: the lines that the addresses do not select */
	char name;
	/* { b t: the command to jump to.  Until all is parsed, the label of b and t is in text. */
	int target;
	char *text;         /* a c i: text; r w: file; : b t: label; s: replacement; y: 256 bytes */
	regex_t *regex;     /* s */
	bool global, print; /* s///gp */
	int nth;            /* s///N */
	FILE *file;         /* w, s///w */
};

extern struct command *commands;
extern int ncommands;
extern bool no_print;   /* -n, or #n in the script's first line */
extern int regex_flags; /* REG_EXTENDED, or 0 */

void parse_script(const char *text); /* adds to the script; an error ends sed with a message */
void parse_end(void);                /* the script is complete: resolves the labels */
/* Runs the script on the files.  Returns the exit status. */
int run_files(char **files);
