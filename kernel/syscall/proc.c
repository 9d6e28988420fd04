/*
 * proc.c - the system calls on processes.
 */
#include <kern/cache.h>
#include <kern/cpu.h>
#include <kern/exec.h>
#include <kern/limits.h>
#include <kern/proc.h>
#include <kern/sched.h>
#include <kern/signal.h>
#include <kern/syscall.h>
#include <kern/timing.h>
#include <kern/usercopy.h>
#include <weft/signal.h>

/* exit(status): ends the process with all its LWPs. */
int64_t sys_exit(const uint64_t arg[6])
{
	proc_exit(WEFT_W_EXITCODE((int)arg[0], 0));
}

#define SPAWN_FLAGS (SPAWN_SETPGROUP | SPAWN_SETSIGMASK | SPAWN_SETSIGDEF | SPAWN_SETSCHED)

/*
 * spawn(const struct spawn_args *): starts a program in a new process (the system call under
 * posix_spawn(3)).  The child gets the caller's descriptors, after the actions, except those with
 * FD_CLOEXEC.  Unless args sets them, it also gets the caller's mask, ignored signals, directory,
 * umask, limits and scheduling.  Returns its pid.  May sleep.
 * Path errors, of path or of an action; EFAULT: args, a string, or an action; EINVAL: unknown
 * flags or action, pgroup below 0, no such class or parameters, flags of an action's open;
 * EPERM: there is no group pgroup in the caller's session; ENOEXEC: not a static ELF program for
 * this machine; EACCES: not a regular file, or not executable; EBADF: the descriptor of an
 * action; ENOTTY: SPAWN_TCSETPGRP, and the descriptor is not the caller's terminal; EEXIST,
 * EISDIR, EROFS, ENOSPC: the open of an action; E2BIG: strings of more than WEFT_ARG_MAX bytes;
 * EAGAIN: WEFT_RLIMIT_NPROC, or no memory for the LWP; ENOMEM: no memory.
 */
int64_t sys_spawn(const uint64_t arg[6])
{
	struct spawn_args a;
	struct exec_strings strings;

	if (copyin(&a, arg[0], sizeof(a)) != 0)
		return -EFAULT;
	if ((a.flags & ~SPAWN_FLAGS) || ((a.flags & SPAWN_SETPGROUP) && a.pgroup < 0))
		return -EINVAL;
	if ((a.flags & SPAWN_SETSCHED) && class_check(&a.sched) != 0)
		return -EINVAL;
	char *path = kmalloc(WEFT_PATH_MAX);
	if (path == NULL)
		return -ENOMEM;
	int64_t r = copyinstr(path, a.path, WEFT_PATH_MAX);
	if (r >= 0)
		r = exec_strings_copyin(&strings, a.argv, a.envp);
	if (r >= 0) {
		r = proc_spawn(curproc(), path, &strings, &a);
		exec_strings_free(&strings);
	}
	kfree(path);
	return r;
}

/*
 * fork() = the child's pid, 0 in the child.  The child is a copy of the process with only the
 * calling LWP (POSIX).  Private memory is copied when one of the two processes writes to it.
 * Shared mappings, open files and their offsets stay shared.  An error changes nothing.  May
 * sleep.
 * EAGAIN: WEFT_RLIMIT_NPROC, or no memory for the LWP; ENOMEM: no memory, or less than the copy
 * may need later.
 */
int64_t sys_fork(const uint64_t arg[6])
{
	return proc_fork();
}

/*
 * execve(path, argv, envp): the process runs another program from its beginning; the other
 * LWPs end.  Returns only on error, with the process as it was.  May sleep.
 * EFAULT: a string or vector; ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG: path; ENOEXEC: not a static
 * ELF program for this machine; EACCES: not a regular file, or not executable; E2BIG: strings of
 * more than WEFT_ARG_MAX bytes; ENOMEM: no memory.
 */
int64_t sys_execve(const uint64_t arg[6])
{
	struct exec_strings strings;

	char *path = kmalloc(WEFT_PATH_MAX);
	if (path == NULL)
		return -ENOMEM;
	int64_t r = copyinstr(path, arg[0], WEFT_PATH_MAX);
	if (r >= 0)
		r = exec_strings_copyin(&strings, arg[1], arg[2]);
	if (r >= 0) {
		r = proc_exec(path, &strings);
		exec_strings_free(&strings);
	}
	kfree(path);
	return r;
}

/*
 * rlimit(which, new, old): reads and sets a limit of the process; new and old may be NULL.
 * EINVAL: which, or cur above max; EPERM: max is above the system's own maximum; EFAULT: new, or
 * old (the limit is set all the same).
 */
