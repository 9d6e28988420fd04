/*
 * lex.c - from characters to tokens, and from the characters of a word to its parts.
 *
 * A word is split into parts only once, here: quoted text, unquoted text, and parts
 * that a value will replace.  Commands in $( ) and ` ` are parsed at the same time.
 */
#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "sh.h"

struct lexer lexer;

/* Where a piece of text ends, and what is special in it. */
enum mode {
	MODE_WORD,   /* unquoted, up to a blank or operator */
	MODE_DQUOTE, /* up to " */
	MODE_BRACE,  /* operand in ${ }, unquoted */
	MODE_QBRACE, /* the same inside of double quotes */
	MODE_ARITH,  /* up to a ) without a ( before it */
	MODE_HERE    /* up to the end: a here-document */
};

struct builder {
	struct part *first, **tail;
	struct str text; /* of the unfinished part */
	bool quoted;     /* whether that part is quoted */
};

static void scan(struct builder *b, enum mode mode);

/* --- errors ---------------------------------------------------------------------- */

void syntax_error(const char *format, ...)
{
	char what[200];
	va_list ap;

	va_start(ap, format);
	vsnprintf(what, sizeof(what), format, ap);
	va_end(ap);
	sh.line = input_line();
	error(STATUS_ERROR, "syntax error: %s", what);
}

void unexpected_token(void)
{
	static const char *const names[] = {[T_EOF] = "end",
					    [T_NEWLINE] = "end of line",
					    [T_SEMI] = ";",
					    [T_DSEMI] = ";;",
					    [T_AMP] = "&",
					    [T_AND] = "&&",
					    [T_PIPE] = "|",
					    [T_OR] = "||",
					    [T_LPAREN] = "(",
					    [T_RPAREN] = ")",
					    [T_REDIR] = "redirection"};
	const char *word;

	if (lexer.token == T_WORD) {
		word = plain_text(lexer.word);
		syntax_error("unexpected %s", word ? word : "word");
	}
	syntax_error("unexpected %s", names[lexer.token]);
}

/* The construct that began on this line has no end. */
static void unterminated(const char *what, int line)
{
	syntax_error("unexpected end: %s of line %d is open", what, line);
}

/* --- words -------------------------------------------------------------------------- */

static struct part *add_part(struct builder *b, int kind, bool quoted)
{
	struct part *p = arena_alloc(lexer.arena, sizeof(*p));

	*p = (struct part){.kind = kind, .quoted = quoted};
	*b->tail = p;
	b->tail = &p->next;
	return p;
}

static void end_text(struct builder *b)
{
	if (!b->text.len)
		return;
	struct part *p = add_part(b, PART_TEXT, b->quoted);

	p->text = arena_string(lexer.arena, b->text.s, b->text.len);
	b->text.len = 0;
}

static void put(struct builder *b, char c, bool quoted)
{
	if (b->quoted != quoted) {
		end_text(b);
		b->quoted = quoted;
	}
	str_add(&b->text, c);
}

static void builder_init(struct builder *b)
{
	*b = (struct builder){.tail = &b->first, .text.arena = lexer.arena};
}

static struct word *finish(struct builder *b)
{
	struct word *w = arena_alloc(lexer.arena, sizeof(*w));

	end_text(b);
	*w = (struct word){.parts = b->first};
	return w;
}

static struct word *scan_word(enum mode mode)
{
	struct builder b;

	builder_init(&b);
	scan(&b, mode);
	return finish(&b);
}

/* The quoted text may be empty: "" still is a word. */
static void scan_dquote(struct builder *b)
{
	int line = input_line();

	end_text(b);
	struct part **before = b->tail;

	scan(b, MODE_DQUOTE);
	if (next_char() == END_OF_INPUT)
		unterminated("\"", line);
	end_text(b);
	if (b->tail == before)
		add_part(b, PART_TEXT, true)->text = "";
}

static void scan_squote(struct builder *b)
{
	int line = input_line(), c;

	end_text(b);
	if (peek_char() == '\'')
		add_part(b, PART_TEXT, true)->text = "";
	while ((c = next_char()) != '\'') {
		if (c == END_OF_INPUT)
			unterminated("'", line);
		put(b, c, true);
	}
}

static bool is_special(int c)
{
	return c > 0 && strchr("@*#?-$!", c);
}

/* Scans a parameter's name: letters and digits, digits alone, or a special character. */
static const char *scan_name(bool braces)
{
	struct str name = {.arena = lexer.arena};
	int c = peek_char();

	if (is_special(c)) {
		str_add(&name, next_char());
	} else if (isdigit(c)) {
		do
			str_add(&name, next_char());
		while (braces && isdigit(peek_char()));
	} else {
		while (isalnum(c) || c == '_') {
			str_add(&name, next_char());
			c = peek_char();
		}
	}
	return str_done(&name);
}

