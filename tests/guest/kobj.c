/*
 * kobj.c - kernel objects with handles: results, errors, names, inheritance, abandoned
 * mutexes, and races of waiting for any and for all.
 *
 *	kobj [ROUNDS]
 *	kobj child EVENT MUTEX		(the program that it spawns: handles)
 *	kobj nothing			(another)
 */
#include "rawlwp.h"
#include "tap.h"
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <weft/wait.h>

static uint64_t rounds = 1000;

static long make(uint32_t kind, uint32_t flags, int32_t initial, int32_t max, const char *name)
{
	struct kobj_create c = {kind, flags, initial, max, (uint64_t)name, 0, 0};
	return __sys_kobj_create(&c);
}

static uint32_t made(uint32_t kind, uint32_t flags, int32_t initial, int32_t max)
{
	long h = make(kind, flags, initial, max, NULL);
	if (h <= 0)
		bail("kobj_create: %ld", h);
	return h;
}

static void wait_asleep(uint32_t id)
{
	struct lwp_info info;

	do {
		__sys_lwp_yield();
		if (__sys_lwp_info(__sys_getpid(), id, &info) < 0 || info.id != id)
			return;
	} while (info.state != LWP_ST_SLEEP || strcmp(info.wchan, "kobj") != 0);
}

static void start(struct raw *r, void (*fn)(struct raw *), uint64_t arg)
{
	if (raw_start(r, fn, arg, LWP_SUSPENDED) != 0)
		bail("lwp_create failed");
	__sys_lwp_continue(r->id);
}

/* --- one LWP ------------------------------------------------------------------------------- */

static void creation(void)
{
	char longest[KOBJ_NAME_MAX + 2];

	is("unknown kind: EINVAL", make(4, 0, 0, 0, NULL), -EINVAL);
	is("unknown flags: EINVAL", make(KOBJ_MUTEX, 0x100, 0, 0, NULL), -EINVAL);
	is("a mutex with manual reset: EINVAL", make(KOBJ_MUTEX, KOBJ_MANUAL_RESET, 0, 0, NULL),
	   -EINVAL);
	is("open without a name: EINVAL", make(KOBJ_MUTEX, KOBJ_OPEN, 0, 0, NULL), -EINVAL);
	is("event, set twice: EINVAL", make(KOBJ_EVENT, 0, 2, 0, NULL), -EINVAL);
	is("semaphore, no maximum: EINVAL", make(KOBJ_SEMAPHORE, 0, 0, 0, NULL), -EINVAL);
	is("semaphore, too many: EINVAL", make(KOBJ_SEMAPHORE, 0, 3, 2, NULL), -EINVAL);
	is("semaphore, negative: EINVAL", make(KOBJ_SEMAPHORE, 0, -1, 2, NULL), -EINVAL);
	is("create: EFAULT", __sys_kobj_create((void *)8), -EFAULT);
	is("create, name: EFAULT", make(KOBJ_EVENT, 0, 0, 0, (char *)8), -EFAULT);
	is("empty name: EINVAL", make(KOBJ_EVENT, 0, 0, 0, ""), -EINVAL);
	memset(longest, 'n', sizeof(longest));
	longest[KOBJ_NAME_MAX + 1] = '\0';
	is("long name: ENAMETOOLONG", make(KOBJ_EVENT, 0, 0, 0, longest), -ENAMETOOLONG);
	longest[KOBJ_NAME_MAX] = '\0';
	long h = make(KOBJ_EVENT, 0, 0, 0, longest);
	ok("longest name", h > 0);
	is("close", __sys_kobj_close(h), 0);
	is("close again: EBADF", __sys_kobj_close(h), -EBADF);
	is("close 0: EBADF", __sys_kobj_close(0), -EBADF);
	is("close 5: EBADF", __sys_kobj_close(5), -EBADF);
	is("close, beyond: EBADF", __sys_kobj_close(0xfffffffc), -EBADF);

	/* All that there can be, and all gone again. */
	static uint32_t many[KOBJ_HANDLES_MAX + 1];
	long n = 0;
	for (; n <= KOBJ_HANDLES_MAX; n++) {
		h = make(KOBJ_EVENT, 0, 0, 0, NULL);
		if (h < 0)
			break;
		many[n] = h;
	}
	is("too many handles: EMFILE", h, -EMFILE);
	is("... after as many as may be", n, KOBJ_HANDLES_MAX);
	while (n-- > 0)
		__sys_kobj_close(many[n]);
}

