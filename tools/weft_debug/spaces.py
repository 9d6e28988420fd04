"""The address spaces of processes, known from one stop of the machine to the next.

A point of one process is passed over in all others, and each time the server asks what address space the point's
process has.  To read all processes for that would take most of the time.  The answer lies in three words of the
kernel: as long as they have not changed, the address space has not.  They change when the process executes another
program, and when it ends.
"""

from dataclasses import dataclass

from .guest import Guest, Process
from .layout import Object
from .memory import StubMemory

# A physical address, and what was there.
_Bytes = tuple[int, bytes]


@dataclass(frozen=True)
class _Known:
    cr3: int
    told_by: list[_Bytes]


class Spaces:
    def __init__(self, memory: StubMemory, guest: Guest) -> None:
        self._memory = memory
        self._guest = guest
        self._known: dict[int, _Known] = {}

    def of(self, pid: int) -> int | None:
        """CR3 of a process, or None: it has ended, or there is none.  Raises MemoryFault."""
        known = self._known.get(pid)
        if known is not None and all(self._memory.peek(at, len(data)) == data for at, data in known.told_by):
            return known.cr3
        self._known.pop(pid, None)
        process = self._guest.process(pid)
        if process is None or process.zombie or process.space is None:
            return None
        self._known[pid] = _Known(process.space.cr3, self._told_by(process))
        return process.space.cr3

    def _told_by(self, process: Process) -> list[_Bytes]:
        proc = process.object
        return [self._read(field) for field in
                (proc["pid"], proc["as"], proc["as"].pointed()["pml4"])]

    def _read(self, field: Object) -> _Bytes:
        at = self._guest.kernel.translate(field.address)
        return at, self._memory.peek(at, field.type.size)
