/*
 * telnet.h - how the host sends the terminal's size among the typed bytes: as Telnet does (RFC 854;
 * RFC 1073, NAWS).  Byte 255, which does not occur in UTF-8, begins a command.  Two such bytes
 * stand for one typed byte 255:
 *
 *	255 250 31 COLUMNS ROWS 255 240		16 bits each, high byte first
 *
 * Pure state; the caller locks.
 */
#pragma once
#include <kern/types.h>
#include <weft/file.h>

#define TELNET_IAC 255
#define TELNET_SB 250
#define TELNET_SE 240
#define TELNET_NAWS 31
#define TELNET_NAWS_BYTES 5 /* the option and two numbers */

struct telnet {
	enum { TELNET_DATA, TELNET_COMMAND, TELNET_OPTION, TELNET_OPTION_COMMAND } state;
	unsigned n; /* how many bytes of the option there are so far */
	uint8_t option[TELNET_NAWS_BYTES];
};

/* What a byte was: a part of a command, a typed byte, or the last byte of a size. */
enum telnet_input { TELNET_NOTHING, TELNET_TYPED, TELNET_SIZE };

/* An option that is too long is no size.  The bytes behind it count as typed again. */
static inline void telnet_collect(struct telnet *t, uint8_t c)
{
	t->state = t->n < TELNET_NAWS_BYTES ? TELNET_OPTION : TELNET_DATA;
	if (t->n < TELNET_NAWS_BYTES)
		t->option[t->n++] = c;
}

/* Takes a byte; with TELNET_SIZE, *size has rows and columns. */
static inline enum telnet_input telnet_input(struct telnet *t, uint8_t c, struct weft_winsize *size)
{
	const uint8_t *o = t->option;

	switch (t->state) {
	case TELNET_DATA:
		if (c != TELNET_IAC)
			return TELNET_TYPED;
		t->state = TELNET_COMMAND;
		return TELNET_NOTHING;
	case TELNET_COMMAND:
		t->state = c == TELNET_SB ? TELNET_OPTION : TELNET_DATA;
		t->n = 0;
		return c == TELNET_IAC ? TELNET_TYPED : TELNET_NOTHING;
	case TELNET_OPTION:
		if (c == TELNET_IAC)
			t->state = TELNET_OPTION_COMMAND;
		else
			telnet_collect(t, c);
		return TELNET_NOTHING;
	case TELNET_OPTION_COMMAND:
		if (c == TELNET_IAC) {
			telnet_collect(t, c);
			return TELNET_NOTHING;
		}
		t->state = TELNET_DATA;
		if (c != TELNET_SE || t->n != TELNET_NAWS_BYTES || o[0] != TELNET_NAWS)
			return TELNET_NOTHING;
		*size = (struct weft_winsize){.col = o[1] << 8 | o[2], .row = o[3] << 8 | o[4]};
		return TELNET_SIZE;
	}
	return TELNET_NOTHING;
}