static void one_lwp(void)
{
	uint32_t m = made(KOBJ_MUTEX, 0, 1, 0), e = made(KOBJ_EVENT, 0, 0, 0),
		 manual = made(KOBJ_EVENT, KOBJ_MANUAL_RESET, 1, 0),
		 s = made(KOBJ_SEMAPHORE, 0, 1, 3);
	uint32_t both[2] = {m, e}, twice[2] = {e, e}, bad[2] = {m, 4000};
	struct weft_timespec odd = {0, -1};

	is("mutex: had already", kobj_wait_one(m, 0), 0);
	is("mutex: release", __sys_kobj_mutex_release(m), 0);
	is("mutex: release", __sys_kobj_mutex_release(m), 0);
	is("mutex: EPERM", __sys_kobj_mutex_release(m), -EPERM);
	is("mutex: wait", kobj_wait_one(m, KOBJ_INFINITE), 0);

	is("event: ETIMEDOUT", kobj_wait_one(e, 0), -ETIMEDOUT);
	int64_t before = gethrtime();
	is("event: ETIMEDOUT, later", kobj_wait_one(e, 2), -ETIMEDOUT);
	ok("... not too early", gethrtime() - before >= 2000000);
	is("event: set", __sys_kobj_event_set(e), 0);
	is("event: set again", __sys_kobj_event_set(e), 1);
	is("event: wait", kobj_wait_one(e, KOBJ_INFINITE), 0);
	is("event: reset by that", __sys_kobj_event_reset(e), 0);
	is("event: pulse, nobody waits", __sys_kobj_event_pulse(e), 0);
	is("event: ... and nothing is left", kobj_wait_one(e, 0), -ETIMEDOUT);
	is("manual: wait", kobj_wait_one(manual, 0), 0);
	is("manual: still set", kobj_wait_one(manual, 0), 0);
	is("manual: reset", __sys_kobj_event_reset(manual), 1);
	is("manual: ETIMEDOUT", kobj_wait_one(manual, 0), -ETIMEDOUT);

	is("semaphore: wait", kobj_wait_one(s, 0), 0);
	is("semaphore: ETIMEDOUT", kobj_wait_one(s, 0), -ETIMEDOUT);
	is("semaphore: release 2", __sys_kobj_sema_release(s, 2), 0);
	is("semaphore: EOVERFLOW", __sys_kobj_sema_release(s, 2), -EOVERFLOW);
	is("semaphore: release 1", __sys_kobj_sema_release(s, 1), 2);
	is("semaphore: release 0: EINVAL", __sys_kobj_sema_release(s, 0), -EINVAL);

	is("any: the mutex", kobj_wait_several(both, 2, 0, 0), 0);
	is("all: ETIMEDOUT", kobj_wait_several(both, 2, KOBJ_WAIT_ALL, 0), -ETIMEDOUT);
	__sys_kobj_event_set(e);
	is("all", kobj_wait_several(both, 2, KOBJ_WAIT_ALL, 0), 0);
	is("... the event is had", __sys_kobj_event_reset(e), 0);
	both[0] = manual;
	both[1] = s;
	is("any: the second", kobj_wait_several(both, 2, 0, 0), 1);

	is("wait, twice one: EINVAL", kobj_wait_several(twice, 2, 0, 0), -EINVAL);
	is("wait for none: EINVAL", kobj_wait_several(both, 0, 0, 0), -EINVAL);
	is("wait for too many: EINVAL", kobj_wait_several(both, 65, 0, 0), -EINVAL);
	is("wait, flags: EINVAL", kobj_wait_several(both, 2, 2, 0), -EINVAL);
	is("wait, deadline: EINVAL", __sys_kobj_wait(both, 2, 0, &odd), -EINVAL);
	is("wait, deadline: EFAULT", __sys_kobj_wait(both, 2, 0, (void *)8), -EFAULT);
	is("wait: EFAULT", __sys_kobj_wait((void *)8, 1, 0, 0), -EFAULT);
	is("wait: EBADF", kobj_wait_several(bad, 2, 0, 0), -EBADF);
	is("set a mutex: EINVAL", __sys_kobj_event_set(m), -EINVAL);
	is("reset a mutex: EINVAL", __sys_kobj_event_reset(m), -EINVAL);
	is("pulse a mutex: EINVAL", __sys_kobj_event_pulse(m), -EINVAL);
	is("release an event: EINVAL", __sys_kobj_mutex_release(e), -EINVAL);
	is("units of an event: EINVAL", __sys_kobj_sema_release(e, 1), -EINVAL);
	is("set: EBADF", __sys_kobj_event_set(4000), -EBADF);
	is("release: EBADF", __sys_kobj_mutex_release(4000), -EBADF);
	is("units: EBADF", __sys_kobj_sema_release(4000, 1), -EBADF);
	__sys_kobj_close(m); /* owned: it goes when this LWP does */
	__sys_kobj_close(e);
	__sys_kobj_close(manual);
	__sys_kobj_close(s);
}

