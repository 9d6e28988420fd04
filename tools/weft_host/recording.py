"""Runs of exact timing that are recorded, and a replay that goes to any instruction of one.

    with WorkDirectory() as work:
        recorded = record(machine, Path(work), print_bytes)
        with Replay(recorded) as replay:
            replay.seek(replay.end)

QEMU records what comes to the guest from outside, with the number of instructions before it
(-icount rr=record; docs/system/replay.rst of QEMU).  A replay executes the same instructions again.  It goes
back by a snapshot before the place, and forward from there.  The first pass of a replay takes these
snapshots, so that a snapshot is never far.

A place is a number of executed instructions (QEMU's icount): the machine as it stands before the next
instruction.  All running is done by packets to QEMU's GDB stub.  Its monitor only sets the place where the
machine stops, and saves and loads snapshots while the machine stands.
"""

import contextlib
import os
import struct
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar
from xml.etree import ElementTree

from weft_debug import symbols

from .cores import Place
from .guest import STATUS_HOST, Guest, Result, Sink, die_with_parent
from .machine import FIRST_SNAPSHOT, QMP_SOCKET, SNAPSHOTS, SOCKET_NAME, HostError, Machine
from .monitor import Monitor
from .packets import Closed, Packets, connect, read_annex

GDB_SOCKET = "stub"
REGISTERS = "i386-64bit.xml"  # how the stub calls the description of its registers
# In these functions the machine ends (kernel/cpu/exit.c).
LAST_FUNCTIONS = ("machine_exit", "machine_reset")

CONNECT_SECONDS = 30.0
# QEMU has to answer a question in so many seconds, and to run to a place in so many, plus ten times what the
# whole recording took.
ANSWER_SECONDS = 60.0
PATIENCE = 10

# Snapshots are so far apart that the host runs from one to the next in this time; with more than so many,
# every second one is given up.
LEG_SECONDS = 0.25
FIRST_LEG = 5_000_000  # instructions
MOST_SNAPSHOTS = 32

CLUSTER_BITS = 16


def write_empty_image(path: Path) -> None:
    """A qcow2 image without any data, for snapshots (docs/interop/qcow2.txt of QEMU): the header, the table
    of blocks of reference counts, one such block with the counts of these four clusters, and the table of
    the disk's clusters."""
    cluster = 1 << CLUSTER_BITS
    header = struct.pack(">4sIQIIQIIQQIIQQQQII", b"QFI\xfb", 3, 0, 0, CLUSTER_BITS, 1 << 20, 0, 1, 3 * cluster,
                         cluster, 1, 0, 0, 0, 0, 0, 4, 104)
    image = bytearray(4 * cluster)
    image[:len(header)] = header
    struct.pack_into(">Q", image, cluster, 2 * cluster)
    struct.pack_into(">4H", image, 2 * cluster, 1, 1, 1, 1)
    path.write_bytes(image)


@dataclass
class Recorded:
    """A run in its directory `work`, and how it ended.  length: instructions, if that is known."""

    machine: Machine
    work: Path
    result: Result
    length: int | None


def record(machine: Machine, work: Path, sink: Sink) -> Recorded:
    """Runs a machine to its end, or up to its time limit; sink takes its output.  Blocks.  Raises HostError
    if that could not be recorded."""
    if len(os.fsencode(work / GDB_SOCKET)) >= SOCKET_NAME:
        raise HostError(f"{work}: too long a name for a socket; the environment variable TMPDIR names "
                        "another directory")
    write_empty_image(work / SNAPSHOTS)
    with Guest(replace(machine, recording="record"), work=work) as guest:
        result = guest.relay(sink)
        length = guest.recorded
    if result.status == STATUS_HOST and result.error:
        raise HostError(result.error)
    return Recorded(machine, work, result, length)


def addresses(elf: Path, names: tuple[str, ...]) -> list[int]:
    """Of the functions and variables with these names, in the order of the names.  Raises OSError, ELFError."""
    found: dict[str, list[int]] = {name: [] for name in names}
    for _, (address, _, name) in symbols.read(elf):
        if name in found:
            found[name].append(address)
    return [address for name in names for address in found[name]]


Connection = TypeVar("Connection")


