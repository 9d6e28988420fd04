/*
 * file.c - the system calls on files.
 *
 * Data moves through a kernel buffer of at most CHUNK bytes, so a vnode operation
 * never sees user memory, and a large transfer lets others have the CPU between
 * chunks.  A transfer that fails in the middle returns what it moved; the error
 * comes only when it moved nothing.  -EFAULT from a read of a file or directory
 * leaves the offset where the moved bytes end; from a read of a device it leaves
 * the input there, because the buffer is tried before the device is asked.
 *
 * Locks: a file's kmutex is held across a transfer, so that two LWPs that share
 * an offset do not read the same bytes; as->lock (page faults of the user's
 * buffer) comes after it.  Devices have no offset and are not serialised here: a
 * reader asleep on the console does not keep another LWP from writing to it.
 */
#include <kern/mm.h>
#include <kern/proc.h>
#include <kern/sched.h>
#include <kern/syscall.h>

#define CHUNK 4096
#define SMALL 256 /* transfers up to here need no allocation */

static struct fdtable *my_files(void)
{
	return &curproc()->files;
}

static bool is_dir(const struct vnode *vn)
{
	return (vn->mode & WEFT_S_IFMT) == WEFT_S_IFDIR;
}
static bool is_device(const struct vnode *vn)
{
	return (vn->mode & WEFT_S_IFMT) == WEFT_S_IFCHR;
}

/*
 * A buffer for n bytes or a part of them: `small` on the caller's stack, or a
 * page.  Without memory the small one does, in more steps.
 */
struct buffer {
	char *p;
	size_t size;
	char small[SMALL];
};

static void buffer_get(struct buffer *b, uint64_t n)
{
	b->p = b->small;
	b->size = SMALL;
	if (n <= SMALL)
		return;
	char *p = kmalloc(CHUNK);
	if (p != NULL) {
		b->p = p;
		b->size = CHUNK;
	}
}

static void buffer_put(struct buffer *b)
{
	if (b->p != b->small)
		kfree(b->p);
}

/* Between chunks: may this LWP go on, or is its process being killed? */
static bool told_to_exit(void)
{
	preempt_point();
	return __atomic_load_n(&curlwp()->ast, __ATOMIC_RELAXED) & AST_EXIT;
}

/*
 * The path in user memory, kmalloc'ed.  -EFAULT, -ENAMETOOLONG, -ENOMEM.
 */
static int path_in(vaddr_t user, char **out)
{
	char *path = kmalloc(WEFT_PATH_MAX);
	if (path == NULL)
		return -ENOMEM;
	int n = copyinstr(path, user, WEFT_PATH_MAX);
	if (n < 0) {
		kfree(path);
		return n;
	}
	*out = path;
	return 0;
}

/* Resolves a path in user memory from the current directory; the vnode comes held. */
static int lookup_user(vaddr_t user, struct vnode **out)
{
	char *path;
	int err = path_in(user, &path);
	if (err != 0)
		return err;
	err = fdtable_lookup(my_files(), path, out);
	kfree(path);
	return err;
}

/* --- open, close, dup ------------------------------------------------------- */

#define OPEN_FLAGS                                                                                 \
	(WEFT_O_ACCMODE | WEFT_O_APPEND | WEFT_O_CREAT | WEFT_O_TRUNC | WEFT_O_EXCL |              \
	 WEFT_O_CLOEXEC | WEFT_O_DIRECTORY)

/* May vn be opened with these flags? */
static int check_open(const struct vnode *vn, uint32_t flags)
{
	bool writes = (flags & WEFT_O_ACCMODE) != WEFT_O_RDONLY;

	if ((flags & (WEFT_O_CREAT | WEFT_O_EXCL)) == (WEFT_O_CREAT | WEFT_O_EXCL))
		return -EEXIST;
	if (is_dir(vn))
		return writes || (flags & (WEFT_O_CREAT | WEFT_O_TRUNC)) ? -EISDIR : 0;
	if (flags & WEFT_O_DIRECTORY)
		return -ENOTDIR;
	if (writes && vn->ops->write == NULL)
		return -EROFS;
	if ((flags & WEFT_O_TRUNC) && !is_device(vn))
		return -EROFS;
	return 0;
}

