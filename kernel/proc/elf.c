/*
 * elf.c - the loader of static ELF-64 executables.
 *
 * The file may have any contents.  Every header is read once, into kernel memory, and
 * checked before use.  Sums of its numbers are computed only where they cannot wrap.
 * The segments of a file that passes the checks
 *
 *   - lie in [WEFT_USER_START, IMAGE_END), in rising order,
 *   - share no page,
 *   - are not both writable and executable, and
 *   - have their file parts inside the file.
 *
 * Pages are not read here, but on their first page fault.
 */
#include <kern/exec.h>
#include <kern/schedctl.h>
#include <kern/space.h>
#include <kern/vnode.h>
#include <weft/mman.h>
#include <weft/errno.h>

struct elf_header {
	uint8_t ident[16];
	uint16_t type, machine;
	uint32_t version;
	uint64_t entry, phoff, shoff;
	uint32_t flags;
	uint16_t ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
};
struct elf_segment {
	uint32_t type, flags;
	uint64_t offset, vaddr, paddr, filesz, memsz, align;
};
_Static_assert(sizeof(struct elf_header) == 64 && sizeof(struct elf_segment) == 56, "ELF-64");

#define ET_EXEC 2
#define EM_X86_64 62
#define PT_LOAD 1
#define PT_DYNAMIC 2
#define PT_INTERP 3
#define PT_TLS 7
#define PF_X 1
#define PF_W 2
#define PF_R 4

#define MAX_SEGMENTS 64 /* headers, of any type */

/* Above lie the kernel's pages of every process, then the region of mmap and the stack. */
#define IMAGE_END TIMEPAGE_USER

/* Reads exactly n bytes at off.  0; -ENOEXEC: the file is too short; errors of read. */
static int read_exactly(struct vnode *vn, uint64_t off, void *buf, size_t n)
{
	if (off > vn->size || n > vn->size - off)
		return -ENOEXEC;
	int64_t got = vn->ops->read(vn, off, buf, n);
	if (got < 0)
		return got;
	return (size_t)got == n ? 0 : -ENOEXEC;
}

static bool header_ok(const struct elf_header *h)
{
	static const uint8_t ident[] = {0x7f, 'E', 'L', 'F', 2 /* 64 bits */, 1 /* little-endian */,
					1 /* version */};

	return memcmp(h->ident, ident, sizeof(ident)) == 0 && h->type == ET_EXEC &&
	       h->machine == EM_X86_64 && h->version == 1 &&
	       h->phentsize == sizeof(struct elf_segment) && h->phnum > 0 &&
	       h->phnum <= MAX_SEGMENTS;
}

/* Is this PT_LOAD valid, and above the earlier segments, which end at `above`? */
static bool segment_ok(const struct elf_segment *s, uint64_t file_size, vaddr_t above)
{
	return s->vaddr >= WEFT_USER_START && s->vaddr < IMAGE_END &&
	       s->memsz <= IMAGE_END - s->vaddr && PAGE_ROUND_DOWN(s->vaddr) >= above &&
	       s->filesz <= s->memsz && s->offset <= file_size &&
	       s->filesz <= file_size - s->offset &&
	       s->vaddr % PAGE_SIZE == s->offset % PAGE_SIZE &&
	       (s->flags & (PF_W | PF_X)) != (PF_W | PF_X);
}

static int map_segment(struct address_space *as, struct vnode *vn, const struct elf_segment *s)
{
	vaddr_t start = PAGE_ROUND_DOWN(s->vaddr), end = PAGE_ROUND_UP(s->vaddr + s->memsz);
	uint32_t flags = WEFT_MAP_PRIVATE | WEFT_MAP_FIXED;
	int prot = 0;
	int64_t at;

	if (s->flags & PF_R)
		prot |= WEFT_PROT_READ;
	if (s->flags & PF_W)
		prot |= WEFT_PROT_READ | WEFT_PROT_WRITE;
	if (s->flags & PF_X)
		prot |= WEFT_PROT_READ | WEFT_PROT_EXEC;
	if (s->filesz > 0)
		at = as_map(as, start, end - start, prot, flags, vn, PAGE_ROUND_DOWN(s->offset),
			    s->offset + s->filesz);
	else
		at = as_map(as, start, end - start, prot, flags | WEFT_MAP_ANON, NULL, 0, 0);
	return at < 0 ? at : 0;
}

int elf_load(struct address_space *as, struct vnode *vn, struct elf_image *out)
{
	struct elf_header h;
	vaddr_t above = 0, headers = 0;
	unsigned tls = 0; /* 1 + the index of the PT_TLS header; 0: none */
	bool entry_ok = false;

	if ((vn->mode & WEFT_S_IFMT) != WEFT_S_IFREG || !(vn->mode & 0111) || vn->ops->read == NULL)
		return -EACCES;
	int err = read_exactly(vn, 0, &h, sizeof(h));
	if (err != 0)
		return err;
	if (!header_ok(&h) || h.phoff > vn->size)
		return -ENOEXEC;

	for (unsigned i = 0; i < h.phnum; i++) {
		struct elf_segment s;
		err = read_exactly(vn, h.phoff + i * sizeof(s), &s, sizeof(s));
		if (err != 0)
			return err;
		if (s.type == PT_INTERP || s.type == PT_DYNAMIC)
			return -ENOEXEC; /* not static */
		if (s.type == PT_TLS && s.memsz != 0)
			tls = i + 1;
		if (s.type != PT_LOAD || s.memsz == 0)
			continue;
		if (!segment_ok(&s, vn->size, above))
			return -ENOEXEC;
		err = map_segment(as, vn, &s);
		if (err != 0)
			return err;
		above = PAGE_ROUND_UP(s.vaddr + s.memsz);
		if (h.phoff >= s.offset && h.phoff - s.offset <= s.filesz &&
		    h.phnum * sizeof(s) <= s.filesz - (h.phoff - s.offset))
			headers = s.vaddr + (h.phoff - s.offset);
		if ((s.flags & PF_X) && h.entry >= s.vaddr && h.entry - s.vaddr < s.memsz)
			entry_ok = true;
	}
	if (!entry_ok)
		return -ENOEXEC;
	out->entry = h.entry;
	out->brk = above;
	out->tls = 0;
	if (tls != 0 && headers == 0)
		return -ENOEXEC; /* in no segment, so the program could not find the headers */
	if (tls != 0)
		out->tls = headers + (tls - 1) * sizeof(struct elf_segment);
	return 0;
}
