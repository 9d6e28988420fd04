/*
 * console.c - the console: the kernel's messages, and /dev/console with its line
 * discipline (dev/ldisc.c), over the serial port.
 *
 * Locks, in this order:
 *
 *	writers		sleeping; one user's write at a time
 *	tty.lock	spin; the line discipline's state and its readers
 *	console_lock	spin, a leaf; the serial port's transmitter
 *
 * The host sends the size of the terminal's window among the typed bytes (dev/telnet.h).
 *
 * The input interrupt acquires tty.lock and, to echo, console_lock.  It sends a signal only after
 * it has released both, because proc_kill_group acquires locks that come first.
 *
 * The transmitter is polled with interrupts off.  To keep this short, a user's write releases
 * console_lock every PIECE bytes.  A message of the kernel goes out whole; it is a line at most, as
 * a rule.
 */
#include <weft/errno.h>
#include <weft/poll.h>
#include <kern/poll.h>
#include <kern/proc.h>
#include <kern/sched.h>
#include <kern/serial.h>
#include <kern/timing.h>
#include <kern/usercopy.h>
#include "ldisc.h"
#include "telnet.h"

#define PIECE 128
#define VTIME_NS 100000000ull /* the unit of cc[VTIME] */

static struct spinlock console_lock = SPINLOCK_INIT("console");
/*
 * Is console_lock in use?  It is not while CPU 0 is alone and has no per-CPU area yet.  It is not
 * in a panic either, because the holder may have been stopped and will never release it.
 */
static bool locking;

static struct kmutex writers;

static struct {
	struct spinlock lock;
	struct ldisc ld;
	struct waitq readers;
	struct pollhead polls;
	hrtime_t last_input;
	bool stopped; /* control_flow has stopped the receiver */
	int pgrp;     /* atomic: the foreground process group, or 0 */
	struct telnet telnet;
	struct weft_winsize size; /* the usual size, until the host or a program sets it */
} tty = {.lock = SPINLOCK_INIT("tty"), .size = {.row = 24, .col = 80}};

/* --- output ----------------------------------------------------------------------- */

static irqstate_t transmitter_lock(void)
{
	irqstate_t s = irq_save();
	if (__atomic_load_n(&locking, __ATOMIC_RELAXED))
		spin_acquire(&console_lock);
	return s;
}

static void transmitter_unlock(irqstate_t s)
{
	if (__atomic_load_n(&locking, __ATOMIC_RELAXED))
		spin_release(&console_lock);
	irq_restore(s);
}

void console_write(const char *text, size_t n)
{
	irqstate_t s = transmitter_lock();
	while (n > 0) {
		char out[PIECE];
		size_t used, len = ldisc_output(out, sizeof(out), text, n, true, &used);
		serial_write(out, len);
		text += used;
		n -= used;
	}
	transmitter_unlock(s);
}

void console_panic(void)
{
	__atomic_store_n(&locking, false, __ATOMIC_RELAXED);
}

static void console_echo(const char *text, size_t n)
{
	irqstate_t s = transmitter_lock();
	serial_write(text, n);
	transmitter_unlock(s);
}

/* A user's write.  It is one piece: no other user's write goes out in its middle.  May sleep. */
static int64_t console_send(struct vnode *vn, const void *buf, size_t n, unsigned flags)
{
	const char *text = buf;
	size_t left = n;

	kmutex_enter(&writers);
	while (left > 0) {
		char out[PIECE];
		size_t used;
		bool crlf = __atomic_load_n(&tty.ld.tio.oflag, __ATOMIC_RELAXED) & WEFT_OPOST;
		size_t len = ldisc_output(out, sizeof(out), text, left, crlf, &used);
		console_echo(out, len);
		text += used;
		left -= used;
	}
	kmutex_exit(&writers);
	return n;
}

/* --- input ------------------------------------------------------------------------- */

/*
 * Stops the receiver when the ring is nearly full, and restarts it when there is room again, if
 * CRTSCTS is set.  This stops and restarts the sender, too.  Call it after every change of the
 * ring; tty.lock held.
 */
static void control_flow(void)
{
	bool stop = ldisc_stop(&tty.ld);
	if (stop != tty.stopped)
		serial_receive(!stop);
	tty.stopped = stop;
}

/* Is there a line, or in raw mode a byte?  tty.lock held. */
static bool console_readable(void)
{
	return tty.ld.count > 0 && (tty.ld.lines > 0 || !(tty.ld.tio.lflag & WEFT_ICANON));
}

/* Sets the size of the terminal.  Returns the signal for the foreground group, or 0: the size is
 * the same.  tty.lock held. */
static int console_resize(const struct weft_winsize *size)
{
	bool same = memcmp(&tty.size, size, sizeof(*size)) == 0;

	tty.size = *size;
	return same ? 0 : WEFT_SIGWINCH;
}

