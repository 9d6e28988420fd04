/*
 * msacct.c - reading the microstates (weft/msacct.h) of an LWP and of a process.
 *
 * The states are written by lwp_mstate_at without a lock, on the path of every system
 * call; a reader knows by their sum that it did not look in the middle of a change.
 * What dead LWPs had is summed up in the process.
 */
#include <kern/cpu.h>
#include <kern/proc.h>
#include <kern/sched.h>
#include <kern/timing.h>

void lwp_times(const struct lwp *l, struct mstimes *t)
{
	uint64_t sum;

	do {
		sum = l->created;
		for (unsigned i = 0; i < NMSTATE; i++) {
			t->ms[i] = __atomic_load_n(&l->mtime[i], __ATOMIC_RELAXED);
			sum += t->ms[i];
		}
	} while (sum != 0 && (cpu_pause(), true));

	/* The current state is the one below zero: no LWP has been in a state for longer
	 * than the time at which it last entered it. */
	t->now = time_now();
	for (unsigned i = 0; i < NMSTATE; i++)
		if ((int64_t)t->ms[i] < 0) {
			/* In exact timing the LWP's CPU may be ahead of this one. */
			if ((int64_t)(t->ms[i] + t->now) < 0)
				t->now = -t->ms[i];
			t->ms[i] += t->now;
			break;
		}
	t->elapsed = t->now - l->created;
}

uint64_t ms_system(const struct mstimes *t)
{
	uint64_t sum = 0;
	for (unsigned i = MS_SYSTEM; i <= MS_KFAULT; i++)
		sum += t->ms[i];
	return sum;
}

static void add_times(struct mstimes *to, const struct mstimes *t)
{
	to->now = MAX(to->now, t->now);
	to->elapsed += t->elapsed;
	for (unsigned i = 0; i < NMSTATE; i++)
		to->ms[i] += t->ms[i];
}

static void add_counts(struct lwp_counts *to, const struct lwp *l)
{
	to->nvcsw += l->nvcsw;
	to->nivcsw += l->nivcsw;
	to->nsyscall += l->nsyscall;
	to->minflt += l->minflt;
}

void proc_account_dead(struct proc *p, const struct lwp *l)
{
	struct mstimes *dead = &p->dead_times;
	hrtime_t now = time_now();

	dead->ms[l->mstate] += now;
	for (unsigned i = 0; i < NMSTATE; i++)
		dead->ms[i] += l->mtime[i];
	dead->elapsed += now - l->created;
	add_counts(&p->dead_counts, l);
}

void proc_times(struct proc *p, struct mstimes *times, struct lwp_counts *counts)
{
	*times = p->dead_times;
	*counts = p->dead_counts;
	times->now = time_now();
	LIST_FOREACH (&p->lwps, l, struct lwp, proc_link) {
		struct mstimes t;
		lwp_times(l, &t);
		add_times(times, &t);
		add_counts(counts, l);
	}
}

void proc_rusage(struct proc *p, struct weft_rusage *ru)
{
	struct mstimes t;
	struct lwp_counts c;

	proc_times(p, &t, &c);
	*ru = (struct weft_rusage){
		.utime = t.ms[MS_USER],
		.stime = ms_system(&t),
		.nvcsw = c.nvcsw,
		.nivcsw = c.nivcsw,
		.minflt = c.minflt,
		.maxrss = MAX(p->rss_before, p->as != NULL ? as_rss_max(p->as) : 0) * PAGE_SIZE,
		.nsignals = p->nsignals,
	};
}
