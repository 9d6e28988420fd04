/*
 * lwp_sync.c - the locks in user memory and their calls (weft/ksync.h): results, errors,
 * order of waiters, exclusion and lost wake-ups in races, death of owners.
 *
 *	lwp_sync [ROUNDS]
 */
#include "rawlwp.h"
#include "tap.h"
#include <sys/wait.h>
#include <unistd.h>
#include <weft/ksync.h>
#include <weft/mman.h>
#include <weft/start.h>

static uint64_t rounds = 2000;

#define EVEN ((struct lwp_mutex *)8) /* nothing is mapped there */

static struct weft_timespec after(int64_t ns)
{
	int64_t at = gethrtime() + ns;
	return (struct weft_timespec){at / 1000000000, at % 1000000000};
}

static void *page(int prot)
{
	long r = __sys_mmap(NULL, 4096, prot, WEFT_MAP_PRIVATE | WEFT_MAP_ANON, -1, 0);
	if (r < 0)
		bail("mmap: %ld", r);
	return (void *)r;
}

/* The user's half of a mutex, as a library would do it. */
static void lock(struct lwp_mutex *m, uint32_t me)
{
	uint64_t free = m->word & LWP_MUTEX_KIND;
	if (!__atomic_compare_exchange_n(&m->word, &free,
					 free | lwp_mutex_owner(__sys_getpid(), me), 0,
					 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		while (__sys_lwp_mutex_lock(m, me) == -EINTR)
			;
}

static void unlock(struct lwp_mutex *m, uint32_t me)
{
	uint64_t kind = m->word & LWP_MUTEX_KIND, mine = kind | lwp_mutex_owner(__sys_getpid(), me);
	if (!__atomic_compare_exchange_n(&m->word, &mine, kind, 0, __ATOMIC_RELEASE,
					 __ATOMIC_RELAXED))
		__sys_lwp_mutex_unlock(m, me);
}

/* --- one LWP: results and errors ------------------------------------------------------- */

static void mutex_calls(void)
{
	struct lwp_mutex m = {0};
	struct weft_timespec past = {0}, odd = {0, 1000000000}, soon;
	uint32_t me = __sys_lwp_self();

	is("lock", __sys_lwp_mutex_lock(&m, 0), 0);
	is("the owner's word", m.word, lwp_mutex_owner(__sys_getpid(), me));
	is("trylock, held: EBUSY", __sys_lwp_mutex_trylock(&m, 77), -EBUSY);
	is("unlock by another: EPERM", __sys_lwp_mutex_unlock(&m, 77), -EPERM);
	is("timedlock, held, past: ETIMEDOUT", __sys_lwp_mutex_timedlock(&m, 77, &past),
	   -ETIMEDOUT);
	soon = after(1000000);
	int64_t before = gethrtime();
	is("timedlock, held: ETIMEDOUT", __sys_lwp_mutex_timedlock(&m, 77, &soon), -ETIMEDOUT);
	ok("... not too early", gethrtime() - before >= 1000000);
	is("timedlock: EINVAL", __sys_lwp_mutex_timedlock(&m, 77, &odd), -EINVAL);
	is("timedlock: EFAULT", __sys_lwp_mutex_timedlock(&m, 77, (void *)8), -EFAULT);
	ok("WAITERS is set", m.word & LWP_MUTEX_WAITERS);
	is("unlock", __sys_lwp_mutex_unlock(&m, 0), 0);
	is("all zero again", m.word, 0);
	is("unlock, free: EPERM", __sys_lwp_mutex_unlock(&m, 0), -EPERM);
	is("trylock", __sys_lwp_mutex_trylock(&m, 5), 0);
	is("unlock by the same number", __sys_lwp_mutex_unlock(&m, 5), 0);
	is("timedlock, free, past", __sys_lwp_mutex_timedlock(&m, 0, &past), 0);

	m.word = LWP_MUTEX_ERRORCHECK;
	is("error check: lock", __sys_lwp_mutex_lock(&m, 0), 0);
	is("error check: EDEADLK", __sys_lwp_mutex_lock(&m, 0), -EDEADLK);
	is("error check: unlock", __sys_lwp_mutex_unlock(&m, 0), 0);
	is("the kind stays", m.word, LWP_MUTEX_ERRORCHECK);

	char *odd_place = (char *)&m + 4;
	is("misaligned: EINVAL", __sys_lwp_mutex_lock((struct lwp_mutex *)odd_place, 0), -EINVAL);
	is("unlock, misaligned: EINVAL", __sys_lwp_mutex_unlock((struct lwp_mutex *)odd_place, 0),
	   -EINVAL);
	is("nowhere: EFAULT", __sys_lwp_mutex_lock(EVEN, 0), -EFAULT);
	is("unlock, nowhere: EFAULT", __sys_lwp_mutex_unlock(EVEN, 0), -EFAULT);
	is("trylock, nowhere: EFAULT", __sys_lwp_mutex_trylock(EVEN, 0), -EFAULT);
	is("the kernel's half: EFAULT",
	   __sys_lwp_mutex_lock((struct lwp_mutex *)0xffff800000000000, 0), -EFAULT);
	is("the last word: EFAULT", __sys_lwp_mutex_lock((struct lwp_mutex *)-8l, 0), -EFAULT);
	struct lwp_mutex *ro = page(WEFT_PROT_READ);
	is("read-only: EFAULT", __sys_lwp_mutex_lock(ro, 0), -EFAULT);
	__sys_munmap(ro, 4096);
	struct lwp_mutex *fresh = page(WEFT_PROT_READ | WEFT_PROT_WRITE);
	is("a page that nobody has touched", __sys_lwp_mutex_lock(fresh, 0), 0);
	__sys_munmap(fresh, 4096);
	is("unlock, gone: EFAULT", __sys_lwp_mutex_unlock(fresh, 0), -EFAULT);
}

static void cond_and_sema_calls(void)
{
	struct lwp_cond c = {0};
	struct lwp_mutex m = {0};
	struct lwp_sema s = {0}, strange = {.flags = 2};
	struct weft_timespec past = {0}, odd = {0, -1};

	is("signal, nobody", __sys_lwp_cond_signal(&c), 0);
	is("broadcast, nobody", __sys_lwp_cond_broadcast(&c), 0);
	is("cond_wait without the mutex: EPERM", __sys_lwp_cond_wait(&c, &m, 0), -EPERM);
	__sys_lwp_mutex_lock(&m, 0);
	is("cond_timedwait: ETIMEDOUT", __sys_lwp_cond_timedwait(&c, &m, 0, &past), -ETIMEDOUT);
	is("... and the mutex is free", m.word, 0);
	__sys_lwp_mutex_lock(&m, 0);
	is("cond_timedwait: EINVAL", __sys_lwp_cond_timedwait(&c, &m, 0, &odd), -EINVAL);
	is("cond_timedwait: EFAULT", __sys_lwp_cond_timedwait(&c, &m, 0, (void *)8), -EFAULT);
	is("cond_wait, nowhere: EFAULT", __sys_lwp_cond_wait((void *)8, &m, 0), -EFAULT);
	is("cond_wait, no mutex: EFAULT", __sys_lwp_cond_wait(&c, EVEN, 0), -EFAULT);
	is("cond_wait, misaligned: EINVAL", __sys_lwp_cond_wait((void *)((char *)&c + 1), &m, 0),
	   -EINVAL);
	ok("... and the mutex is not", m.word != 0);
	is("signal, nowhere: EFAULT", __sys_lwp_cond_signal((void *)8), -EFAULT);
	is("broadcast, misaligned: EINVAL", __sys_lwp_cond_broadcast((void *)7), -EINVAL);

	is("sema_trywait: EAGAIN", __sys_lwp_sema_trywait(&s), -EAGAIN);
	is("sema_post", __sys_lwp_sema_post(&s), 0);
	is("one unit", s.word, 1);
	is("sema_wait", __sys_lwp_sema_wait(&s), 0);
	is("sema_timedwait: ETIMEDOUT", __sys_lwp_sema_timedwait(&s, &past), -ETIMEDOUT);
	is("sema_timedwait: EINVAL", __sys_lwp_sema_timedwait(&s, &odd), -EINVAL);
	is("sema_timedwait: EFAULT", __sys_lwp_sema_timedwait(&s, (void *)8), -EFAULT);
	is("sema_post after a time-out", __sys_lwp_sema_post(&s), 0);
	is("... one unit", s.word, 1);
	is("sema_trywait", __sys_lwp_sema_trywait(&s), 0);
	is("sema: unknown flags: EINVAL", __sys_lwp_sema_wait(&strange), -EINVAL);
	is("sema_wait, nowhere: EFAULT", __sys_lwp_sema_wait((void *)8), -EFAULT);
	is("sema_post, nowhere: EFAULT", __sys_lwp_sema_post((void *)8), -EFAULT);
	is("sema_wait, misaligned: EINVAL", __sys_lwp_sema_wait((void *)((char *)&s + 1)), -EINVAL);
	s.word = LWP_SEMA_MAX;
	is("sema_post: EOVERFLOW", __sys_lwp_sema_post(&s), -EOVERFLOW);
}

static void robust_calls(void)
{
	struct lwp_mutex m = {0};

	is("register, not robust: EINVAL", __sys_lwp_mutex_register(&m), -EINVAL);
	is("register, nowhere: EFAULT", __sys_lwp_mutex_register(EVEN), -EFAULT);
	is("register, misaligned: EINVAL", __sys_lwp_mutex_register((void *)9), -EINVAL);
	m.word = LWP_MUTEX_ROBUST;
	is("register", __sys_lwp_mutex_register(&m), 0);
	is("register again", __sys_lwp_mutex_register(&m), 0);
	__sys_lwp_mutex_lock(&m, 9);
	is("abandon another's", __sys_lwp_mutex_abandon(8), 0);
	is("... changes nothing", __sys_lwp_mutex_trylock(&m, 7), -EBUSY);
	is("abandon", __sys_lwp_mutex_abandon(9), 0);
	is("EOWNERDEAD", __sys_lwp_mutex_trylock(&m, 7), -EOWNERDEAD);
	is("its owner again, dead too", __sys_lwp_mutex_abandon(7), 0);
	is("EOWNERDEAD again", __sys_lwp_mutex_lock(&m, 6), -EOWNERDEAD);
	__atomic_and_fetch(&m.word, ~LWP_MUTEX_OWNERDEAD, __ATOMIC_RELAXED);
	is("made consistent: unlock", __sys_lwp_mutex_unlock(&m, 6), 0);
	is("... as new", m.word, LWP_MUTEX_ROBUST);
	__sys_lwp_mutex_lock(&m, 9);
	__sys_lwp_mutex_abandon(9);
	is("EOWNERDEAD once more", __sys_lwp_mutex_lock(&m, 6), -EOWNERDEAD);
	is("not made consistent: unlock", __sys_lwp_mutex_unlock(&m, 6), 0);
	is("ENOTRECOVERABLE", __sys_lwp_mutex_lock(&m, 6), -ENOTRECOVERABLE);
	is("... for good", __sys_lwp_mutex_trylock(&m, 6), -ENOTRECOVERABLE);
	is("unregister", __sys_lwp_mutex_unregister(&m), 0);
	is("unregister again: ESRCH", __sys_lwp_mutex_unregister(&m), -ESRCH);
	m.word = LWP_MUTEX_ROBUST;
	__sys_lwp_mutex_lock(&m, 9);
	__sys_lwp_mutex_abandon(9);
	is("not registered: nothing happens", __sys_lwp_mutex_trylock(&m, 7), -EBUSY);

	struct lwp_mutex *gone = page(WEFT_PROT_READ | WEFT_PROT_WRITE);
	gone->word = LWP_MUTEX_ROBUST;
	__sys_lwp_mutex_register(gone);
	__sys_lwp_mutex_lock(gone, 9);
	__sys_munmap(gone, 4096);
	is("abandon what is gone", __sys_lwp_mutex_abandon(9), 0);
	is("unregister what is gone", __sys_lwp_mutex_unregister(gone), 0);

	size_t bytes = (LWP_MUTEX_REGISTERED_MAX + 1) * sizeof(struct lwp_mutex);
	struct lwp_mutex *many = malloc(bytes);
	long err = 0;
	unsigned n;
	for (n = 0; n <= LWP_MUTEX_REGISTERED_MAX && err == 0; n++) {
		many[n].word = LWP_MUTEX_ROBUST;
		err = __sys_lwp_mutex_register(&many[n]);
	}
	is("register too many: EAGAIN", err, -EAGAIN);
	is("... after as many as may be", n - 1, LWP_MUTEX_REGISTERED_MAX);
	while (--n > 0)
		__sys_lwp_mutex_unregister(&many[n - 1]);
	free(many);
}

/* --- sleepers ---------------------------------------------------------------------------- */

static struct lwp_mutex the_mutex;
static struct __attribute__((aligned(WEFT_PAGE_SIZE))) {
	struct lwp_cond cond;
	struct lwp_sema sema;
} alone; /* in a page to which only the kernel stores while they wait */
static volatile long result[8];
static volatile uint32_t order[8], nth;

static void lock_once(struct raw *r)
{
	result[r->arg] = __sys_lwp_mutex_lock(&the_mutex, 0);
	order[__atomic_fetch_add(&nth, 1, __ATOMIC_RELAXED)] = r->arg;
	if (result[r->arg] == 0 || result[r->arg] == -EOWNERDEAD)
		__sys_lwp_mutex_unlock(&the_mutex, 0);
}

static void wait_once(struct raw *r)
{
	lock(&the_mutex, r->id);
	result[r->arg] = __sys_lwp_cond_wait(&alone.cond, &the_mutex, 0);
	order[__atomic_fetch_add(&nth, 1, __ATOMIC_RELAXED)] = r->arg;
}

static void take_once(struct raw *r)
{
	result[r->arg] = __sys_lwp_sema_wait(&alone.sema);
	order[__atomic_fetch_add(&nth, 1, __ATOMIC_RELAXED)] = r->arg;
}

/* Starts n LWPs, each asleep before the next one comes. */
static void start_sleepers(struct raw *r, int n, void (*fn)(struct raw *), const char *wchan)
{
	nth = 0;
	for (int i = 0; i < n; i++) {
		result[i] = 1;
		if (raw_start(&r[i], fn, i, LWP_SUSPENDED) != 0)
			bail("lwp_create failed");
		__sys_lwp_continue(r[i].id);
		raw_wait_asleep(r[i].id, wchan);
	}
}

static void join(struct raw *r, int n)
{
	for (int i = 0; i < n; i++)
		__sys_lwp_wait(r[i].id, NULL);
}

static void first_in_first_out(void)
{
	static struct raw r[4];

	the_mutex.word = 0;
	__sys_lwp_mutex_lock(&the_mutex, 0);
	start_sleepers(r, 4, lock_once, "lwp_mutex");
	__sys_lwp_mutex_unlock(&the_mutex, 0);
	join(r, 4);
	is("mutex: all got it", nth, 4);
	is("mutex: nothing is left", the_mutex.word, 0);
	ok("mutex: first in, first out", order[0] == 0 && order[3] == 3);

	alone.cond.word = 0;
	start_sleepers(r, 4, wait_once, "lwp_cond");
	is("cond: WAITERS", alone.cond.word, LWP_COND_WAITERS);
	__sys_lwp_cond_signal(&alone.cond);
	__sys_lwp_wait(r[0].id, NULL);
	is("cond: one signal, one goes on", nth, 1);
	is("cond: still WAITERS", alone.cond.word, LWP_COND_WAITERS);
	__sys_lwp_cond_broadcast(&alone.cond);
	join(r + 1, 3);
	is("cond: all go on", nth, 4);
	is("cond: nobody waits", alone.cond.word, 0);

	alone.sema.word = 0;
	start_sleepers(r, 4, take_once, "lwp_sema");
	is("sema: WAITING", alone.sema.word, LWP_SEMA_WAITING);
	for (int i = 0; i < 4; i++) {
		__sys_lwp_sema_post(&alone.sema);
		__sys_lwp_wait(r[i].id, NULL);
		is("sema: in their order", order[i], i);
	}
	is("sema: nothing is left", alone.sema.word, 0);
}

static void take_for_a_while(struct raw *r)
{
	struct weft_timespec soon = after(100000000);

	result[r->arg] = __sys_lwp_sema_timedwait(&alone.sema, &soon);
}

static void wait_for_a_while(struct raw *r)
{
	struct weft_timespec soon = after(100000000);

	lock(&the_mutex, r->id);
	result[r->arg] = __sys_lwp_cond_timedwait(&alone.cond, &the_mutex, 0, &soon);
}

/* All pages are to be copied at the next store. */
static void fork_child(void)
{
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	if (child < 0 || waitpid(child, NULL, 0) != child)
		bail("fork");
}

/* The flags tell destroy whether somebody waits, so the last one to go takes them along. */
static void flags_after_fork(void)
{
	static struct raw r[2];

	alone.sema.word = 0;
	start_sleepers(r, 1, take_for_a_while, "lwp_sema");
	fork_child();
	join(r, 1);
	is("sema: time is up, in a page to be copied", result[0], -ETIMEDOUT);
	is("sema: no WAITING", alone.sema.word, 0);

	start_sleepers(r, 1, wait_for_a_while, "lwp_cond");
	fork_child();
	join(r, 1);
	is("cond: time is up, in a page to be copied", result[0], -ETIMEDOUT);
	is("cond: no WAITERS", alone.cond.word, 0);

	start_sleepers(r, 1, wait_once, "lwp_cond");
	fork_child();
	__sys_lwp_cond_signal(&alone.cond);
	join(r, 1);
	is("cond: signal, in a page to be copied", alone.cond.word, 0);
	start_sleepers(r, 2, wait_once, "lwp_cond");
	fork_child();
	__sys_lwp_cond_broadcast(&alone.cond);
	join(r, 2);
	is("cond: broadcast, in a page to be copied", alone.cond.word, 0);
}

/* An owner that exits while others sleep, and one that leaves its mutex beyond repair. */
static void own_and_exit(struct raw *r)
{
	__sys_lwp_mutex_register(&the_mutex);
	lock(&the_mutex, r->id);
	while (__atomic_load_n(&nth, __ATOMIC_ACQUIRE) != 99)
		__sys_lwp_yield();
}

static void robust_lwps(void)
{
	static struct raw owner, r[3];

	the_mutex.word = LWP_MUTEX_ROBUST;
	raw_start(&owner, own_and_exit, 0, LWP_SUSPENDED);
	__sys_lwp_continue(owner.id);
	while ((*(volatile uint64_t *)&the_mutex.word & LWP_MUTEX_OWNER) == 0)
		__sys_lwp_yield();
	start_sleepers(r, 3, lock_once, "lwp_mutex");
	nth = 99;
	__sys_lwp_wait(owner.id, NULL);
	join(r, 1);
	is("exit: the first gets EOWNERDEAD", result[0], -EOWNERDEAD);
	join(r + 1, 2);
	is("... and gives it up: ENOTRECOVERABLE for the next", result[1], -ENOTRECOVERABLE);
	is("... and for the one after", result[2], -ENOTRECOVERABLE);
	__sys_lwp_mutex_unregister(&the_mutex);
}

/* --- races ---------------------------------------------------------------------------------- */

static volatile uint64_t counter;

static void add(struct raw *r)
{
	for (uint64_t i = 0; i < rounds; i++) {
		lock(&the_mutex, r->id);
		uint64_t v = counter;
		if (i % 4 == 0)
			__sys_lwp_yield();
		counter = v + 1;
		unlock(&the_mutex, r->id);
	}
}

/*
 * As add, but first tries for a time that is often too short.  (An LWP that only tried
 * might, in the time-share class, keep the owner off the CPUs.)
 */
static void add_timed(struct raw *r)
{
	for (uint64_t i = 0; i < rounds; i++) {
		struct weft_timespec ts = after(i % 7 * 3000);
		if (__sys_lwp_mutex_timedlock(&the_mutex, 0, &ts) != 0)
			lock(&the_mutex, r->id);
		uint64_t v = counter;
		if (i % 4 == 0)
			__sys_lwp_yield();
		counter = v + 1;
		unlock(&the_mutex, r->id);
	}
}

static void exclusion(const char *name, void (*fn)(struct raw *), uint64_t kind)
{
	static struct raw r[6];

	the_mutex.word = kind;
	counter = 0;
	for (int i = 0; i < 6; i++) {
		if (raw_start(&r[i], i % 2 ? fn : add, i, LWP_SUSPENDED) != 0)
			bail("lwp_create failed");
		__sys_lwp_continue(r[i].id);
	}
	join(r, 6);
	is(name, counter, 6 * rounds);
	is("... and it is free", the_mutex.word & ~LWP_MUTEX_WAITERS, kind);
}

/* A buffer of one place: producers and consumers, half of them in timed waits. */
static struct lwp_cond not_full, not_empty;
static volatile int full;
static volatile uint64_t put, got;

static void wait_for(struct lwp_cond *c, struct raw *r, int timed)
{
	struct weft_timespec ts;

	if (timed) {
		ts = after(2000);
		__sys_lwp_cond_timedwait(c, &the_mutex, 0, &ts);
	} else {
		__sys_lwp_cond_wait(c, &the_mutex, 0);
	}
	lock(&the_mutex, r->id);
}

static void produce(struct raw *r)
{
	for (uint64_t i = 0; i < rounds; i++) {
		lock(&the_mutex, r->id);
		while (full)
			wait_for(&not_full, r, r->arg & 1);
		full = 1;
		put++;
		if (i % 2)
			unlock(&the_mutex, r->id);
		__sys_lwp_cond_signal(&not_empty);
		if (i % 2 == 0)
			unlock(&the_mutex, r->id);
	}
}

static void consume(struct raw *r)
{
	for (uint64_t i = 0; i < rounds; i++) {
		lock(&the_mutex, r->id);
		while (!full)
			wait_for(&not_empty, r, r->arg & 1);
		full = 0;
		got++;
		unlock(&the_mutex, r->id);
		if (i % 2)
			__sys_lwp_cond_signal(&not_full);
		else
			__sys_lwp_cond_broadcast(&not_full);
	}
}

static void buffer(void)
{
	static struct raw r[6];

	the_mutex.word = put = got = full = 0;
	for (int i = 0; i < 6; i++) {
		if (raw_start(&r[i], i < 3 ? produce : consume, i, LWP_SUSPENDED) != 0)
			bail("lwp_create failed");
		__sys_lwp_continue(r[i].id);
	}
	join(r, 6);
	is("buffer: all that was put", put, 3 * rounds);
	is("buffer: was got", got, 3 * rounds);
}

static struct lwp_sema ping, pong;

static void down(struct lwp_sema *s)
{
	uint32_t seen = __atomic_load_n(&s->word, __ATOMIC_RELAXED);
	while ((int)seen > 0)
		if (__atomic_compare_exchange_n(&s->word, &seen, seen - 1, 0, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return;
	while (__sys_lwp_sema_wait(s) != 0)
		;
}

static void up(struct lwp_sema *s)
{
	uint32_t seen = __atomic_load_n(&s->word, __ATOMIC_RELAXED);
	while (seen != LWP_SEMA_WAITING)
		if (__atomic_compare_exchange_n(&s->word, &seen, seen + 1, 0, __ATOMIC_RELEASE,
						__ATOMIC_RELAXED))
			return;
	__sys_lwp_sema_post(s);
}

static void semaphores(struct raw *r)
{
	for (uint64_t i = 0; i < rounds; i++) {
		if (r->arg & 1) {
			down(&ping);
			up(&pong);
		} else {
			up(&ping);
			down(&pong);
		}
	}
}

static void hand_to_hand(void)
{
	static struct raw r[4];

	for (int i = 0; i < 4; i++) {
		if (raw_start(&r[i], semaphores, i, LWP_SUSPENDED) != 0)
			bail("lwp_create failed");
		__sys_lwp_continue(r[i].id);
	}
	join(r, 4);
	is("semaphores: no unit is left", ping.word + pong.word, 0);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		rounds = strtoull(argv[1], NULL, 10);
	mutex_calls();
	cond_and_sema_calls();
	robust_calls();
	first_in_first_out();
	flags_after_fork();
	robust_lwps();
	exclusion("exclusion", add, 0);
	exclusion("exclusion, with time-outs", add_timed, 0);
	exclusion("exclusion, shared", add, LWP_MUTEX_SHARED);
	buffer();
	hand_to_hand();
	return tap_done();
}
