/*
 * ldisc.c - the terminal line discipline (dev/ldisc.h): canonical mode with erase,
 * kill and end-of-file; raw mode; echo; the characters that send a signal.
 *
 * Invariants.  With ICANON, `lines` counts the ring's entries that end a line.  The entries after
 * the last of them are the line being typed.  Only these can be erased.  Without ICANON no entry
 * is marked, lines is 0, and every entry is a byte that can be read.  ldisc_set converts the ring
 * from one mode to the other.
 *
 * With CRTSCTS the sender is stopped before the ring is full (ldisc_stop), so no byte is lost: this
 * is for a pipe.  Without CRTSCTS a full ring drops each new byte, with a BEL as echo: this is for
 * a user, because Ctrl-C still works.  The last place is kept for the end of a line, so that a line
 * that is too long can still be finished.
 */
#include <weft/signal.h>
#include "ldisc.h"

#define LFLAGS (WEFT_ISIG | WEFT_ICANON | WEFT_ECHO)

/* The sender is stopped when the ring has this much room: it is for bytes that are on their way. */
#define STOP_MARGIN 64

#define BEL 0x07
#define BACKSPACE 0x08
#define DEL 0x7f

static uint16_t *ldisc_entry(struct ldisc *d, unsigned i)
{
	return &d->ring[(d->first + i) % LDISC_RING];
}

static bool ldisc_canonical(const struct ldisc *d)
{
	return d->tio.lflag & WEFT_ICANON;
}

static bool is_cc(const struct ldisc *d, unsigned which, uint8_t c)
{
	return c != 0 && d->tio.cc[which] == c;
}

void ldisc_init(struct ldisc *d)
{
	*d = (struct ldisc){
		.tio =
			{
				.iflag = WEFT_ICRNL,
				.oflag = WEFT_OPOST,
				.lflag = LFLAGS,
				.cc =
					{
						[WEFT_VINTR] = 'C' - '@',
						[WEFT_VQUIT] = '\\' - '@',
						[WEFT_VERASE] = DEL,
						[WEFT_VKILL] = 'U' - '@',
						[WEFT_VEOF] = 'D' - '@',
						[WEFT_VMIN] = 1,
						[WEFT_VSUSP] = 'Z' - '@',
					},
			},
	};
}

/* --- echo ------------------------------------------------------------------------- */

/* Is c shown as ^X? */
static bool is_control(uint8_t c)
{
	return c < ' ' || c == DEL;
}

/* Is c a byte of a UTF-8 character, except the first?  Such a byte takes no column. */
static bool is_continuation(uint8_t c)
{
	return (c & 0xc0) == 0x80;
}

static void echo_char(const struct ldisc *d, uint8_t c, void (*echo)(const char *, size_t))
{
	if (!(d->tio.lflag & WEFT_ECHO))
		return;
	if (c == '\n') {
		if (d->tio.oflag & WEFT_OPOST)
			echo("\r\n", 2);
		else
			echo("\n", 1);
	} else if (is_control(c)) {
		echo((char[]){'^', c ^ 0x40}, 2);
	} else {
		echo((char[]){c}, 1);
	}
}

/* --- input ------------------------------------------------------------------------- */

void ldisc_flush(struct ldisc *d)
{
	d->count = 0;
	d->lines = 0;
}

/* Adds an entry, unless the ring has no room. */
static bool ldisc_put(struct ldisc *d, uint16_t e, void (*echo)(const char *, size_t))
{
	bool ends = e & (LDISC_END | LDISC_EOF);
	unsigned room = LDISC_RING - (ldisc_canonical(d) && !ends);
	if (d->count >= room) {
		if (d->tio.lflag & WEFT_ECHO)
			echo((char[]){BEL}, 1);
		return false;
	}
	*ldisc_entry(d, d->count++) = e;
	d->lines += ends;
	return true;
}

/* Erases the last character of the line being typed.  False: the line is empty. */
static bool ldisc_erase(struct ldisc *d, void (*echo)(const char *, size_t))
{
	unsigned columns = 0;
	bool any = false;

	while (d->count > 0) {
		uint16_t e = *ldisc_entry(d, d->count - 1);
		if (e & (LDISC_END | LDISC_EOF))
			break;
		d->count--;
		any = true;
		if (is_continuation(e))
			continue;
		columns = is_control(e) ? 2 : 1;
		break;
	}
	if (d->tio.lflag & WEFT_ECHO)
		for (unsigned i = 0; i < columns; i++)
			echo("\b \b", 3);
	return any;
}

