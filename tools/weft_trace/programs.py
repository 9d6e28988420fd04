"""The probe points of programs: stubs for them, and jumps to the stubs in the programs of the RAM disk.

Each point has a slot, with a place in three areas of the probe memory (kernel/include/kern/probe.h): the stub
and the copy, which the program executes, and the part that the kernel executes.
"""

import functools
import struct
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from weft_host.machine import HostError

from . import kept
from .cpioread import files
from .displaced import Displaced, Shape
from .elf import Elf
from .operands import push
from .patch import INT3, JUMP, NOP, Immovable

# kernel/cpu/asm.h, kernel/include/kern/probe.h.
USER = 0xffffffffc0000000
SLOTS = 0x800000
KERNEL = USER + SLOTS
COPIES = KERNEL + SLOTS
SLOT = 256
TABLE = 0x200000
RECORD = b"\xcd\xf0"
SETTLE = b"\xcd\xf1"

LIST = ".debug_probe_list"
SHOWN = {"rwlock_wait": "lock_wait"}  # a point of another name than its event's
HEAD = struct.Struct("<QBBB")
RESTARTABLE = struct.Struct("<iI")


@dataclass(frozen=True)
class Point:
    address: int
    name: str
    values: tuple[tuple[str, int], ...]  # names and sizes; bytes beyond the size say nothing
    operands: tuple[str, str, str]
    program: str
    path: Path  # the file that has its list and symbols

    def __str__(self) -> str:
        return f"probe point {self.name} at {self.address:#x} of {self.program}"


def points(elf: Elf, path: Path) -> Iterator[Point]:
    """Of the functions that the linker has taken."""
    data, at = elf.section(LIST), 0
    while at < len(data):
        try:
            address, *sizes = HEAD.unpack_from(data, at)
            name, names, operands, _ = data[at + HEAD.size:].split(b"\0", 3)
            at += HEAD.size + len(name) + len(names) + len(operands) + 3
            a, b, c = operands.decode().split(" ")
        except (struct.error, ValueError) as error:
            raise HostError(f"{elf.name}: its list of probe points is damaged: {error}") from error
        if address != 0:
            yield Point(address, name.decode(), tuple(zip(names.decode().split(), sizes)), (a, b, c), elf.name,
                        path)


def _wrapped(distance: int) -> int:
    """From an address of a program to one of the kernel's end of the address space is not far."""
    return (distance + (1 << 63)) % (1 << 64) - (1 << 63)


def _near(code: bytes, at: int, target: int) -> bytes:
    return code + struct.pack("<i", _wrapped(target - (at + len(code) + 4)))


def _restartable(elf: Elf) -> list[range]:
    """The ranges of libthread/core/restart.c."""
    data = elf.section(".restartable")
    if not data:
        return []
    base = elf.section_address(".restartable")
    entries = [(base + 8 * i, *entry) for i, entry in enumerate(RESTARTABLE.iter_unpack(data))]
    return [range(at + start + 1, at + start + length) for at, start, length in entries]


