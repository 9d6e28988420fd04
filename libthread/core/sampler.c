/*
 * sampler.c - an LWP of the library's own that looks at the threads every few milliseconds, for
 * `weft monitor --sample` (sample=MS).
 *
 * "ThreadMon wakes up every 10 milliseconds, gathers data, and forwards that data"; "the monitor
 * exists as its own thread bound to its own LWP" (ThreadMon paper, 4.2).  So its cost depends on
 * the number of threads, and not on what they do.
 *
 * A sample has the CPUs and LWPs, which the kernel records when the sleep ends (LWP_SLEEP_SAMPLE),
 * and then the threads, one record each.  They forward themselves by probe points (probe.h): where
 * nothing is traced, this LWP only looks.
 */
#include <weft/priocntl.h>
#include <weft/sys.h>
#include <weft/time.h>
#include "core.h"
#include "model.h"
#include "probe.h"

#define MS_NS 1000000ul
#define SECOND_NS 1000000000ul
#define SCATTER 0x9e3779b97f4a7c15ul /* 2^64 over the golden ratio: multiples lie evenly */
#define RT_PRI_MAX 59                /* weft/priocntl.h */

static struct thread *sampler; /* written before main */

/* Acquires all locks of threads, then the model's locks. */
static void threads_sample(uint64_t pid)
{
	struct thread *t;

	/*
	 * *Race:* thread A hands its LWP to thread B; the sampler has read A before, and reads B
	 * after.  *Without this:* the sample has two threads on one LWP.  *Closed by:* the model's
	 * locks, under which threads move.
	 */
	__threads_lock_all();
	__ops->before_fork();
	t = __thread_list;
	do {
		uint64_t id = pid << 32 | t->id;
		uint64_t at = t->state | (uint64_t)t->lwp->id << 8;

		if (t->id != 0 && !t->exited)
			PROBE(sample_thread, "of at wchan", id, at, t->wchan);
		t = t->list_next;
	} while (t != __thread_list);
	__ops->after_fork();
	__threads_unlock_all();
}

/*
 * *Race:* the time of a sample has come, and all CPUs are busy.  *Without this:* the sampler waits
 * until an LWP blocks, and so it sees threads in the moments after a thread has blocked, again and
 * again.  *Closed by:* the highest priority that there is, with which it takes a CPU at once.
 */
static void sampler_goes_first(void)
{
	struct pcparms highest = {.pc_cid = WEFT_CLASS_RT,
				  .rt = {.rt_pri = RT_PRI_MAX, .rt_tqnsecs = RT_TQINF}};

	__sys_priocntl(WEFT_P_LWPID, WEFT_P_MYID, PC_SETPARMS, &highest);
}

/*
 * One moment in each period, anywhere in it: moments at equal distances could keep step with the
 * program, or with the kernel's ticks, and would see the same part of its work again and again.
 * Periods that the sampler has missed are left out.
 */
static void __attribute__((noreturn)) sampler_main(struct thread *self)
{
	const uint64_t period = (uint64_t)__options.sample * MS_NS;
	uint64_t pid = __sys_getpid(), number, when;
	struct weft_timespec next;

	sampler_goes_first();
	for (;;) {
		__sys_clock_gettime(WEFT_CLOCK_MONOTONIC, &next);
		number = (next.sec * SECOND_NS + next.nsec) / period + 1;
		when = number * period + (number * SCATTER >> 32) * period / (1ul << 32);
		next = (struct weft_timespec){when / SECOND_NS, when % SECOND_NS};
		__sys_lwp_sleep(WEFT_CLOCK_MONOTONIC, LWP_SLEEP_ABSTIME | LWP_SLEEP_SAMPLE, &next);
		threads_sample(pid);
	}
}

/* Before main.  Without the memory for it there are no samples, and the program runs. */
void __sampler_start(void)
{
	if (__options.sample != 0)
		__service_start(sampler_main, "monitor", &sampler);
}

/* In a child of fork, which has no sampler, as it has no other LWP of its parent. */
void __sampler_forked(void)
{
	__service_forgotten(sampler);
	sampler = NULL;
}
