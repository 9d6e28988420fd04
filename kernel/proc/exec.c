/*
 * exec.c - exec: a process gets another program.
 *
 * The whole new program is loaded into an address space of its own, while the old one still
 * exists.  Until then any error leaves the process as it was.  Then the other LWPs get
 * AST_EXIT.  When the caller is alone, no further step can fail, and it replaces the old
 * address space by the new one.
 *
 * The process keeps its pid, parent, group, descriptors without FD_CLOEXEC, current directory,
 * signal mask and ignored signals, scheduling class and times.
 */
#include <kern/cpu.h>
#include <kern/exec.h>
#include <kern/ksync.h>
#include <kern/printk.h>
#include <kern/probe.h>
#include <kern/proc.h>
#include <kern/sched.h>
#include <kern/space.h>
#include <kern/timing.h>
#include <weft/errno.h>
#include "impl.h"

/*
 * Makes the caller the only LWP of its process; no LWP can be added.  May sleep.  -EINTR: the
 * process is ending, or another LWP has called exec earlier; the caller then has AST_EXIT.
 */
static int become_single(struct proc *p)
{
	struct lwp *me = curlwp();

	irqstate_t s = spin_lock(&p->lock);
	if (p->exiting || p->single) {
		proc_post_exit_self();
		spin_unlock(&p->lock, s);
		return -EINTR;
	}
	p->single = true;
	proc_post_exit(p, me, &s);
	/* lwp_exit_self wakes the caller for each exiting LWP.  No signal ends this sleep, because
	 * an exec that failed now would have ended the other LWPs for nothing. */
	int err = 0;
	while (p->nlwp > 1 && err == 0)
		err = waitq_sleep(&p->lwp_waiters, &p->lock, HRTIME_NEVER, SLEEP_KILL);
	if (err != 0)
		p->single = false;
	spin_unlock(&p->lock, s);
	if (err == 0)
		proc_free_zombies(p);
	return err;
}

/* Replaces the old program by the new one.  Nothing fails from here on. */
static void take_over(struct proc *p, struct address_space *as, struct sc_page *sc,
		      const char *path, const struct exec_strings *strings,
		      const struct lwp_create *first)
{
	struct lwp *l = curlwp();
	struct address_space *old = p->as;

	irqstate_t s = spin_lock(&p->lock);
	limits_apply(p, as); /* another LWP may have changed a limit in the meantime */
	p->rss_before = MAX(p->rss_before, as_rss_max(old));
	p->as = as;
	as_switch(as);
	lwp_begin_anew(p);
	PROBE(exec, "lwp process id", l, p, l->id);
	upcall_exec(p);
	schedctl_restart(p, l, sc);
	proc_set_name(p, path);
	proc_set_args(p, strings);
	PROBE(process_name, "process name name", p, PROBE_CHARS(p->name, 0),
	      PROBE_CHARS(p->name, 1));
	p->single = false;
	__atomic_store_n(&p->execed, true, __ATOMIC_RELAXED);
	lwp_init_frame(l, first->entry, first->stack);
	lwp_init_fpu(l);
	__asm__ volatile("fxrstor64 %0" ::"m"(l->fpu));
	__asm__ volatile("wrfsbase %0" ::"r"(0ull));
	__asm__ volatile("swapgs; wrgsbase %0; swapgs" ::"r"(0ull));
	spin_unlock(&p->lock, s);
	as_destroy(old);
}

int proc_exec(const char *path, const struct exec_strings *strings)
{
	struct proc *p = curproc();
	struct lwp_create first = {0};
	struct sc_page *sc = NULL;

	struct address_space *as = as_create();
	if (as == NULL)
		return -ENOMEM;
	irqstate_t s = spin_lock(&p->lock);
	limits_apply(p, as);
	spin_unlock(&p->lock, s);
	int err = proc_load(as, &p->files, path, strings, &first);
	if (err == 0) {
		sc = schedctl_first_page(as);
		err = sc != NULL ? become_single(p) : -ENOMEM;
	}
	if (err != 0) {
		if (sc != NULL)
			schedctl_free_page(sc);
		as_destroy(as);
		return err;
	}
	robust_proc_exit(p);
	inherit_exec(curlwp());
	curlwp()->robust = false;
	kobj_lwp_exit(curlwp());
	kobj_close_all(&p->kobjs, true);
	s = spin_lock(&p->lock);
	p->began = time_now(); /* before another process can see that descriptors have closed */
	spin_unlock(&p->lock, s);
	fdtable_close_on_exec(&p->files);
	sig_exec(p, curlwp());
	take_over(p, as, sc, path, strings, &first);
	return 0;
}
