/*
 * proc.h - the process: an address space, open files and LWPs.
 *
 * p->lock guards the lists of LWPs and children, the exit status and the
 * counters.  proc_tree_lock guards the table of processes and the links between
 * parents and children; it comes before p->lock.
 */
#pragma once
#include <weft/proc.h>
#include "file.h"
#include "lwp.h"
#include "mm.h"
#include "sync.h"

/* A process's table of LWPs by id: two levels, so that a reader needs no lock
 * (the parts are freed only with the process). */
#define LWPTAB_LEAF 512
#define LWPTAB_ROOT 512
#define LWP_ID_MAX (LWPTAB_LEAF * LWPTAB_ROOT - 1)

struct proc {
	struct spinlock lock;
	int pid;
	int pgrp;
	struct proc *parent;  /* proc_tree_lock */
	struct list children; /* by sibling; proc_tree_lock */
	struct list sibling;
	struct list all_link; /* table of processes; proc_tree_lock */
	struct list hash_link;
	char name[32];

	struct address_space *as;
	struct fdtable files;

	struct list lwps;     /* live LWPs, by proc_link */
	struct list zombies;  /* exited, not detached, not waited for: wait_link */
	unsigned nlwp;        /* live ones */
	struct lwp ***lwptab; /* [id / LEAF][id % LEAF] */
	uint32_t lwp_next_id; /* ids never used before */
	uint32_t *free_ids;   /* ring of ids given back: reused oldest first */
	uint32_t free_head, free_count, free_size;
	struct waitq lwp_waiters; /* lwp_wait; p->lock */

	struct list sc_pages; /* schedctl pages; p->lock */
	struct schedctl_page *sc_partial;

	bool exiting;
	bool zombie;
	int status;                 /* as waitpid gives it */
	struct waitq child_waiters; /* waitpid of this process; proc_tree_lock */

	hrtime_t start;
	struct weft_rusage ru_dead;     /* of LWPs that are gone; p->lock */
	struct weft_rusage ru_children; /* of children waited for; p->lock */
};

extern struct spinlock proc_tree_lock;

void proc_init(void);
/* Starts the first process from `path`; argv and envp are kernel strings. */
int proc_spawn_first(const char *path, char *const argv[], char *const envp[]);

/* The current process; NULL on a kernel LWP. */
static inline struct proc *curproc(void);
#include "cpu.h"
static inline struct proc *curproc(void)
{
	return curlwp()->proc;
}

/* Ends the current process: every LWP goes.  status: waitpid's word. */
void proc_exit(int status) NORETURN;
/* Tells every LWP of p to exit (no lock held); p ends with this status. */
void proc_kill(struct proc *p, int status);
/* Ctrl-C: kills the processes of a group.  Any context that may take proc_tree_lock. */
int proc_kill_group(int pgrp, int sig);

/* --- ELF (proc/elf.c) ----------------------------------------------------- */

struct elf_image {
	vaddr_t entry;
	vaddr_t brk; /* first page-aligned address above the image */
};
/*
 * Maps the segments of an ELF-64 x86-64 static executable into a fresh address
 * space, W^X as the program headers say.  -ENOEXEC: not one, or a malformed
 * one; -ENOMEM; errors of the file system.  May sleep.
 */
int elf_load(struct address_space *as, struct vnode *vn, struct elf_image *out);

/* Strings of a new program: argv and envp, gathered from the caller. */
struct exec_strings {
	char *buf; /* kmalloc'ed: all strings, each with its NUL */
	size_t len;
	unsigned argc, envc;
};
/* Copies argv and envp from user space.  -E2BIG beyond WEFT_ARG_MAX, -EFAULT, -ENOMEM. */
int exec_strings_copyin(struct exec_strings *s, vaddr_t argv, vaddr_t envp);
int exec_strings_kernel(struct exec_strings *s, char *const argv[], char *const envp[]);
void exec_strings_free(struct exec_strings *s);
/*
 * Maps the first stack of a process (size: 8 MiB, a red zone below) into `as`,
 * which need not be current, and lays out argc, argv, envp and the auxiliary
 * vector (ending with AT_NULL).  *sp gets the initial RSP (16-byte aligned, at
 * argc).  May sleep.
 */
int exec_stack(struct address_space *as, const struct exec_strings *s, const struct auxv *aux,
	       unsigned naux, vaddr_t *sp);
