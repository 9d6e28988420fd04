/*
 * ksync.h - what locks and objects at which programs block (kernel/sync/) need from the life of
 * processes and LWPs.
 */
#pragma once

#include <stdbool.h>

struct lwp;
struct proc;

void ksync_init(void);

/*
 * Hand on the robust mutexes that the current LWP owns, or that any LWP of the current process
 * owns, with EOWNERDEAD.  robust_proc_exit also forgets all that the process had registered.
 * Call them before the address space is released: at exit and exec.  May sleep.
 */
void robust_lwp_exit(struct lwp *l);
void robust_proc_exit(struct proc *p);

/* Priority inheritance (sync/inherit.c). */
void inherit_init(void);
/* l's priority has changed: if it sleeps for a mutex, the owner inherits the new priority.
 * p->lock of l's process is held. */
void inherit_pri_changed(struct lwp *l);
/* l, the current LWP, exits or calls exec: from now on it inherits nothing, and has no ceiling. */
void inherit_exit(struct lwp *l);
void inherit_exec(struct lwp *l);
