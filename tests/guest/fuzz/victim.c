/*
 * victim.c - a process that makes random system calls from several LWPs.
 *
 * LWP 1 watches the others.  They are raw LWPs, without the C library, so that nothing is lost
 * when one of them is stopped or its memory is taken away.
 */
#include "fuzz.h"
#include <err.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <weft/lwp.h>
#include <weft/priocntl.h>
#include <weft/signal.h>
#include <weft/sys.h>
#include <weft/sysdesc.h>
#include <weft/time.h>

#define LOOK_NS 1000000
#define POKE_LOOKS 2   /* without a call in between: a signal ends its sleep */
#define STUCK_LOOKS 4  /* it will not come back */
#define CHILD_CALLS 40 /* that a forked victim makes: fewer forks than it takes to grow */
#define FORCED_AT 20   /* the call of the first LWP that is one of the rare ones */

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
static int self;        /* our process */
static struct report *report;
static uint16_t numbers[WEFT_SYSCALL_MAX];
static unsigned nnumbers;

/* Calls after which an LWP makes no other, or seldom: less often, so that there is time for
 * the rest. */
static const uint16_t last_calls[] = {
	SYS_exit,
	SYS_lwp_exit,
	SYS_sigreturn,
	SYS_sigsuspend,
	SYS_upcall_wait,
	SYS_lwp_wait,
	SYS_execve,
	SYS_lwp_mutex_lock,
	SYS_lwp_cond_wait,
	SYS_lwp_sema_wait,
	SYS_lwp_rwlock_rdlock,
	SYS_lwp_rwlock_wrlock,
	SYS_lwp_barrier_wait,
};
#define NLAST (sizeof(last_calls) / sizeof(last_calls[0]))
static unsigned forced; /* a call that this victim certainly makes; 0: none */

unsigned choose_calls(const char *names)
{
	nnumbers = 0;
	for (unsigned i = 0; i < WEFT_SYSCALL_MAX; i++) {
		const char *name = sysdesc_name(i);
		if (name == NULL || i == SYS_reboot)
			continue;
		if (sysdesc(i) == NULL)
			errx(1, "%s: nothing is known of its arguments", name);
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
	return nnumbers;
}

static bool is_last(unsigned number)
{
	for (unsigned i = 0; i < NLAST; i++)
		if (last_calls[i] == number)
			return true;
	return false;
}

static unsigned pick(struct rng *r)
{
	for (;;) {
		/* Numbers that are nobody's too. */
		unsigned number = one_in(r, 64) ? below(r, WEFT_SYSCALL_MAX + 8)
						: numbers[below(r, nnumbers)];
		if (number != SYS_reboot && (!is_last(number) || one_in(r, 64)))
			return number;
	}
}

static void count(uint32_t *of, unsigned number)
{
	if (number < WEFT_SYSCALL_MAX)
		__atomic_fetch_add(&of[number], 1, __ATOMIC_RELAXED);
}

/* True: we may be another process now. */
static bool one_call(struct rng *r, unsigned number)
{
	uint64_t arg[6];

	arguments(r, number, nslots, arg);
	/* Before it: it may be the last thing that we do. */
	__atomic_fetch_add(&report->calls, 1, __ATOMIC_RELAXED);
	count(report->made, number);
	long result = __syscall6(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
	if (result >= 0)
		count(report->good, number);
	else if (number < WEFT_SYSCALL_MAX && -result < ERRORS)
		__atomic_fetch_or(&report->errors[number][-result / 64], 1ull << -result % 64,
				  __ATOMIC_RELAXED);
	arguments_learn(number, arg, result);
	return result == 0 && number == SYS_fork;
}

static void lwp_main(struct slot *s)
{
	for (;;) {
		bool now = s == &slots[0] && s->calls == FORCED_AT && forced != 0;
		bool may_be_copy = one_call(&s->rng, now ? forced : pick(&s->rng));
		s->calls++;
		if (may_be_copy && __sys_getpid() != self) {
			/* We are a copy, alone: a little more, and out. */
			self = __sys_getpid();
			for (int i = 0; i < CHILD_CALLS; i++)
				one_call(&s->rng, pick(&s->rng));
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

/* Wakes an LWP by all means that there are; starts another if it has not moved for long. */
static void tend(struct slot *s, uint64_t run_seed)
{
	if (s->stuck > STUCK_LOOKS)
		return;
	s->stuck = s->calls == s->seen ? s->stuck + 1 : 0;
	s->seen = s->calls;
	__sys_lwp_continue(s->id);
	__sys_lwp_unpark(s->id);
	if (s->stuck == POKE_LOOKS)
		__sys_lwp_kill(s->id, WEFT_SIGCHLD);
	if (s->stuck > STUCK_LOOKS && !start_lwp(run_seed))
		__sys_exit(0);
}

/* Most signals are handled, and kill nobody; the faults' do. */
static void handle_signals(void)
{
	const struct weft_sigaction a = {.handler = (uint64_t)return_at_once,
					 .entry = (uint64_t)return_at_once,
					 .flags = WEFT_SA_SIGINFO};
	static const uint8_t faults[] = {WEFT_SIGILL, WEFT_SIGTRAP, WEFT_SIGBUS, WEFT_SIGFPE,
					 WEFT_SIGSEGV};

	for (int sig = 1; sig <= 64; sig++)
		if (memchr(faults, sig, sizeof(faults)) == NULL)
			__sys_sigaction(sig, &a, NULL);
}

int be_victim(char **argv)
{
	int harness = atoi(argv[0]);
	unsigned slot = atoi(argv[1]);
	uint64_t run_seed = strtoull(argv[2], NULL, 0);
	unsigned long batch = strtoul(argv[3], NULL, 0);
	unsigned lwps = atoi(argv[4]);
	struct pcparms ordinary = {.pc_cid = WEFT_CLASS_TS, .ts = {0, 0}};

	choose_calls(argv[5]);
	self = getpid();
	/* Alone: addresses around the edges of what arguments point at do not reach it. */
	char *room = mmap(NULL, REPORT_SIZE + 2 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANON, -1, 0);
	report = mmap(room + 4096, REPORT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, 0,
		      slot * REPORT_SIZE);
	close(0);
	if (report == MAP_FAILED || chdir(HOME) != 0 || !arguments_init(harness, run_seed) ||
	    __sys_priocntl(WEFT_P_PID, self, PC_SETPARMS, &ordinary) < 0)
		_exit(2);
	if (argv[5] == NULL)
		forced = last_calls[batch % NLAST];
	open("f0", O_RDWR | O_CREAT, 0644);
	open("/dev/null", O_RDWR);
	open(HOME "/true", O_RDONLY);
	handle_signals();

	uint64_t end = report->calls + BATCH;
	for (unsigned i = 0; i < lwps; i++)
		start_lwp(run_seed);
	while (__atomic_load_n(&report->calls, __ATOMIC_RELAXED) < end) {
		const struct weft_timespec t = {0, LOOK_NS};
		__sys_lwp_sleep(WEFT_CLOCK_MONOTONIC, 0, &t);
		for (unsigned i = 0; i < nslots; i++)
			tend(&slots[i], run_seed);
	}
	__sys_exit(0);
}
