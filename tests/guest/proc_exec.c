/*
 * proc_exec.c - exec: the new program's arguments, what stays and what goes, errors that
 * leave all as it was, and the end of the other LWPs.  With `signals`: one of the tests.  Started with another word, it is the
 * program that was asked for.
 */
#include <signal.h>
#include <sys/priocntl.h>
#include <sys/time.h>
#include "mmtest.h"

#define SELF "/bin/proc_exec"

static char *const env[] = {"WORD=1", "OTHER=two", NULL};

static void nothing(int sig)
{
}

/* Children exec this program, which says by its status what it found. */
static int found(int argc, char **argv)
{
	struct weft_procinfo i;
	uint16_t fcw;
	uint32_t mxcsr;

	if (strcmp(argv[1], "args") == 0)
		return argc == 4 && strcmp(argv[2], "") == 0 && strcmp(argv[3], "last") == 0 &&
				       strcmp(environ[0], "WORD=1") == 0 && environ[2] == NULL
			       ? 40
			       : 1;
	if (strcmp(argv[1], "alone") == 0) {
		if (__sys_procinfo(__sys_getpid(), &i) < 0 || i.nlwp != 1 || __sys_lwp_self() != 1)
			return 2;
		struct schedctl *sc = (struct schedctl *)__sys_lwp_schedctl();
		if (sc->lwpid != 1 || sc->nopreempt != 0)
			return 3;
		return strcmp(i.name, "proc_exec") == 0 && i.pid == atoi(argv[2]) ? 41 : 4;
	}
	if (strcmp(argv[1], "fpu") == 0) {
		__asm__ volatile("fnstcw %0; stmxcsr %1" : "=m"(fcw), "=m"(mxcsr));
		return fcw == 0x37f && mxcsr == 0x1f80 ? 42 : 5;
	}
	if (strcmp(argv[1], "files") == 0) {
		char cwd[16];
		return __sys_lseek(atoi(argv[2]), 0, 1) == 3 &&
				       __sys_getcwd(cwd, sizeof(cwd)) == 5 &&
				       strcmp(cwd, "/bin") == 0
			       ? 43
			       : 6;
	}
	if (strcmp(argv[1], "anew") == 0) {
		/* Again and again: the first may come before the call blocks. */
		const struct itimerval often = {{0, 10000}, {0, 10000}};
		struct lwp_info l;
		signal(SIGALRM, nothing);
		setitimer(ITIMER_REAL, &often, NULL);
		if (__sys_lwp_info(0, 1, &l) != 1 || l.flags != 0)
			return 8;
		return __sys_upcall_wait(UPCALL_EXIT) == -EINTR ? 44 : 9;
	}
	if (strcmp(argv[1], "timers") == 0) {
		struct weft_itimerspec left;
		for (int kind = WEFT_ITIMER_REAL; kind <= WEFT_ITIMER_PROF; kind++) {
			__sys_getitimer(kind | WEFT_ITIMER_LWP, &left);
			if (left.value.sec != 0 || left.value.nsec != 0)
				return 10;
			__sys_getitimer(kind, &left);
			if (left.value.sec == 0)
				return 11;
		}
		return 45;
	}
	return 7;
}

static void exec_word(const char *word, const char *arg)
{
	char *argv[] = {"proc_exec", (char *)word, (char *)arg, NULL};
	__sys_execve(SELF, argv, env);
	__sys_exit(99);
}

static long end_of(long pid)
{
	int status = -1;
	return __sys_waitpid(pid, &status, 0, NULL) == pid ? status : -1;
}

static void arguments(void)
{
	char *argv[] = {"proc_exec", "args", "", "last", NULL};
	long pid = __sys_fork();
	if (pid == 0) {
		__sys_execve(SELF, argv, env);
		__sys_exit(99);
	}
	is("argv and envp", end_of(pid), EXITED(40));

	pid = __sys_fork();
	if (pid == 0) {
		uint16_t fcw = 0x27f;
		uint32_t mxcsr = 0x1fc0;
		__asm__ volatile("fldcw %0; ldmxcsr %1" : : "m"(fcw), "m"(mxcsr));
		exec_word("fpu", NULL);
	}
	is("a fresh FPU", end_of(pid), EXITED(42));

	pid = __sys_fork();
	if (pid == 0) {
		char number[8], c[3];
		long fd = __sys_open("/bin/true", 0, 0);
		__sys_read(fd, c, 3);
		__sys_chdir("/bin");
		snprintf(number, sizeof(number), "%ld", fd);
		exec_word("files", number);
	}
	is("files and directory stay", end_of(pid), EXITED(43));
}

