/*
 * err_sync.c - every error of the system calls on locks in user memory and on kernel objects.
 * That there is no memory: err_memory.c.  With the argument `few`, without what takes very many
 * calls.
 */
#include <weft/kobj.h>
#include <weft/ksync.h>
#include "errtest.h"
#include "rawlwp.h"

#define NO_HANDLE 4000
#define OTHER 77 /* an owner's number that is not the caller's */

static const struct weft_timespec past, bad = {0, -1};
static char *fixed; /* a page that can only be read */
static int few;

/* --- locks in user memory ------------------------------------------------------------------ */

/* A lock at an odd address, nowhere, and where nobody may write. */
#define gives_lock_errors(call, ...)                                                               \
	do {                                                                                       \
		gives(call, EINVAL, "misaligned", (void *)(fixed + 1), ##__VA_ARGS__);             \
		gives(call, EFAULT, "nowhere", NOWHERE, ##__VA_ARGS__);                            \
	} while (0)
#define gives_write_errors(call, ...)                                                              \
	do {                                                                                       \
		gives_lock_errors(call, ##__VA_ARGS__);                                            \
		gives(call, EFAULT, "read-only", (void *)fixed, ##__VA_ARGS__);                    \
	} while (0)

static void die_with(struct raw *r)
{
	struct lwp_mutex *m = (struct lwp_mutex *)r->arg;

	__sys_lwp_mutex_register(m);
	__sys_lwp_mutex_lock(m, 0);
}

/* A mutex whose owner has died. */
static struct lwp_mutex *orphan(void)
{
	static struct lwp_mutex m;
	static struct raw r;

	m.word = LWP_MUTEX_ROBUST;
	raw_start(&r, die_with, (uint64_t)&m, 0);
	__sys_lwp_wait(r.id, NULL);
	return &m;
}

static void mutexes(void)
{
	static struct lwp_mutex m, mine = {LWP_MUTEX_ERRORCHECK};

	gives(lwp_ceiling, EINVAL, "too high", 60, -1);
	gives(lwp_ceiling, EINVAL, "limit too high", -1, 60);
	works(lwp_ceiling, -1, -1);
	works(lwp_mutex_lock, &mine, 0);
	__sys_lwp_mutex_lock(&m, OTHER);
	gives_write_errors(lwp_mutex_lock, 0);
	gives(lwp_mutex_lock, EDEADLK, "the caller has it", &mine, 0);
	gives_eintr(lwp_mutex_lock, "a signal", &m, 0);
	gives(lwp_mutex_lock, EOWNERDEAD, "its owner died", orphan(), 0);
	struct lwp_mutex *lost = orphan();
	gives(lwp_mutex_trylock, EOWNERDEAD, "its owner died", lost, 0);
	__sys_lwp_mutex_unlock(lost, 0);
	gives(lwp_mutex_lock, ENOTRECOVERABLE, "given up as it was", lost, 0);
	gives(lwp_mutex_trylock, ENOTRECOVERABLE, "given up as it was", lost, 0);
	gives(lwp_mutex_timedlock, ENOTRECOVERABLE, "given up as it was", lost, 0, &past);
	gives(lwp_mutex_timedlock, EOWNERDEAD, "its owner died", orphan(), 0, &past);

	gives_write_errors(lwp_mutex_trylock, 0);
	gives(lwp_mutex_trylock, EDEADLK, "the caller has it", &mine, 0);
	gives(lwp_mutex_trylock, EBUSY, "somebody has it", &m, 0);
	gives_write_errors(lwp_mutex_timedlock, 0, &past);
	gives(lwp_mutex_timedlock, EDEADLK, "the caller has it", &mine, 0, &past);
	gives(lwp_mutex_timedlock, EINVAL, "the deadline", &m, 0, &bad);
	gives(lwp_mutex_timedlock, EFAULT, "the deadline", &m, 0, NOWHERE);
	gives(lwp_mutex_timedlock, ETIMEDOUT, "the deadline", &m, 0, &past);
	gives_eintr(lwp_mutex_timedlock, "a signal", &m, 0, NULL);

	gives_lock_errors(lwp_mutex_unlock, 0);
	gives(lwp_mutex_unlock, EPERM, "somebody else's", &m, 0);
	works(lwp_mutex_unlock, &mine, 0);
	gives(lwp_mutex_unlock, EPERM, "nobody's", &mine, 0);
	works(lwp_mutex_trylock, &mine, 0);
	__sys_lwp_mutex_unlock(&mine, 0);
	works(lwp_mutex_timedlock, &mine, 0, &past);
}

static void robust(void)
{
	static struct lwp_mutex many[LWP_MUTEX_REGISTERED_MAX + 1], plain;

	gives_lock_errors(lwp_mutex_register);
	gives(lwp_mutex_register, EINVAL, "not robust", &plain);
	gives(lwp_mutex_unregister, ESRCH, "it is not registered", &plain);
	for (unsigned i = 0; i <= LWP_MUTEX_REGISTERED_MAX; i++)
		many[i].word = LWP_MUTEX_ROBUST;
	works(lwp_mutex_register, &many[0]);
	if (!few) {
		for (unsigned i = 1; i < LWP_MUTEX_REGISTERED_MAX; i++)
			__sys_lwp_mutex_register(&many[i]);
		gives(lwp_mutex_register, EAGAIN, "too many", &many[LWP_MUTEX_REGISTERED_MAX]);
	}
	works(lwp_mutex_unregister, &many[0]);
	works(lwp_mutex_abandon, OTHER);
}

static void conds(void)
{
	static struct lwp_mutex m, other;
	static struct lwp_cond c;

	__sys_lwp_mutex_lock(&m, 0);
	__sys_lwp_mutex_lock(&other, OTHER);
	gives_write_errors(lwp_cond_wait, &m, 0);
	gives(lwp_cond_wait, EPERM, "the mutex is somebody else's", &c, &other, 0);
	gives_eintr(lwp_cond_wait, "a signal", &c, &m, 0);
	__sys_lwp_mutex_lock(&m, 0);
	gives_write_errors(lwp_cond_timedwait, &m, 0, &past);
	gives(lwp_cond_timedwait, EPERM, "the mutex is somebody else's", &c, &other, 0, &past);
	gives(lwp_cond_timedwait, EINVAL, "the deadline", &c, &m, 0, &bad);
	gives(lwp_cond_timedwait, EFAULT, "the deadline", &c, &m, 0, NOWHERE);
	gives(lwp_cond_timedwait, ETIMEDOUT, "the deadline", &c, &m, 0, &past);
	__sys_lwp_mutex_lock(&m, 0);
	gives_eintr(lwp_cond_timedwait, "a signal", &c, &m, 0, NULL);
	gives_lock_errors(lwp_cond_signal);
	works(lwp_cond_signal, &c);
	gives_lock_errors(lwp_cond_broadcast);
	works(lwp_cond_broadcast, &c);
}

struct signaller {
	struct lwp_cond c;
	struct lwp_mutex m;
	uint32_t count;
};

static void signal_twice(struct raw *r)
{
	struct signaller *s = (struct signaller *)r->arg;

	for (int i = 0; i < 2; i++) {
		while (__sys_lwp_mutex_lock(&s->m, 0) != 0)
			;
		s->count++;
		__sys_lwp_cond_signal(&s->c);
		__sys_lwp_mutex_unlock(&s->m, 0);
		while (__atomic_load_n(&s->count, __ATOMIC_ACQUIRE) & 1)
			__sys_lwp_yield();
	}
}

static void signalled_conds(void)
{
	static struct signaller s;
	static struct raw r;

	__sys_lwp_mutex_lock(&s.m, 0);
	raw_start(&r, signal_twice, (uint64_t)&s, 0);
	works(lwp_cond_wait, &s.c, &s.m, 0);
	while (__sys_lwp_mutex_lock(&s.m, 0) != 0)
		;
	__atomic_store_n(&s.count, 2, __ATOMIC_RELEASE);
	works(lwp_cond_timedwait, &s.c, &s.m, 0, NULL);
	__atomic_store_n(&s.count, 4, __ATOMIC_RELEASE);
	__sys_lwp_wait(r.id, NULL);
}

static void semas(void)
{
	static struct lwp_sema s, odd = {.flags = 0x100}, full = {.word = LWP_SEMA_MAX};

	gives_write_errors(lwp_sema_wait);
	gives(lwp_sema_wait, EINVAL, "unknown flags", &odd);
	gives_eintr(lwp_sema_wait, "a signal", &s);
	gives_write_errors(lwp_sema_timedwait, &past);
	gives(lwp_sema_timedwait, EINVAL, "unknown flags", &odd, &past);
	gives(lwp_sema_timedwait, EINVAL, "the deadline", &s, &bad);
	gives(lwp_sema_timedwait, EFAULT, "the deadline", &s, NOWHERE);
	gives(lwp_sema_timedwait, ETIMEDOUT, "the deadline", &s, &past);
	gives_eintr(lwp_sema_timedwait, "a signal", &s, NULL);
	gives_lock_errors(lwp_sema_trywait);
	gives(lwp_sema_trywait, EINVAL, "unknown flags", &odd);
	gives(lwp_sema_trywait, EAGAIN, "there is none", &s);
	gives_write_errors(lwp_sema_post);
	gives(lwp_sema_post, EINVAL, "unknown flags", &odd);
	gives(lwp_sema_post, EOVERFLOW, "too many", &full);
	for (int i = 0; i < 3; i++)
		works(lwp_sema_post, &s);
	works(lwp_sema_wait, &s);
	works(lwp_sema_trywait, &s);
	works(lwp_sema_timedwait, &s, &past);
}

static void rwlocks(void)
{
	static struct lwp_rwlock l, full = {LWP_RWLOCK_READERS}, taken = {LWP_RWLOCK_WRITER};

	gives_write_errors(lwp_rwlock_rdlock, 0, NULL);
	gives(lwp_rwlock_rdlock, EINVAL, "unknown flags", &l, 0x80, NULL);
	gives(lwp_rwlock_rdlock, EINVAL, "the deadline", &l, 0, &bad);
	gives(lwp_rwlock_rdlock, EFAULT, "the deadline", &l, 0, NOWHERE);
	gives(lwp_rwlock_rdlock, EAGAIN, "too many readers", &full, 0, NULL);
	gives(lwp_rwlock_rdlock, ETIMEDOUT, "the deadline", &taken, 0, &past);
	gives_eintr(lwp_rwlock_rdlock, "a signal", &taken, 0, NULL);
	gives_write_errors(lwp_rwlock_wrlock, NULL);
	gives(lwp_rwlock_wrlock, EINVAL, "the deadline", &l, &bad);
	gives(lwp_rwlock_wrlock, EFAULT, "the deadline", &l, NOWHERE);
	gives(lwp_rwlock_wrlock, ETIMEDOUT, "the deadline", &taken, &past);
	gives_eintr(lwp_rwlock_wrlock, "a signal", &taken, NULL);
	gives_lock_errors(lwp_rwlock_unlock);
	gives(lwp_rwlock_unlock, EPERM, "nobody has it", &l);
	works(lwp_rwlock_rdlock, &l, LWP_RWLOCK_AGAIN, &past);
	works(lwp_rwlock_unlock, &l);
	works(lwp_rwlock_wrlock, &l, &past);
}

static void barriers(void)
{
	static struct lwp_barrier one = {.count = 1}, two = {.count = 2}, none;
	static struct lwp_barrier odd = {.count = 1, .flags = 0x80};

	gives_lock_errors(lwp_barrier_wait, 0, 0);
	gives(lwp_barrier_wait, EINVAL, "unknown flags", &one, 0, 0x80);
	gives(lwp_barrier_wait, EINVAL, "unknown flags of the barrier", &odd, 0, 0);
	gives(lwp_barrier_wait, EINVAL, "a barrier for nobody", &none, 0, 0);
	gives(lwp_barrier_wait, EAGAIN, "another cycle", &two, 5, 0);
	gives_eintr(lwp_barrier_wait, "a signal", &two, 0, 0);
	works(lwp_barrier_wait, &one, 0, 0);
}

/* --- kernel objects ------------------------------------------------------------------------ */

static uint32_t object(uint32_t kind, int initial)
{
	struct kobj_create c = {.kind = kind, .initial = initial, .max = 1};
	return __sys_kobj_create(&c);
}

static void creating(void)
{
	static char long_name[KOBJ_NAME_MAX + 2];
	struct kobj_create c = {.kind = 99};

	gives(kobj_create, EFAULT, "the structure", NOWHERE);
	gives(kobj_create, EINVAL, "an unknown kind", &c);
	c = (struct kobj_create){.kind = KOBJ_MUTEX, .flags = 0x8000};
	gives(kobj_create, EINVAL, "unknown flags", &c);
	c = (struct kobj_create){.kind = KOBJ_SEMAPHORE, .initial = 3, .max = 2};
	gives(kobj_create, EINVAL, "more than the maximum", &c);
	c = (struct kobj_create){.kind = KOBJ_EVENT, .name = (uint64_t) ""};
	gives(kobj_create, EINVAL, "an empty name", &c);
	c.name = (uint64_t)NOWHERE;
	gives(kobj_create, EFAULT, "the name", &c);
	memset(long_name, 'x', KOBJ_NAME_MAX + 1);
	c.name = (uint64_t)long_name;
	gives(kobj_create, ENAMETOOLONG, "the name", &c);
	c.name = (uint64_t) "err_sync";
	c.flags = KOBJ_OPEN;
	gives(kobj_create, ENOENT, "no such name", &c);
	c.flags = KOBJ_NEW;
	uint32_t h = works(kobj_create, &c);
	gives(kobj_create, EEXIST, "the name is there", &c);
	c.flags = 0;
	c.kind = KOBJ_MUTEX;
	gives(kobj_create, EINVAL, "the name is an event's", &c);
	works(kobj_close, h);
	gives(kobj_close, EBADF, "no such handle", NO_HANDLE);
}

static void waiting(void)
{
	uint32_t unset = object(KOBJ_EVENT, 0), set = object(KOBJ_EVENT, 1);
	uint32_t twice[2] = {unset, unset}, none = NO_HANDLE;

	gives(kobj_wait, EINVAL, "no object", &unset, 0, 0, &past);
	gives(kobj_wait, EINVAL, "too many", &unset, KOBJ_WAIT_MAX + 1, 0, &past);
	gives(kobj_wait, EINVAL, "unknown flags", &unset, 1, 0x80, &past);
	gives(kobj_wait, EINVAL, "an object twice", twice, 2, 0, &past);
	gives(kobj_wait, EINVAL, "the deadline", &unset, 1, 0, &bad);
	gives(kobj_wait, EFAULT, "the deadline", &unset, 1, 0, NOWHERE);
	gives(kobj_wait, EFAULT, "the handles", NOWHERE, 1, 0, &past);
	gives(kobj_wait, EBADF, "no such handle", &none, 1, 0, &past);
	gives(kobj_wait, ETIMEDOUT, "the deadline", &unset, 1, 0, &past);
	gives_eintr(kobj_wait, "a signal", &unset, 1, 0, NULL);
	works(kobj_wait, &set, 1, KOBJ_WAIT_ALL, &past);
}

static void using(void)
{
	uint32_t m = object(KOBJ_MUTEX, 0), e = object(KOBJ_EVENT, 0),
		 s = object(KOBJ_SEMAPHORE, 0);

	gives(kobj_mutex_release, EBADF, "no such handle", NO_HANDLE);
	gives(kobj_mutex_release, EINVAL, "an event", e);
	gives(kobj_mutex_release, EPERM, "nobody owns it", m);
	__sys_kobj_wait(&m, 1, 0, NULL);
	works(kobj_mutex_release, m);
	gives(kobj_event_set, EBADF, "no such handle", NO_HANDLE);
	gives(kobj_event_set, EINVAL, "a mutex", m);
	works(kobj_event_set, e);
	gives(kobj_event_reset, EBADF, "no such handle", NO_HANDLE);
	gives(kobj_event_reset, EINVAL, "a mutex", m);
	works(kobj_event_reset, e);
	gives(kobj_event_pulse, EBADF, "no such handle", NO_HANDLE);
	gives(kobj_event_pulse, EINVAL, "a mutex", m);
	works(kobj_event_pulse, e);
	gives(kobj_sema_release, EBADF, "no such handle", NO_HANDLE, 1);
	gives(kobj_sema_release, EINVAL, "an event", e, 1);
	gives(kobj_sema_release, EINVAL, "less than one", s, 0);
	works(kobj_sema_release, s, 1);
	gives(kobj_sema_release, EOVERFLOW, "more than the maximum", s, 1);

	gives(kobj_at_exit, EBADF, "no such handle", NO_HANDLE, 0);
	gives(kobj_at_exit, EINVAL, "a mutex", m, 0);
	gives(kobj_at_exit, ESRCH, "no child", e, __sys_getppid());
	works(kobj_at_exit, e, 0);
	gives(kobj_at_exit, EBUSY, "it waits for an end already", e, 0);

	/* As many handles as there can be. */
	struct kobj_create c = {.kind = KOBJ_EVENT};
	gives(kobj_dup, EBADF, "no such handle", NO_HANDLE, 0);
	gives(kobj_dup, EINVAL, "unknown flags", e, 0x80);
	works(kobj_dup, e, KOBJ_INHERIT);
	if (few)
		return;
	while (__sys_kobj_dup(e, 0) > 0)
		;
	gives(kobj_dup, EMFILE, "too many", e, 0);
	gives(kobj_create, EMFILE, "too many", &c);
}

int main(int argc, char **argv)
{
	few = argc > 1 && strcmp(argv[1], "few") == 0;
	fixed = (char *)__sys_mmap(NULL, PAGE, WEFT_PROT_READ, WEFT_MAP_PRIVATE | WEFT_MAP_ANON, -1,
				   0);
	mutexes();
	robust();
	conds();
	signalled_conds();
	semas();
	rwlocks();
	barriers();
	creating();
	waiting();
	using();
	return tap_done();
}
