"""weft run --out GUEST[:HOST]: files of the guest, on the host after the command has ended.

The guest maps the files, makes a list of them, and stands still (user/bin/files/handover.c has the
list's form); QEMU then writes its memory into files of the host (`memsave` of its monitor).  Nothing passes
the console, so that neither size nor contents cost the guest any time, and a command runs to the same
instruction with --out and without.

A file appears whole, or the old one stays.  A device or a pipe of the host is never replaced, and a
symbolic link stands for what it names.
"""

import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from .machine import QMP_SOCKET, HostError, UsageError
from .monitor import Monitor

FIELDS = 6  # of a file on the list


@dataclass
class Wanted:
    """One --out."""

    guest: str
    host: Path

    @classmethod
    def parse(cls, item):
        """Raises UsageError, also if the host's place can take no file."""
        guest, colon, host = item.partition(":")
        if not guest.startswith("/") or "\0" in guest:
            raise UsageError(f"--out: {guest!r} is not an absolute path of the guest")
        guest = guest.rstrip("/") or "/"
        if colon and not host:
            raise UsageError(f"--out: {item}: names no file of the host")
        path = Path(host or ".")
        if path.is_dir():
            path /= PurePosixPath(guest).name
        try:
            path = _place(path)
        except HostError as error:
            raise UsageError(f"--out: {path}: {error}") from error
        if not path.parent.is_dir():
            raise UsageError(f"--out: {path.parent}: no such directory")
        if not os.access(path.parent, os.W_OK):
            raise UsageError(f"--out: {path.parent}: may not be written to")
        return cls(guest, path)


def _place(path):
    """Where that is, without symbolic links, for a file or directory to come.  Raises HostError."""
    try:
        place = path.resolve()
        if not (place.is_file() or place.is_dir()) and os.path.lexists(place):
            raise HostError("on the host it is neither a file nor a directory")
    except (OSError, RuntimeError) as error:  # which of them a loop of links raises depends on Python
        raise HostError("on the host it is no place for a file") from error
    return place


def _entries(data):
    """(number, error, mode, address, size, path below) of each entry of the list."""
    words = data.decode("utf-8", "surrogateescape").split("\0")[:-1]
    for i in range(0, len(words), FIELDS):
        number, error, mode, address, size, below = words[i:i + FIELDS]
        yield int(number), error, int(mode, 8), int(address), int(size), below


def _take(monitor, cpu, entry, to):
    """One entry of the list becomes a file or directory of the host."""
    _, error, mode, address, size, _ = entry
    if error:
        raise HostError(error)
    to = _place(to)
    if stat.S_ISDIR(mode):
        to.mkdir(exist_ok=True)
        return
    fresh = to.with_name(f".{to.name[:200]}.{os.getpid()}")
    try:
        monitor.save(cpu, address, size, fresh)
        fresh.chmod(mode & 0o777 & ~_umask())
        fresh.replace(to)
    finally:
        with suppress(FileNotFoundError):
            fresh.unlink()


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def fetch(guest, wanted):
    """Takes what is wanted out of a guest whose console has been served to its end.  Lines that say
    what did not come, and why."""
    if not wanted:
        return []
    if guest.filter.held is None or guest.filter.manifest is None:
        return ["fetched nothing: the guest did not come to hand its files over"]
    cpu, trouble = guest.filter.held, []
    try:
        monitor = Monitor(guest.work / QMP_SOCKET)
        try:
            address, size = guest.filter.manifest
            listed = guest.work / "list"
            monitor.save(cpu, address, size, listed)
            for entry in _entries(listed.read_bytes()):
                one, below = wanted[entry[0]], PurePosixPath(entry[-1])
                try:
                    if below.is_absolute() or ".." in below.parts:
                        raise HostError("not a name of a file")
                    _take(monitor, cpu, entry, one.host / below)
                except (HostError, OSError) as error:
                    why = error.strerror if isinstance(error, OSError) else error
                    trouble.append(f"{PurePosixPath(one.guest) / below}: {why}")
        finally:
            monitor.close()
    except (HostError, OSError, ValueError, IndexError) as error:
        trouble.append(f"fetched not all: {error}")
    return trouble
