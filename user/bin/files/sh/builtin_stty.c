/*
 * builtin_stty.c - stty, which is a program too: the modes of the terminal on standard input, as
 * far as the console has them (weft/file.h).
 *
 * It is built in, because the shell gives commands the modes that stty has set, and resets
 * the modes that a program leaves behind.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include "sh.h"

static struct termios modes;

static const struct flag {
	const char *name;
	tcflag_t *word, bit;
} flags[] = {
	{"isig", &modes.c_lflag, ISIG},   {"icanon", &modes.c_lflag, ICANON},
	{"echo", &modes.c_lflag, ECHO},   {"icrnl", &modes.c_iflag, ICRNL},
	{"opost", &modes.c_oflag, OPOST}, {"crtscts", &modes.c_cflag, CRTSCTS},
};
#define NFLAGS (sizeof(flags) / sizeof(*flags))

static const struct character {
	const char *name;
	int index;
	cc_t sane;
} characters[] = {
	{"intr", VINTR, 'C' - '@'}, {"quit", VQUIT, '\\' - '@'}, {"susp", VSUSP, 'Z' - '@'},
	{"erase", VERASE, 0x7f},    {"kill", VKILL, 'U' - '@'},  {"eof", VEOF, 'D' - '@'},
};
#define NCHARACTERS (sizeof(characters) / sizeof(*characters))

static void stty_cooked(void)
{
	modes.c_lflag |= ISIG | ICANON;
	modes.c_iflag |= ICRNL;
	modes.c_oflag |= OPOST;
}

static void stty_sane(void)
{
	size_t i;

	stty_cooked();
	modes.c_lflag |= ECHO;
	modes.c_cflag &= ~CRTSCTS;
	for (i = 0; i < NCHARACTERS; i++)
		modes.c_cc[characters[i].index] = characters[i].sane;
	modes.c_cc[VMIN] = 1;
	modes.c_cc[VTIME] = 0;
}

/* --- showing ---------------------------------------------------------------------------- */

static void print_character(const struct character *c)
{
	cc_t value = modes.c_cc[c->index];

	printf("%s = ", c->name);
	if (value == 0)
		fputs("undef; ", stdout);
	else if (value < ' ' || value == 0x7f)
		printf("^%c; ", value ^ 0x40);
	else
		printf("%c; ", value);
}

static void stty_show(const struct winsize *w)
{
	size_t i;

	printf("rows %u; columns %u;\n", w->ws_row, w->ws_col);
	for (i = 0; i < NCHARACTERS; i++)
		print_character(&characters[i]);
	printf("min = %u; time = %u;\n", modes.c_cc[VMIN], modes.c_cc[VTIME]);
	for (i = 0; i < NFLAGS; i++)
		printf("%s%s%s", i ? " " : "", *flags[i].word & flags[i].bit ? "" : "-",
		       flags[i].name);
	putchar('\n');
}

/* Prints all modes, as one word that stty accepts. */
static void stty_save(void)
{
	int i;

	printf("%x:%x:%x:%x", modes.c_iflag, modes.c_oflag, modes.c_cflag, modes.c_lflag);
	for (i = 0; i < NCCS; i++)
		printf(":%x", modes.c_cc[i]);
	putchar('\n');
}

static bool stty_restore(const char *s)
{
	unsigned long value[4 + NCCS];
	char *end;
	int i;

	for (i = 0; i < 4 + NCCS; i++, s = end + 1) {
		value[i] = strtoul(s, &end, 16);
		if (end == s || *end != (i + 1 < 4 + NCCS ? ':' : '\0'))
			return false;
	}
	modes.c_iflag = value[0];
	modes.c_oflag = value[1];
	modes.c_cflag = value[2];
	modes.c_lflag = value[3];
	for (i = 0; i < NCCS; i++)
		modes.c_cc[i] = value[4 + i];
	return true;
}

/* --- setting ---------------------------------------------------------------------------- */

/* Parses C, ^C, ^? or ^-, which disables the character.  -1: none of them. */
static int character_of(const char *s)
{
	if (s[0] == '^' && s[1] && !s[2])
		return s[1] == '-' ? 0 : s[1] == '?' ? 0x7f : s[1] & 0x1f;
	if (!strcmp(s, "undef"))
		return 0;
	return s[0] && !s[1] ? (unsigned char)s[0] : -1;
}

