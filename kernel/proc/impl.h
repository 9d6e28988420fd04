/*
 * impl.h - what the files of proc/ share among themselves.
 */
#pragma once
#include <kern/exec.h>
#include <kern/proc.h>

/* --- proc.c -------------------------------------------------------------------------- */

/*
 * Makes a process without LWPs, which no other LWP can find yet.  Its address space is `as`, or
 * for NULL a new address space.  Its descriptor table is empty.  NULL: no memory, and `as` still
 * belongs to the caller.
 */
struct proc *proc_alloc(const char *name, struct address_space *as);
/* Frees a process that has no LWP: it never started, or is a zombie. */
void proc_free(struct proc *p);
/* Sets p's name to the last component of the path.  p->lock held, or no other LWP can find p. */
void proc_set_name(struct proc *p, const char *path);
/* Sets p's arguments, for ps.  Locks as for proc_set_name. */
void proc_set_args(struct proc *p, const struct exec_strings *strings);
/*
 * Gives p, with its only LWP l, a pid, makes it a child of parent (NULL: the first process), and
 * starts it.  args (NULL: none) has its group and its scheduling class.  foreground: its group gets
 * the console.  Returns the pid.  On an error, p and l are freed.  -EAGAIN: the limit of processes
 * is reached, no pid is free, or the parent is exiting; -EPERM: there is no such group in the
 * parent's session.
 */
int64_t proc_begin(struct proc *p, struct lwp *l, struct proc *parent,
		   const struct spawn_args *args, bool foreground);
/*
 * Posts AST_EXIT to all LWPs of p, except `but` (NULL: none), in pieces.  The caller holds p->lock,
 * with its *s.  The lock is released between two pieces.  The caller must have made sure that no
 * LWP is added.
 */
void proc_post_exit(struct proc *p, const struct lwp *but, irqstate_t *s);
/*
 * Posts AST_EXIT to the current LWP.  Its call fails because its process ends, or because another
 * LWP calls exec.  The process's p->lock held.
 */
void proc_post_exit_self(void);
/* Frees the exited LWPs for which there was no lwp_wait.  The caller is the only LWP of p. */
void proc_free_zombies(struct proc *p);

/* --- start.c ------------------------------------------------------------------------- */

/*
 * Loads the program at `path`, looked up from `files`, into a new address space, with its first
 * stack and the kernel's pages of every process, except the schedctl page.  Sets the first LWP's
 * first->entry and ->stack.  Errors of fdtable_lookup, elf_load, as_map_page, exec_stack.  May
 * sleep.
 */
int proc_load(struct address_space *as, struct fdtable *files, const char *path,
	      const struct exec_strings *strings, struct lwp_create *first);

/* --- group.c: all with proc_tree_lock held ------------------------------------------- */

void group_init(void);
/* Puts p, which is in none yet, into this group and session. */
void group_enter(struct proc *p, int pgrp, int sid);
void group_leave(struct proc *p);
/* Is there such a group or session?  If so, a new process must not get this pid. */
bool group_id_used(int id);

/* --- limits.c ------------------------------------------------------------------------ */

/* Sets the limits of p, which does not run yet: those of parent, or (NULL) none. */
void limits_init(struct proc *p, struct proc *parent);
/* Copies the limits that `as` enforces.  p->lock held, or `as` is not in use yet. */
void limits_apply(struct proc *p, struct address_space *as);

/* --- lwp.c --------------------------------------------------------------------------- */

/* Sets l's user registers for the start of a program: all are 0, except RIP and RSP. */
void lwp_init_frame(struct lwp *l, vaddr_t entry, vaddr_t stack);
/* Sets the FPU state for the start of a program, in l->fpu. */
void lwp_init_fpu(struct lwp *l);
/*
 * Makes the current LWP, the only LWP of p, the first LWP of another program.  Its id becomes 1,
 * and its flags, name, permit and cancel request are cleared.  No zombie is left; p->lock held.
 */
void lwp_begin_anew(struct proc *p);

/* --- schedctl.c ---------------------------------------------------------------------- */

/* Makes the first page of records of a program that is being loaded into `as`; NULL: no memory. */
struct sc_page *schedctl_first_page(struct address_space *as);
void schedctl_free_page(struct sc_page *sp);
/* Gives l, the only LWP of p, the first record of `first`, and frees all other pages of p.
 * p->lock held. */
void schedctl_restart(struct proc *p, struct lwp *l, struct sc_page *first);