static void names(void)
{
	struct kobj_create c = {.kind = KOBJ_SEMAPHORE, .initial = 1, .max = 2, .name = (long)"a"};

	is("open, no such name: ENOENT", make(KOBJ_SEMAPHORE, KOBJ_OPEN, 0, 0, "a"), -ENOENT);
	long first = __sys_kobj_create(&c);
	is("the handle is stored too", c.handle, first);
	is("new", c.existed, 0);
	c.initial = 2;
	long second = __sys_kobj_create(&c);
	is("existed", c.existed, 1);
	ok("another handle", second > 0 && second != first);
	is("the same object", __sys_kobj_sema_release(second, 1), 1);
	is("... by either", __sys_kobj_sema_release(first, 1), -EOVERFLOW);
	is("exclusive: EEXIST", make(KOBJ_SEMAPHORE, KOBJ_NEW, 0, 1, "a"), -EEXIST);
	is("another kind: EINVAL", make(KOBJ_EVENT, 0, 0, 0, "a"), -EINVAL);
	__sys_kobj_close(first);
	long third = make(KOBJ_SEMAPHORE, KOBJ_OPEN, 0, 0, "a");
	ok("open", third > 0);
	__sys_kobj_close(second);
	__sys_kobj_close(third);
	is("gone with the last handle", make(KOBJ_SEMAPHORE, KOBJ_OPEN, 0, 0, "a"), -ENOENT);
}

/* --- several LWPs ----------------------------------------------------------------------------- */

static uint32_t obj[8];
static volatile long result[8];
static volatile uint64_t done;

static void wait_any(struct raw *r)
{
	result[r->arg] = __sys_kobj_wait(obj, 3, 0, 0);
	__atomic_fetch_add(&done, 1, __ATOMIC_RELAXED);
}

static void wait_all(struct raw *r)
{
	result[r->arg] = __sys_kobj_wait(obj, 3, KOBJ_WAIT_ALL, 0);
	__atomic_fetch_add(&done, 1, __ATOMIC_RELAXED);
}

static void sleepers(void)
{
	static struct raw r[3];

	done = 0;
	obj[0] = made(KOBJ_EVENT, 0, 0, 0);
	obj[1] = made(KOBJ_SEMAPHORE, 0, 0, 10);
	obj[2] = made(KOBJ_EVENT, KOBJ_MANUAL_RESET, 0, 0);

	start(&r[0], wait_all, 0);
	wait_asleep(r[0].id);
	start(&r[1], wait_any, 1);
	wait_asleep(r[1].id);
	__sys_kobj_event_set(obj[0]);
	__sys_lwp_wait(r[1].id, NULL);
	is("who waits for all does not hold up who waits for any", result[1], 0);
	__sys_kobj_event_set(obj[0]);
	__sys_kobj_sema_release(obj[1], 1);
	for (int i = 0; i < 20; i++)
		__sys_lwp_yield();
	is("two of three are not all", done, 1);
	is("... and are still there", __sys_kobj_event_set(obj[0]), 1);
	__sys_kobj_event_set(obj[2]);
	__sys_lwp_wait(r[0].id, NULL);
	is("all", result[0], 0);
	is("... had: the event", __sys_kobj_event_reset(obj[0]), 0);
	is("... had: the unit", __sys_kobj_sema_release(obj[1], 1), 0);
	is("... and the manual one stays", __sys_kobj_event_reset(obj[2]), 1);
	kobj_wait_one(obj[1], 0);

	for (int i = 0; i < 3; i++) {
		start(&r[i], wait_any, i);
		wait_asleep(r[i].id);
	}
	__sys_kobj_event_pulse(obj[0]);
	__sys_lwp_wait(r[0].id, NULL);
	is("pulse: the first", result[0], 0);
	is("pulse: only the first", done, 3);
	__sys_kobj_event_pulse(obj[2]);
	__sys_lwp_wait(r[1].id, NULL);
	__sys_lwp_wait(r[2].id, NULL);
	is("pulse, manual: all the others", result[1] + result[2], 4);
	is("... and it is not set", __sys_kobj_event_reset(obj[2]), 0);
	for (int i = 0; i < 3; i++)
		__sys_kobj_close(obj[i]);
}

