/*
 * procfs.c - /proc: what the kernel knows about each process, as text.
 *
 *	kmem			the kernel's memory, in pages, and its object caches: name,
 *				bytes of an object, objects in use, pages.  The unused memory
 *				is the sum of what is free and what caches, stacks and tables
 *				keep.  When the system is at rest the sum returns to the same
 *				number; another number shows a leak
 *	self			the current process
 *	PID/status		identity, state, sizes, CPU time
 *	PID/cmdline		the program's arguments, as it was started; at most PROC_ARGS
 *	PID/maps		its mappings: addresses, permissions, offset, device, inode,
 *				KiB resident, purpose
 *	PID/lwp/ID/status	one LWP: state, class, priority, CPU, call, what it waits for
 *
 * A file shows one moment, because it is generated under the locks that guard its facts.  The
 * exception is PID/maps: each line shows one moment.  Names are looked up again each time.
 */
#include <weft/errno.h>
#include <weft/mman.h>
#include <kern/cache.h>
#include <kern/kstack.h>
#include <kern/mm.h>
#include <kern/page.h>
#include <kern/printk.h>
#include <kern/proc.h>
#include <kern/sched.h>
#include <kern/schedctl.h>
#include <kern/space.h>
#include <kern/timing.h>
#include <kern/trace.h>
#include "fs.h"

static uint32_t procfs_dev;

/* A process and one of its LWPs, in one word. */
#define LWP_ARG(pid, id) ((uint64_t)(pid) << 32 | (id))
#define ARG_PID(arg) ((int)((arg) >> 32))
#define ARG_LWP(arg) ((uint32_t)(arg))

/* Inode numbers of a process's directory and of the files in it. */
enum { INO_DIR, INO_STATUS, INO_CMDLINE, INO_MAPS, INO_LWPS, INO_KINDS };
static uint64_t proc_ino(int pid, unsigned kind)
{
	return (uint64_t)pid * INO_KINDS + kind + 2;
}

static const char *const state_names[] = {
	[LWP_ST_IDLE] = "new",    [LWP_ST_RUN] = "run",   [LWP_ST_ONPROC] = "cpu",
	[LWP_ST_SLEEP] = "sleep", [LWP_ST_STOP] = "stop", [LWP_ST_ZOMB] = "exited",
};

/* --- files: each fills t, or returns an error ------------------------------------------- */

static int fill_status(struct gen_text *t, uint64_t pid)
{
	struct weft_procinfo i;

	if (proc_info(pid, &i) != (int)pid)
		return -ESRCH;
	gen_printf(t, "Name:\t%s\nState:\t%s\nPid:\t%d\nPPid:\t%d\nPgrp:\t%d\nLwps:\t%u\n", i.name,
		   state_names[i.state], i.pid, i.ppid, i.pgrp, i.nlwp);
	gen_printf(t,
		   "Size:\t%lu kB\nRss:\t%lu kB\nStart:\t%lu ns\nUser:\t%lu ns\nSystem:\t%lu ns\n",
		   i.size / 1024, i.rss / 1024, i.start, i.ru.utime, i.ru.stime);
	return 0;
}

static int fill_cmdline(struct gen_text *t, uint64_t pid)
{
	char args[PROC_ARGS];

	irqstate_t s = spin_lock(&proc_tree_lock);
	struct proc *p = proc_find(pid);
	if (p != NULL)
		memcpy(args, p->args, sizeof(args));
	spin_unlock(&proc_tree_lock, s);
	if (p == NULL)
		return -ESRCH;
	gen_printf(t, "%s\n", args);
	return 0;
}

static int fill_kmem(struct gen_text *t, uint64_t arg)
{
	struct kcache_info i;

	gen_printf(t, "Total:\t%lu\nFree:\t%lu\nStacks:\t%lu\nTables:\t%lu\n", page_total(),
		   page_free_count(), kstack_kept(), kernel_table_pages());
	for (unsigned n = 0; kcache_info(n, &i); n++)
		gen_printf(t, "Cache:\t%s\t%zu\t%lu\t%lu\n", i.name, i.size, i.used, i.pages);
	return 0;
}

static const char *what_is(const struct address_space *as, const struct mapping *m)
{
	if (m->start == TIMEPAGE_USER)
		return "[time]";
	if (m->start >= SCHEDCTL_USER && m->start < SCHEDCTL_USER + (1ull << 32))
		return "[schedctl]";
	if (m->vnode != NULL)
		return "";
	if (m->end == USER_STACK_TOP)
		return "[stack]";
	if (m->start >= as->brk_start && m->end <= PAGE_ROUND_UP(as->brk))
		return "[heap]";
	return "[anon]";
}

#define MAPS_PIECE 1024 /* bytes; about twenty mappings */

/*
 * Prints the line of the first mapping that ends above addr.  Returns the end of that mapping, or
 * GEN_END if there is none.  A line shows one moment, except that the pages of a large mapping
 * are counted in several steps: so as->lock is never held for long.
 */
