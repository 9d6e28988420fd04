"""The names of addresses in an ELF file, from its symbol table."""

import bisect
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

Symbol = tuple[int, int, str]  # address, size, name


class Symbols:
    """Of one file; of no file, if it cannot be read or has none."""

    def __init__(self, path: Path | None) -> None:
        found: dict[str, list[Symbol]] = {"STT_OBJECT": [], "STT_FUNC": []}
        try:
            if path is not None:
                with open(path, "rb") as file:
                    table = ELFFile(file).get_section_by_name(".symtab")
                    for symbol in table.iter_symbols() if table is not None else ():
                        kind = symbol["st_info"]["type"]
                        if kind in found and symbol["st_shndx"] != "SHN_UNDEF":
                            found[kind].append((symbol["st_value"], symbol["st_size"], symbol.name))
        except (OSError, ELFError):
            pass
        self._objects, self._functions = sorted(found["STT_OBJECT"]), sorted(found["STT_FUNC"])

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

    def name(self, address: int) -> str:
        """The function that begins there, or ""."""
        found = self._at(self._functions, address)
        return found[2] if found is not None and found[0] == address else ""