class Stub:
    """What one point needs."""

    def __init__(self, elf: Elf, point: Point, shapes: list[Shape], start: int, fixed: list[range]) -> None:
        """start: of the function.  fixed: the program's instructions that may be restarted.  Raises Immovable."""
        self.point = point
        self._shapes = shapes
        self._code = [elf.read(start + shape.offset, shape.length) for shape in shapes]
        self.end = start + shapes[-1].offset + shapes[-1].length
        self._ends = [start + shape.offset + shape.length for shape in shapes]
        if any(point.address < one.stop and one.start < self.end for one in fixed):
            raise Immovable(f"{point}: in a range of instructions that may be restarted")
        try:
            self._pushes = b"".join(push(operand, elf.symbol) for operand in reversed(point.operands))
        except (ValueError, KeyError, struct.error) as error:
            raise Immovable(f"{point}: {' '.join(point.operands)}: {error}") from error

    @property
    def code(self) -> bytes:
        """What is displaced."""
        return b"".join(self._code)

    def jump(self, stub: int) -> bytes:
        code = _near(b"\xe9", self.point.address, stub)
        return code + INT3 * (self.end - self.point.address - JUMP)

    def kernel_part(self, at: int, record: int) -> bytes:
        """record: the address of probe_program_record."""
        return _near(self._pushes + b"\xe9", at, record)

    def displaced(self, at: int, exact: bool) -> bytes:
        """The displaced instructions at another place, and the way back."""
        out = b""

        def leave(target: int) -> None:
            nonlocal out
            out += SETTLE + struct.pack("<Q", target) if exact else _near(b"\xe9", at + len(out), target)

        for i, shape in enumerate(self._shapes):
            code, end, target = self._code[i], self._ends[i], self._target(i)
            match shape.kind:
                case "plain" if shape.field == 0:
                    out += code
                case "plain":
                    distance = _wrapped(target - (at + len(out) + len(code)))
                    out += code[:shape.field] + struct.pack("<i", distance) + code[shape.field + 4:]
                case "call":
                    out += b"\x68" + struct.pack("<i", end)
                    leave(target)
                case "jmp":
                    out += NOP if exact else b""
                    leave(target)
                case "jcc":
                    condition = code[-5 if shape.wide else 0] & 0x0f
                    length = len(SETTLE) + 8 if exact else JUMP
                    out += bytes([0x70 | condition, length])
                    leave(end)
                    leave(target)
                case "ret":
                    out += code
        if self._shapes[-1].kind == "plain":
            leave(self.end)
        return out

    def _target(self, i: int) -> int:
        """What the instruction names by a distance from its end; the end if it names nothing."""
        shape, code = self._shapes[i], self._code[i]
        if shape.field == 0:
            return self._ends[i]
        distance, = struct.unpack_from("<i" if shape.wide else "<b", code, shape.field)
        return self._ends[i] + int(distance)


def _stub(elf: Elf, path: Path, displaced: Displaced, point: Point, fixed: list[range]) -> Stub:
    """Raises Immovable, HostError."""
    function = elf.function_at(point.address)
    if function is None:
        raise Immovable(f"{point}: in no function")
    try:
        shapes = displaced.at(elf, path, function, point.address)
    except Immovable as error:
        raise Immovable(f"{point}, in {function.name}: {error}") from error
    return Stub(elf, point, shapes, function.start, fixed)


def stubs(elf: Elf, path: Path, displaced: Displaced) -> Iterator[tuple[Point, Stub | Immovable]]:
    """The points, and what each needs, or why it cannot be patched.  path: the file that elf has been read from.
    Raises HostError."""
    fixed = _restartable(elf)
    for point in points(elf, path):
        try:
            yield point, _stub(elf, path, displaced, point, fixed)
        except Immovable as error:
            yield point, error


@dataclass(frozen=True)
class Listed:
    """A program's points, as stubs() gives them.  stripped: the program has the library without its list of
    points."""

    points: list[tuple[Point, Stub | Immovable]]
    stripped: bool

    @classmethod
    def read(cls, path: Path, displaced: Displaced) -> "Listed":
        """Raises HostError."""
        data = path.read_bytes()
        if LIST.encode() not in data:
            return cls([], b".threaddb" in data)
        return cls(list(stubs(Elf(data, path.name), path, displaced)), False)

    @classmethod
    def of(cls, path: Path, displaced: Displaced) -> "Listed":
        """Raises HostError."""
        return kept.of(path, "stubs", lambda: cls.read(path, displaced))


def same(path: Path, other: Path) -> bool:
    """Are these the same program, perhaps one of them without debugging information?"""
    return _segments(path) == _segments(other)


