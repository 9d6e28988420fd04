"""A run of a command that is traced: weft trace, weft stats.

Their records leave the guest's memory while it runs, so that a ring need not hold all of them.
"""

import contextlib
import sys
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
from .spool import Last, Spool
from .workdir import WorkDirectory

RECORDS = 1 << 18  # of a CPU, if there is room


def add_options(parser):
    """Those of `weft run`, and what is recorded."""
    add_machine_options(parser)
    parser.add_argument("--events", metavar="A,B,...", help="records only these events; all by default")
    parser.add_argument("--records", type=int, metavar="N",
                        help=f"how many records a CPU's ring holds, a power of two; {RECORDS} by default")


def prepare(machine: Machine, work: Path, records: int, wanted: str | None) -> tuple[Naming, ring.Rings]:
    """Makes a machine one that records; `wanted`: the events, with commas, or None for all.  Raises UsageError."""
    machine.kernel = work / "weft.elf"
    image = patched(machine.build / "weft.elf", machine.kernel, wanted and wanted.split(","))
    size = ring.size(records) * machine.smp
    machine.rings = records, size
    with open(work / RINGS, "wb") as rings:
        rings.truncate(-(-size >> 21) << 21)
    return Naming(image), ring.Rings(work / RINGS, machine.smp, records)


def named(spool: Spool | Last, naming: Naming) -> Iterator[Record]:
    """The records of a run that has ended, and then what is lost."""
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
            take(named(spool, naming))
    tell_error(result)
    return result
