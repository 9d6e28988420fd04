/*
 * process.c - processes of Win32: children of this process, started by posix_spawn, and the process
 * itself.
 *
 * The object of a child is an event that is set when the child ends (kobj_at_exit).  The child's
 * times and status are read when a thread asks for them after the end, or closes the last handle.
 * The child is waited for then, and its id is free.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/proc.h>
#include <weft/wait.h>
#include "win.h"

extern char **environ;

static struct win_process this_process; /* constant once it has an event, except refs */
static HANDLE this_event;

/* If two threads create the event at once, the second thread closes its event. */
struct win_process *__win_this_process(HANDLE *event)
{
	HANDLE seen = __atomic_load_n(&this_event, __ATOMIC_ACQUIRE);

	if (seen == NULL) {
		HANDLE made = __win_event();

		if (made == NULL)
			return NULL;
		__win_lock();
		if (this_event == NULL) {
			this_process.object.refs = 1; /* never released */
			this_process.object.kind = WIN_PROCESS;
			this_process.pid = __sys_getpid();
			__atomic_store_n(&this_event, made, __ATOMIC_RELEASE);
			made = NULL;
		}
		__win_unlock();
		if (made != NULL)
			CloseHandle(made);
	}
	if (event != NULL)
		*event = this_event;
	return &this_process;
}

void __win_process_forked(void)
{
	this_event = NULL;
}

/* Reads the final times and status of a child that has ended.  False: it has not ended. */
static bool process_reap(struct win_process *p)
{
	bool gone;

	if (p == &this_process)
		return false;
	__win_lock();
	if (!p->reaped) {
		struct win_times t = {0};
		int status;

		__win_read_times(p->pid, 0, &t);
		if (__sys_waitpid(p->pid, &status, WNOHANG, NULL) == p->pid) {
			t.exited = gethrtime();
			p->times = t;
			p->status = status;
			p->reaped = true;
		}
	}
	gone = p->reaped;
	__win_unlock();
	return gone;
}

void __win_process_free(struct win_process *p)
{
	process_reap(p);
	free(p);
}

/* --- the command line -------------------------------------------------------------------------- */

/*
 * Returns the next argument of a command line and ends it with '\0'; *line is set behind it.  NULL:
 * there is none.  The rules are those of the C library of Windows.  Blanks separate arguments
 * unless they are in quotes.  2n backslashes before a quote are n backslashes.  2n + 1 backslashes
 * are n backslashes and a quote character.
 */
static char *next_argument(char **line)
{
	char *in = *line, *out, *argument;
	bool quoted = false;

	in += strspn(in, " \t");
	if (*in == '\0')
		return NULL;
	argument = out = in;
	for (; *in != '\0' && (quoted || (*in != ' ' && *in != '\t')); in++) {
		size_t backslashes = strspn(in, "\\");

		if (in[backslashes] == '"' && backslashes != 0) {
			memset(out, '\\', backslashes / 2);
			out += backslashes / 2;
			in += backslashes;
			if (backslashes % 2 == 0)
				quoted = !quoted;
			else
				*out++ = '"';
		} else if (*in == '"') {
			quoted = !quoted;
		} else {
			*out++ = *in;
		}
	}
	*line = *in != '\0' ? in + 1 : in;
	*out = '\0';
	return argument;
}

/* The vector of arguments of a command line, in one block of memory that begins with the vector. */
static char **process_arguments(const char *program, const char *line)
{
	size_t n = strlen(line) + 1, most = n / 2 + 2;
	char **argv = malloc(most * sizeof(*argv) + n), *copy;
	unsigned argc = 0;

	if (argv == NULL)
		return NULL;
	copy = memcpy(argv + most, line, n);
	do
		argv[argc] = next_argument(&copy);
	while (argv[argc] != NULL && ++argc < most - 1);
	if (argc == 0)
		argv[argc++] = (char *)program;
	argv[argc] = NULL;
	return argv;
}

/*
 * The vector of an environment block: NAME=VALUE strings one after the other, with an empty string
 * at the end.
 */
static char **process_strings(const char *block)
{
	char **vector;
	size_t n = 0;

	for (const char *s = block; *s != '\0'; s += strlen(s) + 1)
		n++;
	vector = malloc((n + 1) * sizeof(*vector));
	n = 0;
	for (const char *s = block; vector != NULL && *s != '\0'; s += strlen(s) + 1)
		vector[n++] = (char *)s;
	if (vector != NULL)
		vector[n] = NULL;
	return vector;
}

/*
 * Makes a path absolute, because it is relative to the caller's directory, and not to the child's.
 */
