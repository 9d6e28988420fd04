"""The Java machine's reader of jars, compiled for the host: against Python's zipfile, and over damaged archives."""

import re
import struct
import zipfile
import zlib

import pytest
from hostcc import ROOT, compile_c, run

CLASSES = sorted((ROOT / "java/bench").glob("*.class"))


@pytest.fixture(scope="module")
def zip_test(tmp_path_factory):
    return compile_c(tmp_path_factory.mktemp("zip") / "zip_test", "tests/host/zip_test.c", "java/vm/zip.c",
                     "java/vm/inflate.c")


@pytest.fixture(scope="module")
def jar(tmp_path_factory):
    """Deflated members, and a stored one."""
    path = tmp_path_factory.mktemp("jar") / "x.jar"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for each in CLASSES:
            archive.write(each, each.name)
        archive.writestr("stored", b"as it is" * 9, zipfile.ZIP_STORED)
    return path


def names(jar):
    with zipfile.ZipFile(jar) as archive:
        return {each.filename: each.file_size for each in archive.infolist()}


def test_changed_at_random(zip_test, jar, java_fuzz):
    found = names(jar)
    for seed in range(0, java_fuzz, 1000):
        lines = run(zip_test, jar, seed, 1000, input="\n".join(found).encode()).decode().splitlines()
        assert lines[:-1] == [f"{name} {size} " for name, size in found.items()]
        counts = re.fullmatch(r"good (\d+) none (\d+) damaged (\d+) no jar (\d+)", lines[-1])
        assert counts and all(int(n) > 0 for n in counts.groups()), lines[-1]


def test_a_checksum_that_is_wrong(zip_test, tmp_path):
    """Each kind of member; the words are those of java.util.zip."""
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        with zipfile.ZipFile(tmp_path / "x.jar", "w", method) as archive:
            archive.writestr("x", b"content")
        data = (tmp_path / "x.jar").read_bytes()
        crc = struct.pack("<I", zlib.crc32(b"content"))
        (tmp_path / "x.jar").write_bytes(data.replace(crc, b"\1\2\3\4"))
        said = run(zip_test, tmp_path / "x.jar", 1, 0, input=b"x").decode().splitlines()[0]
        assert said == f"x 7 invalid entry CRC (expected 0x4030201 but got 0x{zlib.crc32(b'content'):x})"


def test_an_entry_that_says_it_has_four_gigabytes(zip_test, tmp_path):
    """Of that size and one byte more, 32 bits keep nothing."""
    packer = zlib.compressobj(0, zlib.DEFLATED, -15)
    with zipfile.ZipFile(tmp_path / "x.jar", "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("x", packer.compress(bytes(5000000)) + packer.flush())
    data = bytearray((tmp_path / "x.jar").read_bytes())
    at = data.rindex(b"PK\1\2")
    data[at + 10:at + 12] = b"\x08\0"
    data[at + 24:at + 28] = b"\xff\xff\xff\xff"
    (tmp_path / "x.jar").write_bytes(data)
    said = run(zip_test, tmp_path / "x.jar", 1, 0, input=b"x").decode().splitlines()[0]
    assert said.startswith(("x 4294967295 no memory", "x 4294967295 invalid deflated data"))
