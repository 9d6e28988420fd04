/*
 * fuzz.c - fuzz [-s SEED] [-n CALLS] [-p PROCESSES] [-l LWPS] [-t NAME,NAME...]: random
 * system calls with random and half-valid arguments, from several processes with several
 * LWPs each.  All that is asked of the kernel is to survive, and to have as many free
 * pages afterwards as before.
 *
 * The harness starts victims, one batch of calls each, looks on, kills who takes too long,
 * and starts the next: a victim may crash, exec, exit, or hang at any time, and that is
 * fine.  It counts the calls by reading the victims' counters out of their memory.
 * In a victim LWP 1 makes no random call: it wakes the others, and starts a new one when
 * one seems to be stuck for good.  Two things are kept from the random calls: the end of
 * the machine, and the harness's and the first process's ids.
 *
 * Calls come from SYSCALLS, arguments by the table of weft/sysdesc.h; a call that is not
 * in the table gets arguments of any kind.  The whole run is a function of its seed, in
 * exact timing to the instruction.
 */
#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <weft/abi.h>
#include <weft/errno.h>
#include <weft/lwp.h>
#include <weft/mman.h>
#include <weft/proc.h>
#include <weft/processor.h>
#include <weft/procset.h>
#include <weft/signal.h>
#include <weft/sys.h>
#include <weft/sysdesc.h>
#include <weft/time.h>

#define BATCH 20000      /* calls of one victim */
#define STRAY_MS 100     /* a victim without calls for so long is killed; its children too */
#define KILL_MS 5000     /* by then who was killed is gone, also on a slow host */
#define POLL_MS 5        /* how often the harness looks */
#define MAX_VICTIMS 16   /* at a time */
#define SLOTS 32         /* LWPs that a victim may use up */
#define STUCK_LOOKS 4    /* without a call in between: it will not come back */
#define CHILD_CALLS 40   /* that a forked victim makes: fewer forks than it takes to grow */
#define ARENA (64 << 10) /* bytes of memory that arguments point at */
#define PLAY (256 << 10) /* bytes of address space to map and unmap in */
#define HOME "/tmp/fuzz"

struct rng {
	uint64_t state;
};

static uint64_t next(struct rng *r)
{
	/* xorshift64*: Marsaglia 2003, Vigna 2016. */
	r->state ^= r->state >> 12;
	r->state ^= r->state << 25;
	r->state ^= r->state >> 27;
	return r->state * 0x2545f4914f6cdd1dull;
}

static uint64_t below(struct rng *r, uint64_t n)
{
	return (next(r) >> 33) % n;
}

static bool one_in(struct rng *r, unsigned n)
{
	return below(r, n) == 0;
}

static void seed(struct rng *r, uint64_t a, uint64_t b)
{
	r->state = (a + 1) * 0x9e3779b97f4a7c15ull ^ (b + 1) * 0xbf58476d1ce4e5b9ull;
	for (int i = 0; i < 4; i++)
		next(r);
}

/* --- the victim: arguments ----------------------------------------------------------------- */

struct slot {
	struct rng rng;
	uint32_t id; /* 0: never started */
	volatile uint64_t calls;
	uint64_t seen;
	unsigned stuck; /* looks without a change */
	char stack[8192] __attribute__((aligned(16)));
};

static struct slot slots[SLOTS];
static unsigned nslots; /* used up */
static volatile uint64_t calls_done;
static uint64_t quota;
static int harness, victim;
static char *arena, *readonly, *noaccess, *play;
static uint16_t numbers[WEFT_SYSCALL_MAX];
static unsigned nnumbers, fork_number = ~0u;

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
	"/bin/true",
	"/dev",
	"/dev/null",
	"/dev/zero",
	"/dev/full",
	"/dev/random",
	".",
	"/proc",
	"/proc/self/status",
	"/proc/self",
	"/proc/self/maps",
};

/* Those that exist to be run; the others are for everything else. */
static const char *const programs[] = {"/bin/true", "/bin/false", HOME "/f0", HOME};

static uint64_t wild(struct rng *r)
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
		return values[below(r, sizeof(values) / sizeof(values[0]))];
	}
}

/* A place in the arena, mostly with room behind it. */
static char *place(struct rng *r)
{
	switch (below(r, 16)) {
	case 0:
		return arena + ARENA - below(r, 64);
	case 1:
		return arena + below(r, ARENA - 4096);
	default:
		return arena + (below(r, ARENA - 4096) & ~7ull);
	}
}

