"""Copies of the initial RAM disk for the guests of a process, one after the other.

A guest's RAM disk is the build's archive, and behind it a short one with the files of this run.  QEMU takes
one file.  To copy the build's archive, 16 MB, takes the host 10 ms, a tenth of a guest's start.  A process that
starts many guests, as `weft bench` and the tests do, therefore keeps the file of a guest that has ended, and
cuts the short archive off for the next one.

A copy is used again only for the archive that it was made of, and only if its size and time say that nothing
has written to it since.  Several threads may start guests: one lock guards all.  It is held for no copying.
"""

import atexit
import contextlib
import os
import shutil
import threading
from pathlib import Path

Identity = tuple[int, int, int, int]  # of a file: device, inode, size, time of its last change


def _identity(path: Path) -> Identity:
    found = os.stat(path)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _copy(base: Path, path: Path) -> None:
    with open(base, "rb", buffering=0) as archive:
        with open(path, "wb", buffering=0) as out, contextlib.suppress(AttributeError, OSError):
            # The host copies, or shares the blocks.  Where it can do neither, all is left for below.
            while os.copy_file_range(archive.fileno(), out.fileno(), 1 << 30) > 0:
                pass
        with open(path, "ab") as out:
            shutil.copyfileobj(archive, out)


class Disks:
    """Those of one process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # of all below
        self._free: dict[Identity, list[Path]] = {}  # {of an archive: copies that no guest has}
        self._lent: dict[Path, tuple[Identity, Identity]] = {}  # {of a guest: (of the archive, of the copy)}
        self._directory: Path | None = None
        self._guests = 0

    def write(self, base: Path, path: Path, behind: bytes) -> None:
        """Makes the file `path`: the bytes of `base`, then those behind it.  Blocks.  Raises OSError."""
        archive = _identity(base)
        with self._lock:
            self._guests += 1
            free = self._free.get(archive, [])
            kept = free.pop() if free else None
        if kept is None or not self._move(kept, path, archive[2]):
            _copy(base, path)
        with open(path, "ab") as out:
            out.write(behind)
        with self._lock:
            self._lent[path] = archive, _identity(path)

    def _move(self, kept: Path, path: Path, size: int) -> bool:
        """False: the guest's directory is on another file system, say."""
        try:
            os.replace(kept, path)
            os.truncate(path, size)
        except OSError:
            kept.unlink(missing_ok=True)
            return False
        return True

    def forget(self, path: Path) -> None:
        """The file is to be changed."""
        with self._lock:
            self._lent.pop(path, None)

    def give_back(self, path: Path) -> None:
        """The guest has ended, and its file may be kept.  The file of a process's only guest is not."""
        with self._lock, contextlib.suppress(OSError):
            archive, copy = self._lent.pop(path, (None, None))
            if archive is None or self._guests < 2 or _identity(path) != copy:
                return
            kept = self._made() / f"{self._guests}.{copy[1]}"
            os.replace(path, kept)
            self._free.setdefault(archive, []).append(kept)

    def _made(self) -> Path:
        """The directory of the free copies: it ends with this process.  Raises OSError."""
        if self._directory is None:
            from .machine import HostError  # both modules import disks
            from .workdir import WorkDirectory

            try:
                work = WorkDirectory()
            except HostError as error:
                raise OSError(str(error)) from error
            atexit.register(work.cleanup)
            self._directory = Path(work.name)
        return self._directory


DISKS = Disks()
