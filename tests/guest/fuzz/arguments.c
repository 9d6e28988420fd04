/*
 * arguments.c - what the calls get: mostly arguments that could be meant, now and then ones
 * that could not.
 *
 * Where the table of weft/sysdesc.h says that a call takes a descriptor, a process, an LWP, an
 * id or an address, it often gets one that another call has returned.  Structures lie in an
 * arena with a hole behind it.  Some lie in its first page, at places that are few, and that
 * other LWPs and, since the page is shared, other victims use and change at the same time: there
 * LWPs meet at one lock, and what the kernel reads twice is not the same.
 */
#include "fuzz.h"
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <weft/abi.h>
#include <weft/kobj.h>
#include <weft/ksync.h>
#include <weft/lwp.h>
#include <weft/mman.h>
#include <weft/priocntl.h>
#include <weft/proc.h>
#include <weft/procset.h>
#include <weft/signal.h>
#include <weft/start.h>
#include <weft/sys.h>
#include <weft/sysdesc.h>

#define ARENA (64 << 10) /* bytes of memory that arguments point at */
#define PLAY (256 << 10) /* bytes of address space to map and unmap in */
#define PAGE 4096
#define MEETING_PLACES 8 /* of a kind, in the arena's first page: */
#define LOCKS (PAGE / 2) /* in its upper half there are locks only */

static int harness, victim;
static char *arena, *readonly, *noaccess, *play;

static const char *const paths[] = {
	HOME "/f0",
	HOME "/f1",
	HOME "/d0",
	HOME "/d0/f0",
	HOME "/d0/d1",
	"f2",
	"d0/f3",
	"d2/../f4",
	"",
	"nowhere/f0",
	HOME "/f0/x",
	HOME "/true",
	HOME "/null",
	HOME "/zero",
	HOME "/full",
	HOME "/random",
	"/dev",
	".",
	"/proc",
	"/proc/self/status",
	"/proc/self",
	"/proc/self/maps",
	"/proc/self/lwp",
	"/proc/kmem",
};

/* Those that exist to be run; the others are for everything else. */
static const char *const programs[] = {HOME "/true", HOME "/false", HOME "/f0", HOME};

/* --- what calls have returned --------------------------------------------------------------- */

enum { FDS, PIDS, LWPS, ADDRESSES, HANDLES, TIMERS, SETS, IDS, POOLS };

static struct {
	uint32_t n;
	uint64_t v[16]; /* the last ones */
} pool[POOLS];

static void put(unsigned kind, uint64_t v)
{
	unsigned i = __atomic_fetch_add(&pool[kind].n, 1, __ATOMIC_RELAXED);

	__atomic_store_n(&pool[kind].v[i % COUNT(pool[kind].v)], v, __ATOMIC_RELAXED);
}

/* Which pool the numbers are of that mean something to this call. */
static unsigned ids_of(unsigned number)
{
	static const struct {
		const char *calls;
		unsigned pool;
	} families[] = {{"kobj_", HANDLES}, {"timer_", TIMERS}, {"pset_", SETS}};

	for (unsigned i = 0; i < COUNT(families); i++)
		if (strncmp(sysdesc_name(number), families[i].calls, strlen(families[i].calls)) ==
		    0)
			return families[i].pool;
	return IDS;
}

/* One of them; `other` if there is none. */
static uint64_t take(struct rng *r, unsigned kind, uint64_t other)
{
	uint32_t n = __atomic_load_n(&pool[kind].n, __ATOMIC_RELAXED);

	if (n == 0)
		return other;
	n = below(r, n < COUNT(pool[kind].v) ? n : COUNT(pool[kind].v));
	return __atomic_load_n(&pool[kind].v[n], __ATOMIC_RELAXED);
}

/* Most calls that want one of these would be made before the call that returns one. */
static void first_handles(void)
{
	for (unsigned kind = KOBJ_MUTEX; kind <= KOBJ_SEMAPHORE; kind++) {
		struct kobj_create c = {.kind = kind, .initial = kind != KOBJ_MUTEX, .max = 2};
		long handle = __sys_kobj_create(&c);

		if (handle >= 0)
			put(HANDLES, handle);
	}
}

bool in_arena(const void *p, size_t n)
{
	return (char *)p >= arena && (char *)p + n <= arena + ARENA;
}