static LPCSTR from_here(LPCSTR path, char absolute[2 * WEFT_PATH_MAX])
{
	size_t n;

	if (*path == '/' || getcwd(absolute, WEFT_PATH_MAX) == NULL)
		return path;
	n = strlen(absolute);
	snprintf(absolute + n, 2 * WEFT_PATH_MAX - n, "/%s", path);
	return absolute;
}

/* The child begins at base level `level` of the NT class.  0: it is scheduled as the caller is. */
static int process_spawn(pid_t *pid, LPCSTR program, char **argv, char **envp, LPCSTR directory,
			 int level)
{
	const bool search = program == NULL && strchr(argv[0], '/') == NULL;
	const struct sched_param base = {.sched_priority = level};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int error = posix_spawn_file_actions_init(&actions);

	if (error != 0)
		return error;
	posix_spawnattr_init(&attr);
	if (level != 0) {
		posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSCHEDULER);
		posix_spawnattr_setschedpolicy(&attr, SCHED_NT);
		posix_spawnattr_setschedparam(&attr, &base);
	}
	if (directory != NULL)
		error = posix_spawn_file_actions_addchdir_np(&actions, directory);
	if (error == 0 && search) {
		error = posix_spawnp(pid, argv[0], &actions, &attr, argv, envp);
	} else if (error == 0) {
		char absolute[2 * WEFT_PATH_MAX];

		program = from_here(program != NULL ? program : argv[0], absolute);
		error = posix_spawn(pid, program, &actions, &attr, argv, envp);
	}
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

/*
 * Makes info's handles of child pid.  If that fails, the child is killed, because no thread could
 * wait for it.
 */
