"""Writes cpio archives of the form "newc", the form of the initial RAM disk.

Needs no privileges and no other program; runs outside of the virtual environment, since
the Makefile calls it:

    cpio.py ARCHIVE DIR/ ... LINK=TARGET ... FILE:GUEST ...

An archive is padded to a multiple of a page, so that archives can be concatenated: the kernel
unpacks one after the other, and a later file replaces an earlier file of its name.  The bytes of a file that
fills a page start at a page's start, by NULs before its header: the kernel takes such pages over
where it copies others.
"""

import io
import os
import stat
import sys
from pathlib import Path

PAGE = 4096
HEADER = 110  # bytes of a header without the name


def _up(n):
    return n + -n % 4


def encoded(text):
    """A name or an argument of the guest: UTF-8, or the bytes that the host gave (PEP 383)."""
    return text.encode("utf-8", "surrogateescape")


class Archive:
    """One archive, in memory.  Paths are those of the guest, absolute or not."""

    def __init__(self):
        self._out = io.BytesIO()
        self._inode = 0
        self._directories = {""}

    def _entry(self, path, mode, data, links):
        name = encoded(path) + b"\0"
        if len(data) >= PAGE:
            self._out.write(bytes(-(self._out.tell() + _up(HEADER + len(name))) % PAGE))
        self._inode += 1
        # inode mode uid gid nlink mtime size devmajor devminor rdevmajor rdevminor namesize check
        fields = (self._inode, mode, 0, 0, links, 0, len(data), 0, 0, 0, 0, len(name), 0)
        self._out.write(b"070701" + b"".join(b"%08X" % f for f in fields) + name)
        self._pad(4)
        self._out.write(data)
        self._pad(4)

    def _pad(self, unit):
        self._out.write(bytes(-self._out.tell() % unit))

    def directory(self, path):
        """Adds a directory, after its parents."""
        path = path.strip("/")
        if path in self._directories:
            return
        self.directory(os.path.dirname(path))
        self._directories.add(path)
        self._entry(path, stat.S_IFDIR | 0o755, b"", 2)

    def file(self, path, data, mode=0o644):
        """Adds a regular file, after its directories."""
        path = path.strip("/")
        self.directory(os.path.dirname(path))
        self._entry(path, stat.S_IFREG | mode, data, 1)

    def link(self, path, target):
        """Adds a symbolic link, after its directories."""
        path = path.strip("/")
        self.directory(os.path.dirname(path))
        self._entry(path, stat.S_IFLNK | 0o777, target.encode(), 1)

    def bytes(self):
        """The whole archive, with its trailer."""
        self._inode = -1
        self._entry("TRAILER!!!", 0, b"", 1)
        self._pad(PAGE)
        return self._out.getvalue()


def names(data):
    """The paths of what is in an archive, without directories and leading slashes."""
    found, at = [], 0
    while True:
        while data[at:at + 4] == bytes(4):
            at += 4
        mode, size, length = (int(data[at + field:at + field + 8], 16) for field in (14, 54, 94))
        name = data[at + HEADER:at + HEADER + length - 1].decode()
        if name == "TRAILER!!!":
            return found
        if not stat.S_ISDIR(mode):
            found.append(name)
        at = _up(at + HEADER + length)
        at = _up(at + size)


def main(argv):
    if len(argv) < 2:
        sys.exit("usage: cpio.py ARCHIVE DIR/ ... LINK=TARGET ... FILE:GUEST ...")
    archive = Archive()
    for item in argv[1:]:
        if item.endswith("/"):
            archive.directory(item)
        elif "=" in item:
            archive.link(*item.split("="))
        else:
            source, _, guest = item.rpartition(":")
            archive.file(guest, Path(source).read_bytes(), os.stat(source).st_mode & 0o777)
    whole = archive.bytes()
    fresh = Path(f"{argv[0]}.{os.getpid()}")
    fresh.write_bytes(whole)
    fresh.replace(argv[0])


if __name__ == "__main__":
    main(sys.argv[1:])
