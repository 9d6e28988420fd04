/*
 * trace_calls.c - one process watches another: every event in order, arguments that can
 * be read while the LWP stands still, following children, streams, holding, registers and
 * memory, each error of the calls, and a tracer that dies.
 *
 * Run as `trace_calls ROLE` it is one of the processes that are watched.
 */
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <weft/errno.h>
#include <weft/proc.h>
#include <weft/signal.h>
#include <weft/trace.h>
#include "rawlwp.h"
#include "tap.h"

#define MANY 1000

static const char marker[] = "a string of the traced process";

static int start(const char *role)
{
	char *argv[] = {"trace_calls", (char *)role, NULL};
	pid_t pid;

	if (posix_spawn(&pid, "/bin/trace_calls", NULL, NULL, argv, environ) != 0)
		bail("cannot start %s", role);
	return pid;
}

static int status_of(int pid)
{
	int status = -1;

	__sys_waitpid(pid, &status, 0, NULL);
	return status;
}

/* --- roles ------------------------------------------------------------------------------ */

static int talk(void)
{
	write(-1, marker, sizeof(marker));
	dup(-1);
	__syscall3(255, 1, 2, 3); /* no such call */
	return 3;
}

static int many(void)
{
	int i;

	for (i = 0; i < MANY; i++)
		__sys_lwp_self();
	return 0;
}

static int parent(void)
{
	return WEXITSTATUS(status_of(start("talk")));
}

static void sleeper(struct raw *r)
{
	struct weft_timespec t = {1000, 0};

	__sys_lwp_sleep(4, 0, &t);
}

static void spinner(struct raw *r)
{
	for (;;)
		__asm__ volatile("" ::: "memory");
}

static int crowd(void)
{
	static struct raw lwps[2];

	raw_start(&lwps[0], sleeper, 0, 0);
	raw_start(&lwps[1], spinner, 0, 0);
	sleeper(NULL);
	return 0;
}

static int crash(void)
{
	volatile uint64_t nowhere = 0x10;

	return *(volatile int *)nowhere;
}

static int tracer(void)
{
	struct trace_event e;
	int pid;

	__sys_trace_attach(0, 0);
	pid = start("many");
	write(1, &pid, 0);
	/* One event taken: it stands still.  We end, and it must go on. */
	__sys_trace_wait(&e, 1);
	return 0;
}

/* --- the watcher ----------------------------------------------------------------------------- */

static void errors(void)
{
	struct trace_event e;
	struct lwp_regs regs;
	char c;
	int self = getpid(), pid;

	is("attach: unknown flags", __sys_trace_attach(0, 0x80), -EINVAL);
	is("attach: a negative pid", __sys_trace_attach(-1, 0), -EINVAL);
	is("attach: no such process", __sys_trace_attach(99998, 0), -ESRCH);
	is("attach: itself", __sys_trace_attach(self, 0), -EPERM);
	is("attach: the first process", __sys_trace_attach(1, 0), -EPERM);
	is("detach: not traced", __sys_trace_detach(1), -ESRCH);
	is("detach: no such process", __sys_trace_detach(99998), -ESRCH);
	is("detach: no future children", __sys_trace_detach(0), -ESRCH);
	is("wait: for nobody", __sys_trace_wait(&e, 1), 0);
	is("wait: for no events", __sys_trace_wait(&e, 0), -EINVAL);
	is("wait: for too many", __sys_trace_wait(&e, 129), -EINVAL);

	is("proc_read: no such process", __sys_proc_read(99998, (uint64_t)&c, &c, 1), -ESRCH);
	is("proc_read: a bad address", __sys_proc_read(self, 8, &c, 1), -EFAULT);
	is("proc_read: the kernel's", __sys_proc_read(self, ~0ul << 40, &c, 1), -EFAULT);
	is("proc_read: a bad buffer", __sys_proc_read(self, (uint64_t)&c, (void *)8, 1), -EFAULT);
	is("proc_read: nothing", __sys_proc_read(self, (uint64_t)&c, &c, 0), 0);
	int empty = open("/tmp/empty", O_RDWR | O_CREAT, 0600);
	char *behind = mmap(NULL, 4096, PROT_READ, MAP_SHARED, empty, 0);
	is("proc_read: behind the end of a file", __sys_proc_read(self, (uint64_t)behind, &c, 1),
	   -EFAULT);
	munmap(behind, 4096);
	close(empty);
	unlink("/tmp/empty");
	char *two = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
	static char into[8192];
	munmap(two + 4096, 4096);
	two[4095] = 'x';
	is("proc_read: up to what is not mapped",
	   __sys_proc_read(self, (uint64_t)two + 4000, into, 4096), 96);
	is("proc_read: what was there", into[95], 'x');

	is("regs: no such process", __sys_lwp_regs(99998, 1, &regs), -ESRCH);
	is("regs: no such LWP", __sys_lwp_regs(self, 1000, &regs), -ESRCH);
	is("regs: a bad address", __sys_lwp_regs(self, 1, (void *)8), -EFAULT);
	is("regs: one's own", __sys_lwp_regs(0, 1, &regs), 1);
	ok("regs: the stack", regs.rsp / 4096 == (uint64_t)__builtin_frame_address(0) / 4096);

	pid = start("crowd");
	is("attach", __sys_trace_attach(pid, TRACE_STREAM), 0);
	is("attach: twice", __sys_trace_attach(pid, 0), -EBUSY);
	__sys_kill(pid, WEFT_SIGKILL);
	status_of(pid);
	is("detach: one that has ended", __sys_trace_detach(pid), -ESRCH);
	while (__sys_trace_wait(&e, 1) > 0)
		;
}

