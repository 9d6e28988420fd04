/*
 * string.c - java.lang.String as C sees it: an object with an array of UTF-16 units.
 *
 * Literals and String.intern() share one object for equal texts; the table keeps it for ever. string_lock guards the
 * table. The owner of the lock allocates no object, so it never stops at a safepoint.
 */

#include "vm.h"
#include <stdlib.h>
#include <string.h>

#define BUCKETS 2048 /* a power of two */

struct interned {
	struct interned *next;
	struct object *string;
	uint32_t hash;
};

static pthread_mutex_t string_lock = PTHREAD_MUTEX_INITIALIZER;
static struct interned *interned[BUCKETS];

/* Decodes one character of UTF-8, in Java's form or the usual one. Returns its number of units. */
static int utf8_decode(const uint8_t **p, const uint8_t *end, uint16_t unit[2])
{
	const uint8_t *s = *p;
	uint32_t c;

	if (s[0] < 0x80) {
		*p = s + 1;
		unit[0] = s[0];
		return 1;
	}
	if ((s[0] & 0xe0) == 0xc0 && end - s >= 2) {
		*p = s + 2;
		unit[0] = (uint16_t)((s[0] & 0x1f) << 6 | (s[1] & 0x3f));
		return 1;
	}
	if ((s[0] & 0xf0) == 0xe0 && end - s >= 3) {
		*p = s + 3;
		unit[0] = (uint16_t)((s[0] & 0xf) << 12 | (s[1] & 0x3f) << 6 | (s[2] & 0x3f));
		return 1;
	}
	if ((s[0] & 0xf8) == 0xf0 && end - s >= 4) {
		*p = s + 4;
		c = ((s[0] & 7u) << 18 | (s[1] & 0x3fu) << 12 | (s[2] & 0x3fu) << 6 |
		     (s[3] & 0x3fu)) -
		    0x10000;
		unit[0] = (uint16_t)(0xd800 | (c >> 10 & 0x3ff));
		unit[1] = (uint16_t)(0xdc00 | (c & 0x3ff));
		return 2;
	}
	*p = s + 1;
	unit[0] = 0xfffd;
	return 1;
}

/* NULL: t->exception. */
struct object *string_new(struct jthread *t, const char *utf8, size_t length)
{
	const uint8_t *p = (const uint8_t *)utf8, *end = p + length;
	uint16_t unit[2];
	int32_t n = 0;
	struct array *value;
	struct object *string;

	while (p < end)
		n += utf8_decode(&p, end, unit);
	value = heap_array(t, known.array['C'], n);
	if (value == NULL)
		return NULL;
	p = (const uint8_t *)utf8;
	for (int32_t i = 0; p < end;) {
		int k = utf8_decode(&p, end, unit);

		for (int j = 0; j < k; j++)
			value->c[i++] = unit[j];
	}
	root_push(t, &value->object);
	string = heap_object(t, known.string);
	root_pop(t, 1);
	if (string != NULL)
		string->fields[known.string_value->slot].a = &value->object;
	return string;
}

static struct array *string_units(const struct object *string)
{
	return ARRAY(string->fields[known.string_value->slot].a);
}

/*
 * The string in UTF-8, which the caller frees. NULL: no memory. A character 0 becomes two bytes, as in class files, so that
 * the text does not end there.
 */
char *string_utf8(const struct object *string)
{
	struct array *value = string_units(string);
	char *text = malloc((size_t)value->length * 3 + 1), *to = text;

	if (text == NULL)
		return NULL;
	for (int32_t i = 0; i < value->length; i++) {
		uint32_t c = value->c[i];

		if (c >= 0xd800 && c < 0xdc00 && i + 1 < value->length &&
		    value->c[i + 1] >= 0xdc00 && value->c[i + 1] < 0xe000) {
			c = 0x10000 + ((c & 0x3ff) << 10 | (value->c[++i] & 0x3ffu));
			*to++ = (char)(0xf0 | c >> 18);
			*to++ = (char)(0x80 | (c >> 12 & 0x3f));
			*to++ = (char)(0x80 | (c >> 6 & 0x3f));
			*to++ = (char)(0x80 | (c & 0x3f));
		} else if (c < 0x80 && c != 0) {
			*to++ = (char)c;
		} else if (c < 0x800) {
			*to++ = (char)(0xc0 | c >> 6);
			*to++ = (char)(0x80 | (c & 0x3f));
		} else {
			*to++ = (char)(0xe0 | c >> 12);
			*to++ = (char)(0x80 | (c >> 6 & 0x3f));
			*to++ = (char)(0x80 | (c & 0x3f));
		}
	}
	*to = 0;
	return text;
}

static bool string_equal(const struct object *a, const struct object *b)
{
	struct array *x = string_units(a), *y = string_units(b);

	return x->length == y->length && memcmp(x->c, y->c, (size_t)x->length * 2) == 0;
}

/* The one string with this text. NULL: t->exception. */
struct object *string_intern(struct jthread *t, struct object *string)
{
	struct array *value = string_units(string);
	uint32_t hash = 0;
	struct interned *e;

	for (int32_t i = 0; i < value->length; i++)
		hash = hash * 31 + value->c[i];
	pthread_mutex_lock(&string_lock);
	for (e = interned[hash % BUCKETS]; e != NULL; e = e->next)
		if (e->hash == hash && string_equal(e->string, string))
			break;
	if (e == NULL && (e = malloc(sizeof(*e))) != NULL) {
		*e = (struct interned){interned[hash % BUCKETS], string, hash};
		interned[hash % BUCKETS] = e;
	}
	pthread_mutex_unlock(&string_lock);
	if (e == NULL)
		throw_no_memory(t);
	return e == NULL ? NULL : e->string;
}

/* For the collector. */
void string_roots(void (*mark)(struct object *))
{
	for (int i = 0; i < BUCKETS; i++)
		for (struct interned *e = interned[i]; e != NULL; e = e->next)
			mark(e->string);
}
