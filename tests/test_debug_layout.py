"""What debugging information says of the kernel's structures, and that it is kept beside the kernel's file."""

import json
import re
import shutil
from pathlib import Path

import pytest
from conftest import TOP
from weft_debug.layout import COMMON, Layout, LayoutError, Object, items
from weft_debug.memory import MemoryFault, Space
from weft_debug.symbols import Symbols

KERNEL = TOP / "build/weft.elf"


@pytest.fixture
def kernel(tmp_path):
    """A copy of the kernel, beside which nothing is kept yet."""
    return Path(shutil.copy2(KERNEL, tmp_path))


class Bytes:
    """Physical memory from 0 on, of pages that are their own address space."""

    def __init__(self, data):
        self.data = bytearray(data)

    def read(self, address, size):
        if address + size > len(self.data):
            raise MemoryFault(address)
        return bytes(self.data[address:address + size])

    def write(self, address, data):
        self.data[address:address + len(data)] = data


class Flat(Space):
    def translate(self, address):
        return address


def test_offsets_that_assembly_knows(kernel):
    """kern/cpu.h and kern/lwp.h say them in comments, and static assertions check them."""
    layout = Layout(kernel)
    for name, header in (("struct cpu", "cpu.h"), ("struct lwp", "lwp.h")):
        text = (TOP / "kernel/include/kern" / header).read_text()
        body = re.search(rf"^{name} {{\n(.*?)^}}", text, re.MULTILINE | re.DOTALL)[1]
        said = re.findall(r"\b(\w+)(?:\[\d+\])?;\s*/\* (\d+)[:, ]", body)
        assert len(said) >= 4
        kind = layout.type(name)
        for field, offset in said:
            assert kind.offset(field) == int(offset), (name, field)


def test_what_is_kept_is_the_same(kernel, tmp_path):
    first = Layout(kernel).unit("timing/one.c")
    kept = tmp_path / "weft.elf.layout"
    again = Layout(kernel)
    assert "timing/one.c" in again._kept and kept.is_file()
    second = again.unit("timing/one.c")
    assert first.as_json() == second.as_json()
    size, vcpus = second.types["struct vcpu"].size, second.variables["vcpus"][1]
    assert (vcpus.kind, vcpus.count, vcpus.pointed().size) == ("array", 64, size)
    xmm = second.types["struct vcpu"].member("xmm")[1]
    assert (xmm.count, xmm.pointed().kind, xmm.pointed().count, xmm.size) == (16, "array", 16, 256)


@pytest.mark.parametrize("text", ["", "nonsense", "[]", "{}", '{"key": 1, "units": 7}'])
def test_what_is_kept_may_be_damaged(kernel, tmp_path, text):
    layout = Layout(kernel)
    layout.unit(COMMON)
    (tmp_path / "weft.elf.layout").write_text(text)
    again = Layout(kernel)
    assert again._kept == {} and again.type("struct lwp").size == layout.type("struct lwp").size
    assert json.loads((tmp_path / "weft.elf.layout").read_text())["units"]


def test_another_kernel_is_read_again(kernel, tmp_path):
    Layout(kernel).unit(COMMON)
    with open(kernel, "ab") as file:
        file.write(b"\0")
    assert Layout(kernel)._kept == {}


@pytest.mark.parametrize("make, says", [
    (lambda path: path.unlink(), "No such file or directory"),
    (lambda path: path.write_text("no ELF file"), "Magic number does not match"),
    (lambda path: path.write_bytes(b"\x7fELF"), "weft.elf"),
    (lambda path: shutil.copy2(TOP / "build/initrd/bin/true", path), "has no debugging information"),
    (lambda path: shutil.copy2(TOP / "build/bin/pp", path), "is it the weft kernel?")])
def test_files_that_are_no_kernel(kernel, make, says):
    make(kernel)
    with pytest.raises(LayoutError, match=re.escape(says)):
        Layout(kernel).unit(COMMON)


def test_names_that_are_not_there(kernel):
    layout = Layout(kernel)
    for ask in (lambda: layout.type("struct nonsense"), lambda: layout.variable("nonsense", COMMON),
                lambda: layout.unit("no/such.c"), lambda: layout.type("struct lwp").offset("nonsense")):
        with pytest.raises(LayoutError):
            ask()


def test_objects(kernel):
    """Numbers with and without a sign, arrays, pointers, texts, lists."""
    layout = Layout(kernel)
    memory = Bytes(bytes(1 << 16))
    space = Flat(memory, 0)
    lwp = Object(space, layout.type("struct lwp"), 0x1000)
    space.write(lwp["pri"].address, (-3).to_bytes(4, "little", signed=True))
    space.write(lwp["id"].address, b"\xff\xff\xff\xff")
    space.write(lwp["name"].address, b"a name\x01\xffmuch too long for it")
    space.write(lwp["wchan"].address, (0x8000).to_bytes(8, "little"))
    space.write(0x8000, b"park\0")
    assert (lwp["pri"].number(), lwp["id"].number()) == (-3, 0xFFFFFFFF)
    assert lwp["name"].text() == "a name??much too" and len(lwp["name"]) == 16
    assert lwp["wchan"].text() == "park" and lwp["wchan"].pointed().address == 0x8000
    assert lwp["mtime"][2].address == lwp["mtime"].address + 16
    head, kind = Object(space, layout.type("struct list"), 0x100), layout.type("struct lwp")
    links = [0x2000 + kind.offset("runlink"), 0x3000 + kind.offset("runlink")]
    for at, to in zip([0x100, *links], [*links, 0x100]):
        space.write(at, to.to_bytes(8, "little"))
    assert [o.address for o in items(head, kind, "runlink")] == [0x2000, 0x3000]
    for bad in (links[0], 0, 1 << 40):  # a circle without the head, an end, no memory
        space.write(links[1], bad.to_bytes(8, "little"))
        found = []
        with pytest.raises(MemoryFault):
            found.extend(o.address for o in items(head, kind, "runlink"))


def test_symbols():
    symbols = Symbols(KERNEL)
    layout = Layout(KERNEL)
    at = layout.symbols["machine_exit"]
    assert symbols.name(at) == "machine_exit" and symbols.function(at + 3) == "machine_exit+0x3"
    assert symbols.name(at + 3) == "" and symbols.function(5) == "0x5"
    assert symbols.object(layout.symbols["cpus"] + 8) == "cpus+0x8"
    assert Symbols(None).object(7) == "0x7" and Symbols(TOP / "README.md").function(7) == "0x7"
