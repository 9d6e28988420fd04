/*
 * files.h - shared by the system calls on files (syscall/file.c, names.c, rw.c).
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

/* Call it between chunks: must this LWP exit?  May yield the CPU. */
static inline bool told_to_exit(void)
{
	preempt_point();
	return __atomic_load_n(&curlwp()->ast, __ATOMIC_RELAXED) & AST_EXIT;
}

/* Copies a path from user memory to *out, kmalloc'ed.  -EFAULT, -ENAMETOOLONG, -ENOMEM. */
int path_in(vaddr_t user, char **out);
/* Resolves a path in user memory from the current directory.  *out is held.  Path errors. */
int lookup_user(vaddr_t user, struct vnode **out);

/* Sends sig to the calling LWP.  No lock held. */
static inline void signal_self(int sig)
{
	struct weft_siginfo info = sig_info(sig, WEFT_SI_KERNEL, 0);
	sig_send_stable(curproc(), curlwp(), &info, NULL, false);
}
