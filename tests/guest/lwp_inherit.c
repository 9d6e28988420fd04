/*
 * lwp_inherit.c - mutexes in user memory whose owner inherits (LWP_MUTEX_INHERIT), and
 * lwp_ceiling: results, errors, which LWP inherits which priority and until when, handing over,
 * races.
 *
 * lwp_inherit [ROUNDS]
 */
#include "rawlwp.h"
#include "tap.h"
#include <weft/ksync.h>
#include <weft/priocntl.h>
#include <weft/start.h>

#define RT_FIRST 100 /* the global priority of real-time 0 */

static uint64_t rounds = 500;

static const struct weft_timespec past = {1, 0};
static struct lwp_mutex m[3];
static volatile long result[4];
static volatile int patience = -1; /* ns; of the next sleeper */

static long real_time(uint32_t id, int pri)
{
	struct pcparms p = {.pc_cid = WEFT_CLASS_RT};

	p.rt = (struct rtparms){.rt_pri = pri, .rt_tqnsecs = RT_TQINF};
	return __sys_priocntl(WEFT_P_LWPID, id, PC_SETPARMS, &p);
}

static int priority(uint32_t id)
{
	struct lwp_info info = {0};

	__sys_lwp_info(__sys_getpid(), id, &info);
	return info.pri;
}

/* Takes m[arg] in the kernel, as it is its second one if `arg` is above 0. */
static void sleeps(struct raw *r)
{
	if (r->arg > 0)
		__sys_lwp_mutex_lock(&m[r->arg], 0);
	long err;
	if (patience >= 0) {
		int64_t at = gethrtime() + patience;
		struct weft_timespec until = {at / 1000000000, at % 1000000000};
		err = __sys_lwp_mutex_timedlock(&m[0], 0, &until);
	} else {
		err = __sys_lwp_mutex_lock(&m[0], 0);
	}
	result[r->arg] = err;
	if (err == 0 || err == -EOWNERDEAD)
		__sys_lwp_mutex_unlock(&m[0], 0);
	if (r->arg > 0)
		__sys_lwp_mutex_unlock(&m[r->arg], 0);
}

static void owns(struct raw *r)
{
	result[3] = __sys_lwp_mutex_lock(&m[0], 0);
	__sys_lwp_park(NULL, 0); /* it may be lent so much that a loop would let nobody else run */
}

static void begin(struct raw *r, void (*fn)(struct raw *), int arg, int pri, const char *wchan)
{
	if (raw_start(r, fn, arg, LWP_SUSPENDED) != 0 || real_time(r->id, pri) < 0)
		bail("lwp_create failed");
	__sys_lwp_continue(r->id);
	if (wchan != NULL)
		raw_wait_asleep(r->id, wchan);
}

static void end(struct raw *r)
{
	__sys_lwp_wait(r->id, NULL);
}

static void results(void)
{
	uint64_t mine = lwp_mutex_owner(__sys_getpid(), __sys_lwp_self());

	m[0].word = LWP_MUTEX_INHERIT;
	is("unlock, free: EPERM", __sys_lwp_mutex_unlock(&m[0], 0), -EPERM);
	is("lock", __sys_lwp_mutex_lock(&m[0], 0), 0);
	is("the word", m[0].word, LWP_MUTEX_INHERIT | mine);
	is("trylock: EBUSY", __sys_lwp_mutex_trylock(&m[0], 0), -EBUSY);
	is("timedlock: ETIMEDOUT", __sys_lwp_mutex_timedlock(&m[0], 77, &past), -ETIMEDOUT);
	is("it leaves no trace", m[0].word, LWP_MUTEX_INHERIT | mine);
	is("its owner waits for it: ETIMEDOUT", __sys_lwp_mutex_timedlock(&m[0], 0, &past),
	   -ETIMEDOUT);
	is("unlock, another's: EPERM", __sys_lwp_mutex_unlock(&m[0], 77), -EPERM);
	is("unlock", __sys_lwp_mutex_unlock(&m[0], 0), 0);
	is("free", m[0].word, LWP_MUTEX_INHERIT);
	m[0].word |= LWP_MUTEX_ERRORCHECK;
	__sys_lwp_mutex_lock(&m[0], 0);
	is("error check: EDEADLK", __sys_lwp_mutex_lock(&m[0], 0), -EDEADLK);
	/* An owner that nobody knows, here and in another process. */
	m[0].word = LWP_MUTEX_INHERIT | lwp_mutex_owner(__sys_getpid(), 4711);
	is("no such LWP: ETIMEDOUT", __sys_lwp_mutex_timedlock(&m[0], 0, &past), -ETIMEDOUT);
	m[0].word = LWP_MUTEX_INHERIT | lwp_mutex_owner(4711, 1);
	is("no such process: ETIMEDOUT", __sys_lwp_mutex_timedlock(&m[0], 0, &past), -ETIMEDOUT);
	m[0].word = LWP_MUTEX_INHERIT | lwp_mutex_owner(1, 1);
	is("another process: ETIMEDOUT", __sys_lwp_mutex_timedlock(&m[0], 0, &past), -ETIMEDOUT);
}

