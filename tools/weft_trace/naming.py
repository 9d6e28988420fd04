"""From the records of the rings to those of events.py: kernel addresses become the names that records have
given before."""

import re
from collections.abc import Collection, Container, Mapping
from pathlib import Path

from weft_host.paths import TOP

from . import ring, stacks
from .events import Record
from .library import Library, Threads, chars, object_at
from .points import Image, Point
from .programs import Point as ProgramPoint

# enum in kernel/include/weft/msacct.h.
MSTATES = ("user", "system", "trap", "tfault", "dfault", "kfault", "lock", "sleep", "waitcpu", "stopped")
KOBJ = ("-", "mutex", "event", "semaphore")  # enum in kernel/include/weft/kobj.h
REASONS = ("none", "event", "timeout", "intr")
CALL = re.compile(r"^\s*X\((\d+), (\w+), \d+\)", re.MULTILINE)


def _calls() -> dict[int, str]:
    """The names of the system calls."""
    header = (TOP / "kernel/include/weft/syscall.h").read_text()
    return {int(number): name for number, name in CALL.findall(header)}


class _Process:
    """What is at an address from a process's first LWP to its end."""

    def __init__(self) -> None:
        self.pid: int | None = None
        self.gone = False
        self.threads = Threads()
        self.program: Path | None = None  # its file, from the first record of its library on


class _Points(Container[int]):
    def __init__(self, names: Collection[str], kernel: Mapping[int, Point], library: Library) -> None:
        self._names, self._kernel, self._library = names, kernel, library

    def __contains__(self, number: object) -> bool:
        point = self._kernel.get(number)  # type: ignore[call-overload]
        return point.name in self._names if point is not None else self._library.is_of(number, self._names)


class Naming:
    """Knows what the addresses in the records are, as far as earlier records say."""

    def __init__(self, image: Image, programs: Mapping[int, ProgramPoint],
                 wanted: Collection[str] | None = None) -> None:
        """programs: the points of programs, by what a record has; the mapping may still grow.  wanted: the
        events that are to be shown, None: all."""
        self.wanted = wanted
        self._image = image
        self._library = Library(programs)
        self._on: dict[int, int] = {}  # CPU: the LWP that runs there
        self._points = {point.address & 0xffffffff: point for point in image.points}
        self._calls = _calls()
        self._functions = {value: name for name, value in image.symbols.items()}
        self._lwps: dict[int, tuple[_Process, int]] = {}
        self._processes: dict[int, _Process] = {}
        self._idle: set[int] = set()
        self._parts = stacks.Parts()
        self._left: dict[int, tuple[str, int | None, Path | None]] = {}  # CPU: of what the next stack is
        self._programs: dict[Path, stacks.Program] = {}

    def points(self, names: Collection[str]) -> Container[int]:
        """The points of these events, as ring.Record has them; also those of programs that are patched later."""
        return _Points(names, self._points, self._library)

    def of_program(self, record: ring.Record) -> bool:
        """Is it of a program's point, not of the kernel's?"""
        return self._library.has(record.point)

    def record(self, record: ring.Record) -> Record | None:
        """Records of one CPU come in the order of its ring.  None: part of a stack, of which more comes."""
        if record.point == stacks.POINT:
            words = self._parts.add(record)
            return None if words is None else self._stack(record, words)
        self._parts.begin(record.cpu)
        if self._library.has(record.point):
            process, _ = self._lwps.get(self._on.get(record.cpu, 0), (_Process(), 0))
            process.program = self._library.program(record.point)
            named = self._library.record(record, _pid(process), process.threads)
            if named.name in stacks.EVENTS:
                self._left[record.cpu] = (named.values["thread"], self._library.address(record.point),
                                          process.program)
            return named
        point = self._points[record.point]
        values = [(name, value & (1 << 8 * size) - 1, size)
                  for (name, size), value in zip(point.values, record.values)]
        said: dict[str, str] = {}
        plain = [value for _, value, _ in values]
        match point.name:
            case "lwp_new" | "exec":
                self._lwps[plain[0]] = self._process(plain[1]), plain[2]
                if point.name == "exec":
                    self._process(plain[1]).program = None
            case "process_new":  # its first LWP has been told of, by the address of the process
                said["process"] = f"{plain[0]:#x}"
                self._process(plain[0]).pid = plain[1]
            case "process_exit":
                self._process(plain[0]).gone = True
            case "on_cpu":
                self._on[record.cpu] = plain[0]
            case "off_cpu":
                process, _ = self._lwps.get(plain[0], (_Process(), 0))
                self._left[record.cpu] = self._value("lwp", plain[0], 8), None, process.program
            case "lwp_idle":
                self._idle.add(plain[0])
            case "object_wait":
                said["object"] = self._object(record.cpu, plain[0])
            case "kobj_wait":
                said["kind"] = KOBJ[plain[1]]
                said["owner"] = self._value("lwp", plain[2], 8) if plain[2] else "-"
            case "queue":  # the link in the LWP, and where it is in every LWP
                values = [("lwp", plain[0] - plain[1], 8), values[2]]
        for name, value, size in values:
            if name == "name":
                said[name] = said.get(name, "") + chars(value)
            else:
                said.setdefault(name, self._value(name, value, size))
        return Record(record.time, record.cpu, point.name, said)

    def _stack(self, record: ring.Record, words: list[int]) -> Record:
        """Of the thread or LWP of which the record before told."""
        of, address, path = self._left.get(record.cpu, ("-", None, None))
        if address is not None:  # RIP is in the stub of the point
            words[0] = address
        if path is None:
            calls = f"{words[0]:#x}"
        else:
            if path not in self._programs:
                self._programs[path] = stacks.Program(path)
            calls = self._programs[path].calls(words)
        return Record(record.time, record.cpu, "stack", {"of": of, "calls": calls})

    def _process(self, address: int) -> _Process:
        """The process at an address.  After the end of a process another may have its address."""
        process = self._processes.get(address)
        if process is None or process.gone:
            process = self._processes[address] = _Process()
        return process

    def _object(self, cpu: int, address: int) -> str:
        """An object in the memory of the program that runs on the CPU."""
        process, _ = self._lwps.get(self._on.get(cpu, 0), (_Process(), 0))
        return f"{address:#x}" if process.program is None else object_at(process.program, address)

    def _value(self, name: str, value: int, size: int) -> str:
        match name:
            case "lwp" if value in self._lwps:
                process, number = self._lwps[value]
                return f"{_pid(process)}/{number}"
            case "lwp" if value in self._idle:
                return "idle"
            case "process" | "parent" if value in self._processes:
                pid = self._processes[value].pid
                return f"{value:#x}" if pid is None else str(pid)
            case "wchan":
                return (self._image.text_at(value) or "-").replace(" ", "_")
            case "number" if value in self._calls:
                return self._calls[value]
            case "reason" if value < len(REASONS):
                return REASONS[value]
            case "function" if value in self._functions:
                return str(self._functions[value])
            case "mstate" if value < len(MSTATES):
                return MSTATES[value]
            case "lwp" | "process" | "parent" | "timer" | "function" | "rip" | "address" | "object":
                return f"{value:#x}"
        return str(value - (1 << 8 * size) if value >> (8 * size - 1) else value)


def _pid(process: _Process) -> str:
    return "?" if process.pid is None else str(process.pid)