static bool number_of(const char *s, unsigned most, unsigned *n)
{
	char *end;
	unsigned long l = strtoul(s, &end, 10);

	*n = l;
	return end != s && !*end && l <= most && *s != '-' && *s != '+';
}

/* Sets a mode without a value. */
static bool set_mode(const char *s)
{
	bool off = *s == '-';
	size_t i;

	if (!strcmp(s, "sane")) {
		stty_sane();
	} else if (!strcmp(s, "raw") || !strcmp(s, "-cooked")) {
		cfmakeraw(&modes);
	} else if (!strcmp(s, "cooked") || !strcmp(s, "-raw")) {
		stty_cooked();
	} else {
		for (i = 0; i < NFLAGS && strcmp(s + off, flags[i].name); i++)
			;
		if (i == NFLAGS)
			return stty_restore(s);
		if (off)
			*flags[i].word &= ~flags[i].bit;
		else
			*flags[i].word |= flags[i].bit;
	}
	return true;
}

/* Sets a mode with a value.  1: not such a mode; -1: the value is wrong. */
static int set_value(const char *name, const char *value, struct winsize *w)
{
	int c = character_of(value);
	unsigned n;
	size_t i;

	for (i = 0; i < NCHARACTERS; i++)
		if (!strcmp(name, characters[i].name)) {
			modes.c_cc[characters[i].index] = c;
			return c < 0 ? -1 : 0;
		}
	if (!strcmp(name, "min") || !strcmp(name, "time")) {
		if (!number_of(value, 255, &n))
			return -1;
		modes.c_cc[*name == 'm' ? VMIN : VTIME] = n;
		return 0;
	}
	if (!strcmp(name, "rows") || !strcmp(name, "cols") || !strcmp(name, "columns")) {
		if (!number_of(value, UINT16_MAX, &n))
			return -1;
		*(*name == 'r' ? &w->ws_row : &w->ws_col) = n;
		return 0;
	}
	return 1;
}

static const char stty_usage[] =
	"usage: stty [-a | -g | size]\n"
	"       stty MODE...\n"
	"MODE: sane [-]raw [-]cooked, what stty -g printed,\n"
	"  [-]isig [-]icanon [-]echo [-]icrnl [-]opost [-]crtscts,\n"
	"  intr quit susp erase kill eof, each with a character (^C, ^?; ^-: none),\n"
	"  min N, time N (tenths of a second), rows N, columns N\n";

static int stty_set(char **argv)
{
	struct winsize was, w;

	ioctl(STDIN_FILENO, TIOCGWINSZ, &was);
	for (w = was; *argv; argv++) {
		int bad = argv[1] ? set_value(argv[0], argv[1], &w) : 1;

		if (bad < 0) {
			complain("stty: %s: not a value: %s", argv[0], argv[1]);
			return STATUS_ERROR;
		}
		if (bad == 0) {
			argv++;
		} else if (!set_mode(*argv)) {
			complain("stty: no such mode: %s", *argv);
			return STATUS_ERROR;
		}
	}
	if (memcmp(&w, &was, sizeof(w)) && ioctl(STDIN_FILENO, TIOCSWINSZ, &w) < 0) {
		complain("stty: %s", strerror(errno));
		return 1;
	}
	if (tcsetattr(STDIN_FILENO, TCSADRAIN, &modes) < 0) {
		complain("stty: %s", strerror(errno));
		return 1;
	}
	edit_modes_changed();
	return 0;
}

/* stty [-a | -g | size | MODE...]: shows the terminal's modes, or sets all named modes, or none. */
int builtin_stty(int argc, char **argv)
{
	struct winsize w = {0};

	if (argc == 2 && (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help"))) {
		fputs(stty_usage, stdout);
		return 0;
	}
	if (tcgetattr(STDIN_FILENO, &modes) < 0) {
		complain("stty: standard input: %s", strerror(errno));
		return 1;
	}
	ioctl(STDIN_FILENO, TIOCGWINSZ, &w);
	if (argc == 1 || (argc == 2 && !strcmp(argv[1], "-a")))
		stty_show(&w);
	else if (argc == 2 && !strcmp(argv[1], "-g"))
		stty_save();
	else if (argc == 2 && !strcmp(argv[1], "size"))
		printf("%u %u\n", w.ws_row, w.ws_col);
	else
		return stty_set(argv + 1);
	fflush(stdout);
	return 0;
}