/* Scans the text behind "${", up to and including the "}". */
static void scan_braces(struct builder *b, bool quoted)
{
	struct part *p = add_part(b, PART_PARAM, quoted);
	int line = input_line(), c;

	p->text = scan_name(true);
	if (!strcmp(p->text, "#") && peek_char() != '}') {
		p->text = scan_name(true);
		p->op = 'L';
	}
	c = next_char();
	if (c == END_OF_INPUT)
		unterminated("${", line);
	if (!*p->text)
		syntax_error("bad substitution");
	if (c == '}')
		return;
	if (p->op)
		syntax_error("bad substitution");
	if (c == ':') {
		p->colon = true;
		c = next_char();
	}
	if (c <= 0 || !strchr(p->colon ? "-=?+" : "-=?+%#", c))
		syntax_error("bad substitution");
	p->op = c;
	if ((c == '%' || c == '#') && peek_char() == c) {
		next_char();
		p->op = c == '%' ? 'P' : 'H';
	}
	p->word = scan_word(quoted && strchr("-=?+", c) ? MODE_QBRACE : MODE_BRACE);
	if (next_char() == END_OF_INPUT)
		unterminated("${", line);
}

static void scan_arith(struct builder *b, bool quoted)
{
	struct part *p = add_part(b, PART_ARITH, quoted);
	int line = input_line();

	p->word = scan_word(MODE_ARITH);
	if (next_char() == END_OF_INPUT || peek_char() == END_OF_INPUT)
		unterminated("$((", line);
	if (next_char() != ')')
		syntax_error("a single ) in $((");
}

/* Parses commands inside a word.  Saves the token that the word is part of. */
static struct node *parse_inside(bool parenthesis)
{
	struct lexer outside = lexer;
	struct node *body;

	lexer = (struct lexer){.arena = outside.arena};
	body = parse_substitution(parenthesis);
	lexer = outside;
	return body;
}

/* Scans the text behind the first `.  In it, \ quotes $ ` and \, and in double quotes ". */
static void scan_backquote(struct builder *b, bool quoted)
{
	struct str text = {.arena = lexer.arena};
	int line = input_line(), c;
	struct part *p;

	end_text(b);
	p = add_part(b, PART_COMMAND, quoted);
	while ((c = next_char()) != '`') {
		if (c == '\\' && peek_char() > 0 && strchr(quoted ? "$`\\\"" : "$`\\", peek_char()))
			c = next_char();
		if (c == END_OF_INPUT)
			unterminated("`", line);
		str_add(&text, c);
	}
	input_string(str_done(&text), line);
	p->body = parse_inside(false);
	input_pop();
}

/* Scans the text behind a $. */
static void scan_dollar(struct builder *b, bool quoted)
{
	int c = peek_char();

	if (c != '(' && c != '{' && c != '_' && !isalnum(c) && !is_special(c)) {
		put(b, '$', quoted);
		return;
	}
	end_text(b);
	if (c == '{') {
		next_char();
		scan_braces(b, quoted);
	} else if (c != '(') {
		add_part(b, PART_PARAM, quoted)->text = scan_name(false);
	} else {
		next_char();
		if (peek_char() == '(') {
			next_char();
			scan_arith(b, quoted);
		} else {
			add_part(b, PART_COMMAND, quoted)->body = parse_inside(true);
		}
	}
}

static void scan_backslash(struct builder *b, enum mode mode, bool quoted)
{
	int c = peek_char();

	if (c == '\n') { /* it joins two lines */
		next_char();
	} else if (c == END_OF_INPUT) {
		if (mode != MODE_HERE)
			syntax_error("unexpected end: nothing is behind \\");
		put(b, '\\', true);
	} else if (!quoted || strchr("$`\\", c) || (c == '"' && mode != MODE_HERE) ||
		   (c == '}' && mode == MODE_QBRACE)) {
		put(b, next_char(), true);
	} else {
		put(b, '\\', true);
	}
}

/* Does c, unquoted, end a word? */
static bool ends_word(int c)
{
	return c == END_OF_INPUT || c == '\0' || strchr(" \t\n;&|<>()", c);
}

/* Splits the text into parts, up to the end that `mode' defines; does not consume that end. */
static void scan(struct builder *b, enum mode mode)
{
	bool quoted = mode != MODE_WORD && mode != MODE_BRACE;
	int c, depth = 0;

	for (;;) {
		c = peek_char();
		if (c == END_OF_INPUT || (mode == MODE_WORD && ends_word(c)) ||
		    (mode == MODE_DQUOTE && c == '"') ||
		    ((mode == MODE_BRACE || mode == MODE_QBRACE) && c == '}') ||
		    (mode == MODE_ARITH && c == ')' && depth == 0))
			return;
		next_char();
		if (c == '\\')
			scan_backslash(b, mode, quoted);
		else if (c == '$')
			scan_dollar(b, quoted);
		else if (c == '`')
			scan_backquote(b, quoted);
		else if (c == '\'' && !quoted)
			scan_squote(b);
		else if (c == '"' && !quoted)
			scan_dquote(b);
		else if (c == '"' && mode != MODE_HERE)
			; /* quotes inside quoted text */
		else
			put(b, c, quoted);
		depth += (c == '(') - (c == ')');
	}
}

