/*
 * file.c - the system calls on descriptors and names: open, dup, fcntl, pipe, poll, stat,
 * directories.  The calls that move bytes are in rw.c.
 */
#include <weft/poll.h>
#include <kern/cache.h>
#include <kern/clock.h>
#include <kern/proc.h>
#include <kern/syscall.h>
#include <kern/timing.h>
#include <kern/usercopy.h>
#include "../fs/fs.h"
#include "files.h"

int path_in(vaddr_t user, char **out)
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

int lookup_user(vaddr_t user, struct vnode **out)
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

/* The directory where `path` begins, held: for a relative path, the directory of fd. */
static int base_of(struct fdtable *t, int fd, const char *path, struct vnode **dir)
{
	if (fd == WEFT_AT_FDCWD || *path == '/') {
		*dir = fdtable_cwd(t);
		return 0;
	}
	struct file *f = fd_get(t, fd);
	if (f == NULL)
		return -EBADF;
	int err = vnode_is_directory(f->vn) ? 0 : -ENOTDIR;
	if (err == 0) {
		*dir = f->vn;
		vnode_hold(*dir);
	}
	file_rele(f);
	return err;
}

static int64_t open_at(int at, vaddr_t user, uint32_t flags, uint32_t mode)
{
	struct fdtable *t = my_files();
	struct vnode *dir;
	struct file *f;
	char *path;

	int err = path_in(user, &path);
	if (err != 0)
		return err;
	err = base_of(t, at, path, &dir);
	if (err == 0) {
		err = file_open_path(t, dir, path, flags, mode, &f);
		vnode_rele(dir);
	}
	kfree(path);
	if (err != 0)
		return err;
	int fd = fd_install(t, f, 0, flags & WEFT_O_CLOEXEC);
	if (fd < 0)
		file_rele(f);
	return fd;
}

/*
 * open(path, flags, mode) = the lowest free descriptor.  A new file gets the permissions in mode,
 * without the bits of the umask.  O_SYNC and O_NOCTTY have no effect.
 * Path errors; EINVAL: unknown flags or access mode, O_CREAT with O_DIRECTORY; ELOOP: also a
 * symbolic link with O_NOFOLLOW; EEXIST: O_CREAT | O_EXCL; EISDIR: writing to or creating a
 * directory; ENOTDIR: also O_DIRECTORY; EROFS: writing, creating, truncating; ENOSPC: no memory to
 * create the file; EMFILE: no descriptor is free.
 */
int64_t sys_open(const uint64_t arg[6])
{
	return open_at(WEFT_AT_FDCWD, arg[0], arg[1], arg[2]);
}

/*
 * openat(fd, path, flags, mode): as open, except that a relative path begins at the directory of
 * fd.  With WEFT_AT_FDCWD it begins at the current directory.
 * Errors of open; EBADF: no such descriptor; ENOTDIR: fd is not a directory.
 */
int64_t sys_openat(const uint64_t arg[6])
{
	return open_at((int)arg[0], arg[1], arg[2], arg[3]);
}

/*
 * close(fd).  Calls of other LWPs that are using the file continue.  The file is released when
 * the last of them has finished.
 * EBADF: no such descriptor.
 */
int64_t sys_close(const uint64_t arg[6])
{
	return fd_close(my_files(), (int)arg[0]);
}

/* A new descriptor, `least` or above, for the open file of fd.  Errors of dup. */
static int64_t dup_from(int fd, int least, bool cloexec)
{
	struct file *f = fd_get(my_files(), fd);
	if (f == NULL)
		return -EBADF;
	int to = fd_install(my_files(), f, least, cloexec);
	if (to < 0)
		file_rele(f);
	return to;
}

/*
 * dup(fd) = the lowest free descriptor, for the same open file.
 * EBADF: no such descriptor; EMFILE: none is free; ENOMEM: no memory for a larger table.
 */
int64_t sys_dup(const uint64_t arg[6])
{
	return dup_from((int)arg[0], 0, false);
}

