/* labtest.c - the results of a lab's test program, each line with its MAC (labtest.h). */
#include "labtest.h"
#include "siphash.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "lab "
#define TEXT_MOST 300
#define NAME_MOST 40

/* The host finds the key's place in the program's file by the magic in front of it. */
static volatile struct {
	char magic[16];
	uint8_t key[16]; /* all 0: none */
} lab_slot __attribute__((used)) = {.magic = "weft-lab-slot-1:"};

static unsigned lab_lines, lab_checks, lab_failures;

/* False: there is no key. */
static bool key_get(uint8_t key[16])
{
	uint8_t any = 0;

	for (int i = 0; i < 16; i++) {
		key[i] = lab_slot.key[i];
		any |= key[i];
	}
	return any != 0;
}

/*
 * Writes a blank and the MAC as 16 digits; without a key 16 blanks.  The instructions are as many for each key,
 * and without one.  So a graded run and its repetition by the student are the same run to the nanosecond.
 */
static size_t mac_write(char *to, const char *text, size_t n)
{
	static const char digits[2][17] = {"                ", "0123456789abcdef"};
	uint8_t key[16];
	const char *digit = digits[key_get(key)];
	uint64_t mac = siphash24(key, text, n);

	*to++ = ' ';
	for (int i = 0; i < 16; i++)
		*to++ = digit[mac >> (60 - 4 * i) & 15];
	return 17;
}

static void line_write(const char *line, size_t n)
{
	while (n > 0) {
		ssize_t done = write(1, line, n);
		if (done <= 0)
			return;
		line += done;
		n -= done;
	}
}

static void line_tell(const char *name, const char *kind, const char *text)
{
	char line[TEXT_MOST + 100];
	int n = snprintf(line, sizeof(line), PREFIX "%u %.*s %s %.*s", ++lab_lines, NAME_MOST, name,
			 kind, TEXT_MOST, text);

	for (int i = 0; i < n; i++)
		if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
			line[i] = ' ';
	n += mac_write(line + n, line + strlen(PREFIX), n - strlen(PREFIX));
	line[n++] = '\n';
	line_write(line, n);
}

void lab_check(bool ok, const char *name, const char *format, ...)
{
	char text[TEXT_MOST + 1] = "-";
	va_list args;

	lab_checks++;
	if (!ok) {
		lab_failures++;
		va_start(args, format);
		vsnprintf(text, sizeof(text), format, args);
		va_end(args);
	}
	line_tell(name, ok ? "ok" : "failed", text);
}

void lab_figure(const char *name, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	line_tell(name, "figure", text);
}

int lab_end(void)
{
	char text[60];

	snprintf(text, sizeof(text), "%u checks, %u failed", lab_checks, lab_failures);
	line_tell("all", "end", text);
	return lab_failures != 0;
}
