/*
 * proc_fork.c - fork: what the child has of its parent, and what each does unseen by the
 * other.  Raw calls, so that only the kernel is asked.
 */
#include "mmtest.h"

#define SHARED (WEFT_MAP_SHARED | WEFT_MAP_ANON)

/* Runs fn in a child; the child's status word. */
static int in_child(int (*fn)(void))
{
	int status = -1;
	long pid = __sys_fork();
	if (pid == 0)
		__sys_exit(fn());
	if (pid < 0)
		return pid;
	return __sys_waitpid(pid, &status, 0, NULL) == pid ? status : -1;
}

/* --- identity ------------------------------------------------------------------------ */

static long parent_pid;

static int identity(void)
{
	struct weft_procinfo i;

	if (__sys_getppid() != parent_pid || __sys_getpid() == parent_pid)
		return 1;
	if (__sys_getpgrp(0) != __sys_getpgrp(parent_pid))
		return 2;
	if (__sys_procinfo(__sys_getpid(), &i) < 0 || i.nlwp != 1)
		return 3;
	if (__sys_lwp_self() != 1)
		return 4;
	struct schedctl *sc = (struct schedctl *)__sys_lwp_schedctl();
	return sc->lwpid == 1 && sc->state == SC_ONCPU ? 0 : 5;
}

/* All registers but RAX (and RCX, R11) are what they were; so is the FPU. */
static int registers(void)
{
	uint64_t in[8] = {1, 2, 3, 4, 5, 6, 7, 8}, out[8];
	double d = 1.25, e = 0;
	long pid;

	__asm__ volatile("movq 0(%[in]), %%rbx; movq 8(%[in]), %%r12; movq 16(%[in]), %%r13\n\t"
			 "movq 24(%[in]), %%r14; movq 32(%[in]), %%r8; movq 40(%[in]), %%r9\n\t"
			 "movq 48(%[in]), %%r10; movq 56(%[in]), %%rdx\n\t"
			 "movsd %[d], %%xmm7\n\t"
			 "syscall\n\t"
			 "movq %%rbx, 0(%[out]); movq %%r12, 8(%[out]); movq %%r13, 16(%[out])\n\t"
			 "movq %%r14, 24(%[out]); movq %%r8, 32(%[out]); movq %%r9, 40(%[out])\n\t"
			 "movq %%r10, 48(%[out]); movq %%rdx, 56(%[out])\n\t"
			 "movsd %%xmm7, %[e]"
			 : "=a"(pid), [e] "=m"(e)
			 : "a"((long)SYS_fork), [in] "D"(in), [out] "S"(out), [d] "m"(d)
			 : "rbx", "r12", "r13", "r14", "r8", "r9", "r10", "rdx", "rcx", "r11",
			   "xmm7", "memory");
	int same = memcmp(in, out, sizeof(in)) == 0 && e == d;
	if (pid == 0)
		__sys_exit(same ? 0 : 1);
	int status = -1;
	__sys_waitpid(pid, &status, 0, NULL);
	return same && status == 0 ? 0 : 1;
}

/* --- memory -------------------------------------------------------------------------- */

static char *private, *shared, *none, *untouched;
static int *flag;

static int writes(void)
{
	if (private[0] != 1 || private[PAGE] != 2 || untouched[0] != 0)
		return 1;
	private[0] = 11;
	shared[0] = 12;
	shared[5 * PAGE] = 13; /* neither had touched it before */
	untouched[0] = 14;
	return readable(none) ? 2 : private[0] == 11 && private[PAGE] == 2 ? 0 : 3;
}

/* The parent writes after the fork; the child must not see it. */
static int sees_old(void)
{
	while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE))
		__sys_lwp_yield();
	return private[0] == 1 && private[PAGE] == 2 ? 0 : 1;
}

static int mprotects(void)
{
	/* Taking the right away and giving it back does not unshare. */
	if (__sys_mprotect(private, 2 * PAGE, R) != 0 || __sys_mprotect(private, 2 * PAGE, RW) != 0)
		return 1;
	private[0] = 99;
	/* PROT_NONE pages were inherited with their contents. */
	if (__sys_mprotect(none, PAGE, RW) != 0 || none[0] != 7)
		return 2;
	none[0] = 8;
	return 0;
}

static int grandchild(void)
{
	private[0] = 50;
	return in_child(sees_old) == EXITED(1) && private[0] == 50 ? 0 : 1;
}