int64_t sys_rlimit(const uint64_t arg[6])
{
	struct weft_rlimit to, old;

	if (arg[1] != 0 && copyin(&to, arg[1], sizeof(to)) != 0)
		return -EFAULT;
	int err = limits_exchange(curproc(), arg[0], arg[1] != 0 ? &to : NULL, &old);
	if (err == 0 && arg[2] != 0)
		err = copyout(arg[2], &old, sizeof(old));
	return err;
}

#define WAIT_OPTIONS                                                                               \
	(WEFT_WNOHANG | WEFT_WUNTRACED | WEFT_WCONTINUED | WEFT_WNOWAIT | WEFT_WNOEXIT |           \
	 WEFT_WGROUP)

/*
 * waitpid(pid, int *status, options, struct weft_rusage *): waits for a child to exit and frees its
 * pid.  With WEFT_WUNTRACED or WEFT_WCONTINUED, also waits for a child that has stopped or
 * continued since the last call (rusage is then 0).  With WEFT_WNOEXIT, waits only for such a
 * child.  With WEFT_WNOWAIT, the next call finds the same child.  pid > 0: that child; -1: any
 * child; 0: any of the caller's group; < -1: any of group -pid; with WEFT_WGROUP: any of group pid.
 * status and rusage may be NULL.  Returns the child's pid.  With WEFT_WNOHANG, returns 0 if no
 * child is ready.  Blocks.
 * ECHILD: there is no such child; EINVAL: unknown options; EINTR: a signal; EFAULT: status or
 * rusage (the child is freed all the same).
 */
int64_t sys_waitpid(const uint64_t arg[6])
{
	int status;
	struct weft_rusage ru;

	if (arg[2] & ~(uint64_t)WAIT_OPTIONS)
		return -EINVAL;
	int64_t pid = proc_wait((int)arg[0], arg[2], &status, &ru);
	if (pid <= 0)
		return pid;
	if (arg[1] && copyout(arg[1], &status, sizeof(status)) != 0)
		return -EFAULT;
	if (arg[3] && copyout(arg[3], &ru, sizeof(ru)) != 0)
		return -EFAULT;
	return pid;
}

/* getpid() = the caller's process. */
int64_t sys_getpid(const uint64_t arg[6])
{
	return curproc()->pid;
}

/* getppid() = the pid of the caller's parent, 0 for the first process. */
int64_t sys_getppid(const uint64_t arg[6])
{
	return __atomic_load_n(&curproc()->ppid, __ATOMIC_RELAXED);
}

/*
 * getrusage(which, struct weft_rusage *): 0: the caller's process; -1: its children that were
 * waited for.
 * EINVAL: which; EFAULT: the structure.
 */
int64_t sys_getrusage(const uint64_t arg[6])
{
	struct weft_rusage ru;
	struct proc *p = curproc();
	int who = arg[0];

	if (who != 0 && who != -1)
		return -EINVAL;
	irqstate_t s = spin_lock(&p->lock);
	if (who == 0) {
		proc_rusage(p, &ru);
	} else {
		ru = p->ru_children;
	}
	spin_unlock(&p->lock, s);
	return copyout(arg[1], &ru, sizeof(ru));
}

/*
 * setpgrp(pid, pgrp): puts the caller (pid 0, or its own pid) or a child of it into a group
 * (0: a group of its own), as setpgid(2).
 * EINVAL: pgrp below 0; ESRCH: neither the caller nor a child; EACCES: a child that has called
 * exec; EPERM: the process leads a session or is in another session, or there is no such group in
 * the caller's session.
 */
int64_t sys_setpgrp(const uint64_t arg[6])
{
	return proc_set_group(arg[0], arg[1]);
}

/* setsid() = the id of a new session and group.  The caller leads them, and is their only member.
 * The session has no controlling terminal.  EPERM: there is a group with the caller's pid. */
int64_t sys_setsid(const uint64_t arg[6])
{
	return proc_set_session();
}

/* The result of `read` for process pid (0: the caller), or -ESRCH. */
static int64_t of_proc(int pid, int (*read)(const struct proc *))
{
	irqstate_t s = spin_lock(&proc_tree_lock);
	struct proc *p = pid == 0 ? curproc() : proc_find(pid);
	int r = p ? read(p) : -ESRCH;
	spin_unlock(&proc_tree_lock, s);
	return r;
}

static int read_pgrp(const struct proc *p)
{
	return p->pgrp;
}

static int read_sid(const struct proc *p)
{
	return p->sid;
}

/* getpgrp(pid; 0: the caller) = its process group.  ESRCH: no such process. */
int64_t sys_getpgrp(const uint64_t arg[6])
{
	return of_proc(arg[0], read_pgrp);
}

/* getsid(pid; 0: the caller) = its session.  ESRCH: no such process. */
int64_t sys_getsid(const uint64_t arg[6])
{
	return of_proc(arg[0], read_sid);
}
