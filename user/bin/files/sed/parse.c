/* parse.c - from the script's text to the list of commands. */
#include <ctype.h>
#include "sed.h"

struct command *commands;
int ncommands;
bool no_print;
int regex_flags;

static const char *at;          /* the part of the script that is not parsed yet */
static int *open_blocks, nopen; /* each { that still lacks its } */

static void wrong(const char *what)
{
	errx(2, "command %d: %s", ncommands + 1, what);
}

static void skip_blanks(void)
{
	at += strspn(at, " \t");
}

/*
 * Returns the text up to the next delimiter c outside of brackets, and skips c.  \c is c, and \n a
 * newline.  Other escapes stay as they are, for the regular expression or the replacement.
 */
static char *delimited(char c, bool regex)
{
	struct buffer b = {0};
	bool bracket = false;

	buffer_add(&b, "", 0);
	for (; *at && (*at != c || bracket); at++) {
		if (*at == '\\' && at[1] && !bracket) {
			at++;
			if (*at == c && c != '\\')
				buffer_add(&b, at, 1);
			else if (*at == 'n' && regex)
				buffer_add(&b, "\n", 1);
			else
				buffer_add(&b, at - 1, 2);
			continue;
		}
		if (regex && !bracket && *at == '[') {
			bracket = true;
			buffer_add(&b, at, 1);
			if (at[1] == '^')
				buffer_add(&b, ++at, 1);
			if (at[1] == ']')
				buffer_add(&b, ++at, 1);
			continue;
		}
		if (*at == ']')
			bracket = false;
		else if (*at == '\n' && regex)
			break;
		buffer_add(&b, at, 1);
	}
	if (*at != c)
		wrong("its delimiter is missing");
	at++;
	return b.s;
}

/* Returns NULL for an empty expression. */
static regex_t *compile(char *text, int flags)
{
	regex_t *r = NULL;
	char message[200];
	int error;

	if (*text) {
		r = need(malloc(sizeof(*r)));
		error = regcomp(r, text, regex_flags | flags);
		if (error) {
			regerror(error, r, message, sizeof(message));
			wrong(message);
		}
	}
	free(text);
	return r;
}

static long number(void)
{
	char *end;
	long n = strtol(at, &end, 10);

	at = end;
	return n;
}

static bool parse_address(struct address *a)
{
	if (isdigit((unsigned char)*at)) {
		a->kind = LINE;
		a->line = number();
	} else if (*at == '$') {
		a->kind = LAST;
		at++;
	} else if (*at == '/' || (*at == '\\' && at[1])) {
		a->kind = REGEX;
		at += *at == '\\';
		at++;
		a->regex = compile(delimited(at[-1], true), 0);
	}
	return a->kind != NO_ADDRESS;
}

/* Returns the rest of the line, or the text up to a ; or } if those end it. */
static char *word(bool whole_line)
{
	size_t n;
	char *s;

	skip_blanks();
	n = strcspn(at, whole_line ? "\n" : "\n;} \t");
	s = need(strndup(at, n));
	at += n;
	return s;
}

/* Parses the text of a, c, i: lines, each except the last ending in \.  The result ends in a
 * newline. */
static char *parse_text(void)
{
	struct buffer b = {0};

	skip_blanks();
	if (*at == '\\') {
		at++;
		skip_blanks();
		if (*at == '\n')
			at++;
	}
	for (; *at && *at != '\n'; at++) {
		if (*at == '\\' && at[1])
			at++;
		buffer_add(&b, at, 1);
	}
	buffer_add(&b, "\n", 1);
	return b.s;
}

/* Returns the file of a w.  All commands with that name share it; it is created even if nothing is
 * written. */
static FILE *output(void)
{
	static struct output {
		struct output *next;
		char *name;
		FILE *file;
	} * outputs;
	struct output *o;
	char *name = word(true);

	if (!*name)
		wrong("it needs a file's name");
	for (o = outputs; o; o = o->next)
		if (!strcmp(o->name, name))
			return o->file;
	o = need(malloc(sizeof(*o)));
	*o = (struct output){outputs, name, fopen(name, "w")};
	if (!o->file)
		err(2, "%s", name);
	outputs = o;
	return o->file;
}

