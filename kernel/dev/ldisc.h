/*
 * ldisc.h - the line discipline: what happens to a byte between the terminal and
 * the program that reads it.  Pure state; the caller locks, sleeps and transmits.
 */
#pragma once
#include <kern/types.h>
#include <weft/file.h>

#define LDISC_RING 4096 /* bytes typed ahead; a power of two */

struct ldisc {
	struct weft_termios tio;
	/* Input that has not been read: ring[(first + i) % LDISC_RING], 0 <= i < count. */
	uint16_t ring[LDISC_RING]; /* a byte, and LDISC_END or LDISC_EOF */
	unsigned first, count;
	unsigned lines; /* how many of the entries end a line (ICANON) */
};
#define LDISC_END 0x100 /* the last byte of a line */
#define LDISC_EOF 0x200 /* not a byte, but the mark of Ctrl-D; it ends a line, too */

/* Canonical mode with echo, signals and both newline translations. */
void ldisc_init(struct ldisc *d);
/*
 * Takes a byte of input.  Echo goes to echo(text, n): at most a few bytes, or as many for each
 * byte of a line that a kill character erases.  Returns 0, or the signal for the foreground group.
 */
int ldisc_input(struct ldisc *d, uint8_t c, void (*echo)(const char *, size_t));
/* Would a read of n bytes (1 or more) return now, whatever VTIME's clock says? */
bool ldisc_ready(const struct ldisc *d, size_t n);
/*
 * With CRTSCTS: should the sender stop, because the ring is nearly full?  It should not if the ring
 * holds only a line that is too long, because only more input can end it.
 */
bool ldisc_stop(const struct ldisc *d);
/* Takes up to n bytes: a line or a part of it, or (no ICANON) any bytes in the ring. */
size_t ldisc_read(struct ldisc *d, uint8_t *buf, size_t n);
/* Discards the input that has not been read. */
void ldisc_flush(struct ldisc *d);
/* Sets the modes.  Input that has not been read stays, and is read under the new modes. */
void ldisc_set(struct ldisc *d, const struct weft_termios *tio);
/*
 * Output processing: copies bytes of text[0..n) to out[0..room), and turns newlines into CR LF if
 * `crlf`.  Returns how many bytes of out it has filled; *used: how many bytes of text it has taken.
 */
size_t ldisc_output(char *out, size_t room, const char *text, size_t n, bool crlf, size_t *used);
