/*
 * rw.c - the system calls that move bytes: read and write, at an offset, and from and to
 * several pieces of memory.
 *
 * Data moves through a kernel buffer of at most CHUNK bytes.  So a vnode operation
 * never sees user memory, and a large transfer can yield the CPU between chunks.  A
 * transfer that fails in the middle returns the number of bytes that it moved.  It
 * returns the error only if it moved no byte.  After -EFAULT from a read of a file, the
 * offset is where the moved bytes end.  -EFAULT from a read of a stream leaves the input
 * in the stream, because the user's memory is tried before the stream is read.
 *
 * Locks: a file's kmutex is held across a transfer that uses its offset, so two LWPs
 * that share the file do not read the same bytes.  as->lock (page faults of the user's
 * buffer) comes after it.  Streams have no offset and are not serialised here, so a
 * reader that sleeps on the console does not keep another LWP from writing to it.
 */
#include <weft/signal.h>
#include <kern/cache.h>
#include <kern/proc.h>
#include <kern/sched.h>
#include <kern/space.h>
#include <kern/syscall.h>
#include <kern/usercopy.h>
#include "files.h"

#define CHUNK WEFT_PIPE_BUF     /* a write to a pipe that must not be split is one chunk */
#define SMALL 256               /* transfers up to here need no allocation */
#define ENDLESS_MAX (32u << 20) /* most bytes of one read of /dev/urandom and the like */

/*
 * A buffer for n bytes or a part of them: `small` on the caller's stack, or a
 * page.  Without memory `small` is used, in more steps.
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

/* --- the user's memory: pieces; the first `at` bytes have been moved -------------------- */

struct pieces {
	struct weft_iovec *iov, one; /* iov: `one`, or kmalloc'ed */
	unsigned n;
	uint64_t at;   /* in iov[0] */
	uint64_t left; /* bytes still to move, in all pieces */
};

static void pieces_of(struct pieces *p, vaddr_t base, uint64_t n)
{
	p->one = (struct weft_iovec){.base = base, .len = n};
	p->iov = &p->one;
	p->n = 1;
	p->at = 0;
	p->left = n;
}

/* Copies the n pieces in.  -EINVAL: n out of range, or the sum is above INT64_MAX; -EFAULT,
 * -ENOMEM. */
static int pieces_in(struct pieces *p, vaddr_t user, uint64_t n)
{
	if (n > WEFT_IOV_MAX)
		return -EINVAL;
	*p = (struct pieces){.iov = &p->one, .n = n};
	if (n == 0)
		return 0;
	if (n > 1 && (p->iov = kmalloc(n * sizeof(*p->iov))) == NULL)
		return -ENOMEM;
	int err = copyin(p->iov, user, n * sizeof(*p->iov));
	for (unsigned i = 0; i < n && err == 0; i++) {
		p->left += p->iov[i].len;
		if (p->iov[i].len > INT64_MAX || p->left > INT64_MAX)
			err = -EINVAL;
	}
	if (err != 0 && n > 1)
		kfree(p->iov);
	return err;
}

static void pieces_put(struct pieces *p, struct weft_iovec *first)
{
	if (first != &p->one)
		kfree(first);
}

enum { TO_USER, FROM_USER, TRY };

/* Can the user's n bytes at p be written now?  Faults them in, so that no bytes are read
 * from a stream that cannot be delivered.  Another LWP may still unmap the memory after
 * the check.  The bytes are then lost, as they would be by an unmap a moment later. */
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

/*
 * Moves n bytes (n <= p->left) between buf and the pieces, and advances the pieces.  TRY only
 * tries the memory.  After -EFAULT the pieces have not advanced.
 */
static int pieces_move(struct pieces *p, char *buf, size_t n, int how)
{
	struct pieces to = *p;

	while (n > 0) {
		if (to.at == to.iov->len) {
			to.iov++;
			to.n--;
			to.at = 0;
			continue;
		}
		size_t some = MIN(n, to.iov->len - to.at);
		vaddr_t user = to.iov->base + to.at;
		int err = how == TRY         ? try_user(user, some)
			  : how == FROM_USER ? copyin(buf, user, some)
					     : copyout(user, buf, some);
		if (err != 0)
			return err;
		to.at += some;
		to.left -= some;
		buf += some;
		n -= some;
	}
	if (how == TRY)
		return 0;
	p->iov = to.iov;
	p->n = to.n;
	p->at = to.at;
	p->left = to.left;
	return 0;
}

/* --- reading ----------------------------------------------------------------------------- */

/* Reads a stream once; the result is the input that it has now. */
static int64_t read_stream(struct file *f, struct buffer *b, struct pieces *to)
{
	size_t n = MIN(to->left, b->size);
	int err = pieces_move(to, NULL, n, TRY);
	if (err != 0)
		return err;
	int64_t got = f->vn->ops->recv(f->vn, b->p, n, file_flags(f) & WEFT_O_NONBLOCK);
	if (got > 0 && pieces_move(to, b->p, got, TO_USER) != 0)
		return -EFAULT;
	return got;
}

