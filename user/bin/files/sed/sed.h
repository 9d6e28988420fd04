/*
 * sed.h - what the files of sed share: a script as a list of commands (parse.c makes it), and the
 * buffers of text that they work on (run.c).
 */
#pragma once
#include <sys/types.h>
#include <regex.h>
#include <stdbool.h>
#include "../../lines.h"

struct buffer { /* text, which may have NULs in it, and always one behind it */
	char *s;
	size_t len, size;
};
void buffer_add(struct buffer *b, const char *s, size_t len);

struct address {
	enum { NO_ADDRESS, LINE, LAST, REGEX } kind;
	long line;
	regex_t *regex; /* NULL: the last one that was used */
};

struct command {
	struct address from, to;
	bool active;  /* between from and to */
	long ends_at; /* the number of the range's last line, if `to' is one */
	bool others;  /* !: lines that the addresses do not mean */
	char name;
	/* { b t: where to; until all is parsed, of b and t the label is in text */
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

void parse_script(const char *text); /* more of the script; ends with a message if it is wrong */
void parse_end(void);                /* that was all: labels become places */
/* Runs it on the files; the exit status. */
int run_files(char **files);
