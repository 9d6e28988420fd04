/*
 * ldisc.h - the line discipline: what becomes of a byte between the terminal and
 * the program that reads it.  Pure state; the caller locks, sleeps and transmits.
 */
#pragma once
#include <kern/types.h>
#include <weft/file.h>

#define LDISC_RING 4096 /* bytes typed ahead; a power of two */

struct ldisc {
	struct weft_termios tio;
	/* Input that nobody has read: ring[(first + i) % LDISC_RING], 0 <= i < count. */
	uint16_t ring[LDISC_RING]; /* a byte, and LDISC_END or LDISC_EOF */
	unsigned first, count;
	unsigned lines; /* how many of them end a line (ICANON) */
};
#define LDISC_END 0x100 /* the last byte of a line */
#define LDISC_EOF 0x200 /* not a byte: Ctrl-D.  It ends a line too */

/* Canonical mode with echo, signals and both newline translations. */
void ldisc_init(struct ldisc *d);
/*
 * A byte has come in.  Echo goes to echo(text, n), at most a few bytes for each
 * byte of a line that a kill character takes back.  Returns 0, or the signal for
 * the foreground group.
 */
int ldisc_input(struct ldisc *d, uint8_t c, void (*echo)(const char *, size_t));
/* Would a read of n bytes (1 or more) return now, whatever VTIME's clock says? */
bool ldisc_ready(const struct ldisc *d, size_t n);
/*
 * With CRTSCTS: should the sender stop, because the ring is nearly full?  Not for
 * a line that is too long, which only more input can end.
 */
bool ldisc_stop(const struct ldisc *d);
/* Takes up to n bytes: a line or a part of it, or (no ICANON) what is there. */
size_t ldisc_read(struct ldisc *d, uint8_t *buf, size_t n);
/* What has been typed and not read is forgotten. */
void ldisc_flush(struct ldisc *d);
/* New modes.  What has been typed stays, and is seen under the new modes. */
void ldisc_set(struct ldisc *d, const struct weft_termios *tio);
/*
 * Output processing: moves bytes of text[0..n) to out[0..room), turning newlines
 * into CR LF if `crlf`.  Returns the bytes put; *used how many of text they took.
 */
size_t ldisc_output(char *out, size_t room, const char *text, size_t n, bool crlf, size_t *used);
