/*
 * lwp_calls.c - every system call on LWPs, with good and bad arguments.
 */
#include "rawlwp.h"
#include "tap.h"
#include <time.h>
#include <weft/start.h>

#define KERNEL_ADDR ((void *)0xffff800000000000ull)

static volatile uint32_t go, count, seen_arg;

static void wait_for(volatile uint32_t *p, uint32_t v)
{
	while (__atomic_load_n(p, __ATOMIC_ACQUIRE) != v)
		__sys_lwp_yield();
}

static void note_arg(struct raw *r)
{
	__atomic_store_n(&seen_arg, r->arg, __ATOMIC_RELEASE);
}

static void wait_go(struct raw *r)
{
	wait_for(&go, 1);
}

static void park_once(struct raw *r)
{
	r->arg = __sys_lwp_park(NULL, 0);
	__atomic_fetch_add(&count, 1, __ATOMIC_SEQ_CST);
}

static void spin_count(struct raw *r)
{
	while (!__atomic_load_n(&go, __ATOMIC_ACQUIRE))
		__atomic_fetch_add(&count, 1, __ATOMIC_SEQ_CST);
}

static void create_and_wait(void)
{
	static struct raw r;
	int departed = 0;

	is("create", raw_start(&r, note_arg, 77, 0), 0);
	ok("create: id", r.id > 1);
	is("wait", __sys_lwp_wait(r.id, &departed), 0);
	is("wait: departed", departed, r.id);
	is("create: argument", seen_arg, 77);
	is("wait: gone", __sys_lwp_wait(r.id, NULL), -ESRCH);

	is("create: NULL", __sys_lwp_create(NULL), -EFAULT);
	is("create: kernel address", __sys_lwp_create(KERNEL_ADDR), -EFAULT);
	struct lwp_create c = {.entry = (uint64_t)note_arg, .flags = 0x8000};
	is("create: flags", __sys_lwp_create(&c), -EINVAL);
	c = (struct lwp_create){.entry = (uint64_t)KERNEL_ADDR};
	is("create: entry in the kernel", __sys_lwp_create(&c), -EINVAL);
	c = (struct lwp_create){.entry = 0x400000, .fsbase = (uint64_t)KERNEL_ADDR};
	is("create: thread pointer in the kernel", __sys_lwp_create(&c), -EINVAL);

	is("wait: self", __sys_lwp_wait(__sys_lwp_self(), NULL), -EDEADLK);
	is("wait: no such", __sys_lwp_wait(1000, NULL), -ESRCH);
	is("wait: absurd id", __sys_lwp_wait(0xffffffff, NULL), -ESRCH);
	is("wait: any, but none", __sys_lwp_wait(0, NULL), -EDEADLK);

	raw_start(&r, note_arg, 78, 0);
	is("wait: any", __sys_lwp_wait(0, &departed), 0);
	is("wait: any: departed", departed, r.id);
	raw_start(&r, note_arg, 79, 0);
	is("wait: bad pointer", __sys_lwp_wait(r.id, (int *)KERNEL_ADDR), -EFAULT);
	is("wait: bad pointer: reaped", __sys_lwp_wait(r.id, NULL), -ESRCH);
}

static void detached(void)
{
	static struct raw a, b;

	go = 0;
	raw_start(&a, wait_go, 0, LWP_DETACHED);
	is("wait: detached", __sys_lwp_wait(a.id, NULL), -EINVAL);
	is("detach: twice", __sys_lwp_detach(a.id), -EINVAL);
	raw_start(&b, wait_go, 0, 0);
	is("detach", __sys_lwp_detach(b.id), 0);
	is("wait: detached later", __sys_lwp_wait(b.id, NULL), -EINVAL);
	is("detach: no such", __sys_lwp_detach(1000), -ESRCH);
	__atomic_store_n(&go, 1, __ATOMIC_RELEASE);
	while (__sys_lwp_kill(a.id, 0) == 0 || __sys_lwp_kill(b.id, 0) == 0)
		__sys_lwp_yield();
	is("kill: after exit", __sys_lwp_kill(a.id, 0), -ESRCH);
	is("kill: signal number", __sys_lwp_kill(__sys_lwp_self(), 99), -EINVAL);

	/* Detached after it has exited: its id is free. */
	raw_start(&b, note_arg, 0, 0);
	struct lwp_info info;
	while (__sys_lwp_info(0, b.id, &info) == (long)b.id && info.state != LWP_ST_ZOMB)
		__sys_lwp_yield();
	is("detach: exited", __sys_lwp_detach(b.id), 0);
	is("detach: exited: gone", __sys_lwp_wait(b.id, NULL), -ESRCH);
}

