"""How GDB numbers the threads of the guest.

The kernel is one inferior, and each process another.  Many IDEs show the threads of GDB's first inferior alone.
For these the kernel and the program that the guest runs can be one inferior: thread N of the program is thread
JOINED + N of the kernel's inferior.  That inferior has the symbols of both, and an address of the program means the
program's memory in it (Debugger.space_of).
"""

from .points import KERNEL_PID
from .protocol import Id

JOINED = 1000  # more than there are CPUs


class Numbering:
    """program: the process that is joined to the kernel's inferior; None: none."""

    def __init__(self) -> None:
        self.joins = False
        self.program: int | None = None

    def theirs(self, id: Id) -> Id:
        """GDB's id of a thread of the guest."""
        if self.joins and id.pid == self.program:
            return Id(KERNEL_PID, JOINED + id.tid)
        return id

    def ours(self, id: Id) -> Id:
        """The thread of the guest that GDB means."""
        if self.joins and id.pid == KERNEL_PID and id.tid > JOINED and self.program is not None:
            return Id(self.program, id.tid - JOINED)
        return id

    def inferior(self, pid: int) -> int:
        """GDB's number of a process."""
        return KERNEL_PID if self.joins and pid == self.program else pid
