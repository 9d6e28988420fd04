/*
 * syscall.c - from the trap frame of a SYSCALL to the handler and back.
 */
#include <kern/cpu.h>
#include <kern/printk.h>
#include <kern/probe.h>
#include <kern/proc.h>
#include <kern/sched.h>
#include <kern/syscall.h>
#include <kern/timing.h>
#include <kern/trace.h>
#include <kern/trap.h>

typedef int64_t handler(const uint64_t arg[6]);

static int64_t no_such_call(const uint64_t arg[6])
{
	return -ENOSYS;
}

#pragma GCC diagnostic ignored "-Woverride-init"
#define X(number, name, nargs) [number] = sys_##name,
static handler *const table[WEFT_SYSCALL_MAX] = {[0 ... WEFT_SYSCALL_MAX - 1] = no_such_call,
						 SYSCALLS(X)};
#undef X

/* The cases that the fast path leaves: numbers beyond the table, and all calls of a traced LWP. */
static __attribute__((noinline)) int64_t call_slowly(struct lwp *l, uint64_t number,
						     const uint64_t arg[6])
{
	struct trace_call trace;
	bool traced = lwp_traced(l);

	if (traced)
		trace_entry(&trace, number, arg);
	l->syscall = number;
	int64_t result = number < WEFT_SYSCALL_MAX ? table[number](arg) : -ENOSYS;
	if (traced)
		trace_return(&trace, number, result);
	return result;
}

/* The LWP and its frame are looked up again after the handler, because this is cheaper than to
 * keep them in registers. */
void syscall_dispatch(struct trapframe *f)
{
	struct lwp *l = curlwp();
	uint64_t number = f->rax;
	int64_t result;

	PROBE(syscall, "number", f->rax, 0, 0);
	lwp_mstate_move(l, MS_USER, MS_SYSTEM, time_now());
	irq_on();
	l->nsyscall++;
	if (__builtin_expect(number < l->ncalls, 1)) {
		l->syscall = number;
		result = table[number](f->arg);
	} else {
		result = call_slowly(l, number, f->arg);
	}
	l = curlwp();
	l->frame->rax = result;
	l->syscall = ~0u;
	irq_off();
	PROBE(syscall_end, "result", result, 0, 0);
	assert(cpu_here->nlocks == 0);
	lwp_mstate_move(l, MS_SYSTEM, MS_USER, time_now());
}

/* Does nothing: measures the entry to and the exit from the kernel. */
int64_t sys_null(const uint64_t arg[6])
{
	return 0;
}
