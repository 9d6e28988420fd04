"""A trace as it is recorded: the records of all CPUs in the order of time, a little late.

A record is held back until no CPU can have one that comes before it.  In exact timing the clocks of CPUs differ
by two rounds at most, so a record waits until another one is later by that.  In fast timing the guest's time is
the host's, so a record waits for as long as the host may make a CPU wait between its clock and its ring.  A record
that comes later still is told with the time of the record before it, and counted.
"""

import heapq
import time
from collections.abc import Iterator

from weft_trace import ring

LATE = 0.03  # seconds that a CPU of fast timing may be late with a record


class InOrder:
    def __init__(self, rings: ring.Rings, margin: int | None) -> None:
        """margin: nanoseconds of exact timing between the clocks of two CPUs; None: fast timing."""
        self._rings = rings
        self._margin = margin
        self._held: list[tuple[int, int, int, float, ring.Record]] = []
        self._number = 0
        self._told = 0
        self._newest, self._came = 0, 0.0  # the latest record, and when the host got it
        self.late = 0
        self.count = 0

    def now(self) -> int:
        """The guest's time, or a little less."""
        passed = 0.0 if self._margin is not None else max(0.0, time.monotonic() - self._came - LATE)
        return max(self._told, self._newest + int(passed * 1e9) if passed else 0)

    def _is_due(self, until: int, host: float) -> bool:
        when, _, _, came, _ = self._held[0]
        return when <= until if self._margin is not None else came <= host - LATE

    def drain(self, all: bool = False) -> Iterator[ring.Record]:
        """What may be told now; all: everything that has come."""
        host = time.monotonic()
        until = self._newest - (self._margin or 0)  # of what came before
        for record in self._rings.drain():
            self._number += 1
            heapq.heappush(self._held, (record.time, record.cpu, self._number, host, record))
            if record.time > self._newest:
                self._newest, self._came = record.time, host
        while self._held and (all or self._is_due(until, host)):
            record = heapq.heappop(self._held)[-1]
            self.count += 1
            if record.time < self._told:
                self.late += 1
                record = ring.Record(self._told, record.cpu, record.point, record.values)
            self._told = record.time
            yield record