int ldisc_input(struct ldisc *d, uint8_t c, void (*echo)(const char *, size_t))
{
	if (c == '\r' && (d->tio.iflag & WEFT_ICRNL))
		c = '\n';

	if (d->tio.lflag & WEFT_ISIG) {
		int sig = is_cc(d, WEFT_VINTR, c)   ? WEFT_SIGINT
			  : is_cc(d, WEFT_VQUIT, c) ? WEFT_SIGQUIT
			  : is_cc(d, WEFT_VSUSP, c) ? WEFT_SIGTSTP
						    : 0;
		if (sig != 0) {
			ldisc_flush(d);
			echo_char(d, c, echo);
			echo_char(d, '\n', echo);
			return sig;
		}
	}
	if (!ldisc_canonical(d)) {
		if (ldisc_put(d, c, echo))
			echo_char(d, c, echo);
		return 0;
	}

	if (is_cc(d, WEFT_VERASE, c) || c == BACKSPACE || c == DEL) {
		ldisc_erase(d, echo);
	} else if (is_cc(d, WEFT_VKILL, c)) {
		while (ldisc_erase(d, echo))
			;
	} else if (is_cc(d, WEFT_VEOF, c)) {
		ldisc_put(d, LDISC_EOF, echo);
	} else if (ldisc_put(d, c == '\n' ? c | LDISC_END : c, echo)) {
		echo_char(d, c, echo);
	}
	return 0;
}

/* --- reading ------------------------------------------------------------------------ */

bool ldisc_ready(const struct ldisc *d, size_t n)
{
	if (ldisc_canonical(d))
		return d->lines > 0;
	unsigned want = d->tio.cc[WEFT_VMIN];
	if (want == 0 && d->tio.cc[WEFT_VTIME] != 0)
		want = 1;
	return d->count >= MIN(n, want);
}

bool ldisc_stop(const struct ldisc *d)
{
	return (d->tio.cflag & WEFT_CRTSCTS) && d->count >= LDISC_RING - STOP_MARGIN &&
	       (d->lines > 0 || !ldisc_canonical(d));
}

size_t ldisc_read(struct ldisc *d, uint8_t *buf, size_t n)
{
	size_t got = 0;

	if (ldisc_canonical(d) && d->lines == 0)
		return 0; /* there is only the line being typed */
	while (d->count > 0) {
		uint16_t e = *ldisc_entry(d, 0);
		/* An end-of-file mark is removed together with the bytes before it, also when they
		 * fill the buffer.  Otherwise the next read would report an end of file. */
		if (got == n && !(e & LDISC_EOF))
			break;
		d->first = (d->first + 1) % LDISC_RING;
		d->count--;
		if (!(e & LDISC_EOF))
			buf[got++] = e;
		if (e & (LDISC_END | LDISC_EOF)) {
			d->lines--;
			break;
		}
	}
	return got;
}

void ldisc_set(struct ldisc *d, const struct weft_termios *tio)
{
	bool was = ldisc_canonical(d);

	d->tio = *tio;
	d->tio.iflag &= WEFT_ICRNL;
	d->tio.oflag &= WEFT_OPOST;
	d->tio.cflag &= WEFT_CRTSCTS;
	d->tio.lflag &= LFLAGS;
	if (was == ldisc_canonical(d))
		return;

	unsigned count = d->count;
	ldisc_flush(d);
	for (unsigned i = 0; i < count; i++) {
		uint16_t e = *ldisc_entry(d, i);
		if (e & LDISC_EOF)
			continue; /* raw mode has no end of file */
		e &= 0xff;
		if (ldisc_canonical(d) && e == '\n') {
			e |= LDISC_END;
			d->lines++;
		}
		*ldisc_entry(d, d->count++) = e;
	}
}

/* --- output ------------------------------------------------------------------------- */

size_t ldisc_output(char *out, size_t room, const char *text, size_t n, bool crlf, size_t *used)
{
	size_t put = 0, i;
	for (i = 0; i < n; i++) {
		bool two = crlf && text[i] == '\n';
		if (put + 1 + two > room)
			break;
		if (two)
			out[put++] = '\r';
		out[put++] = text[i];
	}
	*used = i;
	return put;
}