static void parse_s(struct command *c)
{
	char delimiter = *at++, *regex;
	int flags = 0;

	if (!delimiter || delimiter == '\n' || delimiter == '\\')
		wrong("its delimiter is missing");
	regex = delimited(delimiter, true);
	c->text = delimited(delimiter, false);
	for (;; at++) {
		if (*at == 'g')
			c->global = true;
		else if (*at == 'p')
			c->print = true;
		else if (*at == 'i' || *at == 'I')
			flags = REG_ICASE;
		else if (isdigit((unsigned char)*at) && *at != '0')
			c->nth = c->nth * 10 + *at - '0';
		else
			break;
	}
	c->nth += !c->nth;
	if (*at == 'w') {
		at++;
		c->file = output();
	}
	c->regex = compile(regex, flags);
}

static void parse_y(struct command *c)
{
	char delimiter = *at++, *from, *to;
	const char *f, *t;
	int i;

	if (!delimiter || delimiter == '\n' || delimiter == '\\')
		wrong("its delimiter is missing");
	from = delimited(delimiter, false);
	to = delimited(delimiter, false);
	c->text = need(malloc(256));
	for (i = 0; i < 256; i++)
		c->text[i] = i;
	for (f = from, t = to; *f && *t; f++, t++) {
		char a = *f, b = *t;

		if (a == '\\' && f[1])
			a = *++f == 'n' ? '\n' : *f;
		if (b == '\\' && t[1])
			b = *++t == 'n' ? '\n' : *t;
		c->text[(unsigned char)a] = b;
	}
	if (*f || *t)
		wrong("its strings differ in length");
	free(from);
	free(to);
}

/* Parses what follows the command's letter. */
static void parse_rest(struct command *c)
{
	switch (c->name) {
	case '{':
		open_blocks = need(realloc(open_blocks, (nopen + 1) * sizeof(*open_blocks)));
		open_blocks[nopen++] = ncommands;
		return;
	case '}':
		if (c->from.kind != NO_ADDRESS)
			wrong("} has no address");
		if (nopen == 0)
			wrong("} without {");
		commands[open_blocks[--nopen]].target = ncommands;
		break;
	case 'a':
	case 'c':
	case 'i':
		c->text = parse_text();
		return;
	case ':':
		if (c->from.kind != NO_ADDRESS)
			wrong(": has no address");
		c->text = word(true);
		return;
	case 'b':
	case 't':
		c->text = word(false);
		break;
	case 'r':
		c->text = word(true);
		return;
	case 'w':
		c->file = output();
		return;
	case 's':
		parse_s(c);
		break;
	case 'y':
		parse_y(c);
		break;
	case '=':
	case 'd':
	case 'D':
	case 'g':
	case 'G':
	case 'h':
	case 'H':
	case 'l':
	case 'n':
	case 'N':
	case 'p':
	case 'P':
	case 'q':
	case 'x':
		break;
	default:
		wrong("no such command");
	}
	skip_blanks();
	if (*at && !strchr(";\n}#", *at))
		wrong("something comes behind it");
}

void parse_script(const char *text)
{
	struct command *c;

	if (ncommands == 0 && !strncmp(text, "#n\n", 3))
		no_print = true;
	for (at = text;;) {
		at += strspn(at, " \t\n;");
		if (*at == '#')
			at += strcspn(at, "\n");
		if (!*at)
			return;
		if (*at == '\n')
			continue;
		commands = need(realloc(commands, (ncommands + 1) * sizeof(*commands)));
		c = &commands[ncommands];
		*c = (struct command){0};
		if (parse_address(&c->from)) {
			skip_blanks();
			if (*at == ',') {
				at++;
				skip_blanks();
				if (!parse_address(&c->to))
					wrong("an address is missing behind ,");
			}
		}
		skip_blanks();
		for (; *at == '!' || *at == ' '; at++)
			c->others |= *at == '!';
		c->name = *at;
		at += *at != '\0';
		parse_rest(c);
		ncommands++;
	}
}

void parse_end(void)
{
	int i, j;

	if (nopen)
		errx(2, "{ without }");
	for (i = 0; i < ncommands; i++) {
		struct command *c = &commands[i];

		if (c->name != 'b' && c->name != 't')
			continue;
		c->target = ncommands;
		for (j = 0; *c->text && j < ncommands; j++)
			if (commands[j].name == ':' && !strcmp(commands[j].text, c->text))
				break;
		if (*c->text && j == ncommands)
			errx(2, "no such label: %s", c->text);
		if (*c->text)
			c->target = j;
	}
}
