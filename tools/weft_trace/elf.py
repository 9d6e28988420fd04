"""An ELF file of a program, as far as a trace needs it.

The package pyelftools takes a second for a hundred programs, and a traced run looks at all of the RAM disk.
"""

import bisect
import struct
from dataclasses import dataclass
from functools import cached_property

from weft_host.machine import HostError

HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
SEGMENT = struct.Struct("<IIQQQQQQ")
SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
PT_LOAD = 1
SHT_NOBITS = 8
STT_OBJECT, STT_FUNC = 1, 2


@dataclass(frozen=True)
class Symbol:
    """A function or a variable."""

    start: int
    size: int
    name: str

    @property
    def end(self) -> int:
        return self.start + self.size


class Elf:
    """Raises HostError: the file is damaged, or not for x86-64.  Its symbols are read when they are asked for: of
    most files, segments or a section are all that is wanted."""

    def __init__(self, data: bytes, name: str) -> None:
        self.data, self.name = data, name
        try:
            ident, _, machine, _, _, segments, sections, _, _, size, n, _, count, names = HEADER.unpack_from(data)
            if ident[:5] != b"\x7fELF\x02" or machine != 62 or (n and size != SEGMENT.size):
                raise HostError(f"{name} is no program for x86-64")
            found = [SEGMENT.unpack_from(data, segments + i * SEGMENT.size) for i in range(n)]
            self.segments = [(address, offset, length) for kind, _, offset, address, _, length, _, _ in found
                             if kind == PT_LOAD]
            self._sections = self._read_sections(sections, count, names)
        except (struct.error, IndexError) as error:
            raise HostError(f"{name}: the ELF file is damaged: {error}") from error

    def _read_sections(self, offset: int, count: int, names: int) -> dict[str, tuple[int, int, int]]:
        found = [SECTION.unpack_from(self.data, offset + i * SECTION.size) for i in range(count)]
        if not found:
            return {}
        return {self._text(found[names][4] + section[0]): (section[3], section[4], section[5])
                for section in found if section[1] != SHT_NOBITS}

    def _text(self, at: int) -> str:
        return self.data[at:self.data.index(b"\0", at)].decode(errors="replace")

    @cached_property
    def _symbols(self) -> tuple[list[Symbol], list[Symbol], dict[str, set[int]]]:
        """Functions and variables by their addresses, and the addresses by name."""
        functions: list[Symbol] = []
        variables: list[Symbol] = []
        addresses: dict[str, set[int]] = {}
        strings = self._sections.get(".strtab", (0, 0, 0))[1]
        try:
            for name, info, _, section, value, size in SYMBOL.iter_unpack(self.section(".symtab")):
                if section == 0 or not name:
                    continue
                if info & 15 == STT_FUNC and size:
                    functions.append(Symbol(value, size, self._text(strings + name)))
                elif info & 15 < STT_FUNC:
                    addresses.setdefault(self._text(strings + name), set()).add(value)
                    if info & 15 == STT_OBJECT and size:
                        variables.append(Symbol(value, size, self._text(strings + name)))
        except (struct.error, ValueError) as error:
            raise HostError(f"{self.name}: the ELF file is damaged: {error}") from error
        functions.sort(key=lambda symbol: symbol.start)
        variables.sort(key=lambda symbol: symbol.start)
        return functions, variables, addresses

    def section(self, name: str) -> bytes:
        """b"" if there is none."""
        _, offset, size = self._sections.get(name, (0, 0, 0))
        return self.data[offset:offset + size]

    def section_address(self, name: str) -> int:
        return self._sections[name][0]

    def symbol(self, name: str) -> int:
        """The address of a variable.  Raises KeyError: no variable, or several, has this name."""
        found = self._symbols[2].get(name, ())
        if len(found) != 1:
            raise KeyError(name)
        value, = found
        return value

    def offset(self, address: int, size: int = 1) -> int | None:
        """Where in the file the bytes at an address are; None: nowhere."""
        for start, offset, length in self.segments:
            if start <= address and address + size <= start + length:
                return int(address - start + offset)
        return None

    def read(self, address: int, size: int) -> bytes:
        offset = self.offset(address, size)
        if offset is None:
            raise HostError(f"{self.name}: there are no {size} bytes at {address:#x}")
        return self.data[offset:offset + size]

    def function_at(self, address: int) -> Symbol | None:
        return _at(self._symbols[0], address)

    def variable_at(self, address: int) -> Symbol | None:
        return _at(self._symbols[1], address)


def _at(symbols: list[Symbol], address: int) -> Symbol | None:
    """The symbol with this address; no two overlap."""
    index = bisect.bisect_right(symbols, address, key=lambda symbol: symbol.start) - 1
    return symbols[index] if index >= 0 and address < symbols[index].end else None
