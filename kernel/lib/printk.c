/*
 * printk.c - formatted output of the kernel.
 *
 * A message is formatted into a buffer on the stack and handed to the console in one piece, so that
 * the lines of two CPUs do not mix.  Only a message longer than the buffer goes out in several
 * pieces.  No lock is held here, because console_write acquires the console's own lock.
 */
#include <stdarg.h>
#include <kern/boot.h>
#include <kern/file.h>
#include <kern/printk.h>

/* Where formatted text goes: into buf.  When its `size` bytes are full, flush is called, if there
 * is one. */
struct sink {
	char *buf;
	size_t size, used;
	size_t total; /* bytes produced, with those that found no room */
	void (*flush)(struct sink *);
};

static void sink_put(struct sink *s, char c)
{
	s->total++;
	if (s->used == s->size && s->flush != NULL)
		s->flush(s);
	if (s->used < s->size)
		s->buf[s->used++] = c;
}

static void put_field(struct sink *s, const char *text, size_t len, unsigned width, bool left,
		      char pad)
{
	size_t fill = width > len ? width - len : 0;
	for (size_t i = 0; !left && i < fill; i++)
		sink_put(s, pad);
	for (size_t i = 0; i < len; i++)
		sink_put(s, text[i]);
	for (size_t i = 0; left && i < fill; i++)
		sink_put(s, ' ');
}

struct number {
	uint64_t value;
	unsigned base;
	bool upper;
	const char *before; /* sign or base: "", "-" or "0x" */
	unsigned width;
	bool left, zero;
};

static void sink_put_number(struct sink *s, const struct number *n)
{
	const char *digits = n->upper ? "0123456789ABCDEF" : "0123456789abcdef";
	char text[24];
	size_t at = sizeof(text), before = strlen(n->before);
	unsigned width = n->width;
	uint64_t v = n->value;

	do
		text[--at] = digits[v % n->base];
	while ((v /= n->base) != 0);
	if (n->zero && !n->left) { /* the zeros come between `before` and the digits */
		put_field(s, n->before, before, 0, false, ' ');
		width = width > before ? width - before : 0;
	} else {
		at -= before;
		memcpy(text + at, n->before, before);
	}
	put_field(s, text + at, sizeof(text) - at, width, n->left, n->zero ? '0' : ' ');
}

static void sink_format(struct sink *s, const char *fmt, va_list ap)
{
	for (; *fmt; fmt++) {
		if (*fmt != '%') {
			sink_put(s, *fmt);
			continue;
		}
		bool left = false, zero = false, prefix = false;
		unsigned width = 0, precision = ~0u, longs = 0;

		for (fmt++; *fmt == '-' || *fmt == '0' || *fmt == '#'; fmt++)
			*(*fmt == '-' ? &left : *fmt == '0' ? &zero : &prefix) = true;
		if (*fmt == '*') {
			width = va_arg(ap, int);
			fmt++;
		}
		for (; *fmt >= '0' && *fmt <= '9'; fmt++)
			width = width * 10 + *fmt - '0';
		if (*fmt == '.') {
			precision = 0;
			if (*++fmt == '*') {
				precision = va_arg(ap, int);
				fmt++;
			}
			for (; *fmt >= '0' && *fmt <= '9'; fmt++)
				precision = precision * 10 + *fmt - '0';
		}
		for (; *fmt == 'l' || *fmt == 'z'; fmt++)
			longs++;

		switch (*fmt) {
		case 'd':
		case 'i': {
			int64_t v = longs ? va_arg(ap, int64_t) : va_arg(ap, int);
			sink_put_number(s, &(struct number){v < 0 ? -(uint64_t)v : (uint64_t)v, 10,
							    false, v < 0 ? "-" : "", width, left,
							    zero});
			break;
		}
		case 'u':
		case 'x':
		case 'X': {
			uint64_t v = longs ? va_arg(ap, uint64_t) : va_arg(ap, unsigned);
			sink_put_number(s, &(struct number){v, *fmt == 'u' ? 10 : 16, *fmt == 'X',
							    prefix && *fmt != 'u' ? "0x" : "",
							    width, left, zero});
			break;
		}
		case 'p':
			sink_put_number(s, &(struct number){va_arg(ap, uint64_t), 16, false, "0x",
							    width, left, zero});
			break;
		case 's': {
			const char *text = va_arg(ap, const char *);
			if (text == NULL)
				text = "(null)";
			put_field(s, text, strnlen(text, precision), width, left, ' ');
			break;
		}
		case 'c': {
			char c = va_arg(ap, int);
			put_field(s, &c, 1, width, left, ' ');
			break;
		}
		case '%':
			sink_put(s, '%');
			break;
		default: /* unknown, or the format ends here: printed as it is */
			sink_put(s, '%');
			fmt--;
			break;
		}
	}
}

int vsnprintk(char *buf, size_t size, const char *fmt, va_list ap)
{
	struct sink s = {.buf = buf, .size = size > 0 ? size - 1 : 0};
	sink_format(&s, fmt, ap);
	if (size > 0)
		buf[s.used] = '\0';
	return s.total;
}

int snprintk(char *buf, size_t size, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintk(buf, size, fmt, ap);
	va_end(ap);
	return n;
}

static void to_console(struct sink *s)
{
	console_write(s->buf, s->used);
	s->used = 0;
}

void vprintk(const char *fmt, va_list ap)
{
	char buf[256];
	struct sink s = {.buf = buf, .size = sizeof(buf), .flush = to_console};
	sink_format(&s, fmt, ap);
	to_console(&s);
}

void printk(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vprintk(fmt, ap);
	va_end(ap);
}

void printk_info(const char *fmt, ...)
{
	static int quiet = -1; /* a race is harmless, because the command line does not change */
	if (quiet < 0) {
		char value[2];
		quiet = boot_option("quiet", value, sizeof(value));
	}
	if (quiet)
		return;
	va_list ap;
	va_start(ap, fmt);
	vprintk(fmt, ap);
	va_end(ap);
}