/* An owner that exits; the waiter has the mutex, and is told. */
static void own_twice(struct raw *r)
{
	kobj_wait_one(obj[0], KOBJ_INFINITE);
	kobj_wait_one(obj[0], KOBJ_INFINITE);
	__sys_kobj_sema_release(obj[1], 1);
	kobj_wait_one(obj[2], KOBJ_INFINITE);
}

static void take_mutex(struct raw *r)
{
	result[0] = kobj_wait_one(obj[0], KOBJ_INFINITE);
	result[1] = __sys_kobj_mutex_release(obj[0]);
	result[2] = __sys_kobj_mutex_release(obj[0]);
}

static void abandoned(void)
{
	static struct raw owner, waiter;

	obj[0] = made(KOBJ_MUTEX, 0, 0, 0);
	obj[1] = made(KOBJ_SEMAPHORE, 0, 0, 1);
	obj[2] = made(KOBJ_EVENT, 0, 0, 0);
	start(&owner, own_twice, 0);
	kobj_wait_one(obj[1], KOBJ_INFINITE);
	is("owned: ETIMEDOUT", kobj_wait_one(obj[0], 1), -ETIMEDOUT);
	is("another's: EPERM", __sys_kobj_mutex_release(obj[0]), -EPERM);
	start(&waiter, take_mutex, 0);
	wait_asleep(waiter.id);
	__sys_kobj_event_set(obj[2]);
	__sys_lwp_wait(owner.id, NULL);
	__sys_lwp_wait(waiter.id, NULL);
	is("abandoned", result[0], KOBJ_ABANDONED);
	is("... had once", result[1], 0);
	is("... EPERM", result[2], -EPERM);
	is("told once only", kobj_wait_one(obj[0], 0), 0);
	__sys_kobj_mutex_release(obj[0]);
	for (int i = 0; i < 3; i++)
		__sys_kobj_close(obj[i]);
}

/* --- races -------------------------------------------------------------------------------------- */

/* Dining: each needs its two neighbouring forks at once. */
#define SEATS 5
static volatile int fork_in_use[SEATS];
static volatile uint64_t meals, clashes;

static void dine(struct raw *r)
{
	int left = r->arg, right = (r->arg + 1) % SEATS;
	uint32_t pair[2] = {obj[left], obj[right]};

	for (uint64_t i = 0; i < rounds; i++) {
		/* Some give up sometimes, which must leave no trace. */
		if (kobj_wait_several(pair, 2, KOBJ_WAIT_ALL, i % 3 ? KOBJ_INFINITE : 0) < 0)
			if (kobj_wait_several(pair, 2, KOBJ_WAIT_ALL, KOBJ_INFINITE) < 0)
				__atomic_fetch_add(&clashes, 1, __ATOMIC_RELAXED);
		if (__atomic_fetch_add(&fork_in_use[left], 1, __ATOMIC_RELAXED) != 0 ||
		    __atomic_fetch_add(&fork_in_use[right], 1, __ATOMIC_RELAXED) != 0)
			__atomic_fetch_add(&clashes, 1, __ATOMIC_RELAXED);
		if (i % 4 == 0)
			__sys_lwp_yield();
		__atomic_fetch_add(&meals, 1, __ATOMIC_RELAXED);
		__atomic_fetch_sub(&fork_in_use[left], 1, __ATOMIC_RELAXED);
		__atomic_fetch_sub(&fork_in_use[right], 1, __ATOMIC_RELAXED);
		if (left % 2) { /* of both kinds */
			__sys_kobj_mutex_release(pair[0]);
			__sys_kobj_sema_release(pair[1], 1);
		} else {
			__sys_kobj_sema_release(pair[0], 1);
			__sys_kobj_mutex_release(pair[1]);
		}
	}
}

