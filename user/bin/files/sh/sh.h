/*
 * sh.h - what the shell's parts know of each other.
 *
 * Text comes from an input (input.c), is cut into tokens and words (lex.c), and becomes a
 * tree (parse.c), one complete command at a time.  The tree is run (run.c): words are
 * expanded to fields (expand.c, with param.c, arith.c, glob.c), files are opened
 * (redir.c), programs started (start.c), and waited for (jobs.c).
 *
 * The language is that of POSIX (Shell Command Language), without alias, fc, getopts,
 * hash, readonly and times.
 *
 * Memory: a complete command's tree lies in an arena of its own.  A function that the command
 * defines holds this arena.  The results of an expansion lie in sh.tmp and are freed when the
 * simple command ends.  Errors unwind with longjmp to the code that runs the innermost text.  So
 * nothing that such a jump may skip is allocated in any other way.
 *
 * There is one thread.
 */
#pragma once
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

/* Statuses with a special meaning. */
#define STATUS_ERROR 2
#define STATUS_CANNOT_RUN 126
#define STATUS_NOT_FOUND 127
#define STATUS_SIGNAL 128 /* plus the signal */

/* Descriptors from here on are the shell's own: scripts name 0 to 9. */
#define FIRST_OWN_FD 10

/* --- mem.c: memory ------------------------------------------------------------- */

/* Allocates memory, or exits: a shell without memory can do nothing. */
void *xrealloc(void *p, size_t size);
char *xstrdup(const char *s);

/* Memory that is freed all at once.  An arena counts its holders. */
struct arena;
struct arena *arena_new(void); /* with one holder */
void arena_hold(struct arena *a);
void arena_drop(struct arena *a); /* the last holder frees it */
void *arena_alloc(struct arena *a, size_t size);
char *arena_string(struct arena *a, const char *s, size_t len);
/* Frees all that was allocated after the mark. */
struct mark {
	struct block *block;
	size_t used;
};
struct mark arena_mark(const struct arena *a);
void arena_release(struct arena *a, struct mark mark);

/* A string that grows; ends with NUL.  If it has an arena, the string lies there. */
struct str {
	struct arena *arena;
	char *s; /* NULL while the string is empty */
	size_t len, size;
};
void str_add(struct str *str, char c);
void str_append(struct str *str, const char *s, size_t len);
char *str_done(struct str *str); /* the text, never NULL; str is reset (not freed) */
void str_free(struct str *str);

/* --- the tree ------------------------------------------------------------------- */

struct part { /* of a word */
	struct part *next;
	enum { PART_TEXT, PART_PARAM, PART_COMMAND, PART_ARITH } kind;
	bool quoted;
	bool colon;       /* PARAM: the operator had one */
	char op;          /* PARAM: 0, one of - = ? + % #, 'P' for %%, 'H' for ##, 'L' for length */
	const char *text; /* TEXT; PARAM: the name */
	struct word *word; /* PARAM: the operand; ARITH: the expression */
	struct node *body; /* COMMAND */
};

struct word {
	struct word *next;
	struct part *parts; /* NULL: empty, as in ${x:-} */
};

enum redir_kind { REDIR_READ, REDIR_WRITE, REDIR_APPEND, REDIR_RDWR, REDIR_DUP, REDIR_HERE };

struct redir {
	struct redir *next;
	enum redir_kind kind;
	int fd;
	struct word *word;     /* file, descriptor, or the here-document's text */
	const char *delimiter; /* HERE, until the text is read */
	struct redir *next_here;
	bool literal, tabs; /* HERE: no expansion; leading tabs are removed */
};

struct case_item {
	struct case_item *next;
	struct word *patterns;
	struct node *body;
};

/*
 * `next` chains commands of a list and of a pipeline.  `body` is NULL in N_SIMPLE, and
 * never in N_FUNCTION.  In the other kinds it is NULL only where the grammar allows no commands.
 */
struct node {
	struct node *next;
	enum {
		N_SIMPLE,
		N_PIPE,     /* body: its commands */
		N_AND,      /* body, other */
		N_OR,       /* body, other */
		N_NOT,      /* body */
		N_SUBSHELL, /* body */
		N_GROUP,    /* body */
		N_IF,       /* test, body, other */
		N_WHILE,    /* test, body */
		N_UNTIL,    /* test, body */
		N_FOR,      /* name, words, body; all_params: without `in' */
		N_CASE,     /* words (one), items */
		N_FUNCTION  /* name, body */
	} kind;
	int line;
	bool async, all_params;
	struct redir *redirs;
	struct node *test, *body, *other;
	struct word *assigns, *words;
	struct case_item *items;
	const char *name;
	const char *text; /* the source text, for `jobs': of commands in lists and pipelines */
};