static uint64_t print_mapping(struct gen_text *t, struct address_space *as, vaddr_t addr)
{
	krw_read_enter(&as->lock);
	const struct mapping *m = as_mapping_above(as, addr);
	if (m == NULL) {
		krw_read_exit(&as->lock);
		return GEN_END;
	}
	/* The mapping may have grown downwards since the line before. */
	vaddr_t start = MAX(m->start, addr), end = m->end, at = start;
	uint64_t off = m->off + (start - m->start);
	uint64_t ino = m->vnode ? m->vnode->ino : 0;
	uint32_t flags = m->flags, dev = m->vnode ? m->vnode->dev : 0;
	uint8_t prot = m->prot;
	const char *what = what_is(as, m);
	uint64_t pages = as_resident(as, &at, end);
	krw_read_exit(&as->lock);
	while (at < end) {
		preempt_point();
		krw_read_enter(&as->lock);
		pages += as_resident(as, &at, end);
		krw_read_exit(&as->lock);
	}
	gen_printf(t, "%lx-%lx %c%c%c%c %lx %x:%x %lu %lu %s\n", start, end,
		   prot & WEFT_PROT_READ ? 'r' : '-', prot & WEFT_PROT_WRITE ? 'w' : '-',
		   prot & WEFT_PROT_EXEC ? 'x' : '-', flags & WEFT_MAP_SHARED ? 's' : 'p', off,
		   dev >> 8, dev & 0xff, ino, (uint64_t)(pages * PAGE_SIZE / 1024), what);
	return end;
}

static int fill_maps(struct gen_text *t, uint64_t pid)
{
	struct address_space *as = proc_hold_as(pid);
	uint64_t at = t->from;

	if (as == NULL)
		return -ESRCH;
	while (at != GEN_END && t->len < MAPS_PIECE && !t->failed) {
		at = print_mapping(t, as, at);
		preempt_point();
	}
	t->next = at;
	as_destroy(as);
	return 0;
}

static int fill_lwp(struct gen_text *t, uint64_t arg)
{
	struct lwp_info i;

	if (lwp_info_get(ARG_PID(arg), ARG_LWP(arg), &i) != (int64_t)ARG_LWP(arg))
		return -ESRCH;
	gen_printf(t, "Id:\t%u\nState:\t%s\nClass:\t%s\nPriority:\t%d\nCpu:\t%u\nCall:\t%d\n", i.id,
		   state_names[i.state], i.sclass, i.pri, i.cpu, (int)i.syscall);
	gen_printf(t, "Waits:\t%s\nUser:\t%lu ns\nSystem:\t%lu ns\n", i.wchan, i.utime, i.stime);
	return 0;
}

/* --- directories --------------------------------------------------------------------------- */

static bool procfs_number(const char *name, size_t len, uint64_t most, uint64_t *v)
{
	*v = 0;
	for (size_t i = 0; i < len; i++) {
		if (name[i] < '0' || name[i] > '9' || *v > most)
			return false;
		*v = *v * 10 + (name[i] - '0');
	}
	return len > 0 && name[0] != '0' && *v <= most;
}

static int procfs_open_file(struct vnode *vn, struct vnode **out)
{
	*out = vn;
	return vn != NULL ? 0 : -ENOMEM;
}

static bool is_name(const char *name, size_t len, const char *want)
{
	return strlen(want) == len && memcmp(name, want, len) == 0;
}

static bool procfs_entry(struct gen_entry *e, uint64_t ino, uint32_t type)
{
	e->ino = ino;
	e->type = type;
	return true;
}

static uint64_t lwp_ino(int pid, uint32_t id, bool file)
{
	return (1ull << 62) | LWP_ARG(pid, id) << 1 | file;
}

static int lwp_lookup(struct vnode *dir, uint64_t arg, const char *name, size_t len,
		      struct vnode **out)
{
	if (!is_name(name, len, "status"))
		return -ENOENT;
	return procfs_open_file(gen_file(fill_lwp, arg, lwp_ino(ARG_PID(arg), ARG_LWP(arg), true),
					 0444, procfs_dev),
				out);
}

static bool lwp_next(uint64_t arg, uint64_t *pos, struct gen_entry *e)
{
	if ((*pos)++ > 0)
		return false;
	strlcpy(e->name, "status", sizeof(e->name));
	return procfs_entry(e, lwp_ino(ARG_PID(arg), ARG_LWP(arg), true), WEFT_S_IFREG);
}

static const struct gen_dir_ops lwp_dir = {lwp_lookup, lwp_next};

static int lwps_lookup(struct vnode *dir, uint64_t pid, const char *name, size_t len,
		       struct vnode **out)
{
	struct lwp_info i;
	char text[WEFT_NAME_MAX + 1];
	uint64_t id;

	if (!procfs_number(name, len, LWP_ID_MAX, &id) || lwp_info_get(pid, id, &i) != (int64_t)id)
		return -ENOENT;
	snprintk(text, sizeof(text), "%lu", id);
	return procfs_open_file(gen_dir(dir, text, &lwp_dir, LWP_ARG(pid, id),
					lwp_ino(pid, id, false), 0555, procfs_dev),
				out);
}

