"""The kernel's structures and variables, as its debugging information (DWARF) describes them.

    layout = Layout(Path("build/weft.elf"))
    layout.unit("sched/switch.c").types["struct lwp"].size
    lwp = Object(space, layout.type("struct lwp"), address)
    lwp["proc"].pointed()["pid"].number()

Only the source files that are asked for are read, because all of the debugging information takes seconds.
What has been read is kept beside the ELF file, for the same size and time of the file.
"""

import contextlib
import io
import json
import os
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from . import symbols
from .memory import MASK, MemoryFault, Space

VERSION = 1  # of the file that keeps what has been read
MOST_ITEMS = 100_000  # of a list; a longer one is damaged
MOST_TEXT = 256
# Where the types of the kernel's main structures are described.
COMMON = "kernel/proc/info.c"


class LayoutError(Exception):
    """The file is not the kernel's, or does not describe what is asked for."""


@dataclass
class Type:
    """kind: int, bool, enum, pointer, array, struct, or void.  A union is a struct.

    target: what a pointer points at, or what an array consists of.  bits: of a bit field, (the first, how
    many).
    """

    kind: str
    size: int = 0
    name: str = ""
    signed: bool = False
    count: int = 0
    target: int = -1
    fields: dict[str, tuple[int, int, tuple[int, int] | None]] = field(default_factory=dict)
    values: dict[str, int] = field(default_factory=dict)
    unit: "Unit" = field(repr=False, compare=False, default=None)  # type: ignore[assignment]

    def pointed(self) -> "Type":
        return self.unit.table[self.target] if self.target >= 0 else VOID

    def offset(self, name: str) -> int:
        """Of a field.  Raises LayoutError."""
        return self.member(name)[0]

    def member(self, name: str) -> tuple[int, "Type", tuple[int, int] | None]:
        """The field's offset, its type, and its bits.  Raises LayoutError."""
        if name not in self.fields:
            raise LayoutError(f"{self.name or 'the structure'} has no field {name}")
        offset, number, bits = self.fields[name]
        return offset, self.unit.table[number], bits


VOID = Type("void")


@dataclass
class Unit:
    """What one source file knows.  variables: with their addresses, also static ones, not those of functions."""

    name: str
    table: list[Type] = field(default_factory=list)
    types: dict[str, Type] = field(default_factory=dict)  # "struct lwp", "paddr_t"
    variables: dict[str, tuple[int, Type]] = field(default_factory=dict)
    values: dict[str, int] = field(default_factory=dict)  # enumerators

    def as_json(self) -> dict[str, Any]:
        numbers = {id(kind): number for number, kind in enumerate(self.table)}
        return {"table": [[t.kind, t.size, t.name, t.signed, t.count, t.target, t.fields, t.values]
                          for t in self.table],
                "types": {name: numbers[id(kind)] for name, kind in self.types.items()},
                "variables": {name: [at, numbers[id(kind)]] for name, (at, kind) in self.variables.items()}}

    @classmethod
    def of_json(cls, name: str, data: dict[str, Any]) -> "Unit":
        unit = cls(name)
        for kind, size, called, signed, count, target, fields, values in data["table"]:
            made = Type(kind, size, called, signed, count, target,
                        {f: (o, n, None if b is None else (b[0], b[1])) for f, (o, n, b) in fields.items()},
                        values, unit)
            unit.table.append(made)
            unit.values |= values
        unit.types = {key: unit.table[number] for key, number in data["types"].items()}
        unit.variables = {key: (at, unit.table[number]) for key, (at, number) in data["variables"].items()}
        return unit


