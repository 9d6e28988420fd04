"""A guest that is watched: its trace becomes a recording of weft monitor while it runs.

The trace has every event, or what the program's own LWP of the monitor sees every few milliseconds (a sample).
"""

import contextlib
import shlex
import sys
import threading
import time
from collections.abc import Collection
from pathlib import Path

from weft_monitor import story
from weft_monitor.changes import Writer
from weft_monitor.live import InOrder
from weft_monitor.server import Growing
from weft_trace import ring
from weft_trace.cost import cost, stack
from weft_trace.disassembly import instructions
from weft_trace.model import Model
from weft_trace.points import image_of
from weft_trace.sampling import EVENTS, Sampled

from . import glance, traced
from .counts import counted
from .guest import Guest, Result, Sink
from .machine import HostError, Machine
from .runcmd import seeded_words_of

SAY = 0.1  # seconds from one word on the time and the cost to the next
EVERY = 0.01  # seconds from one look at the rings to the next: ThreadMon's
COST_EVERY = 64  # records from one point of their cost to the next
MIPS = 1000  # of a CPU, where none is chosen
FEW = 5  # samples that tell nothing
QUANTUM = 1000  # instructions of a round, where no other is chosen


class Watched:
    """run() runs the guest, and fills the recording; nothing else may be done with it twice."""

    def __init__(self, machine: Machine, work: Path, recording: Growing, title: str,
                 records: int | None = None, sample: int | None = None, stacks: bool = False) -> None:
        """work: a directory for this guest's files.  records: of a CPU's ring, a power of two.  sample:
        milliseconds from one sample to the next; None: all events.  stacks: those of threads and LWPs that leave,
        also in fast timing."""
        self.machine = machine
        self._work = work
        self._recording = recording
        self._title = title
        self._stopped = threading.Event()
        self._trouble: BaseException | None = None
        self._records = records or traced.ring_size(machine)
        self._sample = sample
        self._stacks = stacks or machine.timing == "exact"
        self.guest: Guest | None = None  # while it runs
        self._to_end = False  # stop() has been called
        self._beginning = threading.Lock()  # of the two above
        self._glancing = threading.Lock()
        self._ended = False
        self._say_at = 0.0
        self._recorded = self._spent = 0  # the command: its records, and the instructions for them

    def backtrace(self, number: int) -> str:
        """Of the thread with this number in the recording.  The guest stands still meanwhile.  Raises HostError."""
        with self._glancing:
            if self.guest is None:
                raise HostError("the guest has ended")
            thread = self._story.threads[number] if number < len(self._story.threads) else None
            if thread is None or thread.process is None:
                raise HostError("there is no such thread")
            return glance.backtrace(self._work, self.machine, thread.process.pid, thread.id)

    def _prepare(self) -> None:
        machine = self.machine
        self._model: Model = Model()
        if self._sample is None:
            events: Collection[str] = story.events_of(traced.names(machine, traced.sources(machine)))
            self._naming, self._rings = traced.prepare(machine, self._work, self._records, events,
                                                       stacks=self._stacks)
        else:
            self._model = Sampled()
            machine.options = ",".join([*filter(None, [machine.options]), f"sample={self._sample}"])
            self._naming, self._rings = traced.prepare(machine, self._work, self._records, EVENTS, needed=())
        self._order = InOrder(self._rings, self._margin())
        self._writer = Writer(self._recording)
        kernel = self.machine.build / "weft.elf"
        self._each = cost(image_of(kernel), instructions(kernel))
        again = shlex.join([*seeded_words_of(machine), "--", *machine.argv])
        self._writer.say(title=self._title, facts={"mips": self.machine.mips or MIPS, "again": again,
                                                    "repeats": self.machine.timing == "exact"})
        self._story = story.Story(self._model, self._writer, machine.smp)

    def run(self, sink: Sink, source: int | None) -> Result:
        """The arguments are Guest.relay()'s.  Whatever happens, the recording has what came until then, and is
        closed."""
        with contextlib.closing(self._recording):
            self._prepare()
            with contextlib.closing(self._rings):
                thread = threading.Thread(target=self._follow)
                result = None
                try:
                    with Guest(self.machine, work=self._work) as guest:
                        with self._beginning:
                            self.guest = guest
                            if self._to_end:
                                guest.qemu.kill()
                        thread.start()
                        result = guest.relay(sink, source)
                finally:
                    self.guest = None
                    self._stopped.set()
                    if thread.is_alive():
                        thread.join()
                    if self._trouble is None:
                        self._finish(result)
                if self._trouble is not None:
                    raise self._trouble
            return result

    def stop(self) -> None:
        """Ends the guest, also one that begins later.  From another thread than run()'s."""
        with self._beginning:
            self._to_end = True
            if (guest := self.guest) is not None:
                guest.qemu.kill()

    def _follow(self) -> None:
        try:
            while not self._stopped.wait(EVERY):
                self._take(all=False)
        except BaseException as error:
            self._trouble = error
            self.stop()

    def _take(self, all: bool) -> None:
        for record in self._order.drain(all):
            named = self._naming.record(record)
            if named is None:
                continue
            self._model.feed(named)
            if named.name != "stack":
                self._spend(record)
            elif self.machine.timing != "exact":
                self._spent += stack(named.values["calls"].count(",") + 1)
        if self._story.begun and (all or time.monotonic() >= self._say_at):
            self._say_at = time.monotonic() + SAY
            self._writer.say(now=self._now(), facts={"cost": self.cost()})
        self._writer.flush()

    def _spend(self, record: ring.Record) -> None:
        """What the record has cost becomes part of the picture."""
        if not self._story.begun:
            return
        self._recorded += 1
        self._spent += self._each.program if self._naming.of_program(record) else self._each.kernel
        if self._recorded % COST_EVERY == 0:
            self._tell_cost(record.time)

    def _tell_cost(self, time: int) -> None:
        self._writer.define("costs", [self._story.time(time), self._instructions()])

    def _instructions(self) -> int:
        """Of the guest, for the monitor: its records, and its LWPs.  In fast timing the records are part of the
        time of the LWPs."""
        if not isinstance(self._model, Sampled):
            return self._spent
        lwps = self._model.spent * (self.machine.mips or MIPS) // 1000
        return lwps + self._spent if self.machine.timing == "exact" else lwps

    def _now(self) -> float:
        """Since the begin of the command."""
        return self._story.time(max(self._model.now, 0 if self._ended else self._order.now()))

    def _margin(self) -> int | None:
        """Of InOrder: two rounds, the longest that a seed makes."""
        if self.machine.timing != "exact":
            return None
        return 3 * (self.machine.quantum or QUANTUM) * max(1, 1000 // (self.machine.mips or MIPS))

    def _finish(self, result: Result | None) -> None:
        self._ended = True
        self._take(all=True)
        if self._story.begun:
            self._tell_cost(self._model.now)
        facts = {} if result is None else {"status": result.status, "error": result.error}
        self._writer.say(over=True, facts=facts)
        self._writer.flush()

    def cost(self) -> str:
        """What the trace takes of the guest, in words."""
        now = self._now()
        mips = self.machine.mips or MIPS
        share = 100 * self._instructions() / (now / 1000 * mips) if now > 0 else 0.0
        if isinstance(self._model, Sampled):
            return self._sampled_cost(self._model, share) + self._troubles()
        words = f"monitor: {counted(self._recorded, 'record')}, {counted(self._spent, 'instruction')}"
        if self.machine.timing == "exact":
            words += f", taken out of exact time (would be {share:.2g} % of a CPU)"
        else:
            words += f", {share:.2g} % of a CPU with {mips} million instructions a second"
        return words + self._troubles()

    def _sampled_cost(self, model: Sampled, share: float) -> str:
        ms = model.spent / 1e6
        words = f"monitor: every {self._sample} ms a sample, {counted(model.count, 'sample')}"
        words += f"; its LWP took {ms:.3f} ms"
        if self.machine.timing == "exact":
            words += f", its records {counted(self._spent, 'instruction')} that exact time leaves out"
        words += f": {share:.2g} % of a CPU"
        if self._ended and model.count < FEW:
            words += f"; TOO FEW: the program took {self._now() / 1e6:.3g} ms"
        if model.torn:
            words += f"; {model.torn} torn: an LWP moved meanwhile"
        return words

    def _troubles(self) -> str:
        words, lost = "", sum(self._rings.lost)
        if lost:
            words += f"; {counted(lost, 'record')} LOST: states may be wrong"
        if self._order.late:
            words += f"; {self._order.late} late"
        return words


def output(title: str | None) -> Sink:
    """Where a guest's output goes: standard output; with a title, whole lines that begin with it."""
    rest = bytearray()

    def write(text: bytes) -> None:
        if title is None:
            data = text
        else:
            rest.extend(text)
            lines, newline, left = bytes(rest).rpartition(b"\n")
            rest[:] = left
            data = b"".join(f"{title}: ".encode() + line + b"\n" for line in (lines + newline).splitlines())
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

    return write