static void dining(void)
{
	static struct raw r[SEATS - 1];

	/* Forks 0, 2, 4: semaphores; 1, 3: mutexes; seat 4, between two semaphores, stays empty. */
	for (int i = 0; i < SEATS; i++)
		obj[i] = i % 2 ? made(KOBJ_MUTEX, 0, 0, 0) : made(KOBJ_SEMAPHORE, 0, 1, 1);
	meals = clashes = 0;
	for (int i = 0; i < SEATS - 1; i++)
		start(&r[i], dine, i);
	for (int i = 0; i < SEATS - 1; i++)
		__sys_lwp_wait(r[i].id, NULL);
	is("dining: meals", meals, (SEATS - 1) * rounds);
	is("dining: no fork in two hands", clashes, 0);
	for (int i = 0; i < SEATS; i++) {
		is("dining: all forks are back", kobj_wait_one(obj[i], 0), 0);
		if (i % 2)
			__sys_kobj_mutex_release(obj[i]);
		__sys_kobj_close(obj[i]);
	}
}

/* Units of three semaphores, given and taken by any of them: none is lost or doubled. */
static volatile uint64_t taken_units;

static void give(struct raw *r)
{
	for (uint64_t i = 0; i < rounds; i++)
		while (__sys_kobj_sema_release(obj[(i + r->arg) % 3], 1) == -EOVERFLOW)
			__sys_lwp_yield();
}

static void take(struct raw *r)
{
	for (uint64_t i = 0; i < rounds;) {
		struct weft_timespec soon = {0};
		if (r->arg & 1) {
			int64_t at = gethrtime() + 3000;
			soon = (struct weft_timespec){at / 1000000000, at % 1000000000};
		}
		if (__sys_kobj_wait(obj, 3, 0, r->arg & 1 ? &soon : NULL) >= 0) {
			__atomic_fetch_add(&taken_units, 1, __ATOMIC_RELAXED);
			i++;
		}
	}
}

static void units(void)
{
	static struct raw r[6];

	for (int i = 0; i < 3; i++)
		obj[i] = made(KOBJ_SEMAPHORE, 0, 0, 2);
	taken_units = 0;
	for (int i = 0; i < 6; i++)
		start(&r[i], i < 3 ? give : take, i);
	for (int i = 0; i < 6; i++)
		__sys_lwp_wait(r[i].id, NULL);
	is("units: all taken", taken_units, 3 * rounds);
	for (int i = 0; i < 3; i++) {
		is("units: none is left", kobj_wait_one(obj[i], 0), -ETIMEDOUT);
		__sys_kobj_close(obj[i]);
	}
}

/* --- processes ------------------------------------------------------------------------------------ */

extern char **environ;

/* Dies with the mutex in hand, after it has told its parent. */
static int be_child(const char *event, const char *mutex)
{
	if (kobj_wait_one(atoi(mutex), KOBJ_INFINITE) != 0)
		return 1;
	if (make(KOBJ_EVENT, KOBJ_OPEN, 0, 0, "between us") <= 0)
		return 2;
	return __sys_kobj_event_set(atoi(event)) != 0 ? 3 : 0;
}

static void processes(void)
{
	uint32_t e = made(KOBJ_EVENT, KOBJ_INHERIT, 0, 0), m = made(KOBJ_MUTEX, KOBJ_INHERIT, 0, 0),
		 mine = made(KOBJ_EVENT, 0, 0, 0);
	long named = make(KOBJ_EVENT, 0, 0, 0, "between us");
	char event[12], mutex[12];
	char *const argv[] = {"kobj", "child", event, mutex, NULL};
	int status;
	pid_t pid;

	snprintf(event, sizeof(event), "%u", e);
	snprintf(mutex, sizeof(mutex), "%u", m);
	is("spawn", posix_spawn(&pid, "/bin/kobj", NULL, NULL, argv, environ), 0);
	is("the child sets the event", kobj_wait_one(e, KOBJ_INFINITE), 0);
	waitpid(pid, &status, 0);
	is("... and is well", status, 0);
	is("... and left its mutex", kobj_wait_one(m, KOBJ_INFINITE), KOBJ_ABANDONED);
	__sys_kobj_mutex_release(m);

	snprintf(event, sizeof(event), "%u", mine);
	is("spawn", posix_spawn(&pid, "/bin/kobj", NULL, NULL, argv, environ), 0);
	waitpid(pid, &status, 0);
	is("a handle that is not inherited", WEXITSTATUS(status), 3);

	pid = fork();
	if (pid == 0) {
		kobj_wait_one(m, KOBJ_INFINITE);
		__sys_kobj_event_set(e);
		kobj_wait_one(named, KOBJ_INFINITE); /* EBADF: not inherited */
		long again = make(KOBJ_EVENT, KOBJ_OPEN, 0, 0, "between us");
		kobj_wait_one(again, KOBJ_INFINITE);
		_exit(0);
	}
	is("fork: the child sets the event", kobj_wait_one(e, KOBJ_INFINITE), 0);
	kill(pid, SIGKILL);
	is("... is killed, and leaves its mutex", kobj_wait_one(m, KOBJ_INFINITE), KOBJ_ABANDONED);
	waitpid(pid, &status, 0);
	is("... by that signal", WTERMSIG(status), SIGKILL);
	__sys_kobj_mutex_release(m);
	__sys_kobj_close(e);
	__sys_kobj_close(m);
	__sys_kobj_close(mine);
	__sys_kobj_close(named);
}

