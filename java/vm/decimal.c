/*
 * decimal.c - a double in decimal digits, as Double.toString and Formatter write it.
 *
 * Both begin with the shortest digits that give the value again.  Formatter rounds these digits, half up
 * (Java API, Formatter, "Float and Double"), where C's printf rounds the exact value.
 */
#include "vm.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS 17 /* suffice for each double */

/* The size of a number: digit[0].digit[1]digit[2]... times 10 to the power of exponent. */
struct decimal {
	char digit[DIGITS];
	int n, exponent;
};

/* The shortest digits; of those with two digits the nearest, so that the least double is 4.9E-324. */
static void decimal_of(struct decimal *d, double size, bool single)
{
	char text[40];

	for (int n = 2; n <= DIGITS; n++) {
		snprintf(text, sizeof(text), "%.*e", n - 1, size);
		if (single ? strtof(text, NULL) == (float)size : strtod(text, NULL) == size)
			break;
	}
	d->n = 0;
	for (const char *p = text; *p != 'e'; p++)
		if (*p != '.')
			d->digit[d->n++] = *p;
	while (d->n > 1 && d->digit[d->n - 1] == '0')
		d->n--;
	d->exponent = atoi(strchr(text, 'e') + 1);
}

/* Keeps so many digits, or none if keep is 0 or less; the last is rounded half up. */
static void decimal_round(struct decimal *d, int keep)
{
	if (keep >= d->n)
		return;
	bool up = keep >= 0 && d->digit[keep] >= '5';

	d->n = keep < 0 ? 0 : keep;
	for (int i = d->n - 1; up && i >= 0; i--) {
		up = d->digit[i] == '9';
		d->digit[i] = up ? '0' : (char)(d->digit[i] + 1);
	}
	if (up) { /* 9.99 has become 10.0 */
		d->digit[0] = '1';
		d->n = 1;
		d->exponent++;
	}
}

/* Writes the digits from the first, whose place is `first`, or from the units, down to the place `last`. */
static char *decimal_write(const struct decimal *d, int first, int last, char *to)
{
	for (int place = first > 0 ? first : 0; place >= last; place--) {
		int i = first - place;

		if (place == -1)
			*to++ = '.';
		*to++ = i >= 0 && i < d->n ? d->digit[i] : '0';
	}
	return to;
}

/* Double.toString(value), Float.toString if single; out: 40 bytes. */
void decimal_text(double value, bool single, char *out)
{
	double size = fabs(value);
	struct decimal d;

	if (isnan(value) || isinf(value)) {
		strcpy(out, isnan(value) ? "NaN" : value < 0 ? "-Infinity" : "Infinity");
		return;
	}
	decimal_of(&d, size, single);
	bool plain = size == 0 || (size >= 1e-3 && size < 1e7);
	int first = plain ? d.exponent : 0, last = first - d.n + 1;
	if (signbit(value))
		*out++ = '-';
	out = decimal_write(&d, first, last < -1 ? last : -1, out);
	*out = 0;
	if (!plain)
		sprintf(out, "E%d", d.exponent);
}

/* Formatter's %f, or %e, of a finite value with so many digits after the point; out: 320 bytes and these. */
void decimal_fixed(double value, int digits, bool scientific, char *out)
{
	struct decimal d;

	decimal_of(&d, fabs(value), false);
	decimal_round(&d, digits + 1 + (scientific ? 0 : d.exponent));
	if (signbit(value))
		*out++ = '-';
	out = decimal_write(&d, scientific ? 0 : d.exponent, -digits, out);
	*out = 0;
	if (scientific)
		sprintf(out, "e%+03d", d.exponent);
}