/*
 * dup2(fd, to) = to, which is closed first if it is open.  For other LWPs this is one step.
 * If fd == to, only checks fd.
 * EBADF: no such descriptor, or `to` is out of range; ENOMEM: no memory for a larger table.
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
	int fd = fd_replace(my_files(), to, f, false);
	if (fd < 0)
		file_rele(f);
	return fd;
}

#define SETFL_FLAGS (WEFT_O_APPEND | WEFT_O_NONBLOCK)
#define GETFL_FLAGS (WEFT_O_ACCMODE | SETFL_FLAGS)

/*
 * fcntl(fd, command, arg):
 *
 *	WEFT_F_DUPFD, _CLOEXEC	a new descriptor, the lowest free one from arg on
 *	WEFT_F_DUPFD_PRIVATE	the same, private to a library: exec closes it, a child of fork
 *				does not have it, and its close does not remove record locks
 *	WEFT_F_GETFD, _SETFD	the descriptor's WEFT_FD_CLOEXEC
 *	WEFT_F_GETFL, _SETFL	the open file's access mode, O_APPEND and O_NONBLOCK; SETFL sets
 *				O_APPEND and O_NONBLOCK, and ignores other bits of arg
 *	WEFT_F_GETLK		*arg (struct weft_flock) gets the first lock of another process
 *				that conflicts with the lock *arg, or type UNLCK
 *	WEFT_F_SETLK, _SETLKW	sets or removes the record lock *arg (see fs/reclock.c);
 *				SETLKW waits for other processes.  Blocks
 *
 * EBADF: no such descriptor, or it is not open for this kind of lock; EINVAL: another command, arg
 * of F_DUPFD out of range, *arg is not a lock, its range begins before the file, or a lock on a
 * device or pipe; EMFILE: no descriptor is free; ENOMEM: no memory for a larger table; EFAULT: the
 * lock; EOVERFLOW: its range is too large; EAGAIN: another process has a conflicting lock; EDEADLK:
 * this process waits, directly or through others, for a lock of the caller; ENOLCK: no memory for a
 * lock; EINTR: a signal.
 */
int64_t sys_fcntl(const uint64_t arg[6])
{
	struct fdtable *t = my_files();
	int fd = arg[0], cmd = arg[1];
	int64_t r = -EINVAL;
	struct weft_flock lk;

	struct file *f = fd_get(t, fd);
	if (f == NULL)
		return -EBADF;
	switch (cmd) {
	case WEFT_F_DUPFD:
	case WEFT_F_DUPFD_CLOEXEC:
		if ((int)arg[2] >= 0 && (int)arg[2] < WEFT_OPEN_MAX)
			r = dup_from(fd, (int)arg[2], cmd == WEFT_F_DUPFD_CLOEXEC);
		break;
	case WEFT_F_DUPFD_PRIVATE:
		if ((int)arg[2] >= 0 && (int)arg[2] < WEFT_OPEN_MAX) {
			r = fd_install_private(t, f, (int)arg[2]);
			if (r >= 0) /* the descriptor has the reference to f */
				return r;
		}
		break;
	case WEFT_F_GETFD:
		r = fd_get_cloexec(t, fd);
		break;
	case WEFT_F_SETFD:
		r = fd_set_cloexec(t, fd, arg[2] & WEFT_FD_CLOEXEC);
		break;
	case WEFT_F_GETFL:
		r = file_flags(f) & GETFL_FLAGS;
		break;
	case WEFT_F_SETFL: {
		uint32_t old = file_flags(f), fresh;
		do
			fresh = (old & ~SETFL_FLAGS) | (arg[2] & SETFL_FLAGS);
		while (!__atomic_compare_exchange_n(&f->flags, &old, fresh, false, __ATOMIC_RELAXED,
						    __ATOMIC_RELAXED));
		r = 0;
		break;
	}
	case WEFT_F_GETLK:
	case WEFT_F_SETLK:
	case WEFT_F_SETLKW:
		r = copyin(&lk, arg[2], sizeof(lk));
		if (r == 0)
			r = reclock_fcntl(t, fd, f, cmd, &lk);
		if (r == 0 && cmd == WEFT_F_GETLK)
			r = copyout(arg[2], &lk, sizeof(lk));
		break;
	}
	file_rele(f);
	return r;
}

/* --- pipes, poll ------------------------------------------------------------------- */

/* Opens vn and returns a descriptor for it.  Consumes the caller's hold of vn, also on an error. */
static int open_as_fd(struct vnode *vn, uint32_t flags)
{
	struct file *f;
	int err = file_open(vn, flags, &f);
	if (err != 0) {
		vnode_rele(vn);
		return err;
	}
	int fd = fd_install(my_files(), f, 0, flags & WEFT_O_CLOEXEC);
	if (fd < 0)
		file_rele(f);
	return fd;
}