/* Every event of a process that runs under the tracer from its first instruction. */
static void life(void)
{
	struct trace_event e;
	int pid, entries = 0, returns = 0, wrong = 0;
	int saw_write = 0, saw_dup = 0, saw_unknown = 0, saw_end = 0;
	uint64_t last = 0;

	is("attach to children", __sys_trace_attach(0, 0), 0);
	pid = start("talk");
	is("detach from further children", __sys_trace_detach(0), 0);
	is("wait: a bad address", __sys_trace_wait((void *)8, 1), -EFAULT);
	while (__sys_trace_wait(&e, 1) == 1) {
		wrong += e.pid != pid || e.time < last;
		last = e.time;
		if (e.kind == TRACE_ENTRY) {
			entries++;
			if (e.call == SYS_write && (int)e.arg[0] == -1) {
				char text[sizeof(marker)];
				long n = __sys_proc_read(pid, e.arg[1], text, e.arg[2]);
				saw_write = n == sizeof(text) && strcmp(text, marker) == 0;
			}
		} else if (e.kind == TRACE_RETURN) {
			returns++;
			wrong += e.arg[1] > e.time;
			saw_dup += e.call == SYS_dup && (long)e.arg[0] == -EBADF;
			saw_unknown += e.call == 255 && (long)e.arg[0] == -ENOSYS;
		} else if (e.kind == TRACE_EXIT) {
			saw_end++;
			is("the status in its last event", e.arg[0], WEFT_W_EXITCODE(3, 0));
		} else {
			wrong += e.kind != TRACE_LWP_EXIT;
		}
	}
	is("events in order", wrong, 0);
	is("every call but the last returns", returns, entries - 1);
	ok("what it writes can be read", saw_write);
	ok("results, and calls that do not exist", saw_dup && saw_unknown);
	is("one end", saw_end, 1);
	is("its status", status_of(pid), WEFT_W_EXITCODE(3, 0));
}

/* Ends of processes, and returns of call `call`, until nobody is left. */
static void drain(unsigned call, int *ends, int *calls, int *entries)
{
	static struct trace_event e[128];
	long n, i;

	*ends = *calls = *entries = 0;
	while ((n = __sys_trace_wait(e, 128)) > 0)
		for (i = 0; i < n; i++) {
			*ends += e[i].kind == TRACE_EXIT;
			*calls += e[i].kind == TRACE_RETURN && e[i].call == call;
			*entries += e[i].kind == TRACE_ENTRY;
		}
}

static void streams(void)
{
	int ends, calls, entries, pid;

	__sys_trace_attach(0, TRACE_STREAM);
	pid = start("many");
	__sys_trace_detach(0);
	drain(SYS_lwp_self, &ends, &calls, &entries);
	is("a stream: all calls", calls, MANY);
	is("a stream: no entries", entries, 0);
	is("a stream: one end", ends, 1);
	is("a stream: it ran", status_of(pid), 0);

	__sys_trace_attach(0, TRACE_FOLLOW);
	pid = start("parent");
	__sys_trace_detach(0);
	drain(SYS_dup, &ends, &calls, &entries);
	is("a child is followed to its end", ends, 2);
	ok("... with its calls", calls >= 1);
	is("... and undisturbed", status_of(pid), WEFT_W_EXITCODE(3, 0));
}

static void faults(void)
{
	struct trace_event e;
	int pid, faulted = 0;

	__sys_trace_attach(0, 0);
	pid = start("crash");
	__sys_trace_detach(0);
	while (__sys_trace_wait(&e, 1) == 1)
		if (e.kind == TRACE_FAULT)
			faulted += e.arg[0] == 14 && e.arg[1] == 0x10 && e.arg[2] == WEFT_SIGSEGV;
	is("a fault, with its address", faulted, 1);
	is("... that ends it all the same", status_of(pid) & 0x7f, WEFT_SIGSEGV);
}