/* Reads a device that never waits, until the request is met, or ENDLESS_MAX bytes are read. */
static int64_t read_endless(struct file *f, struct buffer *b, struct pieces *to)
{
	uint64_t done = 0, n = MIN(to->left, ENDLESS_MAX);
	int err = 0;

	while (done < n && err == 0) {
		size_t want = MIN(n - done, b->size);
		f->vn->ops->recv(f->vn, b->p, want, 0);
		err = pieces_move(to, b->p, want, TO_USER);
		if (err != 0)
			break;
		done += want;
		if (told_to_exit())
			err = -EINTR;
		preempt_point();
	}
	return done > 0 ? (int64_t)done : err;
}

/* Reads a file from *off on, and advances *off. */
static int64_t read_file(struct file *f, struct buffer *b, struct pieces *to, uint64_t *off)
{
	uint64_t done = 0;
	int64_t err = 0;

	while (to->left > 0 && err == 0) {
		size_t want = MIN(to->left, b->size);
		int64_t got = f->vn->ops->read(f->vn, *off, b->p, want);
		if (got <= 0) {
			err = got;
			break;
		}
		err = pieces_move(to, b->p, got, TO_USER);
		if (err == 0) {
			*off += got;
			done += got;
		}
		if (err == 0 && (size_t)got < want)
			break; /* the end of the file */
		if (to->left > 0 && told_to_exit())
			err = -EINTR;
	}
	return done > 0 ? (int64_t)done : err;
}

/* off: NULL for the file's own offset. */
static int64_t do_read(int fd, struct pieces *to, uint64_t *off)
{
	struct file *f = fd_get(my_files(), fd);
	int64_t r;

	if (f == NULL)
		return -EBADF;
	const struct vnode_ops *ops = f->vn->ops;
	if ((file_flags(f) & WEFT_O_ACCMODE) == WEFT_O_WRONLY) {
		r = -EBADF;
	} else if (vnode_is_directory(f->vn)) {
		r = -EISDIR;
	} else if (off != NULL && vnode_is_stream(f->vn)) {
		r = -ESPIPE;
	} else if (ops->read == NULL && ops->recv == NULL) {
		r = -EINVAL;
	} else if (to->left == 0) {
		r = 0;
	} else {
		struct buffer b;
		buffer_get(&b, to->left);
		if (ops->recv != NULL) {
			r = ops->endless ? read_endless(f, &b, to) : read_stream(f, &b, to);
		} else if (off != NULL) {
			r = read_file(f, &b, to, off);
		} else {
			kmutex_enter(&f->lock);
			r = read_file(f, &b, to, &f->off);
			kmutex_exit(&f->lock);
		}
		buffer_put(&b);
	}
	file_rele(f);
	return r;
}

/*
 * read(fd, buffer, n) = bytes read; 0 at the end of the file.  A read of a stream may give fewer
 * than n bytes.  A read of /dev/zero, full, random or urandom gives n bytes, at most 32 MiB.
 * Blocks on the console and on pipes.
 * EBADF: no such descriptor, or not open for reading; EISDIR: a directory; EINVAL: n is too
 * large; EAGAIN: O_NONBLOCK, and there is no input yet; EFAULT: buffer; EINTR: a signal; EIO:
 * the console, from the background, with SIGTTIN blocked or ignored; ESRCH: a file of /proc, and
 * its process or LWP has exited; ENOMEM: no memory for the text of such a file.
 */
int64_t sys_read(const uint64_t arg[6])
{
	struct pieces to;
	if (arg[2] > INT64_MAX)
		return -EINVAL;
	pieces_of(&to, arg[1], arg[2]);
	return do_read((int)arg[0], &to, NULL);
}

/*
 * pread(fd, buffer, n, offset): read at an offset; the file's own offset does not change.
 * EBADF: no such descriptor, or not open for reading; EISDIR: a directory; EINVAL: n is too
 * large, an offset below 0; ESPIPE: a device or pipe; EFAULT: buffer; ESRCH, ENOMEM: as for
 * read.
 */
int64_t sys_pread(const uint64_t arg[6])
{
	struct pieces to;
	uint64_t off = arg[3];
	if (arg[2] > INT64_MAX || off > INT64_MAX)
		return -EINVAL;
	pieces_of(&to, arg[1], arg[2]);
	return do_read((int)arg[0], &to, &off);
}

/*
 * readv(fd, iov, n): read into several pieces of memory.
 * Errors of read; EFAULT: also iov; EINVAL: also n above WEFT_IOV_MAX, or lengths whose sum is
 * too large; ENOMEM: also for iov.
 */
int64_t sys_readv(const uint64_t arg[6])
{
	struct pieces to;
	int64_t r = pieces_in(&to, arg[1], arg[2]);
	if (r == 0) {
		struct weft_iovec *first = to.iov;
		r = do_read((int)arg[0], &to, NULL);
		pieces_put(&to, first);
	}
	return r;
}

/* --- writing ----------------------------------------------------------------------------- */

