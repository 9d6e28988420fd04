"""One machine under GDB: its stub, its guest, GDB's points in it, and what it does when it runs."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from elftools.elf.elffile import ELFFile
from weft_host.machine import HostError
from weft_host.monitor import Monitor
from weft_host.packets import Packets
from weft_host.recording import addresses

from .guest import Guest, Process, Registers
from .memory import KERNEL_HALF, MASK, MemoryFault
from .motion import Exit, Landmark, Meeting, Motion
from .numbering import Numbering
from .points import KERNEL_PID, Points
from .programs import Programs
from .qemu import ANSWER_SECONDS, Ended, LiveMachine, Stub
from .standstill import Standstill
from .view import View

# Functions of the kernel where the machine ends, or is about to: what GDB says there.
PANICS = ("panic", "panic_at")
STANDSTILLS = ("machine_exit",)  # with this value, after the kernel's report (kern/printk.h)
QEMU_EXIT_STANDSTILL = 18
ENDS = ("machine_halt", "machine_hold")
RESETS = ("machine_reset",)
MOST_TEXT = 200
SIGABRT = 6


@dataclass
class Served:
    """What the server shows.  connect: makes a connection to the stub, and stops the machine.  kernel: its file.
    main: that of the program that the guest runs first, if one is known.  kill: ends the machine.  counter: in
    exact timing, the socket of QEMU's monitor (QMP) that is the debugger's own."""

    connect: Callable[[], Packets]
    kernel: Path
    programs: Programs
    exact: bool = False
    main: Path | None = None
    kill: Callable[[], object] = lambda: None
    counter: Path | None = None


@dataclass
class Debugger:
    """say: prints a text for the user.  main_pid: of the program that the guest runs first, when it is known."""

    served: Served
    say: Callable[[str], None] = lambda text: None
    main_pid: int | None = None
    stub: Stub = field(init=False)
    _monitor: Monitor | None = None

    def __post_init__(self) -> None:
        served = self.served
        self.program = served.main
        self.stub = Stub(served.connect())
        self.machine = LiveMachine(self.stub)
        self.guest = Guest(self.machine, served.kernel, served.programs)
        self.view = View(self.guest, self.stub.processors())
        self.points = Points(self.stub)
        self.motion = Motion(self.stub, self.machine, self.view, self.points, served.exact, self._is_program,
                             lambda text: self.say(text),
                             Standstill(self.stub, self.machine, self.guest, self._counter()))
        self.motion.watch_for(self._landmarks())

    def leave(self) -> None:
        """Lets the machine go on without a debugger."""
        self.points.leave()
        if not self.stub.recorded:
            self.stub.ask(b"D;1")
        self.close()

    def close(self) -> None:
        self.stub.close()
        if self._monitor is not None:
            self._monitor.close()

    def _counter(self) -> Callable[[], int] | None:
        """Gives the number of instructions that QEMU has executed."""
        if self.served.counter is None:
            return None
        monitor = self._monitor = Monitor(self.served.counter, ANSWER_SECONDS)

        def count() -> int:
            try:
                return int(monitor.ask("query-replay")["icount"])
            except (OSError, ValueError, HostError) as error:
                raise Ended from error
        return count

    # --- programs ----------------------------------------------------------------------------------

    def runs(self, process: Process, path: Path) -> bool:
        """Does the process run the program of this file?"""
        program = process.program
        # The file with debugging information is another than that which was brought into the guest.
        return program is not None and (program.name == path.name or program.resolve() == path.resolve())

    def _is_program(self, space: int) -> bool:
        if self.program is None:
            return True
        return any(process.space is not None and process.space.cr3 == space and self.runs(process, self.program)
                   for process in self.guest.processes)

    def space_of(self, pid: int, address: int) -> int | None:
        """The address space in which an inferior has this address; None: in all."""
        if pid == KERNEL_PID:
            found = self.main_process() if address < KERNEL_HALF else None
        else:
            found = self.guest.process(pid)
        return found.space.cr3 if found is not None and found.space is not None else None

    def main_process(self) -> Process | None:
        """The youngest that runs the program whose symbols the kernel's inferior has."""
        program = self.program
        return None if program is None else \
            next((p for p in reversed(self.view.living()) if self.runs(p, program)), None)

    def join(self, numbering: Numbering) -> None:
        """The program, as soon as it runs, is joined to the kernel's inferior."""
        found = self.main_process()
        self.motion.joins = True
        self.view.shown = {KERNEL_PID}
        if found is not None:
            self.view.shown.add(found.pid)
            self.main_pid = numbering.program = found.pid

    # --- landmarks ----------------------------------------------------------------------------------

    def _landmarks(self) -> Iterator[Landmark]:
        for names, tells, signal in ((PANICS, self._panics, SIGABRT), (STANDSTILLS, self._stands, 0),
                                     (ENDS, self._ends, 0), (RESETS, self._resets, SIGABRT)):
            for address in addresses(self.served.kernel, names):
                yield Landmark(address, tells, signal)

    def _panics(self, registers: Registers) -> tuple[str, Exit | None]:
        # panic(format, ...) or panic_at(frame, format, ...)
        first = registers["rip"] in addresses(self.served.kernel, PANICS[1:])
        return f"weft: the kernel panics: {self._formatted(registers, first)}\n", None

    def _stands(self, registers: Registers) -> tuple[str, Exit | None] | None:
        return None if registers["rdi"] & 0xFFFFFFFF != QEMU_EXIT_STANDSTILL else \
            ("weft: standstill: every LWP sleeps, and no timer is set\n", None)

    def _resets(self, registers: Registers) -> tuple[str, Exit | None]:
        return "weft: the guest resets itself\n", None

    def _ends(self, registers: Registers) -> tuple[str, Exit | None]:
        status = registers["rdi"] & 0xFF
        pid = self.main_pid
        text = f"weft: the guest ends with status {status}\n"
        if pid is None or self.guest.process(pid) is not None:
            return text, None
        return text, self.motion.exit_of(pid, status)

    def _formatted(self, registers: Registers, skip: int) -> str:
        """The text of a call with a format; skip: arguments before it."""
        words = [registers[name] for name in ("rdi", "rsi", "rdx", "rcx", "r8", "r9")][skip:]
        try:
            return self._fill(self.guest.kernel.text(words[0], MOST_TEXT), words[1:])
        except MemoryFault:
            return "?"

    def _fill(self, text: str, arguments: list[int]) -> str:
        out = ""
        while "%" in text:
            before, _, text = text.partition("%")
            spec = text.lstrip("0123456789.-+ #lhz")
            letter, text = spec[:1], spec[1:]
            if letter == "%" or not arguments:
                out += f"{before}%"
                continue
            value = arguments.pop(0)
            match letter:
                case "s":
                    said = self.guest.kernel.text(value, MOST_TEXT)
                case "d" | "i":
                    said = str((value & 0xFFFFFFFF ^ 1 << 31) - (1 << 31))
                case "p":
                    said = f"{value:#x}"
                case "x":
                    said = f"{value & MASK:x}"
                case _:
                    said = str(value)
            out += before + said
        return (out + text).strip()

    # --- the program that the guest runs first ---------------------------------------------------------

    async def begin(self, stop: asyncio.Event) -> None:
        """Runs a machine that has not begun up to the first instruction of its program in user mode, or to
        where GDB would get it anyway.  Raises Ended."""
        main = self.served.main
        if main is None:
            return
        with open(main, "rb") as file:
            entry = ELFFile(file).header["e_entry"]

        def accepts(processor: int) -> bool:
            cpu = self.view.cpu_on(processor)
            lwp = cpu.lwp if cpu is not None and cpu.user else None
            if lwp is None or not self.runs(lwp.process, main):
                return False
            self.main_pid = lwp.process.pid
            return True

        await self.motion.meet(Meeting(entry, None, accepts), stop)