static uint64_t pointer(struct rng *r)
{
	switch (below(r, 32)) {
	case 0:
		return 0;
	case 1:
		return wild(r);
	case 2:
		return (uint64_t)readonly + below(r, 4096);
	case 3:
		return (uint64_t)noaccess + below(r, 4096);
	case 4:
		return (uint64_t)play + below(r, PLAY);
	case 5:
		return (uint64_t)pointer + below(r, 4096); /* code */
	default:
		return (uint64_t)place(r);
	}
}

/* Ids that the random calls may use: nobody whom the run needs. */
static uint64_t safe_pid(struct rng *r, uint64_t v)
{
	int pid = v;

	if (pid != 0 && pid >= -harness && pid <= harness)
		return one_in(r, 2) ? (uint64_t)victim : 0;
	return v;
}

/* Is all of [p, p + n) the arena's? */
static bool in_arena(const char *p, size_t n)
{
	return p >= arena && p + n <= arena + ARENA;
}

static uint64_t value(struct rng *r, const struct argdesc *d);

static void fill_struct(struct rng *r, char *at, const struct structdesc *s)
{
	if (!in_arena(at, s->size))
		return;
	for (unsigned i = 0; i < s->nfields; i++) {
		const struct fielddesc *f = &s->field[i];
		uint64_t v = value(r, &f->desc);
		memcpy(at + f->offset, &v, f->size < 8 ? f->size : 8);
	}
	if (one_in(r, 8))
		at[below(r, s->size)] ^= 1 << below(r, 8);
}

/* What a new LWP runs: it ends at once, and needs no stack for it. */
__attribute__((naked)) static void short_life(void)
{
	__asm__ volatile("movl %0, %%eax; syscall" ::"i"(SYS_lwp_exit));
}

/* A handler of signals: it goes back to the context that it is given. */
__attribute__((naked)) static void return_at_once(void)
{
	__asm__ volatile("movq %%rdx, %%rdi; movl %0, %%eax; syscall" ::"i"(SYS_sigreturn));
}

/* A structure that could be what the call wants. */
static char *structure(struct rng *r, const struct argdesc *d)
{
	const struct structdesc *s = sysdesc_struct(d->of);
	char *at = place(r);

	if (!(d->dir & D_IN))
		return at;
	fill_struct(r, at, s);
	if (strcmp(s->name, "weft_timespec") == 0 && in_arena(at, s->size)) {
		/* Short, mostly: the calls are to go on. */
		const int64_t t[2] = {one_in(r, 64) ? (int64_t)wild(r) : 0,
				      one_in(r, 32) ? wild(r) : below(r, 200000)};
		memcpy(at, t, sizeof(t));
	} else if (strcmp(s->name, "weft_sigaction") == 0 && in_arena(at, s->size)) {
		struct weft_sigaction *a = (struct weft_sigaction *)at;
		a->entry = one_in(r, 256) ? wild(r) : (uint64_t)return_at_once;
		a->handler = one_in(r, 2) ? below(r, 2) : a->entry;
	} else if (strcmp(s->name, "lwp_create") == 0 && in_arena(at, s->size)) {
		struct lwp_create *c = (struct lwp_create *)at;
		c->entry = one_in(r, 1024) ? wild(r) : (uint64_t)short_life;
		c->fsbase = one_in(r, 8) ? wild(r) : 0;
	}
	return at;
}

