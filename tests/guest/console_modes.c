/*
 * console_modes.c - the console's modes and controls, with good and bad arguments.
 * Needs nobody to type.  With an argument it does what tests/test_console.py asks
 * for: "raw" shows each byte typed in hexadecimal until a "q"; "lines" repeats each
 * line; "spin" takes no notice of anything; "writers" writes lines from several LWPs
 * at once.
 */
#include "filetest.h"
#include "rawlwp.h"
#include <signal.h>
#include <weft/signal.h>
#include <weft/start.h>

static struct weft_termios saved;

static void set_raw(unsigned min, unsigned time)
{
	struct weft_termios t = saved;
	t.lflag &= ~(WEFT_ICANON | WEFT_ECHO | WEFT_ISIG);
	t.cc[WEFT_VMIN] = min;
	t.cc[WEFT_VTIME] = time;
	if (__sys_ioctl(0, WEFT_TCSETS, &t) != 0)
		bail("TCSETS failed");
}

static void set_saved(void)
{
	__sys_ioctl(0, WEFT_TCSETS, &saved);
}

static volatile sig_atomic_t told;

static void on_resize(int sig)
{
	told++;
}

/* The foreground group, which is ours, is told of another size, and of no other thing. */
static void resizes(struct weft_winsize was)
{
	struct weft_winsize w = {.row = 7, .col = 300}, now;

	signal(SIGWINCH, on_resize);
	is("TIOCSWINSZ", __sys_ioctl(0, WEFT_TIOCSWINSZ, &w), 0);
	is("TIOCSWINSZ: tells", told, 1);
	__sys_ioctl(0, WEFT_TIOCGWINSZ, &now);
	ok("TIOCGWINSZ: what was set", now.row == 7 && now.col == 300);
	__sys_ioctl(0, WEFT_TIOCSWINSZ, &w);
	is("TIOCSWINSZ: the same is no news", told, 1);
	__sys_ioctl(0, WEFT_TIOCSWINSZ, &was);
	signal(SIGWINCH, SIG_DFL);
}

static void controls(void)
{
	struct weft_termios t, u;
	struct weft_winsize w;
	int32_t pgrp, old;
	int null = __sys_open("/dev/null", WEFT_O_RDONLY, 0);

	t = saved;
	memset(t.cc, 7, sizeof(t.cc));
	is("TCSETS", __sys_ioctl(0, WEFT_TCSETS, &t), 0);
	is("TCGETS", __sys_ioctl(1, WEFT_TCGETS, &u), 0);
	ok("TCGETS: what was set", memcmp(&t, &u, sizeof(t)) == 0);
	t = saved;
	t.iflag = t.oflag = t.cflag = 0xffffffff;
	t.lflag |= 0xffff0000;
	is("TCSETS: unknown bits", __sys_ioctl(0, WEFT_TCSETS, &t), 0);
	__sys_ioctl(0, WEFT_TCGETS, &u);
	ok("TCSETS: unknown bits are dropped", u.iflag == WEFT_ICRNL && u.oflag == WEFT_OPOST &&
						       u.cflag == WEFT_CRTSCTS &&
						       u.lflag == saved.lflag);
	set_saved();
	is("TCSETSF", __sys_ioctl(0, WEFT_TCSETSF, &saved), 0);
	is("TCSETSF: NULL", __sys_ioctl(0, WEFT_TCSETSF, NULL), -EFAULT);
	is("TCGETS: NULL", __sys_ioctl(0, WEFT_TCGETS, NULL), -EFAULT);
	is("TCGETS: kernel address", __sys_ioctl(0, WEFT_TCGETS, KERNEL_ADDR), -EFAULT);
	is("TCSETS: NULL", __sys_ioctl(0, WEFT_TCSETS, NULL), -EFAULT);
	is("TCSETS: kernel address", __sys_ioctl(0, WEFT_TCSETS, KERNEL_ADDR), -EFAULT);

	is("TIOCGPGRP", __sys_ioctl(0, WEFT_TIOCGPGRP, &old), 0);
	is("TIOCGPGRP: ours", old, __sys_getpgrp(0));
	is("TIOCSPGRP", __sys_ioctl(0, WEFT_TIOCSPGRP, &old), 0);
	pgrp = 0;
	is("TIOCSPGRP: 0", __sys_ioctl(0, WEFT_TIOCSPGRP, &pgrp), -EINVAL);
	pgrp = -5;
	is("TIOCSPGRP: below 0", __sys_ioctl(0, WEFT_TIOCSPGRP, &pgrp), -EINVAL);
	is("TIOCSPGRP: NULL", __sys_ioctl(0, WEFT_TIOCSPGRP, NULL), -EFAULT);
	__sys_ioctl(0, WEFT_TIOCGPGRP, &pgrp);
	is("TIOCSPGRP: errors change nothing", pgrp, old);
	is("TIOCGPGRP: NULL", __sys_ioctl(0, WEFT_TIOCGPGRP, NULL), -EFAULT);

	is("TIOCGWINSZ", __sys_ioctl(0, WEFT_TIOCGWINSZ, &w), 0);
	ok("TIOCGWINSZ: a size", w.row > 0 && w.col > 0);
	is("TIOCGWINSZ: NULL", __sys_ioctl(0, WEFT_TIOCGWINSZ, NULL), -EFAULT);
	is("TIOCSWINSZ: NULL", __sys_ioctl(0, WEFT_TIOCSWINSZ, NULL), -EFAULT);
	resizes(w);
	is("ioctl: unknown request", __sys_ioctl(0, 0x1234, &w), -ENOTTY);
	is("ioctl: no descriptor", __sys_ioctl(99, WEFT_TCGETS, &t), -EBADF);
	is("ioctl: null device", __sys_ioctl(null, WEFT_TCGETS, &t), -ENOTTY);
	is("lseek: console", __sys_lseek(0, 0, WEFT_SEEK_CUR), -ESPIPE);
	__sys_close(null);
}

