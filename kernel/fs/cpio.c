/*
 * cpio.c - the parser of the initial RAM disk: one or more "newc" cpio archives
 * one after the other, as Linux accepts them (initramfs buffer format).  Zero
 * bytes may stand between archives and between entries.  Each entry starts at a multiple
 * of 4.  The last archive may lack its trailer.
 *
 * The archive comes from outside and may be anything.  No length or offset in it
 * is used before it has been checked against what is left.  Nothing is copied or
 * allocated; entries point into the archive.
 */
#include <weft/errno.h>
#include "fs.h"

/*
 * The header: a magic number of 6 digits and thirteen numbers of 8 hexadecimal
 * digits.  Header and name together, and the data, are padded to 4 bytes.
 */
#define MAGIC_LEN 6
#define HEADER_LEN 110
enum { INO, MODE, UID, GID, NLINK, MTIME, FILESIZE, MAJOR, MINOR, RMAJOR, RMINOR, NAMESIZE, CHECK };
#define NFIELDS (CHECK + 1)

static const char trailer[] = "TRAILER!!!";

static uint64_t pad4(uint64_t n)
{
	return (n + 3) & ~3ull;
}

static bool hex8(const uint8_t *s, uint32_t *out)
{
	uint32_t v = 0;
	for (int i = 0; i < 8; i++) {
		uint8_t c = s[i] | 0x20, digit;
		if (c >= '0' && c <= '9')
			digit = c - '0';
		else if (c >= 'a' && c <= 'f')
			digit = c - 'a' + 10;
		else
			return false;
		v = v << 4 | digit;
	}
	*out = v;
	return true;
}

static int cpio_damaged(struct cpio *c, const char *why)
{
	c->error = why;
	return -EINVAL;
}

/* There is no newc header: guesses what there is instead.  The common mistakes have a message. */
static int bad_magic(struct cpio *c)
{
	const uint8_t *p = c->base + c->pos;
	uint64_t left = c->size - c->pos;

	if (left >= MAGIC_LEN && memcmp(p, "070702", MAGIC_LEN) == 0)
		return cpio_damaged(c, "cpio format \"crc\" instead of \"newc\"");
	if (left >= MAGIC_LEN && memcmp(p, "070707", MAGIC_LEN) == 0)
		return cpio_damaged(c, "cpio format \"odc\" instead of \"newc\"");
	if (left >= 2 && ((p[0] == 0x1f && p[1] == 0x8b) || (p[0] == 0xfd && p[1] == '7') ||
			  (p[0] == 0x28 && p[1] == 0xb5)))
		return cpio_damaged(c, "compressed; an uncompressed cpio archive is needed");
	return cpio_damaged(c, "not a cpio header of format \"newc\"");
}

static void skip_zeros(struct cpio *c)
{
	while (c->pos < c->size && c->base[c->pos] == 0) {
		uint64_t eight = 1;
		if (c->pos % 8 == 0 && c->size - c->pos >= 8)
			memcpy(&eight, c->base + c->pos, 8);
		c->pos += eight == 0 ? 8 : 1;
	}
}

int cpio_next(struct cpio *c, struct cpio_entry *e)
{
	for (;;) {
		skip_zeros(c);
		if (c->pos == c->size)
			return 0;

		const uint8_t *header = c->base + c->pos;
		uint64_t left = c->size - c->pos;
		uint32_t field[NFIELDS];

		if (left < MAGIC_LEN || memcmp(header, "070701", MAGIC_LEN) != 0)
			return bad_magic(c);
		if (c->pos % 4 != 0)
			return cpio_damaged(c, "header not at a multiple of 4");
		if (left < HEADER_LEN)
			return cpio_damaged(c, "ends in the middle of a header");
		for (int i = 0; i < NFIELDS; i++)
			if (!hex8(header + MAGIC_LEN + 8 * i, &field[i]))
				return cpio_damaged(c, "a number in the header is not hexadecimal");

		uint64_t namesize = field[NAMESIZE], filesize = field[FILESIZE];
		if (namesize < 2 || namesize > WEFT_PATH_MAX)
			return cpio_damaged(c, "length of a name out of range");
		if (namesize > left - HEADER_LEN)
			return cpio_damaged(c, "ends in the middle of a name");
		const char *name = (const char *)header + HEADER_LEN;
		if (strnlen(name, namesize) != namesize - 1)
			return cpio_damaged(c, "a name does not end where it should");

		uint64_t data = pad4(HEADER_LEN + namesize);
		if (filesize > 0 && (data > left || filesize > left - data))
			return cpio_damaged(c, "ends in the middle of a file");
		uint64_t next = filesize > 0 ? pad4(data + filesize) : data;
		uint64_t header_pos = c->pos;
		c->pos += MIN(next, left); /* the last padding may be missing */

		if (namesize == sizeof(trailer) && memcmp(name, trailer, sizeof(trailer)) == 0) {
			c->archive++;
			continue;
		}
		*e = (struct cpio_entry){
			.name = name,
			.name_len = namesize - 1,
			.mode = field[MODE],
			.nlink = field[NLINK],
			.ino = field[INO],
			.dev_major = field[MAJOR],
			.dev_minor = field[MINOR],
			.archive = c->archive,
			.mtime = field[MTIME],
			.data = filesize > 0 ? c->base + header_pos + data : NULL,
			.size = filesize,
		};
		return 1;
	}
}
