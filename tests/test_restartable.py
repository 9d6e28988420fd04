"""The table of restartable ranges (libthread/core/restart.c) in programs as they are linked: what stands in it
is such a range, each such range stands in it, and none is kept that the program has no code of."""

import re
import struct

import pytest
from conftest import TOP

# critical_enter (libthread/core/ilock.h): movq %fs:..., REG; addl $1, (REG)
RANGE = re.compile(rb"\x64[\x48\x4c]\x8b[\x04\x0c\x14\x1c\x24\x2c\x34\x3c]\x25(....)"
                   rb"(?:\x41?\x83[\x00-\x03\x06\x07]|\x41?\x83\x04\x24|\x41?\x83\x45\x00)\x01", re.DOTALL)


def sections(data):
    """{name: (address, bytes)} of an ELF file."""
    offset, = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    heads = [struct.unpack_from("<IIQQQQ", data, offset + size * i) for i in range(count)]
    strings = data[heads[names][4]:][:heads[names][5]]
    return {strings[name:strings.index(b"\0", name)].decode(): (address, data[at:at + length])
            for name, kind, _, address, at, length in heads if kind == 1}


@pytest.mark.parametrize("program", ["pp", "torture", "ps", "true"])
def test_table(program):
    found = sections((TOP / "build/bin" / program).read_bytes())
    start, code = found[".text"]
    table, entries = found[".restartable"]
    ranges = [(table + 8 * i + begin, length)
              for i, (begin, length) in enumerate(struct.iter_unpack("<iI", entries))]
    assert len(ranges) > 20
    first = RANGE.match(code, ranges[0][0] - start)
    expected = [(start + match.start(), len(match[0])) for match in RANGE.finditer(code)
                if match[1] == first[1]]
    assert sorted(ranges) == expected
