"""A run of a command that is traced: weft trace, weft stats.

Their records leave the guest's memory while it runs, so that a ring need not hold all of them.
"""

import contextlib
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path

from weft_trace import events, programs, ring
from weft_trace.events import Record
from weft_trace.naming import Naming
from weft_trace.patch import patched
from weft_trace.points import image_of
from weft_trace.stacks import EVENTS

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


# Without these records the others have no names.
NEEDED = {"on_cpu", "lwp_new", "lwp_idle", "exec", "process_new", "thread_first", "thread_new"}


def sources(machine: Machine) -> dict[str, Path]:
    """The programs that the RAM disk has, with the files that have their lists of points: a program of the build
    may come without debugging information."""
    found = {f"bin/{path.name}": path for path in (machine.build / "bin").iterdir()}
    for path, guest in machine.guest_files():
        whole = machine.build / "bin" / path.name
        found[guest.lstrip("/")] = whole if whole.is_file() and programs.same(path, whole) else path
    return found


def names(machine: Machine, found: Mapping[str, Path]) -> set[str]:
    """All events that a trace of the machine with these programs can have."""
    kernel = {point.name for point in image_of(machine.build / "weft.elf").points}
    return kernel | programs.names(found.values())


def _chosen(machine: Machine, events: str | None) -> set[str] | None:
    """The events of --events; None: all.  Raises UsageError."""
    if events is None:
        return None
    chosen, known = set(events.split(",")), names(machine, sources(machine))
    if unknown := chosen - known:
        raise UsageError(f"there is no event {', '.join(sorted(unknown))}; there are {', '.join(sorted(known))}")
    return chosen


def ring_size(machine: Machine) -> int:
    """Records of a CPU's ring where no other number is asked for."""
    return min(RECORDS, ring.most(machine.smp))


def prepare(machine: Machine, work: Path, records: int,
            wanted: Collection[str] | None = None,
            found: Mapping[str, Path] | None = None,
            needed: Collection[str] = NEEDED, stacks: bool = False) -> tuple[Naming, ring.Rings]:
    """Makes a machine one that records.  wanted: the events, None: all; those of `needed` come with them.  found:
    the programs that record, of sources(), None: all.  stacks: the stack of each thread and LWP that leaves, too.
    Raises HostError."""
    with_stack = EVENTS if stacks else ()
    machine.kernel = work / "weft.elf"
    patching = None if wanted is None else {*needed, *wanted}
    image = patched(machine.build / "weft.elf", machine.kernel, patching, with_stack)
    size = ring.memory(records, machine.smp)
    machine.rings = records, size
    with open(work / RINGS, "wb") as rings:
        rings.truncate(-(-size >> 21) << 21)
    traced = programs.Programs(work / RINGS, image.symbols, machine.timing == "exact", patching, with_stack)

    def patch(disk: Path) -> None:
        traced.patch(disk, sources(machine) if found is None else found)
        for name in traced.without:
            print(f"weft: {name} is stripped: what its threads do is not recorded", file=sys.stderr)

    machine.disk_written = patch
    return Naming(image, traced.points, wanted), ring.Rings(work / RINGS, machine.smp, records)


def named(spool: Spool | Last, naming: Naming) -> Iterator[Record]:
    """The records of a run that has ended, and then what is lost."""
    last = 0
    for record in spool.records():
        last = record.time
        named = naming.record(record)
        if named is None:
            continue
        if naming.wanted is None or named.name in naming.wanted:
            yield named
    for cpu, count in enumerate(spool.lost):
        if count:
            yield events.lost(last, cpu, count)


def run(args, take: Callable[[Iterator[Record]], None]) -> Result:
    """Runs the command of args as `weft run` does, and gives its records to take() when it has ended, also if
    the guest failed."""
    machine = machine_from(args)
    if not machine.argv:
        raise UsageError("a trace needs a command, after --")
    records = args.records or ring_size(machine)
    if records & (records - 1) or not 0 < records <= ring.most(machine.smp):
        raise UsageError(f"--records: a power of two up to {ring.most(machine.smp)}, not {records}")
    if not args.no_build:
        build.make(debug=machine.debug)
    wanted = _chosen(machine, args.events)
    mark.warn(machine)
    if machine.timing == "exact" and sys.stdin and not sys.stdin.isatty():
        machine.stdin = sys.stdin.buffer.read()
    with WorkDirectory() as directory:
        work = Path(directory)
        naming, rings = prepare(machine, work, records, wanted)
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