static uint64_t value(struct rng *r, const struct argdesc *d)
{
	static const uint8_t harmless[] = {0, 0, WEFT_SIGCHLD, 64};
	char *at;

	switch (d->type) {
	case T_INT:
	case T_LONG:
	case T_HEX:
	case T_OCT:
	case T_ERRNO:
		return one_in(r, 4) ? wild(r) : below(r, 4096);
	case T_NS:
		return below(r, 1000000);
	case T_SIZE:
		return one_in(r, 8) ? wild(r) : below(r, 4 * 4096);
	case T_FD:
		return one_in(r, 16) ? wild(r) : below(r, 24);
	case T_PID:
		switch (below(r, 6)) {
		case 0:
			return 0;
		case 1:
			return -(uint64_t)victim;
		case 2:
			return victim + below(r, 8) - 4;
		case 3:
			return wild(r);
		default:
			return victim;
		}
	case T_LWP:
		/* LWP 1 is the one that keeps the others going. */
		return one_in(r, 16) ? wild(r) & ~1ull : 2 + below(r, nslots + 4);
	case T_SIG:
		/* Mostly none, or one that does not kill: the victim is to last. */
		return one_in(r, 64)  ? below(r, 65)
		       : one_in(r, 8) ? wild(r) << 8
				      : harmless[below(r, 4)];
	case T_CPU:
		return one_in(r, 8) ? wild(r) : below(r, 5);
	case T_PATH:
		at = place(r);
		if (in_arena(at, 64) && !one_in(r, 16))
			strcpy(at, paths[below(r, sizeof(paths) / sizeof(paths[0]))]);
		return (uint64_t)at;
	case T_STRV:
		at = place(r);
		if (in_arena(at, 64)) {
			const char *const v[] = {"true", one_in(r, 8) ? (char *)pointer(r) : "x",
						 NULL};
			memcpy(at, v, sizeof(v));
		}
		return (uint64_t)at;
	case T_LWPS:
		at = place(r);
		if (in_arena(at, 64))
			for (int i = 0; i < 8; i++)
				((uint32_t *)at)[i] = 2 + below(r, nslots + 2);
		return (uint64_t)at;
	case T_PTR:
		return one_in(r, 400) ? pointer(r)
				      : (uint64_t)play + (below(r, PLAY) & ~(uint64_t)4095);
	case T_IDTYPE: /* not all processes, nor all of some class */
		return one_in(r, 2) ? WEFT_P_PID : WEFT_P_LWPID;
	case T_FLAGS: {
		const struct flagdesc *f = sysdesc_flags(d->of);
		unsigned n = 0;
		uint64_t v = 0;
		while (f[n].name != NULL)
			n++;
		do
			v |= f[below(r, n)].value;
		while (one_in(r, 2));
		return one_in(r, 16) ? v ^ 1ull << below(r, 32) : v;
	}
	case T_STRUCT:
		return (uint64_t)structure(r, d);
	case T_SET:
	case T_SET_IN:
		at = place(r);
		if (d->type == T_SET)
			return next(r) & next(r);
		if (in_arena(at, 8))
			*(uint64_t *)at = next(r) & next(r);
		return (uint64_t)at;
	default:
		return pointer(r);
	}
}

static bool is_program(unsigned number)
{
	const char *name = sysdesc_name(number);
	return strcmp(name, "execve") == 0 || strcmp(name, "spawn") == 0;
}

static void arguments(struct rng *r, unsigned number, uint64_t arg[6])
{
	static const struct argdesc any[] = {{T_INT, 0, 0}, {T_FD, 0, 0},   {T_PTR, 0, 0},
					     {T_PTR, 0, 0}, {T_SIZE, 0, 0}, {T_LWP, 0, 0}};
	const struct sysdesc *d = sysdesc(number);

	for (unsigned i = 0; i < 6; i++) {
		const struct argdesc *what = &any[below(r, sizeof(any) / sizeof(any[0]))];
		if (d != NULL && i < d->nargs)
			what = &d->arg[i];
		bool is_pointer = what->type >= T_PATH && what->type != T_FLAGS &&
				  what->type != T_IDTYPE && what->type != T_SET &&
				  what->type != T_LWPS;
		arg[i] = value(r, what);
		if (one_in(r, 24))
			arg[i] = is_pointer ? pointer(r) : wild(r);
		if (what->type == T_IDTYPE)
			arg[i] = value(r, what);
		if (what->type == T_PID)
			arg[i] = safe_pid(r, arg[i]);
		if (what->type == T_LWP && (uint32_t)arg[i] == 1)
			arg[i] = 2;
	}
	if (is_program(number)) {
		/* Something that ends soon. */
		char *at = arena + (below(r, ARENA - 4096) & ~7ull);
		strcpy(at, programs[below(r, sizeof(programs) / sizeof(programs[0]))]);
		uint64_t *path = number == SYS_spawn && in_arena((char *)arg[0], 8)
					 ? (uint64_t *)arg[0]
					 : &arg[0];
		if (number != SYS_spawn || path != &arg[0])
			*path = (uint64_t)at;
	}
}

/* --- the victim: LWPs ------------------------------------------------------------------------- */

/* Calls after which an LWP makes no other, or seldom: less often, so that there is time for
 * the rest. */
