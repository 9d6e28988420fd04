/*
 * msacct.c - reading the microstates (weft/msacct.h) of an LWP and of a process.
 *
 * lwp_mstate_at writes the states without a lock, on the path of every system call.  A reader
 * knows by their sum that it did not look in the middle of a change.  The process keeps the sums
 * of its dead LWPs.
 */
#include <kern/cpu.h>
#include <kern/proc.h>
#include <kern/sched.h>
#include <kern/space.h>
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

	/* The current state is the state below zero: no LWP has been in a state for longer than
	 * the time at which it last entered this state. */
	t->now = time_now();
	for (unsigned i = 0; i < NMSTATE; i++)
		if ((int64_t)t->ms[i] < 0) {
			/* In exact timing the clock of the LWP's CPU may be ahead of ours. */
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

/*
 * If a process has a timer of its CPU time, an interrupt reads this time up to a thousand times a
 * second.  The cost of a walk over all its LWPs would grow with their number.  So each LWP adds
 * the time that it has used to the sums of the process when it leaves a CPU.  A reader adds the
 * time of the LWPs that are on a CPU now.
 *
 * *Race:* an LWP charges while a reader looks; *without this:* the reader counts the same time
 * twice, and a timer expires early; *closed by:* the LWP writes l->charged before the sum, and
 * the reader reads the sum first.  So a time may be missing; the next look has it.
 */
void sums_charge(struct lwp *l, hrtime_t now)
{
	struct proc_timers *t = &l->proc->timers;
	uint64_t used[NCPUTIME] = {l->mtime[MS_USER] + (l->mstate == MS_USER ? now : 0)};

	for (unsigned i = MS_SYSTEM; i <= MS_KFAULT; i++)
		used[IN_SYSTEM] += l->mtime[i] + (l->mstate == i ? now : 0);
	for (unsigned i = 0; i < NCPUTIME; i++) {
		uint64_t since = used[i] - l->charged[i];
		__atomic_store_n(&l->charged[i], used[i], __ATOMIC_RELAXED);
		/* Release: a reader that sees this time in the sum sees it in l->charged, too. */
		__atomic_fetch_add(&t->sums[i], since, __ATOMIC_RELEASE);
	}
}

/* The time that l has used since it charged.  l stays an LWP meanwhile. */
static void sums_uncharged(const struct lwp *l, uint64_t used[NCPUTIME])
{
	struct mstimes t;

	for (unsigned i = 0; i < NCPUTIME; i++)
		used[i] = -__atomic_load_n(&l->charged[i], __ATOMIC_ACQUIRE);
	lwp_times(l, &t);
	used[IN_USER] += t.ms[MS_USER];
	used[IN_SYSTEM] += ms_system(&t);
}

void sums_begin(struct proc *p)
{
	struct proc_timers *t = &p->timers;

	assert(spin_held(&p->lock));
	if (t->summed)
		return;
	t->summed = true;
	t->sums[IN_USER] = p->dead_times.ms[MS_USER];
	t->sums[IN_SYSTEM] = ms_system(&p->dead_times);
	LIST_FOREACH (&p->lwps, l, struct lwp, proc_link) {
		uint64_t used[NCPUTIME];
		memset(l->charged, 0, sizeof(l->charged));
		sums_uncharged(l, used);
		for (unsigned i = 0; i < NCPUTIME; i++) {
			l->charged[i] = used[i];
			__atomic_fetch_add(&t->sums[i], used[i], __ATOMIC_RELAXED);
		}
		/* Release: from here on l charges, and starts from these values. */
		__atomic_store_n(&l->summed, true, __ATOMIC_RELEASE);
	}
}

/*
 * *Race:* an LWP moves from one CPU to another while the reader looks at both; *without this:* the
 * reader counts its time twice; *closed by:* a second look whether the LWP is still on the first
 * CPU.  If so, the LWP charges at least the time counted here before it runs on the second CPU.
 */
void sums_now(struct proc *p, uint64_t used[NCPUTIME])
{
	assert(spin_held(&p->lock) && p->timers.summed);
	for (unsigned i = 0; i < NCPUTIME; i++)
		used[i] = __atomic_load_n(&p->timers.sums[i], __ATOMIC_ACQUIRE);
	for (unsigned i = 0; i < ncpu; i++) {
		const struct lwp *l = __atomic_load_n(&cpus[i]->lwp, __ATOMIC_ACQUIRE);
		uint64_t more[NCPUTIME];
		/* p->lock is held: an LWP of p stays an LWP of p. */
		if (l->proc != p || !l->summed)
			continue;
		sums_uncharged(l, more);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (__atomic_load_n(&cpus[i]->lwp, __ATOMIC_RELAXED) != l)
			continue;
		used[IN_USER] += more[IN_USER];
		used[IN_SYSTEM] += more[IN_SYSTEM];
	}
}

void proc_account_dead(struct proc *p, struct lwp *l)
{
	struct mstimes *dead = &p->dead_times;
	hrtime_t now = time_now();

	if (l->summed) {
		sums_charge(l, now);
		l->summed = false; /* its time from here on is not counted */
	}
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
