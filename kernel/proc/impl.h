/*
 * impl.h - what the files of proc/ share among themselves.
 */
#pragma once
#include <kern/exec.h>
#include <kern/proc.h>

/* --- proc.c -------------------------------------------------------------------------- */

/*
 * A process without LWPs that nobody knows yet, with `as` for its own (NULL: a fresh one)
 * and an empty descriptor table; NULL: no memory, and `as` is the caller's still.
 */
struct proc *proc_alloc(const char *name, struct address_space *as);
/* Frees a process that has no LWP: one that never started, or a zombie. */
void proc_free(struct proc *p);
/* p is called what comes after the last slash of the path.  p->lock held, or p is nobody's. */
void proc_set_name(struct proc *p, const char *path);
/* p's arguments are these, for ps.  As proc_set_name. */
void proc_set_args(struct proc *p, const struct exec_strings *strings);
/*
 * Makes p, with its only LWP, known as a child of parent (NULL: the first process), with a
 * pid, and starts it.  args (NULL: none) says which group it joins and how it is scheduled;
 * foreground: its group gets the console.  Returns the pid; -EAGAIN: out of pids, or the parent
 * is exiting; -EPERM: there is no such group in the parent's session: then p and l are freed.
 */
int64_t proc_begin(struct proc *p, struct lwp *l, struct proc *parent,
		   const struct spawn_args *args, bool foreground);
/*
 * Tells all LWPs of p to exit, except `but` (NULL: none), in pieces.  The caller holds p->lock, with
 * its *s; the lock is given up between two pieces.  The caller has seen to it that no other LWP comes.
 */
void proc_post_exit(struct proc *p, const struct lwp *but, irqstate_t *s);
/*
 * Tells the current LWP to go, whose call fails because its process ends, or because of another
 * LWP's exec.  The process's p->lock held.
 */
void proc_post_exit_self(void);
/* Frees the LWPs that nobody has waited for.  p has no other LWP than the caller. */
void proc_free_zombies(struct proc *p);

/* --- start.c ------------------------------------------------------------------------- */

/*
 * Loads the program at `path`, looked up from `files`, into a fresh
 * address space, with its first stack and the pages that the kernel puts into every
 * process but the schedctl page.  first->entry and ->stack are what its LWP begins with.
 * Errors of fdtable_lookup, elf_load, as_map_page, exec_stack.  May sleep.
 */
int proc_load(struct address_space *as, struct fdtable *files, const char *path,
	      const struct exec_strings *strings, struct lwp_create *first);

/* --- group.c: all with proc_tree_lock held ------------------------------------------- */

void group_init(void);
/* p, which is in none yet, is in this group and session. */
void group_enter(struct proc *p, int pgrp, int sid);
void group_leave(struct proc *p);
/* Is there such a group or session?  Then its id is no pid for a new process. */
bool group_id_used(int id);

/* --- limits.c ------------------------------------------------------------------------ */

/* The limits of p, which does not run yet: parent's, or (NULL) none. */
void limits_init(struct proc *p, struct proc *parent);
/* Those that `as` enforces.  p->lock held, or `as` is nobody's yet. */
void limits_apply(struct proc *p, struct address_space *as);

/* --- lwp.c --------------------------------------------------------------------------- */

/* User registers as a program begins with them: all 0 but for these two. */
void lwp_init_frame(struct lwp *l, vaddr_t entry, vaddr_t stack);
/* The FPU as a program begins with it, in l->fpu. */
void lwp_init_fpu(struct lwp *l);
/*
 * The current LWP, the only one, is another program's first: its id is 1, and what the old program
 * made it as, or asked of it, counts no more.  No zombie is left; p->lock held.
 */
void lwp_begin_anew(struct proc *p);

/* --- schedctl.c ---------------------------------------------------------------------- */

/* The first page of records of a program that is being loaded into `as`; NULL: no memory. */
struct sc_page *schedctl_first_page(struct address_space *as);
void schedctl_free_page(struct sc_page *sp);
/* Gives l, the only LWP of p, the first record of `first`, and frees all other pages of p.
 * p->lock held; takes l->lock. */
void schedctl_restart(struct proc *p, struct lwp *l, struct sc_page *first);