static int64_t write_stream(struct file *f, struct buffer *b, struct pieces *from)
{
	unsigned flags = file_flags(f) & WEFT_O_NONBLOCK;
	uint64_t done = 0;
	int64_t err = 0;

	if (from->left > WEFT_PIPE_BUF)
		flags |= IO_PART;
	else if (from->left > b->size && (f->vn->mode & WEFT_S_IFMT) == WEFT_S_IFIFO)
		return -ENOMEM; /* this write must not be split */
	while (from->left > 0 && err == 0) {
		struct pieces at = *from;
		size_t want = MIN(from->left, b->size);
		err = pieces_move(from, b->p, want, FROM_USER);
		for (size_t put = 0; put < want && err == 0;) {
			int64_t n = f->vn->ops->send(f->vn, b->p + put, want - put, flags);
			if (n < 0) {
				err = n;
				*from = at;
			} else {
				put += n;
				done += n;
			}
		}
		if (err == 0 && from->left > 0 && told_to_exit())
			err = -EINTR;
	}
	if (err == -EPIPE)
		signal_self(WEFT_SIGPIPE);
	return done > 0 ? (int64_t)done : err;
}

/* Writes a file from *off on, or from its end on; *off moves to the end of the written bytes. */
static int64_t write_file(struct file *f, struct buffer *b, struct pieces *from, uint64_t *off,
			  bool append)
{
	uint64_t done = 0;
	int64_t err = 0;

	while (from->left > 0 && err == 0) {
		size_t want = MIN(from->left, b->size);
		err = pieces_move(from, b->p, want, FROM_USER);
		if (err != 0)
			break;
		int64_t put = f->vn->ops->write(f->vn, off, b->p, want, append);
		if (put < 0) {
			err = put;
			break;
		}
		done += put;
		if ((size_t)put < want)
			break;
		if (from->left > 0 && told_to_exit())
			err = -EINTR;
	}
	return done > 0 ? (int64_t)done : err;
}

/* off: NULL for the file's own offset. */
static int64_t do_write(int fd, struct pieces *from, uint64_t *off)
{
	struct file *f = fd_get(my_files(), fd);
	int64_t r;

	if (f == NULL)
		return -EBADF;
	const struct vnode_ops *ops = f->vn->ops;
	if ((file_flags(f) & WEFT_O_ACCMODE) == WEFT_O_RDONLY) {
		r = -EBADF;
	} else if (off != NULL && vnode_is_stream(f->vn)) {
		r = -ESPIPE;
	} else {
		struct buffer b;
		buffer_get(&b, from->left);
		if (ops->send != NULL) {
			r = write_stream(f, &b, from);
		} else if (off != NULL) {
			r = write_file(f, &b, from, off, false);
		} else {
			kmutex_enter(&f->lock);
			r = write_file(f, &b, from, &f->off, file_flags(f) & WEFT_O_APPEND);
			kmutex_exit(&f->lock);
		}
		buffer_put(&b);
	}
	file_rele(f);
	return r;
}

/*
 * write(fd, buffer, n) = bytes written.  A write of at most WEFT_PIPE_BUF bytes to a pipe or the
 * console is not split.  Blocks on pipes.
 * EBADF: no such descriptor, or not open for writing; EINVAL: n is too large; EFAULT: buffer;
 * EFBIG: the end is beyond the largest file size; ENOSPC: no memory for the file, or /dev/full;
 * EPIPE: the pipe has no reader (also sends SIGPIPE); EAGAIN: O_NONBLOCK, and no room; ENOMEM: no
 * memory for a write that must not be split; EINTR: a signal.
 */
int64_t sys_write(const uint64_t arg[6])
{
	struct pieces from;
	if (arg[2] > INT64_MAX)
		return -EINVAL;
	pieces_of(&from, arg[1], arg[2]);
	return do_write((int)arg[0], &from, NULL);
}

/*
 * pwrite(fd, buffer, n, offset): write at an offset, also with O_APPEND; the file's own offset does
 * not change.
 * EBADF: no such descriptor, or not open for writing; EINVAL: n is too large, an offset below
 * 0; ESPIPE: a device or pipe; EFAULT: buffer; EFBIG: the offset is beyond the largest file size;
 * ENOSPC: no memory for the file.
 */
int64_t sys_pwrite(const uint64_t arg[6])
{
	struct pieces from;
	uint64_t off = arg[3];
	if (arg[2] > INT64_MAX || off > INT64_MAX)
		return -EINVAL;
	pieces_of(&from, arg[1], arg[2]);
	return do_write((int)arg[0], &from, &off);
}

/*
 * writev(fd, iov, n): write from several pieces of memory; up to WEFT_PIPE_BUF bytes in all
 * are one write.
 * Errors of write; EFAULT: also iov; EINVAL: also n above WEFT_IOV_MAX, or lengths whose sum
 * is too large; ENOMEM: also for iov.
 */
int64_t sys_writev(const uint64_t arg[6])
{
	struct pieces from;
	int64_t r = pieces_in(&from, arg[1], arg[2]);
	if (r == 0) {
		struct weft_iovec *first = from.iov;
		r = do_write((int)arg[0], &from, NULL);
		pieces_put(&from, first);
	}
	return r;
}