/* Called from the serial interrupt for each byte. */
static void console_input(char c)
{
	struct weft_winsize size;
	int sig = 0;

	irqstate_t s = spin_lock(&tty.lock);
	int pgrp = tty.pgrp;
	switch (telnet_input(&tty.telnet, c, &size)) {
	case TELNET_NOTHING:
		break;
	case TELNET_SIZE:
		sig = console_resize(&size);
		break;
	case TELNET_TYPED:
		sig = ldisc_input(&tty.ld, c, console_echo);
		tty.last_input = time_now();
	}
	/* A reader with VTIME restarts its clock at each byte, so each byte wakes it.  In canonical
	 * mode only a whole line wakes the readers. */
	if (console_readable()) {
		waitq_wake_all(&tty.readers);
		pollhead_wake(&tty.polls);
	}
	control_flow();
	spin_unlock(&tty.lock, s);
	if (sig != 0 && pgrp != 0)
		proc_kill_group(pgrp, sig);
}

int console_pgrp(void)
{
	return __atomic_load_n(&tty.pgrp, __ATOMIC_RELAXED);
}

/*
 * May the caller read input?  Typed input is for the foreground group, if there is one.  Job
 * control does not apply to a process whose controlling terminal is not the console.
 */
static bool in_foreground(void)
{
	int pgrp = console_pgrp();
	return pgrp == 0 || pgrp == curproc()->pgrp || !proc_has_console(curproc());
}

/*
 * Waits until a read of n bytes can return.  0; -EINTR; -EAGAIN: the caller is in the background
 * now.  tty.lock held; released during a sleep.
 *
 * *Race:* a reader sleeps, another LWP changes the modes or the foreground group; *without this:*
 * the reader waits by the old modes, or reads in the background; *closed by:* the reader looks at
 * both each time, under tty.lock.
 */
static int wait_input(size_t n)
{
	hrtime_t start = time_now();
	int err = 0;

	while (in_foreground() && !ldisc_ready(&tty.ld, n)) {
		const struct weft_termios *t = &tty.ld.tio;
		hrtime_t deadline = HRTIME_NEVER;
		bool first = t->cc[WEFT_VMIN] == 0; /* the time is for the first byte */

		if (!(t->lflag & WEFT_ICANON) && t->cc[WEFT_VTIME] != 0 &&
		    (first || tty.ld.count > 0))
			deadline = (first ? start : MAX(start, tty.last_input)) +
				   t->cc[WEFT_VTIME] * VTIME_NS;
		if (deadline != HRTIME_NEVER && time_now() >= deadline)
			break;
		err = waitq_sleep(&tty.readers, &tty.lock, deadline, SLEEP_INTR);
		if (err == -EINTR)
			return err;
	}
	return in_foreground() ? 0 : -EAGAIN;
}

/*
 * Waits until the current process's group is in the foreground, or no group is.  While it is not,
 * the group gets sig, SIGTTIN or SIGTTOU, which stops it as a rule.  The caller looks again when it
 * goes on.  -EINTR: a handler is to be called; -EIO: the LWP blocks that signal or the process
 * ignores it (POSIX, 11.1.4).
 */
static int wait_foreground(int sig)
{
	struct lwp *l = curlwp();
	struct proc *p = l->proc;

	while (!in_foreground()) {
		irqstate_t s = spin_lock(&p->lock);
		bool deaf = sig_ignored(p, sig) || (sig_mask(l) & WEFT_SIGBIT(sig)) != 0;
		bool caught = p->sig.act[sig].handler != WEFT_SIG_DFL;
		spin_unlock(&p->lock, s);
		if (deaf)
			return -EIO;
		proc_kill_group(p->pgrp, sig);
		if (sig_interrupted())
			return -EINTR;
		s = irq_save();
		bool stops = l->ast & AST_STOPS;
		if (stops)
			lwp_stop_self();
		irq_restore(s);
		if (stops)
			continue;
		/* Another LWP has got the signal, and calls the handler, or is about to stop the
		 * process.  Or SIGCONT has arrived already. */
		if (caught)
			return -EINTR;
		preempt_point();
	}
	return 0;
}

/*
 * Reads a line, or in raw mode as many bytes as VMIN and VTIME say.  -EINTR: the LWP was told to
 * exit or stop before there was input; -EINTR, -EIO: in the background (wait_foreground).
 */
static int64_t console_recv(struct vnode *vn, void *buf, size_t n, unsigned flags)
{
	bool nonblock = flags & WEFT_O_NONBLOCK;
	int64_t r;

	do {
		r = wait_foreground(WEFT_SIGTTIN);
		if (r != 0)
			return r;
		irqstate_t s = spin_lock(&tty.lock);
		if (nonblock)
			r = in_foreground() && console_readable() ? 0 : -EAGAIN;
		else
			r = wait_input(n);
		if (r == 0)
			r = ldisc_read(&tty.ld, buf, n);
		control_flow();
		spin_unlock(&tty.lock, s);
	} while (r == -EAGAIN && !nonblock);
	return r;
}

