/*
 * parse.c - from tokens to the tree, by recursive descent.  The grammar is that of POSIX
 * (Shell Grammar).
 */
#include <string.h>
#include "sh.h"

/* Commands may nest this deep; the stack must have room for them. */
#define MAX_DEPTH 500

static int depth;

static struct node *parse_list(bool lines);

static struct node *new_node(int kind)
{
	struct node *n = arena_alloc(lexer.arena, sizeof(*n));

	*n = (struct node){.kind = kind, .line = input_line()};
	return n;
}

static void skip_newlines(void)
{
	while (peek_token() == T_NEWLINE)
		take_token();
}

static void expect(enum token t)
{
	if (peek_token() != t)
		unexpected_token();
	take_token();
}

/* `opened', on `line', began the construct. */
static void expect_reserved(const char *name, const char *opened, int line)
{
	if (take_reserved(name))
		return;
	if (peek_token() == T_EOF)
		syntax_error("unexpected end: %s of line %d needs %s", opened, line, name);
	unexpected_token();
}

/* Parses a list that must not be empty. */
static struct node *parse_body(void)
{
	struct node *list = parse_list(true);

	if (!list)
		unexpected_token();
	return list;
}

/* --- redirections and simple commands ------------------------------------------------ */

/* A here-document's delimiter: the text of the word, without its quotes. */
static void set_delimiter(struct redir *r, const struct word *w)
{
	struct str s = {.arena = lexer.arena};
	const struct part *p;
	struct redir **last = &lexer.here;

	for (p = w->parts; p; p = p->next) {
		if (p->kind != PART_TEXT)
			syntax_error("a here-document's end must be plain text");
		r->literal |= p->quoted;
		str_append(&s, p->text, strlen(p->text));
	}
	r->delimiter = str_done(&s);
	while (*last)
		last = &(*last)->next_here;
	*last = r;
}

/* Parses all redirections that follow; returns where to link the next. */
static struct redir **parse_redirs(struct redir **tail)
{
	struct redir *r;

	while (peek_token() == T_REDIR) {
		r = lexer.redir;
		take_token();
		if (peek_token() != T_WORD)
			unexpected_token();
		r->word = lexer.word;
		if (r->kind == REDIR_HERE)
			set_delimiter(r, r->word);
		take_token();
		*tail = r;
		tail = &r->next;
	}
	return tail;
}

static bool is_assignment(const struct word *w)
{
	const struct part *p = w->parts;
	size_t n;

	if (!p || p->kind != PART_TEXT || p->quoted)
		return false;
	n = name_length(p->text);
	return n > 0 && p->text[n] == '=';
}

static struct node *parse_function(const char *name);

static struct node *parse_simple(void)
{
	struct node *n = new_node(N_SIMPLE);
	struct word **assign = &n->assigns, **word = &n->words;
	struct redir **redir = &n->redirs;
	const char *name;

	for (;;) {
		redir = parse_redirs(redir);
		if (peek_token() != T_WORD)
			break;
		if (!n->words && is_assignment(lexer.word)) {
			*assign = lexer.word;
			assign = &lexer.word->next;
		} else {
			*word = lexer.word;
			word = &lexer.word->next;
		}
		take_token();
		if (peek_token() != T_LPAREN || !n->words || n->words->next)
			continue;
		name = plain_text(n->words);
		if (!name || name_length(name) != strlen(name) || n->assigns || n->redirs)
			unexpected_token();
		return parse_function(name);
	}
	if (!n->words && !n->assigns && !n->redirs)
		unexpected_token();
	return n;
}

/* --- compound commands ------------------------------------------------------------------ */

static struct node *parse_if(void)
{
	struct node *n = new_node(N_IF);

	n->test = parse_body();
	expect_reserved("then", "if", n->line);
	n->body = parse_body();
	if (take_reserved("elif")) {
		n->other = parse_if(); /* consumes the fi */
		return n;
	}
	if (take_reserved("else"))
		n->other = parse_body();
	expect_reserved("fi", "if", n->line);
	return n;
}

