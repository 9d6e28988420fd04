"""A guest that stands still at its end: what its memory tells.

The kernel has made its report, and QEMU is still there (kernel/cpu/exit.c), or the kernel hangs.  QEMU stops
the machine, and opens a gdbstub, which gives memory and registers.  The stub is opened only now, so a run that
ends well has none.
"""

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from weft_debug import crash
from weft_debug.crash import CrashError, Ended
from weft_debug.guest import Guest
from weft_debug.layout import LayoutError
from weft_debug.memory import DEVICES, MemoryFault
from weft_debug.picture import picture
from weft_debug.programs import Programs
from weft_debug.stub import StubMachine

from .machine import QMP_SOCKET, SOCKET_NAME, HostError, Machine
from .monitor import Monitor
from .packets import Closed, Packets, connect

STUB_SOCKET = "stub"
SECONDS = 20.0  # in which QEMU must answer a question
MOST_LINES = 60  # of each table of a process
PIECE = 64 * crash.CHUNK  # bytes that QEMU writes at once
LOW_MEMORY = 0xC0000000  # bytes below 4 GiB in a machine pc that has more than DEVICES leave


class Standing:
    """Use it by `with`; all raise HostError."""

    def __init__(self, work: Path, machine: Machine, report: str = "") -> None:
        """report: the kernel's, which may tell the time."""
        self._work = work
        self._machine = machine
        told = re.search(r"^weft: (?:time limit|standstill) at (\d+) ns", report, re.MULTILINE)
        self._time = int(told[1]) if told else None

    @staticmethod
    def is_possible(work: Path) -> bool:
        return len(os.fsencode(f"{work}/{STUB_SOCKET}")) < SOCKET_NAME and (work / QMP_SOCKET).exists()

    def __enter__(self) -> "Standing":
        with explained(), contextlib.ExitStack() as opened:
            self._monitor = opened.enter_context(contextlib.closing(Monitor(self._work / QMP_SOCKET, SECONDS)))
            self._monitor.ask("stop")
            self._stub = opened.enter_context(contextlib.closing(self._open_stub()))
            self._live = StubMachine(self._ask)
            self.guest = Guest(self._live, self._machine.build / "weft.elf", Programs.of_build(
                self._machine.build, {guest: path for path, guest in self._machine.guest_files()}))
            self.guest.time = self._time
            self._opened = opened.pop_all()
        return self

    def __exit__(self, *exc: object) -> None:
        self._opened.close()

    def _open_stub(self) -> Packets:
        path = self._work / STUB_SOCKET
        if self._machine.debugger is not None:  # QEMU makes no second one beside that of --gdb-port
            self._monitor.ask("human-monitor-command", **{"command-line": "gdbserver none"})
        path.unlink(missing_ok=True)
        device = f"unix:{str(path).replace(',', ',,')},server=on,wait=off"
        quoted = device.replace("\\", "\\\\").replace('"', '\\"')
        said = self._monitor.ask("human-monitor-command", **{"command-line": f'gdbserver "{quoted}"'})
        if not path.exists():
            raise HostError(f"QEMU opens no gdbstub: {said.strip()}")
        return Packets(connect(path), acknowledges=False)

    def _ask(self, packet: bytes) -> bytes:
        self._stub.send(packet)
        answer = self._stub.receive(SECONDS)
        if answer is None:
            raise HostError("QEMU's gdbstub does not answer")
        return answer

    def picture(self) -> str:
        with explained():
            return picture(self.guest, most=MOST_LINES)

    def resets(self) -> bool:
        """Has the kernel reset the machine?  Else it was the processor, after a fault in a double fault."""
        with explained():
            return any(self.guest.symbols.function(cpu.registers["rip"]).startswith("machine_reset+")
                       for cpu in self.guest.cpus)

    def keep(self, path: Path, ended: Ended, said: str) -> None:
        """path: of crash_path(), and removed if this fails.  said: the picture."""
        try:
            with explained():
                crash.write(path, self.guest, self._live.description.texts, self._memory(), ended, said)
        except BaseException:
            path.unlink(missing_ok=True)
            raise

    def _ranges(self) -> list[tuple[int, int]]:
        size = self._monitor.ask("query-memory-size-summary")["base-memory"]
        if size <= DEVICES.start:
            return [(0, size)]
        return [(0, LOW_MEMORY), (DEVICES.stop, size - LOW_MEMORY)]

    def _memory(self) -> Iterator[tuple[int, bytes]]:
        path = self._work / "memory"
        try:
            for address, size in crash.pieces(self._ranges(), PIECE):
                self._monitor.save_physical(address, size, path)
                yield address, path.read_bytes()
        finally:
            path.unlink(missing_ok=True)


@contextlib.contextmanager
def explained() -> Iterator[None]:
    """What goes wrong while memory is read, as HostError."""
    try:
        yield
    except (OSError, ValueError, Closed, LayoutError, MemoryFault, CrashError) as error:
        raise HostError(str(error) or type(error).__name__) from error


def crash_path(folder: Path, stem: str) -> Path:
    """STEM.crash, or STEM-2.crash and so on: a name that is free.  It is taken at once, by an empty file.
    Raises HostError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for number in range(1, 100_000):
            path = folder / (f"{stem}.crash" if number == 1 else f"{stem}-{number}.crash")
            with contextlib.suppress(FileExistsError):
                path.touch(exist_ok=False)
                return path
    except OSError as error:
        raise HostError(f"--keep: {error.filename}: {error.strerror}") from error
    raise HostError(f"--keep: {folder} is full of crash files")