/*
 * open(path, flags, mode) = the lowest free descriptor.  mode is not looked at: a
 * file that is not there cannot be made (-EROFS).
 * -EINVAL: unknown flags (O_NONBLOCK is one) or access mode; -EFAULT, path
 * errors; -EEXIST: O_CREAT | O_EXCL; -EISDIR: a directory is only read;
 * -ENOTDIR: O_DIRECTORY; -EROFS: writing, creating, truncating; -EMFILE, -ENOMEM.
 */
int64_t sys_open(const uint64_t arg[6])
{
	uint32_t flags = arg[1];
	if ((flags & ~OPEN_FLAGS) != 0 || (flags & WEFT_O_ACCMODE) == WEFT_O_ACCMODE)
		return -EINVAL;

	struct vnode *vn;
	int err = lookup_user(arg[0], &vn);
	if (err == -ENOENT && (flags & WEFT_O_CREAT))
		return -EROFS;
	if (err != 0)
		return err;

	struct file *f;
	err = check_open(vn, flags);
	if (err == 0)
		err = file_open(vn, flags, &f);
	if (err != 0) {
		vnode_rele(vn);
		return err;
	}
	int fd = fd_install(my_files(), f);
	if (fd < 0)
		file_rele(f);
	return fd;
}

/*
 * close(fd).  Calls of other LWPs that are working on the file go on; the file is
 * released when the last is done.  -EBADF.
 */
int64_t sys_close(const uint64_t arg[6])
{
	return fd_close(my_files(), (int)arg[0]);
}

/* dup(fd) = the lowest free descriptor, for the same open file.  -EBADF, -EMFILE, -ENOMEM. */
int64_t sys_dup(const uint64_t arg[6])
{
	struct file *f = fd_get(my_files(), (int)arg[0]);
	if (f == NULL)
		return -EBADF;
	int fd = fd_install(my_files(), f);
	if (fd < 0)
		file_rele(f);
	return fd;
}

/*
 * dup2(fd, to) = to, which is closed first if it is open; the exchange is one step
 * for other LWPs.  If fd == to it only checks.  -EBADF, -ENOMEM.
 */
int64_t sys_dup2(const uint64_t arg[6])
{
	struct file *f = fd_get(my_files(), (int)arg[0]);
	if (f == NULL)
		return -EBADF;
	int to = (int)arg[1];
	if (to == (int)arg[0]) {
		file_rele(f);
		return to;
	}
	int fd = fd_replace(my_files(), to, f);
	if (fd < 0)
		file_rele(f);
	return fd;
}

/* --- read, write, lseek -------------------------------------------------------- */

/*
 * Can the user's n bytes at p be written now?  Faults them in, so that a device
 * is not asked for bytes that could then not be delivered.  Another LWP may still
 * unmap them in between; then they are lost, as they would be a moment later.
 */
static int try_user(vaddr_t p, size_t n)
{
	struct address_space *as = curproc()->as;
	if (p + n < p || p + n > WEFT_USER_END)
		return -EFAULT;
	for (vaddr_t page = PAGE_ROUND_DOWN(p); page < p + n; page += PAGE_SIZE) {
		int err = as_fault(as, page, FAULT_WRITE | FAULT_USER);
		if (err != 0)
			return -EFAULT;
	}
	return 0;
}

/* A device is asked once: what it has now is the result. */
static int64_t read_device(struct file *f, struct buffer *b, vaddr_t to, uint64_t n)
{
	n = MIN(n, b->size);
	int err = try_user(to, n);
	if (err != 0)
		return err;
	int64_t got = f->vn->ops->read(f->vn, 0, b->p, n);
	if (got > 0 && copyout(to, b->p, got) != 0)
		return -EFAULT;
	return got;
}

static int64_t read_file(struct file *f, struct buffer *b, vaddr_t to, uint64_t n)
{
	uint64_t done = 0;
	int64_t err = 0;

	kmutex_enter(&f->lock);
	while (done < n && err == 0) {
		size_t want = MIN(n - done, b->size);
		int64_t got = f->vn->ops->read(f->vn, f->off, b->p, want);
		if (got <= 0) {
			err = got;
			break;
		}
		err = copyout(to + done, b->p, got);
		if (err == 0) {
			f->off += got;
			done += got;
		}
		if (err == 0 && (size_t)got < want)
			break; /* the end of the file */
		if (done < n && told_to_exit())
			err = -EINTR;
	}
	kmutex_exit(&f->lock);
	return done > 0 ? (int64_t)done : err;
}

