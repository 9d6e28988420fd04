"""The probe points of a kernel: its section .probe.list, which kernel/include/kern/probe.h describes."""

import functools
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile

from .elf import SYMBOL

HEAD = struct.Struct("<QQQBBB")
SHN_LORESERVE = 0xff00  # from here on, numbers of sections mean something else


@dataclass(frozen=True)
class Point:
    address: int
    stub: int  # its code, which a jump at the point leads to
    slot: int  # the place in the stub for the displaced instructions
    name: str
    values: tuple[tuple[str, int], ...]  # names and sizes; bytes beyond the size say nothing
    operands: str

    def __str__(self) -> str:
        return f"probe point {self.name} at {self.address:#x}"


def image_of(path: Path) -> "Image":
    """The file, which is read once.  Raises OSError."""
    return _image_of(path, path.stat().st_mtime_ns)


@functools.lru_cache(maxsize=2)
def _image_of(path: Path, _: int) -> "Image":
    return Image(path)


class Image:
    """An ELF file of the kernel, with its points.  Nothing changes it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with open(path, "rb") as file:
            elf = ELFFile(file)
            self.sections = {section.name: (section["sh_addr"], section["sh_offset"], section.data())
                             for section in elf.iter_sections()
                             if section["sh_type"] == "SHT_PROGBITS" and section["sh_size"]}
            table = elf.get_section_by_name(".symtab")
            entries, names = table.data(), elf.get_section(table["sh_link"]).data()
        # Not by the package's objects, of which a thousand take 70 ms.
        defined = [(name, address) for name, _, _, section, address, _ in SYMBOL.iter_unpack(entries)
                   if 0 < section < SHN_LORESERVE]
        self.symbols = {names[name:names.index(0, name)].decode(): address for name, address in defined if name}
        self.labels = {address for _, address in defined}
        self.points = list(_points(self.sections[".probe.list"][2]))

    def offset(self, address: int) -> int:
        """Of an address of the text in the file."""
        start, offset, data = self.sections[".text"]
        assert start <= address < start + len(data)
        return int(offset + address - start)

    def text_at(self, address: int) -> str | None:
        """The string constant at an address, or None."""
        start, _, data = self.sections[".rodata"]
        if not start <= address < start + len(data):
            return None
        return str(data[address - start:].partition(b"\0")[0].decode(errors="replace"))


def _points(data: bytes) -> Iterator[Point]:
    at = 0
    while at < len(data):
        address, stub, slot, *sizes = HEAD.unpack_from(data, at)
        name, names, operands, _ = data[at + HEAD.size:].split(b"\0", 3)
        at += HEAD.size + len(name) + len(names) + len(operands) + 3
        yield Point(address, stub, slot, name.decode(), tuple(zip(names.decode().split(), sizes)),
                    operands.decode())