static bool is_last(unsigned number)
{
	static const uint16_t calls[] = {SYS_exit,         SYS_lwp_exit,       SYS_sigreturn,
					 SYS_sigsuspend,   SYS_upcall_wait,    SYS_lwp_wait,
					 SYS_execve,       SYS_lwp_mutex_lock, SYS_lwp_cond_wait,
					 SYS_lwp_sema_wait};

	for (unsigned i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i] == number)
			return true;
	return false;
}

/* True: we may be another process now. */
static bool one_call(struct rng *r)
{
	uint64_t arg[6];
	unsigned number = numbers[below(r, nnumbers)];

	/* Numbers that are nobody's too. */
	if (one_in(r, 64))
		number = below(r, WEFT_SYSCALL_MAX + 8);
	if (number == SYS_reboot || (is_last(number) && !one_in(r, 64)))
		return false;
	if (sysdesc_name(number) != NULL)
		arguments(r, number, arg);
	else
		for (unsigned i = 0; i < 6; i++)
			arg[i] = wild(r);
	long result = __syscall6(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
	__atomic_fetch_add(&calls_done, 1, __ATOMIC_RELAXED);
	return result == 0 && number == fork_number;
}

static void lwp_main(struct slot *s)
{
	for (;;) {
		bool may_be_copy = one_call(&s->rng);
		s->calls++;
		if (may_be_copy && __sys_getpid() != victim) {
			/* We are a copy, alone: a little more, and out. */
			victim = __sys_getpid();
			for (int i = 0; i < CHILD_CALLS; i++)
				one_call(&s->rng);
			__sys_exit(0);
		}
	}
}

static bool start_lwp(uint64_t run_seed)
{
	struct slot *s = &slots[nslots];

	if (nslots == SLOTS)
		return false;
	seed(&s->rng, run_seed, nslots);
	nslots++;
	struct lwp_create c = {
		.entry = (uint64_t)lwp_main,
		.stack = (uint64_t)(s->stack + sizeof(s->stack)) - 8,
		.arg = (uint64_t)s,
	};
	long id = __sys_lwp_create(&c);
	s->id = id > 0 ? id : 0;
	return true;
}

/* fuzz -v HARNESS SEED CALLS LWPS [NAMES] */
static int be_victim(char **argv)
{
	harness = atoi(argv[0]);
	victim = getpid();
	uint64_t run_seed = strtoull(argv[1], NULL, 0);
	quota = strtoull(argv[2], NULL, 0);
	unsigned lwps = atoi(argv[3]);

	/* A page behind the arena that is not there. */
	arena = mmap(NULL, ARENA + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
	readonly = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANON, -1, 0);
	noaccess = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANON, -1, 0);
	play = mmap(NULL, PLAY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
	if (arena == MAP_FAILED || readonly == MAP_FAILED || noaccess == MAP_FAILED ||
	    play == MAP_FAILED || munmap(arena + ARENA, 4096) != 0)
		_exit(2);
	struct rng r;
	seed(&r, run_seed, 1000);
	for (unsigned i = 0; i < ARENA; i += 8)
		*(uint64_t *)(arena + i) = one_in(&r, 4) ? wild(&r) : below(&r, 256);
	chdir(HOME);
	open("f0", O_RDWR | O_CREAT, 0644);
	open("/dev/null", O_RDWR);
	open("/bin/true", O_RDONLY);

	for (unsigned i = 0; i < lwps; i++)
		start_lwp(run_seed);
	while (calls_done < quota) {
		const struct weft_timespec t = {0, 1000000};
		__sys_lwp_sleep(WEFT_CLOCK_MONOTONIC, 0, &t);
		for (unsigned i = 0; i < nslots; i++) {
			struct slot *s = &slots[i];
			if (s->stuck > STUCK_LOOKS)
				continue;
			s->stuck = s->calls == s->seen ? s->stuck + 1 : 0;
			s->seen = s->calls;
			__sys_lwp_continue(s->id);
			__sys_lwp_unpark(s->id);
			if (s->stuck > STUCK_LOOKS && !start_lwp(run_seed))
				__sys_exit(0);
		}
	}
	__sys_exit(0);
}

/* --- the harness --------------------------------------------------------------------------------- */

struct watched {
	int pid; /* 0: free */
	uint64_t calls;
	uint64_t changed; /* when `calls` last did, ns */
};

static struct watched watched[MAX_VICTIMS];

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void start_victim(struct watched *w, uint64_t seed_of_run, unsigned long batch,
			 unsigned lwps, const char *names)
{
	char id[16], seed_text[32], calls[16], nlwps[16];
	char *argv[] = {"fuzz", "-v", id, seed_text, calls, nlwps, (char *)names, NULL};
	char *envp[] = {NULL};
	struct spawn_args a = {
		.path = (uint64_t) "/bin/fuzz",
		.argv = (uint64_t)argv,
		.envp = (uint64_t)envp,
		.fd = {-1, -1, -1},
		.flags = SPAWN_NEWGROUP,
	};

	sprintf(id, "%d", getpid());
	sprintf(seed_text, "%llu", (unsigned long long)(seed_of_run * 1000003 + batch));
	sprintf(calls, "%u", BATCH);
	sprintf(nlwps, "%u", lwps);
	long pid = __sys_spawn(&a);
	*w = (struct watched){.pid = pid > 0 ? pid : 0, .changed = now()};
}

/* What a victim has done so far; of one that is gone or has become another program, what was
 * seen last. */
static void look(struct watched *w)
{
	struct weft_procinfo i;
	uint64_t calls;

	if (__sys_procinfo(w->pid, &i) == w->pid && strcmp(i.name, "fuzz") == 0 &&
	    __sys_proc_read(w->pid, (uint64_t)&calls_done, &calls, 8) == 8 && calls > w->calls &&
	    calls < 10 * BATCH) {
		w->calls = calls;
		w->changed = now();
	}
}

static struct watched *find(int pid)
{
	for (unsigned i = 0; i < MAX_VICTIMS; i++)
		if (watched[i].pid == pid)
			return &watched[i];
	return NULL;
}

/* Kills every process but us and the first one that is older than this, or a victim that has
 * made no call for so long; returns how many there are. */
static int sweep(uint64_t ns)
{
	struct weft_procinfo i;
	int others = 0;

	for (long pid = 1; (pid = __sys_procinfo(pid, &i)) > 0; pid++) {
		if (pid == 1 || pid == getpid())
			continue;
		struct watched *w = find(pid);
		others++;
		if (now() - (w != NULL ? w->changed : i.start) > ns)
			__sys_kill(pid, WEFT_SIGKILL);
	}
	return others;
}

/* Somebody does not die: says who, and ends the run. */
static void accuse(void)
{
	struct weft_procinfo p;
	struct lwp_info l;

	for (long pid = 1; (pid = __sys_procinfo(pid, &p)) > 0; pid++)
		for (long id = 1; (id = __sys_lwp_info(pid, id, &l)) > 0; id++)
			printf("fuzz: pid %ld (parent %d, %s) lwp %ld: state %u, call %d, %s\n",
			       pid, p.ppid, p.name, id, l.state, (int)l.syscall, l.wchan);
	errx(1, "processes that were killed %d ms ago are still there", KILL_MS);
}

/* Brings back what belongs to the whole machine: CPUs that are offline or in a set. */
static void restore(void)
{
	int sets[WEFT_MAXPSET];
	unsigned n = WEFT_MAXPSET;

	if (__sys_pset_list(sets, &n) == 0)
		while (n > 0)
			__sys_pset_destroy(sets[--n]);
	for (unsigned cpu = 0; __sys_p_online(cpu, P_ONLINE) >= 0; cpu++)
		;
}

static void nap(void)
{
	const struct weft_timespec t = {0, POLL_MS * 1000000};

	__sys_lwp_sleep(WEFT_CLOCK_MONOTONIC, 0, &t);
}

/* Removes what lies in a directory, and what lies in that. */
static void clean(const char *dir)
{
	char path[600];
	struct dirent *e;
	DIR *d = opendir(dir);

	while (d != NULL && (e = readdir(d)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		if (unlink(path) != 0) {
			clean(path);
			rmdir(path);
		}
	}
	if (d != NULL)
		closedir(d);
}

/* Runs victims until they have made so many calls; batches count on from *batch.  Returns the
 * calls. */
static uint64_t run(uint64_t run_seed, unsigned long *batch, uint64_t calls, unsigned processes,
		    unsigned lwps, const char *names)
{
	uint64_t total = 0;
	int status;
	long pid;

	mkdir(HOME, 0777);
	while (total < calls) {
		for (unsigned i = 0; i < processes; i++)
			if (watched[i].pid == 0)
				start_victim(&watched[i], run_seed, (*batch)++, lwps, names);
		nap();
		for (unsigned i = 0; i < processes; i++)
			if (watched[i].pid != 0)
				look(&watched[i]);
		sweep(STRAY_MS * 1000000ull);
		restore();
		while ((pid = __sys_waitpid(-1, &status, WEFT_WNOHANG, NULL)) > 0) {
			struct watched *w = find(pid);
			if (w == NULL)
				continue;
			total += w->calls;
			w->pid = 0;
			w->calls = 0;
		}
	}
	uint64_t began = now();
	while (sweep(0) > 0) {
		while (__sys_waitpid(-1, &status, WEFT_WNOHANG, NULL) > 0)
			;
		nap();
		if (now() - began > KILL_MS * 1000000ull)
			accuse();
	}
	memset(watched, 0, sizeof(watched));
	restore();
	clean(HOME);
	rmdir(HOME);
	return total;
}

/* fuzz -g: takes memory until there is none left, which empties the kernel's caches. */
static void __attribute__((noreturn)) glutton(void)
{
	const size_t size = 1ull << 30;

	for (;;) {
		char *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANON | MAP_NORESERVE, -1, 0);
		for (size_t at = 0; at < size; at += WEFT_PAGE_SIZE)
			p[at] = 1;
	}
}

/* With nothing left in the kernel's caches. */
static uint64_t free_pages(void)
{
	char *argv[] = {"fuzz", "-g", NULL}, *envp[] = {NULL};
	struct spawn_args a = {
		.path = (uint64_t) "/bin/fuzz",
		.argv = (uint64_t)argv,
		.envp = (uint64_t)envp,
		.fd = {-1, -1, -1},
	};
	struct weft_sysinfo i;
	int status;

	long pid = __sys_spawn(&a);
	if (pid < 0 || __sys_waitpid(pid, &status, 0, NULL) != pid)
		errx(1, "cannot take all memory");

	__sys_sysinfo(&i);
	return i.mem_free / WEFT_PAGE_SIZE;
}

/* The calls to make: those in a comma list of names, or all. */
static void choose(const char *names)
{
	for (unsigned i = 0; i < WEFT_SYSCALL_MAX; i++) {
		const char *name = sysdesc_name(i);
		if (name == NULL)
			continue;
		if (strcmp(name, "fork") == 0)
			fork_number = i;
		size_t n = strlen(name);
		bool named = names == NULL;
		for (const char *at = names; at != NULL && !named; at = strchr(at, ',')) {
			at += *at == ',';
			named = strncmp(at, name, n) == 0 && (at[n] == ',' || at[n] == '\0');
		}
		if (named)
			numbers[nnumbers++] = i;
	}
	if (nnumbers == 0)
		errx(2, "no such call: %s", names);
}

int main(int argc, char **argv)
{
	uint64_t run_seed = 1, calls = 100000;
	unsigned processes = 4, lwps = 3;
	const char *names = NULL;
	unsigned long batch = 0;
	int c;

	if (argc == 2 && strcmp(argv[1], "-g") == 0)
		glutton();
	if (argc >= 6 && strcmp(argv[1], "-v") == 0) {
		choose(argc > 6 ? argv[6] : NULL);
		return be_victim(argv + 2);
	}
	while ((c = getopt(argc, argv, "s:n:p:l:t:")) != -1)
		switch (c) {
		case 's':
			run_seed = strtoull(optarg, NULL, 0);
			break;
		case 'n':
			calls = strtoull(optarg, NULL, 0);
			break;
		case 'p':
			processes = atoi(optarg);
			break;
		case 'l':
			lwps = atoi(optarg);
			break;
		case 't':
			names = optarg;
			break;
		default:
			return 2;
		}
	if (processes < 1 || processes > MAX_VICTIMS || lwps < 1 || lwps > SLOTS)
		errx(2, "1 to %d processes, 1 to %d LWPs", MAX_VICTIMS, SLOTS);
	choose(names);
	printf("fuzz: seed %llu, %u system calls, %u processes of %u LWPs\n",
	       (unsigned long long)run_seed, nnumbers, processes, lwps);
	fflush(stdout);

	/* What the kernel keeps for next time is there after the first victims. */
	uint64_t done = run(run_seed, &batch, calls / 4, processes, lwps, names);
	uint64_t before = free_pages();
	done += run(run_seed, &batch, calls, processes, lwps, names);
	uint64_t after = free_pages();
	printf("fuzz: %llu calls by %lu processes; pages free: %llu before, %llu after\n",
	       (unsigned long long)done, batch, (unsigned long long)before,
	       (unsigned long long)after);
	return 0;
}
