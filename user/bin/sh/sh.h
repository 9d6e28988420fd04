/*
 * sh.h - the shell's parts: vars.c (variables), scan.c (from text to commands),
 * run.c (running them), jobs.c (background jobs), builtin.c, edit.c (the line
 * editor), main.c.
 *
 * The language: simple commands with assignments before them, 'single' and
 * "double" quotes, backslash, $NAME ${NAME} $? $$ $! $# $0 to $9, comments, and the
 * operators ; & && || and newline.  What it does not have (pipes, redirection,
 * if, for, patterns) is a syntax error where it has an operator, never ignored.
 *
 * There is one thread.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Statuses that have a meaning of their own. */
#define STATUS_SYNTAX 2
#define STATUS_CANNOT_RUN 126
#define STATUS_NOT_FOUND 127
#define STATUS_SIGNAL 128 /* plus the signal */

struct shell {
	bool interactive; /* a person is at the terminal */
	int status;       /* of the last command: $? */
	pid_t last_job;   /* $!; 0: there was none */
	int argc;         /* $# and $0 to $9 */
	char **argv;
};
extern struct shell sh;

/* Memory or exit: a shell without memory can do nothing. */
void *xrealloc(void *p, size_t size);
char *xstrdup(const char *s);

/* A string that grows. */
struct str {
	char *s; /* ends with NUL, or NULL while empty */
	size_t len, size;
};
void str_add(struct str *str, char c);
void str_free(struct str *str);

/* --- vars.c ---------------------------------------------------------------- */

const char *var_get(const char *name); /* NULL: not set */
void var_set(const char *name, const char *value);
void var_export(const char *name, const char *value); /* value NULL: as it is */
void var_unset(const char *name);
/* Length of the name at the start of s; 0: there is none. */
size_t name_length(const char *s);

/* --- scan.c ----------------------------------------------------------------- */

enum op { OP_END, OP_SEQ, OP_BG, OP_AND, OP_OR };

struct command {
	char **assign; /* NAME=VALUE strings, NULL at the end */
	char **argv;   /* words, NULL at the end */
	int nassign, argc;
	enum op op;       /* what comes after it */
	const char *text; /* where it begins in the source, and how long it is */
	size_t len;
};

/* What next_command may return. */
enum scan { SCAN_OK, SCAN_END, SCAN_ERROR, SCAN_UNFINISHED };

/*
 * Takes the next command from *p, expanded, and moves *p on.  SCAN_END: there is
 * none.  SCAN_ERROR: *error says what is wrong.  SCAN_UNFINISHED: a quote is open
 * at the end of the text.  With SCAN_OK the caller owes a command_free.
 */
enum scan next_command(const char **p, struct command *c, const char **error);
void command_free(struct command *c);

/* --- run.c ------------------------------------------------------------------- */

/*
 * Checks the syntax of all of it, then runs it; sets sh.status.  False, and nothing
 * has been run: a quote is open at its end.
 */
bool run_text(const char *text);
/* $? of a status from waitpid; says on standard error if a signal ended it. */
int report_status(int status);

/* --- jobs.c ------------------------------------------------------------------- */

void job_started(pid_t pid, const char *text, size_t len);
/* A child that waitpid returned: if it is a job, remembers how it ended. */
void job_ended(pid_t pid, int status);
void jobs_poll(void);   /* looks for jobs that have ended */
void jobs_notify(void); /* says which have, and forgets them */
void jobs_list(void);
int job_wait(pid_t pid); /* its status, STATUS_NOT_FOUND: no such job */
int jobs_wait_all(void);
pid_t job_find(const char *name); /* "%2", or a process id; 0: no such job */
/* Blocks until a foreground child ends; its waitpid status. */
int wait_foreground(pid_t pid);

/* --- builtin.c ------------------------------------------------------------------ */

typedef int builtin_fn(int argc, char **argv);
builtin_fn *builtin_find(const char *name); /* NULL: not built in */

/* --- edit.c --------------------------------------------------------------------- */

/* Takes the terminal over; call once, when interactive. */
void edit_init(void);
/* A command in the foreground has ended: the terminal is the shell's again. */
void edit_take_back(void);
/*
 * A line from the terminal, without its newline; NULL: end of file (Ctrl-D on an
 * empty line).  The line belongs to the editor until the next call.  A line that
 * Ctrl-C gave up comes back empty, and *interrupted is set.
 */
const char *edit_line(const char *prompt, bool *interrupted);
void history_add(const char *line);
