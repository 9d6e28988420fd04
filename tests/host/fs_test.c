/*
 * fs_test.c - tmpfs, paths and the parser of the initial RAM disk (kernel/fs), on the host.
 *
 *	fs_test list FILE		unpacks an archive and prints the tree
 *	fs_test kept FILE		the same; prints how many of its pages became those of files
 *	fs_test fuzz FILE SEED COUNT	damages it at random; nothing may break
 *	fs_test lookup FILE CWD PATH...	resolves paths and prints what came out
 *
 * The archive lies at the end of a block of its own, so that the address
 * sanitizer sees a read beyond it.  Under fuzz, memory runs out at random too.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdarg.h>
#include <kern/boot.h>
#include <kern/cache.h>
#include <kern/layout.h>
#include <kern/page.h>
#include <kern/pageset.h>
#include <kern/printk.h>
#include <weft/errno.h>
#include "../../kernel/fs/fs.h"

#define CHECK(e) ((e) ? (void)0 : panic("fs_test.c:%d: %s", __LINE__, #e))

struct boot_info boot_info;
static bool quiet;
static unsigned fail_one_in; /* allocations that fail; 0: none */

/* --- what the kernel's files need of the rest of the kernel ------------------- */

void *kmalloc(size_t size)
{
	return fail_one_in && rand() % fail_one_in == 0 ? NULL : malloc(size);
}

bool mm_spare(unsigned flags)
{
	return fail_one_in == 0 || rand() % fail_one_in != 0;
}

void *kzalloc(size_t size)
{
	void *p = kmalloc(size);
	return p ? memset(p, 0, size) : NULL;
}

void kfree(void *p)
{
	free(p);
}

/* kern/pageset.h: blocks of PAGE_SIZE, looked for one after the other; there are few. */
struct page {
	struct page *next;
	uint64_t index;
	char bytes[PAGE_SIZE];
};

void pageset_init(struct pageset *ps)
{
	*ps = (struct pageset){0};
}

static struct page *page_at(struct pageset *ps, uint64_t index)
{
	struct page *p = (struct page *)ps->root;
	while (p != NULL && p->index != index)
		p = p->next;
	return p;
}

paddr_t pageset_find(struct pageset *ps, uint64_t index)
{
	struct page *p = page_at(ps, index);
	return p ? virt_to_phys(p->bytes) : 0;
}

static struct page *add_page(struct pageset *ps, uint64_t index)
{
	struct page *p = kzalloc(sizeof(*p));
	if (p == NULL)
		return NULL;
	p->index = index;
	p->next = (struct page *)ps->root;
	ps->root = (paddr_t)p;
	ps->npages++;
	return p;
}

int pageset_get(struct pageset *ps, uint64_t index, unsigned flags, paddr_t *page)
{
	struct page *p = page_at(ps, index);
	if (p == NULL)
		p = add_page(ps, index);
	if (p == NULL)
		return -ENOMEM;
	*page = virt_to_phys(p->bytes);
	return 0;
}

/* The page is the set's now: nobody finds in it what it held. */
int pageset_put(struct pageset *ps, uint64_t index, paddr_t page)
{
	CHECK(page_at(ps, index) == NULL);
	struct page *p = add_page(ps, index);
	if (p == NULL)
		return -ENOMEM;
	memcpy(p->bytes, phys_to_virt(page), PAGE_SIZE);
	memset(phys_to_virt(page), 0xa5, PAGE_SIZE);
	return 0;
}

void pageset_truncate(struct pageset *ps, uint64_t from)
{
	struct page **at = (struct page **)&ps->root, *p;
	while ((p = *at) != NULL) {
		if (p->index >= from) {
			*at = p->next;
			free(p);
			ps->npages--;
		} else {
			at = &p->next;
		}
	}
}

void page_free(paddr_t p)
{
}

/* What has been given back is somebody else's. */
static uint8_t *archive;
static size_t archive_size, given_back;
static unsigned kept; /* pages */

bool page_keep_initrd(paddr_t p)
{
	size_t at = (uint8_t *)phys_to_virt(p) - archive;
	if (at < given_back || at + PAGE_SIZE > archive_size)
		return false;
	kept++;
	return true;
}

void page_add_initrd(uint64_t read)
{
	memset(archive, 0xa5, read);
	given_back = read;
}

/* At a page's start, as QEMU and GRUB load it. */
static uint8_t *new_archive(size_t size)
{
	void *bytes;
	CHECK(posix_memalign(&bytes, PAGE_SIZE, MAX(size, (size_t)1)) == 0);
	return bytes;
}