static bool lwps_next(uint64_t pid, uint64_t *pos, struct gen_entry *e)
{
	struct lwp_info i;
	int64_t id = *pos <= LWP_ID_MAX ? lwp_info_get(pid, *pos, &i) : -ESRCH;

	if (id < 0)
		return false;
	*pos = id + 1;
	snprintk(e->name, sizeof(e->name), "%ld", id);
	return procfs_entry(e, lwp_ino(pid, id, false), WEFT_S_IFDIR);
}

static const struct gen_dir_ops lwps_dir = {lwps_lookup, lwps_next};

static const struct {
	const char *name;
	int (*fill)(struct gen_text *, uint64_t pid); /* NULL: the directory of LWPs */
	unsigned kind;
} proc_entries[] = {
	{"status", fill_status, INO_STATUS},
	{"cmdline", fill_cmdline, INO_CMDLINE},
	{"maps", fill_maps, INO_MAPS},
	{"lwp", NULL, INO_LWPS},
};

static int proc_lookup(struct vnode *dir, uint64_t pid, const char *name, size_t len,
		       struct vnode **out)
{
	for (unsigned i = 0; i < ARRAY_LEN(proc_entries); i++) {
		uint64_t ino = proc_ino(pid, proc_entries[i].kind);
		if (!is_name(name, len, proc_entries[i].name))
			continue;
		return procfs_open_file(
			proc_entries[i].fill == NULL
				? gen_dir(dir, "lwp", &lwps_dir, pid, ino, 0555, procfs_dev)
				: gen_file(proc_entries[i].fill, pid, ino, 0444, procfs_dev),
			out);
	}
	return -ENOENT;
}

static bool proc_next(uint64_t pid, uint64_t *pos, struct gen_entry *e)
{
	if (*pos >= ARRAY_LEN(proc_entries))
		return false;
	unsigned i = (*pos)++;
	strlcpy(e->name, proc_entries[i].name, sizeof(e->name));
	return procfs_entry(e, proc_ino(pid, proc_entries[i].kind),
			    proc_entries[i].fill == NULL ? WEFT_S_IFDIR : WEFT_S_IFREG);
}

static const struct gen_dir_ops proc_dir = {proc_lookup, proc_next};

/* Inode numbers in the root, apart from those of processes. */
#define INO_ROOT 0
#define INO_SELF 1
#define INO_KMEM 2

static int root_lookup(struct vnode *dir, uint64_t arg, const char *name, size_t len,
		       struct vnode **out)
{
	struct weft_procinfo i;
	char text[WEFT_NAME_MAX + 1];
	uint64_t pid;

	if (is_name(name, len, "self")) {
		snprintk(text, sizeof(text), "%d", curproc() ? curproc()->pid : 0);
		return procfs_open_file(gen_link(text, INO_SELF, procfs_dev), out);
	}
	if (is_name(name, len, "kmem"))
		return procfs_open_file(gen_file(fill_kmem, 0, INO_KMEM, 0444, procfs_dev), out);
	if (!procfs_number(name, len, INT32_MAX, &pid) || proc_info(pid, &i) != (int)pid)
		return -ENOENT;
	snprintk(text, sizeof(text), "%lu", pid);
	return procfs_open_file(
		gen_dir(dir, text, &proc_dir, pid, proc_ino(pid, INO_DIR), 0555, procfs_dev), out);
}

static bool root_next(uint64_t arg, uint64_t *pos, struct gen_entry *e)
{
	struct weft_procinfo i;

	if (*pos == 0) {
		*pos = 1;
		strlcpy(e->name, "self", sizeof(e->name));
		return procfs_entry(e, INO_SELF, WEFT_S_IFLNK);
	}
	if (*pos == 1) {
		*pos = 2;
		strlcpy(e->name, "kmem", sizeof(e->name));
		return procfs_entry(e, INO_KMEM, WEFT_S_IFREG);
	}
	int pid = *pos <= INT32_MAX ? proc_info(*pos - 1, &i) : -ESRCH;
	if (pid < 0)
		return false;
	*pos = pid + 2;
	snprintk(e->name, sizeof(e->name), "%d", pid);
	return procfs_entry(e, proc_ino(pid, INO_DIR), WEFT_S_IFDIR);
}

static const struct gen_dir_ops root_dir = {root_lookup, root_next};

void procfs_init(void)
{
	static struct mount mount = {.type = "proc"};
	struct vnode *root = vfs_root();

	procfs_dev = vfs_new_dev();
	mount.root = gen_dir(NULL, "", &root_dir, 0, INO_ROOT, 0555, procfs_dev);
	if (mount.root == NULL)
		panic("out of memory for /proc");
	int err = root->ops->mkdir(root, "proc", 4, 0555);
	if (err == 0 || err == -EEXIST)
		err = vfs_mount(&mount, "/proc");
	if (err != 0)
		panic("/proc cannot be mounted: error %d", -err);
}