static void ceilings(void)
{
	uint32_t me = __sys_lwp_self();
	int own = priority(me);

	is("lwp_ceiling: too high", __sys_lwp_ceiling(60, -1), -EINVAL);
	is("lwp_ceiling: too low", __sys_lwp_ceiling(-2, -1), -EINVAL);
	is("lwp_ceiling: the limit", __sys_lwp_ceiling(1, 60) | __sys_lwp_ceiling(1, -2), -EINVAL);
	is("lwp_ceiling", __sys_lwp_ceiling(7, 7), 0);
	is("... is the priority", priority(me), RT_FIRST + 7);
	is("lwp_ceiling, none", __sys_lwp_ceiling(-1, -1), 0);
	is("... its own again", priority(me), own);
}

/* Nothing of the C library on an LWP of our own: the first LWP looks at what it found. */
static volatile long seen[5];

static void raised(struct raw *r)
{
	real_time(r->id, 20);
	seen[0] = __sys_lwp_ceiling(30, 19);
	seen[1] = priority(r->id);
	seen[2] = __sys_lwp_ceiling(20, 20);
	seen[3] = __sys_lwp_ceiling(10, -1);
	seen[4] = priority(r->id);
}

static void limits(void)
{
	static struct raw r;

	if (raw_start(&r, raised, 0, LWP_SUSPENDED) != 0)
		bail("lwp_create failed");
	__sys_lwp_continue(r.id);
	end(&r);
	is("above the limit", seen[0], -EINVAL);
	is("... nothing changes", seen[1], RT_FIRST + 20);
	is("at the limit", seen[2], 0);
	is("below its own", seen[3], 0);
	is("... its own is higher", seen[4], RT_FIRST + 20);
}

/* The main LWP owns m[0], and sleepers come and go. */
static void lending(void)
{
	static struct raw a, b, c;
	uint32_t me = __sys_lwp_self();
	int own = priority(me);

	m[0].word = m[1].word = m[2].word = LWP_MUTEX_INHERIT;
	patience = -1;
	__sys_lwp_mutex_lock(&m[0], 0);
	begin(&a, sleeps, 1, 10, "lwp_mutex");
	is("lent by a sleeper", priority(me), RT_FIRST + 10);
	begin(&b, sleeps, 2, 20, "lwp_mutex");
	is("lent by a higher one", priority(me), RT_FIRST + 20);
	is("a sleeper's priority changes", real_time(a.id, 30), 0);
	is("... so does the owner's", priority(me), RT_FIRST + 30);
	real_time(a.id, 5);
	is("... and down", priority(me), RT_FIRST + 20);
	patience = 2000000;
	begin(&c, sleeps, 0, 40, NULL);
	end(&c);
	is("one who gives up", result[0], -ETIMEDOUT);
	is("... lends nothing any more", priority(me), RT_FIRST + 20);
	is("a chain: a second mutex", __sys_lwp_mutex_timedlock(&m[2], 0, &past), -ETIMEDOUT);
	is("unlock hands it over", __sys_lwp_mutex_unlock(&m[0], 0), 0);
	is("its own priority again", priority(me), own);
	end(&a);
	end(&b);
	is("both got it", result[1] | result[2], 0);
	is("free", m[0].word, LWP_MUTEX_INHERIT);
}

/* An owner exits: of a robust mutex the next owner is told; of another mutex no owner inherits. */
static void owner_exits(void)
{
	static struct raw owner, a;

	m[0].word = LWP_MUTEX_INHERIT | LWP_MUTEX_ROBUST;
	__sys_lwp_mutex_register(&m[0]);
	patience = -1;
	raw_start(&owner, owns, 0, 0);
	while (!(*(volatile uint64_t *)&m[0].word & LWP_MUTEX_OWNER))
		__sys_lwp_yield();
	begin(&a, sleeps, 1, 10, "lwp_mutex");
	__sys_lwp_mutex_unregister(&m[0]);
	__sys_lwp_unpark(owner.id);
	end(&owner);
	is("not registered: it is still the dead one's", __sys_lwp_mutex_trylock(&m[0], 0), -EBUSY);
	__sys_lwp_mutex_unlock(&m[0], owner.id);
	end(&a);
	is("handed over by number", result[1], 0);
	is("free", m[0].word, LWP_MUTEX_INHERIT | LWP_MUTEX_ROBUST);
}

static volatile uint64_t counter;

static void adds(struct raw *r)
{
	for (uint64_t i = 0; i < rounds; i++) {
		int64_t at = gethrtime() + 20000;
		struct weft_timespec soon = {at / 1000000000, at % 1000000000};
		long err = i % 4 == 0 ? __sys_lwp_mutex_timedlock(&m[0], 0, &soon)
				      : __sys_lwp_mutex_lock(&m[0], 0);
		if (err == -ETIMEDOUT) {
			i--;
			continue;
		}
		uint64_t v = counter;
		if (i % 8 == 0)
			__sys_lwp_yield();
		counter = v + 1;
		__sys_lwp_mutex_unlock(&m[0], 0);
	}
}

static void races(void)
{
	static struct raw r[6];

	m[0].word = LWP_MUTEX_INHERIT;
	for (int i = 0; i < 6; i++)
		if (raw_start(&r[i], adds, i, 0) != 0)
			bail("lwp_create failed");
	for (int i = 0; i < 6; i++)
		end(&r[i]);
	is("exclusion", counter, 6 * rounds);
	is("free", m[0].word, LWP_MUTEX_INHERIT);
	is("nothing is lent", __sys_lwp_ceiling(-1, -1), 0);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		rounds = strtoul(argv[1], NULL, 0);
	results();
	ceilings();
	limits();
	lending();
	owner_exits();
	races();
	return tap_done();
}
