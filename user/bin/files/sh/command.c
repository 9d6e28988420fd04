/*
 * command.c - simple commands: assignments, functions, built-in commands, programs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "sh.h"

/* Most nested calls of functions; the stack must have room for them. */
#define MAX_CALLS 1000

/* A simple command after expansion. */
struct command {
	struct fields args, assigns;
	const struct function *function; /* at most one of these two is set: */
	const struct builtin *builtin;   /* neither: a program */
};

/* --- functions -------------------------------------------------------------------- */

static struct function *functions;

static struct function **function_place(const char *name)
{
	struct function **f = &functions;

	while (*f && strcmp((*f)->name, name))
		f = &(*f)->next;
	return f;
}

const struct function *function_find(const char *name)
{
	return *function_place(name);
}

void function_names(struct fields *f)
{
	const struct function *i;

	for (i = functions; i; i = i->next)
		add_field(f, i->name);
}

void function_unset(const char *name)
{
	struct function **place = function_place(name), *f = *place;

	if (!f)
		return;
	*place = f->next;
	arena_drop(f->arena);
	free(f->name);
	free(f);
}

void function_define(const char *name, const struct node *body)
{
	struct function *f = xrealloc(NULL, sizeof(*f));

	arena_hold(sh.tree);
	*f = (struct function){.name = xstrdup(name), .body = body, .arena = sh.tree};
	function_unset(name);
	f->next = functions;
	functions = f;
}

/* What a call changes, to be restored. */
struct call {
	struct params params;
	struct arena *tree, *caller;
	int loops;
};

static void end_call(void *arg)
{
	struct call *c = arg;

	params_free(&sh.params);
	sh.params = c->params;
	sh.loops = c->loops;
	sh.functions--;
	sh.tree = c->caller;
	arena_drop(c->tree);
}

static void call(const struct function *f, const struct fields *args)
{
	struct call *c = arena_alloc(sh.tmp, sizeof(*c));

	if (sh.functions == MAX_CALLS)
		error(STATUS_ERROR, "%s: functions nest too deep", f->name);
	*c = (struct call){
		.params = sh.params, .tree = f->arena, .caller = sh.tree, .loops = sh.loops};
	arena_hold(f->arena);
	sh.tree = f->arena;
	sh.params = (struct params){.n = args->n - 1, .v = args->v + 1};
	sh.loops = 0;
	sh.functions++;
	undo_later(end_call, c);
	struct node body = *f->body; /* the text is the function's, not the caller's */

	body.next = NULL;
	run_list(&body, 0);
	undo();
	if (sh.skip == SKIP_RETURN)
		sh.skip = SKIP_NONE;
}

/* --- expansion ----------------------------------------------------------------------- */

/* "command NAME" runs NAME, but never a function. */
static void find_kind(struct command *c)
{
	bool functions_too = true;

	while (c->args.n > 1 && !strcmp(c->args.v[0], "command") && c->args.v[1][0] != '-') {
		functions_too = false;
		c->args.v++;
		c->args.n--;
	}
	if (!c->args.n)
		return;
	if (functions_too)
		c->function = function_find(c->args.v[0]);
	if (!c->function)
		c->builtin = builtin_find(c->args.v[0]);
}

/* set -x: prints the command */
static void trace(const struct command *c)
{
	int i;

	if (!sh.xtrace)
		return;
	fflush(stdout);
	fputc('+', stderr);
	for (i = 0; i < c->assigns.n; i++)
		fprintf(stderr, " %s", c->assigns.v[i]);
	for (i = 0; i < c->args.n; i++)
		fprintf(stderr, " %s", c->args.v[i]);
	fputc('\n', stderr);
}

static void expand(const struct node *n, struct command *c)
{
	const struct word *w;

	*c = (struct command){0};
	sh.substituted = -1;
	expand_words(n->words, &c->args);
	for (w = n->assigns; w; w = w->next)
		add_field(&c->assigns, expand_assignment(w));
	find_kind(c);
}