/*
 * pipe(int fd[2], flags): makes a pipe; bytes written to fd[1] are read from fd[0].  flags:
 * O_CLOEXEC, O_NONBLOCK.  After an error neither end is open.
 * EINVAL: other flags; EMFILE: fewer than two descriptors are free; ENOMEM: no memory; EFAULT: fd.
 */
int64_t sys_pipe(const uint64_t arg[6])
{
	uint32_t flags = arg[1];
	struct vnode *end[2];
	int32_t fd[2];

	if (flags & ~(WEFT_O_CLOEXEC | WEFT_O_NONBLOCK))
		return -EINVAL;
	int err = pipe_new(end);
	if (err != 0)
		return err;
	fd[0] = open_as_fd(end[0], flags | WEFT_O_RDONLY);
	fd[1] = open_as_fd(end[1], flags | WEFT_O_WRONLY);
	if (fd[0] < 0 || fd[1] < 0)
		err = MIN(fd[0], fd[1]);
	else
		err = copyout(arg[0], fd, sizeof(fd));
	for (int i = 0; i < 2 && err != 0; i++)
		if (fd[i] >= 0)
			fd_close(my_files(), fd[i]);
	return err;
}

/* file_poll, with the mask *mask meanwhile.  A signal that interrupts it is delivered before the
 * old mask is restored (sig_deliver). */
static int64_t poll_masked(struct weft_pollfd *fd, unsigned n, hrtime_t deadline,
			   const uint64_t *mask)
{
	struct lwp_signals *sig = &curlwp()->sig;

	if (mask == NULL)
		return file_poll(my_files(), fd, n, deadline);
	uint64_t old = sig_mask(curlwp());
	sig_set_mask(*mask);
	int64_t r = file_poll(my_files(), fd, n, deadline);
	if (r == -EINTR && !lwp_cancelled(curlwp())) {
		sig->saved_mask = old;
		sig->restore_mask = true;
	} else {
		sig_set_mask(old);
	}
	return r;
}

/*
 * poll(struct weft_pollfd *, n, const struct weft_timespec *, const uint64_t *mask): waits
 * until one of n descriptors has one of its events, an error or a hang-up, or until the time
 * (a length; NULL: for ever) is over.  Returns the number of descriptors with revents.  A file is
 * always ready.  mask: the signals that are blocked during the wait; NULL: the present mask.
 * Blocks.
 * EINVAL: n above WEFT_OPEN_MAX, or the time is not valid; EFAULT: one of the pointers; ENOMEM: no
 * memory; EINTR: a handler has been called, or a cancellation is due.
 */
int64_t sys_poll(const uint64_t arg[6])
{
	uint64_t n = arg[1];
	hrtime_t deadline = HRTIME_NEVER;
	bool again = call_is_again();
	uint64_t mask;

	if (n > WEFT_OPEN_MAX)
		return -EINVAL;
	if (arg[2] != 0) {
		struct weft_timespec ts;
		hrtime_t ns;
		if (copyin(&ts, arg[2], sizeof(ts)) != 0)
			return -EFAULT;
		if (ts.sec < 0 || ts.nsec < 0 || ts.nsec >= 1000000000)
			return -EINVAL;
		if (ts.sec == 0 && ts.nsec == 0)
			deadline = 0;
		else if (!__builtin_mul_overflow(ts.sec, 1000000000ull, &ns) &&
			 !__builtin_add_overflow(ns, ts.nsec, &ns))
			deadline = call_deadline(ns, again);
	}
	if (arg[3] != 0 && copyin(&mask, arg[3], sizeof(mask)) != 0)
		return -EFAULT;
	struct weft_pollfd *fd = kmalloc(n * sizeof(*fd) + 1);
	if (fd == NULL)
		return -ENOMEM;
	int64_t r = copyin(fd, arg[0], n * sizeof(*fd));
	if (r == 0)
		r = poll_masked(fd, n, deadline, arg[3] != 0 ? &mask : NULL);
	if (r >= 0 && copyout(arg[0], fd, n * sizeof(*fd)) != 0)
		r = -EFAULT;
	kfree(fd);
	return r;
}

/* --- lseek ----------------------------------------------------------------------- */

/*
 * lseek(fd, offset, origin) = the new offset.  In a directory the offset must be a result of an
 * earlier lseek, or 0.
 * EBADF: no such descriptor; ESPIPE: a device or pipe; EINVAL: origin, a result below 0,
 * SEEK_END in a directory; EOVERFLOW: the result is too large.
 */
