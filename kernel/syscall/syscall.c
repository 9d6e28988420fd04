/*
 * syscall.c - from the trap frame of a SYSCALL to the handler and back.
 */
#include <kern/cpu.h>
#include <kern/printk.h>
#include <kern/sched.h>
#include <kern/syscall.h>
#include <kern/timing.h>
#include <kern/trace.h>
#include <kern/trap.h>

typedef int64_t handler(const uint64_t arg[6]);

#define X(number, name, nargs) [number] = sys_##name,
static handler *const table[WEFT_SYSCALL_MAX] = {SYSCALLS(X)};
#undef X

/* What the short way leaves: calls that do not exist, and all those of a traced LWP. */
static __attribute__((noinline)) void call_slowly(struct lwp *l, struct trapframe *f)
{
	const uint64_t number = f->rax;
	const uint64_t arg[6] = {f->rdi, f->rsi, f->rdx, f->r10, f->r8, f->r9};
	handler *fn = number < WEFT_SYSCALL_MAX ? table[number] : NULL;
	bool traced = lwp_traced(l);
	struct trace_call trace;
	int64_t result = -ENOSYS;

	if (traced)
		trace_entry(&trace, number, arg);
	if (fn != NULL) {
		l->syscall = number;
		result = fn(arg);
		l->syscall = ~0u;
	}
	if (traced)
		trace_return(&trace, number, result);
	f->rax = result;
}

void syscall_dispatch(struct trapframe *f)
{
	struct lwp *l = curlwp();
	uint64_t number = f->rax;

	lwp_mstate_enter(l, MS_SYSTEM, time_now());
	irq_restore(0x200);
	l->nsyscall++;
	if (number < l->ncalls && table[number] != NULL) {
		const uint64_t arg[6] = {f->rdi, f->rsi, f->rdx, f->r10, f->r8, f->r9};
		l->syscall = number;
		f->rax = table[number](arg);
		l->syscall = ~0u;
	} else {
		call_slowly(l, f);
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