static int console_poll(struct vnode *vn, int events, struct poll_entry *e)
{
	irqstate_t s = spin_lock(&tty.lock);
	int r = events & (WEFT_POLLOUT | (console_readable() ? WEFT_POLLIN : 0));
	if (r == 0)
		pollhead_join(&tty.polls, e, &tty.lock);
	spin_unlock(&tty.lock, s);
	return r;
}

/* --- control ------------------------------------------------------------------------ */

void console_set_pgrp(int pgrp)
{
	irqstate_t s = spin_lock(&tty.lock);
	__atomic_store_n(&tty.pgrp, pgrp, __ATOMIC_RELAXED);
	waitq_wake_all(&tty.readers);
	spin_unlock(&tty.lock, s);
}

/*
 * tcsetpgrp(3).  A process in the background stops by SIGTTOU, unless it blocks or ignores
 * this signal.  -EINVAL: no group can have this id; -EPERM: there is no such group in the session;
 * -EINTR.
 */
static int set_foreground(int pgrp)
{
	int err = wait_foreground(WEFT_SIGTTOU);

	if (err == -EINTR)
		return err;
	if (pgrp <= 0)
		return -EINVAL;
	irqstate_t s = spin_lock(&proc_tree_lock);
	err = group_in_session(pgrp, curproc()->sid) ? 0 : -EPERM;
	if (err == 0)
		console_set_pgrp(pgrp);
	spin_unlock(&proc_tree_lock, s);
	return err;
}

/*
 * Requests on the foreground group: -ENOTTY: the console is not the caller's controlling terminal;
 * errors of set_foreground.  All requests: -EFAULT; -ENOTTY: unknown request.
 */
static int console_ioctl(struct vnode *vn, uint64_t req, vaddr_t arg)
{
	switch (req) {
	case WEFT_TCGETS: {
		irqstate_t s = spin_lock(&tty.lock);
		struct weft_termios t = tty.ld.tio;
		spin_unlock(&tty.lock, s);
		return copyout(arg, &t, sizeof(t));
	}
	case WEFT_TCSETS:
	case WEFT_TCSETSF: {
		struct weft_termios t;
		int err = copyin(&t, arg, sizeof(t));
		if (err != 0)
			return err;
		/* *Race:* a write is in progress, another LWP sets the modes; *without this:* a
		 * part of its output goes out under other modes; *closed by:* `writers` is held
		 * here. */
		kmutex_enter(&writers);
		irqstate_t s = spin_lock(&tty.lock);
		ldisc_set(&tty.ld, &t);
		if (req == WEFT_TCSETSF)
			ldisc_flush(&tty.ld);
		waitq_wake_all(&tty.readers);
		pollhead_wake(&tty.polls);
		control_flow();
		spin_unlock(&tty.lock, s);
		kmutex_exit(&writers);
		return 0;
	}
	case WEFT_TIOCGPGRP: {
		/* Without a foreground group: an id that no group has (POSIX, tcgetpgrp). */
		int32_t pgrp = console_pgrp() ? console_pgrp() : INT32_MAX;
		return proc_has_console(curproc()) ? copyout(arg, &pgrp, sizeof(pgrp)) : -ENOTTY;
	}
	case WEFT_TIOCSPGRP: {
		int32_t pgrp;
		if (!proc_has_console(curproc()))
			return -ENOTTY;
		int err = copyin(&pgrp, arg, sizeof(pgrp));
		return err != 0 ? err : set_foreground(pgrp);
	}
	case WEFT_TIOCGWINSZ: {
		irqstate_t s = spin_lock(&tty.lock);
		struct weft_winsize w = tty.size;
		spin_unlock(&tty.lock, s);
		return copyout(arg, &w, sizeof(w));
	}
	case WEFT_TIOCSWINSZ: {
		struct weft_winsize w;
		int err = copyin(&w, arg, sizeof(w));
		if (err != 0)
			return err;
		irqstate_t s = spin_lock(&tty.lock);
		int sig = console_resize(&w), pgrp = tty.pgrp;
		spin_unlock(&tty.lock, s);
		if (sig != 0 && pgrp != 0)
			proc_kill_group(pgrp, sig);
		return 0;
	}
	default:
		return -ENOTTY;
	}
}

static const struct vnode_ops console_ops = {
	.recv = console_recv,
	.send = console_send,
	.poll = console_poll,
	.ioctl = console_ioctl,
};

static struct vnode vnode = {
	.ops = &console_ops,
	.refs = 1, /* for ever */
	.mode = WEFT_S_IFCHR | 0620,
	.rdev = 5 << 8 | 1,
};

struct vnode *console_vnode(void)
{
	return &vnode;
}

void console_init_early(void)
{
	serial_init();
}

void console_init(void)
{
	kmutex_init(&writers, "tty write");
	ldisc_init(&tty.ld);
	waitq_init(&tty.readers, "tty read");
	pollhead_init(&tty.polls);
	locking = true; /* the other CPUs start after this */
	serial_on_input(console_input);
}
