/*
 * spawn.c - spawn: a program in a new process, at a cost that does not depend on the
 * parent's memory.
 *
 * The child begins with copies of the parent's descriptors.  The calling LWP carries out the
 * actions on these copies, before any other LWP can find the child.  So an error of an action is
 * an error of the call.  The effects of the actions on files stay (POSIX).
 */
#include <kern/cache.h>
#include <kern/exec.h>
#include <kern/printk.h>
#include <kern/proc.h>
#include <kern/sched.h>
#include <kern/schedctl.h>
#include <kern/signal.h>
#include <kern/syscall.h>
#include <kern/usercopy.h>
#include <weft/errno.h>
#include "impl.h"

/* SPAWN_OPEN and SPAWN_CHDIR: opens the file, or enters the directory, a->path of user memory. */
static int act_on_path(struct fdtable *t, const struct spawn_action *a)
{
	struct vnode *dir;
	struct file *f;

	char *path = kmalloc(WEFT_PATH_MAX);
	if (path == NULL)
		return -ENOMEM;
	int err = copyinstr(path, a->path, WEFT_PATH_MAX);
	if (err >= 0 && a->what == SPAWN_CHDIR) {
		err = fdtable_lookup(t, path, &dir);
		if (err == 0)
			err = fdtable_chdir(t, dir);
	} else if (err >= 0) {
		dir = fdtable_cwd(t);
		err = file_open_path(t, dir, path, a->flags, a->mode, &f);
		vnode_rele(dir);
		if (err == 0) {
			err = fd_replace(t, a->fd, f, a->flags & WEFT_O_CLOEXEC);
			if (err < 0)
				file_rele(f);
		}
	}
	kfree(path);
	return MIN(err, 0);
}

static int act_dup2(struct fdtable *t, int from, int fd)
{
	struct file *f = fd_get(t, from);
	if (f == NULL)
		return -EBADF;
	int err = fd_replace(t, fd, f, false);
	if (err < 0)
		file_rele(f);
	return MIN(err, 0);
}

static int check_terminal(struct fdtable *t, int fd)
{
	struct file *f = fd_get(t, fd);
	if (f == NULL)
		return -EBADF;
	bool console = f->vn == console_vnode();
	file_rele(f);
	return console && proc_has_console(curproc()) ? 0 : -ENOTTY;
}

static int spawn_action_do(struct fdtable *t, const struct spawn_action *a, bool *foreground)
{
	int err;

	switch (a->what) {
	case SPAWN_OPEN:
	case SPAWN_CHDIR:
		return act_on_path(t, a);
	case SPAWN_DUP2:
		return act_dup2(t, a->from, a->fd);
	case SPAWN_CLOSE:
		if (a->fd < 0 || a->fd >= WEFT_OPEN_MAX)
			return -EBADF;
		fd_close(t, a->fd); /* no error if it is not open */
		return 0;
	case SPAWN_TCSETPGRP:
		err = check_terminal(t, a->fd);
		*foreground = err == 0;
		return err;
	default:
		return -EINVAL;
	}
}

/* Carries out all actions.  Copies them one by one from user memory, so there is no limit. */
static int act_all(struct fdtable *t, const struct spawn_args *args, bool *foreground)
{
	struct spawn_action a;

	for (uint64_t i = 0; i < args->nactions; i++) {
		if (copyin(&a, args->actions + i * sizeof(a), sizeof(a)) != 0)
			return -EFAULT;
		int err = spawn_action_do(t, &a, foreground);
		if (err != 0)
			return err;
		if (__atomic_load_n(&curlwp()->ast, __ATOMIC_RELAXED) & AST_EXIT)
			return -EINTR;
		preempt_point();
	}
	return 0;
}

int64_t proc_spawn(struct proc *parent, const char *path, const struct exec_strings *strings,
		   const struct spawn_args *args)
{
	struct lwp_create first = {0};
	bool foreground = false;
	struct lwp *l;

	struct proc *p = proc_alloc(path, NULL);
	if (p == NULL)
		return -ENOMEM;
	p->execed = true;
	limits_init(p, parent);
	int err =
		parent ? fdtable_copy(&p->files, &parent->files) : fdtable_open_console(&p->files);
	if (err == 0)
		err = act_all(&p->files, args, &foreground);
	if (err == 0)
		err = proc_load(p->as, &p->files, path, strings, &first);
	if (err == 0 && parent)
		err = kobj_inherit(&p->kobjs, &parent->kobjs);
	if (err == 0)
		err = lwp_new(p, &first, NULL, &l);
	if (err != 0) {
		proc_free(p);
		return err;
	}
	assert(first.schedctl == SCHEDCTL_USER);
	fdtable_close_on_exec(&p->files);
	proc_set_args(p, strings);
	if (parent) {
		sig_fork(parent, curlwp(), p, l);
		sig_preset(p, l, args);
		sig_exec(p, l);
	}
	return proc_begin(p, l, parent, args, foreground);
}

int proc_spawn_first(const char *path, char *const argv[], char *const envp[])
{
	struct exec_strings strings;
	const struct spawn_args args = {0};

	int err = exec_strings_kernel(&strings, argv, envp);
	if (err != 0)
		return err;
	int64_t pid = proc_spawn(NULL, path, &strings, &args);
	exec_strings_free(&strings);
	return MIN(pid, 0);
}
