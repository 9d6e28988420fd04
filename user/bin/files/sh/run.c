/*
 * run.c - runs the tree: lists, pipelines, loops and similar constructs.  command.c runs simple
 * commands.
 *
 * A command leaves its status in sh.status.  break, continue and return set sh.skip.  Then
 * every list stops, until the target construct resets sh.skip.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "sh.h"

static void run_node(const struct node *n, int flags);

/* --- processes ------------------------------------------------------------------- */

/* In a child: runs the commands and exits. */
static void run_child(const struct node *list)
{
	run_list(list, RUN_EXIT);
	leave(sh.status);
}

/*
 * Starts one command of a pipeline, or one in the background.  0 or -1: it could not be started; a
 * message has been printed.
 */
static pid_t start_node(const struct node *n, const struct place *place)
{
	struct node alone = *n;
	pid_t pid;

	if (n->kind == N_SIMPLE)
		return start_command(n, place);
	pid = start_fork(place);
	if (pid == 0) {
		alone.next = NULL;
		alone.async = false;
		run_child(&alone);
	}
	return pid;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

/*
 * Starts each command with its output in the next one's input.
 */
static void start_pipeline(const struct node *n, struct job *job, bool background)
{
	struct place place = NO_PLACE;
	int p[2];

	place.job = job;
	place.background = background;
	place.pipeline = n->next != NULL;
	for (; n; n = n->next) {
		p[0] = p[1] = -1;
		if (n->next && pipe(p) < 0) {
			complain("pipe: %s", strerror(errno));
			job_add_failed(job, STATUS_CANNOT_RUN);
			break;
		}
		/* Moves the pipe away from a command's own descriptors, 0 to 9. */
		p[0] = own_fd(p[0]);
		p[1] = own_fd(p[1]);
		place.out = p[1];
		place.close_too = p[0];
		if (start_node(n, &place) <= 0)
			job_add_failed(job, sh.status);
		close_fd(place.in);
		close_fd(p[1]);
		place.in = p[0];
	}
	close_fd(place.in);
}

static void run_async(const struct node *n)
{
	struct job *job = job_new(n->text);
	struct node alone = *n;

	alone.next = NULL;
	start_pipeline(n->kind == N_PIPE ? n->body : &alone, job, true);
	job_background(job);
	sh.status = 0;
}

static void run_pipeline(const struct node *n)
{
	struct job *job = job_new(n->text);

	start_pipeline(n->body, job, false);
	sh.status = job_foreground(job, false);
}

static void run_subshell(const struct node *n, int flags)
{
	struct place place = NO_PLACE;

	if (flags & RUN_EXIT)
		run_child(n->body);
	place.job = job_new(n->text ? n->text : "( )");
	switch (start_fork(&place)) {
	case 0:
		run_child(n->body);
		break;
	case -1:
		job_add_failed(place.job, sh.status);
		break;
	}
	sh.status = job_foreground(place.job, false);
}

char *command_output(const struct node *body)
{
	struct str s = {.arena = sh.tmp};
	struct place place = NO_PLACE;
	char buf[4096];
	ssize_t n;
	pid_t pid;
	int p[2];

	if (!body) {
		sh.substituted = 0;
		return str_done(&s);
	}
	if (pipe(p) < 0)
		error(STATUS_CANNOT_RUN, "pipe: %s", strerror(errno));
	place.close_too = p[0] = own_fd(p[0]);
	place.out = p[1] = own_fd(p[1]);
	if (!body->next && !body->async && body->kind == N_SIMPLE) {
		pid = start_command(body, &place);
	} else {
		pid = start_fork(&place);
		if (pid == 0)
			run_child(body);
	}
	close(p[1]);
	if (pid > 0)
		interrupt_pass_on(pid);
	while (pid > 0 && ((n = read(p[0], buf, sizeof(buf))) > 0 || (n < 0 && errno == EINTR)))
		if (n > 0)
			str_append(&s, buf, n);
	close(p[0]);
	sh.substituted = pid > 0 ? wait_for(pid) : sh.status;
	while (s.len && s.s[s.len - 1] == '\n')
		s.len--;
	if (s.s)
		s.s[s.len] = '\0';
	return str_done(&s);
}

/* --- loops and choices --------------------------------------------------------------- */

/* After the body of a loop: must the loop end? */
static bool loop_ends(void)
{
	if (sh.skip == SKIP_NONE)
		return false;
	if (sh.skip == SKIP_RETURN || --sh.skip_levels > 0)
		return true;
	enum skip what = sh.skip;

	sh.skip = SKIP_NONE;
	return what == SKIP_BREAK;
}

/* Runs commands whose status is tested. */
static void run_test(const struct node *list)
{
	sh.tested++;
	run_list(list, 0);
	sh.tested--;
}

static void run_while(const struct node *n, int flags)
{
	bool until = n->kind == N_UNTIL;
	int status = 0;

	sh.loops++;
	for (;;) {
		run_test(n->test);
		if (sh.skip) {
			if (loop_ends())
				break;
			continue;
		}
		if ((sh.status == 0) == until)
			break;
		run_list(n->body, flags);
		status = sh.status;
		if (loop_ends())
			break;
	}
	sh.loops--;
	if (sh.skip != SKIP_RETURN)
		sh.status = status;
}

static void run_for(const struct node *n, int flags)
{
	struct mark mark = arena_mark(sh.tmp);
	struct fields f = {0};
	int i;

	if (n->all_params)
		for (i = 0; i < sh.params.n; i++)
			add_field(&f, arena_string(sh.tmp, sh.params.v[i], strlen(sh.params.v[i])));
	else
		expand_words(n->words, &f);
	sh.status = 0;
	sh.loops++;
	for (i = 0; i < f.n; i++) {
		var_set(n->name, f.v[i]);
		run_list(n->body, flags);
		if (loop_ends())
			break;
	}
	sh.loops--;
	arena_release(sh.tmp, mark);
}

static void run_case(const struct node *n, int flags)
{
	struct mark mark = arena_mark(sh.tmp);
	const char *word = expand_string(n->words);
	const struct node *body = NULL;
	const struct case_item *item;
	const struct word *w;
	bool found = false;

	for (item = n->items; item && !found; item = item->next)
		for (w = item->patterns; w && !found; w = w->next)
			if (match(expand_pattern(w), word)) {
				found = true;
				body = item->body;
			}
	arena_release(sh.tmp, mark);
	sh.status = 0;
	run_list(body, flags);
}

/* --- the tree --------------------------------------------------------------------------- */

static void run_and_or(const struct node *n, int flags)
{
	sh.tested++;
	run_node(n->body, 0);
	sh.tested--;
	if (!sh.skip && (sh.status == 0) == (n->kind == N_AND))
		run_node(n->other, flags);
}

static void run_inside(const struct node *n, int flags)
{
	switch (n->kind) {
	case N_AND:
	case N_OR:
		run_and_or(n, flags);
		break;
	case N_NOT:
		sh.tested++;
		run_node(n->body, 0);
		sh.tested--;
		if (!sh.skip)
			sh.status = !sh.status;
		break;
	case N_SUBSHELL:
		run_subshell(n, flags);
		break;
	case N_GROUP:
		run_list(n->body, flags);
		break;
	case N_IF:
		run_test(n->test);
		if (sh.skip)
			break;
		if (sh.status == 0) {
			run_list(n->body, flags);
		} else {
			sh.status = 0;
			run_list(n->other, flags);
		}
		break;
	case N_WHILE:
	case N_UNTIL:
		run_while(n, flags & ~RUN_EXIT);
		break;
	case N_FOR:
		run_for(n, flags & ~RUN_EXIT);
		break;
	case N_CASE:
		run_case(n, flags);
		break;
	case N_FUNCTION:
		function_define(n->name, n->body);
		sh.status = 0;
		break;
	case N_PIPE:
		run_pipeline(n);
		break;
	case N_SIMPLE:
		run_simple(n, flags);
		break;
	}
}

/* A compound command with redirections. */
static void run_redirected(const struct node *n, int flags)
{
	struct mark mark = arena_mark(sh.tmp);
	struct moves *m = arena_alloc(sh.tmp, sizeof(*m));

	if (!redir_open(n->redirs, m)) {
		sh.status = 1;
	} else {
		undo_later(redir_undo, m);
		if (redir_apply(m, true))
			run_inside(n, flags & ~RUN_EXIT);
		else
			sh.status = 1;
		undo();
	}
	arena_release(sh.tmp, mark);
}

static void run_node(const struct node *n, int flags)
{
	signals_check();
	if (n->redirs && n->kind != N_SIMPLE)
		run_redirected(n, flags);
	else
		run_inside(n, flags);
	if (sh.errexit && sh.status && !sh.tested && !sh.skip &&
	    (n->kind == N_SIMPLE || n->kind == N_PIPE || n->kind == N_SUBSHELL))
		fail(sh.status);
}

void run_list(const struct node *n, int flags)
{
	for (; n && !sh.skip; n = n->next) {
		if (n->async)
			run_async(n);
		else
			run_node(n, n->next ? flags & ~RUN_EXIT : flags);
	}
}

/* --- whole texts -------------------------------------------------------------------------- */

/* The command is finished: frees its tree, unless a function holds it. */
static void end_command(void *outer)
{
	arena_drop(sh.tree);
	sh.tree = outer;
}

void run_input(void)
{
	struct mark mark;
	struct node *list;
	bool more;

	do {
		mark = arena_mark(sh.tmp);
		undo_later(end_command, sh.tree);
		sh.tree = arena_new();
		more = parse_command(sh.tree, &list);
		run_list(list, 0);
		undo();
		arena_release(sh.tmp, mark);
	} while (more && !sh.skip);
}

void run_string(const char *text, int line)
{
	struct lexer outside = lexer; /* a trap may run while a command is read */

	input_string(text, line);
	run_input();
	input_pop();
	lexer = outside;
}