void arguments_learn(unsigned number, const uint64_t arg[6], long result)
{
	static const uint8_t pool_of[] = {
		[T_FD] = FDS + 1, [T_PID] = PIDS + 1, [T_LWP] = LWPS + 1, [T_PTR] = ADDRESSES + 1};
	const struct sysdesc *d = sysdesc(number);

	if (d == NULL || result < 0)
		return;
	if (result > 0 && d->result.type < sizeof(pool_of) && pool_of[d->result.type] != 0)
		put(pool_of[d->result.type] - 1, result);
	if (number == SYS_kobj_create)
		put(HANDLES, result);
	for (unsigned i = 0; i < d->nargs; i++) {
		const int32_t *at = (const int32_t *)arg[i];
		if (d->arg[i].type == T_INT_OUT && in_arena(at, 4)) {
			put(ids_of(number), at[0]);
		} else if (d->arg[i].type == T_PAIR_OUT && in_arena(at, 8)) {
			put(FDS, at[0]);
			put(FDS, at[1]);
		}
	}
}

/* --- values that mean nothing ---------------------------------------------------------------- */

uint64_t wild(struct rng *r)
{
	static const uint64_t values[] = {
		0,
		1,
		2,
		7,
		8,
		4095,
		4096,
		~0ull,
		~1ull,
		1ull << 31,
		(1ull << 31) - 1,
		1ull << 32,
		1ull << 63,
		(1ull << 63) - 1,
		WEFT_USER_END,
		WEFT_USER_END - 1,
		WEFT_USER_END - 4096,
		1ull << 47,
		0xffff800000000000ull,
		0xffffffff80000000ull,
		0xffffffff80100000ull,
	};
	switch (below(r, 4)) {
	case 0:
		return next(r);
	case 1:
		return next(r) >> below(r, 64);
	default:
		return ANY(r, values);
	}
}

/* --- addresses ------------------------------------------------------------------------------- */

/* A place in the arena, mostly with room behind it. */
static char *place(struct rng *r)
{
	switch (below(r, 32)) {
	case 0:
		return arena + ARENA - below(r, 64);
	case 1:
		return arena + below(r, ARENA - 2 * PAGE);
	case 2 ... 9:
		return arena + LOCKS / MEETING_PLACES * below(r, MEETING_PLACES);
	default:
		return arena + PAGE + (below(r, ARENA - 2 * PAGE) & ~7ull);
	}
}

/* With a page of room behind it, and not where others write. */
static uint64_t roomy(struct rng *r)
{
	return (uint64_t)arena + PAGE + (below(r, ARENA - 2 * PAGE) & ~7ull);
}

/* Around the start of a page, where something else may begin. */
static uint64_t edge(struct rng *r, uint64_t start, uint64_t size)
{
	return start + below(r, size / PAGE + 1) * PAGE - 32 + below(r, 48);
}

static uint64_t pointer(struct rng *r)
{
	switch (below(r, 32)) {
	case 0:
		return 0;
	case 1:
		return wild(r);
	case 2:
		return (uint64_t)readonly + below(r, PAGE);
	case 3:
		return (uint64_t)noaccess + below(r, PAGE);
	case 4:
		return (uint64_t)play + below(r, PLAY);
	case 5:
		return edge(r, (uint64_t)play, PLAY);
	case 6:
		return edge(r, (uint64_t)readonly, PAGE);
	case 7:
		return (uint64_t)pointer + below(r, PAGE); /* code */
	case 8:
		return (uint64_t)__auxval(AT_WEFT_TIMEPAGE) + below(r, PAGE);
	case 9:
		return one_in(r, 4) ? (uint64_t)__sys_lwp_schedctl() + below(r, 64)
				    : take(r, ADDRESSES, 0);
	default:
		return (uint64_t)place(r);
	}
}

/* --- structures ------------------------------------------------------------------------------ */

static uint64_t value(struct rng *r, const struct argdesc *d);

static void fill_fields(struct rng *r, char *at, const struct structdesc *s)
{
	for (unsigned i = 0; i < s->nfields; i++) {
		const struct fielddesc *f = &s->field[i];
		uint64_t v = value(r, &f->desc);
		memcpy(at + f->offset, &v, f->size < 8 ? f->size : 8);
	}
}

/* A structure that could be what the call wants. */
static char *structure(struct rng *r, const struct argdesc *d)
{
	const struct structdesc *s = sysdesc_struct(d->of);
	char *at = place(r);
	const struct special *how = special(s->name);

	if (!(d->dir & D_IN))
		return at;
	if (how->lock != 0 && !one_in(r, 16)) {
		/* Places of its own for each kind of lock. */
		at = arena + LOCKS + 16 * (how->lock * MEETING_PLACES + below(r, MEETING_PLACES));
		if (!one_in(r, 64))
			return at;
	}
	unsigned row = how->row;
	for (char *p = at; row > 0 && in_arena(p, s->size); row--, p += s->size) {
		fill_fields(r, p, s);
		if (how->fill != NULL)
			how->fill(r, p);
		if (one_in(r, 8))
			p[below(r, s->size)] ^= 1 << below(r, 8);
	}
	return at;
}

