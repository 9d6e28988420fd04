"""The records of a trace, as the kernel leaves them in the guest's memory (kernel/probe/probe.h)."""

import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PAGE = 4096
HEAD = struct.Struct("<Q")
HEAD_SIZE = 64
RECORD = struct.Struct("<QII3Q")
CODE = 0x200000 + 3 * 0x800000  # PROBE_CODE: what lies before the rings (programs.py)
LIMIT = (1 << 30) - CODE  # of PROBE_MEMORY_MAX: all rings


@dataclass(frozen=True)
class Record:
    time: int
    cpu: int
    point: int  # the lower half of its address
    values: tuple[int, int, int]


def size(records: int) -> int:
    """Bytes of a ring."""
    return -(-(HEAD_SIZE + records * RECORD.size) // PAGE) * PAGE


def memory(records: int, cpus: int) -> int:
    """Bytes of the probe memory."""
    return CODE + size(records) * cpus


def most(cpus: int) -> int:
    """The greatest power of two that is a number of records for each of so many CPUs."""
    records = 1
    while size(2 * records) * cpus <= LIMIT:
        records *= 2
    return records


class Rings:
    """The rings of all CPUs, in a file that is the guest's memory."""

    def __init__(self, path: Path, cpus: int, records: int) -> None:
        self._records = records
        self._read = [0] * cpus
        self.lost = [0] * cpus
        with open(path, "rb") as file:
            self._memory = mmap.mmap(file.fileno(), memory(records, cpus), prot=mmap.PROT_READ)

    def _head(self, cpu: int) -> int:
        return int(HEAD.unpack_from(self._memory, CODE + cpu * size(self._records))[0])

    def drain(self) -> Iterator[Record]:
        """What has come since the last time, a CPU at a time, each in the order of its ring."""
        for cpu in range(len(self._read)):
            yield from self._drain(cpu)

    def _drain(self, cpu: int) -> Iterator[Record]:
        base = CODE + cpu * size(self._records) + HEAD_SIZE
        head = self._head(cpu)
        begin = max(self._read[cpu], head - self._records)
        raw = self._span(base, begin, head)
        # A record is whole if its number is in it, and if nothing has been reserved in its place meanwhile.
        kept = max(begin, self._head(cpu) - self._records)
        self.lost[cpu] += kept - self._read[cpu]
        self._read[cpu] = kept
        for number in range(kept, head):
            time, seq, point, *values = RECORD.unpack_from(raw, (number - begin) * RECORD.size)
            if seq != (number + 1) & 0xffffffff:
                return  # it is being written
            self._read[cpu] = number + 1
            yield Record(time, cpu, point, (values[0], values[1], values[2]))

    def _span(self, base: int, begin: int, head: int) -> bytes:
        """A copy of records; their places may go around the end of the ring."""
        first, past = begin % self._records, head - begin + begin % self._records
        memory = self._memory[base + first * RECORD.size:base + min(past, self._records) * RECORD.size]
        if past > self._records:
            memory += self._memory[base:base + (past - self._records) * RECORD.size]
        return memory

    def close(self) -> None:
        self._memory.close()
