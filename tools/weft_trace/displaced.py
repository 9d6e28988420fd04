"""What a jump at a probe point of a program displaces.

The library's functions are the same in all programs, except for the addresses in them.  So a function is
disassembled once, and found again in the next program by its other bytes: a RAM disk has a hundred programs.
"""

import bisect
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .disassembly import Instruction, instructions
from .elf import Elf, Symbol
from .patch import JUMP, Immovable, check_movable, kind

NUMBER = re.compile(r"(?:0x|\b)([0-9a-f]{5,16})\b")


@dataclass(frozen=True)
class Shape:
    """An instruction, apart from the addresses in it."""

    offset: int  # from the function's first
    length: int
    kind: str  # plain, call, jmp, jcc, ret
    field: int  # where in it a distance from its end is; 0: it has none
    wide: bool  # the distance has 32 bits, not 8


@dataclass
class Template:
    code: bytes  # of the function, without addresses
    holes: list[int]  # where in it addresses are, of 4 bytes each
    whole: list[Instruction]
    start: int
    targets: set[int]  # offsets to which branches lead, from here or from the function's cold part
    tables: bool  # there are branches to places that are read from memory
    shapes: dict[int, list[Shape] | str] = field(default_factory=dict)  # of points, by offset; or why not

    def fits(self, code: bytes) -> bool:
        return len(code) == len(self.code) and _without(code, self.holes) == self.code


def _without(code: bytes, holes: list[int]) -> bytes:
    out = bytearray(code)
    for at in holes:
        out[at:at + 4] = b"\0\0\0\0"
    return bytes(out)


def _numbers(one: Instruction) -> list[int]:
    return [int(number, 16) for number in NUMBER.findall(one.text)]


def _holes(one: Instruction) -> list[int]:
    """Where in the instruction an address may be, absolute or as a distance."""
    found = []
    for number in _numbers(one):
        for value in (number, number - one.end):
            if -1 << 31 <= value < 1 << 32:
                at = one.code.find(struct.pack("<I", value & 0xffffffff), 1)
                found += [at] if at > 0 else []
    return found


def _branches(one: Instruction) -> bool:
    return one.name.startswith(("j", "loop")) and "*" not in one.text


def _template(code: Mapping[int, Instruction], branches: set[int], function: Symbol) -> Template:
    whole, at = [], function.start
    while at < function.end:
        one = code.get(at)
        if one is None:
            raise Immovable(f"{function.name}: no instruction at {at:#x}")
        whole.append(one)
        at = one.end
    raw = b"".join(one.code for one in whole)
    holes = [one.address - function.start + at for one in whole for at in _holes(one)]
    targets = {target - function.start for target in branches if function.start < target < function.end}
    tables = any(one.name.startswith("jmp") and "*" in one.text and "(" in one.text and "%fs" not in one.text
                 and "(%rip)" not in one.text for one in whole)
    return Template(_without(raw, holes), holes, whole, function.start, targets, tables)


def _shape(one: Instruction, start: int) -> Shape:
    what = kind(one)
    at, wide = 0, True
    match what:
        case "call":
            at = 1
        case "jmp":
            at, wide = 1, one.code[0] == 0xe9
        case "jcc":
            wide = len(one.code) == 6
            at = 2 if wide else 1
        case "plain" if "(%rip)" in one.text:
            distance = struct.pack("<i", _numbers(one)[-1] - one.end)
            if one.code.count(distance) != 1:
                raise Immovable(f"{one.text}: its address is not found in it")
            at = one.code.index(distance)
    return Shape(one.address - start, len(one.code), what, at, wide)


def _shapes(template: Template, offset: int) -> list[Shape]:
    """Raises Immovable."""
    found: list[Instruction] = []
    addresses = [one.address - template.start for one in template.whole]
    at = bisect.bisect_left(addresses, offset)
    if at == len(addresses) or addresses[at] != offset:
        raise Immovable(f"no instruction begins at {offset:#x}")
    for one in template.whole[at:]:
        found.append(one)
        if one.end - template.start >= offset + JUMP:
            break
    else:
        raise Immovable(f"the function ends less than {JUMP} bytes behind it")
    check_movable(found)
    if template.tables or template.targets & set(range(offset + 1, found[-1].end - template.start)):
        raise Immovable(f"a branch may lead to less than {JUMP} bytes behind it")
    return [_shape(one, template.start) for one in found]


class Displaced:
    """Remembers the functions of the programs that it has seen."""

    def __init__(self) -> None:
        self._templates: dict[tuple[str, int], list[Template]] = {}
        self._path: Path | None = None
        self._code: Mapping[int, Instruction] = {}
        self._branches: set[int] = set()

    def at(self, elf: Elf, path: Path, function: Symbol, address: int) -> list[Shape]:
        """path: the file of the program.  Raises Immovable, HostError."""
        code = elf.read(function.start, function.size)
        known = self._templates.setdefault((function.name, function.size), [])
        template = next((one for one in known if one.fits(code)), None)
        if template is None:
            if self._path != path:
                self._path, self._code = path, instructions(path)
                self._branches = {number for one in self._code.values() if _branches(one)
                                  for number in _numbers(one)}
            template = _template(self._code, self._branches, function)
            known.append(template)
        offset = address - function.start
        if offset not in template.shapes:
            try:
                template.shapes[offset] = _shapes(template, offset)
            except Immovable as error:
                template.shapes[offset] = str(error)
        shapes = template.shapes[offset]
        if isinstance(shapes, str):
            raise Immovable(shapes)
        return shapes
