/*
 * trace.c - the system calls that watch other processes (weft/trace.h).
 */
#include <kern/cache.h>
#include <kern/cpu.h>
#include <kern/proc.h>
#include <kern/sched.h>
#include <kern/space.h>
#include <kern/syscall.h>
#include <kern/timing.h>
#include <kern/trace.h>
#include <kern/usercopy.h>

/*
 * trace_attach(pid, flags): the caller's process becomes the tracer of process pid, or with
 * pid 0 of the children that it starts from now on (TRACE_*).
 * EINVAL: unknown flags, a pid below 0; ESRCH: no such process; EPERM: the caller itself, the
 * first process, or a process that traces the caller; EBUSY: it has a tracer; ENOMEM: no memory.
 */
int64_t sys_trace_attach(const uint64_t arg[6])
{
	return trace_attach(arg[0], arg[1]);
}

/*
 * trace_detach(pid): undoes trace_attach; LWPs that stopped at an event continue.
 * ESRCH: the caller does not trace it (0: its future children).
 */
int64_t sys_trace_detach(const uint64_t arg[6])
{
	return trace_detach(arg[0]);
}

/*
 * trace_wait(struct trace_event *events, n): lets the LWPs of the last call's events continue,
 * waits for at least one event, and returns the number of events stored: at most n, which is 1 to
 * 128.  0: no event is left, and no traced process.  Blocks.
 * EINVAL: n; EBUSY: another LWP of the process waits; EFAULT: events (the next call returns them
 * again); EINTR: a signal.
 */
int64_t sys_trace_wait(const uint64_t arg[6])
{
	return trace_wait(arg[0], arg[1]);
}

/*
 * proc_read(pid, addr, buf, n): copies n bytes at addr of process pid (0: the caller) to the
 * caller's buf.  Returns the number of bytes, which is less than n if the memory after them cannot
 * be read.  May sleep.
 * ESRCH: no such process, or it has exited; EFAULT: the first byte cannot be read, or
 * buf cannot be written; ENOMEM: no memory.
 */
int64_t sys_proc_read(const uint64_t arg[6])
{
	vaddr_t addr = arg[1], to = arg[2];
	uint64_t n = MIN(arg[3], WEFT_USER_END), done = 0;
	int err = 0;

	struct address_space *as = proc_hold_as(arg[0]);
	if (as == NULL)
		return -ESRCH;
	char *page = kmalloc(PAGE_SIZE);
	if (page == NULL)
		err = -ENOMEM;
	while (done < n && err == 0) {
		size_t some = MIN(n - done, PAGE_SIZE - (addr + done) % PAGE_SIZE);
		err = as_copyin(as, page, addr + done, some);
		if (err != 0 && done > 0) {
			err = 0;
			break;
		}
		if (err == 0)
			err = copyout(to + done, page, some);
		if (err == 0)
			done += some;
		if (curlwp()->ast & AST_EXIT)
			break;
		preempt_point();
	}
	kfree(page);
	as_destroy(as);
	return err != 0 ? err : (int64_t)done;
}

static void fill_regs(const struct lwp *l, struct lwp_regs *r)
{
	const struct trapframe *f = l->frame;

	*r = (struct lwp_regs){
		.rax = f->rax,
		.rbx = f->rbx,
		.rcx = f->rcx,
		.rdx = f->rdx,
		.rsi = f->rsi,
		.rdi = f->rdi,
		.rbp = f->rbp,
		.rsp = f->rsp,
		.r8 = f->r8,
		.r9 = f->r9,
		.r10 = f->r10,
		.r11 = f->r11,
		.r12 = f->r12,
		.r13 = f->r13,
		.r14 = f->r14,
		.r15 = f->r15,
		.rip = f->rip,
		.rflags = f->rflags,
		.fsbase = l->fsbase,
		.id = l->id,
		.syscall = l->syscall,
	};
}

/* One attempt of lwp_regs: the id, -ESRCH, or -EBUSY.  With -EBUSY, *leaving is the LWP if it is
 * about to leave its CPU. */
static int64_t try_regs(int pid, uint32_t id, struct lwp_regs *r, struct lwp **leaving)
{
	int64_t result = -ESRCH;
	struct lwp *l = NULL;

	irqstate_t s = spin_lock(&proc_tree_lock);
	struct proc *p = pid == 0 ? curproc() : proc_find(pid);
	if (p != NULL) {
		spin_acquire(&p->lock);
		for (id = MAX(id, 1u); l == NULL && id < p->next_id; id++) {
			l = lwp_lock_by_id(p, id);
			if (l != NULL && (l->state == LWP_ST_ZOMB || l->state == LWP_ST_IDLE)) {
				spin_release(&l->lock);
				l = NULL;
			}
		}
		if (l != NULL && l->state == LWP_ST_ONPROC && l != curlwp()) {
			bool held = p->traced != NULL && (p->traced->flags & TRACE_HOLD);
			*leaving = held ? l : NULL;
			timing_kick(cpus[l->cpu]);
			result = -EBUSY;
		} else if (l != NULL) {
			fill_regs(l, r);
			result = l->id;
		}
		if (l != NULL)
			spin_release(&l->lock);
		spin_release(&p->lock);
	}
	spin_unlock(&proc_tree_lock, s);
	return result;
}

/*
 * lwp_regs(pid, id, struct lwp_regs *): the user registers of the LWP of process pid (0: the
 * caller's) with the smallest id that is not below id, as they were when it last entered the
 * kernel.  Returns its id.  For a held process, waits until the LWP's CPU has handled an interrupt.
 * ESRCH: no such process, or no such LWP; EFAULT: the structure; EBUSY: the LWP is on a CPU, and
 * the process is not held (TRACE_HOLD).
 */
int64_t sys_lwp_regs(const uint64_t arg[6])
{
	struct lwp_regs regs;
	struct lwp *l;

	for (;;) {
		int64_t r = try_regs(arg[0], arg[1], &regs, &l);
		if (r > 0)
			return copyout(arg[2], &regs, sizeof(regs)) ?: r;
		if (r != -EBUSY || l == NULL)
			return r;
		/* A hint: the memory of l stays an LWP's, perhaps of another LWP. */
		while (__atomic_load_n(&l->state, __ATOMIC_RELAXED) == LWP_ST_ONPROC) {
			if (curlwp()->ast & AST_EXIT)
				return -EBUSY;
			preempt_point();
			cpu_pause();
		}
	}
}