def _connected(qemu: "subprocess.Popen[bytes]", path: Path, connect: Callable[[Path], Connection]) -> Connection:
    """What connect() returns as soon as QEMU listens on this socket.  Blocks.  Raises HostError."""
    deadline = time.monotonic() + CONNECT_SECONDS
    while True:
        try:
            return connect(path)
        except (FileNotFoundError, ConnectionRefusedError) as error:
            if qemu.poll() is not None:
                raise HostError(f"QEMU ended with status {qemu.returncode}") from error
            if time.monotonic() > deadline:
                raise HostError(f"QEMU does not open its socket {path.name}") from error
            time.sleep(0.02)
        except OSError as error:
            raise HostError(f"QEMU does not answer: {error}") from error


@dataclass(frozen=True)
class Point:
    """A breakpoint or watchpoint, in the numbers of the packets Z and z: 0 software, 1 hardware breakpoint,
    2 write, 3 read, 4 access watchpoint."""

    kind: int
    address: int
    length: int

    @property
    def watches(self) -> bool:
        return self.kind >= 2

    def packet(self, letter: str) -> bytes:
        return f"{letter}{self.kind},{self.address:x},{self.length:x}".encode()


Points = frozenset[Point]
NONE: Points = frozenset()

# Stops, as the stub tells them.
AT, REACHED = b"T05thread:p01.01;", b"T02thread:p01.01;"
MOST_DELIVERIES = 16  # faults and interrupts before one instruction


class Interrupted(Exception):
    """The user has asked to stop."""


