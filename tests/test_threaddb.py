"""The description of the threads library's structures (libthread/core/threaddb.h) in programs as they
are linked, compared with what the compiler says of the same structures to debuggers."""

import struct
from pathlib import Path

import pytest
from conftest import TOP
from elftools.elf.elffile import ELFFile

MAGIC = b"weft threaddb 1\0"
PAGE = 4096
# The first word of a name, and the type.
TYPES = {"thread": "struct thread", "ulwp": "struct ulwp", "mutex": "pthread_mutex_t",
         "rwlock": "pthread_rwlock_t", "barrier": "pthread_barrier_t", "once": "pthread_once_t",
         "sema": "sem_t"}


def description(path):
    """{name: (size, value)}, found as a tool finds it: in the first page, without symbols."""
    page = Path(path).read_bytes()[:PAGE]
    start, = (at for at in range(0, PAGE, 8) if page[at:at + 16] == MAGIC)
    size, count = struct.unpack_from("<II", page, start + 16)
    assert size == 32 and start + 24 + size * count <= PAGE
    found = [struct.unpack_from("<22sHQ", page, start + 24 + size * i) for i in range(count)]
    return {name.rstrip(b"\0").decode(): (length, value) for name, length, value in found}


def byte_size(die):
    """The size of an object of this type."""
    if die.tag == "DW_TAG_array_type":
        bounds, = (d for d in die.iter_children() if d.tag == "DW_TAG_subrange_type")
        return byte_size(die.get_DIE_from_attribute("DW_AT_type")) * \
            (bounds.attributes["DW_AT_upper_bound"].value + 1)
    if "DW_AT_byte_size" in die.attributes:
        return die.attributes["DW_AT_byte_size"].value
    return byte_size(die.get_DIE_from_attribute("DW_AT_type"))


def members(die, base=0):
    """{name: (size, offset)} of a structure, with those of its unnamed parts.  No bit fields."""
    found = {}
    for member in die.iter_children():
        if member.tag != "DW_TAG_member" or "DW_AT_bit_size" in member.attributes:
            continue
        at = member.attributes.get("DW_AT_data_member_location")
        offset = base + (at.value if at else 0)
        kind = member.get_DIE_from_attribute("DW_AT_type")
        if "DW_AT_name" in member.attributes:
            found[member.attributes["DW_AT_name"].value.decode()] = (byte_size(kind), offset)
        else:
            found |= members(kind, offset)
    return found


@pytest.fixture(scope="module")
def structures():
    """{type: (size, members)}, from the debugging information of threaddb.c."""
    with open(TOP / "build/bin/pp", "rb") as file:
        dwarf = ELFFile(file).get_dwarf_info()
        unit, = (u for u in dwarf.iter_CUs()
                 if u.get_top_DIE().attributes["DW_AT_name"].value.endswith(b"core/threaddb.c"))
        found = {}
        for die in unit.iter_DIEs():
            name = die.attributes.get("DW_AT_name")
            if die.tag == "DW_TAG_structure_type" and name and "DW_AT_byte_size" in die.attributes:
                found["struct " + name.value.decode()] = (byte_size(die), members(die))
            elif die.tag == "DW_TAG_typedef" and "DW_AT_type" in die.attributes:
                target = die.get_DIE_from_attribute("DW_AT_type")
                if target.tag == "DW_TAG_structure_type":
                    found[name.value.decode()] = (byte_size(target), members(target))
        return found


def test_offsets_and_sizes(structures):
    said = description(TOP / "build/bin/pp")
    fields = {name: where for name, where in said.items() if name.split(".")[0] in TYPES and "." in name}
    assert len(fields) > 20
    for name, where in fields.items():
        kind, field = name.split(".")
        of = structures[TYPES[kind]][1]
        assert where == of.get(field, of.get("__" + field)), name
    assert said["thread"][0] == structures["struct thread"][0]


def test_addresses():
    with open(TOP / "build/bin/pp", "rb") as file:
        symbols = {s.name: s["st_value"] for s in ELFFile(file).get_section_by_name(".symtab").iter_symbols()}
    said = {name[3:]: where[1] for name, where in description(TOP / "build/bin/pp").items()
            if name.startswith("at.")}
    assert said == {name: symbols["__" + name] for name in said} and len(said) >= 5


def test_every_program_has_it():
    programs = sorted((TOP / "build/initrd/bin").iterdir())
    assert len(programs) > 50
    states = {"Stopped", "Blocked", "RunQueue", "Dispatchable", "OnLWP"}
    for program in programs:
        assert {name[6:] for name in description(program) if name.startswith("state.")} == states, program
