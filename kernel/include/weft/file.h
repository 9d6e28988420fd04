/*
 * file.h - files, directories and the console.  The values of the open flags,
 * mode bits and seek origins are newlib's.
 */
#pragma once
#include "abi.h"
#include "proc.h"

#define WEFT_O_RDONLY 0
#define WEFT_O_WRONLY 1
#define WEFT_O_RDWR 2
#define WEFT_O_ACCMODE 3
#define WEFT_O_APPEND 0x0008
#define WEFT_O_CREAT 0x0200
#define WEFT_O_TRUNC 0x0400
#define WEFT_O_EXCL 0x0800
#define WEFT_O_SYNC 0x2000
#define WEFT_O_NONBLOCK 0x4000
#define WEFT_O_NOCTTY 0x8000
#define WEFT_O_CLOEXEC 0x40000
#define WEFT_O_NOFOLLOW 0x100000
#define WEFT_O_DIRECTORY 0x200000

#define WEFT_AT_FDCWD (-2) /* instead of a directory's descriptor: the current directory */

#define WEFT_S_IFMT 0170000
#define WEFT_S_IFDIR 0040000
#define WEFT_S_IFCHR 0020000
#define WEFT_S_IFREG 0100000
#define WEFT_S_IFLNK 0120000
#define WEFT_S_IFIFO 0010000

/* fcntl: commands. */
#define WEFT_F_DUPFD 0
#define WEFT_F_GETFD 1
#define WEFT_F_SETFD 2
#define WEFT_F_GETFL 3
#define WEFT_F_SETFL 4
#define WEFT_F_GETLK 7  /* arg: struct weft_flock *, kernel writes */
#define WEFT_F_SETLK 8  /* arg: const struct weft_flock * */
#define WEFT_F_SETLKW 9 /* the same; waits */
#define WEFT_F_DUPFD_CLOEXEC 14
/* For a library: a child of fork does not get the descriptor, and its close is not a close of the
 * file. */
#define WEFT_F_DUPFD_PRIVATE 15
#define WEFT_FD_CLOEXEC 1 /* the only flag of a descriptor */

/* Record locks. */
#define WEFT_F_RDLCK 1
#define WEFT_F_WRLCK 2
#define WEFT_F_UNLCK 3
struct weft_flock {     /* caller writes all except pid */
	int16_t type;   /* WEFT_F_RDLCK, WRLCK, UNLCK */
	int16_t whence; /* WEFT_SEEK_*: what start counts from */
	int32_t spare;
	int64_t start, len; /* bytes; len 0: to the end, below 0: the bytes before start */
	int32_t pid;        /* F_GETLK: the process that holds the lock */
};

/* A write of at most this many bytes to a pipe is not split. */
#define WEFT_PIPE_BUF 4096

#define WEFT_IOV_MAX 1024 /* pieces of memory in a readv or writev */
struct weft_iovec {       /* caller writes all */
	uint64_t base;    /* void * */
	uint64_t len;
};

#define WEFT_SEEK_SET 0
#define WEFT_SEEK_CUR 1
#define WEFT_SEEK_END 2

struct weft_stat { /* kernel writes all */
	uint64_t ino;
	uint32_t mode; /* WEFT_S_IF* and permissions */
	uint32_t nlink;
	uint64_t size;                /* bytes */
	uint64_t allocated;           /* bytes of memory that its contents occupy */
	uint64_t atime, mtime, ctime; /* nanoseconds since 1970 */
	uint64_t dev, rdev;
};

/* Values for the nsec of a time that utimens sets. */
#define WEFT_UTIME_NOW (-2)
#define WEFT_UTIME_OMIT (-1)

struct weft_mount {          /* kernel writes all */
	uint64_t dev;        /* weft_stat.dev of its files */
	uint64_t size, free; /* bytes; 0: it has no storage */
	char type[16];
	char path[WEFT_PATH_MAX];
};

/* getdents fills a buffer with these, each padded to 8 bytes. */
struct weft_dirent { /* kernel writes all */
	uint64_t ino;
	uint64_t next;   /* position of the next entry, for lseek */
	uint16_t reclen; /* bytes to the next entry */
	uint16_t type;   /* WEFT_S_IF* >> 12 */
	char name[];     /* ends with NUL */
};

/*
 * ioctl requests on the console.  Flag values and the size of the structure are
 * those of <termios.h> in user/libc.
 */
#define WEFT_TCGETS 0x5401     /* arg: struct weft_termios *, kernel writes */
#define WEFT_TCSETS 0x5402     /* arg: const struct weft_termios * */
#define WEFT_TCSETSF 0x5404    /* the same; input that has not been read is dropped */
#define WEFT_TIOCGPGRP 0x540f  /* arg: int32_t *, kernel writes */
#define WEFT_TIOCSPGRP 0x5410  /* arg: const int32_t * */
#define WEFT_TIOCGWINSZ 0x5413 /* arg: struct weft_winsize *, kernel writes */
#define WEFT_TIOCSWINSZ 0x5414 /* arg: const struct weft_winsize *; SIGWINCH if it changes */

#define WEFT_ICANON 0x2         /* lflag: lines, with erase and end-of-file */
#define WEFT_ECHO 0x8           /* lflag: show the typed characters */
#define WEFT_ISIG 0x1           /* lflag: Ctrl-C, Ctrl-\ and Ctrl-Z signal the foreground group */
#define WEFT_OPOST 0x1          /* oflag: newline goes out as CR LF */
#define WEFT_CRTSCTS 0x80000000 /* cflag: a full input buffer stops the sender */
#define WEFT_ICRNL 0x100        /* iflag: CR comes in as newline */

/*
 * Indices in cc[].  A character of 0 is switched off.  Without ICANON a read
 * returns when it has VMIN bytes (or all the bytes that it asks for).  VTIME, if
 * not 0, is the longest wait for the next byte, or with VMIN 0 for the first byte,
 * in tenths of a second.
 */
#define WEFT_VINTR 0
#define WEFT_VQUIT 1
#define WEFT_VERASE 2 /* Backspace (0x08) and Delete (0x7f) always erase too */
#define WEFT_VKILL 3
#define WEFT_VEOF 4
#define WEFT_VTIME 5
#define WEFT_VMIN 6
#define WEFT_VSUSP 10

/* TCSETS ignores bits that have no name above; TCGETS reads them as 0. */
struct weft_termios {
	uint32_t iflag, oflag, cflag, lflag;
	uint8_t cc[16];
};
struct weft_winsize { /* of the terminal, in characters; pixels mean nothing here */
	uint16_t row, col, xpixel, ypixel;
};
