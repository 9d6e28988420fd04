"""Takes the records out of the rings while the guest runs."""

import heapq
import struct
import threading
from collections import deque
from collections.abc import Container, Iterator
from pathlib import Path

from weft_trace import ring

PLACE = struct.Struct("<QI3Q")
EVERY = 0.02  # seconds from one look at the rings to the next


class _Reader:
    """A thread that gives each record to _take()."""

    def __init__(self, rings: ring.Rings) -> None:
        self._rings = rings
        self._stopped = threading.Event()
        self._trouble: BaseException | None = None
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _take(self, record: ring.Record) -> None:
        raise NotImplementedError

    def _drain(self) -> None:
        for record in self._rings.drain():
            self._take(record)

    def _run(self) -> None:
        try:
            while not self._stopped.wait(EVERY):
                self._drain()
        except BaseException as error:
            self._trouble = error

    def stop(self) -> None:
        """The guest has ended.  Raises what the thread has met."""
        self._stopped.set()
        self._thread.join()
        if self._trouble is not None:
            raise self._trouble
        self._drain()

    @property
    def lost(self) -> list[int]:
        """How many records of each CPU are missing."""
        return self._rings.lost

    def close(self) -> None:
        self._rings.close()


class Spool(_Reader):
    """All records, in one file a CPU."""

    def __init__(self, work: Path, cpus: int, rings: ring.Rings) -> None:
        self._files = [open(work / f"records.{cpu}", "w+b") for cpu in range(cpus)]
        super().__init__(rings)

    def _take(self, record: ring.Record) -> None:
        self._files[record.cpu].write(PLACE.pack(record.time, record.point, *record.values))

    def _of_cpu(self, cpu: int) -> Iterator[ring.Record]:
        file = self._files[cpu]
        file.seek(0)
        while data := file.read(PLACE.size * 4096):
            for when, point, *values in PLACE.iter_unpack(data):
                yield ring.Record(when, cpu, point, (values[0], values[1], values[2]))

    def records(self) -> Iterator[ring.Record]:
        """In the order of time, after stop()."""
        return heapq.merge(*(self._of_cpu(cpu) for cpu in range(len(self._files))), key=_order)

    def close(self) -> None:
        super().close()
        for file in self._files:
            file.close()


class Last(_Reader):
    """The last `count` records, and of all others those of the points `kept`.  Before such a record stands the
    latest of its CPU that is of the points `context`."""

    def __init__(self, cpus: int, rings: ring.Rings, count: int, kept: Container[int],
                 context: Container[int] = ()) -> None:
        self._count = count
        self._points, self._context = kept, context
        self._before: list[ring.Record | None] = [None] * cpus
        self._earlier: list[ring.Record] = []
        self._last: list[deque[ring.Record]] = [deque() for _ in range(cpus)]
        self._dropped = [0] * cpus
        super().__init__(rings)

    def _drop(self, record: ring.Record) -> None:
        before = self._before[record.cpu]
        if record.point in self._context:
            self._dropped[record.cpu] += before is not None
            self._before[record.cpu] = record
        elif record.point in self._points:
            if before is not None:
                self._earlier.append(before)
                self._before[record.cpu] = None
            self._earlier.append(record)
        else:
            self._dropped[record.cpu] += 1

    def _take(self, record: ring.Record) -> None:
        last = self._last[record.cpu]
        last.append(record)
        if len(last) > self._count:
            self._drop(last.popleft())

    def records(self) -> Iterator[ring.Record]:
        """In the order of time, after stop()."""
        merged = sorted((record for last in self._last for record in last), key=_order)
        for record in merged[:-self._count]:
            self._drop(record)
        for cpu, before in enumerate(self._before):
            if before is not None:  # what this CPU runs as its first record of the last begins
                self._earlier.append(before)
                self._before[cpu] = None
        yield from sorted(self._earlier, key=_order)
        yield from merged[-self._count:]

    @property
    def lost(self) -> list[int]:
        return [lost + dropped for lost, dropped in zip(super().lost, self._dropped)]


def _order(record: ring.Record) -> tuple[int, int]:
    return record.time, record.cpu