/* Returns the environment, replaced in part by the assignments; lies in sh.tmp. */
static char **environment(const struct fields *assigns)
{
	char **own = vars_environ(), **env;
	int n = 0, i, j;
	size_t len;

	if (!assigns->n)
		return own;
	while (own[n])
		n++;
	env = arena_alloc(sh.tmp, (n + assigns->n + 1) * sizeof(*env));
	memcpy(env, own, n * sizeof(*env));
	for (i = 0; i < assigns->n; i++) {
		len = name_length(assigns->v[i]) + 1; /* with the = */
		for (j = 0; j < n && strncmp(env[j], assigns->v[i], len); j++)
			;
		env[j] = assigns->v[i];
		n += j == n;
	}
	env[n] = NULL;
	return env;
}

/* --- running ---------------------------------------------------------------------------- */

static void run_program(struct command *c, struct moves *m, const char *text, int flags)
{
	struct place place = NO_PLACE;

	if ((flags & RUN_EXIT) && redir_apply(m, false))
		become_program(c->args.v, environment(&c->assigns));
	place.job = job_new(text ? text : c->args.v[0]);
	if (start_program(c->args.v, environment(&c->assigns), m, &place) <= 0)
		job_add_failed(place.job, sh.status);
	redir_close(m);
	sh.status = job_foreground(place.job, false);
}

/* Runs the command in the shell itself. */
static void run_here(const struct command *c, struct moves *m)
{
	bool stays = !c->function && (!c->builtin || c->builtin->special);
	bool for_good = c->builtin && c->builtin->run == builtin_exec;
	int i;

	undo_later(for_good ? redir_keep : redir_undo, m);
	if (!redir_apply(m, true)) {
		sh.status = 1;
		undo();
		return;
	}
	if (stays)
		for (i = 0; i < c->assigns.n; i++)
			vars_assign(c->assigns.v[i]);
	else
		vars_push(&c->assigns);
	if (c->function) {
		call(c->function, &c->args);
	} else if (c->builtin) {
		sh.status = c->builtin->run(c->args.n, c->args.v);
		fflush(stdout);
	} else {
		sh.status = sh.substituted < 0 ? 0 : sh.substituted;
	}
	if (!stays)
		undo();
	undo();
}

void run_simple(const struct node *n, int flags)
{
	struct mark mark = arena_mark(sh.tmp);
	struct moves *m = arena_alloc(sh.tmp, sizeof(*m));
	struct command c;

	sh.line = n->line;
	expand(n, &c);
	trace(&c);
	if (!redir_open(n->redirs, m)) {
		sh.status = 1;
		if (c.builtin && c.builtin->special)
			fail(sh.status);
	} else if (c.args.n && !c.function && !c.builtin) {
		run_program(&c, m, n->text, flags);
	} else {
		run_here(&c, m);
	}
	arena_release(sh.tmp, mark);
}

/*
 * May the shell itself expand these words for a command that runs in a process of its
 * own?  Not if the expansion changes a variable, runs a command, or may end in an error.
 */
static bool harmless(const struct word *w)
{
	const struct part *p;

	for (; w; w = w->next)
		for (p = w->parts; p; p = p->next)
			if (p->kind == PART_COMMAND || p->kind == PART_ARITH ||
			    (p->kind == PART_PARAM && (sh.nounset || p->op == '=' || p->op == '?' ||
						       (p->word && !harmless(p->word)))))
				return false;
	return true;
}

static bool harmless_redirs(const struct redir *r)
{
	for (; r; r = r->next)
		if (!harmless(r->word) || (r->kind != REDIR_HERE && r->kind != REDIR_DUP))
			return false; /* opening a file may take long */
	return true;
}

pid_t start_command(const struct node *n, const struct place *place)
{
	struct mark mark = arena_mark(sh.tmp);
	struct moves *m = arena_alloc(sh.tmp, sizeof(*m));
	struct node alone = *n;
	struct command c;
	pid_t pid = 0;

	sh.line = n->line;
	if (n->words && harmless(n->words) && harmless(n->assigns) && harmless_redirs(n->redirs)) {
		expand(n, &c);
		if (c.args.n && !c.function && !c.builtin) {
			trace(&c);
			if (!redir_open(n->redirs, m)) {
				sh.status = 1;
			} else {
				pid = start_program(c.args.v, environment(&c.assigns), m, place);
				redir_close(m);
			}
			arena_release(sh.tmp, mark);
			return pid;
		}
	}
	pid = start_fork(place);
	if (pid == 0) {
		alone.next = NULL;
		alone.async = false;
		run_list(&alone, RUN_EXIT);
		leave(sh.status);
	}
	arena_release(sh.tmp, mark);
	return pid;
}
