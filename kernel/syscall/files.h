/*
 * files.h - what the system calls on files share (syscall/file.c, names.c, rw.c).
 */
#pragma once
#include <kern/proc.h>
#include <kern/sched.h>
#include <kern/signal.h>

static inline struct fdtable *my_files(void)
{
	return &curproc()->files;
}

static inline bool vnode_is_directory(const struct vnode *vn)
{
	return vnode_is(vn, WEFT_S_IFDIR);
}

/* Between chunks: is this LWP's process being killed?  May give up the CPU. */
static inline bool told_to_exit(void)
{
	preempt_point();
	return __atomic_load_n(&curlwp()->ast, __ATOMIC_RELAXED) & AST_EXIT;
}

/* The path in user memory, kmalloc'ed.  -EFAULT, -ENAMETOOLONG, -ENOMEM. */
int path_in(vaddr_t user, char **out);
/* Resolves a path in user memory from the current directory; the vnode comes held. */
int lookup_user(vaddr_t user, struct vnode **out);

/* Sends sig to the calling LWP.  No lock held. */
static inline void signal_self(int sig)
{
	struct weft_siginfo info = sig_info(sig, WEFT_SI_KERNEL, 0);
	sig_send_stable(curproc(), curlwp(), &info, NULL, false);
}