static struct node *parse_do(const char *opened, int line)
{
	struct node *body;

	expect_reserved("do", opened, line);
	body = parse_body();
	expect_reserved("done", opened, line);
	return body;
}

static struct node *parse_while(int kind)
{
	struct node *n = new_node(kind);

	n->test = parse_body();
	n->body = parse_do(kind == N_WHILE ? "while" : "until", n->line);
	return n;
}

static struct node *parse_for(void)
{
	struct node *n = new_node(N_FOR);
	struct word **word = &n->words;

	if (peek_token() != T_WORD)
		unexpected_token();
	n->name = plain_text(lexer.word);
	if (!n->name || name_length(n->name) != strlen(n->name))
		syntax_error("for needs the name of a variable");
	take_token();
	skip_newlines();
	n->all_params = !take_reserved("in");
	if (!n->all_params)
		for (; peek_token() == T_WORD; take_token()) {
			*word = lexer.word;
			word = &lexer.word->next;
		}
	if (peek_token() == T_SEMI)
		take_token();
	skip_newlines();
	n->body = parse_do("for", n->line);
	return n;
}

static struct case_item *parse_case_item(void)
{
	struct case_item *item = arena_alloc(lexer.arena, sizeof(*item));
	struct word **pattern = &item->patterns;

	*item = (struct case_item){0};
	if (peek_token() == T_LPAREN)
		take_token();
	for (;;) {
		if (peek_token() != T_WORD)
			unexpected_token();
		*pattern = lexer.word;
		pattern = &lexer.word->next;
		take_token();
		if (peek_token() != T_PIPE)
			break;
		take_token();
	}
	expect(T_RPAREN);
	item->body = parse_list(true);
	return item;
}

static struct node *parse_case(void)
{
	struct node *n = new_node(N_CASE);
	struct case_item **item = &n->items;

	if (peek_token() != T_WORD)
		unexpected_token();
	n->words = lexer.word;
	take_token();
	skip_newlines();
	expect_reserved("in", "case", n->line);
	skip_newlines();
	while (!at_reserved("esac")) {
		if (peek_token() == T_EOF)
			break;
		*item = parse_case_item();
		item = &(*item)->next;
		if (peek_token() != T_DSEMI)
			break; /* only the last item may lack its ;; */
		take_token();
		skip_newlines();
	}
	expect_reserved("esac", "case", n->line);
	return n;
}

static struct node *parse_group(void)
{
	struct node *n = new_node(N_GROUP);

	n->body = parse_body();
	expect_reserved("}", "{", n->line);
	return n;
}

static struct node *parse_subshell(void)
{
	struct node *n = new_node(N_SUBSHELL);

	take_token();
	n->body = parse_body();
	if (peek_token() == T_EOF)
		syntax_error("unexpected end: ( of line %d is open", n->line);
	expect(T_RPAREN);
	return n;
}

/* NULL: no compound command begins here. */
static struct node *parse_compound(void)
{
	struct node *n = NULL;

	if (peek_token() == T_LPAREN)
		n = parse_subshell();
	else if (take_reserved("{"))
		n = parse_group();
	else if (take_reserved("if"))
		n = parse_if();
	else if (take_reserved("while"))
		n = parse_while(N_WHILE);
	else if (take_reserved("until"))
		n = parse_while(N_UNTIL);
	else if (take_reserved("for"))
		n = parse_for();
	else if (take_reserved("case"))
		n = parse_case();
	if (n)
		parse_redirs(&n->redirs);
	return n;
}

/* Parses a function from the ( behind the name on. */
static struct node *parse_function(const char *name)
{
	struct node *n = new_node(N_FUNCTION);

	n->name = name;
	expect(T_LPAREN);
	expect(T_RPAREN);
	skip_newlines();
	n->body = parse_compound();
	if (!n->body)
		unexpected_token();
	return n;
}

