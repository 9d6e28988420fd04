"""A run of a command that is traced: weft trace, weft stats.

The records leave the guest's memory while it runs, so that a ring need not hold all of them.
"""

import contextlib
import heapq
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from weft_trace import events, ring
from weft_trace.events import Record
from weft_trace.naming import Naming
from weft_trace.patch import patched

from . import build, mark
from .guest import Guest, Result
from .machine import RINGS, Machine, UsageError
from .runcmd import add_machine_options, machine_from, print_bytes, tell_error
from .workdir import WorkDirectory

SPOOL = struct.Struct("<QI3Q")
EVERY = 0.02  # seconds from one look at the rings to the next
RECORDS = 1 << 18  # of a CPU, if there is room


def add_options(parser):
    """Those of `weft run`, and what is recorded."""
    add_machine_options(parser)
    parser.add_argument("--events", metavar="A,B,...", help="records only these events; all by default")
    parser.add_argument("--records", type=int, metavar="N",
                        help=f"how many records a CPU's ring holds, a power of two; {RECORDS} by default")


class Spool:
    """A thread that takes the records out of the rings while the guest runs, into one file a CPU."""

    def __init__(self, work: Path, cpus: int, rings: ring.Rings) -> None:
        self._rings = rings
        self._files = [open(work / f"records.{cpu}", "w+b") for cpu in range(cpus)]
        self._stopped = threading.Event()
        self._trouble: BaseException | None = None
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _drain(self) -> None:
        for record in self._rings.drain():
            self._files[record.cpu].write(SPOOL.pack(record.time, record.point, *record.values))

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
        return self._rings.lost

    def _of_cpu(self, cpu: int) -> Iterator[ring.Record]:
        file = self._files[cpu]
        file.seek(0)
        while data := file.read(SPOOL.size * 4096):
            for when, point, *values in SPOOL.iter_unpack(data):
                yield ring.Record(when, cpu, point, (values[0], values[1], values[2]))

    def records(self) -> Iterator[ring.Record]:
        """In the order of time, after stop()."""
        return heapq.merge(*(self._of_cpu(cpu) for cpu in range(len(self._files))),
                           key=lambda record: (record.time, record.cpu))

    def close(self) -> None:
        self._rings.close()
        for file in self._files:
            file.close()


def prepare(machine: Machine, work: Path, records: int, wanted: str | None) -> tuple[Naming, ring.Rings]:
    """Makes a machine one that records; `wanted`: the events, with commas, or None for all.  Raises UsageError."""
    machine.kernel = work / "weft.elf"
    image = patched(machine.build / "weft.elf", machine.kernel, wanted and wanted.split(","))
    size = ring.size(records) * machine.smp
    machine.rings = records, size
    with open(work / RINGS, "wb") as rings:
        rings.truncate(-(-size >> 21) << 21)
    return Naming(image), ring.Rings(work / RINGS, machine.smp, records)


def _named(spool: Spool, naming: Naming) -> Iterator[Record]:
    last = 0
    for record in spool.records():
        last = record.time
        yield naming.record(record)
    for cpu, count in enumerate(spool.lost):
        if count:
            yield events.lost(last, cpu, count)


def run(args, take: Callable[[Iterator[Record]], None]) -> Result:
    """Runs the command of args as `weft run` does, and gives its records to take() when it has ended, also if
    the guest failed."""
    machine = machine_from(args)
    if not machine.argv:
        raise UsageError("a trace needs a command, after --")
    records = args.records or min(RECORDS, ring.most(machine.smp))
    if records & (records - 1) or not 0 < records <= ring.most(machine.smp):
        raise UsageError(f"--records: a power of two up to {ring.most(machine.smp)}, not {records}")
    if not args.no_build:
        build.make(debug=machine.debug)
    mark.warn(machine)
    if machine.timing == "exact" and sys.stdin and not sys.stdin.isatty():
        machine.stdin = sys.stdin.buffer.read()
    with WorkDirectory() as directory:
        work = Path(directory)
        naming, rings = prepare(machine, work, records, args.events)
        with contextlib.closing(Spool(work, machine.smp, rings)) as spool:
            try:
                with Guest(machine, work=work) as guest:
                    source = sys.stdin.fileno() if sys.stdin and machine.timing == "fast" else None
                    result = guest.relay(print_bytes, source)
            finally:
                spool.stop()
            take(_named(spool, naming))
    tell_error(result)
    return result