static void set_archive(uint8_t *bytes, size_t size)
{
	archive = bytes;
	archive_size = size;
	given_back = 0;
}

void mm_reclaim(void)
{
}

void mm_apart(bool apart)
{
}

/* One thread, no interrupts: locks have nothing to do. */
void spin_init(struct spinlock *l, const char *name)
{
}

void kmutex_init(struct kmutex *m, const char *name)
{
}

void kmutex_enter(struct kmutex *m)
{
}

void kmutex_exit(struct kmutex *m)
{
}

void krw_init(struct krwlock *l, const char *name)
{
	l->holders = 0;
}

/* But they must be given up, and not be taken twice. */
void krw_read_enter(struct krwlock *l)
{
	if (l->holders++ < 0)
		panic("read-locked while write-locked");
}

void krw_read_exit(struct krwlock *l)
{
	if (l->holders-- <= 0)
		panic("not read-locked");
}

void krw_write_enter(struct krwlock *l)
{
	if (l->holders != 0)
		panic("write-locked twice");
	l->holders = -1;
}

void krw_write_exit(struct krwlock *l)
{
	if (l->holders != -1)
		panic("not write-locked");
	l->holders = 0;
}

uint64_t time_real(void)
{
	static uint64_t now = 1000000000;
	return now += 1000;
}

void printk(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	if (!quiet)
		vprintf(fmt, ap);
	va_end(ap);
}

void printk_info(const char *fmt, ...)
{
}

void panic(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	exit(1);
}

static struct vnode console = {.refs = 1, .mode = WEFT_S_IFCHR | 0620};

void pipe_init(void)
{
}

void procfs_init(void)
{
}

struct vnode *console_vnode(void)
{
	static const struct vnode_ops ops;
	console.ops = &ops;
	return &console;
}

/* --- the tests -------------------------------------------------------------------- */

/* Walks the tree below dir, reads every byte, and checks what readdir and lookup say. */
static void walk(struct vnode *dir, const char *path)
{
	char buf[300], child_path[8192];
	struct weft_dirent *e = (void *)buf;
	uint64_t pos = 0, last;
	int64_t used;
	unsigned entries = 0, dirs = 2;

	CHECK(dir->ops->readdir(dir, &pos, buf, 8) == -EINVAL && pos == 0);
	for (;;) {
		last = pos;
		used = dir->ops->readdir(dir, &pos, buf, sizeof(buf));
		if (used == 0)
			break;
		CHECK(used > 0 && used == e->reclen && used % 8 == 0 && pos > last);
		size_t len = strlen(e->name);
		if (entries++ < 2) {
			CHECK(strcmp(e->name, entries == 1 ? "." : "..") == 0);
			continue;
		}
		struct vnode *vn;
		CHECK(len > 0 && len <= WEFT_NAME_MAX && strchr(e->name, '/') == NULL);
		CHECK(dir->ops->lookup(dir, e->name, len, &vn) == 0);
		if (vn->mount != NULL && vn->mount->covered == vn) {
			vnode_hold(vn->mount->root);
			vnode_rele(vn);
			vn = vn->mount->root;
			e->ino = vn->ino;
		}
		CHECK(vn->ino == e->ino && (vn->mode & WEFT_S_IFMT) >> 12 == e->type);
		snprintf(child_path, sizeof(child_path), "%s/%s", path, e->name);

		uint32_t sum = 0, type = vn->mode & WEFT_S_IFMT;
		if (type == WEFT_S_IFREG) {
			uint8_t part[1000];
			int64_t got;
			for (uint64_t off = 0; (got = vn->ops->read(vn, off, part, 1000)) > 0;
			     off += got)
				for (int64_t i = 0; i < got; i++)
					sum = sum * 31 + part[i];
			CHECK(vn->ops->read(vn, vn->size, part, 1) == 0);
			CHECK(vn->ops->read(vn, UINT64_MAX, part, 1) == 0);
			CHECK(vn->nlink >= 1);
		}
		if (!quiet)
			printf("%c %o %u %" PRIu64 " %u %" PRIu64 " %s\n",
			       type == WEFT_S_IFREG   ? 'f'
			       : type == WEFT_S_IFDIR ? 'd'
			       : type == WEFT_S_IFLNK ? 'l'
						      : 'c',
			       vn->mode & 07777, vn->nlink, vn->size, sum, vn->mtime / 1000000000,
			       child_path);
		if (type == WEFT_S_IFDIR) {
			dirs++;
			walk(vn, child_path);
		}
		vnode_rele(vn);
	}
	CHECK(dir->nlink == dirs);
}