/* --- errors --------------------------------------------------------------------------- */

static void errors(void)
{
	static char big[WEFT_ARG_MAX + 2], name[WEFT_PATH_MAX + 1];
	char *argv[] = {"x", NULL}, *long_argv[] = {"x", big, NULL};
	char *volatile bad = (char *)8;
	char *wild[] = {"x", bad, NULL};

	memset(big, 'a', sizeof(big) - 1);
	memset(name, 'a', sizeof(name) - 1);
	is("no such file", __sys_execve("/bin/none", argv, env), -ENOENT);
	is("not a directory", __sys_execve("/bin/true/x", argv, env), -ENOTDIR);
	is("a directory", __sys_execve("/bin", argv, env), -EACCES);
	is("a device", __sys_execve("/dev/null", argv, env), -EACCES);
	is("a long path", __sys_execve(name, argv, env), -ENAMETOOLONG);
	is("a bad path", __sys_execve(bad, argv, env), -EFAULT);
	is("a bad argv", __sys_execve(SELF, (char **)bad, env), -EFAULT);
	is("a bad string", __sys_execve(SELF, wild, env), -EFAULT);
	is("a bad envp", __sys_execve(SELF, argv, (char **)bad), -EFAULT);
	is("too long", __sys_execve(SELF, long_argv, env), -E2BIG);
}

/* --- many LWPs -------------------------------------------------------------------------- */

static void sleep_for_ever(struct raw *r)
{
	for (;;)
		__sys_lwp_park(NULL, 0);
}

static void spin(struct raw *r)
{
	for (;;)
		__asm__ volatile("");
}

static void exit_now(struct raw *r)
{
}

static void exec_here(struct raw *r)
{
	exec_word("alone", (char *)r->arg);
}

static void many(void)
{
	static struct raw r[12];
	static char pid_text[12];

	long pid = __sys_fork();
	if (pid == 0) {
		snprintf(pid_text, sizeof(pid_text), "%ld", __sys_getpid());
		((struct schedctl *)__sys_lwp_schedctl())->nopreempt = 1;
		for (int i = 0; i < 8; i++)
			raw_start(&r[i], i > 0 ? sleep_for_ever : spin, 0, 0);
		raw_start(&r[8], exit_now, 0, 0); /* a zombie that nobody waits for */
		raw_start(&r[9], spin, 0, LWP_SUSPENDED);
		/* Two at once: one of them wins. */
		raw_start(&r[10], exec_here, (uint64_t)pid_text, 0);
		raw_start(&r[11], exec_here, (uint64_t)pid_text, 0);
		for (;;)
			__sys_lwp_park(NULL, 0);
	}
	is("an exec by one of many", end_of(pid), EXITED(41));
}

/* LWPs that have not begun: they only have to be told. */
static long idle_lwp(void)
{
	struct lwp_create c = {.entry = (uint64_t)exit_now, .flags = LWP_SUSPENDED | LWP_DETACHED};
	return __sys_lwp_create(&c);
}

static void real_time(void)
{
	struct pcparms rt = {.pc_cid = WEFT_CLASS_RT, .rt = {50, 0, RT_TQINF}};
	__sys_priocntl(P_LWPID, P_MYID, PC_SETPARMS, &rt);
}

/* A program whose creation of a thread fails gives up. */
static void create_or_exit(struct raw *r)
{
	const struct weft_timespec moment = {.nsec = 5000};

	real_time();
	for (;;) {
		__sys_lwp_sleep(WEFT_CLOCK_MONOTONIC, 0, &moment);
		if (idle_lwp() < 0)
			__sys_exit(98);
	}
}

