"""The ELF loader, compiled for the host: sound files, each way to be unsound, and fuzz."""

import struct

import pytest
from hostcc import compile_c, run

R, W, X = 4, 2, 1  # PF_*
LOAD, DYNAMIC, INTERP, NOTE, STACK = 1, 2, 3, 4, 0x6474E551
ENOEXEC = 8
PROT = {"r": 1, "w": 2, "x": 4}
BIG = 2**64 - 0x1000


@pytest.fixture(scope="module")
def elf_test(tmp_path_factory):
    return compile_c(tmp_path_factory.mktemp("elf") / "elf_test", "tests/host/elf_test.c",
                     "kernel/proc/elf.c")


def segment(kind=LOAD, flags=R, offset=0, vaddr=0x400000, filesz=0, memsz=None, align=0x1000):
    memsz = filesz if memsz is None else memsz
    return dict(kind=kind, flags=flags, offset=offset, vaddr=vaddr, paddr=vaddr, filesz=filesz,
                memsz=memsz, align=align)


TEXT = segment(flags=R | X, filesz=0x1234)
DATA = segment(flags=R | W, offset=0x2010, vaddr=0x403010, filesz=0x100, memsz=0x5000)


def elf(*segments, size=0x3000, ident=b"\x7fELF\2\1\1", **field):
    values = dict(type=2, machine=62, version=1, entry=0x400100, phoff=64, shoff=0, flags=0,
                  ehsize=64, phentsize=56, phnum=len(segments), shentsize=0, shnum=0, shstrndx=0)
    values.update(field)
    out = ident.ljust(16, b"\0") + struct.pack("<HHIQQQIHHHHHH", *values.values())
    for s in segments:
        out += struct.pack("<IIQQQQQQ", *s.values())
    return out.ljust(size, b"\0")[:size]


@pytest.fixture
def load(elf_test, tmp_path):
    def load(data):
        (tmp_path / "prog").write_bytes(data)
        return run(elf_test, "load", tmp_path / "prog").decode().splitlines()
    return load


def test_text_and_data(load):
    assert load(elf(TEXT, DATA, segment(NOTE), segment(STACK, R | W))) == [
        "400000 402000 5 file 0 1234",
        "403000 409000 3 file 2000 2110",
        "entry 400100 brk 409000",
    ]


def test_pure_bss_is_anonymous(load):
    bss = segment(flags=R | W, vaddr=0x500000, memsz=0x2001)
    assert load(elf(TEXT, bss))[1:] == ["500000 503000 3 anon 0 0", "entry 400100 brk 503000"]


def test_empty_segments_are_skipped(load):
    assert load(elf(segment(vaddr=BIG), TEXT))[-1] == "entry 400100 brk 402000"


def test_protections(load):
    for flags, prot in ((R, 1), (W, 3), (R | W, 3), (X, 5), (0, 0)):
        other = segment(flags=flags, offset=0x1000, vaddr=0x600000, filesz=16)
        assert load(elf(TEXT, other))[1].split()[2] == str(prot)


def with_(s, **change):
    return {**s, **change}


REFUSED = [
    b"", b"\x7fELF", b"#!/bin/sh\n" * 10, elf(TEXT, size=63), elf(TEXT, size=100),
    elf(TEXT, ident=b"\x7fELF\1\1\1"), elf(TEXT, ident=b"\x7fELF\2\2\1"),
    elf(TEXT, ident=b"\x7fELF\2\1\0"), elf(TEXT, ident=b"\x7fELG\2\1\1"),
    elf(TEXT, type=3), elf(TEXT, type=1), elf(TEXT, machine=183), elf(TEXT, version=2),
    elf(), elf(TEXT, phnum=0), elf(TEXT, phnum=0xFFFF), elf(TEXT, phentsize=32),
    elf(TEXT, phoff=BIG), elf(TEXT, phoff=2**64 - 1), elf(TEXT, phoff=0x2FFF),
    elf(TEXT, segment(INTERP, filesz=10)), elf(TEXT, segment(DYNAMIC, filesz=10)),
    elf(TEXT, entry=0), elf(TEXT, entry=0x401234), elf(TEXT, DATA, entry=0x403010),
    elf(DATA, entry=0x403010), elf(TEXT, entry=2**64 - 1),
    elf(with_(TEXT, flags=R | W | X)),
    elf(with_(TEXT, vaddr=0), entry=0x100), elf(with_(TEXT, vaddr=0x3FF000), entry=0x400000),
    elf(with_(TEXT, vaddr=BIG)), elf(TEXT, with_(DATA, vaddr=0xFFFF800000003010)),
    elf(TEXT, with_(DATA, vaddr=0x7FFFFFFFE010)), elf(TEXT, with_(DATA, memsz=BIG)),
    elf(TEXT, with_(DATA, memsz=2**64 - 1)), elf(TEXT, with_(DATA, memsz=2**46)),
    elf(TEXT, with_(DATA, filesz=0x5001)), elf(TEXT, with_(DATA, filesz=0xFF1)),
    elf(TEXT, with_(DATA, filesz=2**64 - 1, memsz=2**64 - 1)),
    elf(TEXT, with_(DATA, offset=0x3010)), elf(TEXT, with_(DATA, offset=2**64 - 0xFF0)),
    elf(TEXT, with_(DATA, offset=0x2011)),
    elf(TEXT, TEXT), elf(DATA, TEXT), elf(TEXT, with_(DATA, vaddr=0x401010)),
    elf(TEXT, with_(DATA, vaddr=0x400010)),
]


@pytest.mark.parametrize("data", REFUSED, ids=range(len(REFUSED)))
def test_refused(load, data):
    assert load(data)[-1] == f"error {ENOEXEC}"


@pytest.mark.parametrize("seed", range(1, 5))
def test_fuzz(elf_test, tmp_path, seed):
    (tmp_path / "prog").write_bytes(elf(segment(NOTE), TEXT, DATA, segment(STACK)))
    accepted = int(run(elf_test, "fuzz", tmp_path / "prog", seed, 20000))
    assert 100 < accepted < 19000  # both ways were taken
