/*
 * termios.c - the console's settings, its foreground group and its name.
 */
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include "libc.h"

_Static_assert(sizeof(struct termios) == sizeof(struct weft_termios) &&
		       offsetof(struct termios, c_lflag) == offsetof(struct weft_termios, lflag) &&
		       offsetof(struct termios, c_cc) == offsetof(struct weft_termios, cc),
	       "struct termios");

int tcgetattr(int fd, struct termios *t)
{
	return result(__sys_ioctl(fd, WEFT_TCGETS, t));
}

int tcsetattr(int fd, int when, const struct termios *t)
{
	if (when < TCSANOW || when > TCSAFLUSH)
		return fails(EINVAL);
	return result(__sys_ioctl(fd, when == TCSAFLUSH ? WEFT_TCSETSF : WEFT_TCSETS, (void *)t));
}

/* Does nothing: a write returns only when its output is out.  A cancellation point. */
int tcdrain(int fd)
{
	struct termios t;

	pthread_testcancel();
	return tcgetattr(fd, &t);
}

void cfmakeraw(struct termios *t)
{
	t->c_iflag &= ~(IGNBRK | BRKINT | PARMRK | ISTRIP | INLCR | IGNCR | ICRNL | IXON);
	t->c_oflag &= ~OPOST;
	t->c_lflag &= ~(ECHO | ECHONL | ICANON | ISIG | IEXTEN);
	t->c_cflag = (t->c_cflag & ~(CSIZE | PARENB)) | CS8;
	t->c_cc[VMIN] = 1;
	t->c_cc[VTIME] = 0;
}

pid_t tcgetpgrp(int fd)
{
	int32_t pgrp;

	return ioctl(fd, TIOCGPGRP, &pgrp) < 0 ? -1 : pgrp;
}

int tcsetpgrp(int fd, pid_t pgrp)
{
	int32_t arg = pgrp;

	return ioctl(fd, TIOCSPGRP, &arg);
}

#define CONSOLE "/dev/console"

int ttyname_r(int fd, char *buf, size_t size)
{
	struct weft_termios t;
	long r = __sys_ioctl(fd, WEFT_TCGETS, &t);

	if (r < 0)
		return -r;
	return strlcpy(buf, CONSOLE, size) < size ? 0 : ERANGE;
}

char *ttyname(int fd)
{
	static char name[sizeof(CONSOLE)];
	int error = ttyname_r(fd, name, sizeof(name));

	if (error) {
		errno = error;
		return NULL;
	}
	return name;
}