int64_t sys_lseek(const uint64_t arg[6])
{
	struct file *f = fd_get(my_files(), (int)arg[0]);
	int64_t base = 0, to;

	if (f == NULL)
		return -EBADF;
	if (vnode_is_stream(f->vn)) {
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
		base = vnode_is_directory(f->vn) ? -1 : (int64_t)f->vn->size;
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

/* --- attributes of a file --------------------------------------------------------- */

static uint64_t file_time_load(const uint64_t *time)
{
	return __atomic_load_n(time, __ATOMIC_RELAXED);
}

static int stat_out(struct vnode *vn, vaddr_t to)
{
	struct weft_stat st = {
		.ino = vn->ino,
		.mode = vn->mode,
		.nlink = vn->nlink,
		.size = vn->size,
		.allocated = vn->ops->allocated ? vn->ops->allocated(vn) : vn->size,
		.atime = file_time_load(&vn->atime),
		.mtime = file_time_load(&vn->mtime),
		.ctime = file_time_load(&vn->ctime),
		.dev = vn->dev,
		.rdev = vn->rdev,
	};
	return copyout(to, &st, sizeof(st));
}

/* fstat(fd, struct weft_stat *).  EBADF: no such descriptor; EFAULT: the structure. */
int64_t sys_fstat(const uint64_t arg[6])
{
	struct file *f = fd_get(my_files(), (int)arg[0]);
	if (f == NULL)
		return -EBADF;
	int err = stat_out(f->vn, arg[1]);
	file_rele(f);
	return err;
}

/* stat(path, struct weft_stat *).  Path errors; EFAULT: also the structure. */
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

/* lstat(path, struct weft_stat *): as stat, without following a symbolic link.  Errors of stat. */
int64_t sys_lstat(const uint64_t arg[6])
{
	char *path;
	struct vfs_name n;
	int err = path_in(arg[0], &path);
	if (err != 0)
		return err;
	err = fdtable_resolve(my_files(), path, false, &n);
	kfree(path);
	if (err != 0)
		return err;
	err = n.vn == NULL ? -ENOENT : stat_out(n.vn, arg[1]);
	vfs_name_rele(&n);
	return err;
}

/*
 * getdents(fd, buffer, n) = bytes filled with struct weft_dirent; 0 at the end.
 * EBADF: no such descriptor; ENOTDIR: not a directory; EINVAL: n is too small for one entry;
 * EFAULT: buffer (the next call returns the entry again); ENOMEM: no memory.
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
		entry.d.next = pos;
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

/*
 * ioctl(fd, request, arg): other operations of a device: the console's modes, size and foreground
 * group (weft/file.h).
 * EBADF: no such descriptor; ENOTTY: the file does not have the request, or is not the caller's
 * controlling terminal; EFAULT: arg; EINVAL: not a process group; EPERM: not a group of the
 * session; EINTR: a signal, also SIGTTOU for a caller in the background that sets the foreground
 * group.
 */
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

/* chdir(path).  Path errors. */
int64_t sys_chdir(const uint64_t arg[6])
{
	struct vnode *vn;
	int err = lookup_user(arg[0], &vn);
	return err != 0 ? err : fdtable_chdir(my_files(), vn);
}

/* fchdir(fd).  EBADF: no such descriptor; ENOTDIR: not a directory. */
int64_t sys_fchdir(const uint64_t arg[6])
{
	struct file *f = fd_get(my_files(), (int)arg[0]);
	if (f == NULL)
		return -EBADF;
	vnode_hold(f->vn);
	int err = fdtable_chdir(my_files(), f->vn);
	file_rele(f);
	return err;
}

/*
 * getcwd(buffer, n) = bytes with the NUL.
 * ERANGE: n is too small; ENAMETOOLONG: the path is longer than WEFT_PATH_MAX; ENOENT: the
 * directory was removed; EFAULT: buffer; ENOMEM: no memory.
 */
int64_t sys_getcwd(const uint64_t arg[6])
{
	char *path = kmalloc(WEFT_PATH_MAX);
	if (path == NULL)
		return -ENOMEM;
	struct vnode *cwd = fdtable_cwd(my_files());
	int64_t n = vfs_path(cwd, path, WEFT_PATH_MAX);
	vnode_rele(cwd);
	if (n == -ERANGE)
		n = -ENAMETOOLONG;
	else if (n > 0 && (uint64_t)n > arg[1])
		n = -ERANGE;
	else if (n > 0 && copyout(arg[0], path, n) != 0)
		n = -EFAULT;
	kfree(path);
	return n;
}