/* --- the shell's state ----------------------------------------------------------- */

struct params { /* $1 and so on */
	int n;
	char **v;
	char **owned; /* to free, strings and vector, or NULL */
};

/* What break, continue and return have asked for, while the lists end one by one. */
enum skip { SKIP_NONE, SKIP_BREAK, SKIP_CONTINUE, SKIP_RETURN };

struct shell {
	bool one_builtin; /* this is the program echo, printf, test or [ */
	bool interactive; /* a person uses the terminal */
	bool job_control; /* set -m: each job is a process group of its own */
	bool errexit, nounset, xtrace, noglob;
	int status;       /* of the last command: $? */
	int substituted;  /* status of the last command substitution; -1: there was none */
	int line;         /* of the running command */
	pid_t pid;        /* $$ */
	pid_t last_job;   /* $!; 0: there was none */
	const char *name; /* $0 */
	struct params params;
	enum skip skip;
	int skip_levels;    /* loops still to leave */
	int loops;          /* around this command */
	int tested;         /* > 0: the status is tested, so set -e does not apply */
	int functions;      /* functions and dot scripts around this command */
	struct arena *tree; /* holds the running command's tree */
	struct arena *tmp;
	jmp_buf *unwind; /* interactive: where an error that ends the command jumps */
};
extern struct shell sh;

/* --- input.c: where text comes from ------------------------------------------------ */

/* Each becomes the current input; input_pop returns to the previous input. */
void input_string(const char *text, int line); /* its first line's number */
bool input_file(const char *path);             /* reads all of it; false: see errno */
/*
 * Reads the next byte of standard input, and no more, so that commands can read the rest.
 * Handles signals meanwhile.  False: the end, or an error.
 */
bool stdin_byte(char *c);
void input_stdin(void); /* reads only the lines that are needed */
void input_terminal(void);
void input_pop(void);
void input_reset(void);         /* only the first input stays */
void input_begin_command(void); /* drops what was read; the next prompt is the first */
#define END_OF_INPUT (-1)
int peek_char(void);
int next_char(void);
int input_line(void); /* line number of the next character */
/* The position of the next character, and the text from a position to it: within one command. */
size_t input_at(void);
const char *input_text(size_t at);

/* --- lex.c: tokens --------------------------------------------------------------- */

enum token {
	T_EOF,
	T_NEWLINE,
	T_WORD,
	T_SEMI,
	T_DSEMI,
	T_AMP,
	T_AND,
	T_PIPE,
	T_OR,
	T_LPAREN,
	T_RPAREN,
	T_REDIR
};

struct lexer {
	enum token token; /* the next one, if `peeked` */
	bool peeked;
	struct word *word;   /* T_WORD */
	struct redir *redir; /* T_REDIR: without its word */
	size_t start;        /* where it begins in the input */
	size_t last_end;     /* where the previous token ended */
	struct redir *here;  /* here-documents whose text begins on the next line */
	struct arena *arena; /* for the tree */
};
extern struct lexer lexer;

