"""Hits of watchpoints that QEMU does not tell.

QEMU tells why one processor has stopped.  *Race:* two processors of fast timing come to watchpoints at once, and
QEMU tells of one; *without this:* the hit of the other is lost, because its instruction has been executed; *closed
by:* what is watched is compared with what was there as the machine began to run.  A second hit of the same process
needs no report of its own: GDB sees both changes in one.
"""

from .guest import Guest
from .memory import MemoryFault
from .points import KERNEL_PID, Points
from .qemu import LiveMachine, Stop
from .view import View


class Watched:
    def __init__(self, machine: LiveMachine, view: View, points: Points) -> None:
        self._machine = machine
        self._view = view
        self._points = points
        # What was there, by process and address.
        self._before: dict[tuple[int, int], bytes] = {}

    @property
    def _guest(self) -> Guest:
        return self._view.guest

    def _now(self, pid: int, address: int, length: int) -> bytes | None:
        process = self._guest.process(pid)
        space = self._guest.kernel if pid == KERNEL_PID else process.space if process is not None else None
        try:
            return None if space is None else space.read(address, length)
        except MemoryFault:
            return None

    def remember(self) -> None:
        """The machine is about to run."""
        self._before = {}
        for point in self._points.written():
            for pid in self._points.owners([point]):
                data = self._now(pid, point.address, point.length)
                if data is not None:
                    self._before[pid, point.address] = data

    def missed(self, told: Stop) -> tuple[int, int, int] | None:
        """A hit of another processor than the one that has stopped: it, the process, and the address."""
        for (pid, address), data in self._before.items():
            if self._now(pid, address, len(data)) == data:
                continue
            for processor in self._view.processors:
                if processor != told.processor and self._is_of(processor, pid):
                    return processor, pid, address
        return None

    def _is_of(self, processor: int, pid: int) -> bool:
        return pid == KERNEL_PID or self._view.thread_on(processor, pid) is not None
