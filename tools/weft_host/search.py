"""Where a replay was before: the last hit of breakpoints and watchpoints before a place.

The replay goes forward from the snapshot before that place, and stops at each hit.  If there is none, it does so
from two snapshots before that, then from four, and so on: to load a snapshot takes as long as to run to the next
one.  QEMU's own search (the packet bc of its stub) keeps only the last hit between
two snapshots, knows nothing of processes, and cannot be stopped.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from .recording import AT, Point, Points, Replay

USER_END = 1 << 47  # addresses below belong to the program that runs
PAGE = 4096

# So many hits are looked at one after the other.  If there are more, the search goes on near its end, where
# it expects so few.
MANY_HITS, FEW_HITS = 64, 8


def watched(answer: bytes) -> int | None:
    """The address in a stop of a watchpoint."""
    for field in answer[3:].split(b";"):
        name, _, value = field.partition(b":")
        if name in (b"watch", b"rwatch", b"awatch"):
            return int(value, 16)
    return None


# The address spaces (CR3) that a point belongs to; None among them, or no entry: it belongs to all.
Spaces = dict[Point, set[int | None]]


@dataclass(frozen=True)
class Hit:
    """place: before the instruction at the breakpoint, or before that which accesses the watched memory.
    pc: of the breakpoint.  answer: the stop that GDB is told."""

    place: int
    pc: int | None
    answer: bytes


class Search:
    """Where a replay was before."""

    def __init__(self, replay: Replay, spaces: Spaces) -> None:
        self._replay = replay
        self._spaces = spaces

    def space(self) -> int:
        return self._replay.register("cr3") & -PAGE

    def is_hit(self, points: Points, answer: bytes) -> bool:
        """Whether this stop at a point happened in an address space of the point's."""
        address = watched(answer)
        if address is not None:
            at = {p for p in points if p.watches and p.address <= address < p.address + p.length}
        else:
            if not any(not p.watches and p in self._spaces for p in points):
                return True
            here = self._replay.register("rip")
            at = {p for p in points if not p.watches and p.address == here}
        spaces: set[int | None] = set().union(*(self._spaces.get(p, {None}) for p in at))
        return not at or None in spaces or self.space() in spaces

    def hits(self, points: Points, start: int, end: int) -> Iterator[Hit]:
        """Those at the places from start up to end, in this order."""
        replay = self._replay
        replay.seek(start)
        here, step = start, False
        while here < end:
            answer = replay.resume(points, end, step)
            here = replay.place
            if watched(answer) is not None:
                step = False
                if here - 1 < end and self.is_hit(points, answer):
                    yield Hit(here - 1, None, answer)
            elif step:
                step = False  # it was off a breakpoint
            elif here < end and answer.startswith(b"T05"):
                step = True
                if self.is_hit(points, answer):
                    yield Hit(here, replay.register("rip"), AT)

    def _last_of(self, points: Points, start: int, end: int) -> Hit | None:
        """The last hit from start up to end."""
        while start < end:
            last = self._last_of_few(points, start, end)
            if last is None or isinstance(last, Hit):
                return last
            start, jump = last
            found = self._last_of(points, jump, end)
            if found is not None:
                return found
            end = jump
        return None

    def _last_of_few(self, points: Points, start: int, end: int) -> Hit | tuple[int, int] | None:
        """The last hit from start up to end.  If hits are many: the place of a late hit, and a place behind
        it from which few are to be expected up to end."""
        last, first, count = None, None, 0
        for last in self.hits(points, start, end):
            first = last if first is None else first
            count += 1
            if count >= MANY_HITS:
                distance = max(1, (last.place - first.place) // count)
                jump = end - FEW_HITS * distance
                if jump > last.place + MANY_HITS * distance:
                    return last.place, jump
                first, count = None, 0
        return last

    def last_hit(self, points: Points, end: int) -> Hit | None:
        """The last before the place `end`.  The machine ends up anywhere.  Raises Interrupted."""
        snapshots = 1
        while end > 0:
            start = end
            for _ in range(snapshots):
                start = self._replay.snapshot_before(max(0, start - 1))
            hit = self._last_of(points, start, end)
            if hit is not None:
                return hit
            end = start
            snapshots *= 2
        return None