enum token peek_token(void);
void take_token(void);
/* Is the next token this reserved word?  If so, consumes it. */
bool take_reserved(const char *name);
bool at_reserved(const char *name);
/* Returns the word's text if it is one piece without quotes and expansions, else NULL. */
const char *plain_text(const struct word *w);
void syntax_error(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
void unexpected_token(void) __attribute__((noreturn));

/* --- parse.c: the tree ------------------------------------------------------------- */

/*
 * Parses the next complete command: a list that ends at a newline.  False: the input has ended.
 * *list is NULL for an empty line.  Unwinds at a syntax error.
 */
bool parse_command(struct arena *a, struct node **list);
/* Parses the commands in a $( ), including the parenthesis; in a ` `, up to the end. */
struct node *parse_substitution(bool parenthesis);

/* --- expand.c, param.c, arith.c, glob.c: from words to fields ------------------------- */

struct fields {
	int n, size;
	char **v; /* ends with NULL */
};
void add_field(struct fields *f, char *s);
/* All these functions return memory of sh.tmp, and unwind on errors. */
void expand_words(const struct word *w, struct fields *f); /* the whole list */
char *expand_string(const struct word *w);     /* one field: no splitting, no file names */
char *expand_pattern(const struct word *w);    /* the same; backslashes mark quoted text */
char *expand_assignment(const struct word *w); /* NAME=VALUE */

/* Receives expanded text: quoted text is neither split nor a pattern. */
struct sink {
	void (*text)(struct sink *s, const char *text, size_t len, bool quoted);
	void (*field)(struct sink *s); /* ends a field, between the parts of "$@" */
	void (*empty)(struct sink *s); /* begins a field, perhaps an empty one */
};
void expand_word(const struct word *w, struct sink *s);
void sink_value(struct sink *s, const char *value, bool quoted); /* the value of a $ */
void expand_param(const struct part *p, struct sink *s);
/* Returns the value of an integer expression; unwinds on an error. */
long arithmetic(const char *expr);
/* Adds the matching files, sorted; false: none.  Backslashes quote. */
bool glob_files(const char *pattern, struct fields *f);
bool match(const char *pattern, const char *s);

/* --- unwind.c: errors -------------------------------------------------------------- */

/* Ends the running command: returns to the prompt, or exits the shell. */
void fail(int status) __attribute__((noreturn));
/* The same, after a message with the shell's name and the line. */
void error(int status, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Runs the EXIT trap and exits. */
void leave(int status) __attribute__((noreturn));
/*
 * Registers an action for the end of a construct.  undo() runs it or, if an error unwinds,
 * undo_all.  Last in, first out; lies in sh.tmp.
 */
void undo_later(void (*fn)(void *), void *arg);
void undo(void); /* runs the last action */
void undo_all(void);

/* --- run.c: the tree ------------------------------------------------------------------ */

/*
 * Runs commands one after the other; sh.status is the status of the last.
 * RUN_EXIT: this process has nothing else to do, and may become the program.
 */
#define RUN_EXIT 0x1
void run_list(const struct node *list, int flags);
/* Reads and runs the current input to its end. */
void run_input(void);
/* The same for a text: eval, trap.  The first line has the number `line'. */
void run_string(const char *text, int line);
/* Returns the output of commands, without the newlines at its end. */
char *command_output(const struct node *body);

/* --- command.c: simple commands -------------------------------------------------------- */

void run_simple(const struct node *n, int flags);
/*
 * Starts the command as a process of its own, by spawn if that makes no difference.
 * 0 or -1: it could not be started; sh.status says why.
 */
struct place;
pid_t start_command(const struct node *n, const struct place *place);
void function_define(const char *name, const struct node *body);
struct function {
	struct function *next;
	char *name;
	const struct node *body;
	struct arena *arena;
};
const struct function *function_find(const char *name);
void function_unset(const char *name);
void function_names(struct fields *f);

/* --- redir.c ---------------------------------------------------------------------------- */

/* A descriptor to be moved: `from' becomes `fd'; from -1: fd is closed. */
struct move {
	int fd, from;
	bool owned; /* from was opened for this move */
	bool applied;
	int saved; /* the copy of the old fd; -1: fd was closed */
};
struct moves {
	int n;
	struct move *v;
};
/* Opens the files, in order.  False: one could not be opened; a message has been printed. */
bool redir_open(const struct redir *r, struct moves *m);
void redir_close(struct moves *m); /* closes the opened files */
/* Moves the files into place; with `save', redir_undo can restore the old descriptors. */
bool redir_apply(struct moves *m, bool save);
void redir_undo(void *moves);
void redir_keep(void *moves); /* drops the saved descriptors */
/* Moves fd to a descriptor of the shell's own, which scripts do not name and exec closes. */
int own_fd(int fd);

/* --- start.c: processes -------------------------------------------------------------------- */

struct job;
/* How a process starts: its place in a job, and its ends of pipes. */
struct place {
	struct job *job; /* its job; NULL: none */
	bool background;
	bool pipeline; /* more processes follow: the terminal is handed over after the last */
	int in, out;   /* pipes that become descriptors 0 and 1, or -1 */
	int close_too; /* the other end of its output pipe, or -1 */
};
#define NO_PLACE ((struct place){.in = -1, .out = -1, .close_too = -1})
/* Forks.  0 in the child, which has its place, and the signals of a new process; -1: error. */
pid_t start_fork(const struct place *place);
/* Starts a program.  0 or -1, and sh.status: it could not be started. */
pid_t start_program(char **argv, char **env, struct moves *m, const struct place *place);
/* Executes the program in this process. */
void become_program(char **argv, char **env) __attribute__((noreturn));
/* Returns the file that a command's name stands for, in sh.tmp; NULL: none. */
char *find_program(const char *name);

/* --- jobs.c ---------------------------------------------------------------------------------- */

struct job *job_new(const char *text);
void job_add(struct job *j, pid_t pid);
void job_add_failed(struct job *j, int status); /* a process that could not be started */
const char *job_text(const struct job *j);
pid_t job_group(const struct job *j); /* its process group; 0: none yet */
/* Waits until the job has ended or stopped.  Returns its status.  Unwinds if Ctrl-C ended it. */
int job_foreground(struct job *j, bool continued);
void job_background(struct job *j); /* continues beside the shell */
void job_continue(struct job *j);   /* continues a stopped job in the background */
void jobs_notify(void);             /* reports jobs that have ended or stopped */
void jobs_list(char option);
void jobs_forget_all(void); /* in a child: the jobs are the parent's */
bool jobs_stopped(void);
struct job *job_find(const char *name); /* %1 %% %+ %- %name, or a process id; NULL: none */
/* Waits until the job has ended.  Returns its status, or 128 + signal if a trapped signal came
 * first. */
int job_wait(struct job *j);
int jobs_wait_all(void);
int job_kill(const struct job *j, int sig);
void job_take_terminal(pid_t group);
/* Waits for a child that is no job: a subshell of a command substitution. */
int wait_for(pid_t pid);

/* --- trap.c: signals -------------------------------------------------------------------------- */

void signals_init(void);  /* interactive: sets the shell's actions */
void signals_child(void); /* restores the actions of a new process */
void signals_check(void); /* runs the traps of signals that came; unwinds after Ctrl-C */
/* Sends the job the keyboard's signals that came while the job was being started. */
void signals_pass_on(const struct job *j);
/* The same for a Ctrl-C and a child in the shell's own group.  The shell keeps the signal, too. */
void interrupt_pass_on(pid_t pid);
/*
 * Waiting that misses no signal.  Between signals_hold and signals_release all signals are blocked,
 * except in signals_sleep, which handles the next signal.  Any SIGCHLD ends signals_sleep.
 */
void signals_hold(void);
void signals_sleep(void);
void signals_release(void);
/* Waits until standard input can be read; false, with EINTR: a signal came first. */
bool signals_let_read(void);
int signal_came(void);               /* a signal that signals_check would handle; 0: none */
void trap_exit(void);                /* runs the EXIT trap, once */
int signal_number(const char *name); /* with or without SIG; -1: none */
const char *signal_name(int sig);
void interrupt(void) __attribute__((noreturn)); /* as Ctrl-C: ends the command */

/* --- vars.c ----------------------------------------------------------------------------------- */

void vars_init(void);
const char *var_get(const char *name); /* NULL: not set */
void var_set(const char *name, const char *value);
void var_export(const char *name);
void var_unset(const char *name);
void vars_print(bool exported);
/* The environment of programs; valid until a variable changes. */
char **vars_environ(void);
void vars_assign(const char *text); /* NAME=VALUE */
/* Exports NAME=VALUE strings until undo, for which this registers an action. */
void vars_push(const struct fields *assigns);
/* Returns the length of the name at the start of s; 0: there is none. */
size_t name_length(const char *s);

/* --- builtin*.c, test.c ----------------------------------------------------------------------- */

typedef int builtin_fn(int argc, char **argv);
struct builtin {
	const char *name;
	builtin_fn *run;
	bool special; /* assignments before it stay; its errors end a script */
};
const struct builtin *builtin_find(const char *name); /* NULL: not built in */
bool set_options(const char *letters);                /* false, after a message: one is wrong */
void params_set(char **v, int n);                     /* copies them */
void params_free(struct params *p);
builtin_fn builtin_umask, builtin_ulimit, builtin_echo, builtin_printf, builtin_read, builtin_test,
	builtin_jobs, builtin_fg, builtin_bg, builtin_wait, builtin_kill, builtin_trap,
	builtin_exec, builtin_command, builtin_type, builtin_history, builtin_stty;
void builtin_names(struct fields *f);

/* --- edit.c, history.c ------------------------------------------------------------------------ */

void edit_init(void);
/* stty has set the terminal's modes: commands get these modes from now on. */
void edit_modes_changed(void);
/* Sets COLUMNS and LINES, if the terminal's window has changed since the last call. */
void edit_tell_size(void);
/*
 * Returns a line from the terminal, without its newline; NULL: end of file (Ctrl-D on an
 * empty line).  The line belongs to the editor until the next call.  If Ctrl-C ended the line,
 * returns an empty line and sets *interrupted.
 */
const char *edit_line(const char *prompt, bool *interrupted);
void history_add(const char *line); /* history.c */
