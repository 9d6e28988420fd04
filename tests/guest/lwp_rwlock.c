/*
 * lwp_rwlock.c - reader-writer locks and barriers in user memory and their calls
 * (weft/ksync.h): results, errors, which threads are admitted, exclusion in races.
 *
 * lwp_rwlock [ROUNDS]
 */
#include "rawlwp.h"
#include "tap.h"
#include <stdbool.h>
#include <weft/ksync.h>
#include <weft/mman.h>
#include <weft/start.h>

static uint64_t rounds = 2000;

static const struct weft_timespec past = {1, 0}, odd = {1, 1000000000};
static struct lwp_rwlock the_lock;
static struct lwp_barrier the_barrier;
static volatile long result[80];
static volatile uint32_t nth;

static void join(struct raw *r, int n)
{
	for (int i = 0; i < n; i++)
		__sys_lwp_wait(r[i].id, NULL);
}

static void sleeper(struct raw *r, void (*fn)(struct raw *), int arg, const char *wchan)
{
	result[arg] = 1;
	if (raw_start(r, fn, arg, LWP_SUSPENDED) != 0)
		bail("lwp_create failed");
	__sys_lwp_continue(r->id);
	raw_wait_asleep(r->id, wchan);
}

/* --- reader-writer locks -------------------------------------------------------------------- */

static void lock_errors(void)
{
	struct lwp_rwlock l = {0}, *low = (void *)8, *far = (void *)0xffff800000000000;
	void *odd_place = (char *)&l + 1;

	is("unlock, free: EPERM", __sys_lwp_rwlock_unlock(&l), -EPERM);
	is("rdlock", __sys_lwp_rwlock_rdlock(&l, 0, NULL), 0);
	is("rdlock, read, past", __sys_lwp_rwlock_rdlock(&l, 0, &past), 0);
	is("two readers", l.word, 2);
	is("wrlock, read: ETIMEDOUT", __sys_lwp_rwlock_wrlock(&l, &past), -ETIMEDOUT);
	is("no trace of it", l.word, 2);
	is("unlock", __sys_lwp_rwlock_unlock(&l) | __sys_lwp_rwlock_unlock(&l), 0);
	is("wrlock, free", __sys_lwp_rwlock_wrlock(&l, NULL), 0);
	is("a writer", l.word, LWP_RWLOCK_WRITER);
	is("rdlock, written: ETIMEDOUT", __sys_lwp_rwlock_rdlock(&l, 0, &past), -ETIMEDOUT);
	is("rdlock again, written: ETIMEDOUT", __sys_lwp_rwlock_rdlock(&l, LWP_RWLOCK_AGAIN, &past),
	   -ETIMEDOUT);
	is("wrlock, written: ETIMEDOUT", __sys_lwp_rwlock_wrlock(&l, &past), -ETIMEDOUT);
	is("unlock", __sys_lwp_rwlock_unlock(&l), 0);
	is("free", l.word, 0);
	l.word = LWP_RWLOCK_READERS;
	is("rdlock: EAGAIN", __sys_lwp_rwlock_rdlock(&l, 0, NULL), -EAGAIN);
	is("rdlock: flags", __sys_lwp_rwlock_rdlock(&l, 2, NULL), -EINVAL);
	is("rdlock: the deadline", __sys_lwp_rwlock_rdlock(&l, 0, &odd), -EINVAL);
	is("wrlock: the deadline", __sys_lwp_rwlock_wrlock(&l, &odd), -EINVAL);
	is("rdlock: EFAULT of the deadline", __sys_lwp_rwlock_rdlock(&l, 0, (void *)8), -EFAULT);
	is("wrlock: EFAULT of the deadline", __sys_lwp_rwlock_wrlock(&l, (void *)8), -EFAULT);
	is("rdlock: misaligned", __sys_lwp_rwlock_rdlock(odd_place, 0, NULL), -EINVAL);
	is("wrlock: misaligned", __sys_lwp_rwlock_wrlock(odd_place, NULL), -EINVAL);
	is("unlock: misaligned", __sys_lwp_rwlock_unlock(odd_place), -EINVAL);
	is("rdlock: EFAULT", __sys_lwp_rwlock_rdlock(low, 0, NULL), -EFAULT);
	is("wrlock: EFAULT", __sys_lwp_rwlock_wrlock(far, NULL), -EFAULT);
	is("unlock: EFAULT", __sys_lwp_rwlock_unlock(low), -EFAULT);

	struct lwp_rwlock *ro = (void *)__sys_mmap(NULL, 4096, WEFT_PROT_READ,
						   WEFT_MAP_PRIVATE | WEFT_MAP_ANON, -1, 0);
	is("rdlock, read-only memory: EFAULT", __sys_lwp_rwlock_rdlock(ro, 0, NULL), -EFAULT);
	__sys_munmap(ro, 4096);
}