class _Reader:
    """Reads one compilation unit of DWARF."""

    def __init__(self, name: str, top: Any) -> None:
        self.unit = Unit(name)
        self._numbers: dict[int, int] = {}  # offset of a DIE -> its number in the table
        for die in top.iter_children():
            called = _name(die)
            if die.tag in ("DW_TAG_structure_type", "DW_TAG_union_type") and "DW_AT_byte_size" in die.attributes:
                self._take(die, f"{'struct' if die.tag == 'DW_TAG_structure_type' else 'union'} {called}", called)
            elif die.tag == "DW_TAG_enumeration_type":
                self._take(die, f"enum {called}", called)
            elif die.tag == "DW_TAG_typedef":
                self._take(die, called, called)
            elif die.tag == "DW_TAG_variable":
                self._variable(die)

    def _take(self, die: Any, name: str, called: str) -> None:
        kind = self.unit.table[self._number(die)]
        if called:
            self.unit.types.setdefault(name, kind)

    def _variable(self, die: Any) -> None:
        """A declaration and its definition are two entries; the address stands in the second."""
        place = die.attributes.get("DW_AT_location")
        if place is None or place.form != "DW_FORM_exprloc" or place.value[:1] != [3] or len(place.value) != 9:
            return  # 3: DW_OP_addr
        of = die.get_DIE_from_attribute("DW_AT_specification") if "DW_AT_specification" in die.attributes else die
        typed = die if "DW_AT_type" in die.attributes else of
        kind = self.unit.table[self._type_number(typed)]
        self.unit.variables[_name(of)] = (int.from_bytes(bytes(place.value[1:]), "little"), kind)

    def _type_number(self, die: Any) -> int:
        if "DW_AT_type" not in die.attributes:
            return self._number(None)
        return self._number(die.get_DIE_from_attribute("DW_AT_type"))

    def _number(self, die: Any) -> int:
        """The number of a type; it is read if it is not known yet."""
        while die is not None and die.tag in ("DW_TAG_typedef", "DW_TAG_const_type", "DW_TAG_volatile_type",
                                              "DW_TAG_restrict_type", "DW_TAG_atomic_type"):
            die = die.get_DIE_from_attribute("DW_AT_type") if "DW_AT_type" in die.attributes else None
        key = -1 if die is None else die.offset
        if key not in self._numbers:
            self._numbers[key] = len(self.unit.table)
            kind = Type("void", unit=self.unit)
            self.unit.table.append(kind)
            if die is not None:
                self._fill(kind, die)
        return self._numbers[key]

    def _fill(self, kind: Type, die: Any) -> None:
        kind.name, kind.size = _name(die), _value(die, "DW_AT_byte_size", 0)
        match die.tag:
            case "DW_TAG_base_type":
                encoding = _value(die, "DW_AT_encoding", 0)
                kind.kind, kind.signed = ("bool" if encoding == 2 else "int"), encoding in (5, 6)
            case "DW_TAG_enumeration_type":
                kind.kind = "enum"
                kind.values = {_name(c): _value(c, "DW_AT_const_value", 0) for c in die.iter_children()
                               if c.tag == "DW_TAG_enumerator"}
                self.unit.values |= kind.values
            case "DW_TAG_pointer_type":
                kind.kind, kind.size, kind.target = "pointer", 8, self._type_number(die)
            case "DW_TAG_structure_type" | "DW_TAG_union_type":
                kind.kind = "struct"
                self._fields(kind.fields, die, 0)
            case "DW_TAG_array_type":
                self._array(kind, die)

    def _array(self, kind: Type, die: Any) -> None:
        """An array of arrays is one DIE with several bounds."""
        counts = [_value(c, "DW_AT_count", _value(c, "DW_AT_upper_bound", -1) + 1)
                  for c in die.iter_children() if c.tag == "DW_TAG_subrange_type"] or [0]
        target = self._type_number(die)
        for count in reversed(counts[1:]):
            inner = Type("array", self.unit.table[target].size * count, count=count, target=target, unit=self.unit)
            self.unit.table.append(inner)
            target = len(self.unit.table) - 1
        kind.kind, kind.count, kind.target = "array", counts[0], target
        kind.size = counts[0] * self.unit.table[target].size

    def _fields(self, fields: dict[str, tuple[int, int, tuple[int, int] | None]], die: Any, base: int) -> None:
        """Those of unnamed parts count as the structure's own."""
        for member in die.iter_children():
            if member.tag != "DW_TAG_member":
                continue
            offset = base + _value(member, "DW_AT_data_member_location", 0)
            bits = None
            if "DW_AT_bit_size" in member.attributes:
                first = _value(member, "DW_AT_data_bit_offset", 0)
                offset, bits = base + first // 8, (first % 8, _value(member, "DW_AT_bit_size", 0))
            if _name(member):
                fields[_name(member)] = (offset, self._type_number(member), bits)
            else:
                self._fields(fields, member.get_DIE_from_attribute("DW_AT_type"), offset)


def _name(die: Any) -> str:
    attribute = die.attributes.get("DW_AT_name")
    return attribute.value.decode() if attribute else ""


def _value(die: Any, name: str, otherwise: int) -> int:
    attribute = die.attributes.get(name)
    return attribute.value if attribute and isinstance(attribute.value, int) else otherwise