class Replay:
    """QEMU, replaying a recording, stopped between any two calls.  All methods block, and raise HostError
    if QEMU fails or hangs.

    end: the last place.  For a run that ended by itself this is the entry of the function that ends the
    machine, so that what follows never happens.
    impatient: asked before and while the machine runs; True stops it, and raises Interrupted.  It raises
    nothing itself.
    """

    def __init__(self, recorded: Recorded, at_start: bool = False) -> None:
        """at_start: begins there, and not at the end."""
        self._recorded = recorded
        self._at_start = at_start
        self.impatient: Callable[[], bool] = lambda: False
        self.end = 0
        self._snapshots = {0: FIRST_SNAPSHOT}  # place: name
        self._made = 0
        self._points = NONE  # those that the stub has now
        self._exact = False  # stands before an interrupt that is due here
        self._limit = ANSWER_SECONDS + PATIENCE * recorded.result.seconds

    # --- QEMU itself -----------------------------------------------------------------------

    def __enter__(self) -> "Replay":
        try:
            self._start()
            if self._explore():
                self._stop()
                self._start()
            self.seek(0 if self._at_start else self.end)
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        self._stop()

    def _start(self) -> None:
        work = self._recorded.work
        for socket in (GDB_SOCKET, QMP_SOCKET):
            (work / socket).unlink(missing_ok=True)
        machine = replace(self._recorded.machine, recording="replay", timeout=None)
        # After a reset QEMU waits, so that its monitor still tells the place.
        command = [*machine.qemu(work, False, "null"), "-S", "-no-shutdown",
                   "-gdb", f"unix:{work}/{GDB_SOCKET},server=on,wait=off"]
        self._errors = open(work / "stderr", "w+")
        self._core = Place()
        self._qemu = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                      stderr=self._errors, start_new_session=True, preexec_fn=self._in_child)
        try:
            self._monitor = _connected(self._qemu, work / QMP_SOCKET, lambda path: Monitor(path, ANSWER_SECONDS))
            self._stub = Packets(_connected(self._qemu, work / GDB_SOCKET, connect), acknowledges=False)
        except HostError as error:
            raise error if self._qemu.poll() is None else HostError(self._said()) from error
        self._points = NONE
        self._number_of = self._registers()

    def _in_child(self) -> None:
        die_with_parent()
        self._core.settle()

    def _stop(self) -> None:
        for what in ("_monitor", "_stub"):
            if hasattr(self, what):
                with contextlib.suppress(OSError):
                    getattr(self, what).close()
        if hasattr(self, "_qemu"):
            self._qemu.kill()
            self._qemu.wait()
            self._core.leave()
            self._errors.close()

    def _said(self) -> str:
        """What QEMU has to say as it ends."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._qemu.wait(1)
        self._errors.seek(0)
        said = self._errors.read().strip()
        return f"QEMU ended with status {self._qemu.poll()}" + (f": {said}" if said else "")

    def _order(self, command: str, **arguments: object) -> Any:
        try:
            return self._monitor.ask(command, **arguments)
        except TimeoutError as error:
            raise HostError(f"QEMU hangs: no answer to {command}") from error
        except (OSError, ValueError) as error:
            raise HostError(self._said()) from error

    def monitor(self, words: str) -> str:
        """What QEMU's own monitor says to a command."""
        said: str = self._order("human-monitor-command", **{"command-line": words})
        return said

    # --- the stub ----------------------------------------------------------------------------

    def ask(self, packet: bytes) -> bytes:
        """The answer to a packet that does not run the machine."""
        try:
            self._stub.send(packet)
            answer = self._stub.receive(ANSWER_SECONDS)
        except Closed as error:
            raise HostError(self._said()) from error
        if answer is None:
            raise HostError(f"QEMU hangs: no answer to the packet {packet[:20]!r}")
        if packet == b"?":  # the stub forgets what a debugger before has left
            self._points = NONE
        return answer

    def _registers(self) -> dict[str, int]:
        """The numbers of the registers.  The stub gives values only after it has been asked for the
        description of its target."""
        read_annex(self.ask, "target.xml")
        numbers, next_number = {}, 0
        for register in ElementTree.fromstring(read_annex(self.ask, REGISTERS)).iter("reg"):
            number = int(register.get("regnum", next_number))
            numbers[register.get("name", "")] = number
            next_number = number + 1
        return numbers

    def register(self, name: str) -> int:
        return int.from_bytes(bytes.fromhex(self.ask(b"p%x" % self._number_of[name]).decode()), "little")

    def try_point(self, point: Point) -> bytes:
        """What QEMU says to a point: OK, or what is wrong with it."""
        if point in self._points:  # QEMU would have it twice
            return b"OK"
        answer = self.ask(point.packet("Z"))
        if answer == b"OK":
            self._points |= {point}
        return answer

    def _insert(self, points: Points) -> None:
        for point in self._points - points:
            self.ask(point.packet("z"))
        self._points &= points
        for point in points - self._points:
            if self.try_point(point) != b"OK":
                raise HostError(f"QEMU takes no point of {point.length} bytes at {point.address:#x}")

    @contextlib.contextmanager
    def patience(self) -> Iterator[None]:
        """While this lasts, nobody is asked."""
        asked, self.impatient = self.impatient, lambda: False
        try:
            yield
        finally:
            self.impatient = asked

    # --- places --------------------------------------------------------------------------------

    @property
    def place(self) -> int:
        count: int = self._order("query-replay")["icount"]
        return count

    def resume(self, points: Points, until: int, step: bool = False) -> bytes:
        """Goes forward: by one instruction, or up to a point or the place `until`, whichever comes first.
        The stub's answer: T05 at a point or after a step, T02 at `until`, else the machine has ended.
        Raises Interrupted."""
        if self.impatient():
            raise Interrupted
        self._insert(points)
        self._exact = False
        if step:
            return self._step(points)
        # *Race:* the machine has executed all instructions up to a place, and QEMU's main thread is to stop
        # it; the processor's thread delivers an interrupt that is due at this place.  *Without this:* the
        # machine stands now before the interrupt and now in its handler.  *Closed by:* the last instruction
        # is a step, which ends before the interrupt.
        while self.place < until - 1:
            answer = self._run_to(until - 1, points)
            if b"watch:" in answer or not answer.startswith((b"T02", b"T05")):
                return answer
            if self._at_breakpoint(points):
                return AT
            # Else T05 is the end of a step, or the echo of one that has hit a watchpoint before.
        while not self._at_breakpoint(points):
            if self.place >= until:
                return REACHED
            answer = self._step(points)
            if b"watch:" in answer:
                return answer
        return AT

    def _step(self, points: Points) -> bytes:
        """Executes an instruction.  QEMU takes an interrupt, or a fault, as a step of its own.  Here this is
        part of the next step, except where a breakpoint stands at the handler."""
        here = self.place
        for _ in range(MOST_DELIVERIES):
            answer, _ = self._run(b"s")
            if b"watch:" in answer:
                return answer
            if self.place > here:
                self._exact = True
                return AT
            if self._at_breakpoint(points):
                return AT
        raise HostError(f"QEMU executes nothing at instruction {here}")

    def _at_breakpoint(self, points: Points) -> bool:
        addresses = [point.address for point in points if not point.watches]
        return bool(addresses) and self.register("rip") in addresses

    def _run_to(self, place: int, points: Points) -> bytes:
        """Runs to a place, or to a point before.  The stub's answer.  Raises Interrupted."""
        self._order("replay-break", icount=place)
        answer, interrupted = self._run(b"c")
        self._order("replay-delete-break")
        # *Race:* the last instruction before `place` hits a watchpoint, and QEMU is to stop the machine for
        # it; the machine stops for `place`, or for the user.  *Without this:* the hit is told at a later
        # place, or, after a snapshot has been loaded, QEMU fails ("Raised interrupt while not in I/O
        # function").  *Closed by:* a step, after which nothing is left to be told; and that last instruction
        # is executed again, as a step.
        if answer.startswith(b"T02") and any(point.watches for point in points):
            self._run(b"s")
            if not interrupted:
                self.seek(place - 1)
                self._insert(points)
                answer = self._step(points)
        if interrupted:
            raise Interrupted
        return answer

    def _run(self, packet: bytes) -> tuple[bytes, bool]:
        """The stub's answer, and whether the user has stopped the machine."""
        deadline = time.monotonic() + self._limit
        stopping = False
        try:
            self._stub.send(packet)
            while (answer := self._stub.receive(0.1)) is None:
                if not stopping and self.impatient():
                    stopping = True
                    self._stub.interrupt()
                if time.monotonic() > deadline:
                    raise HostError(f"QEMU hangs: the machine runs for {self._limit:.0f} s already")
        except Closed as error:
            raise HostError(self._said()) from error
        return answer, stopping

    def snapshot_before(self, place: int) -> int:
        """The last place with a snapshot that is not after `place`."""
        return max(at for at in self._snapshots if at <= place)

    def seek(self, place: int, pc: int | None = None) -> None:
        """Goes to a place, from 0 to end.  The machine stands before an interrupt that is due there; if pc is
        given and not there, behind it, at this instruction.  Raises Interrupted, somewhere on the way."""
        here = self.place
        if here != place or not self._exact:
            nearest = self.snapshot_before(max(0, place - 1))
            if not nearest <= here < place:
                self._load(nearest)
            self.resume(NONE, place)
            self._exact = True
            here = self.place
        if pc is not None and self.register("rip") != pc:
            self._run(b"s")
            self._exact = False
        if here != place or self.place != place or pc not in (None, self.register("rip")):
            raise HostError(f"QEMU went to instruction {self.place} in place of {place}")

    def _load(self, place: int) -> None:
        said = self.monitor(f"loadvm {self._snapshots[place]}").strip()
        if said or self.place != place:
            raise HostError(f"QEMU does not load a snapshot: {said or 'it is at another place'}")

    # --- the first pass ---------------------------------------------------------------------------

    def _explore(self) -> bool:
        """Finds the end, and takes snapshots on the way.  True: the machine has ended, and QEMU must be
        started again.  What ends the machine is never repeated: the end is just before."""
        last = frozenset(Point(0, address, 1) for address in addresses(
            self._recorded.machine.build / "weft.elf", LAST_FUNCTIONS))
        length = self._recorded.length
        limit = None if length is None else max(0, length - 2)
        here, leg = 0, FIRST_LEG
        while here != limit:
            until = here + leg if limit is None else min(here + leg, limit)
            began = time.monotonic()
            answer = self.resume(last, until)
            seconds = time.monotonic() - began
            here = self.place
            if answer.startswith(b"T05"):
                self.end = here
                return False
            if here < until:
                self.end = max(0, here - 2)
                return True
            self._take_snapshot(here)
            leg = int(leg * min(4.0, max(0.25, LEG_SECONDS / max(seconds, 0.001))))
        self.end = here
        return False

    def _take_snapshot(self, here: int) -> None:
        self._made += 1
        name = f"s{self._made}"
        if self.monitor(f"savevm {name}").strip():
            return  # there is no room for it: some steps back take longer
        self._snapshots[here] = name
        if len(self._snapshots) > MOST_SNAPSHOTS:
            for place in sorted(self._snapshots)[1:-1:2]:
                self.monitor(f"delvm {self._snapshots.pop(place)}")