static void reads(struct raw *r)
{
	result[r->arg] = __sys_lwp_rwlock_rdlock(&the_lock, 0, NULL);
	__atomic_fetch_add(&nth, 1, __ATOMIC_RELAXED);
}

static void writes(struct raw *r)
{
	result[r->arg] = __sys_lwp_rwlock_wrlock(&the_lock, NULL);
	__atomic_fetch_add(&nth, 1, __ATOMIC_RELAXED);
}

#define CROWD 70 /* more than the kernel lets in at one time */

/* Behind a writer: a crowd of readers, a writer, and one more reader. */
static void order(void)
{
	static struct raw r[CROWD + 2];

	the_lock.word = 0;
	nth = 0;
	__sys_lwp_rwlock_wrlock(&the_lock, NULL);
	for (int i = 0; i < CROWD; i++)
		sleeper(&r[i], reads, i, "lwp_rwlock");
	sleeper(&r[CROWD], writes, CROWD, "lwp_rwlock");
	sleeper(&r[CROWD + 1], reads, CROWD + 1, "lwp_rwlock");
	is("a writer, and others wait", the_lock.word, LWP_RWLOCK_WRITER | LWP_RWLOCK_WAITING);
	__sys_lwp_rwlock_unlock(&the_lock);
	join(r, CROWD);
	is("all readers up to the writer", nth, CROWD);
	is("... have it", the_lock.word, CROWD | LWP_RWLOCK_WAITING);
	is("a new reader waits, too", __sys_lwp_rwlock_rdlock(&the_lock, 0, &past), -ETIMEDOUT);
	is("... but for one that recurs",
	   __sys_lwp_rwlock_rdlock(&the_lock, LWP_RWLOCK_AGAIN, &past), 0);
	for (int i = 0; i < CROWD; i++)
		__sys_lwp_rwlock_unlock(&the_lock);
	is("the writer still waits", nth, CROWD);
	__sys_lwp_rwlock_unlock(&the_lock);
	__sys_lwp_wait(r[CROWD].id, NULL);
	is("the writer has it alone", the_lock.word, LWP_RWLOCK_WRITER | LWP_RWLOCK_WAITING);
	__sys_lwp_rwlock_unlock(&the_lock);
	__sys_lwp_wait(r[CROWD + 1].id, NULL);
	is("the last reader", the_lock.word, 1);
	__sys_lwp_rwlock_unlock(&the_lock);
	for (int i = 0; i < CROWD + 2; i++)
		if (result[i] != 0)
			is("all got it", result[i], 0);
}

static void writes_for_a_moment(struct raw *r)
{
	int64_t at = gethrtime() + 20000000;
	struct weft_timespec soon = {at / 1000000000, at % 1000000000};

	result[r->arg] = __sys_lwp_rwlock_wrlock(&the_lock, &soon);
}

/* A writer gives up: the reader behind it waits for nobody any more. */
static void writer_gives_up(void)
{
	static struct raw w, r;

	the_lock.word = 0;
	__sys_lwp_rwlock_rdlock(&the_lock, 0, NULL);
	result[0] = result[1] = 1;
	if (raw_start(&w, writes_for_a_moment, 0, 0) != 0)
		bail("lwp_create failed");
	while (!(*(volatile uint32_t *)&the_lock.word & LWP_RWLOCK_WAITING) && result[0] == 1)
		__sys_lwp_yield(); /* until it waits, or had no patience for us */
	if (raw_start(&r, reads, 1, 0) != 0)
		bail("lwp_create failed");
	join(&r, 1); /* for ever if the reader still waits */
	join(&w, 1);
	is("a writer gives up", result[0], -ETIMEDOUT);
	is("the reader behind it goes on", result[1], 0);
	is("two have it, nobody waits", the_lock.word, 2);
}

/* --- barriers --------------------------------------------------------------------------------- */