/*
 * read(fd, buffer, n) = bytes read; 0 at the end of the file.  A device may give
 * less than was asked for and is then not asked again.
 * -EBADF: no such descriptor, or not open for reading; -EISDIR; -EINVAL: n too
 * large, or a vnode that cannot be read; -EFAULT; -EINTR.  Blocks on the console.
 */
int64_t sys_read(const uint64_t arg[6])
{
	uint64_t n = arg[2];
	struct file *f = fd_get(my_files(), (int)arg[0]);
	int64_t r;

	if (f == NULL)
		return -EBADF;
	if ((f->flags & WEFT_O_ACCMODE) == WEFT_O_WRONLY) {
		r = -EBADF;
	} else if (is_dir(f->vn)) {
		r = -EISDIR;
	} else if (n > INT64_MAX || f->vn->ops->read == NULL) {
		r = -EINVAL;
	} else if (n == 0) {
		r = 0;
	} else {
		struct buffer b;
		buffer_get(&b, n);
		if (is_device(f->vn))
			r = read_device(f, &b, arg[1], n);
		else
			r = read_file(f, &b, arg[1], n);
		buffer_put(&b);
	}
	file_rele(f);
	return r;
}

static int64_t write_chunks(struct file *f, struct buffer *b, vaddr_t from, uint64_t n)
{
	bool offset = !is_device(f->vn);
	uint64_t done = 0;
	int64_t err = 0;

	if (offset) {
		kmutex_enter(&f->lock);
		if (f->flags & WEFT_O_APPEND)
			f->off = f->vn->size;
	}
	while (done < n && err == 0) {
		size_t want = MIN(n - done, b->size);
		err = copyin(b->p, from + done, want);
		if (err != 0)
			break;
		int64_t put = f->vn->ops->write(f->vn, f->off, b->p, want);
		if (put < 0) {
			err = put;
			break;
		}
		if (offset)
			f->off += put;
		done += put;
		if ((size_t)put < want)
			break;
		if (done < n && told_to_exit())
			err = -EINTR;
	}
	if (offset)
		kmutex_exit(&f->lock);
	return done > 0 ? (int64_t)done : err;
}

/*
 * write(fd, buffer, n) = bytes written.  Up to CHUNK bytes go to the console in
 * one piece.  -EBADF: no such descriptor, or not open for writing; -EINVAL: n too
 * large; -EFAULT; -EINTR.
 */
int64_t sys_write(const uint64_t arg[6])
{
	uint64_t n = arg[2];
	struct file *f = fd_get(my_files(), (int)arg[0]);
	int64_t r;

	if (f == NULL)
		return -EBADF;
	if ((f->flags & WEFT_O_ACCMODE) == WEFT_O_RDONLY) {
		r = -EBADF;
	} else if (n > INT64_MAX) {
		r = -EINVAL;
	} else {
		struct buffer b;
		buffer_get(&b, n);
		r = write_chunks(f, &b, arg[1], n);
		buffer_put(&b);
	}
	file_rele(f);
	return r;
}

/*
 * lseek(fd, offset, whence) = the new offset.  In a directory the offset is what
 * an earlier lseek returned, or 0.  -EBADF; -ESPIPE: a device; -EINVAL: whence, a
 * result below 0, SEEK_END in a directory; -EOVERFLOW.
 */
int64_t sys_lseek(const uint64_t arg[6])
{
	struct file *f = fd_get(my_files(), (int)arg[0]);
	int64_t base = 0, to;

	if (f == NULL)
		return -EBADF;
	if (is_device(f->vn)) {
		file_rele(f);
		return -ESPIPE;
	}
	kmutex_enter(&f->lock);
	switch ((int)arg[2]) {
	case WEFT_SEEK_SET:
		break;
	case WEFT_SEEK_CUR:
		base = f->off;
		break;
	case WEFT_SEEK_END:
		base = is_dir(f->vn) ? -1 : (int64_t)f->vn->size;
		break;
	default:
		base = -1;
	}
	if (base < 0)
		to = -EINVAL;
	else if (__builtin_add_overflow(base, (int64_t)arg[1], &to))
		to = -EOVERFLOW;
	else if (to < 0)
		to = -EINVAL;
	else
		f->off = to;
	kmutex_exit(&f->lock);
	file_rele(f);
	return to;
}

