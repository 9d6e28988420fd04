"""The lines by which a lab's test program reports: what counts as a result, and what does not."""

import random
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "host"))

from hostcc import compile_c
from weft_host import ccmd
from weft_host.paths import TOP
from weft_lab import mac

KEY = bytes(range(16))
# Of the texts 00, 00 01, 00 01 02 ... under KEY: appendix A of the paper has the one of 15 bytes, the authors'
# reference program (vectors.h) the others.
VECTORS = {0: "310e0edd47db6f72", 1: "fd67dc93c539f874", 2: "5a4fa9d909806c0d", 3: "2d7efbd796666785",
           4: "b7877127e09427cf", 5: "8da699cd64557618", 6: "cee3fe586e46c9cb", 7: "37d1018bf50002ab",
           8: "6224939a79f5f593", 15: "e545be4961ca29a1"}
COMMON = TOP / "labs/common"
REPORTER = """\
#include <labtest.h>
#include <stdio.h>
#include <sys/time.h>

int main(void)
{
	for (int i = 0; i < 20; i++)
		lab_check(true, "kept", "-");
	printf("%lld\\n", (long long)gethrtime());
	return 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return compile_c(tmp_path_factory.mktemp("mac") / "lab_mac_test", "tests/host/lab_mac_test.c",
                     "labs/common/labtest.c", "labs/common/siphash.c")


def hash_of(program, key, text):
    done = subprocess.run([program, "hash"], input=key + text, capture_output=True, check=True)
    return int(done.stdout, 16)


def report(program, folder, key):
    """What the program prints with this key in its slot; None: without a key."""
    keyed = folder / "keyed"
    keyed.write_bytes(mac.with_key(program.read_bytes(), key) if key else program.read_bytes())
    keyed.chmod(0o755)
    done = subprocess.run([keyed], capture_output=True)
    assert done.returncode == 1
    return done.stdout


@pytest.mark.parametrize("length", VECTORS)
def test_the_published_vectors(program, length):
    expected = int.from_bytes(bytes.fromhex(VECTORS[length]), "little")
    text = bytes(range(length))
    assert mac.siphash24(KEY, text) == expected
    assert hash_of(program, KEY, text) == expected


def test_both_sides_compute_the_same(program):
    draw = random.Random(24)
    for length in (*range(9, 40), 255, 256, 257, 1000):
        key, text = draw.randbytes(16), draw.randbytes(length)
        assert hash_of(program, key, text) == mac.siphash24(key, text), length


def authentic(printed, key):
    """The lines that count, as [number, name, kind and text]."""
    lines = []
    for line in printed.decode(errors="replace").splitlines():
        words, _, code = line.rpartition(" ")
        number, _, text = words.removeprefix("lab ").partition(" ")
        if number.isdigit() and mac.right(key, int(number), text, code):
            lines.append((int(number), *text.split(" ", 2)))
    return lines


def test_a_report(program, tmp_path):
    assert authentic(report(program, tmp_path, KEY), KEY) == [
        (1, "kept", "ok", "-"), (2, "lost", "failed", "3 of them  [31mlab 9 end ok 9"),
        (3, "trip", "figure", "1025"), (4, "long", "failed", "x" * 300), (5, "all", "end", "3 checks, 2 failed")]


def test_without_a_key_the_lines_have_no_mac(program, tmp_path):
    printed = report(program, tmp_path, None)
    lines = [line.rstrip() for line in printed.splitlines()]
    assert lines[0] == b"lab 1 kept ok -" and lines[1].startswith(b"lab 2 lost failed 3 of them")
    assert authentic(printed, KEY) == []


def test_a_key_changes_no_run(guest, tmp_path):
    """A graded run and the student's repetition of it, without a key, are one run to the nanosecond."""
    built, source = tmp_path / "lab_report", tmp_path / "lab_report.c"
    source.write_text(REPORTER)
    assert ccmd.compile(["-O2", f"-I{COMMON}", "-o", str(built), str(source), str(COMMON / "labtest.c"),
                         str(COMMON / "siphash.c")]) == 0
    ends = []
    for number, key in enumerate((None, KEY, bytes(range(100, 116)), bytes(15) + b"\x01")):
        keyed = tmp_path / str(number)
        keyed.write_bytes(mac.with_key(built.read_bytes(), key) if key else built.read_bytes())
        result = guest(["/host/lab_report"], files=[f"{keyed}:/host/lab_report"], timing="exact", smp=1)
        assert len(authentic(result.output.encode(), key or KEY)) == (20 if key else 0)
        ends.append(result.output.splitlines()[-1])
    assert ends[0].isdigit() and len(set(ends)) == 1


def test_what_is_not_authentic(program, tmp_path):
    told = report(program, tmp_path, KEY)
    assert authentic(report(program, tmp_path, bytes(15) + b"\x01"), KEY) == []
    assert [line[0] for line in authentic(told.replace(b"lost failed", b"lost ok"), KEY)] == [1, 3, 4, 5]
    assert [line[0] for line in authentic(told.replace(b"lab 5", b"lab 6"), KEY)] == [1, 2, 3, 4]
    assert not mac.right(KEY, 1, "kept ok -", "no number")
    assert not mac.right(KEY, 1, "\udcff", "0")


def test_a_file_without_a_slot():
    with pytest.raises(ValueError, match="0 slots"):
        mac.with_key(b"\x7fELF", KEY)
    with pytest.raises(ValueError, match="2 slots"):
        mac.with_key(mac.MAGIC * 2 + bytes(32), KEY)
    with pytest.raises(ValueError, match="cut off"):
        mac.with_key(mac.MAGIC + bytes(15), KEY)
    with pytest.raises(ValueError, match="not all of them 0"):
        mac.with_key(mac.MAGIC + bytes(16), bytes(16))
