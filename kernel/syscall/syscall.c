/*
 * syscall.c - from the trap frame of a SYSCALL to the handler and back.
 */
#include <kern/cpu.h>
#include <kern/printk.h>
#include <kern/sched.h>
#include <kern/syscall.h>
#include <kern/timing.h>
#include <kern/trap.h>

typedef int64_t handler(const uint64_t arg[6]);

#define X(number, name, nargs) [number] = sys_##name,
static handler *const table[WEFT_SYSCALL_MAX] = {SYSCALLS(X)};
#undef X

void syscall_dispatch(struct trapframe *f)
{
	struct lwp *l = curlwp();
	uint64_t number = f->rax;

	lwp_mstate_at(l, MS_SYSTEM, time_now());
	irq_restore(0x200);
	if (number < WEFT_SYSCALL_MAX && table[number] != NULL) {
		const uint64_t arg[6] = {f->rdi, f->rsi, f->rdx, f->r10, f->r8, f->r9};
		l->syscall = number;
		f->rax = table[number](arg);
		l->syscall = ~0u;
	} else {
		f->rax = -ENOSYS;
	}
	irq_save();
	assert(this_cpu()->nlocks == 0);
	lwp_mstate_at(l, MS_USER, time_now());
}

/* Does nothing: what entering and leaving the kernel costs. */
int64_t sys_null(const uint64_t arg[6])
{
	return 0;
}