/*
 * The exec of a process of many LWPs gives up the CPU while it tells them to go.  An LWP that has
 * not been told does not see its calls fail because of that: it would end the process.
 */
static void told_in_pieces(void)
{
	static struct raw r;
	static char pid_text[12];

	long pid = __sys_fork();
	if (pid == 0) {
		snprintf(pid_text, sizeof(pid_text), "%ld", __sys_getpid());
		for (int i = 0; i < 1000; i++)
			idle_lwp();
		raw_start(&r, create_or_exit, 0, 0);
		exec_word("alone", pid_text);
	}
	is("an exec while another LWP creates LWPs", end_of(pid), EXITED(41));
}

static void waits_for_upcalls(struct raw *r)
{
	for (;;)
		__sys_upcall_wait(UPCALL_BLOCKED);
}

static void exec_anew(struct raw *r)
{
	exec_word("anew", NULL);
}

/* The caller waits for the other LWPs, and has a handler called every 20 us. */
static void signals(void)
{
	const struct weft_itimerspec often = {{0, 20000}, {0, 20000}};
	const struct weft_sigevent event = {.notify = WEFT_SIGEV_SIGNAL, .signo = SIGCHLD};
	static char pid_text[12];
	int id;

	long pid = __sys_fork();
	if (pid == 0) {
		snprintf(pid_text, sizeof(pid_text), "%ld", __sys_getpid());
		for (int i = 0; i < 300; i++)
			idle_lwp();
		signal(SIGCHLD, nothing);
		__sys_timer_create(WEFT_CLOCK_MONOTONIC, &event, &id);
		__sys_timer_settime(id, 0, &often, NULL);
		exec_word("alone", pid_text);
	}
	is("signals do not end an exec that has told other LWPs to go", end_of(pid), EXITED(41));
}

/* What an LWP was made as, and what the kernel had to tell the old program, are not the new one's. */
static void asked_of_the_old(void)
{
	static struct raw r[3];
	struct lwp_info l;

	long pid = __sys_fork();
	if (pid == 0) {
		raw_start(&r[0], waits_for_upcalls, 0, 0);
		do
			__sys_lwp_info(0, r[0].id, &l);
		while (l.state != LWP_ST_SLEEP);
		raw_start(&r[1], exit_now, 0, LWP_BOUND | LWP_DETACHED);
		while (__sys_lwp_info(0, r[1].id, &l) == r[1].id)
			;
		raw_start(&r[2], exec_anew, 0, LWP_NOPOOL | LWP_DETACHED);
		for (;;)
			__sys_lwp_park(NULL, 0);
	}
	is("the flags of its LWP and its upcalls begin anew", end_of(pid), EXITED(44));
}

static void timers(void)
{
	const struct weft_itimerspec once = {.value = {100, 0}};

	long pid = __sys_fork();
	if (pid == 0) {
		for (int kind = WEFT_ITIMER_REAL; kind <= WEFT_ITIMER_PROF; kind++) {
			__sys_setitimer(kind, &once, NULL);
			__sys_setitimer(kind | WEFT_ITIMER_LWP, &once, NULL);
		}
		exec_word("timers", NULL);
	}
	is("setitimer's timers of the process stay, those of LWPs go", end_of(pid), EXITED(45));
}

/* The old memory is gone: pages come back. */
static void pages(void)
{
	uint64_t before = 0;

	for (int i = 0; i < 6; i++) {
		if (i == 2)
			before = free_pages();
		long pid = __sys_fork();
		if (pid == 0) {
			char *p = must_map(100 * PAGE, RW);
			for (int n = 0; n < 100; n++)
				p[n * PAGE] = 1;
			exec_word("fpu", NULL);
		}
		end_of(pid);
	}
	long lost = before - free_pages();
	tap_report(lost < 80, "memory comes back", "%ld pages are missing", lost);
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "signals") == 0) {
		signals();
		return tap_done();
	}
	if (argc > 1)
		return found(argc, argv);
	arguments();
	errors();
	many();
	told_in_pieces();
	signals();
	asked_of_the_old();
	timers();
	pages();
	return tap_done();
}
