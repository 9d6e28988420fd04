/*
 * clock.c - the system calls that read and set clocks.
 */
#include <kern/clock.h>
#include <kern/proc.h>
#include <kern/sched.h>
#include <kern/syscall.h>
#include <kern/timing.h>
#include <kern/usercopy.h>
#include <weft/time.h>

/*
 * clock_gettime(clock, struct weft_timespec *): gets the time of any clock.  libc reads MONOTONIC
 * and REALTIME from the time page, and needs this call for the CPU-time clocks only.
 * EINVAL: clock, or its LWP or process does not exist; EFAULT: the structure.
 */
int64_t sys_clock_gettime(const uint64_t arg[6])
{
	struct lwp *l = curlwp();
	hrtime_t now = time_now(), v;
	struct mstimes t;

	switch (arg[0]) {
	case WEFT_CLOCK_MONOTONIC:
		v = now;
		break;
	case WEFT_CLOCK_REALTIME:
		v = now + clock_offset();
		break;
	case WEFT_CLOCK_THREAD_CPUTIME:
		lwp_times(l, &t);
		v = t.ms[MS_USER] + ms_system(&t);
		break;
	case WEFT_CLOCK_PROCESS_CPUTIME: {
		struct weft_rusage ru;
		irqstate_t s = spin_lock(&l->proc->lock);
		proc_rusage(l->proc, &ru);
		spin_unlock(&l->proc->lock, s);
		v = ru.utime + ru.stime;
		break;
	}
	case WEFT_CLOCK_PROC(1)... WEFT_CLOCK_PROC(WEFT_PID_MAX): {
		struct weft_rusage ru;
		irqstate_t s = spin_lock(&proc_tree_lock);
		struct proc *p = proc_find(arg[0] - WEFT_CLOCK_PROC(0));
		if (p != NULL) {
			spin_acquire(&p->lock);
			proc_rusage(p, &ru);
			spin_release(&p->lock);
		}
		spin_unlock(&proc_tree_lock, s);
		if (p == NULL)
			return -EINVAL;
		v = ru.utime + ru.stime;
		break;
	}
	default: { /* the CPU time of an LWP */
		uint64_t id = arg[0] - WEFT_CLOCK_LWP(0);
		irqstate_t s = irq_save();
		struct lwp *of = id <= LWP_ID_MAX ? lwp_lock_by_id(l->proc, id) : NULL;
		if (of != NULL) {
			lwp_times(of, &t);
			spin_release(&of->lock);
		}
		irq_restore(s);
		if (of == NULL)
			return -EINVAL;
		v = t.ms[MS_USER] + ms_system(&t);
		break;
	}
	}
	struct weft_timespec ts = {.sec = v / 1000000000, .nsec = v % 1000000000};
	return copyout(arg[1], &ts, sizeof(ts));
}

/*
 * clock_settime(clock, const struct weft_timespec *): sets CLOCK_REALTIME, for all processes.
 * Sleeps and timers with absolute times of it follow the new clock.  May sleep.
 * EINVAL: another clock; the time is not valid, would put the start of the machine before 1970, or
 * is beyond 2^63 nanoseconds after 1970; EFAULT: the time.
 */
int64_t sys_clock_settime(const uint64_t arg[6])
{
	struct weft_timespec ts;
	hrtime_t ns;

	if (copyin(&ts, arg[1], sizeof(ts)) != 0)
		return -EFAULT;
	if (arg[0] != WEFT_CLOCK_REALTIME || ts.sec < 0 || !timespec_ns(&ts, &ns))
		return -EINVAL;
	return clock_set(ns) ? 0 : -EINVAL;
}
