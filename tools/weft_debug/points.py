"""Breakpoints and watchpoints: GDB's, by inferior, and which of them the machine has.

An address is another place in each process, so a point belongs to the inferior that it was set in.  QEMU knows
addresses alone.  So a hit is looked at: it counts if the CPU that hit has the address space of the point's
process.  A recorded run gets the address space with the point, because its search backwards looks at
hits, too.

The machine gets the points as it begins to run, and loses them when GDB goes.
"""

from collections.abc import Iterable

from weft_host.recording import Point

from .qemu import Stub

KERNEL_PID = 0x7FFFFFFE  # the kernel's number of a process under GDB's protocol
KERNEL_HALF = 1 << 63

# A point as the machine has it, and the address space that it belongs to in a recorded run.
Placed = tuple[Point, int | None]


class Points:
    """GDB's points, and the machine's."""

    def __init__(self, stub: Stub) -> None:
        self._stub = stub
        self._owners: dict[Point, dict[int, int | None]] = {}
        self._machine: set[Placed] = set()

    # --- GDB's ------------------------------------------------------------------------------------

    def add(self, point: Point, pid: int, space: int | None) -> bytes:
        """The answer to a packet Z.  space: that of the inferior.  In a recorded run the point keeps it, because
        at other places the process may not have begun."""
        placed = point, self._space(space)
        if placed not in self._machine:
            answer = self._stub.ask(_packet("Z", placed))
            if answer != b"OK":
                return answer
            self._machine.add(placed)
        self._owners.setdefault(point, {})[pid] = space
        return b"OK"

    def remove(self, point: Point, pid: int) -> None:
        owners = self._owners.get(point, {})
        owners.pop(pid, None)
        if not owners:
            self._owners.pop(point, None)

    def drop(self, pid: int) -> None:
        """All of an inferior that GDB has left."""
        for point in list(self._owners):
            self.remove(point, pid)

    def clear(self) -> None:
        self._owners.clear()

    def owners(self, points: Iterable[Point]) -> dict[int, int | None]:
        """The inferiors of these points, with their address spaces as the point was set."""
        return {pid: space for point in points for pid, space in self._owners.get(point, {}).items()}

    def breakpoints_at(self, address: int) -> list[Point]:
        return [p for p in self._owners if not p.watches and p.address == address]

    def watchpoints_at(self, address: int) -> list[Point]:
        return [p for p in self._owners if p.watches and p.address <= address < p.address + p.length]

    @property
    def watching(self) -> bool:
        """Is there a watchpoint?"""
        return any(point.watches for point in self._owners)

    def __len__(self) -> int:
        return len(self._owners)

    # --- the machine's ------------------------------------------------------------------------------

    def _space(self, space: int | None) -> int | None:
        return space if self._stub.recorded else None

    def place(self, more: Iterable[Placed] = ()) -> None:
        """Gives the machine GDB's points and `more`, and no others."""
        wanted = {(point, self._space(space)) for point, space in more}
        for point, owners in self._owners.items():
            wanted |= {(point, self._space(space)) for space in owners.values()}
        for placed in self._machine - wanted:
            self._stub.ask(_packet("z", placed))
        for placed in wanted - self._machine:
            self._stub.ask(_packet("Z", placed))
        self._machine = wanted

    def leave(self) -> None:
        """The machine gets rid of all."""
        self._owners.clear()
        self.place()


def _packet(letter: str, placed: Placed) -> bytes:
    point, space = placed
    return point.packet(letter) + (b"" if space is None else b";weft-cr3:%x" % space)
