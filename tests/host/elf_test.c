/*
 * elf_test.c - the ELF loader (kernel/proc/elf.c) on the host.
 *
 *	elf_test load FILE		prints the mappings, or the error
 *	elf_test fuzz FILE SEED COUNT	damages the headers at random
 *
 * as_map only writes down what it is asked for, and checks on every call what the
 * loader promises of any file that it accepts.
 */
#include <kern/exec.h>
#include <kern/vnode.h>
#include <kern/space.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft/errno.h>
#include <weft/mman.h>

#define CHECK(e) ((e) ? (void)0 : (fprintf(stderr, "elf_test.c:%d: %s\n", __LINE__, #e), exit(1)))

static const uint8_t *bytes; /* the file, at the end of its block */
static bool quiet, fail_maps;
static vaddr_t last_end; /* of the mapping before */

static int64_t read_bytes(struct vnode *vn, uint64_t off, void *buf, size_t n)
{
	if (off >= vn->size)
		return 0;
	n = MIN(n, vn->size - off);
	memcpy(buf, bytes + off, n);
	return n;
}

int64_t as_map(struct address_space *as, vaddr_t addr, uint64_t len, int prot, uint32_t flags,
	       struct vnode *vn, uint64_t off, uint64_t file_end)
{
	CHECK(addr % PAGE_SIZE == 0 && len % PAGE_SIZE == 0 && len > 0);
	CHECK(addr >= WEFT_USER_START && addr + len > addr);
	CHECK(addr + len <= WEFT_USER_END - USER_STACK_SIZE - USER_STACK_GUARD);
	CHECK(addr >= last_end);
	CHECK((prot & ~(WEFT_PROT_READ | WEFT_PROT_WRITE | WEFT_PROT_EXEC)) == 0);
	CHECK((prot & (WEFT_PROT_WRITE | WEFT_PROT_EXEC)) != (WEFT_PROT_WRITE | WEFT_PROT_EXEC));
	CHECK((flags & WEFT_MAP_FIXED) && (flags & WEFT_MAP_PRIVATE));
	if (flags & WEFT_MAP_ANON) {
		CHECK(vn == NULL);
	} else {
		CHECK(vn != NULL && off % PAGE_SIZE == 0 && off < file_end);
		CHECK(file_end <= vn->size && file_end - off <= len);
	}
	last_end = addr + len;
	if (!quiet)
		printf("%" PRIx64 " %" PRIx64 " %d %s %" PRIx64 " %" PRIx64 "\n", addr, addr + len,
		       prot, vn ? "file" : "anon", off, file_end);
	return fail_maps && rand() % 4 == 0 ? -ENOMEM : (int64_t)addr;
}

static int load(const uint8_t *file, size_t size)
{
	static const struct vnode_ops ops = {.read = read_bytes};
	struct vnode vn = {.ops = &ops, .refs = 1, .mode = WEFT_S_IFREG | 0755, .size = size};
	struct elf_image image = {0};

	bytes = file;
	last_end = 0;
	int err = elf_load(NULL, &vn, &image);
	CHECK(err == 0 || err == -ENOEXEC || (fail_maps && err == -ENOMEM));
	if (err == 0) {
		CHECK(image.brk == last_end && image.brk % PAGE_SIZE == 0);
		CHECK(image.tls == 0 || (image.tls >= WEFT_USER_START && image.tls < image.brk));
		CHECK(image.entry >= WEFT_USER_START && image.entry < image.brk);
	}
	if (!quiet && err == 0)
		printf("entry %" PRIx64 " brk %" PRIx64 "\n", image.entry, image.brk);
	else if (!quiet)
		printf("error %d\n", -err);
	return err;
}

/* Returns how many of the damaged files were accepted all the same. */
static unsigned fuzz(const uint8_t *file, size_t size, unsigned seed, unsigned count)
{
	static const uint64_t values[] = {0,
					  1,
					  2,
					  8,
					  56,
					  64,
					  0xfff,
					  0x1000,
					  0x1001,
					  0x10000,
					  0x3ff000,
					  0x400000,
					  0x401000,
					  0x7fffffff,
					  0x80000000,
					  0xffffffff,
					  0x7fffffffffff,
					  0x800000000000,
					  0x7fffffffffffffff,
					  0x8000000000000000,
					  0xfffffffffffff000,
					  UINT64_MAX};
	unsigned accepted = 0;

	quiet = true;
	srand(seed);
	for (unsigned i = 0; i < count; i++) {
		size_t len = rand() % 4 == 0 ? (size_t)rand() % (size + 1) : size;
		uint8_t *copy = malloc(len ? len : 1);
		memcpy(copy, file, len);
		for (int n = 1 + rand() % 3; n > 0 && len > 0; n--) {
			size_t at = rand() % MIN(len, 64 + 4 * 56);
			uint64_t v = values[rand() % ARRAY_LEN(values)];
			if (rand() % 3 == 0)
				copy[at] = rand();
			else /* a whole field */
				memcpy(copy + at / 8 * 8, &v, MIN(8, len - at / 8 * 8));
		}
		fail_maps = rand() % 4 == 0;
		accepted += load(copy, len) == 0;
		free(copy);
	}
	return accepted;
}

int main(int argc, char **argv)
{
	CHECK(argc >= 3);
	FILE *f = fopen(argv[2], "rb");
	CHECK(f != NULL);
	fseek(f, 0, SEEK_END);
	size_t size = ftell(f);
	rewind(f);
	uint8_t *file = malloc(size ? size : 1);
	CHECK(fread(file, 1, size, f) == size);
	fclose(f);

	if (strcmp(argv[1], "load") == 0)
		load(file, size);
	else if (strcmp(argv[1], "fuzz") == 0 && argc == 5)
		printf("%u\n", fuzz(file, size, atoi(argv[3]), atoi(argv[4])));
	return 0;
}
