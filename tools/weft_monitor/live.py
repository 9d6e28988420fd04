"""A trace as it is recorded: the records of all CPUs in the order of time, a little late.

A record is held back until no CPU can have one that comes before it.  In exact timing the clocks of CPUs differ
by two rounds at most, so a record waits until another one is later by that.  In fast timing the guest's time is
the host's, so a record waits for as long as the host may make a CPU wait between its clock and its ring.  A record
that comes later still is told with the time of the record before it, and counted.
"""

import heapq
import time
from collections import deque
from collections.abc import Iterator

from weft_trace import ring

LATE = 0.03  # seconds that a CPU of fast timing may be late with a record


class InOrder:
    def __init__(self, rings: ring.Rings, margin: int | None) -> None:
        """margin: nanoseconds of exact timing between the clocks of two CPUs; None: fast timing."""
        self._rings = rings
        self._margin = margin
        self._held: list[tuple[int, int, int, ring.Record]] = []
        self._number = 0
        self._told = 0
        self._newest, self._came = 0, 0.0  # the latest record, and when the host got it
        self._waits: deque[tuple[float, int]] = deque()  # fast timing: when records came, and the latest then
        self._due = 0  # fast timing: up to this time none is missing
        self.late = 0
        self.count = 0

    def now(self) -> int:
        """The guest's time, or a little less."""
        if self._margin is not None or not self._newest:
            return self._told
        return max(self._told, self._newest + int((time.monotonic() - self._came - LATE) * 1e9))

    def _until(self, host: float) -> int:
        """The time up to which all records have come."""
        if self._margin is not None:
            return self._newest - self._margin
        while self._waits and self._waits[0][0] <= host - LATE:
            self._due = self._waits.popleft()[1]
        return self._due

    def drain(self, all: bool = False) -> Iterator[ring.Record]:
        """What may be told now; all: everything that has come."""
        host = time.monotonic()
        until, newest = self._until(host), self._newest
        for record in self._rings.drain():
            self._number += 1
            heapq.heappush(self._held, (record.time, record.cpu, self._number, record))
            newest = max(newest, record.time)
        if newest > self._newest:
            self._newest, self._came = newest, host
            if self._margin is None:
                self._waits.append((host, newest))
        while self._held and (all or self._held[0][0] <= until):
            record = heapq.heappop(self._held)[-1]
            self.count += 1
            if record.time < self._told:
                self.late += 1
                record = ring.Record(self._told, record.cpu, record.point, record.values)
            self._told = record.time
            yield record
