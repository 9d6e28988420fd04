/*
 * schedctl.h - the pages that the kernel shares with every process (proc/schedctl.c).
 */
#pragma once

struct lwp;
struct proc;

/* User addresses of the pages that the kernel puts into every process.  They are far from
 * the program, which grows up, and from the stack, which grows down. */
#define TIMEPAGE_USER 0x0000100000000000ull
#define SCHEDCTL_USER 0x0000100000100000ull

/* Gives l a record.  -ENOMEM.  May sleep; takes p->lock. */
int schedctl_attach(struct proc *p, struct lwp *l);
/* Takes l's record back.  p->lock held.  l runs, or has not been started. */
void schedctl_detach(struct proc *p, struct lwp *l);
void schedctl_free_all(struct proc *p); /* no LWP is left */
