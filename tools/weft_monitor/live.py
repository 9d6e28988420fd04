"""A trace as it is recorded: the records of all CPUs in the order of time, a little late.

A record is held back until no CPU can have one that comes before it.  In exact timing the clocks of CPUs differ
by two rounds at most, and in fast timing by what the host makes a CPU wait between its clock and its ring.  What
comes later still is told with the time of the record before it, and counted.
"""

import heapq
from collections.abc import Iterator

from weft_trace import ring


class InOrder:
    def __init__(self, rings: ring.Rings) -> None:
        self._rings = rings
        self._held: list[tuple[int, int, int, ring.Record]] = []
        self._newest = 0  # of the drain before the last
        self._told = 0
        self._number = 0
        self.late = 0
        self.count = 0

    def drain(self, margin: int, all: bool = False) -> Iterator[ring.Record]:
        """What has come, up to `margin` nanoseconds before the newest record of the last call; all: everything."""
        until = self._newest - margin
        for record in self._rings.drain():
            self._number += 1
            heapq.heappush(self._held, (record.time, record.cpu, self._number, record))
            self._newest = max(self._newest, record.time)
        while self._held and (all or self._held[0][0] <= until):
            record = heapq.heappop(self._held)[3]
            self.count += 1
            if record.time < self._told:
                self.late += 1
                record = ring.Record(self._told, record.cpu, record.point, record.values)
            self._told = record.time
            yield record
