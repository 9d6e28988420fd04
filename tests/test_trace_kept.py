"""What traces keep of the files of the build: it is found out again when a file has changed, or what is kept is
damaged."""

import os

import pytest
from weft_host.paths import BUILD
from weft_trace import kept, patch, programs
from weft_trace.displaced import Displaced
from weft_trace.elf import Elf


@pytest.fixture
def build(tmp_path):
    """A folder that stands for the build, with one program."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/pp").write_bytes(b"one")
    return tmp_path


@pytest.fixture
def look(build):
    """look(): what of() returns; each time that find() is called, it returns another number."""
    calls = []

    def find():
        calls.append(1)
        return len(calls)

    return lambda path=build / "bin/pp": kept.of(path, "number", find, build)


def test_it_is_kept(build, look):
    assert [look(), look(), look()] == [1, 1, 1]
    assert [path.name for path in (build / "probes").iterdir()] == ["bin-pp.number"]


def test_another_file_of_the_same_size(build, look):
    assert look() == 1
    (build / "bin/pp").write_bytes(b"two")
    os.utime(build / "bin/pp", ns=(1, 1))
    assert [look(), look()] == [2, 2]


def test_a_file_of_another_size(build, look):
    time = (build / "bin/pp").stat().st_mtime_ns
    assert look() == 1
    (build / "bin/pp").write_bytes(b"three")
    os.utime(build / "bin/pp", ns=(time, time))
    assert [look(), look()] == [2, 2]


def test_other_sources_of_the_package(look, monkeypatch):
    assert look() == 1
    monkeypatch.setattr(kept, "_sources", lambda: (("kept.py", 1, 1),))
    assert [look(), look()] == [2, 2]


def test_damage(build, look):
    assert look() == 1
    whole = (build / "probes/bin-pp.number").read_bytes()
    for n, text in enumerate((b"", b"no pickle", whole[:-2]), 2):
        (build / "probes/bin-pp.number").write_bytes(text)
        assert [look(), look()] == [n, n]


def test_a_file_of_elsewhere(build, look, tmp_path_factory):
    path = tmp_path_factory.mktemp("elsewhere") / "pp"
    path.write_bytes(b"one")
    assert [look(path), look(path)] == [1, 2]
    assert not (build / "probes").exists()


def test_no_room(build, look):
    """What cannot be kept is found out each time."""
    (build / "probes").write_text("a file in place of the folder")
    assert [look(), look()] == [1, 2]


def test_what_is_kept_is_what_is_found(tmp_path):
    """Of the kernel and of a program."""
    kernel, to = BUILD / "weft.elf", (tmp_path / "first", tmp_path / "again")
    for path in to:
        patch.patched(kernel, path)
    fresh = bytearray(kernel.read_bytes())
    image, patches = patch.patches(kernel)
    record = image.symbols["probe_program_record"]
    for one in patches:
        for address, code in one.writes().items():
            fresh[image.offset(address):image.offset(address) + len(code)] = code
    assert to[0].read_bytes() == to[1].read_bytes() == bytes(fresh)

    path = BUILD / "bin/pp"
    data = path.read_bytes()
    found = list(programs.stubs(Elf(data, path.name), path, Displaced()))
    for _ in range(2):
        listed = programs.Listed.of(path, Displaced())
        assert [point for point, _ in listed.points] == [point for point, _ in found] and found
        for (_, one), (_, other) in zip(listed.points, found):
            for exact in (False, True):
                assert one.displaced(programs.COPIES, exact) == other.displaced(programs.COPIES, exact)
            assert one.jump(programs.USER) == other.jump(programs.USER)
            assert one.kernel_part(programs.KERNEL, record) == other.kernel_part(programs.KERNEL, record)