static void barrier_errors(void)
{
	struct lwp_barrier b = {.count = 1}, strange = {.count = 1, .flags = 2}, empty = {0};

	is("barrier for one", __sys_lwp_barrier_wait(&b, 0, 0), 1);
	is("a cycle further", b.word, 1ull << 32);
	is("another cycle: EAGAIN", __sys_lwp_barrier_wait(&b, 0, 0), -EAGAIN);
	is("... or a look back", __sys_lwp_barrier_wait(&b, 0, LWP_BARRIER_ARRIVED), 0);
	is("EAGAIN counts nobody", b.word, 1ull << 32);
	is("flags of the call", __sys_lwp_barrier_wait(&b, 1, 2), -EINVAL);
	is("flags of the barrier", __sys_lwp_barrier_wait(&strange, 0, 0), -EINVAL);
	is("no count", __sys_lwp_barrier_wait(&empty, 0, 0), -EINVAL);
	is("misaligned", __sys_lwp_barrier_wait((void *)((char *)&b + 4), 0, 0), -EINVAL);
	is("EFAULT", __sys_lwp_barrier_wait((void *)8, 0, 0), -EFAULT);
}

static void arrives(struct raw *r)
{
	result[r->arg] = __sys_lwp_barrier_wait(&the_barrier, 0, 0);
}

static void barrier_waiters(void)
{
	static struct raw r[CROWD];

	the_barrier = (struct lwp_barrier){.count = CROWD + 1};
	for (int i = 0; i < CROWD; i++)
		sleeper(&r[i], arrives, i, "lwp_barrier");
	is("all have arrived but one", the_barrier.word, CROWD);
	is("the last one", __sys_lwp_barrier_wait(&the_barrier, 0, 0), 1);
	join(r, CROWD);
	is("a new cycle", the_barrier.word, 1ull << 32);
	for (int i = 0; i < CROWD; i++)
		if (result[i] != 0)
			is("the others", result[i], 0);
}

/* --- races ------------------------------------------------------------------------------------ */

static volatile uint64_t a, b, wrong, serial;

static void mixes(struct raw *r)
{
	uint64_t seed = r->arg + 1;

	for (uint64_t i = 0; i < rounds; i++) {
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		bool write = seed >> 61 == 0;
		int64_t at = gethrtime() + 30000;
		struct weft_timespec soon = {at / 1000000000, at % 1000000000}, *until = NULL;
		if ((seed >> 50 & 7) == 0)
			until = &soon;
		long err = write ? __sys_lwp_rwlock_wrlock(&the_lock, until)
				 : __sys_lwp_rwlock_rdlock(&the_lock, 0, until);
		if (err == -ETIMEDOUT && until != NULL)
			continue;
		if (err != 0 || a != b)
			wrong++;
		if (write) {
			a++;
			if (seed >> 40 & 1)
				__sys_lwp_yield();
			b++;
		} else if ((seed >> 42 & 15) == 0) {
			__sys_lwp_yield();
		}
		if (__sys_lwp_rwlock_unlock(&the_lock) != 0)
			wrong++;
	}
}

static void marches(struct raw *r)
{
	for (uint64_t i = 0; i < rounds; i++) {
		long err = __sys_lwp_barrier_wait(&the_barrier, i, 0);
		if (err == 1)
			__atomic_fetch_add(&serial, 1, __ATOMIC_RELAXED);
		else if (err != 0)
			wrong++;
	}
}

static void races(void)
{
	static struct raw r[4];

	the_lock.word = 0;
	the_barrier = (struct lwp_barrier){.count = 4};
	for (int i = 0; i < 4; i++)
		if (raw_start(&r[i], mixes, i, 0) != 0)
			bail("lwp_create failed");
	join(r, 4);
	is("readers and writers keep apart", wrong, 0);
	is("nobody has it in the end", the_lock.word, 0);
	for (int i = 0; i < 4; i++)
		if (raw_start(&r[i], marches, i, 0) != 0)
			bail("lwp_create failed");
	join(r, 4);
	is("all keep step", wrong, 0);
	is("one serial LWP a cycle", serial, rounds);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		rounds = strtoul(argv[1], NULL, 0);
	lock_errors();
	order();
	writer_gives_up();
	barrier_errors();
	barrier_waiters();
	races();
	return tap_done();
}
