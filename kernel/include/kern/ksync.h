/*
 * ksync.h - what the life of processes and LWPs has to do with locks and objects that
 * programs sleep for (kernel/sync/).
 */
#pragma once

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