/* --- what a file is ------------------------------------------------------------- */

static int stat_out(const struct vnode *vn, vaddr_t to)
{
	struct weft_stat st = {
		.ino = vn->ino,
		.mode = vn->mode,
		.nlink = vn->nlink,
		.size = vn->size,
		.mtime = vn->mtime,
		.dev = vn->dev,
		.rdev = vn->rdev,
	};
	return copyout(to, &st, sizeof(st));
}

/* fstat(fd, struct weft_stat *).  -EBADF, -EFAULT. */
int64_t sys_fstat(const uint64_t arg[6])
{
	struct file *f = fd_get(my_files(), (int)arg[0]);
	if (f == NULL)
		return -EBADF;
	int err = stat_out(f->vn, arg[1]);
	file_rele(f);
	return err;
}

/* stat(path, struct weft_stat *).  -EFAULT, path errors, -ENOMEM. */
int64_t sys_stat(const uint64_t arg[6])
{
	struct vnode *vn;
	int err = lookup_user(arg[0], &vn);
	if (err != 0)
		return err;
	err = stat_out(vn, arg[1]);
	vnode_rele(vn);
	return err;
}

/*
 * getdents(fd, buffer, n) = bytes filled with struct weft_dirent; 0 at the end.
 * -EBADF; -ENOTDIR; -EINVAL: not even one entry fits; -EFAULT: then the entry
 * comes again next time.
 */
int64_t sys_getdents(const uint64_t arg[6])
{
	struct {
		struct weft_dirent d;
		char name[WEFT_NAME_MAX + 1];
	} entry;
	uint64_t n = arg[2], done = 0;
	int64_t err = 0;
	struct file *f = fd_get(my_files(), (int)arg[0]);

	if (f == NULL)
		return -EBADF;
	if (f->vn->ops->readdir == NULL) {
		file_rele(f);
		return -ENOTDIR;
	}
	kmutex_enter(&f->lock);
	while (err == 0) {
		uint64_t pos = f->off;
		int64_t used =
			f->vn->ops->readdir(f->vn, &pos, &entry, MIN(n - done, sizeof(entry)));
		if (used <= 0) {
			err = used;
			break;
		}
		err = copyout(arg[1] + done, &entry, used);
		if (err == 0) {
			f->off = pos;
			done += used;
			if (told_to_exit())
				err = -EINTR;
		}
	}
	kmutex_exit(&f->lock);
	file_rele(f);
	return done > 0 ? (int64_t)done : err;
}

/* ioctl(fd, request, arg).  -EBADF; -ENOTTY: not for this file; the device's own errors. */
int64_t sys_ioctl(const uint64_t arg[6])
{
	struct file *f = fd_get(my_files(), (int)arg[0]);
	if (f == NULL)
		return -EBADF;
	int err = -ENOTTY;
	if (f->vn->ops->ioctl != NULL)
		err = f->vn->ops->ioctl(f->vn, arg[1], arg[2]);
	file_rele(f);
	return err;
}

/* --- the current directory -------------------------------------------------------- */

/*
 * chdir(path).  -EFAULT, path errors, -ENOTDIR, -ENOMEM; -ENAMETOOLONG also when
 * the absolute path would not fit WEFT_PATH_MAX.
 */
int64_t sys_chdir(const uint64_t arg[6])
{
	char *path;
	int err = path_in(arg[0], &path);
	if (err != 0)
		return err;
	err = fdtable_chdir(my_files(), path);
	kfree(path);
	return err;
}

/* getcwd(buffer, n) = bytes with the NUL.  -ERANGE: n is too small; -EFAULT, -ENOMEM. */
int64_t sys_getcwd(const uint64_t arg[6])
{
	char *path = kmalloc(WEFT_PATH_MAX);
	if (path == NULL)
		return -ENOMEM;
	int64_t n = fdtable_getcwd(my_files(), path, MIN(arg[1], WEFT_PATH_MAX));
	if (n > 0) {
		int err = copyout(arg[0], path, n);
		if (err != 0)
			n = err;
	}
	kfree(path);
	return n;
}