static void park(void)
{
	static struct raw r;
	struct weft_timespec ts;

	is("unpark: self first", __sys_lwp_unpark(__sys_lwp_self()), 0);
	is("unpark: twice", __sys_lwp_unpark(__sys_lwp_self()), 0);
	is("park: permit", __sys_lwp_park(NULL, 0), 0);
	int64_t now = gethrtime(), until = now + 3000000;
	ts = (struct weft_timespec){until / 1000000000, until % 1000000000};
	is("park: one permit only, time-out", __sys_lwp_park(&ts, 0), -ETIMEDOUT);
	ok("park: not before its time", gethrtime() >= until);
	is("park: time-out in the past", __sys_lwp_park(&ts, 0), -ETIMEDOUT);
	ts = (struct weft_timespec){-5, 0};
	is("park: negative time", __sys_lwp_park(&ts, 0), -ETIMEDOUT);
	ts = (struct weft_timespec){0, 1000000000};
	is("park: nanoseconds", __sys_lwp_park(&ts, 0), -EINVAL);
	ts.nsec = -1;
	is("park: negative nanoseconds", __sys_lwp_park(&ts, 0), -EINVAL);
	is("park: bad pointer", __sys_lwp_park(KERNEL_ADDR, 0), -EFAULT);
	ts = (struct weft_timespec){0, 0};
	is("park: unpark no such", __sys_lwp_park(&ts, 1000), -ESRCH);
	is("unpark: no such", __sys_lwp_unpark(1000), -ESRCH);
	is("unpark: 0", __sys_lwp_unpark(0), -ESRCH);

	count = 0;
	raw_start(&r, park_once, 99, 0);
	ts = (struct weft_timespec){0, 0};
	is("park: unparks another", __sys_lwp_park(&ts, r.id), -ETIMEDOUT);
	is("park: unparks another: wait", __sys_lwp_wait(r.id, NULL), 0);
	is("park: unparks another: result", r.arg, 0);
	is("park: oneself unparked", __sys_lwp_park(NULL, __sys_lwp_self()), 0);

	struct raw some[10] = {0};
	uint32_t ids[11];
	count = 0;
	for (int i = 0; i < 10; i++) {
		raw_start(&some[i], park_once, 0, 0);
		ids[i] = some[i].id;
	}
	ids[10] = 5000;
	is("unpark_all: one is none", __sys_lwp_unpark_all(ids, 11), -ESRCH);
	for (int i = 0; i < 10; i++)
		__sys_lwp_wait(ids[i], NULL);
	is("unpark_all: all woke", count, 10);
	is("unpark_all: none", __sys_lwp_unpark_all(NULL, 0), 0);
	is("unpark_all: bad pointer", __sys_lwp_unpark_all(KERNEL_ADDR, 3), -EFAULT);
	is("unpark_all: absurd count", __sys_lwp_unpark_all(ids, -1), -EINVAL);
	for (int i = 0; i < 10; i++)
		free(some[i].stack);
}

static void suspend(void)
{
	static struct raw r;

	go = count = 0;
	is("create suspended", raw_start(&r, spin_count, 0, LWP_SUSPENDED), 0);
	is("suspended: state", r.sc->state, SC_STOPPED);
	for (int i = 0; i < 50; i++)
		__sys_lwp_yield();
	is("suspended: does not run", count, 0);
	is("continue", __sys_lwp_continue(r.id), 0);
	while (__atomic_load_n(&count, __ATOMIC_ACQUIRE) < 100)
		__sys_lwp_yield();
	int moved = 0;
	for (int i = 0; i < 200; i++) {
		if (__sys_lwp_suspend(r.id) != 0)
			bail("lwp_suspend failed");
		uint32_t before = __atomic_load_n(&count, __ATOMIC_SEQ_CST);
		for (int k = 0; k < 20; k++)
			__sys_lwp_yield();
		moved += __atomic_load_n(&count, __ATOMIC_SEQ_CST) != before;
		__sys_lwp_continue(r.id);
	}
	is("suspend: no instruction after it", moved, 0);
	is("suspend: twice is once", __sys_lwp_suspend(r.id) | __sys_lwp_suspend(r.id), 0);
	__sys_lwp_continue(r.id);
	__atomic_store_n(&go, 1, __ATOMIC_RELEASE);
	is("suspend: goes on", __sys_lwp_wait(r.id, NULL), 0);
	is("suspend: no such", __sys_lwp_suspend(r.id), -ESRCH);
	is("continue: no such", __sys_lwp_continue(r.id), -ESRCH);

	/* A parked LWP: the permit waits until it is continued. */
	count = 0;
	raw_start(&r, park_once, 0, 0);
	while (r.sc->state != SC_SLEEPING)
		__sys_lwp_yield();
	__sys_lwp_suspend(r.id);
	__sys_lwp_unpark(r.id);
	for (int i = 0; i < 100; i++)
		__sys_lwp_yield();
	is("suspend: parked, unparked: stays", count, 0);
	__sys_lwp_continue(r.id);
	is("suspend: parked: goes on", __sys_lwp_wait(r.id, NULL), 0);
}

