/*
 * fault.c - a fault in user mode that nobody could resolve: the process ends, and
 * the console says which LWP did what, where.
 */
#include <kern/printk.h>
#include <kern/proc.h>
#include <kern/trace.h>
#include <kern/trap.h>
#include <weft/signal.h>

static const char *signal_name(int sig)
{
	switch (sig) {
	case WEFT_SIGILL:
		return "SIGILL";
	case WEFT_SIGTRAP:
		return "SIGTRAP";
	case WEFT_SIGFPE:
		return "SIGFPE";
	case WEFT_SIGBUS:
		return "SIGBUS";
	case WEFT_SIGSEGV:
		return "SIGSEGV";
	default:
		return "signal";
	}
}

/* Bits of a page fault's error code (Intel SDM 3A, 4.7). */
#define PF_PRESENT 1
#define PF_WRITE 2
#define PF_FETCH 16

void user_fault(struct trapframe *f, uint64_t addr, int sig)
{
	struct proc *p = curproc();
	int status = WEFT_W_EXITCODE(0, sig);

	trace_fault(f->vec, addr, sig);
	/* Of many LWPs that fault at once, one ends the process and is named. */
	if (!proc_kill(p, status))
		proc_exit(status);
	if (f->vec == T_PAGE)
		printk("weft: pid %d (%s) lwp %u: %s at address %p, instruction %p (%s, %s)\n",
		       p->pid, p->name, curlwp()->id, signal_name(sig), (void *)addr,
		       (void *)f->rip,
		       f->err & PF_FETCH   ? "execute"
		       : f->err & PF_WRITE ? "write"
					   : "read",
		       f->err & PF_PRESENT ? "protected" : "not mapped");
	else
		printk("weft: pid %d (%s) lwp %u: %s at instruction %p (trap %lu, error %#lx)\n",
		       p->pid, p->name, curlwp()->id, signal_name(sig), (void *)f->rip, f->vec,
		       f->err);
	proc_exit(status);
}
