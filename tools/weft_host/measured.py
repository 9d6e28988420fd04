"""A run of an experiment that is traced: what its records say of threads, and what they would cost in fast timing.

In exact timing it prints the bytes of the same run without a trace.
"""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from weft_monitor import story
from weft_trace.cost import cost
from weft_trace.disassembly import instructions
from weft_trace.model import Model, Watcher
from weft_trace.naming import Naming
from weft_trace.objects import Process
from weft_trace.points import image_of
from weft_trace.workers import COUNTS, Times, Workers

from . import traced
from .formula import Formula
from .guest import Guest, Result
from .guest import run as run_guest
from .machine import HostError, Machine
from .spool import Spool
from .workdir import WorkDirectory

SHARES = tuple(f"{state}_share" for state in COUNTS)


@dataclass(frozen=True)
class _Slept:
    """The monitor's LWP goes to sleep.  instructions: that all records of its samples would have cost."""

    time: int
    cpu_ns: int
    instructions: int


@dataclass
class Measured:
    records: int = 0
    instructions: int = 0  # that they would cost
    time: int = 0  # from the beginning of the command to its end
    samples: list["_Slept"] = field(default_factory=list)  # of the command, run with the option sample=MS
    workers: dict[str, Times] = field(default_factory=dict)  # by program: of its first process that makes threads

    def figures(self, program: str) -> dict[str, int | float]:
        """As docs/experiments.md says; those of threads only where the program has made some."""
        times = self.workers.get(program)
        shares: dict[str, int | float] = {}
        if times is not None:
            whole = sum(times.states().values())
            shares = {name: _percent(time, whole) for name, time in zip(SHARES, times.states().values())}
            shares["worker_lwps"] = len(times.lwps)
        figures = {"records": self.records, "record_ns": self.time, "record_instructions": self.instructions}
        return shares | figures | self._sampled()

    def _sampled(self) -> dict[str, int | float]:
        """From the first sample to the last."""
        if len(self.samples) < 2:
            return {}
        first, last = self.samples[0], self.samples[-1]
        return {"samples": len(self.samples) - 1, "sample_ns": last.time - first.time,
                "sample_cpu_ns": last.cpu_ns - first.cpu_ns,
                "sample_instructions": last.instructions - first.instructions}

    def condition(self, program: str, name: str, formula: Formula) -> dict[str, int | float]:
        """NAME: the percentage of the time in which a condition on COUNTS holds.  NAME_times: how often it begins
        to hold.  Raises UsageError."""
        times = self.workers.get(program, Times())
        mixes = {*times.mixes, *(mix for change in times.changes for mix in change)}
        holds = {mix: bool(formula(dict(zip(COUNTS, mix)))) for mix in mixes}
        return {name: _percent(sum(time for mix, time in times.mixes.items() if holds[mix]), times.time),
                f"{name}_times": sum(often for (before, after), often in times.changes.items()
                                     if holds[after] and not holds[before])}


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 4) if whole else 0.0


def _programs(machine: Machine) -> dict[str, Path]:
    """Of the guest's programs those that the words of the command name: to patch all takes a second."""
    words = {word.rpartition("/")[2] for argument in machine.argv for word in argument.replace(";", " ").split()}
    return {name: path for name, path in traced.sources(machine).items() if name.rpartition("/")[2] in words}


class _Span(Watcher):
    """Whether the command lives, and how long it did."""

    def __init__(self, model: Model) -> None:
        self.lives = False
        self.time = 0
        model.watch(self)

    def process(self, time: int, process: Process) -> None:
        if process.pid == story.COMMAND:
            self.lives, self.time = process.gone is None, time - process.begun


def _evaluated(spool: Spool, naming: Naming, kernel: Path) -> Measured:
    model = Model()
    workers, span = Workers(model), _Span(model)
    each = cost(image_of(kernel), instructions(kernel))
    found, sampled = Measured(), 0
    for record in spool.records():
        named = naming.record(record)
        if named is None:
            continue
        model.feed(named)
        if not span.lives:
            continue
        price = each.program if naming.of_program(record) else each.kernel
        found.records += 1
        found.instructions += price
        if named.name.startswith("sample_"):
            sampled += price
        if named.name == "sample_self" and named.values["lwp"].startswith(f"{story.COMMAND}/"):
            found.samples.append(_Slept(record.time, int(named.values["ns"]), sampled))
    model.end()
    found.time = span.time
    for process, times in workers.times().items():
        found.workers.setdefault(process.name, times)
    return found


def measure(machine: Machine, started: Callable[[Guest], None] | None) -> tuple[Result, Measured]:
    """Runs the machine to its end, as guest.run() does.  Raises HostError: records are lost."""
    found = _programs(machine)
    events = story.events_of(traced.names(machine, found))
    with WorkDirectory() as directory:
        work = Path(directory)
        naming, rings = traced.prepare(machine, work, traced.ring_size(machine), events, found)
        with contextlib.closing(Spool(work, machine.smp, rings)) as spool:
            try:
                result = run_guest(machine, started=started, work=work)
            finally:
                spool.stop()
            measured = _evaluated(spool, naming, machine.build / "weft.elf")
    if lost := sum(spool.lost):
        raise HostError(f"{lost} records of the trace are lost")
    return result, measured