static void memory(void)
{
	private = must_map(2 * PAGE, RW);
	untouched = must_map(PAGE, RW);
	none = must_map(PAGE, RW);
	shared = (char *)map(NULL, 8 * PAGE, RW, SHARED);
	ok("shared memory", (long)shared > 0);
	flag = (int *)(shared + 7 * PAGE);
	private[0] = 1;
	private[PAGE] = 2;
	none[0] = 7;
	shared[0] = 3;
	__sys_mprotect(none, PAGE, NONE);

	is("a child that writes", in_child(writes), EXITED(0));
	is("private: not seen here", private[0], 1);
	is("private, untouched: not seen here", untouched[0], 0);
	is("shared: seen here", shared[0], 12);
	is("shared, untouched: seen here", shared[5 * PAGE], 13);

	long pid = __sys_fork();
	if (pid == 0)
		__sys_exit(sees_old());
	private[0] = 77;
	private[PAGE] = 78;
	__atomic_store_n(flag, 1, __ATOMIC_RELEASE);
	int status = -1;
	__sys_waitpid(pid, &status, 0, NULL);
	is("what the parent writes later", status, EXITED(0));
	private[0] = 1;
	private[PAGE] = 2;

	is("mprotect in the child", in_child(mprotects), EXITED(0));
	is("... and nothing here", private[0], 1);
	__sys_mprotect(none, PAGE, RW);
	is("... nor in what had no access", none[0], 7);
	is("a grandchild", in_child(grandchild), EXITED(0));
	is("... and nothing here", private[0], 1);

	/* The parent unmaps; the child still has it. */
	*flag = 0;
	pid = __sys_fork();
	if (pid == 0)
		__sys_exit(sees_old());
	__sys_munmap(private, 2 * PAGE);
	__atomic_store_n(flag, 1, __ATOMIC_RELEASE);
	__sys_waitpid(pid, &status, 0, NULL);
	is("what the parent unmaps", status, EXITED(0));
}

/* --- the heap and files -------------------------------------------------------------- */

static int heap(void)
{
	char *brk = (char *)__sys_brk(NULL);
	return __sys_brk(brk + 10 * PAGE) == (long)(brk + 10 * PAGE) ? 0 : 1;
}

static int fd;

static int reads(void)
{
	char c;
	return __sys_read(fd, &c, 1) == 1 ? 0 : 1;
}

static int closes(void)
{
	return __sys_close(fd) == 0 && __sys_chdir("/bin") == 0 ? 0 : 1;
}

static void files(void)
{
	char cwd[16];

	fd = __sys_open("/bin/true", 0, 0);
	ok("open", fd >= 0);
	is("a child that reads", in_child(reads), EXITED(0));
	is("its offset is ours", __sys_lseek(fd, 0, 1), 1);
	is("a child that closes", in_child(closes), EXITED(0));
	is("ours is open", __sys_lseek(fd, 0, 1), 1);
	ok("our directory", __sys_getcwd(cwd, sizeof(cwd)) == 2 && cwd[0] == '/');
	__sys_close(fd);
}

/* --- many LWPs ----------------------------------------------------------------------- */

static volatile int stop;

static void spin(struct raw *r)
{
	char *p = (char *)r->arg;
	while (!stop)
		++*(volatile long *)p;
}

static int alone(void)
{
	struct weft_procinfo i;
	long *p = (long *)private;
	long was = *(volatile long *)p;

	/* Nobody writes our copy. */
	for (int n = 0; n < 20; n++)
		__sys_lwp_yield();
	if (*(volatile long *)p != was)
		return 1;
	return __sys_procinfo(__sys_getpid(), &i) >= 0 && i.nlwp == 1 ? 0 : 2;
}

static void lwps(void)
{
	struct raw r[3] = {0};
	unsigned bad = 0;

	private = must_map(PAGE, RW);
	for (int i = 0; i < 3; i++)
		raw_start(&r[i], spin, (uint64_t) private, 0);
	for (int i = 0; i < 20; i++)
		bad += in_child(alone) != EXITED(0);
	is("the caller alone lives on", bad, 0);
	stop = 1;
	for (int i = 0; i < 3; i++)
		__sys_lwp_wait(r[i].id, NULL);
}

/* Forks from an LWP that is not the first, and whose record is not on the first page. */
static void fork_here(struct raw *r)
{
	r->arg = in_child(identity);
}

static void late_lwp(void)
{
	enum { N = 70 };
	static struct raw r[N];
	for (int i = 0; i < N; i++)
		raw_start(&r[i], fork_here, 0, LWP_SUSPENDED);
	__sys_lwp_continue(r[N - 1].id);
	__sys_lwp_wait(r[N - 1].id, NULL);
	is("a fork by the 71st LWP", r[N - 1].arg, EXITED(0));
	for (int i = 0; i < N - 1; i++) {
		__sys_lwp_continue(r[i].id);
		__sys_lwp_wait(r[i].id, NULL);
	}
}

int main(void)
{
	parent_pid = __sys_getpid();
	is("identity", in_child(identity), EXITED(0));
	is("registers", registers(), 0);
	memory();
	is("the heap", in_child(heap), EXITED(0));
	files();
	lwps();
	late_lwp();
	return tap_done();
}