class Layout:
    """Of one ELF file with debugging information.  All raise LayoutError."""

    def __init__(self, elf: Path) -> None:
        self.elf = elf
        try:
            self._stat = elf.stat()
        except OSError as error:
            raise LayoutError(f"{elf}: {error.strerror}") from error
        self._kept: dict[str, Any] = self._load()
        self._units: dict[str, Unit] = {}
        self._tops: dict[str, Any] = {}  # paths of source files: their first entries, as far as they were needed
        self._lock = threading.Lock()  # of all above: several guests may fail at the same time

    @property
    def _file(self) -> Path:
        return self.elf.with_name(self.elf.name + ".layout")

    def _key(self) -> list[int]:
        return [VERSION, self._stat.st_mtime_ns, self._stat.st_size]

    def _load(self) -> dict[str, Any]:
        try:
            kept = json.loads(self._file.read_text())
            return kept["units"] if kept["key"] == self._key() else {}
        except (OSError, ValueError, LookupError, TypeError):
            return {}

    def _save(self) -> None:
        """Other commands may read or write the file at the same time, so it is replaced in one step."""
        with contextlib.suppress(OSError):
            handle, path = tempfile.mkstemp(dir=self.elf.parent, prefix=self._file.name)
            with os.fdopen(handle, "w") as out:
                json.dump({"key": self._key(), "units": self._kept}, out)
            os.chmod(path, 0o644)  # a file of mkstemp is its owner's alone
            os.replace(path, self._file)

    def unit(self, name: str) -> Unit:
        """A source file, by the end of its path."""
        with self._lock:
            if name not in self._units:
                if name not in self._kept:
                    self._kept[name] = self._read(name).as_json()
                    self._save()
                self._units[name] = Unit.of_json(name, self._kept[name])
            return self._units[name]

    @cached_property
    def _rest(self) -> Iterator[Any]:
        """The first entries of the source files that are not in _tops yet."""
        with open(self.elf, "rb") as file:
            elf = ELFFile(io.BytesIO(file.read()))
        if not elf.has_dwarf_info(strict=True):
            raise LayoutError(f"{self.elf} has no debugging information")
        return (unit.get_top_DIE() for unit in elf.get_dwarf_info().iter_CUs())

    def _read(self, name: str) -> Unit:
        try:
            for path, top in self._tops.items():
                if path.endswith("/" + name):
                    return _Reader(name, top).unit
            for top in self._rest:
                path = "/" + _name(top)
                self._tops[path] = top
                if path.endswith("/" + name):
                    return _Reader(name, top).unit
        except (OSError, ELFError) as error:
            raise LayoutError(f"{self.elf}: {error}") from error
        raise LayoutError(f"{self.elf} has no {name}: is it the weft kernel?")

    def type(self, name: str, unit: str = COMMON) -> Type:
        found = self.unit(unit).types.get(name)
        if found is None:
            raise LayoutError(f"{unit} knows no {name}")
        return found

    def variable(self, name: str, unit: str) -> tuple[int, Type]:
        """Its address and its type.  unit: the source file that defines it."""
        found = self.unit(unit).variables.get(name)
        if found is None:
            raise LayoutError(f"{unit} defines no variable {name}")
        return found

    @cached_property
    def symbols(self) -> dict[str, int]:
        """The addresses of all functions and variables; of static ones with the same name, of one of them."""
        return {name: address for _, (address, _, name) in symbols.read(self.elf)}


@lru_cache(maxsize=4)
def _layout(elf: Path, key: tuple[int, ...]) -> Layout:
    return Layout(elf)


def layout_of(elf: Path) -> Layout:
    """The Layout of a file as it is now: one for all guests of this process.  Raises LayoutError."""
    try:
        stat = elf.stat()
    except OSError as error:
        raise LayoutError(f"{elf}: {error.strerror}") from error
    return _layout(elf, (stat.st_dev, stat.st_ino, stat.st_mtime_ns, stat.st_size))


@dataclass
class Object:
    """A variable, or a part of one, in the memory of the guest.  Reading raises MemoryFault."""

    space: Space
    type: Type
    address: int
    bits: tuple[int, int] | None = None

    def __getitem__(self, name: str | int) -> "Object":
        """A field, or an element of an array."""
        if isinstance(name, int):
            kind = self.type.pointed()
            return Object(self.space, kind, self.address + name * kind.size & MASK)
        offset, kind, bits = self.type.member(name)
        return Object(self.space, kind, self.address + offset & MASK, bits)

    def __len__(self) -> int:
        return self.type.count

    def number(self) -> int:
        value = self.space.number(self.address, max(1, min(self.type.size, 8)))
        if self.bits is not None:
            return value >> self.bits[0] & (1 << self.bits[1]) - 1
        if self.type.signed and value >> 8 * self.type.size - 1:
            value -= 1 << 8 * self.type.size
        return value

    def __int__(self) -> int:
        return self.number()

    def pointed(self) -> "Object":
        """What a pointer points at."""
        return Object(self.space, self.type.pointed(), self.number())

    def text(self, most: int = MOST_TEXT) -> str:
        """Of an array of characters, or of a pointer to characters ("" for NULL)."""
        if self.type.kind == "array":
            return self.space.text(self.address, self.type.size)
        address = self.number()
        return self.space.text(address, most) if address else ""


def items(head: Object, outer: Type, member: str) -> Iterator[Object]:
    """The structures on a struct list (kern/list.h), up to the first damage: MemoryFault.  A list that comes
    back to a link other than its head is damaged, too."""
    offset = outer.offset(member)
    link, seen = head["next"].number(), set[int]()
    while link not in (0, head.address):
        if link in seen or len(seen) >= MOST_ITEMS:
            raise MemoryFault(link)
        seen.add(link)
        yield Object(head.space, outer, link - offset & MASK)
        link = head.space.word(link)
    if link == 0:
        raise MemoryFault(0)