/* Waits until process pid has n LWPs. */
static void wait_lwps(int pid, unsigned n)
{
	struct weft_procinfo info;

	while (__sys_procinfo(pid, &info) == pid && info.nlwp < n)
		__sys_lwp_yield();
}

static void holding(void)
{
	struct lwp_regs r[3], again;
	struct trace_event e;
	struct lwp_info info;
	int pid = start("crowd");

	wait_lwps(pid, 3);
	is("hold", __sys_trace_attach(pid, TRACE_HOLD), 0);
	for (int i = 0; i < 3; i++)
		is("regs of a held LWP", __sys_lwp_regs(pid, i + 1, &r[i]), i + 1);
	is("the spinner is in no call", r[2].syscall, ~0u);
	/* It may not have run yet: then it comes as far as the end of its system call. */
	do
		__sys_lwp_info(pid, 3, &info);
	while (info.state != LWP_ST_SLEEP && __sys_lwp_yield() == 0);
	uint64_t used = info.utime;
	for (int i = 0; i < 1000; i++)
		__sys_lwp_yield();
	__sys_lwp_info(pid, 3, &info);
	is("it does not run", info.utime, used);
	__sys_lwp_regs(pid, 3, &again);
	ok("and stays where it is", again.rip == r[2].rip);
	is("let go", __sys_trace_detach(pid), 0);
	do
		__sys_lwp_info(pid, 3, &info);
	while (info.utime == used);
	ok("runs again", 1);

	is("hold once more", __sys_trace_attach(pid, TRACE_HOLD), 0);
	__sys_kill(pid, WEFT_SIGKILL);
	is("a held process can be killed", status_of(pid) & 0x7f, WEFT_SIGKILL);
	is("its end is told", __sys_trace_wait(&e, 1), 1);
	is("as such", e.kind, TRACE_EXIT);

	/* A process that stands still in the middle of a call. */
	__sys_trace_attach(0, 0);
	pid = start("many");
	__sys_trace_detach(0);
	is("an event", __sys_trace_wait(&e, 1), 1);
	__sys_kill(pid, WEFT_SIGKILL);
	is("a process that waits for its tracer can be killed", status_of(pid) & 0x7f,
	   WEFT_SIGKILL);
	while (__sys_trace_wait(&e, 1) > 0)
		;
	__sys_trace_attach(0, 0);
	pid = start("many");
	__sys_trace_detach(0);
	is("an event of another", __sys_trace_wait(&e, 1), 1);
	is("detach in the middle of it", __sys_trace_detach(pid), 0);
	is("it goes on to its end", status_of(pid), 0);
	while (__sys_trace_wait(&e, 1) > 0)
		;
}

/* The tracer of a process may not be traced by it: each would wait for the other. */
static void dying_tracer(void)
{
	struct weft_procinfo info;
	int pid = start("tracer");

	is("a tracer ends", status_of(pid), 0);
	/* What it traced is now a child of the first process, and goes on to its end. */
	for (long at = pid + 1; (at = __sys_procinfo(at, &info)) > 0; at++)
		while (__sys_procinfo(at, &info) == at && info.state != LWP_ST_ZOMB)
			__sys_lwp_yield();
	ok("and what it traced runs to its end", 1);
}

static volatile long second_wait = 1;

static void wait_too(struct raw *r)
{
	struct trace_event e;

	do
		second_wait = __sys_trace_wait(&e, 1);
	while (second_wait == 0);
}

static void two_waiters(void)
{
	struct raw other = {0};
	struct trace_event e;
	struct lwp_info info;
	int pid = start("crowd");

	wait_lwps(pid, 3);
	__sys_trace_attach(pid, TRACE_HOLD);
	raw_start(&other, wait_too, 0, 0);
	do
		__sys_lwp_info(0, other.id, &info);
	while (info.state != LWP_ST_SLEEP);
	is("two cannot wait", __sys_trace_wait(&e, 1), -EBUSY);
	__sys_kill(pid, WEFT_SIGKILL);
	status_of(pid);
	__sys_lwp_wait(other.id, NULL);
	is("the first gets the event", second_wait, 1);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} roles[] = {{"talk", talk},   {"many", many},   {"parent", parent},
		     {"crowd", crowd}, {"crash", crash}, {"tracer", tracer}};

	for (unsigned i = 0; argc > 1 && i < sizeof(roles) / sizeof(roles[0]); i++)
		if (strcmp(argv[1], roles[i].name) == 0)
			return roles[i].run();
	errors();
	life();
	streams();
	faults();
	holding();
	dying_tracer();
	two_waiters();
	return tap_done();
}