/* Reads what is there with nobody typing, and how long "nothing" takes to come. */
static void drain(unsigned time, int64_t *took)
{
	char c[64];
	long got;

	set_raw(0, time);
	do {
		int64_t start = gethrtime();
		got = __sys_read(0, c, sizeof(c));
		*took = gethrtime() - start;
	} while (got > 0);
	is("raw: no input", got, 0);
}

static void raw_reads(void)
{
	int64_t took;
	char *p = page_before_hole();

	drain(0, &took);
	ok("raw: VTIME 0 does not wait", took < 1000000000);
	drain(3, &took);
	ok("raw: VTIME 3 waits", took >= 300000000);
	ok("raw: and not for ever", took < 10000000000);
	is("read: NULL", __sys_read(0, NULL, 1), -EFAULT);
	is("read: kernel address", __sys_read(0, KERNEL_ADDR, 1), -EFAULT);
	is("read: into the text", __sys_read(0, (void *)raw_reads, 1), -EFAULT);
	is("read: into a hole", __sys_read(0, p + PAGE - 1, 2), -EFAULT);
	is("read: nothing", __sys_read(0, NULL, 0), 0);
	set_saved();

	is("write: NULL", __sys_write(1, NULL, 1), -EFAULT);
	is("write: kernel address", __sys_write(1, KERNEL_ADDR, 1), -EFAULT);
	int fd = __sys_open("/dev/console", WEFT_O_RDONLY, 0);
	is("write: opened for reading", __sys_write(fd, "x", 1), -EBADF);
	__sys_close(fd);
	fd = __sys_open("/dev/console", WEFT_O_WRONLY, 0);
	is("read: opened for writing", __sys_read(fd, p, 1), -EBADF);
	is("write: /dev/console", __sys_write(fd, "# written to /dev/console\n", 26), 26);
	__sys_close(fd);
}

/* --- readers that are asleep -------------------------------------------------------- */

static int sleep_fd;
static long sleep_result;

static void sleep_reader(struct raw *r)
{
	char c;
	long got = __sys_read(sleep_fd, &c, 1);
	__atomic_store_n(&sleep_result, got, __ATOMIC_RELEASE);
}

