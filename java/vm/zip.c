/*
 * zip.c - finds files in a jar: a zip archive with stored or deflated members.
 *
 * The central directory is the index. An archive that is damaged has no such file, and never a wrong access: each offset
 * and length is checked against the archive's. Checksums are not looked at. ZIP64 and encryption are not supported.
 */

#include "vm.h"
#include <stdlib.h>
#include <string.h>

#define END_SIZE 22
#define ENTRY_SIZE 46
#define LOCAL_SIZE 30

struct zip {
	const uint8_t *bytes;
	size_t length, directory, directory_end;
};

static uint32_t le2(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8;
}

static uint32_t le4(const uint8_t *p)
{
	return le2(p) | le2(p + 2) << 16;
}

/* The archive stays the caller's. NULL: it is none. */
struct zip *zip_open(const uint8_t *bytes, size_t length)
{
	struct zip *zip;

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
		*zip = (struct zip){bytes, length, at, at + size};
		return zip;
	}
	return NULL;
}

/* The content of the member whose entry of the directory is at `entry`. */
static const uint8_t *zip_content(struct zip *zip, const uint8_t *entry, size_t *length,
				  bool *allocated)
{
	uint32_t method = le2(entry + 10), packed = le4(entry + 20), size = le4(entry + 24);
	size_t at = le4(entry + 42), begin;
	uint8_t *out;

	if (at > zip->length || zip->length - at < LOCAL_SIZE || le4(zip->bytes + at) != 0x04034b50)
		return NULL;
	begin = at + LOCAL_SIZE + le2(zip->bytes + at + 26) + le2(zip->bytes + at + 28);
	if (begin > zip->length || zip->length - begin < packed || (le2(entry + 8) & 1))
		return NULL;
	*length = size;
	*allocated = method == 8;
	if (method == 0)
		return packed == size ? zip->bytes + begin : NULL;
	if (method != 8 || size / 1032 > packed) /* no block grows by more */
		return NULL;
	out = malloc(size + 1);
	if (out == NULL || !inflate_block(zip->bytes + begin, packed, out, size)) {
		free(out);
		return NULL;
	}
	return out;
}

/* NULL: there is no such member, or it is damaged. If `allocated` is set, the caller frees the content. */
const uint8_t *zip_find(struct zip *zip, const char *name, size_t *length, bool *allocated)
{
	size_t wanted = strlen(name), at = zip->directory;

	while (zip->directory_end - at >= ENTRY_SIZE) {
		const uint8_t *entry = zip->bytes + at;
		size_t n = le2(entry + 28),
		       whole = ENTRY_SIZE + n + le2(entry + 30) + le2(entry + 32);

		if (le4(entry) != 0x02014b50 || whole > zip->directory_end - at)
			return NULL;
		if (n == wanted && memcmp(entry + ENTRY_SIZE, name, n) == 0)
			return zip_content(zip, entry, length, allocated);
		at += whole;
	}
	return NULL;
}
