"""weft cc marks a program with what it is linked with; run warns of another one, bench refuses it."""

import sys

import pytest
from weft_host import cli, mark

PROGRAM = '#include <stdio.h>\nint main(void) { printf("result real_ns=1\\n"); }\n'
EXPERIMENT = 'title = "x"\nprogram = "prog"\nfiles = ["prog"]\nfigure = "real_ns"\n'
OLD = "prog was linked with other libraries than today's"


@pytest.fixture(scope="module")
def program(weft, tmp_path_factory):
    path = tmp_path_factory.mktemp("mark") / "prog"
    path.with_suffix(".c").write_text(PROGRAM)
    path.with_suffix(".toml").write_text(EXPERIMENT)
    done = weft("cc", path.with_suffix(".c"), "-o", path)
    assert done.returncode == 0, done.stderr
    return path


@pytest.fixture
def later(monkeypatch):
    """The libraries have changed since."""
    monkeypatch.setattr(mark, "digest", lambda debug: "0" * 64)


@pytest.fixture(autouse=True)
def no_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)


def run(program):
    return cli.main(["run", "--no-build", "--timing", "exact", "--file", str(program), "--", "prog"])


def bench(program, tmp_path):
    return cli.main(["bench", "--no-build", "--results", str(tmp_path / "there"),
                     str(program.with_suffix(".toml"))])


def test_a_program_of_today(program, tmp_path, capfd):
    assert mark.read(program) == ("plain", mark.digest(False))
    assert run(program) == 0 and bench(program, tmp_path) == 0
    assert "linked" not in capfd.readouterr().err


def test_run_warns(program, later, capfd):
    assert run(program) == 0
    said = capfd.readouterr()
    assert said.out == "result real_ns=1\n"
    assert said.err == f"weft: {program.parent}/{OLD}: compile it again with `weft cc`\n"


def test_bench_refuses(program, later, tmp_path, capfd):
    assert bench(program, tmp_path) == 2
    said = capfd.readouterr().err
    assert f"prog.toml: files: {program.parent}/{OLD}: compile it again" in said
    assert not (tmp_path / "there").exists()


def test_the_debug_build_is_another(program, monkeypatch):
    """It runs, but its figures are not the libraries'."""
    monkeypatch.setattr(mark, "read", lambda path: ("debug", mark.digest(True)))
    assert mark.complaint(program) is None
    assert mark.complaint(program, debug=False) == f"{program} was linked with the debug build"


def test_a_file_without_the_mark(program, later, tmp_path):
    """Other files, and what is left of one that is cut off anywhere, are nobody's business."""
    data = program.read_bytes()
    for size in (*range(0, 200, 7), len(data) // 2, len(data) - 100):
        (tmp_path / "file").write_bytes(data[:size])
        assert mark.complaint(tmp_path / "file") is None
    (tmp_path / "file").write_bytes(data.replace(mark.SECTION, b".note.left"))
    assert mark.complaint(tmp_path / "file") is None


@pytest.mark.parametrize("name", ["lib/libthread.a", "lib/crt0.o", "include/pthread.h"])
def test_the_digest_is_of_libraries_and_headers(monkeypatch, tmp_path, name):
    monkeypatch.setattr(mark, "build_dir", lambda debug: tmp_path)
    assert mark.digest(False) is None
    found = set()
    for text in ("", "a", "b"):
        for file in ("lib/libthread.a", "lib/crt0.o", "include/pthread.h", "lib/stamp"):
            (tmp_path / "sysroot" / file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "sysroot" / file).write_text(text if file in (name, "lib/stamp") else "")
        found.add(mark.digest(False))
    assert len(found) == 3
    (tmp_path / "sysroot/lib/stamp").write_text("another")
    assert mark.digest(False) in found
