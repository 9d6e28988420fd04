/*
 * sys/termios.h - the terminal interface, for newlib's <termios.h>.
 *
 * The bits and indices that the console obeys come from weft/file.h.  The others have the
 * values of Linux, are ignored when set and read as 0.
 */
#pragma once
#include <sys/types.h>
#include <weft/file.h>

typedef unsigned int tcflag_t;
typedef unsigned char cc_t;
typedef unsigned int speed_t;

#define NCCS 16
#define VINTR WEFT_VINTR
#define VQUIT WEFT_VQUIT
#define VERASE WEFT_VERASE
#define VKILL WEFT_VKILL
#define VEOF WEFT_VEOF
#define VTIME WEFT_VTIME
#define VMIN WEFT_VMIN
#define VSUSP WEFT_VSUSP

struct termios { /* laid out as struct weft_termios */
	tcflag_t c_iflag, c_oflag, c_cflag, c_lflag;
	cc_t c_cc[NCCS];
};

/* c_iflag */
#define IGNBRK 0x1
#define BRKINT 0x2
#define IGNPAR 0x4
#define PARMRK 0x8
#define INPCK 0x10
#define ISTRIP 0x20
#define INLCR 0x40
#define IGNCR 0x80
#define ICRNL WEFT_ICRNL
#define IXON 0x400
#define IXANY 0x800
#define IXOFF 0x1000

/* c_oflag */
#define OPOST WEFT_OPOST
#define ONLCR 0x4

/* c_cflag */
#define CSIZE 0x30
#define CS8 0x30
#define CREAD 0x80
#define PARENB 0x100
#define CRTSCTS WEFT_CRTSCTS

/* c_lflag */
#define ISIG WEFT_ISIG
#define ICANON WEFT_ICANON
#define ECHO WEFT_ECHO
#define ECHOE 0x10
#define ECHOK 0x20
#define ECHONL 0x40
#define NOFLSH 0x80
#define TOSTOP 0x100
#define IEXTEN 0x8000

/* When tcsetattr acts.  A write returns only when all its output is out, so the first two are the
 * same.  The third discards input that was typed ahead. */
#define TCSANOW 0
#define TCSADRAIN 1
#define TCSAFLUSH 2

int tcgetattr(int fd, struct termios *t);
int tcdrain(int fd);
int tcsetattr(int fd, int when, const struct termios *t);
void cfmakeraw(struct termios *t);