def _segments(path: Path) -> list[bytes]:
    """The bytes of the segments; a file that is no program has none.  The first has the ELF header, which tells of
    sections."""
    data = path.read_bytes()
    if not data.startswith(b"\x7fELF"):
        return []
    elf = Elf(data, path.name)
    return [data[offset:offset + length][64 if offset == 0 else 0:] for _, offset, length in elf.segments]


def names(paths: Iterable[Path]) -> set[str]:
    """Of the events that the points of these programs record."""
    displaced = Displaced()
    found = {point.name for path in paths for point, _ in Listed.of(path, displaced).points}
    return {SHOWN.get(name, name) for name in found}


@functools.cache
def symbol_at(path: Path, address: int) -> str | None:
    """NAME, or NAME+0xOFFSET: the variable of the program that has this address."""
    symbol = _elf(path).variable_at(address)
    if symbol is None:
        return None
    return symbol.name if address == symbol.start else f"{symbol.name}+{address - symbol.start:#x}"


@functools.lru_cache(maxsize=16)
def _elf(path: Path) -> Elf:
    return Elf(path.read_bytes(), path.name)


class Programs:
    """Patches RAM disks; knows then which point a record is of."""

    def __init__(self, memory: Path, kernel: Mapping[str, int], exact: bool, names: Collection[str] | None,
                 stacks: Collection[str] = ()) -> None:
        """memory: the file that is the probe memory; kernel: the addresses of the kernel's functions; stacks: the
        events that also record the thread's stack."""
        self._memory, self._exact, self._names, self._stacks = memory, exact, names, stacks
        self._record, self._record_stack = kernel["probe_program_record"], kernel["probe_program_stack"]
        self._displaced = Displaced()
        self.points: dict[int, Point] = {}  # by what a record has
        self.without: list[str] = []  # programs with the library, and without its list of points: stripped

    def patch(self, disk: Path, sources: Mapping[str, Path]) -> None:
        """Patches the programs of a RAM disk in its file.  sources: paths in the guest, without the first
        slash, and files of the host with the same program and its list of points.  Raises HostError."""
        with open(disk, "r+b") as file, open(self._memory, "r+b") as memory:
            for entry in files(disk.read_bytes()):
                path = sources.get(entry.name)
                if path is None or not entry.data.startswith(b"\x7fELF"):
                    continue
                for offset, code in self._writes(entry.data, path, memory):
                    file.seek(entry.offset + offset)
                    file.write(code)

    def _writes(self, data: bytes, path: Path, memory: BinaryIO) -> Iterator[tuple[int, bytes]]:
        listed = Listed.of(path, self._displaced)
        if listed.stripped:
            self.without.append(path.name)
        if not listed.points:
            return
        target = Elf(data, path.name)
        for point, stub in listed.points:
            if self._names is not None and SHOWN.get(point.name, point.name) not in self._names:
                continue
            if isinstance(stub, Immovable):
                raise stub
            offset = target.offset(point.address, len(stub.code))
            if offset is None or not data.startswith(stub.code, offset):
                raise HostError(f"{path} is not the program that the RAM disk has; call make")
            yield offset, stub.jump(self._place(stub, memory))

    def _place(self, stub: Stub, memory: BinaryIO) -> int:
        """Writes the stub, and returns its address."""
        at = len(self.points) * SLOT
        if at >= SLOTS:
            raise HostError(f"a trace has room for {SLOTS // SLOT} probe points of programs; choose --events")
        first = RECORD if self._exact else RECORD + stub.displaced(USER + at + len(RECORD), exact=False)
        copy = stub.displaced(COPIES + at, exact=True) if self._exact else b""
        record = self._record_stack if stub.point.name in self._stacks else self._record
        for area, code in ((USER, first), (KERNEL, stub.kernel_part(KERNEL + at, record)), (COPIES, copy)):
            assert len(code) <= SLOT
            memory.seek(TABLE + area - USER + at)
            memory.write(code)
        self.points[(USER + at + len(RECORD)) & 0xffffffff] = stub.point
        return USER + at
