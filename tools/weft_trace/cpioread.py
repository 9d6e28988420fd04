"""The files of a RAM disk: archives of the form "newc", one behind the other (tools/weft_host/cpio.py writes
them)."""

from collections.abc import Iterator
from dataclasses import dataclass

from weft_host.machine import HostError

MAGIC = b"070701"
HEADER = 110
END = "TRAILER!!!"


@dataclass(frozen=True)
class Entry:
    name: str  # without a first slash
    offset: int  # of the data in the disk
    data: bytes


def _up(n: int) -> int:
    return n + -n % 4


def files(disk: bytes) -> Iterator[Entry]:
    """Raises HostError: this is no RAM disk."""
    at = 0
    while at < len(disk):
        if disk[at:at + 4] == b"\0\0\0\0":
            at += 4
            continue
        if not disk.startswith(MAGIC, at):
            raise HostError(f"the RAM disk has no archive at byte {at}")
        size, names = int(disk[at + 54:at + 62], 16), int(disk[at + 94:at + 102], 16)
        name = disk[at + HEADER:at + HEADER + names - 1].decode("utf-8", "surrogateescape")
        offset = at + _up(HEADER + names)
        if name != END and size:
            yield Entry(name.lstrip("/"), offset, disk[offset:offset + size])
        at = offset + _up(size)