/* --- values by what they are for ------------------------------------------------------------- */

/* Ids that the random calls may use: no process that the run needs. */
static uint64_t safe_pid(struct rng *r, uint64_t v)
{
	int pid = v;

	if (pid != 0 && pid >= -harness && pid <= harness)
		return one_in(r, 2) ? (uint64_t)victim : 0;
	return v;
}

static uint64_t some_pid(struct rng *r)
{
	switch (below(r, 8)) {
	case 0:
		return 0;
	case 1:
		return -(uint64_t)victim;
	case 2:
		return victim + below(r, 8) - 4;
	case 3:
		return wild(r);
	case 4:
	case 5:
		return take(r, PIDS, victim);
	default:
		return victim;
	}
}

static uint64_t some_flags(struct rng *r, unsigned of)
{
	const struct flagdesc *f = sysdesc_flags(of);
	unsigned n = 0;
	uint64_t v = 0;

	while (f[n].name != NULL)
		n++;
	do
		v |= f[below(r, n)].value;
	while (one_in(r, 2));
	return one_in(r, 16) ? v ^ 1ull << below(r, 32) : v;
}

/*
 * Of the call whose arguments are made.  Another LWP's call may take their place: then a few
 * numbers have no meaning.
 */
static unsigned lwps_now; /* ids of ours are up to about here */
static unsigned ids_now;  /* the pool of its numbers */

static uint64_t some_lwp(struct rng *r)
{
	/* LWP 1 is the one that keeps the others going. */
	uint64_t v = one_in(r, 16)  ? wild(r)
		     : one_in(r, 4) ? take(r, LWPS, 2)
				    : 2 + below(r, lwps_now + 4);
	return (uint32_t)v == 1 ? 2 : v;
}

static uint64_t some_number(struct rng *r)
{
	return one_in(r, 8) ? wild(r) : one_in(r, 2) ? take(r, ids_now, below(r, 8)) : below(r, 16);
}

static uint64_t value(struct rng *r, const struct argdesc *d)
{
	char *at;

	switch ((enum argtype)d->type) {
	case T_NAMED:
		return one_in(r, 2) ? some_flags(r, d->of) : some_number(r);
	case T_INT:
	case T_ERRNO:
		return some_number(r);
	case T_HEX: /* a word of any meaning; an owner: 0 is the caller */
		if (one_in(r, 2))
			return 0;
		/* fallthrough */
	case T_LONG:
	case T_OCT:
		return one_in(r, 4) ? wild(r) : one_in(r, 4) ? below(r, 64) * PAGE : below(r, 4096);
	case T_NS:
		return below(r, 1000000);
	case T_SIZE:
		switch (below(r, 8)) {
		case 0:
			return wild(r);
		case 1:
		case 2:
			return below(r, 8);
		default:
			return below(r, 4 * PAGE);
		}
	case T_FD:
		return one_in(r, 16) ? wild(r) : one_in(r, 2) ? take(r, FDS, 0) : below(r, 24);
	case T_PID:
		return some_pid(r);
	case T_LWP:
		return some_lwp(r);
	case T_SIG: {
		/* Seldom one that nobody can handle: the victim is to last. */
		uint64_t sig = below(r, 65);
		bool ends = (sig >= WEFT_SIGILL && sig <= WEFT_SIGSTOP) || sig == WEFT_SIGTRAP;
		return one_in(r, 16) ? wild(r) << 8 : ends && !one_in(r, 64) ? WEFT_SIGCHLD : sig;
	}
	case T_CPU:
		return one_in(r, 8) ? wild(r) : below(r, 5);
	case T_PATH:
		at = place(r);
		if (in_arena(at, 64) && !one_in(r, 16))
			strcpy(at, ANY(r, paths));
		return (uint64_t)at;
	case T_STRV:
		at = place(r);
		if (in_arena(at, 64)) {
			const char *const v[] = {"true", one_in(r, 8) ? (char *)pointer(r) : "x",
						 NULL};
			memcpy(at, v, sizeof(v));
		}
		return (uint64_t)at;
	case T_LWPS: { /* or handles */
		bool handles = one_in(r, 2);
		at = place(r);
		for (unsigned i = 0; in_arena(at, 64) && i < 8; i++)
			((uint32_t *)at)[i] = handles ? take(r, HANDLES, below(r, 8)) : some_lwp(r);
		return (uint64_t)at;
	}
	case T_PTR:
		return one_in(r, 400)  ? pointer(r)
		       : one_in(r, 16) ? take(r, ADDRESSES, 0)
				       : (uint64_t)play + (below(r, PLAY) & ~(uint64_t)(PAGE - 1));
	case T_IDTYPE: /* not all processes, nor all of some class */
		return one_in(r, 2) ? WEFT_P_PID : WEFT_P_LWPID;
	case T_FLAGS:
		return some_flags(r, d->of);
	case T_STRUCT:
		return (uint64_t)structure(r, d);
	case T_SET:
		return next(r) & next(r);
	case T_SET_IN:
		at = place(r);
		if (in_arena(at, 8))
			*(uint64_t *)at = next(r) & next(r);
		return (uint64_t)at;
	case T_INT_IN:
		at = place(r);
		if (in_arena(at, 4))
			*(int32_t *)at = some_number(r);
		return (uint64_t)at;
	case T_NONE:
	case T_CHARS:
	case T_IN:
	case T_OUT:
	case T_INT_OUT:
	case T_PAIR_OUT:
	case T_INTS_OUT:
	case T_INTS:
	case T_SET_OUT:
	case T_VARIANT: /* see arguments() */
		break;
	}
	return pointer(r);
}