static void sleeping(void)
{
	struct weft_timespec ts = {0, 5000000};
	int64_t start = gethrtime();

	is("sleep", __sys_lwp_sleep(WEFT_CLOCK_MONOTONIC, 0, &ts), 0);
	int64_t took = gethrtime() - start;
	ok("sleep: long enough", took >= 5000000);
	start = gethrtime() + 2000000;
	ts = (struct weft_timespec){start / 1000000000, start % 1000000000};
	is("sleep: absolute", __sys_lwp_sleep(WEFT_CLOCK_MONOTONIC, LWP_SLEEP_ABSTIME, &ts), 0);
	ok("sleep: absolute: long enough", gethrtime() >= start);
	struct weft_timespec real;
	is("clock_gettime", __sys_clock_gettime(WEFT_CLOCK_REALTIME, &real), 0);
	ok("clock_gettime: this century", real.sec > 1500000000);
	is("sleep: absolute real time",
	   __sys_lwp_sleep(WEFT_CLOCK_REALTIME, LWP_SLEEP_ABSTIME, &real), 0);
	is("sleep: clock", __sys_lwp_sleep(77, 0, &ts), -EINVAL);
	is("sleep: flags", __sys_lwp_sleep(WEFT_CLOCK_MONOTONIC, 8, &ts), -EINVAL);
	is("sleep: NULL", __sys_lwp_sleep(WEFT_CLOCK_MONOTONIC, 0, NULL), -EFAULT);
	is("clock_gettime: clock", __sys_clock_gettime(0, &ts), -EINVAL);
	is("clock_gettime: pointer", __sys_clock_gettime(WEFT_CLOCK_MONOTONIC, KERNEL_ADDR),
	   -EFAULT);
	struct weft_timespec a, b;
	__sys_clock_gettime(WEFT_CLOCK_THREAD_CPUTIME, &a);
	for (volatile int i = 0; i < 100000; i++)
		;
	__sys_clock_gettime(WEFT_CLOCK_THREAD_CPUTIME, &b);
	ok("clock_gettime: CPU time grows",
	   b.sec * 1000000000 + b.nsec > a.sec * 1000000000 + a.nsec);
}

static void information(void)
{
	struct lwp_info info;
	int self = __sys_lwp_self();

	is("lwp_info", __sys_lwp_info(0, self, &info), self);
	is("lwp_info: state", info.state, LWP_ST_ONPROC);
	ok("lwp_info: class", strcmp(info.sclass, "TS") == 0);
	is("lwp_info: first", __sys_lwp_info(0, 0, &info), 1);
	is("lwp_info: past the last", __sys_lwp_info(0, 100000, &info), -ESRCH);
	is("lwp_info: no such process", __sys_lwp_info(99999, 1, &info), -ESRCH);
	is("lwp_info: pointer", __sys_lwp_info(0, 1, KERNEL_ADDR), -EFAULT);
	struct schedctl *sc = (struct schedctl *)__sys_lwp_schedctl();
	is("schedctl: mine", sc->lwpid, self);
	is("schedctl: on a CPU", sc->state, SC_ONCPU);
	is("no such call", __syscall3(79, 0, 0, 0), -ENOSYS);
	is("no such call, absurd", __syscall3(-1, 0, 0, 0), -ENOSYS);
	is("null", __sys_null(), 0);
}

int main(void)
{
	create_and_wait();
	detached();
	park();
	suspend();
	sleeping();
	information();
	return tap_done();
}
