"""The kernel boots with any initial RAM disk as far as that can take it."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import GUEST_PROGRAMS, brought
from weft_host.cpio import Archive
from weft_host.guest import STATUS_PANIC, run
from weft_host.machine import Machine
from weft_host.paths import build_dir


@dataclass
class Damaged(Machine):
    """Its archive with something in front and behind; or, without `archive`, that alone."""

    front: bytes = b""
    behind: bytes = b""
    archive: bool = True

    def write_initrd(self, path, terminal):
        super().write_initrd(path, terminal)
        good = Path(path).read_bytes() if self.archive else b""
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
        result = boot(front=start + b"xxxx", archive=False)
        assert result.status == STATUS_PANIC
        assert "initrd: damaged at byte" in result.output
        assert "cannot start /bin/init: error 2" in result.panic


def test_what_it_holds(guest):
    """What a user needs, in 18 MiB; no program of a test."""
    disk = build_dir(False) / "initrd.cpio"
    assert disk.stat().st_size <= 18 << 20
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


MOMENTS = ["sh", "-c", "moments; moments | cat; for i in 1 2; do echo $i >/tmp/file$i; done; "
                       "cat /tmp/file1 /tmp/file2 | sort | wc; moments"]
MICRO = ["micro", "mutex_contended", "create_join", "page_fault", "spawn_wait"]


@pytest.fixture(scope="module")
def unrelated(tmp_path_factory):
    """What --file takes for files that no command reads, by what they could disturb."""
    where = tmp_path_factory.mktemp("unrelated")

    def made(name, size):
        path = where / name
        path.write_bytes(bytes(i * 7 % 251 for i in range(min(size, 4096))) * -(-size // 4096))
        return path

    byte, page, large = made("byte", 1), made("page", 5000), made("large", 5 << 20)
    folders = ("/bin", "/host", "/tmp", "/data", "/data/deep/er")
    many = [f"{(byte, page)[i % 2]}:{folders[i % 5]}/{'n' * (i * 2 % 250)}{i}" for i in range(300)]
    return {
        "one byte": [f"{byte}:/bin/a"],
        "in every folder": [f"{page}:{folder}/b" for folder in ("", *folders)],
        "13 MB": [f"{large}:/data/{name}" for name in ("x", "y")] + [f"{made('more', 3 << 20)}:/z"],
        "many": many,
        "in the place of another": [f"{large}:/bin/seq", f"{page}:/bin/yes"],
    }


@pytest.mark.parametrize("argv, options", [
    pytest.param(MOMENTS, dict(smp=1, model="lwp"), id="lwp-1"),
    pytest.param(MOMENTS, dict(smp=2, model="mxn"), id="mxn-2"),
    pytest.param(MOMENTS, dict(smp=8, model="mxn", seed=3), id="mxn-8-seed"),
    pytest.param(MOMENTS, dict(smp=8, model="lwp"), id="lwp-8"),
    pytest.param(MOMENTS, dict(smp=1, model="n1", free="64M"), id="n1-1-free"),
    pytest.param(MICRO, dict(smp=2, model="lwp"), id="micro-2"),
])
def test_unrelated_files_move_no_figure(guest, unrelated, argv, options):
    """Whatever else lies in the RAM disk, a command executes the same instructions."""
    alone = guest(argv, timing="exact", files=brought(*argv), **options).output
    assert len(alone.splitlines()) >= len(MICRO) - 1
    for what, files in unrelated.items():
        output = guest(argv, timing="exact", files=[*brought(*argv), *files], **options).output
        assert output == alone, what


def test_files_before_all_others_move_no_figure():
    """As where a program is added to weft: the pages of all others move."""
    def output(front):
        machine = Damaged(argv=MOMENTS, files=brought(*MOMENTS), smp=2, timing="exact", timeout=60,
                          front=front)
        result = run(machine)
        assert result.error == ""
        return result.output

    first = Archive()
    for name, size in (("/bin/aa", 10), ("/bin/zz", 70_000), ("/0/1", 4096)):
        first.file(name, b"x" * size)
    assert output(first.bytes()) == output(b"")


def test_a_loader_that_puts_it_elsewhere(guest, unrelated):
    """GRUB does."""
    how = dict(timing="exact", smp=2, boot="iso", timeout=300)
    argv = ["micro", "create_join", "mutex_contended"]
    assert guest(argv, files=unrelated["in every folder"], **how).output == guest(argv, **how).output