static void sleepers(void)
{
	static struct raw r;
	int64_t took;

	drain(3, &took);
	set_raw(1, 0);
	sleep_fd = __sys_dup(0);
	sleep_result = -1;
	if (raw_start(&r, sleep_reader, 0, 0) != 0)
		bail("no LWP");
	raw_wait_asleep(r.id, NULL);
	is("asleep: its file is closed", __sys_close(sleep_fd), 0);
	is("asleep: closed for others", __sys_close(sleep_fd), -EBADF);
	is("asleep: writing is possible", __sys_write(1, "#\n", 2), 2);
	is("asleep: still", __atomic_load_n(&sleep_result, __ATOMIC_ACQUIRE), -1);
	set_raw(0, 0); /* now there is nothing to wait for */
	is("asleep: new modes wake it", __sys_lwp_wait(r.id, NULL), 0);
	is("asleep: what it read", sleep_result, 0);
	set_saved();
}

/* A child that ends, or is killed, while an LWP of it sleeps in a read. */
static void children(const char *self)
{
	static const struct {
		char *what;
		int sig, status;
	} t[] = {{"exit", 0, WEFT_W_EXITCODE(5, 0)}, {"sleep", WEFT_SIGKILL, WEFT_SIGKILL}};

	for (unsigned i = 0; i < 2; i++) {
		char *argv[] = {"console_modes", t[i].what, NULL}, *envp[] = {NULL};
		struct spawn_args a = {
			.path = (uint64_t)self, .argv = (uint64_t)argv, .envp = (uint64_t)envp};
		struct weft_procinfo info;
		int status = -1;

		set_raw(1, 0);
		long pid = __sys_spawn(&a);
		if (pid < 0)
			bail("spawn: error %ld", -pid);
		if (t[i].sig != 0) {
			do
				__sys_lwp_yield();
			while (__sys_procinfo(pid, &info) == pid && info.state != LWP_ST_SLEEP);
			is("killed while it reads", __sys_kill(pid, t[i].sig), 0);
		}
		is("child: wait", __sys_waitpid(pid, &status, 0, NULL), pid);
		is("child: status", status, t[i].status);
		set_saved();
	}
}

static int child(const char *what)
{
	static struct raw r;
	char c;

	if (strcmp(what, "sleep") == 0)
		return __sys_read(0, &c, 1);
	raw_start(&r, sleep_reader, 0, 0);
	raw_wait_asleep(r.id, NULL);
	return 5;
}

/* --- for tests/test_console.py --------------------------------------------------------- */

static int show_raw(void)
{
	char c = 0, text[16];

	set_raw(1, 0);
	__sys_write(1, "raw\n", 4);
	while (c != 'q' && __sys_read(0, &c, 1) == 1)
		__sys_write(1, text, snprintf(text, sizeof(text), "<%02x>", (unsigned char)c));
	__sys_write(1, "\n", 1);
	set_saved();
	return 0;
}

static int show_lines(void)
{
	char line[300] = "got ";
	long got;

	__sys_write(1, "ready\n", 6);
	while ((got = __sys_read(0, line + 4, sizeof(line) - 4)) > 0)
		__sys_write(1, line, 4 + got);
	return got < 0;
}

static int spin(void)
{
	__sys_write(1, "ready\n", 6);
	for (volatile int on = 1; on;)
		;
	return 0;
}

static void write_lines(struct raw *r)
{
	char line[200];
	for (unsigned i = 0; i < sizeof(line); i++)
		line[i] = 'a' + r->arg;
	line[sizeof(line) - 1] = '\n';
	for (int i = 0; i < 100; i++)
		__sys_write(1, line, sizeof(line));
}

static int writers(void)
{
	static struct raw r[4];
	for (int i = 0; i < 4; i++)
		raw_start(&r[i], write_lines, i, 0);
	for (int i = 0; i < 4; i++)
		__sys_lwp_wait(r[i].id, NULL);
	return 0;
}

int main(int argc, char **argv)
{
	if (__sys_ioctl(0, WEFT_TCGETS, &saved) != 0)
		bail("standard input is not the console");
	if (argc > 1)
		return strcmp(argv[1], "raw") == 0       ? show_raw()
		       : strcmp(argv[1], "lines") == 0   ? show_lines()
		       : strcmp(argv[1], "spin") == 0    ? spin()
		       : strcmp(argv[1], "writers") == 0 ? writers()
							 : child(argv[1]);
	controls();
	raw_reads();
	sleepers();
	children("/bin/console_modes");
	return tap_done();
}
