/*
 * ksync.h - what the life of processes and LWPs has to do with locks and objects that
 * programs sleep for (kernel/sync/).
 */
#pragma once

#include <stdbool.h>

struct lwp;
struct proc;

void ksync_init(void);

/*
 * Hands on the robust mutexes that the current LWP owns, or any of the current process,
 * with EOWNERDEAD; the latter forgets all that the process had registered.  Before the
 * address space goes, that is at exit and exec.  May sleep.
 */
void robust_lwp_exit(struct lwp *l);
void robust_proc_exit(struct proc *p);

/* Priority inheritance (sync/inherit.c). */
void inherit_init(void);
/* l's priority has changed: what it lends changes too.  p->lock of its process is held. */
void inherit_pri_changed(struct lwp *l);
/* l, the current LWP, exits, or calls exec: nobody lends it anything, it has no ceiling. */
void inherit_exit(struct lwp *l);
void inherit_exec(struct lwp *l);
