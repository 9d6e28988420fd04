/*
 * proc_limits.c - resource limits: their first values, what happens beyond them, which processes
 * inherit them.  Started with a word, it is a program whose limits its parent has set.
 */
#include "mmtest.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define SELF "/bin/proc_limits"

static void set(int which, rlim_t cur)
{
	struct rlimit l;

	getrlimit(which, &l);
	l.rlim_cur = cur;
	if (setrlimit(which, &l) != 0)
		_exit(99);
}

static rlim_t soft(int which)
{
	struct rlimit l = {0};

	return getrlimit(which, &l) == 0 ? l.rlim_cur : 0;
}

static int in_child(int (*fn)(void))
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(fn());
	waitpid(pid, &status, 0);
	return status;
}

static int address_space(void)
{
	struct weft_procinfo i;

	__sys_procinfo(__sys_getpid(), &i);
	set(RLIMIT_AS, i.size + 10 * PAGE);
	long p = map(NULL, 10 * PAGE, RW, ANON);
	if (p < 0)
		return 1;
	if (map(NULL, PAGE, R, ANON) != -ENOMEM ||
	    __sys_brk((char *)__sys_brk(NULL) + 2 * PAGE) != __sys_brk(NULL))
		return 2;
	__sys_munmap((void *)p, PAGE);
	return map(NULL, PAGE, R, ANON) > 0 ? 0 : 3;
}

static int data(void)
{
	char *brk = (char *)__sys_brk(NULL);

	set(RLIMIT_DATA, 1 << 20);
	if (__sys_brk(brk + (8 << 20)) != (long)brk)
		return 1;
	if (malloc(4 << 20) != NULL)
		return 2;
	set(RLIMIT_DATA, RLIM_INFINITY);
	return malloc(4 << 20) != NULL ? 0 : 3;
}

static int processes(void)
{
	set(RLIMIT_NPROC, 1);
	if (__sys_fork() != -EAGAIN || start_child("/bin/true", "x") != -EAGAIN)
		return 1;
	set(RLIMIT_NPROC, RLIM_INFINITY);
	return run_child("/bin/true", "x") == 0 ? 0 : 2;
}

static int descriptors(void)
{
	set(RLIMIT_NOFILE, 5);
	int a = open("/bin/true", O_RDONLY), b = open("/bin/true", O_RDONLY);
	if (a != 3 || b != 4)
		return 1;
	if (open("/bin/true", O_RDONLY) >= 0 || errno != EMFILE)
		return 2;
	if (dup2(3, 5) >= 0 || errno != EBADF)
		return 3;
	return sysconf(_SC_OPEN_MAX) == 5 ? 0 : 4;
}

static int stack(void)
{
	set(RLIMIT_STACK, 1 << 20);
	set(RLIMIT_NOFILE, 77);
	execl(SELF, SELF, "deep", NULL);
	return 1;
}

/* Recursion until the stack ends. */
static __attribute__((noinline)) int deep(int n)
{
	volatile char room[4096];

	room[0] = n;
	return n == 0 ? room[0] : deep(n - 1) + room[0];
}

static void errors(void)
{
	struct weft_rlimit l = {5, 4};
	char *volatile bad = (char *)8;

	is("no such limit", __sys_rlimit(WEFT_RLIM_NLIMITS, NULL, NULL), -EINVAL);
	is("soft above hard", __sys_rlimit(WEFT_RLIMIT_AS, &l, NULL), -EINVAL);
	l = (struct weft_rlimit){5, WEFT_OPEN_MAX + 1};
	is("more than there can be", __sys_rlimit(WEFT_RLIMIT_NOFILE, &l, NULL), -EPERM);
	is("a bad new", __sys_rlimit(WEFT_RLIMIT_AS, (struct weft_rlimit *)bad, NULL), -EFAULT);
	is("a bad old", __sys_rlimit(WEFT_RLIMIT_AS, NULL, (struct weft_rlimit *)bad), -EFAULT);
	ok("no limit of time",
	   setrlimit(RLIMIT_CPU, &(struct rlimit){1, 1}) < 0 && errno == EINVAL);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return soft(RLIMIT_NOFILE) == 77 && deep(200) >= 0 ? deep(300) & 0 : 1;
	ok("no limit at first", soft(RLIMIT_AS) == RLIM_INFINITY &&
					soft(RLIMIT_DATA) == RLIM_INFINITY &&
					soft(RLIMIT_NPROC) == RLIM_INFINITY);
	ok("what there can be", soft(RLIMIT_STACK) == 8 << 20 &&
					soft(RLIMIT_NOFILE) == WEFT_OPEN_MAX &&
					soft(RLIMIT_CORE) == 0);
	is("address space", in_child(address_space), EXITED(0));
	is("data", in_child(data), EXITED(0));
	is("processes", in_child(processes), EXITED(0));
	is("descriptors", in_child(descriptors), EXITED(0));
	is("stack, and limits over exec", in_child(stack), KILLED(WEFT_SIGSEGV));
	is("none of it here", soft(RLIMIT_NOFILE), WEFT_OPEN_MAX);
	errors();
	return tap_done();
}
