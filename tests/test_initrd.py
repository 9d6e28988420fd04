"""The kernel boots with any initial RAM disk as far as that can take it."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import GUEST_PROGRAMS
from weft_host.guest import STATUS_PANIC, run
from weft_host.machine import Machine
from weft_host.paths import build_dir


@dataclass
class Damaged(Machine):
    """Its archive with something in front and behind; or, without `keep`, that alone."""

    front: bytes = b""
    behind: bytes = b""
    keep: bool = True

    def write_initrd(self, path, terminal):
        super().write_initrd(path, terminal)
        good = Path(path).read_bytes() if self.keep else b""
        Path(path).write_bytes(self.front + good + self.behind)


def boot(**how):
    return run(Damaged(argv=["echo", "alive"], timeout=60, **how))


def test_garbage_behind_the_archives():
    """What came before the damage can be used, and the console says what is wrong."""
    result = boot(behind=b"garbage!")
    assert (result.status, result.error) == (0, "")
    assert 'initrd: damaged at byte' in result.output
    assert result.output.endswith("the rest is lost\nalive\n")


def test_padding_anywhere():
    result = boot(front=b"\0" * 4096, behind=b"\0" * 1021)
    assert (result.status, result.output) == (0, "alive\n")


def test_an_archive_cut_off():
    """Without /bin/init the kernel says so, after it has said why."""
    for start in (b"", b"\x1f\x8b compressed", b"070701" + b"f" * 104, b"\0"):
        result = boot(front=start + b"xxxx", keep=False)
        assert result.status == STATUS_PANIC
        assert "initrd: damaged at byte" in result.output
        assert "cannot start /bin/init: error 2" in result.panic


def test_what_it_holds(guest):
    """What a user needs, in 16 MiB; no program of a test."""
    disk = build_dir(False) / "initrd.cpio"
    assert disk.stat().st_size <= 16 << 20
    names = set(guest(["ls", "/bin"]).output.split())
    assert {"sh", "init", "pp"} <= names
    assert not names & GUEST_PROGRAMS


def test_memory_that_is_free(guest, tmp_path):
    """What --free says is what a program finds, whatever lies in the RAM disk."""
    (tmp_path / "large").write_bytes(b"x" * (20 << 20))

    def found(free, *files):
        output = guest(["df"], free=free, files=files, timing="exact").output
        return int(next(line for line in output.splitlines() if line.startswith("tmpfs")).split()[3])

    plain = found("64M")
    assert 62 << 10 <= plain <= 64 << 10  # KiB; init and df themselves take some
    assert found("64M", tmp_path / "large") == plain
    assert found("128M") - plain == pytest.approx(64 << 10, rel=0.02)


def test_more_than_there_is(guest):
    result = guest(["true"], mem="64M", append="free=64", may_fail=True)
    assert result.status == STATUS_PANIC
    assert "free=: only " in result.panic
