"""The names of addresses in an ELF file, from its symbol table."""

import bisect
import struct
from collections.abc import Iterator
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

Symbol = tuple[int, int, str]  # address, size, name
ENTRY = struct.Struct("<IBBHQQ")  # Elf64_Sym: name, type and binding, visibility, section, address, size
OBJECT, FUNCTION = 1, 2  # types


def read(path: Path) -> Iterator[tuple[int, Symbol]]:
    """(type, symbol) of each symbol that has a name and is defined.  Raises OSError, ELFError."""
    with open(path, "rb") as file:
        elf = ELFFile(file)
        table = elf.get_section_by_name(".symtab")
        if table is None:
            return
        entries, names = table.data(), elf.get_section(table["sh_link"]).data()
    try:
        for name, kind, _, section, address, size in ENTRY.iter_unpack(entries):
            if section != 0 and names[name] != 0:
                yield kind & 15, (address, size, names[name:names.index(0, name)].decode())
    except (struct.error, LookupError, ValueError) as error:
        raise ELFError(f"its symbols are damaged: {error}") from error


class Symbols:
    """Of one file; of no file, if it cannot be read or has none."""

    def __init__(self, path: Path | None) -> None:
        found: dict[int, list[Symbol]] = {OBJECT: [], FUNCTION: []}
        try:
            for kind, symbol in read(path) if path is not None else ():
                if kind in found:
                    found[kind].append(symbol)
        except (OSError, ELFError):
            pass
        self._objects, self._functions = sorted(found[OBJECT]), sorted(found[FUNCTION])

    @staticmethod
    def _at(table: list[Symbol], address: int) -> Symbol | None:
        """The symbol that contains the address, or that stands there and has no size."""
        at = bisect.bisect_right(table, (address, 1 << 64, ""))
        for begin, size, name in reversed(table[max(0, at - 8):at]):
            if address < begin + size or (size == 0 and address == begin):
                return begin, size, name
        return None

    def object(self, address: int) -> str:
        """A variable's name, NAME+0xOFFSET in it, or the number."""
        found = self._at(self._objects, address)
        if found is None:
            return f"{address:#x}"
        return found[2] if found[0] == address else f"{found[2]}+{address - found[0]:#x}"

    def function(self, address: int) -> str:
        """FUNCTION+0xOFFSET, or the number."""
        found = self._at(self._functions, address)
        return f"{address:#x}" if found is None else f"{found[2]}+{address - found[0]:#x}"

    def function_start(self, address: int) -> int | None:
        """Where the function begins that contains the address."""
        found = self._at(self._functions, address)
        return None if found is None else found[0]

    def name(self, address: int) -> str:
        """The function that begins there, or ""."""
        found = self._at(self._functions, address)
        return found[2] if found is not None and found[0] == address else ""