const char *plain_text(const struct word *w)
{
	const struct part *p = w->parts;

	return p && !p->next && p->kind == PART_TEXT && !p->quoted ? p->text : NULL;
}

/* --- here-documents ------------------------------------------------------------------- */

/* Reads the text of a here-document, which begins at the start of a line. */
static void read_here(struct redir *r)
{
	struct str text = {.arena = lexer.arena};
	int line = input_line(), c;
	size_t start;

	for (;;) {
		start = text.len;
		while (r->tabs && peek_char() == '\t')
			next_char();
		while ((c = next_char()) != END_OF_INPUT && c != '\n')
			str_add(&text, c);
		if (text.len - start == strlen(r->delimiter) &&
		    !memcmp(text.s ? text.s + start : "", r->delimiter, text.len - start))
			break;
		if (c == END_OF_INPUT)
			syntax_error("unexpected end: the here-document of line %d needs %s", line,
				     r->delimiter);
		str_add(&text, '\n');
	}
	if (text.s)
		text.s[text.len = start] = '\0';
	if (!r->literal) {
		input_string(str_done(&text), line);
		r->word = scan_word(MODE_HERE);
		input_pop();
		return;
	}
	struct builder b;

	builder_init(&b);
	add_part(&b, PART_TEXT, true)->text = str_done(&text);
	r->word = finish(&b);
}

static void read_here_documents(void)
{
	struct redir *r = lexer.here, *rest;

	for (; r; r = rest) {
		rest = lexer.here = r->next_here;
		read_here(r);
	}
}

/* --- tokens ------------------------------------------------------------------------------ */

static bool next_is(int c)
{
	if (peek_char() != c)
		return false;
	next_char();
	return true;
}

/* A < or > was consumed; fd: the number before it, or -1. */
static enum token redirection(int c, int fd)
{
	struct redir *r = arena_alloc(lexer.arena, sizeof(*r));

	*r = (struct redir){.fd = fd >= 0 ? fd : c == '>'};
	if (next_is('&')) {
		r->kind = REDIR_DUP;
	} else if (c == '>') {
		r->kind = next_is('>') ? REDIR_APPEND : REDIR_WRITE;
		if (r->kind == REDIR_WRITE)
			next_is('|'); /* weft's shell has no set -C */
	} else if (next_is('<')) {
		r->kind = REDIR_HERE;
		r->tabs = next_is('-');
	} else {
		r->kind = next_is('>') ? REDIR_RDWR : REDIR_READ;
	}
	lexer.redir = r;
	return T_REDIR;
}

static void skip_blanks(void)
{
	int c;

	for (;;) {
		c = peek_char();
		if (c == ' ' || c == '\t') {
			next_char();
		} else if (c == '#') {
			while ((c = peek_char()) != END_OF_INPUT && c != '\n')
				next_char();
		} else {
			return;
		}
	}
}

/* A word of digits alone, directly before < or >, is the descriptor; else -1. */
static int descriptor(const struct word *w)
{
	const char *s = plain_text(w);
	int c = peek_char();

	if ((c != '<' && c != '>') || !s || strlen(s) > 3 || s[strspn(s, "0123456789")])
		return -1;
	return atoi(s);
}

static enum token scan_token(void)
{
	int c, fd;

	skip_blanks();
	lexer.start = input_at();
	c = peek_char();
	if (c == END_OF_INPUT)
		return T_EOF;
	if (!ends_word(c)) {
		lexer.word = scan_word(MODE_WORD);
		if (!lexer.word->parts && peek_char() != END_OF_INPUT)
			return scan_token(); /* the word was only a joined line */
		fd = descriptor(lexer.word);
		return fd < 0 ? T_WORD : redirection(next_char(), fd);
	}
	next_char();
	switch (c) {
	case '\n':
		read_here_documents();
		return T_NEWLINE;
	case ';':
		return next_is(';') ? T_DSEMI : T_SEMI;
	case '&':
		return next_is('&') ? T_AND : T_AMP;
	case '|':
		return next_is('|') ? T_OR : T_PIPE;
	case '(':
		return T_LPAREN;
	case ')':
		return T_RPAREN;
	case '<':
	case '>':
		return redirection(c, -1);
	default:
		syntax_error("a NUL character");
	}
}

enum token peek_token(void)
{
	if (!lexer.peeked) {
		lexer.last_end = input_at();
		lexer.token = scan_token();
		lexer.peeked = true;
	}
	return lexer.token;
}

void take_token(void)
{
	lexer.peeked = false;
}

bool at_reserved(const char *name)
{
	const char *s;

	if (peek_token() != T_WORD)
		return false;
	s = plain_text(lexer.word);
	return s && !strcmp(s, name);
}

bool take_reserved(const char *name)
{
	if (!at_reserved(name))
		return false;
	take_token();
	return true;
}