/* --- further handles, and ends ----------------------------------------------------------------- */

static void further_handles(void)
{
	uint32_t s = made(KOBJ_SEMAPHORE, 0, 1, 2);
	long h = __sys_kobj_dup(s, 0);

	ok("dup: another handle", h > 0 && h != s);
	__sys_kobj_close(s);
	is("dup: ... which keeps the object", __sys_kobj_sema_release(h, 1), 1);
	is("dup: flags: EINVAL", __sys_kobj_dup(h, KOBJ_OPEN), -EINVAL);
	__sys_kobj_close(h);
	is("dup: EBADF", __sys_kobj_dup(h, 0), -EBADF);
}

/* Owns obj[0], and its end sets obj[1]. */
static void end_with_mutex(struct raw *r)
{
	result[0] = kobj_wait_one(obj[0], KOBJ_INFINITE);
	result[1] = __sys_kobj_at_exit(obj[1], 0);
	result[2] = __sys_kobj_at_exit(obj[1], 0);
	__sys_kobj_close(obj[2]); /* nobody else has a handle to what this sets */
}

static void ends(void)
{
	static struct raw r;
	char *const argv[] = {"kobj", "nothing", NULL};
	struct weft_timespec now = {0};
	pid_t pid;

	obj[0] = made(KOBJ_MUTEX, 0, 0, 0);
	obj[1] = made(KOBJ_EVENT, KOBJ_MANUAL_RESET, 0, 0);
	obj[2] = made(KOBJ_EVENT, 0, 0, 0);
	start(&r, end_with_mutex, 0);
	is("at exit: of the LWP", kobj_wait_one(obj[1], KOBJ_INFINITE), 0);
	is("at exit: its mutex is abandoned by then", __sys_kobj_wait(obj, 1, 0, &now),
	   KOBJ_ABANDONED);
	__sys_kobj_mutex_release(obj[0]);
	__sys_lwp_wait(r.id, NULL);
	is("at exit: an event", result[1], 0);
	is("at exit: EBUSY", result[2], -EBUSY);
	is("at exit: a mutex: EINVAL", __sys_kobj_at_exit(obj[0], 0), -EINVAL);
	is("at exit: EBADF", __sys_kobj_at_exit(obj[2], 0), -EBADF);
	is("at exit: not a child: ESRCH", __sys_kobj_at_exit(obj[1], 1), -ESRCH);
	is("at exit: no such process: ESRCH", __sys_kobj_at_exit(obj[1], 999999), -ESRCH);

	obj[2] = made(KOBJ_EVENT, 0, 0, 0);
	is("spawn", posix_spawn(&pid, "/bin/kobj", NULL, NULL, argv, environ), 0);
	is("at exit: a child", __sys_kobj_at_exit(obj[2], pid), 0);
	is("at exit: of the child", kobj_wait_one(obj[2], KOBJ_INFINITE), 0);
	is("at exit: of the child: its status is there", waitpid(pid, NULL, WNOHANG), pid);
	is("spawn", posix_spawn(&pid, "/bin/kobj", NULL, NULL, argv, environ), 0);
	is("at exit: a child", __sys_kobj_at_exit(obj[2], pid), 0);
	kobj_wait_one(obj[2], KOBJ_INFINITE);
	is("at exit: a child that has ended", __sys_kobj_at_exit(obj[2], pid), 0);
	is("at exit: ... sets it at once", __sys_kobj_wait(&obj[2], 1, 0, &now), 0);
	waitpid(pid, NULL, 0);
	for (int i = 0; i < 3; i++)
		__sys_kobj_close(obj[i]);
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "child") == 0)
		return be_child(argv[2], argv[3]);
	if (argc == 2 && strcmp(argv[1], "nothing") == 0)
		return 0;
	if (argc > 1)
		rounds = strtoull(argv[1], NULL, 10);
	creation();
	one_lwp();
	names();
	sleepers();
	abandoned();
	dining();
	units();
	processes();
	further_handles();
	ends();
	return tap_done();
}