/* Removes all that is below dir; nothing may be left of it. */
static void empty(struct vnode *dir)
{
	char buf[300];
	struct weft_dirent *e = (void *)buf;
	uint64_t pos = 2; /* behind . and .. */

	while (dir->ops->readdir(dir, &pos, buf, sizeof(buf)) > 0) {
		size_t len = strlen(e->name);
		struct vnode *vn;
		CHECK(dir->ops->lookup(dir, e->name, len, &vn) == 0);
		if (vnode_is(vn, WEFT_S_IFDIR)) {
			empty(vn);
			CHECK(dir->ops->unlink(dir, e->name, len) == -EPERM);
			CHECK(dir->ops->rmdir(dir, e->name, len) == 0);
			CHECK(vn->nlink == 0);
		} else {
			CHECK(dir->ops->rmdir(dir, e->name, len) == -ENOTDIR);
			CHECK(dir->ops->unlink(dir, e->name, len) == 0);
		}
		vnode_rele(vn);
	}
	CHECK(dir->nlink == 2 && dir->refs >= 1);
}

static uint8_t *load(const char *file, size_t *size)
{
	FILE *f = fopen(file, "rb");
	CHECK(f != NULL);
	fseek(f, 0, SEEK_END);
	*size = ftell(f);
	rewind(f);
	uint8_t *bytes = new_archive(*size);
	CHECK(fread(bytes, 1, *size, f) == *size);
	fclose(f);
	return bytes;
}

static void boot(uint8_t *bytes, size_t size)
{
	set_archive(bytes, size);
	boot_info.initrd = (paddr_t)(uintptr_t)bytes - KDIRECT;
	boot_info.initrd_size = size;
	vfs_init();
}

static void fuzz(const uint8_t *bytes, size_t size, unsigned seed, unsigned count)
{
	static const char *const words[] = {"00000000", "FFFFFFFF", "ffffffff", "7fffffff",
					    "80000000", "00000001", "070701",   "TRAILER!!!",
					    "..",       "/",        "0000006e", "00000400"};
	quiet = true;
	srand(seed);
	while (count-- > 0) {
		size_t len = rand() % 3 == 0 ? (size_t)rand() % (size + 1) : size;
		uint8_t *copy = new_archive(len);
		memcpy(copy, bytes, len);
		for (int n = rand() % 6; n > 0 && len > 0; n--) {
			size_t at = rand() % len;
			const char *w = words[rand() % ARRAY_LEN(words)];
			if (rand() % 2) /* where a header's numbers are, often */
				at = MIN(len - 1, at / 4 * 4 + 2);
			if (rand() % 2)
				memcpy(copy + at, w, MIN(strlen(w), len - at));
			else
				copy[at] = rand();
		}
		fail_one_in = 0;
		struct vnode *root = tmpfs_new();
		fail_one_in = rand() % 2 ? 1 + rand() % 20 : 0;
		set_archive(copy, len);
		initrd_unpack(root, copy, len);
		fail_one_in = 0;
		walk(root, "");
		empty(root);
		CHECK(root->refs == 1); /* it stays for ever, as mounts do */
		free(copy);
	}
}

int main(int argc, char **argv)
{
	size_t size;
	CHECK(argc >= 3);
	uint8_t *bytes = load(argv[2], &size);

	if (strcmp(argv[1], "list") == 0) {
		boot(bytes, size);
		walk(vfs_root(), "");
	} else if (strcmp(argv[1], "kept") == 0) {
		boot(bytes, size);
		printf("%u\n", kept);
	} else if (strcmp(argv[1], "fuzz") == 0 && argc == 5) {
		fuzz(bytes, size, atoi(argv[3]), atoi(argv[4]));
	} else if (strcmp(argv[1], "lookup") == 0 && argc >= 4) {
		struct vnode *cwd, *vn;
		boot(bytes, size);
		CHECK(vfs_lookup(vfs_root(), argv[3], &cwd) == 0);
		uint32_t holds = cwd->refs;
		for (int i = 4; i < argc; i++) {
			int err = vfs_lookup(cwd, argv[i], &vn);
			printf("%d %" PRIu64 "\n", -err, err ? 0 : vn->ino);
			if (err == 0)
				vnode_rele(vn);
		}
		CHECK(cwd->refs == holds);
	}
	return 0;
}
