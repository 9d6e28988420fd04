/*
 * libc_stdio.c - formatted input and output, floating point in both directions, and
 * streams over files and devices.
 */
#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <sys/stat.h>
#include "tap.h"

#define SELF "/bin/libc_stdio"

static void format(const char *name, const char *want, const char *fmt, ...)
{
	char got[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(got, sizeof(got), fmt, ap);
	va_end(ap);
	tap_report(!strcmp(got, want), name, "\"%s\" is not \"%s\"", got, want);
}

static void formats(void)
{
	format("%d", "-7 0 +3 0042 8   ", "%d %u %+d %04d %-4d", -7, 0u, 3, 42, 8);
	format("%ld %zu %lld %jd", "-9223372036854775808 18446744073709551615 -1 5",
	       "%ld %zu %lld %jd", INT64_MIN, SIZE_MAX, -1ll, (intmax_t)5);
	format("%x %o %#X", "ff 17 0XBEEF", "%x %o %#X", 255, 15, 0xbeef);
	format("%hhd %hd", "-1 -1", "%hhd %hd", 255, 65535);
	format("%s %.2s %5s|%-5s|", "abc ab   abc|abc  |", "%s %.2s %5s|%-5s|", "abc", "abc", "abc",
	       "abc");
	format("%c %%", "x %", "%c %%", 'x');
	format("%p", "0x1234", "%p", (void *)0x1234);
	format("%*.*f", "   3.14", "%*.*f", 7, 2, M_PI);
	format("positional", "two one", "%2$s %1$s", "one", "two");
	format("positional, of all kinds", "2.5 -3 x 9000000000 7", "%5$g %1$d %4$c %2$ld %3$u", -3,
	       9000000000, 7u, 'x', 2.5);
	format("%f", "0.000000 -1.500000 100000000000000000000.000000", "%f %f %f", 0.0, -1.5,
	       1e20);
	format("%g", "0.1 1e-05 123457 1e+100", "%g %g %g %g", 0.1, 1e-5, 123456.7, 1e100);
	format("%e", "1.797693e+308 4.940656e-324", "%e %e", DBL_MAX, 4.9406564584124654e-324);
	format("%a", "0x1.8p+1", "%a", 3.0);
	format("%.17g", "0.10000000000000001", "%.17g", 0.1);
	format("%.0f ties to even", "0 2 2", "%.0f %.0f %.0f", 0.5, 1.5, 2.5);
	format("inf, nan", "inf -inf nan", "%f %f %f", INFINITY, -INFINITY, NAN);
	format("%Lf", "0.333333333333333333", "%.18Lf", 1.0L / 3);
	is("snprintf says how long it would be", snprintf(NULL, 0, "%s", "12345"), 5);
}

/* Decimal with 17 digits and back must give the same double. */
static void round_trips(void)
{
	uint64_t x = 88172645463325252ull, bad = 0;
	char text[40];
	double d, back;
	int i;

	for (i = 0; i < 20000; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		memcpy(&d, &x, sizeof(d));
		if (!isfinite(d))
			continue;
		snprintf(text, sizeof(text), "%.17g", d);
		back = strtod(text, NULL);
		bad += memcmp(&back, &d, sizeof(d)) != 0;
	}
	is("20000 doubles to text and back", bad, 0);
}

static void scans(void)
{
	int a = 0, b = 0, n;
	double f = 0;
	char word[16] = "";
	long l = 0;

	n = sscanf("12 0x1f 2.5 hello -9000000000", "%d %i %lf %15s %ld", &a, &b, &f, word, &l);
	is("sscanf", n, 5);
	ok("sscanf values",
	   a == 12 && b == 31 && f == 2.5 && !strcmp(word, "hello") && l == -9000000000);
	is("sscanf, positional", sscanf("1 2", "%2$d %1$d", &a, &b), 2);
	ok("its values", a == 2 && b == 1);
	is("strtol", strtol("-0x10", NULL, 0), -16);
	errno = 0;
	is("strtol overflow", strtol("99999999999999999999", NULL, 10), INT64_MAX);
	is("its errno", errno, ERANGE);
}

static void maths(void)
{
	ok("sin^2 + cos^2", fabs(sin(1.1) * sin(1.1) + cos(1.1) * cos(1.1) - 1) < 1e-15);
	ok("exp(log)", fabs(exp(log(12345.678)) / 12345.678 - 1) < 1e-14);
	ok("sqrt", sqrt(2.0) == 1.4142135623730951);
	ok("pow", pow(2, 0.5) == sqrt(2.0) && pow(2, 10) == 1024);
	ok("atan2, hypot", fabs(4 * atan2(1, 1) - M_PI) < 1e-15 && hypot(3, 4) == 5);
	ok("floor, fmod", floor(-1.5) == -2 && fmod(7.5, 2) == 1.5);
}

static void streams(void)
{
	char buf[64], *big;
	struct stat st;
	size_t n;
	FILE *f;

	f = fopen(SELF, "r");
	if (!f)
		bail("fopen: %s", strerror(errno));
	is("fread", fread(buf, 1, 4, f), 4);
	ok("what it read", !memcmp(buf, "\177ELF", 4));
	is("ftell", ftell(f), 4);
	is("fgetc, ungetc", ungetc(fgetc(f), f), 2); /* 64-bit */
	is("fgetc after ungetc", fgetc(f), 2);
	is("fseek", fseek(f, 1, SEEK_SET), 0);
	is("fgetc after fseek", fgetc(f), 'E');
	is("fstat", fstat(fileno(f), &st), 0);
	is("fseek to the end", fseek(f, 0, SEEK_END), 0);
	is("where that is", ftell(f), st.st_size);
	is("fgetc at the end", fgetc(f), EOF);
	ok("feof", feof(f) && !ferror(f));
	rewind(f);
	big = malloc(st.st_size + 1);
	n = big ? fread(big, 1, st.st_size + 1, f) : 0;
	is("fread of the whole file", n, st.st_size);
	free(big);
	is("fputc to a stream for reading", fputc('x', f), EOF);
	is("fclose", fclose(f), 0);

	f = fdopen(open(SELF, O_RDONLY), "r");
	ok("fdopen", f && fread(buf, 1, 4, f) == 4 && !memcmp(buf, "\177ELF", 4));
	if (f)
		fclose(f);

	errno = 0;
	ok("fopen of nothing", !fopen("/no/such", "r") && errno == ENOENT);
	errno = 0;
	ok("fopen to create in a directory that is not there",
	   !fopen("/nowhere/new", "w") && errno == ENOENT);

	f = fopen("/dev/null", "w");
	ok("fopen /dev/null", f != NULL);
	is("fprintf", fprintf(f, "%1000d\n", 1), 1001);
	is("fflush", fflush(f), 0);
	is("fclose of it", fclose(f), 0);
	ok("stdout is a terminal", isatty(1) && !isatty(99) && errno == EBADF);
}

int main(void)
{
	formats();
	round_trips();
	scans();
	maths();
	streams();
	return tap_done();
}