/* --- pipelines and lists ------------------------------------------------------------------ */

/* Words that end a list where a command could begin. */
static bool at_list_end(void)
{
	static const char *const words[] = {"then", "do",   "done", "fi",
					    "elif", "else", "esac", "}"};
	size_t i;

	if (peek_token() != T_WORD)
		return lexer.token == T_EOF || lexer.token == T_RPAREN || lexer.token == T_DSEMI;
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (at_reserved(words[i]))
			return true;
	return false;
}

static struct node *parse_one(void)
{
	struct node *n;

	if (++depth > MAX_DEPTH)
		syntax_error("commands nest too deep");
	if (peek_token() == T_WORD && at_list_end())
		unexpected_token();
	n = parse_compound();
	if (!n)
		n = parse_simple();
	depth--;
	return n;
}

/* Returns the text from `start' to the last consumed token. */
static const char *text_since(size_t start)
{
	peek_token(); /* sets where the previous token ended */
	return arena_string(lexer.arena, input_text(start), lexer.last_end - start);
}

static struct node *parse_pipeline(void)
{
	struct node *negation = NULL, *pipe, *n, **tail;
	size_t start;

	peek_token();
	start = lexer.start;
	if (take_reserved("!"))
		negation = new_node(N_NOT);
	n = parse_one();
	if (peek_token() == T_PIPE) {
		pipe = new_node(N_PIPE);
		pipe->body = n;
		for (tail = &n->next; peek_token() == T_PIPE; tail = &(*tail)->next) {
			take_token();
			skip_newlines();
			*tail = parse_one();
		}
		n = pipe;
	}
	n->text = text_since(start);
	if (!negation)
		return n;
	negation->body = n;
	negation->text = n->text;
	return negation;
}

static struct node *parse_and_or(void)
{
	struct node *left, *n;
	size_t start;

	peek_token();
	start = lexer.start;
	left = parse_pipeline();
	while (peek_token() == T_AND || lexer.token == T_OR) {
		n = new_node(lexer.token == T_AND ? N_AND : N_OR);
		take_token();
		skip_newlines();
		n->body = left;
		n->other = parse_pipeline();
		n->text = text_since(start);
		left = n;
	}
	return left;
}

/* `lines': newlines separate commands, too; else a newline ends the list.  NULL: the list is
 * empty. */
static struct node *parse_list(bool lines)
{
	struct node *list = NULL, **tail = &list;

	if (lines)
		skip_newlines();
	while (!at_list_end() && lexer.token != T_NEWLINE) {
		*tail = parse_and_or();
		(*tail)->async = peek_token() == T_AMP;
		tail = &(*tail)->next;
		if (lexer.token != T_SEMI && lexer.token != T_AMP && lexer.token != T_NEWLINE)
			break;
		if (lexer.token == T_NEWLINE && !lines)
			break;
		take_token();
		if (lines)
			skip_newlines();
	}
	return list;
}

bool parse_command(struct arena *a, struct node **list)
{
	lexer = (struct lexer){.arena = a};
	depth = 0;
	input_begin_command();
	*list = NULL;
	if (peek_token() == T_EOF)
		return false;
	*list = parse_list(false);
	/* Does not look behind the newline, because the next line may not be there yet. */
	if (peek_token() != T_NEWLINE && lexer.token != T_EOF)
		unexpected_token();
	return true;
}

struct node *parse_substitution(bool parenthesis)
{
	int line = input_line();
	struct node *list;

	if (++depth > MAX_DEPTH)
		syntax_error("commands nest too deep");
	list = parse_list(true);
	depth--;
	if (parenthesis && peek_token() == T_EOF)
		syntax_error("unexpected end: $( of line %d is open", line);
	if (peek_token() != (parenthesis ? T_RPAREN : T_EOF))
		unexpected_token();
	take_token();
	return list;
}
