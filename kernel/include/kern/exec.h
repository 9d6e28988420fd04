/*
 * exec.h - a program and its start: strings, ELF, the first stack, spawn and exec (proc/exec.c,
 * proc/spawn.c, proc/elf.c, proc/exec_stack.c).
 */
#pragma once
#include <weft/abi.h>
#include "types.h"

struct address_space;
struct auxv;
struct proc;
struct spawn_args;
struct vnode;

/* Strings of a new program: argv and envp, gathered from the caller. */
struct exec_strings {
	char *buf; /* kmalloc'ed: all strings, each with its NUL */
	size_t len;
	unsigned argc, envc;
};

/* Starts the first process from `path`; argv and envp are kernel strings. */
int proc_spawn_first(const char *path, char *const argv[], char *const envp[]);
/*
 * Starts a program.  Path and strings are copies in the kernel.  Of args only the actions (in
 * the caller's memory) and the attributes are used; the caller has checked them.  The parent is
 * the current process, or NULL for the first process.  Returns the pid, or -ENOMEM, -EAGAIN (out
 * of processes), -EPERM (pgroup), errors of the actions, elf_load and vfs_lookup.  May sleep.
 */
int64_t proc_spawn(struct proc *parent, const char *path, const struct exec_strings *strings,
		   const struct spawn_args *args);
/*
 * Makes the current process run another program, with the calling LWP as its only LWP.  0: the
 * LWP's registers are those of the new program.  Errors of proc_spawn; -EINTR: the process is
 * ending, or another LWP was faster.  After an error the process is as before.  Waits until the
 * other LWPs have exited; may sleep.
 */
int proc_exec(const char *path, const struct exec_strings *strings);

struct elf_image {
	vaddr_t entry;
	vaddr_t brk; /* first page-aligned address above the image */
	vaddr_t tls; /* the program header of thread-local storage, or 0: none */
};
/*
 * Maps the segments of an ELF-64 x86-64 static executable into a fresh address
 * space, W^X as the program headers say.  -EACCES: not a regular file; -ENOEXEC:
 * not such an executable, or a malformed one; -ENOMEM; errors of the file system.  May sleep.
 */
int elf_load(struct address_space *as, struct vnode *vn, struct elf_image *out);

/* Copies argv and envp from user space.  -E2BIG beyond WEFT_ARG_MAX, -EFAULT, -ENOMEM. */
int exec_strings_copyin(struct exec_strings *s, vaddr_t argv, vaddr_t envp);
int exec_strings_kernel(struct exec_strings *s, char *const argv[], char *const envp[]);
void exec_strings_free(struct exec_strings *s);
/* The lowest address of the stack that exec_stack maps. */
vaddr_t exec_stack_bottom(const struct address_space *as);
/*
 * Maps the first stack of a process (size: 8 MiB, a red zone below) into `as`,
 * which need not be current.  Lays out argc, argv, envp and the auxiliary
 * vector (ending with AT_NULL) on it.  *sp gets the initial RSP (16-byte aligned, at
 * argc).  May sleep.
 */
int exec_stack(struct address_space *as, const struct exec_strings *s, const struct auxv *aux,
	       unsigned naux, vaddr_t *sp);
