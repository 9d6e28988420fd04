/*
 * zip.c - finds files in a jar: a zip archive with stored or deflated members.
 *
 * The central directory is the index. Each offset and length is checked against the archive's, and the content against its
 * CRC-32. What is wrong is said in the words of java.util.zip. ZIP64 and encryption are not supported.
 */

#include "vm.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define END_SIZE 22
#define ENTRY_SIZE 46
#define LOCAL_SIZE 30

struct zip {
	const uint8_t *bytes;
	size_t length, directory, directory_end;
	bool trusted; /* the machine's own: its CRC-32 are not looked at */
};

static uint32_t crc_table[256];

static void crc_prepare(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;

		for (int k = 0; k < 8; k++)
			c = c >> 1 ^ (c & 1 ? 0xedb88320 : 0);
		crc_table[i] = c;
	}
}

static uint32_t crc_of(const uint8_t *bytes, size_t length)
{
	uint32_t c = ~UINT32_C(0);

	for (size_t i = 0; i < length; i++)
		c = c >> 8 ^ crc_table[(c ^ bytes[i]) & 0xff];
	return ~c;
}

static uint32_t le2(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8;
}

static uint32_t le4(const uint8_t *p)
{
	return le2(p) | le2(p + 2) << 16;
}

/* The archive stays the caller's. NULL: it is none. Not by two threads at once. */
struct zip *zip_open(const uint8_t *bytes, size_t length, bool trusted)
{
	struct zip *zip;

	crc_prepare();

	for (size_t back = END_SIZE; back <= length && back <= END_SIZE + 65535; back++) {
		const uint8_t *end = bytes + length - back;
		size_t size, at;

		if (le4(end) != 0x06054b50)
			continue;
		size = le4(end + 12);
		at = le4(end + 16);
		if (at > length || size > length - at)
			return NULL;
		zip = vm_alloc(sizeof(*zip));
		*zip = (struct zip){bytes, length, at, at + size, trusted};
		return zip;
	}
	return NULL;
}

/* The content of the member whose entry of the directory is at `entry`. NULL, or what is wrong. */
static const char *zip_content(struct zip *zip, const uint8_t *entry, struct member *m)
{
	uint32_t method = le2(entry + 10), packed = le4(entry + 20);
	size_t at = le4(entry + 42), size = le4(entry + 24), begin;
	uint8_t *out;

	if (at > zip->length || zip->length - at < LOCAL_SIZE || le4(zip->bytes + at) != 0x04034b50)
		return "invalid LOC header (bad signature)";
	begin = at + LOCAL_SIZE + le2(zip->bytes + at + 26) + le2(zip->bytes + at + 28);
	if (le2(entry + 8) & 1)
		return "encrypted ZIP entry not supported";
	if (begin > zip->length || zip->length - begin < packed ||
	    (method == 0 ? packed != size : size / 1032 > packed)) /* no block grows by more */
		return "invalid entry size";
	m->length = size;
	if (method == 0) {
		m->bytes = zip->bytes + begin;
		return NULL;
	}
	if (method != 8)
		return "invalid compression method";
	out = malloc(size + 1);
	if (out == NULL)
		return "no memory for an entry of this size";
	if (!inflate_block(zip->bytes + begin, packed, out, size)) {
		free(out);
		return "invalid deflated data";
	}
	m->bytes = out;
	m->allocated = true;
	return NULL;
}

void member_free(struct member *m)
{
	if (m->allocated)
		free((void *)(uintptr_t)m->bytes);
	m->bytes = NULL;
	m->allocated = false;
}

static void zip_read(struct zip *zip, const uint8_t *entry, struct member *m)
{
	const char *wrong = zip_content(zip, entry, m);
	uint32_t expected = le4(entry + 16), crc;

	if (wrong != NULL) {
		snprintf(m->wrong, sizeof(m->wrong), "%s", wrong);
		return;
	}
	crc = zip->trusted ? expected : crc_of(m->bytes, m->length);
	if (crc != expected) {
		member_free(m);
		snprintf(m->wrong, sizeof(m->wrong),
			 "invalid entry CRC (expected 0x%x but got 0x%x)", (unsigned)expected,
			 (unsigned)crc);
	}
}

/* Looks for a member. Without one, *m stays as it is; m->wrong: it is there, and damaged. */
void zip_find(struct zip *zip, const char *name, struct member *m)
{
	size_t wanted = strlen(name), at = zip->directory;

	while (zip->directory_end - at >= ENTRY_SIZE) {
		const uint8_t *entry = zip->bytes + at;
		size_t n = le2(entry + 28),
		       whole = ENTRY_SIZE + n + le2(entry + 30) + le2(entry + 32);

		if (le4(entry) != 0x02014b50 || whole > zip->directory_end - at)
			return;
		if (n == wanted && memcmp(entry + ENTRY_SIZE, name, n) == 0) {
			zip_read(zip, entry, m);
			return;
		}
		at += whole;
	}
}