static BOOL process_watch(pid_t pid, LPSECURITY_ATTRIBUTES sp, LPSECURITY_ATTRIBUTES st,
			  LPPROCESS_INFORMATION info)
{
	struct win_process *p = calloc(1, sizeof(*p));
	HANDLE event = p != NULL ? __win_event() : NULL;

	if (p == NULL) {
		SetLastError(ERROR_NOT_ENOUGH_MEMORY);
	} else {
		p->object.refs = 1;
		p->object.kind = WIN_PROCESS;
		p->pid = pid;
	}
	if (event != NULL) {
		__sys_kobj_at_exit((uintptr_t)event, pid);
		*info = (PROCESS_INFORMATION){
			.hProcess = __win_handle(event, &p->object, sp && sp->bInheritHandle),
			.hThread = __win_handle(event, &p->object, st && st->bInheritHandle),
			.dwProcessId = pid,
			.dwThreadId = 1,
		};
		CloseHandle(event);
		if (info->hProcess != NULL && info->hThread != NULL) {
			__win_put(&p->object);
			return TRUE;
		}
		CloseHandle(info->hProcess);
		CloseHandle(info->hThread);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	free(p);
	return FALSE;
}

/*
 * program NULL: the first word of the command line, searched along PATH if it has no slash.  flags:
 * a priority class, or 0.  With 0, the child of a caller in the NT class is normal, or idle if its
 * creator is idle.  The flags for a new console and a new group are accepted and ignored.  The
 * child has the caller's standard streams.  It inherits all handles that are inheritable, whatever
 * `inherit` is.  ERROR_FILE_NOT_FOUND, ERROR_PATH_NOT_FOUND, ERROR_ACCESS_DENIED,
 * ERROR_BAD_EXE_FORMAT: the program.  ERROR_DIRECTORY: directory is none.  ERROR_INVALID_PARAMETER:
 * neither program nor command line, or unknown flags.  ERROR_NOT_SUPPORTED: CREATE_SUSPENDED.
 * ERROR_NOT_ENOUGH_MEMORY.  ERROR_NO_SYSTEM_RESOURCES: processes, handles.
 */
BOOL CreateProcess(LPCSTR program, LPSTR line, LPSECURITY_ATTRIBUTES sp, LPSECURITY_ATTRIBUTES st,
		   BOOL inherit, DWORD flags, LPVOID environment, LPCSTR directory,
		   LPSTARTUPINFO startup, LPPROCESS_INFORMATION info)
{
	DWORD class = flags & ~(CREATE_NEW_PROCESS_GROUP | DETACHED_PROCESS | CREATE_NEW_CONSOLE);
	int level = class != 0 ? __win_class_level(class) : __win_child_level(), error;
	char **argv, **envp;
	struct stat at;
	pid_t pid;

	if (flags & CREATE_SUSPENDED)
		return __win_fails(ERROR_NOT_SUPPORTED);
	if ((class != 0 && level == 0) || info == NULL || (program == NULL && line == NULL))
		return __win_fails(ERROR_INVALID_PARAMETER);
	if (directory != NULL && (stat(directory, &at) != 0 || !S_ISDIR(at.st_mode)))
		return __win_fails(ERROR_DIRECTORY);
	argv = process_arguments(program, line != NULL ? line : "");
	envp = environment != NULL ? process_strings(environment) : environ;
	if (argv == NULL || envp == NULL)
		error = ENOMEM;
	else if (argv[0] == NULL)
		error = EINVAL;
	else
		error = process_spawn(&pid, program, argv, envp, directory, level);
	free(argv);
	if (environment != NULL)
		free(envp);
	if (error != 0)
		return __win_fails(__win_error(-error));
	__win_child_affinity(pid);
	return process_watch(pid, sp, st, info);
}

void GetStartupInfo(LPSTARTUPINFO startup)
{
	*startup = (STARTUPINFO){.cb = sizeof(*startup)};
}

/* --- ends -------------------------------------------------------------------------------------- */

void ExitProcess(UINT code)
{
	exit(code);
}

/*
 * Ends the process at once, without the actions of exit.  ERROR_INVALID_HANDLE.
 * ERROR_ACCESS_DENIED: it has ended.
 */
BOOL TerminateProcess(HANDLE process, UINT code)
{
	struct win_process *p = __win_process(process);
	bool gone;

	if (p == NULL)
		return FALSE;
	if (p == &this_process)
		_exit(code);
	process_reap(p);
	__win_lock(); /* so no thread reaps it, and its id is not reused */
	gone = p->reaped;
	if (!gone && !p->terminated) {
		p->terminated = true;
		p->code = code;
		__sys_kill(p->pid, SIGKILL);
	}
	__win_unlock();
	__win_put(&p->object);
	return gone ? __win_fails(ERROR_ACCESS_DENIED) : TRUE;
}

/*
 * *code: STILL_ACTIVE; or the low 8 bits of the exit code; or the code of TerminateProcess; or 128
 * plus the signal that ended the process.  ERROR_INVALID_HANDLE.
 */
BOOL GetExitCodeProcess(HANDLE process, LPDWORD code)
{
	struct win_process *p = __win_process(process);

	if (p == NULL)
		return FALSE;
	if (!process_reap(p))
		*code = STILL_ACTIVE;
	else if (!WIFSIGNALED(p->status))
		*code = WEXITSTATUS(p->status);
	else
		*code = p->terminated && WTERMSIG(p->status) == SIGKILL
				? p->code
				: 128 + (DWORD)WTERMSIG(p->status);
	__win_put(&p->object);
	return TRUE;
}

/*
 * Reads the times of a process.  created and exited are points in time; kernel and user are
 * durations, summed over all threads.  exited is the time when the caller first asked for it after
 * the end.
 */
BOOL __win_process_times(HANDLE process, struct win_times *t)
{
	struct win_process *p = __win_process(process);

	if (p == NULL)
		return FALSE;
	if (process_reap(p))
		*t = p->times;
	else
		__win_read_times(p->pid, 0, t);
	__win_put(&p->object);
	return TRUE;
}

/* --- the caller's ------------------------------------------------------------------------------ */

HANDLE GetCurrentProcess(void)
{
	return CURRENT_PROCESS;
}

DWORD GetCurrentProcessId(void)
{
	return getpid();
}

/* The kernel lays out argv, NULL, the environment, NULL and the auxiliary vector. */
static char **first_argv(void)
{
	char **at = (char **)__auxv - 1;

	while (*at != __argv0)
		at--;
	return at;
}

/* The command line.  Empty arguments and arguments with blanks are in quotes.  NULL: no memory. */
LPSTR GetCommandLine(void)
{
	static LPSTR line;
	LPSTR made = __atomic_load_n(&line, __ATOMIC_ACQUIRE), none = NULL, out;
	size_t n = 1;

	if (made != NULL || __argv0 == NULL)
		return made;
	for (char **arg = first_argv(); *arg != NULL; arg++)
		n += 2 * strlen(*arg) + 3;
	made = out = malloc(n);
	if (made == NULL)
		return NULL;
	for (char **arg = first_argv(); *arg != NULL; arg++) {
		bool quote = **arg == '\0' || (*arg)[strcspn(*arg, " \t\"")] != '\0';

		if (out != made)
			*out++ = ' ';
		if (quote)
			*out++ = '"';
		for (const char *c = *arg; *c != '\0'; *out++ = *c++)
			if (*c == '"' || (*c == '\\' && c[strspn(c, "\\")] == '"'))
				*out++ = '\\';
		if (quote)
			*out++ = '"';
	}
	*out = '\0';
	if (!__atomic_compare_exchange_n(&line, &none, made, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE)) {
		free(made);
		made = none;
	}
	return made;
}