/* --- all of a call's ------------------------------------------------------------------------- */

static bool is_pointer(const struct argdesc *d)
{
	switch (d->type) {
	case T_PATH:
	case T_STRV:
	case T_IN:
	case T_OUT:
	case T_INT_IN:
	case T_INT_OUT:
	case T_PAIR_OUT:
	case T_INTS_OUT:
	case T_LWPS:
	case T_SET_IN:
	case T_SET_OUT:
	case T_STRUCT:
		return true;
	default:
		return false;
	}
}

/* One argument, now and then of no sense, but none that would end the run. */
static uint64_t argument(struct rng *r, const struct argdesc *d)
{
	uint64_t v = value(r, d);

	if (d->type == T_IDTYPE)
		return v;
	if (one_in(r, 24))
		v = is_pointer(d) ? pointer(r) : wild(r);
	if (d->type == T_PID)
		return safe_pid(r, v);
	if (d->type == T_LWP && (uint32_t)v == 1)
		return 2;
	return v;
}

/* What the argument of type T_IDTYPE before it says. */
static uint64_t id_of(struct rng *r, unsigned type)
{
	static const struct argdesc pid = {T_PID, 0, 0}, lwp = {T_LWP, 0, 0};

	return one_in(r, 4) ? (uint64_t)WEFT_P_MYID : argument(r, type == WEFT_P_PID ? &pid : &lwp);
}

void arguments(struct rng *r, unsigned number, unsigned lwps, uint64_t arg[6])
{
	const struct sysdesc *d = sysdesc(number);

	lwps_now = lwps;
	ids_now = d != NULL ? ids_of(number) : IDS;
	for (unsigned i = 0; i < 6; i++)
		if (d == NULL || i >= d->nargs)
			arg[i] = wild(r);
		else if (i > 0 && d->arg[i - 1].type == T_IDTYPE)
			arg[i] = id_of(r, arg[i - 1]);
		else
			arg[i] = argument(r, &d->arg[i]);
	if (number == SYS_priocntl && !one_in(r, 8))
		fill_parameters(r, arg[2], (void *)(arg[3] = roomy(r)));
	/* A time of day; what fill_timespec makes is mostly before the machine's start. */
	if (number == SYS_clock_settime && in_arena((char *)arg[1], sizeof(struct weft_timespec)) &&
	    !one_in(r, 4))
		((struct weft_timespec *)arg[1])->sec = 1500000000 + below(r, 1000000000);
	if (number == SYS_execve || number == SYS_spawn) {
		/* Something that ends soon. */
		char *at = (char *)roomy(r);
		strcpy(at, ANY(r, programs));
		if (number == SYS_execve)
			arg[0] = (uint64_t)at;
		else if (in_arena((char *)arg[0], sizeof(struct spawn_args)))
			((struct spawn_args *)arg[0])->path = (uint64_t)at;
	}
}

bool arguments_init(int harness_pid, uint64_t run_seed)
{
	struct rng r;
	int fd = open(HOME "/shared", O_RDWR);

	harness = harness_pid;
	victim = getpid();
	/* A page behind the arena that is not there. */
	arena = mmap(NULL, ARENA + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
	readonly = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANON, -1, 0);
	noaccess = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANON, -1, 0);
	play = mmap(NULL, PLAY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
	if (fd < 0 || arena == MAP_FAILED || readonly == MAP_FAILED || noaccess == MAP_FAILED ||
	    play == MAP_FAILED || munmap(arena + ARENA, PAGE) != 0 ||
	    mmap(arena, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) != arena)
		return false;
	close(fd);
	first_handles();
	seed(&r, run_seed, 1000);
	for (unsigned i = PAGE; i < ARENA; i += 8)
		*(uint64_t *)(arena + i) = one_in(&r, 4) ? wild(&r) : below(&r, 256);
	return true;
}
