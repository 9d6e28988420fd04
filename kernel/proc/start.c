/*
 * start.c - the creation of a process: loading a program, and fork (spawn: spawn.c).
 *
 * A new process is built completely, with its LWP, before any other LWP can find it.  So a call
 * that fails on the way frees it, and has changed nothing.
 */
#include <kern/cpu.h>
#include <kern/exec.h>
#include <kern/printk.h>
#include <kern/proc.h>
#include <kern/sched.h>
#include <kern/schedctl.h>
#include <kern/space.h>
#include <kern/timing.h>
#include <weft/errno.h>
#include <weft/mman.h>
#include "impl.h"

int proc_load(struct address_space *as, struct fdtable *files, const char *path,
	      const struct exec_strings *strings, struct lwp_create *first)
{
	struct vnode *vn;
	struct elf_image image;

	int err = fdtable_lookup(files, path, &vn);
	if (err != 0)
		return err;
	err = elf_load(as, vn, &image);
	vnode_rele(vn);
	if (err != 0)
		return err;
	as->brk_start = as->brk = image.brk;
	err = as_map_page(as, TIMEPAGE_USER, timepage_pa, WEFT_PROT_READ);
	if (err != 0)
		return err;
	const struct auxv aux[] = {
		{AT_PAGESZ, PAGE_SIZE},
		{AT_ENTRY, image.entry},
		{AT_WEFT_TIMEPAGE, TIMEPAGE_USER},
		{AT_WEFT_NCPU, ncpu},
		/* The record of the first LWP is the first record of the first page. */
		{AT_WEFT_SCHEDCTL, SCHEDCTL_USER},
		{AT_WEFT_TLS, image.tls},
		{AT_WEFT_STACK, exec_stack_bottom(as)},
		{AT_WEFT_STACK_END, USER_STACK_TOP},
	};
	first->entry = image.entry;
	return exec_stack(as, strings, aux, ARRAY_LEN(aux), &first->stack);
}

/* --- fork ---------------------------------------------------------------------------- */

/* Makes l, the child's LWP, continue at the caller's instruction, with 0 as the result of fork. */
static void copy_registers(struct lwp *l)
{
	struct lwp *me = curlwp();

	*l->frame = *me->frame;
	l->frame->rax = 0;
	irqstate_t s = irq_save();
	__asm__ volatile("rdfsbase %0" : "=r"(l->fsbase));
	__asm__ volatile("swapgs; rdgsbase %0; swapgs" : "=r"(l->gsbase));
	__asm__ volatile("fxsave64 %0" : "=m"(l->fpu));
	irq_restore(s);
}

int64_t proc_fork(void)
{
	struct proc *parent = curproc();
	struct lwp_create first = {0};
	struct address_space *as;
	struct lwp *l;

	int err = as_fork(parent->as, &as);
	if (err != 0)
		return err;
	struct proc *p = proc_alloc(parent->name, as);
	if (p == NULL) {
		as_destroy(as);
		return -ENOMEM;
	}
	limits_init(p, parent);
	err = as_map_page(p->as, TIMEPAGE_USER, timepage_pa, WEFT_PROT_READ);
	if (err == 0)
		err = fdtable_copy(&p->files, &parent->files);
	if (err == 0)
		err = kobj_inherit(&p->kobjs, &parent->kobjs);
	if (err == 0)
		err = lwp_new(p, &first, curlwp(), &l);
	if (err != 0) {
		proc_free(p);
		return err;
	}
	copy_registers(l);
	memcpy(p->args, parent->args, sizeof(p->args));
	sig_fork(parent, curlwp(), p, l);
	return proc_begin(p, l, parent, NULL, false);
}
